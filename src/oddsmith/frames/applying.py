"""A map applied where the rows are: the same kind of frame back, with one more column.

=====================  ==========================================================================
frame                  how
=====================  ==========================================================================
in memory              NumPy
Dask                   NumPy, partition by partition
Polars, lazy           an expression; knots by its search in a series
DuckDB                 SQL; knots by look-ups in lists, broken lines by hinges
PySpark                SQL; knots by CASE
Ibis and others        an expression of narwhals; knots by nested conditions
=====================  ==========================================================================

With segments, engines get one formula and join its parameters to the rows.
"""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from oddsmith import _check
from oddsmith.formula import Formula
from oddsmith.frames.engine import answer, asking, is_strict
from oddsmith.frames.expressions import ExpressionReader, PolarsReader
from oddsmith.frames.names import spare_name
from oddsmith.frames.segments import Maps, ParameterReader, segment_column, segment_name
from oddsmith.frames.source import Source
from oddsmith.maps import CalibrationMap
from oddsmith.maps.base import MAX

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

__all__ = ["apply"]

_TASK = "plan the probability"


def apply(frame: Any, model: Any, score: str, name: str = "probability", by: str | None = None) -> Any:
    """Add the probability of each row to a frame, inside its own engine.

    Nothing is computed yet where the frame is lazy. Probabilities are those of NumPy, up to 1e-12. A missing score
    (null or NaN), or one that the model refuses, gives a missing probability; ±∞ give the limits. Engines that keep
    the order of rows keep it.

    Parameters
    ----------
    frame : data frame or table of an engine
        pandas, Polars (eager or lazy), PyArrow, DuckDB relation, Dask, PySpark, Ibis: whatever narwhals reads.
    model : CalibrationModel, Calibrator, CalibrationMap, or mapping of segment to such
        Rows of a segment that a mapping lacks get a missing probability, and of one that a model lacks the model's own.
    score : str
        Column of scores.
    name : str, default "probability"
        Of the new column.
    by : str, optional
        Column of segments: text, integers or bools. A model by segment knows its name.

    Examples
    --------
    >>> import polars as pl
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.frames.applying import apply
    >>> fitted = SquashCalibrator().fit([-1.0, 1.0], [0, 1])
    >>> apply(pl.LazyFrame({"margin": [0.0, None]}), fitted, "margin").collect()["probability"].to_list()
    [0.5, None]
    """
    maps = model if isinstance(model, Maps) else _maps(model, by)
    source = Source.of(frame, score, score, None, () if maps.by is None else (maps.by,))
    # SQL does not tell names apart by case.
    if name.casefold() in (column.casefold() for column in source.names.originals.values()):
        _check.fail("frame must not have the new column yet", repr(name), "choose another name")
    if maps.by is not None:
        maps = dataclasses.replace(maps, by=source.by[0])
    added = source.names.for_new(name)
    return source.names.restored(_applied(source, maps, added), added, name)


def _applied(source: Source, maps: Maps, name: str) -> Any:
    """Return the frame with the new column, by the means of its engine."""
    import narwhals.stable.v2 as nw

    kind, segment = source.frame.implementation, None
    if maps.by is not None:
        segment = segment_column(source.names.originals[maps.by], maps.by, source.schema[maps.by])
    if isinstance(source.frame, nw.DataFrame):
        return _in_memory(source, maps, segment, name)
    if kind.is_dask():
        return _by_dask(source, maps, name)
    if kind.is_duckdb():
        return _by_duckdb(source, maps, name)
    if segment is not None:
        return _by_segment(source, maps, segment, name)
    assert maps.default is not None
    if kind.is_pyspark() or kind.is_pyspark_connect():
        return _by_spark(source, maps.default, name)
    if kind.is_polars():
        return _by_polars(source, maps.default, name)
    return _by_narwhals(source, maps.default, name)


def _maps(model: Any, by: str | None) -> Maps:
    """Return the maps of whatever was given."""
    from oddsmith.modelfile import CalibrationModel, map_of

    if isinstance(model, CalibrationModel) and model.by is not None:
        segments = {key: part.map for key, part in model.segments.items()}
        return Maps(model.map, model.by if by is None else by, segments)
    if not isinstance(model, Mapping):
        if by is not None:
            _check.fail("by must be given for a model by segment only", f"by={by!r}", "leave it out")
        return Maps(map_of(model))
    if by is None:
        _check.fail(
            "by must name the column of the segments", "by=None", "pass the column that the tables were made by"
        )
    names = [segment_name(key) for key in model]
    for key, text in zip(model, names, strict=True):
        if names.count(text) > 1:
            _check.fail(
                "segments must be different when their keys are written as text", f"{key!r} and another", "rename one"
            )
    return Maps(None, by, dict(zip(names, map(map_of, model.values()), strict=True)))


