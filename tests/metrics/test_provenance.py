"""Forecasts know whether their map was fitted on their own rows, and p-values are refused then."""

import numpy as np
import pytest

from oddsmith import (
    AutoCalibrator,
    IsotonicCalibrator,
    LogisticCalibrator,
    PlattCalibrator,
    ScoreTable,
    SquashCalibrator,
    VennAbersCalibrator,
    metrics,
)
from oddsmith.errors import InSampleWarning, InvalidInputError
from oddsmith.metrics import Forecast, forecast_of
from oddsmith.metrics.provenance import fitted_on

TESTS = [
    metrics.spiegelhalter_test,
    metrics.hosmer_lemeshow_test,
    metrics.cox_test,
    metrics.kolmogorov_smirnov_test,
    metrics.kuiper_test,
]


def data(seed=0, n=300):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    return scores, (rng.random(n) < 1 / (1 + np.exp(-2 * scores))).astype(int)


def remembering(table):
    return LogisticCalibrator().fit_table(table)


def test_a_calibrator_knows_its_table_in_any_order():
    scores, y = data()
    table = ScoreTable.from_arrays(scores, y)
    order = np.random.default_rng(1).permutation(len(y))
    calibrator = remembering(table)
    for same in (table, ScoreTable.from_arrays(scores[order], y[order])):
        assert forecast_of(same, calibrator).in_sample
    for other in (ScoreTable.from_arrays(*data(1)), ScoreTable.from_arrays(scores[1:], y[1:])):
        assert not forecast_of(other, calibrator).in_sample
    flipped = y.copy()
    flipped[[int(np.argmax(y)), int(np.argmin(y))]] = 0, 1
    assert not forecast_of(ScoreTable.from_arrays(scores, flipped), calibrator).in_sample


def test_float_weights_are_recognized_too():
    scores, y = data()
    weight = np.random.default_rng(2).exponential(size=len(y))
    table = ScoreTable.from_arrays(scores, y, weight)
    calibrator = remembering(table)
    assert forecast_of(ScoreTable.from_arrays(scores[::-1], y[::-1], weight[::-1]), calibrator).in_sample
    assert not forecast_of(ScoreTable.from_arrays(scores, y, weight[::-1]), calibrator).in_sample


def test_a_forecast_is_the_mapped_table():
    table = ScoreTable.from_arrays(*data())
    calibrator = remembering(table)
    made = forecast_of(table, calibrator)
    assert isinstance(made, Forecast)
    assert made == table.map(calibrator.log_odds)
    assert float(metrics.log_loss.of(made)) == metrics.log_loss.of(table.map(calibrator.log_odds))
    assert forecast_of(table, calibrator, in_sample=False).in_sample is False
    assert forecast_of(table, calibrator.map_).in_sample is False
    assert forecast_of(table, calibrator.map_, in_sample=True).in_sample is True


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.__name__)
def test_p_values_are_refused(test):
    table = ScoreTable.from_arrays(*data())
    seen, fresh = (forecast_of(table, remembering(table), in_sample=flag) for flag in (None, False))
    with pytest.raises(InvalidInputError, match="fitted on are refused"):
        test.of(seen)
    assert 0 <= test.of(fresh).p_value <= 1
    assert test.of(fresh) == test.of(table.map(remembering(table).log_odds))


def test_figures_and_intervals_say_so():
    table = ScoreTable.from_arrays(*data())
    seen, fresh = (forecast_of(table, remembering(table), in_sample=flag) for flag in (True, False))
    for measure in (metrics.calibration_error, metrics.smooth_calibration_error, metrics.integrated_calibration_index):
        assert measure.of(seen).in_sample
        assert str(measure.of(seen)).endswith("; in-sample)")
        assert measure.of(seen).to_dict()["in_sample"] is True
        assert not measure.of(fresh).in_sample
    found = metrics.interval(metrics.auc, seen, n_resamples=50, random_state=0)
    assert found.in_sample
    assert str(found).endswith("; in-sample")
    assert not metrics.interval(metrics.auc, fresh, n_resamples=50, random_state=0).in_sample


@pytest.mark.parametrize("kind", [AutoCalibrator, IsotonicCalibrator, PlattCalibrator, VennAbersCalibrator])
def test_every_kind_knows_the_rows_of_its_fit(kind):
    scores, y = data()
    calibrator = kind().fit(scores, y)
    assert forecast_of(ScoreTable.from_arrays(scores, y), calibrator).in_sample
    assert not forecast_of(ScoreTable.from_arrays(*data(1)), calibrator).in_sample


def test_rows_that_a_method_cannot_be_fitted_to_are_not_its_own():
    fitted = PlattCalibrator(input="probability").fit([0.2, 0.4, 0.6, 0.9, 0.5], [0, 1, 0, 1, 1])
    certain = ScoreTable.from_arrays([0.25, 1.0], [0, 1])
    with pytest.raises(InvalidInputError):
        PlattCalibrator(input="probability").fit_table(certain)
    assert not fitted_on(fitted, certain)


def test_what_fits_nothing_is_never_in_sample():
    table = ScoreTable.from_arrays(*data())
    assert not forecast_of(table, SquashCalibrator().fit_table(table)).in_sample


def test_a_calibrator_on_guard_warns_of_rows_that_are_judged_again():
    scores, y = data()
    fitted = AutoCalibrator(guard=True).fit(scores[:200], y[:200])
    unseen, half = (ScoreTable.from_arrays(scores[part], y[part]) for part in (slice(200, 300), slice(100, 300)))
    assert fitted.overlap(unseen) == 0
    assert fitted.overlap(half) == 0.5
    forecast_of(unseen, fitted)
    with pytest.warns(InSampleWarning, match="50% of the rows"):
        forecast_of(half, fitted)
    with pytest.raises(InvalidInputError, match="guard must be on"):
        AutoCalibrator().fit(scores, y).overlap(unseen)
    same = ScoreTable.from_arrays(np.round(scores, 1), y)
    assert AutoCalibrator(guard=True).fit_table(same).overlap(same) in (0.0, 1.0)
