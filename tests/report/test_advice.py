"""What is recommended resists chance, and says first what matters most."""

import numpy as np
import pytest
from benchmarks.advice import EQUAL, ONE_WINS, simulate
from scipy.special import expit, logit

import oddsmith
from oddsmith import AutoCalibrator, Calibrator, HistogramCalibrator, IsotonicCalibrator, PlattCalibrator, ScoreTable
from oddsmith.calibrators.registry import SCALINGS
from oddsmith.errors import InvalidInputError
from oddsmith.metrics.significance import Decisions
from oddsmith.report import BASE_RATE, UNCALIBRATED, compare_methods
from oddsmith.report.advice import _PREFERRED, HeldOut, by_preference
from oddsmith.report.wording import explain_marks, rows_of_methods

METHODS = {"histogram": HistogramCalibrator(), "auto": AutoCalibrator(), "platt": PlattCalibrator()}


def rows(n, seed=0, slope=1.0):
    """Log-odds and labels."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=n)
    return z, (rng.random(n) < expit(slope * z)).astype(int)


def compared(scores, y, methods=METHODS, **options):
    return compare_methods(ScoreTable.from_arrays(scores, y), methods, **options)


def test_of_25_equal_methods_the_default_is_recommended_and_the_gain_is_true():
    found = simulate(EQUAL, 150, seed=5)
    assert found.right >= 0.9
    assert found.quoted == pytest.approx(found.true, rel=0.1)
    assert found.luckiest > 1.5 * found.true  # what it is protected from


def test_a_method_that_wins_by_a_fiftieth_of_a_nat_is_found():
    assert simulate(ONE_WINS, 40, seed=5).right >= 0.8


def test_every_method_has_its_place():
    exported = {getattr(oddsmith, name) for name in oddsmith.__all__ if name.endswith("Calibrator")} - {Calibrator}
    assert set(_PREFERRED) == exported | set(SCALINGS.values())
    assert by_preference(METHODS) == ["auto", "platt", "histogram"]


def held_out(**losses):
    n = len(next(iter(losses.values())))
    positive = np.arange(n) % 2 == 0
    return HeldOut(losses, Decisions.of(None, n), positive, np.arange(n) % 5, 5)


def test_among_those_that_beat_the_default_the_preferred_one_is_chosen():
    noise = np.random.default_rng(1).normal(size=(4, 1000)) / 10
    held = held_out(auto=1 + noise[0], simple=0.5 + noise[1], steps=0.499 + noise[2], bad=2 + noise[3])
    assert held.choose(["auto", "simple", "steps", "bad"]) == "simple"
    assert held.choose(["auto", "bad"]) == "auto"
    np.testing.assert_array_equal(held.nested_loss(["auto", "simple", "steps", "bad"]), held.losses["simple"])


def test_who_was_certain_and_wrong_is_not_chosen():
    fine, wrong = np.ones(100), np.zeros(100)
    wrong[3] = np.inf
    assert held_out(fine=fine, wrong=wrong).choose(["wrong", "fine"]) == "fine"
    assert held_out(wrong=wrong, raw=fine).gain(fine, wrong).high == -np.inf


def test_the_gain_is_what_the_rule_gains_on_folds_that_it_did_not_see():
    """A method that is lucky in one fold alone is not quoted with its luck."""
    rng = np.random.default_rng(2)
    raw, default = np.ones(500), 0.9 + rng.normal(size=500) / 100
    lucky = default.copy()
    lucky[np.arange(500) % 5 == 2] -= 0.5
    held = held_out(raw=raw, auto=default, lucky=lucky)
    assert held.choose(["auto", "lucky"]) == "lucky"
    quoted = held.gain(raw, held.nested_loss(["auto", "lucky"]))
    assert quoted.mean == pytest.approx(0.1, abs=0.01)


def test_the_verdict_ends_with_the_command_to_run_next():
    z, y = rows(2000)
    found = compared(expit(2 * z), y)
    assert found.advice.kind == "calibrate"
    assert found.verdict.startswith("Miscalibrated (slope 0.50, intercept 0.05, p < 0.0001); recalibrating gains about")
    assert "Calibrate with auto: the log-loss per case on held-out cases falls from" in found.verdict
    assert "corrected for the choice among 3 methods" in found.verdict
    assert found.verdict.endswith("No other method is significantly better. Next: AutoCalibrator().fit(scores, y)")
    low, high = found.advice.gain.low, found.advice.gain.high
    assert 0 < low < found.advice.before - found.advice.after < high


@pytest.mark.parametrize(("n", "few"), [(4, True), (40, True), (60, False)])
def test_few_cases_cannot_tell(n, few):
    scores, y = np.linspace(0.05, 0.95, n), (np.arange(n) >= n // 2).astype(int)
    found = compared(scores, y, {"isotonic": IsotonicCalibrator(), "platt": PlattCalibrator()})
    assert (found.advice.kind == "few") == few
    assert found.verdict.startswith("Cannot tell: ") == few
    assert ("significantly better" in found.verdict + found.standing) != few
    if few:
        assert found.advice.method == "platt"


def test_nine_of_a_class_cannot_tell():
    rng = np.random.default_rng(3)
    y = np.arange(1000) < 9
    assert compared(rng.random(1000) + 0.1 * y, y.astype(int)).verdict.startswith("Cannot tell: 1000 cases (9 pos")


@pytest.mark.parametrize("input", ["score", "log_odds"])
def test_a_reversed_score_is_said_first(input):
    z, y = rows(1000)
    found = compared(-z, y, input=input)
    assert found.advice.kind == "reversed"
    assert found.verdict.startswith("The score is reversed: it is lower for positives than for negatives (area")
    assert "gain" not in found.verdict
    assert found.advice.method == "auto"


@pytest.mark.parametrize("seed", range(5))
def test_labels_that_were_shuffled_are_no_signal(seed):
    z, y = rows(600, 10)
    found = compared(expit(2 * z), np.random.default_rng(seed).permutation(y))
    assert found.verdict.startswith("The score has no signal: area under the ROC curve 0.")
    assert "Calibrate" not in found.verdict


@pytest.mark.parametrize(("n", "slope"), [(300, 0.5), (1000, 0.7), (2000, 0.8)])
def test_miscalibrated_scores_are_never_left_alone(n, slope):
    rng = np.random.default_rng(20)
    p = rng.beta(1, 2, n)
    found = compared(expit(slope * logit(p)), (rng.random(n) < p).astype(int), {"platt": PlattCalibrator()})
    assert found.judged.is_miscalibrated
    assert found.advice.kind != "leave"
    assert "iscalibrated (slope 1." in found.verdict


def test_a_baseline_of_infinite_loss_never_stands():
    rng = np.random.default_rng(21)
    p = rng.beta(1, 2, 300)
    y = (rng.random(300) < p).astype(int)
    p[::50] = 1.0
    y[0] = 0
    found = compared(p, y)
    assert found.advice.kind == "calibrate"
    assert found.advice.before == np.inf
    assert "the log-loss per case on held-out cases falls from infinity to 0." in found.verdict
    assert found.to_dict()["advice"]["before"] == "inf"


def test_rows_that_were_copied_do_not_make_a_method_better():
    rng = np.random.default_rng(22)
    p = rng.beta(1, 2, 300)
    y = (rng.random(300) < p).astype(int)
    methods = {"platt": PlattCalibrator(), "isotonic": IsotonicCalibrator()}
    found = compared(np.tile(p, 10), np.tile(y, 10), methods)
    assert found.verdict.startswith("Warning: 90.0% of the rows are copies of another row")
    assert found.advice.kind != "calibrate"
    groups = {i: ScoreTable.from_arrays(np.full(10, p[i]), np.full(10, y[i])) for i in range(300)}
    named = compared(np.tile(p, 10), np.tile(y, 10), methods, groups=groups)
    assert named.advice.kind != "calibrate"
    assert "copies" not in named.verdict


def test_folds_and_tests_keep_groups_whole():
    rng = np.random.default_rng(23)
    group = np.repeat(np.arange(40), 15)
    p = rng.beta(1, 2, 600)
    y = (rng.random(40)[group] < p).astype(int)
    groups = {i: ScoreTable.from_arrays(p[group == i], y[group == i]) for i in range(40)}
    found = compared(p, y, {"platt": PlattCalibrator()}, groups=groups)
    assert found.comparison["log_loss"].test == "t-test over groups"
    rows = compared(p, y, {"platt": PlattCalibrator()})
    assert found.advice.gain.high - found.advice.gain.low > rows.advice.gain.high - rows.advice.gain.low
    # All forecasts of a group come from one fit, to other groups: they are on one line.
    for i in range(40):
        here = found._cases._cell_group == i
        line = np.polyfit(found._cases._scores[here], found._forecasts["platt"][here], 1)
        np.testing.assert_allclose(
            np.polyval(line, found._cases._scores[here]), found._forecasts["platt"][here], atol=1e-9
        )
        assert here.sum() == len(groups[i])


def test_groups_must_be_those_of_the_table():
    z, y = rows(100)
    with pytest.raises(InvalidInputError, match="the tables of the groups must merge to the table; got 50 rows"):
        compared(z, y, groups={0: ScoreTable.from_arrays(z[:50], y[:50])})
    alone = {k: ScoreTable.from_arrays(z[y == k], y[y == k]) for k in (0, 1)}
    with pytest.raises(InvalidInputError, match="each class must occur in two groups or more"):
        compared(z, y, groups=alone)


def test_a_score_that_matters_at_both_ends_is_signal():
    rng = np.random.default_rng(4)
    s = rng.normal(size=2000)
    y = (rng.random(2000) < np.clip(s**2 / 3, 0.02, 0.95)).astype(int)
    found = compared(s, y, {**METHODS, "spline": oddsmith.SplineCalibrator()})
    assert found.signal.kind == "none"
    assert found.advice.kind == "calibrate"
    assert found.advice.method == "spline"
    assert "It is significantly better than auto" in found.verdict


def test_scores_that_are_no_probabilities_are_compared_with_the_base_rate():
    z, y = rows(2000)
    deciles = np.digitize(z, np.quantile(z, np.arange(0.1, 1, 0.1))) + 1.0
    found = compared(deciles, y)
    assert found.baseline == BASE_RATE
    assert UNCALIBRATED not in found._forecasts
    start = "The scores are not probabilities (values from 1 to 10), so there is no log-loss before calibration"
    assert found.verdict.startswith(start)
    assert "falls from" not in found.verdict
    base = y.mean()
    entropy = -(base * np.log(base) + (1 - base) * np.log(1 - base))
    assert found.advice.before == pytest.approx(entropy, abs=1e-3)
    assert compared(z, y, input="log_odds").baseline == UNCALIBRATED
    assert compared(expit(z), y).baseline == UNCALIBRATED
    with pytest.raises(InvalidInputError, match=r"probabilities must lie in \[0, 1\]"):
        compared(deciles, y, input="probability")


def test_good_probabilities_are_left_alone():
    z, y = rows(4000)
    assert compared(expit(z), y).advice.kind == "leave"
    worse = compared(expit(z), y, {"histogram": HistogramCalibrator(n_bins=2)})
    assert worse.advice.kind == "leave"
    assert worse.verdict.startswith("No sign of miscalibration (slope 1.01")
    assert "Leave the scores uncalibrated: with histogram the log-loss" in worse.verdict
    assert "rises from" in worse.verdict


@pytest.mark.parametrize(("mark", "holm"), [("‡", ""), ("*", "‡"), ("", "")])
def test_marks_are_those_after_holms_correction(mark, holm):
    part = {"best": "a", "methods": {"a": {"mark": mark, "mark_holm": holm}}}
    mean = {"log_loss": {"a": 0.5}}
    compared = {"ranking": ["a"], "comparison": {"measures": {"log_loss": part}}, "mean": mean, "advice": {"kind": "x"}}
    (row,) = rows_of_methods(compared)
    assert row["cells"]["log_loss"]["marks"] == holm


def test_marks_are_explained_where_they_appear():
    assert explain_marks(["", ""], UNCALIBRATED) == ""
    told = explain_marks(["", "†", "‡"], UNCALIBRATED)
    assert told.startswith("† significantly better than all but uncalibrated, ‡ significantly better than all but one")
    assert "*" not in told
