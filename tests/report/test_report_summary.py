"""The dictionary of a report: plain, the same for the same table, and right."""

import json

import numpy as np
import pytest
from report_methods import METHODS
from scipy.special import expit

from oddsmith import IsotonicCalibrator, PlattCalibrator, ScoreTable, SquashCalibrator
from oddsmith.bands import band, pointwise_band
from oddsmith.cutoffs import threshold
from oddsmith.decide import binary_costs, decide
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import calibration_error, forecast_from_arrays, log_loss
from oddsmith.metrics.reliability import ErrorDefinition
from oddsmith.report import UNCALIBRATED, compare_methods, summarize
from oddsmith.report import summary as summary_module
from oddsmith.report.decisions import HIGHEST_COST, decision_cells
from oddsmith.report.pictures import pictures
from oddsmith.report.summary import BIN_COUNTS


@pytest.fixture(scope="module")
def held_out(table, summary):
    """What each method said of cases that it was not fitted to: probabilities, labels and how many cases."""
    found = compare_methods(table, {summary["recommended"]: METHODS[summary["recommended"]]}, input="log_odds")
    tables = {name: found.held_out_forecast(name) for name in found.ranking}
    return {
        name: (expit(np.tile(one.scores, 2)), np.repeat([1, 0], len(one)), np.concatenate([one.pos, one.neg]))
        for name, one in tables.items()
    }


def test_it_is_plain_json_and_the_same_again(table, summary, monkeypatch):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    few = {name: METHODS[name] for name in ("platt", "squash")}
    monkeypatch.setattr(summary_module, "_SAMPLES", 20)
    assert summarize(table, few) == summarize(table, few)
    assert summarize(table, few)["methods"] != summarize(table, few, random_state=1)["methods"]


def test_the_verdict_says_what_is_gained_and_what_to_do(summary):
    recommended = summary["recommended"]
    assert summary["verdict"].startswith("Miscalibrated (slope 0.39, intercept −0.89, p < 0.0001); recalibrating gains")
    assert f"Calibrate with {recommended}: the log-loss per case on held-out cases falls from" in summary["verdict"]
    assert "corrected for the choice among 7 methods" in summary["verdict"]
    assert summary["verdict"].endswith(f"Next: {type(METHODS[recommended]).__name__}().fit(scores, y)")


def test_the_verdict_knows_when_to_leave_scores_alone(monkeypatch):
    monkeypatch.setattr(summary_module, "_SAMPLES", 20)
    rng = np.random.default_rng(4)
    s = 2 * rng.normal(size=2000)
    table = ScoreTable.from_arrays(s, rng.random(2000) < 1 / (1 + np.exp(-s)))
    alone = summarize(table, {"isotonic": IsotonicCalibrator()}, input="log_odds")
    assert alone["verdict"].startswith("No sign of miscalibration")
    assert "Leave the scores uncalibrated: with isotonic the log-loss" in alone["verdict"]
    assert list(alone["forecasts"]) == [UNCALIBRATED]
    few = ScoreTable.from_arrays(s[:400], rng.random(400) < 1 / (1 + np.exp(-s[:400])))
    little = summarize(few, {"platt": PlattCalibrator()}, input="log_odds")
    assert little["verdict"].startswith("No test rejects calibration")
    assert "Calibrating makes no clear difference" in little["verdict"]


def test_measures_are_those_of_held_out_cases(summary, held_out):
    for name, (prob, y, weight) in held_out.items():
        forecast = forecast_from_arrays(y, prob, weight)
        measures = summary["evaluation"][name]["measures"]
        assert measures["log_loss"]["value"] == pytest.approx(log_loss.of(forecast))
        assert summary["methods"]["mean"]["log_loss"][name] == pytest.approx(log_loss.of(forecast))
        assert all("definition" in measure for measure in measures.values())
        assert not summary["evaluation"][name]["in_sample"]


def test_bins_give_the_calibration_error(summary, held_out):
    for name, (prob, y, weight) in held_out.items():
        forecast = forecast_from_arrays(y, prob, weight)
        for kind, of_kind in summary["forecasts"][name]["bins"].items():
            assert list(map(int, of_kind)) == list(BIN_COUNTS)
            for n, bins in of_kind.items():
                part = {key: np.array(bins[key]) for key in ("weight", "mean_predicted", "fraction_positive")}
                gap = np.abs(part["fraction_positive"] - part["mean_predicted"])
                error = float(calibration_error.of(forecast, definition=ErrorDefinition(int(n), kind)))
                assert float(part["weight"] @ gap) / 3000 == pytest.approx(error)


def test_decisions_are_exact_at_every_pair_of_costs(summary, held_out):
    rng = np.random.default_rng(5)
    pairs = [(1, 1), (1, HIGHEST_COST), (HIGHEST_COST, 1), *rng.integers(1, HIGHEST_COST + 1, size=(60, 2))]
    for name, (prob, y, weight) in held_out.items():
        cells = {key: np.array(value) for key, value in summary["forecasts"][name]["decisions"].items()}
        for fp, fn in pairs:
            yes = decide(prob, binary_costs(false_positive=float(fp), false_negative=float(fn))) == 1
            chosen = cells["above"] >= fp / (fp + fn)
            assert cells["pos"][chosen].sum() == weight[yes & (y == 1)].sum()
            assert cells["neg"][chosen].sum() == weight[yes & (y == 0)].sum()


