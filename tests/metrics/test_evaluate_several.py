"""The dictionary of a forecast of several classes: right figures, honest intervals, and what cannot be told."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from oddsmith.data.score_rows import ScoreRows
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import (
    calibration_error,
    canonical_calibration_error,
    class_forecast,
    classwise_calibration_error,
    decompose,
    evaluate,
    forecast_from_arrays,
    forecast_of,
    log_loss,
    roc_auc,
    squared_error,
    top_label_calibration_error,
    zero_one_error,
)
from oddsmith.metrics._label_draws import ClassBins
from oddsmith.metrics.canonical import CanonicalCases, less_chance
from oddsmith.metrics.means import gain_with_interval
from oddsmith.metrics.significance import Decisions


def limits(part):
    """Return the interval of a measure, whose ends are None where there is none."""
    return {"low": None, "high": None} | part["interval"]


def simulated(n=600, k=4, sure=1.8, seed=0, weight=None, shares=None):
    """Rows of logits that are too sure by a factor."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=(n, k)) + (0 if shares is None else np.log(shares))
    truth = np.argmax(z + rng.gumbel(size=(n, k)), axis=1)
    names = tuple(f"c{i}" for i in range(k))
    return ScoreRows(sure * z, truth, names, weight, names, "log_odds")


@pytest.fixture(scope="module")
def rows():
    return simulated()


@pytest.fixture(scope="module")
def found(rows):
    return evaluate(rows, n_resamples=100)


def test_figures_are_those_of_the_measures(rows, found):
    y, prob = rows.truth, softmax(rows.values, axis=1)
    values = {name: part["value"] for name, part in found["measures"].items()}
    for measure in (log_loss, squared_error, zero_one_error, top_label_calibration_error, classwise_calibration_error):
        assert values[measure.__name__] == pytest.approx(measure(y, prob))
    assert values["accuracy"] == pytest.approx(1 - zero_one_error(y, prob))
    assert values["canonical_calibration_error"] == pytest.approx(canonical_calibration_error(y, prob))
    for score, name in (("log", "log_loss"), ("squared", "brier")):
        parts = decompose(y, prob, score=score)
        for part in ("miscalibration", "discrimination", "uncertainty"):
            assert values[f"{name}_{part}"] == pytest.approx(getattr(parts, part), abs=1e-9)
    assert values["calibration_in_the_large"] == pytest.approx(
        np.abs(prob.mean(axis=0) - np.bincount(y) / len(y)).sum() / 2
    )


def test_each_class_is_a_table_against_the_rest(rows, found):
    prob = softmax(rows.values, axis=1)
    assert [part["label"] for part in found["classes"]] == list(rows.labels)
    for k, part in enumerate(found["classes"]):
        table = forecast_from_arrays(rows.truth == k, prob[:, k])
        assert part["label"] == rows.labels[k]
        assert part["cases"] == np.sum(rows.truth == k)
        assert part["mean_probability"] == pytest.approx(prob[:, k].mean())
        assert limits(part["gap"])["low"] < part["gap"]["value"] < limits(part["gap"])["high"]
        assert part["gap"]["value"] == pytest.approx(prob[:, k].mean() - part["share"])
        assert part["calibration_error"]["value"] == pytest.approx(float(calibration_error.of(table)))
        assert part["p_holm"] >= part["p_value"]


def test_it_is_plain_json_with_intervals_and_definitions(found):
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    for name, part in found["measures"].items():
        assert part["definition"]
        ends = limits(part)
        if ends["low"] is None:
            assert ends["reason"], name
        else:
            assert 0 <= ends["low"] <= ends["high"]


def test_two_classes_and_several_have_the_same_keys(rows, found):
    table = forecast_from_arrays(rows.truth == 0, softmax(rows.values, axis=1)[:, 0])
    two = evaluate(table, n_resamples=40)
    assert list(two) == list(found)
    (one,) = two["classes"]
    assert one.keys() == found["classes"][0].keys()
    for part in (one["gap"], one["calibration_error"], *two["measures"].values()):
        interval = part.get("interval", {})
        assert set(part) <= {"value", "definition", "interval"}
        assert set(interval) in ({"reason"}, set(), set(limits(found["measures"]["log_loss"])))
    first = found["classes"][0]
    for name in ("cases", "share", "mean_probability", "p_value"):
        assert one[name] == pytest.approx(first[name])
    assert limits(one["gap"])["low"] == pytest.approx(limits(first["gap"])["low"])


