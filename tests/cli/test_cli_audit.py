"""Segments of a file: found, counted, refused where nothing can be said, and drawn."""

import numpy as np
import pytest
from cli_files import csv_text


@pytest.fixture
def scored(tmp_path):
    """Write 1,200 rows in which one occupation has probabilities that are too low, and another is not known."""
    rng = np.random.default_rng(0)
    job = rng.choice(["craft", "sales", ""], 1200)
    p = rng.beta(1, 3, 1200)
    truth = np.where(job == "sales", np.minimum(1, 2 * p), p)
    y = np.where(rng.random(1200) < truth, "yes", "no")
    path = tmp_path / "scored.csv"
    path.write_text(csv_text({"job": job, "age": rng.integers(20, 70, 1200), "p": p.round(6), "outcome": y}))
    return path


OPTIONS = ("-p", "p", "--positive", "yes")


def test_the_worst_segment_comes_first_and_missing_is_a_segment(run, scored):
    told = run("audit", scored, "--by", "job,age", *OPTIONS, "--json")
    assert told.code == 0
    found = told.json
    assert found["segments"][0]["where"] == {"job": "sales"}
    assert found["segments"][0]["ratio"] > 1.5
    alone = [one["where"] for one in found["segments"] if list(one["where"]) == ["age"]]
    assert len(alone) == 4  # text that is numbers is cut into bins
    assert {"job": None} in [one["where"] for one in found["segments"]]
    assert sum(one["rows"] for one in found["segments"] if list(one["where"]) == ["job"]) == 1200
    assert "job sales" in run("audit", scored, "--by", "job", *OPTIONS).out


def test_an_alarm_is_an_exit_code_only_if_wanted(run, scored):
    assert run("audit", scored, "--by", "job", *OPTIONS, "--fail").code == 1
    assert run("audit", scored, "--by", "age", "--depth", "1", "--level", "0.999999", *OPTIONS, "--fail").code == 0


def test_a_picture_is_written_and_not_replaced(run, scored, tmp_path):
    assert run("audit", scored, "--by", "job", *OPTIONS, "--plot", "forest.svg").code == 0
    assert (tmp_path / "forest.svg").read_text().startswith("<?xml")
    assert "must not exist yet" in run("audit", scored, "--by", "job", *OPTIONS, "--plot", "forest.svg").error
    assert run("audit", scored, "--by", "job", *OPTIONS, "--plot", "forest.svg", "--force").code == 0


def test_the_probability_itself_may_define_segments(run, scored):
    assert len(run("audit", scored, "--by", "p", *OPTIONS, "--json").json["segments"]) == 4


def test_columns_of_any_name(run, scored, tmp_path):
    odd = tmp_path / "odd.csv"
    odd.write_text(scored.read_text().replace("job,", '"score, ""x""",', 1).replace("age,", "oddsmith_score,", 1))
    told = run("audit", odd, "--by", 'score, "x"', *OPTIONS, "--json")
    assert told.json["segments"][0]["where"] == {'score, "x"': "sales"}
    assert run("audit", odd, "--by", "oddsmith_score", *OPTIONS).code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--by", "nothing"), "by must name a column"),
        (("--by", "job,job"), "by must name different columns"),
        (("--by", "job", "-p", "age"), "must have probabilities"),
    ],
)
def test_what_cannot_be_audited_is_refused(run, scored, options, message):
    given = OPTIONS if "-p" not in options else OPTIONS[2:]
    assert message in run("audit", scored, *options, *given).error


def test_parquet_and_bad_rows(run, scored, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    target = tmp_path / "scored.parquet"
    typed = "job, CAST(age AS INT) AS age, CAST(p AS DOUBLE) AS p, outcome"
    duckdb.sql(f"COPY (SELECT {typed} FROM read_csv('{scored}', all_varchar=true)) TO '{target}'")
    assert (
        run("audit", target, "--by", "job", *OPTIONS, "--json").json
        == run("audit", scored, "--by", "job", *OPTIONS, "--json").json
    )
    with scored.open("a") as file:
        file.write("sales,30,,yes\n")
    assert "1 of 1,201 rows cannot be used" in run("audit", scored, "--by", "job", *OPTIONS).error
    assert run("audit", scored, "--by", "job", *OPTIONS, "--bad-rows", "skip").code == 0
