"""The simulations of the monitor and of expected performance run, go on where they stopped, and print their tables."""

import csv

import pytest
from benchmarks import expected, monitor

_KEYS = ("section", "law", "map", "fitted", "shift", "known", "loss", "calm", "monitor", "seed")


@pytest.mark.parametrize("benchmark", [expected, monitor], ids=["expected", "monitor"])
def test_a_simulation_goes_on_where_it_stopped(benchmark, monkeypatch, tmp_path, capsys):
    pytest.importorskip("probcal")
    monkeypatch.setattr(monitor, "_ROWS", 2_000)
    monkeypatch.setattr(monitor, "_AFTER", 500)
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
