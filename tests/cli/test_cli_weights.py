"""Weights whose sums wrap, overflow or vanish: one clear error, from every kind of file."""

import duckdb
import numpy as np
import pytest

from optional import needs

N = 12
WEIGHTS = {
    "counts that wrap": (np.full(N, 2**61), "must have a sum of weights below 2**63; got 2.76701e+19."),
    "1e308": (np.full(N, 1e308), "must have a sum of weights below 2**63; got 1e+308."),
    "1e300": (np.full(N, 1e300), "must have a sum of weights below 2**63; got 1e+300."),
    "5e-324": (np.full(N, 5e-324), "weights must be 0 or at least 1e-100; got w=4.94066e-324."),
}


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("command", [["fit", "-o", "model.json"], ["evaluate", "--probability", "score"]])
def test_extreme_weights(run, tmp_path, kind, form, command):
    weight, words = WEIGHTS[kind]
    rows = needs("pandas").DataFrame({"score": np.arange(N) / N, "label": np.arange(N) % 2, "w": weight})
    path = tmp_path / f"rows.{form}"
    rows.to_csv(path, index=False) if form == "csv" else duckdb.from_df(rows).to_parquet(str(path))
    first, *options = command
    result = run(first, path, *options, "--weight", "w")
    assert result.code != 0
    assert words in " ".join(result.err.split())
    assert "Traceback" not in result.err
    assert not (tmp_path / "model.json").exists()


def test_unsigned_weights_above_the_largest_count(run, tmp_path):
    weight = np.full(N, 2**63 + 5, np.uint64)
    rows = needs("pandas").DataFrame({"score": np.arange(N) / N, "label": np.arange(N) % 2, "w": weight})
    duckdb.from_df(rows).to_parquet(str(tmp_path / "rows.parquet"))
    result = run("fit", tmp_path / "rows.parquet", "-o", "model.json", "--weight", "w")
    assert result.code != 0
    assert "must have a sum of weights below 2**63" in " ".join(result.err.split())
