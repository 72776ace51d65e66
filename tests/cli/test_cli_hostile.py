"""Text from files is read and never obeyed, and no command writes over what it reads."""

import ast
import gzip
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cli_files import csv_text, sample
from test_cli_terminal import in_a_terminal

import oddsmith.cli
from oddsmith._check import visible
from oddsmith.cli._terminal import Terminal
from oddsmith.model import CalibrationModel
from oddsmith.model.strict_json import checksum
from oddsmith.report.render import json_text
from optional import needs

SCORE, LABEL, _ = sample(120, seed=4)

#: Markup, escapes, controls of C0 and C1, ends of lines, turns of the direction of writing, and letters that are none.
TEXTS = [
    "[/x]",
    "[bold]b[/bold]",
    "[link=file:///]a[/link]",
    ":warning: [red",
    "a\\[b",
    "\x1b[31mred\x1b[2J\x1b]0;title\x07",
    "\x9b31m\x90\x9d",
    "a\rb\x08c\x7f",
    "a\u2028b\u2029c\x85d\x0be\x0cf",
    "\u202eevil\u2066\u2069\u200f\ufeff",
    "{task.description}{0}",
    "\U000e0041\ue000",
]


def is_clean(told):
    """Whether there is nothing in it but what is seen."""
    return visible(told.out + told.err, keep="\n") == told.out + told.err


def sealed(content):
    content.pop("checksum", None)
    return json.dumps({**content, "checksum": checksum(content)})


@pytest.fixture(params=TEXTS, ids=ascii)
def text(request):
    return request.param


def test_show_tells_text_as_it_is(run, model, text):
    content = json.loads(model.read_text())
    named = {"labels": [text, f"{text}2"], "warnings": [text], "version": text[:200]}
    part = {**{key: content[key] for key in content if key not in ("format", "schema", "checksum")}, **named}
    Path("odd.json").write_text(sealed({**content, **named, "by": text, "segments": {text: part}}))
    told = run("show", "odd.json")
    assert told.code == 0, told.err
    assert is_clean(told)
    assert visible(text) in re.sub(r"\s*\n\s*", "", told.out) or visible(text)[:20] in told.out
    told = run("show", "odd.json", "--json")
    assert is_clean(told)
    assert told.json["labels"] == [text, f"{text}2"]
    assert list(told.json["segments"]) == [text]
    told = run("export", "odd.json", "--to", "python", "--segment", "no such")
    assert is_clean(told)
    assert told.error


def test_columns_and_labels_of_files(run, text):
    """Names and values of a file in guesses, errors and warnings."""
    name = text.replace('"', "'")
    rows = {f"score {name}": SCORE.tolist(), "label": [f"{name}{y}" for y in LABEL], "part": [name] * len(LABEL)}
    Path("odd.jsonl").write_text(
        "".join(json.dumps(dict(zip(rows, row, strict=True))) + "\n" for row in zip(*rows.values(), strict=True))
    )
    told = run("fit", "odd.jsonl", "-o", "m.json", "-m", "platt")
    assert told.error
    assert is_clean(told)
    chosen = ["-s", f"score {name}", "--by", "part"]
    told = run("fit", "odd.jsonl", "-o", "m.json", "-m", "platt", *chosen)
    assert "positive" in told.error
    assert is_clean(told)
    told = run("fit", "odd.jsonl", "-o", "m.json", "-m", "platt", *chosen, "--positive", f"{name}1")
    assert told.code == 0, told.err
    assert is_clean(told)
    rows["part"] = [f"{name} new"] * len(LABEL)
    Path("new.jsonl").write_text(
        "".join(json.dumps(dict(zip(rows, row, strict=True))) + "\n" for row in zip(*rows.values(), strict=True))
    )
    told = run("apply", "m.json", "new.jsonl", "-o", "out.jsonl", "-s", f"score {name}")
    assert "is new to the model" in told.err
    assert is_clean(told)
    assert is_clean(run("show", "m.json"))


