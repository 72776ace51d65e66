"""Calibration tests: formulas on rows, null laws by simulation, refusals."""

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from oddsmith import ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import calibration_tests as tests
from samples import samples

ALL = [
    tests.spiegelhalter_test,
    tests.hosmer_lemeshow_test,
    tests.cox_test,
    tests.kolmogorov_smirnov_test,
    tests.kuiper_test,
]
CERTAIN = [measure for measure in ALL if measure is not tests.cox_test]


def names(measures):
    return [measure.__name__ for measure in measures]


def rows_spiegelhalter(y, p):
    return np.sum((y - p) * (1 - 2 * p)) / np.sqrt(np.sum((1 - 2 * p) ** 2 * p * (1 - p)))


def rows_walk(y, p):
    steps = [np.sum((y - p)[p == value]) for value in np.unique(p)]
    return np.cumsum(steps) / np.sqrt(np.sum(p * (1 - p)))


@given(samples())
def test_statistics_equal_their_row_versions(sample):
    scores, y = sample
    p = 1 / (1 + np.exp(-scores))
    table = ScoreTable.from_arrays(scores, y)
    if np.any(p != 0.5):
        assert float(tests.spiegelhalter_test(table)) == pytest.approx(rows_spiegelhalter(y, p))
    walk = rows_walk(y, p)
    assert float(tests.kolmogorov_smirnov_test(table)) == pytest.approx(np.abs(walk).max())
    assert float(tests.kuiper_test(table)) == pytest.approx(max(walk.max(), 0) - min(walk.min(), 0))


def forecasts(seed, n=1000):
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-0.5, 1.5, n)
    return log_odds, (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int)


@pytest.mark.parametrize("measure", ALL, ids=names(ALL))
def test_p_values_are_uniform_under_the_null(measure):
    p = [measure(ScoreTable.from_arrays(*forecasts(seed))).p_value for seed in range(400)]
    assert 0.02 <= np.mean(np.array(p) < 0.05) <= 0.085
    if measure in (tests.spiegelhalter_test, tests.hosmer_lemeshow_test, tests.cox_test):
        assert stats.kstest(p, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("measure", ALL, ids=names(ALL))
def test_float_weights_keep_the_level(measure):
    p = []
    for seed in range(400):
        scores, y = forecasts(seed)
        weight = np.random.default_rng(seed + 10_000).exponential(size=len(y)) * 7
        p.append(measure(ScoreTable.from_arrays(scores, y, weight)).p_value)
    assert 0.02 <= np.mean(np.array(p) < 0.05) <= 0.085


@pytest.mark.parametrize("measure", ALL, ids=names(ALL))
def test_power_refusal_and_words(measure):
    scores, y = forecasts(0, 3000)
    table = ScoreTable.from_arrays(scores * 2 + 0.3, y)
    result = measure(table)
    assert result.p_value < 1e-4
    assert "p = " in str(result)
    with pytest.raises(InvalidInputError, match="fitted on are refused"):
        measure(table, in_sample=True)


@pytest.mark.parametrize("measure", CERTAIN, ids=names(CERTAIN))
def test_certain_forecasts(measure):
    right = measure.from_arrays([0, 1, 1], [0.0, 1.0, 1.0])
    assert (float(right), right.p_value) == (0.0, 1.0)
    wrong = measure.from_arrays([1, 1, 0], [0.0, 1.0, 0.4])
    assert (float(wrong), wrong.p_value) == (np.inf, 0.0)


def test_spiegelhalter_and_hosmer_lemeshow_agree_with_probcal():
    probcal = pytest.importorskip("probcal.metrics")
    scores, y = forecasts(5)
    p = 1 / (1 + np.exp(-scores))
    theirs = probcal.spiegelhalter_z(y, p)
    ours = tests.spiegelhalter_test.from_arrays(y, p)
    assert (float(ours), ours.p_value) == pytest.approx((theirs.z, theirs.p_value))
    groups = probcal.hosmer_lemeshow(y, p)
    ours = tests.hosmer_lemeshow_test.from_arrays(y, p)
    assert (float(ours), ours.df) == pytest.approx((groups.statistic, groups.df))


def test_cox_test_equals_the_likelihood_ratio():
    scores, y = forecasts(6)
    result = tests.cox_test(ScoreTable.from_arrays(scores, y))
    assert result.p_value == pytest.approx(stats.chi2.sf(float(result), 2))


def test_cox_test_of_float_weights_is_a_score_test():
    scores, y = forecasts(6)
    weight = np.random.default_rng(7).exponential(size=len(y))
    p = 1 / (1 + np.exp(-scores))
    features = np.column_stack([scores, np.ones(len(y))])
    score = features.T @ (weight * (y - p))
    variance = (features * (weight**2 * p * (1 - p))[:, None]).T @ features
    result = tests.cox_test(ScoreTable.from_arrays(scores, y, weight))
    assert float(result) == pytest.approx(score @ np.linalg.solve(variance, score))
    # Equal weights say nothing new, whatever their scale, and the score test is close to the likelihood ratio.
    equal = tests.cox_test(ScoreTable.from_arrays(scores, y, np.full(len(y), 0.25)))
    assert float(equal) == pytest.approx(float(tests.cox_test(ScoreTable.from_arrays(scores, y))), rel=0.1)
    with pytest.raises(InvalidInputError, match="two distinct"):
        tests.cox_test(ScoreTable.from_arrays([0.5, 0.5], [0, 1], [0.5, 0.7]))


def test_laws_of_brownian_motion():
    # Published quantiles: P(max|B| > 2.2414) = 0.05 by reflection, and both branches meet.
    assert tests.largest_of_brownian_motion(2.241402727604947) == pytest.approx(0.05, abs=1e-4)
    assert tests.largest_of_brownian_motion(2.0) == pytest.approx(tests.largest_of_brownian_motion(2.0 + 1e-12))
    rng = np.random.default_rng(1)
    paths = np.cumsum(rng.normal(size=(4000, 2000)), axis=1) / np.sqrt(2000)
    widths = np.maximum(paths.max(axis=1), 0) - np.minimum(paths.min(axis=1), 0)
    for r in (1.2, 1.6, 2.2):
        assert tests.range_of_brownian_motion(r) == pytest.approx(np.mean(widths > r), abs=0.04)
    grid = np.linspace(0.05, 6, 200)
    for law in (tests.largest_of_brownian_motion, tests.range_of_brownian_motion):
        assert np.all(np.diff([law(x) for x in grid]) <= 1e-12)
