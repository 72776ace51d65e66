"""What the experiments on motives rest on."""

import numpy as np
import pytest

from oddsmith_studies.studies import Results, Setting, load
from oddsmith_studies.studies.motives import parts
from oddsmith_studies.studies.motives.results import labels_needed

QUICK = Setting(quick=True)


@pytest.fixture(autouse=True)
def _data(needs_data):
    needs_data(("a9a", "reuters21578"))


def test_equal_costs_are_errors_and_calibrated_p_answers_to_costs():
    found = parts.costs_part(QUICK, parts.ADULT)
    middle = parts.COSTS.index(1.0)
    # Squashing is ½ where the score is 0.
    assert found["costs"][parts.SQUASHED][middle] == found["costs"][parts.IGNORED][middle]
    assert found["mean"][parts.CALIBRATED] < found["mean"][parts.IGNORED]
    for name, (value, low, high) in found["less"].items():
        assert value == pytest.approx(found["mean"][parts.CALIBRATED] - found["mean"][name])
        assert low < value < high


def test_a_combination_of_log_odds_lies_between_its_parts():
    found = parts.combining_part(QUICK, parts.ADULT)
    alone = [found["log_loss"][kind] for kind in parts.KINDS]
    assert found["log_loss"][parts.CALIBRATED_MEAN] < max(alone)
    assert set(found["errors"]) == set(parts.COMBINING)


def test_all_rules_start_with_the_same_labels():
    found = parts.sampling_part(QUICK, "acq", 0)
    assert len({curve[0] for curve in found.values()}) == 1
    assert {len(curve) for curve in found.values()} == {4}


def test_labels_are_counted_until_random_sampling_is_reached():
    curves = {parts.RANDOM: [0.3, 0.2, 0.1], parts.BY_RAW: [0.3, 0.1, 0.1], parts.BY_CALIBRATED: [0.3, 0.3, 0.3]}
    kept = {parts.sampling_name("acq", repeat): curves for repeat in range(parts.repeats(QUICK))}
    needed = labels_needed(Results(QUICK, kept, load("motives").published), "acq")
    assert {rule: np.unique(labels).tolist() for rule, labels in needed.items()} == {
        parts.RANDOM: [60],
        parts.BY_RAW: [40],
        # Never there: all labels count.
        parts.BY_CALIBRATED: [60],
    }