def test_bad_rows_are_quoted_safely(run, text):
    field = text.replace('"', "'").replace("\n", " ").replace("\r", " ")
    Path("bad.csv").write_text(f'score,label\n1,0\n"{field}",1\n2,1\n', newline="")
    for command in (["fit", "bad.csv", "-o", "m.json"], ["compare", "bad.csv"], ["evaluate", "bad.csv", "-p", "score"]):
        told = run(*command)
        assert told.error
        assert is_clean(told)


@pytest.mark.parametrize("command", ["evaluate", "check", "compare", "report"])
def test_every_command_is_clean(run, text, command):
    p = [round(0.02 + 0.96 / (1 + 2.718 ** -float(s)), 6) for s in SCORE]
    name = text.replace('"', "'")
    lines = [json.dumps({f"p {name}": one, f"y {name}": f"{name}{y}"}) + "\n" for one, y in zip(p, LABEL, strict=True)]
    Path("odd.jsonl").write_text("".join(lines))
    options = {"evaluate": ["-p", f"p {name}"], "check": ["-p", f"p {name}", "--max-ece", "1", "--junit", "j.xml"]}
    few = ["-s", f"p {name}", "-m", "platt", "-m", "isotonic"]
    told = run(command, "odd.jsonl", *options.get(command, few), "-y", f"y {name}", "--positive", f"{name}1")
    assert told.code == 0, told.err
    assert is_clean(told)
    if command == "report":
        page = Path("report.html").read_text()
        assert "<script>alert" not in page
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", page)


def test_a_terminal_gets_no_escapes_but_ours(tmp_path):
    """In color, with a bar: what is between our escapes is seen."""
    name = "[x]\x1b[5m\u202e.csv"
    (tmp_path / name).write_text(csv_text({"score": SCORE.tolist(), "label": LABEL.tolist()}))
    code, _, seen = in_a_terminal(["fit", name, "-o", "m.json", "-m", "platt"], tmp_path)
    assert code == 0
    assert "Reading [x][U+001B][5m[U+202E].csv" in seen
    assert "\x1b[5m" not in seen
    assert "\u202e" not in seen


def test_text_is_measured_as_it_is_seen(capsys):
    console = Terminal()
    console.print("a\x1b[31mb[bold]:smile:\u202e\nc")
    assert capsys.readouterr().out == "a[U+001B][31mb[bold]:smile:[U+202E]\nc\n"


def test_json_means_the_same():
    content = {"\x1b\x9b\x7f\u2028\u202e\U000e0001": ["é", "得", "\ud83d", "a\nb"]}
    written = json_text(content)
    assert json.loads(written) == content
    assert visible(written, keep="\n") == written
    assert "é" in written


