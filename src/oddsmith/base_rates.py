"""Base rates: apply a model where classes are as frequent as elsewhere, and estimate how frequent they are.

Where only the frequencies of the classes change, and scores of each class stay as they were, log-odds change by one
number for all rows. `shift_prior` adds it to a model, `undo_weights` finds it for a classifier that was trained with
weights or on a selection of rows, and `estimate_prior` estimates the new frequencies from scores without labels.
"""

import dataclasses
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import chdtri, expit, log_expit, logit, ndtr, softmax

from oddsmith import _check
from oddsmith._types import Floats, Label
from oddsmith.data import ScoreRows, ScoreTable
from oddsmith.errors import NoInterceptWarning
from oddsmith.maps import CalibrationMap, LogitInputMap, ScalingMap, line_map
from oddsmith.metrics import Result, checked_level
from oddsmith.model import Model, model_of

__all__ = ["PriorEstimate", "base_rates", "estimate_prior", "shift_prior", "undo_weights"]

#: Under which name the parameters of a shifted model contain its base rates.
_SHIFTED_TO = "base_rates"

#: Rates sum to 1 but for rounding.
_SUM_SLACK = 1e-6

#: Least and largest probability that is read as such from a classifier without a calibrator.
_CLIP = 1e-300

#: Excess of the largest gradient at which the likelihood of several classes counts as largest, and steps at most.
_TOLERANCE, _MOST_STEPS = 1e-9, 20_000

#: Rates at which it is tried whether they are within the interval; those below the least, or above 1 minus it, are as 0
#: and 1.
_PLACES = expit(np.linspace(-14.0, 14.0, 57))
_LEAST = 1e-9

#: Shares of a number below which others are its rounding.
_ROUNDED = 1e-12

#: Over the root of the labeled rows of a class, how near to 0 and 1 rates are at which the score statistic is taken.
_NEAREST = 2.0

Rates = float | Sequence[float] | Mapping[Any, float]


def base_rates(model: Any) -> tuple[float, ...]:
    """Return the share of each class for which a model is made: that of its fit, or of `shift_prior`.

    Parameters
    ----------
    model : Model, or fitted calibrator or scaling

    Returns
    -------
    tuple[float, ...]

    See Also
    --------
    shift_prior : Changes them.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator
    >>> base_rates(PlattCalibrator().fit([0.1, 0.4, 0.2, 0.9], [0, 0, 1, 1]))
    (0.5, 0.5)
    """
    found = model_of(model)
    shifted = found.parameters.get(_SHIFTED_TO)
    if shifted is not None:
        return tuple(float(rate) for rate in shifted)
    if found.data is None:
        must = "the base rates of the rows behind a model must be known"
        _check.fail(must, "a model without data", "pass from_rate")
    total = math.fsum(found.data.weights)
    return tuple(weight / total for weight in found.data.weights)


def shift_prior(model: Any, to_rate: Rates, from_rate: Rates | None = None) -> Model:
    """Return a model for rows with other shares of the classes than those of its fit.

    The log-odds change by logit(to) − logit(from); with several classes, the log of each probability by
    log(toᵢ/fromᵢ), after which probabilities are divided by their sum [1]_ [2]_. This is right where the scores of each
    class are distributed as before (label shift), and wrong where classes look different. The result is a model like
    any other: save, export and apply it.

    Parameters
    ----------
    model : Model, or fitted calibrator or scaling
        With segments, all of them are shifted by the same log-odds.
    to_rate : float, sequence or mapping
        The new share of the positive class; of several classes one share each, in the order of the labels or by label,
        of sum 1.
    from_rate : float, sequence or mapping, optional
        The share for which the model is calibrated; by default that of the rows of its fit, or after an earlier shift.

    Returns
    -------
    Model

    See Also
    --------
    estimate_prior : Estimates the new base rate without labels.
    undo_weights : Undoes class weights and undersampling.

    References
    ----------
    .. [1] C. Elkan, The foundations of cost-sensitive learning, IJCAI 2001, theorem 2.
    .. [2] M. Saerens, P. Latinne and C. Decaestecker, Adjusting the outputs of a classifier to new a priori
       probabilities: a simple procedure, Neural Computation 2002.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator
    >>> cal = PlattCalibrator().fit([0.1, 0.4, 0.2, 0.9], [0, 0, 1, 1])
    >>> shifted = shift_prior(cal, 0.1)
    >>> shifted.log_odds([0.3]) - cal.log_odds([0.3])
    array([-2.19722458])
    >>> base_rates(shifted)
    (0.9, 0.1)
    """
    found = model_of(model)
    new = _as_rates(to_rate, "to_rate", found.labels)
    old = np.array(base_rates(found)) if from_rate is None else _as_rates(from_rate, "from_rate", found.labels)
    if not np.all(old > 0):
        absent = found.labels[int(np.argmin(old))]
        _check.fail(
            "every class must be among the rows of the fit", f"no row of class {absent!r}", "fit to rows of all classes"
        )
    shifted = found.shifted(np.log(new) - np.log(old))
    return dataclasses.replace(shifted, parameters={**found.parameters, _SHIFTED_TO: new.tolist()})


