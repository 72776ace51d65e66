"""What is remembered of the rows of a fit: a few sums, enough to recognize them, too few to rebuild them."""

import math
from typing import Literal, NamedTuple

from oddsmith.data.table import Sample, ScoreTable

#: Sums of float weights over the same rows in another order differ by rounding only.
_ROUNDING = 1e-11


class Fingerprint(NamedTuple):
    """Counts, extremes and sums of marks: the same for the same rows in any order, float weights up to rounding.

    A fitted calibrator keeps that of its rows as ``fingerprint_``, so that measures of the same rows are marked
    "in-sample".

    Parameters
    ----------
    rows : int
        Number of rows.
    n_pos, n_neg : float
        Positive and negative weight.
    low, high : float
        Smallest and largest score.
    positive_marks, all_marks : float
        Sums of hashes of the scores, over the positive weight and over all.
    kind : {"count", "weight"}
        Whether weights are counts.
    resolution : float or None
        Width of the cells of a table.
    log_odds_cells : bool
        Whether cells have one width in log-odds.

    See Also
    --------
    ScoreTable : Has one, for any order of rows.
    """

    rows: int
    n_pos: float
    n_neg: float
    low: float
    high: float
    positive_marks: float
    all_marks: float
    kind: Literal["count", "weight"]
    resolution: float | None
    log_odds_cells: bool

    @staticmethod
    def of(data: Sample) -> "Fingerprint":
        """Take the fingerprint of rows, or of their table.

        Parameters
        ----------
        data : ScoreTable or LabeledScores

        Returns
        -------
        Fingerprint
        """
        grid = data.grid if isinstance(data, ScoreTable) else None
        rows = data.rows if isinstance(data, ScoreTable) else data.n_rows
        cells = grid or (None, False)
        return Fingerprint(rows, data.n_pos, data.n_neg, *data.span(), *data.mark_sums(), data.kind, *cells)

    def matches(self, other: "Fingerprint") -> bool:
        """Whether both are of the same rows.

        Parameters
        ----------
        other : Fingerprint

        Returns
        -------
        bool
        """
        if (self.rows, self[7:]) != (other.rows, other[7:]):
            return False
        slack = 0.0 if self.kind == "count" else _ROUNDING * (self.n_pos + self.n_neg)
        # Means of cells differ by rounding when rows come in another order.
        exact = all(
            math.isclose(mine, theirs, rel_tol=1e-12) for mine, theirs in zip(self[1:5], other[1:5], strict=True)
        )
        return exact and all(abs(mine - theirs) <= slack for mine, theirs in zip(self[5:7], other[5:7], strict=True))
