"""Bayesian binning into quantiles: all numbers of bins at once, each by what the data say for it."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.special import expit, gammaln

from oddsmith import _check
from oddsmith._types import Floats, Ints
from oddsmith.calibrators._base import Fitted
from oddsmith.calibrators._bins import edges, step_map
from oddsmith.calibrators._log_odds_input import UnitCalibrator
from oddsmith.calibrators._selection import Selected
from oddsmith.data import ScoreTable, equal_mass_starts

#: Cases that the prior of a whole binning is worth.
_PRIOR = 2.0

#: Bounds of prior means, so that a bin of probability 0 or 1 is not ruled out.
_CERTAIN = 1e-12

#: Binnings with less than this share of the best one's posterior are left out: no digit depends on them.
_NEGLIGIBLE = 1e-9


@dataclass(eq=False, repr=False)
class BBQCalibrator(UnitCalibrator):
    """Average binnings of equal weight over many numbers of bins, by their posterior probabilities.

    Needs no choice of the number of bins, and is smoother than one histogram. Like it, it need not rise with the
    score. Made for probabilities: the prior of a bin is the probability in its middle.

    Parameters
    ----------
    min_bins, max_bins : int, optional
        Range of the numbers of bins; by default from N^⅓/10 to 10 N^⅓, and never more than there are distinct scores.
    pos_label, clip
        As for every calibrator.
    input : {"score", "probability", "log_odds"}, default "score"
        "score" reads scores that all lie in [0, 1] as probabilities, clipped to 2.2e−16 from 0 and 1, and
        others as log-odds.

    Attributes
    ----------
    n_bins_, posterior_ : ndarray
        Numbers of bins that were averaged, and the posterior probability of each.
    input_ : {"probability", "log_odds"}
        How the scores were read.

    See Also
    --------
    HistogramCalibrator : One number of bins.
    ENIRCalibrator : An average of near-isotonic fits.

    Notes
    -----
    A binning in B bins has the score ∏ Γ(2/B)/Γ(N_b + 2/B) · Γ(m_b + α_b)/Γ(α_b) · Γ(n_b + β_b)/Γ(β_b), with m_b
    positive and n_b negative weight in bin b, N_b their sum, α_b = 2p_b/B, β_b = 2(1 − p_b)/B, and p_b the middle of
    the bin. It predicts (m_b + α_b)/(N_b + 2/B), and P is the mean over binnings weighted by their scores.

    References
    ----------
    M. Naeini, G. Cooper and M. Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, AAAI 2015.

    Examples
    --------
    >>> from oddsmith import BBQCalibrator
    >>> cal = BBQCalibrator(max_bins=3).fit([0.1, 0.2, 0.4, 0.6, 0.7, 0.9], [0, 1, 0, 0, 1, 1])
    >>> cal.n_bins_, cal.predict_proba([0.1, 0.5, 0.9])[:, 1].round(2)
    (array([1, 2, 3]), array([0.42, 0.29, 0.8 ]))
    """

    min_bins: int | None = None
    max_bins: int | None = None

    posterior_: Floats = field(init=False)
    n_bins_: Ints = field(init=False)

    _one_reading: ClassVar[bool] = True
    _selects: ClassVar[tuple[Selected, ...]] = (Selected("_mean_bins", "mean number of bins", 2e-4),)

    def _check_parameters(self) -> None:
        for name in ("min_bins", "max_bins"):
            if getattr(self, name) is not None:
                _check.whole_number(getattr(self, name), name, low=1)
        if self.min_bins is not None and self.max_bins is not None and self.min_bins > self.max_bins:
            got = f"min_bins={self.min_bins}, max_bins={self.max_bins}"
            _check.fail("min_bins must not exceed max_bins", got, "exchange them")

    def _fit(self, table: ScoreTable) -> Fitted:
        binnings = list(self._binnings(table))
        scores = np.array([binning[0] for binning in binnings])
        likely = np.flatnonzero(scores - scores.max() >= math.log(_NEGLIGIBLE))
        posterior = np.exp(scores[likely] - scores.max())
        posterior /= posterior.sum()
        knots = np.unique(np.concatenate([binnings[i][1] for i in likely]))
        values = np.zeros(len(knots) + 1)
        for share, i in zip(posterior.tolist(), likely, strict=True):
            _, own, means = binnings[i]
            values += share * np.append(means[0], means[np.searchsorted(own, knots, side="right")])
        fitted = step_map(knots, np.minimum(values, 1.0))  # a mean of ones may be more by rounding
        n_bins = np.array([len(binnings[i][2]) for i in likely])
        return Fitted(fitted, {"posterior_": posterior, "n_bins_": n_bins})

    @property
    def _mean_bins(self) -> float:
        return float(self.n_bins_ @ self.posterior_)

    def _binnings(self, table: ScoreTable) -> list[tuple[float, Floats, Floats]]:
        """Return log-score, edges and means of each binning, no two with the same bins."""
        root = (table.n_pos + table.n_neg) ** (1 / 3)
        most = min(self.max_bins or math.ceil(10 * root), len(table))
        least = min(self.min_bins or max(math.floor(root / 10), 1), most)
        weight = table.total
        upto, upto_pos = (np.cumsum(column).astype(np.float64) for column in (weight, table.pos))
        found: dict[bytes, tuple[float, Floats, Floats]] = {}
        for n_bins in range(least, most + 1):
            starts = equal_mass_starts(weight, n_bins, upto)
            if starts.tobytes() not in found:
                total = _between(upto, starts)
                # Differences of sums beyond 2⁵³ are rounded, each in its own way.
                pos = np.minimum(_between(upto_pos, starts), total)
                found[starts.tobytes()] = _binning(edges(table.scores, starts), total, pos)
        return list(found.values())


def _binning(knots: Floats, total: Floats, pos: Floats) -> tuple[float, Floats, Floats]:
    """Return log-score, edges and means of one binning."""
    ends = expit(np.concatenate([[-np.inf], knots, [np.inf]]))
    middle = np.clip((ends[1:] + ends[:-1]) / 2, _CERTAIN, 1 - _CERTAIN)
    worth = _PRIOR / len(total)
    alpha, beta = worth * middle, worth * (1 - middle)
    terms = gammaln(pos + alpha) - gammaln(alpha) + gammaln(total - pos + beta) - gammaln(beta)
    terms -= gammaln(total + worth) - gammaln(worth)
    return float(terms.sum()), knots, (pos + alpha) / (total + worth)


def _between(upto: Floats, starts: Ints) -> Floats:
    """Return the sum over each bin, from sums up to each score."""
    return np.asarray(np.diff(upto[np.append(starts[1:], len(upto)) - 1], prepend=0.0))
