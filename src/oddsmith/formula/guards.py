"""Formulas for engines that stop at an overflow or underflow: every step is held within the range of doubles.

Intervals tell which steps may leave it. A value that would become too large is held first. A factor so small that a
product may vanish gets an addend that changes the product by 1e-60: a sum with it is 0 or far from vanishing.
"""

from typing import NamedTuple

import numpy as np

from oddsmith._types import Floats
from oddsmith.formula.nodes import (
    LIMIT,
    MAX,
    Arithmetic,
    Beside,
    Clip,
    Column,
    Formula,
    Function,
    Highest,
    Number,
    Pieces,
    Score,
    Where,
    clip,
    exp,
    walk,
    where,
)

#: Products stay this far within the range; the smallest normal double is 2.2e−308.
_TOP, _BOTTOM = 1e308, 1e-307

#: What an addend may change, whatever the unit: nothing.
_NOTHING = 1e-60

#: Sums that nearly cancel keep at least this share of their terms.
_ULP = 2.0**-54


class Range(NamedTuple):
    """What a value can be: within [low, high], and 0 or at least ``least`` in size."""

    low: float
    high: float
    least: float

    @staticmethod
    def of(values: Floats) -> "Range":
        """Return the range of numbers that are known."""
        sizes = np.abs(values[values != 0])
        return Range(float(values.min()), float(values.max()), float(sizes.min()) if sizes.size else MAX)

    @property
    def size(self) -> float:
        """The largest size."""
        return max(-self.low, self.high)

    @property
    def is_constant(self) -> bool:
        """Whether there is only one value."""
        return self.low == self.high


Ranged = tuple[Formula, Range]


#: All finite doubles.
ANYTHING = Range(-MAX, MAX, 5e-324)


def guard(formula: Formula) -> Formula:
    """Return the same formula, without pieces, so that no step overflows or underflows at any finite score."""
    return guard_with_range(formula, ANYTHING)[0]


def range_within(formula: Formula, *given: Range) -> Range:
    """Return what the value of a formula can be, given what the score can be and what stands `Beside` it."""
    if any(isinstance(node, Pieces) for node in walk(formula)):
        return ANYTHING
    return guard_with_range(formula, *given)[1]


def guard_with_range(node: Formula, *given: Range) -> Ranged:
    """Return the same formula, without pieces, so that no step overflows or underflows, and what its value can be.

    Given is what the score can be, and what stands `Beside` it.
    """
    match node:
        case Score():
            return node, given[0]
        case Beside(place=place):
            return node, given[place]
        case Highest(of=several):
            values, ranges = zip(*(guard_with_range(one, *given) for one in several), strict=True)
            low, high, least = (best(r[i] for r in ranges) for i, best in enumerate((max, max, min)))
            return Highest(values), Range(low, high, least)
        case Number(value=value):
            return node, Range(value, value, abs(value) or MAX)
        case Column(values=values):
            return node, Range.of(values)
        case Function(name=name, of=of):
            return _function(name, *guard_with_range(of, *given))
        case Clip(of=of, low=low, high=high):
            return _clip(*guard_with_range(of, *given), low, high)
        case Where():
            return _where(node, *given)
        case Arithmetic(operator=operator, left=left, right=right):
            a, b = (guard_with_range(side, *given) for side in (left, right))
            if operator in "+-":
                return _sum(a, b, minus=operator == "-")
            return _product(a, b) if operator == "*" else _quotient(a, b)
    raise TypeError(node)


def _where(node: Where, score: Range, *beside: Range) -> Ranged:
    left, right = node.left, node.right
    then_score = other_score = score
    if isinstance(left, Score) and isinstance(right, Number):
        then_score = score._replace(high=min(score.high, right.value))
        other_score = score._replace(low=max(score.low, right.value))
    if isinstance(left, Number) and isinstance(right, Score):
        then_score = score._replace(low=max(score.low, left.value))
        other_score = score._replace(high=min(score.high, left.value))
    then, a = guard_with_range(node.then, then_score, *beside)
    otherwise, b = guard_with_range(node.otherwise, other_score, *beside)
    known = [r for r in (a, b) if not np.isnan(r.low)]
    merged = Range(min(r.low for r in known), max(r.high for r in known), min(r.least for r in known))
    left, right = (guard_with_range(side, score, *beside)[0] for side in (left, right))
    return where(left, right, then, otherwise), merged


