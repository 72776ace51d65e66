"""What the study of why boosting distorts rests on."""

import numpy as np
import pytest

from oddsmith_studies.studies import Results, Setting, load
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import STUMPS, TREES
from oddsmith_studies.studies.why_boosting import parts, results

QUICK = Setting(quick=True)


def test_rounds_are_followed_from_the_first_on(needs_data):
    needs_data(("letter",))
    found = parts.rounds_part(QUICK, "LETTER.P2", TREES)
    assert [each["rounds"] for each in found["rounds"]] == [1, 2, 4, 8]
    first, last = found["rounds"][0], found["rounds"][-1]
    # One tree votes 0 or 1, many are unsure; easy rows have more margin than hard ones.
    assert first["sure"]["boosted"] == 1 > last["sure"]["boosted"]
    for name in ("boosted", "bagged"):
        assert last["groups"][name][0] > last["groups"][name][3]
    assert np.all(np.diff(last["margins"]) >= 0)
    change = last["groups"]["boosted"][0] - found["rounds"][2]["groups"]["boosted"][0]
    assert found["paired"]["easiest"][0] == pytest.approx(change)


def test_measures_of_order_do_not_change_by_calibration(needs_data):
    needs_data(("letter",))
    found = parts.measures_part(QUICK, "LETTER.P2", "LOGREG")
    for measure in parts.RANKING:
        if measure != "accuracy":
            assert found[parts.UNCALIBRATED][measure] == pytest.approx(found[parts.CALIBRATED][measure], abs=1e-3)


def test_places_are_counted_from_the_best():
    measured = {learner: dict.fromkeys(parts.SEVEN_MEASURES, float(i)) for i, learner in enumerate(results.TEN)}
    kept = {
        parts.learner_name(problem, learner): {parts.UNCALIBRATED: measured[learner]}
        for problem in results.OWN_PROBLEMS
        for learner in results.TEN
    }
    found = Results(QUICK, kept, load("why-boosting").published)
    # More is better for order, less for losses.
    assert results.place(found, results.TEN[0], parts.UNCALIBRATED, "lift") == 10
    assert results.place(found, results.TEN[0], parts.UNCALIBRATED, parts.LOSSES[0]) == 1


def test_stumps_are_followed_too():
    assert {part.arguments.get("base") for part in load("why-boosting").parts(QUICK)} == {STUMPS, TREES, None}
