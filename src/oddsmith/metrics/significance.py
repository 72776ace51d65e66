"""Tests of which of two methods is better, decision by decision.

Values are gains: larger is better. An integer weight says how many decisions a pair of values stands for, a float
weight how much one decision counts.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, ndtr, stdtr

from oddsmith import _check
from oddsmith._types import Bools, Floats, Ints, Weights
from oddsmith.metrics.result import Result

#: Gains that differ by less than this share of their size are tied.
_TIE = 1e-12

#: Up to so many decisions the incomplete beta function is the more exact.
_BY_BETA = 10**8


class Decisions(NamedTuple):
    """How much each decision counts; of several decisions in one, the sum and the sum of squares."""

    weight: Weights
    squares: Weights

    @classmethod
    def of(cls, weight: ArrayLike | None, n: int) -> Self:
        """Read weights: integers are counts, floats importance."""
        read = _check.as_weights(weight, n)
        if read is None:
            read = np.ones(n, np.int64)
        return cls(read, read if read.dtype.kind == "i" else read**2)

    def at(self, rows: Bools) -> Self:
        """Return some of the decisions."""
        return type(self)(self.weight[rows], self.squares[rows])

    @property
    def counted(self) -> bool:
        """Whether weights are counts of decisions, rather than floats."""
        return self.weight.dtype.kind == "i"

    @property
    def counts(self) -> Ints:
        """How many decisions each stands for, which float weights do not tell."""
        if not self.counted:
            _check.fail(
                "a test on decisions needs counts",
                "float weights, which do not show the number of decisions",
                'pass integer-typed weights, or use t-tests (test="t")',
            )
        return self.weight.astype(np.int64)

    @property
    def effective(self) -> Floats:
        """Decisions of equal weight that would vary as much."""
        return ratio(self.weight, self.squares) * self.weight

    @property
    def n_effective(self) -> float:
        """How many decisions of equal weight would vary as much as all of these."""
        total = float(self.weight.sum(dtype=np.float64))
        return total / (float(self.squares.sum(dtype=np.float64)) / total)


@dataclass(frozen=True)
class SignTest(Result):
    """Wins and losses of the first method, ties dropped, with p-values.

    Parameters
    ----------
    wins : int
        Decisions on which the first method is better.
    losses : int
        Decisions on which it is worse.
    ties : int
        Decisions on which both are equal.
    p_value : float
        Two-sided.
    p_one_sided : float
        Against the alternative that the first method is better.

    See Also
    --------
    sign_test : Returns it.
    """

    wins: int
    losses: int
    ties: int
    p_value: float
    p_one_sided: float


def sign_test(wins: int, losses: int, ties: int = 0) -> SignTest:
    """Test wins against losses by the exact binomial test, for any number of decisions; ties are dropped.

    Parameters
    ----------
    wins, losses, ties : int
        How often the first method did better, worse, and equally well.

    Returns
    -------
    SignTest
        The counts, with a two-sided and a one-sided p-value.

    See Also
    --------
    mcnemar_test : Of right and wrong decisions.
    paired_t_test : Of means.

    Notes
    -----
    p = 2·P(Bin(w + l, ½) ≤ min(w, l)), or 1 where w = l; one-sided P(Bin(w + l, ½) ≥ w).

    Examples
    --------
    >>> round(sign_test(15, 5).p_value, 8)
    0.04138947
    """
    w, lost = _check.whole_number(wins, "wins", low=0), _check.whole_number(losses, "losses", low=0)
    # Beyond one half both tails overlap. At w + l = 0 nothing was observed, and the law gives 1.
    two_sided = _at_most_one(2 * fair_tail(min(w, lost), w + lost)) if w != lost else 1.0
    return SignTest(w, lost, _check.whole_number(ties, "ties", low=0), two_sided, fair_tail(lost, w + lost))


def fair_tail(k: int, n: int) -> float:
    """Return P(Bin(n, ½) ≤ k), to 11 digits at any n.

    Up to 10⁸ by the incomplete beta function, above that by Lugannani and Rice's expansion of the tail: with
    u = (n − 2k − 1)/√n and r² = n[(1 + d)log(1 + d) + (1 − d)log(1 − d)], d = u/√n, it is Φ(−r) + φ(r)(1/u − 1/r).

    Examples
    --------
    >>> fair_tail(1, 3), round(fair_tail(5 * 10**29 - 10**15, 10**30), 12)
    (0.5, 0.022750131948)
    """
    if k == n:
        return 1.0
    if n <= _BY_BETA:
        return float(betainc(n - k, k + 1, 0.5))
    # Far enough in series of d: where it is not small, the tail is below the smallest number.
    d = (n - 2 * k - 1) / n
    u, curve = d * math.sqrt(n), d * d * (1 / 6 + d * d / 15)
    ratio_of_r = math.sqrt(1 + curve)
    density = math.exp(-0.5 * (u * ratio_of_r) ** 2) / math.sqrt(2 * math.pi)
    # 1/u − 1/r, without the division by 0 in the middle.
    excess = u / n * (1 / 6 + d * d / 15) / (ratio_of_r * (1 + ratio_of_r))
    return float(ndtr(-u * ratio_of_r)) + density * excess


def micro_sign_test(a: ArrayLike, b: ArrayLike, sample_weight: ArrayLike | None = None) -> SignTest:
    """Count over all decisions how often the gain ``a`` beats ``b``, and test it.

    Log-loss and squared error give one and the same test, since both are monotone in y·L: pass y·L, or log P of the
    true class. Gains within 1e−12·max(1, |a|, |b|) are tied, and so are equal infinities.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The gains of two methods on the same decisions; larger is better.
    sample_weight : array-like of shape (n,), optional
        How many decisions each pair stands for, as integers.

    Returns
    -------
    SignTest
        Wins, losses and ties of a, with p-values.

    See Also
    --------
    sign_test : For one set of decisions.

    References
    ----------
    Y. Yang and X. Liu, A re-examination of text categorization methods, SIGIR 1999.

    Examples
    --------
    >>> result = micro_sign_test([-0.1, -0.5, -0.2], [-0.3, -0.5, -0.6])
    >>> result.wins, result.losses, result.ties
    (2, 0, 1)
    """
    first, second = read_pair(a, b)
    counts = Decisions.of(sample_weight, len(first)).counts
    return sign_test(*(int(amount) for amount in tally(first, second, counts)))


def mcnemar_test(right_a: ArrayLike, right_b: ArrayLike, sample_weight: ArrayLike | None = None) -> SignTest:
    """Test two methods' error rates by the decisions that only one of them got right: exact McNemar.

    Parameters
    ----------
    right_a, right_b : array-like of bool, shape (n,)
        Whether each method's decision was right.
    sample_weight : array-like of shape (n,), optional
        How many decisions each pair stands for, as integers.

    Returns
    -------
    SignTest
        Decisions that only the first, or only the second, got right, with p-values.

    See Also
    --------
    sign_test : Of gains instead of right and wrong.

    Examples
    --------
    >>> mcnemar_test([True, True, True], [True, False, False]).p_value
    0.5
    """
    return micro_sign_test(np.asarray(right_a, dtype=np.float64), np.asarray(right_b, dtype=np.float64), sample_weight)


@dataclass(frozen=True)
class PairedTTest(Result):
    """Mean difference of gains with Student's t.

    Parameters
    ----------
    mean_difference : float
        Mean gain of the first method over the second.
    t : float
        The mean over its standard error.
    df : float
        Degrees of freedom.
    p_value : float
        Two-sided.

    See Also
    --------
    paired_t_test : Returns it.
    """

    mean_difference: float
    t: float
    df: float
    p_value: float


def paired_t_test(a: ArrayLike, b: ArrayLike, sample_weight: ArrayLike | None = None) -> PairedTTest:
    """Test the mean difference of gains, two-sided.

    With a gain of −inf the test is undefined: the method that alone has one is called worse, at p = 0; if both have
    one, p = 1.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The gains of two methods on the same decisions; larger is better.
    sample_weight : array-like of shape (n,), optional
        Integers: how many decisions each pair stands for. Floats: how much each counts.

    Returns
    -------
    PairedTTest
        The mean of a − b, with t, its degrees of freedom and the p-value.

    See Also
    --------
    paired_bootstrap : For few or dependent decisions.
    compare : All pairs of methods.

    Notes
    -----
    With float weights the variance of the mean is Σw²(d − d̄)²/(Σw)² · n/(n − 1), and n = (Σw)²/Σw².

    Examples
    --------
    >>> paired_t_test([1.0, 2.0, 4.0], [0.0, 1.0, 1.0]).p_value.__round__(4)
    0.1296
    """
    first, second = read_pair(a, b)
    decisions = Decisions.of(sample_weight, len(first))
    held = decisions.weight > 0
    return t_test(first[held], second[held], decisions.at(held))


def t_test(first: Floats, second: Floats, decisions: Decisions) -> PairedTTest:
    """Test the mean difference of gains over decisions that were read before."""
    lost_a, lost_b = bool(np.isneginf(first).any()), bool(np.isneginf(second).any())
    if lost_a or lost_b:
        sign, df = float(lost_b) - float(lost_a), decisions.n_effective - 1
        return PairedTTest(sign * math.inf if sign else 0.0, sign * math.inf if sign else 0.0, df, float(sign == 0))
    mean, spread, n = mean_and_error(first - second, decisions)
    if n < 1 + 1e-9:
        return PairedTTest(mean, 0.0, n - 1, 1.0)
    if spread <= 1e-15 * abs(mean):
        return PairedTTest(mean, math.copysign(math.inf, mean) if mean else 0.0, n - 1, float(mean == 0))
    t = mean / spread
    return PairedTTest(mean, t, n - 1, _at_most_one(2 * float(stdtr(n - 1, -abs(t)))))


def _at_most_one(p_value: float) -> float:
    """Return a p-value that rounding may have taken above 1; NaN stays NaN."""
    return 1.0 if p_value > 1 else p_value


def mean_and_error(values: Floats, decisions: Decisions) -> tuple[float, float, float]:
    """Return the mean, its standard error, and how many decisions of equal weight would vary as much.

    Of a single decision the error is infinite.
    """
    n = decisions.n_effective
    total = float(decisions.weight.sum(dtype=np.float64))
    mean = float(decisions.weight @ values) / total
    if n < 1 + 1e-9:
        return mean, math.inf, n
    gaps = values - mean
    scale = power_of_two(gaps)
    return mean, math.sqrt(float(decisions.squares @ (gaps / scale) ** 2) * n / (n - 1)) / total * scale, n


def power_of_two(values: Floats) -> float:
    """Return the size of the largest value as a power of 2: divided by it, squares do not overflow, nor digits change.

    Examples
    --------
    >>> power_of_two(np.array([0.1, -5.0]))
    4.0
    """
    return math.ldexp(1.0, int(np.frexp(np.abs(values).max())[1]) - 1)


def holm(p_values: ArrayLike) -> Floats:
    """Return p-values corrected for their number, so that the level applies to all of them together.

    Parameters
    ----------
    p_values : array-like
        p-values of several tests.

    Returns
    -------
    ndarray

    See Also
    --------
    compare : Corrects its p-values so.

    References
    ----------
    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _check.as_array(p_values, "p_values", (1,), unit=True)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    result = np.empty(len(p))
    result[order] = np.minimum(stepped, 1.0)
    return result


