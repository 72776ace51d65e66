"""A map inside DuckDB, as fast as a scan allows, with rows in their order.

Four things make an expression fast there: no branches (broken lines are sums of hinges), no bounds that nothing needs
(its exponential overflows to ∞ without an error), logarithms of the score in columns of their own, each computed once,
and no long CASE: many knots are looked up in lists, and so are the constants of many segments. Lists that ride along
from a one-row subquery cost nothing; written into the expression they are made anew for every 2048 rows. Hash joins
would do as well, but do not keep the order of rows.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from oddsmith._types import Floats
from oddsmith.formula import (
    ANYTHING,
    FAR,
    LIMIT,
    SCORE,
    Arithmetic,
    Beside,
    Clip,
    Column,
    Formula,
    Function,
    Layer,
    LayerColumn,
    Pieces,
    Range,
    Score,
    SqlReader,
    SqlText,
    as_decisions,
    at_piece,
    columns_to_carry,
    evaluate,
    list_literal,
    list_product,
    parts,
    range_within,
    small_ranges,
    walk,
)
from oddsmith.frames.hinges import as_hinges
from oddsmith.frames.searching import Search, plan_search
from oddsmith.frames.sql_text import identifier, text_literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from oddsmith.frames.plans import JointPlan
    from oddsmith.frames.scored_frame import ScoredFrame

#: Fewer knots are told apart by CASE.
_MANY_KNOTS = 8

#: Knots left over by a guide are compared one by one where a binary search would take no more steps: few rows pass the
#: first of them, and the others are compared in those rows alone.
_FEW_STEPS = 2

#: Scores up to such a size, if possible, are plain. More would cost digits: those of the score itself count beside the
#: logarithm of a sum of exponentials.
_REACHES = (50.0, 30.0, 20.0, 10.0, 5.0, 1.0)

#: Products with fewer columns are written out.
_LONG_ROW = 6

#: A frame that DuckDB takes for smaller may become the inner side of the join with the lists, which does not keep the
#: order of rows.
_SMALL = 20_000


def with_formula(
    rows: "ScoredFrame", formula: Formula, name: str, by: str | None = None, segments: Sequence[str] = ()
) -> "DuckDBPyRelation":
    """Return a relation with the value of a formula as one more column, NULL where the score is NULL or NaN.

    By segment, the formula's columns have a value for each name, and one more for all others.
    """
    score, key = f"{rows.spare}_score", f"{rows.spare}_key"
    relation: DuckDBPyRelation = rows.frame.to_native()
    relation = relation.project(f"*, {identifier(rows.score)}::DOUBLE AS {score}")
    reader = _LookupReader(identifier(score), rows.spare)
    if by is not None and segments:
        relation = relation.project(f"*, {identifier(by)}::VARCHAR AS {identifier(key)}")
        reader.search_names(identifier(key), segments)
    value: str = reader.read(formula)
    relation = _with_places(relation, [reader])
    if not _hands_null_on(formula, reader.guarded):
        value = _if(f"NOT isnan({identifier(score)})", value)
    columns = ", ".join(map(identifier, rows.schema))
    return relation.project(f"{columns}, {value} AS {identifier(name)}")


def with_layers(rows: "ScoredFrame", plan: "JointPlan") -> "DuckDBPyRelation":
    """Return a relation with the probabilities of several classes and the decision, NULL where a score is missing.

    Most rows are plain: their scores are so small that nothing overflows. What guards against overflow is computed only
    in the others.
    """
    spare = f"{rows.spare}_"
    plain, there = identifier(f"{spare}plain"), identifier(f"{spare}there")
    given, layers, probs, top = plan.layers(spare)
    reach, layers, ranges = _plan(layers, given)
    kept = [f"{spare}plain", f"{spare}there"]
    # What all probabilities are multiplied by or divided by is missing where they are to be.
    last = [one for layer in layers for one in layer if one.name in probs]
    shared = set.intersection(*(_null_sources(one.formula, one.of) for one in last))
    carried = columns_to_carry(layers, [*kept, *given], [*kept, *probs, top])
    own = ", ".join(map(identifier, rows.schema))
    relation: DuckDBPyRelation = rows.frame.to_native()
    doubles = (f"{identifier(name)}::DOUBLE AS {new}" for name, new in zip(plan.columns, given, strict=True))
    relation = relation.project(f"*, {', '.join(doubles)}")
    inside = " AND ".join(f"{name} BETWEEN {-reach!r}::DOUBLE AND {reach!r}::DOUBLE" for name in given)
    relation = relation.project(f"*, {inside} AS {plain}")
    numbers = " AND ".join(f"NOT isnan({name})" for name in given)
    relation = relation.project(f"*, CASE WHEN {plain} THEN true ELSE {numbers} END AS {there}")
    for layer, earlier in zip(layers, carried, strict=True):
        readers = [_PlainReader(column, plain, [ranges[name] for name in column.of]) for column in layer]
        factors = f"{layer[0].name}_factors"
        if len(layer[0].of) >= _LONG_ROW and layer[0].row is not None:
            relation = relation.project(f"*, [{', '.join(map(identifier, layer[0].of))}] AS {identifier(factors)}")
            columns = {reader.spare: reader.product(factors) for reader in readers}
        else:
            columns = {reader.spare: reader.value() for reader in readers}
        relation = _with_places(relation, readers)
        named = (f"{_if(there, x) if name in shared else x} AS {identifier(name)}" for name, x in columns.items())
        relation = relation.project(", ".join([own, *map(identifier, earlier), *named]))
    values = list(map(identifier, probs))
    values.append(plan.decision_sql(values, identifier(top), "duckdb"))
    added = zip(values, [*plan.probs, plan.decision], strict=True)
    wanted = (f"{value if shared else _if(there, value)} AS {identifier(name)}" for value, name in added)
    return relation.project(", ".join([own, *wanted]))


def _if(test: str, value: str) -> str:
    return f"CASE WHEN {test} THEN {value} END"


def _with_places(relation: "DuckDBPyRelation", readers: "Sequence[_LookupReader]") -> "DuckDBPyRelation":
    """Return a relation with logarithms, the lists that readers look things up in, and the places to look at."""
    for logs in zip_longest(*(reader.logs.items() for reader in readers)):
        relation = relation.project(", ".join(["*", *(f"{log[0]} AS {log[1]}" for log in logs if log is not None)]))
    lists = {reader.spare: reader.lists for reader in readers if reader.lists}
    if lists:
        form = "(SELECT {{{}}}) AS {}" if _expected_rows(relation) > _SMALL else "{{{}}} AS {}"
        structs = (
            form.format(", ".join(f"'{field}': {content}" for field, content in fields.items()), identifier(name))
            for name, fields in lists.items()
        )
        relation = relation.project(f"*, {', '.join(structs)}")
    for together in zip_longest(*(reader.steps for reader in readers)):
        steps = [step for step in together if step is not None]
        replaced = ", ".join(f"{step.value} AS {step.place}" for step in steps if not step.is_first)
        first = (f"{step.value} AS {step.place}" for step in steps if step.is_first)
        relation = relation.project(", ".join([f"* REPLACE ({replaced})" if replaced else "*", *first]))
    return relation


def _hands_null_on(node: Formula, guarded: Sequence[Formula]) -> bool:
    """Whether a formula is NULL because a part of it, which is guarded already, is."""
    if any(node is one for one in guarded):
        return True
    passes = isinstance(node, Arithmetic | Function) or (isinstance(node, Clip) and not _needs_clip(node))
    return passes and any(_hands_null_on(part, guarded) for part in parts(node))


def _null_sources(node: Formula, of: Sequence[str]) -> set[str]:
    """Return the columns, among those that a formula reads, of which NULL makes it NULL: bounds and branches do not."""
    if isinstance(node, Score | Beside):
        return {of[node.place if isinstance(node, Beside) else 0]}
    if isinstance(node, Arithmetic | Function):
        return set[str]().union(*(_null_sources(part, of) for part in parts(node)))
    return set()


def _is_positive(formula: Formula) -> bool:
    """Whether a formula of the score alone is positive, or not a number, at ±∞ as it is at all finite scores."""
    if any(isinstance(node, Column | Pieces | Beside) for node in walk(formula)):
        return False
    return not np.any(evaluate(formula, [-np.inf, np.inf]) <= 0)


def _needs_clip(node: Clip) -> bool:
    """Whether DuckDB has to clip. Its exponential may overflow, so what is held for that alone is not."""
    return (node.low, node.high) != (-LIMIT, LIMIT)


class _Step(NamedTuple):
    """A place in a list, or what comes nearer to it."""

    value: str
    place: str
    is_first: bool = False


class _LookupReader(SqlReader):
    """Reads a formula as an expression, and says what must be there to compute it."""

    def __init__(self, score: str, spare: str, beside: Sequence[str] = ()) -> None:
        super().__init__(score, "duckdb", list(map(identifier, beside)))
        self.spare = spare  # beginning of names that no column has
        self.lists: dict[str, str] = {}  # fields of the column ``spare``, in SQL
        self.steps: list[_Step] = []  # that find places in those lists, one after the other
        self.guarded: list[Formula] = []  # what is NULL where the score is NULL or NaN
        self.logs: dict[SqlText, SqlText] = {}  # columns of logarithms by their text, each of earlier ones
        self.place = ""
        self._searches: list[tuple[Search, str]] = []

    def search_names(self, column: str, names: Sequence[str]) -> None:
        """Look up at the place of each row's segment, or at the one after the last: by hash, which is a number."""
        hashes, salt = _hashes(names)
        order = np.argsort(hashes)
        listed = ", ".join(text_literal(names[i]) for i in order)
        self.lists["names"] = f"[{listed}]"
        # Constants are in the order of the names, not of their hashes.
        self.lists["ranks"] = list_literal((order + 1).tolist(), "BIGINT")
        spare = identifier(self.spare)
        found = self._find(plan_search(hashes[order]), f"hash({column}, {salt})::DOUBLE")
        rank = f"CASE WHEN {spare}.names[{found}] = {column} THEN {spare}.ranks[{found}] ELSE {len(order) + 1} END"
        self.steps.append(_Step(rank, found))
        self.place = found

    def _clip(self, node: Clip, of: SqlText) -> SqlText:
        if not _needs_clip(node):
            return of
        held = super()._clip(node, of)
        if not isinstance(node.of, Score):
            return held
        # Two functions in all rows take longer than a comparison, after which hardly a row is left.
        return _case([(f"{of} BETWEEN {self._number(node.low)} AND {self._number(node.high)}", of)], held)

    def _function(self, node: Function, of: SqlText) -> SqlText:
        """Compute a logarithm of the score once: DuckDB finds no common parts within CASE."""
        value = super()._function(node, of)
        if node.name != "log" or not _is_positive(node.of):
            return value
        return self.logs.setdefault(value, SqlText(identifier(f"{self.spare}_log{len(self.logs)}")))

    def _column(self, node: Column) -> SqlText:
        list_ = f"{identifier(self.spare)}.{self._list(node.values.ravel())}"
        return SqlText(f"LIST_EXTRACT({list_}, {self.place})", "call")

    def _pieces(self, node: Pieces) -> SqlText:
        hinges = as_hinges(node)
        if hinges is not None:
            of = self.read(hinges.of)
            line = SqlReader(of, "duckdb").read(hinges.formula)
            near = f"ABS({of} - ({self._number(hinges.center)})) <= {self._number(hinges.reach)}"
            if hinges.of is not SCORE:
                values = range_within(hinges.of, ANYTHING)
                always = max(hinges.center - values.low, values.high - hinges.center) <= hinges.reach
                return line if always else _case([(near, line)], self.read(as_decisions(node)))
            # What is near is a number: no need to look for others in all rows. NULL is neither near nor known.
            known = f"NOT isnan({self._score()})"
            self.guarded.append(node)
            return _case([(near, line), (known, self.read(as_decisions(node)))])
        if len(node.knots) < _MANY_KNOTS:
            return self.read(as_decisions(node))
        search, self.place = self._search(node.knots)
        low, high = self._number(search.low), self._number(search.high)
        inside = f"{self._score()} BETWEEN {low} AND {high}"
        first, last = (self.read(at_piece(node.body, piece)) for piece in (0, len(node.knots)))
        return _case([(inside, self.read(node.body)), (f"{self._score()} < {low}", first)], last)

    def _search(self, knots: Floats) -> tuple[Search, str]:
        """Search for the score among knots, or find that this was done."""
        for search, place in self._searches:
            if np.array_equal(search.knots, knots):
                return search, place
        search = plan_search(knots)
        self._searches.append((search, self._find(search, self._score())))
        return self._searches[-1]

    def _find(self, search: Search, value: str) -> str:
        """Write the steps of a search; return the column with the place, counted from 1."""
        place, spare = identifier(f"{self.spare}_{len(self.steps)}"), identifier(self.spare)
        begin, knots = "1::BIGINT", self._list(search.padded_knots)
        if len(search.before):
            before = f"before{len(self.lists)}"
            self.lists[before] = list_literal((search.before + 1).tolist(), "BIGINT")
            low, per_cell = (self._number(number) for number in (search.low, search.per_cell))
            begin = f"{spare}.{before}[TRY_CAST(FLOOR(({value} - ({low})) * {per_cell}) AS BIGINT) + 1]"
        self.steps.append(_Step(begin, place, is_first=True))
        if len(search.before) and len(search.steps) <= _FEW_STEPS:
            nearer = place
            for knot in reversed(range(sum(search.steps))):
                farther = f"{place} + {knot + 1}" if nearer == place else nearer
                passed = f"{value} > {spare}.{knots}[{place} + {knot}]"
                nearer = f"CASE WHEN {passed} THEN {farther} ELSE {place} + {knot} END"
            self.steps.append(_Step(nearer, place))
            return place
        for step in search.steps:
            passed = f"{value} > {spare}.{knots}[{place} + {step - 1}]"
            self.steps.append(_Step(f"CASE WHEN {passed} THEN {place} + {step} ELSE {place} END", place))
        return place

    def _list(self, values: Floats) -> str:
        """Return the field of a list, which may be there already."""
        written = list_literal(values.tolist(), "DOUBLE")
        known = [field for field, other in self.lists.items() if other == written]
        field = known[0] if known else f"list{len(self.lists)}"
        self.lists[field] = written
        return field


