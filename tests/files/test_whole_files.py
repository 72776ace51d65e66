"""A compressed file that was cut or changed anywhere is noticed."""

import gzip
import subprocess

import duckdb
import numpy as np
import pytest

from oddsmith.errors import InvalidInputError
from oddsmith.files import choose_columns, open_scores, read_table
from oddsmith.files._compression import compression_of

ROWS = 400
RNG = np.random.default_rng(0)
CSV = "score,label\n" + "".join(f"{s!r},{s > 0:d}\n" for s in RNG.normal(size=ROWS).tolist())
JSON = "".join(f'{{"score": {line.split(",")[0]}, "label": {line.split(",")[1]}}}\n' for line in CSV.splitlines()[1:])


def rows(path):
    with open_scores(path) as file:
        return read_table(file, choose_columns(file)).table.rows


def zst(text, folder):
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT unnest(?) AS line", [text.splitlines()])
    plain = "FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER ''"
    connection.execute(f"COPY t TO '{folder}/made' ({plain}, COMPRESSION zstd)")
    return (folder / "made").read_bytes()


def parquet(kind):
    def write(text, folder):
        (folder / "plain.csv").write_text(CSV)
        query = f"COPY (FROM read_csv('{folder}/plain.csv')) TO '{folder}/made' (FORMAT parquet, COMPRESSION {kind})"
        duckdb.connect().execute(query)
        return (folder / "made").read_bytes()

    return write


WRITERS = {
    "a.csv.gz": (CSV, lambda text, _: gzip.compress(text.encode())),
    "a.jsonl.gz": (JSON, lambda text, _: gzip.compress(text.encode())),
    "a.csv.zst": (CSV, zst),
    "a.jsonl.zst": (JSON, zst),
    "two members.csv.gz": (CSV, lambda text, _: gzip.compress(text[:99].encode()) + gzip.compress(text[99:].encode())),
    "a.parquet": (CSV, parquet("snappy")),
    "b.parquet": (CSV, parquet("zstd")),
    "c.parquet": (CSV, parquet("gzip")),
}


@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_was_cut_is_refused(tmp_path, name, part):
    text, write = WRITERS[name]
    whole, path = write(text, tmp_path), tmp_path / name
    path.write_bytes(whole)
    assert rows(path) == ROWS
    last = range(len(whole) - 20, len(whole))
    places = sorted({*np.linspace(0, len(whole) - 1, 100).astype(int).tolist(), *last})
    assert len(places) >= 100
    for place in places[part::8]:
        path.write_bytes(whole[:place])
        with pytest.raises(InvalidInputError, match="must"):
            rows(path)


#: Frames by the tool of the format: with and without sums and sizes, of one block or many, one after another.
OPTIONS = [["--no-check"], ["--check"], ["--no-content-size", "--check"], ["-19"], ["--fast=5"], ["-B1024"]]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_every_kind_of_frame(tmp_path, options):
    def packed(text, *more):
        command = ["zstd", "-q", "-c", *options, *more]
        try:
            return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout
        except FileNotFoundError:
            pytest.skip("no zstd")

    other = b"\x51\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"
    long = "score,label\n" + "1.5,0\n2.5,1\n" * 100_000
    path = tmp_path / "a.csv.zst"
    for whole, expected in ((packed(CSV), ROWS), (packed(CSV[:99]) + packed(CSV[99:]), ROWS), (packed(long), 200_000)):
        path.write_bytes(whole)
        assert rows(path) == expected
        assert compression_of(str(path)) == "zstd"
        second = len(packed(CSV[:99]))  # where a file of two frames may end
        for place in {*np.linspace(4, len(whole) - 1, 100).astype(int).tolist(), *range(len(whole) - 9, len(whole))}:
            path.write_bytes(whole[:place])
            if place != second:
                with pytest.raises(InvalidInputError, match="must be a whole file of zstd; got "):
                    compression_of(str(path))
    path.write_bytes(other + packed(CSV) + other)
    assert compression_of(str(path)) == "zstd"
    path.write_bytes(packed(CSV) + other[:-1])
    with pytest.raises(InvalidInputError, match="whole file of zstd"):
        rows(path)
    path.write_bytes(packed(CSV) + b"more")
    with pytest.raises(InvalidInputError, match="bytes that begin no frame"):
        rows(path)


def test_a_changed_byte_is_noticed(tmp_path):
    whole, path = gzip.compress(CSV.encode()), tmp_path / "a.csv.gz"
    for place in np.linspace(10, len(whole) - 1, 50).astype(int).tolist():
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        with pytest.raises(InvalidInputError, match="whole file of gzip"):
            rows(path)


def test_every_file_of_a_pattern_is_looked_at(tmp_path):
    whole = gzip.compress(CSV.encode())
    (tmp_path / "1.csv.gz").write_bytes(whole)
    (tmp_path / "2.csv.gz").write_bytes(whole[:-1])
    with pytest.raises(InvalidInputError, match=r"2\.csv\.gz must be a whole file"):
        rows(tmp_path / "*.csv.gz")
