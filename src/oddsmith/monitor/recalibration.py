"""After an alarm: the least change of a model that the rows since the loss support."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith._version import __version__
from oddsmith.calibrators import METHODS, Calibrator
from oddsmith.data import RandomState, ScoreTable
from oddsmith.fitting import LABELS, fit_line
from oddsmith.maps import SUREST, CalibrationMap, InputMap, LogBasisMap, PolynomialMap
from oddsmith.metrics import Result
from oddsmith.model import DataSummary, Model, map_of, model_of
from oddsmith.monitor.forecasts import refuse_other_labels

__all__ = ["Recalibration", "recalibrate"]

Change = Literal["none", "shift", "slope", "refit"]

#: Standard errors of a gain that must be above 0 for a change to be supported.
_SURE = 1.96

#: Fewer positives, or negatives, support nothing.
_FEWEST = 10

_FOLDS = 5

#: Log-odds beyond this are certain.
_FAR = 700.0


@dataclass(frozen=True, eq=False)
class Recalibration(Result):
    """The smallest change that the rows support.

    Attributes
    ----------
    change : {"none", "shift", "slope", "refit"}
    gain, low, high : float
        Gain of the change in log-loss per row on held-out rows, with its 95 % interval.
    gains : dict of str to float
        The gain of every change that was tried; of "none" it is 0.
    model : Model
        The new model; its parameters "parent" and "change" name the checksum of the old one and the change.

    See Also
    --------
    recalibrate : Returns it.
    """

    change: Change
    gain: float
    low: float
    high: float
    gains: dict[str, float]
    model: Model

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON, without the model.

        Returns
        -------
        dict
        """
        return {name: value for name, value in super().to_dict().items() if name != "model"}

    def __str__(self) -> str:
        if self.change == "none":
            return "No change is supported by these rows."
        words = {"shift": "Shift all log-odds by one number", "slope": "Shift and scale the log-odds", "refit": "Refit"}
        return f"{words[self.change]}: gain {self.gain:.4f} nats a row [{self.low:.4f}, {self.high:.4f}]."


class _Gain(NamedTuple):
    mean: float
    error: float


def recalibrate(
    model: Any, rows: ScoreTable, *, refit: Calibrator | None = None, random_state: RandomState = 0
) -> Recalibration:
    """Propose the smallest change of a model that the rows since the loss of calibration support.

    Every change is fitted to four fifths of the rows and judged on the rest, five times. A change is supported if its
    held-out log-loss is better than that of the lesser change chosen so far, by 1.96 standard errors. A slope is tried
    where the map has log-odds that are linear in its numbers (logistic, Platt, densities, piecewise, splines, beta).

    Parameters
    ----------
    model : Model, fitted calibrator or CalibrationMap
        Of two classes and one score, without segments.
    rows : ScoreTable
        Scores and labels since the loss; `Finding` has the first such row.
    refit : Calibrator, optional
        What to fit again; by default the method of the model where it is one of the calibrators of this package.
    random_state : int, Generator or None
        For folds.

    Returns
    -------
    Recalibration

    See Also
    --------
    Monitor : Finds whether and since when calibration was lost.

    Examples
    --------
    >>> from oddsmith.maps import line_map
    >>> rng = np.random.default_rng(0)
    >>> s = rng.normal(size=3000)
    >>> y = (rng.random(3000) < expit(s - 0.8)).astype(int)
    >>> found = recalibrate(line_map(1.0, 0.0), ScoreTable.from_arrays(s, y))
    >>> found.change
    'shift'
    >>> float(found.model.log_odds([0.0])[0].round(1))
    -0.8
    """
    parent = model_of(model)
    if parent.by is not None:
        _check.fail("one map is recalibrated at a time", f"a model by {parent.by}", "pass model.of_segment(name)")
    fitted = map_of(parent.map)
    if rows.kind != "count":
        _check.fail("rows must be counted", f"{rows!r}", "use rows without weights")
    refuse_other_labels(parent, rows)
    if min(rows.n_pos, rows.n_neg) < _FEWEST or rows.span()[0] == rows.span()[1]:
        got = f"{rows.n_pos:g} positive and {rows.n_neg:g} negative rows"
        must = f"there must be {_FEWEST} rows of each class, with different scores"
        _check.fail(must, got, "wait for more labels")
    tried = _changes(parent, fitted, refit)
    folds = rows.folds(_FOLDS, random_state)
    chosen: Change = "none"
    for name in tried:
        if name != "none":
            against = _gain(folds, tried[chosen], tried[name])
            if against.mean > _SURE * against.error:
                chosen = name
    gains: dict[Change, _Gain] = {name: _gain(folds, tried["none"], change) for name, change in tried.items()}
    own = gains[chosen]
    new = parent if chosen == "none" else _child(parent, tried[chosen](rows), chosen, rows)
    low, high = own.mean - _SURE * own.error, own.mean + _SURE * own.error
    return Recalibration(chosen, own.mean, low, high, {name: one.mean for name, one in gains.items()}, new)


