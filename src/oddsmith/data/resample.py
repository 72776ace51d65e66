"""Bootstrap samples of tables, without rows.

The rows of a count table are exchangeable within each cell and class, so a random sample of them is drawn by counts:
the same law as drawing rows, at the cost of the table's length. Float weights do not show how many rows they stand for:
those are resampled where the rows are.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith.data.folds import RandomState
from oddsmith.data.table import ScoreTable

__all__ = ["bootstrap", "limit_cells", "resample_labels"]


def bootstrap(table: ScoreTable, n_resamples: int, *, random_state: RandomState = None) -> Iterator[ScoreTable]:
    """Draw tables of as many rows, with replacement: multinomial over (cell, class).

    Examples
    --------
    >>> from oddsmith import ScoreTable
    >>> table = ScoreTable.from_arrays([0.1, 0.1, 0.7, 0.9], [0, 0, 1, 1])
    >>> [sample.rows for sample in bootstrap(table, 2, random_state=0)]
    [4, 4]
    """
    table.refuse_unknown_rows()
    draws = _check.whole_number(n_resamples, "n_resamples", low=1)
    rng = np.random.default_rng(random_state)
    cells = np.concatenate([table.pos, table.neg])

    def draw() -> ScoreTable:
        pos, neg = np.split(rng.multinomial(table.rows, cells / table.rows), 2)
        return table.with_weights(pos, neg)

    return (draw() for _ in range(draws))


def resample_labels(
    table: ScoreTable, prob: NDArray[np.float64], n_resamples: int, *, random_state: RandomState = None
) -> Iterator[ScoreTable]:
    """Draw scores with replacement, and new labels that are positive with a given probability at each cell.

    With a forecast's own probabilities these are samples under perfect calibration.

    Parameters
    ----------
    table : ScoreTable
        Of counts.
    prob : ndarray of shape (len(table),)
        Probability of a positive at each cell.
    n_resamples : int
    random_state : int, Generator or None

    Examples
    --------
    >>> from oddsmith import ScoreTable
    >>> table = ScoreTable.from_arrays([0.1, 0.1, 0.7], [0, 0, 1])
    >>> [sample.n_pos for sample in resample_labels(table, np.ones(2), 2, random_state=0)]
    [3, 3]
    """
    table.refuse_unknown_rows()
    chance = _check.as_array(prob, "prob", (1,), unit=True)
    if len(chance) != len(table):
        _check.fail("prob must have one value per cell", f"{len(chance)} for {len(table)} cells", "check the order")
    draws = _check.whole_number(n_resamples, "n_resamples", low=1)
    rng = np.random.default_rng(random_state)
    share = table.total / table.rows

    def draw() -> ScoreTable:
        total = rng.multinomial(table.rows, share)
        pos = rng.binomial(total, chance)
        return table.with_weights(pos, total - pos)

    return (draw() for _ in range(draws))


def limit_cells(table: ScoreTable, n_cells: int) -> ScoreTable:
    """Return a table of at most so many cells: neighboring scores of about equal weight, each held at its mean.

    For pictures and choices that need no more; fits and measures take the table itself.

    Examples
    --------
    >>> from oddsmith import ScoreTable
    >>> limit_cells(ScoreTable.from_arrays([0.0, 1.0, 2.0, 3.0], [0, 1, 0, 1]), 2).scores
    array([0.5, 2.5])
    """
    whole = table.exact()
    size = _check.whole_number(n_cells, "n_cells", low=1)
    if len(whole) <= size:
        return whole
    reached = np.cumsum(whole.total)
    starts = np.unique(np.searchsorted(reached, np.arange(size) * (reached[-1] / size), "right"))
    starts = starts[starts < len(whole)]
    return whole.in_runs(starts)