def undo_weights(
    model: Any = None,
    *,
    scale_pos_weight: float | None = None,
    class_weight: Mapping[Any, float] | Sequence[float] | str | None = None,
    kept: float | Mapping[Any, float] | Sequence[float] | None = None,
    labels: Sequence[Label] = (0, 1),
    input: Literal["probability", "log_odds"] = "probability",
) -> Model:
    """Return a model that undoes how a classifier was trained: with weights of classes, or on a selection of rows.

    A class that counted w times in training gets the log of its probability lowered by log w. This is for scores of a
    classifier *without* a calibrator. A model that was calibrated on rows as they come has undone the weights already,
    and is refused: a second correction would be wrong.

    Parameters
    ----------
    model : Model, or fitted calibrator or scaling, optional
        One that was fitted with float weights that contain those of the classes; by default the classifier's own
        probability of the positive class, or its log-odds, is read.
    scale_pos_weight : float, optional
        Weight of the positive class, as in XGBoost and LightGBM.
    class_weight : mapping or sequence, optional
        Weight of each class, as in scikit-learn. For "balanced" use `shift_prior` with ``from_rate``.
    kept : float, mapping or sequence, optional
        The share of the rows of each class that training kept, or by which it repeated them; one number is that of the
        negative class.
    labels : sequence of two, default (0, 1)
        The labels, without a model.
    input : {"probability", "log_odds"}, default "probability"
        What the classifier's scores are, without a model.

    Returns
    -------
    Model

    See Also
    --------
    shift_prior : Gives a calibrated model for another base rate.

    References
    ----------
    C. Elkan, The foundations of cost-sensitive learning, IJCAI 2001. A. Dal Pozzolo, O. Caelen, R. Johnson and G.
    Bontempi, Calibrating probability with undersampling for unbalanced classification, SSCI 2015.

    Examples
    --------
    >>> undo_weights(scale_pos_weight=9).probability([0.5, 0.9]).round(6).tolist()
    [0.1, 0.5]
    >>> undo_weights(kept=0.25).probability([0.5]).tolist()
    [0.2]
    """
    if model is None:
        _check.one_of(input, "input", ("probability", "log_odds"))
        own: CalibrationMap = line_map(1.0)
        if input == "probability":
            own = LogitInputMap(own, _CLIP)
        found = Model("undo_weights", {}, own, tuple(labels), None)
    else:
        found = model_of(model)
        if found.data is None or not found.data.weighted:
            _check.fail(
                "scores must be uncalibrated to undo weights, which calibration on unweighted rows has undone already",
                f"{found.method} of {'unknown data' if found.data is None else 'rows without float weights'}",
                "use the model as it is, or shift_prior for another base rate",
            )
    k = len(found.labels)
    logs, given = np.zeros(k), {}
    if scale_pos_weight is not None:
        if k != 2:
            _check.fail("scale_pos_weight is for two classes", f"{k} classes", "pass class_weight")
        given["scale_pos_weight"] = [1.0, _positive(scale_pos_weight, "scale_pos_weight")]
    if isinstance(class_weight, str):
        hint = "pass the weights, or shift_prior(model, to_rate, from_rate=1/2)"
        _check.fail("class_weight must name a weight for each class", f"class_weight={class_weight!r}", hint)
    if class_weight is not None:
        given["class_weight"] = _per_class(class_weight, "class_weight", found.labels)
    if kept is not None:
        both = {found.labels[0]: kept, found.labels[1]: 1.0} if isinstance(kept, (int, float)) and k == 2 else kept
        given["kept"] = _per_class(both, "kept", found.labels)
    if not given:
        must = "one of scale_pos_weight, class_weight and kept must be given"
        _check.fail(must, "none", "pass what the training used, such as scale_pos_weight=10")
    for weights in given.values():
        logs -= np.log(weights)
    return dataclasses.replace(found.shifted(logs), parameters={**found.parameters, **given})


