"""No interval of several classes is certain by lack of data, and none leaves out its own estimate without a note."""

import json

import numpy as np
import pytest

from oddsmith.data.score_rows import ScoreRows
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import evaluate


def hostile():
    """Yield labels, probabilities and weights that bring measures to the ends of their ranges."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 90)
    drawn = np.sum(np.cumsum(p, axis=1) < rng.random(90)[:, None], axis=1).clip(0, 2)
    sure = 0.9 * np.eye(3) + 0.1 / 3
    yield "plain", drawn, p, None
    yield "always right", np.arange(30) % 3, sure[np.arange(30) % 3], None
    yield "always wrong", np.arange(30) % 3, sure[(np.arange(30) + 1) % 3], None
    yield "three rows", np.arange(3), sure, None
    yield "one row", np.array([1]), sure[:1], None
    yield "one of a class", np.append(np.arange(40) % 2, 2), rng.dirichlet([1, 1, 1], 41), None
    yield "one class", np.zeros(25, int), rng.dirichlet([1, 1, 1], 25), None
    yield "constant", np.arange(30) % 3, np.full((30, 3), 1 / 3), None
    yield "base rates", np.arange(40) % 4 // 2, np.tile([0.5, 0.5, 0.0], (40, 1)), None
    yield "certain", np.arange(30) % 3, np.eye(3)[np.arange(30) % 3], None
    yield "certain and wrong once", np.arange(30) % 3, np.eye(3)[np.append(np.arange(29) % 3, 0)], None
    yield "two rows in all", rng.integers(0, 3, 60), sure[rng.integers(0, 2, 60)], None
    yield "far off", rng.integers(0, 3, 60), np.tile([0.998, 0.001, 0.001], (60, 1)), None
    yield "rare, weighted", (rng.random(300) < 0.02) * 1, rng.dirichlet([90, 2, 1], 300), rng.lognormal(0, 1, 300)
    yield "one heavy row", np.arange(12) % 3, rng.dirichlet([1, 1, 1], 12), np.append(np.ones(11), 1e6)
    yield "many counts", np.arange(12) % 3, rng.dirichlet([1, 1, 1], 12), np.full(12, 10**6)


DATA = {name: data for name, *data in hostile()}


def evaluated(truth, prob, weight=None, **options):
    names = tuple("abcd"[: prob.shape[1]])
    return evaluate(ScoreRows(prob, truth, names, weight, names, "probability"), n_resamples=60, **options)


def limits(part):
    """Return the interval of a measure, whose ends are None where there is none."""
    return {"low": None, "high": None} | part["interval"]


def parts(found):
    """Yield each measure's value and interval, or the reason for none."""
    for what, one in measured(found):
        if "value" in one:
            yield what, {"value": one["value"]} | limits(one)


def measured(found):
    """Yield all measures of all classes."""
    yield from found["measures"].items()
    yield "top label, gap", found["top_label"]["gap"]
    for one in found["classes"]:
        name = one["label"]
        yield f"{name}, gap", one["gap"]
        yield f"{name}, calibration error", one["calibration_error"]


@pytest.mark.parametrize("name", DATA)
def test_an_estimate_lies_in_its_interval_or_a_note_explains_why_not(name):
    found = evaluated(*DATA[name])
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    for what, one in parts(found):
        if one["low"] is None:
            assert one["high"] is None, what
            assert one["reason"], what
            assert "note" not in one, what
            continue
        estimate = one["value"] if one.get("corrected") is None else one["corrected"]
        assert one["low"] <= estimate <= one["high"], what
        inside = one["low"] < one["value"] < one["high"] and one["low"] < estimate < one["high"]
        assert inside == (not one["note"]), what
        assert one["low"] < one["high"], what


def test_biased_values_and_samples_without_an_error_have_notes():
    outside = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        prob = rng.dirichlet([1, 1, 1], 150)
        truth = np.sum(np.cumsum(prob, axis=1) < rng.random(150)[:, None], axis=1).clip(0, 2)
        for _, one in parts(evaluated(truth, prob)):
            if one["low"] is not None and one["value"] >= one["high"]:
                outside += 1
                assert "biased" in one["note"]
    assert outside > 0
    right = evaluated(*DATA["always right"])["measures"]
    for name in ("zero_one_error", "accuracy"):
        assert "one-sided" in right[name]["interval"]["note"]