def test_a_forecast_on_the_threshold_is_decided_as_negative():
    cells = decision_cells(forecast_from_arrays([1, 1, 0, 1, 0], [0.5, 0.2, 0.2, 1.0, 0.0]))
    above = dict(zip(cells["above"], zip(cells["pos"], cells["neg"], strict=True), strict=True))
    assert sum(pos for at, (pos, _) in above.items() if at >= 0.5) == 1
    assert sum(pos for at, (pos, _) in above.items() if at >= 0.2) == 2
    assert above[0.0] == (0, 1)


def test_score_space_holds_every_method(summary, table):
    space = summary["score_space"]
    assert set(space["curves"]) == {*METHODS, UNCALIBRATED} == set(summary["methods"]["ranking"])
    assert list(space["curves"]) == summary["methods"]["ranking"]
    fitted = PlattCalibrator().fit_table(table)
    np.testing.assert_allclose(space["curves"]["platt"], fitted.log_odds(np.array(space["at"])))
    assert sum(space["points"]["pos"]) == table.n_pos
    assert space["in_sample"]


def test_probabilities_are_drawn_by_their_log_odds(monkeypatch):
    monkeypatch.setattr(summary_module, "_SAMPLES", 20)
    rng = np.random.default_rng(6)
    p = np.append(rng.random(300), [0.0, 1.0, 1.0])
    table = ScoreTable.from_arrays(p, np.append(rng.random(300) < p[:300] ** 2, [False, True, False]))
    found = summarize(table, {"platt": PlattCalibrator(), "squash": SquashCalibrator()})
    space = found["score_space"]
    assert space["axis"] == "log-odds of the score"
    assert space["curves"][UNCALIBRATED] == space["at"]
    assert json.dumps(found, allow_nan=False)


def test_progress_ends_at_one(table):
    told = []
    summarize(table, {"squash": SquashCalibrator()}, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_it_refuses_what_cannot_be_compared():
    for weight in (None, [0.5, 9.5, 1.0]):
        with pytest.raises(InvalidInputError, match=r"each class must have two cases or more.*got 1 positive"):
            summarize(ScoreTable.from_arrays([0.0, 1.0, 2.0], [0, 1, 0], weight), METHODS)


def test_float_weights_are_compared_by_rows(monkeypatch):
    monkeypatch.setattr(summary_module, "_SAMPLES", 20)
    rng = np.random.default_rng(7)
    s = 3 * rng.normal(size=400)
    y, weight = (rng.random(400) < 1 / (1 + np.exp(-0.5 * s))).astype(int), rng.uniform(0.2, 3, 400)
    table = ScoreTable.from_arrays(s, y, weight)
    found = compare_methods(table, {"platt": PlattCalibrator()})
    assert found.comparison["zero_one_error"].test == "paired t-test"
    assert found.comparison.decisions == pytest.approx(weight.sum())
    # The held-out forecasts of the rows themselves, by hand.
    assert len(found._cases._scores) == 400
    order = np.argsort(s)
    row = order[np.searchsorted(s[order], found._cases._scores)]
    np.testing.assert_allclose(found._cases._sums["pos"] + found._cases._sums["neg"], weight[row])
    np.testing.assert_allclose(found._cases._sums["pos_sq"] + found._cases._sums["neg_sq"], weight[row] ** 2)
    prob = 1 / (1 + np.exp(-found._forecasts["platt"]))
    expected = -np.average(np.log(np.where(y[row] == 1, prob, 1 - prob)), weights=weight[row])
    assert found.mean("log_loss")["platt"] == pytest.approx(expected)
    told = summarize(table, {"platt": PlattCalibrator()})
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["evaluation"]["platt"]["measures"]["log_loss"]["value"] == pytest.approx(expected)
    assert told["evaluation"]["platt"]["data"]["kind"] == "weight"
    cells = told["forecasts"]["platt"]["cells"]
    assert sum(cells["pos_sq"]) + sum(cells["neg_sq"]) == pytest.approx((weight**2).sum())
    assert len(pictures(told)["reliability"]) == 1


def test_operating_points_are_guaranteed_by_the_table(table, summary):
    points = summary["operating_points"]
    assert [(point["goal"], point["target"]) for point in points[-6:]] == [
        *(("recall", target) for target in (0.9, 0.95, 0.99)),
        *(("fpr", target) for target in (0.1, 0.05, 0.01)),
    ]
    assert all(point["target"] > table.prevalence for point in points if point["goal"] == "precision")
    for point in points:
        found = threshold(table, **{point["goal"]: point["target"]})
        assert {name: point[name] for name in ("cut", "selected", "needed", "sentence")} == {
            **{name: getattr(found, name) for name in ("cut", "selected", "needed")},
            "sentence": str(found),
        }
        if found.cut is not None:
            assert point["probability"] == pointwise_band(table).limits([found.cut])[0].tolist()


def test_bands_of_p_go_with_counts_of_independent_rows(table, summary, monkeypatch):
    monkeypatch.setattr(summary_module, "_SAMPLES", 20)
    raw = summary["forecasts"][UNCALIBRATED]["band"]
    found = band(table)
    assert raw["limits"] == json.loads(json.dumps(found.to_dict()))
    assert raw["areas"] == [area._asdict() for area in found.areas(expit(table.scores), table.scores)]
    assert len(summary["score_space"]["band"]) == 2
    few = table.at(np.arange(len(table)) % 10 == 0)
    weighted = summarize(few.scale(0.5), {"platt": PlattCalibrator()}, input="log_odds")
    assert weighted["operating_points"] is None
    assert weighted["score_space"]["band"] is None
    assert all(part["band"] is None for part in weighted["forecasts"].values())
    pictures(weighted)