@dataclass(frozen=True, eq=False)
class PriorEstimate(Result):
    """Estimated shares of the classes among rows without labels; ``str`` gives them as a sentence.

    Attributes
    ----------
    labels : tuple
    rates : tuple of float
        The share of each class, of largest likelihood.
    low, high : tuple of float
        An interval for the share of each class, pointwise.
    level : float
    from_rates : tuple of float
        The shares for which the model is calibrated.
    p_no_shift : float or None
        Two-sided p-value of the hypothesis that the shares are those of the labeled rows; None with several classes.
    rows : int
        Rows without labels.
    labeled_rows : int
        Rows behind the map, whose chance the interval includes.

    See Also
    --------
    estimate_prior : Returns it.
    """

    labels: tuple[Label, ...]
    rates: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    level: float
    from_rates: tuple[float, ...]
    p_no_shift: float | None
    rows: int
    labeled_rows: int

    def __str__(self) -> str:
        if self.p_no_shift is None:
            each = zip(self.labels, self.rates, self.low, self.high, strict=True)
            shares = ", ".join(f"{label}: {rate:.4g} ({low:.4g} to {high:.4g})" for label, rate, low, high in each)
            level = f"{100 * self.level:.4g} % intervals"
            return f"Estimated shares of the classes among {self.rows:,} rows, with {level}: {shares}."
        return (
            f"Estimated share of {self.labels[1]} among {self.rows:,} rows: {self.rates[1]:.4g}, "
            f"{100 * self.level:.4g} % interval {self.low[1]:.4g} to {self.high[1]:.4g}; the model is calibrated for "
            f"{self.from_rates[1]:.4g} (p of no shift {self.p_no_shift:.2g})."
        )


