"""What README.md shows is what commands print and what the documentation measured: ``make readme`` is up to date."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import readme

TEXT = readme.PAGE.read_text()


def shown(command):
    """Return what the page shows of a command, for a page that is filled with what it shows."""
    return TEXT.partition(f"$ {command}\n")[2].partition("\n$ ")[0].partition("```")[0]


def test_tables_are_those_of_the_documentation():
    assert "<!-- table: " in TEXT
    assert readme.filled(TEXT, shown) == TEXT


def test_a_table_ends_before_the_text_below_it():
    assert re.findall(r"^\|.*\n[^|\n].*", TEXT, re.MULTILINE) == []


def test_commands_print_what_is_shown(tmp_path):
    run = readme.runner(tmp_path)
    assert any(command.startswith("oddsmith ") for command in readme.commands(TEXT))
    # The demo's own tests compare what it prints.
    found = readme.filled(TEXT, lambda command: shown(command) if command == "make demo" else run(command))
    assert readme.without_times(found) == readme.without_times(TEXT)


def test_an_old_table_or_output_is_noticed():
    old = "<!-- run -->\n\n```console\n$ oddsmith demo\nold\n```\n"
    assert readme.filled(old, lambda command: "new\n") == old.replace("old", "new")
    table = "<!-- table: docs/numbers.md, Quality: two classes -->\n\n| old |\n"
    assert "`AutoCalibrator`" in readme.filled(table, shown)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([\w./-]+)[)#]", TEXT))))
def test_links_lead_somewhere(link):
    assert (readme.ROOT / link).exists()
