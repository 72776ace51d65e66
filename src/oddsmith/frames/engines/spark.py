"""PySpark: SQL, with knots told apart by CASE."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from oddsmith.frames.engines.base import Frame, FrameEngine
from oddsmith.frames.sql_text import identifier

if TYPE_CHECKING:
    from oddsmith.frames.applying_joint import JointPlan
    from oddsmith.frames.scored_frame import ScoredFrame
    from oddsmith.frames.segments import Maps


class Spark(FrameEngine):
    """Frames of PySpark, in which dots are paths and names are not told apart by case."""

    kinds = (nw.Implementation.PYSPARK, nw.Implementation.PYSPARK_CONNECT)
    has_local_times = True
    renames = True

    def renamed(self, native: Any, names: Mapping[str, str]) -> Any:
        """Return a frame with new names, by place."""
        return native.toDF(*names.values())

    def column_names(self, frame: Frame) -> list[str]:
        """Return the names of the columns, also where they are repeated."""
        return list(frame.to_native().columns)

    def casting_hint(self, frame: Frame, name: str) -> str:
        """Return what to do about a column that is not numeric, such as the vectors of Spark ML."""
        if frame.to_native().schema[name].dataType.simpleString() == "vector":
            return "select one of its numbers: pyspark.ml.functions.vector_to_array(column)[1]"
        return super().casting_hint(frame, name)

    def query_text(self, native: Any) -> str | None:
        """Return the plan, which sessions elsewhere do not show."""
        return str(native._jdf.queryExecution().analyzed())

    def joined(self, frame: Frame, key: str, table: Mapping[str, list[Any]]) -> Frame:
        """Join a frame of the same session."""
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

    def with_probabilities(self, rows: "ScoredFrame", plan: "JointPlan") -> Any:
        """Return the native frame with the probabilities of several classes and the decision, layer by layer."""
        from sqlglot import exp

        from oddsmith.formula.sql import SqlReader, as_decisions

        def named(value: str, name: str) -> str:
            return f"{value} AS {identifier(name, '`')}"

        given, layers, probs, top = plan.layers(f"{rows.spare}_", prepare=as_decisions)
        doubles = zip(plan.columns, given, strict=True)
        frame = rows.frame.to_native()
        frame = frame.selectExpr("*", *(named(f"CAST({identifier(name, '`')} AS DOUBLE)", x) for name, x in doubles))
        for layer in layers:
            values = []
            for column in layer:
                score, *beside = (exp.column(name, quoted=True) for name in column.of)
                value = SqlReader(score, "spark", beside).read(column.formula)
                values.append(named(value.sql(dialect="spark", copy=False), column.name))
            frame = frame.selectExpr("*", *values)
        there = " AND ".join(f"NOT ({name} IS NULL OR isnan({name}))" for name in given)
        values = [*probs, plan.decision_sql(probs, top, "spark")]
        added = zip(values, [*plan.probs, plan.decision], strict=True)
        wanted = [named(f"CASE WHEN {there} THEN {value} END", name) for value, name in added]
        return frame.selectExpr(*(identifier(name, "`") for name in rows.schema), *wanted)
