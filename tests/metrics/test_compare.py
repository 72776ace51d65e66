"""The matrix of methods: against direct tests on rows, and as it prints."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from scipy.special import expit

from oddsmith import PlattCalibrator, ScoreTable, SquashCalibrator, metrics
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import log_loss
from oddsmith.metrics.compare import compare
from oddsmith.metrics.significance import micro_sign_test, paired_t_test
from samples import ours_allowed, samples

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "vectors.json").read_text())["methods"]
MCNEMAR = "micro sign test (exact McNemar)"


def methods(scores):
    return {"raw": scores, "half": scores / 2, "flat": np.zeros(len(scores)), "hard": scores * 3}


def log_loss_or_error(name, y, scores):
    """Return a measure of every method by its own function."""
    prob = {name: expit(values) for name, values in methods(np.asarray(scores)).items()}
    return [float(getattr(metrics, name)(y, p)) for p in prob.values()]


def test_vectors_by_rows():
    a, b = VECTORS["measures"]
    logit = {
        name: np.log(np.array(case["inputs"]) / (1 - np.array(case["inputs"]))) for name, case in (("A", a), ("B", b))
    }
    result = compare(a["labels01"], logit)
    assert -12 * result["log_loss"].means == pytest.approx([a["log_loss_sum"], b["log_loss_sum"]])
    assert 12 * result["squared_error"].means == pytest.approx([a["squared_error_sum"], b["squared_error_sum"]])
    assert result["zero_one_error"].means.tolist() == [2 / 12, 1 / 12]
    assert (result["log_loss"].wins[1, 0], result["log_loss"].losses[1, 0], result["log_loss"].ties[1, 0]) == (7, 3, 2)
    assert result["log_loss"].p_values[0, 1] == pytest.approx(VECTORS["paired_t_test"][0]["p_two_sided"])
    assert result["log_loss"].wins.tolist() == result["squared_error"].wins.tolist()


@given(samples())
def test_table_equals_rows(sample):
    scores, y = sample
    table = ScoreTable.from_arrays(scores, y)
    by_table = compare(table, methods(table.scores), input="log_odds")
    by_rows = compare(y, methods(scores), input="log_odds")
    for name in ("log_loss", "squared_error", "zero_one_error"):
        ours, rows = by_table[name], by_rows[name]
        assert ours.wins.tolist() == rows.wins.tolist()
        assert ours.means == pytest.approx(rows.means)
        assert ours.means == pytest.approx(log_loss_or_error(name, y, scores), rel=1e-4)  # of rounded probabilities
        assert ours.p_values == pytest.approx(rows.p_values, abs=1e-6)
    signed = np.where(y == 1, scores, -scores)
    direct = micro_sign_test(signed, signed / 2)
    assert by_rows["log_loss"].wins[0, 1] == direct.wins
    t = paired_t_test(-np.logaddexp(0, -signed), -np.logaddexp(0, -signed / 2))
    assert by_rows["log_loss"].p_values[0, 1] == pytest.approx(t.p_value)


def test_tests_and_levels():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=500)
    y = (rng.random(500) < 1 / (1 + np.exp(-scores))).astype(int)
    signs, usual = compare(y, methods(scores), test="sign", alpha=0.01), compare(y, methods(scores))
    assert [part.test for part in signs.measures.values()] == ["micro sign test"] * 2 + [MCNEMAR]
    assert [part.alpha for part in signs.measures.values()] == [0.01] * 3
    assert signs["log_loss"].p_values.tolist() == signs["squared_error"].p_values.tolist()
    assert [part.test for part in usual.measures.values()] == ["paired t-test"] * 2 + [MCNEMAR]
    assert [part.alpha for part in usual.measures.values()] == [0.05] * 3
    assert usual["zero_one_error"].p_values.tolist() == signs["zero_one_error"].p_values.tolist()
    assert np.all(usual["log_loss"].holm >= usual["log_loss"].p_values)


def test_float_weights_are_compared_by_t_tests_alone():
    rng = np.random.default_rng(5)
    scores, y, weight = rng.normal(size=200), rng.integers(0, 2, 200), rng.uniform(0.2, 3, 200)
    table = ScoreTable.from_arrays(scores, y, weight)
    by_rows = compare(y, methods(scores), sample_weight=weight)
    by_table = compare(table, methods(table.scores))
    for found in (by_rows, by_table):
        assert {part.test for part in found.measures.values()} == {"paired t-test"}
    right = [((values > 0) == (y == 1)).astype(float) for values in (scores, np.zeros(200))]
    direct = paired_t_test(*right, weight).p_value
    assert by_rows["zero_one_error"].p_values[0, 2] == pytest.approx(direct)
    assert by_table["zero_one_error"].p_values[0, 2] == pytest.approx(direct)


def test_marks():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=4000) * 2
    y = (rng.random(4000) < 1 / (1 + np.exp(-scores))).astype(int)
    named = {"raw": scores * 4, "platt": scores, "same": scores, "flat": np.zeros(4000)}
    result = compare(y, named, raw="raw")
    loss = result["log_loss"]
    assert loss.not_beaten("platt") == ("same",)
    assert loss.mark("platt", "raw") == "‡"
    text = str(result)
    assert "‡ platt: all except same" in text
    assert f"**{loss.means[1]:.6g}** ‡" in text
    assert "paired t-test, level 0.05 after Holm's correction over 6 pairs" in text
    assert "Holm's correction over 6 pairs" in text
    alone = compare(y, {name: named[name] for name in ("raw", "platt", "flat")}, raw="raw")["log_loss"]
    assert alone.mark("platt", "raw") == "*"
    assert alone.best == "platt"
    dagger = compare(y, {"raw": scores, "platt": scores, "flat": np.zeros(4000)}, raw="raw")["log_loss"]
    assert dagger.mark("platt", "raw") == "†"
    assert dagger.mark("flat", "raw") == ""
    # Of two methods, "all but the raw one" would be none.
    assert compare(y, {"raw": scores, "platt": scores}, raw="raw")["log_loss"].mark("platt", "raw") == ""


def test_markdown_is_a_table_with_every_pair():
    result = compare([0, 1, 1, 0], {"a|b": [-1.0, 1.0, 2.0, 1.0], "c": [0.5, 1.0, 1.0, -3.0]}, raw="c")
    rows = [line for line in result.to_markdown().splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows[:4]} == {5}
    assert [len(line) for line in rows[:4]] == [len(rows[0])] * 4
    assert "4 decisions; means" in result.to_markdown()
    assert "2 : 1 : 1" in rows[6]
    assert "1 : 2 : 1" in rows[7]
    assert rows[2].count("**0.25**") == rows[3].count("**0.25**") == 1
    assert str(result) == result.to_markdown()


def test_dict_is_json():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=200)
    y = (rng.random(200) < 1 / (1 + np.exp(-scores))).astype(int)
    result = compare(y, methods(scores) | {"certain": np.where(scores > 0, np.inf, -np.inf)}, raw="raw")
    read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (read["decisions"], read["raw"]) == (200, "raw")
    part, loss = read["measures"]["log_loss"], result["log_loss"]
    assert part["methods"]["certain"]["mean"] == "inf"
    assert part["methods"]["half"]["mark"] == loss.mark("half", "raw")
    assert part["best"] == loss.best
    assert len(part["pairs"]) == 10
    first = part["pairs"][0]
    assert (first["wins"], first["losses"], first["ties"]) == (loss.wins[0, 1], loss.wins[1, 0], loss.ties[0, 1])
    assert first["p_holm"] == loss.holm[0, 1] >= first["p_value"] == loss.p_values[0, 1]


def test_an_infinite_loss_is_significantly_worse():
    result = compare([0, 1, 1], {"certain": [np.inf, 1.0, 1.0], "plain": [-1.0, 1.0, 1.0]})["log_loss"]
    assert result.means[0] == np.inf
    assert result.mark("plain") == "*"


@pytest.mark.parametrize("weights", ["counts", "floats"])
def test_bootstrap_by_rows_and_by_table(weights):
    rng = np.random.default_rng(4)
    scores = np.round(rng.normal(size=600), 2)
    y = (rng.random(600) < 1 / (1 + np.exp(-scores))).astype(int)
    weight = np.ones(600, int) if weights == "counts" else rng.uniform(0.5, 2, 600)
    table = ScoreTable.from_arrays(scores, y, weight)
    options = {"test": "bootstrap", "random_state": 0}
    by_rows = compare(y, {"raw": scores, "half": scores / 2}, sample_weight=weight, **options)
    by_table = compare(table, {"raw": table.scores, "half": table.scores / 2}, **options)
    for name in ("log_loss", "squared_error", "zero_one_error"):
        assert by_rows[name].test == "paired bootstrap"
        assert by_rows[name].means == pytest.approx(by_table[name].means)
        assert by_rows[name].wins == pytest.approx(by_table[name].wins)
        assert by_rows[name].p_values == pytest.approx(by_table[name].p_values, abs=0.06)
    gains = [-np.logaddexp(0, -np.where(y == 1, s, -s)) for s in (scores, scores / 2)]
    t = paired_t_test(*gains, weight)
    assert by_rows["log_loss"].p_values[0, 1] == pytest.approx(t.p_value, abs=0.03)


def test_clusters_widen():
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(30), 20)
    scores = rng.normal(size=30)[clusters]
    y = (rng.random(30)[clusters] < 0.5).astype(int)
    named = {"a": scores, "b": -scores}
    plain, clustered = compare(y, named), compare(y, named, groups=clusters, random_state=0)
    for name in ("log_loss", "zero_one_error"):
        assert clustered[name].p_values[0, 1] >= plain[name].p_values[0, 1]
    assert clustered["log_loss"].test == "cluster bootstrap"
    assert clustered["zero_one_error"].test == "cluster sign-flip test"


@pytest.mark.parametrize("test", ["t", "sign", "bootstrap"])
@pytest.mark.parametrize("clusters", [None, [9, 0, 0, 1, 1]])
@pytest.mark.parametrize("classes", [False, True])
def test_rows_of_weight_zero_are_absent(test, clusters, classes):
    y, named = np.array([1, 0, 1, 0, 1]), {"a": [0.0, 0.2, 0.7, 0.1, 0.8], "b": [0.5, 0.3, 0.6, 0.3, 0.5]}
    prob = {name: np.column_stack([np.subtract(1, p), p]) if classes else np.array(p) for name, p in named.items()}
    options = {"input": "probability", "test": test, "random_state": 0}
    found = compare(y, prob, sample_weight=[0, 1, 1, 1, 1], groups=clusters, **options)
    shorter = {name: p[1:] for name, p in prob.items()}
    assert str(found) == str(compare(y[1:], shorter, groups=clusters and clusters[1:], **options))


def test_maps_and_calibrators_are_methods():
    table = ScoreTable.from_arrays([-1.0, 0.5, 2.0], [0, 1, 1])
    squash = SquashCalibrator().fit([-1.0, 1.0], [0, 1])
    result = compare(table, {"map": squash.map_, "calibrator": squash, "array": table.scores})
    assert result["log_loss"].ties[0, 1] == result["log_loss"].ties[0, 2] == 3


def test_methods_fitted_on_the_table_are_refused():
    table = ScoreTable.from_arrays([-1.0, 0.5, 2.0, 0.0], [0, 1, 1, 1])
    other = ScoreTable.from_arrays([-1.0, 0.5, 2.5, 0.0], [0, 1, 1, 0])
    with ours_allowed():
        compare(table, {"a": PlattCalibrator().fit_table(other), "b": table.scores})
    with pytest.raises(InvalidInputError, match="'a', fitted on these rows"), ours_allowed():
        compare(table, {"a": PlattCalibrator().fit_table(table), "b": table.scores})


def test_holm_is_over_all_pairs_and_marks_follow_it():
    rng = np.random.default_rng(9)
    scores = rng.normal(size=300)
    y = (rng.random(300) < 1 / (1 + np.exp(-scores))).astype(int)
    part = compare(y, methods(scores), raw="raw")["log_loss"]
    k = len(part.names)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    ordered = sorted(pairs, key=lambda pair: part.p_values[pair])
    running = 0.0
    for place, pair in enumerate(ordered):
        running = max(running, min(1.0, part.p_values[pair] * (len(pairs) - place)))
        assert part.holm[pair] == part.holm[pair[::-1]] == pytest.approx(running)
    for i, name in enumerate(part.names):
        for p, corrected in ((part.p_values, False), (part.holm, True)):
            better = {other for j, other in enumerate(part.names) if part.means[i] < part.means[j] and p[i, j] < 0.05}
            assert set(part.not_beaten(name, corrected=corrected)) == set(part.names) - {name} - better


def test_marks_are_those_after_holms_correction():
    # 24 wins of 30 have p = 0.0014, which Holm's correction over three pairs does not leave below 0.004.
    y = np.ones(30)
    best, rest = np.zeros(30), np.where(np.arange(30) < 24, -1.0, 1.0)
    options = {"test": "sign", "alpha": 0.004}
    text = str(compare(y, {"best": best, "one": rest, "other": rest[::-1]}, **options))
    assert "*" not in text.split("**Best**")[0].replace("**", "")
    assert "level 0.004 after Holm's correction over 3 pairs" in text
    assert "correction over 1 pair" in str(compare(y, {"best": best, "one": rest}, **options))
    assert "1 pairs" not in str(compare(y, {"best": best, "one": rest}, **options))


def test_values_that_could_be_either_are_refused_until_input_says_what_they_are():
    table = ScoreTable.from_arrays([0.2, 0.6, 0.7], [0, 1, 1])
    certain = {"sure": [0.0, 1.0, 0.7], "unsure": [0.4, 0.5, 0.6]}
    for call in (
        lambda **said: compare(table, certain, **said),
        lambda **said: compare([0, 1, 1], certain, **said),
    ):
        with pytest.raises(
            InvalidInputError, match=r"method 'sure' gives .*; got values from 0 to 1. Hint: pass input="
        ):
            call()
        losses = [log_loss([0, 1, 1], p) for p in certain.values()]
        assert call(input="probability")["log_loss"].means == pytest.approx(losses)
        assert call(input="log_odds")["zero_one_error"].means.tolist() == [0, 1 / 3]
    flat = {"flat": [0.5, 0.5, 0.5], "platt": PlattCalibrator().fit([-1.0, 1.0, 0.0, 2.0], [0, 1, 1, 0]).map_}
    assert compare(table, flat)["log_loss"].names == ("flat", "platt")  # one value for all says nothing either way
    with pytest.raises(InvalidInputError, match=r"in \[0, 1\]"):
        compare([0, 1], {"a": [0.5, 1.5], "b": [0.5, 0.1]}, input="probability")


def test_bad_input():
    table = ScoreTable.from_arrays([-1.0, 0.5], [0, 1])
    for call, words in (
        (lambda: compare(table, {"a": [1.0, 2.0]}), "two or more"),
        (lambda: compare(table, {"a": [1.0], "b": [1.0, 2.0]}), "'a' must give"),
        (lambda: compare(table, {"a": [1.0, 1.0], "b": [1.0, 2.0]}, test="B03"), r"must be one of .*; got test='B03'"),
        (lambda: compare(table, {"a": [1.0, 1.0], "b": [1.0, 2.0]}, raw="c"), "raw"),
        (lambda: compare(table, {"a": [1.0, 1.0], "b": [1.0, 2.0]}, alpha=1.0), "alpha must be below 1"),
        (lambda: compare(table, {"a": [1.0, 1.0], "b": [1.0, 2.0]}, input="logits"), "input must be one of"),
        (lambda: compare(table, {"a": [1.0, 1.0], "b": [1.0, 2.0]}, test="groups"), "test must be one of"),
        (lambda: compare(table.scale(0.5), {"a": [1.0, 1.0], "b": [1.0, 2.0]}, test="sign"), "needs counts"),
        (lambda: compare([0, 1], {"a": [1.0, 1.0], "b": [1.0]}), "one log-odds per row"),
        (lambda: compare([0, 1], {"a": [1.0, 1.0], "b": [1.0, 2.0]}, groups=[0]), "one name per row"),
        (
            lambda: compare([0, 1], {"a": [1.0, 1.0], "b": [1.0, 2.0]}, sample_weight=[0.5, 1.0], test="sign"),
            r"needs counts.*test=\"t\"",
        ),
    ):
        with pytest.raises(InvalidInputError, match=words):
            call()


def test_notebooks_show_a_table_and_a_repr_is_short():
    found = compare([0, 1, 1, 0], {"a<b": [0.2, 0.8, 0.7, 0.4], "b": [0.3, 0.4, 0.6, 0.5]}, input="probability")
    assert repr(found) == "Comparison(methods=2, decisions=4, best='a<b')"
    shown = found._repr_html_()
    assert "<th>a&lt;b</th><td><strong>0.328447</strong></td>" in shown
    assert shown.count("<tr>") == 3
