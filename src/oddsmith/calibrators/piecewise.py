"""Piecewise logistic regression: log-odds that bend at a few knots."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from oddsmith import _check
from oddsmith._check import Floats
from oddsmith.calibrators._base import Calibrator, Laws
from oddsmith.calibrators._hinges import HingeFits, hinges
from oddsmith.calibrators._line import exact_pass
from oddsmith.calibrators._sketch import Sketch, sketch
from oddsmith.errors import NegativeSlopeWarning, NonConvergenceWarning, SeparableWarning
from oddsmith.maps import CalibrationMap, PolynomialMap
from oddsmith.table import ScoreTable

__all__ = ["PiecewiseLogisticCalibrator"]

_TENTHS = np.arange(1, 10) / 10
_TWENTIETHS = np.arange(1, 20) / 20

#: Penalties tried on the hold-out, on scores scaled to unit standard deviation.
_GRID = 10.0 ** np.arange(3, -5, -1)

#: Ridge on the log-odds at the knots, as a share of N, where the data alone have no finite fit.
_RIDGE = 1e-8


class GrowthStep(NamedTuple):
    """One step of hill climbing: pieces, log-likelihood, the knot added, and whether it was kept."""

    pieces: int
    log_likelihood: float
    knot: float | None
    kept: bool


class _Frame(NamedTuple):
    """The standardised scale: x = s/scale − shift, with the standard deviation of the scores in x."""

    scale: float
    shift: float
    spread: float

    def x(self, scores: Floats) -> Floats:
        return scores / self.scale - self.shift


@dataclass(eq=False, repr=False)
class PiecewiseLogisticCalibrator(Calibrator):
    """Fit log-odds that are continuous and linear by pieces.

    Three pieces follow what scores of real classifiers look like: easy negatives, a hard middle, easy positives.
    Flexible enough for most scores and steadier than isotonic regression with few cases.

    Parameters
    ----------
    pieces : 3 or "grow", default 3
        Three pieces, the two inner knots chosen among the 10, 20, …, 90 % percentiles of the negative and of the
        positive scores by training likelihood; or hill climbing from one piece, adding the best of the 5, 10, …, 95 %
        percentiles of all scores while ``selection`` says so.
    selection : {"gain", "aic", "bic"}, default "gain"
        When to stop growing: at a gain below 1 % of the log-likelihood, or when AIC or BIC no longer fall (each piece
        counts as one parameter more).
    l2 : "holdout" or float, default "holdout"
        Penalty λ on squared changes of slope. "holdout" takes the best of 10⁻⁴ … 10³, for scores of unit standard
        deviation, on a fixed 30 % of the units of each class; a number is meant on the scale of the scores.
    knots : sequence of float, optional
        Inner knots, given instead of chosen.
    monotone : bool, default False
        Constrain all slopes to be ≥ 0.
    outside : {"linear", "clip", "literal"}, default "linear"
        Beyond the calibration scores continue the end pieces, hold the end values, or say P = ½ (the published basis
        read literally).
    end_epsilon : float, optional
        The last knot is max s + ε; by default 1e−6 times the range.
    pos_label, input, clip
        As for every calibrator.

    Attributes
    ----------
    knots_, weights_ : ndarray of shape (K + 1,)
        All knots, ends included, and the log-odds at each.
    slopes_ : ndarray of shape (K,)
    l2_ : float
        The penalty used, on the scale of the scores.
    log_likelihood_ : float
    percentiles_ : tuple of int or None
        Of the chosen pair: percentile of the negative and of the positive scores.
    trace_ : list of GrowthStep
        Hill climbing, step by step.

    Notes
    -----
    Minimises Σ log(1 + exp(−yᵢf(sᵢ))) + λ Σ (slopeⱼ − slopeⱼ₋₁)². Pairs are compared by unpenalised likelihood at the
    penalised solution, the first wins ties, pairs out of order are skipped. With perfectly separated classes, or with
    λ = 0 and a piece that the data leave free, a ridge of 10⁻⁸N on the log-odds at the knots keeps the fit finite.

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
    array([3. , 0.9, 3.2])
    """

    pieces: Literal[3, "grow"] = 3
    selection: Literal["gain", "aic", "bic"] = "gain"
    l2: Literal["holdout"] | float = "holdout"
    knots: Sequence[float] | None = None
    monotone: bool = False
    outside: Literal["linear", "clip", "literal"] = "linear"
    end_epsilon: float | None = None

    _when_separable: ClassVar[str] = "a small ridge keeps the fit finite"

    def _check_parameters(self) -> None:
        _check.one_of(self.pieces, "pieces", (3, "grow"))
        _check.one_of(self.selection, "selection", ("gain", "aic", "bic"))
        _check.one_of(self.monotone, "monotone", (True, False))
        _check.one_of(self.outside, "outside", ("linear", "clip", "literal"))
        if not isinstance(self.l2, str):
            _check.number(self.l2, "l2", low=0)
        else:
            _check.one_of(self.l2, "l2", ("holdout",))
        if self.end_epsilon is not None:
            _check.number(self.end_epsilon, "end_epsilon", low=0)

    def _laws(self) -> Laws:
        laws = {"shift"} if self.knots is None else set()
        if self.l2 in ("holdout", 0) and self.knots is None:
            laws.add("scale")
        return frozenset(laws | {"monotone"} if self.monotone else laws)

    def _fit(self, table: ScoreTable) -> CalibrationMap:
        choices = self._choices(table)
        frame = _frame(table)
        data = sketch(table, frame.scale, frame.shift, choices.breaks)
        ridge = _RIDGE * data.n if self._separable else 0.0
        search = _Search(data, choices, frame, ridge, self.monotone, self.selection)
        unit = frame.spread * frame.spread
        if isinstance(self.l2, str):
            penalty = search.best_penalty(_GRID * unit) if search.holds_out else unit
            self.l2_ = penalty * frame.scale * frame.scale
        else:
            self.l2_ = float(self.l2)
            penalty = min(self.l2_ / frame.scale / frame.scale, 1e280)
        fit = search.fit(penalty)
        if not ridge and fit.is_loose():
            self._warn(SeparableWarning, "The data leave a piece free; a small ridge keeps the fit finite.")
            search = search._replace(ridge=_RIDGE * data.n)
            fit = search.fit(penalty)
        converged = fit.polish(table, frame)
        if not converged:
            self._warn(NonConvergenceWarning, "Newton's method stopped before its tolerance; the fit may be off.")
        self.trace_ = [step._replace(knot=choices.score_of(step.knot)) for step in fit.trace]
        self.percentiles_ = choices.percentiles_of(fit.knots)
        self.log_likelihood_ = fit.log_likelihood
        return self._finish(table, frame, choices.scores_of(fit.knots), fit)

    def _choices(self, table: ScoreTable) -> "_Choices":
        low, high = table.span()
        frame = _frame(table)
        if self.knots is not None:
            inner = np.asarray(self.knots, dtype=np.float64)
            if inner.ndim != 1 or not np.isfinite(inner).all() or np.any(np.diff(inner) <= 0):
                _check.fail("knots must be finite and ascending", f"knots={self.knots!r}", "sort them and drop repeats")
            return _Choices(frame, inner, inner[None], None, False)
        if self.pieces == "grow":
            inner = np.unique(percentiles(table.scores, table.total, _TWENTIETHS))
            inner = inner[(inner > low) & (inner < high)]
            return _Choices(frame, inner, inner[:, None], None, True)
        negative = percentiles(table.scores, table.neg, _TENTHS)
        positive = percentiles(table.scores, table.pos, _TENTHS)
        pairs = np.array([(a, b) for a in negative for b in positive])
        valid = (low < pairs[:, 0]) & (pairs[:, 0] < pairs[:, 1]) & (pairs[:, 1] < high)
        names = [(10 * i, 10 * j) for i in range(1, 10) for j in range(1, 10)]
        chosen = pairs[valid] if valid.any() else np.empty((1, 0))
        named = [name for name, fine in zip(names, valid, strict=True) if fine] if valid.any() else None
        return _Choices(frame, np.unique(chosen), chosen, named, False)

    def _finish(self, table: ScoreTable, frame: _Frame, inner: Floats, fit: "_Fit") -> PolynomialMap:
        low, high = table.span()
        margin = 1e-6 * (high / 2 - low / 2) * 2 if self.end_epsilon is None else self.end_epsilon
        self.knots_ = np.concatenate([[low], inner, [min(high + margin, np.finfo(np.float64).max)]])
        x = frame.x(self.knots_)
        at = (hinges(x, fit.knots[None]) @ fit.theta)[0]
        slopes = np.cumsum(fit.theta[1:])
        if self.monotone:
            slopes = np.maximum(slopes, 0.0)
        self.weights_, self.slopes_ = at, slopes / frame.scale
        if np.any(slopes < -1e-12 * np.abs(slopes).max()):
            self._warn(NegativeSlopeWarning, f"A piece falls (slopes {np.array2string(self.slopes_, precision=3)}).")
        origins = np.concatenate([self.knots_[1:-1][:1], self.knots_[1:-1]]) if len(inner) else self.knots_[:1]
        levels = np.concatenate([at[1:-1][:1], at[1:-1]]) if len(inner) else at[:1]
        coefficients = np.column_stack([levels, slopes, np.zeros_like(slopes)])
        knots = inner
        if self.outside != "linear":
            ends = at[[0, -1]] if self.outside == "clip" else np.zeros(2)
            rows = np.column_stack([ends, np.zeros((2, 2))])
            coefficients = np.vstack([rows[:1], coefficients, rows[1:]])
            origins = np.concatenate([[low], origins, [high]])
            # The first knot itself belongs to the first piece.
            knots = np.concatenate([[np.nextafter(low, -np.inf)], inner, self.knots_[-1:]])
        return PolynomialMap(knots, origins, coefficients, frame.scale)


class _Choices(NamedTuple):
    """Knot sets to choose from, as scores and on the standardised scale of the fit."""

    frame: _Frame
    breaks: Floats
    sets: Floats
    names: list[tuple[int, int]] | None
    grow: bool

    @property
    def x(self) -> Floats:
        return self.frame.x(self.sets)

    def score_of(self, x: float | None) -> float | None:
        return None if x is None else float(self.breaks[int(np.argmin(np.abs(self.frame.x(self.breaks) - x)))])

    def scores_of(self, x: Floats) -> Floats:
        return np.array([self.score_of(float(value)) for value in x], dtype=np.float64)

    def percentiles_of(self, x: Floats) -> tuple[int, int] | None:
        if self.names is None:
            return None
        return self.names[int(np.argmin(np.abs(self.x - x).sum(axis=1)))]


@dataclass
class _Fit:
    """One fitted knot set on the standardised scale."""

    knots: Floats
    fits: HingeFits
    basis: Floats
    log_likelihood: float
    trace: list[GrowthStep]

    @property
    def theta(self) -> Floats:
        return self.basis @ self.fits.theta[0]

    def is_loose(self) -> bool:
        """Whether the data hold some feature so weakly that its parameter may be anything."""
        _, _, hessian = self.fits._evaluate(np.arange(1), self.fits.theta)
        squares = np.einsum("n,np->p", self.fits.weight, self.fits.features[0] ** 2)
        return bool(np.any(np.diag(hessian[0]) < 1e-9 * squares) or np.any(squares == 0))

    def polish(self, table: ScoreTable, frame: _Frame) -> bool:
        """Repeat Newton's step on the table itself until it no longer matters."""
        fits = self.fits
        if len(fits.weight) == len(table):
            return bool(fits.converged[0])
        edges = np.searchsorted(table.scores, self.knots * frame.scale + frame.shift * frame.scale, side="right")
        bounds = [0, *edges, len(table)]
        total = None if table.kind == "count" and table.rows == len(table) else table.total
        for _ in range(20):
            gradient, hessian = np.zeros(len(self.basis)), np.zeros((len(self.basis),) * 2)
            for j, (start, stop) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
                # Slope and intercept of piece j as functions of the parameters.
                line = np.zeros((2, len(self.basis)))
                line[0, 1 : j + 2] = 1
                line[1, 0] = 1
                line[1, 2 : j + 2] = -self.knots[:j]
                slope, intercept = line @ self.theta
                part = slice(start, stop)
                sums = exact_pass(
                    table.scores[part], None if total is None else total[part], frame.scale, frame.shift, slope, intercept
                )
                gradient += line.T @ [sums.ga, sums.gb]
                hessian += line.T @ [[sums.haa, sums.hab], [sums.hab, sums.hbb]] @ line
            reduced = self.basis.T @ gradient - fits.target[0] + fits.penalty[0] @ fits.theta[0]
            curvature = self.basis.T @ hessian @ self.basis + fits.penalty[0]
            step = np.linalg.solve(curvature, -reduced)
            fits.theta[0] += step
            if np.max(np.abs(step)) <= 1e-6 * np.max(np.abs(fits.theta[0])):
                return True
        return False


