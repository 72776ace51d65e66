"""No interval of several classes is certain by lack of data, and none leaves out its own estimate without a note."""

import json

import numpy as np
import pytest

from oddsmith.metrics import evaluate_classes
from oddsmith.table.class_rows import ClassRows


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
    return evaluate_classes(ClassRows(prob, truth, names, weight, names, "probabilities"), n_resamples=60, **options)


def parts(found):
    """Yield each dictionary that has an interval, or gives the reason for none."""
    yield from found["measures"].items()
    yield "top label, gap", found["top_label"]["gap"]
    for name, one in found["classes"].items():
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
        assert "one-sided" in right[name]["note"]
