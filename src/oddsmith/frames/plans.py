"""How engines compute a model of several classes: layers of columns, one upon the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats
from oddsmith.formula import Formula, Layer, as_layers, guard_layers, largest
from oddsmith.maps import JointMap, rows_by_segment

#: Columns of doubles that a map reads, its layers, and the columns of the probabilities and of the largest of them.
PlannedLayers = tuple[list[str], list[Layer], list[str], str]


class JointPlan(NamedTuple):
    """A joint map, the columns that it reads, and those that it adds."""

    map: JointMap
    columns: tuple[str, ...]
    probs: list[str]
    decision: str
    labels: list[Any]  # of one kind
    segments: Mapping[str, JointMap] = MappingProxyType({})  # maps of segments; the one above is for all others

    def probability(self, rows: Floats, keys: NDArray[Any] | None) -> Floats:
        """Compute in NumPy, rows with a key by the map of their segment."""
        if keys is None:
            return self.map.class_probability(rows)
        result = np.empty((len(rows), len(self.probs)))
        for name, at in rows_by_segment(keys).items():
            result[at] = self.segments.get(name, self.map).class_probability(rows[at])
        return result

    def layers(
        self, spare: str, *, prepare: Callable[[Formula], Formula] | None = None, strict: bool = False
    ) -> PlannedLayers:
        """Return the map as layers of columns.

        Names begin with ``spare``. ``prepare`` makes formulas without pieces of others; ``strict`` holds every step
        within the range of doubles.
        """
        given = [f"{spare}given{place}" for place in range(len(self.columns))]
        prob = self.map.probability_formula()
        layers, (probs, (top,)) = as_layers([prob, largest(prob)], given, spare)
        if prepare is not None:
            layers = [[replace(column, formula=prepare(column.formula)) for column in layer] for layer in layers]
        return given, guard_layers(layers, given) if strict else layers, probs, top

    def decision_sql(self, probs: Sequence[str], top: str, dialect: str) -> str:
        """Return the first label whose probability is the largest, in SQL."""
        from oddsmith.formula import label_literal

        labels = (label_literal(label, dialect) for label in self.labels)
        cases = (f"WHEN {prob} >= {top} THEN {label}" for prob, label in zip(probs, labels, strict=True))
        return f"CASE {' '.join(cases)} END"
