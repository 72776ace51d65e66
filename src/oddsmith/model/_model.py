"""The model: a fitted map of two classes or of several, its origin, and the file that keeps both."""

import dataclasses
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith._types import Floats, Label
from oddsmith._version import __version__
from oddsmith.atomic import write_atomically
from oddsmith.maps import (
    Band,
    CalibrationMap,
    Effects,
    Input,
    JointMap,
    Keys,
    OneVsRestMap,
    Segment,
    check_columns,
    constant_map,
    rows_by_segment,
    scores_reaching,
    segment_names,
)
from oddsmith.model._data import ClassCounts, DataSummary
from oddsmith.model._envelope import FORMAT, plain_label, plain_value, read_file, read_labels, read_origin, unseal
from oddsmith.model._row_maps import MOST_CLASSES, read_joint_map
from oddsmith.model._shapes import read_effects, read_map
from oddsmith.model.checked import keys, number, text, whole
from oddsmith.model.strict_json import parse, refuse, render, show

__all__ = ["Model"]

#: What files of each schema contain in addition to format, schema and checksum. The first is for two classes and one
#: column, the second for all others; the third adds what neither has, for any number of classes. The fourth has
#: segments by several columns, each named by a JSON list of its keys; the fifth has limits of P, and the sixth effects
#: of columns.
_KEYS = {
    1: ("version", "method", "parameters", "labels", "data", "warnings", "map"),
    2: ("version", "method", "parameters", "labels", "column_names", "data", "warnings", "verdict", "map"),
    3: ("version", "method", "parameters", "labels", "column_names", "data", "warnings", "verdict", "map"),
    4: ("version", "method", "parameters", "labels", "column_names", "data", "warnings", "verdict", "map"),
    5: ("version", "method", "parameters", "labels", "column_names", "data", "warnings", "verdict", "map", "band"),
    6: ("version", "method", "parameters", "labels", "column_names", "data", "warnings", "verdict", "map", "effects"),
}
_SEGMENTED = ("by", "segments")

#: Parameters that a model does not name, as its labels and its band say the same.
_NOT_KEPT = ("classes", "keep_band")

#: Segments that a model with effects is written out to, for engines and exports.
MOST_CROSSINGS = 50_000


