"""PySpark: SQL, with knots told apart by CASE."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oddsmith.frames.engines.base import Frame, FrameEngine
from oddsmith.frames.sql_text import identifier

if TYPE_CHECKING:
    from oddsmith.frames.joint_plan import JointPlan
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

    def with_probabilities(self, rows: "ScoredFrame", plan: "JointPlan") -> Any:
        """Return the native frame with the probabilities of several classes and the decision, layer by layer."""
        from sqlglot import exp

        from oddsmith.formula.sql import SqlReader, as_decisions, label_literal

        def named(value: str, name: str) -> str:
            return f"{value} AS {identifier(name, '`')}"

        given = [f"{rows.spare}_given{place}" for place in range(len(plan.columns))]
        layers, probs, top = plan.layers(given, f"{rows.spare}_", prepare=as_decisions)
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
        labels = (label_literal(label).sql(dialect="spark") for label in plan.labels)
        decisions = (f"WHEN {prob} >= {top} THEN {label}" for prob, label in zip(probs, labels, strict=True))
        added = dict(zip([*plan.probs, plan.decision], [*probs, f"CASE {' '.join(decisions)} END"], strict=True))
        wanted = [named(f"CASE WHEN {there} THEN {value} END", name) for name, value in added.items()]
        return frame.selectExpr(*(identifier(name, "`") for name in rows.schema), *wanted)
