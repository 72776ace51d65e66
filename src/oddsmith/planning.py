"""Planning: how many labels a question about calibration needs.

Standard errors follow from the expected distribution of the probabilities alone, and shrink with the root of the number
of labels.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import expit

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import ScoreTable
from oddsmith.maps import SUREST, logit
from oddsmith.metrics import Result

__all__ = ["LabelPlan", "labels_needed"]

#: Points that stand for a Beta law, and draws of an estimated line.
_POINTS, _DRAWS = 4000, 4000

#: Widths of 95 % intervals that are asked for by default, as in the guidance on external validation.
_WIDTHS = {"slope": 0.2, "oe": 0.2, "auc": 0.1}

#: Least number of labels: below it no standard error is what large samples say.
_FEWEST = 20


@dataclass(frozen=True, eq=False)
class LabelPlan(Result):
    """How many labels are needed; ``str`` is a table.

    Attributes
    ----------
    prevalence, auc : float
        Expected share of positives, and AUC.
    needed : dict of str to int
        Labels for each question.
    labels : int
        The largest of them.
    unit_errors : dict of str to float
        Standard error of each measure times the root of the number of labels.

    See Also
    --------
    labels_needed : Returns it.
    """

    prevalence: float
    auc: float
    needed: dict[str, int]
    labels: int
    unit_errors: dict[str, float]

    def standard_errors(self, labels: int) -> dict[str, float]:
        """Return the standard error of each measure for a number of labels.

        Parameters
        ----------
        labels : int
            A number of labels.

        Returns
        -------
        dict[str, float]
        """
        n = _check.whole_number(labels, "labels", low=1)
        return {name: unit / math.sqrt(n) for name, unit in self.unit_errors.items()}

    def __str__(self) -> str:
        errors = self.standard_errors(self.labels)
        rows = [f"{name:<12} {n:>9,} labels" for name, n in self.needed.items()]
        shown = ", ".join(f"{name} {error:.3g}" for name, error in errors.items())
        return "\n".join([*rows, f"{self.labels:,} labels give standard errors: {shown}."])


def labels_needed(
    prob: ArrayLike | ScoreTable | None = None,
    *,
    beta: tuple[float, float] | None = None,
    widths: Mapping[str, float] | None = None,
    gain: tuple[float, float] | None = None,
    auc: float | None = None,
    level: float = 0.95,
    power: float = 0.8,
) -> LabelPlan:
    """Return how many labels make intervals as narrow as requested, for calibrated probabilities.

    With I the information of one row, E[p(1 − p)(1, x)(1, x)ᵀ] at log-odds x: the slope has the variance (I⁻¹)₂₂/n, the
    intercept (of slope 1) 1/(n I₁₁), the log of O/E E[p(1 − p)]/(n φ²) where E is of the same rows, and (1 − φ)/(n φ)
    where E is fixed. AUC has DeLong's variance, or for a given value Newcombe's. The error is the mean |p̂ − p| of a
    line through the log-odds, as an integrated calibration index by a logistic smoother.

    Parameters
    ----------
    prob : array-like of shape (n,) or ScoreTable, optional
        Expected probabilities, or a forecast.
    beta : tuple of float, optional
        Instead of ``prob``, parameters of a Beta law.
    widths : mapping of str to float, optional
        Width of the interval of "slope", "intercept", "oe", "oe_fixed", "auc" or "error". By default slope 0.2, O/E 0.2
        and AUC 0.1.
    gain : tuple of float, optional
        Offset and slope of the true log-odds over those of the probabilities: how many labels show, with this power,
        that recalibration gains log-loss.
    auc : float, optional
        Its value, if it is not that of calibrated probabilities of this law.
    level, power : float

    Returns
    -------
    LabelPlan

    See Also
    --------
    oddsmith.metrics.interval : The interval once labels are known.

    References
    ----------
    Riley et al. (2021), Minimum sample size for external validation of a clinical prediction model with a binary
    outcome; Newcombe (2006), Confidence intervals for an effect size measure based on the Mann-Whitney statistic.

    Examples
    --------
    >>> labels_needed(beta=(1.33, 1.75), widths={"slope": 0.2}).labels
    2135
    """
    z, share = _law(prob, beta)
    wanted = dict(_WIDTHS if widths is None else widths)
    z_level = float(stats.norm.ppf((1 + _share(level, "level")) / 2))
    value, units = _unit_errors(z, share, None if auc is None else _share(auc, "auc"))
    p = expit(z)
    needed = {}
    for name, width in wanted.items():
        _check.one_of(name, "widths", tuple(units))
        size = _check.number(width, f"the width of {name}", low=0, strict=True)
        # O/E is symmetric in its logarithm: exp(zσ) − exp(−zσ) is the width.
        half = math.asinh(size / 2) if name.startswith("oe") else size / 2
        needed[name] = max(math.ceil((z_level * units[name] / half) ** 2 - 1e-6), _FEWEST)
    if gain is not None:
        z_power = float(stats.norm.ppf(_share(power, "power")))
        mean, variance = _gain(z, share, *gain)
        needed["gain"] = max(math.ceil((z_level + z_power) ** 2 * variance / mean**2), _FEWEST)
    if not needed:
        _check.fail("at least one width, or gain, must be given", "none", "pass widths={'slope': 0.2}")
    return LabelPlan(float(share @ p), value, needed, max(needed.values()), units)


def _law(prob: Any, beta: tuple[float, float] | None) -> tuple[Floats, Floats]:
    """Return log-odds, ascending, and the share of the rows at each."""
    if (prob is None) == (beta is None):
        _check.fail("either prob or beta must be given", "both" if beta else "neither", "pass one of them")
    if beta is not None:
        a, b = (_check.number(each, "beta", low=0, strict=True) for each in beta)
        p = stats.beta.ppf((np.arange(_POINTS) + 0.5) / _POINTS, a, b)
        z, weight = np.clip(logit(p), -SUREST, SUREST), np.ones(_POINTS)
    elif isinstance(prob, ScoreTable):
        z, weight = np.clip(prob.scores, -SUREST, SUREST), prob.total.astype(float)
    else:
        values = np.sort(_check.as_array(prob, "prob", (1,), unit=True))
        z, weight = np.clip(logit(values), -SUREST, SUREST), np.ones(len(values))
    if z[0] == z[-1]:
        _check.fail("probabilities must differ", f"{expit(z[0]):g} only", "pass those of more rows")
    return z, weight / weight.sum()


def _share(value: object, name: str) -> float:
    found = _check.number(value, name, low=0, strict=True)
    if found >= 1:
        _check.fail(f"{name} must be below 1", f"{name}={value!r}", f"pass a share such as {name}=0.8")
    return found


def _unit_errors(z: Floats, share: Floats, auc: float | None) -> tuple[float, dict[str, float]]:
    """Return the AUC, and the standard error of each measure times the root of the number of labels."""
    p, q = expit(z), expit(-z)
    spread = share * p * q
    center = float(spread @ z / spread.sum())
    x = z - center
    level, turn = float(spread.sum()), float(spread @ x**2)
    prevalence = float(share @ p)
    value, unit = _auc(z, share)
    if auc is not None:
        value, odds = auc, prevalence * (1 - prevalence)
        # Newcombe's variance, of many labels.
        unit = math.sqrt(value * (1 - value) * ((1 - value) / (2 - value) + value / (1 + value)) / (2 * odds))
    # About the center offset and slope are independent.
    draws = np.random.default_rng(0).standard_normal((_DRAWS, 2)) / np.sqrt([level, turn])
    lines = np.array([np.abs(a + b * x) @ spread for a, b in draws])
    return value, {
        "slope": 1 / math.sqrt(turn),
        "intercept": 1 / math.sqrt(level),
        "oe": math.sqrt(level) / prevalence,
        "oe_fixed": math.sqrt((1 - prevalence) / prevalence),
        "auc": unit,
        "error": float(lines.std()),
    }


def _auc(z: Floats, share: Floats) -> tuple[float, float]:
    """Return the AUC of calibrated probabilities, and DeLong's standard error of one label."""
    _, at = np.unique(z, return_inverse=True)
    pos, neg = np.bincount(at, share * expit(z)), np.bincount(at, share * expit(-z))
    pos_share, neg_share = pos / pos.sum(), neg / neg.sum()
    below = np.cumsum(neg_share) - neg_share / 2
    above = 1 - np.cumsum(pos_share) + pos_share / 2
    value = float(pos_share @ below)
    variance = float(pos_share @ (below - value) ** 2) / pos.sum() + float(neg_share @ (above - value) ** 2) / neg.sum()
    return value, math.sqrt(variance)


def _gain(z: Floats, share: Floats, offset: float, slope: float) -> tuple[float, float]:
    """Return mean and variance of the log-loss that a row gains from the true line."""
    change = _check.number(offset, "gain", low=-math.inf) + (_check.number(slope, "gain", low=-math.inf) - 1) * z
    if not np.any(change):
        _check.fail("gain must be of a line that differs from the diagonal", "(0, 1)", "pass such as gain=(0.2, 1)")
    true = z + change
    p = expit(true)
    # log P(y) under the true line less that of the forecast: linear in y.
    constant = np.logaddexp(0, z) - np.logaddexp(0, true)
    of_row = constant + p * change
    mean = float(share @ of_row)
    return mean, float(share @ (p * expit(-true) * change**2)) + float(share @ (of_row - mean) ** 2)
