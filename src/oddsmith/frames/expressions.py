"""Reads formulas as expressions of narwhals or Polars, which have the same words."""

import operator
from types import ModuleType
from typing import Any

from oddsmith.formula import Arithmetic, Clip, Column, Formula, Function, Pieces, Reader, Where

_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


class ExpressionReader(Reader[Any]):
    """Reads a formula without pieces as an expression of a column.

    Parameters
    ----------
    words : module
        narwhals or polars.
    score : expression
    as_text : bool
        Whether constants are written as text that is cast: engines that speak SQL read 0.1 as a decimal.
    """

    def __init__(self, words: ModuleType, score: Any, *, as_text: bool = False) -> None:
        super().__init__()
        self.words = words
        self.score = score
        self.as_text = as_text

    def column(self, formula: Formula, name: str) -> Any:
        """Return a named column: missing where the score is missing."""
        return self.words.when(~self.score.is_nan()).then(self.read(formula)).alias(name)

    def _score(self) -> Any:
        return self.score

    def _number(self, value: float) -> Any:
        if value != value:
            return self.words.lit(None).cast(self.words.Float64)
        if self.as_text:
            return self.words.lit(repr(value)).cast(self.words.Float64)
        return self.words.lit(value, dtype=self.words.Float64)

    def _column(self, node: Column) -> Any:
        raise TypeError(node)

    def _arithmetic(self, node: Arithmetic, left: Any, right: Any) -> Any:
        return _OPERATORS[node.operator](left, right)

    def _function(self, node: Function, of: Any) -> Any:
        # Not every narwhals has a minus sign.
        return of * self._number(-1.0) if node.name == "negative" else getattr(of, node.name)()

    def _clip(self, node: Clip, of: Any) -> Any:
        return of.clip(self._number(node.low), self._number(node.high))

    def _where(self, _node: Where, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
        return self.words.when(left <= right).then(then).otherwise(otherwise)

    def _pieces(self, node: Pieces) -> Any:
        raise TypeError(node)


class PolarsReader(ExpressionReader):
    """Reads pieces as well: Polars can search in a series and take from one.

    Attributes
    ----------
    places : dict of str to expression
        Columns that must be in the frame before the expression is used: where scores lie among knots.
    """

    def __init__(self, words: ModuleType, score: Any, spare: str) -> None:
        super().__init__(words, score)
        self.spare = spare
        self.places: dict[str, Any] = {}
        self._place: Any = None

    def _column(self, node: Column) -> Any:
        return self.words.lit(self.words.Series(node.values)).gather(self._place)

    def _pieces(self, node: Pieces) -> Any:
        name = f"{self.spare}_{len(self.places)}"
        self.places[name] = self.words.lit(self.words.Series(node.knots)).search_sorted(self.score)
        around, self._place = self._place, self.words.col(name)
        value = self.read(node.body)
        self._place = around
        return value
