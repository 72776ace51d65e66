"""The page to play with, in a real browser: from a file, without a network, by keyboard and on a phone."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, log_expit

from optional import needs

PART = Path(__file__).parents[2] / "docs" / "understand" / "explorable.html"


@pytest.fixture(scope="module")
def browser():
    playwright = needs("playwright.sync_api")
    program = shutil.which("chromium")
    if program is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("chromium is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=[1280, 390])
def page(browser, request):
    context = browser.new_context(viewport={"width": request.param, "height": 844}, offline=True)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(PART.as_uri())
    page.wait_for_function("document.querySelectorAll('#explorable tbody tr').length === 5")
    yield page
    assert not errors
    context.close()


def losses(page):
    """Return the log-loss of each method, the true probability last."""
    return [float(text) for text in page.locator("#explorable tbody td:nth-child(2)").all_inner_texts()]


def settle(page):
    """Wait until what was asked for is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_it_fits_the_screen(page):
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_keyboard_moves_everything(page):
    before, drawn = losses(page), page.locator("[data-part=maps]").inner_html()
    page.locator("[data-part=distortion]").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    settle(page)
    assert page.locator("[data-part=distortion-value]").inner_text() == "0.80, overconfident"
    assert losses(page)[0] > before[0]
    assert page.locator("[data-part=maps]").inner_html() != drawn


def world(distortion, noise):
    """Return the log-loss of the scores read as log-odds, by a fine grid."""
    L = np.linspace(-0.5 - 5 * 1.8, -0.5 + 5 * 1.8, 4001)
    stretch = 1 + abs(distortion) * np.where(L > 0, 1.2, 0.3) * abs(L)
    middle = L * stretch if distortion >= 0 else L / stretch
    prior = np.exp(-(((L + 0.5) / 1.8) ** 2) / 2)
    z = np.linspace(-5, 5, 401) if noise else np.zeros(1)
    share = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    scores = middle[:, None] + noise * z
    p = expit(L)[:, None]
    return float((prior / prior.sum()) @ (p * -log_expit(scores) + (1 - p) * -log_expit(-scores)) @ share)


@pytest.mark.parametrize("distortion", [-1.0, -0.5, 0.0, 0.6, 1.0])
@pytest.mark.parametrize("noise", [0, 0.5, 3])
def test_the_loss_is_that_of_all_cases(page, distortion, noise):
    page.locator("[data-part=distortion]").fill(str(round(100 * distortion)))
    page.locator("[data-part=noise]").fill(str(noise))
    settle(page)
    assert losses(page)[0] == pytest.approx(world(distortion, noise), abs=0.0011)


def test_nothing_beats_the_true_probability(page):
    for preset in page.locator("[data-preset]").all():
        preset.click()
        settle(page)
        *methods, truth = losses(page)
        assert min(methods) >= truth - 0.001


def test_calibrated_scores_need_no_calibration(page):
    page.get_by_text("calibrated scores").click()
    settle(page)
    uncalibrated, *fitted, truth = losses(page)
    assert uncalibrated == pytest.approx(truth, abs=0.001)
    assert min(fitted) > truth
    assert "without calibrating" in page.locator("[data-part=finding]").inner_text()


def test_the_reliability_of_each_method_is_drawn(page):
    drawn = set()
    for choice in page.locator("input[name=source]").all():
        choice.check()
        settle(page)
        drawn.add(page.locator("[data-part=reliability]").inner_html())
    assert len(drawn) == 4


def test_the_true_probability_rises_with_the_score(page):
    heights = """() => document.querySelector("[data-part=maps] .truth").getAttribute("d").split(/[ML]/).slice(1)
        .map((place) => Number(place.split(" ")[1]))"""
    for distortion in (-100, -50, 0, 50, 100):
        for noise in (0, 0.1, 1, 3):
            for name, value in (("distortion", distortion), ("noise", noise)):
                page.locator(f"[data-part={name}]").fill(str(value))
            settle(page)
            drawn = page.evaluate(heights)
            assert len(drawn) > 50
            assert drawn == sorted(drawn, reverse=True), (distortion, noise)  # pixels count from the top
