"""Classes that overlap in a handful of rows have steep fits, but finite ones."""

import warnings

import numpy as np
import pytest
from benchmarks.families import FAMILIES

from oddsmith import MonotoneLogisticCalibrator, PiecewiseLogisticCalibrator, PlattCalibrator
from oddsmith.errors import OddsmithWarning


@pytest.mark.parametrize("seed", [168, 191, 282, 336])
def test_pieces_of_nearly_separable_classes_are_found(seed):
    rng = np.random.default_rng(seed)
    n, n_pos = int(rng.integers(700, 3000)), int(rng.integers(2, 30))
    neg = rng.normal(0, 1, n - n_pos) if seed != 191 else -(rng.exponential(1, n - n_pos) ** 2)
    scores = np.append(neg, rng.normal(rng.uniform(2, 6), rng.uniform(0.2, 2), n_pos))
    labels = np.repeat([0, 1], [n - n_pos, n_pos])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        fitted = PiecewiseLogisticCalibrator().fit(scores, labels)
    assert np.isfinite(fitted.log_odds(scores)).all()
    # With an intercept the fit is right on average.
    assert fitted.predict_proba(scores)[:, 1].mean() == pytest.approx(n_pos / n, rel=1e-3)


def test_a_line_that_newton_overshoots_is_found():
    """Beyond the best line all is certain but one score, and the curvature that is left is rounding."""
    scores = np.repeat([-9.059633754551479, -2.441020984595535, -1.657640014251978], [859, 1, 1])
    labels = np.repeat([1, 0, 1], [7, 852, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        line, platt = (cal.fit(scores, labels) for cal in (MonotoneLogisticCalibrator(), PlattCalibrator()))
    assert line.slopes_ == pytest.approx([platt.a_], rel=1e-7)


@pytest.mark.parametrize("seed", range(60))
def test_the_likelihood_of_pieces_is_that_of_their_log_odds_whatever_a_row_weighs(seed):
    """A row of 10¹² cases cost up to 2,300 nats where sums over the cases were subtracted from each other."""
    rng = np.random.default_rng(seed)
    scores, y, weight = FAMILIES["heavy row"](rng, int(rng.choice([6, 12, 25, 60])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        fitted = PiecewiseLogisticCalibrator().fit(scores, y, weight)
    losses = np.logaddexp(0, np.where(y == 1, -1, 1) * fitted.log_odds(scores))
    assert fitted.log_likelihood_ == pytest.approx(-float(weight @ losses), rel=1e-6, abs=1e-6)
