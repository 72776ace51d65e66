"""The score of any classifier: what it knew before it was squeezed into a probability.

A score is a raw margin, a log-odds, a share of votes or a probability. Margins and log-odds come first: they keep apart
what rounds to the same probability.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline

from oddsmith import _check
from oddsmith._sklearn_compat import num_samples
from oddsmith._types import Floats
from oddsmith.classify._sources import AUTO, SOURCES, Form, ScoreSource, is_softmax, known_classes, library, log_proba
from oddsmith.data import Meaning

__all__ = ["ClassifierScores", "classifier_scores"]

#: What is wanted: one score per class · per label of an indicator matrix · per pair, where there is one.
ScoreLayout = Literal["classes", "labels", "pairs"]

#: How the source of a composite classifier ends, whose members are read one by one.
_OF_MEMBERS = " of each member"

#: A kind of score by name, or a function of the fitted classifier and X.
ResponseMethod = str | Callable[[Any, Any], ArrayLike]


@dataclass(frozen=True, eq=False)
class ClassifierScores:
    """Scores of a classifier, unchanged.

    Attributes
    ----------
    values : ndarray of shape (n,) or (n, m)
        One score per row, of the second class of two; or one column per class, a label or a pair. NaN in a column: this
        classifier never saw both sides of that problem.
    kind : str
        "decision_function", "predict_proba", "log_odds", "votes", or the name of the function that made them.
    source : str
        The method of the classifier that they came from.
    form : str
        How columns relate to classes.
    classes : ndarray or None
        The labels of the columns, where the classifier has them.

    See Also
    --------
    classifier_scores : Returns it.
    """

    values: Floats
    kind: str
    source: str
    form: Form
    classes: NDArray[Any] | None

    @property
    def meaning(self) -> Meaning:
        """What the numbers are; those of a function may be anything."""
        if self.source == "function":
            return "score"
        return "probability" if self.kind in ("predict_proba", "votes") else "log_odds"  # margins on their own scale

    def align(self, classes: NDArray[Any]) -> Floats:
        """Return the scores for sorted classes: one column for two, else one per class or pair, NaN where unseen.

        Parameters
        ----------
        classes : array of shape (k,)
            The classes, in the order of the columns to return.

        Returns
        -------
        ndarray
        """
        if self.form == "problems":
            return self.values
        mine = classes if self.classes is None else self.classes
        at = np.searchsorted(classes, mine)
        refuse_unknown(mine, classes)
        width = len(mine) * (len(mine) - 1) // 2 if self.form == "pairs" else len(mine)
        if self.values.shape[1:] not in ({(), (1,), (2,)} if len(mine) == 2 else {(width,)}):
            got = f"shape {self.values.shape} for {len(mine)} classes"
            _check.fail(
                "scores must have one column per class", got, "pass a function of (estimator, X) as response_method"
            )
        if len(classes) == 2:
            return (self._second() if at[0] < at[1] else self._mirror(self._second()))[:, None]
        if self.form == "pairs":
            return self._spread_pairs(at, len(classes))
        columns = np.full((len(self.values), len(classes)), np.nan)
        columns[:, at] = self._both() if len(mine) == 2 else self.values
        return columns

    def _second(self) -> Floats:
        """Return one score per row for the second of two classes."""
        if self.values.ndim == 1 or self.values.shape[1] == 1:
            return self.values.reshape(-1)
        first, second = self.values.T
        return np.asarray(second if self.form == "probability" else second - first)

    def _mirror(self, second: Floats) -> Floats:
        shares = self.form == "probability" or (self.form == "own" and self.meaning == "probability")
        return 1 - second if shares else -second

    def _both(self) -> Floats:
        second = self._second()
        first = np.zeros(len(second)) if self.form == "log_probability" else self._mirror(second)
        return np.column_stack([first, second])

    def _spread_pairs(self, at: NDArray[np.intp], k: int) -> Floats:
        """Put the pairs of the classes that were seen among all pairs."""
        place = {pair: column for column, pair in enumerate(combinations(range(k), 2))}
        columns = np.full((len(self.values), len(place)), np.nan)
        # With two classes the score is for the second one, of more for the first of a pair.
        values = -self._second()[:, None] if len(at) == 2 else self.values
        for column, (i, j) in enumerate(combinations(range(len(at)), 2)):
            low, high = sorted((at[i], at[j]))
            columns[:, place[low, high]] = values[:, column] if at[i] < at[j] else -values[:, column]
        return columns


def classifier_scores(
    estimator: Any,
    X: Any,
    response_method: ResponseMethod = "auto",
    *,
    layout: ScoreLayout = "classes",
    rows: NDArray[np.intp] | None = None,
    source: str | None = None,
) -> ClassifierScores:
    """Read the scores of a fitted classifier.

    Pipelines, searches, frozen and one-vs-rest classifiers are opened, so that naive Bayes behind a vectorizer still
    gives its log-odds, summed from joint log-probabilities and never rounded to 0 or 1.

    Parameters
    ----------
    estimator : fitted classifier
        From scikit-learn, of its kind, or a booster of XGBoost or LightGBM.
    X : array, sparse matrix or data frame
        Rows to score.
    response_method : {"auto", "decision_function", "predict_proba", "log_odds", "votes"} or callable, default "auto"
        "decision_function": the margin, of a booster its raw margin · "predict_proba" · "log_odds": log P(c)/P(not c),
        from joint log-probabilities, ``log_odds``, margins whose softmax is ``predict_proba``, or ``predict_proba``
        itself (which must then avoid 0 and 1) · "votes": the share of an ensemble's members, or of neighbors · a
        function of the classifier and X. "auto" takes the first there is of: joint log-probabilities, the log-odds of a
        softmax of several classes, margin, ``log_odds``, probability.
    layout : {"classes", "labels", "pairs"}, default "classes"
        One score per class; per label of an indicator matrix; or, of classifiers trained on pairs, per pair.
    rows : array of int, optional
        Numbers of the rows, by which a bad score is reported.
    source : str, optional
        The ``source`` of an earlier reading, to read these rows in the same way.

    Returns
    -------
    ClassifierScores

    See Also
    --------
    oddsmith.CalibratedClassifier : Calibrates these scores.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> scores = classifier_scores(GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]), [[2.5], [500.0]])
    >>> scores.kind, (scores.values[:, 1] - scores.values[:, 0]).round(3)
    ('log_odds', array([   0., 7960.]))
    """
    final, seen = unwrap(estimator, X)
    if callable(response_method):
        values = np.asarray(response_method(estimator, X), dtype=np.float64)
        name = getattr(response_method, "__name__", "callable")
        scores = ClassifierScores(values, name, "function", "own", known_classes(estimator))
    else:
        _check.one_of(response_method, "response_method", ("auto", *SOURCES))
        known = None if source is None or not source.endswith(_OF_MEMBERS) else source.removesuffix(_OF_MEMBERS)
        whole = response_method in ("predict_proba", "votes") and known is None
        members = None if whole else _members(final, layout)
        if members is not None:
            return _of_members(final, seen, response_method, layout, rows, known, *members)
        scores = replace(_read(final, seen, response_method, layout, source), classes=known_classes(estimator))
    _refuse_bad(scores.values, num_samples(X), rows)
    return replace(scores, form="problems") if layout == "labels" else scores


def refuse_unknown(labels: NDArray[Any], classes: NDArray[Any]) -> None:
    """Refuse labels that are not among sorted classes."""
    if not np.isin(labels, classes).all():
        got = f"{labels[:4].tolist()} for {classes[:4].tolist()}"
        _check.fail("classifier and y must have the same classes", got, "fit and calibrate with the same labels")


def _refuse_bad(values: Floats, n: int, rows: NDArray[np.intp] | None) -> None:
    """Refuse NaN and infinite scores, naming the row by its own number."""
    if values.ndim not in (1, 2) or len(values) != n:
        _check.fail("scores must be one per row of X", f"shape {values.shape} for {n} rows", "check the score")
    if np.isfinite(values).all():
        return
    if rows is not None:
        placed = np.zeros((int(rows.max()) + 1, *values.shape[1:]))
        placed[rows] = values
        values = placed
    if values.ndim == 1:
        _check.refuse_nonfinite(values, "scores")
    _check.as_array(values, "scores", (2,))


def _read(final: Any, X: Any, wanted: str, layout: ScoreLayout, known: str | None) -> ClassifierScores:
    """Read the first source there is, or the one that is known."""
    sources = AUTO if wanted == "auto" else [(wanted, source) for source in SOURCES[wanted]]

    def there(source: ScoreSource) -> bool:
        if known is not None:
            return source.name == known
        return source.found(final) and (not source.softmax or (layout != "labels" and is_softmax(source, final, X)))

    kind, source = next(((kind, source) for kind, source in sources if there(source)), (wanted, None))
    if source is None:
        names = " or ".join(source.name for _, source in sources if not source.softmax)
        _check.fail(f"estimator must have {names}", type(final).__name__, "pass a function of (estimator, X)")
    form, shaped = source.form, hasattr(final, "decision_function_shape") and source.form == "own"
    if shaped:
        # A support vector classifier answers for pairs or for classes as it is asked, however it was set.
        final = copy(final)
        final.decision_function_shape = "ovo" if layout == "pairs" else "ovr"
    values = _columns(source.read(final, X), final)
    if layout == "labels" and source.read is log_proba:
        values = values - np.log(-np.expm1(values))  # labels do not exclude each other: their log-odds are their own
    if shaped and layout == "pairs":
        form = "pairs"
    return ClassifierScores(values, kind, source.name, form, known_classes(final))


def wants_numbers(estimator: Any) -> bool:
    """Say whether a classifier, or the one inside a pipeline or search, takes only the labels 0, 1, 2 and so on."""
    while isinstance(estimator, Pipeline) or hasattr(estimator, "estimator"):
        estimator = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator.estimator
    return library(estimator) == "xgboost"


def unwrap(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Open frozen estimators, searches, pipelines and a single pair: the classifier inside, and X as it sees it."""
    if isinstance(estimator, FrozenEstimator):
        return unwrap(estimator.estimator, X)
    if hasattr(estimator, "best_estimator_"):
        return unwrap(estimator.best_estimator_, X)
    if isinstance(estimator, Pipeline):
        for _, step in estimator.steps[:-1]:
            # Samplers, which only act in training, have no transform.
            X = step.transform(X) if hasattr(step, "transform") else X
        return unwrap(estimator.steps[-1][1], X)
    if isinstance(estimator, OneVsOneClassifier) and len(getattr(estimator, "classes_", ())) == 2:
        # Of two classes its own score is a vote plus a squeezed margin, with a jump in the middle.
        return unwrap(estimator.estimators_[0], _without_names(X))
    return estimator, X


