"""One function decides whether scores can be used as probabilities."""

import re
import warnings

import numpy as np
import pytest
from benchmarks.advice import VERDICTS, certain, clustered, copied, count_verdicts, share_called_miscalibrated, sloped
from scipy.special import expit, softmax

from oddsmith import AutoCalibrator, PlattCalibrator, ScoreTable
from oddsmith.data import Signal
from oddsmith.data.folds import deal_groups
from oddsmith.data.score_rows import ScoreRows
from oddsmith.data.signal import is_reversed, share_of_copies
from oddsmith.metrics import (
    evaluate,
    forecast_from_arrays,
    forecast_of,
    verdict,
)
from oddsmith.metrics.evidence import CalibrationEvidence, GainEstimate, correct_p_value
from oddsmith.metrics.grouped import mean_and_error_of_groups, t_test_of_groups
from oddsmith.metrics.significance import Decisions, mean_and_error, paired_t_test
from oddsmith.metrics.verdict import decide_verdict


def by_group(sample, read=forecast_from_arrays):
    return {one: read(sample.y[sample.group == one], sample.prob[sample.group == one]) for one in set(sample.group)}


@pytest.mark.parametrize("name", VERDICTS)
def test_miscalibrated_scores_are_called_so_and_others_are_not(name):
    """Few samples, with three standard errors: `python -m benchmarks.advice` has more."""
    draw, least, most = VERDICTS[name]
    samples = 60 if "group" in name or "10,000" in name or "classes" in name else 100
    share = share_called_miscalibrated(count_verdicts(draw, samples, seed=1))
    slack = 3 * np.sqrt(0.06 * 0.94 / samples)
    assert least - slack <= share <= most + slack


def test_absence_of_evidence_is_not_evidence():
    few = sloped(300, 1.0, np.random.default_rng(4)).judged()
    assert few.kind == "inconclusive"
    assert "more cases are needed to decide" in few.words
    many = sloped(4000, 1.0, np.random.default_rng(1)).judged()
    assert many.kind == "calibrated"
    assert many.gain["high"] < many.threshold


def test_the_effect_stands_next_to_the_p_value():
    found = sloped(300, 0.5, np.random.default_rng(3)).judged()
    assert re.match(r"Miscalibrated \(slope 1\.\d\d, intercept .*, p [<=] 0\.0\d+\); recalibrating", found.words)
    assert f"(95 % interval {found.gain['low']:.4f} to {found.gain['high']:.4f}), more than {found.threshold:.4f}" in (
        found.words
    )
    slight = decide_verdict(CalibrationEvidence(0.015, "", GainEstimate(0.0034, 0.0003, 0.0117), "slope 0.88"), 0.65)
    assert slight.kind == "slight"
    assert slight.is_miscalibrated
    assert "(slope 0.88, p = 0.015); recalibrating gains about 0.0034 nats" in slight.words
    assert "less than 0.0065, the threshold of practical relevance" in slight.words


def test_an_outcome_that_was_impossible_is_never_calibrated():
    found = certain(300, np.random.default_rng(3)).judged()
    assert found.kind == "impossible"
    assert "outcome whose probability was exactly 0" in found.words
    assert found.gain["low"] == np.inf
    right = forecast_from_arrays(np.arange(300) % 2, np.where(np.arange(300) % 2 == 1, 1.0, 0.3))
    assert verdict(right).kind != "impossible"


def test_shapes_that_a_line_does_not_see_are_found():
    rng = np.random.default_rng(4)
    p = rng.random(4000)
    wave = np.clip(p + 0.12 * np.cos(7 * np.pi * p), 0.01, 0.99)
    found = verdict(forecast_from_arrays((rng.random(4000) < wave).astype(int), p))
    assert found.kind == "miscalibrated"
    assert "a straight line in log-odds does not repair that (Hosmer and Lemeshow's test)" in found.words


def test_what_matters_first_is_said_first():
    rng = np.random.default_rng(5)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(int)
    turned = verdict(forecast_from_arrays(1 - y, p))
    assert turned.kind == "reversed"
    assert turned.comes_first
    assert verdict(forecast_from_arrays(rng.permutation(y), p)).kind == "no signal"
    assert verdict(forecast_from_arrays(y[:40], p[:40])).kind == "few"
    assert verdict(forecast_from_arrays(np.ones(90, int), p[:90])).kind == "few"
    assert verdict(ScoreTable.from_arrays(-100 * p, 1 - y), input="score").kind == "not probabilities"
    assert "no log-loss before calibration" in verdict(ScoreTable.from_arrays(np.ceil(10 * p), y), input="score").words
    assert verdict(ScoreTable.from_arrays(-100 * p, y), input="score").kind == "reversed"


