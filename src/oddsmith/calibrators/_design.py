"""Logistic regression on a few features of the score: Newton's method on a sketch, then on every score.

The labels enter only through the sums of the features over each class, which are taken exactly; all the rest is smooth
in the score, so a sketch of some hundred points finds the fit to many digits and one or two passes the others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from oddsmith import _kernels
from oddsmith._check import Bools, Floats
from oddsmith.calibrators._knots import Frame
from oddsmith.calibrators._sketch import Sketch, sketch
from oddsmith.rows import ScoreRows
from oddsmith.table import ScoreTable

#: From standardised scores to features, shape (n,) to (n, k).
Features = Callable[[Floats], Floats]

_MAX_STEPS = 100

#: Cells of the histogram.
_CELLS = 2048

#: A Newton step that changes no log-odds by more than this share leaves an error of about its square.
_STEP = 1e-7

#: Added to the Hessian as a share of its largest entry: features may be collinear.
_RIDGE = 1e-13


class DesignFit(NamedTuple):
    """Coefficients of the features, the objective on the sketch, and how the search ended."""

    theta: Floats
    objective: float
    converged: bool


@dataclass(frozen=True)
class Design:
    """Points with their features and weights, and what the features sum to over the targets."""

    columns: Floats
    weight: Floats
    target: Floats

    def fit(self, penalty: Floats, free: Bools | None = None, start: Floats | None = None) -> DesignFit:
        """Minimise Σ v log(1 + eᶻ) − target·θ + ½θ·penalty·θ, z = columns·θ, by Newton's method with backtracking.

        Parameters
        ----------
        penalty : ndarray of shape (k, k)
        free : ndarray of bool, shape (k,), optional
            Which coefficients to fit; the others are 0.
        start : ndarray of shape (k,), optional
        """
        size = self.columns.shape[1]
        kept = np.flatnonzero(np.ones(size, bool) if free is None else free)
        columns, target, penalty = self.columns[:, kept], self.target[kept], penalty[np.ix_(kept, kept)]
        theta = np.zeros(len(kept)) if start is None else start[kept]

        def objective(theta: Floats) -> float:
            z = columns @ theta
            return float(self.weight @ np.logaddexp(0, z) - target @ theta + theta @ penalty @ theta / 2)

        value, converged = objective(theta), False
        for _ in range(_MAX_STEPS):
            z = columns @ theta
            p = expit(z)
            gradient = columns.T @ (self.weight * p) - target + penalty @ theta
            step = -_solve(hessian(columns, self.weight, p) + penalty, gradient)
            if np.abs(columns @ step).max() <= _STEP * (1 + np.abs(z).max()):
                theta, converged = theta + step, True
                break
            slope = gradient @ step
            for halvings in range(40):
                new = theta + step / 2**halvings
                if (there := objective(new)) <= value + 1e-4 * slope / 2**halvings:
                    break
            else:
                converged = True  # no digit of the objective is left to gain
                break
            theta, value = new, there
        full = np.zeros(size)
        full[kept] = theta
        return DesignFit(full, objective(theta), converged)

    def fit_admissible(self, penalty: Floats, admissible: Callable[[Floats], bool] | None) -> tuple[DesignFit, Bools]:
        """Return the best fit with coefficients that are allowed, and which of them are free.

        Where the free fit is not allowed it is the best of those that are with one or more of the coefficients, the
        last one apart, held at 0.
        """
        fit, kept = self.fit(penalty), np.ones(len(self.target), bool)
        if admissible is None or admissible(fit.theta):
            return fit, kept
        offers = [np.append(row, True).astype(bool) for row in np.ndindex((2,) * (len(kept) - 1))]
        fits = [(self.fit(penalty, free=offer), offer) for offer in offers]
        return min((pair for pair in fits if admissible(pair[0].theta)), key=lambda pair: pair[0].objective)


def hessian(columns: Floats, weight: Floats, p: Floats) -> Floats:
    """Return the second derivatives of Σ v log(1 + eᶻ)."""
    return np.asarray((columns * (weight * p * (1 - p))[:, None]).T @ columns)


def moment_design(
    data: ScoreRows, frame: Frame, features: Features, targets: tuple[float, float], finest: float
) -> Design | None:
    """Return the design of a histogram with moments, of both classes: no sort, and as good as every score.

    None where it is not: weighted rows, no compiled loops, or cells wider than ``finest``.
    """
    fast = _kernels.compiled(len(data.scores)) if data.weight is None else None
    low, high = (end / frame.scale - frame.shift for end in data.span())
    width = (high - low) / _CELLS
    if fast is None or width > finest:
        return None
    centres = low + width * np.arange(0.5, _CELLS)

    def points(scores: Floats) -> tuple[Floats, Floats]:
        nothing = np.zeros(len(scores), bool)
        sums, _ = fast.cell_moments(scores, nothing, 1 / frame.scale, frame.shift, low, 1 / width, _CELLS)
        return _kernels.gauss_points(centres, width, sums)

    all_x, weight = points(np.ascontiguousarray(data.scores))
    pos_x, pos_weight = points(data.scores[data.positive])
    columns, of_pos = features(all_x), pos_weight @ features(pos_x)
    at_pos, at_neg = targets
    return Design(columns, weight, at_pos * of_pos + at_neg * (weight @ columns - of_pos))


def design(points: Sketch, features: Features, target: Floats) -> Design:
    """Return the design of a sketch."""
    return Design(features(points.x.ravel()), points.weight.ravel(), target)


@dataclass(frozen=True)
class LongDesign:
    """A table with features of its standardised scores: a sketch of it, and the exact sums over every score."""

    table: ScoreTable
    frame: Frame
    features: Features
    points: Sketch
    target: Floats

    @classmethod
    def of(
        cls, table: ScoreTable, frame: Frame, features: Features, targets: tuple[float, float], breaks: Floats
    ) -> "LongDesign":
        """Sum the features over the targets of both classes.

        Parameters
        ----------
        targets : tuple of float
            Of the positive and of the negative class: 1 and 0, or Platt's.
        breaks : ndarray
            Scores at which features are not smooth.
        """
        high, low = targets
        total = np.zeros(features(np.zeros(1)).shape[1])
        for part in _parts(table):
            weight = high * table.pos[part] + low * table.neg[part]
            total += weight @ features(frame.x(table.scores[part]))
        return cls(table, frame, features, sketch(table, frame.scale, frame.shift, breaks), total)

    def fit(self, penalty: Floats, admissible: Callable[[Floats], bool] | None = None) -> DesignFit:
        """Fit the sketch, then correct by exact gradients.

        Parameters
        ----------
        penalty : ndarray of shape (k, k)
        admissible : callable, optional
            As for `Design.fit_admissible`.
        """
        short = design(self.points, self.features, self.target)
        fit, kept = short.fit_admissible(penalty, admissible)
        if self.points.x.size == len(self.table):
            return fit
        return self._polished(fit, short, penalty, kept)

    def _polished(self, fit: DesignFit, short: Design, penalty: Floats, kept: Bools) -> DesignFit:
        theta, converged = fit.theta, False
        curve = (hessian(short.columns, short.weight, expit(short.columns @ theta)) + penalty)[np.ix_(kept, kept)]
        for _ in range(6):
            gradient = penalty @ theta - self.target
            for part in _parts(self.table):
                columns = self.features(self.frame.x(self.table.scores[part]))
                weight = self.table.pos[part] + self.table.neg[part]
                gradient += (weight * expit(columns @ theta)) @ columns
            step = np.zeros(len(theta))
            step[kept] = -_solve(curve, gradient[kept])
            theta = theta + step
            if np.abs(short.columns @ step).max() <= _STEP * (1 + np.abs(short.columns @ theta).max()):
                converged = True
                break
        return fit._replace(theta=theta, converged=fit.converged and converged)


def _solve(matrix: Floats, vector: Floats) -> Floats:
    ridge = _RIDGE * max(float(np.abs(matrix.diagonal()).max()), 1e-290)
    return np.asarray(np.linalg.solve(matrix + ridge * np.eye(len(matrix)), vector), dtype=np.float64)


def _parts(table: ScoreTable) -> list[slice]:
    return [slice(start, start + _kernels.CHUNK) for start in range(0, len(table), _kernels.CHUNK)]
