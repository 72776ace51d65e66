"""The demo runs and shows that calibrating was worth it."""

import pytest

from oddsmith import demo
from oddsmith.errors import InvalidInputError


def test_demo_prints_a_comparison_and_writes_a_report(capsys, tmp_path):
    demo.main(tmp_path / "demo.html")
    demo.main(tmp_path / "demo.html")
    assert "Calibration of handwritten digits" in (tmp_path / "demo.html").read_text()
    lines = capsys.readouterr().out.splitlines()
    losses = {line.split()[0]: float(line.split()[1]) for line in lines if line.endswith(("ms", "best", "says)"))}
    assert losses["Platt"] < 0.6 < 2 < losses["Squash"]
    assert any("<- best" in line for line in lines)
    assert lines[-1].startswith(f"The report lies in {tmp_path}")


def test_demo_replaces_nothing_but_its_own_report(tmp_path):
    (tmp_path / "mine.html").write_text("mine")
    with pytest.raises(InvalidInputError):
        demo.main(tmp_path / "mine.html")
    assert (tmp_path / "mine.html").read_text() == "mine"