def _changes(
    parent: Model, fitted: CalibrationMap, refit: Calibrator | None
) -> dict[Change, Callable[[ScoreTable], CalibrationMap]]:
    """Return what makes the map of each change from rows, least change first."""
    found: dict[Change, Callable[[ScoreTable], CalibrationMap]] = {
        "none": lambda _: fitted,
        "shift": lambda rows: map_of(fitted.shifted(_shift(fitted, rows))),
    }
    if _scale_map(fitted, 1.0, 0.0) is not None:
        found["slope"] = lambda rows: _fit_slope(fitted, rows)
    anew = refit if refit is not None else _method(parent)
    if anew is not None:
        found["refit"] = lambda rows: anew.fit_table(rows).map_
    return found


def _method(parent: Model) -> Calibrator | None:
    """Return an unfitted calibrator of the method of a model, if it is known and its parameters are plain."""
    found = {cls.__name__: cls for cls in METHODS.values()}.get(parent.method)
    if found is None:
        return None
    known = found().get_params(deep=False)
    return found(**{name: value for name, value in parent.parameters.items() if name in known})


def _shift(fitted: CalibrationMap, rows: ScoreTable) -> float:
    """Return the likeliest shift of all log-odds."""
    z = np.clip(fitted.log_odds(rows.scores), -SUREST, SUREST)
    total = rows.total.astype(float)

    def excess(shift: float) -> float:
        return float(total @ expit(z + shift)) - rows.n_pos

    return float(brentq(excess, -_FAR, _FAR, xtol=1e-10))


def _fit_slope(fitted: CalibrationMap, rows: ScoreTable) -> CalibrationMap:
    """Return the map whose log-odds are the likeliest line of those of another."""
    forecast = rows.map(lambda scores: np.clip(fitted.log_odds(scores), -SUREST, SUREST))
    line = fit_line(forecast, LABELS)
    turned = _scale_map(fitted, line.a, line.b)
    assert turned is not None  # only such maps get here
    return turned


def _scale_map(fitted: CalibrationMap, slope: float, level: float) -> CalibrationMap | None:
    """Return the map of log-odds level + slope·L, None where the shape has no such map."""
    if isinstance(fitted, InputMap):
        inner = _scale_map(fitted.inner, slope, level)
        return None if inner is None else replace(fitted, inner=inner)
    if isinstance(fitted, PolynomialMap):
        coefficients = fitted.coefficients * slope
        coefficients[:, 0] += level
        return replace(fitted, coefficients=coefficients)
    if isinstance(fitted, LogBasisMap):
        return replace(fitted, slopes=fitted.slopes * slope, intercept=fitted.intercept * slope + level)
    return None


def _gain(
    folds: Any, old: Callable[[ScoreTable], CalibrationMap], new: Callable[[ScoreTable], CalibrationMap]
) -> _Gain:
    """Return the mean gain in log-loss of a held-out row, and its standard error."""
    n, total, squares = 0.0, 0.0, 0.0
    for part, rest in ((fold.part, fold.rest) for fold in folds):
        before, after = (np.clip(each(rest).log_odds(part.scores), -SUREST, SUREST) for each in (old, new))
        for weight, sign in ((part.pos, -1.0), (part.neg, 1.0)):
            gained: Floats = np.logaddexp(0, sign * before) - np.logaddexp(0, sign * after)
            n, total = n + float(weight.sum()), total + float(weight @ gained)
            squares += float(weight @ gained**2)
    mean = total / n
    return _Gain(mean, math.sqrt(max(squares / n - mean**2, 0.0) / n))


def _child(parent: Model, fitted: CalibrationMap, change: Change, rows: ScoreTable) -> Model:
    """Return the new model, which names its parent."""
    checksum = hashlib.sha256(parent.to_json().encode()).hexdigest()
    named = {**parent.parameters, "parent": checksum, "change": change}
    data = DataSummary.of(rows)
    return replace(parent, map=fitted, parameters=named, data=data, warnings=(), verdict="", version=__version__)
