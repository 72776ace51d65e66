"""Class-conditional fits: a density for each class, turned into log-odds by Bayes' rule."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from oddsmith import _check
from oddsmith._docstrings import insert_shared
from oddsmith._types import Floats
from oddsmith.calibrators._base import Calibrator, Fitted, Note, add_one_prior
from oddsmith.calibrators._bayes import bayes_map, hold_ends
from oddsmith.calibrators._families import FAMILIES, Density, ModeSearch, ScaleLimits, gaussian_with, moments
from oddsmith.calibrators._mode import ClassScores
from oddsmith.calibrators._selection import Selected
from oddsmith.calibrators._within_cells import divide
from oddsmith.data import Sample, ScoreTable, binary_scale
from oddsmith.errors import NegativeSlopeWarning, SpikeWarning
from oddsmith.maps import PolynomialMap, constant_map, line_map, logit

#: What families with a searched mode choose.
_MODES = (Selected("positive_.theta", "mode of the positives"), Selected("negative_.theta", "mode of the negatives"))


@dataclass(eq=False, repr=False)
class _BayesCalibrator(Calibrator):
    """Fit p(s|+) and p(s|−) and invert: L = log p(s|+) − log p(s|−) + log π₊/π₋.

    Parameters
    ----------
    prior : {"add-one", "frequency"}, default "add-one"
        π₊ = (N₊ + 1)/(N + 2), or N₊/N.
    epsilon, inf : float, optional
        Continuity constants for scales and rates that degenerate; by default 1e−6 and 1e6 relative to the range of the
        scores.
    min_side : float, default 0
        Least weight on each side of a searched mode, a share of the class if below 1.
    pos_label, input, clip
        As for every calibrator.
    """

    prior: Literal["add-one", "frequency"] = field(default="add-one", kw_only=True)
    epsilon: float | None = field(default=None, kw_only=True)
    inf: float | None = field(default=None, kw_only=True)
    min_side: float = field(default=0, kw_only=True)

    positive_: Density = field(init=False)
    negative_: Density = field(init=False)
    prior_positive_: float = field(init=False)

    #: Of both classes, where they are not chosen one by one.
    _family: ClassVar[str] = "gaussian"
    _when_separable: ClassVar[str] = "the densities hardly overlap, so P is close to 0 or 1 nearly everywhere"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__doc__ = insert_shared(cls.__doc__, _BayesCalibrator.__doc__, "As for every density calibrator.")

    def class_densities(self, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Return the fitted densities p(s|+) and p(s|−).

        Parameters
        ----------
        scores : array-like of shape (n,)
            Where to evaluate, on the scale of ``positive_.parameters``: with ``input="probability"`` log-odds.

        Returns
        -------
        tuple[ndarray, ndarray]

        Examples
        --------
        >>> from oddsmith import LaplaceCalibrator
        >>> cal = LaplaceCalibrator().fit([-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1])
        >>> cal.class_densities([1.5])[0]  # 1/(2b) at the mode
        array([0.5])
        """
        check_is_fitted(self, "map_")
        if not hasattr(self, "positive_"):
            _check.fail(
                "densities need both classes and two distinct scores",
                "a constant fit",
                "see fit_warnings_, and collect more rows",
            )
        at = _check.as_scores(scores)
        return _evaluate(self.positive_, at, self._scale), _evaluate(self.negative_, at, self._scale)

    def _families(self) -> tuple[str, str]:
        """Name the families of the positive and the negative class."""
        return self._family, self._family

    def _subdivisions(self) -> int:
        subdivisions: int = getattr(self, "subdivisions", 1)
        return subdivisions

    def _check_parameters(self) -> None:
        _check.one_of(self.prior, "prior", ("add-one", "frequency"))
        for name in ("epsilon", "inf"):
            if getattr(self, name) is not None:
                _check.number(getattr(self, name), name, low=0, strict=True)
        _check.number(self.min_side, "min_side", low=0)
        _check.whole_number(self._subdivisions(), "subdivisions", low=1)
        for family, side in zip(self._families(), ("positive", "negative"), strict=True):
            _check.one_of(family, side, tuple(FAMILIES))

    def _prior(self, data: Sample) -> float:
        return add_one_prior(data) if self.prior == "add-one" else data.n_pos / (data.n_pos + data.n_neg)

    def _constant(self, data: Sample) -> Fitted:
        return Fitted(constant_map(float(logit(np.array(self._prior(data))))))

    def _log_prior_ratio(self, data: Sample) -> float:
        """Return log π₊/π₋, finite however rare a class is."""
        added = 1 if self.prior == "add-one" else 0
        return math.log(data.n_pos + added) - math.log(data.n_neg + added)

    def _samples(self, data: Sample) -> tuple[ClassScores, ClassScores, ScaleLimits]:
        """Return both classes on one standardized scale, and the continuity constants on it."""
        low, high = data.span()
        scale = binary_scale(low, high)
        span = high / scale - low / scale
        pos = ClassScores(*data.of_class(True), scale, float(data.n_pos))
        neg = ClassScores(*data.of_class(False), scale, float(data.n_neg))
        limits = (
            1e-6 / span if self.epsilon is None else self.epsilon * scale,
            1e6 / span if self.inf is None else self.inf * scale,
            1e-6 * span if self.epsilon is None else self.epsilon / scale,
            1e6 * span if self.inf is None else self.inf / scale,
        )
        # Absolute constants may be absurd for the scores at hand; their squares must stay finite all the same.
        return pos, neg, ScaleLimits(*(min(max(limit, 1e-100), 1e100) for limit in limits))

    def _fit(self, data: Sample) -> Fitted:
        positive, negative, scale = self._densities(data)
        if isinstance(data, ScoreTable) and data.grid is not None and set(self._families()) != {"gaussian"}:
            # Medians and modes lie somewhere within the cells where the first fit has put them.
            data_within = divide(data, np.array([positive.theta, negative.theta]))
            positive, negative, scale = self._densities(data_within)
        notes: list[Note] = []
        for name, density in (("positive", positive), ("negative", negative)):
            if density.spike:
                message = (
                    f"The mode of the {name} class is at its edge ({density.theta:g}): the density is a spike there "
                    "and P is nearly 0 or 1 beyond it. min_side keeps modes away from the edges."
                )
                notes.append((SpikeWarning, message))
        fitted = bayes_map(positive, negative, self._log_prior_ratio(data), scale)
        return Fitted(fitted, self._attributes(positive, negative, scale, data), notes)

    def _attributes(self, positive: Density, negative: Density, scale: float, data: Sample) -> dict[str, Any]:
        prior = self._prior(data)
        return {"positive_": positive, "negative_": negative, "_scale": scale, "prior_positive_": prior}

    def _densities(self, data: Sample) -> tuple[Density, Density, float]:
        """Return the density of each class, and the scale on which they were fitted."""
        pos, neg, limits = self._samples(data)
        of_pos, of_neg = (FAMILIES[name] for name in self._families())
        search = ModeSearch(self._subdivisions(), self.min_side, inner_left=True)
        return of_pos(pos, limits, search), of_neg(neg, limits, search._replace(inner_left=False)), pos.scale


