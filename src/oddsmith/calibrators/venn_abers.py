"""Venn–Abers: isotonic regression twice, once for each label that the new case may have."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from oddsmith import _check, _kernels
from oddsmith._types import Floats, Ints, Weights
from oddsmith.calibrators._base import Calibrator, Fitted
from oddsmith.data import RandomState, Sample, ScoreTable, around
from oddsmith.maps import StepMap


@dataclass(eq=False, repr=False)
class VennAbersCalibrator(Calibrator):
    """Fit isotonic regression with the new case added, once as a negative and once as a positive.

    One of the two values p₀ ≤ p₁ is calibrated for any distribution; which one depends on the unknown
    label of the new case. They are not a confidence interval: the true probability of a case lies between them in a
    minority of cases, since they narrow faster than the fit becomes right. Their distance is how far one more case
    would move the fit. Merged into one number, it is isotonic regression that never predicts 0 or 1. Needs some
    hundred cases; with fewer the two lie far apart and the merged value close to ½.

    Parameters
    ----------
    n_folds : int, optional
        With k folds, cross Venn–Abers: k predictors, each without one random k-th of the cases, are merged. Steadier,
        and as a rule a little closer to the truth. Needs unweighted cases or counts.
    random_state : int, Generator or None, default 0
        Which cases go together in a fold.
    pos_label, input, clip
        As for every calibrator.

    Attributes
    ----------
    lower_, upper_ : StepMap
        p₀ and p₁ as functions of the score (of its log-odds with ``input="probability"``).

    See Also
    --------
    IsotonicCalibrator : One probability instead of a pair.
    oddsmith.bands.pointwise_band : Confidence limits of P.

    Notes
    -----
    p₀(s) and p₁(s) are the isotonic fits at s to the data with a case (s, 0) or (s, 1) of weight 1 added. The map is
    p = p₁/(1 − p₀ + p₁), the forecast whose worst log-loss regret over both labels is least. All values are found in
    one sort and a few passes, without a fit per case.

    With folds, p = G(p₁)/(G(1 − p₀) + G(p₁)), G being the geometric mean over the predictors, which again makes the
    worst regret least; p₀ and p₁ are their arithmetic means. In Vovk's cross Venn–Abers prediction a predictor is
    calibrated on one fold because the others trained its classifier. Here the scores come from a classifier that saw
    none of the cases, so that no part has to be set aside, and each predictor is calibrated on all folds but one.

    References
    ----------
    V. Vovk and I. Petej, Venn–Abers predictors, UAI 2014.
    V. Vovk, I. Petej and V. Fedorova, Large-scale probabilistic predictors with and without guarantees of validity,
    NIPS 2015.

    Examples
    --------
    >>> from oddsmith import VennAbersCalibrator
    >>> cal = VennAbersCalibrator().fit([-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1])
    >>> low, high = cal.predict_bounds([-1.5, 0.2, 2.0])
    >>> low.round(2), high.round(2), cal.predict_proba([-1.5, 0.2, 2.0])[:, 1].round(2)
    (array([0.  , 0.33, 0.5 ]), array([0.5 , 0.67, 1.  ]), array([0.33, 0.5 , 0.67]))
    """

    n_folds: int | None = None
    random_state: RandomState = 0

    lower_: StepMap = field(init=False)
    upper_: StepMap = field(init=False)

    _when_separable: ClassVar[str] = "only the added case keeps the fit from 0 and 1"

    def _check_parameters(self) -> None:
        if self.n_folds is not None:
            _check.whole_number(self.n_folds, "n_folds", low=2)
        if self.random_state is not None and not isinstance(self.random_state, np.random.Generator):
            _check.whole_number(self.random_state, "random_state", low=0)

    def predict_bounds(self, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Return p₀ and p₁, each of shape (n,): the fits with the case added as a negative and as a positive.

        Not a confidence interval of the true probability: see the class.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of new cases.

        Returns
        -------
        tuple[ndarray, ndarray]
        """
        check_is_fitted(self, "map_")
        s = self._declared_reading().enter(_check.as_scores(scores))
        return self.lower_.probability(s), self.upper_.probability(s)

    def _constant(self, data: Sample) -> Fitted:
        # The two are those of a single score, whose merged value is the add-one prior.
        score, n = np.array(data.span()[:1]), data.n_pos + data.n_neg
        lower, upper = (_step_map(score, np.full(3, pos / (n + 1))) for pos in (data.n_pos, data.n_pos + 1))
        return Fitted(super()._constant(data).map, {"lower_": lower, "upper_": upper})

    def _fit(self, table: ScoreTable) -> Fitted:
        tables = [table]
        if self.n_folds is not None:
            table.refuse_unknown_rows()
            tables = [fold.rest for fold in table.folds(self.n_folds, self.random_state)]
        predictors = [_value_steps(part) for part in tables]
        knots = np.unique(np.concatenate([steps.knots for pair in predictors for steps in pair]))
        if not len(knots):
            knots = table.scores[:1]  # weights so small that the added case is all there is
        # p₁ jumps after a score, p₀ at it.
        p0 = np.array([_along(knots, steps, "right") for steps, _ in predictors])
        p1 = np.array([_along(knots, steps, "left") for _, steps in predictors])
        lower, upper = (_step_map(knots, p.mean(axis=0)) for p in (p0, p1))
        negative, positive = (np.prod(p ** (1 / len(predictors)), axis=0) for p in (1 - p0, p1))
        # Close to 1 rounding may make the quotient fall where neither of the two does.
        merged = _step_map(knots, np.maximum.accumulate(positive / (negative + positive)))
        return Fitted(merged, {"lower_": lower, "upper_": upper})


