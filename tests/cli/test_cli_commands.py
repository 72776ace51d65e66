"""Every command does what its help says, as text and as JSON, and in so many words when quiet."""

import html
import json
import re
from pathlib import Path

import duckdb
import numpy as np
import pytest
import typer
from cli_files import write_labeled
from cli_running import check_example, check_help, commands_of
from typer.core import TyperGroup

import oddsmith
from oddsmith.calibrators.registry import METHODS, SCALINGS, find_method
from oddsmith.cli._app import app
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import verdict
from oddsmith.model import Model

COMMANDS = dict(commands_of(TyperGroup(commands=typer.main.get_group(app).commands)))


def test_there_is_every_command():
    wanted = {"demo", "fit", "apply", "evaluate", "compare", "report", "check", "export", "show"}
    wanted |= {"threshold", "shift", "decide", "combine", "expect", "plan", "watch", "audit", "table"}
    assert set(COMMANDS) == wanted


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_json_and_quiet(run, name):
    check_help(run, name, COMMANDS[name])


@pytest.fixture
def prepared(run, model, predictions, tmp_path):
    """Files of the names that examples use."""
    (tmp_path / "new.csv").write_text("id,score\n1,0.5\n2,-1\n")
    duckdb.sql(f"COPY (FROM '{predictions}') TO '{tmp_path}/predictions.parquet'")
    segments = "rowid % 3 AS occupation, rowid % 2 AS education"
    duckdb.sql(
        f"COPY (SELECT *, {segments} FROM (SELECT *, row_number() OVER () AS rowid FROM '{predictions}')) "
        f"TO '{tmp_path}/scored.parquet'"
    )
    (tmp_path / "costs.csv").write_text("0,1\n0,4\n1,0\n")
    write_labeled(tmp_path / "labeled.jsonl")
    duckdb.sql(f"COPY (SELECT score FROM '{tmp_path}/labeled.jsonl') TO '{tmp_path}/new.parquet'")
    (tmp_path / "several.csv").write_text("p_forest,p_net\n0.1,0.2\n0.6,0.9\n")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "demo"])
def test_the_example_of_every_command_works(run, prepared, name, tmp_path):
    if name == "fit":
        (tmp_path / "model.json").unlink()
    check_example(run, COMMANDS[name], tmp_path)


def test_quiet_leaves_only_the_result(run, scores):
    loud = run("fit", scores, "-o", "a.json", "-m", "platt")
    quiet = run("fit", scores, "-o", "b.json", "-m", "platt", "--quiet")
    assert "Using column 'score' as the score" in loud.err
    assert quiet.err == ""
    assert quiet.out == loud.out.replace("a.json", "b.json")


def test_version_and_bare_program(run):
    assert run("--version").out == f"oddsmith {oddsmith.__version__}\n"
    bare = run()
    assert bare.code == 0
    assert "Exit codes: 0 done, 1 a check failed, 2 bad usage or bad input, 130 stopped" in bare.out


def test_every_calibrator_has_a_name(run, scores):
    assert set(METHODS) >= {"auto", "platt", "asymmetric-laplace", "venn-abers", "bbq", "min-max"}
    assert len(METHODS) + len(SCALINGS) == len(oddsmith.calibrators.__all__) - 1
    assert type(find_method("Venn_Abers")).__name__ == "VennAbersCalibrator"
    assert "did you mean 'isotonic'" in run("fit", scores, "-o", "m.json", "-m", "isotoinc").error


def test_fit_is_the_librarys_fit(run, scores):
    table = oddsmith.ScoreTable.from_arrays(*np.loadtxt(scores, delimiter=",", skiprows=1, usecols=(0, 1)).T)
    for method in ("platt", "isotonic", "auto"):
        told = run("fit", scores, "-o", f"{method}.json", "--method", method, "--json")
        fitted = find_method(method).fit_table(table)
        loaded = Model.load(f"{method}.json")
        assert loaded.map == fitted.map_
        assert told.json["rows"] == 400
        judged = verdict(table, input="score")
        assert told.json["verdict"] == f"Before calibration: {judged.words}"


