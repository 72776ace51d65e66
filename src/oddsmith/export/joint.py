"""Models of several classes on their way out: which model it is, and what its columns are called."""

from collections.abc import Iterable, Sequence
from typing import Any

from oddsmith import _check
from oddsmith._version import __version__
from oddsmith.calibrators import Calibrator
from oddsmith.maps import CalibrationMap, JointMap
from oddsmith.model import CalibrationModel, JointModel

__all__ = ["DECISION", "PREFIX", "input_columns", "joint_model_of", "labels_of_one_kind", "new_columns"]

#: Before the label of a class, in the name of the column of its probability.
PREFIX = "probability_"

#: Name of the column of the most probable label.
DECISION = "decision"


def joint_model_of(model: Any) -> JointModel | None:
    """Return the joint model of a model, fitted scaling or joint map, None of anything else.

    The classes of a bare map are 0, 1, 2, …
    """
    if isinstance(model, JointModel):
        return model
    if isinstance(model, JointMap):
        labels = tuple(range(model.n_classes))
        return JointModel(type(model).__name__, {}, model, labels, None, None, (), "", __version__)
    if isinstance(model, (CalibrationMap, CalibrationModel, Calibrator, str)):
        return None
    from sklearn.utils.validation import check_is_fitted

    from oddsmith.classify import JointScaling

    if not isinstance(model, JointScaling):
        return None
    check_is_fitted(model)
    return JointModel.from_scaling(model)


def input_columns(model: JointModel, columns: Sequence[str] | None) -> list[str]:
    """Return the names of the columns that a model reads: those given, or of its fit, or by its labels."""
    if columns is None and model.column_names is None:
        return [f"score_{label}" for label in model.labels] if model.map.columns > 1 else ["score"]
    names = list(columns if columns is not None else model.column_names or ())
    if isinstance(columns, str) or len(names) != model.map.columns:
        got = f"columns={columns!r}" if isinstance(columns, str) else f"{len(names)} names"
        _check.fail(f"columns must be {model.map.columns} names", got, "name one per class, in the order of labels")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        _check.fail("columns must be different names", f"{twice!r} twice", "name each column once")
    return names


def new_columns(model: JointModel, prefix: str, taken: Iterable[str]) -> list[str]:
    """Return the names of the columns that a model adds: one per class, and the decision.

    Names must differ by more than case, from each other and from those that are taken: SQL does not tell case apart.
    """
    names = [f"{prefix}{label}" for label in model.labels]
    seen = {name.casefold(): f"column {name!r}" for name in taken}
    for name, what in [(DECISION, "the decision"), *((f"{prefix}{one}", f"label {one!r}") for one in model.labels)]:
        if name == prefix:
            _check.fail("labels must not be empty", what, "rename the class")
        other = seen.setdefault(name.casefold(), what)
        if other != what:
            hint = "pass another prefix" if other.startswith("column") else "rename one of the classes"
            must = "new columns must have names of their own"
            _check.fail(must, f"{name!r} for {what} and {other}", hint)
    return [*names, DECISION]


def labels_of_one_kind(model: JointModel) -> list[Any]:
    """Return labels as values of one column: as they are where they are of one kind, else as text."""
    kinds = {type(label) for label in model.labels}
    if len(kinds) == 1:
        return list(model.labels)
    return [float(label) for label in model.labels] if kinds == {int, float} else [str(one) for one in model.labels]
