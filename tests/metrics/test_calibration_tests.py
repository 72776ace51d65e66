"""Calibration tests: formulas on rows, null laws by simulation, refusals."""

import numpy as np
import pytest
from hypothesis import given
from scipy import stats
from scipy.special import expit

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
        assert float(tests.spiegelhalter_test.of(table)) == pytest.approx(rows_spiegelhalter(y, p))
    walk = rows_walk(y, p)
    assert float(tests.kolmogorov_smirnov_test.of(table)) == pytest.approx(np.abs(walk).max())
    assert float(tests.kuiper_test.of(table)) == pytest.approx(max(walk.max(), 0) - min(walk.min(), 0))


def forecasts(seed, n=1000):
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-0.5, 1.5, n)
    return log_odds, (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int)


@pytest.mark.parametrize("measure", ALL, ids=names(ALL))
def test_p_values_are_uniform_under_the_null(measure):
    p = [measure.of(ScoreTable.from_arrays(*forecasts(seed))).p_value for seed in range(400)]
    assert 0.02 <= np.mean(np.array(p) < 0.05) <= 0.085
    if measure in (tests.spiegelhalter_test, tests.hosmer_lemeshow_test, tests.cox_test):
        assert stats.kstest(p, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("measure", ALL, ids=names(ALL))
def test_float_weights_keep_the_level(measure):
    p = []
    for seed in range(400):
        scores, y = forecasts(seed)
        weight = np.random.default_rng(seed + 10_000).exponential(size=len(y)) * 7
        p.append(measure.of(ScoreTable.from_arrays(scores, y, weight)).p_value)
    assert 0.02 <= np.mean(np.array(p) < 0.05) <= 0.085


@pytest.mark.parametrize("measure", ALL, ids=names(ALL))
def test_power_refusal_and_words(measure):
    scores, y = forecasts(0, 3000)
    table = ScoreTable.from_arrays(scores * 2 + 0.3, y)
    result = measure.of(table)
    assert result.p_value < 1e-4
    assert "p = " in str(result)


@pytest.mark.parametrize("measure", CERTAIN, ids=names(CERTAIN))
def test_certain_forecasts(measure):
    right = measure([0, 1, 1], [0.0, 1.0, 1.0])
    assert (float(right), right.p_value) == (0.0, 1.0)
    wrong = measure([1, 1, 0], [0.0, 1.0, 0.4])
    assert (float(wrong), wrong.p_value) == (np.inf, 0.0)


def test_spiegelhalter_and_hosmer_lemeshow_agree_with_probcal():
    probcal = pytest.importorskip("probcal.metrics")
    scores, y = forecasts(5)
    p = 1 / (1 + np.exp(-scores))
    theirs = probcal.spiegelhalter_z(y, p)
    ours = tests.spiegelhalter_test(y, p)
    assert (float(ours), ours.p_value) == pytest.approx((theirs.z, theirs.p_value))
    groups = probcal.hosmer_lemeshow(y, p)
    ours = tests.hosmer_lemeshow_test(y, p)
    assert (float(ours), ours.df) == pytest.approx((groups.statistic, groups.df))


SKEWED = {
    "rare": lambda rng: rng.beta(0.3, 3, 200),
    "common": lambda rng: 1 - rng.beta(0.3, 3, 200),
    "far": lambda rng: expit(rng.normal(-5, 2, 200)),
    "log-normal": lambda rng: np.minimum(np.exp(rng.normal(-4, 1, 200)), 0.9),
    "both ends": lambda rng: rng.beta(0.2, 0.2, 200),
}


@pytest.mark.heavy
@pytest.mark.parametrize("shape", SKEWED)
def test_hosmer_lemeshow_keeps_its_level_for_skewed_forecasts(shape):
    rng = np.random.default_rng(1)
    found = []
    for _ in range(1200):
        p = SKEWED[shape](rng)
        found.append(tests.hosmer_lemeshow_test((rng.random(200) < p).astype(int), p).p_value)
    assert 0.04 <= np.mean(np.array(found) <= 0.05) <= 0.06


@pytest.mark.parametrize("seed", range(4))
def test_hosmer_lemeshow_equals_the_law_over_all_labels(seed):
    p = np.random.default_rng(seed).beta(0.5, 1.5, 9)
    labels = (np.arange(512)[:, None] >> np.arange(9)) & 1
    chance = np.prod(np.where(labels, p, 1 - p), axis=1)
    found = [tests.hosmer_lemeshow_test(y, p, n_bins=3) for y in labels]
    statistic = np.array([float(one) for one in found])
    for one in found:
        assert one.p_value == pytest.approx(chance[statistic >= float(one) * (1 - 1e-12)].sum(), abs=2e-3)


def test_hosmer_lemeshow_of_large_groups_is_chi_square():
    rng = np.random.default_rng(2)
    p = rng.uniform(0.1, 0.9, 5000)
    found = tests.hosmer_lemeshow_test((rng.random(5000) < p).astype(int), p)
    assert found.p_value == pytest.approx(stats.chi2.sf(float(found), 10), rel=1e-12)
    assert "exact" not in found.definition
    # Smaller groups in the middle of [0, 1] are not far from it.
    for _ in range(30):
        p = rng.uniform(0.3, 0.7, 600)
        found = tests.hosmer_lemeshow_test((rng.random(600) < p).astype(int), p)
        assert "exact law of small ones" in found.definition
        assert found.p_value == pytest.approx(stats.chi2.sf(float(found), 10), abs=0.02)


def test_hosmer_lemeshow_mixes_both_laws():
    # Half of the groups are rare enough for their own law, with more distinct forecasts than are told apart.
    rng = np.random.default_rng(3)
    log_odds = np.concatenate([rng.normal(-11, 1, 30_000), rng.normal(0, 1, 30_000)])
    y = (rng.random(60_000) < expit(log_odds)).astype(int)
    found = tests.hosmer_lemeshow_test.of(ScoreTable.from_arrays(log_odds, y))
    expected = expit(np.sort(log_odds)).reshape(10, 6000).sum(axis=1)
    positives = np.column_stack([rng.poisson(expected[:5], (100_000, 5)), np.zeros((100_000, 5))])
    spread = np.where(np.arange(10) < 5, 0, np.sqrt(expected * (1 - expected / 6000)))
    excess = np.where(spread > 0, rng.standard_normal((100_000, 10)) * spread, positives - expected)
    drawn = np.sum(excess**2 / (expected * (1 - expected / 6000)), axis=1)
    # Three positives where 0.17 are expected, in one of ten groups: 5 in 1000, where χ² says 6 in 10⁸.
    assert stats.chi2.sf(float(found), 10) < 1e-7
    assert found.p_value == pytest.approx(np.mean(drawn >= float(found)), abs=1e-3)
    shifted = tests.hosmer_lemeshow_test.of(ScoreTable.from_arrays(log_odds + 0.4, y))
    assert shifted.p_value < 1e-6


def test_hosmer_lemeshow_law_equals_simulation():
    rng = np.random.default_rng(4)
    p = np.concatenate([rng.beta(0.3, 3, 40), rng.uniform(0.3, 0.7, 60)])
    groups = np.array_split(np.sort(p), 5)

    def statistic(draws):
        parts = np.split(draws, np.cumsum([len(g) for g in groups])[:-1], axis=1)
        sums = [(o.sum(axis=1) - g.sum()) ** 2 / (g.sum() * (1 - g.mean())) for o, g in zip(parts, groups, strict=True)]
        return np.sum(sums, axis=0)

    many = statistic(rng.random((40_000, 100)) < np.sort(p))
    for _ in range(20):
        y = (rng.random(100) < np.sort(p)).astype(int)
        found = tests.hosmer_lemeshow_test(y, np.sort(p), n_bins=5)
        assert float(found) == pytest.approx(statistic(y[None, :]).item())
        assert found.p_value == pytest.approx(np.mean(many >= float(found) * (1 - 1e-12)), abs=0.012)


def test_cox_test_equals_the_likelihood_ratio():
    scores, y = forecasts(6)
    result = tests.cox_test.of(ScoreTable.from_arrays(scores, y))
    assert result.p_value == pytest.approx(stats.chi2.sf(float(result), 2))


def test_cox_test_of_float_weights_is_a_score_test():
    scores, y = forecasts(6)
    weight = np.random.default_rng(7).exponential(size=len(y))
    p = 1 / (1 + np.exp(-scores))
    features = np.column_stack([scores, np.ones(len(y))])
    score = features.T @ (weight * (y - p))
    variance = (features * (weight**2 * p * (1 - p))[:, None]).T @ features
    result = tests.cox_test.of(ScoreTable.from_arrays(scores, y, weight))
    assert float(result) == pytest.approx(score @ np.linalg.solve(variance, score))
    # Equal weights say nothing new, whatever their scale, and the score test is close to the likelihood ratio.
    equal = tests.cox_test.of(ScoreTable.from_arrays(scores, y, np.full(len(y), 0.25)))
    assert float(equal) == pytest.approx(float(tests.cox_test.of(ScoreTable.from_arrays(scores, y))), rel=0.1)
    with pytest.raises(InvalidInputError, match="two distinct"):
        tests.cox_test.of(ScoreTable.from_arrays([0.5, 0.5], [0, 1], [0.5, 0.7]))


@pytest.mark.parametrize(
    ("y", "p", "weight", "statistic"),
    [
        ([0, 0], [1e-200, 0.5], [1.0, 1.0], 1.0),
        ([1, 0], [1e-200, 0.5], [1.0, 1.0], 1e200),
        ([0, 0], [1e-200, 0.9], [1.0, 1.0], 9.0),
        ([0, 1], [1e-200, 1e-300], [1.0, 1.0], 1e300),
        ([0, 0], [1e-200, 0.5], [1e-100, 1.0], 1.0),
        ([1, 0], [1e-200, 0.5], [1e-100, 1.0], np.inf),
    ],
)
def test_cox_test_of_float_weights_where_a_forecast_hardly_varies(y, p, weight, statistic):
    # Two cells, so the statistic is the sum of (y − p)²/(p(1 − p)) over both.
    found = tests.cox_test(y, p, weight)
    assert float(found) == pytest.approx(statistic)
    # So few rows have no law of large samples: the probability of both labels, and of all that is less probable.
    at = np.array([(1 - p[0]) * (1 - p[1]), (1 - p[0]) * p[1], p[0] * (1 - p[1]), p[0] * p[1]])
    exact = at[at <= at[2 * y[0] + y[1]] * (1 + 1e-9)].sum()
    assert found.p_value == pytest.approx(exact, abs=0.05)
    if exact < 1e-100:
        assert found.p_value < 1e-100


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
