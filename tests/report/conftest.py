"""One report for all tests: of more scores than a picture holds, and of more methods than stand out."""

import os
import shutil

import numpy as np
import pytest
from report_methods import METHODS

from oddsmith import ScoreTable
from oddsmith.report import summarize
from oddsmith.report import summary as summary_module
from optional import needs

QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run")
OFFLINE = ("--disable-background-networking", "--disable-component-update", "--disable-sync")

#: Not a module to look for doctests in: every folder may have one of this name.
collect_ignore = ["conftest.py"]


@pytest.fixture(scope="session")
def table():
    rng = np.random.default_rng(0)
    s = 3 * rng.normal(size=3000)
    return ScoreTable.from_arrays(s, rng.random(3000) < 1 / (1 + np.exp(-0.4 * s - 0.02 * s**2 + 1)))


@pytest.fixture(scope="session")
def summary(table):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summary_module, "_SAMPLES", 60)
        return summarize(
            table,
            METHODS,
            name="<b>scores</b> & more",
            labels=("no", "yes"),
            source={"File": "a|b.csv"},
            input="log_odds",
        )


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium, once for all tests."""
    playwright = needs("playwright.sync_api")
    path = shutil.which("chromium")
    if path is None:
        if os.environ.get("CI") == "true":
            pytest.fail("chromium is not installed")
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=[*QUIET, *OFFLINE])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, address):
    """Return a function that opens the page; whatever it complains about, or asks the network for, fails the test."""
    contexts, complaints, asked, opened = [], [], [], set()

    def open_page(address=address, **options):
        context = browser.new_context(**{"viewport": {"width": 1000, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        opened.add(address)
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert set(asked) == opened
