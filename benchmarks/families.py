"""Scores that are hard to calibrate, as real ones are: skewed, rare, with far outliers, certain, discrete, heavy.

Normal scores show nothing. Each family is a function of a random generator and a size that returns scores, labels and
weights (None: all ones), with both classes and two or more distinct scores.
"""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

Case = tuple[np.ndarray, np.ndarray, np.ndarray | None]
Family = Callable[[np.random.Generator, int], Case]


def _drawn(rng: np.random.Generator, log_odds: np.ndarray) -> np.ndarray:
    return (np.log(rng.random(len(log_odds))) < -np.logaddexp(0, -log_odds)).astype(int)


def _both(rng: np.random.Generator, scores: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> Case:
    """Give each class a case at least, and the scores two values."""
    if len(np.unique(scores)) < 2:
        scores = scores.copy()
        scores[0] = np.nextafter(scores[0], -np.inf)
    for label in (0, 1):
        if not np.any(y == label):
            y = y.copy()
            y[rng.integers(len(y))] = label
    return scores, y, weight


def sure_probabilities(rng: np.random.Generator, n: int) -> Case:
    """Probabilities σ(N(−15, 6)) that are true."""
    z = rng.normal(-15, 6, n)
    return _both(rng, 1 / (1 + np.exp(-z)), _drawn(rng, z))


def sure_log_odds(rng: np.random.Generator, n: int) -> Case:
    """Log-odds N(−15, 6) that are true."""
    z = rng.normal(-15, 6, n)
    return _both(rng, z, _drawn(rng, z))


def log_normal(rng: np.random.Generator, n: int) -> Case:
    """Scores that are positive and skewed, over several decades."""
    s = np.exp(rng.normal(0, rng.choice([1.0, 3.0, 8.0]), n))
    return _both(rng, s, _drawn(rng, np.log(s) * rng.normal() + rng.normal(0, 2)))


def cauchy(rng: np.random.Generator, n: int) -> Case:
    """Scores without a variance."""
    s = rng.standard_cauchy(n)
    return _both(rng, s, _drawn(rng, np.clip(s, -5, 5) * rng.normal() + rng.normal(0, 2)))


def decades(rng: np.random.Generator, n: int) -> Case:
    """Probabilities from 10⁻¹² to 1."""
    s = 10 ** rng.uniform(-12, 0, n)
    return _both(rng, s, _drawn(rng, np.log(s) - np.log1p(-s)))


def far_positives(rng: np.random.Generator, n: int) -> Case:
    """Put a handful of positives far from everything else, and one or two among the rest."""
    k = int(rng.integers(1, 4))
    s = np.concatenate([rng.random(n) * 10.0 ** -rng.integers(0, 9), np.full(k, 1.0) - rng.random(k) * 1e-3])
    y = np.concatenate([np.zeros(n, int), np.ones(k, int)])
    y[rng.integers(n, size=rng.integers(0, 3))] = 1
    return _both(rng, s, y)


def sentinel(rng: np.random.Generator, n: int) -> Case:
    """Put one score of 10¹² among normal ones."""
    s = rng.normal(size=n)
    y = _drawn(rng, s)
    s[0], y[0] = 1e12 * rng.choice([-1, 1]), rng.integers(2)
    return _both(rng, s, y)


def heavy_row(rng: np.random.Generator, n: int) -> Case:
    """One row that weighs 10¹²."""
    s = rng.normal(size=n)
    weight = np.ones(n, np.int64)
    weight[rng.integers(n)] = 10**12
    return _both(rng, s, _drawn(rng, s), weight)


def float_weights(rng: np.random.Generator, n: int) -> Case:
    """Give importance weights over many orders of magnitude."""
    s = rng.normal(size=n)
    return _both(rng, s, _drawn(rng, 2 * s - 3), 10 ** rng.uniform(-6, 6, n))


def large_counts(rng: np.random.Generator, n: int) -> Case:
    """Rows that each stand for up to a million cases, often separated by a threshold."""
    s = rng.normal(0, 20, n) if rng.random() < 0.5 else rng.beta(0.1, 0.1, n)
    rank = np.argsort(np.argsort(s)) / max(n - 1, 1)
    return _both(rng, s, (rng.random(n) < rank ** rng.choice([1, 20])).astype(int), rng.integers(1, 10**6, n))


def rare(rng: np.random.Generator, n: int) -> Case:
    """One positive or a few."""
    s = rng.normal(size=n)
    y = np.zeros(n, int)
    y[rng.integers(n, size=rng.integers(1, 4))] = 1
    return _both(rng, s, y)


def few_values(rng: np.random.Generator, n: int) -> Case:
    """Scores with few distinct values, as trees and neighbors give, 0 and 1 among them."""
    levels = int(rng.integers(2, 12))
    s = rng.binomial(levels, rng.beta(0.5, 2, n)) / levels
    return _both(rng, s, (rng.random(n) < 0.1 + 0.8 * s).astype(int))


def near_ties(rng: np.random.Generator, n: int) -> Case:
    """Scores that differ in their last bits."""
    s = rng.choice(rng.random(max(2, n // 5)), n)
    return _both(rng, s + np.spacing(s) * rng.integers(-3, 4, n), (rng.random(n) < s).astype(int))


def certain(rng: np.random.Generator, n: int) -> Case:
    """Probabilities of exactly 0 and 1, some of them wrong."""
    s = np.clip(rng.normal(0.5, 1.5, n), 0, 1)
    return _both(rng, s, (rng.random(n) < 0.05 + 0.9 * s).astype(int))


def reversed_scores(rng: np.random.Generator, n: int) -> Case:
    """Higher scores for the negative class."""
    s = rng.normal(size=n)
    return _both(rng, s, _drawn(rng, -2 * s))


def separable(rng: np.random.Generator, n: int) -> Case:
    """Classes that a threshold separates, ties at the threshold included now and then."""
    s = np.round(rng.normal(size=n), int(rng.integers(0, 3)))
    return _both(rng, s, (s > np.median(s)).astype(int))


def extreme(rng: np.random.Generator, n: int) -> Case:
    """Scores near the largest or the smallest doubles."""
    s = rng.normal(size=n)
    return _both(rng, s * rng.choice([1e300, 1e-300, 1e150, 1e-150]), _drawn(rng, s))


def outliers(rng: np.random.Generator, n: int) -> Case:
    """Put one row in ten 10³ to 10¹⁰ away, on one side or on both, all of one class or of either."""
    s = rng.normal(size=n)
    y = _drawn(rng, 2 * s)
    far = rng.random(n) < 0.1
    sides, labels = [[-1, -1], [1, 1], [-1, 1]][rng.integers(3)], [[0, 0], [1, 1], [0, 1]][rng.integers(3)]
    s[far] = 10 ** rng.uniform(3, 10, far.sum()) * rng.choice(sides, far.sum())
    y[far] = rng.choice(labels, far.sum())
    return _both(rng, s, y)


def ranks(rng: np.random.Generator, n: int) -> Case:
    """Scores replaced by their ranks 1 … n."""
    z = rng.normal(size=n)
    return _both(rng, np.argsort(np.argsort(z)) + 1.0, _drawn(rng, rng.normal(0, 2) * z + rng.normal()))


def points(rng: np.random.Generator, n: int) -> Case:
    """Whole numbers: percents, deciles, credit scores from 300 to 850, or points of both signs."""
    z = rng.normal(size=n)
    low, high, middle, spread = [(0, 100, 50, 15), (1, 10, 5.5, 3), (300, 850, 600, 80), (-1000, 1000, 0, 100)][
        rng.integers(4)
    ]
    return _both(rng, np.clip(np.rint(middle + spread * z), low, high), _drawn(rng, 1.5 * z + rng.normal()))


def naive_bayes(rng: np.random.Generator, n: int) -> Case:
    """Raw log-odds of naive Bayes: of the right sign mostly, and too large by up to nine decades."""
    z = rng.normal(rng.normal(0, 2), 2, n)
    return _both(rng, z * 10 ** (rng.uniform(0, 9) * rng.beta(2, 2, n)), _drawn(rng, z))


FAMILIES: dict[str, Family] = {
    family.__name__.replace("_", " "): family
    for family in (
        sure_probabilities,
        sure_log_odds,
        log_normal,
        cauchy,
        decades,
        far_positives,
        sentinel,
        heavy_row,
        float_weights,
        large_counts,
        rare,
        few_values,
        near_ties,
        certain,
        reversed_scores,
        separable,
        extreme,
        outliers,
        ranks,
        points,
        naive_bayes,
    )
}


def network_problems(log_odds: bool) -> dict[str, Case]:
    """Return the twenty one-vs-rest problems of two networks on CIFAR-10, as probabilities or as log-odds."""
    found: dict[str, Case] = {}
    for network in ("lenet-5", "wideresnet-16-4"):
        prob, truth = _network(network)
        for k in range(prob.shape[1]):
            p = prob[:, k]
            if log_odds:
                rest = np.delete(prob, k, axis=1).sum(axis=1)
                tiny = np.finfo(np.float64).tiny
                p = np.log(np.maximum(p, tiny)) - np.log(np.maximum(rest, tiny))
            found[f"{network} {k}"] = p, (truth == k).astype(int), None
    return found


@cache
def _network(name: str) -> tuple[np.ndarray, np.ndarray]:
    folder = Path(os.environ["ODDSMITH_DATA"])
    with np.load(folder / f"nn_cifar10/{name}-cifar-10.npz") as stored:
        return stored["predictions"].astype(np.float64), stored["ground_truth"].ravel()