def _evaluate(density: Density, scores: Floats, scale: float) -> Floats:
    with np.errstate(over="ignore"):
        distance = scores / scale - density.theta / scale
        rate, curve = np.where(distance[:, None] <= 0, density.left, density.right).T
        return np.asarray(np.exp(density.peak - (rate + curve * np.abs(distance)) * np.abs(distance)) / scale)


@dataclass(eq=False, repr=False)
class DensityCalibrator(_BayesCalibrator):
    """Fit any pair of class-conditional densities, one family for each class.

    The named density calibrators are its special cases. Use it when the histograms of the two classes differ in kind,
    for instance exponential for one and Gaussian for the other.

    Parameters
    ----------
    positive, negative : {"asymmetric_gaussian", "asymmetric_laplace", "exponential", "gaussian", "hybrid", "laplace"}
        Families. "exponential" is one-sided, with its mode at the likelier end of the class.
    subdivisions : int, default 10
        Each gap between scores is divided by this many when a mode is searched; 1 searches the scores only.
    prior, epsilon, inf, min_side, pos_label, input, clip, keep_band
        As for every density calibrator.

    Attributes
    ----------
    positive_, negative_ : Density
        Fitted densities, with ``parameters`` and ``log_likelihood`` on the scale of the scores.
    prior_positive_ : float

    See Also
    --------
    GaussianCalibrator : Normal densities.
    AsymmetricLaplaceCalibrator : Densities with two different sides.

    Notes
    -----
    L(s) = log p(s|+) − log p(s|−) + log π₊/π₋, computed in logs only.

    References
    ----------
    P. Bennett, Using asymmetric distributions to improve text classifier probability estimates, SIGIR 2003.

    Examples
    --------
    >>> from oddsmith import DensityCalibrator
    >>> scores, y = [-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1]
    >>> cal = DensityCalibrator("exponential", "gaussian").fit(scores, y)
    >>> cal.positive_.parameters["theta"]
    0.0
    """

    positive: str = "gaussian"
    negative: str = "gaussian"
    subdivisions: int = 10

    _selects: ClassVar[tuple[Selected, ...]] = _MODES

    def _families(self) -> tuple[str, str]:
        return self.positive, self.negative


