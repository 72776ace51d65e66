"""A model of several classes applied where the rows are: one more column per class, and one for the decision."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from oddsmith import _check
from oddsmith.export import input_columns, labels_of_one_kind, new_columns
from oddsmith.formula import Formula, Layer, as_layers, guarded_layers, largest
from oddsmith.frames.scored_frame import ScoredFrame
from oddsmith.maps import JointMap
from oddsmith.model import Model

__all__ = ["apply_joint"]

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


def apply_joint(frame: Any, model: Model, scores: str | Sequence[str] | None, prefix: str) -> Any:
    """Add the probability of each class, and the decision, to a frame; see `oddsmith.frames.apply`."""
    if scores is None and model.column_names is None:
        _check.fail("scores must name the columns of the classes", "scores=None", "name one column per class")
    given = input_columns(model, [scores] if isinstance(scores, str) and model.map.columns == 1 else scores)
    rows = ScoredFrame.of(frame, given[0], given[0], None, (), given)
    added = rows.names.for_new(new_columns(model, prefix, rows.names.originals.values()))
    *probs, decision = added
    assert isinstance(model.map, JointMap)
    plan = JointPlan(model.map, rows.scores, probs, decision, labels_of_one_kind(model))
    with rows.engine.asking(rows.frame, "plan the probabilities"):
        return rows.names.restored(rows.engine.with_probabilities(rows, plan), added)
