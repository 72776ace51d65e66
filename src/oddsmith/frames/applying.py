"""A map applied where the rows are: the same kind of frame back, with one more column.

=====================  ==========================================================================
frame                  how
=====================  ==========================================================================
in memory              NumPy
Dask                   NumPy, for each partition when it is computed: its partitions are pandas frames
Polars, lazy           an expression; knots by its search in a series
DuckDB                 SQL; knots by look-ups in lists, broken lines by hinges
PySpark                SQL; knots by CASE
Ibis and others        an expression of narwhals; knots by nested conditions
=====================  ==========================================================================

With segments, engines get one formula and join its parameters to the rows.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from oddsmith import _check
from oddsmith.formula import Formula
from oddsmith.frames.engine import answer, asking
from oddsmith.frames.expressions import ExpressionReader, PolarsReader
from oddsmith.frames.segments import Maps, ParameterReader, segment_column, segment_name
from oddsmith.frames.source import Source
from oddsmith.maps import CalibrationMap

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["apply"]

#: Ibis backends whose doubles overflow to ∞ and vanish to 0 without an error.
_FORGIVING = {"databricks", "datafusion", "duckdb", "polars", "pyspark", "sqlite"}


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
    import narwhals as nw

    maps = model if isinstance(model, Maps) else _maps(model, by)
    source = Source.of(frame, score, score, None, () if maps.by is None else (maps.by,))
    if name in source.schema:
        _check.fail("frame must not have the new column yet", repr(name), "choose another name")
    kind = source.frame.implementation
    if isinstance(source.frame, nw.DataFrame):
        return _in_memory(source, maps, name)
    with asking(source.frame, "plan the probability"):
        if kind.is_dask():
            meta = frame._meta.assign(**{name: np.empty(0)})
            return frame.map_partitions(apply, maps, score, name, meta=meta)
        if maps.by is not None:
            return _by_segment(source, maps, name)
        assert maps.default is not None
        formula = maps.default.probability_formula()
        if kind.is_duckdb():
            return _by_duckdb(source, formula, name)
        if kind.is_pyspark() or kind.is_pyspark_connect():
            return _by_spark(source, maps.default, name)
        if kind.is_polars():
            words = nw.get_native_namespace(frame)
            # An infinite score beside a slope of 0 would make no number.
            column = words.col(score).cast(words.Float64).clip(-np.finfo(float).max, np.finfo(float).max)
            return frame.with_columns(PolarsReader(words, column).column(formula, name))
        return _by_narwhals(source, formula, name)


def _maps(model: Any, by: str | None) -> Maps:
    """Return the maps of whatever was given."""
    from oddsmith.export._model import map_of
    from oddsmith.modelfile import CalibrationModel

    if isinstance(model, CalibrationModel) and model.by is not None:
        segments = {key: part.map for key, part in model.segments.items()}
        return Maps(model.map, model.by if by is None else by, segments)
    if not isinstance(model, Mapping):
        if by is not None:
            _check.fail("by must be given for a model by segment only", f"by={by!r}", "leave it out")
        return Maps(map_of(model))
    if by is None:
        _check.fail("by must name the column of the segments", "by=None", "pass the column that the tables were made by")
    return Maps(None, by, {segment_name(key): map_of(part) for key, part in model.items()})


def _in_memory(source: Source, maps: Maps, name: str) -> Any:
    import narwhals as nw

    frame = source.frame
    wanted = {"score": _score(source)}
    if maps.by is not None:
        wanted["segment"] = segment_column(maps.by, source.schema[maps.by])
    sent = answer(frame, lambda asked: asked.select(**wanted))
    scores, missing = sent["score"]
    names = None
    if maps.by is not None:
        names = np.where(sent["segment"].missing, None, sent["segment"].values.astype(object))[~missing]
    prob = np.full(len(scores), np.nan)
    prob[~missing] = maps.probability(scores[~missing], names)
    added = nw.new_series(name, prob, nw.Float64, backend=frame.implementation)
    return frame.with_columns(added).with_columns(nw.when(~nw.col(name).is_nan()).then(nw.col(name)).alias(name)).to_native()


def _by_duckdb(source: Source, formula: Formula, name: str) -> Any:
    from oddsmith.frames.in_duckdb import in_duckdb, quoted

    relation, spare, score = source.frame.to_native(), _spare(source), source.score
    if not _is_double(source):
        score = f"{spare}_score"
        relation = relation.project(f"*, {quoted(source.score)}::DOUBLE AS {quoted(score)}")
    result = in_duckdb(relation, formula, score, spare, name)
    return result.project(", ".join(quoted(column) for column in [*source.schema, name]))


def _by_spark(source: Source, fitted: CalibrationMap, name: str) -> Any:
    from oddsmith.export import to_sql

    score = f"{_spare(source)}_score"
    doubles = source.frame.to_native().selectExpr("*", f"CAST({_ticked(source.score)} AS DOUBLE) AS {_ticked(score)}")
    value = to_sql(fitted, column=score, dialect="spark")
    present = f"CASE WHEN NOT isnan({_ticked(score)}) THEN {value} END AS {_ticked(name)}"
    return doubles.selectExpr("*", present).drop(score)


def _by_narwhals(source: Source, formula: Formula, name: str) -> Any:
    import narwhals as nw

    from oddsmith.export._guards import guarded
    from oddsmith.export._sql_reader import as_decisions

    formula = as_decisions(formula)
    is_ibis = source.frame.implementation.is_ibis()
    if is_ibis and _backend(source) not in _FORGIVING:
        formula = guarded(formula)
    reader = ExpressionReader(nw, _score(source), as_text=is_ibis)
    return source.frame.with_columns(reader.column(formula, name)).to_native()
