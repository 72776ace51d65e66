"""Page, Markdown and JSON say the same."""

import json
import re

import numpy as np
import pytest
from report_pages import Elements

from oddsmith.report import to_html, to_json, to_markdown
from oddsmith.report.titles import title_of
from oddsmith.report.wording import figure, interval_lines, p_value


@pytest.fixture(scope="module")
def page(summary):
    return to_html(summary)


@pytest.fixture(scope="module")
def elements(page):
    return Elements(page)


def test_the_page_is_small_and_needs_nothing_else(page, elements):
    assert len(page.encode()) < 3e6
    assert not any(link for link in elements.attributes("src"))
    assert {link for link in elements.attributes("href") if not link.startswith("#")} == {"data:,"}
    assert not re.search(r"url\((?!#)|@import|fetch\(|XMLHttpRequest|<iframe", page)
    policy = next(a["content"] for _, a in elements.found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")


def test_identifiers_are_unique_and_references_lead_somewhere(page, elements):
    names = elements.attributes("id")
    assert len(names) == len(set(names))
    known = set(names)
    links = {link[1:] for link in elements.attributes("href") + elements.attributes("xlink:href") if link[:1] == "#"}
    assert links <= known
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= known
    for name in ("aria-labelledby", "for"):
        for value in elements.attributes(name):
            assert set(value.split()) <= known


def test_every_part_is_there(summary, elements):
    words = " ".join(" ".join(elements.words).split())
    assert summary["verdict"] in words
    for name in summary["methods"]["ranking"]:
        assert name in words
    for name, measure in summary["evaluation"][summary["recommended"]]["measures"].items():
        assert title_of(name) in words
        assert measure["definition"] in words
    for name in summary["evaluation"][summary["recommended"]]["tests"]:
        assert title_of(name) in words
    assert summary["data"]["sha256"] in words
    assert "a|b.csv" in words
    assert "fitted to all cases (in sample)" in words
    curves = [attributes for tag, attributes in elements.found if attributes.get("class", "").startswith("curve")]
    assert len(curves) == len(summary["methods"]["ranking"])
    chosen = {*summary["methods"]["ranking"][:5], summary["recommended"]}
    assert sum("chosen" in curve["class"] for curve in curves) == len(chosen)


def test_names_cannot_break_out(page):
    assert "<b>scores" not in page
    assert "&lt;b&gt;scores&lt;/b&gt; &amp; more" in page


def test_what_is_embedded_cannot_break_out(summary):
    hostile = "</script><script>alert(1)</script>"
    best = summary["recommended"]
    renamed = json.loads(json.dumps(summary).replace(json.dumps(best), json.dumps(hostile)))
    written = to_html(renamed)
    assert hostile not in written
    assert "alert(1)" in written


def test_the_page_is_the_same_again(summary, page):
    assert to_html(json.loads(to_json(summary))) == page


def test_markdown_says_the_same(summary):
    text = to_markdown(summary)
    assert f"**{summary['verdict']}**".replace("<", "\\<") in text
    assert text.startswith("# Calibration of \\<b>scores\\</b> & more\n")
    assert "a\\|b.csv" in text
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(tables) == 5
    for table in tables:
        columns = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(columns) == 1
    assert len(tables[0].splitlines()) == 2 + len(summary["methods"]["ranking"])
    assert "\n\n\n" not in text


def test_json_is_the_dictionary(summary):
    assert json.loads(to_json(summary)) == summary


def test_stars_are_those_of_the_comparison(summary, elements):
    marks = [
        method["mark_holm"]
        for name in summary["methods"]["ranking"]
        for part in summary["methods"]["comparison"]["measures"].values()
        for method in [part["methods"][name]]
    ]
    text = to_markdown(summary)
    for mark in filter(None, marks):
        assert mark.replace("*", "\\*") in text


def test_figures():
    assert [figure(x) for x in (0.5, -0.25, 7, 1234, "inf", "-inf", None)] == [
        *("0.5000", "−0.2500", "7", "1,234", "∞", "−∞", "–")
    ]
    assert p_value({"p_value": 1e-9}) == "< 0.0001"
    assert p_value({"reason": "one class"}) == "–"
    plain = {"interval": {"low": 0.1, "high": 0.2, "corrected": None, "consistency": None}}
    biased = {"interval": {"low": 0.0, "high": 0.2, "corrected": 0.05, "consistency": [0.01, 0.03]}}
    assert interval_lines(plain) == ["[0.1000, 0.2000]"]
    assert interval_lines(biased) == ["≈ 0.0500 [0.0000, 0.2000]", "by chance [0.0100, 0.0300]"]
    assert interval_lines({"interval": {"reason": "infinite"}}) == interval_lines({}) == []


def test_scores_at_any_scale_have_readable_ticks(summary):
    from oddsmith.report.pictures import draw_score_space

    for scale in (1e-9, 1.0, 1e12):
        part = {**summary["score_space"], "at": (scale * np.array(summary["score_space"]["at"])).tolist()}
        points = {**part["points"], "score": (scale * np.array(part["points"]["score"])).tolist()}
        space = draw_score_space({**summary, "score_space": {**part, "points": points}}, 6)
        labels = [tick["label"] for tick in space["x_ticks"]]
        assert 4 <= len(labels) <= 9
        assert "0" in labels
        assert len(set(labels)) == len(labels)
        assert all(52 <= tick["at"] <= 850 for tick in space["x_ticks"])
