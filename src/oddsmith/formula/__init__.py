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
no 0 · ∞. What passes the largest double may be infinite or clipped anywhere beyond 1e300: nothing depends on which. At
±∞ a formula has its value at the largest doubles: engines clip the score there, or read `with_limits`.
"""

import importlib
from typing import TYPE_CHECKING, Any

from oddsmith import _extras
from oddsmith.formula.column_plan import Layer as Layer
from oddsmith.formula.column_plan import LayerColumn as LayerColumn
from oddsmith.formula.column_plan import as_layers as as_layers
from oddsmith.formula.column_plan import columns_to_carry as columns_to_carry
from oddsmith.formula.column_plan import guard_layers as guard_layers
from oddsmith.formula.column_plan import size_of as size_of
from oddsmith.formula.column_plan import small_ranges as small_ranges
from oddsmith.formula.guards import ANYTHING as ANYTHING
from oddsmith.formula.guards import Range as Range
from oddsmith.formula.guards import guard as guard
from oddsmith.formula.guards import range_within as range_within
from oddsmith.formula.nodes import LIMIT as LIMIT
from oddsmith.formula.nodes import MAX as MAX
from oddsmith.formula.nodes import MISSING as MISSING
from oddsmith.formula.nodes import SCORE as SCORE
from oddsmith.formula.nodes import Arithmetic as Arithmetic
from oddsmith.formula.nodes import Beside as Beside
from oddsmith.formula.nodes import Clip as Clip
from oddsmith.formula.nodes import Column as Column
from oddsmith.formula.nodes import Formula as Formula
from oddsmith.formula.nodes import Function as Function
from oddsmith.formula.nodes import Number as Number
from oddsmith.formula.nodes import Pieces as Pieces
from oddsmith.formula.nodes import Score as Score
from oddsmith.formula.nodes import Where as Where
from oddsmith.formula.nodes import absolute as absolute
from oddsmith.formula.nodes import as_formula as as_formula
from oddsmith.formula.nodes import clip as clip
from oddsmith.formula.nodes import cos as cos
from oddsmith.formula.nodes import exp as exp
from oddsmith.formula.nodes import is_missing as is_missing
from oddsmith.formula.nodes import log as log
from oddsmith.formula.nodes import parts as parts
from oddsmith.formula.nodes import sigmoid as sigmoid
from oddsmith.formula.nodes import walk as walk
from oddsmith.formula.nodes import where as where
from oddsmith.formula.numpy_reader import MemberSteps as MemberSteps
from oddsmith.formula.numpy_reader import NumpySteps as NumpySteps
from oddsmith.formula.numpy_reader import evaluate as evaluate
from oddsmith.formula.numpy_reader import with_limits as with_limits
from oddsmith.formula.parameters import Family as Family
from oddsmith.formula.parameters import affine_of_many as affine_of_many
from oddsmith.formula.parameters import combine as combine
from oddsmith.formula.parameters import families as families
from oddsmith.formula.parameters import shape_of as shape_of
from oddsmith.formula.parameters import with_parameters as with_parameters
from oddsmith.formula.parameters import with_rows as with_rows
from oddsmith.formula.pieces import after as after
from oddsmith.formula.pieces import as_decisions as as_decisions
from oddsmith.formula.pieces import at_piece as at_piece
from oddsmith.formula.pieces import below as below
from oddsmith.formula.pieces import by_piece as by_piece
from oddsmith.formula.pieces import logit as logit
from oddsmith.formula.pieces import pieces as pieces
from oddsmith.formula.pieces import steps_past as steps_past
from oddsmith.formula.reader import Reader as Reader
from oddsmith.formula.reader import UnreadableError as UnreadableError
from oddsmith.formula.reader import rewritten as rewritten
from oddsmith.formula.vector_reader import evaluate_vector as evaluate_vector
from oddsmith.formula.vector_reader import vector_function as vector_function
from oddsmith.formula.vectors import CLOSED as CLOSED
from oddsmith.formula.vectors import FAR as FAR
from oddsmith.formula.vectors import MASKED as MASKED
from oddsmith.formula.vectors import Affine as Affine
from oddsmith.formula.vectors import Each as Each
from oddsmith.formula.vectors import Inputs as Inputs
from oddsmith.formula.vectors import Largest as Largest
from oddsmith.formula.vectors import Total as Total
from oddsmith.formula.vectors import Vector as Vector
from oddsmith.formula.vectors import largest as largest
from oddsmith.formula.vectors import parts_of as parts_of
from oddsmith.formula.vectors import rebuilt as rebuilt
from oddsmith.formula.vectors import walk_vectors as walk_vectors
from oddsmith.formula.vectors import with_whole_rows as with_whole_rows

if TYPE_CHECKING:
    from oddsmith.formula.arrays import WITH_ARRAYS as WITH_ARRAYS
    from oddsmith.formula.arrays import array_of as array_of
    from oddsmith.formula.arrays import as_arrays as as_arrays
    from oddsmith.formula.arrays import components_of as components_of
    from oddsmith.formula.arrays import largest_of as largest_of
    from oddsmith.formula.long_rows import LongRows as LongRows
    from oddsmith.formula.sql import FlatReader as FlatReader
    from oddsmith.formula.sql import SqlReader as SqlReader
    from oddsmith.formula.sql import SqlText as SqlText
    from oddsmith.formula.sql import WholeReader as WholeReader
    from oddsmith.formula.sql import as_double as as_double
    from oddsmith.formula.sql import is_number as is_number
    from oddsmith.formula.sql import label_literal as label_literal
    from oddsmith.formula.sql import list_literal as list_literal
    from oddsmith.formula.sql import list_product as list_product
    from oddsmith.formula.sql import quote as quote

#: Names of modules that are loaded when one of their names is first used: they import sqlglot.
_LAZY = {
    **dict.fromkeys(("WITH_ARRAYS", "array_of", "as_arrays", "components_of", "largest_of"), "arrays"),
    "LongRows": "long_rows",
    **dict.fromkeys(("FlatReader", "SqlReader", "SqlText", "WholeReader"), "sql"),
    **dict.fromkeys(("as_double", "is_number", "label_literal", "list_product"), "sql"),
    **dict.fromkeys(("quote", "list_literal"), "sql"),
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        _extras.require("sqlglot")
        return getattr(importlib.import_module(f"oddsmith.formula.{_LAZY[name]}"), name)
    message = f"module 'oddsmith.formula' has no attribute {name!r}"
    raise AttributeError(message)
