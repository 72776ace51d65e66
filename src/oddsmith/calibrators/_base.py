"""The calibrator: a scikit-learn estimator that turns a score table into a calibration map.

A new method is a dataclass with its parameters as fields and one method, ``_fit(data) -> Fitted``. What it needs, and
how its fits may be checked, is declared by class variables.
"""

import math
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from oddsmith import _check
from oddsmith._docstrings import insert_shared
from oddsmith._types import Floats
from oddsmith.bands import pointwise_band
from oddsmith.calibrators._chunks import Chunks
from oddsmith.calibrators._reading import (
    TAKEN_FOR,
    InputKind,
    Middle,
    Reading,
    is_too_sure,
    likeliest,
    may_lie_apart,
    probability_reading,
    surest_reading,
)
from oddsmith.calibrators._selection import Selected, loss_difference, other_cells
from oddsmith.data import Fingerprint, Sample, ScoreTable, as_table, is_reversed, is_separable, read_rows
from oddsmith.errors import (
    ConstantScoreWarning,
    FarScoreWarning,
    NonConvergenceWarning,
    OddsmithWarning,
    PredictedLabelWarning,
    QuantizedSelectionWarning,
    ReversedScoreWarning,
    SeparableWarning,
    SingleClassWarning,
)
from oddsmith.maps import Band, CalibrationMap, constant_map, logit
from oddsmith.model import save

#: Far scores dominate a fit if they cost the others as many nats per case, and as many in all.
_WORSE = 0.015
_SOME_NATS = 6.0

#: Scores that look like predicted labels, and the weight from which two scores are no accident of few rows.
_LABELS = ((0.0, 1.0), (-1.0, 1.0))
_SEVERAL = 20

#: What is odd about a fit: the category of its warning, and its words.
Note = tuple[type[OddsmithWarning], str]


class Fitted(NamedTuple):
    """What a method found: its map, the attributes of the fitted calibrator, and what is odd about the fit."""

    map: CalibrationMap
    attributes: Mapping[str, Any] = MappingProxyType({})
    notes: Sequence[Note] = ()


