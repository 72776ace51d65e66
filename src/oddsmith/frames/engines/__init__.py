"""The engines of frames: one object each, with its dialect, in one list.

=====================  ==========================================================================
frame                  how a map is applied
=====================  ==========================================================================
in memory              NumPy
Dask                   NumPy, partition by partition
Polars, lazy           an expression; knots by its search in a series
DuckDB                 SQL; knots by look-ups in lists, broken lines by hinges
PySpark                SQL; knots by CASE
Ibis and others        an expression of narwhals; knots by nested conditions
=====================  ==========================================================================
"""

from oddsmith.frames.engines.base import Frame, FrameEngine, LongNames, SentColumn
from oddsmith.frames.engines.dask import Dask
from oddsmith.frames.engines.duckdb import DuckDB
from oddsmith.frames.engines.ibis import Ibis
from oddsmith.frames.engines.memory import ArrowMemory
from oddsmith.frames.engines.polars import PolarsLazy, PolarsMemory
from oddsmith.frames.engines.spark import Spark

__all__ = [
    "ENGINES",
    "FrameEngine",
    "LongNames",
    "SentColumn",
    "engine_of",
    "register_engine",
]

#: The first that takes a frame has it; the last one takes all.
ENGINES: list[FrameEngine] = [
    PolarsMemory(),
    ArrowMemory(),
    Dask(),
    DuckDB(),
    PolarsLazy(),
    Spark(),
    Ibis(),
    FrameEngine(),
]


def register_engine(engine: FrameEngine) -> None:
    """Add an engine, which is tried before all others.

    Parameters
    ----------
    engine : FrameEngine
        The engine.

    See Also
    --------
    engine_of : Finds the engine of a frame.
    """
    ENGINES.insert(0, engine)


def engine_of(frame: Frame) -> FrameEngine:
    """Return the engine of a frame.

    Parameters
    ----------
    frame : data frame or table of an engine
        Rows in the engine's own type.

    Returns
    -------
    FrameEngine

    See Also
    --------
    register_engine : Adds an engine.
    """
    return next(engine for engine in ENGINES if engine.takes(frame))