@dataclass(frozen=True)
class Model:
    """A fitted map with its origin, which can be saved as JSON.

    The file is plain text that contains numbers only: loading it runs no code, and inconsistent content is refused with
    `ModelFileError`. A checksum over the content shows whether it was edited or damaged; it is not a signature and does
    not identify the author. The same rows in any order give the same bytes. Files written by one version load in all
    later ones.

    With ``by``, there is one model for each segment of the data. A segment that the fit did not see gets the model's
    own map, which was fitted to all rows.

    Parameters
    ----------
    method : str
        Class of the calibrator or scaling: at most 64 ASCII letters, digits and ``_ . -``, a letter first.
    parameters : mapping
        Its constructor's parameters.
    map : CalibrationMap or JointMap
        The fitted map: of one score to the log-odds of two classes, or of the columns of a row to the probabilities of
        all classes.
    labels : tuple
        The label of each class; of two classes the positive one is the second.
    data : DataSummary, ClassCounts or None
        What it was fitted to, if known.
    warnings : tuple of str
        Warnings of the fit.
    version : str
        Version of this library that fitted it.
    column_names : tuple of str or None
        Names of the score columns in the data of the fit, if they had names.
    verdict : str
        The method's verdict on its fit; may be empty.
    by : str, tuple of str, or None
        Name of the column of segments, or names of several.
    segments : mapping of str, or tuple of str, to Model
        The model of each segment, empty without ``by``.
    band : Band or None
        Limits of P at each score, from `oddsmith.bands`, for `predict_interval`; of a model that reads one score.
    effects : Effects or None
        What the values of the columns of ``by`` add to the log-odds of the map, instead of a model for each segment; of
        a model that reads one score. See `oddsmith.pooling`.

    See Also
    --------
    oddsmith.load : Reads one from a file.
    oddsmith.frames.apply : Applies it in an engine.
    oddsmith.export.export : Writes it as SQL or code.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator, ScoreTable
    >>> table = ScoreTable.from_arrays([-1.5, -0.2, 0.3, 1.7, 0.1], [0, 1, 0, 1, 0])
    >>> model = Model.from_fitted(PlattCalibrator().fit_table(table), table=table)
    >>> Model.from_json(model.to_json()) == model
    True
    >>> len(repr(model)) < 500  # the numbers of the map are not in it
    True
    """

    method: str
    parameters: Mapping[str, Any]
    map: CalibrationMap | JointMap = field(repr=False)
    labels: tuple[Label, ...]
    data: DataSummary | ClassCounts | None
    warnings: tuple[str, ...] = ()
    version: str = __version__
    column_names: tuple[str, ...] | None = None
    verdict: str = ""
    by: Segment | None = None
    segments: Mapping[Segment, "Model"] = field(default_factory=dict, repr=False)
    band: Band | None = field(default=None, repr=False)
    effects: Effects | None = field(default=None, repr=False)

    #: The latest schema; this version reads all that came before.
    _latest: ClassVar[int] = max(_KEYS)

    @staticmethod
    def from_fitted(
        fitted: Any,
        *,
        table: Any = None,
        labels: Sequence[Any] | None = None,
        column_names: Sequence[str] | None = None,
        warnings: Sequence[str] | None = None,
        band: Band | None = None,
    ) -> "Model":
        """Take the model out of a fitted calibrator or joint scaling.

        Parameters
        ----------
        fitted : Calibrator or JointScaling
        table : ScoreTable, optional
            What a calibrator was fitted to. Without it the model contains only what the calibrator kept of the data,
            and no hash.
        labels : sequence, optional
            Labels of the classes, if the fit did not see them; by default those of the table, where rows showed both.
        column_names : sequence of str, optional
            Names of the columns of the fit.
        warnings : sequence of str, optional
            Warnings of the fit; by default those that the calibrator kept.
        band : Band, optional
            Limits of P that the model keeps, of a calibrator of one score; see `oddsmith.bands.pointwise_band`. By
            default those that the calibrator kept, with ``keep_band=True``.

        Returns
        -------
        Model
        """
        fitted_map = fitted_map_of(fitted)
        parameters = {name: value for name, value in fitted.get_params(deep=False).items() if name not in _NOT_KEPT}
        if isinstance(fitted_map, JointMap):
            data: DataSummary | ClassCounts = ClassCounts(
                fitted.n_rows_, fitted.weighted_, tuple(fitted.class_weight_.tolist())
            )
        else:
            data = DataSummary.from_fingerprint(fitted.fingerprint_) if table is None else DataSummary.of(table)
        if labels is None:
            known = table is not None and None not in table.labels
            # A fit to a table keeps 0 and 1.
            labels = table.labels if known and list(fitted.classes_) == [0, 1] else fitted.classes_
        return Model(
            type(fitted).__name__,
            plain_value(parameters),
            fitted_map,
            tuple(plain_label(each) for each in labels),
            data,
            tuple(getattr(fitted, "fit_warnings_", ()) if warnings is None else warnings),
            column_names=None if column_names is None else tuple(column_names),
            verdict=getattr(fitted, "verdict_", "") if isinstance(fitted_map, JointMap) else "",
            band=getattr(fitted, "band_", None) if band is None else band,
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
    ) -> "Model":
        """Take the model out of calibrators that were each fitted to one class against the rest.

        Parameters
        ----------
        calibrators : sequence of Calibrator
            Fitted, one per class; None for a class without rows, whose log-odds are 0.
        labels : sequence
            Labels of the classes.
        input : {"logits", "probabilities"}, default "logits"
            What the columns contain.
        against_rest : bool, default False
            Whether the calibrators were fitted to the log-odds of their class against all others, softmax(logits) being
            the probabilities; else to their own column.
        column_names : sequence of str, optional
            Names of the columns of the fit.
        warnings : sequence of str, default ()
            Warnings of the fit.

        Returns
        -------
        Model
        """
        fitted = [each for each in calibrators if each is not None]
        rows = max(each.fingerprint_.rows for each in fitted)
        weights = tuple(0.0 if each is None else float(each.fingerprint_.n_pos) for each in calibrators)
        maps = tuple(constant_map(0.0) if each is None else map_of(each) for each in calibrators)
        return Model(
            type(fitted[0]).__name__,
            plain_value(fitted[0].get_params(deep=False)),
            OneVsRestMap(len(maps), input, maps, against_rest),
            tuple(plain_label(each) for each in labels),
            ClassCounts(rows, fitted[0].fingerprint_.kind == "weight", weights),
            tuple(warnings),
            column_names=None if column_names is None else tuple(column_names),
        )

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in the order of the columns of `predict_proba`."""
        return np.asarray(self.labels)

    @property
    def has_one_score(self) -> bool:
        """Whether the model reads one score of two classes, and its probability is that of the positive one."""
        return isinstance(self.map, CalibrationMap)

    @property
    def segment_columns(self) -> tuple[str, ...]:
        """Names of the columns of segments."""
        return () if self.by is None else (self.by,) if isinstance(self.by, str) else self.by

    def shifted(self, shift: ArrayLike) -> "Model":
        """Return this model for other base rates, those of its segments too.

        Where only the frequencies of the classes change, all log-odds change by one number: with training rates π and
        new rates π′, by log(π′/(1 − π′)) − log(π/(1 − π)) [1]_. With several classes the logs of probabilities change
        by log π′ᵢ − log πᵢ, and sum to 1 again.

        Parameters
        ----------
        shift : float or array-like of shape (k,)
            What is added to the log-odds of the second of two classes, or to the log of the probability of each class,
            in the order of ``labels``. Values differ by at most 600.

        Returns
        -------
        Model

        References
        ----------
        .. [1] Saerens, M., Latinne, P. & Decaestecker, C. (2002). Adjusting the outputs of a classifier to new a priori
           probabilities: a simple procedure. Neural Computation 14(1), 21–41.

        Examples
        --------
        >>> from oddsmith import SquashCalibrator
        >>> model = Model.from_fitted(SquashCalibrator().fit([-1.0, 1.0], [0, 1]))
        >>> model.shifted(0.5).log_odds([1.0])
        array([1.5])
        """
        if self.effects is not None:
            return dataclasses.replace(self, effects=self.effects.shifted(shift))
        parts = {name: part.shifted(shift) for name, part in self.segments.items()}
        band = None if self.band is None else self.band.shifted(shift)
        return dataclasses.replace(self, map=self.map.shifted(shift), segments=parts, band=band)

    def with_segments(self, by: str | Sequence[str], segments: Mapping[Any, "Model"]) -> "Model":
        """Return this model with one of its own for each segment; this one's map remains for all others.

        Segments of one column are named by their key, those of several by a tuple of keys; keys are kept as text.

        Parameters
        ----------
        by : str or list of str
            The column, or columns, of the segments.
        segments : mapping of key to Model
            The model of each segment.

        Returns
        -------
        Model
        """
        columns = by if isinstance(by, str) else tuple(by)
        if not isinstance(columns, str):
            if len(columns) < 2 or len(set(columns)) < len(columns):
                _check.fail("by must name one column, or several different ones", repr(columns), "pass its name alone")
            if any(not isinstance(name, tuple) or len(name) != len(columns) for name in segments):
                got = next(repr(name) for name in segments if not isinstance(name, tuple) or len(name) != len(columns))
                _check.fail(f"segments must be named by tuples of {len(columns)} keys", got, "name all keys")
        names = segment_names(segments)
        keys: list[Any] = [name[0] for name in names] if isinstance(columns, str) else list(names)
        named = dict(sorted(zip(keys, segments.values(), strict=True), key=lambda pair: pair[0]))
        return dataclasses.replace(self, by=columns, segments=named)

    def with_effects(self, by: str | Sequence[str], effects: Effects) -> "Model":
        """Return this model with effects of the values of columns on its log-odds.

        Parameters
        ----------
        by : str or list of str
            The column, or columns, of the segments.
        effects : Effects
            Shifts and slopes of the values of the columns.

        Returns
        -------
        Model
        """
        columns = check_columns((by,) if isinstance(by, str) else tuple(by))
        if not self.has_one_score or self.by is not None or self.band is not None:
            must = "effects are added to a model of one score, without segments and without a band"
            _check.fail(must, repr(self), "pass the model of all rows")
        if len(columns) != effects.n_columns:
            _check.fail(f"by must name {effects.n_columns} columns", repr(by), "name those of the effects")
        return dataclasses.replace(self, by=columns[0] if len(columns) == 1 else columns, effects=effects)

    def of_segment(self, segment: Segment | Keys | None) -> "Model":
        """Return the model of a segment, or this one where the fit did not see it.

        With ``effects``, it has those that are known, of the values and of the crossing; a key may be None.

        Parameters
        ----------
        segment : hashable
            The key of a segment.

        Returns
        -------
        Model
        """
        if self.effects is None:
            known: Mapping[Any, Model] = self.segments
            return self if segment is None else known.get(segment, self)
        n = self.effects.n_columns
        names = (segment,) if segment is None or isinstance(segment, str) else segment
        found = self.effects.map_of((None,) * n if segment is None else names, map_of(self.map))
        return dataclasses.replace(self, map=found, by=None, effects=None)

    def expand_effects(self) -> "Model":
        """Return a model with effects as one with a map for each crossing of values; any other as it is.

        None in the name of a segment of several columns is any other value, or a missing one.

        Returns
        -------
        Model
        """
        if self.effects is None:
            return self
        if self.effects.n_crossings > MOST_CROSSINGS:
            must = f"engines and exports take at most {MOST_CROSSINGS:,} crossings of the values of {self.by}"
            hint = "predict in NumPy (Model.predict_proba, oddsmith apply), or pool by columns with fewer values"
            _check.fail(must, f"{self.effects.n_crossings:,}", hint)
        plain = dataclasses.replace(self, data=None, warnings=(), verdict="", column_names=None)
        parts: dict[Any, Model] = {
            keys[0] if len(keys) == 1 else keys: plain.of_segment(keys) for keys in self.effects.crossings()
        }
        return dataclasses.replace(self, map=self.of_segment(None).map, segments=parts, effects=None)

    def predict_proba(self, rows: ArrayLike, segments: ArrayLike | None = None) -> Floats:
        """Return P of each class, shape (n, k), in the order of ``labels``.

        Parameters
        ----------
        rows : array-like of shape (n,) or (n, columns)
            Scores, logits or probabilities, as in the fit.
        segments : array-like of shape (n,) or (n, columns), optional
            The segment of each row, for a model that has segments.

        Returns
        -------
        ndarray
        """
        return self._each("class_probability", rows, segments)

    def predict_log_proba(self, rows: ArrayLike, segments: ArrayLike | None = None) -> Floats:
        """Return log P of each class, shape (n, k): finite where P rounds to 0, unless the map itself gives 0.

        Parameters
        ----------
        rows : array-like of shape (n,) or (n, k)
            Scores of new cases.
        segments : array-like of shape (n,), optional
            The segment of each case.

        Returns
        -------
        ndarray
        """
        return self._each("class_log_probability", rows, segments)

    def predict(self, rows: ArrayLike, segments: ArrayLike | None = None) -> NDArray[Any]:
        """Return the most probable label of each row; ties go to the earlier class.

        Parameters
        ----------
        rows : array-like of shape (n,) or (n, k)
            Scores of new cases.
        segments : array-like of shape (n,), optional
            The segment of each case.

        Returns
        -------
        ndarray
        """
        if self.has_one_score:
            best = (self.probability(rows, segments) > 0.5).astype(np.intp)
        else:
            best = self.predict_log_proba(rows, segments).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def log_odds(self, scores: ArrayLike, segments: ArrayLike | None = None) -> Floats:
        """Return log P(+|s)/P(−|s), shape (n,), of a model that reads one score of two classes.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.
        segments : array-like of shape (n,), optional
            The segment of each case.

        Returns
        -------
        ndarray
        """
        return self._each("log_odds", scores, segments)

    def log_likelihood_ratio(
        self, scores: ArrayLike, segments: ArrayLike | None = None, *, prior: float | None = None
    ) -> Floats:
        """Return log P(s|+)/P(s|−) in nats, shape (n,): the log-odds less those of the share of positives.

        Forensics report it instead of a probability, which depends on the share; divide by log 10 for decades. To write
        it inside an engine or export it, shift the model: ``model.shifted(-math.log(prior/(1 - prior)))``.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.
        segments : array-like of shape (n,), optional
            The segment of each case.
        prior : float, optional
            Share of positives for which the probabilities are made; by default that of the rows of the fit.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> import numpy as np
        >>> from oddsmith import LogisticCalibrator
        >>> y = np.array([0, 0, 0, 1, 0, 1, 1, 1] * 5)
        >>> model = Model.from_fitted(LogisticCalibrator().fit(np.arange(40) % 8, y))
        >>> model.log_likelihood_ratio([2.0, 5.0]).round(2)
        array([-1.92,  1.92])
        """
        if prior is None:
            if not isinstance(self.data, DataSummary):
                _check.fail("prior must be known", "a model without the rows of its fit", "pass the share of positives")
            prior = self.data.prevalence
        share = _check.number(prior, "prior", low=0, strict=True)
        if share >= 1:
            _check.fail("prior must be below 1", f"prior={prior!r}", "pass the share of positives")
        return np.asarray(self.log_odds(scores, segments) - math.log(share / (1 - share)))

    def probability(self, scores: ArrayLike, segments: ArrayLike | None = None) -> Floats:
        """Return P(+|s), shape (n,), of a model that reads one score of two classes.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.
        segments : array-like of shape (n,), optional
            The segment of each case.

        Returns
        -------
        ndarray
        """
        return self._each("probability", scores, segments)

    def predict_interval(self, scores: ArrayLike, level: float | None = None) -> Floats:
        """Return the limits of the true P at each score, shape (n, 2), of a model that keeps a band.

        They are a property of the labeled rows, not of the method.

        Parameters
        ----------
        scores : array-like of shape (n,)
        level : float, optional
            That of the band. Another one is refused: it would need the labeled rows, which a model does not keep.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from oddsmith import PlattCalibrator
        >>> scores = np.arange(1000) / 1000
        >>> cal = PlattCalibrator(keep_band=True).fit(scores, np.random.default_rng(0).random(1000) < scores)
        >>> model = Model.from_fitted(cal)
        >>> model.predict_interval([0.2, 0.8]).round(2).tolist()
        [[0.1, 0.29], [0.69, 0.91]]
        """
        return self._require_band().limits(scores, level)

    def limit(self, side: Literal["lower", "upper"]) -> "Model":
        """Return the model whose probability is one of the limits of P, of a model that keeps a band.

        It is applied, saved and exported as any model, and has segments where this one has them.

        Parameters
        ----------
        side : {"lower", "upper"}

        Returns
        -------
        Model

        Examples
        --------
        >>> from oddsmith import PlattCalibrator
        >>> scores = np.arange(1000) / 1000
        >>> cal = PlattCalibrator(keep_band=True).fit(scores, np.random.default_rng(0).random(1000) < scores)
        >>> Model.from_fitted(cal).limit("lower").probability([0.2, 0.8]).round(2).tolist()
        [0.1, 0.69]
        """
        _check.one_of(side, "side", ("lower", "upper"))
        parts = {name: part.limit(side) for name, part in self.segments.items()}
        own: CalibrationMap = getattr(self._require_band(), side)
        return dataclasses.replace(
            self, method=f"{self.method[:52]}-{side}-limit", map=own, segments=parts, band=None, warnings=()
        )

    def _require_band(self) -> Band:
        if self.band is None:
            must = "the model must keep a band to have intervals"
            hint = "fit it with keep_band=True (--keep-band), or pass band=pointwise_band(table) to Model.from_fitted"
            _check.fail(must, f"one of {self.method} without it", hint)
        return self.band

    def score_at(self, prob: float) -> float | None:
        """Return the score from which on the probability is at least ``prob``; None where no score reaches it.

        Of a map that rises it is the smallest score whose P, as NumPy computes it, is at least ``prob``: ``score >= c``
        selects those rows on every engine. Of a map that falls it is the largest one, and ``score <= c`` selects
        them. It is −∞ where every score reaches ``prob``. Maps that rise and fall are refused: see `scores_at`.

        Parameters
        ----------
        prob : float
            In [0, 1].

        Returns
        -------
        float or None

        Examples
        --------
        >>> from oddsmith import PlattCalibrator, ScoreTable
        >>> table = ScoreTable.from_arrays([-1.5, -0.2, 0.3, 1.7, 0.1], [0, 1, 0, 1, 0])
        >>> model = Model.from_fitted(PlattCalibrator().fit_table(table))
        >>> cut = model.score_at(0.5)
        >>> model.probability([cut, np.nextafter(cut, -np.inf)]) >= 0.5
        array([ True, False])
        """
        found = self.scores_at(prob)
        if not found:
            return None
        (low, high), *others = found
        if others or (low > -np.inf and high < np.inf):
            got = f"P ≥ {prob:g} in {len(found)} intervals" if others else f"P ≥ {prob:g} from {low:g} to {high:g} only"
            _check.fail("one cut-off needs a map that rises or falls throughout", got, f"use scores_at({prob:g})")
        return high if high < np.inf else low

    def scores_at(self, prob: float) -> tuple[tuple[float, float], ...]:
        """Return the closed intervals of scores whose probability is at least ``prob``, in ascending order.

        Blends that fall somewhere are refused, as the number of their turning points is unknown.

        Parameters
        ----------
        prob : float
            In [0, 1].

        Returns
        -------
        tuple[tuple[float, float], ...]
        """
        if self.by is not None:
            _check.fail("one map is used at a time", f"a model by {self.by}", "use model.of_segment(name).score_at")
        if not isinstance(self.map, CalibrationMap):
            must = "a cut-off on the score needs a model that reads one score of two classes"
            _check.fail(must, f"{self.map.columns} columns", "select rows by predict_proba")
        return scores_reaching(self.map, prob)

    def apply(
        self,
        frame: Any,
        scores: str | Sequence[str] | None = None,
        name: str | None = None,
        by: str | Sequence[str] | None = None,
    ) -> Any:
        """Add the probabilities of each row to a data frame or a table of an engine; see `oddsmith.frames.apply`.

        Parameters
        ----------
        frame : data frame or table of an engine
            pandas, Polars (eager or lazy), PyArrow, DuckDB relation, Dask, PySpark, Ibis; the same kind comes back, and
            what is lazy stays lazy.
        scores : str or sequence of str, optional
            Column of the scores, or columns of the logits or probabilities; by default those of the fit.
        name : str, optional
            Name of the new column, for several classes the part before "_" and the label.
        by : str or sequence of str, optional
            Columns of segments, if their names differ from those in the data of the fit.

        Returns
        -------
        frame
        """
        from oddsmith.frames import apply

        return apply(frame, self, scores, name, by)

    def _each(self, function: str, rows: ArrayLike, segments: ArrayLike | None) -> Floats:
        checked = self._check_rows(rows, two_classes=function in ("log_odds", "probability"))
        if (segments is None) != (self.by is None):
            _check.fail(
                "segments must be given if and only if the model has any",
                f"a model {'without segments' if self.by is None else f'by {self.by}'}",
                "pass one segment per score" if segments is None else "leave segments out",
            )
        if segments is None:
            own: Floats = getattr(self.map, function)(checked)
            return own
        n, m = len(checked), len(self.segment_columns)
        names = np.asarray(segments) if m == 1 else np.array(segments, dtype=object)
        if names.shape != ((n,) if m == 1 else (n, m)):
            got, hint = f"shape {names.shape} for {n} scores", "pass one per score" if m == 1 else f"pass {m} per score"
            _check.fail("segments must be as long as the scores", got, hint)
        keys = names.reshape(n, m).T
        found = {name: at for name, at in rows_by_segment(*keys, partial=self.effects is not None).items() if len(at)}
        parts = [getattr(self.of_segment(name).map, function)(checked[at]) for name, at in found.items()]
        shape = parts[0].shape[1:] if parts else getattr(self.map, function)(checked).shape[1:]
        result = np.empty((len(checked), *shape))
        for at, part in zip(found.values(), parts, strict=True):
            result[at] = part
        return result

    def _check_rows(self, rows: ArrayLike, *, two_classes: bool = False) -> Floats:
        """Return one score per row of a model that reads one, else one row of columns."""
        if isinstance(self.map, CalibrationMap):
            return _check.as_scores(rows)
        if two_classes:
            must = "the model must read one score of two classes to have log-odds"
            _check.fail(must, f"{self.map.columns} columns", "use predict_proba or predict_log_proba")
        unit, one = self.map.input == "probabilities", self.map.columns == 1
        found = _check.as_array(rows, "rows", (1, 2), unit=unit, masked=not (unit or one), infinite=one and not unit)
        columns = found[:, None] if found.ndim == 1 else found
        if columns.shape[1] != self.map.columns:
            got = f"{columns.shape[1]} columns"
            _check.fail(f"rows must have {self.map.columns} columns", got, "pass one per class, in the order of labels")
        if unit and columns.shape[1] > 1:
            _check.as_distribution(columns)
        _check.refuse_masked_rows(columns, "rows")
        return columns

    @property
    def schema(self) -> int:
        """Schema of the model's file: the oldest one that has all that the model contains."""
        own = 1 if self.has_one_score else 2
        if self.effects is not None:
            return 6
        schemas = {part.schema for part in self.segments.values()}
        if self.band is not None or 5 in schemas:
            return 5
        if len(self.segment_columns) > 1:
            return 4
        names_or_verdict = self.column_names is not None or self.verdict
        more = (names_or_verdict or self.data is None) if own == 1 else self.by is not None
        return 3 if more or schemas - {own} else own

    def to_json(self) -> str:
        """Return the model as text, the same for the same model.

        Returns
        -------
        str
        """
        schema = self.schema
        written = render({"format": FORMAT, "schema": schema, **self._content(schema)})
        # What could not be loaded again must not be written.
        if Model.from_json(written) != self:
            refuse("a model must be the same when loaded again", "another one", "check its parameters and labels")
        return written

    def _content(self, schema: int) -> dict[str, Any]:
        content = {name: _to_plain(getattr(self, name)) for name in _KEYS[schema]}
        if self.by is not None:
            content["by"] = _to_plain(self.by)
            content["segments"] = {_segment_text(name): part._content(schema) for name, part in self.segments.items()}
        return content

    @staticmethod
    def from_json(text: str | bytes) -> "Model":
        """Rebuild the model that `to_json` wrote.

        Parameters
        ----------
        text : str
            What `to_json` wrote.

        Returns
        -------
        Model

        Raises
        ------
        ModelFileError
            If the text is truncated, edited, written by a newer version or not a model.
        """
        return read_content(*unseal(parse(text), Model._latest))

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the model to a file, whole or not at all; ``force`` replaces one that exists.

        Parameters
        ----------
        path : str or Path
            The file.
        force : bool, default False
            Whether to replace a file of this name.
        """
        write_atomically(path, self.to_json(), force=force)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> "Model":
        """Read the model that `save` wrote; see `oddsmith.load`.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Model
        """
        return read_file(path, Model.from_json)


class HasMap(Protocol):
    """A fitted calibrator or scaling."""

    @property
    def map_(self) -> Any:
        """The fitted map."""


def fitted_map_of(model: Any) -> CalibrationMap | JointMap:
    """Return the map of a model, of a fitted calibrator or scaling, or the map itself."""
    if isinstance(model, (CalibrationMap, JointMap)):
        return model
    if isinstance(model, Model):
        if model.by is not None:
            _check.fail("one map is used at a time", f"a model by {model.by}", "pass model.of_segment(name).map")
        return model.map
    if not hasattr(type(model), "fit") or not hasattr(type(model), "save"):
        _check.fail("model must be a fitted calibrator or its map", type(model).__name__, "pass calibrator.map_")
    try:
        found: CalibrationMap | JointMap = model.map_
    except AttributeError:
        from sklearn.exceptions import NotFittedError

        message = f"this {type(model).__name__} is not fitted. Hint: call fit first."
        raise NotFittedError(message) from None
    return found


def map_of(model: Any) -> CalibrationMap:
    """Return the map from one score of a model or fitted calibrator, or the map itself."""
    found = fitted_map_of(model)
    if not isinstance(found, CalibrationMap):
        _check.fail("model must be a fitted calibrator or its map", type(model).__name__, "pass calibrator.map_")
    return found


def joint_map_of(model: Any) -> JointMap:
    """Return the map from the columns of a row, of a model or fitted scaling, or the map itself."""
    found = fitted_map_of(model)
    if not isinstance(found, JointMap):
        _check.fail("model must read one column per class", type(found).__name__, "pass a fitted scaling")
    return found


def model_of(model: Any) -> Model:
    """Return the model of a model, a fitted calibrator or scaling, or a map, whose classes are then 0, 1, 2, …."""
    if isinstance(model, Model):
        return model
    found = fitted_map_of(model)
    if model is found:
        return Model(type(model).__name__, {}, found, tuple(range(found.n_classes)), None)
    return Model.from_fitted(model)


def save(fitted: Any, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a fitted calibrator or scaling to a file, whole or not at all; ``force`` replaces one that exists."""
    Model.from_fitted(fitted).save(path, force=force)


