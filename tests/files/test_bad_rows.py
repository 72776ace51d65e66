"""Bad rows are counted, found again in the file, refused or left out."""

import csv
import gzip
import io
import json

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddsmith.errors import InvalidInputError
from oddsmith.files import choose_columns, open_scores, read_table
from samples import examples

CSV = (
    "note,score,label\n"  # 1
    '"a\nb",0.5,1\n'  # 2, 3
    "\n"  # 4
    "x,abc,0\n"  # 5
    '"q ""z""\n\n",,1\n'  # 6, 7, 8
    ",inf,0\n"  # 9
    "x,0.7,1,more\n"  # 10
    "0.8\n"  # 11
    "x,0.9,0\n"  # 12
    "x,NaN,0\n"  # 13
    "x,1,\n"  # 14
)
CSV_PLACES = (
    "line 5: score is not a number: abc",
    "line 6: score is missing",
    "line 9: score is not finite: inf",
    "line 10: Expected Number of Columns: 3 Found: 4",
    "line 11: Expected Number of Columns: 3 Found: 1",
)
CSV_REASONS = {
    "score is missing": 1,
    "score is not a number": 1,
    "score is not finite": 2,
    "label is missing": 1,
    "not a row of these columns": 2,
}


def read(path, **options):
    roles = {key: options.pop(key) for key in ("score", "label", "weight", "by") if key in options}
    with open_scores(path) as file:
        return read_table(file, choose_columns(file, **roles), **options)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_csv(tmp_path, end, packed):
    raw = CSV.replace("\n", end).encode()
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(raw) if packed else raw)
    with pytest.raises(InvalidInputError, match=r"7 of 9 rows.*line 5: .*line 6: .*line 9.*--bad-rows skip"):
        read(path)
    data = read(path, bad_rows="skip")
    assert data.dropped.places == CSV_PLACES
    assert data.dropped.reasons == CSV_REASONS
    assert (data.dropped.count, data.dropped.total, data.table.rows) == (7, 9, 2)
    assert data.table.scores.tolist() == [0.5, 0.9]


