"""Methods for several classes are compared on cases that they did not see, and recommended by the rule of two."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

from oddsmith import (
    AutoScaling,
    IsotonicCalibrator,
    MatrixScaling,
    PlattCalibrator,
    ScoreTable,
    TemperatureScaling,
    VectorScaling,
)
from oddsmith.calibrators.registry import fit_method
from oddsmith.data.score_rows import ScoreRows
from oddsmith.errors import InvalidInputError
from oddsmith.report import UNCALIBRATED, compare_methods

METHODS = {"matrix": MatrixScaling(), "temperature": TemperatureScaling(), "vector": VectorScaling()}


def simulated(n=600, k=3, sure=2.0, seed=0, weight=None):
    """Rows of logits that are too sure by a factor."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=(n, k))
    truth = np.argmax(z + rng.gumbel(size=(n, k)), axis=1)
    names = tuple("abcdefgh"[:k])
    return ScoreRows(sure * z, truth, names, weight, names, "log_odds")


@pytest.fixture(scope="module")
def rows():
    return simulated()


@pytest.fixture(scope="module")
def compared(rows):
    return compare_methods(rows, METHODS)


def test_losses_are_those_of_held_out_rows(rows, compared):
    held = compared._cases.rows
    truth = held.truth
    assert held.n_rows == 600
    assert sorted(map(tuple, held.values)) == sorted(map(tuple, rows.values))
    raw = -log_softmax(held.values, axis=1)[np.arange(600), truth]
    assert compared.mean("log_loss")[UNCALIBRATED] == pytest.approx(raw.mean())
    # The first fold, by hand.
    fold = np.arange(120)
    rest = np.setdiff1d(np.arange(600), fold)
    fitted = TemperatureScaling(classes=[0, 1, 2]).fit(held.values[rest], truth[rest])
    np.testing.assert_allclose(compared._forecasts["temperature"][fold], fitted.predict_log_proba(held.values[fold]))
    prob = np.exp(compared._forecasts["temperature"])
    assert compared.mean("squared_error")["temperature"] == pytest.approx(np.sum((np.eye(3)[truth] - prob) ** 2) / 600)
    assert compared.mean("zero_one_error")["temperature"] == np.mean(prob.argmax(axis=1) != truth)


def test_the_simplest_of_equals_is_recommended_with_its_gain(compared):
    assert compared.advice.method == "temperature"
    assert compared.verdict.startswith("Miscalibrated (mean confidence 0.814, accuracy 0.688, p < 0.0001)")
    assert "Calibrate with temperature: the log-loss per case on held-out cases falls from" in compared.verdict
    assert "corrected for the choice among 3 methods" in compared.verdict
    assert compared.verdict.endswith("Next: TemperatureScaling().fit(rows, y)")
    assert compared.advice.gain.low > 0


def test_the_default_stands_unless_another_is_significantly_better():
    assert compare_methods(simulated(200), {**METHODS, "auto": AutoScaling()}).advice.method == "auto"
    shifted = simulated(1500)
    skewed = replace(shifted, values=shifted.values + np.array([0.0, 2.5, -2.5]))
    assert compare_methods(skewed, METHODS).advice.method == "vector"


def test_neither_the_order_of_rows_nor_counts_matter(rows, compared):
    order = np.random.default_rng(1).permutation(600)
    shuffled = replace(rows, values=rows.values[order], truth=rows.truth[order])
    assert compare_methods(shuffled, METHODS).to_dict() == compared.to_dict()
    ones = replace(rows, weight=np.ones(600, np.int64))
    assert compare_methods(ones, METHODS).to_dict() == compared.to_dict()
    absent = replace(ones, weight=np.append(np.ones(599, np.int64), 0))
    without = replace(rows, values=rows.values[:599], truth=rows.truth[:599])
    assert compare_methods(absent, METHODS).to_dict() == compare_methods(without, METHODS).to_dict()


def test_counted_cases_are_dealt_one_by_one():
    one = simulated(80)
    found = compare_methods(replace(one, weight=np.full(80, 7)), {"temperature": TemperatureScaling()})
    assert found.comparison.decisions == 560
    assert found._cases.rows.weight.sum() == 560
    assert found._cases.rows.n_rows > 80  # parts of a row lie in several folds