def read_content(schema: int, content: Any, where: str = "the model", *, segment: bool = False) -> Model:
    """Return the model that the content of a file describes, after every value in it was checked."""
    segmented = not segment and isinstance(content, dict) and (schema == 6 or ("by" in content and schema != 2))
    keys(content, (*_KEYS[schema], *_SEGMENTED) if segmented else _KEYS[schema], where)
    origin = read_origin(content, where)
    of_two = schema == 1 or (schema >= 3 and _has_one_score(content["map"]))
    labels = read_labels(content["labels"], where, least=2, most=2 if of_two else MOST_CLASSES)
    if of_two:
        found: CalibrationMap | JointMap = read_map(content["map"])
        data: Any = (
            content["data"] if schema >= 3 and content["data"] is None else DataSummary.from_dict(content["data"])
        )
    else:
        found = read_joint_map(content["map"], len(labels))
        data = None if content["data"] is None else ClassCounts.from_dict(content["data"], len(labels))
    model = Model(
        map=found,
        labels=labels,
        data=data,
        column_names=_read_names(content.get("column_names"), found.columns),
        verdict=text(content.get("verdict", ""), "verdict"),
        band=_read_band(content.get("band"), of_two=of_two),
        **origin,
    )
    if not segmented:
        return model
    if not isinstance(content["segments"], dict):
        refuse("segments must be an object", show(content["segments"]))
    several = schema == 4 or (schema >= 5 and isinstance(content["by"], list))
    by = _read_by(content["by"]) if several else text(content["by"], "by")
    parts = {
        _read_segment(text(name, "segments"), by): read_content(schema, part, f"segment {show(name)}", segment=True)
        for name, part in content["segments"].items()
    }
    if any((part.labels, part.map.columns) != (labels, found.columns) for part in parts.values()) and schema >= 3:
        refuse("segments must have the labels and columns of the model", "others")
    if len(parts) < len(content["segments"]):
        refuse("segments must have different names", "two that are the same list of keys")
    if schema < 6:
        return model.with_segments(by, parts)
    if parts or not of_two:
        refuse("segments must be empty in a model with effects, which reads one score", "others")
    return model.with_effects(by, read_effects(content["effects"], 1 if isinstance(by, str) else len(by)))


