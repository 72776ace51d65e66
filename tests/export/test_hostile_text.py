"""Whatever a model calls its parts, its exports are the statements they should be and nothing else."""

import ast
import dataclasses
import io
import json
import re
import shutil
import subprocess
import sys
import time
import tokenize
from pathlib import Path

import numpy as np
import pytest
import sqlglot
import sqlglot.dialects
from engines import READS_ESCAPES, needs_program
from hypothesis import given
from hypothesis import strategies as st

import oddsmith.export
from oddsmith import PlattCalibrator, ScoreTable
from oddsmith._check import visible
from oddsmith.errors import InvalidInputError, ModelFileError
from oddsmith.export import LANGUAGES, export, subprocess_runner, to_sql, verification
from oddsmith.export.escaping import in_comment
from oddsmith.export.verification import compare
from oddsmith.model import Model
from oddsmith.model.strict_json import checksum
from optional import needs
from samples import examples

pytestmark = pytest.mark.filterwarnings("ignore::oddsmith.errors.UntestedDialectWarning")

TABLE = ScoreTable.from_arrays([-1.5, -0.2, 0.3, 1.7, 0.1], [0, 1, 0, 1, 0])
MODEL = Model.from_fitted(PlattCalibrator().fit_table(TABLE), table=TABLE)

ENDS = ["\n", "\r", "\r\n", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\0", "\x1a", ""]
STATEMENTS = [
    "import os; os.system('echo')\n#",
    "*/ require('fs').writeFileSync('x', '') /*",
    "; DROP TABLE scores; --",
    "?> <?php system('x') ?>",
    "</script><script>alert(1)</script>",
    "-- \\",
    "a??/",
    "a\\",
    "??/\nint evil(void) { return 0; }",
    "\\\nint evil(void) { return 0; }",
    "coding:utf_7 +AAo-import os",
    "coding=unicode_escape \\nimport os",
    "-*- coding: utf-16 -*-",
    "vim: set modeline exe=x :",
    "${evil}`evil`{{ evil }}{% evil %}&evil @evil %s",
    '"); evil(); ("',
    "'); evil(); ('",
    '"""\nevil\n"""',
    "{header}{0}{evil.__class__}",
    "\u202eevil\u2066\u200b\ufeff\U000e0001\ud800",
    "x" * 10_000,
]
HOSTILE = [f"Platt{end}{statement}" for statement in STATEMENTS[:2] for end in ENDS] + STATEMENTS
PARTS = [*ENDS, *STATEMENTS, "/*", "*/", "//", "--", "#", "'", '"', "`", ";", "\\", "?", "/", "-", " ", "a", "=", ":"]
TEXTS = st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=8).map("".join)


def dialects():
    found = sqlglot.dialects.Dialects
    # Two write what is no SQL, and sqlglot itself does not read it.
    return sorted(one.value for one in found if one.value and one.value not in ("dax", "prql"))


def called(text):
    """Return the model with this text for every string in it, whether a file could hold it or not."""

    def renamed(model):
        data = dataclasses.replace(model.data, kind=text, sha256=text)
        labels, warnings = (text, text), (text,)
        named = {"method": text, "version": text, "labels": labels, "warnings": warnings}
        return dataclasses.replace(model, data=data, parameters={text: text, "of": {text: [text]}}, **named)

    return renamed(MODEL).with_segments(text, {text: renamed(MODEL)})


def strings(value):
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        yield from strings(part)


def test_every_string_is_tried():
    """But for the map's shape, which is one of ours."""
    model = dataclasses.asdict(called("hostile").of_segment("hostile"))
    model.pop("map")
    assert set(strings(model)) - {""} == {"hostile"}  # no verdict


@pytest.fixture
def written(monkeypatch):
    """Export a model whose strings, and whose engine's words, are all the same, without running the engine."""

    def written(text, to, **options):
        monkeypatch.setattr(verification, "probes", lambda _: (np.array([0.5]), np.array([0.25])))
        monkeypatch.setattr(type(LANGUAGES[to]), "run", lambda *_: (text, [0.25]))
        return export(called(text).of_segment(text), to, verify=True, **options).content

    return written


