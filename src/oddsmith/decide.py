"""Use probabilities: the decision of least expected cost, abstention, and what to label next.

Costs are given when a decision is made, never when a calibrator is fitted: a calibrated probability serves
every cost, and a change of costs needs no retraining.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith._check import as_array, as_distribution, fail, number, whole_number
from oddsmith._types import Floats

__all__ = ["binary_costs", "cost_threshold", "decide", "expected_cost", "uncertainty_sampling"]

ABSTAIN = -1
_EPS = float(np.finfo(np.float64).eps)


def decide(prob: ArrayLike, costs: ArrayLike, *, abstain: ArrayLike | None = None) -> NDArray[np.int64]:
    """Take the decision of least expected cost for every row.

    d(x) = argmin_d Σ_c C_dc·P(c|x). Expected costs are tied where rounding could have made the
    difference: P is known to a few units in its last place, and so is each term C_dc·P(c|x). Costs of other
    rows or decisions play no part, however large. Ties go to the lower index, so to the negative class of two.
    Do not use it on uncalibrated scores: a threshold on them has no meaning in costs.

    Parameters
    ----------
    prob : array of shape (n,) or (n, k)
        P(positive class), or the probabilities of k ≥ 2 classes with rows that sum to 1.
    costs : array of shape (d, k) or (n, d, k)
        C_dc is the cost of decision d when the class is c, for all rows or for each; for two classes see
        `binary_costs`. There may be more or fewer decisions than classes, and costs may be negative (gains).
    abstain : float or array of shape (n,), optional
        The price of not deciding, for all rows or for each. Where every decision is expected to cost more, the
        answer is −1.

    Returns
    -------
    array of int of shape (n,)
        The index of a decision, or −1 for abstention.

    See Also
    --------
    expected_cost : What each decision costs on average.
    binary_costs : Names the four costs of two classes.
    oddsmith.cutoffs.least_cost : A cut-off from labeled rows.

    References
    ----------
    Duda & Hart (1973), Pattern Classification and Scene Analysis; Chow (1970) for the price of abstention.

    Examples
    --------
    >>> costs = binary_costs(false_positive=1, false_negative=4)
    >>> decide([0.05, 0.2, 0.3], costs).tolist()
    [0, 0, 1]
    >>> decide([0.05, 0.4, 0.9], [[0, 1], [1, 0]], abstain=0.2).tolist()
    [0, -1, 1]
    >>> by_row = binary_costs(false_positive=1, false_negative=[2, 9])
    >>> decide([0.2, 0.2], by_row).tolist()
    [0, 1]
    """
    p, matrix = _check_shapes(prob, costs)
    risk, size = _total(p, matrix), _total(_weight_of_rounding(prob, p), np.abs(matrix))
    if abstain is not None:
        # One more decision, of a cost that is certain, after all others so that a tie decides.
        price = _cost(abstain, "abstain")
        if price.ndim and len(price) != len(p):
            got = f"{len(price)} prices for {len(p)} rows"
            fail("abstain must be a number or one per row", got, "pass one number for all")
        price = np.broadcast_to(price, (len(p),))
        risk, size = np.column_stack([risk, price]), np.column_stack([size, np.abs(price)])
    best = np.argmin(risk, axis=1)[:, None]
    slack = p.shape[1] * _EPS * (size + np.take_along_axis(size, best, axis=1))
    decision: NDArray[np.int64] = np.argmax(risk <= np.take_along_axis(risk, best, axis=1) + slack, axis=1)
    if abstain is not None:
        decision[decision == matrix.shape[-2]] = ABSTAIN
    return decision


def expected_cost(prob: ArrayLike, costs: ArrayLike) -> Floats:
    """Return the expected cost of every decision for every row.

    R_id = Σ_c C_dc·P(c|x_i). The smallest of a row is the price of the best decision, ``.min(axis=1)``.

    Parameters
    ----------
    prob : array-like of shape (n,) or (n, classes)
        P(+), or rows of class probabilities.
    costs : array-like of shape (decisions, classes) or (n, decisions, classes)
        ``costs[d][c]`` is the cost of decision d when the class is c; with three axes, of each row.

    Returns
    -------
    array of shape (n, d)

    See Also
    --------
    decide : The decision of least expected cost.

    Examples
    --------
    >>> expected_cost([0.25], binary_costs(false_positive=1, false_negative=4)).tolist()
    [[1.0, 0.75]]
    """
    return _total(*_check_shapes(prob, costs))


def binary_costs(
    *,
    false_positive: ArrayLike,
    false_negative: ArrayLike,
    true_positive: ArrayLike = 0.0,
    true_negative: ArrayLike = 0.0,
) -> Floats:
    """Return the cost matrix C_dc of `decide` from the four named costs of a two-class decision.

    Decision and class 0 are the negative ones: C = [[TN, FN], [FP, TP]]. Numbers make one matrix of shape (2, 2);
    where any cost is an array of shape (n,), each row has its own, and the shape is (n, 2, 2).

    Parameters
    ----------
    false_positive : float or array of shape (n,)
        The cost of acting on a negative case.
    false_negative : float or array of shape (n,)
        The cost of not acting on a positive case.
    true_positive : float or array of shape (n,), default 0
        The cost of acting on a positive case.
    true_negative : float or array of shape (n,), default 0
        The cost of not acting on a negative case.

    Returns
    -------
    ndarray

    See Also
    --------
    decide : Takes them.
    cost_threshold : The threshold that they imply.

    Examples
    --------
    >>> binary_costs(false_positive=1, false_negative=4).tolist()
    [[0.0, 4.0], [1.0, 0.0]]
    >>> binary_costs(false_positive=1, false_negative=[4, 90]).shape
    (2, 2, 2)
    """
    named = {
        "true_negative": true_negative,
        "false_negative": false_negative,
        "false_positive": false_positive,
        "true_positive": true_positive,
    }
    costs = [_cost(cost, name) for name, cost in named.items()]
    if len({cost.shape for cost in costs if cost.ndim}) > 1:
        lengths = ", ".join(f"{name} {cost.shape}" for name, cost in zip(named, costs, strict=True) if cost.ndim)
        fail("costs of each row must be equally long", lengths, "pass one number for all rows, or one per row")
    matrices = np.stack(np.broadcast_arrays(*costs), axis=-1)
    return matrices.reshape(*matrices.shape[:-1], 2, 2)


def cost_threshold(costs: ArrayLike) -> float | Floats:
    """Return the probability above which the positive decision is the cheaper one.

    Decide positive iff P > (c_FP − c_TN)/(c_FP − c_TN + c_FN − c_TP). The denominator must be positive:
    otherwise a higher P would favor the negative decision. A threshold below 0 or of 1 and more means
    that one decision is always the cheaper one. `decide` agrees with it, except that P within a few units in the last
    place of the threshold is a tie there.

    Parameters
    ----------
    costs : array of shape (2, 2) or (n, 2, 2)
        C_dc, as made by `binary_costs`, for all rows or for each.

    Returns
    -------
    float, or array of shape (n,)

    See Also
    --------
    decide : Decides row by row.
    oddsmith.cutoffs.least_cost : From labeled rows.

    References
    ----------
    Elkan (2001), The foundations of cost-sensitive learning.

    Examples
    --------
    >>> cost_threshold(binary_costs(false_positive=1, false_negative=4))
    0.2
    """
    matrix = as_array(costs, "costs", (2, 3))
    if matrix.shape[-2:] != (2, 2):
        must = "costs must have shape (2, 2) or (n, 2, 2)"
        fail(must, f"shape {matrix.shape}", "use decide for more than two classes")
    # A quarter of each cost, so that no sum of four overflows.
    true_negative, false_negative, false_positive, true_positive = np.moveaxis(matrix.reshape(-1, 4) / 4, -1, 0)
    needless, missed = false_positive - true_negative, false_negative - true_positive
    wrong = ~(needless + missed > 0)
    if wrong.any():
        first = int(np.argmax(wrong))
        (tn, fn), (fp, tp) = matrix.reshape(-1, 2, 2)[first].tolist()
        fail(
            "being wrong must cost more than being right: FP − TN + FN − TP > 0",
            f"FP={fp:g}, TN={tn:g}, FN={fn:g}, TP={tp:g}" + (f" in row {first}" if matrix.ndim == 3 else ""),
            "check the order of the matrix: costs[d][c], decision d, class c",
        )
    threshold = needless / (needless + missed)
    # Missing a certain positive costs something: then P = 1 lies above the threshold, however it is rounded.
    threshold = np.where(missed > 0, np.minimum(threshold, np.nextafter(1.0, 0.0)), threshold)
    return threshold if matrix.ndim == 3 else float(threshold[0])


def uncertainty_sampling(prob: ArrayLike, k: int) -> NDArray[np.int64]:
    """Choose the k items of a pool whose probabilities are nearest to ½.

    Two classes: smallest |P − ½|. More: smallest margin between the two most probable classes, which is the
    same rule for two. Ties (to 12 decimals) by index. Label them, retrain, recalibrate, repeat. The choice is
    not a random sample: never judge a calibrator on it.

    Parameters
    ----------
    prob : array of shape (n,) or (n, classes)
        P(+), or rows of class probabilities.
    k : int
        How many, at most n.

    Returns
    -------
    array of int of shape (k,)
        Indices into the pool, most uncertain first.

    See Also
    --------
    oddsmith.planning.labels_needed : How many labels are needed.

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


