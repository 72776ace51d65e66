"""The check of a built site finds what a reader would miss."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "_ext"))
from check_site import complaints


@pytest.fixture
def site(tmp_path):
    (tmp_path / "look.css").write_text("a { background: url(dot.svg) }")
    (tmp_path / "other.html").write_text('<h1 id="top">Other</h1>')
    return tmp_path


@pytest.mark.parametrize(
    "part",
    [
        '<a href="other.html">',
        '<a href="other.html#top">',
        '<a href="#here">',
        '<a href="https://example.org">',
        '<link rel="stylesheet" href="look.css?v=1">',
    ],
)
def test_what_is_there_is_no_complaint(site, part):
    (site / "index.html").write_text(f'<p id="here">{part}')
    assert complaints(site) == []


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ('<a href="nowhere.html">', "leads nowhere"),
        ('<a href="other.html#bottom">', "no such place"),
        ('<a href="#there">', "no such place"),
        ('<img src="lost.svg">', "leads nowhere"),
        ('<script src="https://example.org/a.js"></script>', "loads https://example.org/a.js"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "loads //example.org/a.css"),
    ],
)
def test_what_is_not_there_is_named(site, part, said):
    (site / "index.html").write_text(f'<p id="here">{part}')
    assert [line for line in complaints(site) if said in line]


@pytest.mark.parametrize(
    "style", ['@import "https://example.org/a.css";', "a { background: url('//example.org/a.png') }"]
)
def test_styles_load_nothing_from_the_network(site, style):
    (site / "look.css").write_text(style)
    assert complaints(site) == [f"{site / 'look.css'}: loads from the network"]


def test_a_page_may_not_load_too_much_at_once(site):
    (site / "large.svg").write_bytes(b" " * 999_990)
    (site / "index.html").write_text('<p><img loading="lazy" src="large.svg">')
    assert complaints(site) == []
    (site / "index.html").write_text('<p><img src="large.svg">')
    [line] = complaints(site)
    assert "index.html: loads 1,000,014 bytes, more than 1,000,000" in line


def test_a_site_without_pages_is_no_site(tmp_path):
    assert complaints(tmp_path)
