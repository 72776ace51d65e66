"""What cannot be written: the message names the output."""

import contextlib
from pathlib import Path

import duckdb
import pytest
from cli_files import csv_text, sample

from oddsmith.errors import InvalidInputError
from oddsmith.files._engine import translate_errors

resource = pytest.importorskip("resource", reason="no limits of file sizes on this system")


@contextlib.contextmanager
def files_of_at_most(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("output", ["out.csv", "out.parquet", "out.jsonl", "out.npz", "out.csv.gz"])
def test_an_error_of_writing_names_the_output(run, model, output):
    score, _, _ = sample(20_000)
    Path("new.csv").write_text(csv_text({"score": score.tolist()}))
    with files_of_at_most(5_000):
        error = run("apply", model, "new.csv", "-o", output).error
    assert f"{output} must be writable" in error
    assert "new.csv" not in error
    assert ".oddsmith.part" not in error
    assert not Path(output).exists()


def test_a_full_disk_is_named_so_whatever_the_engine_writes():
    written = "Async write failed: Could not write file /h/out.csv: No space left on device (errno 28)"
    for folder, must in (
        ("/h", "the disk must have room for out.csv; got a full disk"),
        ("/other", "room; got a full"),
    ):
        with pytest.raises(InvalidInputError, match=must), translate_errors("new.csv", "to/out.csv", folder):
            raise duckdb.IOException(written)


@pytest.mark.parametrize("command", [["report", "scores.csv", "-m", "platt", "-o", "r.html"]])
def test_a_report_that_cannot_be_written(run, scores, command):
    with files_of_at_most(5_000):
        error = run(*command).error
    assert "r.html must be writable in its folder; got File too large" in error
    assert sorted(path.name for path in Path().iterdir()) == ["scores.csv"]
