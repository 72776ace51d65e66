import json
from pathlib import Path

import pytest

VECTORS = json.loads((Path(__file__).parents[3] / "tests" / "golden" / "vectors.json").read_text(encoding="utf-8"))


@pytest.fixture
def vectors():
    """Return the cases of a method in the golden test vectors."""
    return VECTORS["methods"].__getitem__
