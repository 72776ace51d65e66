"""How often the monitor alarms falsely, and how late rightly: ``python -m benchmarks.monitor [--seconds 600]``.

False alarms: runs of 100,000 rows, with exact probabilities and with maps fitted to 500 and 2,000 rows; of each map
once with its error allowed for and once without. Delays: rows from a loss to the alarm, with probcal's monitor on the
same rows. Every run goes on where the last one stopped, adds a line to a CSV file for each, and prints the tables.
"""

import argparse
import csv
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit

from oddsmith import IsotonicCalibrator, PlattCalibrator, ScoreTable
from oddsmith.model import Model
from oddsmith.monitor import Monitor

_ROWS, _BATCH = 100_000, 500
_AFTER, _STEP = 6_000, 50

#: Laws of the score, whose log-odds are a line of it: about 40 %, and 4 % positives.
LAWS: dict[str, tuple[float, float]] = {"common": (-0.4, 1.2), "rare": (-4.0, 1.3)}
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(99)
#: Log-odds of the prevalence, about which slopes turn.
CENTERS = {
    law: float(logit(expit(level + spread * _NODES) @ _WEIGHTS / _WEIGHTS.sum()))
    for law, (level, spread) in LAWS.items()
}
LOSSES = {"offset 0.5": (0.5, 1.0), "offset -0.5": (-0.5, 1.0), "slope 0.7": (0.0, 0.7)}
CALIBRATORS: dict[str, Callable[[], Any]] = {"Platt": PlattCalibrator, "isotonic": IsotonicCalibrator}
COLUMNS = ("section", "law", "map", "fitted", "loss", "calm", "monitor", "seed", "alarm", "evidence", "named", "onset")


def draw(rng: np.random.Generator, law: str, n: int, loss: tuple[float, float] = (0.0, 1.0)) -> tuple[Any, Any, Any]:
    """Draw scores, true log-odds without a loss, and labels; slopes turn about the log-odds of the prevalence."""
    level, spread = LAWS[law]
    score = np.round(20 * rng.normal(size=n)) / 20  # some are equal, so that batches are small tables
    log_odds = level + spread * score
    center = CENTERS[law]
    moved = center + loss[0] + loss[1] * (log_odds - center)
    return score, log_odds, (rng.random(n) < expit(moved)).astype(int)


def fitted_model(rng: np.random.Generator, law: str, method: str, rows: int) -> tuple[Model, ScoreTable]:
    score, _, y = draw(rng, law, rows)
    table = ScoreTable.from_arrays(score, y)
    return Model.from_fitted(CALIBRATORS[method]().fit_table(table), table=table), table


def false_alarm(law: str, method: str, fitted: int, seed: int) -> Iterator[dict[str, Any]]:
    """Run monitors without a loss, all on the same rows and with the same fit."""
    rng = np.random.default_rng([1, seed, fitted, *law.encode()])
    monitors: dict[str, Monitor] = {"exact": Monitor()}
    model = None
    if fitted:
        model, table = fitted_model(rng, law, method, fitted)
        monitors = {"with its error": Monitor(model, calibration=table), "as exact": Monitor()}
    score, log_odds, y = draw(rng, law, _ROWS)
    alarms: dict[str, Any] = {}
    for name, monitor in monitors.items():
        values = score if name == "with its error" else expit(log_odds) if model is None else model.probability(score)
        for at in range(0, _ROWS, _BATCH):
            part = slice(at, at + _BATCH)
            found = monitor.update(values[part], y[part], batch=str(at)).findings[0]
            if found.alarm and name not in alarms:
                alarms[name] = found.alarm_row
                break
        key = {"section": "false", "law": law, "map": method, "fitted": fitted, "monitor": name, "seed": seed}
        yield key | {"alarm": alarms.get(name, ""), "evidence": f"{found.evidence:.4g}"}


def delay(law: str, loss: str, calm: int, seed: int) -> Iterator[dict[str, Any]]:
    """Run monitors with a loss after so many calm rows, all on the same rows."""
    from probcal.monitor import CalibrationMonitor

    rng = np.random.default_rng([2, seed, calm, *law.encode()])
    fits = {fitted: fitted_model(rng, law, "Platt", fitted) for fitted in (500, 2_000)}
    before, after = draw(rng, law, calm), draw(rng, law, _AFTER, LOSSES[loss])
    score, log_odds, y = (np.concatenate(pair) for pair in zip(before, after, strict=True))
    monitors: dict[str, tuple[Any, Any]] = {"exact": (Monitor(), expit(log_odds))}
    for fitted, (model, table) in fits.items():
        monitors[f"map of {fitted:,} rows"] = (Monitor(model, calibration=table), score)
    for name, (monitor, values) in monitors.items():
        yield _delayed(monitor, values, y, calm, loss) | {
            "section": "delay", "law": law, "loss": loss, "calm": calm, "monitor": name, "seed": seed
        }  # fmt: skip
    theirs, alarm = CalibrationMonitor(), ""
    p = expit(log_odds)
    for at in range(0, len(y), _STEP):
        step = theirs.update(y[at : at + _STEP], p[at : at + _STEP])
        if step.alarm:
            alarm = str(at + _STEP)
            break
    yield {
        "section": "delay", "law": law, "loss": loss, "calm": calm, "monitor": "probcal", "seed": seed, "alarm": alarm
    }  # fmt: skip


