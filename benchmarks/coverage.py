"""Whether tests keep their level and intervals cover: ``python -m benchmarks.coverage [section ...] [--seconds 200]``.

Samples are drawn from known laws. The sections of `small_samples` are tables of few units, rare events, weights and
groups, each cell with a bar: a cross marks shares that miss it by more than two standard errors. The section "measures"
has a line for each measure and a column for each of four scenarios; an interval of nominal 95 % should contain the true
value in 95 % of the samples, and a cross marks shares significantly below 90 %.

Every run goes on where the last one stopped, and prints the tables of all samples so far.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from benchmarks import decisions
from benchmarks.small_samples import SECTIONS, Cell
from oddsmith import ScoreTable, metrics
from oddsmith.metrics._confidence_limits import Asked
from oddsmith.metrics.intervals import intervals

Curve = Callable[[np.ndarray], np.ndarray]

LEVEL = 0.95
BAR = 0.90
#: Points that stand for the law of the forecasts, and rows at each, where the truth is computed.
_GRID, _MANY = 20_000, 1_000_000


class Scenario(NamedTuple):
    """Number of rows, quantile function of the forecast P, and forecast P → true P."""

    rows: int
    forecast: Curve
    truth: Curve


SCENARIOS = {
    "perfect": Scenario(400, lambda u: stats.beta.ppf(u, 0.8, 2.0), lambda p: p),
    "too sure": Scenario(300, lambda u: expit(stats.t.ppf(u, 4) + 0.3), lambda p: expit(0.7 * logit(p) - 0.2)),
    "rare, too high": Scenario(1000, lambda u: expit(0.7 * logit(u) - 2.2), lambda p: expit(logit(p) - 0.6)),
    "waves, ties": Scenario(600, lambda u: np.ceil(19 * u) / 20, lambda p: p + 0.1 * np.sin(3 * np.pi * p)),
}


def _error(definition: metrics.ErrorDefinition | str) -> Asked:
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
    "auc": _plain(metrics.roc_auc),
    "average_precision": _plain(metrics.average_precision),
    "lift at 10 %": _plain(metrics.lift),
    "break_even": _plain(metrics.break_even),
    "log_loss_uncertainty": _plain(metrics.log_loss_uncertainty),
    "log_loss_discrimination": _plain(metrics.log_loss_discrimination),
    "brier_discrimination": _plain(metrics.brier_discrimination),
    "calibration_slope": _plain(metrics.calibration_slope),
    "calibration_intercept": _plain(metrics.calibration_intercept),
    "log_loss_miscalibration": _plain(metrics.log_loss_miscalibration),
    "brier_miscalibration": _plain(metrics.brier_miscalibration),
    "ECE probcal": _error("quantile_bins"),
    "ECE probcal, debiased": _error(metrics.ErrorDefinition(15, "quantile", debias="bin")),
    "ECE probcal, sweep": _error("sweep"),
    "ECE netcal": _error(metrics.ErrorDefinition(10, "width")),
    "ECE mapie": _error(metrics.ErrorDefinition(49, "width", "right", "apart")),
    "ECE top class": _error(metrics.ErrorDefinition(10, "width", "right", classes="top")),
    "ACE netcal": _error(metrics.ErrorDefinition(10, "width", norm="mean")),
    "MCE netcal": _error(metrics.ErrorDefinition(10, "width", norm="max")),
    "L2 debiased": _error(metrics.ErrorDefinition(15, "split_or_distinct", norm="l2", debias="total")),
    "smooth ECE": _plain(metrics.smooth_calibration_error),
    "ICI isotonic": _index(),
    "ICI logistic": _index(smoother="logistic"),
    "E50 isotonic": _index(statistic="e50"),
    "E90 isotonic": _index(statistic="e90"),
    "Emax isotonic": _index(statistic="emax"),
}

#: Scenario → measure → whether the interval of each sample held the truth; None where there was no interval.
Outcomes = dict[str, dict[str, list[bool | None]]]


def sample(scenario: Scenario, rng: np.random.Generator) -> ScoreTable:
    """Draw forecasts and labels."""
    prob = np.minimum(scenario.forecast(rng.random(scenario.rows)), np.nextafter(1.0, 0.0))
    labels = rng.random(scenario.rows) < scenario.truth(prob)
    return ScoreTable.from_arrays(logit(prob), labels.astype(int))


def population(scenario: Scenario) -> ScoreTable:
    """Return so many forecasts and labels that nothing is random."""
    prob = scenario.forecast((np.arange(_GRID) + 0.5) / _GRID)
    pos = np.rint(_MANY * scenario.truth(prob)).astype(np.int64)
    labels, weight = np.repeat([1, 0], _GRID), np.concatenate([pos, _MANY - pos])
    return ScoreTable.from_arrays(np.tile(logit(prob), 2), labels, weight)


def true_values(name: str, measures: Mapping[str, Asked]) -> dict[str, float]:
    """Return measures of the population."""
    whole = population(SCENARIOS[name])
    # A perfect forecast has errors of 0 but for the rounding of counts.
    return {
        measure: 0.0 if name == "perfect" and one.null == "calibrated" else one.of(whole)
        for measure, one in measures.items()
    }


def covered(name: str, truth: dict[str, float], n_resamples: int, seed: int, number: int) -> dict[str, bool | None]:
    """Draw one sample, and say of each measure whether its interval holds the truth."""
    rng = np.random.default_rng([seed, number, *name.encode()])
    asked = {measure: MEASURES[measure] for measure in truth}
    found = intervals(asked, sample(SCENARIOS[name], rng), level=LEVEL, n_resamples=n_resamples, random_state=rng)
    return {
        measure: bool(one.low - 1e-9 <= truth[measure] <= one.high + 1e-9)
        if isinstance(one, metrics.Interval)
        else None
        for measure, one in found.items()
    }


def simulate(
    outcomes: Outcomes, samples: int, n_resamples: int, seed: int, measures: Mapping[str, Asked] = MEASURES
) -> Iterator[Outcomes]:
    """Draw the samples that are missing, the scenarios in turn; yield the outcomes after each."""
    truths = {name: true_values(name, measures) for name in SCENARIOS}
    for number in range(samples):
        for name, truth in truths.items():
            marks = outcomes.setdefault(name, {measure: [] for measure in measures})
            if number == len(next(iter(marks.values()))):
                for measure, held in covered(name, truth, n_resamples, seed, number).items():
                    marks[measure].append(held)
                yield outcomes


def table(outcomes: Outcomes) -> tuple[str, int]:
    """Return the shares as a Markdown table, and how many are significantly below the bar."""
    failures, lines = (
        0,
        [
            "| measure | " + " | ".join(f"{name}, {SCENARIOS[name].rows} rows" for name in outcomes) + " |",
            "|---" * (len(outcomes) + 1) + "|",
        ],
    )
    for measure in next(iter(outcomes.values())):
        cells = []
        for marks in outcomes.values():
            held = [mark for mark in marks[measure] if mark is not None]
            share, error = np.mean(held), np.sqrt(np.mean(held) * (1 - np.mean(held)) / len(held))
            low = stats.binomtest(sum(held), len(held), BAR, alternative="less").pvalue < 0.05
            few = "" if len(held) == len(marks[measure]) else f" of {len(held)}"
            failures += low
            cells.append(f"{100 * share:.1f} ± {100 * error:.1f}{few}{' ×' if low else ''}")
        lines.append(f"| {measure} | " + " | ".join(cells) + " |")
    return "\n".join(lines), failures


#: Section → cell → samples that were counted, and all samples.
Counts = dict[str, dict[str, list[int]]]

#: Samples of a cell before the next has its turn.
_TURN = 100


def count(counts: Counts, section: str, samples: int | None, seed: int) -> Iterator[None]:
    """Draw the samples of a section that are missing, cells in turn; yield after each turn."""
    cells = list(SECTIONS[section]())
    known = counts.setdefault(section, {})
    for turn in range(0, samples or max(cell.samples for cell in cells), _TURN):
        for cell in cells:
            key = f"{cell.row} | {cell.column}"
            if known.get(key, [0, 0])[1] == turn < (samples or cell.samples):
                rngs = (np.random.default_rng([seed, turn + i, *key.encode()]) for i in range(_TURN))
                counted = sum(cell.draw(rng) for rng in rngs)
                known[key] = [known.get(key, [0, 0])[0] + int(counted), turn + _TURN]
                yield


def section_table(section: str, counts: dict[str, list[int]]) -> tuple[str, int]:
    """Return the shares of a section as Markdown tables, and how many miss their bar by two standard errors."""
    rows: dict[str, dict[str, str]] = {}
    failures = 0
    for cell in SECTIONS[section]():
        counted, samples = counts.get(f"{cell.row} | {cell.column}", [0, 0])
        if samples:
            failures += (low := _misses(cell, counted, samples))
            rows.setdefault(cell.row, {})[cell.column] = f"{100 * counted / samples:.1f}{' ×' if low else ''}"
    lines: list[str] = []
    columns: tuple[str, ...] = ()
    for name, cells in rows.items():
        if tuple(cells) != columns:
            columns = tuple(cells)
            lines += ["", f"| {section} | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
        lines.append(f"| {name} | " + " | ".join(cells.values()) + " |")
    return "\n".join(lines), failures


def _misses(cell: Cell, counted: int, samples: int) -> bool:
    """Whether a share is on the wrong side of its bar by more than two standard errors."""
    error = np.sqrt(cell.bar * (1 - cell.bar) / samples)
    beyond = counted / samples - cell.bar
    return bool((beyond if cell.at_most else -beyond) > 2 * error)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument(
        "sections",
        nargs="*",
        help=f"of measures, {', '.join(SECTIONS)}, {', '.join(decisions.FAMILIES)}; by default all",
    )
    parser.add_argument("--measure", action="append", choices=MEASURES, help="in the section measures; by default all")
    parser.add_argument("--samples", type=int, help="of each cell, those of earlier runs included, in hundreds")
    parser.add_argument("--n-resamples", type=int, default=100, help="draws of an interval of a measure")
    parser.add_argument("--seed", type=int, default=27182)
    parser.add_argument("--seconds", type=float, default=np.inf, help="stop after so long; the next run goes on")
    parser.add_argument("--state", type=Path, default=Path("build/coverage.json"), help="where outcomes are kept")
    chosen = parser.parse_args(arguments)
    sections = chosen.sections or [*SECTIONS, "measures", *decisions.FAMILIES]
    if unknown := set(sections) - {*SECTIONS, "measures", *decisions.FAMILIES}:
        parser.error(f"unknown section {', '.join(sorted(unknown))}")
    measures = {name: MEASURES[name] for name in chosen.measure or MEASURES}
    rules = {"n_resamples": chosen.n_resamples, "seed": chosen.seed, "measures": list(measures)}
    known = json.loads(chosen.state.read_text()) if chosen.state.exists() else {}
    state = known if known.get("rules") == rules else {"rules": rules, "outcomes": {}, "counts": {}}
    start, failures = time.monotonic(), 0
    for section in sections:
        if section in decisions.FAMILIES:
            limits = ["--repetitions", str(chosen.samples or 1000), "--seconds", str(chosen.seconds)]
            kept = ["--state", str(chosen.state.with_name("decisions.csv"))]
            failures += decisions.main([section, *limits, *kept, "--seed", str(chosen.seed)])
            continue
        if section == "measures":
            steps = simulate(state["outcomes"], chosen.samples or 300, chosen.n_resamples, chosen.seed, measures)
        else:
            steps = count(state["counts"], section, chosen.samples, chosen.seed)
        for _ in steps:
            _keep(chosen.state, state)
            if time.monotonic() - start > chosen.seconds:
                break
        shown, missed = (
            table(state["outcomes"]) if section == "measures" else section_table(section, state["counts"][section])
        )
        failures += missed
        print(f"{shown}\n\n{missed} shares miss their bar (×)", flush=True)
    return int(failures > 0)


def _keep(path: Path, state: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(state))


if __name__ == "__main__":
    sys.exit(main())
