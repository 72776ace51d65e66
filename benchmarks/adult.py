"""Eight quarters of Adult without labels: ``python -m benchmarks.adult [--nannyml PYTHON]``.

A model is trained on 10,000 rows and calibrated with 2,000; the others arrive in eight quarters of 2,000 rows. Two
quarters are like the calibration rows. Four drift: rows are drawn by a weight that grows with age and with hours worked
(covariate shift; P given the columns is kept). In the last two a share of the positive labels is turned as well
(concept shift), which no method can see without labels. Expected measures and their intervals are compared with what
the labels show; the monitor counts the quarters in batches of 250 rows. With ``--nannyml``, NannyML's CBPE runs on the
same rows and decisions, in the environment of that interpreter: once with the classifier's probabilities, which it
calibrates by itself ("CBPE"), and once with ours ("CBPE, our P"). Each repetition adds lines to a CSV file; the next
call goes on.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier

from oddsmith import AutoCalibrator, ScoreTable
from oddsmith.expected import expected_performance, importance_weights, observed_performance
from oddsmith.model import Model
from oddsmith.monitor import Monitor
from oddsmith_studies.data import load_adult

_TRAIN, _FIT, _QUARTER, _BATCH = 10_000, 2_000, 2_000, 250
#: Strength of the drift, and share of positive labels that are turned, in each quarter.
QUARTERS = ((0.0, 0.0), (0.0, 0.0), (0.25, 0.0), (0.5, 0.0), (0.75, 0.0), (1.0, 0.0), (1.0, 0.3), (1.0, 0.5))
#: Quarters for which the calibration rows are reweighted as well, which takes longer.
_REWEIGHTED = (0, 5)
MEASURES = {"roc_auc": "auc", "accuracy": "accuracy@0.5", "precision": "precision@0.5", "recall": "recall@0.5"}
MEASURES |= {"f1": "f1@0.5"}
COLUMNS = ("seed", "method", "quarter", "measure", "expected", "low", "high", "observed", "seconds", "megabytes")

#: What the other interpreter runs: it estimates by files, and prints seconds and megabytes.
_CBPE = """
import sys, time, tracemalloc, pandas as pd, nannyml
reference, new = (pd.read_csv(f"{sys.argv[1]}/{name}.csv") for name in ("reference", "new"))
for column in ("raw", "own"):
    tracemalloc.start()
    start = time.process_time()
    names = dict(y_pred_proba=column, y_pred="pred", y_true="y", problem_type="classification_binary")
    cbpe = nannyml.CBPE(metrics=sys.argv[2].split(","), chunk_size=int(sys.argv[3]), **names).fit(reference)
    found = cbpe.estimate(new).filter(period="analysis").to_df()
    print(time.process_time() - start, tracemalloc.get_traced_memory()[1] / 1e6)
    tracemalloc.stop()
    found.columns = ["/".join(map(str, each)) for each in found.columns]
    found.to_csv(f"{sys.argv[1]}/{column}.csv", index=False)
