"""Spline calibration: smooth log-odds, as smooth as held-out cases want them."""

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators._base import Fitted, convergence_notes
from oddsmith.calibrators._log_odds_input import UnitCalibrator
from oddsmith.calibrators._selection import Selected
from oddsmith.data import ScoreTable, quantiles
from oddsmith.errors import NegativeSlopeWarning
from oddsmith.fitting import LABELS, LongDesign, ScoreScale, design, platt_targets, sketch
from oddsmith.maps import PolynomialMap

#: Penalties to choose from, the smoothest first, for log-odds of unit standard deviation.
_PENALTIES = 10.0 ** np.arange(5, -5, -1)

#: Ridge on the log-odds at the knots while penalties are compared, as a share of the
#: rarer class: part of the cases may be separable.
_RIDGE = 1e-8

#: Knots closer than this share of the range are one.
_CLOSE = 1e-9

#: How far inside the ends of the scores the outer knots lie, as a share of the weight between two knots: a knot at the
#: far end of a long tail would leave one cubic to follow all the tail.
_INWARDS = 0.1


@dataclass(eq=False, repr=False)
class SplineCalibrator(UnitCalibrator):
    """Fit log-odds that are a natural cubic spline of the log-odds, with a penalty on their curvature.

    Follows any smooth curve without the steps of isotonic regression, and is straight where the data do not bend it.
    Needs a few hundred cases; it may fall where they are sparse, with a warning.

    Parameters
    ----------
    n_knots : int, optional
        How many knots, at equally spaced percentiles, the outer ones about one percent inside the ends; by default the
        cube root of the weight, from 4 to 12.
    penalty : "holdout" or float, default "holdout"
        Weight λ of the penalty, for log-odds of unit standard deviation. "holdout" takes the best of 10⁵ … 10⁻⁴ on a
        fixed 30 % of the units of each class.
    pos_label, clip
        As for every calibrator.
    input : {"score", "probability", "log_odds"}, default "score"
        "score" reads scores that all lie in [0, 1] as probabilities, clipped to 2.2e−16 from 0 and 1, and
        others as log-odds. Scores that are not plausible as log-odds (some beyond ±37, or whole numbers that span 20 or
        more) are read as they are, clipped to ±37 or standardized to (s − median)/IQR, whichever forecasts best out of
        sample; whole numbers of one sign that span 2 or more, such as ratings or ranks, are standardized. "log_odds"
        uses scores as given.

    Attributes
    ----------
    knots_, weights_ : ndarray of shape (K,)
        Knots, as log-odds, and the calibrated log-odds at each.
    penalty_ : float
        The penalty used.
    input_ : {"probability", "log_odds", "clipped", "standardized"}
        How the scores were read.

    See Also
    --------
    MonotoneLogisticCalibrator : A curve that never falls.
    PiecewiseLogisticCalibrator : Straight pieces.

    Notes
    -----
    Minimizes the log-loss of the log-odds f(sᵢ) plus ½λ ∫f″² over natural cubic splines f, straight beyond the end
    knots, by Newton's method. The targets are Platt's instead of 0 and 1: cases of one class alone, as at the ends,
    would otherwise be nearly certain. Penalties are compared by labels.

    References
    ----------
    B. Lucena, Spline-based probability calibration, arXiv 1809.07751, 2018.
    P. Green and B. Silverman, Nonparametric regression and generalized linear models, 1994.

    Examples
    --------
    >>> import numpy as np
    >>> from oddsmith import SplineCalibrator
    >>> s = np.linspace(-3, 3, 200)
    >>> y = (np.sin(40 * s) < np.tanh(s)).astype(int)
    >>> SplineCalibrator().fit(s, y).predict_proba([-1.0, 0.0, 2.0])[:, 1].round(2)
    array([0.23, 0.5 , 0.92])
    """

    n_knots: int | None = None
    penalty: Literal["holdout"] | float = "holdout"

    penalty_: float = field(init=False)
    knots_: Floats = field(init=False)
    weights_: Floats = field(init=False)

    _when_separable: ClassVar[str] = "only Platt's targets keep the fit finite"
    _selects: ClassVar[tuple[Selected, ...]] = (Selected("penalty_", "penalty", 0.5),)

    def _check_parameters(self) -> None:
        if self.n_knots is not None:
            _check.whole_number(self.n_knots, "n_knots", low=2)
        if isinstance(self.penalty, str):
            _check.one_of(self.penalty, "penalty", ("holdout",))
        else:
            _check.number(self.penalty, "penalty", low=0, strict=True)

    def _fit(self, table: ScoreTable) -> Fitted:
        frame = ScoreScale.of(table)
        spread = math.sqrt(sketch(table, frame, np.empty(0)).variance)
        knots = self._place(table, frame)
        spline = NaturalSpline.over(frame.x(knots) / spread)
        shapes = spline.shapes
        long = LongDesign.of(table, frame, lambda x: spline.basis(x / spread) @ shapes, platt_targets(table), knots)
        # ∫f″² as a quadratic form in the coefficients of the shapes: the first two are straight.
        roughness = np.diag(np.append(np.zeros(2), np.ones(len(knots) - 2)))
        if isinstance(self.penalty, str):
            penalty, chosen_well = _choose_penalty(long, shapes, roughness)
        else:
            penalty, chosen_well = float(self.penalty), True
        fit = long.fit(penalty * roughness)
        notes = convergence_notes(fit.converged and chosen_well)
        weights = shapes @ fit.theta
        # From units of the standard deviation to those of the scale.
        units = spread ** -np.arange(4.0)
        fitted = PolynomialMap(knots, np.append(knots[0], knots), (spline.pieces @ weights) * units, frame.scale)
        if not fitted.is_monotone:
            notes.append((NegativeSlopeWarning, "The fitted curve falls somewhere."))
        return Fitted(fitted, {"penalty_": penalty, "knots_": knots, "weights_": weights}, notes)

    def _place(self, table: ScoreTable, frame: ScoreScale) -> Floats:
        size = self.n_knots or int(np.clip(math.ceil((table.n_pos + table.n_neg) ** (1 / 3)), 4, 12))
        edge = _INWARDS / (size - 1 + 2 * _INWARDS)
        knots = quantiles(table.scores, table.total, np.linspace(edge, 1 - edge, size))
        span = np.array(table.span())
        low, high = frame.x(span)
        x = frame.x(knots)
        kept = [0]
        for i in range(1, size):
            if x[i] - x[kept[-1]] > _CLOSE * (high - low):
                kept.append(i)
        return knots[kept] if len(kept) > 1 else span


