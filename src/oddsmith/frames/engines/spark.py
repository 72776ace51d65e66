"""PySpark: SQL, with knots told apart by CASE."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oddsmith.frames.engines.base import Frame, FrameEngine
from oddsmith.frames.sql_text import identifier

if TYPE_CHECKING:
    from oddsmith.frames.scored_frame import ScoredFrame
    from oddsmith.frames.segments import Maps


class Spark(FrameEngine):
    """Frames of PySpark, in which dots are paths and names are not told apart by case."""

    has_local_times = True
    renames = True

    def takes(self, frame: Frame) -> bool:
        """Whether this is a frame of PySpark."""
        return frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect()

    def renamed(self, native: Any, names: Mapping[str, str]) -> Any:
        """Return a frame with new names, by place."""
        return native.toDF(*names.values())

    def query_text(self, native: Any) -> str | None:
        """Return the plan, which sessions elsewhere do not show."""
        return str(native._jdf.queryExecution().analyzed())

    def joined(self, frame: Frame, key: str, table: Mapping[str, list[Any]]) -> Frame:
        """Join a frame of the same session."""
        import narwhals.stable.v2 as nw

        rows = list(zip(*table.values(), strict=True))
        columns = [f"`{key}` STRING", *(f"`{name}` DOUBLE" for name in table if name != key)]
        other = nw.from_native(frame.to_native().sparkSession.createDataFrame(rows, ", ".join(columns)))
        return frame.join(other, on=key, how="left")

    def with_probability(self, rows: "ScoredFrame", maps: "Maps", name: str) -> Any:
        """Return the native frame with the probability of each row."""
        from oddsmith.export import to_sql

        if maps.default is None or maps.by is not None:
            return super().with_probability(rows, maps, name)
        score = f"{rows.spare}_score"
        value = to_sql(maps.default, column=score, dialect="spark")
        given, new = (identifier(column, "`") for column in (rows.score, name))
        wide = rows.frame.to_native().selectExpr("*", f"CAST({given} AS DOUBLE) AS {score}")
        return wide.selectExpr("*", f"CASE WHEN NOT isnan({score}) THEN {value} END AS {new}").drop(score)
