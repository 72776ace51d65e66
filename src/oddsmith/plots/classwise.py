"""Reliability diagrams of each of several classes against the rest, the worst first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from oddsmith import _check
from oddsmith.data import RandomState
from oddsmith.metrics import ClassForecast, calibration_error
from oddsmith.plots._sources import ClassForecastDisplay
from oddsmith.plots.corp import CorpDisplay
from oddsmith.plots.theme import SMALL_SIZE, Theme, series_of, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 3

#: Of a panel's room, what the gap to its neighbors takes; and inches of a row of panels, and of what is around them.
_GAP, _ROW, _MARGIN = 0.2, 1.2, 0.5


@dataclass(eq=False, repr=False)
class ClasswiseReliabilityDisplay(ClassForecastDisplay):
    """Reliability diagram of each class against the rest, side by side, the worst class first.

    Make it with `from_forecast`, `from_predictions` or `from_estimator`; `plot` draws it. A second forecast on the same
    axes joins the first, class by class: its own color and dashes distinguish it.

    Parameters
    ----------
    diagrams : dict of label to CorpDisplay
        Of each class that is shown, by default by decreasing calibration error.
    errors : dict of label to float
        Calibration error of every class, the largest first.
    name : str, default ""

    See Also
    --------
    ConfidenceDisplay : The predicted class alone.

    Examples
    --------
    >>> prob = [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]
    >>> display = ClasswiseReliabilityDisplay.from_predictions(["a", "b", "a"], prob, labels=["a", "b", "c"])
    >>> list(display.errors)
    ['a', 'c', 'b']
    """

    diagrams: dict[Any, CorpDisplay]
    errors: dict[Any, float]
    name: str = ""

    @classmethod
    def from_forecast(
        cls,
        forecast: ClassForecast,
        *,
        n_classes: int = 12,
        classes: Sequence[Any] | None = None,
        level: float | None = 0.95,
        n_resamples: int = 200,
        random_state: RandomState = 0,
        name: str = "",
    ) -> Self:
        """Compute the diagrams of a forecast of several classes.

        Parameters
        ----------
        forecast : ClassForecast
            From `oddsmith.metrics.class_forecast`.
        n_classes : int, default 12
            How many are shown, those with the largest calibration error first.
        classes : sequence of labels, optional
            Which ones are shown instead: ``list(first.diagrams)`` for a second forecast on the axes of a first.
        level : float or None, default 0.95
            Share of perfectly calibrated forecasts that the band contains at each place; None for no band.
        n_resamples : int, default 400
            Samples for the band.
        random_state : int, Generator or None, default 0
            Seed of the samples.
        name : str, default ""
            What the legend calls the forecast.

        Returns
        -------
        display
        """
        shown = _check.whole_number(n_classes, "n_classes", low=1)
        tables = dict(zip(forecast.labels.tolist(), forecast.of_classes(), strict=True))
        errors = {label: float(calibration_error.of(table)) for label, table in tables.items()}
        worst_first = sorted(errors, key=lambda label: -errors[label])
        chosen = worst_first[:shown] if classes is None else list(classes)
        for label in chosen:
            _check.one_of(label, "classes", tuple(errors))
        options: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "random_state": random_state}
        diagrams = {label: CorpDisplay.from_table(tables[label], name=name, **options) for label in chosen}
        return cls(diagrams, {label: errors[label] for label in worst_first}, name)

    def _find_height(self) -> float:
        return _ROW * self._count_rows() + _MARGIN

    def _count_rows(self) -> int:
        return -(-len(self.diagrams) // _COLUMNS)

    def _draw_picture(self, look: Theme) -> None:
        self.ax_.grid(visible=False)
        self.ax_.set(xticks=[], yticks=[], xlabel="predicted probability", ylabel="observed share of the class")
        self.ax_.spines[:].set_visible(False)
        series = len(series_of(self.ax_))
        there: Any = self.ax_.child_axes
        panels = {child.get_label(): child for child in there} or self._panels(look)
        for label, diagram in self.diagrams.items():
            if str(label) in panels:
                diagram._draw_curve(panels[str(label)], look.ink(series), series)
        proxy = self.ax_.plot([], [], label=self.name or None, gid=f"series-{series}", **look.ink(series).line())
        self.lines_: dict[str, Any] = {self.name: proxy[0]}
        look.legend(self.ax_, above=True)

    def _panels(self, look: Theme) -> dict[str, "Axes"]:
        """Make an empty square for each class."""
        panels = {}
        width, height = 1 / _COLUMNS, 1 / self._count_rows()
        for place, label in enumerate(self.diagrams):
            row, column = divmod(place, _COLUMNS)
            corner = (column + _GAP) * width, 1 - (row + 1 - _GAP) * height
            size = (1 - _GAP) * width, (1 - 1.7 * _GAP) * height
            panel: Axes = self.ax_.inset_axes((*corner, *size), label=str(label))
            look.dress(panel)
            view = (-0.02, 1.02)
            panel.set(xlim=view, ylim=view, aspect="equal", xticks=[0, 1], yticks=[0, 1])
            panel.plot([0, 1], [0, 1], color=look.muted, linewidth=0.8, gid="diagonal", zorder=1.5)
            panel.set_title(short_name(str(label)), size=SMALL_SIZE, color=look.text)
            panels[str(label)] = panel
        return panels
