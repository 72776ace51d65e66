"""What is remembered of the rows of a fit: a few sums, enough to recognise them, too few to rebuild them."""

import math
from typing import Literal, NamedTuple

from oddsmith.table.rows import unit
from oddsmith.table.table import Sample, ScoreTable

#: Sums over the same rows in another order differ by rounding only.
_ROUNDING = 1e-12


class Fingerprint(NamedTuple):
    """Counts, extremes and sums of scores by class, the same up to rounding for the same rows in any order."""

    rows: int
    n_pos: float
    n_neg: float
    low: float
    high: float
    sum_pos: float
    sum_neg: float
    kind: Literal["count", "weight"]
    resolution: float | None
    log_odds_cells: bool

    @staticmethod
    def of(data: Sample) -> "Fingerprint":
        """Take the fingerprint of rows or of their table; sums are in units of the largest score."""
        low, high = data.span()
        # A table remembers its sums: many calibrators are fitted to one.
        sums = data.unit_sums if isinstance(data, ScoreTable) else data.class_sums(unit(low, high), 0.0)
        grid = data.grid if isinstance(data, ScoreTable) else None
        rows = data.rows if isinstance(data, ScoreTable) else data.n_rows
        return Fingerprint(rows, data.n_pos, data.n_neg, low, high, *sums, data.kind, *(grid or (None, False)))

    def matches(self, other: "Fingerprint") -> bool:
        """Whether both are of the same rows, as far as a few sums can tell."""
        slack = _ROUNDING * (self.n_pos + self.n_neg)
        exact = zip(self[1:5], other[1:5], strict=True)
        sums = zip(self[5:7], other[5:7], strict=True)
        return (
            self.rows == other.rows
            and all(math.isclose(mine, theirs, rel_tol=_ROUNDING) for mine, theirs in exact)
            and all(math.isclose(mine, theirs, abs_tol=slack) for mine, theirs in sums)
        )
