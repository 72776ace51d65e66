"""Forecasts know whether their map was fitted on their own rows, and p-values are refused then."""

import inspect
import pickle
from dataclasses import replace

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
from oddsmith.data import resample
from oddsmith.errors import InSampleWarning, InvalidInputError
from oddsmith.metrics import Forecast, forecast_of
from oddsmith.metrics.provenance import is_fitted_to
from oddsmith.metrics.resampled import labels_again, rows_again

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


#: Every public method and function of tables that returns tables; what is new must be named here.
OPERATIONS = {
    "merge": lambda t: t.merge(t),
    "minus": lambda t: t.merge(t).minus(t),
    "scale": lambda t: t.scale(2),
    "quantize": lambda t: t.quantize(0.125),
    "coarsen": lambda t: t.coarsen(20),
    "map": lambda t: t.map(lambda scores: scores),
    "join_near_ties": lambda t: t.map(lambda scores: np.repeat([0.5, 0.5 + 1e-16], len(t) // 2)).join_near_ties(),
    "in_runs": lambda t: t.in_runs(np.arange(0, len(t), 5)),
    "at": lambda t: t.at(t.scores > 0),
    "folds": lambda t: t.folds(2, 0)[0].rest,
    "folds of weights": lambda t: t.scale(0.5).folds(2, 0)[1].part,
    "one_vs_rest": lambda t: t.one_vs_rest(0),
    "bootstrap": lambda t: next(resample.bootstrap(t, 1, random_state=0)),
    "resample_labels": lambda t: next(resample.resample_labels(t, np.full(len(t), 0.5), 1, random_state=0)),
    "exact": lambda t: t.quantize(0.125).exact(),
    "limit_cells": lambda t: resample.limit_cells(t, 7),
    "with_weights": lambda t: t.with_weights(t.neg, t.pos),
    "rows_again": lambda t: next(iter(rows_again(t.scale(0.5), 1, np.random.default_rng(0)))),
    "labels_again": lambda t: next(iter(labels_again(t.scale(0.5), np.full(len(t), 0.5), 1, np.random.default_rng(0)))),
    "pickle": lambda t: pickle.loads(pickle.dumps(t)),
    "replace": lambda t: replace(t, rows=5),
    "forecast_of": lambda t: forecast_of(t, SquashCalibrator().fit_table(t)),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_keeps_or_joins_the_flag(name):
    table = ScoreTable.from_arrays(*data())
    seen = forecast_of(table, remembering(table))
    made = OPERATIONS[name](seen)
    assert made.in_sample
    assert "in_sample=True" in repr(made)
    with pytest.raises(InvalidInputError, match="fitted on are refused"):
        metrics.spiegelhalter_test.of(made)
    assert not OPERATIONS[name](table.map(remembering(table).log_odds)).in_sample


def test_one_table_in_sample_makes_the_merged_one_so():
    table = ScoreTable.from_arrays(*data())
    seen, fresh = (forecast_of(table, remembering(table), in_sample=flag) for flag in (True, False))
    assert fresh.merge(seen).in_sample
    assert seen.merge(fresh).in_sample
    assert fresh.merge(seen).minus(fresh).in_sample
    assert not fresh.merge(fresh).minus(fresh).in_sample


def test_every_operation_of_tables_is_known():
    """A method or function that returns tables and is not in the list above might lose the flag."""
    methods = {
        name: member
        for name, member in vars(ScoreTable).items()
        if callable(member) and name[0] != "_" and not isinstance(member, staticmethod)
    }
    functions = {name: getattr(resample, name) for name in resample.__all__ if name != "Fold"}
    returning = {
        name
        for name, member in (methods | functions).items()
        if any(word in str(inspect.signature(member).return_annotation) for word in ("ScoreTable", "Fold"))
    }
    assert returning
    assert returning - OPERATIONS.keys() == set()


def test_figures_and_intervals_say_so():
    table = ScoreTable.from_arrays(*data())
    seen, fresh = (forecast_of(table, remembering(table), in_sample=flag) for flag in (True, False))
    for measure in (metrics.calibration_error, metrics.smooth_calibration_error, metrics.integrated_calibration_index):
        assert measure.of(seen).in_sample
        assert str(measure.of(seen)).endswith("; in-sample)")
        assert measure.of(seen).to_dict()["in_sample"] is True
        assert not measure.of(fresh).in_sample
    found = metrics.interval(metrics.roc_auc, seen, n_resamples=50, random_state=0)
    assert found.in_sample
    assert str(found).endswith("; in-sample")
    assert not metrics.interval(metrics.roc_auc, fresh, n_resamples=50, random_state=0).in_sample


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
    assert not is_fitted_to(fitted, certain)


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
