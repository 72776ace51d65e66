"""Ensemble of near-isotonic regressions: isotonic where the data say so, and not where they do not."""

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np

from oddsmith import _check, _kernels
from oddsmith._types import Floats, Ints
from oddsmith.calibrators._base import Calibrator, Fitted
from oddsmith.calibrators._bins import block_ends, block_map
from oddsmith.calibrators._near_isotonic import Path, near_isotonic_path
from oddsmith.calibrators.binning import ADDED
from oddsmith.data import ScoreTable

#: Longest path; more cells than this are pooled.
_CELLS = 4096

#: Neighbors whose shares differ by no more are one cell.
_EQUAL = 1e-12

#: Fits with less than this share of the best one's weight are left out: no digit depends on them.
_NEGLIGIBLE = 1e-12

#: Shares of 0, which only cells without that class have, are held here under the logarithm.
_TINY = 1e-300


@dataclass(eq=False, repr=False)
class ENIRCalibrator(Calibrator):
    """Average all near-isotonic fits, from the data to isotonic regression, by their posterior probabilities.

    Isotonic regression relies entirely on the order of the scores; a near-isotonic fit may fall, at a price λ a unit of
    fall. Where the probability rises with the score the average is close to isotonic regression; where it truly falls,
    the average follows the data. Like isotonic regression it needs some thousand cases and ties scores.

    Parameters
    ----------
    smoothing : {"kt", "laplace", None}, default "kt"
        Add ½ or 1 case of each class to each level of every fit, so that P is never 0 or 1; or nothing, as published:
        then the lowest and highest scores are often given 0 and 1, which costs an infinite log-loss when wrong.
    pos_label, input, clip
        As for every calibrator.

    Attributes
    ----------
    penalties_, posterior_ : ndarray
        Penalties λ of the fits that were averaged, and the weight of each.

    See Also
    --------
    IsotonicCalibrator : The monotone fit alone.
    BBQCalibrator : An average over binnings.

    Notes
    -----
    A near-isotonic fit minimizes ½Σv(t − m)² + λΣ(mᵢ − mᵢ₊₁)₊ over the distinct scores in order. All of its fits are
    known from those at the finitely many λ where levels merge; each of these, with K levels and log-likelihood ℓ, has a
    weight proportional to N^(−K/2) exp ℓ, which is exp(−BIC/2). A level m of weight W predicts (Wm + α)/(W + 2α) with
    α = ½, 1 or 0; the weights of fits are as published, those of m itself. Between scores P is interpolated linearly,
    and it is constant beyond them. As published, the fit at λ = 0, which repeats the labels, is left out unless it is
    the only one. It takes part where at least half of its levels contain both classes: it then consists of the
    frequencies at shared scores, a case that the publication does not consider.

    The path is exact for up to 4096 cells, neighboring scores with the same share of positives being one cell; more
    are first pooled in 4096 cells with equal parts of both classes, which costs no accuracy that could be measured. N
    is the sum of the weights, so the fit depends on their scale.

    ``ENIRCalibrator`` of probcal 0.4 differs: equal neighbors, such as two positives in a row, can separate there, so
    that its fits do not minimize the objective at their λ; the fit at λ = 0 always takes part; and P is a step function
    between scores. With thirty cases P differs by up to 0.83 at the calibration scores.

    References
    ----------
    M. Naeini and G. Cooper, Binary classifier calibration using an ensemble of near isotonic regression models, ICDM
    2016.
    R. Tibshirani, H. Hoefling and R. Tibshirani, Nearly-isotonic regression, Technometrics 53, 2011.

    Examples
    --------
    >>> from oddsmith import ENIRCalibrator
    >>> cal = ENIRCalibrator().fit([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], [0, 1, 0, 1, 1, 0, 1, 1])
    >>> cal.penalties_.round(2), cal.posterior_.round(2), cal.predict_proba([0.1, 0.5, 0.6, 0.8])[:, 1].round(2)
    (array([0.5 , 0.67]), array([0.4, 0.6]), array([0.25, 0.64, 0.57, 0.83]))
    """

    smoothing: Literal["kt", "laplace"] | None = "kt"

    penalties_: Floats = field(init=False)
    posterior_: Floats = field(init=False)

    _when_separable: ClassVar[str] = "the fit is a step, and only smoothing keeps it from 0 and 1"

    def _check_parameters(self) -> None:
        _check.one_of(self.smoothing, "smoothing", tuple(ADDED))

    def _fit(self, table: ScoreTable) -> Fitted:
        starts, pos, neg = _cells(table)
        path = near_isotonic_path(pos, neg)
        worth = _worth(path, math.log(max(table.n_pos + table.n_neg, 1.0)), _first(path))
        steps = np.flatnonzero(worth > math.log(_NEGLIGIBLE))
        share = np.exp(worth[steps])
        share /= share.sum()
        values, added = np.zeros(len(starts)), ADDED[self.smoothing]
        for weight, step in zip(share.tolist(), steps.tolist(), strict=True):
            fit = path.fit(step)
            level = fit.pos + fit.neg
            smoothed = (level * fit.values + added) / (level + 2 * added)
            values += weight * np.repeat(smoothed, np.diff(fit.starts, append=len(starts)))
        blocks = _kernels.run_starts(values)
        fitted = block_map(*block_ends(table.scores, starts[blocks]), np.minimum(values[blocks], 1.0))
        return Fitted(fitted, {"penalties_": path.penalties[steps], "posterior_": share})


