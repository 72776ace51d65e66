import math

import numpy as np
import pytest
from benchmarks.quality.scores import ScoreSet
from benchmarks.quality.tasks import REPEATS, Task, make_tasks
from sklearn.metrics import brier_score_loss, log_loss


def as_given(scores, y, test):
    return test


def test_drawings_repeat_and_differ_by_seed(toy):
    first, again, other = (Task(toy, "100", seed).draws() for seed in (0, 0, 1))
    assert len(first) == REPEATS["100"]
    assert all(len(set(rows)) == 100 for rows in first)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])
    assert not np.array_equal(first[0], first[1])


def test_drawings_hold_two_of_each_class():
    y = np.zeros(1000, int)
    y[:20] = 1
    rare = ScoreSet("toy", "rare", np.arange(1000.0), y, np.arange(3.0), np.array([0, 1, 0]))
    for seed in range(20):
        assert all(y[rows].sum() >= 2 for rows in Task(rare, "100", seed).draws())


def test_losses_are_those_of_scikit_learn(toy):
    found = Task(toy, "full").judge(as_given)
    assert found.log_loss == pytest.approx(log_loss(toy.y_test, toy.scores_test), rel=1e-12)
    assert found.brier == pytest.approx(brier_score_loss(toy.y_test, toy.scores_test), rel=1e-12)
    assert found.failures == found.infinite == 0


def test_losses_are_means_over_repeats(toy):
    def base_rate(scores, y, test):
        return np.full(len(test), y.mean())

    rates = [toy.y_cal[rows].mean() for rows in Task(toy, "100").draws()]
    expected = np.mean([log_loss(toy.y_test, np.full(len(toy.y_test), rate)) for rate in rates])
    assert Task(toy, "100").judge(base_rate).log_loss == pytest.approx(expected, rel=1e-12)


def test_a_wrong_certainty_is_held_and_counted(toy):
    found = Task(toy, "500").judge(lambda scores, y, test: 1.0 - toy.y_test)
    assert found.log_loss == pytest.approx(-math.log(1e-15))
    assert found.infinite == REPEATS["500"]


def raises(scores, y, test):
    raise RuntimeError


@pytest.mark.parametrize(
    "broken",
    [
        raises,
        lambda scores, y, test: np.full(len(test), np.nan),
        lambda scores, y, test: test + 0.5,
        lambda scores, y, test: -test,
        lambda scores, y, test: np.column_stack([test, test]),
    ],
)
def test_a_failure_becomes_the_base_rate(toy, broken):
    found = Task(toy, "100").judge(broken)
    assert found.failures == REPEATS["100"]
    assert found.log_loss == Task(toy, "100").judge(lambda s, y, test: np.full(len(test), y.mean())).log_loss


def test_a_competitor_cannot_change_the_data(toy):
    def spoil(scores, y, test):
        scores[:], y[:] = 0, 0
        test *= 0.5
        return test

    before = toy.digest, toy.scores_test.copy()
    Task(toy, "full").judge(spoil)
    assert np.array_equal(toy.scores_test, before[1])


def test_sizes_larger_than_the_pool_are_left_out(toy):
    small = ScoreSet("toy", "small", toy.scores_cal[:200], toy.y_cal[:200], toy.scores_test, toy.y_test)
    assert [task.size for task in make_tasks([small], list(REPEATS), 0)] == ["100", "full"]


def test_the_name_of_a_task_follows_its_content(toy):
    changed = ScoreSet("toy", "logistic", toy.scores_cal, 1 - toy.y_cal, toy.scores_test, toy.y_test)
    assert Task(toy, "100").key != Task(changed, "100").key
    assert Task(toy, "100").key != Task(toy, "100", 1).key