def test_nothing_is_overwritten_without_force(run, scores, model):
    before = model.read_bytes()
    for command in (
        ("fit", scores, "-o", model, "-m", "isotonic"),
        ("apply", model, scores, "-o", "out.csv"),
        ("export", model, "--to", "python", "-o", scores),
        ("report", scores, "-o", "report.html", "-m", "platt"),
        ("check", scores, "-p", "score", "--max-ece", 1, "--junit", model),
    ):
        for name in ("report.html", "out.csv"):
            Path(name).write_text("mine")
        kept = scores.read_bytes()
        told = run(*command)
        if command[0] == "check":
            assert "probabilities must lie in [0, 1]" in told.error
        else:
            assert "must not exist yet" in told.error
        assert (model.read_bytes(), scores.read_bytes()) == (before, kept)
        assert Path("report.html").read_text() == Path("out.csv").read_text() == "mine"
    assert run("fit", scores, "-o", model, "-m", "isotonic", "--force").code == 0
    assert model.read_bytes() != before


def test_apply_writes_the_models_probabilities(run, scores, model, tmp_path):
    told = run("apply", model, scores, "-o", "out.parquet", "--json")
    assert told.json == {"output": "out.parquet", "rows": 400, "unknown_segments": {}}
    rows = duckdb.sql("FROM 'out.parquet'").fetchnumpy()
    fitted = Model.load(model)
    np.testing.assert_array_equal(rows["probability"], fitted.probability(rows["score"].astype(float)))
    assert run("apply", model, scores, "-o", "out.csv", "--name", "p").code == 0
    assert Path("out.csv").read_text().splitlines()[0] == "score,label,region,p"


def test_segments_each_get_their_own_model(run, scores, tmp_path):
    told = run("fit", scores, "-o", "by.json", "-m", "platt", "--by", "region", "--json")
    assert told.json["segments"] == 2
    Path("new.csv").write_text("region,score\nnorth,0.3\nsouth,0.3\nwest,0.3\n,0.3\n")
    told = run("apply", "by.json", "new.csv", "-o", "out.csv")
    assert "segment 'west' is new to the model: 1 row got the map of all rows" in told.err
    p = [float(line.split(",")[-1]) for line in Path("out.csv").read_text().splitlines()[1:]]
    fitted = Model.load("by.json")
    expected = fitted.probability([0.3] * 4, np.array(["north", "south", "west", None], dtype=object))
    assert p == expected.tolist()
    assert len(set(p)) == 3
    shown = run("show", "by.json")
    assert "segment (region)" in shown.out
    assert "north" in shown.out
    assert run("export", "by.json", "--to", "python", "--segment", "north").code == 0
    whole = run("export", "by.json", "--to", "sql", "--table", "scores")
    assert "segments on DuckDB" in whole.out
    assert "LEFT JOIN" in whole.out
    assert "must have --output" in run("export", "by.json", "--to", "dbt").error
    assert run("export", "by.json", "--to", "dbt", "-o", "project").code == 0
    assert "{% macro by(relation) %}" in Path("project/macros/by.sql").read_text()
    assert "segment:north" in Path("project/seeds/by_parameters.csv").read_text()
    assert (
        "pass --segment NAME, one of 'north', 'south'"
        in run("export", "by.json", "--to", "sql", "--segment", "nroth").error
    )


def test_by_needs_a_model_with_segments(run, scores, model):
    assert "fit with --by" in run("apply", model, scores, "-o", "out.csv", "--by", "region").error


def test_odd_segments_are_named(run):
    Path("odd.csv").write_text("score,label,day\n1,1,mon\n2,0,mon\n3,1,mon\n0,0,mon\n1,1,tue\n2,1,tue\n")
    told = run("fit", "odd.csv", "-o", "m.json", "-m", "platt", "--by", "day")
    assert told.code == 0
    assert "Warning: segment 'tue': PlattCalibrator: All labels are positive" in told.err


def test_show_tells_what_a_model_is(run, model):
    shown = run("show", model)
    for words in ("PlattCalibrator", "400 (400 scores, every distinct score)", "data hash", "┤", "└"):
        assert words in shown.out
    content = run("show", model, "--json").json
    fitted = Model.load(model)
    assert content["data"] == fitted.data.to_dict()
    assert content["curve"]["probability"] == fitted.probability(content["curve"]["score"]).tolist()


