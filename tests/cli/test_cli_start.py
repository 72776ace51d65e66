"""The program starts as quickly as the library."""

import subprocess
import sys

HEAVY = {"matplotlib", "sqlglot", "onnx", "onnxruntime", "pandas", "numba", "duckdb", "jinja2", "polars", "pyarrow"}


def loaded_by(code):
    """Return the first names of all modules that are loaded after some code ran."""
    tail = "\nimport sys; print('LOADED', *sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code + tail], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("LOADED")[2].split())


def test_help_loads_nothing_heavy():
    ask = "from oddsmith.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    # Where pandas and PyArrow are installed, scikit-learn itself loads them.
    assert not HEAVY & (loaded_by(ask) - loaded_by("import sklearn.base"))
