"""A model of several classes applied where the rows are: one more column per class, and one for the decision."""

from collections.abc import Sequence
from typing import Any

from oddsmith import _check
from oddsmith.export.joint import PREFIX, input_columns, joint_model_of, labels_of_one_kind, new_columns
from oddsmith.frames.joint_plan import JointPlan
from oddsmith.frames.scored_frame import ScoredFrame

__all__ = ["apply_joint"]


def apply_joint(frame: Any, model: Any, columns: Sequence[str] | None = None, prefix: str = PREFIX) -> Any:
    """Add the probability of each class, and the decision, to a frame, inside its own engine.

    Nothing is computed yet where the frame is lazy. Probabilities are those of NumPy, up to 1e-12; the decision is the
    most probable label, of equal ones the first, in a column called "decision". A row with a missing value (null or
    NaN) gives missing values in all new columns; infinite logits are held within ±1e300. Engines that keep the order of
    rows keep it.

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