def estimate_prior(
    model: Any, scores: ArrayLike, *, labeled: ScoreTable | ScoreRows | None = None, level: float = 0.95
) -> PriorEstimate:
    """Estimate the shares of the classes among rows without labels, from their scores.

    The likelihood of a mixture, Σ log(w·LR + 1 − w) with LR the odds of the model divided by those of its base rate, is
    maximized over the share w: exactly, by bisection of its derivative, which falls. With several classes the steps of
    Saerens et al. are repeated until no share can raise the likelihood; use a scaling with an intercept per class,
    without which estimates are biased [2]_ (`NoInterceptWarning`).

    The interval inverts T(w) = mean f of these rows − w·mean f of the labeled positives − (1 − w)·mean f of the
    labeled negatives, f = (LR − 1)/(1 + w(LR − 1)), with the variances of all three, and is widened to the likelihood
    set of χ² times 1 + (variance of the labeled means)/(variance of the mean of these rows). Where w is nearer to 0 or
    1 than 2/√(labeled rows of the negative or the positive class), f is that of the rate this far off. The interval
    assumes that the scores of each class are distributed as among the labeled rows. With several classes the interval
    of each is that of the class against the mixture of all others, and the numerator of f is made orthogonal to changes
    of this mixture, so that its estimate does not matter.

    Parameters
    ----------
    model : Model, or fitted calibrator or scaling
    scores : array-like of shape (n,) or (n, columns)
        Scores as in the fit, without labels.
    labeled : ScoreTable or ScoreRows, optional
        The rows of the fit, of several classes as `ScoreRows`. Without them the distributions of f in each class are
        taken from the model, and only their number from its data: right if the model is, and too short an interval if
        its map is shrunken or too simple.
    level : float, default 0.95

    Returns
    -------
    PriorEstimate

    See Also
    --------
    shift_prior : Gives a model for another base rate.

    References
    ----------
    .. [1] M. Saerens, P. Latinne and C. Decaestecker, Neural Computation 2002.
    .. [2] A. Alexandari, A. Kundaje and A. Shrikumar, Maximum likelihood with bias-corrected calibration is
       hard-to-beat at label shift adaptation, ICML 2020.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.5
    >>> cal = PlattCalibrator().fit(y + rng.normal(size=2000), y)
    >>> new = (rng.random(5000) < 0.1) + rng.normal(size=5000)
    >>> [round(rate, 3) for rate in estimate_prior(cal, new).rates]
    [0.874, 0.126]
    """
    found, level = model_of(model), checked_level(level)
    if found.by is not None:
        _check.fail("one map is used at a time", f"a model by {found.by}", "pass model.of_segment(name)")
    old = np.array(base_rates(found))
    if not np.all(old > 0):
        _check.fail("every class must be among the rows of the fit", f"base rates {old.tolist()}", "fit to all classes")
    known = tuple(old.tolist())
    if len(found.labels) > 2 or not isinstance(found.map, CalibrationMap):
        if _has_no_intercepts(found, old):
            message = f"{found.method} has no intercept per class: estimated base rates are biased. Use VectorScaling."
            warnings.warn(message, NoInterceptWarning, stacklevel=2)
        logs = found.predict_log_proba(scores) - np.log(old)
        rates, rows = _by_steps(logs)
        if labeled is None:
            behind = _rows_behind(found)
            known_rows = _ClassRows.from_model(logs, np.array(rates), behind * old)
        else:
            known_rows = _ClassRows.from_labeled(found, old, labeled)
            behind = known_rows.n_rows
        samples = (_against_rest(logs, np.array(rates), place, known_rows) for place in range(len(rates)))
        ends = [_interval(sample, rate, level) for sample, rate in zip(samples, rates, strict=True)]
        lows, highs = zip(*ends, strict=True)
        return PriorEstimate(found.labels, rates, lows, highs, level, known, None, rows, behind)
    log_ratio = np.sort(found.log_odds(scores) - logit(old[1]))
    new = _Ratios.of(log_ratio)
    rate = _likeliest(new)
    if isinstance(labeled, ScoreRows):
        _check.fail(
            "labeled of a model of one score must be a ScoreTable", f"{labeled!r}", "pass ScoreTable.from_arrays"
        )
    if labeled is None:
        classes = _weigh_unlabeled(new, log_ratio + logit(_inside(rate, len(log_ratio))), found, old)
    else:
        classes = _rows_of_classes(found.map, old, labeled)
    sample = _Sample(new, *classes)
    low, high = _interval(sample, rate, level)
    p_value = _no_shift(sample, float(old[1]))
    labeled_rows = _rows_behind(found) if labeled is None else labeled.rows
    return PriorEstimate(
        found.labels,
        (1 - rate, rate),
        (1 - high, low),
        (1 - low, high),
        level,
        known,
        p_value,
        len(log_ratio),
        labeled_rows,
    )


class _Ratios(NamedTuple):
    """Rows by what f = along/(base + w·excess) needs of them.

    Of two classes base is 1, and excess and along are LR − 1, all divided by the larger of 1 and LR.
    """

    base: Floats
    excess: Floats
    along: Floats

    @staticmethod
    def of(log_ratio: Floats) -> "_Ratios":
        larger, far = log_ratio > 0, -np.abs(log_ratio)
        excess = np.copysign(np.expm1(far), log_ratio)
        return _Ratios(np.where(larger, np.exp(far), 1.0), excess, excess)

    def influence(self, rate: float) -> Floats:
        """Return f at a rate, also where LR is 0 or infinite."""
        with np.errstate(divide="ignore"):
            return self.along / (self.base + rate * self.excess)

    def slope(self, rate: float) -> float:
        """Return the derivative of the log-likelihood of a rate."""
        return float(self.influence(rate).sum())

    def log_likelihood(self, rate: float) -> float:
        """Return the log-likelihood of a rate, but for a constant."""
        with np.errstate(divide="ignore"):
            return float(np.log(self.base + rate * self.excess).sum())


class _Labeled(NamedTuple):
    """Ratios that stand for the labeled rows of a class, their shares in it, and its number of rows."""

    ratios: _Ratios
    share: Floats
    rows: float

    def mean_and_variance(self, rate: float) -> tuple[float, float]:
        """Return the mean and the variance of f at a rate."""
        values = self.ratios.influence(rate)
        mean = float(self.share @ values)
        return mean, float(self.share @ (values - mean) ** 2)


