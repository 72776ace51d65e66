"""The documents retold: each figure under "Results" stands in its study."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [path for path in sorted((DOCS / "understand").glob("*.md")) if "## Results" in path.read_text("utf-8")]


def numbers(text):
    """Return the numbers in a text, without signs and separators of thousands, as they are written."""
    return re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d{3})", "", text))


def has(study, written):
    """Whether a study has a number that is this one when it is rounded as much."""
    decimals = len(written.partition(".")[2])
    return any(abs(float(number) - float(written)) <= 0.5001 * 10**-decimals for number in study)


def test_all_five_are_retold():
    assert len(PAGES) == 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_figures_are_those_of_the_study(page):
    section = re.search(r"## Results\n(.*?)\n## ", page.read_text("utf-8"), re.S)[1]
    folder = DOCS / "understand" / re.search(r"\]\((\.\./studies/[\w-]+)/index\.md\)", section)[1]
    section = re.sub(r"\]\(.*?\)", "", section)
    study = [number for path in folder.rglob("*.md") for number in numbers(path.read_text("utf-8"))]
    assert len(study) > 100
    quoted = [number for number in numbers(section) if len(number) >= 3]
    assert len(quoted) >= 3
    assert [number for number in quoted if not has(study, number)] == []


def test_a_figure_of_ones_own_is_found_out():
    assert has(["0.6287"], "0.629")
    assert not has(["0.6287"], "0.628")