def _segment_text(name: Segment) -> str:
    """Return how a file names a segment."""
    return name if isinstance(name, str) else json.dumps(name, ensure_ascii=False)


def _read_by(content: Any) -> tuple[str, ...]:
    """Return several columns of segments."""
    if not isinstance(content, list) or len(content) < 2 or len(set(map(str, content))) < len(content):
        refuse("by must be a list of different names", show(content))
    return tuple(text(name, "by") for name in content)


def _read_segment(name: str, by: Segment) -> Segment:
    """Return the name of a segment: a text, or of several columns a list of texts."""
    if isinstance(by, str):
        return name
    try:
        keys = json.loads(name)
    except (ValueError, RecursionError):
        keys = None
    if not isinstance(keys, list) or len(keys) != len(by):
        refuse(f"segments must be named by lists of {len(by)} keys", show(name))
    return tuple(text(key, "segments") for key in keys)


def _read_band(content: Any, *, of_two: bool) -> Band | None:
    """Return limits of P, after every value in them was checked."""
    if content is None:
        return None
    if not of_two:
        refuse("band must be null in a model of several columns", show(content))
    keys(content, ("lower", "upper", "level", "simultaneous", "rows"), "band")
    if type(content["simultaneous"]) is not bool:
        refuse("band.simultaneous must be true or false", show(content["simultaneous"]))
    level = number(content["level"], "band.level", low=0, high=1, strict=True)
    lower, upper = (read_map(content[side], f"band.{side}") for side in ("lower", "upper"))
    return Band(lower, upper, level, content["simultaneous"], whole(content["rows"], "band.rows", low=1))


def _has_one_score(content: Any) -> bool:
    """Whether the description of a map is of one that reads one score."""
    shape = content.get("shape") if isinstance(content, dict) else None
    return shape not in JointMap._shapes


def _read_names(names: Any, columns: int) -> tuple[str, ...] | None:
    if names is not None and (not isinstance(names, list) or len(names) != columns):
        refuse("column_names must be a list of one name per column", show(names))
    return None if names is None else tuple(text(name, "column_names") for name in names)


def _to_plain(value: Any) -> Any:
    """Return a field of a model as plain lists and numbers."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
