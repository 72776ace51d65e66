"""Logistic regression on a few features of the score: Newton's method on a sketch, then on every score.

All that is summed is smooth in the score, so a sketch of some hundred points finds the fit to many digits, and one or
two passes over every score find the others.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from oddsmith import _kernels
from oddsmith._types import Floats
from oddsmith.data import LabeledScores, ScoreTable, slices
from oddsmith.fitting.cells import FINE, Cells, pooling_error
from oddsmith.fitting.newton import Direction, Minimum, Quadratic, minimize, newton_step
from oddsmith.fitting.sketches import SHORT, ScoreScale, Sketch, sketch
from oddsmith.fitting.targets import Targets

#: From standardized scores to features, shape (n,) to (n, k).
FeatureMap = Callable[[Floats], Floats]

#: Features of some points, and how much of their weight pulls forecasts up, and down.
Part = tuple[Floats, Floats, Floats]


@dataclass(frozen=True)
class Design:
    """Points with their features, shape (n, k)."""

    columns: Floats
    #: How much of each point's weight pulls its forecast up, and how much down.
    up: Floats
    down: Floats
    #: The sum of the features over what pulls up beyond ``up @ columns``, where points stand for several scores.
    aside: Floats
    #: Weight of the rarer class.
    cases: float

    def fit(self, penalty: Floats, start: Floats | None = None, direction: Direction = newton_step) -> Minimum:
        """Minimize the loss with a penalty, shape (k, k), from the base rate or another start."""
        loss = _SummedLoss(self._parts, self.aside, penalty)
        return minimize(loss, self.level() if start is None else start, self.cases, direction)

    def _parts(self) -> Iterator[Part]:
        for part in slices(len(self.columns), _kernels.rows_alone(self.columns.shape[1])):
            yield self.columns[part], self.up[part], self.down[part]

    def is_fine(self, theta: Floats) -> bool:
        """Whether points in pairs, by the Gauss rules of blocks, give the same fit as the scores themselves."""
        z = np.einsum("ij,j->i", self.columns, theta)
        left, right = z.reshape(2, -1)
        return pooling_error(self.up + self.down, z, np.tile(np.abs(right - left), 2), self.columns) <= FINE

    def level(self) -> Floats:
        """Return the coefficients of the base rate, given by the one feature that is constant.

        No accepted step is worse than it: a fit that starts here cannot run to where all is certain, and wrong.
        """
        start = np.zeros(self.columns.shape[1])
        spread = np.where(self.columns[0] == 0, np.inf, np.ptp(self.columns, axis=0))
        constant = int(np.argmin(spread))
        value = self.columns[0, constant]
        whole = float(self.up.sum() + self.down.sum())
        up = min(max(float(self.up.sum() + self.aside[constant] / value), 1e-15 * whole), (1 - 1e-15) * whole)
        start[constant] = (math.log(up) - math.log(whole - up)) / value
        return start


@dataclass(frozen=True)
class _SummedLoss:
    """Σ up·log(1 + e⁻ᶻ) + down·log(1 + eᶻ) − aside·θ + ½θ·penalty·θ, z = columns·θ, as a function of θ.

    Nothing in the sum over the points cancels.
    """

    parts: Callable[[], Iterable[Part]]
    aside: Floats | float
    penalty: Floats

    def __call__(self, theta: Floats) -> Quadratic:
        value, gradient, hessian = 0.0, np.zeros_like(theta), np.zeros_like(self.penalty)
        for columns, up, down in self.parts():
            z = columns @ theta
            size = np.abs(z)
            e = np.exp(-size)
            q = 1 / (1 + e)
            weight, positive = up + down, z >= 0
            value += float(weight @ np.log1p(e) + np.where(positive, down, up) @ size)
            gradient += (np.where(positive, down - up * e, down * e - up) * q) @ columns
            curved = columns * (weight * e * q * q)[:, None]
            hessian += curved.T @ columns
        pulled = self.penalty @ theta
        value += float((pulled / 2 - self.aside) @ theta)
        return Quadratic(value, gradient + pulled - self.aside, hessian + self.penalty)

    def reach(self, step: Floats) -> float:
        return max(float(np.abs(columns @ step).max()) for columns, _, _ in self.parts())


def moment_design(
    data: LabeledScores, frame: ScoreScale, features: FeatureMap, targets: Targets, finest: float
) -> Design | None:
    """Return the design of a histogram with moments, of both classes: no sort, and as good as every score.

    None where it is not: weighted rows, no compiled loops, or cells wider than ``finest``.
    """
    low, high = data.span()
    middle = (low / 2 + high / 2) / frame.scale  # about which equal cells are narrowest
    cells = Cells.over(data, frame.scale, middle, math.inf)
    loops = _kernels.load_compiled(len(data.scores)) if data.weight is None else None
    if loops is None or cells.widths[cells.half] > finest:
        return None
    (all_x, weight), (pos_x, pos_weight) = (
        cells.points(cells.moments(loops, scores)) for scores in (data.scores, data.scores[data.positive])
    )
    apart = middle - frame.shift
    columns, of_pos = features(all_x + apart), pos_weight @ features(pos_x + apart)
    total = targets.up(of_pos, weight @ columns - of_pos)
    return Design(columns, np.zeros_like(weight), weight, total, min(data.n_pos, data.n_neg))


def design(points: Sketch, features: FeatureMap, targets: Targets, total: Floats) -> Design:
    """Return the design of a sketch, whose features sum to ``total`` over what pulls up."""
    columns = features(points.x.ravel())
    up, down = (points.share(pull(points.pos, points.neg)) for pull in (targets.up, targets.down))
    return Design(columns, up, down, total - np.einsum("i,ij->j", up, columns), points.cases)


@dataclass(frozen=True)
class LongDesign:
    """A table with features of its standardized scores: the design of a sketch, and the sums over every score."""

    table: ScoreTable
    frame: ScoreScale
    features: FeatureMap
    targets: Targets
    points: Sketch
    short: Design

    @classmethod
    def of(
        cls,
        table: ScoreTable,
        frame: ScoreScale,
        features: FeatureMap,
        targets: Targets,
        breaks: Floats,
        longest: int = SHORT,
    ) -> "LongDesign":
        """Sum the features over the targets of both classes; ``breaks`` are scores at which features are not smooth."""
        points = sketch(table, frame, breaks, longest=longest)
        size = features(np.zeros(1)).shape[1]
        total = sum(up @ columns for columns, up, _ in _walk(table, frame, features, targets, size))
        short = design(points, features, targets, np.asarray(total))
        if len(points.x) == 1:  # the points are the scores: a steep slope would multiply what rounding leaves
            short = replace(short, aside=np.zeros(size))
        return cls(table, frame, features, targets, points, short)

    @classmethod
    def of_pieces(
        cls, table: ScoreTable, frame: ScoreScale, features: FeatureMap, targets: Targets, points: Sketch
    ) -> "LongDesign":
        """Take features that are linear within the blocks of a sketch: means of the classes give the sums, at once."""
        columns = features(points.x.ravel())
        share = points.weight / points.weight.sum(axis=0)
        mean = np.einsum("pb,pbk->bk", share, columns.reshape(*share.shape, -1))
        # The classes lie on both sides of the mean of a block, and pull by the difference of their targets.
        apart = points.pos @ (features(points.pos_x) - mean)
        up, down = (points.share(pull(points.pos, points.neg)) for pull in (targets.up, targets.down))
        short = Design(columns, up, down, (targets.pos_up - targets.neg_up) * apart, points.cases)
        return cls(table, frame, features, targets, points, short)

    def fit(self, penalty: Floats, start: Floats | None = None, direction: Direction = newton_step) -> Minimum:
        """Fit the sketch, then every score from there; parameters as for `Design.fit`."""
        found = self.short.fit(penalty, start, direction)
        if len(self.points.x) == 1 or (found.converged and found.value >= 0 and self.short.is_fine(found.theta)):
            return found
        # A loss below 0 is that of a slope so steep that blocks do not stand for their scores.
        begin = found.theta if found.value >= 0 else self.short.level()
        return minimize(_SummedLoss(self._parts, 0.0, penalty), begin, self.short.cases, direction)

    def _parts(self) -> Iterator[Part]:
        return _walk(self.table, self.frame, self.features, self.targets, self.short.columns.shape[1])


def _walk(table: ScoreTable, frame: ScoreScale, features: FeatureMap, targets: Targets, size: int) -> Iterator[Part]:
    """Walk over the scores and their features, so many of them, a piece at a time that BLAS does not divide."""
    for part in slices(len(table), _kernels.rows_alone(size)):
        classes = [column[part].astype(np.float64) for column in (table.pos, table.neg)]
        yield features(frame.x(table.scores[part])), targets.up(*classes), targets.down(*classes)


def fit_rising(points: Design | LongDesign, penalty: Floats) -> Minimum:
    """Return the best fit with coefficients ≥ 0, the last one being free.

    Where the free fit is not that, it is the best of those with one or more of the coefficients held at 0. With two of
    them that is sure; a search over all at once stops short where classes are nearly separated.
    """
    free = points.fit(penalty)
    if np.all(free.theta[:-1] >= 0):
        return free
    faces = [np.append(face, 1.0) for face in np.ndindex((2,) * (len(penalty) - 1)) if not all(face)]
    offers = [points.fit(penalty, direction=partial(_step_on_face, face)) for face in faces]
    return min((fit for fit in offers if np.all(fit.theta[:-1] >= 0)), key=lambda fit: fit.value)


def _step_on_face(face: Floats, theta: Floats, at: Quadratic) -> Floats:
    """Return Newton's step for the coefficients with a 1 in ``face``, and none for the others."""
    return newton_step(theta, Quadratic(at.value, at.gradient * face, at.hessian * np.outer(face, face)))
