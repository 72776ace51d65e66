"""Vector formulas in NumPy: plain data, and a function that any process with NumPy can run."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Floats
from oddsmith.formula.nodes import Formula
from oddsmith.formula.steps import NumpySteps
from oddsmith.formula.vectors import FAR, Affine, Each, Inputs, Largest, Total, Vector, parts_of, walk_vectors

#: Values that are worked on at a time, so that temporaries stay small beside the rows.
_BLOCK = 2**15


def evaluate_vector(vector: Vector, rows: ArrayLike) -> Floats:
    """Compute a vector formula in NumPy, shape (n, width); rows with NaN give NaN in every component."""
    result: Floats = computing_vector(vector)(np.asarray(rows, dtype=np.float64))
    return result


def computing_vector(vector: Vector) -> Callable[..., Any]:
    """Return a function of rows that computes a vector formula.

    A closure travels to other processes by value: they need NumPy, and nothing of this library.
    """
    numbers: dict[int, int] = {}
    calls: list[tuple[Any, list[int]]] = []
    for node in walk_vectors(vector):
        numbers[id(node)] = len(numbers)
        calls.append((_call(node), [numbers[id(part)] for part in parts_of(node)]))
    width, height = vector.width, max(_BLOCK // vector.width, 1)

    def compute(rows):  # type: ignore[no-untyped-def]  # annotations would travel too
        result = np.empty((len(rows), width))
        for start in range(0, len(rows), height):
            # A component after the other: sums over components then add whole arrays.
            part = rows[start : start + height].T.copy()
            missing = np.isnan(part).any(axis=0)
            if missing.any():
                part[:, missing] = 0.0
            values: list[Any] = []
            for function, operands in calls:
                values.append(function(*([values[operand] for operand in operands] or [part])))
            result[start : start + height] = values[-1].T
            result[start : start + height][missing] = np.nan
        return result

    return compute


def _call(node: Vector) -> Any:
    match node:
        case Inputs():
            return lambda rows: rows
        case Each():
            return _each(node)
        case Affine():
            return _affine(node)
        case Largest():
            return lambda x: x.max(axis=0, keepdims=True)
        case Total(formula=formula):
            compute = _computing(formula, 0)
            return lambda x: np.broadcast_to(compute(x), x.shape).sum(axis=0, keepdims=True)
    raise TypeError(node)


def _affine(node: Affine) -> Any:
    coef, intercept, far = node.coef, node.intercept[:, None], FAR
    if coef.ndim == 1:
        coef = coef[:, None]
    is_matrix = node.coef.ndim == 2

    def compute(x):  # type: ignore[no-untyped-def]  # annotations would travel too
        with np.errstate(over="ignore", invalid="ignore"):
            found = (coef @ x if is_matrix else coef * x) + intercept
            # Steep slopes, of a fit to tiny logits, times large ones: what overflows is held as inputs are.
            return found if np.isfinite(found.sum()) else np.clip(np.nan_to_num(found), -far, far)

    return compute


def _each(node: Each) -> Any:
    computes = [_computing(formula, len(node.beside)) for formula in node.formulas]
    if len(computes) == 1:
        (compute,) = computes
        return lambda *given: np.broadcast_to(compute(*given), given[0].shape)

    def stacked(*given):  # type: ignore[no-untyped-def]
        columns = []
        for place, compute in enumerate(computes):
            own = [x[place if len(x) > 1 else 0] for x in given]
            columns.append(np.broadcast_to(compute(*own), len(own[0])))
        return np.stack(columns)

    return stacked


def _computing(formula: Formula, beside: int) -> Callable[..., Any]:
    return NumpySteps(1 + beside).computing(formula)