def python_code(text):
    """Return what Python reads in a file, as it reads one: by bytes, with an encoding that a comment may declare."""
    raw = text.encode()
    comments = [token for token in tokenize.tokenize(io.BytesIO(raw).readline) if token.type == tokenize.COMMENT]
    assert len(comments) == 3
    assert tokenize.detect_encoding(io.BytesIO(raw).readline)[0] == "utf-8"
    return ast.dump(ast.parse(raw))


def without_comments(text, ends):
    """Return code without comments of one line and of several; strings are strings."""
    token = rf"//[^{ends}]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|."
    found = re.findall(token, text, re.DOTALL)
    return "".join(" " if part.startswith(("//", "/*")) else part for part in found).strip()


def javascript_code(text):
    return without_comments(text, r"\n\r\u2028\u2029")


TRIGRAPHS = {"=": "#", "/": "\\", "'": "^", "(": "[", ")": "]", "!": "|", "<": "{", ">": "}", "-": "~"}


def c_code(text):
    """Return what the compiler reads: first trigraphs, then lines that are joined, then comments."""
    text = re.sub(r"\?\?([=/'()!<>-])", lambda found: TRIGRAPHS[found[1]], text)
    return without_comments(re.sub(r"\\[ \t\v\f]*(\r\n|\n|\r)", "", text), r"\n\r")


READERS = {"python": python_code, "javascript": javascript_code, "c": c_code}


def test_readers_see_what_is_wrong():
    """They would find text that got out of its comment."""
    assert c_code("// a ??/\nint x;\nint y;") == "int y;"
    assert c_code("// a \\ \nint x;\n/* z */ int y; // e") == "int y;"
    assert javascript_code("// a\u2028evil()\n'//' /* */ + b") == "evil()\n'//'   + b"
    with pytest.raises(AssertionError):
        python_code("# a\n# b\n# c\n# d\n")
    with pytest.raises(AssertionError):
        python_code("# coding: latin-1\n# b\n# c\n")


