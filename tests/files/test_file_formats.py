"""The same scores, whatever they are written in and wherever they come from."""

import csv
import datetime
import gzip
import io
import os
import subprocess
import sys
import textwrap
import threading

import duckdb
import numpy as np
import pytest

from oddsmith import ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.files import choose_columns, has_matrix, open_scores, read_table

SCORES = [0.25, -1.5, 3.0, 0.25, 1e-7, -0.0]
LABELS = [1, 0, 1, 0, 1, 0]
EXPECTED = ScoreTable.from_arrays(SCORES, LABELS)

CSV = "score,label\n" + "".join(f"{s!r},{y}\n" for s, y in zip(SCORES, LABELS, strict=True))
JSON = "".join(f'{{"score": {s!r}, "label": {y}}}\n' for s, y in zip(SCORES, LABELS, strict=True))


def table_of(path, **options):
    with open_scores(path) as file:
        return read_table(file, choose_columns(file, **options)).table


def write_parquet(path, query="SELECT unnest($1) AS score, unnest($2) AS label"):
    con = duckdb.connect()
    rows = con.execute(query, [SCORES, LABELS]).fetchall() if "$1" in query else con.execute(query).fetchall()
    con.execute("CREATE TABLE t AS " + query.replace("$1", str(SCORES)).replace("$2", str(LABELS)))
    con.execute(f"COPY t TO '{path}' (FORMAT parquet)")
    return rows


def write_zst(path, text):
    con = duckdb.connect()
    con.execute("CREATE TABLE t AS SELECT unnest(?) AS line", [text.splitlines()])
    con.execute(f"COPY t TO '{path}' (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '', COMPRESSION zstd)")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt", "a.data", "a", "A.CSV", "a.jsonl", "a.ndjson", "a.json"])
def test_text(tmp_path, name):
    text = JSON if "json" in name else CSV.replace(",", "\t") if "tsv" in name else CSV
    (tmp_path / name).write_text(text)
    assert table_of(tmp_path / name) == EXPECTED


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz", "a.csv", "a"])
def test_gzip(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress((JSON if "json" in name else CSV).encode()))
    assert table_of(tmp_path / name) == EXPECTED


@pytest.mark.parametrize("name", ["a.csv.zst", "a.jsonl.zst", "a"])
def test_zstandard(tmp_path, name):
    write_zst(tmp_path / name, JSON if "json" in name else CSV)
    assert table_of(tmp_path / name) == EXPECTED


@pytest.mark.parametrize("name", ["a.parquet", "a.pq", "a", "a.csv"])
def test_parquet(tmp_path, name):
    write_parquet(tmp_path / name)
    assert table_of(tmp_path / name) == EXPECTED


@pytest.mark.parametrize("kind", ["FLOAT", "DECIMAL(18, 7)", "VARCHAR"])
def test_parquet_types(tmp_path, kind):
    write_parquet(tmp_path / "a.parquet", f"SELECT unnest($1)::{kind} AS score, unnest($2)::BOOLEAN AS label")
    scores = np.float64(np.float32(SCORES)) if kind == "FLOAT" else SCORES
    assert table_of(tmp_path / "a.parquet") == ScoreTable.from_arrays(scores, LABELS)


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n"])
def test_dialects(tmp_path, separator, end, start):
    text = start + CSV.replace(",", separator).replace("score", "\"a, b; 'c' | score\"")
    (tmp_path / "a.csv").write_bytes(text.replace("\n", end).encode())
    assert table_of(tmp_path / "a.csv", scores="a, b; 'c' | score") == EXPECTED


def test_no_header(tmp_path):
    (tmp_path / "a.csv").write_text(CSV.split("\n", 1)[1])
    with open_scores(tmp_path / "a.csv") as file:
        assert file.columns == ("column0", "column1")
        with pytest.raises(InvalidInputError, match=r"columns 'column0', 'column1'.*--score"):
            choose_columns(file)
        assert read_table(file, choose_columns(file, "column0", "column1")).table == EXPECTED


