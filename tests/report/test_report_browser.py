"""The page in a real browser: from a file, without a network, by mouse, keyboard and on paper."""

import re

import numpy as np
import pandas as pd
import pytest
from report_methods import METHODS
from report_pages import CONTRAST
from scipy.special import expit

from oddsmith import ScoreTable
from oddsmith.audit import audit
from oddsmith.decide import binary_costs, decide
from oddsmith.metrics import calibration_error, forecast_from_arrays
from oddsmith.metrics.reliability import ErrorDefinition
from oddsmith.report import UNCALIBRATED, compare_methods, summarize, to_html, with_audit
from oddsmith.report import summary as summary_module
from oddsmith.report.summary import BIN_COUNTS


@pytest.fixture(scope="module")
def address(summary, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(to_html(summary), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def held_out(table, summary):
    found = compare_methods(table, {summary["recommended"]: METHODS[summary["recommended"]]}, input="log_odds")
    tables = {name: found.held_out_forecast(name) for name in found.ranking}
    return {
        name: (expit(np.tile(one.scores, 2)), np.repeat([1, 0], len(one)), np.concatenate([one.pos, one.neg]))
        for name, one in tables.items()
    }


def number(page, name):
    return float(page.locator(f"#{name}").inner_text().replace(",", ""))


def test_costs_give_threshold_counts_and_cost(open_page, summary, held_out):
    page = open_page()
    prob, y, weight = held_out[summary["recommended"]]
    raw, raw_y, raw_weight = held_out[UNCALIBRATED]
    for fp, fn in [(1, 1), (1, 9), (3, 17), (100, 1), (1, 100), (42, 23)]:
        page.locator("#cost-fp").fill(str(fp))
        page.locator("#cost-fn").fill(str(fn))
        costs = binary_costs(false_positive=fp, false_negative=fn)
        yes, raw_yes = decide(prob, costs) == 1, decide(raw, costs) == 1
        count = {
            "tp": weight[yes & (y == 1)].sum(),
            "fp": weight[yes & (y == 0)].sum(),
            "fn": weight[~yes & (y == 1)].sum(),
            "tn": weight[~yes & (y == 0)].sum(),
        }
        assert {name: number(page, name) for name in count} == count
        assert number(page, "threshold") == pytest.approx(fp / (fp + fn), abs=6e-5)
        spent = (fp * count["fp"] + fn * count["fn"]) / 3000
        assert number(page, "cost") == pytest.approx(spent, abs=6e-6)
        spent_raw = (
            fp * raw_weight[raw_yes & (raw_y == 0)].sum() + fn * raw_weight[~raw_yes & (raw_y == 1)].sum()
        ) / 3000
        assert number(page, "cost-raw") == pytest.approx(spent_raw, abs=6e-6)
        same = min(fp * (weight @ (y == 0)), fn * (weight @ (y == 1))) / 3000
        assert number(page, "cost-same") == pytest.approx(same, abs=6e-6)
        assert page.locator("#cost-fp-value").inner_text() == str(fp)
        words = page.locator("#cost-words").inner_text()
        assert f"{count['fp']:,} false positives and {count['fn']:,} false negatives" in words


def test_bins_give_the_calibration_error(open_page, held_out):
    page = open_page()
    for name, (prob, y, weight) in held_out.items():
        forecast = forecast_from_arrays(y, prob, weight)
        page.locator("#bins-method").select_option(name)
        for kind in ("width", "mass"):
            page.locator("#bins-kind").select_option(kind)
            for place, n in enumerate(BIN_COUNTS):
                page.locator("#bins").fill(str(place))
                error = float(calibration_error.of(forecast, definition=ErrorDefinition(n, kind)))
                assert number(page, "ece") == pytest.approx(error, abs=6e-6)
                assert page.locator("#bins-value").inner_text() == str(n)
                assert page.locator("#bins-chart circle").count() <= n


def test_the_keyboard_is_enough(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#verdict")
    page.locator("#theme").focus()
    page.keyboard.press("Space")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.locator("#cost-fn").focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    assert number(page, "threshold") == 0.1
    page.keyboard.press("End")
    assert number(page, "threshold") == pytest.approx(1 / 101, abs=6e-5)
    page.locator("#bins").focus()
    page.keyboard.press("Home")
    assert page.locator("#bins-value").inner_text() == "2"
    assert page.locator("#bins").get_attribute("aria-valuetext") == "2 bins"
    box = page.locator("[data-curve=curve-6]")
    box.focus()
    page.keyboard.press("Space")
    assert "chosen" in page.locator("#curve-6").get_attribute("class")
    reached = set()
    page.locator("#theme").focus()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.dataset.pick || ''"))
    assert {"cost-fp", "cost-fn", "bins", "bins-kind", "bins-method", "best", "all", "none"} <= reached


def test_methods_stand_out_when_picked(open_page, summary):
    page = open_page()
    every = len(summary["methods"]["ranking"])
    drawn = page.locator("#space-curves path")
    assert drawn.count() == every
    for button, count in (("All", every), ("None", 0), ("Best five", 5)):
        page.get_by_role("button", name=button, exact=True).click()
        assert page.locator("#space-curves path.chosen").count() == count
        assert page.locator(".methods input:checked").count() == count
    name = summary["methods"]["ranking"][-1]
    page.get_by_label(name, exact=True).check()
    assert page.locator("#space-curves path").last.locator("title").text_content() == name


def test_light_and_dark(open_page):
    for preferred, ground in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(21, 24, 29)")):
        page = open_page(color_scheme=preferred)
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == ground
        hidden = ".dark" if preferred == "light" else ".light"
        shown = ".light" if preferred == "light" else ".dark"
        assert page.locator(f"figure {shown}:visible").count() == 4
        assert page.locator(f"figure {hidden}:visible").count() == 0
        page.locator("#theme").click()
        assert page.locator(f"figure {hidden}:visible").count() == 4
        assert page.locator(f"figure {shown}:visible").count() == 0
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != ground


def test_text_can_be_read_on_its_ground(open_page):
    """Contrast of all text, by the rules of WCAG 2, level AA."""
    for preferred in ("light", "dark"):
        assert min(open_page(color_scheme=preferred).evaluate(CONTRAST)) >= 4.5


def test_a_screen_reader_hears_each_thing_once(open_page):
    page = open_page()
    snapshot = page.locator("body").aria_snapshot()
    for name in ("Cost of a false positive", "Cost of a false negative", "Number of bins"):
        assert snapshot.count(f'slider "{name}"') == 1
    for picture in ("Reliability, uncalibrated", "Scores by class"):
        assert len(re.findall(f'img "{picture}"', snapshot)) == 1
    assert snapshot.count('heading "') == snapshot.count("[level=1]") + snapshot.count("[level=2]") + 1
    unnamed = (
        "[...document.querySelectorAll('input,select,button')].filter((e) => !e.labels?.length && !e.innerText).length"
    )
    assert page.evaluate(unnamed) == 0
    assert page.evaluate("document.documentElement.lang") == "en"


def test_a_phone_shows_all_of_it(open_page):
    page = open_page(viewport={"width": 375, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert page.locator("#cost-fp").bounding_box()["width"] > 150


def test_it_prints_light_without_controls(open_page, address):
    page = open_page(color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("figure .light:visible").count() == 4
    assert page.locator("figure .dark:visible").count() == 0
    for control in ("#theme", "#cost-fp", "#bins", ".buttons"):
        assert not page.locator(control).is_visible()
    assert page.locator("#space-curves path.chosen").count() >= 5
    pages = page.pdf(format="A4").count(b"/Type /Page\n")
    assert 3 <= pages <= 12


def test_without_scripts_everything_but_the_sliders_is_there(open_page, summary):
    page = open_page(java_script_enabled=False, color_scheme="dark")
    assert page.locator("figure .dark").first.is_visible()
    assert not page.locator("figure .light").first.is_visible()
    assert page.get_by_text("Sliders need JavaScript").is_visible()
    assert not page.locator("#theme").is_visible()
    assert page.get_by_text(summary["verdict"]).is_visible()


def test_scores_that_are_best_as_they_are(open_page, table, tmp_path, monkeypatch):
    monkeypatch.setattr(summary_module, "_SAMPLES", 20)
    alone = summarize(table, {"min-max": METHODS["min-max"]}, input="log_odds")
    assert alone["recommended"] == UNCALIBRATED
    (tmp_path / "alone.html").write_text(to_html(alone), encoding="utf-8")
    page = open_page((tmp_path / "alone.html").as_uri())
    page.locator("#cost-fn").fill("9")
    assert number(page, "threshold") == 0.1
    assert number(page, "cost") > 0
    assert page.locator("#cost-raw").count() == 0
    assert page.locator("#bins-method option").count() == 1


def test_segments_and_the_clinical_sheet_fit_a_telephone(browser, tmp_path):
    rng = np.random.default_rng(0)
    p = rng.beta(1, 4, 3000)
    y = (rng.random(3000) < p).astype(int)
    frame = pd.DataFrame({"probability": p, "label": y, "a long name of a column": rng.choice(["a value", "b"], 3000)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summary_module, "_SAMPLES", 60)
        forecast = ScoreTable.from_arrays(p, y)
        found = summarize(forecast, {"platt": METHODS["platt"]}, input="probability", sheet="clinical")
    path = tmp_path / "report.html"
    path.write_text(to_html(with_audit(found, audit(frame, ["a long name of a column"]), "platt")), encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    for name in ("audit", "clinical"):
        for region in page.locator(f"section[aria-labelledby={name}-title] .wide").all():
            assert region.evaluate("e => e.scrollWidth - e.clientWidth") <= 1
    page.close()
