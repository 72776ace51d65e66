"""Piecewise logistic regression: log-odds that bend at a few knots."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators._base import Calibrator, Fitted, Note, convergence_notes
from oddsmith.calibrators._knots import GrowthStep, KnotSearch, PiecewiseFit
from oddsmith.calibrators._selection import Selected
from oddsmith.data import ScoreTable, is_separable, quantiles
from oddsmith.errors import NegativeSlopeWarning, SeparableWarning
from oddsmith.fitting import ScoreScale, sketch
from oddsmith.maps import PolynomialMap

_TENTHS = np.arange(1, 10) / 10
_TWENTIETHS = np.arange(1, 20) / 20

#: Ridge on the log-odds at the knots, as a share of the rarer class's weight, where the data alone have no finite fit.
_RIDGE = 1e-8


@dataclass(eq=False, repr=False)
class PiecewiseLogisticCalibrator(Calibrator):
    """Fit log-odds that are continuous and linear by pieces.

    Three pieces follow what scores of real classifiers look like: easy negatives, a hard middle, easy positives.
    Flexible enough for most scores and steadier than isotonic regression with few cases.

    Parameters
    ----------
    n_pieces : 3 or "grow", default 3
        Three pieces, the two inner knots chosen among the 10, 20, …, 90 % percentiles of the negative and of the
        positive scores by training likelihood; or hill climbing from one piece, adding the best of the 5, 10, …, 95 %
        percentiles of all scores while ``selection`` allows.
    selection : {"gain", "aic", "bic"}, default "gain"
        When to stop growing: at a gain below 1 % of the log-likelihood, or when AIC or BIC no longer fall (each piece
        counts as one parameter more).
    penalty : "holdout" or float, default "holdout"
        Penalty λ on squared changes of slope. "holdout" takes the best of 10⁻⁴ … 10³, for scores of unit standard
        deviation, on a fixed 30 % of the units of each class; a number is meant on the scale of the scores.
    knots : sequence of float, optional
        Inner knots, given instead of chosen.
    monotone : bool, default False
        Constrain all slopes to be ≥ 0.
    outside : {"linear", "clip", "literal"}, default "linear"
        Beyond the calibration scores continue the end pieces, keep the end values, or predict P = ½ (the published
        basis read literally).
    end_epsilon : float, optional
        The last knot is max s + ε; by default 1e−6 times the range.
    pos_label, input, clip
        As for every calibrator.

    Attributes
    ----------
    knots_, weights_ : ndarray of shape (K + 1,)
        All knots, ends included, and the log-odds at each.
    slopes_ : ndarray of shape (K,)
    penalty_ : float
        The penalty used, on the scale of the scores.
    log_likelihood_ : float
    percentiles_ : tuple of int or None
        Of the chosen pair: percentile of the negative and of the positive scores.
    trace_ : list of GrowthStep
        Hill climbing, step by step.

    See Also
    --------
    MonotoneLogisticCalibrator : Never falls, and chooses its pieces.
    SplineCalibrator : A smooth curve.

    Notes
    -----
    Minimizes Σ log(1 + exp(−yᵢf(sᵢ))) + λ Σ (slopeⱼ − slopeⱼ₋₁)². Pairs are compared by unpenalized likelihood at the
    penalized solution, the first wins ties, pairs out of order are skipped. With perfectly separated classes, or with
    λ = 0 and a piece that the data leave free, a ridge on the log-odds at the knots, 10⁻⁸ times the weight of the rarer
    class, keeps the fit finite.

    References
    ----------
    J. Zhang and Y. Yang, Probabilistic score estimation with piecewise logistic regression, ICML 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from oddsmith import PiecewiseLogisticCalibrator
    >>> s = np.linspace(-3, 3, 200)
    >>> y = (np.sin(40 * s) < np.tanh(s)).astype(int)
    >>> PiecewiseLogisticCalibrator().fit(s, y).slopes_.round(1)
    array([8.7, 1.2, 8.7])
    """

    n_pieces: Literal[3, "grow"] = 3
    selection: Literal["gain", "aic", "bic"] = "gain"
    penalty: Literal["holdout"] | float = "holdout"
    knots: Sequence[float] | None = None
    monotone: bool = False
    outside: Literal["linear", "clip", "literal"] = "linear"
    end_epsilon: float | None = None

    knots_: Floats = field(init=False)
    weights_: Floats = field(init=False)
    slopes_: Floats = field(init=False)
    penalty_: float = field(init=False)
    log_likelihood_: float = field(init=False)
    percentiles_: tuple[int, int] | None = field(init=False)
    trace_: list[GrowthStep] = field(init=False)

    _when_separable: ClassVar[str] = "a small ridge keeps the fit finite"
    _selects: ClassVar[tuple[Selected, ...]] = (Selected("knots_", "knots"), Selected("penalty_", "penalty", 0.5))

    def _check_parameters(self) -> None:
        _check.one_of(self.n_pieces, "n_pieces", (3, "grow"))
        _check.one_of(self.selection, "selection", ("gain", "aic", "bic"))
        _check.one_of(self.monotone, "monotone", (True, False))
        _check.one_of(self.outside, "outside", ("linear", "clip", "literal"))
        if not isinstance(self.penalty, str):
            _check.number(self.penalty, "penalty", low=0)
        else:
            _check.one_of(self.penalty, "penalty", ("holdout",))
        if self.end_epsilon is not None:
            _check.number(self.end_epsilon, "end_epsilon", low=0)

    def _fit(self, table: ScoreTable) -> Fitted:
        sets, percentiles = self._offer(table)
        frame = ScoreScale.of(table)
        data = sketch(table, frame, np.sort(sets.ravel()))
        climb = self.selection if self.n_pieces == "grow" and self.knots is None else None
        search = KnotSearch(
            data, frame.x(sets), climb, self.monotone, _RIDGE * data.cases if is_separable(table) else 0.0
        )
        if isinstance(self.penalty, str):
            penalty = search.held_out_penalty()
            used = penalty * frame.scale * frame.scale
        else:
            used = float(self.penalty)
            # Beyond this the log-odds are straight to the last bit.
            penalty = min(used / frame.scale / frame.scale, 1e100)
        notes: list[Note] = []
        fit = search.fit(penalty)
        if not search.ridge and fit.is_loose:
            notes.append(
                (SeparableWarning, "The data do not determine one of the pieces: a small ridge keeps the fit finite.")
            )
            fit = replace(search, ridge=_RIDGE * data.cases).fit(penalty)
        fit, converged = fit.polish(table, frame)
        candidates = dict(zip(search.sets.ravel().tolist(), sets.ravel().tolist(), strict=True))
        inner = np.array([candidates[x] for x in fit.knots.tolist()])
        found = self._finish(table, frame, inner, fit)
        attributes = {
            **found.attributes,
            "penalty_": used,
            "log_likelihood_": fit.log_likelihood,
            "percentiles_": percentiles[fit.choice] if percentiles else None,
            "trace_": [step if step.knot is None else step._replace(knot=candidates[step.knot]) for step in fit.trace],
        }
        return Fitted(found.map, attributes, [*notes, *convergence_notes(converged), *found.notes])

    def _offer(self, table: ScoreTable) -> tuple[Floats, list[tuple[int, int]]]:
        """Return knot sets to choose from, as scores, and which percentiles of the classes they are, if any."""
        low, high = table.span()
        if self.knots is not None:
            inner = np.asarray(self.knots, dtype=np.float64)
            if inner.ndim != 1 or not np.isfinite(inner).all() or np.any(np.diff(inner) <= 0):
                _check.fail("knots must be finite and ascending", f"knots={self.knots!r}", "sort them and drop repeats")
            return inner[None], []
        if self.n_pieces == "grow":
            inner = np.unique(quantiles(table.scores, table.total, _TWENTIETHS))
            return inner[(inner > low) & (inner < high), None], []
        negative = quantiles(table.scores, table.neg, _TENTHS)
        positive = quantiles(table.scores, table.pos, _TENTHS)
        pairs = [
            ((a, b), (10 * i, 10 * j))
            for i, a in enumerate(negative, 1)
            for j, b in enumerate(positive, 1)
            if low < a < b < high
        ]
        sets = np.array([knots for knots, _ in pairs]) if pairs else np.empty((1, 0))
        return sets, [names for _, names in pairs]

    def _finish(self, table: ScoreTable, frame: ScoreScale, inner: Floats, fit: PiecewiseFit) -> Fitted:
        """Return what was fitted, on the scale of the scores."""
        low, high = table.span()
        margin = 2e-6 * (high / 2 - low / 2) if self.end_epsilon is None else self.end_epsilon
        knots = np.array([low, *inner, min(high + margin, float(np.finfo(np.float64).max))])
        weights = fit.log_odds(frame.x(knots))
        slopes = fit.slopes
        if self.monotone:
            slopes = np.maximum(slopes, 0.0)
        attributes = {"knots_": knots, "weights_": weights, "slopes_": slopes / frame.scale}
        notes: list[Note] = []
        if np.any(slopes < -1e-12 * np.abs(slopes).max()):
            message = f"A piece falls (slopes {np.array2string(attributes['slopes_'], precision=3)})."
            notes.append((NegativeSlopeWarning, message))
        # Each piece is expanded about the inner knot that it starts from, the first about the one where it ends.
        about = np.maximum(np.arange(len(slopes)), 1) if len(inner) else np.zeros(1, int)
        origins = knots[about]
        coefficients = np.column_stack([weights[about], slopes, np.zeros_like(slopes)])
        if self.outside == "linear":
            return Fitted(PolynomialMap(inner, origins, coefficients, frame.scale), attributes, notes)
        ends = weights[[0, -1]] if self.outside == "clip" else np.zeros(2)
        flat = np.column_stack([ends, np.zeros((2, 2))])
        held = PolynomialMap(
            np.array([np.nextafter(low, -np.inf), *inner, knots[-1]]),  # the first knot is in the first piece
            np.array([low, *origins, high]),
            np.vstack([flat[:1], coefficients, flat[1:]]),
            frame.scale,
        )
        return Fitted(held, attributes, notes)