def test_without_intervals_nothing_is_drawn(rows, found):
    quick = evaluate(rows, intervals=False)
    assert quick["level"] is None
    assert all("interval" not in part for part in quick["measures"].values())
    for name, part in found["measures"].items():
        assert quick["measures"][name]["value"] == part["value"]
    assert quick["tests"] == found["tests"]


def test_a_forecast_that_was_fitted_on_its_rows_has_no_tests(rows):
    forecast = forecast_of(rows, in_sample=True)
    assert forecast.at(np.arange(9)).in_sample
    assert forecast.of_class(0).in_sample
    assert forecast.of_top_label().in_sample
    seen = evaluate(forecast, intervals=False)
    assert seen["in_sample"]
    assert seen["judged"]["kind"] == "untested"
    assert all("p_value" not in test for test in seen["tests"].values())


def test_the_area_has_delongs_interval(rows, found):
    part = found["measures"]["roc_auc"]
    assert part["value"] == pytest.approx(roc_auc(rows.truth, softmax(rows.values, axis=1)))
    held = []
    expected = float(roc_auc.of(forecast_of(simulated(40_000, sure=1.0, seed=50))))
    for seed in range(40):
        ends = limits(evaluate(simulated(300, sure=1.0, seed=seed), n_resamples=20)["measures"]["roc_auc"])
        held.append(ends["low"] <= expected <= ends["high"])
    assert np.mean(held) >= 0.85


def test_the_same_rows_give_the_same_dictionary(rows, found):
    assert evaluate(rows, n_resamples=100) == found
    assert evaluate(rows, n_resamples=100, random_state=1) != found


def test_logits_and_their_softmax_are_the_same(rows, found):
    prob = replace(rows, values=softmax(rows.values, axis=1), meaning="probability")
    other = evaluate(prob, n_resamples=100)
    for name, part in found["measures"].items():
        assert other["measures"][name]["value"] == pytest.approx(part["value"], abs=1e-9)


def test_counts_are_repetitions(rows):
    counts = np.arange(len(rows.truth)) % 3
    counted = evaluate(replace(rows, weight=counts), n_resamples=100)
    at = np.repeat(np.arange(len(counts)), counts)
    repeated = evaluate(replace(rows, values=rows.values[at], truth=rows.truth[at]), n_resamples=100)
    for name, part in repeated["measures"].items():
        if name != "canonical_calibration_error":  # a sample of the cases, drawn anew
            assert counted["measures"][name]["value"] == pytest.approx(part["value"], abs=1e-9)
    # Labels are drawn for each case, not for each row: the ranges by chance agree but for the draws.
    mine, theirs = (
        limits(part["measures"]["classwise_calibration_error"])["consistency"] for part in (counted, repeated)
    )
    assert mine == pytest.approx(theirs, rel=0.25)
    assert counted["tests"]["likelihood_ratio_test"] == pytest.approx(repeated["tests"]["likelihood_ratio_test"])


def test_float_weights_of_one_size_change_nothing(rows, found):
    weighted = evaluate(replace(rows, weight=np.full(len(rows.truth), 0.3)), n_resamples=100)
    for name in ("log_loss", "squared_error", "zero_one_error", "log_loss_miscalibration"):
        mine, theirs = (limits(one["measures"][name]) for one in (weighted, found))
        for side in ("value", "low", "high"):
            assert mine[side] == pytest.approx(theirs[side], abs=1e-9)
    assert weighted["data"]["kind"] == "weight"


