"""Where the table of a picture comes from: a table, arrays, or a fitted classifier.

``from_predictions`` and ``from_estimator`` draw at once, as in scikit-learn; ``from_table`` computes only.
"""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.classify import classifier_scores
from oddsmith.data import ScoreTable
from oddsmith.metrics import class_forecast, forecast_from_arrays, is_fitted_to, is_in_sample
from oddsmith.plots.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

D = TypeVar("D", bound=Display)

#: Scores that an axis can reach, with a margin and ticks beyond them.
_FARTHEST = 1e300

#: Scores closer together have bins without a width.
_NARROWEST = 1e-300

#: The least margin as a share of the scores: thousands of doubles.
_FINEST = 1e-12


class TableDisplay(Display):
    """A picture of a table."""

    @classmethod
    def from_table(cls, *args: Any, **options: Any) -> Self:
        """Compute the picture of a table; `plot` draws it."""
        raise NotImplementedError


class ForecastDisplay(TableDisplay):
    """A picture of a forecast: of probabilities against labels."""

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Compute and draw the picture of probabilities against labels.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels {0, 1}, {−1, +1}, bool, or any two values with ``pos_label``.
        y_prob : array-like of shape (n,)
            P(+), 0 and 1 allowed.
        sample_weight : array-like of shape (n,), optional
            Integer-typed weights are counts, float weights importance weights.
        pos_label : object, optional
            The positive label.
        name : str, optional
            What the legend calls it.
        ax : Axes, optional
            Where to draw; by default on a new figure.
        **options
            Keyword arguments of `from_table` and `plot`.

        Returns
        -------
        display
        """
        table = forecast_from_arrays(y_true, y_prob, sample_weight, pos_label=pos_label)
        return _draw(cls.from_table, table, ax, {"name": name or "", **options})

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Compute and draw the picture of a fitted classifier's probabilities, on rows that did not train it.

        Parameters
        ----------
        estimator : fitted classifier of two classes
            With ``predict_proba``; a calibrator takes scores as X.
        X : array, sparse matrix or data frame
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Integer-typed weights are counts, float weights importance weights.
        ax : Axes, optional
            Where to draw; by default on a new figure.
        **options
            Keyword arguments of `from_predictions`.
        pos_label : object, optional
            By default the second of ``estimator.classes_``.
        name : str, optional
            By default the classifier's. A calibrator that was fitted to these very rows is marked "in-sample".

        Returns
        -------
        display
        """
        prob, positive = _scores_for(estimator, X, "predict_proba", pos_label)
        # Of other classifiers nobody knows the rows.
        known = hasattr(estimator, "fit_table")
        seen = known and is_fitted_to(estimator, ScoreTable.from_arrays(X, y, sample_weight, positive))
        label = mark_in_sample(type(estimator).__name__ if name is None else name, in_sample=seen)
        return cls.from_predictions(
            y, prob, sample_weight=sample_weight, pos_label=positive, name=label, ax=ax, **options
        )


