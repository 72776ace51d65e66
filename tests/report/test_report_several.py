"""The report on several classes: right, readable with few classes and many, and safe whatever they are called."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from report_pages import CONTRAST, Elements
from scipy.special import softmax

from oddsmith import PlattCalibrator, ScoreTable, TemperatureScaling, VectorScaling
from oddsmith.cutoffs import threshold
from oddsmith.data.score_rows import ScoreRows
from oddsmith.decide import decide
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import forecast_of
from oddsmith.report import UNCALIBRATED, summarize, to_html, to_json, to_markdown
from oddsmith.report import summary as summary_module
from oddsmith.report.pictures import pictures

HOSTILE = "</script><script>alert(1)</script>"
METHODS = {"temperature": TemperatureScaling(), "vector": VectorScaling(), "one-vs-rest:platt": PlattCalibrator()}
COSTS = np.array([[0.0, 9.0, 1.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])


def simulated(n, labels, seed=0):
    """Rows of logits that are too sure by a factor."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=(n, len(labels)))
    truth = np.argmax(z + rng.gumbel(size=z.shape), axis=1)
    return ScoreRows(2 * z, truth, tuple(labels), None, tuple(map(str, labels)), "log_odds")


@pytest.fixture(scope="module")
def rows():
    return simulated(900, ("ant", "bee", "cat"))


@pytest.fixture(scope="module")
def quickly():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summary_module, "_SAMPLES", 40)
        patch.setattr("oddsmith.report.pictures._SAMPLES", 40)
        yield


@pytest.fixture(scope="module")
def few(rows, quickly):
    return summarize(rows, METHODS, name="<b>rows</b>", source={"File": "a|b.npz"}, costs=COSTS)


@pytest.fixture(scope="module")
def many(quickly):
    names = [HOSTILE, "a name that is so long that no table has room for all of it", "a|b\n*c*", "<i>&amp;</i>"]
    names += [f"class {k}" for k in range(26)]
    methods = {name: METHODS[name] for name in ("temperature", "vector")}
    return summarize(simulated(900, names), methods, name="thirty")


@pytest.fixture(scope="module")
def page_of_few(few):
    return to_html(few)


@pytest.fixture(scope="module")
def page_of_many(many):
    return to_html(many)


