"""Formulas by interval of the score: made, simplified, taken apart, and moved to another score."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Floats
from oddsmith.formula.nodes import (
    MAX,
    SCORE,
    Column,
    Formula,
    Pieces,
    Where,
    as_formula,
    clip,
    log,
    walk,
    where,
)
from oddsmith.formula.reader import rewritten

#: The log-odds of probabilities 0 and 1: beyond anything that arises, and finite.
_CERTAIN = 1e30

#: Intervals that one comparison distinguishes: with four the depth is half that of halving, for an eighth more of them.
_WAYS = 4


def pieces(knots: ArrayLike, body: Formula) -> Formula:
    """Return ``body`` by interval of the score, without the knots that divide nothing.

    Piece j holds where knots[j−1] < score ≤ knots[j]. Equal and infinite knots leave pieces without scores: these go.

    Examples
    --------
    >>> import numpy as np
    >>> from oddsmith.formula import SCORE, evaluate, pieces
    >>> evaluate(pieces([0.0], SCORE * np.array([-1.0, 2.0])), [-3.0, 0.0, 3.0])
    array([ 3., -0.,  6.])
    """
    ends = np.append(np.asarray(knots, dtype=np.float64), np.inf)
    columns = [node.values for node in walk(body) if isinstance(node, Column)]
    if not columns:
        return body
    held = np.flatnonzero(ends > np.append(-np.inf, ends[:-1]))
    rows = np.column_stack(columns)[held]
    kept = held[np.append(np.any(rows[1:] != rows[:-1], axis=1), True)]
    if len(kept) < len(ends):
        body = rewritten(body, column=lambda values: as_formula(values[kept]))
    return Pieces(ends[kept[:-1]], body) if len(kept) > 1 else body


def by_piece(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """Return a changed formula, by the pieces that it has: constants are computed at once.

    Examples
    --------
    >>> steps = pieces([0.0], as_formula([1.0, 2.0]))
    >>> by_piece(steps, lambda value: value + 1.0).body.values
    array([2., 3.])
    """
    if isinstance(formula, Pieces):
        return pieces(formula.knots, change(formula.body))
    return change(formula)


def at_piece(body: Formula, piece: int) -> Formula:
    """Return the body of a `Pieces` in one of its pieces; of several members, a column with a row for each."""

    def constant(values: Floats) -> Formula:
        if values.ndim == 1:
            return as_formula(values[piece])
        return as_formula(values[:, [piece if values.shape[1] > 1 else 0]])

    return rewritten(body, column=constant)


def as_decisions(formula: Formula) -> Formula:
    """Return the formula with comparisons in place of its pieces, in a tree of even depth."""
    return rewritten(formula, pieces=_decisions)


def _decisions(knots: Floats, body: Formula) -> Formula:
    # Of several members some have fewer knots than others, and all an infinite last one.
    ends = np.minimum(knots[:, :-1], MAX).T[..., None] if knots.ndim > 1 else knots

    def tree(first: int, last: int) -> Formula:
        if first == last:
            return at_piece(body, first)
        bounds = np.linspace(first, last + 1, min(_WAYS, last + 1 - first) + 1).astype(np.intp)
        value = tree(bounds[-2], last)
        for start, end in zip(bounds[-3::-1], bounds[-2:0:-1], strict=True):
            value = Where(SCORE, as_formula(ends[end - 1]), tree(start, end - 1), value)
        return value

    return tree(0, len(ends))


def steps_past(most: int) -> tuple[int, ...]:
    """Return the steps of a binary search that tells how many of at most so many knots are passed.

    Examples
    --------
    >>> steps_past(5)
    (4, 2, 1)
    """
    return tuple(2**power for power in reversed(range(most.bit_length())))


def below(knots: Floats) -> Floats:
    """Return the neighbors below: s ≤ below(k) is s < k."""
    with np.errstate(over="ignore"):
        return np.asarray(np.nextafter(knots, -np.inf))


def after(formula: Formula, entered: Formula, pull_back: Callable[[Floats], Floats]) -> Formula:
    """Return the formula of a score that is first changed, to ``entered``, which rises with it.

    ``pull_back`` takes knots of the changed score to the largest scores that do not pass them, −∞ where none and ∞
    where all stay. So the score itself is compared, and no engine's rounding of logarithms decides on a piece.
    """
    return rewritten(formula, score=entered, pieces=lambda knots, body: pieces(pull_back(knots), body))


def logit(prob: Formula) -> Formula:
    """Return the log-odds of a probability, ±1e30 at 0 and 1."""
    return by_piece(prob, _logit)  # once per piece, not four times over all pieces


def _logit(prob: Formula) -> Formula:
    inside = log(clip(prob, 5e-324, 1.0)) - log(clip(1.0 - prob, 2.0**-54, 1.0))
    return where(prob, 0.0, -_CERTAIN, where(1.0, prob, _CERTAIN, inside))
