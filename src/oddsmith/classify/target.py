"""Labels as classifiers and scalings read them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith.classify.scores import refuse_unknown


class Target(NamedTuple):
    """Labels as numbers: the class of each row, or 0 and 1 for each row and label."""

    y: NDArray[Any]
    classes: NDArray[Any]
    codes: NDArray[np.intp]

    @property
    def multilabel(self) -> bool:
        """Whether a row may have several labels or none."""
        return self.codes.ndim == 2

    def at(self, rows: NDArray[np.intp]) -> "Target":
        """Return the labels of some rows, in that order."""
        return Target(self.y[rows], self.classes, self.codes[rows])


def read_target(y: Any, n: int, known: NDArray[Any] | None = None) -> Target:
    """Read one label per row, classes in sorted order, or an indicator matrix of labels."""
    array = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    if array.ndim == 2 and array.shape[1] > 1:
        if len(array) != n or not np.isin(array, (0, 1)).all():
            got = f"shape {array.shape} for {n} rows, values such as {array.ravel()[:3].tolist()}"
            _check.fail("y must be one label per row, or a matrix of 0 and 1", got, "pass an indicator matrix")
        return Target(array, np.arange(array.shape[1]), array.astype(np.intp))
    labels, present = _check.class_labels(y, n)
    if labels.dtype.kind == "O" and np.array(present.tolist()).dtype.kind in "biU":
        labels, present = np.array(labels.tolist()), np.array(present.tolist())  # as scikit-learn's splitters want them
    classes = present if known is None else np.unique(known)
    if len(classes) < 2:
        _check.fail("y must contain at least two classes", f"{len(classes)} class", "check how rows were selected")
    refuse_unknown(present, classes)
    return Target(labels, classes, np.searchsorted(classes, labels))
