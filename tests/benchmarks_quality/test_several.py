import json
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.quality import __main__ as command
from benchmarks.quality import scores, sets, several
from benchmarks.quality.tasks import NOTHING, Task
from scipy.special import softmax
from sklearn.metrics import log_loss

FIELD = several.competitors()


def test_nothing_takes_probabilities_as_given_and_margins_through_a_softmax(make_several):
    toy = make_several()
    found = Task(toy, "full").judge(FIELD[NOTHING].calibrate)
    prob = softmax(toy.scores_test, axis=1)
    assert found.log_loss == pytest.approx(log_loss(toy.y_test, prob))
    assert found.brier == pytest.approx(((prob - np.eye(4)[toy.y_test]) ** 2).sum(axis=1).mean())
    assert Task(as_probabilities(toy), "full").judge(FIELD[NOTHING].calibrate).log_loss == pytest.approx(found.log_loss)


def as_probabilities(toy):
    return replace(toy, **{part: softmax(getattr(toy, part), axis=1) for part in ("scores_cal", "scores_test")})


@pytest.mark.parametrize("name", FIELD)
def test_every_competitor_gives_probabilities(name, make_several):
    """From logits nobody fails or knows as little as the base rates; probabilities that are too sure get better."""
    toy = make_several()
    found = Task(toy, "full").judge(FIELD[name].calibrate)
    assert found.failures == 0
    assert found.brier < 0.7
    given = Task(as_probabilities(toy), "full")
    found, nothing = (given.judge(FIELD[one].calibrate) for one in (name, NOTHING))
    assert found.failures == 0
    assert found.brier < nothing.brier - 0.01 or name == NOTHING


@pytest.mark.parametrize("name", [name for name in FIELD if ":" not in name])
def test_a_class_may_be_missing(name, make_several):
    toy = make_several()
    kept = toy.y_cal != 2
    rest = replace(toy, scores_cal=toy.scores_cal[kept], y_cal=toy.y_cal[kept])
    assert Task(rest, "full").judge(FIELD[name].calibrate).failures == 0


def test_rows_that_do_not_sum_to_one_fail_and_get_the_base_rates(make_several):
    toy = make_several()
    found = Task(toy, "full").judge(lambda s, y, test: np.full(test.shape, 0.3))
    assert found.failures == 1
    rates = (np.bincount(toy.y_cal) + 0.25) / (len(toy.y_cal) + 1)
    assert found.log_loss == pytest.approx(-np.log(rates[toy.y_test]).mean())


def test_learners_score_every_class(cache, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    X = rng.normal(size=(900, 4)) + 1.5 * y[:, None]
    monkeypatch.setitem(scores.SEVERAL, "toy.all", lambda: sets.Rows(X, np.array(["a", "b", "c"])[y], "numeric"))
    found = list(scores.score_sets(("toy.all",)))
    assert {one.learner for one in found} == set(scores.FOR_SEVERAL)
    for one in found:
        assert one.scores_cal.shape == (300, 3)
        assert np.mean(one.scores_test.argmax(axis=1) == one.y_test) > 0.6, one.learner


def test_imagined_networks_are_too_sure():
    for logits, y in sets.simulated_logits().values():
        assert logits.shape == (10_000, 100)
        sure = softmax(logits, axis=1).max(axis=1).mean()
        right = np.mean(logits.argmax(axis=1) == y)
        assert 0.4 < right < sure - 0.05


def test_the_command_judges_several_classes(make_several, cache, monkeypatch, capsys):
    made = [make_several(), make_several("other.all", seed=1)]
    monkeypatch.setattr(command, "score_sets", lambda names: made if names == scores.NAMES["several"] else [])
    wishes = ["several", "--only", "AutoScaling", "TemperatureScaling", "--json", str(cache / "out.json")]
    assert command.main(wishes) == 0
    shown = capsys.readouterr().out
    assert "4 tasks from 2 sources of data, 3 competitors" in shown
    assert "AutoScaling against each other one" in shown
    report = json.loads((cache / "out.json").read_text())
    assert set(report["outcomes"]) == {NOTHING, "AutoScaling", "TemperatureScaling"}
    assert [row["wins_log_loss"][0] for row in report["standings"]][-1] == 0  # doing nothing comes last