@pytest.fixture(scope="module", params=["few", "many"])
def summary(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def page(request, summary, few):
    return request.getfixturevalue("page_of_few" if summary is few else "page_of_many")


def test_operating_points_and_areas_are_of_each_class_against_the_rest(rows, few, page_of_few):
    raw = forecast_of(rows).prob
    assert set(few["operating_points"]) == {"0", "1", "2"}
    for k, points in few["operating_points"].items():
        table = ScoreTable.from_arrays(raw[:, int(k)], rows.truth == int(k))
        for point in points:
            found = threshold(table, **{point["goal"]: point["target"]})
            assert (point["cut"], point["selected"]) == (found.cut, found.selected)
        for method, part in few["forecasts"].items():
            assert k in part["areas"], method
    words = words_of(page_of_few)
    assert "Guaranteed operating points" in words
    assert "Each class against the rest, by its raw P" in words
    assert "bee: recall ≥ 0.95" in words
    assert "ant against the rest: forecasts are too" in words
    assert "temperature: no forecast of 3 classes is outside" in words
    assert "| bee: recall ≥ 0.95 |" in to_markdown(few)


def test_weighted_rows_of_several_classes_have_no_guarantees(rows, quickly):
    weighted = replace(rows, weight=np.full(rows.n_rows, 0.5))
    found = summarize(weighted, {"temperature": TemperatureScaling()})
    assert found["operating_points"] is None
    assert "Guaranteed operating points" not in to_markdown(found)
    assert "against the rest: forecasts" not in to_markdown(found)


def words_of(page):
    return " ".join(" ".join(Elements(page).words).split())


def test_it_is_plain_json_and_the_same_again(rows, few):
    assert json.loads(to_json(few)) == few
    order = np.random.default_rng(0).permutation(rows.n_rows)
    shuffled = replace(rows, values=rows.values[order], truth=rows.truth[order])
    again = summarize(shuffled, METHODS, name="<b>rows</b>", source={"File": "a|b.npz"}, costs=COSTS)
    assert again == few


def test_the_page_needs_nothing_else_and_is_the_same_again(summary, page):
    elements = Elements(page)
    assert len(page.encode()) < 1.5e6
    assert not elements.attributes("src")
    assert {link for link in elements.attributes("href") if link[0] != "#"} == {"data:,"}
    assert not re.search(r"url\((?!#)|@import|fetch\(|XMLHttpRequest|<iframe", page)
    assert to_html(json.loads(to_json(summary))) == page
    names = elements.attributes("id")
    assert len(names) == len(set(names))
    known = set(names)
    assert {
        link[1:] for link in elements.attributes("href") + elements.attributes("xlink:href") if link[0] == "#"
    } <= known
    for value in elements.attributes("aria-labelledby"):
        assert set(value.split()) <= known


def test_every_part_is_there(few, page_of_few):
    words = words_of(page_of_few)
    assert words.index(few["verdict"]) < words.index("Confidence") < words.index("Reliability of each class")
    assert words.index("Decisions") < words.index("What decisions cost") < words.index("Methods")
    for name in few["methods"]["ranking"]:
        assert name in words
    for measure in few["evaluation"][few["recommended"]]["measures"].values():
        assert measure["definition"] in words
    assert few["data"]["sha256"] in words
    assert "a|b.npz" in words


def test_the_sizes_of_classes_are_told(rows, page_of_few):
    counts = np.bincount(rows.truth)
    assert f"Cases per class {counts.min()} to {counts.max()} " in words_of(page_of_few)


def test_names_cannot_break_out(page_of_many, page_of_few):
    assert HOSTILE not in page_of_many
    assert "alert(1)" in page_of_many
    assert "<i>&amp;</i>" not in page_of_many
    assert "<b>rows" not in page_of_few


def test_markdown_says_the_same(summary):
    text = to_markdown(summary)
    assert f"**{summary['verdict']}**".replace("<", "\\<") in text
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    assert "\n\n\n" not in text
    assert "\n\n## Measures\n\n" in text


def test_decisions_are_those_of_held_out_cases(rows, few):
    for name, part in few["forecasts"].items():
        total = sum(amount for *_, amount in part["confusion"])
        assert total == rows.n_rows, name
    raw = softmax(rows.values, axis=1)
    decided = decide(raw, COSTS)
    for actual, predicted, amount in few["forecasts"][UNCALIBRATED]["confusion"]:
        assert amount == np.sum((rows.truth == actual) & (decided == predicted))
    spent = few["costs"]["methods"][UNCALIBRATED]
    assert spent["least_expected_cost"]["value"] == pytest.approx(COSTS[decided, rows.truth].mean())
    assert spent["most_probable_class"]["value"] == pytest.approx(COSTS[raw.argmax(axis=1), rows.truth].mean())
    assert few["costs"]["constant"]["cost"] == pytest.approx((COSTS @ np.bincount(rows.truth)).min() / rows.n_rows)


def test_figures_of_uncalibrated_rows_are_those_of_all_rows(rows, few):
    from oddsmith.metrics import log_loss

    raw = softmax(rows.values, axis=1)
    value = few["evaluation"][UNCALIBRATED]["measures"]["log_loss"]["value"]
    assert value == pytest.approx(log_loss(rows.truth, raw))
    assert value == pytest.approx(few["methods"]["mean"]["log_loss"][UNCALIBRATED])


def test_few_classes_have_numbers_and_many_a_map_and_a_strip(few, many, page_of_few, page_of_many):
    small, large = pictures(few), pictures(many)
    assert (small["strip"], small["heat_map"], len(small["panels"])) == (None, None, 3)
    assert len(large["panels"]) == 12
    assert len(large["strip"]["marks"]) == 30
    cells = sum(shade["path"].count("M") for shade in large["heat_map"]["shades"])
    assert cells == len(many["forecasts"][many["recommended"]]["confusion"])
    assert "Largest confusions" in page_of_many
    assert "Largest confusions" not in page_of_few


def test_the_worst_classes_come_first(many):
    errors = [part["calibration_error"] for part in many["evaluation"][many["recommended"]]["classes"]]
    ordered = [(errors[k]["interval"].get("low", 0.0), errors[k]["value"]) for k in many["worst_first"]]
    assert ordered == sorted(ordered, reverse=True)
    assert list(many["forecasts"][many["recommended"]]["classes"]) == [str(k) for k in many["worst_first"][:12]]


def test_rare_classes_are_drawn_where_their_forecasts_are(many):
    for panel in pictures(many)["panels"]:
        assert 0 < panel["limit"] <= 1
        paths = panel["after"] + panel["before"] + panel["band"]
        numbers = [float(number) for number in re.findall(r"[-\d.]+", paths)]
        assert min(numbers) >= 0
        assert max(numbers) <= 200


def test_few_cases_and_scores_that_are_best_uncalibrated_have_pages_too(quickly):
    little = summarize(simulated(30, "abcd"), METHODS)
    assert little["verdict"].startswith("Cannot tell")
    assert "Cannot tell: 30 cases" in words_of(to_html(little))
    rng = np.random.default_rng(0)
    z = 1.5 * rng.normal(size=(400, 3))
    truth = np.argmax(z + rng.gumbel(size=z.shape), axis=1)
    bad = {"platt": PlattCalibrator(input="probability")}
    fine = ScoreRows(softmax(z, axis=1), truth, ("a", "b", "c"), None, ("a", "b", "c"), "probability")
    alone = summarize(fine, bad)
    alone = {**alone, "recommended": UNCALIBRATED, "forecasts": {UNCALIBRATED: alone["forecasts"][UNCALIBRATED]}}
    alone["evaluation"] = {UNCALIBRATED: alone["evaluation"][UNCALIBRATED]}
    assert "dashed" not in words_of(to_html(alone))


def test_float_weights_are_weights(rows, quickly):
    weighted = replace(rows, weight=np.random.default_rng(1).uniform(0.5, 2, rows.n_rows))
    found = summarize(weighted, {"temperature": TemperatureScaling()})
    assert found["data"]["kind"] == "weight"
    assert to_html(found) == to_html(json.loads(to_json(found)))


def test_costs_of_another_shape_are_refused(rows):
    with pytest.raises(InvalidInputError, match="costs must have a row and a column for each of 3 classes"):
        summarize(rows, METHODS, costs=np.eye(4))


def test_progress_ends_at_one(rows, quickly):
    told = []
    summarize(rows, {"temperature": TemperatureScaling()}, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


@pytest.fixture(scope="module")
def address(page, tmp_path_factory):
    path = tmp_path_factory.mktemp("classes") / "report.html"
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


def test_any_screen_shows_all_of_it(open_page):
    for width in (360, 390, 1280):
        page = open_page(viewport={"width": width, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_light_dark_and_paper(open_page):
    for preferred, ground in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(21, 24, 29)")):
        page = open_page(color_scheme=preferred)
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == ground
        assert min(page.evaluate(CONTRAST)) >= 4.5
        page.locator("#theme").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != ground
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert 3 <= page.pdf(format="A4").count(b"/Type /Page\n") <= 20


def test_without_scripts_everything_is_there(open_page, summary):
    page = open_page(java_script_enabled=False)
    assert page.get_by_text(summary["verdict"]).is_visible()
    assert page.locator(".panels figure").count() == min(len(summary["labels"]), 12)


def test_a_screen_reader_hears_each_class(open_page, summary):
    snapshot = open_page().locator("body").aria_snapshot()
    assert snapshot.count('img "Reliability of class') == min(len(summary["labels"]), 12)
    assert snapshot.count('img "Confidence, uncalibrated"') == 1
