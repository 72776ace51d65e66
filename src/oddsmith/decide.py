"""Use probabilities: the decision of least expected cost, abstention, and what to label next.

Costs are given when a decision is made, never when a calibrator is fitted: a calibrated probability serves
every cost, and a change of costs needs no retraining.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith._check import Floats, as_array, as_distribution, fail, number, whole_number

__all__ = ["binary_costs", "cost_threshold", "decide", "expected_cost", "uncertainty_sampling"]

ABSTAIN = -1
# Products such as 0.3 · 7 and 0.7 · 3 differ in their last bit: without slack rounding would break a tie.
_SLACK = 1e-12


def decide(prob: ArrayLike, costs: ArrayLike, *, abstain: float | None = None) -> NDArray[np.int64]:
    """Take the decision of least expected cost for every row.

    The decision is argmin_d Σ_c C[d][c]·P(c|x). Expected costs that differ by less than 1e-12 of the
    largest cost are tied; ties go to the lower index, so to the negative class of two. Do not use it on
    uncalibrated scores: a threshold on them has no meaning in costs.

    Parameters
    ----------
    prob : array of shape (n,) or (n, k)
        P(positive class), or the probabilities of k ≥ 2 classes with rows that sum to 1.
    costs : array of shape (d, k)
        C[d][c] is the cost of decision d when the class is c; for two classes see `binary_costs`. There may
        be more or fewer decisions than classes, and costs may be negative (gains).
    abstain : float, optional
        The price of not deciding. Where every decision is expected to cost more, the answer is −1.

    Returns
    -------
    array of int of shape (n,)
        The index of a decision, or −1 for abstention.

    References
    ----------
    Duda & Hart (1973), Pattern Classification and Scene Analysis; Chow (1970) for the price of abstention.

    Examples
    --------
    >>> decide([0.05, 0.2, 0.3], binary_costs(false_positive=1, false_negative=4)).tolist()
    [0, 0, 1]
    >>> decide([0.05, 0.4, 0.9], [[0, 1], [1, 0]], abstain=0.2).tolist()
    [0, -1, 1]
    """
    matrix = as_array(costs, "costs", (2,))
    if abstain is not None:
        # Abstention is one more decision, of constant cost, after all others so that a tie decides.
        matrix = np.vstack([matrix, np.full(matrix.shape[1], number(abstain, "abstain", low=-np.inf))])
    risk = expected_cost(prob, matrix)
    slack = _SLACK * np.abs(matrix).max()
    decision: NDArray[np.int64] = np.argmax(risk <= risk.min(axis=1, keepdims=True) + slack, axis=1)
    if abstain is not None:
        decision[decision == len(matrix) - 1] = ABSTAIN
    return decision


def expected_cost(prob: ArrayLike, costs: ArrayLike) -> Floats:
    """Return the expected cost of every decision for every row.

    R[i][d] = Σ_c C[d][c]·P(c|x_i). The smallest of a row is the price of the best decision, ``.min(axis=1)``.

    Parameters
    ----------
    prob, costs
        As in `decide`.

    Returns
    -------
    array of shape (n, d)

    Examples
    --------
    >>> expected_cost([0.25], binary_costs(false_positive=1, false_negative=4)).tolist()
    [[1.0, 0.75]]
    """
    matrix = as_array(costs, "costs", (2,))
    p = as_distribution(prob)
    if matrix.shape[1] != p.shape[1]:
        fail(
            "costs must have one column a class",
            f"costs of shape {matrix.shape} for {p.shape[1]} classes",
            "costs[d][c] is the cost of decision d when the class is c",
        )
    risk: Floats = p @ matrix.T
    return risk


def binary_costs(
    *, false_positive: float, false_negative: float, true_positive: float = 0.0, true_negative: float = 0.0
) -> Floats:
    """Name the four costs of a two-class decision, and get the matrix C[d][c] that `decide` takes.

    Decision and class 0 are the negative ones: C = [[TN, FN], [FP, TP]].

    Examples
    --------
    >>> binary_costs(false_positive=1, false_negative=4).tolist()
    [[0.0, 4.0], [1.0, 0.0]]
    """
    named = {
        "true_negative": true_negative,
        "false_negative": false_negative,
        "false_positive": false_positive,
        "true_positive": true_positive,
    }
    return np.array([number(cost, name, low=-np.inf) for name, cost in named.items()]).reshape(2, 2)


def cost_threshold(costs: ArrayLike) -> float:
    """Return the probability above which the positive decision is the cheaper one.

    Decide positive iff P > (c_FP − c_TN)/(c_FP − c_TN + c_FN − c_TP). The denominator must be positive:
    otherwise a higher P would speak against the positive decision. A threshold below 0 or of 1 and more means
    that one decision is always the cheaper one.

    Parameters
    ----------
    costs : array of shape (2, 2)
        C[d][c], as made by `binary_costs`.

    References
    ----------
    Elkan (2001), The foundations of cost-sensitive learning.

    Examples
    --------
    >>> cost_threshold(binary_costs(false_positive=1, false_negative=4))
    0.2
    """
    matrix = as_array(costs, "costs", (2,))
    if matrix.shape != (2, 2):
        fail("costs must have shape (2, 2)", f"shape {matrix.shape}", "use decide for more than two classes")
    (true_negative, false_negative), (false_positive, true_positive) = matrix.tolist()
    needless, missed = false_positive - true_negative, false_negative - true_positive
    if not needless + missed > 0:
        fail(
            "being wrong must cost more than being right: FP − TN + FN − TP > 0",
            f"FP={false_positive:g}, TN={true_negative:g}, FN={false_negative:g}, TP={true_positive:g}",
            "check the order of the matrix: costs[d][c], decision d, class c",
        )
    return float(needless / (needless + missed))


def uncertainty_sampling(prob: ArrayLike, k: int) -> NDArray[np.int64]:
    """Choose the k items of a pool whose labels would teach most.

    Two classes: smallest |P − ½|. More: smallest margin between the two most probable classes, which is the
    same rule for two. Ties (to 12 decimals) by index. Label them, retrain, recalibrate, repeat. The choice is
    not a random sample: never judge a calibrator on it.

    Parameters
    ----------
    prob : array of shape (n,) or (n, classes)
        As in `decide`.
    k : int
        How many, at most n.

    Returns
    -------
    array of int of shape (k,)
        Indices into the pool, most uncertain first.

    References
    ----------
    Lewis & Gale (1994), A sequential algorithm for training text classifiers.

    Examples
    --------
    >>> uncertainty_sampling([0.02, 0.48, 0.9, 0.53], 2).tolist()
    [1, 3]
    """
    p = as_distribution(prob)
    if whole_number(k, "k", low=1) > len(p):
        fail("k must be at most the size of the pool", f"k={k} for {len(p)} items", "take a smaller k")
    runner_up, top = np.partition(p, -2, axis=1)[:, -2:].T
    return np.argsort(np.round(top - runner_up, 12), kind="stable")[:k]