@pytest.mark.parametrize("to", ["sql", "python", "javascript", "c"])
def test_export_prints_or_writes(run, model, to):
    verified = run("export", model, "--to", to, "--verify")
    assert verified.code == 0
    assert "Largest difference" in verified.err
    printed = run("export", model, "--to", to)
    assert ("Not verified" in printed.err) == (to != "sql")
    assert ("Largest difference" in printed.out) == (to == "sql")
    written = run("export", model, "--to", to, "-o", "there.txt")
    assert written.out == "Written to there.txt\n"
    assert Path("there.txt").read_text() == printed.out
    assert run("export", model, "--to", to, "--json").json["content"] == printed.out


def test_a_dialect_is_for_sql_and_tested_or_warned_of(run, model):
    refused = run("export", model, "--to", "onnx", "--dialect", "duckdb")
    assert refused.code == 2
    assert "--dialect is for SQL" in refused.error
    assert "Warning: SQL for Snowflake" in run("export", model, "--to", "sql", "--dialect", "snowflake").err
    assert "Warning" not in run("export", model, "--to", "sql", "--dialect", "sqlite").err


def test_export_ends_with_2_where_an_engine_refuses_the_text(run, model, monkeypatch):
    monkeypatch.setattr("oddsmith.formula.sql.FlatReader.scalar", lambda *_: "1 +")
    found = run("export", model, "--to", "sql", "--dialect", "sqlite")
    assert found.code == 2
    assert "syntax error" in found.error


def test_export_writes_onnx_beside_the_model(run, model):
    pytest.importorskip("onnx")
    assert run("export", model, "--to", "onnx").code == 0
    assert model.with_suffix(".onnx").stat().st_size > 0


def test_compare_ranks_the_methods(run, scores):
    arguments = ("compare", scores, "-m", "platt", "-m", "isotonic", "-m", "squash")
    told = run(*arguments, "--pairs")
    content = run(*arguments, "--json").json
    assert set(content["ranking"]) == {"platt", "isotonic", "squash", "base rate"}
    means = [content["mean"]["log_loss"][name] for name in content["ranking"]]
    assert means == sorted(means, key=float)
    assert content["verdict"] in told.out
    assert "wins : losses : ties" in told.out
    assert run(*arguments, "--json", "--seed", 1).json != content
    assert run(*arguments, "--n-folds", 1).error


def test_methods_that_cannot_be_fitted_are_left_out_and_named(run, scores, monkeypatch):
    def refuse(self, table):
        raise InvalidInputError("too few rows")

    monkeypatch.setattr(METHODS["beta"], "_fit", refuse)
    told = run("compare", scores, "-m", "beta", "-m", "platt", "--json")
    assert told.code == 0
    assert set(told.json["ranking"]) == {"base rate", "platt"}
    assert told.json["failed"] == {"beta": "too few rows"}
    assert "Left out beta: too few rows" in told.err
    told = run("report", scores, "-m", "beta", "-m", "platt", "-o", "out.html")
    assert "Left out beta: too few rows" in told.err
    assert "Left out beta: too few rows" in Path("out.html").read_text()


def test_report_writes_every_format(run, scores):
    for end in ("html", "md", "json"):
        told = run("report", scores, "-o", f"out.{end}", "-m", "platt", "-m", "isotonic", "--json")
        assert told.code == 0
        assert told.json["output"] == f"out.{end}"
    summary = json.loads(Path("out.json").read_text())
    assert summary["source"] == {"File": "scores.csv", "Columns": "score 'score', label 'label'"}
    for end in ("html", "md"):
        assert summary["verdict"] in re.sub("</?span>", "", html.unescape(Path(f"out.{end}").read_text()))
    assert summary["verdict"].endswith(
        f"Next: oddsmith fit {scores} -o model.json --score score --label label -m platt"
    )
    told = run("report", scores, "-o", "out.pdf").error
    assert told == "Error: output must end in .html, .md or .json; got out.pdf. Hint: change the name after -o."
