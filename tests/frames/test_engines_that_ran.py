"""The suite says which engines ran, and in CI fails if one did not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from optional import needs

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("ci", ["true", "false"])
def test_a_run_with_two_engines(ci):
    for module in ("pandas", "pyarrow", "polars", "xdist"):
        needs(module)
    tests = [f"tests/frames/test_engines.py::test_exact_table[{engine}]" for engine in ("pandas", "polars")]
    quiet = ["-q", "-p", "no:cacheprovider", "-n", "2"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *quiet, *tests],
        cwd=ROOT,
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "2 passed" in run.stdout, run.stdout + run.stderr
    assert "engines: pandas, polars\n" in run.stdout
    assert "engines that did not run: pandas-arrow, pyarrow, polars-lazy, duckdb, dask, pyspark" in run.stdout
    assert run.returncode == (ci == "true")