class _Sample(NamedTuple):
    """The rows without labels, and what stands for the labeled rows of both classes."""

    new: _Ratios
    positive: _Labeled
    negative: _Labeled

    def at(self, rate: float) -> float:
        """Return the rate of which f is taken.

        Near 0 and 1 it is one farther off: means of f would depend on rows that are too rare to be among the labeled.
        """
        low, high = (min(0.5, _NEAREST / math.sqrt(side.rows)) for side in (self.negative, self.positive))
        return min(max(rate, low), 1 - high)

    def score(self, rate: float) -> tuple[float, float, float]:
        """Return T(w), the variance of the mean over the rows without labels, and that of the labeled means.

        T has mean 0 at the true rate for any f.
        """
        at = self.at(rate)
        values = self.new.influence(at)
        (m1, v1), (m0, v0) = self.positive.mean_and_variance(at), self.negative.mean_and_variance(at)
        labeled = rate**2 * v1 / self.positive.rows + (1 - rate) ** 2 * v0 / self.negative.rows
        return float(values.mean()) - rate * m1 - (1 - rate) * m0, float(values.var()) / len(values), labeled


def _rows_of_classes(fitted: CalibrationMap, old: Floats, labeled: ScoreTable) -> tuple[_Labeled, _Labeled]:
    """Return the labeled rows of each class."""
    if not (labeled.n_pos and labeled.n_neg):
        _check.fail("labeled must have rows of both classes", f"{labeled!r}", "pass the rows of the fit")
    log_ratio = fitted.log_odds(labeled.scores) - logit(old[1])
    sides = []
    for weight, squares in zip((labeled.pos, labeled.neg), labeled.squares, strict=True):
        total, kept = float(weight.sum()), weight > 0
        rows = total**2 / float(squares.sum())
        sides.append(_Labeled(_Ratios.of(log_ratio[kept]), weight[kept] / total, rows))
    return sides[0], sides[1]


def _weigh_unlabeled(new: _Ratios, log_odds: Floats, found: Model, old: Floats) -> tuple[_Labeled, _Labeled]:
    """Return unlabeled rows weighted by their probability of each class, which stand for the labeled ones."""
    rows = _rows_behind(found)
    positive, negative = (softmax(log_expit(sign * log_odds)) for sign in (1, -1))
    return _Labeled(new, positive, rows * old[1]), _Labeled(new, negative, rows * old[0])


class _ClassRows(NamedTuple):
    """What stands for the labeled rows of each of several classes.

    Attributes
    ----------
    ratios : ndarray of shape (n, k)
        As of the rows without labels.
    share : ndarray of shape (n, k)
        The share of each row in the rows of each class.
    rows : ndarray of shape (k,)
        Number of labeled rows of each class.
    n_rows : int
    """

    ratios: Floats
    share: Floats
    rows: Floats
    n_rows: int

    @staticmethod
    def from_model(logs: Floats, rates: Floats, rows: Floats) -> "_ClassRows":
        """Return the rows without labels, weighted by their probability of each class."""
        ratios = _ratios(logs)
        weighted = ratios / (ratios @ rates)[:, None]
        total = weighted.sum(axis=0)
        share = np.divide(weighted, total, out=np.full_like(weighted, 1 / len(weighted)), where=total > 0)
        return _ClassRows(ratios, share, rows, round(float(rows.sum())))

    @staticmethod
    def from_labeled(found: Model, old: Floats, labeled: ScoreTable | ScoreRows) -> "_ClassRows":
        """Return the labeled rows."""
        if not isinstance(labeled, ScoreRows) or labeled.labels != found.labels:
            must = "labeled must be the ScoreRows of the classes of the model"
            _check.fail(must, f"{labeled!r}", "pass the rows of the fit, or leave labeled out")
        weight = np.ones(labeled.n_rows) if labeled.weight is None else labeled.weight.astype(np.float64)
        weights = np.where(labeled.truth[:, None] == np.arange(len(old)), weight[:, None], 0.0)
        total = weights.sum(axis=0)
        if not np.all(total > 0):
            _check.fail("labeled must have rows of every class", f"{labeled!r}", "pass the rows of the fit")
        rows = total if labeled.kind == "count" else total**2 / (weights**2).sum(axis=0)
        ratios = _ratios(found.predict_log_proba(labeled.values) - np.log(old))
        return _ClassRows(ratios, weights / total, rows, labeled.n_rows)


