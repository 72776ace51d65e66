"""From the scores of several classes or labels to probabilities, by two-class calibrators or one joint scaling.

Two classes, one against the rest, all pairs, any code matrix and independent labels are one thing: a list of two-class
problems, a calibrator for each, and a rule that puts the answers together.
"""

import warnings
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, logsumexp
from sklearn.base import BaseEstimator, clone

from oddsmith import _check
from oddsmith._sklearn_compat import check_method_params, safe_indexing
from oddsmith._types import Bools, Floats, Weights
from oddsmith.calibrators import Calibrator, TemperatureScaling
from oddsmith.classify._sources import Form
from oddsmith.classify.coupling import couple_code_matrix, couple_pairwise, normalize_one_vs_rest
from oddsmith.classify.protocols import Pooled
from oddsmith.classify.scores import ResponseMethod, ScoreLayout, classifier_scores
from oddsmith.classify.target import Target
from oddsmith.data import Meaning, read_rows
from oddsmith.errors import LostAccuracyWarning
from oddsmith.maps import logit

#: Shares of 0 and 1 are read as this far from the ends where a joint scaling needs logits.
_CLIP = 1e-12

#: Share of the cases for which decisions may get worse without a warning, and standard errors that chance explains.
_LESS_ACCURATE, _SURE = 0.02, 2.0

Signs = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Problems:
    """Two-class problems over k classes.

    Attributes
    ----------
    code : ndarray of shape (b, k)
        +1: the class is positive in this problem, −1: negative, 0: takes no part.
    kind : {"two", "labels", "one_vs_rest", "pairwise", "code"}
        How the answers are put together.
    """

    code: Signs
    kind: Literal["two", "labels", "one_vs_rest", "pairwise", "code"]

    @property
    def layout(self) -> ScoreLayout:
        """The scores that are wanted from a classifier."""
        return "labels" if self.kind == "labels" else "pairs" if self.kind == "pairwise" else "classes"

    def join(self, prob: Floats, counts: Floats, seen: Bools) -> Floats:
        """Combine the probabilities of all problems, shape (n, b), given their numbers of cases.

        Classes that the classifier has not seen get 0.
        """
        if self.kind == "labels":
            return prob
        if self.kind == "two":
            return np.column_stack([1 - prob, prob])
        if self.kind == "one_vs_rest":
            joined = np.zeros(prob.shape)
            joined[:, seen] = normalize_one_vs_rest(prob[:, seen])
            return joined
        if self.kind == "code":
            return couple_code_matrix(prob[:, counts > 0], np.where(seen, self.code, 0)[counts > 0])
        k = self.code.shape[1]
        i, j = np.triu_indices(k, 1)
        r, cases = np.full((len(prob), k, k), 0.5), np.zeros((k, k))
        r[:, i, j], r[:, j, i] = prob, 1 - prob
        cases[i, j] = cases[j, i] = counts
        return couple_pairwise(r, cases)

    def join_log_odds(self, log_odds: Floats, counts: Floats, seen: Bools) -> Floats:
        """Return the logarithm of what `join` returns, from log-odds and, but for coupling, without rounding P."""
        if self.kind in ("pairwise", "code"):
            with np.errstate(divide="ignore"):
                return np.log(self.join(expit(log_odds), counts, seen))
        if self.kind == "two":
            log_odds = np.column_stack([-log_odds, log_odds])
        logs = np.asarray(log_expit(log_odds))
        if self.kind == "one_vs_rest":
            logs = np.where(np.isneginf(logs[:, seen]).all(axis=1, keepdims=True), 0.0, logs)
            logs = log_softmax(np.where(seen, logs, -np.inf), axis=1)
        return logs

    def signs(self, target: Target) -> Signs:
        """Return +1, −1 or 0 for each row and problem."""
        if target.multilabel:
            return (2 * target.codes - 1).astype(np.int8)
        return self.code.T[target.codes]

    def scores(self, values: Floats, form: Form) -> Floats:
        """Return one column per problem."""
        return np.column_stack([self._column(values, form, b) for b in range(len(self.code))])

    def _column(self, values: Floats, form: Form, b: int) -> Floats:
        """Return the scores of one problem.

        Of one class against the rest, its own margin or probability. Elsewhere, unless the classifier itself answered
        this problem: log Σ_I P/Σ_J P of log-probabilities, Σ_I P/Σ_{I∪J} P of probabilities (½ where both are 0), and
        of margins max_I − max_J. NaN where a side was never seen.
        """
        if form in ("pairs", "problems") or values.shape[1] == 1:
            return values[:, b]
        positive, negative = (np.flatnonzero(self.code[b] == sign) for sign in (1, -1))
        if form != "log_probability" and len(positive) == 1 and len(negative) == values.shape[1] - 1:
            return values[:, positive[0]]
        missing = np.isnan(values)
        unseen = np.asarray(missing[:, positive].all(axis=1) | missing[:, negative].all(axis=1))
        held = np.where(unseen[:, None], 0.0, values)
        if form == "probability":
            mine, others = (np.nansum(held[:, side], axis=1) for side in (positive, negative))
            total = mine + others
            result = np.where(total > 0, mine / np.where(total > 0, total, 1.0), 0.5)
        else:
            held = np.where(missing & ~unseen[:, None], -np.inf, held)
            best: Any = logsumexp if form == "log_probability" else np.max
            result = best(held[:, positive], axis=1) - best(held[:, negative], axis=1)
        return np.where(unseen, np.nan, result)


