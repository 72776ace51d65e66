import json
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.quality.tasks import NOTHING, Task

import oddsmith
from optional import needs

for peer in ("betacal", "probcal", "splinecalib", "venn_abers"):
    needs(peer)
command = pytest.importorskip("benchmarks.quality.__main__")
competitors = pytest.importorskip("benchmarks.quality.competitors")

FIELD = competitors.competitors()


def test_everything_exported_takes_part():
    ours = {name for name in oddsmith.calibrators.__all__ if name.endswith("Calibrator")} - {"Calibrator"}
    assert ours <= set(FIELD)
    assert "IsotonicCalibrator:other form" not in FIELD  # it sees only the order
    assert "PlattCalibrator:other form" in FIELD


def test_nothing_takes_probabilities_as_given_and_margins_through_a_sigmoid():
    nothing = FIELD[NOTHING].calibrate
    y = np.array([0, 1])
    assert nothing(np.array([0.1, 0.9]), y, np.array([0.25])).tolist() == [0.25]
    assert nothing(np.array([-2.0, 3.0]), y, np.array([0.0])).tolist() == [0.5]


def twice_the_log_odds(prob):
    return 2 * (np.log(prob) - np.log1p(-prob))


@pytest.mark.parametrize("name", FIELD)
def test_every_competitor_gives_probabilities(name, toy):
    """On right probabilities, and on twice their log-odds, nobody fails or is as bad as a coin."""
    mapped = {part: twice_the_log_odds(getattr(toy, part)) for part in ("scores_cal", "scores_test")}
    for scores in (toy, replace(toy, **mapped)):
        found = Task(scores, "full").judge(FIELD[name].calibrate)
        assert found.failures == 0
        assert found.brier < 0.25


def test_twins_agree(toy):
    for ours, theirs in (
        ("PlattCalibrator", "sklearn:sigmoid"),
        ("IsotonicCalibrator", "sklearn:isotonic"),
        ("TemperatureCalibrator", "sklearn:temperature"),
        ("VennAbersCalibrator", "venn-abers"),
    ):
        losses = [Task(toy, "500").judge(FIELD[name].calibrate).log_loss for name in (ours, theirs)]
        assert losses[0] == pytest.approx(losses[1], abs=1e-4), ours


def test_the_command_prints_its_tables_and_writes_json(toy, make_scores, cache, monkeypatch, capsys):
    monkeypatch.setattr(command, "score_sets", lambda names: [toy, make_scores("other", seed=1)])
    wishes = ["--only", "Platt*", "sklearn:sigmoid", "--sizes", "100", "--json", str(cache / "out.json")]
    assert command.main([*wishes, "--reference", "PlattCalibrator"]) == 0
    shown = capsys.readouterr().out
    assert "2 tasks from 2 sources of data, 4 competitors" in shown
    assert "PlattCalibrator against each other one" in shown
    report = json.loads((cache / "out.json").read_text())
    assert set(report["outcomes"]) == {NOTHING, "PlattCalibrator", "PlattCalibrator:other form", "sklearn:sigmoid"}
    assert report["tasks"] == ["toy/logistic/100/0", "other/logistic/100/0"]
    assert command.main(wishes) == 0
    assert "No tests: AutoCalibrator takes no part" in capsys.readouterr().out


def test_the_command_refuses_unknown_names(capsys):
    assert command.main(["--only", "Plat"]) == 2
    assert "no competitor is called Plat" in capsys.readouterr().err