@dataclass(eq=False, repr=False)
class GaussianCalibrator(_BayesCalibrator):
    """Fit a Gaussian to each class.

    Closed form, but the log-odds are a parabola that turns back wherever the two variances differ; with ``tied`` they
    are a line. Rarely right for margins or log-odds of real classifiers, whose tails are not Gaussian.

    Parameters
    ----------
    tied : bool, default False
        One pooled variance for both classes, divided by N.
    bias : {"bayes", "zero"}, default "bayes"
        Of a tied fit: the bias from Bayes' rule, or P = ½ at score 0.
    prior : {"add-one", "frequency"}, default "add-one"
    epsilon, inf : float, optional
        Least and greatest standard deviation; by default 1e−6 and 1e6 times the range of the scores.
    min_side : float
        Without effect: a Gaussian has no searched mode.
    pos_label, input, clip
        As for every calibrator.

    Attributes
    ----------
    positive_, negative_ : Density
        With ``parameters`` mu and sigma, the same sigma for a tied fit.
    a_, b_, variance_ : float
        Slope, intercept and pooled variance of a tied fit.

    See Also
    --------
    AsymmetricGaussianCalibrator : A different spread on each side.
    LogisticCalibrator : The line of equal variances, fitted directly.

    Notes
    -----
    Untied: P = 1/(1 + exp(as² + bs + c)) with a = ½(1/σ₊² − 1/σ₋²). Tied: L = a(s − (m₊ + m₋)/2) + log π₊/π₋,
    a = (m₊ − m₋)/v.

    References
    ----------
    P. Bennett, SIGIR 2003; T. Hastie and R. Tibshirani, Classification by pairwise coupling, 1998; J. Platt, 1999.

    Examples
    --------
    >>> from oddsmith import GaussianCalibrator
    >>> scores, y = [-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1]
    >>> cal = GaussianCalibrator().fit(scores, y)
    >>> cal.positive_.parameters["mu"]
    1.5
    """

    tied: bool = False
    bias: Literal["bayes", "zero"] = "bayes"

    variance_: float = field(init=False)
    a_: float = field(init=False)
    b_: float = field(init=False)

    _needs_order: ClassVar[bool] = False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check.one_of(self.tied, "tied", (True, False))
        _check.one_of(self.bias, "bias", ("bayes", "zero"))
        if self.bias == "zero" and not self.tied:
            _check.fail("bias='zero' must come with tied=True", "tied=False", "pass tied=True")

    def _fit(self, data: Sample) -> Fitted:
        return self._fit_tied(data) if self.tied else super()._fit(data)

    def _fit_tied(self, data: Sample) -> Fitted:
        pos, neg, limits = self._samples(data)
        (mean_pos, var_pos), (mean_neg, var_neg) = moments(pos), moments(neg)
        pooled = (pos.n * var_pos + neg.n * var_neg) / (pos.n + neg.n)
        variance = min(max(pooled, limits.sigma_low**2), limits.sigma_high**2)
        slope = (mean_pos / pos.scale - mean_neg / pos.scale) / variance
        positive = gaussian_with(pos, mean_pos, var_pos, math.sqrt(variance))
        negative = gaussian_with(neg, mean_neg, var_neg, math.sqrt(variance))
        if self.bias == "zero":
            origin, level = 0.0, 0.0
        else:
            origin = mean_pos / 2 + mean_neg / 2
            level = self._log_prior_ratio(data)
        a = slope / pos.scale
        attributes = {
            **self._attributes(positive, negative, pos.scale, data),
            "variance_": variance * pos.scale * pos.scale,
            "a_": a,
            "b_": level - slope * (origin / pos.scale),
        }
        message = f"The fitted slope is negative (a = {a:.4g}): P falls as s rises."
        notes = [(NegativeSlopeWarning, message)] if slope < 0 else []
        return Fitted(line_map(slope, level, origin, pos.scale), attributes, notes)


