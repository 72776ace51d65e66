"""Tests of which of two methods is better that draw again: decisions, or whole clusters of dependent ones."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from oddsmith import _check
from oddsmith._types import Floats, Weights
from oddsmith.metrics.bins import sum_by
from oddsmith.metrics.measure import checked_level
from oddsmith.metrics.result import Result
from oddsmith.metrics.significance import Decisions, SignTest, micro_sign_test, power_of_two, ratio, read_pair, signs_of

#: Numbers drawn at a time.
_BLOCK = 1_000_000

#: More decisions than this are resampled in groups of similar differences; so many at either end stay alone.
_GROUPS, _ALONE = 1024, 256

#: From this number of units on the centered bootstrap of means keeps its level, for skewed differences too.
_MANY = 256

#: With fewer units, a kind of unit with this share of the population may be missing from the sample by chance.
_MISSING = 0.25

#: Differences of less than this share are rounding.
_SLACK = 1e-12


@dataclass(frozen=True)
class BootstrapTest(Result):
    """Mean difference of gains with an interval and the p-value, by the bootstrap.

    Parameters
    ----------
    mean_difference : float
        Mean gain of the first method over the second.
    low : float
        Lower end of its interval.
    high : float
        Upper end of its interval.
    p_value : float
        Two-sided.
    n_resamples : int
        Number of samples drawn.

    See Also
    --------
    paired_bootstrap : Returns it.
    """

    mean_difference: float
    low: float
    high: float
    p_value: float
    n_resamples: int


def paired_bootstrap(
    a: ArrayLike,
    b: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.Generator | None = None,
) -> BootstrapTest:
    """Test the mean difference of gains by resampling decisions, or whole groups of dependent ones.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The gains of two methods on the same decisions, finite; larger is better.
    sample_weight : array-like, optional
        Integers: how many decisions each pair stands for, resampled one by one where there are no groups. Floats: how
        much each counts.
    groups : array-like of shape (n,), optional
        Which decisions depend on each other, for example those on one document.
    level : float, default 0.95
        Level of the interval.
    n_resamples : int, default 2000
        Number of samples drawn.
    random_state : int or Generator, optional
        Seed of the samples.

    Returns
    -------
    BootstrapTest
        The mean of a − b with its interval, and the p-value of a mean of 0.

    See Also
    --------
    paired_t_test : Faster, for many decisions.
    compare : All pairs of methods.

    Notes
    -----
    A unit is a decision, or a group; fewer than two are refused. From 256 units on p is
    (1 + #{|d* − d| ≥ |d|})/(B + 1), and the interval has the percentiles of d*. With fewer units, means vary less in
    samples than they should, and this test would reject too often. Then t = d/s is compared with t* = (d* − d)/s* of
    the samples, where s is the standard error. p is the largest of the share with |t*| ≥ |t|, of twice the smaller of
    the shares with t* ≤ t and t* ≥ t, of Student's t, and of Student's t after Hall's transformation, which corrects
    for skewness. The interval contains what these do not reject, leaving out samples of one unit over and over.

    With fewer than 256 units, p is at least (3/4)^n, which exceeds 5 % up to ten units: with this probability, a kind
    of unit that makes up a quarter of the population is missing from the sample. If rare units decide the mean, no test
    keeps its level without them (Bahadur and Savage). This bound does not affect the interval. With ten units or fewer,
    `micro_sign_test` and `cluster_sign_flip_test` can find that one method wins more often, which is another question.

    Groups of unequal weights v count as n = (Σv)²/Σv² units here, and Student's t has (Σv²)²/Σv⁴ − 1 degrees of
    freedom.

    Of more than 1024 pairs the 256 smallest and the 256 largest differences are drawn one by one, as a single one may
    decide the mean; the others in 512 groups of similar differences, and what a group varies within is drawn from a
    normal law.

    References
    ----------
    R. Bahadur and L. Savage, The nonexistence of certain statistical procedures in nonparametric problems, Annals of
    Mathematical Statistics 1956.
    P. Hall, On the removal of skewness by transformation, Journal of the Royal Statistical Society B 1992.
    P. Hall, The Bootstrap and Edgeworth Expansion, 1992.
    F. Satterthwaite, An approximate distribution of estimates of variance components, Biometrics 1946.

    Examples
    --------
    >>> gains = [0.4, 0.2, 0.5, 0.3, 0.4, 0.3, 0.2, 0.4, 0.3, 0.5, 0.2, 0.4]
    >>> paired_bootstrap(gains, [0.1] * 12, n_resamples=99, random_state=0).low > 0
    True
    """
    first, second = read_pair(a, b)
    _check.refuse_nonfinite(first, "a")
    _check.refuse_nonfinite(second, "b")
    decisions = Decisions.of(sample_weight, len(first))
    return bootstrap_test(
        first - second, decisions, groups, level=level, n_resamples=n_resamples, random_state=random_state
    )


def bootstrap_test(
    difference: Floats,
    decisions: Decisions,
    clusters: ArrayLike | None,
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.Generator | None = None,
) -> BootstrapTest:
    """Test the mean difference of gains over decisions that were read before."""
    draws, share = _check.whole_number(n_resamples, "n_resamples", low=1), checked_level(level)
    rng, held = np.random.default_rng(random_state), decisions.weight > 0
    names = None if clusters is None else as_clusters(clusters, len(held))[held]
    scale = power_of_two(difference[held])
    decisions, difference = decisions.at(held), difference[held] / scale
    mean = float(decisions.weight @ difference) / float(decisions.weight.sum(dtype=np.float64))
    units = _units(difference, decisions, names)
    if units.n < 2:
        _check.fail(
            "a bootstrap needs two units or more",
            f"{units.n} {'cluster' if names is not None else 'decision'}",
            "collect more decisions that do not depend on each other",
        )
    law = _plain_limits if units.n >= _MANY else _student_limits
    low, high, p_value = law(units, mean, draws, share, rng)
    return BootstrapTest(mean * scale, low * scale, high * scale, p_value if mean else 1.0, draws)


class _Units(NamedTuple):
    """What is drawn: of each kind the sum of differences and the weight, how many there are, and the noise within."""

    sums: Floats
    sizes: Floats
    rows: Floats
    noise: Floats

    @property
    def n(self) -> int:
        """Number of units in a sample."""
        return round(float(self.rows.sum()))

    @property
    def effective(self) -> float:
        """How many units of equal weight vary as much, two or more."""
        return max(float((self.rows @ self.sizes) ** 2 / (self.rows @ self.sizes**2)), 2.0)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance of their mean, by Satterthwaite's rule, one or more."""
        squares = self.sizes**2
        return max(float((self.rows @ squares) ** 2 / (self.rows @ squares**2)) - 1, 1.0)

    def draw(self, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Draw as many units with replacement, block by block: how often each kind."""
        chance = self.rows / self.rows.sum()
        for size in _blocks(draws, len(self.sums)):
            yield rng.multinomial(self.n, chance, size).astype(np.float64)  # products of floats are the fast ones


def _units(difference: Floats, decisions: Decisions, names: NDArray[Any] | None) -> _Units:
    weight, noise = decisions.weight, np.zeros(1)
    amounts = weight * difference
    if names is not None:
        sums, sizes = _cluster_sums(names, amounts, weight)
        return _Units(sums, sizes, np.ones(len(sums)), noise)
    rows = decisions.effective
    if len(weight) > _GROUPS:
        rows, amounts, weight, noise = _group_decisions(difference, decisions)
    return _Units(ratio(amounts, rows), ratio(weight, rows), rows, noise)


def _plain_limits(
    units: _Units, mean: float, draws: int, level: float, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return limits and p-value by means of samples."""
    found = []
    for times in units.draw(draws, rng):
        within = np.sqrt(times @ units.noise) * rng.standard_normal(len(times)) if len(units.noise) > 1 else 0.0
        found.append((times @ units.sums + within) / (times @ units.sizes))
    means = np.concatenate(found)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    beyond = np.abs(means - mean) >= abs(mean) * (1 - _SLACK)
    return float(low), float(high), (1 + int(np.sum(beyond))) / (draws + 1)


def _student_limits(
    units: _Units, mean: float, draws: int, level: float, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return limits and p-value by means of samples in units of their standard errors, and by Student's t."""
    error = float(_errors(units, units.rows[None, :], np.array([mean]))[0])
    least = (1 - _MISSING) ** units.effective
    if error <= _SLACK * abs(mean):
        return mean, mean, max(least, 1 / (draws + 1))
    found = []
    for times in units.draw(draws, rng):
        means = times @ units.sums / (times @ units.sizes)
        errors = _errors(units, times, means)
        # A sample of one unit over and over has no error: it is infinitely far, if it is away from the mean at all.
        away = np.where(np.abs(means - mean) <= _SLACK * error, 0.0, means - mean)
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append(np.where(away == 0, 0.0, away / np.where(errors <= _SLACK * error, 0.0, errors)))
    ratios, t = np.concatenate(found), mean / error
    towards = math.copysign(1.0, t) * ratios  # a mean of 0 times an infinite ratio would be NaN
    two_sided = 1 + int(np.sum(np.abs(ratios) >= abs(t) * (1 - _SLACK)))
    one_sided = 1 + int(np.sum(towards >= abs(t) * (1 - _SLACK)))
    other_side = 1 + int(np.sum(towards <= abs(t)))
    by_draws = max(two_sided, 2 * min(one_sided, other_side)) / (draws + 1)
    unskewed = _Unskewed.of(units, mean)
    by_student = 2 * float(stdtr(units.freedom, -min(abs(t), abs(unskewed.ratio(t)))))
    p_value = min(max(by_draws, by_student, least), 1.0)
    finite = ratios[np.isfinite(ratios)] if np.isfinite(ratios).any() else np.zeros(1)
    below, above = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    student = float(stdtrit(units.freedom, (1 + level) / 2))
    reach = max(float(np.quantile(np.abs(finite), level)), student)
    low = mean - error * max(float(above), reach, unskewed.inverse(student))
    high = mean - error * min(float(below), -reach, unskewed.inverse(-student))
    return low, high, p_value


class _Unskewed(NamedTuple):
    """Hall's transformation of ratios of means to their errors, after which skewed units are closer to Student's t.

    With u = t/√n and the skewness g it is √n (u + gu²/3 + g²u³/27 + g/(6n)), which rises with t.
    """

    n: float
    skewness: float

    @classmethod
    def of(cls, units: _Units, mean: float) -> "_Unskewed":
        """Measure the skewness of units about the mean, with Fisher's correction for few of them."""
        apart, n = units.sums - mean * units.sizes, units.effective
        second, third = (float(units.rows @ apart**power) / units.n for power in (2, 3))
        return cls(n, third / second**1.5 * math.sqrt(n * (n - 1)) / max(n - 2, 1))

    def ratio(self, t: float) -> float:
        """Return the transformed ratio."""
        u, g = t / math.sqrt(self.n), self.skewness
        return math.sqrt(self.n) * (u + g * u**2 / 3 + g**2 * u**3 / 27 + g / (6 * self.n))

    def inverse(self, transformed: float) -> float:
        """Return the ratio before the transformation."""
        u, g = transformed / math.sqrt(self.n) - self.skewness / (6 * self.n), self.skewness
        return math.sqrt(self.n) * (3 / g * (math.cbrt(1 + g * u) - 1) if abs(g * u) > _SLACK else u)


def _errors(units: _Units, times: Floats, means: Floats) -> Floats:
    """Return the standard errors of means of samples, given how often each unit was drawn."""
    sums, sizes, n = units.sums, units.sizes, units.n
    squares = times @ sums**2 - 2 * means * (times @ (sums * sizes)) + means**2 * (times @ sizes**2)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) * n / (n - 1)) / (times @ sizes))


