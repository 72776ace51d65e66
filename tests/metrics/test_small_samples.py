"""The simulations of sizes and coverages, with few samples: `python -m benchmarks.coverage` has the figures."""

import json

import pytest
from benchmarks import coverage
from benchmarks.small_samples import SECTIONS
from scipy import stats

#: Samples of each cell of a section, so that all take a minute at most.
SAMPLES = {"pairs": 100, "clusters": 100, "intervals": 200, "tests": 100, "groups": 0, "class_groups": 0}


@pytest.mark.heavy
@pytest.mark.parametrize("section", [section for section, samples in SAMPLES.items() if samples])
def test_no_cell_is_far_from_its_bar(section):
    counts = {}
    for _ in coverage.count(counts, section, SAMPLES[section], seed=1):
        pass
    for cell in SECTIONS[section]():
        key = f"{cell.row} | {cell.column}"
        counted, samples = counts[section][key]
        if cell.at_most:
            p_value = stats.binom.sf(counted - 1, samples, cell.bar)
        else:
            p_value = stats.binom.cdf(counted, samples, cell.bar)
        assert p_value > 1e-4, (key, counted, samples)


def test_a_run_goes_on_where_the_last_one_stopped(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(coverage, "_TURN", 5)
    state = tmp_path / "state.json"
    for samples in (5, 10):
        assert coverage.main(["intervals", "--samples", str(samples), "--state", str(state)]) in (0, 1)
    kept = json.loads(state.read_text())["counts"]["intervals"]
    assert {samples for _, samples in kept.values()} == {10}
    assert "| error rate |" in capsys.readouterr().out
    once = tmp_path / "once.json"
    coverage.main(["intervals", "--samples", "10", "--state", str(once)])
    assert json.loads(once.read_text())["counts"]["intervals"] == kept


def test_every_section_has_cells_of_its_own():
    for section, cells in SECTIONS.items():
        keys = [f"{cell.row} | {cell.column}" for cell in cells()]
        assert len(keys) == len(set(keys)) > 0, section
    assert SAMPLES.keys() == SECTIONS.keys()
