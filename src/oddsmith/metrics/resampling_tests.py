"""Tests of which of two methods is better that draw again: decisions, or whole clusters of dependent ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith._types import Floats, Weights
from oddsmith.metrics.bins import sum_by
from oddsmith.metrics.measure import checked_level
from oddsmith.metrics.result import Result
from oddsmith.metrics.significance import Decisions, SignTest, micro_sign_test, paired, power_of_two, ratio, signs_of

#: Numbers drawn at a time.
_BLOCK = 1_000_000

#: More decisions than this are resampled in groups of similar differences; so many at either end stay alone.
_GROUPS, _ALONE = 1024, 256


@dataclass(frozen=True)
class BootstrapTest(Result):
    """Mean difference of gains with a percentile interval and the p-value of the centered bootstrap."""

    mean_difference: float
    low: float
    high: float
    p_value: float
    n_resamples: int


def paired_bootstrap(
    a: ArrayLike,
    b: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
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
    p = (1 + #{|d* − d| ≥ |d|})/(B + 1). Of more than 1024 pairs the 256 smallest and the 256 largest differences are
    drawn one by one, as a single one may decide the mean; the others in 512 groups of similar differences, and what a
    group varies within is drawn from a normal law.

    Examples
    --------
    >>> paired_bootstrap([0.4, 0.2, 0.5], [0.1, 0.1, 0.1], n_resamples=99, random_state=0).low > 0
    True
    """
    first, second = paired(a, b)
    _check.refuse_nonfinite(first, "a")
    _check.refuse_nonfinite(second, "b")
    decisions = Decisions.of(weight, len(first))
    return bootstrap_test(
        first - second, decisions, clusters, level=level, n_resamples=n_resamples, random_state=random_state
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
    draws = _check.whole_number(n_resamples, "n_resamples", low=1)
    means, mean = resampled_means(difference, decisions, clusters, draws, np.random.default_rng(random_state))
    slack = 1e-12 * abs(mean)
    p_value = (1 + int(np.sum(np.abs(means - mean) >= abs(mean) - slack))) / (draws + 1)
    share = checked_level(level)
    low, high = np.quantile(means, [(1 - share) / 2, (1 + share) / 2])
    return BootstrapTest(mean, float(low), float(high), p_value if mean else 1.0, draws)


def resampled_means(
    difference: Floats, decisions: Decisions, clusters: ArrayLike | None, draws: int, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Return means of resampled differences, and the mean itself."""
    held = decisions.weight > 0
    names = None if clusters is None else as_clusters(clusters, len(held))[held]
    scale = power_of_two(difference[held])
    decisions, difference = decisions.at(held), difference[held] / scale
    weight, noise = decisions.weight, np.zeros(1)
    amounts = weight * difference
    if names is not None:
        sums, sizes = _cluster_sums(names, amounts, weight)
        rows = np.ones(len(sums))
    else:
        rows = decisions.effective
        if len(weight) > _GROUPS:
            rows, amounts, weight, noise = _grouped(difference, decisions)
        sums, sizes = ratio(amounts, rows), ratio(weight, rows)
    units, chance = max(round(float(rows.sum())), 1), rows / rows.sum()
    means = []
    for size in _blocks(draws, len(sums)):
        times = rng.multinomial(units, chance, size).astype(np.float64)  # products of floats are the fast ones
        within = np.sqrt(times @ noise) * rng.standard_normal(size) if len(noise) > 1 else 0.0
        means.append((times @ sums + within) / (times @ sizes))
    mean = float(decisions.weight @ difference) / float(decisions.weight.sum(dtype=np.float64))
    return np.concatenate(means) * scale, mean * scale


def _grouped(difference: Floats, decisions: Decisions) -> tuple[Floats, Floats, Floats, Floats]:
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
    clusters: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    n_resamples: int = 9999,
    random_state: int | np.random.Generator | None = None,
) -> SignTest:
    """Count wins and losses over decisions, and test them by exchanging the methods in whole clusters.

    The sign test for decisions that depend on each other within clusters.

    Notes
    -----
    With s_c = wins − losses in cluster c, p = (1 + #{|Σ ±s_c| ≥ |Σ s_c|})/(B + 1) over random signs.

    Examples
    --------
    >>> cluster_sign_flip_test([1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 1, 1], n_resamples=999, random_state=0).p_value > 0.4
    True
    """
    first, second = paired(a, b)
    counts = Decisions.of(weight, len(first)).counts
    plain = micro_sign_test(first, second, counts)
    (excess,) = _cluster_sums(as_clusters(clusters, len(first)), counts * signs_of(first, second))
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


def as_clusters(clusters: ArrayLike, n: int) -> NDArray[Any]:
    """Read the names of clusters, one per decision."""
    names = np.asarray(clusters)
    if names.shape != (n,):
        _check.fail("clusters must name one cluster per decision", f"shape {names.shape} for {n}", "pair them up")
    return names


def _cluster_sums(names: NDArray[Any], *values: Weights) -> tuple[Floats, ...]:
    _, index = np.unique(names, return_inverse=True)
    return tuple(sum_by(index, value) for value in values)
