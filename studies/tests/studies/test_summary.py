"""What the summary rests on."""

import json

import numpy as np
import pytest
from sklearn.metrics import log_loss

from oddsmith import calibrators
from oddsmith_studies.studies import Part, Results, Setting, load
from oddsmith_studies.studies._running import compute
from oddsmith_studies.studies.summary import measured, methods, parts, tasks
from oddsmith_studies.studies.summary.figures import winner
from oddsmith_studies.studies.summary.methods import _KINDS, _SHORT, RAW, find_methods


def made_up(losses, *, sources=None, briers=None):
    """Return a field of cells with these log-losses by method; every cell is a part of its own."""
    problems = [each.name for each in tasks.PROBLEMS if not each.balanced]
    found = {}
    for number, cell in enumerate(losses):
        judged = {name: value if isinstance(value, list) else [value] for name, value in cell.items()}
        found[str(number)] = {
            "problem": problems[number % len(problems)],
            "source": f"source {number}" if sources is None else sources[number],
            "classifier": "linear SVM",
            "cells": [
                {"rate": 0.5, "thinned": False, "size": 50, "all": False, "log_loss": judged, "brier": briers or judged}
            ],
        }
    return measured.collect(Results(Setting(), found, load("summary").published))


def test_every_exported_calibrator_takes_part():
    exported = {getattr(calibrators, name) for name in calibrators.__all__ if name.endswith("Calibrator")} - {
        calibrators.Calibrator,
        calibrators.DensityCalibrator,
    }
    found = find_methods()
    assert {method.calibrator for method in found.values()} == exported
    assert len({method.short for method in found.values()}) == len(found)
    assert {method.kind for method in found.values()} == set(methods.KINDS)


def test_kinds_and_short_names_are_of_calibrators_that_exist():
    found = find_methods()
    assert set(_SHORT) <= set(found)
    assert set(_KINDS) == {method.calibrator.__module__.rpartition(".")[2] for method in found.values()}


def test_a_new_calibrator_takes_part_by_being_exported(monkeypatch):
    class NewIdeaCalibrator(calibrators.PlattCalibrator):
        """Something new."""

    monkeypatch.setattr(calibrators, "NewIdeaCalibrator", NewIdeaCalibrator, raising=False)
    monkeypatch.setattr(calibrators, "__all__", [*calibrators.__all__, "NewIdeaCalibrator"])
    assert find_methods.__wrapped__()["new idea"].calibrator is NewIdeaCalibrator


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2])
def test_thinning_leaves_all_negatives_and_the_share_of_positives(share):
    y = np.arange(4000) % 2 == 0
    rows = parts.thin(np.random.default_rng(0), y, share)
    assert y[rows].mean() == pytest.approx(share, abs=3e-4)
    assert set(np.flatnonzero(~y)) <= set(rows)
    assert len(set(rows)) == len(rows)


def test_weighted_losses_are_those_of_thinned_test_rows_on_average():
    rng = np.random.default_rng(0)
    y, odds = rng.random(3000) < 0.5, rng.normal(size=3000)
    ours, _ = parts._losses(odds, y, 0.2)
    prob = 1 / (1 + np.exp(-odds))
    thinned = [parts.thin(rng, y, 0.2) for _ in range(200)]
    assert ours == pytest.approx(np.mean([log_loss(y[rows], prob[rows]) for rows in thinned]), rel=3e-3)
    assert parts._losses(odds, y, y.mean())[0] == pytest.approx(log_loss(y, prob), rel=1e-6)


def test_regret_is_against_the_best_in_units_of_knowing_the_share_alone():
    field = made_up([{"Platt": 0.4, "isotonic": np.inf, RAW: 0.4 + 0.1 * np.log(2)}])
    regret = field.regret()[0]
    assert regret[field.column("Platt")] == 0
    assert regret[field.column(RAW)] == pytest.approx(10)
    assert regret[field.column("isotonic")] == 100
    assert field.ranks()[0].tolist() == [3.0, 1.0, 2.0]


def test_one_infinite_drawing_makes_the_cell_infinite_and_is_counted():
    field = made_up([{"Platt": [0.4, 0.6], "isotonic": [0.3, np.inf], RAW: [0.7, 0.7]}])
    assert field.log_loss[0, field.column("Platt")] == 0.5
    assert np.isinf(field.log_loss[0, field.column("isotonic")])
    assert field.infinite[0].tolist() == [1.0, 0.0, 0.0]