class NaturalSpline(NamedTuple):
    """The natural cubic splines over given knots, linear in their values there and straight beyond the ends."""

    #: Ascending, two or more.
    knots: Floats
    #: Coefficients of 1, t, t², t³ in each piece for each value, shape (k + 1, 4, k); t is counted from ``origins``.
    pieces: Floats
    #: ∫f″² as a quadratic form in the values.
    roughness: Floats

    @property
    def origins(self) -> Floats:
        """Where t is 0 in each piece: the knot that it starts from, of the first the one where it ends."""
        return np.append(self.knots[0], self.knots)

    @classmethod
    def over(cls, knots: Floats) -> "NaturalSpline":
        """Return the splines over these knots (Green and Silverman 1994, section 2.1)."""
        k = len(knots)
        width = np.diff(knots)
        values = np.eye(k)
        slope = np.diff(values, axis=0) / width[:, None]
        bend = np.diff(slope, axis=0)
        inner = np.diag((width[:-1] + width[1:]) / 3) + np.diag(width[1:-1] / 6, 1) + np.diag(width[1:-1] / 6, -1)
        second = np.zeros((k, k))
        second[1:-1] = np.linalg.solve(inner, bend)
        first = slope - width[:, None] * (2 * second[:-1] + second[1:]) / 6
        last = slope[-1] + width[-1] * (second[-2] + 2 * second[-1]) / 6
        zero = np.zeros((1, k))
        pieces = np.stack(
            [
                np.vstack([values[:1], values]),
                np.vstack([first[:1], first, last[None]]),
                np.vstack([zero, second[:-1] / 2, zero]),
                np.vstack([zero, np.diff(second, axis=0) / (6 * width[:, None]), zero]),
            ],
            axis=1,
        )
        return cls(knots, pieces, bend.T @ second[1:-1])

    @property
    def shapes(self) -> Floats:
        """Values at the knots of k splines: a level, a slope about x = 0, and others of roughness 1.

        Fits in these coordinates are well conditioned where x = 0 lies amid the scores, however far some lie beyond the
        knots; fits in the values at the knots are not, since straight lines are differences of large ones.
        """
        rough, ways = np.linalg.eigh(self.roughness)
        bent = ways[:, 2:] / np.sqrt(rough[2:])
        return np.column_stack([np.ones_like(self.knots), self.knots / np.linalg.norm(self.knots), bent])

    def basis(self, x: Floats) -> Floats:
        """Return the spline at x for each value 1 at one knot, shape (n, k)."""
        result = np.empty((len(x), len(self.knots)))
        place = np.searchsorted(self.knots, x)
        for piece in range(int(place.min()), int(place.max()) + 1):
            here = place == piece
            t = x[here] - self.origins[piece]
            result[here] = np.vander(t, 4, increasing=True) @ self.pieces[piece]
        return result


def _choose_penalty(long: LongDesign, shapes: Floats, roughness: Floats) -> tuple[float, bool]:
    """Return the penalty with the least log-loss on held-out units, the smoothest of equals; and whether fits ended."""
    fitted, out = long.points.hold_out()
    at_pos = long.features(fitted.pos_x)
    train = design(fitted, long.features, LABELS, fitted.pos @ at_pos)
    ridge = _RIDGE * fitted.cases * shapes.T @ shapes
    best, least, theta, converged = float(_PENALTIES[0]), np.inf, None, True
    for penalty in _PENALTIES.tolist():
        theta, _, ended = train.fit(penalty * roughness + ridge, start=theta)
        converged &= ended
        loss = float(out.weight.ravel() @ np.logaddexp(0, train.columns @ theta) - out.pos @ at_pos @ theta)
        if loss < least * (1 - 1e-7):
            best, least = penalty, loss
    return best, converged