def test_names_without_text_get_one(tmp_path):
    lines = CSV.splitlines()
    (tmp_path / "a.csv").write_text("\n".join(f"{'' if i == 0 else i},{line}" for i, line in enumerate(lines)))
    with open_scores(tmp_path / "a.csv") as file:
        assert file.columns == ("column0", "score", "label")
    assert table_of(tmp_path / "a.csv") == EXPECTED


def test_one_column(tmp_path):
    (tmp_path / "a.csv").write_text("score\n1\n2\n")
    with open_scores(tmp_path / "a.csv") as file:
        assert choose_columns(file, needs_label=False).names == ["score"]


@pytest.mark.parametrize("name", ["a b'c.csv", 'a"b.csv', "a[1].csv", "a*.csv", "ä?.csv"])
def test_odd_file_names(tmp_path, name):
    (tmp_path / "a1.csv").write_text("score,label\nwrong,file\n")
    (tmp_path / name).write_text(CSV)
    assert table_of(tmp_path / name) == EXPECTED


def test_reading_leaves_the_limit_of_python_s_reader(tmp_path):
    limit = csv.field_size_limit()
    (tmp_path / "a.csv").write_text(f"score,{'x' * 200_000}\n0.5,1\n")
    with open_scores(tmp_path / "a.csv") as file:
        assert len(file.columns[1]) == 200_000
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("name", ["from", "a b", 'a"b', "a'b", "a.b", "a/b~c", "é", "Score ", "{}", "1", "?"])
def test_odd_column_names(tmp_path, name):
    if name != "1":
        (tmp_path / "a.csv").write_text(CSV.replace("score", '"' + name.replace('"', '""') + '"'))
        assert table_of(tmp_path / "a.csv", scores=name.strip()) == EXPECTED
    (tmp_path / "a.jsonl").write_text(JSON.replace('"score"', '"' + name.replace('"', '\\"') + '"'))
    assert table_of(tmp_path / "a.jsonl", scores=name) == EXPECTED
    quoted = '"' + name.replace('"', '""') + '"'
    write_parquet(tmp_path / "a.parquet", f"SELECT unnest($1) AS {quoted}, unnest($2) AS label")
    assert table_of(tmp_path / "a.parquet", scores=name) == EXPECTED


def test_names_that_differ_in_case_only(tmp_path):
    (tmp_path / "a.csv").write_text("Score,score,label\n1,2,0\n3,4,1\n")
    assert table_of(tmp_path / "a.csv", scores="Score").span() == (1, 3)
    assert table_of(tmp_path / "a.csv", scores="score").span() == (2, 4)


def test_patterns(tmp_path):
    for i in range(3):
        (tmp_path / f"{i}.csv").write_text(CSV)
        write_parquet(tmp_path / f"{i}.parquet")
        (tmp_path / f"{i}.jsonl.gz").write_bytes(gzip.compress(JSON.encode()))
    for pattern in ("*.csv", "*.parquet", "*.jsonl.gz", "[01].csv", "**/2.csv"):
        assert table_of(tmp_path / pattern) == EXPECTED.scale({"[": 2, "**": 1}.get(pattern[:2].rstrip("01"), 3))


def test_files_of_a_pattern_must_have_the_same_columns(tmp_path):
    (tmp_path / "1.csv").write_text("score,label\n1,0\n")
    (tmp_path / "2.csv").write_text("label,score\n0,1\n")
    with pytest.raises(InvalidInputError, match=r"2\.csv must have the same columns"):
        open_scores(tmp_path / "*.csv")


def test_parquet_columns_are_told_apart_by_name(tmp_path):
    write_parquet(tmp_path / "1.parquet")
    write_parquet(tmp_path / "2.parquet", "SELECT unnest($2) AS label, unnest($1) AS score")
    assert table_of(tmp_path / "*.parquet") == EXPECTED.scale(2)


