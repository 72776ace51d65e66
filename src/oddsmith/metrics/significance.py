"""Tests of which of two methods is better, decision by decision.

Values are gains: larger is better. An integer weight says how many decisions a pair of values stands for, a float
weight how much one decision counts.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, stdtr

from oddsmith import _check
from oddsmith._check import Floats, Weights
from oddsmith.metrics._bins import sum_by
from oddsmith.metrics._result import Result

__all__ = [
    "BootstrapTest",
    "PairedTTest",
    "SignTest",
    "cluster_sign_flip_test",
    "holm",
    "mcnemar_test",
    "micro_sign_test",
    "paired_bootstrap",
    "paired_t_test",
    "sign_test",
]

Signs = NDArray[np.int64]

#: Gains that differ by less than this share of their size are tied.
_TIE = 1e-12

#: Numbers drawn at a time.
_BLOCK = 1_000_000

#: More decisions than this are resampled in groups of similar differences.
_GROUPS = 4096


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

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many decisions each stands for, which float weights do not tell."""
        if self.weight.dtype.kind != "i":
            _check.fail(
                "a test on decisions needs counts",
                "float weights, of which nobody knows how many decisions they stand for",
                'pass integer-typed weights, or use a t-test or bootstrap (protocol="bootstrap")',
            )
        return self.weight.astype(np.int64)

    @property
    def effective(self) -> Floats:
        """Decisions of equal weight that would vary as much."""
        return _ratio(self.weight**2, self.squares)


@dataclass(frozen=True)
class SignTest(Result):
    """Wins and losses of the first method, ties dropped, with p-values."""

    wins: int
    losses: int
    ties: int
    p_value: float
    p_one_sided: float


def sign_test(wins: int, losses: int, ties: int = 0) -> SignTest:
    """Test wins against losses by the exact binomial law, at any number; ties are dropped.

    Notes
    -----
    p = min(1, 2·P(Bin(w + l, ½) ≤ min(w, l))); one-sided P(Bin(w + l, ½) ≥ w).

    Examples
    --------
    >>> round(sign_test(15, 5).p_value, 8)
    0.04138947
    """
    w, lost = _check.whole_number(wins, "wins", low=0), _check.whole_number(losses, "losses", low=0)
    # At w + l = 0 nothing was observed, and the law gives 1.
    two_sided = min(1.0, 2 * float(bdtr(min(w, lost), w + lost, 0.5))) if w + lost else 1.0
    one_sided = float(bdtr(lost, w + lost, 0.5)) if w + lost else 1.0
    return SignTest(w, lost, _check.whole_number(ties, "ties", low=0), two_sided, one_sided)


def micro_sign_test(a: ArrayLike, b: ArrayLike, weight: ArrayLike | None = None) -> SignTest:
    """Count over all decisions how often the gain ``a`` beats ``b``, and test it.

    Log-loss and squared error give one and the same test, since both are monotone in y·L: pass y·L, or log P of the
    true class. Gains within 1e−12·max(1, |a|, |b|) are tied, and so are equal infinities.

    References
    ----------
    Y. Yang and X. Liu, A re-examination of text categorization methods, SIGIR 1999.

    Examples
    --------
    >>> result = micro_sign_test([-0.1, -0.5, -0.2], [-0.3, -0.5, -0.6])
    >>> result.wins, result.losses, result.ties
    (2, 0, 1)
    """
    first, second = _pair(a, b)
    counts = Decisions.of(weight, len(first)).counts
    return sign_test(*(int(amount) for amount in tally(first, second, counts)))


def mcnemar_test(right_a: ArrayLike, right_b: ArrayLike, weight: ArrayLike | None = None) -> SignTest:
    """Test two methods' error rates by the decisions that only one of them got right: exact McNemar.

    Examples
    --------
    >>> mcnemar_test([True, True, True], [True, False, False]).p_value
    0.5
    """
    return micro_sign_test(np.asarray(right_a, dtype=np.float64), np.asarray(right_b, dtype=np.float64), weight)


@dataclass(frozen=True)
class PairedTTest(Result):
    """Mean difference of gains with Student's t."""

    mean_difference: float
    t: float
    df: float
    p_value: float


def paired_t_test(a: ArrayLike, b: ArrayLike, weight: ArrayLike | None = None) -> PairedTTest:
    """Test the mean difference of gains, two-sided.

    With a gain of −inf the test is undefined: the method that alone has one is called worse, at p = 0; if both have
    one, p = 1.

    Notes
    -----
    With float weights the variance of the mean is Σw²(d − d̄)²/(Σw)² · n/(n − 1), and n = (Σw)²/Σw².

    Examples
    --------
    >>> paired_t_test([1.0, 2.0, 4.0], [0.0, 1.0, 1.0]).p_value.__round__(4)
    0.1296
    """
    first, second = _pair(a, b)
    return t_test(first, second, Decisions.of(weight, len(first)))


