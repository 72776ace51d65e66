"""Real data for studies: without them a test skips, or fails in CI."""

import os

import pytest

from oddsmith_studies.data import find


@pytest.fixture(scope="session")
def needs_data():
    """Return a function that makes sure of data sets."""

    def make_sure(names):
        if missing := [name for name in names if find(name) is None]:
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
                f"no {', '.join(missing)}: set ODDSMITH_DATA to a folder that holds them"
            )

    return make_sure
