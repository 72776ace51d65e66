"""Delimiters, decimal commas, encodings and lines before the header; keys of folders; dotted names."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from oddsmith.errors import InvalidInputError
from oddsmith.files import (
    TextFormat,
    apply_model,
    choose_columns,
    choose_model_columns,
    open_scores,
    read_rows,
    read_table,
)
from oddsmith.maps import line_map

SCORES = [0.5, -1.25, 1e-3, 1234.0, 7.0]
LABELS = [1, 0, 0, 1, 1]
WORDS = ["é", "b;c", 'd"e', "f", "1,5"]


def written(delimiter=";", decimal=",", first=""):
    """Return text with a column of numbers, one of labels, and one of words in quotes."""
    lines = [delimiter.join(["score", "label", "word"])]
    for score, label, word in zip(SCORES, LABELS, WORDS, strict=True):
        quoted = '"' + word.replace('"', '""') + '"'
        lines.append(delimiter.join([f'"{score!r}"'.replace(".", decimal), str(label), quoted]))
    return first + "\n".join(lines) + "\n"


def table_of(path, form, **options):
    with open_scores(path, text=form) as file:
        return read_table(file, choose_columns(file, "score", "label"), resolution=None, **options).table


@pytest.mark.parametrize(("suffix", "encoding"), [(".csv", "utf-8"), (".csv.gz", "utf-16"), (".csv", "cp1252")])
@pytest.mark.parametrize("first", ["", 'made by "somebody\n\n', "# à;b\n# c\n"])
@pytest.mark.parametrize(("delimiter", "decimal"), [(";", ","), ("^", ","), ("\t", "."), (",", ",")])
def test_what_is_written_is_read(tmp_path, suffix, encoding, first, delimiter, decimal):
    content = written(delimiter, decimal, first).encode(encoding)
    path = tmp_path / f"scores{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    table = table_of(path, TextFormat(delimiter, decimal, encoding, first.count("\n")))
    assert table.scores.tolist() == sorted(SCORES)
    assert table.n_pos == 3


def test_a_point_is_refused_where_commas_are_decimal(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("score;label\n0,5;1\n1.234;0\n0,25;0\n")
    with pytest.raises(InvalidInputError, match=r"line 3: score is not a number: 1\.234 \(a point\)"):
        table_of(path, TextFormat(decimal=","))
    path.write_text("score;label\n0,5;1\n1.234,5;0\n0,25;0\n")
    with pytest.raises(InvalidInputError, match=r"line 3: score is not a number: 1\.234,5"):
        table_of(path, TextFormat(decimal=","))


def test_bad_rows_have_the_number_of_their_line(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("some\nlines\n\nscore;label\n0,5;1\nx;0\n", encoding="utf-16")
    form = TextFormat(decimal=",", encoding="utf-16", skip_lines=2)
    with pytest.raises(InvalidInputError, match="line 6: score is not a number: x"):
        table_of(path, form)
    assert table_of(path, form, bad_rows="skip").rows == 1


def test_the_copy_is_written_as_the_file_is(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(written())
    fitted, form = line_map(0.1), TextFormat(decimal=",")
    with open_scores(path, text=form) as file:
        columns = choose_model_columns(file, fitted, "score")
        apply_model(fitted, file, columns, tmp_path / "out.csv")
        apply_model(fitted, file, columns, tmp_path / "out.jsonl")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "score;label;word;probability"
    assert [float(line.rsplit(";", 1)[1].replace(",", ".")) for line in lines[1:]] == fitted.probability(
        SCORES
    ).tolist()
    assert [line.split(";")[0] for line in lines[1:]] == [repr(score).replace(".", ",") for score in SCORES]
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["score"] for row in rows] == SCORES
    assert [row["word"] for row in rows][:4] == WORDS[:4]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"decimal": "x"}, "decimal must be"),
        ({"delimiter": ";;"}, "delimiter must be one character"),
        ({"delimiter": '"'}, "delimiter must be one character"),
        ({"encoding": "latin-99"}, "encoding must be one of Python's"),
        ({"skip_lines": -1}, "skip_lines must be"),
    ],
)
def test_forms_that_there_are_not(options, words):
    with pytest.raises(InvalidInputError, match=words):
        TextFormat(**options)


def test_what_is_no_text_of_rows_has_no_form(tmp_path):
    np.save(tmp_path / "s.npy", np.arange(3.0))
    (tmp_path / "s.jsonl").write_text('{"score": 1, "label": 0}\n')
    for name in ("s.npy", "s.jsonl"):
        with pytest.raises(InvalidInputError, match="decimal is for files of text"):
            open_scores(tmp_path / name, text=TextFormat(decimal=","))
    (tmp_path / "x.csv").write_bytes(b"score,label\n\xff,1\n")
    with pytest.raises(InvalidInputError, match="must be text in ascii"):
        open_scores(tmp_path / "x.csv", text=TextFormat(encoding="ascii"))
    assert table_of_json(tmp_path, "utf-16").rows == 1


def table_of_json(folder, encoding):
    (folder / "t.jsonl").write_text('{"score": 1, "label": 0, "word": "é"}\n', encoding=encoding)
    return table_of(folder / "t.jsonl", TextFormat(encoding=encoding))


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_keys_of_folders_are_columns(tmp_path, suffix):
    frame = pd.DataFrame({"score": SCORES, "label": LABELS})
    for place in ("a b", "c%20d", "e"):
        folder = tmp_path / f"place={place}" / "day=1"
        folder.mkdir(parents=True)
        if suffix == "csv":
            frame.to_csv(folder / "x.csv", index=False)
        elif suffix == "jsonl":
            frame.to_json(folder / "x.jsonl", orient="records", lines=True)
        else:
            frame.to_parquet(folder / "x.parquet")
    pattern = tmp_path / "**" / f"*.{suffix}"
    with open_scores(pattern) as file:
        assert file.columns[-2:] == ("place", "day")
        data = read_table(file, choose_columns(file, "score", "label", by=["place", "day"]), resolution=None)
        assert {name: table.rows for name, table in data.segments.items()} == {
            ("a b", "1"): 5,
            ("c d", "1"): 5,
            ("e", "1"): 5,
        }
        apply_model(line_map(1.0), file, choose_model_columns(file, line_map(1.0), "score"), tmp_path / "out.csv")
    out = pd.read_csv(tmp_path / "out.csv")
    assert sorted(out["place"].unique()) == ["a b", "c d", "e"]
    with open_scores(tmp_path / "place=e" / "day=1" / f"x.{suffix}") as file:
        assert "place" not in file.columns  # a file that is named is that file


def test_bad_rows_in_folders_are_found(tmp_path):
    for place in "ab":
        (tmp_path / f"place={place}").mkdir()
        (tmp_path / f"place={place}" / "x.csv").write_text("score,label\n0.5,1\n" + ("x,0\n" if place == "b" else ""))
    with (
        open_scores(tmp_path / "*" / "*.csv") as file,
        pytest.raises(InvalidInputError, match=r"x\.csv line 3: score is not a number: x"),
    ):
        read_table(file, choose_columns(file, "score", "label", by="place"))


def test_a_column_of_the_files_is_no_key(tmp_path):
    folder = tmp_path / "score=1"
    folder.mkdir()
    (folder / "x.csv").write_text("Score,label\n0.5,1\n")
    with open_scores(tmp_path / "*" / "*.csv") as file:
        assert file.columns == ("Score", "label")


def test_dotted_names_reach_into_objects(tmp_path):
    path = tmp_path / "x.jsonl"
    rows = [
        {
            "id": i,
            "model": {"a/b": {"score": 0.5 * i}, "p": [0.2, 0.3, 0.5]},
            "y": {"true": i % 3},
            "k.l": i,
            "k": {"l": -1},
        }
        for i in range(6)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with open_scores(path) as file:
        table = read_table(file, choose_columns(file, "model.a/b.score", "y.true"), positive="2", resolution=None).table
        assert table.scores.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
        columns = choose_columns(file, ["model.p.*"], "y.true")
        assert read_rows(file, columns).rows.values.tolist() == [[0.2, 0.3, 0.5]] * 6
        assert (
            read_table(file, choose_columns(file, "k.l", "y.true"), positive="2", resolution=None).table.scores[-1] == 5
        )
        done = choose_model_columns(file, line_map(1.0), "model.a/b.score")
        apply_model(line_map(1.0), file, done, tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [json.loads(line)["model"] for line in lines] == [row["model"] for row in rows]
