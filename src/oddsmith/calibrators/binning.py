"""Binning: one probability for all scores in a bin."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats, Ints
from oddsmith.calibrators._base import Calibrator, Fitted, convergence_notes
from oddsmith.calibrators._bins import bin_sums, edges, equal_mass, step_map
from oddsmith.calibrators._log_odds_input import UnitCalibrator
from oddsmith.calibrators._reading import ScoreKind
from oddsmith.calibrators._selection import Selected
from oddsmith.data import Sample, ScoreTable
from oddsmith.fitting import fit_line, platt_targets
from oddsmith.maps import CalibrationMap, line_map, unit_log_odds

#: Cases added to each class of a bin.
ADDED: dict[str | None, float] = {"kt": 0.5, "laplace": 1.0, None: 0.0}

_EDGES = (Selected("map_.knots", "edges of the bins"),)


@dataclass(eq=False, repr=False)
class HistogramCalibrator(UnitCalibrator):
    """Divide the scores into bins and return the share of positives in each.

    Simple and easily explained; but P jumps at the edges, need not rise, and ties all scores of a bin. Needs some
    hundred cases per bin.

    Parameters
    ----------
    n_bins : int, default 10
        How many bins; fewer where scores are tied.
    bins : {"mass", "width"}, default "mass"
        Bins of equal weight, with edges half way between scores; or of equal width in probability.
    smoothing : {"kt", "laplace", None}, default "kt"
        Add ½ or 1 case of each class to each bin, so that P is never 0 or 1; or nothing.
    pos_label, clip
        As for every calibrator.
    input : {"score", "probability", "log_odds"}, default "score"
        With ``bins="width"``, "score" reads scores that all lie in [0, 1] as probabilities, and others as log-odds.

    Attributes
    ----------
    input_ : {"probability", "log_odds"}
        How the scores were read.

    See Also
    --------
    ScalingBinningCalibrator : Bins of a fitted sigmoid.
    BBQCalibrator : An average over numbers of bins.

    Notes
    -----
    P = (N₊ + α)/(N₊ + N₋ + 2α) with the weights in the bin and α = ½, 1 or 0. An edge belongs to the bin above it.
    An empty bin of equal width is on the line between its neighbors, and has their value at the ends.

    References
    ----------
    B. Zadrozny and C. Elkan, Obtaining calibrated probability estimates from decision trees and naive Bayesian
    classifiers, ICML 2001.

    Examples
    --------
    >>> from oddsmith import HistogramCalibrator
    >>> cal = HistogramCalibrator(n_bins=2).fit([-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1])
    >>> cal.predict_proba([-1.0, 1.0])[:, 1]
    array([0.375, 0.625])
    """

    n_bins: int = 10
    bins: Literal["mass", "width"] = "mass"
    smoothing: Literal["kt", "laplace"] | None = "kt"

    _one_reading: ClassVar[bool] = True
    _selects: ClassVar[tuple[Selected, ...]] = _EDGES

    def _check_parameters(self) -> None:
        _check.whole_number(self.n_bins, "n_bins", low=1)
        _check.one_of(self.bins, "bins", ("mass", "width"))
        _check.one_of(self.smoothing, "smoothing", ("kt", "laplace", None))

    def _kind(self, data: Sample) -> ScoreKind:
        # Bins of equal weight are the same however scores are read.
        return super()._kind(data) if self.bins == "width" else "log_odds"

    def _fit(self, table: ScoreTable) -> CalibrationMap:
        if self.bins == "mass":
            table, starts = equal_mass(table, self.n_bins)
            return step_map(edges(table.scores, starts), self._shares(table, starts))
        knots = unit_log_odds(np.arange(1, self.n_bins) / self.n_bins, 0.0)
        first = np.append(0, np.searchsorted(table.scores, knots))
        held = np.flatnonzero(np.diff(first, append=len(table)))
        shares = self._shares(table, first[held])
        return step_map(knots, np.interp(np.arange(self.n_bins), held, shares))

    def _shares(self, table: ScoreTable, starts: Ints) -> Floats:
        added = ADDED[self.smoothing]
        pos, neg = bin_sums(table.pos, starts), bin_sums(table.neg, starts)
        return (pos + added) / (pos + neg + 2 * added)


@dataclass(eq=False, repr=False)
class ScalingBinningCalibrator(Calibrator):
    """Fit Platt's sigmoid and predict its mean over each of a few bins of equal weight.

    A binned forecast, whose calibration error can be measured truly, with the small variance of a sigmoid: bins average
    fitted values instead of labels. Where the log-odds are not straight it is as far off as the sigmoid; use
    `HistogramCalibrator` with many cases.

    Parameters
    ----------
    n_bins : int, default 10
        How many bins; fewer where scores are tied.
    pos_label, input, clip
        As for every calibrator.

    See Also
    --------
    HistogramCalibrator : Bins of the scores themselves.
    PlattCalibrator : The sigmoid without bins.

    Notes
    -----
    With g the sigmoid of `PlattCalibrator`, P is the weighted mean of g(s) over the calibration scores in the bin. The
    sigmoid and the bins use the same cases.

    References
    ----------
    A. Kumar, P. Liang and T. Ma, Verified uncertainty calibration, NeurIPS 2019.

    Examples
    --------
    >>> from oddsmith import ScalingBinningCalibrator
    >>> cal = ScalingBinningCalibrator(n_bins=2).fit([-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1])
    >>> cal.predict_proba([-1.0, 1.0])[:, 1].round(3)
    array([0.318, 0.682])
    """

    n_bins: int = 10

    _when_separable: ClassVar[str] = "only Platt's targets keep the sigmoid finite"
    _selects: ClassVar[tuple[Selected, ...]] = _EDGES

    def _check_parameters(self) -> None:
        _check.whole_number(self.n_bins, "n_bins", low=1)

    def _fit(self, table: ScoreTable) -> Fitted:
        line = fit_line(table, platt_targets(table))
        sigmoid = line_map(line.slope, line.intercept, line.center, line.scale)
        table, starts = equal_mass(table, self.n_bins)
        scaled = bin_sums(table.total * sigmoid.probability(table.scores), starts)
        # A mean of sigmoids is never 0 or 1, whatever the rounding.
        means = np.clip(scaled / bin_sums(table.total, starts), 5e-324, np.nextafter(1, 0))
        return Fitted(step_map(edges(table.scores, starts), means), notes=convergence_notes(line.converged))