def _without_names(X: Any) -> Any:
    """Return X as the members of a `OneVsOneClassifier` saw it: it fits them to arrays."""
    return np.asarray(X) if hasattr(X, "columns") else X


def _members(final: Any, layout: ScoreLayout) -> tuple[list[Any], Form, float] | None:
    """Return the two-class members of a composite classifier, what they answer, and the sign that it needs."""
    if hasattr(final, "problem_estimators_"):
        return final.problem_estimators_, "problems", 1.0
    if isinstance(final, (OneVsRestClassifier, MultiOutputClassifier)):
        return final.estimators_, "own", 1.0
    if isinstance(final, OneVsOneClassifier) and layout == "pairs":
        # Its members answer for the second class of a pair, we for the first.
        return final.estimators_, "pairs", -1.0
    return None


def _of_members(
    final: Any,
    X: Any,
    kind: str,
    layout: ScoreLayout,
    rows: NDArray[np.intp] | None,
    source: str | None,
    members: list[Any],
    form: Form,
    sign: float,
) -> ClassifierScores:
    """Read a composite classifier column by column; NaN where a member saw one class only."""
    X = _without_names(X) if form == "pairs" else X
    seen = [len(getattr(member, "classes_", ())) == 2 for member in members]
    parts = [
        classifier_scores(each, X, kind, rows=rows, source=source) for each, ok in zip(members, seen, strict=True) if ok
    ]
    if not parts:
        _check.fail("some two-class problem must have both classes", "one class in each", "check the labels")
    values = np.full((len(parts[0].values), len(members)), np.nan)
    values[:, seen] = sign * np.column_stack([part.align(np.array([0, 1]))[:, 0] for part in parts])
    form = "problems" if layout == "labels" else form
    return ClassifierScores(values, parts[0].kind, f"{parts[0].source}{_OF_MEMBERS}", form, known_classes(final))


def _columns(raw: Any, final: Any) -> Floats:
    """Return an array; of a list with two columns per label, those of the labels that are set."""
    if isinstance(raw, list):
        held = [(part, list(labels)) for part, labels in zip(raw, final.classes_, strict=True)]
        raw = np.column_stack([p[:, labels.index(1)] if 1 in labels else np.zeros(len(p)) for p, labels in held])
    return np.asarray(raw, dtype=np.float64)
