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
    import narwhals as nw

    native, kind = frame.to_native(), frame.implementation
    joined: Frame
    if kind.is_duckdb():
        joined = nw.from_native(_with_table_in_duckdb(native, key, table))
        return joined
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


def _with_table_in_duckdb(relation: Any, key: str, table: Mapping[str, list[Any]]) -> Any:
    """Ask for the row of each key by a subquery: unlike a join it never changes sides, so rows keep their order."""
    from oddsmith.frames.in_duckdb import quoted, written_list

    numbers = [name for name in table if name != key]
    texts = ", ".join("'{}'".format(text.replace("'", "''")) for text in table[key])
    columns = [
        f"unnest([{texts}]) AS of_key",
        *(f"unnest({written_list(table[name], 'DOUBLE')}) AS {quoted(name)}" for name in numbers),
    ]
    row = "{" + ", ".join(f"'{name}': {quoted(name)}" for name in numbers) + "}"
    found = f"(SELECT {row} FROM (SELECT {', '.join(columns)}) WHERE of_key = {quoted(key)})"
    relation = relation.project(f"*, {found} AS {quoted(key + '_row')}")
    return relation.project(
        ", ".join(["*", *(f"{quoted(key + '_row')}.{quoted(name)} AS {quoted(name)}" for name in numbers)])
    )