def dependent(n_groups, size, seed):
    """Draw calibrated rows in groups; half of the labels of a group follow one random number."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), size)
    prob = rng.dirichlet([1, 1, 1], n_groups)[group]
    prob = 0.8 * prob + 0.2 * rng.dirichlet([1, 1, 1], len(group))
    place = np.where(rng.random(len(group)) < 0.7, rng.random(n_groups)[group], rng.random(len(group)))
    return np.sum(np.cumsum(prob, axis=1) < place[:, None], axis=1).clip(0, 2), prob, group


def test_copies_in_groups_have_the_intervals_of_single_rows():
    truth, prob, _ = dependent(80, 1, 0)
    once = evaluated(truth, prob)
    at = np.repeat(np.arange(80), 10)
    copied = evaluated(truth[at], prob[at], groups=at)
    as_counts = evaluated(truth, prob, np.full(80, 10), groups=np.arange(80))
    for found in (copied, as_counts):
        for name in ("log_loss", "squared_error", "log_loss_discrimination", "log_loss_uncertainty", "zero_one_error"):
            for side in ("low", "high"):
                mine, single = (limits(each["measures"][name])[side] for each in (found, once))
                assert mine == pytest.approx(single, rel=0.03)
        for name in ("log_loss_miscalibration", "top_label_calibration_error", "classwise_calibration_error"):
            mine, single = (limits(each["measures"][name])["high"] for each in (found, once))
            assert mine == pytest.approx(single, rel=0.35)
        for mine, one in zip(found["classes"], once["classes"], strict=True):
            assert limits(mine["gap"])["low"] == pytest.approx(limits(one["gap"])["low"], abs=0.005)
        assert found["tests"]["likelihood_ratio_test"]["p_value"] > 0.05
    without = evaluated(truth[at], prob[at])
    for one, grouped in zip(without["classes"], copied["classes"], strict=True):
        gap, other = limits(one["gap"]), limits(grouped["gap"])
        assert gap["high"] - gap["low"] < 0.4 * (other["high"] - other["low"])


def test_rows_in_groups_of_their_own_are_independent():
    truth, prob, _ = dependent(300, 1, 1)
    single, grouped = evaluated(truth, prob), evaluated(truth, prob, groups=np.arange(300))
    for name, one in single["measures"].items():
        other = grouped["measures"][name]
        assert other["value"] == one["value"]
        mine, theirs = limits(one), limits(other)
        if mine["consistency"] is None:  # by formula, not by draws
            assert theirs["high"] - theirs["low"] == pytest.approx(mine["high"] - mine["low"], rel=0.15), name
    assert any("not groups" in note for note in grouped["notes"])
    assert not any("not groups" in note for note in single["notes"])


def test_calibrated_rows_in_groups_are_covered():
    """With rows as units nearly half of these intervals leave out 0."""
    covered = {"groups": [], "rows": []}
    for seed in range(10):
        truth, prob, group = dependent(30, 8, seed)
        for units, options in (("groups", {"groups": group}), ("rows", {})):
            found = evaluated(truth, prob, **options)
            gaps = [limits(one["gap"]) for one in found["classes"]]
            lows = [gap["low"] < 0 < gap["high"] for gap in gaps]
            errors = ("calibration_in_the_large", "top_label_calibration_error", "classwise_calibration_error")
            covered[units] += lows + [limits(found["measures"][name])["low"] < 1e-9 for name in errors]
    assert np.mean(covered["groups"]) >= 0.9
    assert np.mean(covered["rows"]) < 0.8


def test_one_group_is_refused():
    truth, prob, _ = dependent(20, 1, 2)
    with pytest.raises(InvalidInputError, match="two groups or more"):
        evaluated(truth, prob, groups=np.zeros(20, int))