def t_test(first: Floats, second: Floats, decisions: Decisions) -> PairedTTest:
    """Test the mean difference of gains over decisions that were read before."""
    total = float(decisions.weight.sum())
    n = total / (float(decisions.squares.sum()) / total)
    lost_a, lost_b = bool(np.isneginf(first).any()), bool(np.isneginf(second).any())
    if lost_a or lost_b:
        sign = float(lost_b) - float(lost_a)
        return PairedTTest(sign * math.inf if sign else 0.0, sign * math.inf if sign else 0.0, n - 1, float(sign == 0))
    difference = first - second
    mean = float(decisions.weight @ difference) / total
    if n < 1 + 1e-9:
        return PairedTTest(mean, 0.0, n - 1, 1.0)
    spread = math.sqrt(float(decisions.squares @ (difference - mean) ** 2) * n / (n - 1)) / total
    if spread <= 1e-15 * abs(mean):
        return PairedTTest(mean, math.copysign(math.inf, mean) if mean else 0.0, n - 1, float(mean == 0))
    t = mean / spread
    return PairedTTest(mean, t, n - 1, float(2 * stdtr(n - 1, -abs(t))))


@dataclass(frozen=True)
class BootstrapTest(Result):
    """Mean difference of gains with a percentile interval and the p-value of the centred bootstrap."""

    mean_difference: float
    low: float
    high: float
    p_value: float
    n_boot: int


def paired_bootstrap(
    a: ArrayLike,
    b: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    n_boot: int = 2000,
    random_state: int | np.random.Generator | None = None,
) -> BootstrapTest:
    """Test the mean difference of gains by resampling decisions, or whole clusters of dependent ones.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Finite gains.
    weight : array-like, optional
        Integers: how many decisions each pair stands for, resampled one by one where there are no clusters. Floats: how
        much each counts.
    clusters : array-like of shape (n,), optional
        Which decisions depend on each other, for example those on one document.

    Notes
    -----
    p = (1 + #{|d* − d| ≥ |d|})/(B + 1). More than 4096 pairs are put in so many groups of similar differences, and
    what a group varies within is drawn from a normal law.

    Examples
    --------
    >>> paired_bootstrap([0.4, 0.2, 0.5], [0.1, 0.1, 0.1], n_boot=99, random_state=0).low > 0
    True
    """
    first, second = _pair(a, b)
    _check.refuse_nonfinite(first, "a")
    _check.refuse_nonfinite(second, "b")
    decisions = Decisions.of(weight, len(first))
    return bootstrap_test(first - second, decisions, clusters, level=level, n_boot=n_boot, random_state=random_state)


