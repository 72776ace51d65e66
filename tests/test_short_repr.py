"""Reprs of results and maps fit in a line or two, however many numbers they contain."""

import numpy as np
import pytest

from oddsmith import AutoCalibrator, IsotonicCalibrator, ScoreTable, bands, metrics
from oddsmith.maps import StepMap
from oddsmith.plots import RiskCoverageDisplay

RNG = np.random.default_rng(0)
P = RNG.random(2000)
Y = (RNG.random(2000) < P).astype(int)
TABLE = ScoreTable.from_arrays(P, Y)


@pytest.mark.parametrize(
    "make",
    [
        lambda: AutoCalibrator().fit_table(TABLE).map_,
        lambda: IsotonicCalibrator().fit_table(TABLE).map_,
        lambda: bands.band(TABLE),
        lambda: metrics.decision_curve(Y, P),
        lambda: metrics.compare_net_benefit(Y, P, P**2),
        lambda: metrics.reliability_curve(Y, P, n_bins=100),
        lambda: metrics.empirical_log_odds(TABLE),
        lambda: RiskCoverageDisplay.from_forecast(metrics.class_forecast(Y, np.column_stack([1 - P, P]))),
    ],
)
def test_reprs_do_not_grow_with_the_numbers(make):
    assert len(repr(make())) < 1000


def test_short_values_are_shown():
    text = repr(StepMap(np.array([0.5]), np.array([0.25]), np.array([0.0, 1.0])))
    assert text == "StepMap(knots=[0.5], at=[0.25], between=[0.0, 1.0])"
