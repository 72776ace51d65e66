"""A model of several classes applied where the rows are: one more column per class, and one for the decision."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from oddsmith import _check
from oddsmith.export import PREFIX, input_columns, joint_model_of, labels_of_one_kind, new_columns
from oddsmith.formula import Formula, Layer, as_layers, guarded_layers, largest
from oddsmith.frames.scored_frame import ScoredFrame
from oddsmith.maps import JointMap

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


def apply_joint(frame: Any, model: Any, columns: Sequence[str] | None = None, prefix: str = PREFIX) -> Any:
    """Add the probability of each class, and the decision, to a frame, inside its own engine.

    Nothing is computed yet where the frame is lazy. Probabilities are those of NumPy, up to 1e-12; the decision is the
    most probable label, of equal ones the first, in a column called "decision". A row with a missing value (null or
    NaN) gives missing values in all new columns. A logit of −inf masks its class, whose probability is 0; +inf is read
    as 1e300. Engines that keep the order of rows keep it.

    Parameters
    ----------
    frame : data frame or table of an engine
        pandas, Polars (eager or lazy), PyArrow, DuckDB relation, Dask, PySpark, Ibis: whatever narwhals reads.
    model : JointModel, JointMap or fitted joint scaling
    columns : sequence of str, optional
        Columns of logits or probabilities, in the order of the classes; by default those of the fit.
    prefix : str, default "probability_"
        Of the new columns, before the label.

    Examples
    --------
    >>> import polars as pl
    >>> from oddsmith import TemperatureScaling
    >>> from oddsmith.frames import apply_joint
    >>> scaling = TemperatureScaling().fit([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 1.0]], ["a", "b", "c"])
    >>> frame = pl.DataFrame({"x": [9.0, None], "y": [1.0, 1.0], "z": [0.0, 1.0]})
    >>> apply_joint(frame, scaling, ["x", "y", "z"])["decision"].to_list()
    ['a', None]
    """
    joint = joint_model_of(model)
    if joint is None:
        must = "model must be a JointModel, its map or a fitted joint scaling"
        _check.fail(must, type(model).__name__, "pass models of two classes to frames.apply")
    if columns is None and joint.column_names is None:
        _check.fail("columns must name the scores of the classes", "columns=None", "name one column per class")
    given = input_columns(joint, columns)
    rows = ScoredFrame.of(frame, given[0], given[0], None, (), given)
    added = rows.names.for_new(new_columns(joint, prefix, rows.names.originals.values()))
    *probs, decision = added
    plan = JointPlan(joint.map, rows.scores, probs, decision, labels_of_one_kind(joint))
    with rows.engine.asking(rows.frame, "plan the probabilities"):
        return rows.names.restored(rows.engine.with_probabilities(rows, plan), added)
