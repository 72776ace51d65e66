"""Which method to use, by a rule that resists chance, and what it gains, corrected for having chosen.

The least loss of 25 methods is the luckiest of 25. So the preferred method stands unless others are significantly
better; and the gain is what this rule gains on each fold when it is applied to the others.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

import oddsmith.calibrators as known
from oddsmith._types import Bools, Floats
from oddsmith.calibrators import Calibrator
from oddsmith.classify import AutoScaling, DirichletScaling, MatrixScaling, TemperatureScaling, VectorScaling
from oddsmith.classify.scaling import JointScaling
from oddsmith.metrics.bins import sum_by
from oddsmith.metrics.enough import too_few
from oddsmith.metrics.significance import Decisions, holm, mean_and_error
from oddsmith.report.signal import ClassSignal, Signal

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
    known.AutoCalibrator,
    known.PlattCalibrator,
    known.LogisticCalibrator,
    known.TemperatureCalibrator,
    known.BetaCalibrator,
    known.SplineCalibrator,
    known.GaussianCalibrator,
    known.DensityCalibrator,
    known.AsymmetricGaussianCalibrator,
    known.HybridCalibrator,
    known.LaplaceCalibrator,
    known.AsymmetricLaplaceCalibrator,
    known.MonotoneLogisticCalibrator,
    known.PiecewiseLogisticCalibrator,
    known.CosineCalibrator,
    known.SquashCalibrator,
    known.LogisticCorrectionCalibrator,
    known.MinMaxCalibrator,
    known.CenteredIsotonicCalibrator,
    known.VennAbersCalibrator,
    known.IsotonicCalibrator,
    known.HistogramCalibrator,
    known.ScalingBinningCalibrator,
    known.BBQCalibrator,
    known.ENIRCalibrator,
)


def by_preference(methods: Mapping[str, JointScaling | Calibrator]) -> list[str]:
    """Return the names of methods, the one to use in doubt first; calibrators follow all joint scalings.

    Examples
    --------
    >>> from oddsmith import AutoCalibrator, IsotonicCalibrator, PlattCalibrator
    >>> by_preference({"a": IsotonicCalibrator(), "b": PlattCalibrator(), "c": AutoCalibrator()})
    ['c', 'b', 'a']
    """
    ranks: dict[type[object], int] = {kind: rank for rank, kind in enumerate(_PREFERRED)}

    def place(name: str) -> tuple[bool, int]:
        method = methods[name]
        return isinstance(method, Calibrator), ranks.get(type(method), len(ranks))

    return sorted(methods, key=place)


class Gain(NamedTuple):
    """By how much a mean loss falls, its 95 % interval, and the two-sided p-value of no change."""

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
    """

    losses: Mapping[str, Floats]
    decisions: Decisions
    truth: NDArray[Any]
    fold: NDArray[np.intp]
    n_folds: int

    def kept(self, mask: Bools) -> "HeldOut":
        """Return some of the decisions."""
        losses = {name: values[mask] for name, values in self.losses.items()}
        decisions = Decisions(self.decisions.weight[mask], self.decisions.squares[mask])
        return HeldOut(losses, decisions, self.truth[mask], self.fold[mask], self.n_folds)

    @property
    def cases(self) -> Floats:
        """Cases of each class; of equal weight that would vary as much, for float weights."""
        return sum_by(self.truth.astype(np.int64), self.decisions.effective)

    def gain(self, before: Floats, after: Floats) -> Gain:
        """Return by how much the second losses are less than the first.

        Fits to overlapping folds are not independent: their variance is larger by 1 + k/(k − 1) (Nadeau and Bengio).
        """
        if np.isinf(after).any():
            return Gain(-math.inf, -math.inf, -math.inf, 0.0)
        mean, error, _ = mean_and_error(before - after, self.decisions)
        if self.n_folds > 1:
            error *= math.sqrt(1 + self.n_folds / (self.n_folds - 1))
        cases = self.cases
        df = max(float(cases.sum() - cases.max()) - 1, 1.0)
        if error <= 1e-15 * abs(mean):
            return Gain(mean, mean, mean, float(mean == 0))
        half = float(stdtrit(df, 1 - _LEVEL / 2)) * error
        return Gain(mean, mean - half, mean + half, float(2 * stdtr(df, -abs(mean) / error)))

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

    def nested(self, preference: Sequence[str]) -> Floats:
        """Return the loss on each fold of the method that is chosen on all others."""
        preference = self._never_certain_and_wrong(preference)
        found = np.empty(len(self.fold))
        for fold in np.unique(self.fold):
            here = self.fold == fold
            name = self.kept(~here).choose(preference) if not here.all() else preference[0]
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
    """What to do, and why.

    Attributes
    ----------
    kind : {"reversed", "few", "no signal", "calibrate", "no difference", "leave"}
        What the data say: the score is the wrong way round; there are too few cases; the score says nothing;
        calibrating gains, changes nothing for certain, or loses.
    method : str
        The method that is recommended, or the preferred one where none is.
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
        All of that in sentences.
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
        """Whether it makes the figures of all methods moot."""
        return self.kind in ("reversed", "few", "no signal")


class NextSteps(NamedTuple):
    """What to do next: fit a method, given by its name; or what to do with reversed or already calibrated scores."""

    fit: Callable[[str], str]
    if_reversed: str
    if_calibrated: str


def advise(
    held: HeldOut,
    baseline: str,
    base_rate: Floats,
    preference: Sequence[str],
    signal: Signal | ClassSignal,
    *,
    few: str,
    next_steps: NextSteps,
) -> Advice:
    """Recommend a method, the first by preference unless others are better.

    `held` has the losses of all methods and of the baseline; `base_rate` are those of the base rate. `few` says in
    words how many cases there are and how many it would take.
    """
    method, after = held.choose(preference), held.nested(preference)
    gain = held.gain(held.losses[baseline], after)
    before = float(mean_and_error(held.losses[baseline], held.decisions)[0])
    kind = _kind(held, signal, baseline, gain, held.gain(base_rate, after))
    if kind == "leave":
        method = baseline
    elif kind not in ("calibrate", "no difference"):
        method = preference[0]
    found = Advice(kind, method, baseline, before, before - gain.mean, gain, preference[0], len(preference), "")
    return replace(found, words=_words(found, few, signal, next_steps))


def _kind(held: HeldOut, signal: Signal | ClassSignal, baseline: str, gain: Gain, over_base_rate: Gain) -> str:
    if signal.kind == "reversed":
        return "reversed"
    if too_few(*held.cases):
        return "few"
    # A map that is not monotone may find what the order of the scores does not show.
    if signal.kind == "none" and over_base_rate.low <= 0:
        return "no signal"
    if gain.low > 0:
        return "calibrate"
    return "leave" if gain.high < 0 and baseline == UNCALIBRATED else "no difference"


def _words(advice: Advice, few: str, signal: Signal | ClassSignal, next_steps: NextSteps) -> str:
    fit = f"Next: {next_steps.fit(advice.default if advice.kind == 'leave' else advice.method)}"
    if advice.kind == "reversed":
        return f"{signal.words()} {signal.beyond_repair} Next: {next_steps.if_reversed}"
    if advice.kind == "few":
        return f"Cannot tell: {few}. In doubt, use {advice.default}. {fit}"
    if advice.kind == "no signal":
        return f"{signal.words()} Calibration can only return the base rate. Next: find a score that tells more."
    loss = "log-loss per case on held-out cases"
    if advice.baseline == BASE_RATE:
        change = f"the {loss} is {advice.after:.4f}, that of the base rate {advice.before:.4f}, {_gain_words(advice)}"
        before = "The scores are not probabilities, so there is no log-loss before calibration to compare with. "
    else:
        goes = "falls" if advice.gain.mean > 0 else "rises"
        change = f"the {loss} {goes} from {advice.before:.4f} to {advice.after:.4f}, {_gain_words(advice)}"
        before = ""
    if advice.kind == "leave":
        return f"Leave the scores uncalibrated: with {advice.default} {change}. Next: {next_steps.if_calibrated}"
    if advice.kind == "no difference":
        step = fit if advice.baseline == BASE_RATE else f"Next: {next_steps.if_calibrated}"
        return f"Calibrating makes no clear difference: with {advice.method} {change}. {before}{step}"
    return f"Calibrate with {advice.method}: {change}. {before}{_why(advice)}{fit}"


def _gain_words(advice: Advice) -> str:
    gain, low, high = (f"{value:.4f}".replace("-", "−") for value in advice.gain[:3])
    chosen = f", corrected for the choice among {advice.n_methods} methods" if advice.n_methods > 1 else ""
    return f"a gain of {gain} (95 % interval {low} to {high}{chosen})"


def _why(advice: Advice) -> str:
    if advice.n_methods == 1:
        return ""
    if advice.method == advice.default:
        return "No other method is significantly better. "
    return f"It is significantly better than {advice.default}, and the simplest of those that match it. "