def _ratios(logs: Floats) -> Floats:
    """Return P of each class divided by its base rate, and by the largest of the row."""
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def _against_rest(logs: Floats, rates: Floats, place: int, labeled: _ClassRows) -> _Sample:
    """Return the sample of one of several classes against the others in their estimated mixture.

    f is along/(density at a rate): along which shares move so that f is not correlated with any other change of the
    mixture, to first order.
    """
    ratios = _ratios(logs)
    weighted = ratios / (ratios @ rates)[:, None]
    information = weighted.T @ weighted / len(weighted)
    others = np.arange(len(rates)) != place
    n_others = int(others.sum())
    system = np.ones((n_others + 1, n_others + 1))
    system[:-1, :-1], system[-1, -1] = information[np.ix_(others, others)], 0.0
    direction = np.ones(len(rates))
    direction[others] = -np.linalg.lstsq(system, np.append(information[others, place], 1.0), rcond=None)[0][:-1]
    rest = np.where(others, np.maximum(rates, _LEAST), 0.0)
    rest /= rest.sum()

    def along(ratios: Floats) -> _Ratios:
        base = ratios @ rest
        return _Ratios(base, ratios[:, place] - base, ratios @ direction)

    known = along(labeled.ratios)
    return _Sample(
        along(ratios),
        _Labeled(known, labeled.share[:, place], float(labeled.rows[place])),
        _Labeled(known, labeled.share @ rest, float(1 / (rest**2 / labeled.rows).sum())),
    )


def _has_no_intercepts(found: Model, old: Floats) -> bool:
    """Whether equal logits keep equal probabilities, but for a shift to other base rates."""
    if not isinstance(found.map, ScalingMap) or found.data is None:
        return False
    alike = np.full((1, found.map.columns), 0.0 if found.map.input == "logits" else 1 / found.map.columns)
    moved = found.map.class_log_probability(alike)[0] - np.log(old) + np.log(np.asarray(found.data.weights))
    return bool(np.ptp(moved) <= _ROUNDED * (1 + np.abs(moved).max()))


def _rows_behind(found: Model) -> int:
    if found.data is None:
        must = "the number of rows behind a model must be known"
        _check.fail(must, "a model without data", "pass labeled, or a model that was fitted")
    return found.data.rows


def _inside(rate: float, rows: int) -> float:
    """Return a rate within 0 and 1 by half a row."""
    return min(max(rate, 0.5 / rows), 1 - 0.5 / rows)


def _likeliest(new: _Ratios) -> float:
    """Return the share of largest likelihood, by bisection of its derivative to the last double."""
    low, high = 0.0, 1.0
    if not new.slope(low) > 0:
        return low
    if not new.slope(high) < 0:
        return high
    while low < (middle := (low + high) / 2) < high:
        if new.slope(middle) > 0:
            low = middle
        else:
            high = middle
        if high - low <= 1e-12 * high:
            break
    return (low + high) / 2


def _interval(sample: _Sample, rate: float, level: float) -> tuple[float, float]:
    """Return the hull of the rates that the score statistic accepts and of the scaled likelihood set."""
    cut = float(chdtri(1, 1 - level))
    inside = _inside(rate, len(sample.new.base))
    _, unlabeled, labeled = sample.score(inside)
    scale = 1 + labeled / unlabeled if unlabeled > 0 else 1.0
    top = sample.new.log_likelihood(rate)

    def by_likelihood(w: float) -> float:
        return 2 * (top - sample.new.log_likelihood(w)) - cut * scale

    def by_score(w: float) -> float:
        difference, unlabeled, labeled = sample.score(w)
        return difference**2 / (unlabeled + labeled) - cut if unlabeled + labeled > 0 else -cut

    ends = [rate, _edge(by_likelihood, rate, _LEAST), _edge(by_likelihood, rate, 1 - _LEAST)]
    # Of what the score statistic accepts, the piece where it falls through 0 next to the estimate.
    places = [_LEAST, *_PLACES.tolist(), 1 - _LEAST]
    statistic = np.array([sample.score(place)[0] for place in places])
    falls = np.flatnonzero((statistic[:-1] >= 0) & (statistic[1:] <= 0))
    if len(falls):
        below = int(falls[np.argmin(np.abs(falls + 0.5 - np.searchsorted(places, inside)))])
        middle = float(brentq(lambda w: sample.score(w)[0], places[below], places[below + 1], xtol=1e-12))
    else:
        below, middle = (0, _LEAST) if statistic[0] < 0 else (len(places) - 2, 1 - _LEAST)
    for beyond in (places[below::-1], places[below + 1 :]) if by_score(middle) <= 0 else ():
        kept = middle
        for place in beyond:
            if by_score(place) > 0:
                break
            kept = place
        ends.append(_edge(by_score, kept, place))
    low, high = min(ends), max(ends)
    return 0.0 if low <= _LEAST else low, 1.0 if high >= 1 - _LEAST else high