class _Steps(NamedTuple):
    """A rising step function: ``values[i]`` after i of the ``knots``, which are scores."""

    knots: Floats
    values: Floats


class _Minorant(NamedTuple):
    """Vertices of the greatest convex minorant: their places, coordinates, and the slopes between them."""

    places: Ints
    weight: Floats
    positive: Floats
    slopes: Floats


def _value_steps(table: ScoreTable) -> tuple[_Steps, _Steps]:
    """Return p₀, whose knots count as passed at themselves, and p₁, whose knots do so after.

    Let Pᵢ = (Wᵢ, Cᵢ) be the weight and the positive weight of the first i distinct scores: the cumulative-sum diagram,
    whose greatest convex minorant has the isotonic fit as slopes. A new positive case above j of the scores has the
    value

        p₁(j) = max over l ≤ j of the slope of the tangent from Pₗ − (1, 1) to the minorant of all points,

    so the diagram need not be changed case by case. Only points close above the minorant can raise the maximum, and of
    these there are few; each takes one binary search among the vertices.
    """
    scores, pos, neg = table.scores, table.pos, table.neg
    starts, _ = _kernels.pool_violators(pos, neg)
    edges = np.append(starts, len(pos))
    places, upper = _positive_case(pos, neg, edges)
    # A negative case is a positive one in the mirror: scores from the other end, labels exchanged.
    mirrored, lower = _positive_case(neg[::-1], pos[::-1], len(pos) - edges[::-1])
    ends = len(pos) - mirrored[::-1]
    return _Steps(scores[ends[:-1]], 1 - lower[::-1]), _Steps(scores[places[1:] - 1], upper)


def _positive_case(pos: Weights, neg: Weights, edges: Ints) -> tuple[Ints, Floats]:
    """Return p₁ of a case above j scores, j = 0, …, m: from which j on it has another value, and the values."""
    positive = np.append(0.0, np.cumsum(pos, dtype=np.float64))
    weight = positive + np.append(0.0, np.cumsum(neg, dtype=np.float64))
    rise, run = np.diff(positive[edges]), np.diff(weight[edges])
    hull = _Minorant(edges, weight[edges], positive[edges], rise / run)
    near = _may_raise(weight, positive, hull)
    values = np.maximum.accumulate(_tangents(weight[near] - 1, positive[near] - 1, hull))
    first = np.append(True, values[1:] > values[:-1])
    return near[first], values[first]


def _may_raise(weight: Floats, positive: Floats, hull: _Minorant) -> Ints:
    """Return the vertices, and the points between whose tangent is steeper than those of all vertices before."""
    reached = np.maximum.accumulate(_tangents(hull.weight - 1, hull.positive - 1, hull))[:-1]
    touch = np.searchsorted(hull.slopes, reached)
    support = hull.positive[touch] - reached * hull.weight[touch]
    # Rounding may let a point pass that raises nothing, which is harmless.
    level = support + 1 - reached + 1e-12 * (1 + hull.weight[-1])
    size = np.diff(hull.places)
    inner = slice(0, hull.places[-1])
    below = np.repeat(reached, size)
    below *= weight[inner]
    below += np.repeat(level, size)
    below = positive[inner] <= below
    below[hull.places[:-1]] = True
    return np.append(np.flatnonzero(below), hull.places[-1])


def _tangents(weight: Floats, positive: Floats, hull: _Minorant) -> Floats:
    """Return the slope of the tangent from each point to the part of the minorant on its right.

    A point above the minorant has none; what is returned is then below the slope of the minorant there, and so below
    the values of the vertices before it.
    """
    last = len(hull.slopes)
    low = np.minimum(np.searchsorted(hull.weight, weight, side="right"), last)
    high = np.full_like(low, last)
    while np.any(low < high):
        middle = (low + high) // 2
        edge = hull.slopes[np.minimum(middle, last - 1)]
        done = hull.positive[middle] - positive <= edge * (hull.weight[middle] - weight)
        high = np.where(done, middle, high)
        low = np.where(done | (low == high), low, middle + 1)
    run = hull.weight[low] - weight
    # Among weights so large that one case is lost to rounding, the new case is alone where nothing lies on its right.
    return np.divide(hull.positive[low] - positive, run, out=np.ones(len(run)), where=run > 0)


def _along(knots: Floats, steps: _Steps, side: Literal["left", "right"]) -> Floats:
    """Return the values before, at, and after each knot in turn; a knot counts as passed at itself or after."""
    passed = np.zeros(2 * len(knots) + 1, np.intp)
    passed[1::2] = np.searchsorted(steps.knots, knots, side)
    passed[2::2] = np.searchsorted(steps.knots, knots, "right")
    return steps.values[passed]


def _step_map(knots: Floats, values: Floats) -> StepMap:
    """Return the steps with the values before, at, and after each knot in turn; "at" is as far as rounding goes."""
    ends = np.column_stack(around(knots)).ravel()
    apart = np.append(ends[1:] > ends[:-1], True)  # between neighboring doubles nothing is
    values = values[np.append(True, apart)]
    return StepMap(ends[apart], values[:-1], values)
