"""Which method to use, by a rule that resists chance, and what it gains, corrected for having chosen.

The least loss of 25 methods is the luckiest of 25. So the preferred method stands unless others are significantly
better; and the gain is what this rule gains on each fold when it is applied to the others. Whether the scores need
calibration at all is decided by `oddsmith.metrics.verdict`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Bools, Floats
from oddsmith.calibrators import (
    AsymmetricGaussianCalibrator,
    AsymmetricLaplaceCalibrator,
    AutoCalibrator,
    AutoScaling,
    BBQCalibrator,
    BetaCalibrator,
    Calibrator,
    CenteredIsotonicCalibrator,
    CosineCalibrator,
    DensityCalibrator,
    DirichletScaling,
    ENIRCalibrator,
    GaussianCalibrator,
    HistogramCalibrator,
    HybridCalibrator,
    IsotonicCalibrator,
    JointScaling,
    LaplaceCalibrator,
    LogisticCalibrator,
    LogisticCorrectionCalibrator,
    MatrixScaling,
    MinMaxCalibrator,
    MonotoneLogisticCalibrator,
    PiecewiseLogisticCalibrator,
    PlattCalibrator,
    ScalingBinningCalibrator,
    SplineCalibrator,
    SquashCalibrator,
    TemperatureCalibrator,
    TemperatureScaling,
    VectorScaling,
    VennAbersCalibrator,
)
from oddsmith.fitting import HeldOutLaw
from oddsmith.metrics import FIRST, RELEVANT, Decisions, Verdict, holm, mean_and_error, mean_and_error_of_groups, sum_by

__all__ = ["BASE_RATE", "UNCALIBRATED", "Advice", "Gain", "HeldOut", "NextSteps", "advise", "by_preference"]

#: What methods are compared with: scores that are probabilities or log-odds, left alone; or, where scores are neither,
#: one and the same probability for all.
UNCALIBRATED, BASE_RATE = "uncalibrated", "base rate"

#: Level of tests and intervals.
_LEVEL = 0.05

#: For several classes and for two, the default first, then smooth maps from the simplest to the most flexible, then
#: those with kinks and steps.
_PREFERRED: tuple[type[JointScaling | Calibrator], ...] = (
    AutoScaling,
    TemperatureScaling,
    VectorScaling,
    MatrixScaling,
    DirichletScaling,
    AutoCalibrator,
    PlattCalibrator,
    LogisticCalibrator,
    TemperatureCalibrator,
    BetaCalibrator,
    SplineCalibrator,
    GaussianCalibrator,
    DensityCalibrator,
    AsymmetricGaussianCalibrator,
    HybridCalibrator,
    LaplaceCalibrator,
    AsymmetricLaplaceCalibrator,
    MonotoneLogisticCalibrator,
    PiecewiseLogisticCalibrator,
    CosineCalibrator,
    SquashCalibrator,
    LogisticCorrectionCalibrator,
    MinMaxCalibrator,
    CenteredIsotonicCalibrator,
    VennAbersCalibrator,
    IsotonicCalibrator,
    HistogramCalibrator,
    ScalingBinningCalibrator,
    BBQCalibrator,
    ENIRCalibrator,
)


def by_preference(methods: Mapping[str, Any]) -> list[str]:
    """Return the names of methods, the one to use in doubt first: joint scalings, calibrators, those of others.

    Examples
    --------
    >>> from oddsmith import AutoCalibrator, IsotonicCalibrator, PlattCalibrator
    >>> by_preference({"a": IsotonicCalibrator(), "b": PlattCalibrator(), "c": AutoCalibrator()})
    ['c', 'b', 'a']
    """
    ranks: dict[type[object], int] = {kind: rank for rank, kind in enumerate(_PREFERRED)}

    def place(name: str) -> tuple[bool, bool, int]:
        method = methods[name]
        ours = isinstance(method, (JointScaling, Calibrator))
        return not ours, isinstance(method, Calibrator), ranks.get(type(method), len(ranks))

    return sorted(methods, key=place)


class Gain(NamedTuple):
    """By how much a mean loss falls.

    Parameters
    ----------
    mean, low, high : float
        The mean per case, and its 95 % interval.
    p_value : float
        Two-sided, of no change.

    See Also
    --------
    Advice : Contains it.
    """

    mean: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class HeldOut:
    """Losses of methods on decisions that they were not fitted to.

    Attributes
    ----------
    losses : mapping of str to ndarray of shape (n,)
    decisions : Decisions
        How much each decision counts.
    truth : ndarray of bool or int, shape (n,)
        The class of each decision.
    fold : ndarray of int, shape (n,)
        In which fold each decision is.
    n_folds : int
        In how many folds all decisions were; 1 where methods were not fitted to folds of the same cases.
    group : ndarray of int, shape (n,), or None
        Which decisions are dependent.
    """

    losses: Mapping[str, Floats]
    decisions: Decisions
    truth: NDArray[Any]
    fold: NDArray[np.intp]
    n_folds: int
    group: NDArray[np.intp] | None = None

    def select(self, mask: Bools) -> "HeldOut":
        """Return some of the decisions."""
        losses = {name: values[mask] for name, values in self.losses.items()}
        group = None if self.group is None else self.group[mask]
        return HeldOut(losses, self.decisions.at(mask), self.truth[mask], self.fold[mask], self.n_folds, group)

    @property
    def cases(self) -> Floats:
        """Cases of each class; of equal weight that would vary as much, for float weights."""
        return sum_by(self.truth.astype(np.int64), self.decisions.effective)

    def mean(self, losses: Floats) -> float:
        """Return the mean loss over decisions, which may be infinite."""
        return float(self.decisions.weight @ losses) / float(self.decisions.weight.sum(dtype=np.float64))

    def gain(self, before: Floats, after: Floats) -> Gain:
        """Return by how much the second losses are less than the first."""
        if np.isinf(after).any():
            return Gain(-math.inf, -math.inf, -math.inf, 0.0)
        if np.isinf(before).any():
            return Gain(math.inf, math.inf, math.inf, 0.0)
        n_groups, difference = None, before - after
        if self.group is None:
            mean, error, _ = mean_and_error(difference, self.decisions)
        else:
            mean, error, n_groups = mean_and_error_of_groups(difference, self.decisions, self.group)
        law = HeldOutLaw.of(error, self.n_folds, self.cases, n_groups)
        half = law.half_width(1 - _LEVEL)
        return Gain(mean, mean - half, mean + half, law.p_value(mean))

    def choose(self, preference: Sequence[str]) -> str:
        """Return the preferred method, unless others are significantly better than it.

        Then the preferred one of those that are not significantly worse than the best of them. p-values are corrected
        by Holm's method. A method that was certain and wrong is not chosen.
        """
        first, *others = self._never_certain_and_wrong(preference)
        better = self._better([(name, first) for name in others])
        if not better:
            return first
        best = min(better, key=lambda name: float(self.decisions.weight @ self.losses[name]))
        level = [name for name in better if name == best or not self._better([(best, name)], len(better) - 1)]
        return level[0]

    def nested_loss(self, preference: Sequence[str]) -> Floats:
        """Return the loss on each fold of the method that is chosen on all others."""
        preference = self._never_certain_and_wrong(preference)
        found = np.empty(len(self.fold))
        for fold in np.unique(self.fold):
            here = self.fold == fold
            name = self.select(~here).choose(preference) if not here.all() else preference[0]
            found[here] = self.losses[name][here]
        return found

    def _never_certain_and_wrong(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if np.isfinite(self.losses[name]).all()] or list(names[:1])

    def _better(self, pairs: Sequence[tuple[str, str]], tests: int | None = None) -> list[str]:
        """Return those that are significantly better than their rivals, corrected for the number of tests."""
        gains = [self.gain(self.losses[rival], self.losses[name]) for name, rival in pairs]
        if not gains:
            return []
        p_values = [gain.p_value / 2 if gain.mean > 0 else 1.0 for gain in gains]
        corrected = holm(p_values) if tests is None else tests * np.array(p_values)
        return [name for (name, _), p in zip(pairs, corrected, strict=True) if p < _LEVEL]


@dataclass(frozen=True)
class Advice:
    """The recommended method, its gain, and the reason.

    Attributes
    ----------
    kind : {"reversed", "few", "no signal", "calibrate", "no difference", "no gain", "leave"}
        What to do first: the score is reversed, has too few cases, or carries no signal. Else
        whether calibrating gains, makes no clear difference, makes the loss larger although calibration is in doubt, or
        is not needed.
    method : str
        The method that is recommended, the baseline where no method improves on it, or the preferred one where
        something else comes first.
    baseline : str
        What the gain is measured against.
    before, after : float
        Mean log-loss of the baseline, and of methods chosen by the rule on other folds.
    gain : Gain
        The difference.
    default : str
        The method that stands unless others are significantly better.
    n_methods : int
        How many were chosen from.
    words : str
        All of that in sentences, after those of the verdict.

    See Also
    --------
    compare_methods : Gives it.
    """

    kind: str
    method: str
    baseline: str
    before: float
    after: float
    gain: Gain
    default: str
    n_methods: int
    words: str

    @property
    def comes_first(self) -> bool:
        """Whether there is a problem to solve before methods matter."""
        return self.kind in FIRST

    @property
    def change(self) -> str:
        """How the log-loss changes, in words."""
        loss = "log-loss per case on held-out cases"
        if math.isinf(self.after):
            return f"the {loss} is infinite, because some outcomes get a probability of 0"
        if math.isinf(self.before):
            return f"the {loss} falls from infinity to {self.after:.4f}"
        gain, low, high = (f"{value:.4f}".replace("-", "−") for value in self.gain[:3])
        chosen = f", corrected for the choice among {self.n_methods} methods" if self.n_methods > 1 else ""
        told = f"a gain of {gain} (95 % interval {low} to {high}{chosen})"
        if self.baseline == BASE_RATE:
            return f"the {loss} is {self.after:.4f}, that of the base rate {self.before:.4f}, {told}"
        goes = "falls" if self.gain.mean > 0 else "rises"
        return f"the {loss} {goes} from {self.before:.4f} to {self.after:.4f}, {told}"


class NextSteps(NamedTuple):
    """What to do next: fit a method, given by its name; or what to do with reversed or calibrated scores.

    Parameters
    ----------
    fit : str
        The command that fits the recommended method.
    if_reversed : str
        What to do with a reversed score.
    if_calibrated : str
        What to do with calibrated scores.

    See Also
    --------
    compare_methods : Takes it.
    """

    fit: Callable[[str], str]
    if_reversed: str
    if_calibrated: str


def advise(
    held: HeldOut,
    baseline: str,
    base_rate: Floats,
    preference: Sequence[str],
    verdict: Verdict,
    *,
    next_steps: NextSteps,
) -> Advice:
    """Recommend a method, the first by preference unless others are better.

    `held` has the losses of all methods and of the baseline; `base_rate` are those of the base rate. `verdict` decides
    whether the scores need calibration.
    """
    method, after = held.choose(preference), held.nested_loss(preference)
    gain = held.gain(held.losses[baseline], after)
    relevant = RELEVANT * held.mean(base_rate)
    kind = _kind(verdict, baseline, gain, held.gain(base_rate, after), relevant)
    if kind in ("leave", "no gain"):
        method = baseline
    elif kind not in ("calibrate", "no difference"):
        method = preference[0]
    before, loss = held.mean(held.losses[baseline]), held.mean(after)
    found = Advice(kind, method, baseline, before, loss, gain, preference[0], len(preference), "")
    return replace(found, words=_words(found, verdict, next_steps, relevant))


def _kind(verdict: Verdict, baseline: str, gain: Gain, over_base_rate: Gain, relevant: float) -> str:
    # A map that is not monotone may find what the order of the scores does not show.
    if verdict.comes_first and not (verdict.kind == "no signal" and over_base_rate.low > 0):
        return verdict.kind
    if baseline == BASE_RATE or verdict.kind in ("no signal", "untested"):
        return "calibrate" if gain.low > 0 else "no difference"
    if verdict.kind in ("miscalibrated", "impossible"):
        return "calibrate" if gain.mean > 0 else "no gain"
    if gain.low > 0 and gain.mean >= relevant:
        return "calibrate"
    if verdict.kind == "calibrated" and gain.high < relevant:
        return "leave"
    return "no gain" if gain.high < 0 else "no difference"


def _words(advice: Advice, verdict: Verdict, next_steps: NextSteps, relevant: float) -> str:
    fit = f"Next: {next_steps.fit(advice.default if advice.method == advice.baseline else advice.method)}"
    if advice.kind == "reversed":
        return f"{verdict.words} Calibration cannot repair that. Next: {next_steps.if_reversed}"
    if advice.kind == "few":
        return f"{verdict.words} In doubt, use {advice.default}. {fit}"
    if advice.kind == "no signal":
        return (
            f"{verdict.words} Calibration can only return the base rate. Next: find a score that separates the classes."
        )
    change = advice.change
    if advice.kind == "calibrate":
        return f"{verdict.words} Calibrate with {advice.method}: {change}. {_why(advice)}{fit}"
    if advice.kind == "no gain":
        none = f"The methods compared do not improve the scores: with {advice.default} {change}."
        return f"{verdict.words} {none} Next: compare other methods, or collect more cases."
    if advice.kind == "leave":
        keep = f"Leave the scores uncalibrated: with {advice.default} {change}."
        return f"{verdict.words} {keep} Next: {next_steps.if_calibrated}"
    step = fit if advice.baseline == BASE_RATE or advice.gain.mean >= relevant else f"Next: {next_steps.if_calibrated}"
    return f"{verdict.words} Calibrating makes no clear difference: with {advice.method} {change}. {step}"


def _why(advice: Advice) -> str:
    if advice.n_methods == 1:
        return ""
    if advice.method == advice.default:
        return "No other method is significantly better. "
    return f"It is significantly better than {advice.default}, and the simplest of those that match it. "
