"""``oddsmith export``: a model file for other engines and languages."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from rich.console import Console

    from oddsmith.model import Model

EXAMPLE = "oddsmith export model.json --to sql --dialect postgres"

#: Segments that a hint names.
_SHOWN = 10


def _languages() -> list[str]:
    from oddsmith.export import LANGUAGES

    return list(LANGUAGES)


def export(
    model: option.ModelFile,
    to: Annotated[
        str,
        typer.Option("--to", metavar="LANGUAGE", help="What to write: {languages}.", autocompletion=_languages),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write, for dbt a project's folder. [default: standard output, also '-'; ONNX: MODEL.onnx]",
        ),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect",
            help="SQL dialect: duckdb, postgres, sqlite or spark, which are tested; others with a warning. "
            "[default: duckdb]",
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            "--column",
            help="SQL: name of the score's column; of several classes all, with commas. [default: score, or as fitted]",
        ),
    ] = None,
    table: Annotated[
        str | None, typer.Option("--table", help="SQL: write a SELECT from this table, such as schema.table.")
    ] = None,
    segment: Annotated[
        str | None,
        typer.Option("--segment", help="Segment to export, of a model by segment. [default: all for sql and dbt]"),
    ] = None,
    limit: Annotated[
        Literal["lower", "upper"] | None,
        typer.Option("--limit", help="Write a limit of P that fit --keep-band kept, instead of P."),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Run the export in a subprocess and compare it with the model; SQL for DuckDB and SQLite always runs.",
        ),
    ] = False,
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Write a model as SQL, dbt, ONNX, Python, JavaScript or C, and verify that it computes the same."""
    from oddsmith import _check
    from oddsmith.cli._input import names_in
    from oddsmith.cli._output import STANDARD_OUTPUT, CommandOutput, print_text, writable_file
    from oddsmith.export import LANGUAGES
    from oddsmith.export import export as write_export
    from oddsmith.files import write_atomically
    from oddsmith.model import load

    out = CommandOutput(quiet=quiet, as_json=as_json, output=output)
    _check.one_of(to, "--to", _languages())
    for name, value in {"--column": column, "--dialect": dialect, "--table": table}.items():
        if (to not in ("sql", "dbt") or (to == "dbt" and name == "--table")) and value is not None:
            _check.fail(f"{name} is for SQL", f"{name} with --to {to}", f"leave {name} out, or pass --to sql")
    suffix = LANGUAGES[to].suffix
    fitted = load(model) if limit is None else load(model).limit(limit)
    options: dict[str, Any] = {} if dialect is None else {"dialect": dialect}
    names: dict[str, Any] = {} if column is None else {"column": column}
    if not fitted.has_one_score:
        names = {} if column is None else {"columns": names_in(column)}
    if segment is not None or not LANGUAGES[to].takes_segments:
        fitted = _segment(fitted, segment)
    if to == "dbt":
        names["macro"] = re.sub("[^a-z0-9_]", "_", f"{'' if model.stem[:1].isalpha() else '_'}{model.stem.lower()}")[
            :50
        ]
    names["table"] = None if table is None else split_name(table)
    with out.show_warnings():
        done = write_export(fitted, to, verify=verify, **options, **names)
    out.remark(str(done.parity))
    if output is None and isinstance(done.content, bytes):
        output = model.with_suffix(suffix)
    if isinstance(done.content, dict) and output in (None, STANDARD_OUTPUT):
        _check.fail("--to dbt must have --output, the folder of a project", "none", "pass -o FOLDER")
    content: dict[str, Any] = {"to": to, "output": None if output is None else str(output), "parity": str(done.parity)}
    if isinstance(done.content, dict):
        assert output is not None
        for path, text in done.content.items():
            (output / path).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(output / path, text, force=force, sources=[model])
    elif output is not None:
        with writable_file(output, suffix) as target:
            write_atomically(target, done.content, force=force, sources=[model])
    else:
        content["content"] = done.content

    def write(console: "Console") -> None:
        if output is None:
            typer.echo(done.content, nl=False)
        elif output != STANDARD_OUTPUT:
            print_text(console, f"Written to {output}")

    out.result(content, write)


def split_name(table: str) -> list[str]:
    """Return catalogue, schema and name of a table, as far as they are given; dots within double quotes are letters.

    Examples
    --------
    >>> split_name('main."a.b".scores'), split_name("scores")
    (['main', 'a.b', 'scores'], ['scores'])
    """
    found = re.findall(r'"(?:[^"]|"")*"|[^".]+|(?<=\.)(?=\.|$)|^(?=\.|$)', table)
    if ".".join(found) != table:
        from oddsmith import _check

        _check.fail("--table must be a name, or names joined by dots", repr(table), 'write a name with dots as "a.b"')
    return [part[1:-1].replace('""', '"') if part[:1] == '"' else part for part in found]


def _segment(model: "Model", name: str | None) -> "Model":
    """Return the model of a segment, which must be known."""
    from oddsmith import _check

    if model.effects is not None:
        keys = () if name is None else tuple(name.split(","))
        some = (key in model.effects.values(place) for place, key in enumerate(keys[: model.effects.n_columns]))
        if len(keys) != model.effects.n_columns or not any(some):
            columns = ",".join(model.segment_columns)
            must, got = f"--segment must be values of {columns}, one of them known to the model", repr(name or "")
            _check.fail(must, got, "separate them by commas, or export to sql or dbt")
        return model.of_segment(keys)
    if name is not None and not model.segments:
        _check.fail("the model must have segments to take --segment", "one without", "leave --segment out")
    if model.segments and name not in model.segments:
        got = "none" if name is None else repr(name)
        known = ", ".join(repr(each) for each in list(model.segments)[:_SHOWN])
        more = ", …" if len(model.segments) > _SHOWN else ""
        _check.fail("--segment must be a segment of the model", got, f"pass --segment NAME, one of {known}{more}")
    return model.of_segment(name)