def test_a_calibrated_forecast_is_not_refuted_and_a_sure_one_is():
    calibrated, sure = (evaluate(simulated(1500, sure=by), n_resamples=100) for by in (1.0, 1.8))
    assert min(test["p_value"] for test in calibrated["tests"].values()) > 0.01
    assert sure["tests"]["likelihood_ratio_test"]["p_value"] < 1e-6
    assert sure["tests"]["top_label_test"]["p_value"] < 1e-6
    for name in ("top_label_calibration_error", "classwise_calibration_error", "brier_miscalibration"):
        ends = limits(calibrated["measures"][name])
        low, high = ends["consistency"]
        assert low * 0.8 < calibrated["measures"][name]["value"] < high * 1.2
        assert ends["low"] == pytest.approx(0, abs=2e-3)
        assert limits(sure["measures"][name])["low"] > 0.005
    assert sure["top_label"]["gap"]["interval"]["low"] > 0.05


def test_intervals_hold_the_truth():
    """Miscalibration of the log-loss and the class-wise error, against what 100 000 cases say."""
    many = simulated(100_000, sure=1.3, seed=99)
    forecast = forecast_of(many)
    truth = {
        "log_loss_miscalibration": decompose.of(forecast).miscalibration,
        "top_label_calibration_error": float(top_label_calibration_error.of(forecast)),
        "log_loss": log_loss.of(forecast),
    }
    held = dict.fromkeys(truth, 0)
    for seed in range(30):
        found = evaluate(simulated(400, sure=1.3, seed=seed), n_resamples=60)["measures"]
        for name, value in truth.items():
            ends = limits(found[name])
            held[name] += ends["low"] <= value <= ends["high"]
    assert min(held.values()) >= 25


def test_the_gain_of_nothing_is_chi_squared():
    rng = np.random.default_rng(3)
    found = []
    for _ in range(300):
        # A shift of the mean by its estimate gains (Σx)²/(2n), χ² with one degree of freedom over 2n.
        x = rng.normal(size=200)
        gains = x * x.mean() - x.mean() ** 2 / 2
        found.append(gain_with_interval(gains, Decisions.of(None, 200), 1))
    assert np.mean([p_value < 0.05 for _, p_value in found]) == pytest.approx(0.05, abs=0.035)
    assert np.mean([gain["low"] == 0 for gain, _ in found]) >= 0.9
    assert all(gain["low"] <= gain["corrected"] <= gain["high"] for gain, _ in found)


def test_the_canonical_error_is_the_one_that_draws_see(rows):
    forecast = forecast_of(rows)
    cases = CanonicalCases.of(forecast, forecast.prob)
    exact = float(canonical_calibration_error.of(forecast, bandwidth=cases.bandwidth))
    assert less_chance(cases.error(np.eye(4)[forecast.truth]), cases.by_chance) == pytest.approx(exact)
    assert cases.error(forecast.prob) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("weight", [0.001, 7.5])
def test_the_canonical_error_says_whether_rows_were_drawn(weight):
    """By rows, whatever their float weights sum to."""
    for n, drawn in ((600, False), (1200, True)):
        measured = evaluate(simulated(n, weight=np.full(n, weight)), n_resamples=20)["measures"]
        assert ("drawn at random" in measured["canonical_calibration_error"]["definition"]) == drawn


def test_large_and_small_statistics_meet():
    decisions = Decisions.of(None, 100)
    below, above = (gain_with_interval(np.full(100, gain), decisions, 5)[0] for gain in (49.9999, 50.0001))
    assert above["low"] == pytest.approx(below["low"], rel=1e-3)
    assert above["high"] == pytest.approx(below["high"], rel=1e-3)


def test_few_cases_cannot_tell():
    told = evaluate(simulated(30), n_resamples=40)
    assert told["judged"]["words"].startswith("Cannot tell: 30 cases (")
    assert any("fewer than 10 cases" in note for note in told["notes"])
    assert any(part["p_holm"] is None and "reason" in part for part in told["classes"])
    assert not evaluate(simulated(300), n_resamples=40)["notes"]


def test_a_class_that_never_occurs_is_told_so_or_refuted():
    rows = simulated(400, k=3)
    never = replace(rows, truth=rows.truth % 2)
    part = evaluate(never, n_resamples=40)["classes"][2]
    assert part["cases"] == 0
    assert part["p_holm"] < 1e-6  # many were expected
    rare = simulated(400, k=3, sure=1.0, shares=np.array([0.4, 0.6, 1e-5]))
    part = evaluate(replace(rare, truth=rare.truth % 2), n_resamples=40)["classes"][2]
    assert part["p_holm"] is None
    assert "fewer than 10 cases" in part["reason"]