def test_there_is_no_other_way_to_a_terminal():
    """Consoles are made in one place, and nothing else writes."""
    calls = {}
    for path in Path(oddsmith.cli.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                calls.setdefault(ast.unparse(node.func), set()).add(path.name)
    assert "Console" not in calls
    assert "print" not in calls
    assert not any("from_markup" in name or "from_ansi" in name or "rich.print" in name for name in calls)
    assert calls["Terminal"] == {"_output.py", "_exit.py"}
    assert calls["stream.write"] == {"_output.py"}  # JSON, in which nothing acts
    assert calls["typer.echo"] == {"_app.py", "export.py"}  # the version, and an export whose text is clean already
    assert not {"sys.stdout.write", "sys.stderr.write", "click.echo", "warnings.showwarning"} & set(calls)


def same_names(path):
    """Return other names of a file."""
    path.with_name("link").symlink_to(path)
    os.link(path, path.with_name("hard"))
    (path.parent / "folder").mkdir()
    return [str(path), path.name, f"./{path.name}", f"folder/../{path.name}", "link", "hard"]


def test_fit_never_writes_over_its_input(run, scores):
    before = scores.read_bytes()
    for name in same_names(scores):
        for given in (scores, "scores.csv", "link", "hard", "score*.csv", "s*"):
            told = run("fit", given, "-o", name, "-f", "-m", "platt")
            assert "the output must not be the input" in told.error
        assert "must not be the input" in run("fit", scores, "-o", name).error
        assert scores.read_bytes() == before


def test_standard_input_is_an_input_too(scores):
    before = scores.read_bytes()
    code = "from oddsmith.cli import main; main()"
    with open(scores, "rb") as file:
        done = subprocess.run(
            [sys.executable, "-c", code, "fit", "-", "-o", str(scores), "-f", "-m", "platt"],
            stdin=file,
            capture_output=True,
            check=False,
        )
    assert done.returncode == 2
    assert b"must not be the input" in done.stderr
    assert scores.read_bytes() == before


def test_apply_never_writes_over_its_inputs(run, scores, model):
    os.link(scores, "also.csv")
    for output in (scores, "also.csv"):
        assert "must not be the input" in run("apply", model, scores, "-o", output, "-f").error
    lines = Path("scores.jsonl")
    lines.write_text('{"score": 1.5}\n')
    before = model.read_bytes()
    assert "must not be the input" in run("apply", model, lines, "-o", model, "-f").error
    assert model.read_bytes() == before


@pytest.mark.parametrize("to", ["python", "sql", "onnx", "c", "javascript"])
def test_export_never_writes_over_the_model(run, model, to):
    if to == "onnx":
        needs("onnx")
    before = model.read_bytes()
    Path("link.json").symlink_to(model)
    for output in (model, "model.json", "link.json"):
        assert "must not be the input" in run("export", model, "--to", to, "-o", output, "-f").error
    assert model.read_bytes() == before


def test_report_and_check_never_write_over_their_input(run, predictions):
    data = Path("data.json")
    data.write_text("".join(json.dumps({"p": i / 9, "y": i % 2}) + "\n" for i in range(1, 9)))
    before = data.read_bytes()
    assert "must not be the input" in run("report", data, "-o", data, "-f", "-s", "p").error
    assert "must not be the input" in run("check", data, "--max-ece", 1, "--junit", data, "-f").error
    assert data.read_bytes() == before


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_rights_survive(run, scores, model, mode):
    outputs = {
        "m.json": ["fit", scores, "-m", "platt"],
        "out.csv": ["apply", model, scores],
        "out.parquet": ["apply", model, scores],
        "map.py": ["export", model, "--to", "python"],
        "report.md": ["report", scores, "-m", "platt"],
    }
    for name, command in outputs.items():
        Path(name).write_text("old")
        Path(name).chmod(mode)
        told = run(*command, "-o", name, "-f")
        assert told.code == 0, told.err
        assert stat.S_IMODE(os.stat(name).st_mode) == mode
        assert Path(name).read_bytes() != b"old"


def test_new_files_follow_the_umask(run, scores, model):
    old = os.umask(0o027)
    try:
        for name, command in {"m.json": ["fit", scores, "-m", "platt"], "out.csv": ["apply", model, scores]}.items():
            assert run(*command, "-o", name).code == 0
            assert stat.S_IMODE(os.stat(name).st_mode) == 0o640
    finally:
        os.umask(old)


def test_a_file_that_was_cut_is_one_line(run):
    whole = gzip.compress(csv_text({"score": SCORE.tolist(), "label": LABEL.tolist()}).encode())
    Path("cut.csv.gz").write_bytes(whole[:-1])
    assert "must be a whole file of gzip" in run("fit", "cut.csv.gz", "-o", "m.json").error


def test_the_method_of_a_model_is_no_program(run, model):
    content = json.loads(model.read_text())
    Path("evil.json").write_text(sealed({**content, "method": "Platt\nopen('trace', 'w')\n#"}))
    for command in (["show"], ["export", "--to", "python"], ["export", "--to", "c"], ["export", "--to", "sql"]):
        assert "method must be a name" in run(command[0], "evil.json", *command[1:]).error
    assert not Path("trace").exists()


def test_a_model_over_all_doubles_is_shown(run, model):
    content = json.loads(model.read_text())
    content["data"].update(low=-1.7e308, high=1.7e308)
    Path("wide.json").write_text(sealed(content))
    told = run("show", "wide.json", "--json")
    assert told.json["curve"]["score"][0] == -1.7e308
    assert run("show", "wide.json").code == 0
    assert CalibrationModel.load("wide.json").data.high == 1.7e308
