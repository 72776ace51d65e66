"""Temperature scaling: one number that makes log-odds more or less sure."""

from dataclasses import dataclass, field
from typing import ClassVar

from sklearn.utils.validation import check_is_fitted

from oddsmith.calibrators._base import Fitted, convergence_notes
from oddsmith.calibrators._log_odds_input import UnitCalibrator
from oddsmith.calibrators.sigmoid import is_one_sided
from oddsmith.data import Sample
from oddsmith.errors import NegativeSlopeWarning
from oddsmith.fitting import LABELS, fit_line, platt_targets
from oddsmith.maps import line_map

#: Least slope over a score as large as the largest: log-odds of 10⁻⁶, a coin.
_FLAT = 1e-6


@dataclass(eq=False, repr=False)
class TemperatureCalibrator(UnitCalibrator):
    """Divide the log-odds by a temperature, fitted by maximum likelihood.

    One parameter: safe with a few dozen cases, and keeps every decision at P = ½. It can only make all scores more or
    less sure by one factor; when the score is also off its zero, use `PlattCalibrator`.

    Parameters
    ----------
    pos_label, clip
        As for every calibrator.
    input : {"score", "probability", "log_odds"}, default "score"
        "score" reads scores that all lie in [0, 1] as probabilities, clipped to 2.2e−16 from 0 and 1, and
        others as log-odds. Scores that are not plausible as log-odds (some beyond ±37, or whole numbers that span 20 or
        more) are read as they are, clipped to ±37 or standardized to (s − median)/IQR, whichever forecasts best out of
        sample; whole numbers of one sign that span 2 or more, such as ratings or ranks, are standardized. "log_odds"
        uses scores as given.

    Attributes
    ----------
    temperature_ : float
        T; above 1 if the scores were overconfident.
    input_ : {"probability", "log_odds", "clipped", "standardized"}
        How the scores were read.

    See Also
    --------
    TemperatureScaling : The same for several classes.

    Notes
    -----
    L = s/T, with T the minimizer of Σ log(1 + exp(−yᵢsᵢ/T)) over T > 0, found by Newton's method on 1/T. If the sign
    of the score always agrees with the label, there is no minimum, and the fit is to Platt's targets. If higher scores
    go with the negative class, T is 10⁶ times the largest |s|, where P = ½, with a warning.

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun and K. Weinberger, On calibration of modern neural networks, ICML 2017.

    Examples
    --------
    >>> from oddsmith import TemperatureCalibrator
    >>> cal = TemperatureCalibrator().fit([-4.0, -2.0, 2.0, -1.0, 3.0, 6.0], [0, 0, 0, 1, 1, 1])
    >>> round(cal.temperature_, 2), cal.predict_proba([-3.0, 0.0, 3.0])[:, 1].round(3)
    (2.15, array([0.199, 0.5  , 0.801]))
    """

    temperature_: float = field(init=False)

    _needs_order: ClassVar[bool] = False
    _when_separable: ClassVar[str] = "if the threshold is 0, the fit uses Platt's targets instead of 0 and 1"

    @property
    def beta_(self) -> float:
        """1/T, the parameter of scikit-learn's temperature scaling."""
        check_is_fitted(self, "temperature_")
        return 1 / self.temperature_

    def _fit(self, data: Sample) -> Fitted:
        targets = platt_targets(data) if is_one_sided(data) else LABELS
        line = fit_line(data, targets, fit_intercept=False)
        notes = convergence_notes(line.converged)
        largest = max(abs(score) for score in data.span())
        least = _FLAT / (largest / line.scale)
        if line.slope < least:
            message = "Higher scores go with the negative class; the temperature is at its bound."
            notes.append((NegativeSlopeWarning, message))
        slope = max(line.slope, least)
        return Fitted(line_map(slope, scale=line.scale), {"temperature_": float(line.scale / slope)}, notes)