@pytest.mark.parametrize("to", READERS)
@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_code_is_the_same_whatever_names_say(written, to, text):
    read = READERS[to]
    assert read(written(text, to)) == read(written("Platt", to))
    assert len(re.split(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", written(text, to))) == written("a", to).count("\n") + 1


@given(TEXTS)
@examples(200)
def test_comments_of_any_text(text):
    """What is kept is of one line, seen, and short of every character that means something somewhere."""
    told = in_comment(text)
    assert visible(told) == told
    assert not re.search(r"[\n\r\\*?<>{}$&`'\"@;:=]|--", told)
    for mark, read in (("#", None), ("//", javascript_code), ("//", c_code)):
        source = f"{mark} {told}\n{mark} {told}\nx"
        if read is None:
            assert tokenize.detect_encoding(io.BytesIO(source.encode()).readline)[0] == "utf-8"
            assert ast.dump(ast.parse(source.encode())) == ast.dump(ast.parse("x"))
        else:
            assert read(source) == "x"


def test_node_reads_them_all(written):
    node = needs_program("node")
    texts = [written(text, "javascript") for text in HOSTILE]
    script = (
        'const vm = require("vm");'
        'for (const text of JSON.parse(require("fs").readFileSync(0, "utf8"))) {'
        "  const names = vm.createContext({});"
        "  new vm.Script(text).runInContext(names);"
        "  if (Object.keys(names).length) throw names;"
        "}"
    )
    done = subprocess.run([node, "-e", script], input=json.dumps(texts).encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-1000:]
    check = subprocess.run([node, "--check", "-"], input=texts[0].encode(), capture_output=True, check=False)
    assert check.returncode == 0, check.stderr


def test_the_compiler_reads_them_all(written, tmp_path):
    compiler = needs_program("cc")
    source = []
    for place, text in enumerate(HOSTILE):
        source += [f"#define probability probability_{place}", written(text, "c"), "#undef probability"]
    (tmp_path / "all.c").write_text("\n".join(source))
    strict = ["-std=c99", "-trigraphs", "-pedantic", "-Wall", "-Wextra", "-Werror", "-c"]
    subprocess.run([compiler, *strict, str(tmp_path / "all.c"), "-o", str(tmp_path / "all.o")], check=True)
    if shutil.which("nm"):
        names = subprocess.run(["nm", str(tmp_path / "all.o")], capture_output=True, check=True, text=True).stdout
        assert "evil" not in names
        assert names.count(" T ") == len(HOSTILE)


def sql_code(text, dialect):
    (statement,) = sqlglot.parse(text, dialect=dialect)
    return statement.sql(dialect=dialect, comments=False)


@pytest.mark.parametrize("table", [None, "scores"])
@pytest.mark.parametrize("dialect", dialects())
def test_sql_is_one_statement_in_every_dialect(written, dialect, table):
    expected = sql_code(written("Platt", "sql", dialect=dialect, table=table), dialect)
    for text in HOSTILE:
        found = written(text, "sql", dialect=dialect, table=table)
        assert [line[:3] for line in found.splitlines()[:3]] == ["-- "] * 3
        assert sql_code(found, dialect) == expected, text


NAMES = [
    'a"b',
    "a`b",
    "a]b",
    "a\\",
    'a\\"b',
    "a\\`b",
    "a'b",
    "a--b",
    "/*a",
    "a*/",
    "a;b",
    '""',
    "``",
    "[a]",
    "%s",
    "${x}",
]


@pytest.mark.parametrize("name", [*NAMES, "{{x}}", "*", "?", "@x", ":x", "$1", "Größe", "得分", "a\u2013b", "😀"])
def test_names_of_columns_and_tables_stay_names(name):
    exp = sqlglot.exp
    for dialect in dialects():
        if dialect in ("bigquery", "clickhouse") and set(name) & set("\\`") and not READS_ESCAPES:
            continue
        (found,) = sqlglot.parse(to_sql(MODEL, column=name, table=name, dialect=dialect), dialect=dialect)
        assert {column.name for column in found.find_all(exp.Column)} <= {name, "*"}
        assert [table.name for table in found.find_all(exp.Table)] == [name]
        assert [one.alias_or_name for one in found.expressions] == ["*", "probability"]


@pytest.mark.parametrize(("dialect", "written"), [("clickhouse", r'"a\\""`b"'), ("bigquery", r'`a\\"\`b`')])
def test_a_backslash_does_not_hide_the_closing_quote(dialect, written):
    """These engines read escapes within quoted names, whatever the installed parser thinks of it."""
    assert to_sql(MODEL, column="s", table='a\\"`b', dialect=dialect).endswith(f"FROM {written}")


@pytest.mark.parametrize("name", ["", "a\nb", "a\0", "a\x1b[31m", "a\u2028", "\u202ea", "\ud800"])
def test_names_that_nobody_sees_are_refused(name):
    for options in ({"column": name}, {"table": name}):
        with pytest.raises(InvalidInputError, match="must be a name of visible characters"):
            to_sql(MODEL, **options)


def test_onnx_holds_the_same_graph(written):
    onnx = needs("onnx")
    needs("onnxruntime")
    expected = onnx.load_from_string(written("Platt", "onnx"))
    for text in HOSTILE:
        found = onnx.load_from_string(written(text, "onnx"))
        assert len(found.doc_string.splitlines()) == 3
        assert visible(found.doc_string, keep="\n") == found.doc_string
        assert not found.metadata_props
        found.doc_string = expected.doc_string
        assert found == expected


def test_a_class_may_have_any_name(written):
    odd = type("Platt\nimport os", (PlattCalibrator,), {})()
    assert python_code(export(odd.fit([-1.0, 1.0, 0.0, 0.5], [0, 1, 1, 0]), "python").content)


def test_segments_are_exported_one_at_a_time():
    with pytest.raises(InvalidInputError) as caught:
        export(called("a\x1b\r\u202e"), "python")
    assert str(caught.value).isprintable()


#: What text a model has; nothing of it may be written but by the header.
TEXT_OF_MODELS = {"method", "parameters", "warnings", "version", "labels", "segments", "__name__", "__qualname__"}


def test_there_is_no_other_way_into_an_export():
    folder = Path(oddsmith.export.__file__).parent
    places = {
        (path.name, function.name, node.attr)
        for path in folder.glob("*.py")
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and node.attr in TEXT_OF_MODELS
    }
    allowed = {("language.py", "header", "method"), ("language.py", "header", "__name__")}
    # Labels become names of columns, literals and comments, each escaped (test_joint.py: labels that would break out).
    labels = {("columns.py", name) for name in ("input_columns", "labels_of_one_kind", "new_columns")}
    labels |= {("sql_statement.py", "joint_statement"), ("code.py", "write")}
    # Names of segments become literals, or fields of a seed (test_segments.py).
    names = {("language.py", "some_segments"), ("sql.py", "_statement"), ("verification.py", "probes_by_segment")}
    names |= {("segments.py", name) for name in ("_rows", "rows", "formula_by_segment", "layers_by_segment")}
    names |= {("segments.py", name) for name in ("_has_mark", "_key_or_other")}
    assert places == allowed | {(*place, "labels") for place in labels} | {(*place, "segments") for place in names}
    header = next(
        function
        for function in ast.walk(ast.parse((folder / "language.py").read_text()))
        if isinstance(function, ast.FunctionDef) and function.name == "header"
    )
    assert "in_comment(method)" in ast.unparse(header)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_files_with_such_a_method_are_refused(text):
    for change in ({"method": text}, {"parameters": {text: 1}}):
        with pytest.raises(ModelFileError, match="must be a name of at most 64 letters"):
            Model.from_json(sealed({**json.loads(MODEL.to_json()), **change}))


def sealed(content):
    content.pop("checksum")
    return json.dumps({**content, "checksum": checksum(content)})


@pytest.mark.parametrize("name", ["A", "PlattCalibrator", "my.Module-2_x", "x" * 64])
def test_names_are_kept(name):
    content = json.loads(MODEL.to_json())
    model = Model.from_json(sealed({**content, "method": name, "parameters": {name: "a\nb –"}}))
    assert (model.method, model.parameters) == (name, {name: "a\nb –"})


@pytest.mark.parametrize("name", ["", "1a", "_a", "a b", "a\n", "x" * 65, "é", "a\u2013", 1, None])
def test_other_names_are_refused(name):
    with pytest.raises(ModelFileError, match="method must be a name"):
        Model.from_json(sealed({**json.loads(MODEL.to_json()), "method": name}))


@pytest.mark.parametrize("to", ["sql", "onnx", "python", "javascript", "c"])
def test_nothing_runs_but_the_map(to, tmp_path, monkeypatch):
    """The proof of a model that was made to do harm leaves no trace."""
    monkeypatch.chdir(tmp_path)
    if to == "onnx":
        needs("onnxruntime")
    if to in ("javascript", "c"):
        needs_program({"javascript": "node", "c": "cc"}[to])
    for text in HOSTILE[:3]:
        evil = text.replace("echo", f"touch {tmp_path}/trace").replace("'x'", f"'{tmp_path}/trace'")
        done = export(called(evil).of_segment(evil), to, verify=True)
        assert done.parity.largest <= 1e-12
    assert list(tmp_path.iterdir()) == []


def test_programs_run_without_our_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET", "x")
    code = "import os, json; print(json.dumps([dict(os.environ), os.getcwd(), os.listdir()]))"
    environment, folder, files = json.loads(subprocess_runner.run_apart([sys.executable, "-I", "-c", code], tmp_path))
    assert set(environment) <= {"PATH", "SYSTEMROOT", "TMPDIR", "LC_CTYPE"}
    assert (folder, files) == (str(tmp_path), [])


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_programs_end(tmp_path, monkeypatch):
    """They and what they started: nothing goes on after the limit."""
    monkeypatch.setattr(subprocess_runner, "LIMIT", 1.0)
    shell = needs_program("sh")
    with pytest.raises(subprocess_runner.DidNotRunError, match="did not end within 1 seconds"):
        subprocess_runner.run_apart([shell, "-c", "sleep 60 & echo $! > child; wait"], tmp_path)
    child = int((tmp_path / "child").read_text())
    for _ in range(100):  # until the system has done what it was told
        if not is_running(child):
            break
        time.sleep(0.1)
    assert not is_running(child)
    endless = "def probability(score):\n    while True:\n        pass\n"
    found = compare(LANGUAGES["python"], MODEL, "probability", endless)
    assert str(found) == "Not verified: Python did not end within 1 seconds."


def test_failures_are_told_on_one_line():
    needs_program("cc")
    found = compare(LANGUAGES["c"], MODEL, "probability", "#error \x1b[31m */ evil\n")
    assert found.largest is None
    assert str(found).startswith("Not verified: a C compiler failed, ")
    assert str(found).isprintable()
    raising = "def probability(score):\n    raise ValueError('a\\nb')\n"
    assert np.isnan(compare(LANGUAGES["python"], MODEL, "probability", raising).largest or np.nan)
