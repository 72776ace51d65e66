"""Reads formulas as expressions of narwhals or Polars, which have the same words."""

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from types import ModuleType
from typing import TYPE_CHECKING, Any

from oddsmith.formula import Arithmetic, Clip, Column, Formula, Function, Reader, Where

if TYPE_CHECKING:
    from oddsmith.frames.plans import JointPlan, PlannedLayers

_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


class ExpressionReader(Reader[Any]):
    """Reads a formula without pieces as an expression of a column."""

    def __init__(
        self, words: ModuleType, score: Any, spare: str, *, as_text: bool = False, beside: Sequence[Any] = ()
    ) -> None:
        super().__init__()
        self.words = words  # narwhals or polars
        self.score = score
        self.spare = spare  # beginning of names that no column has
        self.as_text = as_text  # whether constants are written as text that is cast
        self.beside = beside  # expressions for what stands beside the score
        #: What a formula by segment needs joined to the rows: columns, one value per segment.
        self.parameters: dict[str, list[float]] = {}
        #: Columns that must be there first: where scores lie among knots, for a reader that looks them up.
        self.places: dict[str, Any] = {}

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
        # Narwhals' clip repeats its argument in SQL: expressions would grow exponentially with their bounds.
        held = self.words.min_horizontal(of, self._number(node.high))
        return self.words.max_horizontal(held, self._number(node.low))

    def _where(self, _node: Where, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
        return self.words.when(left <= right).then(then).otherwise(otherwise)


def with_layers(
    words: ModuleType,
    frame: Any,
    doubles: Iterable[Any],
    plan: "JointPlan",
    layers: "PlannedLayers",
    reader: Callable[..., ExpressionReader],
) -> Any:
    """Return a frame with the layers of a plan, its probabilities and the decision, null where a double is missing."""
    given, steps, names, largest = layers
    frame = frame.with_columns(**dict(zip(given, doubles, strict=True)))
    for layer in steps:
        columns, places = dict[str, Any](), dict[str, Any]()
        for column in layer:
            score, *beside = map(words.col, column.of)
            found = reader(words, score, f"{column.name}_place", beside=beside)
            columns[column.name] = found.read(column.formula)
            places |= found.places
        frame = (frame.with_columns(**places) if places else frame).with_columns(**columns)
    *probs, top = map(words.col, [*names, largest])
    # The first label whose probability is the largest.
    decision = words.when(probs[-1] >= top).then(words.lit(plan.labels[-1]))
    for prob, label in reversed(list(zip(probs[:-1], plan.labels[:-1], strict=True))):
        decision = words.when(prob >= top).then(words.lit(label)).otherwise(decision)
    # A column of its own: within each of the others it would make the plan grow with the square of the classes.
    there = f"{largest}_there"
    frame = frame.with_columns(**{there: reduce(operator.and_, (~words.col(name).is_nan() for name in given))})
    added = zip([*plan.probs, plan.decision], [*probs, decision], strict=True)
    return frame.with_columns(**{name: words.when(words.col(there)).then(value) for name, value in added})
