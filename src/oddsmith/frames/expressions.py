"""Reads formulas as expressions of narwhals or Polars, which have the same words."""

import operator
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from oddsmith.formula import Arithmetic, Clip, Column, Formula, Function, Reader, Where

_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


class ExpressionReader(Reader[Any]):
    """Reads a formula without pieces as an expression of a column.

    Parameters
    ----------
    words : module
        narwhals or polars.
    score : expression
    spare : str
        Beginning of names that no column has.
    as_text : bool
        Whether constants are written as text that is cast.
    beside : sequence of expressions
        What stands beside the score.

    Attributes
    ----------
    parameters : dict of str to list
        What a formula by segment needs joined to the rows: columns, one value per segment.
    """

    def __init__(
        self, words: ModuleType, score: Any, spare: str, *, as_text: bool = False, beside: Sequence[Any] = ()
    ) -> None:
        super().__init__()
        self.words = words
        self.score = score
        self.spare = spare
        self.as_text = as_text
        self.beside = beside
        self.parameters: dict[str, list[float]] = {}

    def column(self, formula: Formula, name: str) -> Any:
        """Return a named column: missing where the score is missing."""
        return self.words.when(~self.score.is_nan()).then(self.read(formula)).alias(name)

    def _score(self) -> Any:
        return self.score

    def _beside(self, place: int) -> Any:
        return self.beside[place - 1]

    def _highest(self, of: list[Any]) -> Any:
        return self.words.max_horizontal(*of)

    def _number(self, value: float) -> Any:
        if value != value:
            return self.words.lit(None).cast(self.words.Float64)
        if self.as_text:
            return self.words.lit(repr(value)).cast(self.words.Float64)
        return self.words.lit(value, dtype=self.words.Float64)

    def _column(self, node: Column) -> Any:
        name = f"{self.spare}_{len(self.parameters)}"
        *self.parameters[name], unknown = node.values.ravel().tolist()
        return self.words.coalesce(self.words.col(name), self._number(unknown))

    def _arithmetic(self, node: Arithmetic, left: Any, right: Any) -> Any:
        return _OPERATORS[node.operator](left, right)

    def _function(self, node: Function, of: Any) -> Any:
        # Not every narwhals has a minus sign.
        return of * self._number(-1.0) if node.name == "negative" else getattr(of, node.name)()

    def _clip(self, node: Clip, of: Any) -> Any:
        return of.clip(self._number(node.low), self._number(node.high))

    def _where(self, _node: Where, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
        return self.words.when(left <= right).then(then).otherwise(otherwise)


def most_probable(words: ModuleType, probs: Sequence[Any], top: Any, labels: Sequence[Any]) -> Any:
    """Return the first label whose probability is the largest, as an expression; null where there is none."""
    decision = words.when(probs[-1] >= top).then(words.lit(labels[-1]))
    for prob, label in reversed(list(zip(probs[:-1], labels[:-1], strict=True))):
        decision = words.when(prob >= top).then(words.lit(label)).otherwise(decision)
    return decision
