"""Fitted maps for other engines: SQL, dbt, ONNX, Python, JavaScript and C."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oddsmith import _check
from oddsmith.errors import UntestedDialectWarning
from oddsmith.export.c import C, to_c
from oddsmith.export.code import CodeLanguage
from oddsmith.export.columns import NAME as NAME
from oddsmith.export.columns import input_columns as input_columns
from oddsmith.export.columns import labels_of_one_kind as labels_of_one_kind
from oddsmith.export.columns import new_columns as new_columns
from oddsmith.export.dbt import Dbt
from oddsmith.export.javascript import JavaScript, to_javascript
from oddsmith.export.language import Language, Model, Output, expand_effects, segment_columns
from oddsmith.export.language import joint_model_of as joint_model_of
from oddsmith.export.onnx import Onnx, to_onnx
from oddsmith.export.python import Python, to_python
from oddsmith.export.sql import TESTED, Sql, to_sql
from oddsmith.export.verification import LARGEST_DIFFERENCE, Parity, compare

__all__ = [
    "LANGUAGES",
    "CodeLanguage",
    "Export",
    "Language",
    "Parity",
    "export",
    "register_language",
    "to_c",
    "to_javascript",
    "to_onnx",
    "to_python",
    "to_sql",
]

#: Every language by its name; `register_language` adds one from outside.
LANGUAGES: dict[str, Language] = {
    language.name: language for language in (Sql(), Dbt(), Onnx(), Python(), JavaScript(), C())
}


def register_language(language: Language) -> Language:
    """Add a language to those of `export` and the command line.

    Parameters
    ----------
    language : Language
        The language.

    Returns
    -------
    Language

    See Also
    --------
    CodeLanguage : What it takes.
    """
    LANGUAGES[language.name] = language
    return language


@dataclass(frozen=True)
class Export:
    """A map written for an engine.

    Attributes
    ----------
    content : str, bytes or dict
        What to put in a file: bytes for ONNX, text with a comment above it otherwise; for dbt texts of files by paths.
    parity : Parity
        How far it is from the map, if it was verified; the comment states the same.

    See Also
    --------
    export : Returns it.
    """

    content: str | bytes | dict[str, str]
    parity: Parity


def export(
    model: Model,
    to: str,
    *,
    output: Output = "probability",
    dialect: str = "duckdb",
    column: str = "score",
    table: str | Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    name: str = NAME,
    macro: str = "calibration",
    verify: bool = False,
    connection: Any = None,
) -> Export:
    """Write a map for an engine, with a header that states whether the two were compared, and their largest difference.

    SQL for DuckDB and SQLite is always run in this process, where the engine is installed. Other engines run only with
    ``verify``. The comparison covers all knots, their neighbors, the extremes of doubles, ±∞, NaN and scores between;
    with several classes rows of every size, ties, extremes and missing values. A text that an engine refuses, or whose
    probabilities differ by more than 1e-9, is an error. The same map on the same machine gives the same bytes.

    Parameters
    ----------
    model : Model, fitted calibrator or scaling, CalibrationMap or JointMap
        A fitted calibrator or its map; for several classes a model, its map or a fitted scaling.
    to : {"sql", "dbt", "onnx", "python", "javascript", "c"}
        Or any other of `LANGUAGES`.
    output : {"probability", "log_odds"}, default "probability"
        Log-odds are clipped to ±700. With several classes there are probabilities only.
    dialect, column, table, columns, name
        For SQL and dbt: see `to_sql`.
    macro : str, default "calibration"
        For dbt: the name of the macro, which takes a relation and adds probabilities to its columns. Parameters of
        segments are a seed of the same name with "_parameters".
    verify : bool, default False
        Run the export in a subprocess: of Python, Node.js, ONNX Runtime, or of a C compiler and its program. It is an
        error if that is not installed.
    connection : DB-API connection, optional
        For SQL in PostgreSQL's dialect: an open connection of psycopg, to verify the export on.

    Returns
    -------
    Export

    See Also
    --------
    to_sql : One language alone.
    oddsmith.frames.apply : Applies a model without exporting it.

    Examples
    --------
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.export import export
    >>> done = export(SquashCalibrator().fit([-1.0, 1.0], [0, 1]), "sql")
    >>> done.parity.largest < 1e-12, done.content.splitlines()[0]
    (True, '-- The probability of the positive class by score: SquashCalibrator.')
    """
    _check.one_of(to, "to", list(LANGUAGES))
    names = {"column": column, "table": table, "columns": columns, "prefix": f"{name}_", "macro": macro}
    if (by := segment_columns(model)) and not LANGUAGES[to].takes_segments:
        must = f"a model must have no segments for {to}"
        _check.fail(must, f"one by {', '.join(by)}", "export it to sql or dbt, or pass model.of_segment(name)")
    model = expand_effects(model)
    language = LANGUAGES[to].with_options(dialect=dialect, connection=connection, **names)
    parity = _verify(language, model, output, verify=verify)
    if isinstance(language, Sql) and language.dialect not in TESTED:
        tested = ", ".join(TESTED)
        message = f"SQL for {language.engine} is written but never run in the tests of Oddsmith, which run {tested}."
        warnings.warn(message, UntestedDialectWarning, stacklevel=2)
    return Export(language.write(model, output, str(parity)), parity)


def _verify(language: Language, model: Model, output: Output, *, verify: bool) -> Parity:
    """Return how far an export is from its map, where it runs; refuse one that is wrong."""
    content = language.to_run(model, output)
    if not (verify or language.runs_in_process):
        return Parity(f"the option verify runs it on {language.engine}", None, 0)
    parity = compare(language, model, output, content)
    if parity.rejected or (parity.largest is not None and parity.largest > LARGEST_DIFFERENCE):
        must = f"{language.engine}, which is installed here, must compute the probabilities of the model"
        got = parity.engine if parity.largest is None else str(parity)
        _check.fail(must, got, "export to another language or dialect, and report this as a bug")
    if verify and parity.largest is None:
        must = f"{language.engine} must be installed here to verify an export"
        _check.fail(must, parity.engine, "install it, or leave verify (--verify) out")
    return parity
