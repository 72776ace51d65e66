"""The calibration model: a fitted map, where it came from, and the file that keeps both."""

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check, _hooks
from oddsmith._types import Floats, Label
from oddsmith._version import __version__
from oddsmith.data import ScoreTable
from oddsmith.maps import CalibrationMap, rows_by_segment
from oddsmith.model._data import DataSummary
from oddsmith.model._envelope import SavedModel, plain_label, plain_value, read_file, read_labels, read_origin
from oddsmith.model._shapes import read_map
from oddsmith.model.checked import keys, text
from oddsmith.model.strict_json import refuse, shown

__all__ = ["CalibrationModel"]


@dataclass(frozen=True)
class CalibrationModel(SavedModel):
    """A fitted calibration map with its origin, which can be saved as JSON.

    The file is plain text that holds numbers only: loading it runs no code, and what does not hold together is refused
    with `ModelFileError`. A checksum over the content tells whether it was edited or damaged; it is no signature, and
    says nothing about who wrote it. The same rows in any order give the same bytes. Files written by one version load
    in all later ones.

    With ``by``, there is one model for each segment of the data. A segment that the fit did not see gets the model's
    own map, which was fitted to all rows.

    Parameters
    ----------
    method : str
        Class of the calibrator: at most 64 ASCII letters, digits and ``_ . -``, a letter first.
    parameters : mapping
        Its constructor's parameters.
    map : CalibrationMap
        The fitted map.
    data : DataSummary
        What it was fitted to.
    warnings : tuple of str
        What was odd about the fit.
    version : str
        Version of this library that fitted it.
    labels : tuple
        The negative and the positive label.
    by : str or None
        Name of the column that tells segments apart.
    segments : mapping of str to CalibrationModel
        The model of each segment, none without ``by``.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator, ScoreTable
    >>> table = ScoreTable.from_arrays([-1.5, -0.2, 0.3, 1.7, 0.1], [0, 1, 0, 1, 0])
    >>> model = CalibrationModel.from_calibrator(PlattCalibrator().fit_table(table), table)
    >>> CalibrationModel.from_json(model.to_json()) == model
    True
    >>> len(repr(model)) < 500  # the numbers of the map are not in it
    True
    """

    method: str
    parameters: Mapping[str, Any]
    map: CalibrationMap = field(repr=False)
    data: DataSummary
    warnings: tuple[str, ...]
    version: str
    labels: tuple[Label, Label]
    by: str | None = None
    segments: Mapping[str, "CalibrationModel"] = field(default_factory=dict, repr=False)

    #: Not the latest: older versions read it too.
    _schema: ClassVar[int] = 1
    _kind: ClassVar[str] = "two classes"
    _keys: ClassVar[tuple[str, ...]] = ("version", "method", "parameters", "labels", "data", "warnings", "map")

    @staticmethod
    def from_calibrator(
        calibrator: Any, table: ScoreTable | None = None, labels: tuple[Label, Label] | None = None
    ) -> "CalibrationModel":
        """Take the model out of a fitted calibrator.

        Parameters
        ----------
        calibrator : Calibrator
            Fitted.
        table : ScoreTable, optional
            What it was fitted to. Without it the model knows of the data what the calibrator kept, and no hash.
        labels : tuple, optional
            The negative and the positive label, where the calibrator saw only a table.
        """
        fitted_map = map_of(calibrator)
        named = tuple(plain_label(each) for each in calibrator.classes_) if labels is None else labels
        return CalibrationModel(
            type(calibrator).__name__,
            plain_value(calibrator.get_params(deep=False)),
            fitted_map,
            DataSummary.kept(calibrator.fingerprint_) if table is None else DataSummary.of(table),
            tuple(calibrator.fit_warnings_),
            __version__,
            (named[0], named[1]),
        )

    def with_segments(self, by: str, segments: Mapping[str, "CalibrationModel"]) -> "CalibrationModel":
        """Return this model with one of its own for each segment; this one's map remains for all others."""
        return dataclasses.replace(self, by=by, segments=dict(sorted(segments.items())))

    def of_segment(self, segment: str | None) -> "CalibrationModel":
        """Return the model of a segment, or this one where the fit did not see it."""
        return self if segment is None else self.segments.get(segment, self)

    def log_odds(self, scores: ArrayLike, segments: ArrayLike | None = None) -> Floats:
        """Return log P(+|s)/P(−|s), shape (n,); ``segments`` says where each score belongs, if there are any."""
        return self._each("log_odds", scores, segments)

    def probability(self, scores: ArrayLike, segments: ArrayLike | None = None) -> Floats:
        """Return P(+|s), shape (n,); ``segments`` says where each score belongs, if there are any."""
        return self._each("probability", scores, segments)

    def predict_proba(self, scores: ArrayLike, segments: ArrayLike | None = None) -> Floats:
        """Return P(−|s) and P(+|s), shape (n, 2); ``segments`` says where each score belongs, if there are any."""
        positive = self.probability(scores, segments)
        return np.column_stack([1 - positive, positive])

    def predict_log_proba(self, scores: ArrayLike, segments: ArrayLike | None = None) -> Floats:
        """Return log P(−|s) and log P(+|s), shape (n, 2): finite where P itself rounds to 0, unless the map says 0."""
        odds = self.log_odds(scores, segments)
        return -np.logaddexp(0.0, np.column_stack([odds, -odds]))

    def predict(self, scores: ArrayLike, segments: ArrayLike | None = None) -> NDArray[Any]:
        """Return the positive label where P(+|s) > ½, else the negative one."""
        return np.asarray(self.labels)[(self.probability(scores, segments) > 0.5).astype(np.intp)]

    def apply(self, frame: Any, score: str, name: str | None = None, by: str | None = None) -> Any:
        """Add the probability of each row to a data frame or a table of an engine; see `oddsmith.frames.apply`.

        Parameters
        ----------
        frame : data frame or table of an engine
            pandas, Polars (eager or lazy), PyArrow, DuckDB relation, Dask, PySpark, Ibis; the same kind comes back, and
            what is lazy stays lazy.
        score : str
            Column of scores.
        name : str, optional
            Of the new column: "probability" by default, or "calibrated_probability" where the frame has such a column.
        by : str, optional
            Column of segments, where it is called otherwise than in the data of the fit.
        """
        return _hooks.service("apply to a frame")(frame, self, score, name, by)

    def _each(self, function: str, scores: ArrayLike, segments: ArrayLike | None) -> Floats:
        s = _check.as_scores(scores)
        if (segments is None) != (self.by is None):
            _check.fail(
                "segments must be given if and only if the model has any",
                f"a model {'without segments' if self.by is None else f'by {self.by}'}",
                "pass one segment per score" if segments is None else "leave segments out",
            )
        if segments is None:
            own: Floats = getattr(self.map, function)(s)
            return own
        keys = np.asarray(segments)
        if keys.shape != s.shape:
            got = f"shape {keys.shape} for {len(s)} scores"
            _check.fail("segments must be as long as the scores", got, "pass one per score")
        result = np.empty(len(s))
        for name, rows in rows_by_segment(keys).items():
            result[rows] = getattr(self.of_segment(name).map, function)(s[rows])
        return result

    def _content(self) -> dict[str, Any]:
        content = super()._content()
        if self.by is not None:
            content["by"] = self.by
            content["segments"] = {name: part._content() for name, part in self.segments.items()}
        return content

    @classmethod
    def _from_content(cls, content: dict[str, Any]) -> "CalibrationModel":
        return _read_content(content, "the model", segmented="by" in content)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> "CalibrationModel":
        """Read the model that `save` wrote.

        Raises
        ------
        ModelFileError
            If the file cannot be read, or does not hold a model that is whole.
        """
        return read_file(path, CalibrationModel.from_json)