def bootstrap_test(
    difference: Floats,
    decisions: Decisions,
    clusters: ArrayLike | None,
    *,
    level: float = 0.95,
    n_boot: int = 2000,
    random_state: int | np.random.Generator | None = None,
) -> BootstrapTest:
    """Test the mean difference of gains over decisions that were read before."""
    draws = _check.whole_number(n_boot, "n_boot", low=1)
    means, mean = resampled_means(difference, decisions, clusters, draws, np.random.default_rng(random_state))
    slack = 1e-12 * abs(mean)
    p_value = (1 + int(np.sum(np.abs(means - mean) >= abs(mean) - slack))) / (draws + 1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return BootstrapTest(mean, float(low), float(high), p_value if mean else 1.0, draws)


def resampled_means(
    difference: Floats, decisions: Decisions, clusters: ArrayLike | None, draws: int, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Return means of resampled differences, and the mean itself."""
    weight = decisions.weight
    noise = np.zeros(1)
    if clusters is not None:
        sums, sizes = _cluster_sums(clusters, weight * difference, weight)
        rows = np.ones(len(sums))
    else:
        rows, amounts = decisions.effective, weight * difference
        if len(weight) > _GROUPS:
            index = _similar(difference, rows)
            rows, amounts, weight, noise = _grouped(index, difference, decisions)
        sums, sizes = _ratio(amounts, rows), _ratio(weight, rows)
    units, chance = max(round(float(rows.sum())), 1), rows / rows.sum()
    means = []
    for size in _blocks(draws, len(sums)):
        times = rng.multinomial(units, chance, size)
        within = np.sqrt(times @ noise) * rng.standard_normal(size) if len(noise) > 1 else 0.0
        means.append((times @ sums + within) / (times @ sizes))
    return np.concatenate(means), float(decisions.weight @ difference) / float(decisions.weight.sum())


def _similar(difference: Floats, rows: Floats) -> NDArray[np.int64]:
    """Put decisions in groups of equal size by their difference."""
    order = np.argsort(difference)
    index = np.empty(len(order), np.int64)
    share = np.cumsum(rows[order]) / rows.sum()
    index[order] = np.minimum((share * _GROUPS).astype(np.int64), _GROUPS - 1)
    return np.unique(index, return_inverse=True)[1]


def _grouped(
    index: NDArray[np.int64], difference: Floats, decisions: Decisions
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return of each group the decisions, the sum of differences, the weight, and the variance within a draw."""
    rows, weight = sum_by(index, decisions.effective), sum_by(index, decisions.weight)
    amounts = sum_by(index, decisions.weight * difference)
    within = decisions.squares * (difference - (amounts / weight)[index]) ** 2
    return rows, amounts, weight, sum_by(index, within) / rows


def cluster_sign_flip_test(
    a: ArrayLike,
    b: ArrayLike,
    clusters: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    n_flips: int = 9999,
    random_state: int | np.random.Generator | None = None,
) -> SignTest:
    """Count wins and losses over decisions, and test them by exchanging the methods in whole clusters.

    The sign test for decisions that depend on each other within clusters.

    Notes
    -----
    With s_c = wins − losses in cluster c, p = (1 + #{|Σ ±s_c| ≥ |Σ s_c|})/(B + 1) over random signs.

    Examples
    --------
    >>> cluster_sign_flip_test([1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 1, 1], n_flips=999, random_state=0).p_value > 0.4
    True
    """
    first, second = _pair(a, b)
    counts = Decisions.of(weight, len(first)).counts
    plain = micro_sign_test(first, second, counts)
    (excess,) = _cluster_sums(clusters, counts * _signs(first, second))
    draws = _check.whole_number(n_flips, "n_flips", low=1)
    rng = np.random.default_rng(random_state)
    flips = (rng.integers(0, 2, (size, len(excess))) * 2 - 1 for size in _blocks(draws, len(excess)))
    sums, seen = np.concatenate([signs @ excess for signs in flips]), float(excess.sum())
    two_sided = (1 + int(np.sum(np.abs(sums) >= abs(seen)))) / (draws + 1)
    one_sided = (1 + int(np.sum(sums >= seen))) / (draws + 1)
    return SignTest(plain.wins, plain.losses, plain.ties, two_sided, one_sided)


def holm(p_values: ArrayLike) -> Floats:
    """Return p-values corrected for their number, so that the level holds for all of them together.

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


def tally(a: Floats, b: Floats, weight: Weights) -> tuple[float, float, float]:
    """Return the weight of decisions that the first method wins, loses and ties."""
    signs = _signs(a, b)
    wins, losses, ties = (weight[signs == sign].sum() for sign in (1, -1, 0))
    return wins, losses, ties


def _pair(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        _check.fail(
            "a and b must have one gain a decision", f"shapes {first.shape} and {second.shape}", "pair the decisions"
        )
    if np.isnan(first).any() or np.isnan(second).any():
        _check.fail("gains must not be NaN", "NaN", "drop or repair those decisions")
    return first, second


def _signs(a: Floats, b: Floats) -> Signs:
    finite = np.isfinite(a) & np.isfinite(b)
    slack = _TIE * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b), where=finite, out=np.zeros(len(a))))
    near = np.zeros(len(a), bool)
    near[finite] = np.abs(a[finite] - b[finite]) <= slack[finite]
    return np.where(near, 0, (a > b).astype(np.int64) - (a < b))


def _ratio(amount: Weights, of: Weights) -> Floats:
    """Divide, with 0 for decisions of weight 0, which are absent."""
    return np.divide(amount, of, out=np.zeros(len(of)), where=of > 0)


def _blocks(draws: int, width: int) -> Iterator[int]:
    """Split draws in blocks that fit in memory, each draw being ``width`` numbers wide."""
    size = max(1, _BLOCK // width)
    return (min(size, draws - start) for start in range(0, draws, size))


def _cluster_sums(clusters: ArrayLike, *values: Weights) -> tuple[Floats, ...]:
    names = np.asarray(clusters)
    if names.shape != values[0].shape:
        _check.fail(
            "clusters must name one cluster a decision", f"shape {names.shape} for {len(values[0])}", "pair them up"
        )
    _, index = np.unique(names, return_inverse=True)
    return tuple(sum_by(index, value) for value in values)
