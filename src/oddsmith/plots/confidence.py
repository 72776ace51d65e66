"""The confidence diagram: how often the most probable of several classes is the true one."""

from dataclasses import dataclass
from typing import ClassVar, Self

from oddsmith.data import RandomState
from oddsmith.metrics import ClassForecast
from oddsmith.plots._sources import ClassForecastDisplay
from oddsmith.plots.corp import CorpPicture


@dataclass(eq=False, repr=False)
class ConfidenceDisplay(CorpPicture, ClassForecastDisplay):
    """Reliability diagram of the most probable class of each row: accuracy against confidence.

    Make it with `from_forecast`, `from_predictions` or `from_estimator`; `plot` draws it. Everything is as in a
    `CorpDisplay` of the forecast that the most probable class is the true one. It does not show the other classes:
    see `ClasswiseReliabilityDisplay`.

    Parameters
    ----------
    prob, rate, band, decomposition, histogram, name
        Those of a `CorpDisplay` of the forecast that the most probable class is the true one.

    See Also
    --------
    ClasswiseReliabilityDisplay : Every class against the rest.
    ReliabilityDisplay : For two classes.

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun and K. Weinberger, On calibration of modern neural networks, ICML 2017.

    Examples
    --------
    >>> prob = [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]
    >>> display = ConfidenceDisplay.from_predictions(["a", "b", "a"], prob, labels=["a", "b", "c"])
    >>> display.rate.tolist()
    [0.5, 0.5, 1.0, 1.0]
    """

    _predicted: ClassVar[str] = "confidence"
    _observed: ClassVar[str] = "observed accuracy"

    @classmethod
    def from_forecast(
        cls,
        forecast: ClassForecast,
        *,
        level: float | None = 0.95,
        n_resamples: int = 400,
        random_state: RandomState = 0,
        name: str = "",
    ) -> Self:
        """Compute the diagram of a forecast of several classes.

        Parameters
        ----------
        forecast : ClassForecast
            From `oddsmith.metrics.class_forecast`.
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
        top = forecast.of_top_label()
        return cls.from_table(top, level=level, n_resamples=n_resamples, random_state=random_state, name=name)
