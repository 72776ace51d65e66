"""Class-conditional histograms of scores, with fitted densities over them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from scipy.ndimage import gaussian_filter1d

from oddsmith import _check
from oddsmith._types import Floats, Weights
from oddsmith.data import Cumulative, ScoreTable
from oddsmith.metrics import as_forecast, is_fitted_to
from oddsmith.plots._sources import ScoreDisplay, mark_in_sample, score_range
from oddsmith.plots.theme import Theme, ThemeName

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID = 600

#: Cells of a kernel estimate.
_CELLS = 2048

#: Share of all scores that the picture spans; a few far ones would squeeze all others.
_SHOWN = 0.99


class HasClassDensities(Protocol):
    """A fitted calibrator that models the scores of each class.

    See Also
    --------
    oddsmith.DensityCalibrator : One of them.
    """

    def class_densities(self, scores: Floats, /) -> tuple[Floats, Floats]:
        """Return p(s|+) and p(s|−).

        Parameters
        ----------
        scores : ndarray of shape (n,)

        Returns
        -------
        tuple of ndarray of shape (n,)
        """


@dataclass(eq=False, repr=False)
class DensityDisplay(ScoreDisplay):
    """Histograms of the scores of both classes, and the densities fitted to them.

    Make it with `from_table`, `from_predictions` or `from_estimator`; `plot` draws it.

    Parameters
    ----------
    edges : ndarray
        Bins over the central 99 % of all scores, and a margin.
    pos, neg : ndarray
        Density of each class in each bin: its share of the whole class, divided by the width.
    grid : ndarray
        Scores at which fitted densities are drawn.
    densities : dict of str to (ndarray, ndarray)
        p(s|+) and p(s|−) on the grid, by the name of the fit.
    modes : tuple of float or None
        Modes of Gaussian kernel estimates (Silverman's bandwidth) of both classes, None for a class without weight.
    in_sample : frozenset of str
        Fits to the very rows shown, as far as known; the legend marks them.

    See Also
    --------
    ScoreSpaceDisplay : The log-odds by score.

    References
    ----------
    P. Bennett, Using asymmetric distributions to improve text classifier probability estimates, SIGIR 2003.

    Examples
    --------
    >>> from oddsmith import LaplaceCalibrator
    >>> scores, y = [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0], [0, 0, 1, 0, 1, 1]
    >>> fits = {"Laplace": LaplaceCalibrator().fit(scores, y)}
    >>> display = DensityDisplay.from_predictions(y, scores, calibrators=fits, n_bins=4)
    >>> round(float(display.pos @ np.diff(display.edges)), 9)
    1.0
    """

    edges: Floats
    pos: Floats
    neg: Floats
    grid: Floats
    densities: dict[str, tuple[Floats, Floats]]
    modes: tuple[float | None, float | None]
    in_sample: frozenset[str] = frozenset()

    _height: ClassVar[float] = 3.0

    @classmethod
    def from_table(
        cls, table: ScoreTable, *, calibrators: Mapping[str, HasClassDensities] | None = None, n_bins: int = 40
    ) -> Self:
        """Compute the picture of a score table.

        Parameters
        ----------
        table : ScoreTable
            Of finite scores.
        calibrators : mapping of str to fitted calibrator, optional
            Of the density kind, fitted to scores of the same scale.
        n_bins : int, default 40

        Returns
        -------
        display
        """
        scores = as_forecast(table).scores
        _check.refuse_nonfinite(scores, "scores")
        low, high = _central(scores, table.total)
        edges = np.linspace(low, high, _check.whole_number(n_bins, "n_bins", low=1) + 1)
        grid = np.linspace(low, high, _GRID)
        sides = [table.of_class(positive) for positive in (True, False)]
        classes = [(at, np.ones(len(at)) if weight is None else weight.astype(np.float64)) for at, weight in sides]
        pos, neg = (_heights(*one, edges) for one in classes)
        modes = tuple(_mode(*one) for one in classes)
        fits = {name: _densities(name, each, grid) for name, each in (calibrators or {}).items()}
        seen = frozenset(name for name, each in (calibrators or {}).items() if is_fitted_to(each, table))
        return cls(edges, pos, neg, grid, fits, (modes[0], modes[1]), seen)

    def plot(self, ax: "Axes | None" = None, *, theme: ThemeName = "light", modes: bool = False) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        theme : {"light", "dark"}, default "light"
        modes : bool, default False
            Whether to mark the modes of kernel estimates on the score axis.

        Returns
        -------
        self
        """
        look = self._start(ax, theme)
        tallest = max(float(self.pos.max()), float(self.neg.max())) or 1.0
        for series, (label, heights) in enumerate((("negative", self.neg), ("positive", self.pos))):
            color = look.ink(series).color
            self.ax_.stairs(heights, self.edges, fill=True, color=color, alpha=0.25, label=label)
            self.ax_.stairs(heights, self.edges, color=color, linewidth=0.6, alpha=0.7)
            for fit, curves in enumerate(self.densities.values()):
                style = look.ink(fit)._replace(color=color).line()
                self.ax_.plot(self.grid, curves[1 - series], zorder=3, **style)
            mode = self.modes[1 - series]
            if modes and mode is not None:
                self.ax_.plot(mode, 0, color=color, clip_on=False, zorder=5, **_mode_mark(look))
        for fit, name in enumerate(self.densities):
            label = mark_in_sample(name, in_sample=name in self.in_sample)
            self.ax_.plot([], [], label=label, **look.ink(fit)._replace(color=look.text).line())
        if modes:
            self.ax_.plot([], [], color=look.text, label="mode (kernel)", **_mode_mark(look))
        # Peaks of fits stand a little above the bars; spikes of degenerate ones leave the picture.
        peak = max((float(curve.max()) for curves in self.densities.values() for curve in curves), default=0.0)
        limits = {"xlim": (self.edges[0], self.edges[-1]), "ylim": (0, 1.05 * max(tallest, min(peak, 2 * tallest)))}
        self.ax_.set(xlabel="score", ylabel="density within class", **limits)
        self.ax_.grid(visible=False, axis="x")
        look.legend(self.ax_, above=True)
        return self


def _mode_mark(look: Theme) -> dict[str, Any]:
    return {"marker": "^", "markersize": 6, "markeredgecolor": look.background, "linestyle": "none"}


def _densities(name: str, calibrator: HasClassDensities, grid: Floats) -> tuple[Floats, Floats]:
    if getattr(calibrator, "input", "score") == "probability":
        _check.fail(
            f"calibrator {name!r} must be fitted to scores as they are drawn",
            'input="probability", whose densities are of log-odds',
            "draw log-odds, and fit to them",
        )
    if not hasattr(calibrator, "class_densities"):
        _check.fail(f"calibrator {name!r} must model densities", type(calibrator).__name__, "take a DensityCalibrator")
    return calibrator.class_densities(grid)


def _at(scores: Floats, weight: Weights, *shares: float) -> list[float]:
    """Return the smallest scores with at least each share of the weight at or below them."""
    cumulative = Cumulative(scores, weight)
    return [float(score) for score in cumulative.reaching(np.array(shares) * float(cumulative.total))]


def _central(scores: Floats, weight: Weights) -> tuple[float, float]:
    """Return a range that spans most scores, with a margin."""
    low, high = _at(scores, weight, (1 - _SHOWN) / 2, (1 + _SHOWN) / 2)
    return score_range(low, high)


def _heights(scores: Floats, held: Floats, edges: Floats) -> Floats:
    inside = np.histogram(scores, edges, weights=held)[0]
    return np.asarray(inside / (float(held.sum()) or 1.0) / np.diff(edges))


def _mode(scores: Floats, held: Floats) -> float | None:
    """Return the mode of a Gaussian kernel estimate with Silverman's bandwidth."""
    if not held.any():
        return None
    low, high = _central(scores, held)
    first, third = _at(scores, held, 0.25, 0.75)
    quartiles = third - first
    deviation = _deviation(scores, held)
    spread = min(deviation, quartiles / 1.34) if quartiles > 0 else deviation
    rows = float(held.sum() ** 2 / (held @ held))
    cell = (high - low) / _CELLS
    counts, edges = np.histogram(scores, _CELLS, (low, high), weights=held)
    # Wider than the range a kernel is flat.
    width = min(max(0.9 * spread * rows**-0.2 / cell, 1.0), _CELLS)
    smooth = gaussian_filter1d(counts.astype(np.float64), width, mode="constant")
    place = int(np.argmax(smooth))
    return float(edges[place] + cell / 2)


def _deviation(scores: Floats, held: Floats) -> float:
    """Return the weighted standard deviation, in units that keep squares finite."""
    unit = np.ldexp(1.0, np.frexp(np.abs(scores).max())[1] - 1)
    z = scores / unit
    mean = held @ z / held.sum()
    return float(unit * np.sqrt(held @ (z - mean) ** 2 / held.sum()))