def test_rows_of_the_fit_allow_no_verdict():
    drawn = sloped(300, 1.0, np.random.default_rng(17))
    table = ScoreTable.from_arrays(drawn.prob, drawn.y)
    fitted = forecast_of(table, PlattCalibrator().fit_table(table), in_sample=True)
    assert verdict(fitted).words == "The forecast was fitted on these rows: evaluate it on other rows."


def test_copies_are_told_from_equal_scores():
    rng = np.random.default_rng(6)
    repeated = copied(300, 10, rng)
    assert share_of_copies(ScoreTable.from_arrays(repeated.prob, repeated.y)) == pytest.approx(0.9)
    found, once = repeated.judged(), repeated.judged(by_group=True)
    assert found.words.startswith("Warning: 90.0% of the rows are copies of another row (equal scores and label); all")
    assert found.p_value == pytest.approx(once.p_value)
    assert found.kind == once.kind
    plain = sloped(3000, 1.0, rng)
    for decimals in (1, 2, 3):
        votes = np.round(plain.prob, decimals)
        assert share_of_copies(ScoreTable.from_arrays(votes, plain.y)) == 0
    some = np.append(plain.prob, plain.prob[:100]), np.append(plain.y, plain.y[:100])
    assert share_of_copies(ScoreTable.from_arrays(*some)) == pytest.approx(100 / 3100)
    assert "Warning: 3.2% of the rows are copies" in verdict(forecast_from_arrays(some[1], some[0])).words


def test_positives_that_were_oversampled_are_copies():
    drawn = sloped(600, 1.0, np.random.default_rng(7))
    times = np.where(drawn.y == 1, 3, 1)
    table = ScoreTable.from_arrays(np.repeat(drawn.prob, times), np.repeat(drawn.y, times))
    assert share_of_copies(table) == pytest.approx(2 * drawn.y.sum() / times.sum())


def test_perfect_separation_raises_suspicion():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 500)
    p = np.where(y == 1, rng.uniform(0.7, 1, 500), rng.uniform(0, 0.3, 500))
    found = verdict(forecast_from_arrays(y, p))
    assert found.words.startswith("Warning: the probability separates the classes almost perfectly")
    assert "not used to train the classifier" in found.words


def test_groups_of_one_row_judge_as_rows_do():
    drawn = sloped(400, 0.7, np.random.default_rng(9))
    alone = {i: forecast_from_arrays(drawn.y[[i]], drawn.prob[[i]]) for i in range(400)}
    rows, groups = drawn.judged(), verdict(forecast_from_arrays(drawn.y, drawn.prob), groups=alone)
    assert groups.gain["mean"] == pytest.approx(rows.gain["mean"], rel=0.25)
    assert (groups.p_value < 0.05) == (rows.p_value < 0.05)


def test_groups_count_once():
    rng = np.random.default_rng(10)
    once = sloped(300, 0.6, rng)
    ten = type(once)(np.tile(once.prob, 10), np.tile(once.y, 10), np.tile(np.arange(300), 10))
    alone = {i: forecast_from_arrays(once.y[[i]], once.prob[[i]]) for i in range(300)}
    one, many = verdict(forecast_from_arrays(once.y, once.prob), groups=alone), ten.judged(by_group=True)
    assert many.p_value == pytest.approx(one.p_value)
    assert many.gain["high"] == pytest.approx(one.gain["high"], rel=0.15)
    few = clustered(6, 50, rng)
    assert few.judged(by_group=True).words.startswith("Cannot tell: 6 groups of rows are too few")


def test_a_summary_resamples_groups():
    drawn = clustered(40, 25, np.random.default_rng(11))
    forecast = forecast_from_arrays(drawn.y, drawn.prob)
    rows, groups = (evaluate(forecast, n_resamples=100, random_state=0, groups=of) for of in (None, by_group(drawn)))
    assert groups["judged"]["p_value"] > rows["judged"]["p_value"]

    def width(found):
        limits = found["measures"]["log_loss"]["interval"]
        return limits["high"] - limits["low"]

    assert width(groups) > 1.2 * width(rows)


def test_of_several_tests_the_first_has_most_of_the_level():
    assert correct_p_value(("cox", 0.03), {"a": 1e-9}) == (pytest.approx(0.0375), "cox")
    assert correct_p_value(("cox", 0.3), {"a": 0.001, "b": 0.5}) == (pytest.approx(0.01), "a")
    assert correct_p_value(None, {"a": 0.02}) == (0.02, "a")
    assert correct_p_value(None, {}) == (None, "")