def _function(name: str, of: Formula, r: Range) -> Ranged:
    match name:
        case "negative":
            return -of, Range(-r.high, -r.low, r.least)
        case "abs":
            return Function("abs", of), Range(max(r.low, -r.high, 0.0), r.size, r.least)
        case "cos":
            return Function("cos", of), Range(-1.0, 1.0, _ULP)
        case "log":
            of, r = _clip(of, r, 5e-324, MAX)
            return Function("log", of), Range(float(np.log(r.low)), float(np.log(r.high)), _ULP)
    of, r = _clip(of, r, -LIMIT, LIMIT)
    low, high = float(np.exp(r.low)), float(np.exp(r.high))
    return exp(of), Range(low, high, low)


def _clip(of: Formula, r: Range, low: float, high: float) -> Ranged:
    if low <= r.low and r.high <= high:
        return of, r
    ends = [abs(end) for end in (low, high) if end]
    least, most = (min(max(end, low), high) for end in (r.low, r.high))  # all of it may lie beyond
    return clip(of, low, high), Range(least, most, min([r.least, *ends]))


def _sum(a: Ranged, b: Ranged, *, minus: bool = False) -> Ranged:
    (x, p), (y, q) = a, b
    if minus:
        q = Range(-q.high, -q.low, q.least)
    low, high = p.low + q.low, p.high + q.high
    if not -MAX <= low <= high <= MAX:
        return _sum(*(_clip(*side, -MAX / 2, MAX / 2) for side in (a, b)), minus=minus)
    if p.low >= 0 and q.low >= 0:
        least = low or min(p.least, q.least)
    else:
        # Near a constant the other term is a multiple of the constant's last digit.
        constants = [r.least for r in (p, q) if r.is_constant and r.low]
        least = _ULP * (max(constants) if constants else min(p.least, q.least))
    return (x - y if minus else x + y), Range(low, high, least)


def _product(a: Ranged, b: Ranged) -> Ranged:
    if a[1].size * b[1].size > _TOP:
        # Numbers stay as they are; what is constant by rounding is none.
        bounds = [_TOP / r.size if isinstance(x, Number) else max(_TOP / r.size, _TOP**0.5) for x, r in (b, a)]
        a, b = (
            side if isinstance(side[0], Number) else _clip(*side, -bound, bound)
            for side, bound in zip((a, b), bounds, strict=True)
        )
    if a[1].least * b[1].least < _BOTTOM:
        a = _add_floor(a, _NOTHING / b[1].size)
    if a[1].least * b[1].least < _BOTTOM:
        b = _add_floor(b, _NOTHING / a[1].size)
    (x, p), (y, q) = a, b
    return x * y, _corners(np.multiply, p, q, p.least * q.least)


def _quotient(a: Ranged, b: Ranged) -> Ranged:
    y, q = b
    if a[1].size > _TOP * min(q.least, 1.0):
        a = _clip(*a, -_TOP * q.least, _TOP * q.least)
    if a[1].least < _BOTTOM * q.size:
        a = _add_floor(a, _NOTHING * q.least)
    x, p = a
    return x / y, _corners(np.divide, p, q, p.least / q.size)


def _add_floor(side: Ranged, addend: float) -> Ranged:
    """Add what changes nothing but keeps the value from being tiny, unless it is not that tiny."""
    x, r = side
    if r.is_constant or addend * _ULP <= r.least:
        return side
    return x + addend, Range(r.low + addend, r.high + addend, addend * _ULP)


def _corners(operation: np.ufunc, p: Range, q: Range, least: float) -> Range:
    ends = [float(operation(x, y)) for x in (p.low, p.high) for y in (q.low, q.high)]
    return Range(min(ends), max(ends), least)
