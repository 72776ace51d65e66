"""The confusion matrix: what was decided for the cases of each class."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.decide import decide
from oddsmith.metrics import ClassForecast, sum_by
from oddsmith.plots._sources import ClassForecastDisplay
from oddsmith.plots.display import WIDTH
from oddsmith.plots.histogram import short_number
from oddsmith.plots.theme import LABEL_SIZE, SMALL_SIZE, Theme, short_name

#: Number of classes up to which cells have room for numbers and axes for all names.
_NUMBERED = 12


@dataclass(eq=False, repr=False)
class ConfusionDisplay(ClassForecastDisplay):
    """Confusion matrix of calibrated decisions: a row per actual class, a column per decision.

    Make it with `from_forecast`, `from_predictions` or `from_estimator`; `plot` draws it. Right decisions have one
    color and wrong ones another; cells are shaded by the root of their share of the actual class, so that rare
    confusions are seen. With more than 12 classes it is a heat map without numbers.

    Parameters
    ----------
    weight : ndarray of shape (k, k)
        Weight of the cases of each actual class (row) and decision (column).
    labels : tuple
        Of the classes.
    counted : bool
        Whether weights are counts of cases.
    name : str, default ""

    See Also
    --------
    ClasswiseReliabilityDisplay : The probabilities instead of the decisions.

    Examples
    --------
    >>> prob = [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]
    >>> ConfusionDisplay.from_predictions(["a", "b", "a"], prob, labels=["a", "b", "c"]).weight.tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """

    weight: Floats
    labels: tuple[Any, ...]
    counted: bool
    name: str = ""

    _height: ClassVar[float] = WIDTH

    @classmethod
    def from_forecast(cls, forecast: ClassForecast, *, costs: ArrayLike | None = None, name: str = "") -> Self:
        """Compute the matrix of a forecast of several classes.

        Parameters
        ----------
        forecast : ClassForecast
            From `oddsmith.metrics.class_forecast`.
        costs : array-like of shape (k, k), optional
            Cost of deciding for the class of a row when the class of a column is true: decisions are those of least
            expected cost, as of `oddsmith.decide.decide`. By default they are the most probable classes.
        name : str, default ""
            The title.

        Returns
        -------
        display
        """
        k = len(forecast.labels)
        decided = np.argmax(forecast.prob, axis=1) if costs is None else _decide(forecast, costs, k)
        weight = sum_by(forecast.truth * k + decided, forecast.weight, k * k).reshape(k, k)
        return cls(weight, tuple(forecast.labels.tolist()), forecast.weight.dtype.kind == "i", name)

    @property
    def shares(self) -> Floats:
        """Share of each decision among the cases of an actual class; 0 where there are none."""
        total = self.weight.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(self.weight, total, out=np.zeros_like(self.weight), where=total > 0))

    def _draw_picture(self, look: Theme) -> None:
        k = len(self.labels)
        self.image_: Any = self.ax_.imshow(self._colors(look), interpolation="nearest", aspect="equal")
        self.ax_.grid(visible=False)
        number = "" if k <= _NUMBERED else ", by number"
        self.ax_.set(xlabel=f"predicted{number}", ylabel=f"actual{number}")
        self.ax_.set_title(self.name, size=LABEL_SIZE, color=look.text)
        if k <= _NUMBERED:
            names = [short_name(str(label)) for label in self.labels]
            self.ax_.set_xticks(range(k), names, rotation=90 if max(map(len, names)) * k > 30 else 0)
            self.ax_.set_yticks(range(k), names)
            self._numbers(look)

    def _colors(self, look: Theme) -> Floats:
        from matplotlib.colors import to_rgb

        ground, right, wrong = (np.array(to_rgb(c)) for c in (look.background, look.palette[0], look.palette[1]))
        ink = np.where(np.eye(len(self.labels), dtype=bool)[:, :, None], right, wrong)
        # Numbers are read on it: half of the ink at most.
        return np.asarray(ground + 0.5 * np.sqrt(self.shares)[:, :, None] * (ink - ground))

    def _numbers(self, look: Theme) -> None:
        for (row, column), weight in np.ndenumerate(self.weight):
            text = self.ax_.text(column, row, short_number(weight))
            text.set(ha="center", va="center", size=SMALL_SIZE, color=look.text)


def _decide(forecast: ClassForecast, costs: ArrayLike, k: int) -> NDArray[np.int64]:
    if np.shape(costs) != (k, k):
        hint = "give a row per decision and a column per class"
        _check.fail(f"costs must have a row and a column for each of {k} classes", f"shape {np.shape(costs)}", hint)
    return decide(forecast.prob, costs)