@pytest.mark.parametrize(
    "content",
    [CSV.encode(), JSON.encode(), gzip.compress(CSV.encode(), mtime=0), "parquet"],
    ids=["csv", "json", "gzip", "parquet"],
)
def test_standard_input(tmp_path, monkeypatch, content):
    if content == "parquet":
        write_parquet(tmp_path / "a")
        content = (tmp_path / "a").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with open_scores("-") as file:
        assert file.name == "standard input"
        assert read_table(file, choose_columns(file)).table == EXPECTED
        spool = file.engine.folder
    assert not os.path.exists(spool)


def test_pipes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(CSV,))
    writer.start()
    assert table_of(tmp_path / "pipe") == EXPECTED
    writer.join()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "must contain rows; got an empty file"),
        ("a.csv", b"\n\n", "must contain rows"),
        ("a.csv", b"score,label\n", "must contain rows"),
        ("a.csv", "score,label\n1,0\n".encode("utf-16"), "UTF-8"),
        ("a.jsonl", b"", "must contain rows"),
        ("a.jsonl", b'[{"score": 1}]', "one JSON object per line; got a list.*jq"),
        ("a.json", b'{\n  "score": 1\n}\n', "one JSON object per line"),
        ("a.jsonl", b"score,label\n1,0\n", "one JSON object per line"),
        ("a.parquet", b"", "DuckDB can read"),
        ("a.parquet", b"score,label\n1,0\n", "DuckDB can read"),
        (
            "a.csv.gz",
            gzip.compress(CSV.encode() * 1000, mtime=0)[:-20],
            r"gz must be a whole file of gzip; got .*copy",
        ),
        ("a.csv.gz", b"\x1f\x8bnonsense", "must be a whole file of gzip"),
        ("a.csv", b"score,label\r\n1,0\n2,1\r\n", "DuckDB can read.*CSV"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=message):
        table_of(tmp_path / name)