class _Search(NamedTuple):
    """The search for knots and penalty over a sketch."""

    data: Sketch
    choices: _Choices
    frame: _Frame
    ridge: float
    monotone: bool
    selection: str

    @property
    def holds_out(self) -> bool:
        return min(self.data.pos.sum(), self.data.neg.sum()) >= 10

    def best_penalty(self, grid: Floats) -> float:
        """Return the penalty whose fit to the training part is likeliest on the part held out."""
        training, held = self.data.hold_out()
        search = self._replace(data=training)
        fits = None if self.choices.grow else search._set_up(self.choices.x)
        scores = []
        for penalty in grid:
            fit = search._grow(penalty) if fits is None else search._choose(fits, penalty)
            z = (hinges(held.x.ravel(), fit.knots[None]) @ fit.theta)[0]
            positive = (hinges(held.pos_x, fit.knots[None]) @ fit.theta)[0]
            loss = np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0)
            scores.append(float(positive @ held.pos - loss @ held.weight.ravel()))
        return float(grid[int(np.argmax(scores))])

    def fit(self, penalty: float) -> _Fit:
        """Return the best fit with one penalty."""
        if self.choices.grow:
            return self._grow(penalty)
        return self._choose(self._set_up(self.choices.x), penalty)

    def _set_up(self, knots: Floats) -> HingeFits:
        rate = math.log((self.data.pos.sum() + 1) / (self.data.neg.sum() + 1))
        return HingeFits.over(self.data, knots, (rate, 0.0))

    def _choose(self, fits: HingeFits, penalty: float) -> _Fit:
        """Fit all knot sets and return the likeliest; the first wins ties."""
        knots = self._knots(fits)
        fits.penalise(penalty)
        if self.ridge:
            low, high = self.data.x.min(), self.data.x.max()
            for i, inner in enumerate(knots):
                at = hinges(np.concatenate([[low], inner, [high]]), inner[None])[0]
                fits.penalty[i] += 2 * self.ridge * at.T @ at
        fits.run(1e-12 * (1 + self.data.n))
        free = np.eye(fits.theta.shape[1])
        likelihood = fits.log_likelihood()
        results = {}
        if self.monotone:
            for i in np.flatnonzero(np.any(np.cumsum(fits.theta[:, 1:], axis=1) < 0, axis=1)):
                results[int(i)] = _hold_slopes(_single(fits, int(i)))
                likelihood[i] = results[int(i)][0].log_likelihood()[0]
        best = int(np.flatnonzero(likelihood >= likelihood.max() - 1e-9 * (1 + abs(likelihood.max()) * 1e-3))[0])
        chosen, basis = results.get(best, (_single(fits, best), free))
        chosen.run(1e-20 * (1 + self.data.n))
        return _Fit(knots[best], chosen, basis, float(chosen.log_likelihood()[0]), [])

    @staticmethod
    def _knots(fits: HingeFits) -> Floats:
        """Read the knots back from the features: hinge j is 0 up to its knot and then rises with slope 1."""
        x, bent = fits.features[:, -1, 1], fits.features[:, -1, 2:]
        return x[:, None] - bent

    def _grow(self, penalty: float) -> _Fit:
        """Add the knot that helps most while the rule says that it is worth it."""
        candidates = [float(x) for x in self.choices.x.ravel()]
        current = self._choose(self._set_up(np.empty((1, 0))), penalty)
        trace = [GrowthStep(1, current.log_likelihood, None, True)]
        while candidates:
            sets = np.sort(np.array([[*current.knots, x] for x in candidates]), axis=1)
            trial = self._choose(self._set_up(sets), penalty)
            added = next(x for x in trial.knots if x not in current.knots)
            kept = self._worth(current, trial)
            trace.append(GrowthStep(len(trial.knots) + 1, trial.log_likelihood, float(added), kept))
            if not kept:
                break
            current = trial
            candidates.remove(min(candidates, key=lambda x: abs(x - added)))
        current.trace = trace
        return current

    def _worth(self, current: _Fit, trial: _Fit) -> bool:
        gain = trial.log_likelihood - current.log_likelihood
        if self.selection == "gain":
            return gain >= 0.01 * abs(current.log_likelihood)
        return gain > (1.0 if self.selection == "aic" else 0.5 * math.log(self.data.n))