def test_float_weights_are_compared_by_t_tests(rows):
    weight = np.random.default_rng(2).uniform(0.2, 3, 600)
    found = compare_methods(replace(rows, weight=weight), {"temperature": TemperatureScaling()})
    assert found.comparison["zero_one_error"].test == "paired t-test"
    assert found._cases.rows.n_rows == 600
    assert found.comparison.decisions == pytest.approx(weight.sum())


def test_probabilities_are_read_as_they_are(rows, compared):
    prob = replace(rows, values=softmax(rows.values, axis=1), meaning="probability")
    found = compare_methods(prob, METHODS)
    assert found.mean("log_loss")[UNCALIBRATED] == pytest.approx(compared.mean("log_loss")[UNCALIBRATED])
    assert found.mean("log_loss") == pytest.approx(compared.mean("log_loss"), abs=0.02)  # folds are others
    certain = np.eye(3)[rows.values.argmax(axis=1)]
    held = compare_methods(replace(prob, values=certain), {"temperature": TemperatureScaling()})
    assert held.mean("log_loss")[UNCALIBRATED] == np.inf  # as `verdict` says
    assert (held.advice.kind, held.advice.gain.mean) == ("calibrate", np.inf)


def test_a_calibrator_takes_each_class_against_the_rest(rows):
    found = compare_methods(rows, {"one-vs-rest:platt": PlattCalibrator(), "temperature": TemperatureScaling()})
    assert found.advice.method == "temperature"  # joint scalings come first
    assert found.mean("log_loss")["one-vs-rest:platt"] < found.mean("log_loss")[UNCALIBRATED]
    model = fit_method(rows, PlattCalibrator())
    z = rows.values
    against = z[:, 1] - np.logaddexp(z[:, 0], z[:, 2])
    own = PlattCalibrator().fit(against, rows.truth == 1)
    each = np.exp([model.map.maps[k].log_odds(against[:5]) for k in (1,)])
    np.testing.assert_allclose(each[0], np.exp(own.log_odds(against[:5])))
    np.testing.assert_allclose(model.predict_proba(z).sum(axis=1), 1)
    prob = replace(rows, values=softmax(z, axis=1), meaning="probability")
    same = fit_method(prob, PlattCalibrator())  # log-odds of probabilities are those of logits
    np.testing.assert_allclose(same.predict_proba(prob.values), model.predict_proba(z), atol=1e-9)
    column = fit_method(prob, PlattCalibrator(input="probability"))
    assert column.labels == ("a", "b", "c")
    assert (same.map.against_rest, column.map.against_rest) == (True, False)


@pytest.mark.parametrize("n", [12, 40])
def test_few_cases_cannot_tell(n):
    found = compare_methods(simulated(n), METHODS)
    assert found.verdict.startswith(f"Cannot tell: {n} cases (")
    assert "10 outside the most frequent class" in found.verdict
    assert "too few to rank the methods" in found.standing


def test_what_is_wrong_with_the_scores_is_said_first(rows):
    turned = compare_methods(replace(rows, values=rows.values[:, [1, 2, 0]]), METHODS)
    assert turned.advice.kind == "reversed"
    assert "the columns are in another order than the labels" in turned.verdict
    assert turned.verdict.endswith("Next: put the columns in the order of the labels")
    assert turned.standing.endswith("compare again once columns and labels belong together.")
    assert compare_methods(replace(rows, values=-rows.values), METHODS).advice.kind == "reversed"
    shuffled = np.random.default_rng(5).permutation(rows.truth)
    nothing = compare_methods(replace(rows, truth=shuffled), METHODS)
    assert nothing.advice.kind == "no signal"
    assert nothing.verdict.startswith("The scores have no signal: mean probability of the true class 0.3")


def test_of_shuffled_labels_hardly_any_are_told_from_chance(rows):
    from oddsmith.data import Signal
    from oddsmith.metrics import forecast_of

    rng, forecast = np.random.default_rng(6), forecast_of(rows)
    z = [Signal.of_rows(forecast.prob, rng.permutation(forecast.truth), forecast.weight).z for _ in range(500)]
    assert np.mean(z) == pytest.approx(0, abs=0.15)
    assert np.std(z) == pytest.approx(1, abs=0.1)