"""
#: Names of CBPE with either column of probabilities.
_RIVALS = {"raw": "CBPE", "own": "CBPE, our P"}


def quarters(seed: int) -> tuple[Any, Any, list[tuple[Any, Any, Any]]]:
    """Return scores and labels of the calibration rows, their columns, and of each quarter scores, labels, columns."""
    rng = np.random.default_rng(seed)
    data = load_adult()
    x, y = np.asarray(data.X, float), (data.y == ">50K").astype(int)
    order = rng.permutation(len(y))
    train, fit, rest = order[:_TRAIN], order[_TRAIN : _TRAIN + _FIT], order[_TRAIN + _FIT :]
    model = HistGradientBoostingClassifier(max_iter=60, random_state=seed).fit(x[train], y[train])
    score = model.decision_function(x)
    age, hours = (x[:, data.features.index(name)] for name in ("age", "hours-per-week"))
    drift = (age - age.mean()) / age.std() + (hours - hours.mean()) / hours.std()
    found = []
    for strength, turned in QUARTERS:
        # The rows with the largest keys are a sample without replacement by these weights (Gumbel).
        chosen = rest[np.argsort(-(strength * drift[rest] + rng.gumbel(size=len(rest))))[:_QUARTER]]
        rest = np.setdiff1d(rest, chosen)
        chosen = rng.permutation(chosen)
        label = np.where(rng.random(_QUARTER) < turned, 0, y[chosen])
        found.append((score[chosen], label, x[chosen]))
    return (score[fit], y[fit]), x[fit], found


def run(seed: int, nannyml: str | None) -> list[dict[str, Any]]:
    """Return what each method expects of each quarter, and what labels show."""
    (fit_score, fit_y), fit_x, new = quarters(seed)
    table = ScoreTable.from_arrays(fit_score, fit_y)
    model = Model.from_fitted(AutoCalibrator().fit_table(table), table=table)
    observed = [observed_performance(model, ScoreTable.from_arrays(score, y)) for score, y, _ in new]
    lines: list[dict[str, Any]] = []

    def add(method: str, quarter: int, estimates: dict[str, tuple[float, float, float]], cost: Any = ("", "")) -> None:
        for name, (value, low, high) in estimates.items():
            shown = {"expected": value, "low": low, "high": high, "observed": observed[quarter][name]}
            key = {"seed": seed, "method": method, "quarter": quarter + 1, "measure": name}
            lines.append(key | shown | dict(zip(("seconds", "megabytes"), cost, strict=True)))

    tracemalloc.start()
    start = time.process_time()
    plain = [expected_performance(model, score, calibration=table, random_state=seed) for score, _, _ in new]
    cost = (time.process_time() - start, tracemalloc.get_traced_memory()[1] / 1e6)
    tracemalloc.stop()
    for at, found in enumerate(plain):
        add("expected", at, {n: _ends(found.measures[n]) for n in MEASURES.values()}, cost)
    for at in _REWEIGHTED:
        score, _, x = new[at]
        weighted = ScoreTable.from_arrays(fit_score, fit_y, importance_weights(fit_x, x, random_state=seed))
        own = Model.from_fitted(AutoCalibrator().fit_table(weighted), table=weighted)
        found = expected_performance(model, score, calibration=weighted, believed=own, random_state=seed)
        add("reweighted", at, {n: _ends(found.measures[n]) for n in MEASURES.values()})
    if nannyml is not None:
        for method, cost, estimates in _cbpe(nannyml, model, (fit_score, fit_y), new):
            for at, each in enumerate(estimates):
                add(method, at, each, cost)
    monitor, alarm = Monitor(model, calibration=table), ""
    for at, (score, y, _) in enumerate(new):
        for first in range(0, _QUARTER, _BATCH):
            part = slice(first, first + _BATCH)
            found_now = monitor.update(score[part], y[part], batch=f"{at} {first}").findings[0]
            if found_now.alarm and not alarm:
                alarm = f"{found_now.alarm_row} {found_now.direction}"
    lines.append({"seed": seed, "method": "monitor", "measure": "alarm", "observed": alarm})
    return lines


def _ends(one: Any) -> tuple[float, float, float]:
    return one.value, one.low, one.high


def _cbpe(python: str, model: Model, fit: Any, new: Any) -> list[tuple[str, list[float], list[dict[str, Any]]]]:
    """Run CBPE with the classifier's and the calibrated probabilities; intervals are 1.96 of its sampling errors."""
    estimates: dict[str, list[dict[str, Any]]] = {column: [] for column in _RIVALS}
    with tempfile.TemporaryDirectory() as folder:
        every = (np.concatenate([each[0] for each in new]), np.concatenate([each[1] for each in new]))
        for name, (score, y) in (("reference", fit), ("new", every)):
            p = model.probability(score)
            rows = np.column_stack([expit(score), p, p >= 0.5, y])
            np.savetxt(f"{folder}/{name}.csv", rows, "%.17g", ",", header="raw,own,pred,y", comments="")
        arguments = [python, "-W", "ignore", "-c", _CBPE, folder, ",".join(MEASURES), str(_QUARTER)]
        done = subprocess.run(
            arguments, stdout=subprocess.PIPE, text=True, check=True, env={"NML_DISABLE_USAGE_LOGGING": "1"}
        )
        for column, found in estimates.items():
            with open(f"{folder}/{column}.csv", newline="") as file:
                for row in csv.DictReader(file):
                    values = {n: (float(row[f"{n}/value"]), float(row[f"{n}/sampling_error"])) for n in MEASURES}
                    found.append({MEASURES[n]: (v, v - 1.96 * e, v + 1.96 * e) for n, (v, e) in values.items()})
    costs = [[float(each) for each in line.split()] for line in done.stdout.splitlines()[-2:]]
    return [(_RIVALS[column], cost, estimates[column]) for column, cost in zip(estimates, costs, strict=True)]


