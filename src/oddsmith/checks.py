"""Checks of input in this library's words, and the types of its arrays, for packages that extend it."""

from oddsmith._check import as_array, as_weights, fail, number, one_of, visible, whole_number
from oddsmith._types import Bools, Floats, Ints, Weights

__all__ = [
    "Bools",
    "Floats",
    "Ints",
    "Weights",
    "as_array",
    "as_weights",
    "fail",
    "number",
    "one_of",
    "visible",
    "whole_number",
]
