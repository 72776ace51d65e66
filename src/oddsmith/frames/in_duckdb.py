"""A map inside DuckDB, as fast as a scan allows.

Three things make an expression fast there: no branches (broken lines are sums of hinges), no bounds that nothing needs
(its exponential overflows to ∞ without an error), and no long CASE: many knots are looked up in lists. Lists that ride
along from a one-row subquery cost nothing; written into the expression they are made anew for every 2048 rows.
"""

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from oddsmith._check import Floats
from oddsmith.export._sql_reader import SqlReader, as_decisions
from oddsmith.formula import LIMIT, Clip, Column, Formula, Number, Pieces, at_piece
from oddsmith.frames.hinges import as_hinges
from oddsmith.frames.searching import Search, plan_search

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

#: Fewer knots are told apart by CASE.
_MANY_KNOTS = 8

#: A frame that DuckDB takes for smaller may become the small side of the join with the lists, which does not keep the
#: order of rows.
_SMALL = 20_000


def in_duckdb(relation: "DuckDBPyRelation", formula: Formula, score: str, spare: str, name: str) -> "DuckDBPyRelation":
    """Return a relation with the value of a formula as one more column; rows keep their order.

    Parameters
    ----------
    relation : DuckDBPyRelation
    formula : Formula
    score : str
        Column of doubles. NULL and NaN give NULL.
    spare : str
        Beginning of names that no column has.
    name : str
        Of the new column.
    """
    reader = _LookupReader(exp.column(score, quoted=True), spare)
    value = reader.read(formula).sql(dialect="duckdb", copy=False)
    own = ", ".join(quoted(column) for column in relation.columns)
    column = quoted(score)
    if reader.lists:
        lists = "{" + ", ".join(f"'{field}': {content}" for field, content in reader.lists.items()) + "}"
        rides_along = _expected_rows(relation) > _SMALL
        relation = relation.project(f"*, {f'(SELECT {lists})' if rides_along else lists} AS {quoted(spare)}")
    for place, search, knots in reader.searches:
        begin = "1::BIGINT"
        if len(search.before):
            low, per_cell = (reader.read(Number(value)).sql("duckdb") for value in (search.low, search.per_cell))
            cell = f"TRY_CAST(FLOOR(({column} - ({low})) * {per_cell}) AS BIGINT)"
            begin = f"{quoted(spare)}.{knots}_before[{cell} + 1]"
        relation = relation.project(f"*, {begin} AS {quoted(place)}")
        for step in search.steps:
            passed = f"{column} > {quoted(spare)}.{knots}[{quoted(place)} + {step - 1}]"
            next_place = f"CASE WHEN {passed} THEN {quoted(place)} + {step} ELSE {quoted(place)} END"
            relation = relation.project(f"* REPLACE ({next_place} AS {quoted(place)})")
    return relation.project(f"{own}, CASE WHEN NOT isnan({column}) THEN {value} END AS {quoted(name)}")


def quoted(name: str) -> str:
    """Return a name as SQL."""
    return '"{}"'.format(name.replace('"', '""'))


class _LookupReader(SqlReader):
    """Reads a formula with pieces; says which lists and searches it needs."""

    def __init__(self, score: exp.Expression, spare: str) -> None:
        super().__init__(score, "duckdb")
        self.spare = spare
        self.lists: dict[str, str] = {}  # SQL by field
        self.searches: list[tuple[str, Search, str]] = []
        self.place = ""

    def _clip(self, node: Clip, of: exp.Expression) -> exp.Expression:
        # Only an exponential wants its argument held: here it may overflow.
        return of if (node.low, node.high) == (-LIMIT, LIMIT) else super()._clip(node, of)

    def _column(self, node: Column) -> exp.Expression:
        field = self._list("v", node.values)
        parts = [exp.column(field, table=self.spare, quoted=True), exp.column(self.place, quoted=True)]
        return exp.Anonymous(this="LIST_EXTRACT", expressions=parts)

    def _pieces(self, node: Pieces) -> exp.Expression:
        hinges = as_hinges(node)
        if hinges is not None:
            away = exp.Abs(this=exp.Sub(this=self._score(), expression=self._number(hinges.centre)))
            near = exp.LTE(this=away, expression=self._number(hinges.reach))
            return _case([(near, self.read(hinges.formula))], self.read(as_decisions(node)))
        if len(node.knots) < _MANY_KNOTS:
            return self.read(as_decisions(node))
        search = self._search(node.knots)
        low, high = self._number(search.low), self._number(search.high)
        inside = exp.Between(this=self._score(), low=low, high=high)
        first, last = (self.read(at_piece(node.body, piece)) for piece in (0, len(node.knots)))
        return _case([(inside, self.read(node.body)), (exp.LT(this=self._score(), expression=low.copy()), first)], last)

    def _search(self, knots: Floats) -> Search:
        """Plan a search, or find the same one, and look up what comes next at its place."""
        for place, search, _ in self.searches:
            if np.array_equal(search.knots, knots):
                self.place = place
                return search
        search = plan_search(knots)
        self.place = f"{self.spare}_{len(self.searches)}"
        field = self._list("k", search.padded)
        if len(search.before):
            self.lists[f"{field}_before"] = written_list((search.before + 1).tolist(), "BIGINT")
        self.searches.append((self.place, search, field))
        return search

    def _list(self, kind: str, values: Floats) -> str:
        written = written_list(values.tolist(), "DOUBLE")
        for field, other in self.lists.items():
            if other == written:
                return field
        field = f"{kind}{len(self.lists)}"
        self.lists[field] = written
        return field


def _case(branches: list[tuple[exp.Expression, exp.Expression]], otherwise: exp.Expression) -> exp.Expression:
    return exp.Case(ifs=[exp.If(this=test, true=value) for test, value in branches], default=otherwise)


def written_list(values: list[Any], kind: str) -> str:
    """Return a list as one piece of text that is cast: thousands of constants would take long to parse."""
    return f"'[{','.join(map(repr, values))}]'::{kind}[]"


def _expected_rows(relation: "DuckDBPyRelation") -> int:
    """Return how many rows DuckDB believes a relation to have, 0 where it does not say."""
    found = re.search(r"~([\d,]+) rows?", relation.explain(), re.IGNORECASE)
    return int(found[1].replace(",", "")) if found else 0
