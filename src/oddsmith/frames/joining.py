"""A small table joined to the rows of an engine, wherever it has to be put for that."""

from collections.abc import Mapping
from typing import Any

from oddsmith.frames.engine import Frame


def with_table(frame: Frame, key: str, table: Mapping[str, list[Any]]) -> Frame:
    """Add the columns of a table to the rows that have its key; others get nulls.

    Parameters
    ----------
    frame : narwhals.LazyFrame
    key : str
        Column of both, text.
    table : mapping of str to list
        The other columns hold numbers, and have names that the frame has not.
    """
    import narwhals.stable.v2 as nw

    native, kind = frame.to_native(), frame.implementation
    joined: Frame
    if kind.is_polars():
        # Left joins of narwhals do not promise the order of rows.
        small = nw.get_native_namespace(frame).LazyFrame(table)
        joined = nw.from_native(native.join(small, on=key, how="left", maintain_order="left"))
        return joined
    if kind.is_ibis():
        arrow = nw.from_dict(table, backend="pyarrow").to_native()
        other = nw.from_native(nw.get_native_namespace(frame).memtable(arrow))
    else:
        rows = list(zip(*table.values(), strict=True))
        columns = [f"`{key}` STRING", *(f"`{name}` DOUBLE" for name in table if name != key)]
        other = nw.from_native(native.sparkSession.createDataFrame(rows, ", ".join(columns)))
    return frame.join(other, on=key, how="left")
