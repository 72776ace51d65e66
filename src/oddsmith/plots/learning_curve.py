"""Learning curves: a loss against the number of calibration cases, for several methods."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.metrics import Interval, checked_level
from oddsmith.plots.display import Display
from oddsmith.plots.histogram import short_number
from oddsmith.plots.theme import Theme
from oddsmith.plots.trials import mean_of_trials


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Sizes, ascending, and the mean loss at each with its interval.

    Parameters
    ----------
    sizes : array of shape (m,)
        Numbers of calibration cases.
    losses : tuple of Interval
        The mean loss at each, with its interval.

    See Also
    --------
    LearningCurveDisplay : Draws several.
    """

    sizes: Floats
    losses: tuple[Interval, ...]


@dataclass(eq=False, repr=False)
class LearningCurveDisplay(Display):
    """Mean loss against calibration size, with error bars, on a logarithmic axis of sizes.

    Make it with `from_trials`; `plot` draws it.

    Parameters
    ----------
    curves : dict of str to LearningCurve
        By the name of the method.
    measure : str
        What the loss is.

    See Also
    --------
    LearningCurve : One of its curves.

    References
    ----------
    A. Niculescu-Mizil and R. Caruana, Obtaining calibrated probabilities from boosting, UAI 2005, Figure 5.

    Examples
    --------
    >>> trials = {"Platt": ([32, 64], [[0.30, 0.34], [0.25, 0.27]]), "isotonic": ([32, 64], [[0.4, 0.5], [0.3, 0.3]])}
    >>> display = LearningCurveDisplay.from_trials(trials, measure="squared error")
    >>> [round(loss.value, 2) for loss in display.curves["Platt"].losses]
    [0.32, 0.26]
    """

    curves: dict[str, LearningCurve]
    measure: str

    @classmethod
    def from_trials(
        cls, trials: Mapping[str, tuple[ArrayLike, ArrayLike]], *, measure: str = "loss", level: float = 0.95
    ) -> Self:
        """Compute means and Student's intervals of repeated trials.

        Parameters
        ----------
        trials : mapping of str to (sizes, values)
            For each method the n sizes, and values of shape (n, trials) or (n,).
        measure : str, default "loss"
            What the values are.
        level : float, default 0.95
            Coverage of the error bars.

        Returns
        -------
        display
        """
        if not trials:
            _check.fail("trials must not be empty", "none", "name at least one method")
        share = checked_level(level)
        return cls({name: _curve(name, *both, share) for name, both in trials.items()}, measure)

    def _draw_picture(self, look: Theme) -> None:
        self.lines_: dict[str, Any] = {}
        self.ax_.set_xscale("log", base=2)
        count = len(self.curves)
        for series, (name, curve) in enumerate(self.curves.items()):
            ink = look.ink(series)
            # A little apart, so that error bars at the same size do not hide each other.
            x = curve.sizes * 2 ** (0.12 * (series - (count - 1) / 2) / max(count - 1, 1))
            y, low, high = (np.array([getattr(loss, end) for loss in curve.losses]) for end in ("value", "low", "high"))
            self.ax_.errorbar(x, y, [y - low, high - y], **ink.bars())
            style = ink.dots() | ink.line(1.2)
            (self.lines_[name],) = self.ax_.plot(x, y, label=name, gid=f"series-{series}", zorder=4, **style)
        sizes = np.unique(np.concatenate([curve.sizes for curve in self.curves.values()]))
        self.ax_.set_xticks(sizes, [short_number(size) for size in sizes.tolist()])
        self.ax_.minorticks_off()
        self.ax_.set(xlabel="calibration cases", ylabel=self.measure)
        look.legend(self.ax_)


def _curve(name: str, sizes: ArrayLike, values: ArrayLike, level: float) -> LearningCurve:
    x, y = _check.as_array(sizes, "sizes", (1,)), _check.as_array(values, "values", (1, 2))
    if len(x) != len(y) or x.min() <= 0:
        _check.fail(
            f"{name!r} must have positive sizes, and one row of values per size",
            f"{len(x)} sizes from {x.min():g} for shape {y.shape}",
            "give values as (sizes, trials)",
        )
    order = np.argsort(x, kind="stable")
    losses = tuple(mean_of_trials(row, level) for row in y.reshape(len(x), -1)[order])
    return LearningCurve(x[order], losses)