def _one_vs_rest(k: int) -> Signs:
    return (2 * np.eye(k) - 1).astype(np.int8)


def problems_for(target: Target, multiclass: Any) -> Problems:
    """Resolve how several classes are taken apart, once, at the door."""
    k = len(target.classes)
    if isinstance(multiclass, str):
        _check.one_of(multiclass, "multiclass", ("auto", "one_vs_rest", "pairwise"))
    else:
        code = _check.as_array(multiclass, "multiclass", (2,))
        couple_code_matrix(np.full(len(code), 0.5), code)  # refuses what is not a code
    if target.multilabel:
        return Problems(_one_vs_rest(k), "labels")
    if k == 2:
        return Problems(np.array([[-1, 1]], dtype=np.int8), "two")
    if isinstance(multiclass, str) and multiclass != "pairwise":
        return Problems(_one_vs_rest(k), "one_vs_rest")
    if isinstance(multiclass, str):
        pairs = np.array([np.eye(k)[i] - np.eye(k)[j] for i, j in combinations(range(k), 2)], dtype=np.int8)
        return Problems(pairs, "pairwise")
    if code.shape[1] != k:
        _check.fail("multiclass must have one column per class", f"shape {code.shape} for {k} classes", "add columns")
    return Problems(code.astype(np.int8), "code")


class _Part(NamedTuple):
    """The rows that calibrate one problem."""

    scores: Floats
    labels: NDArray[np.int64]
    weight: Weights | None

    @classmethod
    def join(cls, parts: "list[_Part]") -> "_Part":
        """Return the rows of several problems as those of one."""
        scores, labels = (np.concatenate([part[column] for part in parts]) for column in (0, 1))
        weighted = parts[0].weight is not None
        return cls(scores, labels, np.concatenate([part.weight for part in parts]) if weighted else None)

    @property
    def total(self) -> float:
        """Number of cases."""
        return float(len(self.labels) if self.weight is None else self.weight.sum())

    def fit(self, calibrator: Calibrator, meaning: Meaning) -> Calibrator | None:
        """Fit a calibrator, if there are rows."""
        if not len(self.labels):
            return None
        rows, _ = read_rows(self.scores, self.labels, self.weight, None)
        return calibrator.fit_table(replace(rows, meaning=meaning))


