"""Help, version and shell completion load nothing that is slow to load."""

import os
import subprocess
import sys

import pytest

SLOW = {
    *("numpy", "scipy", "sklearn", "pandas", "narwhals", "duckdb", "sqlglot"),
    *("matplotlib", "jinja2", "numba", "onnx", "onnxruntime", "polars", "pyarrow"),
}


def loaded_by(arguments, **environment):
    """Return what the program prints where no other package adds commands, and the first names of loaded modules."""
    code = (
        "import sys\nfrom oddsmith.cli import _plugins, main\n_plugins.entry_points = lambda group: []\n"
        "try:\n    main(sys.argv[1:])\nfinally:\n"
        "    print('LOADED', *sorted({name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | environment,
    )
    said, _, loaded = done.stdout.rpartition("LOADED")
    return said, set(loaded.split())


@pytest.mark.parametrize(("arguments", "words"), [(["--help"], "Exit codes"), (["--version"], "oddsmith ")])
def test_help_and_version_load_nothing_slow(arguments, words):
    said, loaded = loaded_by(arguments)
    assert words in said
    assert not SLOW & loaded


@pytest.mark.parametrize(("words", "completed"), [("oddsmith ev", "evaluate"), ("oddsmith fit --meth", "--method")])
def test_completion_loads_nothing_slow(words, completed):
    at = str(len(words.split()) - 1)
    said, loaded = loaded_by([], _ODDSMITH_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=at)
    assert said.split() == [completed]
    assert not SLOW & loaded


def test_the_help_of_a_command_lists_the_methods(run):
    assert "One of asymmetric-gaussian, asymmetric-laplace, auto," in " ".join(
        run("fit", "--help").out.replace("│", " ").split()
    )
    assert "venn-abers]" in " ".join(run("compare", "--help").out.replace("│", " ").split())
