"""Names of the columns that a model of several classes reads and adds."""

from collections.abc import Iterable, Sequence
from typing import Any

from oddsmith import _check
from oddsmith.model import Model

__all__ = ["DECISION", "NAME", "input_columns", "labels_of_one_kind", "new_columns"]

#: Before an underscore and the label of a class, in the name of the column of its probability.
NAME = "probability"

#: Name of the column of the most probable label.
DECISION = "decision"


def input_columns(model: Model, columns: Sequence[str] | None) -> list[str]:
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


def new_columns(model: Model, prefix: str, taken: Iterable[str]) -> list[str]:
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
            hint = "pass another name" if other.startswith("column") else "rename one of the classes"
            must = "new columns must have names of their own"
            _check.fail(must, f"{name!r} for {what} and {other}", hint)
    return [*names, DECISION]


def labels_of_one_kind(model: Model) -> list[Any]:
    """Return labels as values of one column: as they are where they are of one kind, else as text."""
    kinds = {type(label) for label in model.labels}
    if len(kinds) == 1:
        return list(model.labels)
    return [float(label) for label in model.labels] if kinds == {int, float} else [str(one) for one in model.labels]
