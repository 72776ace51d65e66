"""``oddsmith apply``, ``show`` and ``export``: what a model file is good for."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from oddsmith import _check
from oddsmith.cli import _input as read
from oddsmith.cli._curve import curve
from oddsmith.cli._output import STANDARD_OUTPUT, AsJson, Force, Quiet, Voice, say, standing_for
from oddsmith.files import apply_map, choose_columns, open_scores, write_atomically
from oddsmith.modelfile import CalibrationModel

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file, from oddsmith fit.")]

#: Segments that a hint names.
_SHOWN = 10

_SUFFIXES = {"sql": ".sql", "onnx": ".onnx", "python": ".py", "javascript": ".js", "c": ".c"}


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: oddsmith apply model.json new.csv -o out.csv")(apply)
    app.command(epilog="Example: oddsmith show model.json")(show)
    app.command(epilog="Example: oddsmith export model.json --to sql --dialect postgres")(export)


def apply(
    model: ModelFile,
    file: read.ScoresFile,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File to write: .csv, .tsv, .jsonl or .parquet; '-': CSV, or JSON lines."),
    ],
    score: read.ScoreColumn = None,
    by: Annotated[str | None, typer.Option("--by", help="Column of segments. [default: as fitted]")] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the new column.")] = "probability",
    bad_rows: read.BadRows = "refuse",
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a copy of a file with the calibrated probability of each row."""
    voice = Voice(quiet=quiet, as_json=as_json, output=output)
    fitted = CalibrationModel.load(model)
    with open_scores(file) as scores, standing_for(output, scores.suffix) as target:
        if by is not None and fitted.by is None:
            _check.fail("the model must have segments to take --by", "one without", "leave --by out, or fit with --by")
        by = by if by is not None else fitted.by
        roles = choose_columns(scores, score, None, None, by, needs_label=False)
        voice.remark(roles.message)
        maps = {name: part.map for name, part in fitted.segments.items()}
        with voice.progress(f"Writing {output}") as progress:
            done = apply_map(
                fitted.map,
                scores,
                roles,
                target,
                segments=maps or None,
                name=name,
                bad_rows=bad_rows,
                force=force,
                sources=[model],
                progress=progress,
            )
    if done.dropped is not None:
        voice.remark(f"Left out: {done.dropped.message}.")
    for segment, rows in done.unknown.items():
        voice.remark(f"Warning: segment {segment!r} is new to the model: {rows:,} rows got the map of all rows.")
    content = {"output": str(output), "rows": done.rows, "unknown_segments": dict(done.unknown)}
    voice.result(content, lambda console: say(console, f"{done.rows:,} rows written to {output}"))


