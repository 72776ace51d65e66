"""What a calibrator remembers of the chunks it was fitted to: their rows as one table, and the labels they showed."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith.data import ScoreTable

#: Cells of log-odds so fine that they tell apart what can be told apart.
_FINEST = 2.0**-40


@dataclass(frozen=True)
class Chunks:
    """Chunks of rows, which add up in any order."""

    table: ScoreTable
    #: What the negative and the positive label are called as far as one chunk can tell.
    names: NDArray[Any]
    #: The negative and the positive label where there was one, else None.
    seen: tuple[Any, Any]
    #: Most scores that are kept apart.
    max_cells: int | None
    #: Whether scores are probabilities, whose cells are of log-odds.
    log_odds: bool

    @staticmethod
    def of(table: ScoreTable, names: NDArray[Any], max_cells: int | None, log_odds: bool) -> "Chunks":
        """Take the first chunk."""
        if max_cells is not None:
            _check.whole_number(max_cells, "max_cells", low=4)
        seen = (names[0] if table.n_neg else None, names[1] if table.n_pos else None)
        return Chunks(table, names, seen, max_cells, log_odds)._coarsen()

    @property
    def classes(self) -> NDArray[Any]:
        """The negative and the positive label."""
        return np.array([name if seen is None else seen for seen, name in zip(self.seen, self.names, strict=True)])

    def merge(self, other: "Chunks") -> "Chunks":
        """Return the chunks of both."""
        bounds = [part.max_cells for part in (self, other) if part.max_cells is not None]
        both = replace(self.with_labels(other.seen), max_cells=min(bounds, default=None))
        return replace(both, table=self.table.merge(other.table))._coarsen()

    def with_labels(self, labels: tuple[Any, Any]) -> "Chunks":
        """Return the same chunks with labels seen elsewhere, which must be the same where both are known."""
        if any(a is not None and b is not None and a != b for a, b in zip(self.seen, labels, strict=True)):
            must = "labels must be the same in every chunk"
            _check.fail(must, f"{labels!r} after {self.seen!r} (negative, positive)", "code them in the same way")
        negative, positive = (b if a is None else a for a, b in zip(self.seen, labels, strict=True))
        return replace(self, seen=(negative, positive))

    def _coarsen(self) -> "Chunks":
        if self.max_cells is None or len(self.table) <= self.max_cells:
            return self
        table = self.table
        if self.log_odds and table.resolution is None:
            table = table.quantize(_FINEST, log_odds=True)
        return replace(self, table=table.coarsen(self.max_cells))
