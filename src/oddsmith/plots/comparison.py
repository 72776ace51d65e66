"""Methods side by side: a dot and an interval each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith.data import RandomState, ScoreTable
from oddsmith.metrics import (
    Comparison,
    HasLogOdds,
    Interval,
    as_forecast,
    checked_level,
    compare,
    forecast_from_arrays,
    forecast_of,
    interval,
    log_loss,
)
from oddsmith.plots._sources import mark_in_sample
from oddsmith.plots.display import Display
from oddsmith.plots.theme import Theme, ThemeName
from oddsmith.plots.trials import mean_of_trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Measured = Callable[..., SupportsFloat]
_MARKS = {"*": "beats all others", "†": "beats all but the raw one", "‡": "beats all but one or two"}


@dataclass(eq=False, repr=False)
class ComparisonDisplay(Display):
    """Dot chart of a measure with its interval, a row for each method; several groups share the rows.

    Make it with `from_table` (calibrators on the same scores), `from_predictions` (any methods on the same rows),
    `from_intervals` or `from_trials`; `plot` draws it.

    Parameters
    ----------
    groups : dict of str to dict of str to Interval
        For each group the interval of each method; a single group may be called "".
    measure : str
        What is measured.
    marks : dict of str to str
        Marks of significance, by method.
    test : str
        What the marks were found by.

    See Also
    --------
    oddsmith.metrics.compare : The numbers and tests.

    Notes
    -----
    Intervals of two methods may overlap although one beats the other on nearly every case: the marks show whether it
    does, by paired tests after Holm's correction for the number of pairs. A pale bar is the band of a perfectly
    calibrated forecast, for measures that have one.

    Examples
    --------
    >>> from oddsmith.metrics import Interval
    >>> rows = {"Platt": Interval(0.3, 0.2, 0.4, 0.95, "given"), "isotonic": Interval(0.5, 0.3, 0.7, 0.95, "given")}
    >>> list(ComparisonDisplay.from_intervals(rows, measure="log-loss").groups[""])
    ['Platt', 'isotonic']
    """

    groups: dict[str, dict[str, Interval]]
    measure: str
    marks: dict[str, str] = field(default_factory=dict)
    test: str = ""

    @classmethod
    def from_table(
        cls,
        table: ScoreTable,
        methods: Mapping[str, HasLogOdds],
        *,
        measure: Measured = log_loss,
        options: Mapping[str, Any] | None = None,
        raw: str | None = None,
        level: float = 0.95,
        n_resamples: int = 2000,
        random_state: RandomState = 0,
    ) -> Self:
        """Compare calibrators on the scores of one table, which no calibrator was fitted on.

        Parameters
        ----------
        table : ScoreTable
            Of scores, counts only.
        methods : mapping of str to fitted calibrator or map
        measure : callable, default log_loss
            A measure of `oddsmith.metrics`; log-loss, squared and 0/1 error get marks of significance too.
        options : mapping, optional
            Keyword arguments of the measure.
        raw : str, optional
            The name of the uncalibrated method, for the mark "†".
        level : float, default 0.95
            Coverage of the intervals.
        n_resamples : int, default 2000
            Samples for the intervals.
        random_state : int, Generator or None, default 0
            Seed of the samples.

        Returns
        -------
        display
        """
        scores = as_forecast(table)
        comparison = compare(scores, methods, raw=raw) if _is_compared(measure, methods) else None
        # Where methods were compared, none was fitted on these rows.
        known = None if comparison is None else False
        forecasts = {name: forecast_of(scores, method, in_sample=known) for name, method in methods.items()}
        settings = {"level": level, "n_resamples": n_resamples, "random_state": random_state}
        return cls._of(forecasts, comparison, measure, options=options, **settings)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        methods: Mapping[str, ArrayLike],
        *,
        sample_weight: ArrayLike | None = None,
        measure: Measured = log_loss,
        options: Mapping[str, Any] | None = None,
        raw: str | None = None,
        level: float = 0.95,
        n_resamples: int = 2000,
        random_state: RandomState = 0,
        ax: "Axes | None" = None,
        **drawing: Any,
    ) -> Self:
        """Compare and draw probabilities of any kind, also of different classifiers, for the same rows.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels {0, 1}, {−1, +1} or bool.
        methods : mapping of str to array-like of shape (n,)
            P(+) of every row.
        sample_weight : array-like of int, optional
            Counts.
        measure : callable, default log_loss
            A measure of `oddsmith.metrics`; log-loss, squared and 0/1 error get marks of significance too.
        options : mapping, optional
            Keyword arguments of the measure.
        raw : str, optional
            The name of the uncalibrated method, for the mark "†".
        level : float, default 0.95
            Coverage of the intervals.
        n_resamples : int, default 2000
            Samples for the intervals.
        random_state : int, Generator or None, default 0
            Seed of the samples.
        ax : Axes, optional
            Where to draw; by default on a new figure.
        **drawing
            Keyword arguments of `plot`.

        Returns
        -------
        display
        """
        probs = {name: _check.as_array(prob, name, (1,), unit=True) for name, prob in methods.items()}
        forecasts = {name: forecast_from_arrays(y_true, prob, sample_weight) for name, prob in probs.items()}
        comparison = None
        if _is_compared(measure, methods):
            comparison = compare(y_true, probs, sample_weight=sample_weight, raw=raw, input="probability")
        settings = {"level": level, "n_resamples": n_resamples, "random_state": random_state}
        return cls._of(forecasts, comparison, measure, options=options, **settings).plot(ax, **drawing)

    @classmethod
    def from_intervals(
        cls, intervals: Mapping[str, Interval] | Mapping[str, Mapping[str, Interval]], *, measure: str
    ) -> Self:
        """Show intervals that are there already.

        Parameters
        ----------
        intervals : mapping of method to Interval, or of group to such a mapping
        measure : str
            What is measured.

        Returns
        -------
        display
        """
        nested = {name: value for name, value in intervals.items() if isinstance(value, Mapping)}
        flat = {name: value for name, value in intervals.items() if isinstance(value, Interval)}
        if bool(nested) == bool(flat):
            _check.fail("intervals must be by method, or by group and method", "neither or both", "use one of the two")
        return cls({name: dict(rows) for name, rows in nested.items()} if nested else {"": flat}, measure)

    @classmethod
    def from_trials(
        cls,
        trials: Mapping[str, ArrayLike] | Mapping[str, Mapping[str, ArrayLike]],
        *,
        measure: str,
        level: float = 0.95,
    ) -> Self:
        """Compute means and Student's intervals of repeated trials, such as folds or data sets.

        Parameters
        ----------
        trials : mapping of method to array-like of shape (trials,), or of group to such a mapping
        measure : str
            What is measured.
        level : float, default 0.95

        Returns
        -------
        display
        """
        share = checked_level(level)

        def means(rows: Mapping[str, Any]) -> dict[str, Any]:
            return {
                name: means(values) if isinstance(values, Mapping) else mean_of_trials(values, share)
                for name, values in rows.items()
            }

        return cls.from_intervals(means(trials), measure=measure)

    @classmethod
    def _of(
        cls, forecasts: Mapping[str, ScoreTable], comparison: Comparison | None, measure: Measured, **settings: Any
    ) -> Self:
        """Show a measure of forecasts, with marks where methods were compared."""
        found = {name: interval(measure, forecast, **settings) for name, forecast in forecasts.items()}
        display = cls.from_intervals(found, measure=_title(measure))
        if comparison is not None:
            part = comparison[getattr(measure, "__name__", "")]
            display.marks = {name: part.mark(name, comparison.raw, corrected=True) for name in found}
            display.test = f"{part.test}, level {part.alpha:g} after Holm's correction"
        return display

    def plot(self, ax: "Axes | None" = None, *, theme: ThemeName = "light", sort: bool = True) -> Self:
        """Draw the chart.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        theme : {"light", "dark"}, default "light"
        sort : bool, default True
            Whether the smallest value of the first group comes first; else rows keep their order.

        Returns
        -------
        self
        """
        names = self._rows(sort)
        count = len(self.groups)
        look = self._start(ax, theme, 0.75 + len(names) * max(0.2, 0.11 * count))
        self.lines_: dict[str, Any] = {}
        for series, (group, found) in enumerate(self.groups.items()):
            held = [(row, found[name]) for row, name in enumerate(names) if name in found]
            # Groups lie a little apart within a row, the first on top.
            rows = np.array([row for row, _ in held]) + 0.6 * (series - (count - 1) / 2) / max(count, 2)
            self._draw(look, series, rows, [each for _, each in held], group)
        self.ax_.set_yticks(range(len(names)), [self._label(name) for name in names])
        self.ax_.set_ylim(len(names) - 0.5, -0.5)
        self.ax_.set_xlabel(self.measure + self._caption())
        self.ax_.margins(x=0.06)
        look.legend(self.ax_)
        return self

    def _label(self, name: str) -> str:
        seen = any(found[name].in_sample for found in self.groups.values() if name in found)
        return f"{mark_in_sample(name, in_sample=seen)} {self.marks.get(name, '')}".rstrip()

    def _rows(self, sort: bool) -> list[str]:
        names = list(dict.fromkeys(name for found in self.groups.values() for name in found))
        first = next(iter(self.groups.values()))
        return sorted(names, key=lambda name: float(first[name]) if name in first else np.inf) if sort else names

    def _draw(self, look: Theme, series: int, rows: np.ndarray, found: list[Interval], group: str) -> None:
        ink = look.ink(series)
        value, low, high = (np.array([getattr(each, end) for each in found]) for end in ("value", "low", "high"))
        bands = [(row, each.consistency) for row, each in zip(rows, found, strict=True) if each.consistency]
        for row, (start, end) in bands:
            self.ax_.plot([start, end], [row, row], color=look.muted, alpha=0.35, linewidth=5, solid_capstyle="butt")
        self.ax_.hlines(rows, low, high, color=ink.color, linewidth=1.1, zorder=3)
        style = ink.dots(4) | {"label": group or None, "gid": f"series-{series}", "zorder": 4}
        (self.lines_[group],) = self.ax_.plot(value, rows, **style)

    def _caption(self) -> str:
        lines = [f"{mark} {meaning}" for mark, meaning in _MARKS.items() if mark in self.marks.values()]
        if lines:
            lines.append(f"({self.test})")
        if any(each.consistency for found in self.groups.values() for each in found.values()):
            lines.append("pale bar: if perfectly calibrated")
        return "".join(f"\n{line}" for line in lines)


def _is_compared(measure: Measured, methods: Mapping[str, Any]) -> bool:
    """Say whether paired tests of this measure are at hand."""
    return len(methods) > 1 and getattr(measure, "__name__", "") in ("log_loss", "squared_error", "zero_one_error")


def _title(measure: Measured) -> str:
    return str(getattr(measure, "__name__", "measure")).replace("_", " ").replace("log loss", "log-loss")
