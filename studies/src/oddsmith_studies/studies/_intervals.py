"""Intervals that several studies take."""

from scipy.stats import binomtest

from oddsmith.metrics import Interval


def share_interval(count: int, rows: int) -> Interval:
    """Return a share with its exact 95 % interval."""
    ends = binomtest(count, rows).proportion_ci(0.95, "exact")
    return Interval(count / rows, float(ends.low), float(ends.high), 0.95, "exact interval")
