"""Whether a forecast is judged on the rows that its map was fitted on.

A fitted calibrator remembers what its table added up to; a `Forecast` remembers whether that was this table.
"""

from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith._check import Floats
from oddsmith.table import ScoreTable

__all__ = ["Forecast", "forecast_of"]

#: Sums of the same rows in another order differ by rounding only.
_ROUNDING = 1e-9


class HasLogOdds(Protocol):
    """A calibration map or a fitted calibrator."""

    def log_odds(self, scores: Floats, /) -> ArrayLike:
        """Return the log-odds of scores."""


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(ScoreTable):
    """A table of log-odds that knows whether its map was fitted on its own rows.

    Attributes
    ----------
    in_sample : bool
        Whether it was. Then measures flatter the map, and p-values are refused.
    """

    in_sample: bool = False


def forecast_of(table: ScoreTable, method: HasLogOdds, *, in_sample: bool | None = None) -> Forecast:
    """Return the forecast that a calibrator or map makes for the scores of a table.

    Parameters
    ----------
    table : ScoreTable
        Of scores.
    method : fitted calibrator or CalibrationMap
    in_sample : bool, optional
        Whether the method was fitted on these rows; by default what a calibrator remembers of its fit. Rows shared in
        part, and maps without their calibrator, are not recognised: say so here.

    Examples
    --------
    >>> from oddsmith import ScoreTable, SquashCalibrator
    >>> table = ScoreTable.from_arrays([-1.0, 0.5, 2.0], [0, 1, 1])
    >>> forecast_of(table, SquashCalibrator().fit_table(table), in_sample=True).in_sample
    True
    """
    _check.one_of(in_sample, "in_sample", (True, False, None))
    flag = fitted_on(method, table) if in_sample is None else bool(in_sample)
    made = table.map(method.log_odds)
    return Forecast(**{field.name: getattr(made, field.name) for field in fields(ScoreTable)}, in_sample=flag)


def fitted_on(method: object, table: ScoreTable) -> bool:
    """Whether a calibrator remembers a fit to these very rows, in any order, quantized or not.

    Its ``fitted_on_`` holds the weight of both classes and the sums of their scores. Other rows agree in all four with
    a chance that only a few coarse scores make worth a thought.
    """
    remembered = getattr(method, "fitted_on_", None)
    if remembered is None:
        return False
    n_pos, n_neg, positive, negative = remembered
    slack = _ROUNDING * float(table.total @ np.abs(table.scores))
    sums = table.class_sums(1.0, 0.0)
    return bool(
        np.allclose((n_pos, n_neg), (table.n_pos, table.n_neg), rtol=_ROUNDING, atol=0)
        and np.allclose((positive, negative), sums, rtol=0, atol=slack)
    )


def is_in_sample(forecast: ScoreTable) -> bool:
    """Whether a table is a forecast that was fitted on its own rows, as far as it knows."""
    return isinstance(forecast, Forecast) and forecast.in_sample
