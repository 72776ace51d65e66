"""Reads formulas as sqlglot's expressions: numbers that stay doubles, pieces as CASE."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from sqlglot import exp

from oddsmith._types import Floats
from oddsmith.formula import SCORE, Arithmetic, Clip, Formula, Function, Number, Reader, Where, at_piece, rewritten

#: Dialects in which a number with an exponent is a double; elsewhere it may be a decimal.
_EXPONENT_IS_DOUBLE = {"bigquery", "databricks", "duckdb", "spark"}

#: Division is of doubles: no cast is wanted, and no guard against 0.
_quotient = partial(exp.Div, typed=True, safe=False)
_OPERATORS: dict[str, Callable[..., exp.Expression]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul, "/": _quotient}
_FUNCTIONS: dict[str, type[exp.Expression]] = {"abs": exp.Abs, "exp": exp.Exp, "log": exp.Ln, "negative": exp.Neg}

#: Intervals told apart by one CASE: with four the depth is half that of halving, for an eighth more comparisons.
_WAYS = 4

#: Some engines take no more than 127 arguments.
_MOST_ARGUMENTS = 100


def as_decisions(formula: Formula) -> Formula:
    """Return the formula with its pieces told apart by comparisons, in a tree of even depth."""
    return rewritten(formula, pieces=_decisions)


def _decisions(knots: Floats, body: Formula) -> Formula:
    def tree(first: int, last: int) -> Formula:
        if first == last:
            return at_piece(body, first)
        ends = np.linspace(first, last + 1, min(_WAYS, last + 1 - first) + 1).astype(np.intp)
        value = tree(ends[-2], last)
        for start, end in zip(ends[-3::-1], ends[-2:0:-1], strict=True):
            value = Where(SCORE, Number(float(knots[end - 1])), tree(start, end - 1), value)
        return value

    return tree(0, len(knots))


def as_double(value: exp.Expression) -> exp.Expression:
    """Return a value cast to a double."""
    return exp.Cast(this=value, to=exp.DataType(this=exp.DataType.Type.DOUBLE))


def label_literal(label: str | bool | int | float) -> exp.Expression:
    """Return a label as a value of SQL, fractions as doubles."""
    if isinstance(label, float):
        return as_double(exp.Literal.string(repr(label)))
    if isinstance(label, bool):
        return exp.Boolean(this=label)
    return exp.Literal.string(label) if isinstance(label, str) else _signed(str(label))


class SqlReader(Reader[exp.Expression]):
    """Reads a formula without pieces as an expression of one dialect, given what stands for the score and beside it."""

    def __init__(self, score: exp.Expression, dialect: str, beside: Sequence[exp.Expression] = ()) -> None:
        super().__init__()
        self.score = score
        self.dialect = dialect
        self.beside = beside
        self._least, self._greatest = ("MIN", "MAX") if dialect == "sqlite" else ("LEAST", "GREATEST")

    def read(self, formula: Formula) -> exp.Expression:
        """Return an expression of its own: parts of sqlglot's trees cannot be shared."""
        return self._read(formula)

    def _score(self) -> exp.Expression:
        return self.score.copy()

    def _beside(self, place: int) -> exp.Expression:
        return self.beside[place - 1].copy()

    def _highest(self, of: list[exp.Expression]) -> exp.Expression:
        while len(of) > 1:
            parts = [of[start : start + _MOST_ARGUMENTS] for start in range(0, len(of), _MOST_ARGUMENTS)]
            of = [self._call(self._greatest, *part) if len(part) > 1 else part[0] for part in parts]
        return of[0]

    def _number(self, value: float) -> exp.Expression:
        if math.isnan(value):
            return exp.Null()
        if self.dialect == "sqlite":
            return _exact(value)
        text = repr(value).removesuffix(".0")
        if self.dialect in _EXPONENT_IS_DOUBLE:
            return _signed(text if "e" in text else f"{text}e0")
        return as_double(exp.Literal.string(text))

    def _arithmetic(self, node: Arithmetic, left: exp.Expression, right: exp.Expression) -> exp.Expression:
        terms, factors = (exp.Add, exp.Sub), (exp.Mul, exp.Div)
        if isinstance(right, terms) or (node.operator != "+" and isinstance(right, factors)):
            right = exp.paren(right, copy=False)
        if node.operator in "*/" and isinstance(left, terms):
            left = exp.paren(left, copy=False)
        return _OPERATORS[node.operator](this=left, expression=right)

    def _function(self, node: Function, of: exp.Expression) -> exp.Expression:
        if node.name == "cos":
            return exp.Anonymous(this="COS", expressions=[of])
        if node.name == "negative" and isinstance(of, exp.Binary):
            of = exp.paren(of, copy=False)
        return _FUNCTIONS[node.name](this=of)

    def _clip(self, node: Clip, of: exp.Expression) -> exp.Expression:
        raised = self._call(self._greatest, of, self._number(node.low))
        return self._call(self._least, raised, self._number(node.high))

    def _call(self, name: str, *of: exp.Expression) -> exp.Expression:
        # By name: nothing here is NULL, and sqlglot would make dialects agree on NULL at length.
        return exp.Anonymous(this=name, expressions=list(of))

    def _where(
        self, node: Where, left: exp.Expression, right: exp.Expression, then: exp.Expression, otherwise: exp.Expression
    ) -> exp.Expression:
        first = exp.If(this=self._at_most(node, left, right), true=then)
        if isinstance(otherwise, exp.Case):  # one CASE goes on where the other ends
            return exp.Case(ifs=[first, *otherwise.args["ifs"]], default=otherwise.args.get("default"))
        return exp.Case(ifs=[first], default=None if isinstance(otherwise, exp.Null) else otherwise)

    def _at_most(self, node: Where, left: exp.Expression, right: exp.Expression) -> exp.Expression:
        """Compare, by < with the neighbor of a number where that is the rounder one."""
        if isinstance(node.right, Number) and (above := _rounder(node.right.value, math.inf)) is not None:
            return exp.LT(this=left, expression=self._number(above))
        if isinstance(node.left, Number) and (under := _rounder(node.left.value, -math.inf)) is not None:
            return exp.GT(this=right, expression=self._number(under))
        if isinstance(node.left, Number):
            return exp.GTE(this=right, expression=left)
        return exp.LTE(this=left, expression=right)


def _rounder(value: float, way: float) -> float | None:
    """Return the next double if it is shorter to write."""
    neighbor = math.nextafter(value, way) + 0.0
    return neighbor if math.isfinite(neighbor) and len(repr(neighbor)) < len(repr(value)) else None


def _signed(text: str) -> exp.Expression:
    number = exp.Literal(this=text.removeprefix("-"), is_string=False)
    return exp.Neg(this=number) if text.startswith("-") else number


def _exact(value: float) -> exp.Expression:
    """Write a double as a whole number times a power of two: SQLite reads some decimals a digit off."""
    fraction, exponent = math.frexp(value)
    whole, exponent = int(fraction * 2.0**53), exponent - 53
    while exponent < 0 and whole % 2 == 0:
        whole, exponent = whole // 2, exponent + 1
    number = _signed(f"{whole}.0")
    if exponent == 0:
        return number
    if -62 <= exponent < 0:
        power = exp.BitwiseLeftShift(this=exp.Literal.number(1), expression=exp.Literal.number(-exponent))
        return _quotient(this=number, expression=exp.paren(power, copy=False))
    power_of_two = exp.Anonymous(this="POWER", expressions=[_signed("2.0"), _signed(f"{exponent}.0")])
    return exp.Mul(this=number, expression=power_of_two)