class _PlainReader(_LookupReader):
    """Reads a column of a layer: in plain rows what cannot leave its bounds is not held, and no largest sought."""

    def __init__(self, column: LayerColumn, plain: str, ranges: Sequence[Range]) -> None:
        super().__init__(identifier(column.of[0]), column.name, column.of[1:])
        self.column = column
        self.plain = plain  # a column of bools: which rows are plain
        self.ranges = ranges  # what the columns that it reads can be in those

    def value(self) -> str:
        """Return what the column is."""
        value = self.read(self.column.formula)
        return _case([(self.plain, self._number(0.0))], value) if self.column.rough else value

    def product(self, factors: str) -> str:
        """Return the product of a row of a matrix with a list."""
        assert self.column.row is not None
        return list_product(identifier(factors), self.column.row, self.column.level)

    def _clip(self, node: Clip, of: SqlText) -> SqlText:
        held = super()._clip(node, of)
        if held is of:
            return of
        low, high, _ = range_within(node.of, *self.ranges)
        stays = node.low <= low and high <= node.high
        return _case([(self.plain, of)], held) if stays else held


def _plan(layers: list[Layer], given: Sequence[str]) -> tuple[float, list[Layer], dict[str, Range]]:
    """Return up to which size scores are plain, layers for it, and what their columns can be in plain rows."""
    columns = [column for layer in layers for column in layer]
    if any(column.rough for column in columns):
        for reach in _REACHES:
            ranges = small_ranges(layers, given, reach)
            if ranges is not None:
                return reach, layers, ranges
    exact = [[replace(column, rough=False) for column in layer] for layer in layers]
    anything = dict.fromkeys((column.name for column in columns), ANYTHING)
    return FAR, exact, anything | dict.fromkeys(given, Range(-FAR, FAR, ANYTHING.least))


