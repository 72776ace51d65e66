"""How often intervals hold the truth: ``python -m benchmarks.coverage [--samples 300] [--rows 200 1000 5000]``.

Labels are drawn from known curves, so the true value of every measure is known; an interval of nominal 95 % should hold
it in 95 % of the samples. A line a measure, a column a curve, and a cross where the share is significantly below 90 %.
"""

import argparse
import sys
from collections.abc import Callable
from itertools import product

import numpy as np
from scipy.special import expit, ndtri

from oddsmith import ScoreTable, metrics
from oddsmith.metrics._limits import Asked
from oddsmith.metrics.intervals import intervals

#: Forecast log-odds → true log-odds.
CURVES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "perfect": lambda x: x,
    "mild": lambda x: 0.8 * x,
    "strong": lambda x: 0.4 * x + 0.5,
    "bent": lambda x: np.where(x > 0, 0.5 * x, 1.3 * x),
    "wavy": lambda x: x + np.sin(2 * x),
}
#: Mean and standard deviation of the forecasts' log-odds: a share of positives near ½, and near 5 % for "mild".
FORECASTS = {"balanced": (0.2, 1.7), "rare": (-3.5, 1.1)}
LEVEL = 0.95
BAR = 0.90
#: Points that stand for the law of the forecasts, and rows at each, where the truth is computed.
_GRID, _MANY = 20_000, 1_000_000


def _error(definition: str) -> Asked:
    return Asked(metrics.calibration_error, {"definition": definition}, "calibrated")


def _index(**options: str) -> Asked:
    return Asked(metrics.integrated_calibration_index, options, "calibrated")


def _plain(measure: metrics.Measure, **options: object) -> Asked:
    return Asked(measure, options, measure.null)


MEASURES = {
    "log_loss": _plain(metrics.log_loss),
    "squared_error": _plain(metrics.squared_error),
    "root_mean_squared_error": _plain(metrics.root_mean_squared_error),
    "zero_one_error": _plain(metrics.zero_one_error),
    "accuracy": _plain(metrics.accuracy),
    "auc": _plain(metrics.auc),
    "average_precision": _plain(metrics.average_precision),
    "lift at 10 %": _plain(metrics.lift),
    "break_even": _plain(metrics.break_even),
    "uncertainty": _plain(metrics.uncertainty),
    "discrimination": _plain(metrics.discrimination),
    "discrimination, squared": _plain(metrics.discrimination, score="squared"),
    "calibration_slope": _plain(metrics.calibration_slope),
    "calibration_intercept": _plain(metrics.calibration_intercept),
    "miscalibration": _plain(metrics.miscalibration),
    "miscalibration, squared": _plain(metrics.miscalibration, score="squared"),
    "ECE probcal": _error("probcal"),
    "ECE probcal, debiased": _error("probcal_debiased"),
    "ECE probcal, sweep": _error("probcal_sweep"),
    "ECE netcal": _error("netcal"),
    "ECE mapie": _error("mapie"),
    "ECE top class": _error("calzone_top_class"),
    "ACE netcal": _error("netcal_ace"),
    "MCE netcal": _error("netcal_mce"),
    "L2 debiased": _error("uncertainty_calibration"),
    "smooth ECE": _plain(metrics.smooth_calibration_error),
    "ICI isotonic": _index(),
    "ICI logistic": _index(smoother="logistic"),
    "E50 isotonic": _index(statistic="e50"),
    "E90 isotonic": _index(statistic="e90"),
    "Emax isotonic": _index(statistic="emax"),
}


def sample(rng: np.random.Generator, curve: str, forecast: str, rows: int) -> ScoreTable:
    """Draw forecasts and labels."""
    mean, spread = FORECASTS[forecast]
    log_odds = rng.normal(mean, spread, rows)
    return ScoreTable.from_arrays(log_odds, (rng.random(rows) < expit(CURVES[curve](log_odds))).astype(int))


def population(curve: str, forecast: str) -> ScoreTable:
    """Return so many forecasts and labels that nothing is random."""
    mean, spread = FORECASTS[forecast]
    log_odds = mean + spread * ndtri((np.arange(_GRID) + 0.5) / _GRID)
    pos = np.rint(_MANY * expit(CURVES[curve](log_odds))).astype(np.int64)
    labels, weight = np.repeat([1, 0], _GRID), np.concatenate([pos, _MANY - pos])
    return ScoreTable.from_arrays(np.concatenate([log_odds, log_odds]), labels, weight)


def coverage(
    asked: dict[str, Asked], curve: str, forecast: str, rows: int, samples: int, n_boot: int, seed: int
) -> dict[str, tuple[float, int]]:
    """Return the share of samples whose interval holds the truth, of those in which the measure is defined."""
    whole = population(curve, forecast)
    truth = {name: one.of(whole) for name, one in asked.items()}
    if curve == "perfect":
        # But for the rounding of counts.
        truth.update(dict.fromkeys((name for name, one in asked.items() if one.null == "calibrated"), 0.0))
    rng = np.random.default_rng([seed, rows, list(CURVES).index(curve), list(FORECASTS).index(forecast)])
    held: dict[str, list[bool]] = {name: [] for name in asked}
    for _ in range(samples):
        table = sample(rng, curve, forecast, rows)
        for name, found in intervals(asked, table, level=LEVEL, n_boot=n_boot, random_state=rng).items():
            if isinstance(found, metrics.Interval):
                held[name].append(found.low - 1e-9 <= truth[name] <= found.high + 1e-9)
    return {name: (float(np.mean(marks)) if marks else np.nan, len(marks)) for name, marks in held.items()}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 1000, 5000])
    parser.add_argument("--curves", nargs="+", choices=CURVES, default=list(CURVES))
    parser.add_argument("--forecasts", nargs="+", choices=FORECASTS, default=list(FORECASTS))
    parser.add_argument("--measures", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--n-boot", type=int, default=500)
    parser.add_argument("--seed", type=int, default=20260)
    chosen = parser.parse_args()
    asked = {name: MEASURES[name] for name in chosen.measures}
    slack = 1.645 * np.sqrt(BAR * (1 - BAR) / chosen.samples)
    failures = 0
    for rows, forecast in product(chosen.rows, chosen.forecasts):
        print(f"\n{rows} rows, {forecast}: share of {chosen.samples} samples whose 95 % interval holds the truth")
        print(f"  {'':<26}" + "".join(f"{curve:>10}" for curve in chosen.curves), flush=True)
        columns = [
            coverage(asked, curve, forecast, rows, chosen.samples, chosen.n_boot, chosen.seed)
            for curve in chosen.curves
        ]
        for name in asked:
            cells = [column[name] for column in columns]
            low = [share < BAR - slack for share, _ in cells]
            failures += sum(low)
            texts = [f"{share:>9.3f}{'×' if bad else ' '}" for (share, _), bad in zip(cells, low, strict=True)]
            few = min(count for _, count in cells)
            note = f"  (defined in {few} samples or more)" if few < chosen.samples else ""
            print(f"  {name:<26}" + "".join(texts) + note, flush=True)
    print(f"\n{failures} shares significantly below {BAR:.0%}")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