def _edge(excess: Callable[[float], float], kept: float, left: float) -> float:
    """Return where a rate is no longer accepted, between one that is and one that may not be."""
    if kept == left or excess(left) <= 0:
        return left
    return float(brentq(excess, kept, left, xtol=1e-12)) if excess(kept) < 0 else kept


def _no_shift(sample: _Sample, old: float) -> float:
    """Return the p-value of the difference in mean probability between rows without labels and labeled rows.

    At the old rate f is the probability but for a constant; the share of labeled positives is random, too.
    """
    difference, unlabeled, labeled = sample.score(old)
    at = sample.at(old)
    (m1, v1), (m0, v0) = (side.mean_and_variance(at) for side in (sample.positive, sample.negative))
    new, known = len(sample.new.base), sample.positive.rows + sample.negative.rows
    # Without a shift the variance of the new rows is that of the labeled ones, and few new rows do not show their own.
    between = old * (1 - old) * (m1 - m0) ** 2
    pooled = (new * (new * unlabeled) + known * (old * v1 + (1 - old) * v0 + between)) / (new + known)
    error = math.sqrt(pooled / new + labeled + between / known)
    # Where all scores are as good as equal, nothing is known.
    return float(2 * ndtr(-abs(difference) / error)) if error > _ROUNDED * max(abs(m1), abs(m0)) else 1.0


def _by_steps(logs: Floats) -> tuple[tuple[float, ...], int]:
    """Return the shares of largest likelihood, given logs of P(class)/base rate of each row."""
    rows, k = logs.shape
    # Only differences within a row matter: the largest of each becomes 1.
    ratio = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares = np.full(k, 1 / k)
    for _ in range(_MOST_STEPS):
        gradient = (ratio / (ratio @ shares)[:, None]).mean(axis=0)
        # The likelihood per row is below its maximum by at most the log of the largest derivative.
        if gradient.max() <= 1 + _TOLERANCE:
            break
        shares = shares * gradient
        shares /= shares.sum()
    return tuple(shares.tolist()), rows


def _as_rates(rates: Rates, name: str, labels: tuple[Label, ...]) -> Floats:
    """Return the share of each class, all above 0 and of sum 1."""
    if isinstance(rates, (int, float, np.integer, np.floating)):
        if len(labels) != 2:
            _check.fail(f"{name} must have one share per class", f"{name}={rates!r}", "pass a sequence, or by label")
        rate = _check.number(rates, name, low=0, strict=True)
        if rate >= 1:
            _check.fail(f"{name} must be below 1", f"{name}={rates!r}", f"pass a share such as {name}=0.02")
        return np.array([1 - rate, rate])
    found = np.array(_per_class(rates, name, labels))
    if abs(found.sum() - 1) > _SUM_SLACK:
        _check.fail(f"{name} must sum to 1", f"{found.sum():.6g}", "pass the share of each class")
    return np.asarray(found / found.sum())


def _per_class(values: Any, name: str, labels: tuple[Label, ...]) -> list[float]:
    """Return one positive number per class, given in the order of the labels or by label."""
    if isinstance(values, Mapping):
        by_name = {str(key): value for key, value in values.items()}
        wanted = [str(label) for label in labels]
        if by_name.keys() != set(wanted):
            hint = "pass one number for each label"
            _check.fail(f"{name} must name the classes {', '.join(wanted)}", ", ".join(by_name) or "none", hint)
        values = [by_name[label] for label in wanted]
    listed = list(np.atleast_1d(values)) if not isinstance(values, (int, float)) else [values]
    if len(listed) != len(labels):
        _check.fail(
            f"{name} must have {len(labels)} values", f"{len(listed)}", "pass one per class, in order of labels"
        )
    return [_positive(value, name) for value in listed]


def _positive(value: Any, name: str) -> float:
    return _check.number(value, name, low=0, strict=True)
