"""``oddsmith table``: the query that makes a score table where the rows are."""

from typing import Annotated

import typer

from oddsmith.cli import _options as option

EXAMPLE = "oddsmith table analytics.scores --print-sql --score score --label label --dialect snowflake"


def table(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="Table of a warehouse, such as schema.table.")],
    score: Annotated[str, typer.Option("--score", "-s", metavar="COLUMN", help="Column of the score.")] = "score",
    label: Annotated[str, typer.Option("--label", "-y", metavar="COLUMN", help="Column of the label.")] = "label",
    weight: option.WeightColumn = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="A,B,…", help="Columns whose values each get a table.")
    ] = None,
    resolution: Annotated[
        float | None,
        typer.Option(
            "--resolution", help="Width of score cells, a power of two such as 0.0625. [default: every distinct score]"
        ),
    ] = None,
    dialect: Annotated[str, typer.Option("--dialect", help="SQL dialect, as sqlglot names it.")] = "duckdb",
    print_sql: Annotated[
        bool, typer.Option("--print-sql", help="Print the query; ScoreTable.from_query(connection, sql) runs it.")
    ] = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Print the GROUP BY that makes a score table inside a warehouse, which is all that a fit needs of its rows."""
    from oddsmith import _check
    from oddsmith.cli._input import names_in
    from oddsmith.cli._output import CommandOutput
    from oddsmith.frames import table_query

    if not print_sql:
        hint = "add --print-sql; for files use oddsmith fit"
        _check.fail("--print-sql must be given", "no --print-sql", hint)
    text = table_query(table.split("."), score, label, weight, names_in(by) or (), resolution, dialect)
    CommandOutput(quiet=quiet, as_json=as_json).result(
        {"sql": text}, lambda console: console.print(text, soft_wrap=True)
    )