def class_rows(n, seed, factor=1.0, copies=1):
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=(n, 3))
    truth = np.argmax(factor * z + rng.gumbel(size=z.shape), axis=1)
    return ScoreRows(np.tile(z, (copies, 1)), np.tile(truth, copies), tuple("abc"), None, tuple("abc"), "log_odds")


def test_classes_are_judged_by_the_same_rules():
    assert verdict(class_rows(3000, 0)).kind == "calibrated"
    assert verdict(class_rows(200, 0)).kind == "inconclusive"
    sure = verdict(class_rows(300, 0, 0.4))
    assert sure.kind == "miscalibrated"
    assert sure.words.startswith("Miscalibrated (mean confidence 0.")
    assert verdict(class_rows(300, 0, -1.0)).kind == "reversed"
    assert verdict(class_rows(30, 0)).kind == "few"


def test_copied_rows_of_classes_are_found_and_count_once_as_groups():
    copies = class_rows(200, 1, copies=8)
    found = verdict(copies)
    assert found.words.startswith("Warning: 87.5% of the rows are copies of another row")
    once = verdict(class_rows(200, 1), groups=np.arange(200))
    many = verdict(copies, groups=np.tile(np.arange(200), 8))
    assert many.p_value == pytest.approx(once.p_value)
    assert found.p_value == pytest.approx(once.p_value)
    assert many.kind == found.kind == once.kind


def test_a_class_that_was_impossible():
    z, truth = class_rows(200, 2).values, class_rows(200, 2).truth.copy()
    p = softmax(z, axis=1)
    p[0] = [1.0, 0.0, 0.0]
    truth[0] = 2
    rows = ScoreRows(p, truth, tuple("abc"), None, tuple("abc"), "probability")
    assert verdict(rows).kind == "impossible"


def test_means_over_groups_of_one_are_means_over_rows():
    values, decisions = np.random.default_rng(12).normal(0.1, 1, 50), Decisions.of(None, 50)
    mean, error, n = mean_and_error_of_groups(values, decisions, np.arange(50))
    assert (mean, error) == pytest.approx(mean_and_error(values, decisions)[:2])
    assert n == 50
    assert t_test_of_groups(values, decisions, np.arange(50)) == pytest.approx(
        paired_t_test(values, np.zeros(50)).p_value
    )


def test_folds_of_groups_have_their_share_of_each_class():
    amounts = np.random.default_rng(13).integers(0, 9, (200, 3)).astype(float)
    fold = deal_groups(amounts, 5, 0)
    shares = np.stack([amounts[fold == k].sum(axis=0) for k in range(5)]) / amounts.sum(axis=0)
    np.testing.assert_allclose(shares, 0.2, atol=0.03)
    rare = np.zeros((20, 2))
    rare[:, 0] = 10
    rare[:5, 1] = 1
    assert sorted(deal_groups(rare, 5, 0)[:5]) == [0, 1, 2, 3, 4]


def test_float_weights_of_one_are_counts():
    drawn = sloped(800, 0.7, np.random.default_rng(14))
    weighted = verdict(forecast_from_arrays(drawn.y, drawn.prob, np.ones(800)))
    assert weighted.kind == drawn.judged().kind
    assert weighted.gain["mean"] == pytest.approx(drawn.judged().gain["mean"])


def test_log_odds_far_out_do_not_disturb():
    z = 400 * np.random.default_rng(15).normal(size=200)
    y = (np.random.default_rng(16).random(200) < expit(z / 400)).astype(int)
    assert verdict(ScoreTable.from_arrays(z, y)).kind == "miscalibrated"


@pytest.mark.parametrize("kind", ["rising", "none", "reversed"])
def test_fits_and_verdicts_decide_by_one_threshold(kind):
    """Scores with z between −3 and −2 were reversed for a fit, and without signal for a verdict."""
    words = {"rising": "", "none": "no clear signal", "reversed": "is reversed"}
    seen = 0
    for shift in np.linspace(-0.45, 0.45, 19):
        scores = np.concatenate([np.linspace(0, 1, 100), np.linspace(0, 1, 100) + shift])
        table = ScoreTable.from_arrays(expit(scores), np.repeat([0, 1], 100))
        if Signal.of_table(table).kind == kind:
            seen += 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                words_of_fit = AutoCalibrator().fit_table(table).verdict_
            assert words[kind] in words_of_fit
            assert all(text not in words_of_fit for other, text in words.items() if text and other != kind)
            assert is_reversed(table) == (kind == "reversed")
    assert seen > 2
