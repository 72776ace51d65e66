"""Every measure has a page that says what it is, how biased it is, which interval it has and when to use it."""

import re
from pathlib import Path

import pytest

from oddsmith import metrics
from oddsmith.metrics.reliability import DEFINITIONS

FOLDER = Path(__file__).parents[2] / "docs" / "measures"
NAMES = sorted({value.__name__ for value in vars(metrics).values() if isinstance(value, metrics.Measure)})
#: Others may have registered measures of their own.
SHOWN = {name for name, measure in metrics.MEASURES.items() if measure.__module__.startswith("oddsmith.metrics.")}


def test_every_page_is_of_a_measure_and_every_measure_has_one():
    others = {"calibration-tests", "comparing", "fields", "index", "net_benefit"}
    assert sorted({path.stem for path in FOLDER.glob("*.md")} - others) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_everything(name):
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert f"`oddsmith.metrics.{name}`" in page
    assert re.search(r"^\$\$\n.+\n\$\$$", page, re.M), "no formula"
    for said in ("**Bias.** ", "**Interval.** ", "**Use it:** ", "**Not for:** "):
        assert said in page
    assert f">>> from oddsmith.metrics import {name}\n" in page
    # Test inversion is for measures that are 0 at best; the rest have formulas, percentiles, or nothing to resample.
    measure = getattr(metrics, name)
    methods = ["Test inversion"] if measure.null else ["ercentile bootstrap"] if measure.resampled else ["None: "]
    if measure.formula is not None or measure.of_base_rate:
        methods = ["Clopper and Pearson", "Newcombe"]
    interval = page.partition("**Interval.** ")[2].partition("\n\n")[0]
    assert any(method in interval for method in methods)


def test_the_overview_links_every_page_and_knows_what_evaluate_shows():
    overview = (FOLDER / "index.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \[`(\w+)`\]\(\1\.md\) \|.*\| *(\w*) *\|$", overview, re.M))
    assert sorted(rows) == NAMES
    assert {name for name, shown in rows.items() if shown == "yes"} == SHOWN


def test_the_page_of_the_calibration_error_names_every_definition():
    page = (FOLDER / "calibration_error.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| (`.*?) \|", page, re.M)
    assert {name for row in table for name in re.findall(r'`"(\w+)"`', row)} == set(DEFINITIONS)
