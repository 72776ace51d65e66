"""DuckDB: relations, asked and extended in its own words where these are faster."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from oddsmith.data import Grid
from oddsmith.formula import with_limits
from oddsmith.frames.engines.base import KEY_SEPARATOR, Frame, FrameEngine, LongNames, SentColumn
from oddsmith.frames.sql_text import identifier

if TYPE_CHECKING:
    from duckdb import Expression

    from oddsmith.frames.plans import JointPlan
    from oddsmith.frames.scored_frame import ScoredFrame
    from oddsmith.frames.segments import Maps


class DuckDB(FrameEngine):
    """Relations of DuckDB."""

    kinds = (nw.Implementation.DUCKDB,)

    def query_text(self, native: Any) -> str | None:
        """Return the SQL."""
        return str(native.sql_query())

    def fetch(self, planned: Frame) -> dict[str, SentColumn]:
        """Run a query without PyArrow or pandas, which need not be there."""
        sent = {}
        for name, array in planned.to_native().fetchnumpy().items():
            missing = np.array(np.ma.getmaskarray(array))
            sent[name] = SentColumn.fill(np.ma.getdata(array)[~missing], missing)
        return sent

    def with_cells(self, rows: "ScoredFrame", grid: Grid) -> tuple[Frame, nw.Expr]:
        """Return a relation with the cell of each score as one more column.

        By way of narwhals a logarithm is guarded against all that is no number: a quarter of the time of the query.
        """
        import duckdb

        name = f"{rows.spare}_cell"
        cell = cell_expression(grid, duckdb.ColumnExpression(rows.score).cast("DOUBLE")).alias(name)
        return nw.from_native(rows.frame.to_native().select(duckdb.StarExpression(), cell)), nw.col(name)

    def segments(self, rows: "ScoredFrame", most: int) -> SentColumn | None:
        """Return the segments of the first rows; None where they come from Arrow, perhaps as a stream read once."""
        from oddsmith.frames.duckdb_expressions import plan_operators

        rows.segment()  # of a type that can name segments
        relation = rows.frame.to_native()
        if any("ARROW_SCAN" in operator["name"] for operator in plan_operators(relation)):
            return None
        keys = f" || chr({ord(KEY_SEPARATOR)}) || ".join(f"CAST({identifier(name)} AS VARCHAR)" for name in rows.by)
        return self.fetch(nw.from_native(relation.limit(most).project(f"{keys} AS segment")))["segment"]

    def with_statement(self, native: Any, view: str, write: Callable[[str], str], added: Mapping[str, Any]) -> Any:
        """Return the relation of the statement."""
        del added
        return native.query(view, write("duckdb"))

    def with_probability(self, rows: "ScoredFrame", maps: "Maps", name: str) -> Any:
        """Return the relation with the probability of each row, in their order."""
        from oddsmith.frames.duckdb_expressions import with_formula

        if not maps.by:
            return with_formula(rows, with_limits(maps.formula(None)), name)
        rows.segment()  # of a type that can name segments
        formula = maps.formula(lambda one: self.plain(rows.frame, one))
        return with_formula(rows, formula, name, maps.by[0], list(maps.segments))

    def with_probabilities(self, rows: "ScoredFrame", plan: "JointPlan") -> Any:
        """Return the relation with the probabilities of several classes and the decision, in their order."""
        from oddsmith.frames.duckdb_expressions import with_layers

        return with_layers(rows, plan)

    def unpivot(self, rows: "ScoredFrame", labels: Sequence[Any]) -> tuple[Any, LongNames]:
        """Return a relation with a row for every row and class, by lists that are unnested: one scan, no NULL lost."""
        from oddsmith.formula import label_literal

        names = LongNames("score", "place", "hit", None if rows.weight is None else "weight")
        label = identifier(rows.label)
        cases = (f"WHEN {label_literal(one, 'duckdb')} THEN {place}" for place, one in enumerate(labels))
        truth = f"CASE WHEN {label} IS NULL THEN -2 ELSE CASE {label} {' '.join(cases)} ELSE -1 END END AS truth"
        values = ", ".join(f"{identifier(name)}::DOUBLE" for name in rows.scores)
        kept = "truth" if rows.weight is None else "truth, weight"
        weight = "" if rows.weight is None else f", {identifier(rows.weight)} AS weight"
        relation = rows.frame.to_native().project(f"[{values}] AS scores, {truth}{weight}")
        relation = relation.project(f"unnest(scores) AS score, unnest(range({len(labels)})) AS place, {kept}")
        hit = "CASE WHEN truth > -2 OR place > 0 THEN truth = place END AS hit"
        return relation.project(f"score, place, {hit}{'' if rows.weight is None else ', weight'}"), names


def cell_expression(grid: Grid, score: "Expression") -> "Expression":
    """Return the cell of a score; missing and infinite scores stay what they are."""
    import duckdb

    def call(name: str, of: "Expression") -> "Expression":
        return duckdb.FunctionExpression(name, of)

    cell = call("floor", grid.place(score, lambda odds: call("ln", odds)) * (1 / grid.width))
    return duckdb.CaseExpression((score >= 0) & (score <= 1), cell).otherwise(score) if grid.log_odds else cell
