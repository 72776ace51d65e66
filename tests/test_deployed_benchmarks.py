"""The simulations of the monitor and of expected performance run, go on where they stopped, and print their tables."""

import csv

import numpy as np
import pytest
from benchmarks import expected, monitor

from oddsmith.monitor import Monitor

_KEYS = ("section", "law", "map", "fitted", "shift", "known", "loss", "calm", "monitor", "seed")


@pytest.mark.parametrize("benchmark", [expected, monitor], ids=["expected", "monitor"])
def test_a_simulation_goes_on_where_it_stopped(benchmark, monkeypatch, tmp_path, capsys):
    pytest.importorskip("probcal")
    monkeypatch.setattr(monitor, "_ROWS", 2_000)
    monkeypatch.setattr(monitor, "_AFTER", 500)
    monkeypatch.setattr(monitor, "MAPS", monitor.CALIBRATORS)
    path = tmp_path / "runs.csv"
    assert benchmark.main(["--samples", "1", "--seconds", "0.5", "--file", str(path)]) == 0
    first = path.read_text()
    assert benchmark.main(["--samples", "1", "--file", str(path)]) == 0
    assert path.read_text().startswith(first)
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    keys = [tuple(line[name] for name in _KEYS if name in line) for line in lines]
    assert len(set(keys)) == len(keys) > 20
    assert capsys.readouterr().out.count("| common") > 5


def test_runs_that_are_counted_at_once_are_those_of_the_monitor():
    """Batch by batch, with a map of few rows and a loss that is found."""
    calm, seed, name = 500, 3, "map of 500 rows"
    runs = monitor.delays("common", "offset 0.5", calm, range(seed, seed + 1), False)
    found = {line["monitor"]: line for line in runs}
    rng = np.random.default_rng([2, seed, calm, *b"common"])
    model, table = monitor.fitted_model(rng, "common", "Platt", 500)
    monitor.fitted_model(rng, "common", "Platt", 2_000)
    parts = monitor.draw(rng, "common", calm), monitor.draw(rng, "common", 6_000, monitor.LOSSES["offset 0.5"])
    place, y = (np.concatenate(each) for each in zip(*parts, strict=True))
    own = Monitor(model, calibration=table)
    for at in range(0, found[name]["alarm"] + 500, monitor._STEP):
        seen = own.update(
            monitor._GRID[place[at : at + monitor._STEP]], y[at : at + monitor._STEP], batch=str(at)
        ).findings[0]
    assert seen.alarm_row == found[name]["alarm"] > calm
    assert (seen.since_row or 0) - 1 - calm == found[name]["onset"]
    assert (seen.direction == "too low") == found[name]["named"]