def show(model: ModelFile, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Tell what a model is, where it came from, and draw its curve."""
    voice = Voice(quiet=quiet, as_json=as_json)
    fitted = CalibrationModel.load(model)
    data = fitted.data
    way = np.linspace(0, 1, 41)
    at = np.unique(data.low * (1 - way) + data.high * way)  # never beyond the largest double
    content: dict[str, Any] = {
        "model": str(model),
        "method": fitted.method,
        "parameters": dict(fitted.parameters),
        "labels": list(fitted.labels),
        "data": data.to_dict(),
        "warnings": list(fitted.warnings),
        "version": fitted.version,
        "by": fitted.by,
        "segments": {name: part.data.to_dict() for name, part in fitted.segments.items()},
        "curve": {"score": at.tolist(), "probability": fitted.map.probability(at).tolist()},
    }

    def draw(console: Console) -> None:
        facts = Table.grid(padding=(0, 2))
        cells = "every distinct score" if data.resolution is None else f"cells of {data.resolution:g}"
        scores = cells if data.distinct is None else f"{data.distinct:,} scores, {cells}"
        for name, value in (
            ("method", fitted.method),
            ("labels", f"{fitted.labels[0]} / {fitted.labels[1]} (positive)"),
            ("rows", f"{data.rows:,} ({scores})"),
            ("positive", f"{data.prevalence:.2%}"),
            ("scores", f"{data.low:.6g} to {data.high:.6g}"),
            ("data hash", data.sha256[:16] if data.sha256 else "not kept"),
            ("version", fitted.version),
            *(("warning", text) for text in fitted.warnings),
        ):
            facts.add_row(name, _check.visible(value))
        console.print(facts)
        if fitted.by is not None:
            console.print(_segments(fitted))
        say(console, "\nProbability by score:")
        width = min(60, console.width - 6)
        console.print(curve(at, fitted.map.probability(at), width=width))

    voice.result(content, draw)


def export(
    model: ModelFile,
    to: Annotated[Literal["sql", "onnx", "python", "javascript", "c"], typer.Option("--to", help="What to write.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write. [default: standard output, also '-'; ONNX: MODEL.onnx]"),
    ] = None,
    dialect: Annotated[
        str, typer.Option("--dialect", help="SQL dialect: duckdb, postgres, sqlite, spark, bigquery, snowflake.")
    ] = "duckdb",
    column: Annotated[str, typer.Option("--column", help="SQL: name of the score's column.")] = "score",
    table: Annotated[
        str | None, typer.Option("--table", help="SQL: write a SELECT from this table, such as schema.table.")
    ] = None,
    segment: Annotated[str | None, typer.Option("--segment", help="Which segment of a model that has some.")] = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a model as SQL, ONNX, Python, JavaScript or C, and prove that it computes the same."""
    from oddsmith.export import export as write_export

    voice = Voice(quiet=quiet, as_json=as_json, output=output)
    fitted = _segment(CalibrationModel.load(model), segment)
    done = write_export(fitted, to, dialect=dialect, column=column, table=None if table is None else qualified(table))
    voice.remark(str(done.parity))
    if output is None and to == "onnx":
        output = model.with_suffix(_SUFFIXES[to])
    content: dict[str, Any] = {"to": to, "output": None if output is None else str(output), "parity": str(done.parity)}
    if output is not None:
        with standing_for(output, _SUFFIXES[to]) as target:
            write_atomically(target, done.content, force=force, sources=[model])
    else:
        content["content"] = done.content

    def write(console: Console) -> None:
        if output is None:
            typer.echo(done.content, nl=False)
        elif output != STANDARD_OUTPUT:
            say(console, f"Written to {output}")

    voice.result(content, write)


def qualified(table: str) -> list[str]:
    """Return catalogue, schema and name of a table, as far as they are given; dots within double quotes join nothing.

    Examples
    --------
    >>> qualified('main."a.b".scores'), qualified("scores")
    (['main', 'a.b', 'scores'], ['scores'])
    """
    found = re.findall(r'"(?:[^"]|"")*"|[^".]+|(?<=\.)(?=\.|$)|^(?=\.|$)', table)
    if ".".join(found) != table:
        _check.fail("--table must be a name, or names joined by dots", repr(table), 'write a name with dots as "a.b"')
    return [part[1:-1].replace('""', '"') if part[:1] == '"' else part for part in found]


def _segment(model: CalibrationModel, name: str | None) -> CalibrationModel:
    """Return the model of a segment, which must be known."""
    if name is not None and not model.segments:
        _check.fail("the model must have segments to take --segment", "one without", "leave --segment out")
    if name is not None and name not in model.segments:
        known = ", ".join(repr(each) for each in list(model.segments)[:_SHOWN])
        more = ", …" if len(model.segments) > _SHOWN else ""
        _check.fail(
            "--segment must be a segment of the model", repr(name), f"pass --segment NAME, one of {known}{more}"
        )
    return model.of_segment(name)


def _segments(model: CalibrationModel) -> Table:
    """Return what each segment was fitted to."""
    table = Table()
    table.add_column(_check.visible(f"segment ({model.by})"), overflow="fold")
    for title in ("rows", "positive"):
        table.add_column(title, justify="right")
    for name, part in model.segments.items():
        table.add_row(_check.visible(name), f"{part.data.rows:,}", f"{part.data.prevalence:.2%}")
    return table