@dataclass(eq=False, repr=False)
class LaplaceCalibrator(_BayesCalibrator):
    """Fit a Laplace density to each class: median and mean absolute deviation.

    Heavier tails than a Gaussian, but symmetric: the log-odds turn back on one side unless both scales are equal.

    Parameters
    ----------
    prior, epsilon, inf, min_side, pos_label, input, clip, keep_band
        As for every density calibrator.

    Attributes
    ----------
    positive_, negative_ : Density
        With ``parameters`` theta and b.

    See Also
    --------
    AsymmetricLaplaceCalibrator : A different scale on each side.

    Notes
    -----
    p(x) = exp(−|x − θ|/b)/(2b). Of an even number of cases the midpoint of the middle interval is taken.

    References
    ----------
    P. Bennett, SIGIR 2003.

    Examples
    --------
    >>> from oddsmith import LaplaceCalibrator
    >>> cal = LaplaceCalibrator().fit([-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1])
    >>> cal.positive_.parameters
    {'theta': 1.5, 'b': 1.0}
    """

    _family: ClassVar[str] = "laplace"


@dataclass(eq=False, repr=False)
class AsymmetricLaplaceCalibrator(_BayesCalibrator):
    """Fit an asymmetric Laplace density to each class: a mode, and a different tail on each side.

    The easy outer cases and the hard inner ones get their own scales; Bennett's method of choice for text classifiers.
    With few cases the mode tends to sit at the edge of a class, with P close to 0 or 1 beyond it (`SpikeWarning`;
    ``min_side`` prevents it).

    Parameters
    ----------
    subdivisions : int, default 1
        Candidates for the mode: the scores only (the optimum is always at one), or each gap divided by this many.
    prior, epsilon, inf, min_side, pos_label, input, clip, keep_band
        As for every density calibrator.

    Attributes
    ----------
    positive_, negative_ : Density
        With ``parameters`` theta, beta (rate left of the mode) and gamma (right).

    See Also
    --------
    HybridCalibrator : Gaussian outer sides.
    DensityCalibrator : A family of densities of your choice.

    Notes
    -----
    p(x) = βγ/(β + γ)·exp(−β(θ − x)) for x ≤ θ, ·exp(−γ(x − θ)) for x > θ. Given θ, with sums of absolute deviations
    D_l and D_r: β = N/(D_l + √(D_l D_r)), γ = N/(D_r + √(D_l D_r)); θ minimizes √D_l + √D_r, ties to the smallest. A
    side without deviation gets the rate ``inf``.

    References
    ----------
    P. Bennett, SIGIR 2003; J. Zhang and Y. Yang, ICML 2004.

    Examples
    --------
    >>> from oddsmith import AsymmetricLaplaceCalibrator
    >>> scores = [-3.0, -2.2, -1.5, -1.0, -0.6, 0.3, -0.8, 0.4, 1.0, 1.3, 2.0, 3.5]
    >>> cal = AsymmetricLaplaceCalibrator(min_side=2).fit(scores, [0] * 6 + [1] * 6)
    >>> cal.positive_.parameters["theta"], cal.negative_.parameters["theta"]
    (1.0, -1.0)
    """

    subdivisions: int = 1

    _selects: ClassVar[tuple[Selected, ...]] = _MODES
    _family: ClassVar[str] = "asymmetric_laplace"

    def _fit(self, data: Sample) -> Fitted:
        found = super()._fit(data)
        message = "The fitted log-odds fall beyond a mode: the other class has the longer tail."
        falls = [] if found.map.is_monotone else [(NegativeSlopeWarning, message)]
        return found._replace(notes=[*found.notes, *falls])


