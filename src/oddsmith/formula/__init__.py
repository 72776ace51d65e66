"""Formulas: what a map computes, as a small tree that every engine reads.

A shape is written once, as a formula; an engine once, as a `Reader` of formulas.

=============  ================================================================
node           value
=============  ================================================================
`Score`        the score
`Number`       a constant; NaN says that there is no value
`Column`       a constant for each piece of the `Pieces` around it
`Arithmetic`   left + − × / right
`Function`     negative, abs, exp, log or cos
`Clip`         held within two numbers
`Where`        one of two values: the first if left ≤ right
`Pieces`       one formula with other constants in each interval of the score
`Beside`       in vector formulas: another value that stands beside the score
`Highest`      in vector formulas: the largest of several values
=============  ================================================================

Every part of a formula can be computed at every finite score, whichever branch is taken: no logarithm of 0, no ∞ − ∞,
no 0 · ∞. What passes the largest double may be infinite or held anywhere beyond 1e300: nothing depends on which.
"""

from oddsmith.formula.nodes import LIMIT as LIMIT
from oddsmith.formula.nodes import MAX as MAX
from oddsmith.formula.nodes import MISSING as MISSING
from oddsmith.formula.nodes import SCORE as SCORE
from oddsmith.formula.nodes import (
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
    absolute,
    as_formula,
    clip,
    cos,
    exp,
    log,
    parts,
    sigmoid,
    walk,
    where,
)
from oddsmith.formula.pieces import after, at_piece, below, logit, pieces, steps_past
from oddsmith.formula.reader import Reader, UnreadableError, rewritten
from oddsmith.formula.steps import NumpySteps, evaluate

__all__ = [
    "Arithmetic",
    "Beside",
    "Clip",
    "Column",
    "Formula",
    "Function",
    "Highest",
    "Number",
    "NumpySteps",
    "Pieces",
    "Reader",
    "Score",
    "UnreadableError",
    "Where",
    "absolute",
    "after",
    "as_formula",
    "at_piece",
    "below",
    "clip",
    "cos",
    "evaluate",
    "exp",
    "log",
    "logit",
    "parts",
    "pieces",
    "rewritten",
    "sigmoid",
    "steps_past",
    "walk",
    "where",
]