def _cells(table: ScoreTable) -> tuple[Ints, Floats, Floats]:
    """Return where cells start, neighbors of equal share being one, with their positive and negative weight."""
    pos, neg = table.pos, table.neg
    starts = np.flatnonzero(np.append(True, np.abs(np.diff(pos / (pos + neg))) > _EQUAL))
    pos, neg = (np.add.reduceat(side, starts).astype(np.float64) for side in (pos, neg))
    if len(starts) <= _CELLS:
        return starts, pos, neg
    mass = pos / pos.sum() + neg / neg.sum()
    middle = np.cumsum(mass) - mass / 2
    pooled = _kernels.run_starts(np.floor(middle * (_CELLS / 2)))
    return starts[pooled], np.add.reduceat(pos, pooled), np.add.reduceat(neg, pooled)


def _first(path: Path) -> int:
    """Return the first step that takes part: not the data themselves, where most of their levels hold one class only.

    That fit repeats labels, so that its likelihood tells nothing of its worth. Where many cases share each score it
    gives their frequencies instead, and may be the best fit.
    """
    data = path.fit(0)
    repeats = np.mean((data.pos == 0) | (data.neg == 0)) > 0.5
    return 1 if repeats and len(path.penalties) > 1 else 0


def _worth(path: Path, level_cost: float, first: int) -> Floats:
    """Return −BIC/2 of the fits above that of the best one, −∞ for those that are left out or certainly negligible.

    The log-likelihood falls along the path: its derivative is −λΣd²/(W m(1 − m)) over the groups. So the fits between
    two steps are no better than the first step's likelihood with the least number of levels between them, and most of
    the path need not be looked at.
    """
    last = len(path.penalties) - 1
    likelihood: dict[int, float] = {}
    worth = np.full(last + 1, -np.inf)
    looked_at = {first, last}
    while looked_at:
        for step in looked_at:
            likelihood[step] = _log_likelihood(path, step)
            worth[step] = likelihood[step] - path.sizes[step] * level_cost / 2
        needed = worth.max() + math.log(_NEGLIGIBLE)
        looked_at = {
            (a + b) // 2
            for a, b in pairwise(sorted(likelihood))
            if b - a > 1 and likelihood[a] - path.sizes[b - 1] * level_cost / 2 > needed
        }
    return np.asarray(worth - worth.max())


def _log_likelihood(path: Path, step: int) -> float:
    fit = path.fit(step)
    sides = ((fit.pos, fit.values), (fit.neg, fit.complements))
    return float(sum(np.dot(weight, np.log(np.maximum(share, _TINY))) for weight, share in sides))