class HasMap(Protocol):
    """A fitted calibrator."""

    @property
    def map_(self) -> CalibrationMap:
        """The fitted map."""


def map_of(model: CalibrationMap | CalibrationModel | HasMap) -> CalibrationMap:
    """Return the map of a model or fitted calibrator, or the map itself."""
    if isinstance(model, CalibrationMap):
        return model
    if isinstance(model, CalibrationModel):
        if model.by is not None:
            _check.fail("one map is used at a time", f"a model by {model.by}", "pass model.of_segment(name).map")
        return model.map
    if not hasattr(model, "fit_table"):
        _check.fail("model must be a fitted calibrator or its map", type(model).__name__, "pass calibrator.map_")
    if not hasattr(model, "map_"):
        from sklearn.exceptions import NotFittedError

        message = f"this {type(model).__name__} is not fitted. Hint: call fit first."
        raise NotFittedError(message)
    return model.map_


def save(calibrator: Any, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a fitted calibrator to a file, whole or not at all; ``force`` replaces one that exists."""
    CalibrationModel.from_calibrator(calibrator).save(path, force=force)


def _read_content(content: Any, where: str, *, segmented: bool = False) -> CalibrationModel:
    keys(content, (*CalibrationModel._keys, "by", "segments") if segmented else CalibrationModel._keys, where)
    negative, positive = read_labels(content["labels"], where, least=2, most=2)
    model = CalibrationModel(
        map=read_map(content["map"]),
        data=DataSummary.from_dict(content["data"]),
        labels=(negative, positive),
        **read_origin(content, where),
    )
    if not segmented:
        return model
    if not isinstance(content["segments"], dict):
        refuse("segments must be an object", shown(content["segments"]))
    parts = {
        text(name, "segments"): _read_content(part, f"segment {shown(name)}")
        for name, part in content["segments"].items()
    }
    return model.with_segments(text(content["by"], "by"), parts)
