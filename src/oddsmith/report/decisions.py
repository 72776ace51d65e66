"""Decisions: at every threshold that follows from two whole costs up to 100, and at cut-offs with a guarantee."""

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from oddsmith._types import Floats
from oddsmith.bands import pointwise_band
from oddsmith.cutoffs import threshold
from oddsmith.data import ScoreTable
from oddsmith.metrics import probability, sum_by

__all__ = ["HIGHEST_COST", "decision_cells", "operating_points"]

#: Where both sliders of a page end.
HIGHEST_COST = 100

#: What the operating points of a page guarantee.
_TARGETS = {"precision": (0.8, 0.9, 0.95, 0.99), "recall": (0.9, 0.95, 0.99), "fpr": (0.1, 0.05, 0.01)}

#: Forecasts so near to a threshold lie on it, as in `oddsmith.decide`.
_SLACK = 1e-12


@cache
def _thresholds() -> Floats:
    """Return every c₊/(c₊ + c₋), ascending."""
    costs = range(1, HIGHEST_COST + 1)
    return np.array(sorted({float(Fraction(fp, fp + fn)) for fp in costs for fn in costs}))


def decision_cells(forecast: ScoreTable) -> dict[str, list[float]]:
    """Return the weight of both classes between neighboring thresholds, where there is any.

    ``above`` is the largest threshold below the forecasts of a cell, 0 where there is none: at a threshold t those
    cells are decided as positive whose ``above`` is t or more, exactly as if every forecast were compared.

    Examples
    --------
    >>> cells = decision_cells(ScoreTable.from_arrays([-1.0, 0.1, 2.0], [0, 1, 1]))
    >>> sum(pos for above, pos in zip(cells["above"], cells["pos"]) if above >= 0.5)
    2.0
    """
    place = np.searchsorted(_thresholds(), probability(forecast) - _SLACK, side="left")
    held, index = np.unique(place, return_inverse=True)
    above = np.concatenate([[0.0], _thresholds()])[held]
    pos, neg = (sum_by(index, column).tolist() for column in (forecast.pos, forecast.neg))
    return {"above": above.tolist(), "pos": pos, "neg": neg}


def operating_points(table: ScoreTable) -> list[dict[str, Any]]:
    """Return the cut-offs that guarantee a precision above the base rate, a recall, or a false-positive rate.

    Each has what `oddsmith.cutoffs.threshold` found, as a sentence too, and the pointwise limits of P at the cut-off.
    """
    limits, found = pointwise_band(table), []
    for goal, targets in _TARGETS.items():
        for target in targets:
            if goal == "precision" and target <= table.prevalence:
                continue
            point = threshold(table, **{goal: target})
            at_cut = None if point.cut is None else limits.limits([point.cut])[0].tolist()
            found.append({**point.to_dict(), "probability": at_cut, "sentence": str(point)})
    return found
