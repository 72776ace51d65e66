"""Reads formulas as SQL text of one dialect: numbers that stay doubles, pieces as CASE.

Names of functions and types come from sqlglot, once per dialect; the text is put together here, since trees of a
hundred thousand nodes take a minute to write. Names of columns are quoted here as well.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlglot import Dialect, exp

from oddsmith._types import Floats
from oddsmith.formula.nodes import Arithmetic, Clip, Formula, Function, Number, Where
from oddsmith.formula.reader import Reader

#: Dialects in which a number with an exponent is a double; elsewhere it may be a decimal.
_EXPONENT_IS_DOUBLE = {"bigquery", "databricks", "duckdb", "spark"}

#: Dialects in which a backslash within a quoted name is the beginning of an escape, and those where it escapes quotes.
_ESCAPED_NAMES = {"bigquery", "clickhouse"}
_ESCAPED_QUOTES = {"bigquery"}

_FUNCTIONS: dict[str, type[exp.Expression]] = {"abs": exp.Abs, "exp": exp.Exp, "log": exp.Ln}

#: How NaN is recognized: by a function, by comparing with it, or, where that is not known, by its not being equal to
#: itself. SQLite has none.
_IS_NAN = {
    **dict.fromkeys(("athena", "bigquery", "presto", "trino"), "IS_NAN"),
    **dict.fromkeys(("databricks", "duckdb", "spark", "spark2"), "ISNAN"),
    "clickhouse": "isNaN",
}
_EQUALS_NAN = {"materialize", "postgres", "redshift", "risingwave", "snowflake"}

#: Some engines take no more than 127 arguments.
_MOST_ARGUMENTS = 100

#: What constructs add to the stack of SQLite's parser around their innermost part, and how deep it may become: 100 less
#: the statement around an expression.
_STACK = {"": 1, "sum": 2, "product": 2, "call": 6, "case": 7}
_DEEPEST = 60


class SqlText(str):
    """SQL of a value, with what it is (a sum, a product, a CASE or anything else) and how deeply it is nested."""

    kind: str
    depth: int

    def __new__(cls, text: str, kind: str = "", *parts: "SqlText") -> "SqlText":
        """Return text that is made of parts."""
        made = super().__new__(cls, text)
        made.kind = kind
        made.depth = _STACK[kind] + max((part.depth for part in parts), default=0)
        return made


@cache
def _template(name: str, dialect: str) -> str:
    """Return a function of one value, or its cast to a double, as a dialect writes it, with ``{}`` for the value."""
    of = exp.Var(this="{}")
    double = exp.Cast(this=of, to=exp.DataType(this=exp.DataType.Type.DOUBLE))
    written: exp.Expression = _FUNCTIONS[name](this=of) if name in _FUNCTIONS else double
    return str(written.sql(dialect=dialect))


@cache
def _quotes(dialect: str) -> tuple[str, str]:
    found = Dialect.get_or_raise(dialect)
    return found.IDENTIFIER_START, found.IDENTIFIER_END


def quote(name: str, dialect: str) -> SqlText:
    r"""Return a name in the quotes of a dialect; nothing within ends it.

    Examples
    --------
    >>> print(quote('a"b', "duckdb"), quote("a`\\b", "bigquery"), quote("a]b", "tsql"))
    "a""b" `a\`\\b` [a]]b]
    """
    start, end = _quotes(dialect)
    if dialect in _ESCAPED_NAMES:
        name = name.replace("\\", "\\\\")
    escaped = f"\\{end}" if dialect in _ESCAPED_QUOTES else 2 * end
    return SqlText(f"{start}{name.replace(end, escaped)}{end}")


def as_double(value: str, dialect: str) -> str:
    """Return a value cast to a double."""
    return _template("double", dialect).replace("{}", value)


def is_number(value: str, dialect: str) -> str:
    """Return a test that neither NULL nor NaN passes, nor text, which any column of SQLite may hold."""
    if dialect == "sqlite":
        return f"TYPEOF({value}) IN ('integer', 'real')"
    if dialect in _IS_NAN:
        return f"NOT {value} IS NULL AND NOT {_IS_NAN[dialect]}({value})"
    if dialect in _EQUALS_NAN:
        return f"{value} <> {as_double(chr(39) + 'NaN' + chr(39), dialect)}"
    return f"{value} = {value}"


def label_literal(label: str | bool | int | float, dialect: str) -> str:
    """Return a label as a value of SQL, fractions as doubles."""
    if isinstance(label, float):
        return as_double(f"'{label!r}'", dialect)
    if isinstance(label, int) and not isinstance(label, bool):
        return str(label)
    literal = exp.Boolean(this=label) if isinstance(label, bool) else exp.Literal.string(label)
    return str(literal.sql(dialect=dialect))


def list_literal(values: Sequence[float], kind: str) -> str:
    """Return a list in DuckDB as one piece of text that is cast: thousands of constants would take long to parse."""
    return f"'[{','.join(repr(value).removesuffix('.0') for value in values)}]'::{kind}[]"


def json_numbers(values: list[Any]) -> str:
    """Return numbers, or lists of them, as JSON, whole ones without a point.

    Examples
    --------
    >>> json_numbers([[1.0, 0.5], [2.0, 1e300]])
    '[[1,0.5],[2,1e+300]]'
    """
    return str(values).replace(".0,", ",").replace(".0]", "]").replace(" ", "")


def list_product(factors: str, row: Floats, level: float) -> str:
    """Return the product of a row of a matrix with a list of DuckDB; each step of a sum would fill a buffer."""
    product = f"list_inner_product({factors}, {list_literal(row.tolist(), 'DOUBLE')})"
    return f"{product} + {SqlReader('', 'duckdb').read(Number(level))}"


class SqlReader(Reader[SqlText]):
    """Reads a formula without pieces as an expression of one dialect, given what stands for the score and beside it."""

    def __init__(self, score: str, dialect: str, beside: Sequence[str] = ()) -> None:
        super().__init__(SqlText(score), *map(SqlText, beside))
        self.dialect = dialect
        self._gap = " "  # around signs
        self._least, self._greatest = ("MIN", "MAX") if dialect == "sqlite" else ("LEAST", "GREATEST")

    def _highest(self, of: list[SqlText]) -> SqlText:
        while len(of) > 1:
            parts = [of[start : start + _MOST_ARGUMENTS] for start in range(0, len(of), _MOST_ARGUMENTS)]
            of = [self._call(self._greatest, *part) if len(part) > 1 else part[0] for part in parts]
        return of[0]

    def _number(self, value: float) -> SqlText:
        if math.isnan(value):
            return SqlText("NULL")
        if self.dialect == "sqlite":
            return _exact(value)
        text = repr(value).removesuffix(".0")
        if self.dialect in _EXPONENT_IS_DOUBLE:
            return SqlText(text if "e" in text else f"{text}e0")
        return SqlText(as_double(f"'{text}'", self.dialect), "call")

    def _arithmetic(self, node: Arithmetic, left: SqlText, right: SqlText) -> SqlText:
        if right.kind == "sum" or (node.operator != "+" and right.kind == "product"):
            right = _bracket(right)
        if node.operator in "*/" and left.kind == "sum":
            left = _bracket(left)
        left, right = self._flat(left), self._flat(right)
        kind = "sum" if node.operator in "+-" else "product"
        gap = self._gap if node.operator in "+*" else " "  # two minus signs begin a comment
        return SqlText(f"{left}{gap}{node.operator}{gap}{right}", kind, left, right)

    def _function(self, node: Function, of: SqlText) -> SqlText:
        of = self._flat(of)
        if node.name == "negative":
            of = _bracket(of) if of.kind in ("sum", "product") or of.startswith("-") else of
            return SqlText(f"-{of}", "", of)
        form = "COS({})" if node.name == "cos" else _template(node.name, self.dialect)
        return SqlText(form.replace("{}", of), "call", of)

    def _clip(self, node: Clip, of: SqlText) -> SqlText:
        raised = self._call(self._greatest, of, self._number(node.low))
        return self._call(self._least, raised, self._number(node.high))

    def _call(self, name: str, *of: SqlText) -> SqlText:
        of = tuple(map(self._flat, of))
        return SqlText(f"{name}({', '.join(of)})", "call", *of)

    def _where(self, node: Where, left: SqlText, right: SqlText, then: SqlText, otherwise: SqlText) -> SqlText:
        then, otherwise = self._flat(then), self._flat(otherwise)
        first = f"CASE WHEN {self._at_most(node, left, right)} THEN {then}"
        parts = left, right, then, otherwise
        if otherwise.kind == "case":  # one CASE goes on where the other ends
            made = SqlText(f"{first}{otherwise.removeprefix('CASE')}", "case", left, right, then)
            made.depth = max(made.depth, otherwise.depth)
            return made
        return SqlText(f"{first} END" if otherwise == "NULL" else f"{first} ELSE {otherwise} END", "case", *parts)

    def _at_most(self, node: Where, left: SqlText, right: SqlText) -> str:
        """Compare, by < with the neighbor of a number where that is the rounder one."""
        if isinstance(node.right, Number) and (above := _rounder(node.right.value, math.inf)) is not None:
            return f"{left} < {self._number(above)}"
        if isinstance(node.left, Number) and (under := _rounder(node.left.value, -math.inf)) is not None:
            return f"{right} > {self._number(under)}"
        return f"{right} >= {left}" if isinstance(node.left, Number) else f"{left} <= {right}"

    def _flat(self, of: SqlText) -> SqlText:
        """Return what stands for a part in what is made of it: the part itself."""
        return of


class WholeReader(SqlReader):
    """Reads products of doubles with whole numbers, which are written as such, and shortly."""

    def __init__(self, score: str, dialect: str, beside: Sequence[str] = ()) -> None:
        super().__init__(score, dialect, beside)
        self._gap = ""

    def _number(self, value: float) -> SqlText:
        return SqlText(str(int(value))) if value.is_integer() and abs(value) < 2.0**53 else super()._number(value)


class FlatReader(SqlReader):
    """Reads a formula with parts in columns of their own, where the whole would be nested too deeply for a parser."""

    def __init__(self, score: str, dialect: str, spare: str, beside: Sequence[str] = ()) -> None:
        super().__init__(score, dialect, beside)
        self.spare = spare  # beginning of the names of columns
        self.columns: dict[str, SqlText] = {}  # names by their text, each made of earlier ones

    def _flat(self, of: SqlText) -> SqlText:
        if of.depth <= _DEEPEST:
            return of
        return self.columns.setdefault(of, SqlText(f"{self.spare}{len(self.columns) + 1}"))

    def scalar(self, formula: Formula) -> str:
        """Return an expression: a subquery in brackets where there are columns, which are computed once."""
        value = self.read(formula)
        names, tables = list(self.columns.values()), list[str]()
        for place, text in enumerate(self.columns):
            earlier = ", ".join([*names[:place], f"{text} AS {names[place]}"])
            source = f" FROM {names[place - 1]}_" if place else ""
            tables.append(f"{names[place]}_ AS MATERIALIZED (SELECT {earlier}{source})")
        return f"(WITH {', '.join(tables)} SELECT {value} FROM {names[-1]}_)" if tables else value


def _bracket(of: SqlText) -> SqlText:
    return SqlText(f"({of})", "", of)


def _rounder(value: float, way: float) -> float | None:
    """Return the next double if it is shorter to write."""
    neighbor = math.nextafter(value, way) + 0.0
    return neighbor if math.isfinite(neighbor) and len(repr(neighbor)) < len(repr(value)) else None


def _exact(value: float) -> SqlText:
    """Write a double as a whole number times a power of two: SQLite reads some decimals a digit off."""
    fraction, exponent = math.frexp(value)
    whole, exponent = int(fraction * 2.0**53), exponent - 53
    while exponent < 0 and whole % 2 == 0:
        whole, exponent = whole // 2, exponent + 1
    number = SqlText(f"{whole}.0")
    if exponent == 0:
        return number
    if -62 <= exponent < 0:
        return SqlText(f"{number} / (1 << {-exponent})", "product", number)
    return SqlText(f"{number} * POWER(2.0, {exponent}.0)", "product", SqlText("", "call"))
