"""PySpark: SQL, with knots told apart by CASE."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from oddsmith._types import Floats
from oddsmith.formula import Formula
from oddsmith.frames.engines.base import Frame, FrameEngine
from oddsmith.frames.sql_text import identifier

if TYPE_CHECKING:
    from oddsmith.frames.plans import JointPlan
    from oddsmith.frames.scored_frame import ScoredFrame
    from oddsmith.frames.segments import Maps

#: Up to so many classes each component of a vector is a column, which Spark compiles.
_FEW_CLASSES = 12


class Spark(FrameEngine):
    """Frames of PySpark, in which dots are paths and names are not told apart by case."""

    kinds = (nw.Implementation.PYSPARK, nw.Implementation.PYSPARK_CONNECT)
    has_local_times = True
    renames = True

    def rename(self, native: Any, names: Mapping[str, str]) -> Any:
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

    def join(self, frame: Frame, key: str, table: Mapping[str, list[Any]]) -> Frame:
        """Join a frame of the same session."""
        rows = list(zip(*table.values(), strict=True))
        columns = [f"`{key}` STRING", *(f"`{name}` DOUBLE" for name in table if name != key)]
        other = nw.from_native(frame.to_native().sparkSession.createDataFrame(rows, ", ".join(columns)))
        return frame.join(other, on=key, how="left")

    def with_statement(self, native: Any, view: str, write: Callable[[str], str], added: Mapping[str, Any]) -> Any:
        """Return the frame of the statement; the view is there only while it is planned."""
        del added
        session = native.sparkSession
        native.createOrReplaceTempView(view)
        try:
            return session.sql(write("spark"))
        finally:
            session.catalog.dropTempView(view)

    def with_probability(self, rows: "ScoredFrame", maps: "Maps", name: str) -> Any:
        """Return the native frame with the probability of each row; parameters of segments are joined to the rows.

        By way of narwhals each bound and each logarithm would repeat its argument, and expressions grow exponentially.
        """
        from oddsmith.formula import Beside, Number, SqlReader, is_number, rewritten

        score, key = f"{rows.spare}_score", f"{rows.spare}_key"
        parameters: dict[str, list[float]] = {}
        beside: list[str] = []

        def parameter(values: Floats) -> Formula:
            column = f"{rows.spare}_{len(parameters)}"
            *parameters[column], unknown = values.ravel().tolist()
            beside.append(f"COALESCE({column}, {SqlReader('', 'spark').read(Number(unknown))})")
            return Beside(len(beside))

        formula = rewritten(maps.formula(lambda one: self.plain(rows.frame, one)), column=parameter)
        value = f"CASE WHEN {is_number(score, 'spark')} THEN {SqlReader(score, 'spark', beside).read(formula)} END"
        frame = rows.frame.with_columns(rows.as_double(rows.score).alias(score))
        if parameters:
            frame = self.join(
                frame.with_columns(rows.segment().alias(key)), key, {key: list(maps.segments), **parameters}
            )
        return frame.to_native().selectExpr(*(identifier(own, "`") for own in rows.schema), _with_name(value, name))

    def with_probabilities(self, rows: "ScoredFrame", plan: "JointPlan") -> Any:
        """Return the native frame with the probabilities of several classes and the decision, layer by layer."""
        from oddsmith.formula import SqlReader, as_decisions

        if len(plan.labels) > _FEW_CLASSES:
            return _with_arrays(rows, plan)

        given, layers, probs, top = plan.layers(f"{rows.spare}_", prepare=as_decisions)
        doubles = zip(plan.columns, given, strict=True)
        frame = rows.frame.to_native()
        frame = frame.selectExpr(
            "*", *(_with_name(f"CAST({identifier(name, '`')} AS DOUBLE)", x) for name, x in doubles)
        )
        for layer in layers:
            values = []
            for column in layer:
                score, *beside = column.of
                values.append(_with_name(SqlReader(score, "spark", beside).read(column.formula), column.name))
            frame = frame.selectExpr("*", *values)
        there = " AND ".join(f"NOT ({name} IS NULL OR isnan({name}))" for name in given)
        values = [*probs, plan.decision_sql(probs, top, "spark")]
        added = zip(values, [*plan.probs, plan.decision], strict=True)
        wanted = [_with_name(f"CASE WHEN {there} THEN {value} END", name) for value, name in added]
        return frame.selectExpr(*(identifier(name, "`") for name in rows.schema), *wanted)


def _with_name(value: str, name: str) -> str:
    return f"{value} AS {identifier(name, '`')}"


def _with_arrays(rows: "ScoredFrame", plan: "JointPlan") -> Any:
    """Return a frame with the probabilities of many classes and the decision, by columns of arrays."""
    from oddsmith.formula import as_arrays, label_literal

    given = f"{rows.spare}_given"
    own = [identifier(name, "`") for name in rows.schema]
    doubles = ", ".join(f"CAST({identifier(name, '`')} AS DOUBLE)" for name in plan.columns)
    frame = rows.frame.to_native().selectExpr("*", f"array({doubles}) AS {given}")
    layers, prob = as_arrays(plan.map.probability_formula(), given, f"{rows.spare}_", "spark")
    for layer in layers:
        frame = frame.selectExpr("*", *(f"{value} AS {name}" for value, name in layer))
    # A row in which a value is missing has no result.
    missing = f"exists({given}, s -> s IS NULL OR isnan(s))"
    frame = frame.selectExpr(*own, f"CASE WHEN NOT {missing} THEN {prob} END AS {prob}")
    labels = ", ".join(label_literal(label, "spark") for label in plan.labels)
    place = f"CAST(array_position({prob}, array_max({prob})) AS INT)"
    # Spark takes an element of an array without NULL for not NULL, whatever its place.
    decision = f"CASE WHEN {prob} IS NOT NULL THEN element_at(array({labels}), {place}) END"
    values = [*(f"{prob}[{place}]" for place in range(len(plan.probs))), decision]
    return frame.selectExpr(*own, *map(_with_name, values, [*plan.probs, plan.decision]))
