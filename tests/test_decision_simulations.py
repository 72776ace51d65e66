"""The simulations of cut-offs, base rates and bands, with few repetitions: `benchmarks.coverage` has the figures."""

import numpy as np
import pytest
from benchmarks import coverage
from benchmarks.decisions import FAMILIES, read


@pytest.mark.parametrize(
    ("family", "repetitions"), [("bands", 30), ("cutoffs", 20), ("base_rates", 1), ("class_rates", 1)]
)
def test_promises_are_kept_and_a_run_goes_on(tmp_path, family, repetitions, capsys):
    state = tmp_path / "coverage.json"
    for number in (max(repetitions // 2, 1), repetitions):
        coverage.main([family, "--samples", str(number), "--state", str(state)])
    assert f"| {family} | share in % | bar | repetitions |" in capsys.readouterr().out
    outcomes = read(tmp_path / "decisions.csv")[family]
    for cell, marks in outcomes.items():
        assert len(marks) == repetitions
        bar = next(value for end, value in FAMILIES[family].bars.items() if cell.endswith(end))
        if repetitions > 1:
            assert np.mean(marks) >= bar - 4 * np.sqrt(bar * (1 - bar) / len(marks)), cell


def test_an_unknown_family_is_refused(capsys):
    with pytest.raises(SystemExit):
        coverage.main(["nonsense"])
    assert "unknown section nonsense" in capsys.readouterr().err