def _delayed(monitor: Monitor, values: Any, y: Any, calm: int, loss: str) -> dict[str, Any]:
    """Count batches until 500 rows after the alarm."""
    alarm: int | None = None
    found = None
    for at in range(0, len(y), _STEP):
        found = monitor.update(values[at : at + _STEP], y[at : at + _STEP], batch=str(at)).findings[0]
        alarm = found.alarm_row
        if alarm is not None and at + _STEP >= alarm + 500:
            break
    if alarm is None or found is None:
        return {"alarm": ""}
    right = {"offset 0.5": "too low", "offset -0.5": "too high", "slope 0.7": "too extreme"}[loss]
    return {"alarm": alarm, "named": int(found.direction == right), "onset": (found.since_row or 0) - 1 - calm}


def jobs(samples: int) -> Iterator[tuple[tuple[Any, ...], Callable[[], Iterator[dict[str, Any]]]]]:
    """Return what is to be run, kinds in turn, so that a part of it is a part of each."""
    for seed in range(samples):
        for law in LAWS:
            for fitted, method in ((0, ""), (500, "Platt"), (2_000, "Platt")):
                yield ("false", law, method, fitted, "", "", seed), _call(false_alarm, law, method, fitted, seed)
            if seed % 5 == 0:
                for fitted in (500, 2_000):
                    key = ("false", law, "isotonic", fitted, "", "", seed)
                    yield key, _call(false_alarm, law, "isotonic", fitted, seed)
                for loss in LOSSES:
                    for calm in (0, 2_000):
                        yield ("delay", law, "", "", loss, calm, seed), _call(delay, law, loss, calm, seed)


def _call(function: Callable[..., Iterator[dict[str, Any]]], *args: Any) -> Callable[[], Iterator[dict[str, Any]]]:
    return lambda: function(*args)


def tables(lines: list[dict[str, str]]) -> str:
    """Return Markdown tables of all runs so far."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for line in lines:
        groups[tuple(line[name] for name in ("section", "law", "map", "fitted", "loss", "calm", "monitor"))].append(
            line
        )
    out = ["| false alarms in 100,000 rows | rows of the fit | monitor | runs | alarms |", "|---|---|---|---|---|"]
    for (section, law, method, fitted, _, _, monitor), found in sorted(groups.items()):
        if section == "false":
            alarms = sum(line["alarm"] != "" for line in found)
            share = f"{alarms} ({100 * alarms / len(found):.1f} %)"
            out.append(f"| {law} {method} | {fitted} | {monitor} | {len(found)} | {share} |")
    out += [
        "",
        "| loss | law | calm rows | monitor | runs | median delay | false | named rightly | onset, median error |",
    ]
    out += ["|---" * 9 + "|"]
    for (section, law, _, _, loss, calm, monitor), found in sorted(groups.items()):
        if section == "delay":
            late = [math.inf if not line["alarm"] else int(line["alarm"]) - int(calm) for line in found]
            right = [each for each in late if each > 0]
            named = [int(line["named"]) for line in found if line["named"]]
            onset = [abs(int(line["onset"])) for line in found if line["onset"]]
            shown = [f"{100 * np.mean(named):.0f} %", f"{np.median(onset):.0f}"] if named else ["", ""]
            figures = [len(found), f"{np.median(right):.0f}" if right else "", len(late) - len(right), *shown]
            out.append(f"| {loss} | {law} | {calm} | {monitor} | " + " | ".join(map(str, figures)) + " |")
    return "\n".join(out)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.monitor", description=__doc__)
    parser.add_argument("--samples", type=int, default=1000, help="runs of each kind; of delays a fifth")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long; the next run goes on")
    parser.add_argument("--file", type=Path, default=Path("build/monitor.csv"), help="where the runs are kept")
    chosen = parser.parse_args(arguments)
    chosen.file.parent.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, str]] = []
    if chosen.file.exists():
        with chosen.file.open(newline="") as file:
            lines = list(csv.DictReader(file))
    names = ("section", "law", "map", "fitted", "loss", "calm", "seed")
    done = {tuple(line[name] for name in names) for line in lines}
    start = time.monotonic()
    with chosen.file.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not lines:
            writer.writeheader()
        for key, run in jobs(chosen.samples):
            if time.monotonic() - start > chosen.seconds:
                break
            if tuple(map(str, key)) in done:
                continue
            found = [{name: str(line.get(name, "")) for name in COLUMNS} for line in run()]
            writer.writerows(found)
            file.flush()
            lines += found
    print(tables(lines), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