@dataclass(eq=False, repr=False)
class Calibrator(ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all calibrators: scores and labels in, probabilities out.

    Parameters
    ----------
    pos_label : object, optional
        The positive label; needed unless labels are {0, 1}, {−1, +1} or bool.
    input : {"score", "probability", "log_odds"}, default "score"
        What the scores are. "score" and "log_odds" are used as given; of a "probability" the log-odds is used.
        If a `CalibratedClassifier` finds a classifier's scores to be log-odds, some beyond ±37, a method with "score"
        is fitted to log-odds clipped to ±37 where that forecasts better out of sample; the map keeps this.
    clip : float, optional
        With ``input="probability"``, clip probabilities to [clip, 1 − clip]. None refuses 0 and 1.
    keep_band : bool or float, default False
        Whether to keep limits of the true P at each score, for `predict_interval`: those of
        `oddsmith.bands.pointwise_band`, of level 0.95 or the one given. They need rows without float weights.

    Attributes
    ----------
    map_ : CalibrationMap
        The fitted map from score to log-odds.
    classes_ : ndarray of shape (2,)
        Negative and positive label.
    fit_warnings_ : list of str
        What was odd about the fit, in plain words.
    fingerprint_ : Fingerprint
        Counts and sums of the rows of the fit, by which they are recognized when they are judged again.
    band_ : Band or None
        Limits of P, with ``keep_band``.

    See Also
    --------
    oddsmith.calibrators.registry.register_calibrator : Makes a method known by name.
    JointScaling : The same for several classes.
    """

    pos_label: Any = field(default=None, kw_only=True)
    input: Literal["score", "probability", "log_odds"] = field(default="score", kw_only=True)
    clip: float | None = field(default=None, kw_only=True)
    keep_band: bool | float = field(default=False, kw_only=True)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__doc__ = insert_shared(cls.__doc__, Calibrator.__doc__, "As for every calibrator.")

    #: Methods that fit nothing keep their map whatever the labels.
    _learns: ClassVar[bool] = True
    #: Whether the method needs sorted scores; others may get rows in any order, which spares the sort.
    _needs_order: ClassVar[bool] = True
    #: What the method makes of perfectly separated classes.
    _when_separable: ClassVar[str] = (
        "the neighborhood of that threshold has too few errors to estimate probabilities there"
    )
    #: What the method chooses from the data, where a choice may jump.
    _selects: ClassVar[tuple[Selected, ...]] = ()
    #: Whether a fit to cells may differ from that to scores by more than the cells' promise, and has to be checked.
    _sensitive_to_cells: ClassVar[bool] = False

    def _fit(self, data: Any) -> Fitted | CalibrationMap:
        """Fit the method to data with both classes and at least two distinct scores.

        Parameters
        ----------
        data : ScoreTable, or LabeledScores where the method needs no order

        Returns
        -------
        Fitted, or its map alone where there is no more to keep
        """
        raise NotImplementedError

    def _constant(self, data: Sample) -> Fitted:
        """Return the fit to a single distinct score."""
        return Fitted(constant_map(float(logit(np.array(add_one_prior(data))))))

    def _check_parameters(self) -> None:
        """Refuse bad parameters before anything is fitted."""

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to scores and labels.

        Parameters
        ----------
        scores : array-like of shape (n,) or (n, 1)
            Out-of-sample scores of a classifier, larger meaning more positive.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            Integer-typed weights are counts, float weights are importance weights; 0 means that the row is absent.

        Returns
        -------
        self
        """
        self._chunks: Chunks | None = None
        rows, classes = read_rows(scores, y, sample_weight, self.pos_label)
        return self._learn(rows, classes)

    def fit_table(self, table: Sample) -> Self:
        """Fit to a score table; the same fit as from the rows that made it.

        ``ScoreTable.meaning`` states what the scores are, so that no method has to guess.

        Parameters
        ----------
        table : ScoreTable
            Counts of positives and negatives by score.

        Returns
        -------
        self
        """
        self._chunks = None
        return self._learn(table, np.array([0, 1]))

    def partial_fit(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        classes: ArrayLike | None = None,
        max_cells: int | None = None,
    ) -> Self:
        """Fit to these rows and to all rows of earlier calls since the last `fit`.

        Chunks add up in ``table_``, and their order does not matter: counts give the same fit, float weights and cells
        the same up to rounding. Each call fits again; for very many chunks, merge score tables and fit once.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores; larger means more positive.
        y : array-like of shape (n,)
            Labels. A chunk may contain one class only.
        sample_weight : array-like of shape (n,), optional
            Integer-typed weights are counts, float weights importance weights.
        classes : array-like of shape (2,), optional
            Both labels, where chunks do not show them.
        max_cells : int, optional
            Keep at most this many distinct scores by pooling them in cells; see `ScoreTable.coarsen`. The smallest
            number given in any call applies.

        Returns
        -------
        self

        Examples
        --------
        >>> from oddsmith import PlattCalibrator
        >>> scores, y = [-1.5, -0.2, 0.3, 1.7, 0.1, 0.4], [0, 1, 0, 1, 0, 1]
        >>> chunks = PlattCalibrator().partial_fit(scores[:4], y[:4])
        >>> chunks = chunks.partial_fit(scores[4:], y[4:])
        >>> chunks.map_ == PlattCalibrator().partial_fit(scores, y).map_
        True
        """
        rows, names = read_rows(scores, y, sample_weight, self.pos_label)
        self._declared_reading().enter(rows.scores)  # refuses bad scores before they are among the others
        chunks = Chunks.of(ScoreTable.from_rows(rows), names, max_cells, self.input == "probability")
        if classes is not None:
            both = _check.as_labels(classes, len(np.asarray(classes)), self.pos_label).classes
            chunks = chunks.with_labels((both[0], both[1]))
        before: Chunks | None = getattr(self, "_chunks", None)
        if before is not None:
            chunks = before.merge(chunks)
        self._learn(chunks.table, chunks.classes)
        self._chunks = chunks
        return self

    def merge(self, other: Self) -> Self:
        """Return the calibrator of this one's rows and another's, both fitted by `partial_fit`.

        Parameters
        ----------
        other : Calibrator
            Of the same class and parameters.

        Returns
        -------
        self
        """
        if type(other) is not type(self) or other.get_params() != self.get_params():
            _check.fail("calibrators must be of one class and parameters to merge", f"{other!r}", f"pass a {self!r}")
        mine, theirs = (getattr(part, "_chunks", None) for part in (self, other))
        if mine is None or theirs is None:
            _check.fail("both calibrators must have kept their rows to merge", "one without", "fit both by partial_fit")
        merged: Self = clone(self)
        chunks: Chunks = mine.merge(theirs)
        merged._learn(chunks.table, chunks.classes)
        merged._chunks = chunks
        return merged

    @property
    def table_(self) -> ScoreTable:
        """All rows so far, after `partial_fit` or `merge`; `fit` keeps none."""
        chunks: Chunks | None = getattr(self, "_chunks", None)
        if chunks is None:
            message = f"{type(self).__name__} keeps a table only when fitted by partial_fit"
            raise AttributeError(message)
        return chunks.table

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return the calibrated log P(+|s)/P(−|s), shape (n,).

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        check_is_fitted(self, "map_")
        return self.map_.log_odds(_check.as_scores(scores))

    def predict_proba(self, scores: ArrayLike) -> Floats:
        """Return P(−|s) and P(+|s), shape (n, 2).

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        check_is_fitted(self, "map_")
        return self.map_.class_probability(_check.as_scores(scores))

    def predict_interval(self, scores: ArrayLike, level: float | None = None) -> Floats:
        """Return limits of the true P(+|s), shape (n, 2), of a calibrator with ``keep_band``.

        They are a property of the labeled rows, not of the method: a forecast may lie outside. Each contains the true
        P with the probability ``keep_band`` where P rises without jumps; see `oddsmith.bands.pointwise_band`.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.
        level : float, optional
            That of ``keep_band``. Another one is refused: it would need the labeled rows, which are not kept.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from oddsmith import PlattCalibrator
        >>> scores = np.arange(1000) / 1000
        >>> y = np.random.default_rng(0).random(1000) < scores
        >>> PlattCalibrator(keep_band=True).fit(scores, y).predict_interval([0.2, 0.8]).round(2).tolist()
        [[0.1, 0.29], [0.69, 0.91]]
        """
        check_is_fitted(self, "map_")
        if self.band_ is None:
            _check.fail("a calibrator must keep a band to have intervals", f"{self!r}", "fit it with keep_band=True")
        return self.band_.limits(scores, level)

    def predict(self, scores: ArrayLike) -> NDArray[Any]:
        """Return the positive label where P(+|s) > ½, else the negative one.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        check_is_fitted(self, "map_")
        positive = self.map_.probability(_check.as_scores(scores)) > 0.5
        return self.classes_[positive.astype(np.intp)]

    def predict_log_proba(self, scores: ArrayLike) -> Floats:
        """Return log P(−|s) and log P(+|s), shape (n, 2): finite where P itself rounds to 0, unless the map predicts 0.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        check_is_fitted(self, "map_")
        return self.map_.class_log_probability(_check.as_scores(scores))

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the fitted calibrator to a JSON file that `oddsmith.load` reads; ``force`` replaces one that exists.

        Parameters
        ----------
        path : str or Path
            The file.
        force : bool, default False
            Whether to replace a file of this name.

        Examples
        --------
        >>> import pathlib, tempfile, oddsmith
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
        >>> oddsmith.PlattCalibrator().fit([-1.5, -0.2, 0.3, 1.7], [0, 1, 0, 1]).save(path)
        >>> oddsmith.load(path).predict_proba([0.3]).shape
        (1, 2)
        """
        check_is_fitted(self, "map_")
        save(self, path, force=force)

    def transform(self, scores: ArrayLike) -> Floats:
        """Return P(+|s) as one column, for use inside a pipeline.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        ndarray
        """
        return self.predict_proba(scores)[:, 1:]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the one output column, for ``set_output``."""
        del input_features
        check_is_fitted(self, "map_")
        return np.array([f"{type(self).__name__.lower()}0"], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.classifier_tags.multi_class = False
        return tags

    def _declared_reading(self) -> Reading:
        """Return how scores are read that were declared to be something."""
        return probability_reading(self.clip) if self.input == "probability" else Reading()

    def _readings(self, data: Sample) -> list[Reading]:
        """Return how the method may read what was declared: as it is, or known log-odds held within ±37 too."""
        sure = self.input == "score" and data.meaning == "log_odds" and is_too_sure(data)
        return [Reading(), surest_reading()] if sure else [Reading()]

    def _reading(self, data: Sample) -> Reading:
        """Choose the reading under which the method forecasts best out of sample."""

        def fit(part: ScoreTable) -> CalibrationMap:
            other: Self = clone(self).set_params(input="log_odds")
            return other._find(part).map

        return likeliest(self._readings(data), data, fit)

    def _attributes_of(self, reading: Reading, data: Sample) -> dict[str, Any]:
        """Return the attributes that say what scores were taken for."""
        del data
        return {"_taken_for": reading.kind}

    def __repr__(self, **options: Any) -> str:
        shown = str(super().__repr__(**options))
        kind: InputKind | None = getattr(self, "_taken_for", None) if self.input == "score" else None
        if kind is not None:
            shown += f" fitted to {TAKEN_FOR[kind]}"
        convention = _check.convention_of(getattr(self, "classes_", ()))
        return f"{shown}, {convention}" if convention else shown

    def _learn(self, data: Sample, classes: NDArray[Any]) -> Self:
        if isinstance(data, ScoreTable) and len(data) == 0:
            _check.fail("a table must contain rows to be fitted", f"{data!r}", "merge the tables of some rows first")
        self.fingerprint_: Fingerprint = Fingerprint.of(data)
        self.band_: Band | None = None
        if self.keep_band is not False:
            level = 0.95 if self.keep_band is True else _check.level(self.keep_band, "keep_band")
            self.band_ = pointwise_band(as_table(data), level)
        odd = self._keep(self._find(data), classes)
        if hasattr(self, "verdict_") and (convention := _check.convention_of(classes)):
            self.verdict_ += f" {convention.capitalize()}."
        depends = self._selects or self._sensitive_to_cells
        if depends and isinstance(data, ScoreTable) and (message := self._coarse_choices(data)):
            odd.append((QuantizedSelectionWarning, message))
            self.fit_warnings_.append(message)
        if self._learns and (message := self._far_scores(data)):
            odd.append((FarScoreWarning, message))
            self.fit_warnings_.append(message)
        for category, message in odd:
            warnings.warn(f"{type(self).__name__}: {message}", category, stacklevel=3)  # the line that called fit
        return self

    def _far_scores(self, data: Sample) -> str:
        """Return in words that scores far from the others cost those their fit; empty if none do."""
        with np.errstate(all="ignore"):
            measured = self._wide_reading(data)
            if not may_lie_apart(measured.read(data)):
                return ""
            table = as_table(data).exact()
            near = table.at(Middle.of(measured.read(table)).holds(measured.enter(table.scores)))
            if len(near) in (0, 1, len(table)) or near.n_pos == 0 or near.n_neg == 0:
                return ""
            other = clone(self)._find(near).map
            before, after = (mean_loss(each, near) for each in (self.map_, other))
        if not before - after > max(_WORSE, _SOME_NATS / effective_rows(near)):
            return ""
        low, high = near.span()
        return (
            f"Scores far from the others dominate the fit: without those beyond {low:.4g} … {high:.4g} the log-loss of "
            f"the others falls from {before:.4f} to {after:.4f}. Hint: find out what the far scores are; clip scores "
            "to that range, in the fit and later, or use AutoCalibrator."
        )

    def _wide_reading(self, data: Sample) -> Reading:
        """Return the reading in which scores may lie far from the others."""
        del data
        return self._declared_reading()

    def _coarse_choices(self, table: ScoreTable) -> str:
        """Return in words which choices would be others in cells twice as wide; empty if none."""
        grid = table.grid
        if grid is None or not np.isfinite(2 * grid.width):
            return ""
        wider = table.quantize(2 * grid.width, grid.log_odds)
        other: Self = clone(self)
        other._keep(other._find(wider), self.classes_)
        scores = self._declared_reading().enter(wider.scores)
        found = [selected.difference(self, other, scores) for selected in self._selects]
        if self._sensitive_to_cells:
            others = [other.map_, *(self._find(each).map for each in other_cells(table))]
            found.append(loss_difference(table, self.map_, others))
        differences = "; ".join(filter(None, found))
        if not differences:
            return ""
        return (
            f"The choice depends on the width of the cells, {table.resolution:g}, and may differ from that of the "
            f"scores themselves ({differences}). Hint: build the table with a smaller resolution, or fit exactly to "
            "fewer rows."
        )

    def _find(self, data: Sample) -> Fitted:
        """Fit; nothing is kept in this calibrator, and nothing is said of what is odd."""
        _check.one_of(self.input, "input", ("score", "probability", "log_odds"))
        if self.clip is not None and not 0 < _check.number(self.clip, "clip", low=0, strict=True) < 0.5:
            _check.fail("clip must lie between 0 and ½", f"clip={self.clip!r}", "use a small number such as 1e-6")
        self._check_parameters()
        entry = self._declared_reading()
        # Scores may lie anywhere in the range of doubles: what overflows on the way is held finite where it matters.
        with np.errstate(all="ignore"):
            entered = entry.read(data)
            ordered = as_table(entered) if self._needs_order else entered
            reading = self._reading(ordered)
            found = self._fit_or_constant(reading.read(ordered))
            attributes = {**self._attributes_of(reading, ordered), **found.attributes}
            return Fitted(entry.wrap(reading.wrap(found.map)), attributes, found.notes)

    def _keep(self, found: Fitted, classes: NDArray[Any]) -> list[Note]:
        """Keep a fit in the place of an earlier one, and return what is odd about it."""
        earlier: tuple[str, ...] = getattr(self, "_found", ())
        for name in earlier:
            self.__dict__.pop(name, None)
        self.__dict__.update(found.attributes)
        self._found = tuple(found.attributes)
        self.map_: CalibrationMap = found.map
        self.classes_ = classes
        self.n_features_in_ = 1
        self.fit_warnings_: list[str] = [message for _, message in found.notes]
        return list(found.notes)

    def _fit_or_constant(self, data: Sample) -> Fitted:
        """Fit the method where there is something to fit, else a constant."""
        if not self._learns:
            return _as_fitted(self._fit(data))
        if isinstance(data, ScoreTable) and self._needs_order:
            data = data.join_near_ties()
        if data.n_pos == 0 or data.n_neg == 0:
            which = "positive" if data.n_neg == 0 else "negative"
            message = f"All labels are {which}; predicting a constant."
            prior = constant_map(float(logit(np.array(add_one_prior(data)))))
            return Fitted(prior, self._constant(data).attributes, [(SingleClassWarning, message)])
        low, high = data.span()
        if low == high:
            message = f"All scores equal {low:g}: the fit is a constant."
            return self._constant(data)._replace(notes=[(ConstantScoreWarning, message)])
        notes: list[Note] = []
        if (low, high) in _LABELS and _are_labels(data):
            message = (
                f"All scores are {low:g} and {high:g}: they look like predicted labels, which leave two probabilities. "
                "Hint: pass decision_function or predict_proba."
            )
            notes.append((PredictedLabelWarning, message))
        if is_reversed(data):
            message = (
                "Higher scores go with the negative class (area under the ROC curve significantly below ½): "
                "is the score the wrong way round?"
            )
            notes.append((ReversedScoreWarning, message))
        if is_separable(data):
            message = f"A threshold separates the classes perfectly: {self._when_separable}."
            notes.append((SeparableWarning, message))
        found = _as_fitted(self._fit(data))
        return found._replace(notes=[*notes, *found.notes])


def _are_labels(data: Sample) -> bool:
    """Return whether several rows have no score but the two ends."""
    scores, _ = data.marginal()
    return data.n_pos + data.n_neg >= _SEVERAL and bool(np.isin(scores, data.span()).all())


def _as_fitted(found: Fitted | CalibrationMap) -> Fitted:
    return found if isinstance(found, Fitted) else Fitted(found)


def convergence_notes(converged: bool) -> list[Note]:
    """Return the note that a solver did not reach its optimum, if it did not."""
    message = "Newton's method stopped before its tolerance; the fit may be off."
    return [] if converged else [(NonConvergenceWarning, message)]


def method_name(cls: type[Any]) -> str:
    """Return the name of the method that a class implements.

    Examples
    --------
    >>> from oddsmith import AsymmetricLaplaceCalibrator
    >>> method_name(AsymmetricLaplaceCalibrator)
    'asymmetric-laplace'
    """
    bare = re.sub(r"(Calibrator|Scaling)$", "", cls.__name__)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", bare).lower()


def mean_loss(fitted: CalibrationMap, table: ScoreTable) -> float:
    """Return the mean log-loss of a map, of what it holds for impossible that of one case among all these."""
    surest = math.log1p(effective_rows(table))
    log_odds = np.clip(fitted.log_odds(table.scores), -surest, surest)
    losses = table.pos @ np.logaddexp(0, -log_odds) + table.neg @ np.logaddexp(0, log_odds)
    return float(losses / (table.n_pos + table.n_neg))


def effective_rows(table: ScoreTable) -> float:
    """Return how many rows of equal weight would vary as much."""
    return float((table.n_pos + table.n_neg) ** 2 / np.add(*table.squares).sum())


def add_one_prior(data: Sample) -> float:
    """Return (N₊ + 1)/(N + 2)."""
    return (data.n_pos + 1) / (data.n_pos + data.n_neg + 2)
