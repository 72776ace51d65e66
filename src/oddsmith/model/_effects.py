"""What the effects of columns in a file must contain."""

from typing import Any

import numpy as np

from oddsmith.maps import LARGEST_SLOPE, MOST_SHIFT, Effects, Term
from oddsmith.model.checked import array, keys, text
from oddsmith.model.strict_json import refuse, show


def read_effects(content: Any, n_columns: int) -> Effects:
    """Return the effects that content describes, after every value in it was checked."""
    keys(content, ("terms",), "effects")
    if not isinstance(content["terms"], list):
        refuse("effects.terms must be a list", show(content["terms"]))
    terms = tuple(_read_term(term, f"effects.terms[{i}]", n_columns) for i, term in enumerate(content["terms"]))
    if len({term.columns for term in terms}) < len(terms):
        refuse("effects.terms must be of different columns", "two of the same")
    return Effects(n_columns, terms)


def _read_term(content: Any, where: str, n_columns: int) -> Term:
    keys(content, ("columns", "keys", "shifts", "slopes"), where)
    columns, names = content["columns"], content["keys"]
    if not isinstance(columns, list) or any(type(one) is not int for one in columns):
        refuse(f"{where}.columns must be a list of whole numbers", show(columns))
    if sorted(set(columns) & set(range(n_columns))) != columns:
        refuse(f"{where}.columns must be ascending numbers of columns", show(columns))
    if not isinstance(names, list) or any(not isinstance(key, list) or len(key) != len(columns) for key in names):
        refuse(f"{where}.keys must be lists of one key per column", show(names))
    found = tuple(tuple(text(value, f"{where}.keys") for value in key) for key in names)
    if len(set(found)) < len(found) or (not columns and len(found) != 1):
        refuse(f"{where}.keys must differ", show(names))
    shifts = array(content["shifts"], f"{where}.shifts", length=len(found), low=-MOST_SHIFT, high=MOST_SHIFT)
    slopes = array(content["slopes"], f"{where}.slopes", length=len(found), low=-LARGEST_SLOPE, high=LARGEST_SLOPE)
    return Term(tuple(columns), found, np.array(shifts), np.array(slopes))