def _check_shapes(prob: ArrayLike, costs: ArrayLike) -> tuple[Floats, Floats]:
    """Return class probabilities of shape (n, k), and costs of shape (d, k) or (n, d, k) that fit them."""
    matrix = as_array(costs, "costs", (2, 3))
    p = as_distribution(prob)
    if matrix.shape[-1] != p.shape[1]:
        fail(
            "costs must have one column per class",
            f"costs of shape {matrix.shape} for {p.shape[1]} classes",
            "costs[d][c] is the cost of decision d when the class is c",
        )
    if matrix.ndim == 3 and len(matrix) != len(p):
        fail(
            "costs with three axes must have one matrix per row of prob",
            f"costs of shape {matrix.shape} for {len(p)} rows",
            "costs[i][d][c] is the cost of decision d on row i when the class is c",
        )
    return p, matrix


def _total(by_class: Floats, matrix: Floats) -> Floats:
    """Return Σ_c matrix[d][c]·by_class[i][c], of one matrix or of one per row."""
    return np.asarray(by_class @ matrix.T if matrix.ndim == 2 else (matrix @ by_class[:, :, None])[:, :, 0])


def _weight_of_rounding(prob: ArrayLike, p: Floats) -> Floats:
    """Return how far P(c) may be off, in units of its last place.

    A probability is off in proportion to itself; but 1 − P, as P of the other class, in proportion to P too.
    """
    if np.ndim(prob) == 2:
        return p
    positive = p[:, 1]
    return np.column_stack([np.where(positive < 1, 1.0, 0.0), positive])


def _cost(value: ArrayLike, name: str) -> Floats:
    """Return a finite cost for all rows, without axes, or one per row."""
    if np.ndim(value) == 0:
        return np.asarray(number(value, name, low=-np.inf))
    return as_array(value, name, (1,))
