"""Fitted maps for other engines: SQL, ONNX, Python, JavaScript and C, each compared with the map it came from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from oddsmith import _check
from oddsmith.export._model import Model, Output, header
from oddsmith.export.code import LANGUAGES, to_c, to_javascript, to_python, write_code
from oddsmith.export.onnx import to_onnx, write_onnx
from oddsmith.export.parity import Parity, check_code, check_onnx, check_sql
from oddsmith.export.sql import to_sql

__all__ = ["Export", "Parity", "export", "to_c", "to_javascript", "to_onnx", "to_python", "to_sql"]

#: What SQL makes of scores that are none.
_MISSING = "NULL gives NULL. NaN, where the engine has it, sorts above all numbers and gives the value at +infinity."


@dataclass(frozen=True)
class Export:
    """A map written for an engine.

    Attributes
    ----------
    content : str or bytes
        What to put in a file: bytes for ONNX, text with a comment above it otherwise.
    parity : Parity
        How far it is from the map; the comment says the same.
    """

    content: str | bytes
    parity: Parity


def export(
    model: Model,
    to: Literal["sql", "onnx", "python", "javascript", "c"],
    *,
    output: Output = "probability",
    dialect: str = "duckdb",
    column: str = "score",
    table: str | Sequence[str] | None = None,
    connection: Any = None,
) -> Export:
    """Write a map for an engine, compare the two where the engine is at hand, and say so in the header.

    Compared are all knots, their neighbours, the extremes of doubles and scores between, in DuckDB, SQLite, ONNX
    Runtime, Python, Node.js and the C compiler where they are installed. The same map on the same machine gives the
    same bytes.

    Parameters
    ----------
    model : CalibrationMap or Calibrator
        A fitted calibrator or its map.
    to : {"sql", "onnx", "python", "javascript", "c"}
    output : {"probability", "log_odds"}, default "probability"
        Log-odds are held within ±700.
    dialect, column, table
        For SQL: see `to_sql`.
    connection : DB-API connection, optional
        For SQL in PostgreSQL's dialect: an open connection of psycopg, to make the comparison on.

    Examples
    --------
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.export import export
    >>> done = export(SquashCalibrator().fit([-1.0, 1.0], [0, 1]), "sql")
    >>> done.parity.largest < 1e-12, done.content.splitlines()[0]
    (True, '-- The probability of the positive class by score: SquashCalibrator.')
    """
    _check.one_of(to, "to", ("sql", "onnx", *LANGUAGES))
    if to == "onnx":
        parity = check_onnx(model, output, to_onnx(model, output=output))
        return Export(write_onnx(model, output, str(parity)), parity)
    if to == "sql":
        expression = to_sql(model, column=column, dialect=dialect, output=output)
        parity = check_sql(model, output, expression, column=column, dialect=dialect, connection=connection)
        text = (
            expression if table is None else to_sql(model, column=column, dialect=dialect, output=output, table=table)
        )
        lines = [*header(model, output, str(parity)), _MISSING]
        comment = "".join(f"-- {line}\n" for line in lines)
        return Export(f"{comment}{text}\n", parity)
    parity = check_code(model, output, write_code(to, model, output), language=to)
    return Export(write_code(to, model, output, str(parity)), parity)