@dataclass(eq=False)
class ProblemCalibration:
    """One calibrator per two-class problem.

    A row that a classifier could not score for a problem, because a class was missing when it was trained, does not
    calibrate that problem. Without any score, a label gets the constant that its outcomes suggest, and any other
    problem is left out, as is one without rows. A problem with a side of which no row can calibrate gets the map that
    is fitted to all other problems together.
    """

    calibrator: Calibrator
    problems: Problems
    calibrators: list[Any] = field(default_factory=list)
    counts: Floats = field(default_factory=lambda: np.empty(0))
    seen: Bools = field(default_factory=lambda: np.empty(0, dtype=bool))

    def fit(self, pooled: Pooled, target: Target, weight: Weights | None) -> Self:
        """Fit every problem to the scores of these rows."""
        self.seen = pooled.seen
        signs = self.problems.signs(target)
        columns = self.problems.scores(pooled.values, pooled.scores.form)
        parts = [self._part(sign, scores, weight) for sign, scores in zip(signs.T, columns.T, strict=True)]
        complete = [part for part in parts if len(np.unique(part.labels)) == 2] if pooled.borrowing.any() else []
        if complete:
            common = _Part.join(complete)
            parts = [common if self._lacks_a_side(b, pooled, part) else part for b, part in enumerate(parts)]
        self.calibrators = [part.fit(clone(self.calibrator), pooled.scores.meaning) for part in parts]
        self.counts = np.array([part.total for part in parts])
        if not self.counts.any():
            _check.fail(
                "some rows must be left to calibrate", "weight 0 in all rows of a fold", "change cv or sample_weight"
            )
        return self

    def _part(self, sign: Signs, scores: Floats, weight: Weights | None) -> _Part:
        """Return the rows that calibrate one problem."""
        held = sign != 0 if weight is None else (sign != 0) & (weight > 0)
        if self.problems.kind == "labels" and np.isnan(scores[held]).all():
            scores = np.zeros(len(scores))
        held &= ~np.isnan(scores)
        return _Part(scores[held], (sign[held] > 0).astype(np.int64), None if weight is None else weight[held])

    def _lacks_a_side(self, b: int, pooled: Pooled, part: _Part) -> bool:
        """Tell whether a problem that was trained has a side of which no row can calibrate."""
        sides = [self.problems.code[b] == sign for sign in (-1, 1)]
        trained = all(pooled.seen[side].any() for side in sides)
        return trained and any(
            pooled.borrowing[side].any() and not np.any(part.labels == label) for label, side in enumerate(sides)
        )

    def scores(self, values: Floats, form: Form) -> Floats:
        """Return one column per calibrator, from aligned scores; −inf for a class that was never seen.

        No calibrator is asked about −inf, which no map of probabilities takes: such a class has P = 0.
        """
        scores = self.problems.scores(values, form)
        # Only a label that was fitted to a constant, and a problem that is left out, have no score.
        return np.where(np.isnan(scores), -np.inf if self.problems.kind == "one_vs_rest" else 0.0, scores)

    def predict_proba(self, scores: Floats) -> Floats:
        """Return P of each class (rows sum to 1) or label."""
        answers = np.full(scores.shape, 0.5)
        for b, calibrator in self._calibrator_items():
            known = ~np.isneginf(scores[:, b])
            answers[:, b] = 0.0
            answers[known, b] = calibrator.predict_proba(scores[known, b])[:, 1]
        return self.problems.join(answers, self.counts, self.seen)

    def predict_log_proba(self, scores: Floats) -> Floats:
        """Return log P of each class or label; finite where P rounds to 0, unless coupling or a calibrator says 0."""
        log_odds = np.zeros(scores.shape)
        for b, calibrator in self._calibrator_items():
            known = ~np.isneginf(scores[:, b])
            log_odds[:, b] = -np.inf
            log_odds[known, b] = calibrator.log_odds(scores[known, b])
        return self.problems.join_log_odds(log_odds, self.counts, self.seen)

    def _calibrator_items(self) -> list[tuple[int, Calibrator]]:
        return [(b, calibrator) for b, calibrator in enumerate(self.calibrators) if calibrator is not None]


@dataclass(eq=False)
class JointCalibration:
    """One scaling of all logits; a class that a classifier never saw is masked.

    Where a class has no rows that calibrate, all classes get one temperature: any other scaling would take their
    absence for evidence.
    """

    calibrator: Any
    problems: Problems
    calibrators: list[Any] = field(default_factory=list)

    def fit(self, pooled: Pooled, target: Target, weight: Weights | None) -> Self:
        """Fit the scaling to the scores of these rows."""
        scaling = TemperatureScaling() if pooled.borrowing.any() else clone(self.calibrator)
        scaling.set_params(classes=np.arange(len(target.classes)), input="logits")
        self.calibrators = [scaling.fit(self.scores(pooled.values, pooled.scores.form), target.codes, weight)]
        return self

    def scores(self, values: Floats, form: Form) -> Floats:
        """Return logits, from aligned scores."""
        if form == "probability":
            held = np.clip(values, _CLIP, 1 - _CLIP)
            values = logit(held) if values.shape[1] == 1 else np.log(held)
        return np.where(np.isnan(values), -np.inf, values)

    def predict_proba(self, scores: Floats) -> Floats:
        """Return P of each class; rows sum to 1."""
        return np.asarray(self.calibrators[0].predict_proba(scores))

    def predict_log_proba(self, scores: Floats) -> Floats:
        """Return log P of each class."""
        return np.asarray(self.calibrators[0].predict_log_proba(scores))


