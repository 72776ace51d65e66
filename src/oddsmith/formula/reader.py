"""Readers of formulas: one method per kind of node."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic

from oddsmith._types import Floats
from oddsmith.formula.nodes import (
    SCORE,
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
    T,
    Where,
    arithmetic,
    clip,
    function,
    where,
)


class UnreadableError(TypeError):
    """A reader makes nothing of a kind of node."""


class Reader(ABC, Generic[T]):
    """Makes something of a formula, node by node, each once; methods get a node and what was made of its parts.

    Given is what is made of the score, and of what stands `Beside` it.
    """

    def __init__(self, *given: T) -> None:
        self._given = given
        self._known: dict[int, tuple[Formula, T]] = {}  # nodes are kept alive: their ids are keys

    def read(self, formula: Formula) -> T:
        """Return what this reader makes of a formula."""
        if id(formula) not in self._known:
            self._known[id(formula)] = formula, self._read(formula)
        return self._known[id(formula)][1]

    def _read(self, node: Formula) -> T:
        match node:
            case Score():
                return self._score()
            case Number():
                return self._number(node.value)
            case Column():
                return self._column(node)
            case Arithmetic():
                return self._arithmetic(node, self.read(node.left), self.read(node.right))
            case Function():
                return self._function(node, self.read(node.of))
            case Clip():
                return self._clip(node, self.read(node.of))
            case Where():
                left, right, then, otherwise = map(self.read, (node.left, node.right, node.then, node.otherwise))
                return self._where(node, left, right, then, otherwise)
            case Pieces():
                return self._pieces(node)
            case Beside():
                return self._beside(node.place)
            case Highest():
                return self._highest([self.read(one) for one in node.of])
        raise UnreadableError(node)

    def _score(self) -> T:
        return self._given[0]

    def _beside(self, place: int) -> T:
        if place >= len(self._given):
            raise UnreadableError(place)
        return self._given[place]

    @abstractmethod
    def _number(self, value: float) -> T: ...

    def _column(self, node: Column) -> T:
        raise UnreadableError(node)

    @abstractmethod
    def _arithmetic(self, node: Arithmetic, left: T, right: T) -> T: ...

    @abstractmethod
    def _function(self, node: Function, of: T) -> T: ...

    @abstractmethod
    def _clip(self, node: Clip, of: T) -> T: ...

    def _where(self, node: Where, left: T, right: T, then: T, otherwise: T) -> T:
        raise UnreadableError(node, left, right, then, otherwise)

    def _pieces(self, node: Pieces) -> T:
        """Find the piece of each score, then read the body."""
        raise UnreadableError(node)

    def _highest(self, of: list[T]) -> T:
        raise UnreadableError(of)


def rewritten(
    formula: Formula,
    *,
    score: Formula = SCORE,
    number: Callable[[float], Formula] = Number,
    column: Callable[[Floats], Formula] = Column,
    pieces: Callable[[Floats, Formula], Formula] = Pieces,
) -> Formula:
    """Return a formula with another score, or other constants or pieces, by functions that make formulas of them.

    They get a number, the values of a column, or the knots and the rewritten body of pieces.
    """
    # Fields of a node are what its builder takes, in the same order.
    builders: dict[type[Formula], Callable[..., Formula]] = {
        Number: number,
        Column: column,
        Arithmetic: arithmetic,
        Function: function,
        Clip: clip,
        Where: where,
        Pieces: pieces,
    }
    made: dict[int, Formula] = {}

    def visit(node: Formula) -> Formula:
        if id(node) not in made:
            if isinstance(node, Score):
                built = score
            elif isinstance(node, Highest):
                built = Highest(tuple(map(visit, node.of)))
            else:
                fields = [visit(field) if isinstance(field, Formula) else field for field in vars(node).values()]
                built = builders.get(type(node), type(node))(*fields)
            made[id(node)] = built
        return made[id(node)]

    return visit(formula)
