"""Files with probabilities: every row, in order, all else unchanged."""

import csv
import gzip
import json
import signal
import subprocess
import sys
import textwrap
import time

import duckdb
import numpy as np
import pytest

from oddsmith import TemperatureScaling
from oddsmith.errors import InvalidInputError
from oddsmith.files import adding, apply_model, choose_model_columns, open_scores
from oddsmith.maps import PolynomialMap, constant_map
from oddsmith.maps.inputs import LogitInputMap
from oddsmith.model import Model, model_of

LINE = PolynomialMap(np.empty(0), np.zeros(1), np.array([[0.3, 1.7]]), 1.0)

CSV = 'id,Score ,note,"a ""b"""\n007,1.50,"x, ""y""\nz",\n8,-2e0,,""\n\n9, 0.1 ,é,1.10\n'
SCORES = [1.5, -2.0, 0.1]
PROBABILITIES = [repr(p) for p in LINE.probability(SCORES).tolist()]


def apply(path, output, map_=LINE, **options):
    model, segments, by = model_of(map_), options.pop("segments", None), options.pop("by", ())
    if segments is not None:
        model = model.with_segments("part", {name: model_of(one) for name, one in segments.items()})
    with open_scores(path) as file:
        columns = choose_model_columns(file, model, options.pop("score", ()), by)
        return apply_model(model, file, columns, output, **options)


def query(sql):
    return duckdb.connect().execute(sql).fetchall()


