"""The belt is that of its publication, and the sheet shows what its measures give."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import chi2

from oddsmith import ScoreTable, metrics
from oddsmith.errors import InvalidInputError
from oddsmith.metrics.belt import _quantile, belt_tail

Q = chi2.ppf(0.95, 1)


def sample(n, seed, bend=0.0):
    rng = np.random.default_rng(seed)
    odds = rng.normal(-1.5, 1.5, n)
    return (rng.random(n) < expit(odds + bend * (odds + 1.5) ** 2)).astype(int), expit(odds)


def test_the_law_of_the_statistic_is_that_of_givitir():
    """Its cumulative distributions given degree 2 and 3, as Nattino et al. (2014) and givitiR have them."""
    for t in (4.5, 7.0, 9.5, 13.0):
        two = (chi2.cdf(t, 1) - 0.95 - np.sqrt(2 / np.pi) * np.exp(-t / 2) * (np.sqrt(t) - np.sqrt(Q))) / 0.05
        assert belt_tail(t, 2) == pytest.approx(1 - two, abs=1e-9)
    for t in (9.0, 13.0, 20.0):
        first = quad(lambda y, t=t: (chi2.cdf(t - y, 1) - 0.95) * chi2.pdf(y, 1), Q, t - Q)[0]
        second = quad(lambda y, t=t: (np.sqrt(t - y) - np.sqrt(Q)) / np.sqrt(y), Q, t - Q)[0]
        three = (first - np.exp(-t / 2) / np.pi * second) / 0.05**2
        assert belt_tail(t, 3) == pytest.approx(1 - three, abs=1e-7)
    assert belt_tail(5.991464547, 1) == pytest.approx(0.05, abs=1e-9)
    assert belt_tail(4 * Q, 5) == 1
    rng = np.random.default_rng(0)
    large = rng.chisquare(1, 2_000_000)
    large = large[large > Q]
    drawn = rng.chisquare(2, 100_000) + rng.choice(large, (3, 100_000)).sum(axis=0)
    for level in (0.5, 0.95):
        assert _quantile(level, 4) == pytest.approx(np.quantile(drawn, level), abs=0.15)


@pytest.mark.parametrize("bend", [0.0, 0.25])
def test_the_belt_is_the_projection_of_the_likelihood_region(bend):
    y, p = sample(900, 3, bend)
    belt = metrics.calibration_belt(y, p)
    assert belt.degree == (2 if bend else 1)
    columns = np.vander(logit(p), belt.degree + 1, increasing=True)

    def loss(theta):
        return np.logaddexp(0, np.where(y == 1, -1, 1) * (columns @ theta)).sum()

    start = np.append([0.0, 1.0], np.zeros(belt.degree - 1))
    best = minimize(loss, start, tol=1e-12)
    assert belt.statistic == pytest.approx(2 * (loss(start) - best.fun), abs=1e-6)
    assert belt.p_value == pytest.approx(belt_tail(belt.statistic, belt.degree))
    for place in (0, 40, 100):
        way = np.vander([logit(belt.at[place])], belt.degree + 1, increasing=True)[0]
        assert belt.observed[place] == pytest.approx(expit(way @ best.x), abs=1e-5)
        for number, level in enumerate(belt.levels):
            most = best.fun + _quantile(level, belt.degree) / 2
            room = {"type": "ineq", "fun": lambda t, most=most: most - loss(t)}
            for side, end in ((1, belt.low[number]), (-1, belt.high[number])):
                found = minimize(lambda t, s=side, w=way: s * w @ t, best.x, constraints=[room], tol=1e-11)
                assert end[place] == pytest.approx(expit(way @ found.x), abs=2e-5)


def test_the_belt_of_a_calibrated_forecast_contains_the_diagonal():
    """60 samples; benchmarks.clinical has 2,000 per setting."""
    held = 0
    for seed in range(60):
        y, p = sample(400, seed)
        held += not metrics.calibration_belt(y, p, levels=(0.95,)).outside(0.95)
    assert held >= 51  # 95 % and three standard errors


def test_belts_of_counts_weights_and_hostile_forecasts():
    y, p = sample(400, 1)
    weight = np.random.default_rng(0).integers(1, 4, 400)
    again = np.repeat(np.arange(400), weight)
    once, often = metrics.calibration_belt(y, p, weight), metrics.calibration_belt(y[again], p[again])
    np.testing.assert_allclose(once.low, often.low, rtol=1e-9)
    light, heavy = (metrics.calibration_belt(y, p, np.full(400, w)) for w in (0.01, 100.0))
    assert light.statistic == pytest.approx(heavy.statistic)
    certain = metrics.calibration_belt(np.append(y, [1, 0]), np.append(p, [1.0, 0.0]))
    assert certain.statistic == pytest.approx(metrics.calibration_belt(y, p).statistic)
    rare = metrics.calibration_belt(np.append(np.zeros(5000, int), y[:60]), np.append(np.full(5000, 1e-7), p[:60]))
    assert np.isfinite(rare.low).all()
    assert np.isfinite(rare.high).all()
    for y_bad, p_bad, message in (
        ([0, 1], [0.2, 0.6], "classes overlap"),
        ([0, 1, 1], [0.4, 0.4, 0.4], "two distinct forecasts"),
        ([1, 1], [0.2, 0.4], "both classes must be present"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            metrics.calibration_belt(y_bad, p_bad)


def test_the_sheet_has_what_its_measures_give():
    y, p = sample(1200, 5, 0.1)
    sheet = metrics.clinical_sheet(y, p, n_resamples=200)
    assert sheet.events == y.sum()
    assert sheet.observed_expected.value == pytest.approx(y.sum() / p.sum())
    assert sheet.observed_expected.low < sheet.observed_expected.value < sheet.observed_expected.high
    for name, measure in {
        "calibration_in_the_large": metrics.calibration_intercept,
        "calibration_slope": metrics.calibration_slope,
        "roc_auc": metrics.roc_auc,
        "scaled_brier": metrics.brier_skill_score,
        "nagelkerke_r2": metrics.nagelkerke_r2,
    }.items():
        found = sheet.measures[name]
        assert found.value == pytest.approx(measure(y, p))
        assert found.low < found.value < found.high
    for smoother in ("loess", "spline", "isotonic"):
        for statistic, value in sheet.smooth[smoother].items():
            index = metrics.integrated_calibration_index
            assert value == index(y, p, smoother=smoother, statistic=statistic)
    assert sheet.belt.p_value == metrics.calibration_belt(y, p).p_value
    np.testing.assert_array_equal(sheet.decisions.net_benefit, metrics.decision_curve(y, p).net_benefit)


def test_the_sheet_says_what_is_not_known():
    perfect = metrics.clinical_sheet([0, 0, 1, 1] * 5, [0.1, 0.2, 0.8, 0.9] * 5, n_resamples=50)
    assert "overlap" in perfect.belt
    assert "overlap" in perfect.measures["calibration_slope"]
    assert isinstance(perfect.to_dict()["belt"], str)


def test_groups_widen_the_intervals_of_the_sheet():
    y, p = sample(300, 6)
    y, p, patient = np.repeat(y, 4), np.repeat(p, 4), np.repeat(np.arange(300), 4)
    table = metrics.forecast_from_arrays(y, p)
    groups = {k: metrics.forecast_from_arrays(y[patient == k], p[patient == k]) for k in range(300)}
    assert isinstance(table, ScoreTable)
    by_group = metrics.clinical_sheet.of(table, groups=groups, n_resamples=200)
    noise = np.random.default_rng(0).uniform(-1e-9, 1e-9, len(p))  # else equal rows are recognized as copies
    by_row = metrics.clinical_sheet(y, p + noise, n_resamples=200)
    widths = [s.measures["calibration_slope"].high - s.measures["calibration_slope"].low for s in (by_group, by_row)]
    assert 1.5 < widths[0] / widths[1] < 2.6
    assert "depend on each other" in by_group.belt
    assert np.isnan(by_group.decisions.low).all()
