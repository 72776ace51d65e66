"""What happens where a package of an extra is not installed: one message that names the extra."""

import re
import sys

import pytest

from oddsmith import PlattCalibrator, cli
from oddsmith._extras import EXTRAS, require
from oddsmith.errors import MissingExtraError, OddsmithError
from oddsmith.export import to_sql
from oddsmith.files import open_scores
from oddsmith.plots import ReliabilityDisplay


@pytest.fixture
def without(monkeypatch):
    """Return a function that hides a package."""
    return lambda package: monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize("package", sorted(EXTRAS))
def test_the_message_names_the_extra(package, without):
    without(package)
    message = rf"needs {package}; got .* Hint: pip install 'oddsmith\[\w+\]'"
    with pytest.raises(MissingExtraError, match=message) as info:
        require(package)
    assert info.value.name == package
    assert isinstance(info.value, OddsmithError)


def test_files_sql_and_pictures_name_their_extras(without, tmp_path):
    fitted = PlattCalibrator().fit([-1.5, -0.2, 0.3, 1.7], [0, 1, 0, 1])
    (tmp_path / "scores.csv").write_text("score,label\n1,0\n")
    for package in ("duckdb", "matplotlib", "sqlglot"):
        without(package)
    with pytest.raises(MissingExtraError, match=r"oddsmith\[sql\]"):
        open_scores(tmp_path / "scores.csv").__enter__()
    with pytest.raises(MissingExtraError, match=r"oddsmith\[sql\]"):
        to_sql(fitted)
    with pytest.raises(MissingExtraError, match=r"oddsmith\[plots\]"):
        ReliabilityDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])


@pytest.mark.parametrize("package", ["rich", "typer"])
def test_the_program_ends_with_one_line(package, without, capfd):
    without(package)
    with pytest.raises(SystemExit) as end:
        cli.main([])
    assert end.value.code == 2
    message = r"Error: The command line needs (rich|typer); got .*\. Hint: pip install 'oddsmith\[cli\]'\.\n"
    assert re.fullmatch(message, capfd.readouterr().err)
