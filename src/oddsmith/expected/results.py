"""What is expected of rows without labels, and whether it came true."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from oddsmith._types import Floats
from oddsmith.metrics import Result

__all__ = ["BLIND", "Expectation", "ExpectedPerformance", "Promise"]

#: Classes whose expected shares are shown.
_MOST_SHOWN = 5

#: What no estimate without labels can see.
BLIND = (
    "Expected from the probabilities alone: rows without labels cannot show whether the share of a class at a given "
    "score has changed."
)


@dataclass(frozen=True, eq=False)
class Expectation(Result):
    """The expected value of a measure, with an interval.

    Attributes
    ----------
    value : float
        Its expectation; NaN where undefined.
    low, high : float
        Interval of the value that labels will show: sampling of labels, and uncertainty of the map.

    See Also
    --------
    ExpectedPerformance : Contains one per measure.
    """

    value: float
    low: float
    high: float

    @staticmethod
    def of_draws(value: float, drawn: Floats, level: float, least: float, most: float) -> "Expectation":
        """Return a value with its interval from draws, within the limits of its measure.

        Parameters
        ----------
        value : float
            The expected value.
        drawn : ndarray
            Values of draws; NaN where a draw has none.
        level : float
            Level of the interval.
        least, most : float
            The limits of the measure.

        Returns
        -------
        Expectation
        """
        known = drawn[np.isfinite(drawn)]
        if not math.isfinite(value) or not len(known):
            return Expectation(math.nan, math.nan, math.nan)
        low, high = np.clip(np.quantile(known, [(1 - level) / 2, (1 + level) / 2]), least, most).tolist()
        return Expectation(value, min(low, value), max(high, value))


@dataclass(frozen=True, eq=False)
class Promise(Result):
    """A measure, as expected and as observed once labels have arrived.

    Attributes
    ----------
    expected, low, high : float
        As expected without labels; with probability ``level`` all intervals contain what the labels will show.
    observed : float
    kept : bool or None
        Whether the observed value is in the interval; None where labels do not define it.

    See Also
    --------
    promises : Returns one per measure.
    """

    expected: float
    low: float
    high: float
    observed: float
    kept: bool | None


@dataclass(frozen=True, eq=False)
class ExpectedPerformance(Result):
    """Expected measures of rows without labels.

    Attributes
    ----------
    rows : int
    prevalence : float or dict of str to float
        Expected share of positives; of several classes that of each.
    measures : dict of str to Expectation
        By name; those of a threshold end in "@" and the threshold.
    below, above : int
        Rows with scores below or above all of the calibration rows, where the map extrapolates; of several classes 0.
    has_map_error : bool
        Whether the intervals include the uncertainty of the map; False where the model does not contain how many rows
        it was fitted to, or fewer than 20 rows are without labels, and no calibration rows were passed.
    has_steps : bool
        Whether a map has steps, such as that of isotonic regression, whose own errors the intervals do not include.
    level : float
        Of each interval.
    chunks : dict of str to ExpectedPerformance
        Of each value of the column ``by``.

    See Also
    --------
    expected_performance : Returns it.
    """

    rows: int
    prevalence: float | dict[str, float]
    measures: dict[str, Expectation]
    below: int
    above: int
    has_map_error: bool
    has_steps: bool
    level: float
    chunks: dict[str, "ExpectedPerformance"]

    @property
    def notes(self) -> tuple[str, ...]:
        """Caveats of these figures."""
        outside = self.below + self.above
        found = [BLIND]
        if outside:
            found.append(
                f"{outside:,} of {self.rows:,} rows have scores outside those of the calibration rows ({self.below:,} "
                f"below, {self.above:,} above): there the map extrapolates, and the intervals do not include that."
            )
        if not self.has_map_error:
            found.append(
                "Intervals are of label sampling only, as the rows of the fit are not known: pass calibration."
            )
        if self.has_steps:
            found.append("The map has steps, whose own errors are not in the intervals: they are too narrow.")
        return tuple(found)

    @property
    def headline(self) -> str:
        """How many rows, and the expected shares of classes."""
        if not isinstance(self.prevalence, dict):
            return f"{self.rows:,} rows, {self.prevalence:.1%} expected positive"
        shares = sorted(self.prevalence.items(), key=lambda one: -one[1])
        shown = ", ".join(f"{share:.1%} {label}" for label, share in shares[:_MOST_SHOWN])
        return f"{self.rows:,} rows, expected {shown}" + ", …" * (len(shares) > _MOST_SHOWN)

    def __str__(self) -> str:
        shown = [f"{name:<24} {one.value:.4f}  [{one.low:.4f}, {one.high:.4f}]" for name, one in self.measures.items()]
        return "\n".join([self.headline, *shown, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON.

        Returns
        -------
        dict
        """
        return {**super().to_dict(), "notes": list(self.notes)}