def test_calibrated_scores_are_left_alone():
    found = compare_methods(simulated(2000, sure=1.0), METHODS)
    assert found.advice.kind == "leave"
    worse = compare_methods(simulated(300, sure=1.0), {"isotonic": IsotonicCalibrator()})
    assert worse.advice.kind in ("no gain", "no difference")
    assert found.verdict.endswith("Next: use them as probabilities")


def test_methods_that_fail_are_left_out_and_said(rows):
    broken = {"temperature": TemperatureScaling(), "matrix": MatrixScaling(penalty=-1)}
    found = compare_methods(rows, broken)
    assert list(found.failed) == ["matrix"]
    with pytest.raises(InvalidInputError, match="some method must fit the data"):
        compare_methods(rows, {"matrix": MatrixScaling(penalty=-1)})


def test_it_refuses_what_cannot_be_compared(rows):
    with pytest.raises(InvalidInputError, match="two cases or more must be outside the most frequent class"):
        compare_methods(replace(rows, truth=np.zeros(600, np.int64)), METHODS)
    with pytest.raises(InvalidInputError, match="n_folds"):
        compare_methods(rows, METHODS, n_folds=1)


def test_classes_without_cases_and_classes_of_one_case_do_no_harm():
    rows = simulated(200, k=5)
    truth = np.where(rows.truth == 4, 3, rows.truth)
    truth[truth == 2] = 0
    truth[0] = 2
    found = compare_methods(replace(rows, truth=truth), METHODS)
    assert not found.failed
    assert all(np.isfinite(values).all() for values in found._forecasts.values())


def test_it_is_plain_json(compared):
    told = compared.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["signal"]["kind"] == "rising"


def test_progress_ends_at_one(rows):
    told = []
    compare_methods(rows, {"temperature": TemperatureScaling()}, progress=told.append)
    assert told == [1.0]


class Mine:
    """A calibrator of another library: rows in, probabilities out, no weights."""

    def fit(self, x, y):
        self.model = LogisticRegression().fit(np.reshape(x, (len(y), -1)), y)
        return self

    def predict_proba(self, x):
        return self.model.predict_proba(np.reshape(x, (len(x), -1)))


@pytest.mark.parametrize("weights", [None, "counts"])
def test_methods_of_other_libraries_are_compared_as_they_are(rows, weights):
    rng, calibrators = np.random.default_rng(0), {"mine": Mine(), "sklearn": LogisticRegression()}
    counts = None if weights is None else rng.integers(1, 4, 300)
    s = rng.normal(size=300)
    y = (rng.random(300) < 1 / (1 + np.exp(-2 * s))).astype(int)
    found = compare_methods(ScoreTable.from_arrays(s, y, counts), {"platt": PlattCalibrator(), **calibrators})
    assert not found.failed
    loss = found.mean("log_loss")
    assert loss["mine"] == pytest.approx(loss["sklearn"], abs=1e-6)
    assert loss["mine"] == pytest.approx(loss["platt"], abs=0.02)
    assert found.advice.default == "platt"
    several = compare_methods(rows if counts is None else replace(rows, weight=np.full(600, 2)), calibrators)
    assert several.mean("log_loss")["mine"] == pytest.approx(several.mean("log_loss")["sklearn"], abs=1e-4)
    assert len(repr(several)) < 200
    assert several._repr_html_().count("<tr>") == 4


def test_methods_of_other_libraries_must_return_probabilities():
    class Wrong(Mine):
        def predict_proba(self, x):
            return np.full(len(x), 2.0)

    table = ScoreTable.from_arrays(np.arange(80.0), np.arange(80) % 2)
    found = compare_methods(table, {"platt": PlattCalibrator(), "wrong": Wrong()})
    assert "within [0, 1]; got values from 2 to 2" in found.failed["wrong"]
    weighted = ScoreTable.from_arrays(np.arange(80.0), np.arange(80) % 2, np.full(80, 0.5))
    found = compare_methods(weighted, {"platt": PlattCalibrator(), "mine": Mine()})
    assert "Mine must take weights for these rows" in found.failed["mine"]
