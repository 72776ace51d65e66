"""Segments of a file: found, counted, refused where nothing can be said, and drawn."""

import json
import re
from pathlib import Path

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


def report(run, file, *options):
    return run("report", file, "-s", "p", "--positive", "yes", "-m", "platt", *options)


def test_a_report_by_segment_shows_the_worst_first(run, scored):
    told = report(run, scored, "--by", "job", "--bad-rows", "skip", "-o", "report.html")
    assert told.code == 0
    page = Path("report.html").read_text()
    section = page[page.index('id="audit-title"') : page.index('id="segments-title"')]
    rows = re.findall(r'<th scope="row" title="([^"]*)"', section)
    assert set(rows) == {"job sales", "job craft", "job missing"}
    assert section.count("<svg") == 2  # a forest plot in light and in dark
    assert "fitted to all rows" in section
    assert report(run, scored, "--by", "job", "--bad-rows", "skip", "-o", "report.md").code == 0
    assert "## Segments: observed and expected" in Path("report.md").read_text()
    assert report(run, scored, "--by", "job", "--bad-rows", "skip", "-o", "report.json").code == 0
    content = json.loads(Path("report.json").read_text())
    assert content["audit"]["method"] == content["recommended"]
    found = content["audit"]["segments"]
    assert [one["name"] for one in found] == rows
    assert all(one["p_holm"] <= 0.05 for one in found[:2])
    assert found[0]["gain"] >= found[1]["gain"]


def test_a_clinical_report_has_the_sheet_and_nothing_else_new(run, scored):
    plain = report(run, scored, "-o", "plain.json", "--seed", "1")
    assert plain.code == 0
    assert report(run, scored, "--for", "clinical", "-o", "sheet.json", "--seed", "1").code == 0
    before, after = (json.loads(Path(name).read_text()) for name in ("plain.json", "sheet.json"))
    assert {*after} - {*before} == {"clinical"}
    assert all(after[name] == before[name] for name in before)
    sheet = after["clinical"]["sheets"]["uncalibrated"]
    assert set(sheet["smooth"]) == {"loess", "spline", "isotonic"}
    assert after["clinical"]["difference"]["thresholds"][0] == 0.01
    assert report(run, scored, "--for", "clinical", "-o", "sheet.html").code == 0
    page = Path("sheet.html").read_text()
    section = page[page.index('id="clinical-title"') : page.index('id="classes-title"')]
    for words in ("observed/expected", "calibration slope", "ICI by loess", "Nagelkerke", "Decision curve", "belt"):
        assert words in section
    assert report(run, scored, "--for", "clinical", "-o", "sheet.md").code == 0
    assert "## Clinical sheet" in Path("sheet.md").read_text()


def test_reports_refuse_segments_and_sheets_where_they_mean_nothing(run, scored):
    options = ("-s", "p", "--positive", "yes", "-m", "platt", "--bad-rows", "skip", "-o", "in.html")
    told = run("report", "-", "--by", "job", *options, stdin=scored.read_bytes())
    assert told.code == 0
    assert "Segments are not audited: standard input can be read once only." in told.err
    assert report(run, scored, "--by", "nothing", "-o", "x.html").code == 2
    Path("classes.csv").write_text("p_a,p_b,p_c,label\n" + "0.2,0.3,0.5,a\n0.1,0.8,0.1,b\n0.3,0.3,0.4,c\n" * 20)
    told = run("report", "classes.csv", "--scores", "p_*", "--for", "clinical")
    assert told.code == 2
    assert "--for is for the scores of two classes" in told.err
