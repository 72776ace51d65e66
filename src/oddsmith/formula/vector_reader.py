"""Vector formulas in NumPy: plain data, and a function that any process with NumPy can run."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oddsmith._types import Floats
from oddsmith.formula.numpy_reader import NumpySteps
from oddsmith.formula.vectors import FAR, Affine, Each, Inputs, Largest, Total, Vector, parts_of, walk_vectors

#: Values that are worked on at a time, so that temporaries stay small beside the rows.
_BLOCK = 2**15


def evaluate_vector(vector: Vector, rows: ArrayLike) -> Floats:
    """Compute a vector formula in NumPy, shape (n, width); rows with NaN give NaN in every component."""
    result: Floats = vector_function(vector)(np.asarray(rows, dtype=np.float64))
    return result


def vector_function(vector: Vector) -> Callable[..., Any]:
    """Return a function of rows that computes a vector formula.

    A closure travels to other processes by value: they need NumPy, and nothing of this library.
    """
    numbers: dict[int, int] = {}
    calls: list[tuple[Any, list[int]]] = []
    for node in walk_vectors(vector):
        if isinstance(node, Inputs):
            numbers[id(node)] = 0
        else:
            calls.append((_call(node), [numbers[id(part)] for part in parts_of(node)]))
            numbers[id(node)] = len(calls)
    width, height = vector.width, max(_BLOCK // vector.width, 1)

    def compute(rows):  # type: ignore[no-untyped-def]  # annotations would travel too
        result = np.empty((len(rows), width))
        for start in range(0, len(rows), height):
            # A component after the other: sums over components then add whole arrays.
            part = rows[start : start + height].T.copy()
            missing = np.isnan(part).any(axis=0)
            if missing.any():
                part[:, missing] = 0.0
            values = [part]
            for function, operands in calls:
                values.append(function(*[values[operand] for operand in operands]))
            result[start : start + height] = values[-1].T
            result[start : start + height][missing] = np.nan
        return result

    return compute


def _call(node: Vector) -> Any:
    match node:
        case Each(formulas=formulas, beside=beside):
            return _each([NumpySteps(1 + len(beside)).function_of(formula) for formula in formulas])
        case Affine(rows=rows, intercept=intercept):
            return _affine(rows, intercept[:, None])
        case Largest():
            return lambda x: x.max(axis=0, keepdims=True)
        case Total(formula=formula):
            compute = NumpySteps().function_of(formula)
            return lambda x: np.broadcast_to(compute(x), x.shape).sum(axis=0, keepdims=True)
    raise TypeError(node)


def _affine(rows: Floats, intercept: Floats) -> Any:
    far, product, coef = (FAR, np.matmul, rows) if rows.ndim == 2 else (FAR, np.multiply, rows[:, None])

    def compute(x):  # type: ignore[no-untyped-def]  # annotations would travel too
        with np.errstate(over="ignore", invalid="ignore"):
            found = product(coef, x) + intercept
            # Steep slopes, of a fit to tiny logits, times large ones: what overflows is held as inputs are.
            return found if np.isfinite(found.sum()) else np.clip(np.nan_to_num(found), -far, far)

    return compute


def _each(computes: list[Callable[..., Any]]) -> Any:
    if len(computes) == 1:
        (compute,) = computes
        return lambda *given: np.broadcast_to(compute(*given), given[0].shape)

    def stack(*given):  # type: ignore[no-untyped-def]
        columns = []
        for place, compute in enumerate(computes):
            own = [x[place if len(x) > 1 else 0] for x in given]
            columns.append(np.broadcast_to(compute(*own), len(own[0])))
        return np.stack(columns)

    return stack