@dataclass(eq=False, repr=False)
class AsymmetricGaussianCalibrator(_BayesCalibrator):
    """Fit an asymmetric Gaussian density to each class: a mode, and a different spread on each side.

    Places modes better than a Gaussian, but its tails die so fast that single outliers decide the log-loss.

    Parameters
    ----------
    subdivisions : int, default 10
        Each gap between scores is divided by this many in the search for the mode.
    prior, epsilon, inf, min_side, pos_label, input, clip, keep_band
        As for every density calibrator.

    Attributes
    ----------
    positive_, negative_ : Density
        With ``parameters`` theta, sigma_l and sigma_r.

    See Also
    --------
    AsymmetricLaplaceCalibrator : Exponential instead of Gaussian sides.
    HybridCalibrator : Exponential between the modes only.

    Notes
    -----
    p(x) = 2/(√(2π)(σ_l + σ_r))·exp(−(x − θ)²/(2σ²)), σ = σ_l for x ≤ θ and σ_r for x > θ. Given θ:
    σ_l² = a²(a + b)/N, σ_r² = b²(a + b)/N with a = ∛D_l2, b = ∛D_r2; θ minimizes a + b, ties to the smallest.

    References
    ----------
    P. Bennett, SIGIR 2003.

    Examples
    --------
    >>> from oddsmith import AsymmetricGaussianCalibrator
    >>> scores = [-3.0, -2.2, -1.5, -1.0, -0.6, 0.3, -0.8, 0.4, 1.0, 1.3, 2.0, 3.5]
    >>> cal = AsymmetricGaussianCalibrator(min_side=2).fit(scores, [0] * 6 + [1] * 6)
    >>> round(cal.positive_.parameters["theta"], 3)
    0.94
    """

    subdivisions: int = 10

    _selects: ClassVar[tuple[Selected, ...]] = _MODES
    _family: ClassVar[str] = "asymmetric_gaussian"


@dataclass(eq=False, repr=False)
class HybridCalibrator(_BayesCalibrator):
    """Fit densities that are exponential towards the other class and Gaussian on the outer side.

    Bennett's proposal for future work. The Gaussian outer tail dies faster than the other class's exponential, so the
    log-odds turn back far out; ``hold`` keeps them constant from there.

    Parameters
    ----------
    subdivisions : int, default 10
        Each gap between scores is divided by this many in the search for the mode.
    hold : bool, default False
        Keep the log-odds constant beyond their outer turning points.
    prior, epsilon, inf, min_side, pos_label, input, clip, keep_band
        As for every density calibrator.

    Attributes
    ----------
    positive_, negative_ : Density
        With ``parameters`` theta, beta (inner rate) and sigma (outer spread).

    See Also
    --------
    AsymmetricLaplaceCalibrator : Exponential sides.
    AsymmetricGaussianCalibrator : Gaussian sides.

    Notes
    -----
    p(x) = T⁻¹ exp(−|x − θ|/u) on the inner side, T⁻¹ exp(−(x − θ)²/(2σ²)) on the outer side, T = u + √(π/2) σ. Given θ,
    w = T^(1/6) is the positive root of w⁴ − Aw − B with A = √(D₁/N), B = (π/2)^(1/3) (D₂/N)^(1/3).

    References
    ----------
    P. Bennett, SIGIR 2003, future work.

    Examples
    --------
    >>> from oddsmith import HybridCalibrator
    >>> scores = [-3.0, -2.2, -1.5, -1.0, -0.6, 0.3, -0.8, 0.4, 1.0, 1.3, 2.0, 3.5]
    >>> cal = HybridCalibrator(min_side=2).fit(scores, [0] * 6 + [1] * 6)
    >>> round(cal.positive_.parameters["theta"], 3)
    0.4
    """

    subdivisions: int = 10
    hold: bool = False

    _selects: ClassVar[tuple[Selected, ...]] = _MODES
    _family: ClassVar[str] = "hybrid"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check.one_of(self.hold, "hold", (True, False))

    def _fit(self, data: Sample) -> Fitted:
        found = super()._fit(data)
        assert isinstance(found.map, PolynomialMap)
        return found._replace(map=hold_ends(found.map)) if self.hold else found
