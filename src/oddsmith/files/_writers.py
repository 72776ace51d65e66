"""Write all columns of a file, and new ones, in any of the formats."""

import json
from collections.abc import Sequence
from pathlib import Path

from oddsmith import _check
from oddsmith.files._csv import CSV
from oddsmith.files._engine import Engine
from oddsmith.files._jsonl import JSONLines
from oddsmith.files._layout import FORMATS, Layout, TypedColumns
from oddsmith.files._numpy import is_numpy
from oddsmith.frames import identifier, text_literal

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


def output_format(path: Path) -> tuple[str, str]:
    """Return the format that the end of a name stands for, and how to compress."""
    if is_numpy(path):
        return "numpy", "none"
    compression = _COMPRESSIONS.get(path.suffix.lower(), "none")
    stem = path if compression == "none" else path.with_suffix("")
    kind = FORMATS.get(stem.suffix.lower())
    if kind is None or (kind == "parquet" and compression != "none"):
        known = "the name of the output must end in .csv, .tsv, .jsonl (and .gz or .zst), .parquet, .npz or .npy"
        _check.fail(known, path.name, "choose one of them")
    return kind, compression


def copy_statement(
    engine: Engine, layout: Layout, new: Sequence[tuple[str, str]], source: str, output: Path, target: tuple[str, str]
) -> str:
    """Return the statement that writes every column of a file and new ones, given by names and expressions.

    ``source`` follows FROM: rows with the columns of ``layout.relation()``; ``target`` comes from `output_format`.
    """
    kind, compression = target
    to = f"TO {text_literal(str(output))}"
    packed = f", COMPRESSION {compression}" if kind != "parquet" else ""
    if kind == "json" and isinstance(layout, JSONLines):
        return f"COPY (SELECT {_append(new)} FROM {source}) {to} (FORMAT csv, {_RAW}{packed})"
    columns = _columns(engine, layout, typed=kind in ("json", "parquet"))
    if kind in ("json", "parquet"):
        listed = ", ".join(f"{column} AS {identifier(title)}" for title, column in [*columns, *new])
        return f"COPY (SELECT {listed} FROM {source}) {to} (FORMAT {kind}{packed})"
    texts = [*(f"CAST({column} AS VARCHAR)" for _, column in columns), *(_text(layout, value) for _, value in new)]
    rows = f"SELECT {', '.join(texts)} FROM {source}"
    if not isinstance(layout, CSV) or layout.header:
        # The header is a row, for the engine changes names that differ in case only.
        titles = ", ".join(text_literal(title) for title, _ in [*columns, *new])
        rows = f"SELECT {titles} UNION ALL {rows}"
    separator = layout.separator if isinstance(layout, CSV) and kind == "csv" else "\t" if kind == "tsv" else ","
    return f"COPY ({rows}) {to} (FORMAT csv, HEADER false, DELIMITER {text_literal(separator)}{packed})"


def _text(layout: Layout, value: str) -> str:
    """Return the text of a new value; numbers have a decimal comma where those of the file do."""
    if not isinstance(layout, CSV) or layout.text.decimal == ".":
        return f"CAST({value} AS VARCHAR)"
    plain = f"CAST({value} AS VARCHAR)"
    return f"CASE typeof({value}) WHEN 'DOUBLE' THEN replace({plain}, '.', ',') ELSE {plain} END"


_RAW = "HEADER false, QUOTE '', ESCAPE '', DELIMITER ''"


def _append(new: Sequence[tuple[str, str]]) -> str:
    """Return an expression for the text of an object with more members, all else as it stands."""
    body = "regexp_replace(source.line, '\\s*\\}\\s*$', '')"
    comma = "CASE WHEN json_keys(source.line) = [] THEN '' ELSE ', ' END"
    members = " || ', ' || ".join(
        f"{text_literal(json.dumps(name) + ': ')} || coalesce(CAST(to_json({expression}) AS VARCHAR), 'null')"
        for name, expression in new
    )
    return f"{body} || {comma} || {members} || '}}'"


def _columns(engine: Engine, layout: Layout, *, typed: bool) -> list[tuple[str, str]]:
    """Return the name of each column, and an expression for it over the layout's relation."""
    names = layout.columns
    if isinstance(layout, JSONLines):
        rest = engine.rows(f"SELECT DISTINCT unnest(try(json_keys(line))) FROM {layout.relation()} ORDER BY ALL")
        names = tuple(dict.fromkeys([*names, *(row[0] for row in rest)]))
    # Of CSV by place, for there may be a name twice.
    by_place = isinstance(layout, CSV)
    fields = [
        f"source.c{i}" if by_place and name not in layout.keys else layout.field(name) for i, name in enumerate(names)
    ]
    if typed and isinstance(layout, CSV):
        fields = [layout.with_points(field) for field in fields]
    if typed and not isinstance(layout, TypedColumns):
        fields = _as_numbers(engine, layout, fields)
    return list(zip(names, fields, strict=True))


def _as_numbers(engine: Engine, layout: Layout, fields: Sequence[str]) -> list[str]:
    """Return text columns as numbers where nothing is lost by it: "007" is no number, nor what has too many digits."""
    texts = ", ".join(f"nullif(trim({field}), '') AS t{i}" for i, field in enumerate(fields))
    tests = ", ".join(
        f"count(t{i}) > 0 AND bool_and(t{i} IS NULL OR coalesce({test.format(f't{i}')}, false))"
        for i in range(len(fields))
        for test in (
            "CAST(TRY_CAST({0} AS BIGINT) AS VARCHAR) = {0}",
            "isfinite(TRY_CAST({0} AS DOUBLE)) AND NOT regexp_matches({0}, '^[+-]?(0[0-9]|[0-9]{{16,}}$)')",
        )
    )
    found = engine.rows(f"SELECT {tests} FROM (SELECT {texts} FROM {layout.relation()} AS source)")[0]
    return [
        f"TRY_CAST({field} AS {'BIGINT' if whole else 'DOUBLE'})" if whole or number else field
        for field, whole, number in zip(fields, found[::2], found[1::2], strict=True)
    ]