def _in_memory(source: Source, maps: Maps, segment: "nw.Expr | None", name: str) -> Any:
    import narwhals.stable.v2 as nw

    frame = source.frame
    wanted = {"score": source.as_double(source.score)} | ({} if segment is None else {"segment": segment})
    sent = answer(frame, lambda asked: asked.select(**wanted))
    scores, missing = sent["score"]
    names = None
    if segment is not None:
        names = sent["segment"].values.astype(object)
        names[sent["segment"].missing] = None
        names = names[~missing]
    prob = np.full(len(scores), np.nan)
    prob[~missing] = maps.probability(scores[~missing], names)
    added = nw.new_series(name, prob, nw.Float64, backend=frame.implementation)
    return (
        frame.with_columns(added)
        .with_columns(nw.when(~nw.col(name).is_nan()).then(nw.col(name)).alias(name))
        .to_native()
    )


def _by_duckdb(source: Source, maps: Maps, name: str) -> Any:
    from oddsmith.frames.in_duckdb import Segments, in_duckdb, quoted

    spare, relation, segments = spare_name(source.schema), source.frame.to_native(), None
    score = f"{spare}_score"
    formula = _formula(source, maps)
    with asking(source.frame, _TASK):
        relation = relation.project(f"*, {quoted(source.score)}::DOUBLE AS {quoted(score)}")
        if maps.by is not None:
            segments = Segments(f"{spare}_key", list(maps.segments))
            relation = relation.project(f"*, {quoted(maps.by)}::VARCHAR AS {quoted(segments.column)}")
        result = in_duckdb(relation, formula, score, name, spare, segments)
        return result.project(", ".join(quoted(column) for column in [*source.schema, name]))


def _by_dask(source: Source, maps: Maps, name: str) -> Any:
    import narwhals.stable.v2 as nw

    from oddsmith.frames.in_dask import Segments, in_dask

    segments = None
    if maps.by is not None:
        segments = Segments(maps.by, source.schema[maps.by] == nw.Boolean, list(maps.segments))
    with asking(source.frame, _TASK):
        return in_dask(source.frame.to_native(), _formula(source, maps), source.score, name, segments)


def _by_spark(source: Source, fitted: CalibrationMap, name: str) -> Any:
    from oddsmith.export import to_sql

    score = f"{spare_name(source.schema)}_score"
    value = to_sql(fitted, column=score, dialect="spark")
    present = f"CASE WHEN NOT isnan({_ticked(score)}) THEN {value} END AS {_ticked(name)}"
    with asking(source.frame, _TASK):
        wide = source.frame.to_native().selectExpr("*", f"CAST({_ticked(source.score)} AS DOUBLE) AS {_ticked(score)}")
        return wide.selectExpr("*", present).drop(score)


def _by_polars(source: Source, fitted: CalibrationMap, name: str) -> Any:
    import narwhals.stable.v2 as nw

    words = nw.get_native_namespace(source.frame)
    # An infinite score beside a slope of 0 would make no number.
    score = words.col(source.score).cast(words.Float64).clip(-MAX, MAX)
    reader = PolarsReader(words, score, spare_name(source.schema))
    with asking(source.frame, _TASK):
        column = reader.column(fitted.probability_formula(), name)
        return source.frame.to_native().with_columns(**reader.places).with_columns(column).drop(reader.places)


def _by_narwhals(source: Source, fitted: CalibrationMap, name: str) -> Any:
    import narwhals.stable.v2 as nw

    formula = _plain(source, fitted.probability_formula())
    with asking(source.frame, _TASK):
        reader = ExpressionReader(nw, source.as_double(source.score), as_text=source.frame.implementation.is_ibis())
        return source.frame.with_columns(reader.column(formula, name)).to_native()


def _by_segment(source: Source, maps: Maps, segment: "nw.Expr", name: str) -> Any:
    from oddsmith.frames.joining import with_table

    formula = _formula(source, maps)
    spare, frame = spare_name(source.schema), source.frame
    with asking(frame, _TASK):
        reader = ParameterReader(source.as_double(source.score), spare, as_text=frame.implementation.is_ibis())
        column = reader.column(formula, name)
        if reader.table:
            key = f"{spare}_key"
            frame = with_table(frame.with_columns(segment.alias(key)), key, {key: list(maps.segments), **reader.table})
        return frame.with_columns(column).select(*source.schema, name).to_native()


def _formula(source: Source, maps: Maps) -> Formula:
    """Return what an engine is to compute; by segment only Dask gets pieces."""
    if maps.by is not None:
        return maps.formula(None if source.frame.implementation.is_dask() else lambda formula: _plain(source, formula))
    assert maps.default is not None
    return maps.default.probability_formula()


def _plain(source: Source, formula: Formula) -> Formula:
    """Return a formula without pieces, held within the range of doubles where the engine asks for that."""
    from oddsmith.formula.guards import guarded
    from oddsmith.formula.sql import as_decisions

    formula = as_decisions(formula)
    return guarded(formula) if is_strict(source.frame) else formula


def _ticked(name: str) -> str:
    return "`{}`".format(name.replace("`", "``"))
