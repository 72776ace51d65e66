"""Whether a forecast is judged on the rows that its map was fitted on.

A calibrator keeps a fingerprint of the rows of its fit. A forecast remembers whether its rows have the same, and so
does every table that is made from it.
"""

import warnings
from dataclasses import replace
from typing import Any, Protocol

from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import MANY_SHARED, Fingerprint, ScoreTable
from oddsmith.errors import InSampleWarning


class HasLogOdds(Protocol):
    """A calibration map or a fitted calibrator."""

    def log_odds(self, scores: Floats, /) -> ArrayLike:
        """Return the log-odds of scores."""


#: A table of log-odds; its ``in_sample`` says whether its map was fitted on its own rows.
Forecast = ScoreTable


def forecast_of(table: ScoreTable, method: HasLogOdds, *, in_sample: bool | None = None) -> Forecast:
    """Return the forecast that a calibrator or map makes for the scores of a table.

    Parameters
    ----------
    table : ScoreTable
        Of scores.
    method : fitted calibrator or CalibrationMap
    in_sample : bool, optional
        Whether the method was fitted on these rows; by default whether they have the fingerprint that it kept of its
        rows. Rows shared in part or pooled in other cells, and maps without their calibrator, are not recognized: say
        so here.

    Examples
    --------
    >>> from oddsmith import ScoreTable, SquashCalibrator
    >>> table = ScoreTable.from_arrays([-1.0, 0.5, 2.0], [0, 1, 1])
    >>> forecast_of(table, SquashCalibrator().fit_table(table), in_sample=True).in_sample
    True
    """
    _check.one_of(in_sample, "in_sample", (True, False, None))
    flag = fitted_on(method, table) if in_sample is None else bool(in_sample)
    return replace(table.map(method.log_odds), in_sample=flag or table.in_sample)


def fitted_on(method: Any, table: ScoreTable) -> bool:
    """Whether a calibrator was fitted to these very rows, in any order.

    A calibrator that keeps guard of its rows also warns when some of them are judged again.
    """
    if not getattr(method, "_learns", False) or not hasattr(method, "fingerprint_"):
        return False
    if getattr(method, "guard", False) and (share := method.overlap(table)) > MANY_SHARED:
        message = f"{share:.0%} of the rows to be judged are among those that the calibrator was fitted to."
        warnings.warn(message, InSampleWarning, stacklevel=3)
    return bool(method.fingerprint_.matches(Fingerprint.of(table)))


def is_in_sample(forecast: object) -> bool:
    """Whether a table is a forecast that was fitted on its own rows, as far as it knows."""
    return isinstance(forecast, ScoreTable) and forecast.in_sample