def test_extreme_logits_have_finite_losses_and_impossible_truths_infinite_ones(rows):
    huge = evaluate(replace(rows, values=1e4 * rows.values), n_resamples=40)
    exact = -np.mean(log_softmax(1e4 * rows.values, axis=1)[np.arange(600), rows.truth])
    assert huge["measures"]["log_loss"]["value"] == pytest.approx(exact)
    sure = np.eye(4)[rows.values.argmax(axis=1)]
    certain = evaluate(replace(rows, values=sure, meaning="probability"), n_resamples=40)
    for name in ("log_loss", "log_loss_miscalibration"):
        assert certain["measures"][name]["value"] == "inf"
        assert certain["measures"][name]["interval"]["reason"]
    assert "infinite" in " ".join(certain["notes"])
    assert json.dumps(certain, allow_nan=False)


def test_labels_of_any_kind_are_kept(rows):
    for labels in ((0, 1, 2, 3), (True, False, "yes", 2.5), (1, "1", 2, "2")):
        found = evaluate(replace(rows, labels=labels), n_resamples=40)
        assert [part["label"] for part in found["classes"]] == list(labels)


def test_one_row_and_rows_without_weight():
    one = simulated(1)
    assert evaluate(one, n_resamples=20)["notes"]
    with pytest.raises(InvalidInputError, match="some row must have a weight above 0"):
        evaluate(replace(one, weight=np.zeros(1)))


def test_bins_hold_what_the_measures_see(rows):
    forecast = class_forecast(rows.truth, softmax(rows.values, axis=1))
    bins = ClassBins.of(forecast, forecast.prob)
    seen = bins.observe(forecast.truth)
    assert seen.classwise() == pytest.approx(float(classwise_calibration_error.of(forecast)))
    assert seen.top_label() == pytest.approx(float(top_label_calibration_error.of(forecast)))
    hot = np.eye(4)[forecast.truth]
    shared = bins.allot(hot)
    assert shared.classwise() == pytest.approx(seen.classwise())
    assert shared.top_label() == pytest.approx(seen.top_label())
    assert shared.brier_miscalibration() == pytest.approx(seen.brier_miscalibration())
    assert bins.allot(forecast.prob).classwise() == pytest.approx(0, abs=1e-12)
    exact = decompose.of(forecast, score="squared").miscalibration
    assert seen.brier_miscalibration() == pytest.approx(exact, rel=0.1)
    assert math.isfinite(seen.in_the_large())


def test_counts_near_the_largest_do_not_wrap(rows):
    found = evaluate(replace(rows, weight=np.full(rows.n_rows, 4 * 10**12)), n_resamples=20)
    assert all(one["value"] >= 0 for one in found["measures"].values())
    # Of so many cases some intervals are points in double precision, which are refused.
    known = [ends for one in found["measures"].values() if (ends := limits(one))["low"] is not None]
    assert len(known) > 10
    assert all(0 <= one["low"] < one["high"] for one in known)


def test_errors_that_no_softmax_expresses_are_covered():
    # Two classes change places where the third is rare.
    rng = np.random.default_rng(1)
    prob = rng.dirichlet(np.full(3, 0.5), 20_000)
    truth = np.where(prob[:, [2]] < 0.2, prob[:, [1, 0, 2]], prob)
    y = (np.cumsum(truth, axis=1) < rng.random((len(prob), 1))).sum(axis=1).clip(0, 2)
    swapped = ScoreRows(prob, y, ("a", "b", "c"), None, ("a", "b", "c"), "probability")
    measures = evaluate(swapped, n_resamples=60)["measures"]
    bins = ClassBins.of(forecast_of(swapped), prob).allot(truth)
    for name, true in (
        ("classwise_calibration_error", bins.classwise()),
        ("top_label_calibration_error", bins.top_label()),
        ("brier_miscalibration", bins.brier_miscalibration()),
    ):
        ends = limits(measures[name])
        assert ends["low"] <= true <= ends["high"]
        assert ends["corrected"] == pytest.approx(true, rel=0.03)
