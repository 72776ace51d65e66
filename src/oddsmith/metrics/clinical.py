"""The sheet of a clinical prediction model: what guidelines on validation ask for, of one forecast."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oddsmith._types import Floats
from oddsmith.data import RandomState, ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.metrics._confidence_limits import Asked
from oddsmith.metrics.belt import CalibrationBelt, calibration_belt
from oddsmith.metrics.evidence import TableEvidence
from oddsmith.metrics.fields import brier_skill_score, nagelkerke_r2, predicted_observed_ratio
from oddsmith.metrics.intervals import Interval, intervals
from oddsmith.metrics.measure import ForecastFunction, checked_level
from oddsmith.metrics.net_benefit import DecisionCurve, decision_curve
from oddsmith.metrics.ranking import roc_auc
from oddsmith.metrics.result import Result
from oddsmith.metrics.slope import calibration_intercept, calibration_slope
from oddsmith.metrics.smooth import Smoother, Statistic, integrated_calibration_index
from oddsmith.metrics.verdict import Groups, table_groups

#: Smoothers by which calibration is measured, and what of their distance is shown.
SMOOTHERS: tuple[Smoother, ...] = ("loess", "spline", "isotonic")
STATISTICS: tuple[Statistic, ...] = ("ici", "e50", "e90", "emax")

#: Names of the measures with an interval, in the order of the sheet.
_MEASURES: dict[str, ForecastFunction[..., Any]] = {
    "predicted_observed": predicted_observed_ratio,
    "calibration_in_the_large": calibration_intercept,
    "calibration_slope": calibration_slope,
    "roc_auc": roc_auc,
    "scaled_brier": brier_skill_score,
    "nagelkerke_r2": nagelkerke_r2,
}


@dataclass(frozen=True, eq=False)
class ClinicalSheet(Result):
    """What guidelines on the validation of clinical prediction models require.

    Attributes
    ----------
    rows, events : float
        Weight of all cases, and of the positives.
    observed_expected : Interval or str
        Observed over expected events; a text gives the reason if something is unknown.
    measures : dict of str to (Interval or str)
        ``calibration_in_the_large`` (the intercept at slope 1), ``calibration_slope``, ``roc_auc`` (the c-statistic),
        ``scaled_brier`` and ``nagelkerke_r2``.
    smooth : dict of str to dict of str to (float or str)
        For loess, restricted cubic splines ("spline") and isotonic regression: ICI, E50, E90 and Emax, the mean,
        median, 90th percentile and largest distance of the smoothed share of events from P.
    belt : CalibrationBelt or str
    decisions : DecisionCurve
        Net benefit next to treating all and none.

    See Also
    --------
    clinical_sheet : Returns it.
    """

    rows: float
    events: float
    observed_expected: Interval | str
    measures: dict[str, Interval | str]
    smooth: dict[str, dict[str, float | str]]
    belt: CalibrationBelt | str
    decisions: DecisionCurve


@ForecastFunction
def clinical_sheet(
    forecast: ScoreTable,
    *,
    level: float = 0.95,
    thresholds: Floats | None = None,
    groups: Groups | None = None,
    n_resamples: int = 1000,
    random_state: RandomState = 0,
) -> ClinicalSheet:
    """Return calibration, discrimination and net benefit of a clinical prediction model on new patients.

    Parameters
    ----------
    level : float, default 0.95
        Level of the intervals.
    thresholds : ndarray, optional
        Of the decision curve; by default 0.01, 0.02, …, 0.99.
    groups : mapping of any key to ScoreTable, optional
        Dependent rows, as in `evaluate`: intervals of measures then resample whole groups. The belt and the intervals
        of net benefit, which need independent rows, are left out.
    n_resamples : int, default 1000
    random_state : int, Generator or None, default 0

    See Also
    --------
    evaluate : All measures, for any number of classes.
    decision_curve : Net benefit at all thresholds.

    References
    ----------
    B. Van Calster et al. (STRATOS), Evaluation of performance measures in predictive artificial intelligence models to
    support medical decisions, Lancet Digital Health 2025.
    P. Austin and E. Steyerberg, The integrated calibration index and related metrics, Statistics in Medicine 2019.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 4, 1000)
    >>> sheet = clinical_sheet(rng.random(1000) < p, p, n_resamples=100)
    >>> round(sheet.measures["calibration_slope"].value, 2), round(sheet.smooth["loess"]["ici"], 3)
    (1.02, 0.022)
    """
    share = checked_level(level)
    cases = TableEvidence(forecast, table_groups(groups)).decisions
    dependent = cases.group is not None
    asked = {name: Asked(measure) for name, measure in _MEASURES.items()}
    drawn = cases.group_cases() if dependent else forecast
    found = intervals(asked, drawn, level=share, n_resamples=n_resamples, random_state=random_state)
    measures = {name: str(one) if isinstance(one, InvalidInputError) else one for name, one in found.items()}
    ratio = measures.pop("predicted_observed")
    curve = decision_curve.of(forecast, thresholds=thresholds, level=share)
    if dependent:
        curve = replace(curve, low=np.full_like(curve.low, np.nan), high=np.full_like(curve.high, np.nan))
    return ClinicalSheet(
        forecast.n_pos + forecast.n_neg,
        forecast.n_pos,
        ratio if isinstance(ratio, str) else _inverse(ratio),
        measures,
        {name: {one: _smooth(forecast, name, one) for one in STATISTICS} for name in SMOOTHERS},
        "a belt needs rows that do not depend on each other" if dependent else _belt(forecast),
        curve,
    )


def _inverse(ratio: Interval) -> Interval:
    """Return the interval of observed over expected."""
    low, high = (math.inf if end == 0 else 1 / end for end in (ratio.high, ratio.low))
    return replace(ratio, value=1 / ratio.value, low=low, high=high)


def _smooth(forecast: ScoreTable, smoother: Smoother, statistic: Statistic) -> float | str:
    try:
        return float(integrated_calibration_index.of(forecast, smoother=smoother, statistic=statistic))
    except InvalidInputError as reason:
        return str(reason)


def _belt(forecast: ScoreTable) -> CalibrationBelt | str:
    try:
        return calibration_belt.of(forecast)
    except InvalidInputError as reason:
        return str(reason)
