"""Text files line by line, compressed or not, and the rows that a text format could not take apart."""

import gzip
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from oddsmith.files._engine import Engine
from oddsmith.files._layout import path_list
from oddsmith.frames import text_literal

_LINES_AT_A_TIME = 10_000

#: Tables in which the engine notes what it leaves out: what of which scan.
_NOTED = ("noted_rejects", "noted_scans")


def line_relation(paths: Sequence[str], compression: str, options: str = "") -> str:
    """Return a relation of one column, ``line``; null where the line is empty."""
    return (
        f"read_csv({path_list(paths)}, auto_detect=false, header=false, delim='', quote='', escape='', "
        f"columns={{'line': 'VARCHAR'}}, compression='{compression}'{options})"
    )


def lines(engine: Engine, path: str, compression: str) -> Iterator[str]:
    """Walk over the lines of a file; bytes that are not UTF-8 are replaced."""
    by_engine = compression in ("zstd", "auto")
    found = _engine_lines(engine, path, compression) if by_engine else _own_lines(path, compression)
    for number, text in enumerate(found):
        yield text.removeprefix("\ufeff") if number == 0 else text


def _own_lines(path: str, compression: str) -> Iterator[str]:
    # The engine's Latin-1 knows no bytes from 0x80 to 0x9f, which UTF-8 is full of.
    with gzip.open(path) if compression == "gzip" else open(path, "rb") as file:
        for line in file:
            yield line.decode("utf-8", "replace").rstrip("\r\n")


def _engine_lines(engine: Engine, path: str, compression: str) -> Iterator[str]:
    # Not strict, as lines may end in two ways: rows in one, and lines within quotes in the other.
    relation = line_relation([path], compression, f", strict_mode=false{reject_options(False)}")
    found = engine.connection.cursor().execute(f"SELECT line FROM {relation}")
    chunks = iter(lambda: found.fetchmany(_LINES_AT_A_TIME), [])
    return (line or "" for (line,) in itertools.chain.from_iterable(chunks))


def reject_options(noted: bool) -> str:
    """Return the options by which a text format leaves out what it cannot take apart."""
    # Always noting, if not always for us: with "ignore_errors" alone the engine stops at the first stray quote.
    rejects, scans = _NOTED if noted else ("other_rejects", "other_scans")
    limit = 0 if noted else 1  # no limit at all, or one, for nobody reads them
    return f", store_rejects=true, rejects_table='{rejects}', rejects_scan='{scans}', rejects_limit={limit}"


def forget_rejects(engine: Engine) -> None:
    """Forget what earlier queries noted."""
    for table in _NOTED:
        engine.rows(f"DROP TABLE IF EXISTS {table}")


def count_rejects(engine: Engine) -> int:
    """Return how many rows the last query left out; a quote without an end takes the lines up to the next with it."""
    if not _has_rejects(engine):
        return 0
    lines = "len(string_split(rtrim(csv_line, chr(13) || chr(10)), chr(10)))"
    lines_of_piece = f"max(CASE WHEN error_type = 'UNQUOTED VALUE' THEN {lines} ELSE 1 END)"
    pieces = f"SELECT {lines_of_piece} AS n FROM noted_rejects GROUP BY file_id, line_byte_position"
    return int(engine.rows(f"SELECT coalesce(sum(n), 0) FROM ({pieces})")[0][0])


def first_rejects(engine: Engine, path: str, limit: int) -> list[tuple[Any, ...]]:
    """Return line number as the engine counts, text and what was wrong, of what the last query left out of a file."""
    if not _has_rejects(engine):
        return []
    return engine.rows(
        "SELECT any_value(line), any_value(csv_line), "
        "coalesce(arg_min(error_message, column_idx), any_value(error_message)) FROM noted_rejects "
        f"JOIN noted_scans USING (scan_id, file_id) WHERE file_path = {text_literal(path)} "
        f"GROUP BY line_byte_position ORDER BY line_byte_position LIMIT {limit}"
    )


def _has_rejects(engine: Engine) -> bool:
    return bool(engine.rows("SELECT 1 FROM duckdb_tables() WHERE table_name = 'noted_rejects'"))