def test_csv_stays_as_it_is(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    done = apply(tmp_path / "a.csv", tmp_path / "b.csv")
    assert (done.rows, done.bad, done.unknown) == (3, None, {})
    p = PROBABILITIES
    assert (tmp_path / "b.csv").read_text() == (
        'id,Score ,note,"a ""b""",probability\n'
        f'007,1.50,"x, ""y""\nz",,{p[0]}\n8,-2e0,,"",{p[1]}\n9, 0.1 ,é,1.10,{p[2]}\n'
    )


def test_without_header(tmp_path):
    (tmp_path / "a.csv").write_text("1;1.5\n2;-2\n3;0.1\n")
    apply(tmp_path / "a.csv", tmp_path / "b.csv", score="column1")
    p = PROBABILITIES
    assert (tmp_path / "b.csv").read_text() == f"1;1.5;{p[0]}\n2;-2;{p[1]}\n3;0.1;{p[2]}\n"


def test_names_that_are_not_unique(tmp_path):
    (tmp_path / "a.csv").write_text("a,A,a,score\n1,2,3,0.1\n")
    apply(tmp_path / "a.csv", tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == f"a,A,a,score,probability\n1,2,3,0.1,{PROBABILITIES[2]}\n"


def test_json_lines_stay_as_they_are(tmp_path):
    text = '{"score": 1.50, "b": {"c": [1, "}"]}}\n\n  {"a": "é\\n}", "score": "-2"} \n{"score":0.1}\n'
    (tmp_path / "a.jsonl").write_text(text)
    apply(tmp_path / "a.jsonl", tmp_path / "b.jsonl", name='my "p"')
    p = PROBABILITIES
    assert (tmp_path / "b.jsonl").read_text() == (
        f'{{"score": 1.50, "b": {{"c": [1, "}}"]}}, "my \\"p\\"": {p[0]}}}\n'
        f'  {{"a": "é\\n}}", "score": "-2", "my \\"p\\"": {p[1]}}}\n{{"score":0.1, "my \\"p\\"": {p[2]}}}\n'
    )
    found = [json.loads(line)['my "p"'] for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert found == LINE.probability(SCORES).tolist()


def test_parquet_keeps_types(tmp_path):
    path = tmp_path / "a.parquet"
    query(
        "COPY (SELECT unnest([1.5, -2.0, 0.1])::DOUBLE AS score, DATE '2026-01-01' AS day, [1, 2] AS p, "
        f"{{'x': 1}} AS staged, "
        f'1.10::DECIMAL(4, 2) AS source, 5 AS "a ""b") TO \'{path}\''
    )
    apply(path, tmp_path / "b.parquet", score="score")
    before, after = (query(f"DESCRIBE FROM '{file}'") for file in (path, tmp_path / "b.parquet"))
    assert [row[:2] for row in after] == [*(row[:2] for row in before), ("probability", "DOUBLE")]
    assert query(f"SELECT * EXCLUDE probability FROM '{tmp_path / 'b.parquet'}'") == query(f"FROM '{path}'")
    found = [row[0] for row in query(f"SELECT probability FROM '{tmp_path / 'b.parquet'}'")]
    assert found == LINE.probability(SCORES).tolist()


MAIN = ["csv", "jsonl", "parquet"]
OTHERS = ["tsv", "csv.gz", "csv.zst", "jsonl.gz"]
PAIRS = [
    *((source, target) for source in MAIN for target in MAIN),
    *((source, "csv") for source in OTHERS),
    *(("csv", target) for target in OTHERS),
]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_any_format_to_any(tmp_path, source, target):
    reader = "read_json" if "json" in source else "read_parquet" if source == "parquet" else "read_csv"
    given, made = tmp_path / f"a.{source}", tmp_path / f"b.{target}"
    kind = {"tsv": "csv, DELIMITER '\t'", "jsonl": "json"}.get(source.split(".")[0], source.split(".")[0])
    query(
        f"COPY (SELECT i AS id, i / 7 AS score, 'text ' || i AS note FROM range(100) t(i)) TO '{given}' (FORMAT {kind})"
    )
    apply(given, made)
    reader = "read_json" if "json" in target else "read_parquet" if target == "parquet" else "read_csv"
    found = query(f"SELECT id, score, note, probability FROM {reader}('{made}')")
    assert [row[0] for row in found] == list(range(100))
    assert [row[2] for row in found] == [f"text {i}" for i in range(100)]
    np.testing.assert_array_equal([row[1] for row in found], np.arange(100) / 7)
    np.testing.assert_array_equal([row[3] for row in found], LINE.probability(np.arange(100) / 7))


def test_text_becomes_a_number_only_where_nothing_is_lost(tmp_path):
    (tmp_path / "a.csv").write_text(
        "code,score,n,big,mixed,odd,none\n007,1.5,1,99999999999999999999,1,nan,\n08,2,,1,x,1,\n"
    )
    apply(tmp_path / "a.csv", tmp_path / "b.parquet")
    found = {row[0]: row[1] for row in query(f"DESCRIBE FROM '{tmp_path / 'b.parquet'}'")}
    assert found.pop("n") == "BIGINT"
    assert {name for name, kind in found.items() if kind == "DOUBLE"} == {"score", "probability"}
    assert {name for name, kind in found.items() if kind == "VARCHAR"} == {"code", "big", "mixed", "odd", "none"}
    assert query(f"SELECT code, n FROM '{tmp_path / 'b.parquet'}'") == [("007", 1), ("08", None)]


def test_members_that_come_late_are_kept(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"score": 1}\n' * 1500 + '{"score": 2, "late": "x"}\n')
    apply(tmp_path / "a.jsonl", tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text().splitlines()[-1].startswith("2,x,0.97")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_order_is_kept_over_many_rows(tmp_path, monkeypatch, name):
    monkeypatch.setattr(adding, "_BATCH", 50_000)
    rows = 410_000  # several pieces of every kind of file, which are read in parallel
    kind = {"jsonl": "json"}.get(name[2:], name[2:])
    query(
        f"COPY (SELECT i AS id, hash(i) / 1e19 AS score FROM range({rows}) t(i)) TO '{tmp_path / name}' (FORMAT {kind})"
    )
    done = apply(tmp_path / name, tmp_path / "b.parquet")
    assert done.rows == rows
    found = duckdb.connect().execute(f"SELECT * FROM '{tmp_path / 'b.parquet'}'").fetchnumpy()
    np.testing.assert_array_equal(found["id"], np.arange(rows))
    np.testing.assert_array_equal(found["probability"], LINE.probability(found["score"]))


def test_files_of_a_pattern_follow_each_other(tmp_path):
    for i in range(3):
        (tmp_path / f"{i}.csv").write_text(f"score,id\n1,{i}\n2,{i}\n")
    apply(tmp_path / "?.csv", tmp_path / "out.csv")
    with open(tmp_path / "out.csv") as file:
        assert [row["id"] for row in csv.DictReader(file)] == ["0", "0", "1", "1", "2", "2"]


SEGMENTS = {"a": constant_map(1.0), "b c": constant_map(2.0), "3": constant_map(3.0)}


def test_segments(tmp_path):
    (tmp_path / "a.csv").write_text("score,part\n0,a\n0,b c\n0,new\n0,3\n0,\n0,new\n0,a\n")
    done = apply(tmp_path / "a.csv", tmp_path / "b.csv", constant_map(0.0), by="part", segments=SEGMENTS)
    assert done.unknown == {"new": 2, "": 1}
    with open(tmp_path / "b.csv") as file:
        found = [float(row["probability"]) for row in csv.DictReader(file)]
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-np.array([1, 2, 0, 3, 0, 0, 1.0]))), rtol=1e-15)
    with pytest.raises(InvalidInputError, match="by must name a column"):
        apply(tmp_path / "a.csv", tmp_path / "c.csv", segments=SEGMENTS, by="parts")
    with pytest.raises(InvalidInputError, match="--by"):
        apply(tmp_path / "a.csv", tmp_path / "c.csv", by="part")


def test_segments_by_several_columns(tmp_path):
    """Also of several classes; a row in which a key is missing has no segment of its own."""
    (tmp_path / "a.csv").write_text("z,y,part,side\n0,0,a,1\n0,0,b,1\n0,0,a,2\n0,0,,1\n")
    of_two = model_of(constant_map(0.0))
    parts = {("a", "1"): model_of(constant_map(1.0)), ("a", "2"): model_of(constant_map(2.0))}
    of_two = of_two.with_segments(["part", "side"], parts)
    scalings = [TemperatureScaling().fit([[t, -2.0], [0.0, 1.0], [1.0, 0.0]], [0, 1, 1]) for t in (1.0, 3.0)]
    first, second = (Model.from_fitted(each, column_names=["z", "y"]) for each in scalings)
    several = first.with_segments(["part", "side"], {("a", "2"): second})
    for model, scores in ((of_two, ["z"]), (several, ())):
        with open_scores(tmp_path / "a.csv") as file:
            columns = choose_model_columns(file, model, scores)
            done = apply_model(model, file, columns, tmp_path / "b.csv", force=True)
        unknown = {"b, 1": 1, ", 1": 1} if model is of_two else {"a, 1": 1, "b, 1": 1, ", 1": 1}
        assert done.unknown == unknown
        rows = np.zeros(4) if model is of_two else np.zeros((4, 2))
        keys = [["a", "1"], ["b", "1"], ["a", "2"], [None, "1"]]
        found = np.genfromtxt(tmp_path / "b.csv", delimiter=",", skip_header=1)[:, 4 : 5 if model is of_two else 6]
        expected = model.predict_proba(rows, keys)
        np.testing.assert_array_equal(found, expected[:, 1:] if model is of_two else expected)


@pytest.mark.parametrize("name", ["b.csv", "b.parquet", "b.jsonl", "b.npz"])
def test_bad_rows_are_kept_without_a_probability(tmp_path, name):
    (tmp_path / "a.csv").write_text("id,score\n1,0.1\n2,\n3,x\n4,nan\n5,-2\n")
    done = apply(tmp_path / "a.csv", tmp_path / name, bad_rows="keep")
    assert (done.rows, done.bad.count) == (5, 3)
    expected = [*LINE.probability([0.1]), *[np.nan] * 3, *LINE.probability([-2.0])]
    if name == "b.npz":
        found = np.load(tmp_path / name)["probability"]
    else:
        rows = query(f"SELECT probability FROM '{tmp_path / name}'")
        assert [p is None for (p,) in rows] == [False, True, True, True, False]
        found = [np.nan if p is None else p for (p,) in rows]
    np.testing.assert_array_equal(found, expected)


def test_json_lines_are_kept_without_a_probability(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"score": 0.1, "id": "x"}\n{"score": null, "id": "y"}\n{}\n')
    apply(tmp_path / "a.jsonl", tmp_path / "b.jsonl", bad_rows="keep")
    assert (tmp_path / "b.jsonl").read_text().splitlines()[1:] == [
        '{"score": null, "id": "y", "probability": null}',
        '{"probability": null}',
    ]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_infinite_scores_have_the_limits_of_the_map(tmp_path, suffix):
    """As in NumPy and in every engine; only rows of a fit must be finite."""
    kind = "VARCHAR" if suffix == "csv" else "DOUBLE"
    query(f"COPY (SELECT unnest(['inf', '-inf', '1e308'])::{kind} AS score) TO '{tmp_path / 'a'}.{suffix}'")
    apply(tmp_path / f"a.{suffix}", tmp_path / "b.parquet")
    found = query(f"SELECT probability FROM '{tmp_path / 'b.parquet'}'")
    assert [p for (p,) in found] == LINE.probability([np.inf, -np.inf, 1e308]).tolist()


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_scores_that_the_map_of_their_segment_refuses(tmp_path, suffix):
    """A map of probabilities refuses others: such rows are named, left out or kept as other bad rows are."""
    path, unit = tmp_path / f"a.{suffix}", LogitInputMap(LINE, 1e-6)
    rows = "(1, 0.5, 'p'), (2, 1.5, 'p'), (3, 1.5, 'q'), (4, -0.5, 'r'), (5, 1.5, NULL)"
    query(f"COPY (SELECT * FROM (VALUES {rows}) t(id, score, part)) TO '{path}'")
    options = {"by": "part", "segments": {"p": unit, "q'": unit, "r": unit}}
    with pytest.raises(
        InvalidInputError, match=r"2 of 5 rows .*first (line|row) [23]: score is not a probability that"
    ):
        apply(path, tmp_path / "b.parquet", **options)
    done = apply(path, tmp_path / "b.parquet", **options, bad_rows="keep")
    assert (done.rows, done.bad.count) == (5, 2)
    found = [p for (p,) in query(f"SELECT probability FROM '{tmp_path / 'b.parquet'}'")]
    assert [p is None for p in found] == [False, True, False, True, False]
    options = {"by": "part", "segments": {"q": LINE}}
    assert apply(path, tmp_path / "c.parquet", unit, **options, bad_rows="skip").bad.count == 3


def test_a_decision_of_a_row_that_is_kept_is_empty(tmp_path):
    model = Model.from_fitted(TemperatureScaling().fit([[1.0, -2.0], [0.0, 1.0], [1.0, 0.0]], ["a", "b", "b"]))
    (tmp_path / "a.csv").write_text("z_a,z_b\n1,0\n,0\n0,1\n")
    for name in ("b.csv", "b.npz"):
        with open_scores(tmp_path / "a.csv") as file:
            columns = choose_model_columns(file, model, ["z_*"])
            apply_model(model, file, columns, tmp_path / name, bad_rows="keep")
    assert [row[0] for row in query(f"SELECT decision FROM '{tmp_path / 'b.csv'}'")] == ["a", None, "b"]
    assert np.load(tmp_path / "b.npz")["decision"].tolist() == ["a", "", "b"]


def test_what_is_no_row_cannot_be_kept(tmp_path):
    (tmp_path / "a.csv").write_text("id,score\n1,0.1\n2,0.2,3\n")
    (tmp_path / "a.jsonl").write_text('{"score": 1}\n{"score": \n')
    for name in ("a.csv", "a.jsonl"):
        with pytest.raises(InvalidInputError, match=r"must have columns to be kept; got 1 of 2 rows.*--bad-rows skip"):
            apply(tmp_path / name, tmp_path / f"b{name}", bad_rows="keep")


def test_many_segments_in_order(tmp_path):
    path = tmp_path / "a.parquet"
    query(f"COPY (SELECT i AS id, (i * 7919) % 1000 AS part, i / 1e6 AS score FROM range(50000) t(i)) TO '{path}'")
    maps = {str(i): constant_map(i / 100) for i in range(500)}
    done = apply(path, tmp_path / "b.parquet", constant_map(-1.0), by="part", segments=maps)
    assert sum(done.unknown.values()) == 250  # five of 500 are told
    found = duckdb.connect().execute(f"SELECT * FROM '{tmp_path / 'b.parquet'}'").fetchnumpy()
    np.testing.assert_array_equal(found["id"], np.arange(50_000))
    log_odds = np.where(found["part"] < 500, found["part"] / 100, -1.0)
    np.testing.assert_allclose(found["probability"], 1 / (1 + np.exp(-log_odds)), rtol=1e-14)


@pytest.mark.parametrize("target", ["b.csv", "b.parquet"])
def test_bad_rows(tmp_path, target):
    (tmp_path / "a.csv").write_bytes(b'score,note\n1,"\n\n"\n,x\nabc,\n2,ok,more\nnan,\n3,\xff\n"4"5,\n6,last\n')
    with pytest.raises(InvalidInputError, match=r"6 of 8 rows.*line 5: score is missing.*--bad-rows skip"):
        apply(tmp_path / "a.csv", tmp_path / target)
    assert not (tmp_path / target).exists()
    done = apply(tmp_path / "a.csv", tmp_path / target, bad_rows="skip")
    assert (done.rows, done.bad.count) == (2, 6)
    found = query(f"SELECT note, probability FROM '{tmp_path / target}'")
    assert found == [("\n\n", LINE.probability(1.0)), ("last", LINE.probability(6.0))]


def test_bad_json_lines(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"score": 1}\n{bad\n{"score": "x"}\n\n{}\n{"score": 6}\n')
    done = apply(tmp_path / "a.jsonl", tmp_path / "b.jsonl", bad_rows="skip")
    assert done.bad.places[0].startswith("line 2: not a JSON object")
    assert [json.loads(line)["score"] for line in (tmp_path / "b.jsonl").read_text().splitlines()] == [1, 6]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_a_column_of_the_same_name_is_refused(tmp_path, name):
    kind = {"jsonl": "json"}.get(name[2:], name[2:])
    query(f"COPY (SELECT 1 AS score, 2 AS \"Probability\") TO '{tmp_path / name}' (FORMAT {kind})")
    with pytest.raises(InvalidInputError, match="must not have the new column yet; got 'probability'"):
        apply(tmp_path / name, tmp_path / "b.csv", score="score")
    apply(tmp_path / name, tmp_path / "b.csv", score="score", name="calibrated")


def test_a_column_without_a_name_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("score\n1\n")
    with pytest.raises(InvalidInputError, match="a new column must have a name; got ''"):
        apply(tmp_path / "a.csv", tmp_path / "b.csv", name="")


def test_a_member_of_the_same_name_far_down_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"score": 1}\n' * 1500 + '{"score": 1, "probability": 2}\n')
    with pytest.raises(InvalidInputError, match="must not have the new column yet"):
        apply(tmp_path / "a.jsonl", tmp_path / "b.jsonl")


def test_output_names(tmp_path):
    (tmp_path / "a.csv").write_text("score\n1\n")
    for name in ("b", "b.xlsx", "b.parquet.gz", "b.gz"):
        with pytest.raises(InvalidInputError, match="must end in"):
            apply(tmp_path / "a.csv", tmp_path / name)
    (tmp_path / "b.csv").write_text("precious")
    with pytest.raises(InvalidInputError, match="--force"):
        apply(tmp_path / "a.csv", tmp_path / "b.csv")
    apply(tmp_path / "a.csv", tmp_path / "b.csv", force=True)
    with pytest.raises(InvalidInputError, match="must not be the input"):
        apply(tmp_path / "a.csv", tmp_path / "a.csv", force=True)
    assert (tmp_path / "a.csv").read_text() == "score\n1\n"
    assert gzip.decompress(_gz(tmp_path)).startswith(b"score,")


def _gz(folder):
    apply(folder / "b.csv", folder / "c.csv.gz", name="again", score="score")
    return (folder / "c.csv.gz").read_bytes()


def test_what_the_map_refuses_is_told_and_leaves_nothing(tmp_path):
    (tmp_path / "a.csv").write_text("score\n0.5\n1.5\n")
    with pytest.raises(InvalidInputError, match=r"line 3: score is not a probability that the model takes: 1\.5"):
        apply(tmp_path / "a.csv", tmp_path / "b.csv", LogitInputMap(LINE, None))
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_file_that_changes_is_noticed(tmp_path, monkeypatch):
    for before, after in (("1\n2\n3\n", "1\n3\n"), ("1\n2\n", "1\n2\n3\n"), ("1\n2\n", "2\n1\n")):
        (tmp_path / "a.csv").write_text("score\n" + before)
        with open_scores(tmp_path / "a.csv") as file:
            watch = file.engine.watch

            def meddle(work, progress, start, stop, watch=watch, after=after):
                if start > 0:
                    (tmp_path / "a.csv").write_text("score\n" + after)
                return watch(work, progress, start, stop)

            monkeypatch.setattr(file.engine, "watch", meddle)
            with pytest.raises(InvalidInputError, match="changed while it was read"):
                apply_model(LINE, file, choose_model_columns(file, LINE), tmp_path / "b.csv")
        assert not (tmp_path / "b.csv").exists()


def test_progress_rises_to_one(tmp_path):
    query(f"COPY (SELECT i / 1e6 AS score FROM range(1300000) t(i)) TO '{tmp_path / 'a.parquet'}'")
    told = []
    apply(tmp_path / "a.parquet", tmp_path / "b.csv", progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert {0.3, 0.4} < {*told}


def test_a_killed_run_leaves_no_half_file(tmp_path):
    query(
        f"COPY (SELECT i / 1e6 AS score, repeat('x', 200) AS note FROM range(600000) t(i)) "
        f"TO '{tmp_path / 'a.parquet'}'"
    )
    code = """
        import numpy as np
        from oddsmith.files import adding, apply_model, choose_model_columns, open_scores
        from oddsmith.maps import constant_map
        told = lambda share: print(share, flush=True)
        with open_scores("a.parquet") as file:
            map_ = constant_map(0.5)
            apply_model(map_, file, choose_model_columns(file, map_), "b.csv", progress=told)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        half_written = []
        while not half_written:
            time.sleep(0.005)
            assert process.poll() is None, "finished before it could be killed"
            half_written = [path for path in tmp_path.glob(".b.csv.*.part/b.csv") if path.stat().st_size > 1000]
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "b.csv").exists()
    apply(tmp_path / "a.parquet", tmp_path / "b.csv", constant_map(0.5))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "b.csv"]
    assert query(f"SELECT count(*) FROM '{tmp_path / 'b.csv'}'") == [(600_000,)]
