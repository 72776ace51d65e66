"""The walk-through of several classes in the README prints what it shows."""

import re
import shlex
from pathlib import Path

import pytest

_NUMBER = re.compile(r"\d+\.\d+")
README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_from_logits_to_sql(run):
    section = README.split("\n## Several classes\n")[1].split("\n## ")[0]
    made, shown = (re.findall(rf"```{kind}\n(.*?)```", section, re.DOTALL)[0] for kind in ("python", "console"))
    exec(made, {})
    commands = re.findall(r"^\$ oddsmith (.*)\n((?:(?!\$ ).*\n)*)", shown, re.MULTILINE)
    assert len(commands) == 4
    for command, output in commands:
        told = run(*shlex.split(command))
        assert told.code == 0, told.err
        assert _numbers(told.out) == pytest.approx(_numbers(output), rel=1e-3)  # last digits depend on the processor
        assert _words(told.out) == _words(output)
    assert "Before calibration the two errors were 0.18 and 0.09." in " ".join(section.split())
    bounds = run("check", "new.npz", "--max-top-label-ece", 1, "--max-classwise-ece", 1, "--json").json["bounds"]
    assert [round(bound["value"], 2) for bound in bounds] == [0.18, 0.09]
    assert "logits_3" in Path("net.sql").read_text()


def _numbers(text):
    return [float(found) for found in _NUMBER.findall(text)]


def _words(text):
    return _NUMBER.sub("#", text).split()


def test_commands_on_tables(run, tmp_path):
    """The commands that follow run on files of these names."""
    rows = [(0.7, 0.2, 0.1, "cat"), (0.1, 0.8, 0.1, "dog"), (0.2, 0.2, 0.6, "cow"), (0.3, 0.4, 0.3, "cat")] * 15
    text = "p_cat,p_dog,p_cow,label\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    (tmp_path / "animals.csv").write_text(text)
    (tmp_path / "costs.csv").write_text("cat,dog,cow\n0,1,1\n1,0,1\n1,9,0\n")
    (tmp_path / "both.csv").write_text("net_a,net_b,forest_b,forest_a\n0.4,0.6,0.3,0.7\n")
    section = README.split("\n## Several classes\n")[1].split("\n## ")[0]
    commands = re.findall(r"^\$ oddsmith (.*?)(?:\s+#.*)$", section, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        told = run(*shlex.split(command), *(["--force"] if "-o out.csv" in command else []))
        assert told.code == 0, (command, told.err)
