"""Tests of which of two methods is better, decision by decision.

Values are gains: larger is better. An integer weight says how many decisions a pair of values stands for.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, stdtr

from oddsmith import _check
from oddsmith._check import Floats

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

Counts = NDArray[np.int64]

#: Gains that differ by less than this share of their size are tied.
_TIE = 1e-12

#: Numbers drawn at a time.
_BLOCK = 1_000_000


@dataclass(frozen=True)
class SignTest:
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
    first, second, counts = _pair(a, b, weight)
    signs = _signs(first, second)
    wins, losses, ties = (int(counts[signs == sign].sum()) for sign in (1, -1, 0))
    return sign_test(wins, losses, ties)


def mcnemar_test(right_a: ArrayLike, right_b: ArrayLike, weight: ArrayLike | None = None) -> SignTest:
    """Test two methods' error rates by the decisions that only one of them got right: exact McNemar.

    Examples
    --------
    >>> mcnemar_test([True, True, True], [True, False, False]).p_value
    0.5
    """
    return micro_sign_test(np.asarray(right_a, dtype=np.float64), np.asarray(right_b, dtype=np.float64), weight)


@dataclass(frozen=True)
class PairedTTest:
    """Mean difference of gains with Student's t."""

    mean_difference: float
    t: float
    df: int
    p_value: float


def paired_t_test(a: ArrayLike, b: ArrayLike, weight: ArrayLike | None = None) -> PairedTTest:
    """Test the mean difference of gains, two-sided.

    With a gain of −inf the test is undefined: the method that alone has one is called worse, at p = 0; if both have
    one, p = 1.

    Examples
    --------
    >>> paired_t_test([1.0, 2.0, 4.0], [0.0, 1.0, 1.0]).p_value.__round__(4)
    0.1296
    """
    first, second, counts = _pair(a, b, weight)
    n = int(counts.sum())
    lost_a, lost_b = bool(np.isneginf(first).any()), bool(np.isneginf(second).any())
    if lost_a or lost_b:
        sign = float(lost_b) - float(lost_a)
        return PairedTTest(sign * math.inf if sign else 0.0, sign * math.inf if sign else 0.0, n - 1, float(sign == 0))
    difference = first - second
    mean = float(counts @ difference) / n
    spread = math.sqrt(float(counts @ (difference - mean) ** 2) / max(n - 1, 1) / n)
    if spread <= 1e-15 * abs(mean) or n < 2:
        certain = mean != 0 and n > 1
        return PairedTTest(mean, math.copysign(math.inf, mean) if certain else 0.0, n - 1, float(not certain))
    t = mean / spread
    return PairedTTest(mean, t, n - 1, float(2 * stdtr(n - 1, -abs(t))))


@dataclass(frozen=True)
class BootstrapTest:
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
    weight : array-like of int, optional
        How many decisions each pair stands for; without clusters these are resampled one by one.
    clusters : array-like of shape (n,), optional
        Which decisions depend on each other, for example those on one document.

    Notes
    -----
    p = (1 + #{|d* − d| ≥ |d|})/(B + 1).

    Examples
    --------
    >>> paired_bootstrap([0.4, 0.2, 0.5], [0.1, 0.1, 0.1], n_boot=99, random_state=0).low > 0
    True
    """
    first, second, counts = _pair(a, b, weight)
    _check.refuse_nonfinite(first, "a")
    _check.refuse_nonfinite(second, "b")
    draws = _check.whole_number(n_boot, "n_boot", low=1)
    rng = np.random.default_rng(random_state)
    difference = first - second
    n = int(counts.sum())
    mean = float(counts @ difference) / n
    if clusters is None:
        units, chance = n, counts / n
        sums, sizes = difference, np.ones(len(counts))
    else:
        sums, sizes = _cluster_sums(clusters, counts, counts * difference, counts)
        units, chance = len(sums), np.full(len(sums), 1 / len(sums))
    blocks = (rng.multinomial(units, chance, size) for size in _blocks(draws, len(sums)))
    means = np.concatenate([(times @ sums) / (times @ sizes) for times in blocks])
    slack = 1e-12 * abs(mean)
    p_value = (1 + int(np.sum(np.abs(means - mean) >= abs(mean) - slack))) / (draws + 1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return BootstrapTest(mean, float(low), float(high), p_value if mean else 1.0, draws)


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
    first, second, counts = _pair(a, b, weight)
    signs = _signs(first, second)
    plain = micro_sign_test(first, second, counts)
    (excess,) = _cluster_sums(clusters, counts, counts * signs)
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


def _pair(a: ArrayLike, b: ArrayLike, weight: ArrayLike | None) -> tuple[Floats, Floats, Counts]:
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        _check.fail(
            "a and b must have one gain a decision", f"shapes {first.shape} and {second.shape}", "pair the decisions"
        )
    if np.isnan(first).any() or np.isnan(second).any():
        _check.fail("gains must not be NaN", "NaN", "drop or repair those decisions")
    return first, second, as_counts(weight, len(first))


def as_counts(weight: ArrayLike | None, n: int) -> Counts:
    """Return how many decisions each row stands for."""
    counts = _check.as_weights(weight, n)
    if counts is None:
        return np.ones(n, np.int64)
    if counts.dtype.kind != "i":
        _check.fail(
            "a test on decisions needs counts",
            "float weights, of which nobody knows how many decisions they stand for",
            "pass integer-typed weights",
        )
    return counts.astype(np.int64)


def _signs(a: Floats, b: Floats) -> Counts:
    finite = np.isfinite(a) & np.isfinite(b)
    slack = _TIE * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b), where=finite, out=np.zeros(len(a))))
    near = np.zeros(len(a), bool)
    near[finite] = np.abs(a[finite] - b[finite]) <= slack[finite]
    return np.where(near, 0, (a > b).astype(np.int64) - (a < b))


def _blocks(draws: int, width: int) -> Iterator[int]:
    """Split draws in blocks that fit in memory, each draw being ``width`` numbers wide."""
    size = max(1, _BLOCK // width)
    return (min(size, draws - start) for start in range(0, draws, size))


def _cluster_sums(clusters: ArrayLike, counts: Counts, *values: Floats | Counts) -> tuple[Floats, ...]:
    names = np.asarray(clusters)
    if names.shape != counts.shape:
        _check.fail(
            "clusters must name one cluster a decision", f"shape {names.shape} for {len(counts)}", "pair them up"
        )
    _, index = np.unique(names, return_inverse=True)
    return tuple(np.asarray(np.bincount(index, value), dtype=np.float64) for value in values)
