"""What an engine answers: columns of values, or an error with its own words and the query."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Bools
from oddsmith.errors import EngineError

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

#: A frame as narwhals shows it, in memory or not.
Frame: TypeAlias = "nw.DataFrame[Any] | nw.LazyFrame[Any]"


#: Ibis backends whose doubles overflow to ∞ and vanish to 0 without an error.
_FORGIVING = {"databricks", "datafusion", "duckdb", "polars", "pyspark", "sqlite"}


class Column(NamedTuple):
    """Values that an engine sent, and which of them are missing: null or NaN."""

    values: NDArray[Any]
    missing: Bools


def answer(frame: Frame, plan: Callable[[Any], Any]) -> dict[str, Column]:
    """Ask a frame's engine for the columns of ``plan(frame)``."""
    import narwhals.stable.v2 as nw

    with asking(frame, "plan the query"):
        planned = plan(frame)
    with asking(planned, "answer the query"):
        if not isinstance(planned, nw.LazyFrame):
            return {series.name: _column(series) for series in planned.iter_columns()}
        native = planned.to_native()
        if hasattr(native, "fetchnumpy"):  # DuckDB can do without PyArrow and pandas
            return {name: _unmasked(array) for name, array in native.fetchnumpy().items()}
        return {series.name: _column(series) for series in planned.collect().iter_columns()}


def is_strict(frame: Frame) -> bool:
    """Whether the engine raises an error where a double would overflow or vanish."""
    return frame.implementation.is_ibis() and frame.to_native().get_backend().name not in _FORGIVING


def numbers(columns: dict[str, Column]) -> list[float]:
    """Return the only row of an answer, NaN for what is missing."""
    return [np.nan if missing.any() else float(values[0]) for values, missing in columns.values()]


@contextlib.contextmanager
def asking(frame: Frame, task: str) -> Iterator[None]:
    """Turn whatever an engine raises into one kind of error, with its own words and the query."""
    try:
        yield
    except Exception as error:
        query = _query_text(frame)
        shown = "" if query is None else f"\n\nThe query:\n{query}"
        msg = (
            f"the engine of the frame must {task}; got {type(error).__name__}: {str(error).strip()}. "
            f"Hint: see what the engine says, and try a smaller query on the same frame.{shown}"
        )
        raise EngineError(msg) from error


def _column(series: "nw.Series[Any]") -> Column:
    missing = series.is_null().to_numpy().astype(bool)
    held = series.filter(~series.is_null()).to_numpy() if missing.any() else series.to_numpy()
    return _filled(held, missing)


def _unmasked(array: NDArray[Any]) -> Column:
    missing = np.array(np.ma.getmaskarray(array))
    return _filled(np.ma.getdata(array)[~missing], missing)


def _filled(held: NDArray[Any], missing: Bools) -> Column:
    """Return a column from the values that are there; NaN is missing too."""
    values: NDArray[Any] = np.zeros(len(missing), dtype=held.dtype)
    values[~missing] = held
    if values.dtype.kind == "f":
        missing = missing | np.isnan(values)
    return Column(values, missing)


def _query_text(frame: Any) -> str | None:
    """Return the query as the engine would show it, where it can."""
    with contextlib.suppress(Exception):
        kind, native = frame.implementation, frame.to_native()
        if kind.is_duckdb():
            return str(native.sql_query())
        if kind.is_ibis():
            return str(native.compile(pretty=True))
        if kind.is_polars() and hasattr(native, "explain"):
            return str(native.explain())
        if kind.is_pyspark():
            return str(native._jdf.queryExecution().analyzed())
    return None
