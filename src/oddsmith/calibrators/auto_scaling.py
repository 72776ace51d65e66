"""The default for several classes: a blend of scalings, weighted by what each gets right out of sample."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import expit, log_softmax, softmax

from oddsmith import _check
from oddsmith._types import Bools, Floats, Ints
from oddsmith.calibrators._masked_logits import Logits, center, unmask
from oddsmith.calibrators._recenter import level_classes
from oddsmith.calibrators._sorted_cases import Sorted, deal, sort_cases
from oddsmith.calibrators.scaling import STEEPEST, WHY_ON_BOUND, JointScaling, clip_where_better
from oddsmith.data import LEAST, Fold, Signal
from oddsmith.errors import SeparableWarning
from oddsmith.fitting import (
    Cases,
    HeldOutLaw,
    LinearFit,
    fit_linear,
    fit_temperature,
    mixture_weights,
    structured_penalty,
)
from oddsmith.formula import MASKED
from oddsmith.maps import FLOOR, LogitReading, ScalingMap, ScalingPart

__all__ = ["AutoScaling"]

#: Multiples of the penalty, from stiff to free; a path ends where it no longer helps out of sample.
_PENALTIES = {"vector": (1.0, 0.05), "matrix": (1.0, 0.2, 0.04, 0.008, 0.0016)}

#: Probabilities are read as they are, or with one of these added.
_SOFTENINGS = (1e-4, 1e-3, 1e-2, 3e-2)

#: Temperatures of the blend that keeps the top class, as multiples of the best one.
_WARMER = (0.5, 1.0, 2.0)

#: Above so many classes a full matrix is not tried, nor where there are fewer cases than classes.
_MATRIX_CLASSES = 256

#: Log-loss per case that a part may leave to gain, and the steps it may take. Up to so many logits parts are fitted to
#: the last digits, so that weights and repeated rows, whose scores differ by rounding, have the same optimum.
_SMALL, _EXACT = 2**12, (1e-17, 500)

#: The same for more logits, of which fits to folds need no more.
_TOLERANCE, _STEPS = 1e-5, 80

#: More logits than this are kept in float32: nobody sees the difference but in repeated runs, and it is twice as fast.
_MANY = 2**17

#: Digits of the largest coefficient of such fits that are kept, and of the others as many decimals: an early stop
#: settles fewer, and models and statements of a hundred classes are half as long.
_DIGITS = 8

#: Cases of unknown class that temperature scaling reckons with.
_UNKNOWN = 1.0

#: Nats by which a blend must beat temperature scaling, over all cases out of sample, to get half of the weight: the
#: best weights of many parts gain a few by chance.
_EVIDENCE = 4.0

#: How far the sum of P of each class may be from that of the labels, in standard errors: close, and less so.
_CLOSE, _LOOSE = 0.5, 2.0

#: From so many cases per class on, sums are close. With fewer, class frequencies are mostly chance: close sums must be
#: more likely by that many nats, over all cases out of sample, to get half of the weight.
_MANY_PER_CLASS, _EVIDENCE_OF_BIAS = 200, 2.0

#: Where the true class is on top in every row and a surprise would only be costlier, logits are kept as given, but for
#: this share of base rates.
_AS_GIVEN, _SURPRISE = "as given", 0.005

#: By how much the log of a probability that is read as the least one may differ from that, after rounding.
_ROUNDING = 1e-3

#: Parts with less weight than this are left out, but for the base rates, which keep rare surprises affordable.
_NEGLIGIBLE = 0.005


@dataclass(eq=False, repr=False, kw_only=True)
class AutoScaling(JointScaling):
    """Blend temperature, vector and matrix scaling with weights from cross-validation. The default.

    With few cases per class the stiff methods get the weight, with many the flexible ones; the best penalty differs by
    a factor of 100 between networks, so that several take part. Decisions may change, mostly for the better: use
    ``accuracy="keep"`` where they must not.

    Parameters
    ----------
    accuracy : {"free", "keep"}, default "free"
        "keep" blends only what leaves the top class of each row on top: temperatures and the uniform distribution.
        Calibration in the large is then not assured.
    random_state : int or None, default 0
        Seed for dealing the folds. A fit depends neither on the order of rows nor on that of classes.
    classes : array of shape (k,), optional
        The labels of the columns, in their order; by default the sorted labels of y.
    input : {"auto", "logits", "probabilities"}, default "auto"
        "auto" reads rows that are ≥ 0 and sum to 1 as probabilities, others as logits.

    Attributes
    ----------
    weights_ : dict of str to float
        Of each part in the blend; the number is a multiple of the penalty of `VectorScaling` or `MatrixScaling`.
    verdict_ : str
        What was chosen and why, whether calibrating was worth it, and what could not be fitted. Logits that are
        reversed or carry no signal are named first.
    gain_, gain_interval_ : float, tuple of float
        By how much the mean log-loss fell out of sample against leaving the logits uncalibrated, with its 95 %
        interval. Infinite where a probability of exactly 0 was wrong; where such probabilities were right so far, the
        upper limit is infinite. NaN with too few cases.
    worth_it_ : bool or None
        Whether the gain is clearly above 0; None where there are too few cases, and False where the logits are reversed
        or carry no signal.
    classes_ : array of shape (k,)
        The labels of the columns.
    input_ : {"logits", "probabilities"}
        How the input was read.

    See Also
    --------
    AutoCalibrator : The default for two classes.
    TemperatureScaling : One parameter, for few cases.

    Notes
    -----
    P = Σ wₘPₘ with weights that maximize the out-of-sample likelihood, in four stratified folds, under a Dirichlet
    prior worth two cases; then all parts are fitted to all cases. With fewer than 50 cases per class there are eight
    folds, and they are not stratified: folds with the same class frequencies reward fits to frequencies that are due
    to chance. The blend shares the weight with temperature scaling as 1 to exp(4 − G), G being its gain over it in nats
    over all cases out of sample. Logits are read as logs of probabilities, log p, and as log(p + ε), ε chosen by the
    likelihood of temperature scaling: the first suits networks, the second forests and nearest neighbors, which
    predict exactly 0, and naive Bayes uses both. Logits that `TemperatureScaling` would clip are read as they are and
    clipped. log p is clipped at −700 unless temperature scaling is better without that, as for margins of 10⁴. With
    more than 4,096 logits, fits are stopped after 80 steps.

    The log-odds of the blend are moved by the least that makes |Σw(P − Y)| of each class, over the fitted cases,
    smaller than half a standard error √Σw P(1 − P). This limits class-wise bias, and costs log-loss where there is
    none: about 0.2 over the cases per class. With fewer than 200 cases per class two standard errors are allowed, and
    the move is a mean of those for half and for two of them. Half has the weight 1/(1 + exp(2 − G)), G being its gain
    over two in nats over all cases out of sample.

    Where the true class is on top in every row, and one case of unknown class would make the logits less sure, they
    are kept as given but for a share of 0.5 % of the base rates. A logit of −inf masks its class: P = 0.

    A class without cases has no parameters of its own and is left out of that move: its probability follows from
    its own logit. A full matrix is not tried above 256 classes. A float weight w counts as w cases. Above 20,000
    cases fewer folds are judged.

    References
    ----------
    Berta et al. (2026), Structured matrix scaling for multi-class calibration.
    Zhang et al. (2020), Mix-n-match: ensemble and compositional methods for uncertainty calibration.
    D. Wolpert, Stacked generalization, Neural Networks 5, 1992.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> logits = 3 * rng.normal(size=(300, 3))
    >>> y = np.argmax(logits / 3 + rng.gumbel(size=(300, 3)), axis=1)
    >>> scaling = AutoScaling().fit(logits, y)
    >>> scaling, scaling.worth_it_, scaling.predict_proba([[3.0, 0.0, 0.0]]).round(1).tolist()
    (AutoScaling() fitted to logits, True, [[0.6, 0.2, 0.2]])
    """

    accuracy: Literal["free", "keep"] = "free"
    random_state: int | None = 0

    def _fit(self, logits: Logits, index: Ints, weight: Floats) -> None:
        _check.one_of(self.accuracy, "accuracy", ("free", "keep"))
        if self.random_state is not None:
            _check.whole_number(self.random_state, "random_state", low=0)
        read, (_, _, reason) = clip_where_better(logits, index, weight)
        cases = sort_cases(logits, index, weight)
        folds, keep = list(deal(cases, self.random_state)), self.accuracy == "keep"
        first, *others = _readings(cases, read)
        as_given = reason is SeparableWarning and _ReadCases(cases, first).best >= 1
        found = (
            _plain_parts(cases, folds, first, keep) if as_given else _candidates(cases, folds, (first, *others), keep)
        )
        candidates = list(found)
        judged = _HeldOutLikelihoods.of(folds, [each.rows for each in candidates])
        names = [each.part.name for each in candidates]
        weights = np.array([_SURPRISE, 1 - _SURPRISE]) if as_given else _weights(judged, names)
        kept = np.flatnonzero(weights)
        blend = _Blend([candidates[i] for i in kept], weights[kept], logits.closed is not None)
        shift = np.zeros(logits.z.shape[1])
        if not keep and not as_given:
            shift = blend.shift(cases, folds)
        back = np.argsort(cases.columns)
        parts = tuple(_in_order(each.part, back) for each in blend.parts)
        self._blend = parts, blend.weights, shift[back]
        self.weights_: dict[str, float] = {part.name: float(w) for part, w in zip(parts, blend.weights, strict=True)}
        obstacle = ""
        if folds and reason is not SeparableWarning:
            counts = weight if self.weighted_ else weight.astype(np.int64)
            obstacle = Signal.of_rows(softmax(logits.z, axis=1), index, counts).words()
        worth = self._measure_gain(judged, weights, names, obstacle, self._zeros(cases))
        self.verdict_: str = " ".join(filter(None, [obstacle, self._choice(), worth, *self._absence_notes(cases)]))
        if reason is not None:
            warnings.warn(WHY_ON_BOUND[reason], reason, stacklevel=4)

    @property
    def map_(self) -> ScalingMap:
        """The fitted map, from columns to probabilities."""
        return ScalingMap(self.n_features_in_, self.input_, *self._blend)

    def _zeros(self, cases: Sorted) -> tuple[bool, bool]:
        """Whether some probabilities as given are 0, and whether some of these are of the true class."""
        if self.input_ == "logits":
            return False, False
        zero = log_softmax(cases.z, axis=1) <= math.log(LEAST) + _ROUNDING
        return bool(zero.any()), bool(zero[np.arange(len(zero)), cases.truth].any())

    def _measure_gain(
        self,
        judged: "_HeldOutLikelihoods",
        weights: Floats,
        names: list[str],
        obstacle: str,
        zeros: tuple[bool, bool],
    ) -> str:
        """Measure what calibrating brought, and return it in words; with an obstacle it is never worth it."""
        self.gain_: float = math.nan
        self.gain_interval_: tuple[float, float] = (math.nan, math.nan)
        self.worth_it_: bool | None = None
        if judged.n_folds == 0:
            return "There are too few cases, or classes, to judge by: this is temperature scaling."
        ours = judged.losses(weights)
        tempering = "temperature" if "temperature" in names else _AS_GIVEN
        losses = -judged.as_is, -judged.parts[names.index(tempering)], ours
        before, tempered, after = (judged.mean(each)[0] for each in losses)
        self.gain_, error = judged.mean(-judged.as_is - ours)
        half = HeldOutLaw.of(error, judged.n_folds, judged.cases).half_width()
        low, high = self.gain_ - half, self.gain_ + half
        start, gained = f"{before:.4f}", f"gain {self.gain_:.4f}, 95 % interval {low:.4f} to {high:.4f}"
        some_zero, was_true = zeros
        if some_zero:
            high, gained = (
                math.inf,
                f"gain {self.gain_:.4f}, 95 % interval {low:.4f} to infinity, since P = 0 may be wrong",
            )
        if was_true:
            self.gain_ = low = math.inf
            start, gained = "infinity", "unbounded gain, since P = 0 was wrong"
        self.gain_interval_ = low, high
        self.worth_it_ = low > 0 and not obstacle
        change = (
            f"In {judged.n_folds} folds the log-loss went from {start} to {after:.4f}, by temperature scaling to "
            f"{tempered:.4f} ({gained})"
        )
        if obstacle:
            return f"{change}."
        if self.worth_it_:
            return f"{change}: calibrating was worth it."
        if high < 0:
            return f"{change}: the logits were better uncalibrated."
        return f"{change}: no clear difference from leaving the logits uncalibrated."

    def _choice(self) -> str:
        if _AS_GIVEN in self.weights_:
            return f"The logits are used as given, blended with a share of {_SURPRISE:.1%} of the base rates."
        kinds: dict[str, float] = {}
        for name, share in self.weights_.items():
            kind = name.split(",")[0].split(" ×")[0]
            kinds[kind] = kinds.get(kind, 0.0) + share
        shares = ", ".join(f"{share:.0%} {kind}" for kind, share in sorted(kinds.items(), key=lambda item: -item[1]))
        return f"A blend of {shares}, weighted by out-of-sample log-loss."

    def _absence_notes(self, cases: Sorted) -> Iterator[str]:
        missing = np.sort(cases.columns[cases.totals == 0])
        if len(missing):
            named = ", ".join(repr(label) for label in self.classes_[missing[:5]].tolist())
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            yield f"No case is of class {named}{more}: its probability follows from its logit alone."
        k = cases.z.shape[1]
        if self.accuracy == "free" and not _affords_matrix(cases):
            yield f"Matrix scaling was not tried: {cases.weight.sum():g} cases are too few for {k} classes."


class _Reading(NamedTuple):
    """A way to read logits.

    Attributes
    ----------
    floor : float
        Logits this far below the largest of their row are masked.
    clips : bool
        Whether they are read as being there instead, but for those of −inf.
    deep : bool
        Whether logs of probabilities too small for doubles are used.
    softening : float
        What is added to probabilities.
    suffix : str
        Of the names of parts.
    """

    floor: float
    clips: bool = False
    deep: bool = False
    softening: float = 0.0
    suffix: str = ""


class _ReadLogits(NamedTuple):
    """Logits as a part reads them: logs of k times the probabilities, and which of them are masked."""

    x: Floats
    gone: Bools | None

    @classmethod
    def of(cls, cases: Sorted, reading: _Reading) -> "_ReadLogits":
        """Read logits; the logs are 0 where all classes are as probable."""
        z, gone = cases.z, cases.z <= (MASKED if reading.clips else -reading.floor)
        if reading.clips:
            z = np.where(gone, z, np.maximum(z, -reading.floor))
        log_prob = np.maximum(log_softmax(z, axis=1), -reading.floor if reading.deep else FLOOR)
        if reading.softening > 0:
            log_prob = np.log(np.exp(log_prob) + reading.softening)
        return cls(np.asarray(log_prob + math.log(z.shape[1])), gone if gone.any() else None)

    def features(self, axes: int) -> Floats:
        """Return what a diagonal (one axis) or a full matrix is applied to.

        A diagonal must be indifferent to a constant added to a row; a matrix uses the sum of the logs, which measures
        how sure a row is.
        """
        return center(self.x, self.gone) if axes == 1 else unmask(self.x, self.gone) if axes else self.x


def _log_proba(part: ScalingPart, read: _ReadLogits) -> Floats:
    """Return log P by a part, shape (n, k), of logits that were read with its softening."""
    features = read.features(part.coef.ndim)
    scaled = features @ part.coef.T if part.coef.ndim == 2 else features * part.coef
    scaled += part.intercept
    if part.coef.ndim and read.gone is not None:
        scaled[read.gone] -= STEEPEST if part.drop is None else part.drop
    return np.asarray(log_softmax(scaled, axis=1))


def _readings(cases: Sorted, read: Logits) -> Iterator[_Reading]:
    """Yield the readings of a blend: the best one for temperature scaling, another without its clip, one softened."""
    first = _deep_where_better(cases, _Reading(read.floor, clips=read.clips))
    yield first
    if read.clips:
        yield _deep_where_better(cases, _Reading(cases.floor, suffix=", unclipped"))
    plain = first._replace(deep=False)
    softened = (plain._replace(softening=softening, suffix=", softened") for softening in _SOFTENINGS)
    if (best := _best(cases, (first, *softened))).softening > 0:
        yield best


def _deep_where_better(cases: Sorted, reading: _Reading) -> _Reading:
    """Return a reading whose logs of probabilities have no floor if that is better, as for margins."""
    deep = np.any((cases.z < FLOOR) & (cases.z > -reading.floor))
    return _best(cases, (reading, reading._replace(deep=True))) if deep else reading


def _best(cases: Sorted, readings: Sequence[_Reading]) -> _Reading:
    """Return the reading that suits temperature scaling best."""
    return min(readings, key=lambda reading: _ReadCases(cases, reading).temperature_loss())


class _ReadCases:
    """Cases under one reading, and the parts that are fitted to them."""

    def __init__(self, cases: Sorted, reading: _Reading) -> None:
        self.reading, self.totals = reading, cases.totals
        self.read = _ReadLogits.of(cases, reading)
        self.best, size, reason = fit_temperature(self.read.x, cases.truth, cases.weight, _UNKNOWN)
        self.unit = self.best if reason is None else size
        self._cases, self._scaled = cases, dict[str, Cases]()

    def temperature_part(self, times: float = 1.0) -> ScalingPart:
        """Return temperature scaling, at a multiple of the best temperature."""
        name = "temperature" if times == 1 else f"temperature ×{times:g}"
        return self.part(name, np.array(1 / (times * self.best)), np.zeros(len(self.totals)))

    def temperature_loss(self) -> float:
        """Return the log-loss of temperature scaling over all cases."""
        return -float(self._cases.weight @ _of_true(_log_proba(self.temperature_part(), self.read), self._cases.truth))

    def constant(self, uniform: bool) -> ScalingPart:
        """Return the same probabilities for all cases: shares of classes, as if one case more were of any class."""
        k = len(self.totals)
        prob = np.full(k, 1 / k) if uniform else (self.totals + 1 / k) / (self.totals.sum() + 1)
        return self.part("uniform" if uniform else "base rates", np.array(0.0), np.log(prob))

    def fit(self, kind: str, times: float, start: LinearFit | None) -> tuple[LinearFit, ScalingPart]:
        """Fit vector or matrix scaling under a multiple of its penalty."""
        k = len(self.totals)
        penalty = times * (structured_penalty(k) if kind == "matrix" else np.full(k, float(k)))
        if kind not in self._scaled:
            kind_of_float = np.float32 if self.read.x.size > _MANY else np.float64
            v = np.ascontiguousarray(self.read.features(penalty.ndim).T / self.unit, dtype=kind_of_float)
            offset = None if self.read.gone is None else np.where(self.read.gone.T, -self._drop, 0.0).astype(v.dtype)
            self._scaled = {kind: Cases(v, self._cases.truth, self._cases.weight, offset)}  # one kind at a time is kept
        free = self.totals > 0
        is_exact = self.read.x.size <= _SMALL
        tolerance, steps = _EXACT if is_exact else (_TOLERANCE, _STEPS)
        found = fit_linear(
            self._scaled[kind], penalty, times * k, tolerance=tolerance, start=start, free=free, max_steps=steps
        )
        coef = found.matrix / self.unit
        return found, self.part(f"{kind}, {times:g}", coef if is_exact else _round(coef), found.shift)

    def part(self, name: str, coef: Floats, intercept: Floats) -> ScalingPart:
        """Return a part under this reading."""
        reading: LogitReading = "floored_log_probabilities"
        if self.reading.deep:
            reading = "log_probabilities" if coef.ndim == 2 else "logits"
        floor: tuple[float | None, ...] = ()
        if self.reading.clips:
            floor = self.reading.floor, None
        elif coef.ndim:  # one number leaves logits as they are: a floor would clip them
            floor = self.reading.floor, self._drop
        return ScalingPart(name + self.reading.suffix, reading, self.reading.softening, coef, intercept, *floor)

    @property
    def _drop(self) -> float:
        """By how much masked classes are lowered."""
        return min((-FLOOR if self.reading.clips else self.reading.floor) / self.unit, STEEPEST)


def _round(coef: Floats) -> Floats:
    """Return coefficients to the decimals of the digits that an early stop leaves of use."""
    largest = float(np.abs(coef).max())
    return coef if largest == 0 else np.round(coef, _DIGITS - 1 - math.floor(math.log10(largest)))


class _Candidate(NamedTuple):
    """A part fitted to all cases, those of the folds, and the log-likelihood of each case by the part of its fold."""

    part: ScalingPart
    of_folds: Sequence[ScalingPart]
    rows: Floats
    reading: _Reading


class _Fits:
    """Cases under one reading, all of them and fold by fold."""

    def __init__(self, cases: Sorted, folds: Sequence[Fold[Sorted]], reading: _Reading) -> None:
        self.whole, self.rests = _ReadCases(cases, reading), [_ReadCases(fold.rest, reading) for fold in folds]
        self._parts = [(_ReadLogits.of(fold.part, reading), fold.part) for fold in folds]

    def candidate(self, fit: Callable[[_ReadCases], ScalingPart]) -> _Candidate:
        """Fit a part to all cases and to those of each fold, and judge these."""
        return self.judge(fit(self.whole), [fit(rest) for rest in self.rests])

    def judge(self, part: ScalingPart, of_folds: Sequence[ScalingPart]) -> _Candidate:
        """Judge the parts of folds by the cases that they did not see."""
        each = zip(of_folds, self._parts, strict=True)
        rows = [_of_true(_log_proba(one, read), cases.truth) for one, (read, cases) in each]
        return _Candidate(part, of_folds, np.concatenate([[], *rows]), self.whole.reading)

    def path(self, kind: str) -> Iterator[_Candidate]:
        """Yield fits from stiff to free, each started from the last, until one does worse out of sample."""
        weight = np.concatenate([cases.weight for _, cases in self._parts])
        starts: list[LinearFit | None] = [None] * (1 + len(self.rests))
        best = math.inf
        for times in _PENALTIES[kind]:
            each = zip((self.whole, *self.rests), starts, strict=True)
            fits = [cases.fit(kind, times, start) for cases, start in each]
            starts = [found for found, _ in fits]
            part, *of_folds = (part for _, part in fits)
            yield (found := self.judge(part, of_folds))
            if (loss := -float(weight @ found.rows)) > best:
                return
            best = loss


def _plain_parts(cases: Sorted, folds: Sequence[Fold[Sorted]], reading: _Reading, keep: bool) -> Iterator[_Candidate]:
    """Yield the shares of classes and the logits as given."""
    fits = _Fits(cases, folds, reading)
    yield fits.candidate(lambda read: read.constant(keep))
    yield fits.candidate(lambda read: read.part(_AS_GIVEN, np.array(1.0), np.zeros(len(read.totals))))


def _candidates(
    cases: Sorted, folds: Sequence[Fold[Sorted]], readings: Sequence[_Reading], keep: bool
) -> Iterator[_Candidate]:
    """Yield all parts, each fitted to all cases, and judged by fits that did not see a case."""
    for reading in readings:
        fits = _Fits(cases, folds, reading)
        if reading is readings[0]:
            yield fits.candidate(lambda read: read.constant(keep))
        for times in _WARMER if keep else (1.0,):
            yield fits.candidate(partial(_ReadCases.temperature_part, times=times))
        if keep or not folds:
            continue
        for kind in ("vector", "matrix") if _affords_matrix(cases) else ("vector",):
            yield from fits.path(kind)


class _HeldOutLikelihoods(NamedTuple):
    """Log-likelihoods of cases by fits that did not see them."""

    parts: Floats
    as_is: Floats
    weight: Floats
    cases: Floats  # of each class
    n_folds: int

    @classmethod
    def of(cls, folds: Sequence[Fold[Sorted]], rows: Sequence[Floats]) -> "_HeldOutLikelihoods":
        """Put the folds together."""
        as_is = [_of_true(np.asarray(log_softmax(fold.part.z, axis=1)), fold.part.truth) for fold in folds]
        weight = [fold.part.weight for fold in folds]
        truth = np.concatenate([np.empty(0, np.int64), *(fold.part.truth for fold in folds)])
        weights = np.concatenate([[], *weight])
        cases = np.bincount(truth, weights, minlength=1).astype(np.float64)
        return cls(np.array(rows), np.concatenate([[], *as_is]), weights, cases, len(folds))

    def losses(self, weights: Floats) -> Floats:
        """Return the log-loss of each case by a blend."""
        highest = self.parts.max(axis=0)
        return np.asarray(-highest - np.log(weights @ np.exp(self.parts - highest)))

    def mean(self, losses: Floats) -> tuple[float, float]:
        """Return the mean over cases and its standard error."""
        n = float(self.weight.sum())
        share = self.weight / n
        mean = float(share @ losses)
        apart = losses - mean
        size = float(np.abs(apart).max()) or 1.0  # whose square may be beyond all doubles
        return mean, size * math.sqrt(float(share @ (apart / size) ** 2) / n)


def _weights(judged: _HeldOutLikelihoods, names: Sequence[str]) -> Floats:
    """Return the weights of the most probable blend, as far as it is more probable than temperature scaling alone."""
    alone = np.array([float(name == "temperature") for name in names])
    if judged.n_folds == 0:
        return alone
    weights = mixture_weights(np.exp(judged.parts - judged.parts.max(axis=0)), judged.weight)
    gain = judged.weight @ (-judged.losses(weights) - judged.parts[names.index("temperature")])
    share = float(expit(gain - _EVIDENCE))
    weights = share * weights + (1 - share) * alone
    always: Bools = np.array([name in ("base rates", "uniform") for name in names])
    weights = np.where((weights < _NEGLIGIBLE) & ~always, 0.0, weights)
    return np.asarray(weights / weights.sum())


class _Blend(NamedTuple):
    """Parts with their weights, and whether some logits are −inf."""

    parts: Sequence[_Candidate]
    weights: Floats
    closed: bool

    def shift(self, cases: Sorted, folds: Sequence[Fold[Sorted]]) -> Floats:
        """Return what to add to the logs of P, so that its sums are close to those of the classes.

        With few cases per class it is a mean of what makes sums close and of what makes them less so; the first has the
        more weight the better it is out of sample.
        """
        log_prob = self._log_prob(cases, None)
        close = self._level_sums(log_prob, cases, _CLOSE)
        if cases.weight.sum() >= _MANY_PER_CLASS * np.count_nonzero(cases.totals):
            return close
        loose = self._level_sums(log_prob, cases, _LOOSE)
        gain = sum(self._gain(*fold, i) for i, fold in enumerate(folds)) if folds else -math.inf
        shift = loose + expit(gain - _EVIDENCE_OF_BIAS) * (close - loose)
        return np.asarray(shift + self._level_sums(log_prob + shift, cases, _LOOSE))

    def _gain(self, seen: Sorted, new: Sorted, fold: int) -> float:
        """Return by how much closer sums raise the log-likelihood of the cases that a fold has not seen."""
        log_prob, out = self._log_prob(seen, fold), self._log_prob(new, fold)
        shifts = (self._level_sums(log_prob, seen, freedom) for freedom in (_CLOSE, _LOOSE))
        close, loose = (_of_true(log_softmax(out + shift, axis=1), new.truth) for shift in shifts)
        return float(new.weight @ (close - loose))

    def _log_prob(self, cases: Sorted, fold: int | None) -> Floats:
        """Return log P, shape (n, k), by the fits to all cases, or by those of a fold."""
        read = {each.reading: _ReadLogits.of(cases, each.reading) for each in self.parts}
        fitted = ((each.part if fold is None else each.of_folds[fold], read[each.reading]) for each in self.parts)
        logs = (_log_proba(part, x) + math.log(w) for (part, x), w in zip(fitted, self.weights, strict=True))
        return reduce(np.logaddexp, logs)

    def _level_sums(self, log_prob: Floats, cases: Sorted, freedom: float) -> Floats:
        """Return what brings sums within so many standard errors of those of the classes."""
        prob = softmax(log_prob, axis=1).T
        if self.closed:
            prob[cases.z.T <= MASKED] = 0.0
            prob /= prob.sum(axis=0)
        return level_classes(prob, cases.weight, cases.totals, cases.totals > 0, freedom)


def _in_order(part: ScalingPart, back: Any) -> ScalingPart:
    """Return a part with its classes in another order."""
    coef = part.coef if part.coef.ndim == 0 else part.coef[back] if part.coef.ndim == 1 else part.coef[back][:, back]
    return part._replace(coef=coef, intercept=part.intercept[back])


def _affords_matrix(cases: Sorted) -> bool:
    k = cases.z.shape[1]
    return bool(k <= _MATRIX_CLASSES and cases.weight.sum() >= k)


def _of_true(log_prob: Floats, index: Ints) -> Floats:
    return log_prob[np.arange(len(index)), index]
