"""Clocks, scores to run on, and one way to print a ratio beside its bar."""

import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy.special import expit


def best_of(function: Callable[[], object], times: int = 5) -> float:
    """Return the least of several times, in seconds, after one call to warm up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function()
        taken = []
        for _ in range(times):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    return min(taken)


def report(what: str, ours: float, theirs: float | None, ratio: float, bar: float, at_least: bool = True) -> None:
    """Print one line: our time, the other's, the ratio, the goal and whether it is met."""
    other = f"{1e3 * theirs:>11.2f}" if theirs is not None else " " * 11
    met = ratio >= bar if at_least else ratio <= bar
    sign = "≥" if at_least else "≤"
    verdict = "" if np.isnan(bar) else f"  bar {sign} {bar:<6g}{'met' if met else 'missed'}"
    print(f"  {what:<54}{1e3 * ours:>10.2f}{other}{ratio:>9.2f}{verdict}", flush=True)


def header(title: str, other: str) -> None:
    """Print a title and the names of the columns."""
    print(f"\n{title}\n  {'':<54}{'ours ms':>10}{other:>11}{'ratio':>9}", flush=True)


def scores_of_kind(kind: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores of one kind and labels that follow them."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=n)
    y = (rng.random(n) < expit(2 * base - 0.5)).astype(int)
    if kind == "continuous":
        return base, y
    if kind == "clustered":
        return np.round(base) + 1e-3 * rng.normal(size=n), y
    if kind == "discrete":
        return np.round(base, 2), y
    if kind == "probability":
        return expit(3 * base), y
    if kind in ("sorted", "reversed"):
        order = np.argsort(base)[:: 1 if kind == "sorted" else -1]
        return base[order].copy(), y[order].copy()
    if kind == "rare":
        return base, (rng.random(n) < expit(2 * base - 11)).astype(int)
    if kind == "heavy tails":
        heavy = rng.standard_t(1.5, n)
        return heavy, (rng.random(n) < expit(2 * heavy - 0.5)).astype(int)
    raise ValueError(kind)
