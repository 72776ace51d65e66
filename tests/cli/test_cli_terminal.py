"""What is shown: narrow, without color, with a bar while it takes time."""

import os
import pty
import subprocess
import sys

import numpy as np
import pytest
from cli_files import many_rows
from rich.cells import cell_len

from oddsmith.cli._curve import bars, curve

PROGRAM = [sys.executable, "-c", "from oddsmith.cli import main; main()"]


@pytest.mark.parametrize("columns", [40, 80, 132])
def test_nothing_is_wider_than_the_terminal(run, scores, predictions, model, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for command in (
        ("show", model),
        ("compare", scores, "-m", "asymmetric-gaussian", "-m", "platt"),
        ("check", predictions, "--max-smooth-ece", 0.5, "--min-p", 0),
        ("evaluate", predictions),
        ("--help",),
        ("check", "--help"),
    ):
        told = run(*command)
        assert told.code == 0
        drawn = [line for line in told.out.splitlines() if line[:1] in "┏┃┡│└╭╰ " or "┤" in line]
        assert drawn
        assert max(cell_len(line) for line in drawn) <= columns
        assert "\x1b" not in told.out + told.err


def test_definitions_are_shown_where_there_is_room(run, predictions, monkeypatch):
    monkeypatch.setenv("COLUMNS", "132")
    assert "mean of -log P(true class)" in run("evaluate", predictions).out
    monkeypatch.setenv("COLUMNS", "80")
    assert "mean of -log P(true class)" not in run("evaluate", predictions).out


def test_curves_and_bars():
    x = np.linspace(0, 1, 50)
    drawn = curve(x, x**2, points=[(0.0, 1.0), (1.0, 0.0)], width=20, height=6).splitlines()
    assert len(drawn) == 8
    assert drawn[0].startswith("1.0 ┤o")
    assert drawn[5].endswith("o")
    assert bars(np.zeros(3), 6) == " " * 6
    assert curve(np.array([2.0]), np.array([0.5]), width=4, height=4)


def in_a_terminal(arguments, folder, **environment):
    """Run the program with a terminal for standard error, and return what it got."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "OMP_NUM_THREADS": "1", **environment}
    with subprocess.Popen(
        [*PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=theirs, cwd=folder, env=env
    ) as process:
        os.close(theirs)
        got = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # how the end looks
                break
            if not piece:
                break
            got += piece
        out = process.stdout.read()
    os.close(ours)
    return process.returncode, out.decode(), got.decode(errors="replace")


def test_a_bar_with_the_time_left(tmp_path):
    many_rows(tmp_path / "scores.csv", 300_000)
    code, out, seen = in_a_terminal(["fit", "scores.csv", "-o", "a.json", "-m", "platt"], tmp_path)
    assert code == 0
    assert "Reading scores.csv" in seen
    assert "%" in seen
    assert ":" in seen
    assert "fitted to 300,000 rows" in out
    code, out, seen = in_a_terminal(["fit", "scores.csv", "-o", "b.json", "-m", "platt", "-q"], tmp_path, NO_COLOR="1")
    assert (code, seen) == (0, "")