def tables(lines: list[dict[str, str]]) -> str:
    """Return Markdown tables of mean errors and coverage, by kind of quarter and measure."""
    kinds = {"1": "as calibrated", "2": "as calibrated"} | dict.fromkeys("3456", "covariate shift")
    kinds |= dict.fromkeys("78", "concept shift")
    groups: dict[tuple[str, str], dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if line["method"] != "monitor":
            groups[kinds[line["quarter"]], line["method"]][line["measure"]].append(line)
    names = list(MEASURES.values())
    out = ["| quarters | method | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for (kind, method), found in sorted(groups.items()):
        cells = []
        for name in names:
            values = np.array(
                [[float(each[k]) for k in ("expected", "low", "high", "observed")] for each in found[name]]
            )
            error = np.abs(values[:, 0] - values[:, 3]).mean()
            held = ((values[:, 1] <= values[:, 3]) & (values[:, 3] <= values[:, 2])).mean()
            cells.append(f"{error:.4f}, {100 * held:.0f} %")
        out.append(f"| {kind} | {method} | " + " | ".join(cells) + " |")
    for method in ("expected", *_RIVALS.values()):
        cost = {(float(each["seconds"]), float(each["megabytes"])) for each in lines if each["method"] == method}
        if cost:
            seconds, megabytes = np.median(sorted(cost), axis=0)
            out.append(f"\n{method}: median {seconds:.2f} s of processor time, {megabytes:.1f} MB for eight quarters")
    alarms = [each["observed"] for each in lines if each["method"] == "monitor"]
    rows = [int(each.split(" ", 1)[0]) for each in alarms if each]
    before = sum(each <= 6 * _QUARTER for each in rows)
    out.append(
        f"\nmonitor: {len(alarms)} runs; {before} alarms before the concept shift, {len(rows) - before} in it; median "
        f"{np.median([each - 6 * _QUARTER for each in rows if each > 6 * _QUARTER] or [np.nan]):.0f} rows after it"
    )
    return "\n".join(out)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.adult", description=__doc__)
    parser.add_argument("--samples", type=int, default=50, help="repetitions")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long; the next call goes on")
    parser.add_argument("--nannyml", help="an interpreter that has nannyml 0.13.1")
    parser.add_argument("--file", type=Path, default=Path("build/adult.csv"), help="where the lines are kept")
    chosen = parser.parse_args(arguments)
    chosen.file.parent.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, str]] = []
    if chosen.file.exists():
        with chosen.file.open(newline="") as file:
            lines = list(csv.DictReader(file))
    done = {line["seed"] for line in lines}
    start = time.monotonic()
    with chosen.file.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not lines:
            writer.writeheader()
        for seed in range(chosen.samples):
            if str(seed) in done or time.monotonic() - start > chosen.seconds:
                continue
            found = [{name: str(line.get(name, "")) for name in COLUMNS} for line in run(seed, chosen.nannyml)]
            writer.writerows(found)
            file.flush()
            lines += found
    print(tables(lines), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