def warn_of_lost_accuracy(
    calibration: ProblemCalibration | JointCalibration, pooled: Pooled, target: Target, weight: Weights | None
) -> None:
    """Warn where the largest probability is clearly less often that of the true class than the largest score was.

    Scores of one class against the rest, such as raw log-odds of naive Bayes, may be comparable within a row only. Rows
    without a score of a class that only other folds saw are not compared.
    """
    k, form = len(target.classes), pooled.scores.form
    if target.multilabel or k == 2 or form in ("pairs", "problems"):
        return
    whole = ~np.isnan(pooled.values[:, pooled.seen]).any(axis=1)
    if not whole.any():
        return
    values, truth = pooled.values[whole], target.codes[whole]
    prob = calibration.predict_proba(calibration.scores(values, form))
    before, after = (np.argmax(each, axis=1) == truth for each in (np.where(np.isnan(values), -np.inf, values), prob))
    cases = np.ones(len(truth)) if weight is None else weight[whole].astype(np.float64)
    changed, n = cases[before != after], float(cases.sum())
    lost = float(cases @ before - cases @ after)
    if lost > max(_LESS_ACCURATE * n, _SURE * float(np.sqrt(changed @ changed))):
        share = f"{cases @ after / n:.1%} of the cases instead of {cases @ before / n:.1%}"
        hint = "use a method that scales all classes together, such as auto or temperature"
        warnings.warn(
            f"The most probable class is right for {share} by the largest score: scores may be comparable only within "
            f"a row. Hint: {hint}.",
            LostAccuracyWarning,
            stacklevel=3,
        )


def is_joint(target: Target, multiclass: Any) -> bool:
    """Tell whether a name may mean a scaling of all classes: there are more than two, and nobody takes them apart."""
    undecided = isinstance(multiclass, str) and multiclass == "auto"
    return undecided and len(target.classes) > 2 and not target.multilabel


def make_calibration(calibrator: Any, target: Target, multiclass: Any) -> ProblemCalibration | JointCalibration:
    """Return an unfitted calibration of these classes or labels."""
    problems = problems_for(target, multiclass)
    if isinstance(calibrator, Calibrator):
        return ProblemCalibration(calibrator, problems)
    if target.multilabel:
        got = f"{type(calibrator).__name__} for an indicator matrix"
        _check.fail("a joint scaling needs classes that exclude each other", got, "use a Calibrator")
    return JointCalibration(calibrator, problems_for(target, "one_vs_rest"))


class CalibratedPair(NamedTuple):
    """A fitted classifier with the calibration of its scores."""

    estimator: Any
    calibration: ProblemCalibration | JointCalibration
    classes: NDArray[Any]
    response_method: ResponseMethod
    source: str

    @property
    def calibrators(self) -> list[Any]:
        """The fitted calibrators: one per two-class problem, or one joint scaling."""
        return self.calibration.calibrators

    def predict_proba(self, X: Any) -> Floats:
        """Return the calibrated P of each class or label."""
        return self.calibration.predict_proba(self.raw_scores(X))

    def raw_scores(self, X: Any) -> Floats:
        """Return what the calibrators take: one column each, or the logits of a joint scaling."""
        layout = self.calibration.problems.layout
        scores = classifier_scores(self.estimator, X, self.response_method, layout=layout, source=self.source)
        return self.calibration.scores(scores.align(self.classes), scores.form)


class ProblemClassifier(BaseEstimator):  # type: ignore[misc]
    """Train a two-class classifier on each problem: for those that know only two classes.

    Parameters
    ----------
    estimator : classifier
    problems : Problems
    classes : ndarray of shape (k,)
        Sorted labels, the columns of the code.

    Attributes
    ----------
    problem_estimators_ : list
        One fitted classifier per problem with classes 0 and 1; None where a side has no rows.
    """

    def __init__(self, estimator: Any, problems: Problems, classes: NDArray[Any]) -> None:
        self.estimator = estimator
        self.problems = problems
        self.classes = classes

    def fit(self, X: Any, y: NDArray[Any], **params: Any) -> Self:
        """Fit one copy per problem, to the rows of its classes."""
        signs = self.problems.code[:, np.searchsorted(self.classes, y)]
        self.problem_estimators_: list[Any] = []
        for sign in signs:
            rows = np.flatnonzero(sign)
            if sign.max(initial=0) < 1 or sign.min(initial=0) > -1:
                self.problem_estimators_.append(None)
                continue
            given = check_method_params(X, params, rows)
            labels = (sign[rows] > 0).astype(np.int64)
            self.problem_estimators_.append(clone(self.estimator).fit(safe_indexing(X, rows), labels, **given))
        fitted = [each for each in self.problem_estimators_ if each is not None]
        for name in ("n_features_in_", "feature_names_in_"):
            if fitted and hasattr(fitted[0], name):
                setattr(self, name, getattr(fitted[0], name))
        return self