class ClassForecastDisplay(Display):
    """A picture of a forecast of several classes: of rows of probabilities against labels."""

    @classmethod
    def from_forecast(cls, *args: Any, **options: Any) -> Self:
        """Compute the picture of a forecast; `plot` draws it."""
        raise NotImplementedError

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Compute and draw the picture of class probabilities against labels.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of any kind.
        y_prob : array-like of shape (n, k)
            Probabilities of the classes; rows sum to 1.
        sample_weight : array-like of shape (n,), optional
            Integer-typed weights are counts, float weights importance weights.
        labels : array-like of shape (k,), optional
            Labels in the order of the columns; by default the sorted labels of ``y_true``.
        name : str, optional
            What the legend calls it.
        ax : Axes, optional
            Where to draw; by default on a new figure.
        **options
            Keyword arguments of `from_forecast` and `plot`.

        Returns
        -------
        display
        """
        forecast = class_forecast(y_true, y_prob, sample_weight, labels=labels)
        return _draw(cls.from_forecast, forecast, ax, {"name": name or "", **options})

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *, name: str | None = None, **options: Any) -> Self:
        """Compute and draw the picture of a fitted classifier's probabilities, on rows that did not train it.

        Parameters
        ----------
        estimator : fitted classifier
            With ``predict_proba`` and ``classes_``; a joint scaling takes logits or probabilities as X.
        X : array, sparse matrix or data frame
        y : array-like of shape (n,)
        name : str, optional
            By default the classifier's.
        **options
            Keyword arguments of `from_predictions`.

        Returns
        -------
        display
        """
        for needed in ("predict_proba", "classes_"):
            if not hasattr(estimator, needed):
                _check.fail(f"estimator must have {needed}", type(estimator).__name__, "fit a classifier that has it")
        label = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, estimator.predict_proba(X), labels=estimator.classes_, name=label, **options)


class ScoreDisplay(TableDisplay):
    """A picture of scores of any kind against labels."""

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Compute and draw the picture of scores against labels.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels {0, 1}, {−1, +1}, bool, or any two values with ``pos_label``.
        y_score : array-like of shape (n,)
            Finite scores, larger meaning more positive.
        sample_weight : array-like of shape (n,), optional
            Integer-typed weights are counts, float weights importance weights.
        pos_label : object, optional
            The positive label.
        ax : Axes, optional
            Where to draw; by default on a new figure.
        **options
            Keyword arguments of `from_table` and `plot`.

        Returns
        -------
        display
        """
        table = ScoreTable.from_arrays(y_score, y_true, sample_weight, pos_label)
        return _draw(cls.from_table, table, ax, options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        response_method: str = "auto",
        pos_label: Any = None,
        **options: Any,
    ) -> Self:
        """Compute and draw the picture of a fitted classifier's scores, on rows that did not train it.

        Parameters
        ----------
        estimator : fitted classifier of two classes
        X : array, sparse matrix or data frame
        y : array-like of shape (n,)
        response_method : {"auto", "decision_function", "predict_proba", "log_odds", "votes"}, default "auto"
            Which score; see `oddsmith.classify.classifier_scores`.
        pos_label : object, optional
            By default the second of ``estimator.classes_``.
        **options
            Keyword arguments of `from_predictions`.

        Returns
        -------
        display
        """
        scores, positive = _scores_for(estimator, X, response_method, pos_label)
        return cls.from_predictions(y, scores, pos_label=positive, **options)


def _draw(compute: Callable[..., D], source: Any, ax: "Axes | None", options: dict[str, Any]) -> D:
    """Compute a picture and draw it; options that are not of the computation are of `plot`."""
    known = inspect.signature(compute).parameters
    drawing = {name: options.pop(name) for name in list(options) if name not in known}
    picture = compute(source, **options)
    taken = inspect.signature(picture.plot).parameters.values()
    if not any(each.kind is each.VAR_KEYWORD for each in taken):
        for name in drawing.keys() - {each.name for each in taken}:
            message = f"{type(picture).__name__}.plot() got an unexpected keyword argument {name!r}"
            raise TypeError(message)
    return picture.plot(ax, **drawing)


def score_range(low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis that shows scores from ``low`` to ``high``, with a margin."""
    size, width = max(-low, high), high - low
    if size > _FARTHEST:
        must, got = f"scores must lie within ±{_FARTHEST:g} to be drawn", f"scores from {low:g} to {high:g}"
        _check.fail(must, got, "divide all scores by one number")
    margin = max(0.05 * width if width > _NARROWEST else 1.0, _FINEST * size)
    return low - margin, high + margin


def name_forecast(name: str, table: ScoreTable) -> str:
    """Return the name of a forecast, marked where the forecast was fitted to these rows."""
    return mark_in_sample(name, in_sample=is_in_sample(table))


def mark_in_sample(name: str, *, in_sample: bool) -> str:
    """Return a name that says so where a forecast is shown on the rows that it was fitted to."""
    if not in_sample:
        return name
    return f"{name} (in-sample)" if name else "in-sample"


def _scores_for(estimator: Any, X: Any, response_method: str, pos_label: Any) -> tuple[Floats, Any]:
    """Return one score per row for the positive class, and which class that is."""
    read = classifier_scores(estimator, X, response_method)
    if read.classes is None or len(read.classes) != 2:
        got = "no classes_" if read.classes is None else f"{len(read.classes)} classes"
        _check.fail("estimator must have two classes_", got, "pass one class against the rest to from_predictions")
    positive = read.classes[1] if pos_label is None else pos_label
    _check.one_of(positive, "pos_label", read.classes.tolist())
    second = read.align(read.classes)[:, 0]
    if positive == read.classes[1]:
        return second, positive
    return (1 - second if read.form == "probability" else -second), positive