def test_equals_divide_a_win():
    field = made_up([{"Platt": 0.4, "logistic": 0.4, RAW: 0.7}])
    assert dict(zip(field.methods, field.wins()[0], strict=True)) == {"Platt": 0.5, "logistic": 0.5, RAW: 0.0}


def test_a_lead_is_over_another_kind():
    field = made_up([{"Platt": 0.4, "logistic": 0.401, "isotonic": 0.4 + 0.02 * np.log(2), RAW: 0.7}])
    name, lead = winner(field, np.ones(1, bool), "log_loss")
    assert name == "Platt"
    assert lead == pytest.approx(2)


def test_surely_better_needs_several_sources():
    # The bootstrap's p is at least (3/4)^n, which Holm doubles for two other methods: 6.3 % of 12, 4.8 % of 13.
    cells = [{"Platt": 0.5 + 0.001 * k, "Auto": 0.52 + 0.002 * k, RAW: 0.7} for k in range(13)]
    assert made_up(cells).beaten_by("Auto") == ["Platt"]
    assert made_up(cells).beaten_by("Platt") == []
    assert made_up(cells[:12]).beaten_by("Auto") == []
    assert made_up(cells, sources=["a"] * 6 + ["b"] * 7).beaten_by("Auto") == []


def test_intervals_resample_whole_sources():
    cells = [{"Platt": 0.5, "Auto": 0.5 + 0.01 * (k < 5), RAW: 0.7} for k in range(10)]
    alone = made_up(cells).difference("Auto", "Platt")
    grouped = made_up(cells, sources=["a"] * 5 + ["b"] * 5).difference("Auto", "Platt")
    assert alone.value == pytest.approx(grouped.value) == pytest.approx(0.5 / np.log(2))
    assert grouped.high - grouped.low > 1.3 * (alone.high - alone.low)


@pytest.mark.parametrize("problem", ["LETTER.P1", "Sentences"])
def test_rows_are_used_once(problem, needs_data):
    needs_data(("letter", "sentiment"))
    task = tasks.problem_of(problem)
    setting = Setting(quick=True)
    rows = tasks.load_rows(setting, task)
    assert {use: X.shape[0] for use, X in rows.X.items()} == {use: len(y) for use, y in rows.y.items()}
    assert [len(rows.y[use]) for use in ("train", "pool", "test")] == [400, 600, 600]
    again = tasks.load_rows(setting, task)
    assert all((again.y[use] == rows.y[use]).all() for use in rows.y)


def test_a_part_judges_every_method_on_every_share_and_is_the_same_again(needs_data):
    needs_data(("letter",))
    part = Part("letter", parts.problem_part, {"problem": "LETTER.P2", "classifier": "linear SVM"})
    found = compute(part, Setting(quick=True)).result
    assert {round(cell["rate"], 2) for cell in found["cells"] if cell["thinned"]} == set(tasks.THINNED)
    for cell in found["cells"]:
        assert set(cell["log_loss"]) == set(cell["brier"]) == {*find_methods(), RAW}
        assert cell["size"] * cell["rate"] >= parts.FEWEST
        assert all(0 <= value <= 1 for values in cell["brier"].values() for value in values)
    natural = next(cell for cell in found["cells"] if cell["all"] and not cell["thinned"])
    # Scores of a support vector machine are worth something, and calibrating them helps.
    assert natural["log_loss"]["Auto"][0] < natural["log_loss"][RAW][0] < np.log(2)
    assert json.dumps(compute(part, Setting(quick=True)).result) == json.dumps(found)


def test_drawings_can_be_looked_at_in_halves():
    cells = [{"Platt": [0.4, 0.6], RAW: [0.7, 0.7]}, {"Platt": [0.5], RAW: [0.7]}]
    parts_of = {
        str(number): {
            "problem": "ADULT",
            "source": "ADULT",
            "classifier": "linear SVM",
            "cells": [{"rate": 0.2, "thinned": False, "size": 50, "all": number == 1, "log_loss": cell, "brier": cell}],
        }
        for number, cell in enumerate(cells)
    }
    results = Results(Setting(), parts_of, load("summary").published)
    first, second = (measured.collect(results, slice(start, None, 2)) for start in (0, 1))
    assert first.log_loss[:, 0].tolist() == [0.4, 0.5]
    assert second.log_loss[:, 0].tolist() == [0.6]