def test_a_truncated_parquet_file(tmp_path):
    write_parquet(tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    for size in (4, 12, len(whole) // 2, len(whole) - 1):
        (tmp_path / "a.parquet").write_bytes(whole[:size])
        with pytest.raises(
            InvalidInputError, match=r"a\.parquet must be a file that DuckDB can read; got .*[Pp]arquet"
        ):
            table_of(tmp_path / "a.parquet")


def test_a_column_of_the_wrong_type(tmp_path):
    write_parquet(tmp_path / "a.parquet", "SELECT DATE '2026-01-01' AS score, 1 AS label")
    with pytest.raises(InvalidInputError, match="numbers; got 'score', a column of type DATE"):
        table_of(tmp_path / "a.parquet")
    write_parquet(tmp_path / "a.parquet", "SELECT [1.5] AS score, 1 AS label")
    with pytest.raises(InvalidInputError, match=r"numbers; got 'score', a column of type DECIMAL\(2,1\)\[\]"):
        table_of(tmp_path / "a.parquet")


def test_paths_that_are_not_files(tmp_path):
    (tmp_path / "scores.csv").write_text(CSV)
    with pytest.raises(InvalidInputError, match=r"must exist.*did you mean .*scores\.csv"):
        open_scores(tmp_path / "score.csv")
    with pytest.raises(InvalidInputError, match=r"must exist.*check the path"):
        open_scores(tmp_path / "nowhere" / "x*.csv")
    with pytest.raises(InvalidInputError, match=r"the folder.*\*\.parquet"):
        open_scores(tmp_path)
    with pytest.raises(InvalidInputError, match="must exist"):
        open_scores("https://example.org/scores.parquet")


def test_only_numpy_and_duckdb_are_needed(tmp_path):
    """No pandas, no PyArrow, no Polars: they are extras."""
    (tmp_path / "a.csv").write_text("score,label,part\n0.1,0,a\n0.9,1,b\n0.4,1,a\n")
    code = """
        import sys

        class Absent:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] in ("pandas", "pyarrow", "polars", "torch"):
                    raise ImportError(name)

        sys.meta_path.insert(0, Absent())
        from oddsmith.files import apply_model, choose_columns, open_scores, read_table
        from oddsmith.maps import constant_map
        from oddsmith.model import model_of

        with open_scores("a.csv") as file:
            roles = choose_columns(file, by="part")
            print(len(read_table(file, roles).segments))
            model = model_of(constant_map(0.0)).with_segments("part", {"a": model_of(constant_map(1.0))})
            apply_model(model, file, roles, "out.parquet")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("2\n", "")
    found = duckdb.connect().execute(f"SELECT round(probability, 3) FROM '{tmp_path / 'out.parquet'}'").fetchall()
    assert found == [(0.731,), (0.5,), (0.731,)]


@pytest.mark.parametrize("writer", ["pandas", "polars", "duckdb"])
def test_durations_are_not_scores(tmp_path, writer):
    """Two writers note durations aside, in columns of whole numbers."""
    path = tmp_path / "durations.parquet"
    seconds = list(range(1, 9))
    if writer == "duckdb":
        duckdb.sql(f"COPY (SELECT to_seconds(i) AS score, i % 2 AS label FROM range(8) t(i)) TO '{path}'")
    elif writer == "pandas":
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        pandas.DataFrame({"score": pandas.to_timedelta(seconds, unit="s"), "label": [0, 1] * 4}).to_parquet(path)
    else:
        polars = pytest.importorskip("polars")
        pytest.importorskip("pyarrow")
        spans = [datetime.timedelta(seconds=each) for each in seconds]
        polars.DataFrame({"score": spans, "label": [0, 1] * 4}).write_parquet(path)
    with open_scores(path) as file, pytest.raises(InvalidInputError, match="score must be a column of numbers"):
        read_table(file, choose_columns(file))


def test_what_is_noted_aside_may_be_anything(tmp_path):
    path = tmp_path / "noted.parquet"
    rows = "SELECT i AS score, i % 2 AS label FROM range(8) t(i)"
    noted = "{pandas: 'no json', \"ARROW:schema\": 'no schema'}"
    duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT parquet, KV_METADATA {noted})")
    with open_scores(path) as file:
        assert read_table(file, choose_columns(file)).table.rows == 8


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIME", "BLOB", "BIGINT[]"])
def test_columns_without_numbers_are_not_scores(tmp_path, kind):
    path = tmp_path / "odd.parquet"
    value = {"DATE": "'2026-01-01'", "TIMESTAMP": "'2026-01-01'", "TIME": "'01:02:03'", "BLOB": "'a'"}.get(kind, "[1]")
    duckdb.sql(f"COPY (SELECT {value}::{kind} AS score, i % 2 AS label FROM range(8) t(i)) TO '{path}'")
    with open_scores(path) as file, pytest.raises(InvalidInputError, match="a column of type"):
        read_table(file, choose_columns(file))


def test_vectors_of_two_classes_need_no_names(tmp_path):
    np.savez(tmp_path / "a.npz", predictions=np.linspace(0, 1, 8), ground_truth=np.arange(8) % 2)
    assert not has_matrix(tmp_path / "a.npz")
    with open_scores(tmp_path / "a.npz") as file:
        roles = choose_columns(file)
    assert (roles.score, roles.label) == ("predictions", "ground_truth")
    np.savez(tmp_path / "b.npz", predictions=np.full((8, 3), 1 / 3), ground_truth=np.arange(8) % 3)
    assert has_matrix(tmp_path / "b.npz")
    np.save(tmp_path / "c.npy", np.zeros((8, 1)))
    assert not has_matrix(tmp_path / "c.npy")
    (tmp_path / "d.npz").write_bytes(b"PK\x03\x04 and no more")
    assert has_matrix(tmp_path / "d.npz")
