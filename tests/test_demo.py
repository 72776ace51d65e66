"""The demo shows everything: a classifier, its calibration, the comparison, and where the report is."""

import contextlib
import io
import json
import sys
from pathlib import Path

import pytest

from oddsmith import PlattCalibrator, SquashCalibrator, demo
from oddsmith.cli import main
from oddsmith.errors import InvalidInputError
from oddsmith.report import summary

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import readme


@pytest.fixture
def short(monkeypatch):
    """A demo of two methods, with a page that is quickly drawn."""
    monkeypatch.setattr(demo, "to_html", lambda summary: f"<title>Calibration of {summary['name']}</title>")
    monkeypatch.setattr(demo, "METHODS", {"platt": PlattCalibrator, "squash": SquashCalibrator})
    monkeypatch.setattr(summary, "_SAMPLES", 20)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the demo prints, and the page that it writes."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as out:
        patch.chdir(tmp_path_factory.mktemp("demo"))
        with pytest.raises(SystemExit) as left:
            main(["demo"])
        assert left.value.code == 0
        return out.getvalue(), Path("oddsmith-demo.html").read_text(encoding="utf-8")


def test_the_command_prints_a_comparison_and_writes_a_report(told):
    lines, page = told[0].splitlines(), told[1]
    losses = {line.split()[0]: float(line.split()[1]) for line in lines if line.endswith(("ms", "best", "ted)"))}
    assert len(losses) >= 20
    assert losses["platt"] < 0.6 < 2 < losses["squash"]
    assert sum("<- best" in line for line in lines) == 1
    assert lines[-1] == "The report is in oddsmith-demo.html: open it in a browser."
    assert "Calibration of handwritten digits" in page
    assert next(line for line in lines if line.startswith("Report: "))[8:40] in page


def test_the_demo_prints_what_the_readme_shows(told):
    text = readme.PAGE.read_text()
    demo_only = text[: text.index("\n## ")]
    assert readme.commands(demo_only) == ["make demo"]
    found = readme.filled(demo_only, lambda command: told[0])
    assert readme.without_times(found) == readme.without_times(demo_only)


def test_the_demo_as_json_and_again(capsys, tmp_path, short):
    output = tmp_path / "demo.html"
    with pytest.raises(SystemExit):
        main(["demo", "--json", "--quiet", "-o", str(output)])
    told = json.loads(capsys.readouterr().out)
    assert [row["method"] for row in told["methods"]] == ["platt", "squash"]
    assert told["report"] == str(output)
    assert "Calibrate with platt: the log-loss" in told["verdict"]
    demo.main(output)
    assert capsys.readouterr().out.endswith(f"The report is in {output}: open it in a browser.\n")


def test_it_replaces_nothing_but_its_own_report(tmp_path, short):
    (tmp_path / "mine.html").write_text("mine")
    with pytest.raises(InvalidInputError, match="must not exist yet"):
        demo.main(tmp_path / "mine.html")
    assert (tmp_path / "mine.html").read_text() == "mine"
    assert list(tmp_path.iterdir()) == [tmp_path / "mine.html"]
