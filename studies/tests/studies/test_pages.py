"""The pages in the repository are what the code of today says about the results next to them."""

import re
import shutil
from pathlib import Path

import pytest

from oddsmith_studies import studies
from oddsmith_studies.studies._claims import rules
from oddsmith_studies.studies._index import index_page, rules_page
from oddsmith_studies.studies._record import read_record
from oddsmith_studies.studies._tables import WIDEST

FOLDER = Path(__file__).parents[3] / "docs" / "studies"
KEPT = [name for name in studies.names() if (FOLDER / name / "results.json").is_file()]
LONGEST = 400
OPENING = (
    "The document claims",
    "We found",
    "The table that shows it",
    "The picture that shows it",
    "Could not be checked",
)

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the pages are not part of an installed package")


def page_of(name):
    return (FOLDER / name / "index.md").read_text(encoding="utf-8")


def test_every_study_has_a_page():
    assert set(KEPT) == set(studies.names())


@pytest.mark.parametrize("name", KEPT)
def test_a_page_can_be_read_to_its_end(name):
    assert len(page_of(name).splitlines()) <= LONGEST


@pytest.mark.parametrize("name", KEPT)
def test_a_page_opens_with_five_lines_a_table_a_picture_and_how_to_run_it(name):
    lines = page_of(name).splitlines()
    assert lines[0].startswith("# ")
    assert [line.split(":**")[0].removeprefix("- **") for line in lines[2:7]] == list(OPENING)
    opening, rest = page_of(name).split("## Run it", 1)
    assert len(re.findall(r"^!\[", opening, re.MULTILINE)) == 1
    assert len(re.findall(r"^\*\*.*\*\*$", opening, re.MULTILINE)) == 1
    assert f"oddsmith study {name}" in rest.split("## Verdicts")[0]


@pytest.mark.parametrize("name", [*KEPT, "."])
def test_no_table_is_wider_than_nine_columns(name):
    rows = [line for line in page_of(name).splitlines() if line.startswith("|")]
    assert rows
    assert max(line.count("|") - 1 for line in rows) <= WIDEST


@pytest.mark.parametrize("name", KEPT)
def test_a_page_is_what_the_kept_results_say(name, tmp_path):
    folder = tmp_path / name
    folder.mkdir()
    shutil.copy(FOLDER / name / "results.json", folder)
    studies.rewrite(name, folder)
    for path in folder.rglob("*.md"):
        assert path.read_text() == (FOLDER / name / path.relative_to(folder)).read_text(), path.name
    assert (folder / "results.json").read_text() == (FOLDER / name / "results.json").read_text()


@pytest.mark.parametrize("name", KEPT)
def test_every_picture_of_a_page_is_there_and_every_fold_is_closed(name):
    page = page_of(name)
    for picture in re.findall(r"\]\((figures/[^)]*)\)", page):
        assert (FOLDER / name / picture).is_file(), picture
    assert page.count("<details>") == page.count("</details>") == page.count("<summary>")


def test_the_index_has_every_claim_of_every_study():
    records = [read_record(FOLDER / name, studies.load(name).published) for name in KEPT]
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert index == index_page(records)
    listed = set(re.findall(r"^\| (\S+) \|", index, re.MULTILINE))
    assert {number for number, rule in rules().items() if rule.study in KEPT} <= listed
    assert (FOLDER / "rules.md").read_text(encoding="utf-8") == rules_page()