def test_json_lines(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(
        b'{"score": 0.5, "label": 1}\n\n{"score": "abc", "label": 0}\n{"label": 1}\n{"score": 1,\n'
        b'{"score": 1e999, "label": 1}\n{"score": 1, "label": "\xff"}\n[1]\n{"score": 1, "label": 0}\n'
        b'{"score": null, "label": 1}\n'
    )
    data = read(tmp_path / "a.jsonl", bad_rows="skip")
    assert [place.split(": ")[:2] for place in data.dropped.places] == [
        ["line 3", "score is not a number"],
        ["line 4", "score is missing"],
        ["line 5", "not a JSON object with each key once"],
        ["line 6", "score is not finite"],
        ["line 7", "Invalid unicode (byte sequence mismatch) detected. This file is not utf-8 encoded."],
    ]
    assert (data.dropped.count, data.dropped.total, data.table.rows) == (7, 9, 2)


def test_parquet(tmp_path):
    duckdb.connect().execute(
        "COPY (SELECT unnest([0.5, NULL, 'inf'::DOUBLE, 2.0, 'nan'::DOUBLE]) AS score, "
        f"unnest([1, 0, 1, NULL, 0]) AS label) TO '{tmp_path / 'a.parquet'}'"
    )
    data = read(tmp_path / "a.parquet", bad_rows="skip")
    assert data.dropped.places == (
        "row 2: score is missing",
        "row 3: score is not finite: inf",
        "row 4: label is missing",
        "row 5: score is not finite: nan",
    )
    assert data.table.rows == 1


@pytest.mark.parametrize("name", ["a[1].csv", "a*?.csv"])
def test_odd_file_names(tmp_path, name):
    (tmp_path / name).write_text("score,label\n1,0\n2,1\n3,0,0\n")
    assert read(tmp_path / name, bad_rows="skip").dropped.places == ("line 4: Expected Number of Columns: 2 Found: 3",)


def test_files_of_a_pattern(tmp_path):
    for i, text in enumerate(["1,0\n", "x,0\n2,1\n", "1,0\n,1\n1,0,0\n"]):
        (tmp_path / f"{i}.csv").write_text("score,label\n" + text)
    data = read(tmp_path / "*.csv", bad_rows="skip")
    assert data.dropped.places == (
        "1.csv line 2: score is not a number: x",
        "2.csv line 3: score is missing",
        "2.csv line 4: Expected Number of Columns: 2 Found: 3",
    )
    assert data.table.rows == 3


def test_weights_and_segments(tmp_path):
    (tmp_path / "a.csv").write_text(
        "score,label,w,day\n1,0,1,a\n2,1,-1,a\n3,1,,a\n4,0,x,a\n5,0,1e999,a\n6,1,2.5,\n7,1,3,b\n"
    )
    data = read(tmp_path / "a.csv", weight="w", by="day", bad_rows="skip")
    assert [place.split(": ", 1)[1] for place in data.dropped.places] == [
        "weight is negative: -1",
        "weight is missing",
        "weight is not a number: x",
        "weight is not finite: 1e999",
        "segment is missing",
    ]
    assert data.segments.keys() == {"a", "b"}


def test_broken_text(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'score,label,note\n1,0,\xff\n2,1,"x"y\n3,1,ok\n4,\xfe,\n5,0,"open\n6,1,\n')
    data = read(tmp_path / "a.csv", bad_rows="skip")
    # What is not asked for is not looked at.
    assert data.table.scores.tolist() == [1.0, 3.0]
    assert [place.split(":")[0] for place in data.dropped.places] == ["line 3", "line 5", "line 6"]
    # The quote that is never closed takes the last line with it.
    assert (data.dropped.count, data.dropped.total) == (4, 6)


def test_no_good_row(tmp_path):
    (tmp_path / "a.csv").write_text("score,label\nx,0\ny,1\n")
    with pytest.raises(InvalidInputError, match=r"some row of .* must be usable"):
        read(tmp_path / "a.csv", bad_rows="skip")
    with pytest.raises(InvalidInputError, match="bad_rows must be one of"):
        read(tmp_path / "a.csv", bad_rows="ignore")


def test_many_bad_rows_are_counted(tmp_path):
    (tmp_path / "a.csv").write_text("score,label\n" + "x,0\n1,0,0\n2,1\n3,0\n" * 30_000)
    data = read(tmp_path / "a.csv", bad_rows="skip")
    assert (data.dropped.count, data.dropped.total) == (60_000, 120_000)
    assert [place.split(":")[0] for place in data.dropped.places] == [f"line {i}" for i in (2, 3, 6, 7, 10)]
    assert "60,000 of 120,000 rows" in data.dropped.message


FIELD = st.text(st.sampled_from('ab,"\n\r;é '), max_size=5)
VALUE = st.sampled_from(["1", "-2.5", "", "x", "inf", "\n", " 3 ", '1"'])


@examples(15)
@given(st.lists(st.tuples(FIELD, VALUE, st.sampled_from(["0", "1", ""])), min_size=1, max_size=30), st.booleans())
def test_lines_are_those_of_the_file(tmp_path_factory, rows, quote_all):
    """Whatever fields hold, a place is the number of the line on which its row begins."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL)
    writer.writerow(["note", "score", "label"])
    expected = []
    for row in [*rows, ("", "x", "1"), ("", "1", "1"), ("", "2", "0")]:
        # The engine ends a line at "\r" as well: what would be one is written as text.
        fields = [field.replace("\r", " ") for field in row]
        if is_bad(*fields[1:]):
            expected.append(buffer.getvalue().count("\n") + 1)
        writer.writerow(fields)
    path = tmp_path_factory.mktemp("lines") / "a.csv"
    path.write_text(buffer.getvalue(), encoding="utf-8", newline="")
    data = read(path, bad_rows="skip")
    assert data.dropped.count == len(expected)
    assert [place.split(":")[0] for place in data.dropped.places] == [f"line {line}" for line in expected[:5]]


def is_bad(score, label):
    try:
        return not label or abs(float(score)) == float("inf")
    except ValueError:
        return True


@examples(15)
@given(
    st.lists(st.sampled_from(['{"score": 1, "label": 0}', "", "{", '{"score": "x"}', "  "]), min_size=1, max_size=20)
)
def test_json_lines_are_those_of_the_file(tmp_path_factory, lines):
    good = '{"score": 1, "label": 1}'
    lines = [good, *lines, "{}", good]
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    path.write_text("\n".join(lines))
    expected = [i for i, line in enumerate(lines, 1) if line.strip() and ("label" not in line)]
    data = read(path, bad_rows="skip")
    assert data.dropped.count == len(expected)
    assert [place.split(":")[0] for place in data.dropped.places] == [f"line {i}" for i in expected[:5]]
    assert data.table.rows == sum("label" in json.loads(line) for line in lines if line.strip(" {"))


def test_a_header_that_comes_again_is_found_at_its_own_line(tmp_path):
    (tmp_path / "a.csv").write_text("score,label\n0.1,0\n0.2,1\nscore,label\n0.5,1\n")
    with pytest.raises(InvalidInputError, match="first line 4: score is not a number: score"):
        read(tmp_path / "a.csv")


def test_digits_with_underscores_are_no_number(tmp_path):
    (tmp_path / "a.csv").write_text("score,label\n1_000,0\n2,1\n5,1\n3,0\n")
    with pytest.raises(InvalidInputError, match="first line 2: score is not a number: 1_000"):
        read(tmp_path / "a.csv")


def test_a_key_that_comes_twice_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"score": 3, "label": 1}\n{"score": 1, "score": 2, "label": 0}\n')
    with pytest.raises(InvalidInputError, match="first line 2: not a JSON object with each key once"):
        read(tmp_path / "a.jsonl")


def test_a_cell_that_is_too_long_is_said_to_be(tmp_path):
    (tmp_path / "a.csv").write_text('score,label,text\n0.9,1,a\n0.1,0,"' + "x" * 3_000_000 + '"\n')
    with pytest.raises(InvalidInputError, match="Maximum line size of 2000000 bytes exceeded"):
        read(tmp_path / "a.csv")


def test_lines_that_end_in_carriage_returns_alone(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"score,label\r0.1,0\r0.9,1\r")
    with pytest.raises(InvalidInputError, match=r"lines must end in \\n or \\r\\n; got \\r alone"):
        read(tmp_path / "a.csv")


def test_decimal_commas_are_recognized(tmp_path):
    (tmp_path / "a.csv").write_text("score;label\n-0,25;0\n1,5;1\n,5;1\n")
    with pytest.raises(InvalidInputError, match=r'number: 1,5.* pass text=TextFormat\(decimal=","\)'):
        read(tmp_path / "a.csv")
