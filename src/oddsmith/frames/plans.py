"""How engines compute a model of several classes: layers of columns, one upon the other."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from oddsmith.formula import Formula, Layer, as_layers, guarded_layers, largest
from oddsmith.maps import JointMap

#: Columns of doubles that a map reads, its layers, and the columns of the probabilities and of the largest of them.
PlannedLayers = tuple[list[str], list[Layer], list[str], str]


class JointPlan(NamedTuple):
    """A joint map, the columns that it reads, and those that it adds."""

    map: JointMap
    columns: tuple[str, ...]
    probs: list[str]
    decision: str
    labels: list[Any]  # of one kind

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
        return given, guarded_layers(layers, given) if strict else layers, probs, top

    def decision_sql(self, probs: Sequence[str], top: str, dialect: str) -> str:
        """Return the first label whose probability is the largest, in SQL."""
        from oddsmith.formula import label_literal

        labels = (label_literal(label, dialect) for label in self.labels)
        cases = (f"WHEN {prob} >= {top} THEN {label}" for prob, label in zip(probs, labels, strict=True))
        return f"CASE {' '.join(cases)} END"
