"""The plane of miscalibration and discrimination: several forecasts at a glance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from oddsmith import _check
from oddsmith.data import ScoreTable
from oddsmith.metrics import ClassForecast, Decomposition, decompose
from oddsmith.plots.display import Display
from oddsmith.plots.theme import Theme


@dataclass(eq=False, repr=False)
class DecompositionDisplay(Display):
    """Miscalibration (MCB) against discrimination (DSC) of several forecasts, with lines of equal mean score.

    The best forecasts lie at the top left; mean score = MCB − DSC + uncertainty. Make it with `from_forecasts`.

    Parameters
    ----------
    parts : dict of str to Decomposition

    See Also
    --------
    oddsmith.metrics.decompose : The numbers.

    References
    ----------
    T. Dimitriadis, T. Gneiting, A. Jordan & P. Vogel, Evaluating probabilistic classifiers: the triptych, International
    Journal of Forecasting 2024.

    Examples
    --------
    >>> from oddsmith.metrics import forecast_from_arrays
    >>> y = [0, 1, 0, 1]
    >>> tables = {name: forecast_from_arrays(y, p) for name, p in {"a": [0.2, 0.4, 0.6, 0.9], "b": [0.5] * 4}.items()}
    >>> display = DecompositionDisplay.from_forecasts(tables)
    >>> {name: round(part.discrimination, 3) for name, part in display.parts.items()}
    {'a': 0.125, 'b': 0.0}
    """

    parts: dict[str, Decomposition]

    _height = 2.9

    @classmethod
    def from_forecasts(
        cls, forecasts: Mapping[str, ScoreTable | ClassForecast], *, score: Literal["log", "squared"] = "squared"
    ) -> Self:
        """Decompose the mean score of each forecast of the same cases.

        Parameters
        ----------
        forecasts : mapping of str to ScoreTable or ClassForecast
            Of the same labels, so that their uncertainty is one.
        score : {"log", "squared"}, default "squared"
            Log-loss in nats, or squared error.

        Returns
        -------
        self
        """
        parts = {name: decompose.of(forecast, score=score) for name, forecast in forecasts.items()}
        if not parts:
            _check.fail("forecasts must not be empty", "none", "name at least one")
        unsure = [part.uncertainty for part in parts.values()]
        if np.ptp(unsure) > 1e-9 * max(unsure):
            got = f"uncertainty from {min(unsure):.6g} to {max(unsure):.6g}"
            _check.fail("forecasts must be of the same labels", got, "compare forecasts of the same cases")
        return cls(parts)

    def _draw_picture(self, look: Theme) -> None:
        lost, won = (
            [getattr(part, name) for part in self.parts.values()] for name in ("miscalibration", "discrimination")
        )
        right, top = 1.15 * max(max(lost), 1e-9), 1.12 * max(max(won), 1e-9)
        best = next(iter(self.parts.values()))
        for score in np.linspace(best.uncertainty - top, best.uncertainty + right, 9)[1:-1].tolist():
            self.ax_.axline((0, best.uncertainty - score), slope=1, color=look.grid, linewidth=0.7, zorder=0.5)
        for place, (name, part) in enumerate(self.parts.items()):
            ink = look.ink(place)
            label = f"{name}: {part.score:.4f}"
            self.ax_.plot(
                [part.miscalibration], [part.discrimination], label=label, gid=f"series-{place}", **ink.dots(5.0)
            )
        self.ax_.grid(visible=False)
        self.ax_.set_xlim(-0.03 * right, right)
        self.ax_.set_ylim(-0.03 * top, top)
        name = "log-loss" if best.kind == "log" else "Brier score"
        self.ax_.set(xlabel=f"miscalibration (MCB) of the {name}", ylabel="discrimination (DSC)")
        look.legend(self.ax_, above=True)
