"""The commands of this package work in the program that they are added to."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from cli_running import added_by, check_example, check_help
from toy import toy_study

from oddsmith_studies import data, studies
from oddsmith_studies.cli import data as data_commands
from oddsmith_studies.cli import study as study_command

COMMANDS = added_by(study_command.add_to) | added_by(data_commands.add_to)


def test_there_is_every_command():
    assert set(COMMANDS) == {"study", "data list", "data fetch", "data check"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_json_and_quiet(run, name):
    check_help(run, name, COMMANDS[name])


@pytest.fixture
def prepared(monkeypatch, tmp_path):
    """Stand-ins for downloads and studies of hours."""
    place = SimpleNamespace(folder=tmp_path, ok=True, problems=())

    def fetch(name, folder, progress):
        for progress.total in (10, 0):
            progress.update(4)
            progress.reset()
            progress.update(progress.total)
            progress.close()
        return place

    whole = studies.run
    monkeypatch.setattr(data, "fetch", fetch)
    monkeypatch.setattr(data, "check", lambda name, folder: place)
    monkeypatch.setattr(studies, "run", lambda name, **options: whole(toy_study(), **options))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_every_command_works(run, prepared, name, tmp_path):
    check_example(run, COMMANDS[name], tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["data"], "Missing command. Hint: see oddsmith data --help."),
        (["data", "fetch", "nonsense"], "must be one of"),
        (["study", "nonsense"], "must be one of"),
        (["study", "course-project", "--grid", "paper"], "grid of course-project must be"),
    ],
)
def test_bad_usage_and_bad_input_are_one_line(run, arguments, words, tmp_path):
    told = run(*arguments)
    assert words in told.error
    assert len(told.err.splitlines()) == 1
    assert told.out == ""
    assert not list(tmp_path.iterdir())


def test_data_check_fails_when_data_differ(run, monkeypatch):
    result = SimpleNamespace(ok=False, problems=("a file is missing",))
    monkeypatch.setattr(data, "check", lambda name, folder: result)
    told = run("data", "check", "sentiment")
    assert (told.code, told.out) == (1, "sentiment: a file is missing\n")
    assert run("data", "list", "--json").json["data"]["sentiment"]["what"]


def test_the_program_lists_the_commands(run):
    shown = " ".join(run("--help").out.split())  # as wide as the longest name
    for words in ("data List, fetch and check", "study Run a study: our tables"):
        assert words in shown


@pytest.mark.parametrize(("arguments", "loaded"), [(["--help"], {"cli"}), (["fit", "--help"], set())])
def test_help_loads_no_study_and_no_data(arguments, loaded):
    code = (
        "import sys\nfrom oddsmith.cli import main\n"
        f"try:\n    main({arguments})\nexcept SystemExit:\n    pass\n"
        "print('LOADED', *(name.split('.')[1] for name in sys.modules if name.startswith('oddsmith_studies.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.rpartition("LOADED")[2].split()) == loaded


def test_a_page_and_the_index_are_written_again(run, tmp_path, monkeypatch):
    folder = tmp_path / "toy"
    studies.run(toy_study(), out=folder)
    page = (folder / "index.md").read_text()
    (folder / "index.md").unlink()
    monkeypatch.setattr(studies, "rewrite", lambda _name, out, whole=studies.rewrite: whole(toy_study(), out))
    assert "index.html" in run("study", "toy", "--rewrite", "--out", str(folder)).out
    assert (folder / "index.md").read_text() == page
    assert "index.md" in run("study", "index", "--out", str(tmp_path)).out
    assert (tmp_path / "index.md").read_text().startswith("# Studies")