def _single(fits: HingeFits, i: int) -> HingeFits:
    part = slice(i, i + 1)
    return HingeFits(
        fits.features[part], fits.weight, fits.target[part], fits.penalty[part], fits.theta[part].copy(), np.ones(1, bool)
    )


def _hold_slopes(fits: HingeFits) -> tuple[HingeFits, Floats]:
    """Constrain slopes ≥ 0 by an active set: hold slopes at 0 where they fall, release where that costs likelihood."""
    size = fits.theta.shape[1]
    # Columns: intercept, then slopes; slope j enters as the changes +1 at its start and −1 at its end.
    slopes = np.eye(size) - np.eye(size, k=-1)
    slopes[1, 0] = 0
    held: set[int] = set()
    for _ in range(4 * size):
        basis = slopes[:, [j for j in range(size) if j not in held]]
        trial = fits.within(basis)
        trial.run(1e-12)
        theta = basis @ trial.theta[0]
        falling = [j for j in range(1, size) if j not in held and theta[1 : j + 1].sum() < 0]
        if falling:
            held |= {min(falling, key=lambda j: theta[1 : j + 1].sum())}
            continue
        _, gradient, _ = fits._evaluate(np.arange(1), theta[None])
        pull = slopes.T @ gradient[0]
        release = [j for j in held if pull[j] < -1e-9 * np.abs(fits.target).max()]
        if not release:
            break
        held -= {min(release, key=lambda j: pull[j])}
    return trial, basis


def percentiles(scores: Floats, weight: Any, shares: Floats) -> Floats:
    """Return weighted percentiles: linear interpolation at position (W − 1)q of the sample with repeated rows."""
    ends = np.cumsum(weight)
    total = float(ends[-1])
    place = max(total - 1, 0.0) * shares
    below = np.floor(place)
    last = int(np.searchsorted(ends, total))
    low = scores[np.minimum(np.searchsorted(ends, below, side="right"), last)]
    high = scores[np.minimum(np.searchsorted(ends, below + 1, side="right"), last)]
    share = place - below
    return low * (1 - share) + high * share


def _frame(table: ScoreTable) -> _Frame:
    low, high = table.span()
    centre = float(table.scores[len(table) // 2])
    reach = max(high / 2 - centre / 2, centre / 2 - low / 2)
    scale = math.ldexp(1.0, max(min(math.frexp(reach)[1] + 1, 1023), -1020))
    shift = centre / scale
    x = table.scores / scale - shift
    total = table.total
    mean = float(np.dot(total, x)) / float(total.sum())
    x -= mean
    return _Frame(scale, shift, math.sqrt(float(np.dot(total, x * x)) / float(total.sum())))