def _group_decisions(difference: Floats, decisions: Decisions) -> tuple[Floats, Floats, Floats, Floats]:
    """Put decisions in groups of equal size by their difference, the outer ones each in its own.

    Of each group return the decisions, the sum of differences, the weight, and the variance within a draw.
    """
    order = np.argsort(difference)
    inner, n_inner = decisions.effective[order[_ALONE:-_ALONE]], _GROUPS - 2 * _ALONE
    share = (np.cumsum(inner) - inner / 2) / inner.sum()
    ends = np.arange(_ALONE)
    index = np.empty(len(order), np.int64)
    index[order] = np.concatenate([ends, _ALONE + (share * n_inner).astype(np.int64), _ALONE + n_inner + ends])
    index = np.unique(index, return_inverse=True)[1]
    rows, weight = sum_by(index, decisions.effective), sum_by(index, decisions.weight)
    amounts = sum_by(index, decisions.weight * difference)
    within = decisions.squares * (difference - (amounts / weight)[index]) ** 2
    return rows, amounts, weight, sum_by(index, within) / rows


def cluster_sign_flip_test(
    a: ArrayLike,
    b: ArrayLike,
    groups: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    n_resamples: int = 9999,
    random_state: int | np.random.Generator | None = None,
) -> SignTest:
    """Count wins and losses over decisions, and test them by exchanging the methods in whole groups.

    This is the sign test for decisions that depend on each other within groups.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        The gains of two methods on the same decisions; larger is better.
    groups : array-like of shape (n,)
        Which decisions depend on each other.
    sample_weight : array-like of int, optional
        How many decisions each pair stands for.
    n_resamples : int, default 9999
        Number of random exchanges.
    random_state : int or Generator, optional
        Seed of the exchanges.

    Returns
    -------
    SignTest
        Wins, losses and ties of a, with p-values.

    See Also
    --------
    paired_bootstrap : Without the assumption of symmetry.
    sign_test : For independent decisions.

    Notes
    -----
    With s_c = wins − losses in group c, p = (1 + #{|Σ ±s_c| ≥ |Σ s_c|})/(B + 1) over random signs.

    Examples
    --------
    >>> cluster_sign_flip_test([1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 1, 1], n_resamples=999, random_state=0).p_value > 0.4
    True
    """
    first, second = read_pair(a, b)
    counts = Decisions.of(sample_weight, len(first)).counts
    plain = micro_sign_test(first, second, counts)
    (excess,) = _cluster_sums(as_clusters(groups, len(first)), counts * signs_of(first, second))
    draws = _check.whole_number(n_resamples, "n_resamples", low=1)
    rng = np.random.default_rng(random_state)
    flips = (rng.integers(0, 2, (size, len(excess))) * 2.0 - 1 for size in _blocks(draws, len(excess)))
    sums, seen = np.concatenate([signs @ excess for signs in flips]), float(excess.sum())
    two_sided = (1 + int(np.sum(np.abs(sums) >= abs(seen)))) / (draws + 1)
    one_sided = (1 + int(np.sum(sums >= seen))) / (draws + 1)
    return SignTest(plain.wins, plain.losses, plain.ties, two_sided, one_sided)


def _blocks(draws: int, width: int) -> Iterator[int]:
    """Split draws in blocks that fit in memory, each draw being ``width`` numbers wide."""
    size = max(1, _BLOCK // width)
    return (min(size, draws - start) for start in range(0, draws, size))


def as_clusters(groups: ArrayLike, n: int) -> NDArray[Any]:
    """Read the names of groups, one per decision."""
    names = np.asarray(groups)
    if names.shape != (n,):
        _check.fail("groups must have one name per row", f"shape {names.shape} for {n} rows", "pass one group per row")
    return names


def _cluster_sums(names: NDArray[Any], *values: Weights) -> tuple[Floats, ...]:
    _, index = np.unique(names, return_inverse=True)
    return tuple(sum_by(index, value) for value in values)
