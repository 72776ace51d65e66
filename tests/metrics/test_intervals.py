"""Intervals cover: ordinary measures by percentiles, calibration errors by inversion."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from oddsmith import ScoreTable, metrics
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import ErrorDefinition, interval
from oddsmith.metrics._confidence_limits import Asked
from oddsmith.metrics.intervals import intervals
from oddsmith.metrics.resampled import labels_again, rows_again

ECE = {"definition": ErrorDefinition(10, "width")}


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def sample(seed, slope, n=400):
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(0, 1.5, n)
    return ScoreTable.from_arrays(log_odds, (rng.random(n) < sigmoid(slope * log_odds)).astype(int))


def truth(measure, slope, **options):
    log_odds = np.sort(np.random.default_rng(99).normal(0, 1.5, 20_000))
    many = 1_000_000
    pos = np.rint(many * sigmoid(slope * log_odds)).astype(np.int64)
    table = ScoreTable.from_arrays(
        np.concatenate([log_odds, log_odds]), np.repeat([1, 0], 20_000), np.concatenate([pos, many - pos])
    )
    return float(measure.of(table, **options))


def covered(found, true):
    return np.mean([one.low - 1e-6 <= true <= one.high + 1e-6 for one in found])


@pytest.mark.heavy
@pytest.mark.parametrize("slope", [1.0, 0.6])
def test_calibration_error_is_covered(slope):
    true = truth(metrics.calibration_error, slope, **ECE)
    found = [
        interval(metrics.calibration_error, sample(seed, slope), options=ECE, n_resamples=300, random_state=seed)
        for seed in range(60)
    ]
    assert covered(found, true) >= 0.9
    # The plain value is biased upwards, the corrected one hardly.
    assert abs(np.mean([i.corrected for i in found]) - true) < abs(np.mean([i.value for i in found]) - true)
    inside = np.mean([i.consistency[0] <= i.value <= i.consistency[1] for i in found])
    assert inside >= 0.85 if slope == 1 else inside < 0.6


def jagged(rows, draw):
    """Return a forecast of 30 values that are too low and too high by turns, which no curve or line can express."""
    p = (np.arange(30) + 0.5) / 30
    pos = draw(rows, np.clip(p + np.where(np.arange(30) % 2, 0.12, -0.12), 0, 1))
    return metrics.forecast_from_arrays(np.repeat([1, 0], 30), np.tile(p, 2), np.concatenate([pos, rows - pos]))


JAGGED = {
    "error": Asked(
        metrics.calibration_error,
        {"definition": ErrorDefinition(bins="distinct", norm="l2", debias="total")},
        "calibrated",
    ),
    "miscalibration": Asked(metrics.log_loss_miscalibration, {}, "calibrated"),
}


@pytest.mark.parametrize("rows", [200, 10_000])
def test_truths_that_no_curve_expresses_are_covered(rows):
    table = jagged(10**9, lambda n, q: np.rint(n * q).astype(np.int64))
    true = {name: one.value(table) for name, one in JAGGED.items()}
    found = [
        intervals(JAGGED, jagged(rows, np.random.default_rng(seed).binomial), n_resamples=150, random_state=seed)
        for seed in range(40)
    ]
    for name in JAGGED:
        assert covered([one[name] for one in found], true[name]) >= 0.85
        assert np.mean([one[name].corrected for one in found]) == pytest.approx(true[name], rel=0.1)


def test_further_truths_leave_other_intervals_as_they_are():
    table = jagged(10_000, np.random.default_rng(0).binomial)
    largest = Asked(metrics.calibration_error, {"definition": ErrorDefinition(10, "width", norm="max")}, "constant")
    found = [
        intervals({"first": first, "largest": largest}, table, n_resamples=60, random_state=0)
        for first in (JAGGED["error"], Asked(metrics.calibration_error, {}, "calibrated"))
    ]
    assert found[0]["first"].method != found[1]["first"].method
    assert found[0]["largest"] == found[1]["largest"]


@pytest.mark.parametrize("classes", [False, True])
def test_what_no_supposed_truth_reaches_is_not_excluded(classes):
    y, p = [0, 1, 0, 1, 1], np.array([0.2, 0.4, 0.6, 0.9, 0.7])
    rows = np.column_stack([1 - p, p])
    forecast = metrics.class_forecast(y, rows) if classes else metrics.forecast_from_arrays(y, p)
    value = metrics.squared_error.of(forecast)

    def jump(table):
        error = metrics.squared_error.of(table)
        return error + 5 * (error == value and len(table) == 5)

    found = interval(jump, forecast, nonnegative=True, n_resamples=60, random_state=0)
    assert found.low < value + 5 <= found.high


def test_percentile_bootstrap_would_never_cover_a_perfect_forecast():
    found = [
        interval(
            metrics.calibration_error,
            sample(seed, 1.0),
            options=ECE,
            n_resamples=100,
            random_state=seed,
            nonnegative=False,
        )
        for seed in range(20)
    ]
    assert all(i.low > 1e-3 for i in found)


MANY = {
    "auc": Asked(metrics.roc_auc, {}, None),
    "discrimination": Asked(metrics.log_loss_discrimination, {}, "constant"),
    "largest gap": Asked(
        metrics.calibration_error, {"definition": ErrorDefinition(10, "width", norm="max")}, "calibrated"
    ),
    "log_loss": Asked(metrics.log_loss, {}, None),
    "miscalibration": Asked(metrics.log_loss_miscalibration, {}, "calibrated"),
    "slope": Asked(metrics.calibration_slope, {}, None),
}


@pytest.mark.heavy
@pytest.mark.parametrize("weights", ["counts", "floats"])
def test_many_measures_are_covered_at_once(weights):
    true = {name: truth(one.measure, 0.7, **one.options) for name, one in MANY.items()}
    found = {name: [] for name in MANY}
    for seed in range(40):
        table = sample(seed, 0.7, 250)
        if weights == "floats":
            # Importance weights that depend on nothing leave the truth as it is.
            scores, y, _ = table.to_arrays()
            table = ScoreTable.from_arrays(scores, y, np.random.default_rng(seed).uniform(0.2, 4, 250))
        for name, one in intervals(MANY, table, n_resamples=120, random_state=seed).items():
            found[name].append(one)
    for name in MANY:
        assert covered(found[name], true[name]) >= 0.86, name
        assert np.mean([one.high - one.low for one in found[name]]) < 1.5, name


def test_few_positives_widen_the_tails():
    rng = np.random.default_rng(5)
    log_odds = rng.normal(-1, 1, 200)
    few = ScoreTable.from_arrays(log_odds, (np.arange(200) < 6).astype(int))
    many = ScoreTable.from_arrays(log_odds, (np.arange(200) < 100).astype(int))
    methods = [interval(metrics.average_precision, t, n_resamples=50).method for t in (few, many)]
    assert [float(method.split()[-1]) for method in methods] == pytest.approx(
        [stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1)) for n in (6, 100)], rel=1e-2
    )


@pytest.mark.parametrize(
    "measure", [metrics.log_loss, metrics.roc_auc, metrics.log_loss_miscalibration, metrics.squared_error]
)
def test_equal_float_weights_are_counts(measure):
    table = sample(3, 0.7, 300)
    plain, weighted = (interval(measure, t, n_resamples=1000, random_state=1) for t in (table, table.scale(0.25)))
    assert weighted.value == pytest.approx(plain.value)
    slack = 0.15 * (plain.high - plain.low)
    assert (weighted.low, weighted.high) == pytest.approx((plain.low, plain.high), abs=slack)


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        (metrics.log_loss_miscalibration, {}),
        (metrics.log_loss_discrimination, {}),
        (metrics.integrated_calibration_index, {}),
        (metrics.smooth_calibration_error, {}),
        (metrics.calibration_error, {"definition": "quantile_bins"}),
    ],
)
def test_every_nonnegative_measure_has_an_interval(measure, options):
    found = interval(measure, sample(0, 0.5), options=options, n_resamples=180, random_state=0)
    assert 0 <= found.low <= found.corrected <= found.high
    assert found.low > 0
    assert found.consistency[1] < found.value
    assert "bias-corrected" in str(found)
    assert found == interval(measure, sample(0, 0.5), options=options, n_resamples=180, random_state=0)


def test_long_tables_are_resampled_in_groups():
    rng = np.random.default_rng(6)
    log_odds = rng.normal(0, 1.5, 6000)
    y = (rng.random(6000) < sigmoid(0.8 * log_odds)).astype(int)
    table, coarse = ScoreTable.from_arrays(log_odds, y), ScoreTable.from_arrays(np.round(log_odds, 2), y)
    assert len(coarse) < 2048 < len(table)
    for measure in (metrics.log_loss, metrics.roc_auc, metrics.log_loss_miscalibration):
        groups, cells = (interval(measure, t, n_resamples=1000, random_state=2) for t in (table, coarse))
        assert groups.value == measure.of(table)
        slack = 0.2 * (cells.high - cells.low)
        assert (groups.low, groups.high) == pytest.approx((cells.low, cells.high), abs=slack)


def test_certain_forecasts_have_intervals():
    rng = np.random.default_rng(7)
    p = np.clip(rng.normal(0.5, 0.5, 400), 0, 1)
    y = (rng.random(400) < 0.1 + 0.8 * p).astype(int)
    for measure in (
        metrics.squared_error,
        metrics.roc_auc,
        metrics.smooth_calibration_error,
        metrics.calibration_error,
    ):
        found = interval(measure, metrics.forecast_from_arrays(y, p), n_resamples=130, random_state=0)
        assert 0 <= found.low < found.high <= 1


def test_one_measure_without_an_interval_does_not_stop_the_others():
    table = metrics.forecast_from_arrays([0, 1, 1, 0, 1], [1.0, 0.5, 0.7, 0.2, 1.0])
    found = intervals(
        {name: MANY[name] for name in ("log_loss", "auc", "slope")}, table, n_resamples=60, random_state=0
    )
    assert "finite" in str(found["log_loss"])
    assert "finite for a regression" in str(found["slope"])
    assert found["auc"].low <= found["auc"].high


def test_undefined_samples_are_left_out():
    table = ScoreTable.from_arrays([-1.0, 0.0, 1.0, 2.0], [0, 0, 0, 1], [5, 5, 5, 3])
    found = interval(metrics.lift, table, n_resamples=300, random_state=0)
    assert found.low <= found.value <= found.high
    assert float(found) == found.value
    assert "95%" in str(found)


def test_a_measure_that_is_mostly_undefined_has_no_interval():
    def of_one_positive(table):
        if table.n_pos != 1:
            raise InvalidInputError("one positive only")
        return metrics.roc_auc.of(table)

    with pytest.raises(InvalidInputError, match="defined on most samples"):
        interval(of_one_positive, ScoreTable.from_arrays([-1.0, 1.0, 0.5], [0, 0, 1], [9, 9, 1]), n_resamples=200)


@pytest.mark.parametrize("count", [4 * 10**9, 10**13, 10**18])
def test_counts_near_the_largest_have_intervals(count):
    y, p = [0, 1, 0, 1], [0.2, 0.4, 0.6, 0.9]
    rows = np.column_stack([np.subtract(1, p), p])
    for measure in (metrics.log_loss, metrics.brier_miscalibration, metrics.log_loss_discrimination):
        table, classes = metrics.forecast_from_arrays(y, p, [count] * 4), metrics.class_forecast(y, rows, [count] * 4)
        for forecast in (table, classes):
            found = interval(measure, forecast, n_resamples=40, random_state=0)
            assert (found.low, found.high) == pytest.approx((found.value, found.value), rel=2e-3)


def test_cases_counted_out_have_the_law_of_cases_drawn_one_by_one(monkeypatch):
    rng = np.random.default_rng(3)
    prob = rng.dirichlet(np.ones(3), 30)
    forecast = metrics.class_forecast(rng.integers(0, 3, 30), prob, rng.integers(1, 9, 30))
    for draw in (partial(rows_again, forecast), partial(labels_again, forecast, prob)):
        one_by_one = [metrics.log_loss.of(drawn) for drawn in draw(2000, np.random.default_rng(0))]
        with monkeypatch.context() as patch:
            patch.setattr("oddsmith.metrics.resampled._ONE_BY_ONE", 0)
            tables = list(draw(2000, np.random.default_rng(1)))
        assert {table.weight.sum() for table in tables} == {forecast.weight.sum()}
        assert stats.ks_2samp(one_by_one, [metrics.log_loss.of(table) for table in tables]).pvalue > 0.01


def test_bad_input():
    table = sample(0, 1.0)
    for call, words in (
        (lambda: interval(metrics.roc_auc, table, level=1.0), "level"),
        (lambda: interval(metrics.roc_auc, table, n_resamples=3), "n_resamples"),
        (lambda: interval(metrics.log_loss, metrics.forecast_from_arrays([0, 1], [1.0, 0.5])), "finite"),
        (lambda: interval(metrics.roc_auc, [0.1, 0.2]), "ScoreTable"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            call()
