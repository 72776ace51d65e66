"""Runs of the real program: killed, stopped, on many rows, at the end of a pipe."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from cli_files import csv_text, many_rows, sample

from oddsmith import PlattCalibrator, ScoreTable
from oddsmith.model import CalibrationModel

PROGRAM = [sys.executable, "-c", "from oddsmith.cli import main; main()"]


def program(*arguments, folder, **options):
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([*PROGRAM, *map(str, arguments)], cwd=folder, env=env, text=True, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two million rows, and a model for them."""
    folder = tmp_path_factory.mktemp("many")
    many_rows(folder / "many.parquet", 2_000_000)
    table = ScoreTable.from_arrays([-2.0, -1.0, 0.5, 1.0, 3.0], [0, 0, 1, 0, 1])
    CalibrationModel.from_calibrator(PlattCalibrator().fit_table(table), table).save(folder / "model.json")
    return folder


#: Runs a program and prints the memory it took. A small process of its own: what a process took before it became
#: another program counts for that one, too.
WATCHED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def test_two_million_rows_take_little_memory(folder):
    pytest.importorskip("resource", reason="no memory of processes on this system")
    command = [*PROGRAM, "fit", "many.parquet", "-o", "again.json", "-m", "platt", "--json"]
    done = subprocess.run([sys.executable, "-c", WATCHED, *command], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    megabytes = int(done.stdout) / (2**20 if sys.platform == "darwin" else 2**10)
    assert megabytes < 500


def wait_for_work(folder, process):
    """Wait until the output is being written somewhere out of sight."""
    for _ in range(600):
        if list(folder.glob(".out.csv.*.part/out.csv")):
            return
        assert process.poll() is None, "done before it could be stopped"
        time.sleep(0.05)
    pytest.fail("never began to write")


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_leaves_no_half_file(folder, sent, code):
    for left in folder.glob(".out.csv.*"):
        shutil.rmtree(left)
    with program(
        "apply", "model.json", "many.parquet", "-o", "out.csv", folder=folder, stderr=subprocess.PIPE
    ) as process:
        wait_for_work(folder, process)
        process.send_signal(sent)
        err = process.communicate()[1]
    assert process.returncode == code, err
    assert "Traceback" not in err
    assert not (folder / "out.csv").exists()
    hidden = list(folder.glob(".out.csv.*"))
    if sent == signal.SIGKILL:
        assert len(hidden) == 1
    else:
        assert hidden == []
        assert err.splitlines()[-1] == "Stopped."


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_reader_removes_its_temporary_folder(folder, tmp_path, sent, code):
    """Text is taken apart into a temporary file, which does not outlive the run."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(tmp_path)}
    command = [*PROGRAM, "fit", "-", "-o", "stopped.json"]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=folder, env=env, text=True, **pipes) as process:
        for _ in range(600):
            if list(tmp_path.glob("oddsmith-*")):
                break
            time.sleep(0.05)
        process.send_signal(sent)
        err = process.stderr.read()
    assert (process.returncode, err.splitlines()[-1]) == (code, "Stopped.")
    assert list(tmp_path.iterdir()) == []
    assert not (folder / "stopped.json").exists()


def test_the_next_run_clears_what_a_killed_one_left(folder):
    score, label, _ = sample(50)
    (folder / "few.csv").write_text(csv_text({"score": score.tolist(), "label": label.tolist()}))
    for name in ("out.csv", "another.json"):
        (folder / f".{name}.killed.oddsmith.part").mkdir(exist_ok=True)
    (folder / ".somebody.elses.part").mkdir(exist_ok=True)
    with program("apply", "model.json", "few.csv", "-o", "out.csv", folder=folder) as process:
        assert process.wait() == 0
    assert (folder / "out.csv").exists()
    assert [path.name for path in folder.glob(".*")] == [".somebody.elses.part"]


def test_the_end_of_a_pipe(folder):
    command = f"{sys.executable} -c 'from oddsmith.cli import main; main()' show model.json | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stdout.startswith("method")
    assert done.stderr == ""
