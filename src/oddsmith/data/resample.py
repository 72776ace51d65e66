"""Folds and bootstrap samples of tables, without rows.

The rows of a count table are exchangeable within each cell and class, so a random part of them is drawn by counts: the
same law as drawing rows, at the cost of the table's length. Float weights do not say how many rows they stand for:
those are resampled where the rows are, or as the (Σw)²/Σw² rows of equal weight that would vary as much, which is exact
where every row of a class has a score of its own.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Floats, Ints, Weights
from oddsmith.data.table import ScoreTable

__all__ = ["Fold", "bootstrap", "exact", "folds", "pooled", "resample_labels", "weighted_folds"]

RandomState = int | np.random.Generator | None


#: Above so many units per fold the order in which they are dealt repeats itself.
_PERIOD = 13_107

#: Fewer rows than this NumPy deals out by the hypergeometric law.
_HYPERGEOMETRIC = 10**9


class Fold(NamedTuple):
    """A held-out part of a table and the rest."""

    rest: ScoreTable
    part: ScoreTable


def folds(table: ScoreTable, n_folds: int = 5, *, random_state: RandomState = None) -> list[Fold]:
    """Split a count table at random in parts of equal size; as a shuffled, stratified split of its rows would.

    Parameters
    ----------
    table : ScoreTable
        Of counts.
    n_folds : int, default 5
    random_state : int, Generator or None

    Returns
    -------
    list of Fold
        ``rest`` is ``table.minus(part)``; the parts merge to the table.

    Notes
    -----
    Parts are drawn one after the other by the multivariate hypergeometric law of (cell, class) counts. From 10⁹ rows of
    a class on every part has an even share of each cell, and only what cannot be divided is drawn.

    Examples
    --------
    >>> from oddsmith import ScoreTable
    >>> table = ScoreTable.from_arrays([0.1, 0.1, 0.7, 0.9], [0, 0, 1, 1])
    >>> [len(fold.part) for fold in folds(table, 2, random_state=0)]
    [2, 2]
    """
    _refuse_unknown_rows(table)
    k = _check.whole_number(n_folds, "n_folds", low=2)
    if k > table.rows:
        _check.fail("n_folds must be at most the number of rows", f"{k} folds of {table.rows} rows", "use fewer")
    rng = np.random.default_rng(random_state)
    order, dealt, hands = rng.permutation(k), 0, []
    for counts in (table.pos, table.neg):
        n = int(counts.sum())
        sizes = np.full(k, n // k)
        # Rows left over go on where the last class stopped, so that parts differ by one row at most.
        sizes[np.roll(order, -dealt)[: n % k]] += 1
        dealt += n % k
        hands.append(_deal(counts.astype(np.int64), sizes, rng))
    parts = (with_weights(table, pos, neg) for pos, neg in zip(*hands, strict=True))
    return [Fold(table.minus(part), part) for part in parts]


def weighted_folds(table: ScoreTable, n_folds: int = 5, *, random_state: RandomState = None) -> list[Fold]:
    """Split a table of counts or of float weights in parts, each with its share of the rows of both classes.

    Float weights at one score and class are dealt out as rows of equal weight: the rows themselves where none are tied.

    Examples
    --------
    >>> from oddsmith import ScoreTable
    >>> table = ScoreTable.from_arrays([0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1], [0.5, 1.5, 1.0, 2.0])
    >>> [len(fold.part) for fold in weighted_folds(table, 2, random_state=0)]
    [2, 2]
    """
    if table.kind == "count":
        return folds(table, n_folds, random_state=random_state)
    (pos, pos_unit), (neg, neg_unit) = map(whole_rows, (table.pos, table.neg), table.squares)
    counted = ScoreTable(table.scores, pos, neg, resolution=table.resolution, **table.origin._asdict())

    def weighted(part: ScoreTable) -> ScoreTable:
        at = np.searchsorted(table.scores, part.scores)
        plus, minus = part.pos * pos_unit[at], part.neg * neg_unit[at]
        return with_weights(part, plus, minus, squares=(plus * pos_unit[at], minus * neg_unit[at]), rows=part.rows)

    return [Fold(*map(weighted, fold)) for fold in folds(counted, n_folds, random_state=random_state)]


def rows_by_class(table: ScoreTable) -> tuple[int, int]:
    """Return the number of positive and of negative rows that `weighted_folds` deals out."""
    if table.kind == "count":
        return int(table.n_pos), int(table.n_neg)
    pos, neg = (int(rows.sum()) for rows, _ in map(whole_rows, (table.pos, table.neg), table.squares))
    return pos, neg


def whole_rows(weight: Weights, squared: Weights) -> tuple[Ints, Floats]:
    """Return of how many equal rows each weight is made, and the weight of one."""
    held = weight > 0
    rows = np.zeros(len(weight), np.int64)
    ratio = weight[held] / np.maximum(squared[held], np.finfo(np.float64).tiny) * weight[held]
    rows[held] = np.maximum(np.rint(ratio), 1).astype(np.int64)
    return rows, weight / np.maximum(rows, 1)


def bootstrap(table: ScoreTable, n_resamples: int, *, random_state: RandomState = None) -> Iterator[ScoreTable]:
    """Draw tables of as many rows, with replacement: multinomial over (cell, class).

    Examples
    --------
    >>> from oddsmith import ScoreTable
    >>> table = ScoreTable.from_arrays([0.1, 0.1, 0.7, 0.9], [0, 0, 1, 1])
    >>> [sample.rows for sample in bootstrap(table, 2, random_state=0)]
    [4, 4]
    """
    _refuse_unknown_rows(table)
    draws = _check.whole_number(n_resamples, "n_resamples", low=1)
    rng = np.random.default_rng(random_state)
    cells = np.concatenate([table.pos, table.neg])
    return (with_weights(table, *np.split(rng.multinomial(table.rows, cells / table.rows), 2)) for _ in range(draws))


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
    _refuse_unknown_rows(table)
    chance = _check.as_array(prob, "prob", (1,), unit=True)
    if len(chance) != len(table):
        _check.fail("prob must have one value per cell", f"{len(chance)} for {len(table)} cells", "check the order")
    draws = _check.whole_number(n_resamples, "n_resamples", low=1)
    rng = np.random.default_rng(random_state)
    share = table.total / table.rows

    def draw() -> ScoreTable:
        total = rng.multinomial(table.rows, share)
        pos = rng.binomial(total, chance)
        return with_weights(table, pos, total - pos)

    return (draw() for _ in range(draws))


def exact(table: ScoreTable) -> ScoreTable:
    """Return the table; of a quantized one, each cell held at its mean score, so that it can be resampled."""
    return table if table.resolution is None else table.map(lambda scores: scores)


def pooled(table: ScoreTable, n_cells: int) -> ScoreTable:
    """Return a table of at most so many cells: neighboring scores of about equal weight, each held at its mean.

    For pictures and choices that need no more; fits and measures take the table itself.

    Examples
    --------
    >>> from oddsmith import ScoreTable
    >>> pooled(ScoreTable.from_arrays([0.0, 1.0, 2.0, 3.0], [0, 1, 0, 1]), 2).scores
    array([0.5, 2.5])
    """
    whole = exact(table)
    size = _check.whole_number(n_cells, "n_cells", low=1)
    if len(whole) <= size:
        return whole
    reached = np.cumsum(whole.total)
    starts = np.unique(np.searchsorted(reached, np.arange(size) * (reached[-1] / size), "right"))
    starts = starts[starts < len(whole)]
    return whole.in_runs(starts)


def _deal(counts: Ints, sizes: Ints, rng: np.random.Generator) -> Ints:
    """Deal rows, given as counts of kinds, to hands of about equal sizes."""
    even = counts // len(sizes) if counts.sum() >= _HYPERGEOMETRIC else np.zeros_like(counts)
    left = counts - len(sizes) * even
    hands = np.empty((len(sizes), len(counts)), np.int64)
    for hand, size in enumerate(sizes):
        hands[hand] = rng.multivariate_hypergeometric(left, int(size - even.sum()), method="marginals")
        left -= hands[hand]
    return hands + even


def with_weights(
    table: ScoreTable, pos: Weights, neg: Weights, *, squares: tuple[Floats, Floats] | None = None, rows: int = -1
) -> ScoreTable:
    """Return the same scores with other counts, or with weights and their squares; cells without any are dropped."""
    held = pos + neg > 0
    pos_sq, neg_sq = (None, None) if squares is None else (side[held] for side in squares)
    origin = table.origin._asdict()
    return ScoreTable(table.scores[held], pos[held], neg[held], pos_sq, neg_sq, rows=rows, **origin)


def _refuse_unknown_rows(table: ScoreTable) -> None:
    if table.kind != "count":
        _check.fail(
            "resampling a table needs counts",
            "float weights, of which nobody knows how many rows they stand for",
            "pass integer-typed weights, or resample where the rows are, one table per fold",
        )
    if table.resolution is not None:
        _check.fail(
            "resampling needs exact scores",
            f"a table of resolution {table.resolution:g}, whose cells keep only sums of scores",
            "resample before quantize, or take table.map(lambda s: s) to hold each cell at its mean",
        )


def dealt(weight: Floats, n_folds: int, rng: np.random.Generator) -> Floats:
    """Return what each fold gets of each cell, shape (folds, cells)."""
    ends = np.cumsum(np.append(0.0, weight))
    period = min(max(round(float(ends[-1])), 1), n_folds * _PERIOD)
    turn = rng.permutation(period) % n_folds
    rounds, rest = np.divmod(ends, period)
    amounts = np.empty((n_folds, len(weight)))
    for fold in range(n_folds):
        reached = np.append(0, np.cumsum(turn == fold))
        upto = rounds * reached[-1] + np.interp(rest, np.arange(period + 1), reached)
        amounts[fold] = np.clip(np.diff(upto), 0, weight)
    return amounts