def holm_of_known(p_values: Floats) -> Floats:
    """Correct p-values for the number of those that are known; NaN stays NaN."""
    corrected, known = np.full(len(p_values), np.nan), ~np.isnan(p_values)
    if known.any():
        corrected[known] = holm(p_values[known])
    return corrected


def tally(a: Floats, b: Floats, weight: Weights) -> tuple[float, float, float]:
    """Return the weight of decisions that the first method wins, loses and ties."""
    signs = signs_of(a, b)
    wins, losses, ties = (_check.weight_sum(weight[signs == sign]) for sign in (1, -1, 0))
    return wins, losses, ties


def read_pair(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """Read the gains of two methods on the same decisions."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        _check.fail(
            "a and b must have one gain per decision", f"shapes {first.shape} and {second.shape}", "pair the decisions"
        )
    if np.isnan(first).any() or np.isnan(second).any():
        _check.fail("gains must not be NaN", "NaN", "drop or repair those decisions")
    return first, second


def signs_of(a: Floats, b: Floats) -> Ints:
    """Return 1 where the first gain is larger, −1 where it is smaller, 0 where they are tied."""
    finite = np.isfinite(a) & np.isfinite(b)
    slack = _TIE * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b), where=finite, out=np.zeros(len(a))))
    near = np.zeros(len(a), bool)
    near[finite] = np.abs(a[finite] - b[finite]) <= slack[finite]
    return np.where(near, 0, (a > b).astype(np.int64) - (a < b))


def ratio(amount: Weights, of: Weights) -> Floats:
    """Divide, with 0 for decisions of weight 0, which are absent."""
    return np.divide(amount, of, out=np.zeros(len(of)), where=of > 0)
