"""One report for all tests: of more scores than a picture holds, and of more methods than stand out."""

import numpy as np
import pytest
from report_methods import METHODS

from oddsmith import ScoreTable
from oddsmith.report import summarize
from oddsmith.report import summary as summary_module

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
            scores_are="log_odds",
        )
