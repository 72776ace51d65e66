"""Figures that pages quote are those of the studies and benchmarks, which are made anew and may change."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCES = [
    DOCS / "studies" / "summary" / "index.md",
    DOCS / "studies" / "protocols" / "index.md",
    DOCS / "numbers.md",
    DOCS / "scale.md",
    ROOT / "benchmarks" / "coverage.md",
    ROOT / "src" / "oddsmith" / "metrics" / "reliability.py",
]
FOLDERS = ("choose", "coming-from", "measures", "recipes")
PAGES = sorted(path for folder in FOLDERS for path in (DOCS / folder).glob("*.md"))
CODE = re.compile(r"^```.*?^```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]*\$", re.M | re.S)
#: Decimal numbers, but not versions such as 1.9.1 or those that follow a name.
FIGURE = re.compile(r"(?<![\d.])\d+\.\d+(?!\.?\d)")
VERSION = re.compile(r"\b(?:skl2onnx|CalibrationCurves|netcal|betacal|probcal|probmetrics|MAPIE)\W+\d[\d.]*\d")


def without_source(text, known):
    """Return the figures of a text that no source has, rounded to as many digits."""
    found = FIGURE.findall(VERSION.sub("", CODE.sub("", text)))
    halves = {figure: 0.5000001 * 10.0 ** -len(figure.partition(".")[2]) for figure in found}
    return [figure for figure in found if all(abs(float(figure) - number) > halves[figure] for number in known)]


@pytest.fixture(scope="module")
def known():
    return [float(figure) for source in SOURCES for figure in FIGURE.findall(source.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_quoted_figures_are_in_their_sources(page, known):
    assert without_source(page.read_text(encoding="utf-8"), known) == []


def test_a_figure_that_was_made_up_is_found():
    text = "12.3 % and 12.4 % in `1.5` with MAPIE 1.6.0, not 0.07\n```python\n9.9\n```\n"
    assert without_source(text, [12.34, 8.0]) == ["12.4", "0.07"]