def _case(branches: list[tuple[str, SqlText]], otherwise: SqlText | None = None) -> SqlText:
    whens = " ".join(f"WHEN {test} THEN {value}" for test, value in branches)
    return SqlText(f"CASE {whens} END" if otherwise is None else f"CASE {whens} ELSE {otherwise} END", "case")


def _hashes(names: Sequence[str]) -> tuple[Floats, int]:
    """Return a number for each name, all different, and the salt that makes them so."""
    import duckdb

    with duckdb.connect() as connection:
        for salt in range(100):
            query = "SELECT hash(name, ?)::DOUBLE AS h FROM (SELECT unnest(?::VARCHAR[]) AS name)"
            hashes = connection.execute(query, [salt, list(names)]).fetchnumpy()["h"]
            if len(np.unique(hashes)) == len(names):
                break
    return np.asarray(hashes, dtype=np.float64), salt


def plan_operators(relation: "DuckDBPyRelation") -> Iterator[dict[str, Any]]:
    """Return the operators of the plan that DuckDB makes for a relation, from the result down to what is read."""
    waiting = json.loads(relation.explain(format="json"))
    while waiting:
        operator = waiting.pop(0)
        yield operator
        waiting = operator["children"] + waiting


def _expected_rows(relation: "DuckDBPyRelation") -> int:
    """Return how many rows DuckDB expects a relation to have, 0 where its plan has no number."""
    found = (operator["extra_info"].get("Estimated Cardinality") for operator in plan_operators(relation))
    return int(next(filter(None, found), 0))
