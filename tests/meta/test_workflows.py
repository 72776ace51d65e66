"""The workflows parse, have no more rights than they need, and run only what exists."""

import re
import tomllib
from pathlib import Path

import pytest

from optional import needs

yaml = needs("yaml")

ROOT = Path(__file__).parents[2]
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "workflows").glob("*.yml")}
JOBS = {f"{name}.{job}": content for name, flow in WORKFLOWS.items() for job, content in flow["jobs"].items()}
EVERY_JOB = pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)

#: Actions that workflows may use, by released tag.
ACTIONS = {
    "actions/checkout@v4",
    "actions/download-artifact@v4",
    "actions/setup-python@v5",
    "actions/upload-artifact@v4",
    "pypa/gh-action-pypi-publish@release/v1",
}


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("flow", WORKFLOWS.values(), ids=WORKFLOWS)
def test_workflows_may_only_read(flow):
    assert flow["permissions"] == {"contents": "read"}


@EVERY_JOB
def test_only_publishing_has_another_right(job):
    publishes = any("pypi-publish" in step.get("uses", "") for step in job["steps"])
    assert job.get("permissions") == ({"id-token": "write"} if publishes else None)


def test_only_a_release_is_published():
    job = JOBS["release.publish"]
    assert job["if"] == "github.event_name == 'release'"
    assert job["needs"] == "build"


@EVERY_JOB
def test_actions_are_known_and_leave_no_credentials(job):
    used = [step for step in job["steps"] if "uses" in step]
    assert {step["uses"] for step in used} <= ACTIONS
    for step in used:
        assert not step["uses"].startswith("actions/checkout") or step["with"]["persist-credentials"] is False


@EVERY_JOB
def test_targets_of_make_exist(job):
    makefile = (ROOT / "Makefile").read_text()
    for command in commands(job):
        for target in re.findall(r"^make ([\w-]+)", command):
            assert re.search(rf"^[\w -]*\b{target}\b[\w -]*:", makefile, re.MULTILINE), target


@EVERY_JOB
def test_nothing_from_outside_is_pasted_into_a_command(job):
    assert not [command for command in commands(job) if "${{" in command]


def test_every_declared_version_of_python_is_tested_on_every_platform():
    matrix = JOBS["tests.platforms"]["strategy"]["matrix"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = [line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r"Python :: 3\.\d", line)]
    assert matrix["python"] == declared
    assert [system.partition("-")[0] for system in matrix["os"]] == ["ubuntu", "macos", "windows"]


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_all_files_parse(path):
    assert isinstance(yaml.safe_load(path.read_text()), dict)
