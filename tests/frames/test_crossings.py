"""Segments by values of columns and their crossings are the same in every engine."""

import numpy as np
import pyarrow as pa
import pytest

from oddsmith.audit import audit


@pytest.fixture(scope="module")
def rows():
    """Rows with text, whole numbers, other numbers, bools and missing values."""
    rng = np.random.default_rng(7)
    p = rng.beta(0.6, 4, 600)
    return pa.table(
        {
            "text": rng.choice(np.array(["x", "y", None, "=", "NULL"], dtype=object), 600),
            "whole": np.arange(600) % 7,
            "number": pa.array(rng.lognormal(0, 2, 600).round(6), mask=np.arange(600) % 9 == 0),
            "flag": np.arange(600) % 5 == 0,
            "probability": p,
            "label": (rng.random(600) < p).astype(int),
        }
    )


def test_every_engine_finds_the_same_segments(held, engine, rows):
    by = ["text", "whole", "flag", *(["number"] if engine != "dask" else [])]
    expected = {segment.name: segment for segment in audit(rows, by, min_rows=20).segments}
    found = {segment.name: segment for segment in audit(held(rows), by, min_rows=20).segments}
    assert found.keys() == expected.keys()
    for name, segment in expected.items():
        assert found[name].observed == segment.observed
        assert found[name].expected == pytest.approx(segment.expected, rel=1e-12)
        assert found[name].p_value == pytest.approx(segment.p_value, rel=1e-6)


def test_bins_have_about_equal_numbers_of_rows(held, engine, rows):
    sizes = {segment.where["number"]: segment.rows for segment in audit(held(rows), "number", bins=3).segments}
    assert sizes.pop(None) == 67
    assert len(sizes) == 3
    assert all(abs(size - 533 / 3) <= (60 if engine == "dask" else 2) for size in sizes.values())  # approximate there
