"""The model of several classes: a fitted joint map, where it came from, and the file that keeps both."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check, _hooks
from oddsmith._types import Floats, Label
from oddsmith._version import __version__
from oddsmith.maps import Input, JointMap, OneVsRestMap, constant_map
from oddsmith.model._envelope import SavedModel, plain_label, plain_value, read_labels, read_origin
from oddsmith.model._joint_maps import MOST_CLASSES, read_joint_map
from oddsmith.model._model import map_of
from oddsmith.model.checked import array, keys, text, whole
from oddsmith.model.strict_json import refuse, shown

__all__ = ["ClassCounts", "JointModel"]

_KEYS = ("version", "method", "parameters", "labels", "column_names", "data", "warnings", "verdict", "map")


@dataclass(frozen=True)
class ClassCounts:
    """What a joint model was fitted to.

    Parameters
    ----------
    rows : int
        Number of rows that carry weight.
    weighted : bool
        Whether rows had importance weights; else they were counted.
    weights : tuple of float
        Number of cases, or weight, of each class.
    """

    rows: int
    weighted: bool
    weights: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {"rows": self.rows, "weighted": self.weighted, "weights": list(self.weights)}

    @staticmethod
    def from_dict(content: Any, k: int) -> "ClassCounts":
        """Rebuild counts of k classes, checking every value."""
        keys(content, ("rows", "weighted", "weights"), "data")
        if type(content["weighted"]) is not bool:
            refuse("data.weighted must be true or false", shown(content["weighted"]))
        weights = array(content["weights"], "data.weights", length=k, low=0, high=1e300)
        return ClassCounts(whole(content["rows"], "data.rows", low=1), content["weighted"], tuple(weights))


@dataclass(frozen=True)
class JointModel(SavedModel):
    """A fitted joint map of several classes with its origin, which can be saved as JSON.

    As `CalibrationModel` for two classes: the file holds numbers only, loading it runs no code, and what does not hold
    together is refused with `ModelFileError`.

    Parameters
    ----------
    method : str
        Class of the scaling, or of the calibrator of each class.
    parameters : mapping
        Its constructor's parameters.
    map : JointMap
        The fitted map.
    labels : tuple
        The label of each class, in the order of the map.
    column_names : tuple of str or None
        Names of the columns in the data of the fit, where they had any.
    data : ClassCounts or None
        What it was fitted to, where that is known.
    warnings : tuple of str
        What was odd about the fit.
    verdict : str
        What the method says of its fit; may be empty.
    version : str
        Version of this library that fitted it.

    Examples
    --------
    >>> from oddsmith import TemperatureScaling
    >>> scaling = TemperatureScaling().fit([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 1.0]], ["a", "b", "c"])
    >>> model = JointModel.from_scaling(scaling)
    >>> JointModel.from_json(model.to_json()) == model
    True
    """

    method: str
    parameters: Mapping[str, Any]
    map: JointMap = field(repr=False)
    labels: tuple[Label, ...]
    column_names: tuple[str, ...] | None
    data: ClassCounts | None
    warnings: tuple[str, ...]
    verdict: str
    version: str

    _schema: ClassVar[int] = 2
    _kind: ClassVar[str] = "several classes"
    _keys: ClassVar[tuple[str, ...]] = _KEYS

    @staticmethod
    def from_scaling(
        scaling: Any,
        *,
        labels: Sequence[Any] | None = None,
        column_names: Sequence[str] | None = None,
        warnings: Sequence[str] = (),
    ) -> "JointModel":
        """Take the model out of a fitted joint scaling.

        Parameters
        ----------
        scaling : JointScaling
            Fitted.
        labels : sequence, optional
            Of the classes, where the scaling saw other ones.
        column_names : sequence of str, optional
            Of the columns that it was fitted to.
        warnings : sequence of str, optional
            What was odd about the fit.
        """
        parameters = {name: value for name, value in scaling.get_params().items() if name != "classes"}
        counts = ClassCounts(scaling.n_rows_, scaling.weighted_, tuple(scaling.class_weight_.tolist()))
        return JointModel(
            type(scaling).__name__,
            plain_value(parameters),
            scaling.map_,
            tuple(plain_label(each) for each in (scaling.classes_ if labels is None else labels)),
            None if column_names is None else tuple(column_names),
            counts,
            tuple(warnings),
            getattr(scaling, "verdict_", ""),
            __version__,
        )

    @staticmethod
    def from_one_vs_rest(
        calibrators: Sequence[Any],
        labels: Sequence[Any],
        *,
        input: Input = "logits",
        against_rest: bool = False,
        column_names: Sequence[str] | None = None,
        warnings: Sequence[str] = (),
    ) -> "JointModel":
        """Take the model out of calibrators that were each fitted to one class against the rest.

        Parameters
        ----------
        calibrators : sequence of Calibrator
            Fitted, one per class; None for a class that nothing is known of, whose log-odds are 0.
        labels : sequence
            Of the classes.
        input, against_rest
            As in `OneVsRestMap`.
        column_names, warnings
            As in `from_scaling`.
        """
        fitted = [each for each in calibrators if each is not None]
        rows = max(each.fingerprint_.rows for each in fitted)
        weights = tuple(0.0 if each is None else float(each.fingerprint_.n_pos) for each in calibrators)
        maps = tuple(constant_map(0.0) if each is None else map_of(each) for each in calibrators)
        return JointModel(
            type(fitted[0]).__name__,
            plain_value(fitted[0].get_params(deep=False)),
            OneVsRestMap(len(maps), input, maps, against_rest),
            tuple(plain_label(each) for each in labels),
            None if column_names is None else tuple(column_names),
            ClassCounts(rows, fitted[0].fingerprint_.kind == "weight", weights),
            tuple(warnings),
            "",
            __version__,
        )

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in the order of the columns of `predict_proba`."""
        return np.asarray(self.labels)

    def predict_log_proba(self, rows: ArrayLike) -> Floats:
        """Return log P of each class, shape (n, k): finite where P itself rounds to 0."""
        return self.map.log_probability(self._checked(rows))

    def predict_proba(self, rows: ArrayLike) -> Floats:
        """Return P of each class, shape (n, k), in the order of ``labels``."""
        return self.map.probability(self._checked(rows))

    def predict(self, rows: ArrayLike) -> NDArray[Any]:
        """Return the most probable label of each row; ties go to the earlier class."""
        return np.asarray(self.classes_[self.predict_log_proba(rows).argmax(axis=1)])

    def apply(self, frame: Any, columns: Sequence[str] | None = None, prefix: str = "probability_") -> Any:
        """Add the probabilities of each row, and the decision, to a data frame; see `oddsmith.frames.apply_joint`.

        Parameters
        ----------
        frame : data frame or table of an engine
            The same kind comes back, and what is lazy stays lazy.
        columns : sequence of str, optional
            Columns of the logits or probabilities; by default those of the fit.
        prefix : str, default "probability_"
            Of the new columns, before the label.
        """
        return _hooks.service("apply a joint model to a frame")(frame, self, columns, prefix)

    def _checked(self, rows: ArrayLike) -> Floats:
        unit = self.map.input == "probabilities"
        found = _check.as_array(rows, "rows", (1, 2), unit=unit, masked=not unit)
        columns = found[:, None] if found.ndim == 1 else found
        if columns.shape[1] != self.map.columns:
            got = f"{columns.shape[1]} columns"
            _check.fail(f"rows must have {self.map.columns} columns", got, "pass one per class, in the order of labels")
        if unit and columns.shape[1] > 1:
            _check.as_distribution(columns)
        _check.refuse_masked_rows(columns, "rows")
        return columns

    @classmethod
    def _from_content(cls, content: dict[str, Any]) -> "JointModel":
        keys(content, _KEYS, "the model")
        origin, names = read_origin(content, "the model"), content["column_names"]
        labels = read_labels(content["labels"], "the model", least=2, most=MOST_CLASSES)
        found = read_joint_map(content["map"], len(labels))
        if names is not None and (not isinstance(names, list) or len(names) != found.columns):
            refuse("column_names must be a list of one name per column", shown(names))
        return JointModel(
            map=found,
            labels=labels,
            column_names=None if names is None else tuple(text(name, "column_names") for name in names),
            data=None if content["data"] is None else ClassCounts.from_dict(content["data"], len(labels)),
            verdict=text(content["verdict"], "verdict"),
            **origin,
        )


def save_scaling(scaling: Any, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a fitted joint scaling to a file, whole or not at all; ``force`` replaces one that exists."""
    JointModel.from_scaling(scaling).save(path, force=force)
