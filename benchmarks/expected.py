"""Whether intervals of expected performance cover: ``python -m benchmarks.expected [--samples 1000] [--seconds 600]``.

A map is fitted to 500, 2,000 or 5,000 labeled rows; what it promises for 2,000 rows without labels is compared with
what their labels show, without a shift and with scores half a standard deviation higher whose P(y | s) is kept. Every
run adds a line to a CSV file and goes on where the last one stopped.
"""

import argparse
import csv
import math
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import softmax

from benchmarks.monitor import CALIBRATORS, LAWS
from oddsmith import ScoreTable, VectorScaling
from oddsmith.data import ScoreRows
from oddsmith.decide import binary_costs
from oddsmith.expected import expected_performance, observed_performance
from oddsmith.model import Model

_FITTED, _SHIFTS, _NEW = (500, 2_000, 5_000), (0.0, 0.5), 2_000
_CUTS, _COSTS = (0.3, 0.5), binary_costs(false_positive=1, false_negative=4)
KEYS = ("law", "map", "fitted", "shift", "seed")
_OF_CUT = tuple(f"{name}@{cut}" for cut in _CUTS for name in ("accuracy", "precision", "recall", "f1", "cost"))
_OF_CLASSES = ("accuracy", "macro_precision", "macro_recall", "macro_f1", "cost")
COLUMNS = (*KEYS, "known", "auc", "log_loss", "brier", *_OF_CUT, *_OF_CLASSES)

#: Weights of three features in the logits of four classes, and their offsets.
_LOGITS = np.random.default_rng(5).normal(size=(3, 4)) * 1.2, np.array([1.0, 0.0, 0.0, -1.5])
_CLASSES = "four classes"
_BAR = 0.91


def draw(rng: np.random.Generator, law: str, n: int, shift: float = 0.0) -> tuple[Any, Any]:
    level, spread = LAWS[law]
    score = np.round(20 * rng.normal(shift, 1.0, n)) / 20  # some are equal, so that tables are small
    return score, (rng.random(n) < 1 / (1 + np.exp(-level - spread * score))).astype(int)


def draw_classes(rng: np.random.Generator, n: int, shift: float = 0.0) -> ScoreRows:
    """Draw logits that are too extreme, and labels; of a shift all features are higher."""
    z = (rng.normal(size=(n, 3)) + shift) @ _LOGITS[0] + _LOGITS[1]
    y = (rng.random(n)[:, None] > np.cumsum(softmax(z, axis=1), axis=1)).sum(axis=1).clip(0, 3)
    return ScoreRows(1.8 * z + [0.3, 0, 0, 0], y, (0, 1, 2, 3), None, ("", "", "", ""), "log_odds")


def run_classes(fitted: int, seed: int) -> list[dict[str, Any]]:
    """Fit `VectorScaling` once, and compare for each shift, with the rows of the fit known and unknown."""
    rng, costs = np.random.default_rng([seed, fitted]), np.ones((4, 4)) - np.eye(4)
    table = draw_classes(rng, fitted)
    model = Model.from_fitted(VectorScaling().fit(table.values, table.truth))
    lines = []
    for shift in _SHIFTS:
        new = draw_classes(rng, _NEW, shift)
        seen = observed_performance(model, new, costs=costs)
        for known, rows in (("rows", table), ("number", None))[: 2 if seed % 5 == 0 else 1]:
            found = expected_performance(model, new.values, costs=costs, calibration=rows, random_state=rng)
            marks = {name: int(one.low <= seen[name] <= one.high) for name, one in found.measures.items()}
            key = {"law": _CLASSES, "map": "vector", "fitted": fitted, "shift": shift, "seed": seed, "known": known}
            lines.append(key | marks)
    return lines


def run(law: str, method: str, fitted: int, seed: int) -> list[dict[str, Any]]:
    """Fit once, and compare for each shift, with the rows of the fit known and unknown."""
    if law == _CLASSES:
        return run_classes(fitted, seed)
    rng = np.random.default_rng([seed, fitted, *law.encode()])
    table = ScoreTable.from_arrays(*draw(rng, law, fitted))
    model = Model.from_fitted(CALIBRATORS[method]().fit_table(table), table=table)
    lines = []
    for shift in _SHIFTS:
        score, y = draw(rng, law, _NEW, shift)
        seen = observed_performance(model, ScoreTable.from_arrays(score, y), thresholds=_CUTS, costs=_COSTS)
        for known, rows in (("rows", table), ("number", None))[: 2 if seed % 5 == 0 else 1]:
            found = expected_performance(
                model, score, thresholds=_CUTS, costs=_COSTS, calibration=rows, random_state=rng
            )
            marks = {
                name: "" if math.isnan(seen[name]) else int(one.low <= seen[name] <= one.high)
                for name, one in found.measures.items()
            }
            key = {"law": law, "map": method, "fitted": fitted, "shift": shift, "seed": seed, "known": known}
            lines.append(key | marks)
    return lines


def tables(lines: list[dict[str, str]]) -> str:
    """Return the shares of intervals that held, in %."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for line in lines:
        groups[line["law"], line["map"], line["fitted"], line["shift"], line["known"]].append(line)
    out: list[str] = []
    for several in (False, True):
        chosen = {key: found for key, found in sorted(groups.items(), key=_order) if (key[0] == _CLASSES) == several}
        names = [name for name in COLUMNS[6:] if any(line[name] for found in chosen.values() for line in found)]
        out += ["", "| scores | fit | shift | known of the fit | runs | " + " | ".join(names) + " |"]
        out += ["|---" * (len(names) + 5) + "|"]
        for (law, method, fitted, shift, known), found in chosen.items():
            cells = []
            for name in names:
                held = [int(line[name]) for line in found if line[name] != ""]
                low = held and stats.binomtest(sum(held), len(held), _BAR, alternative="less").pvalue < 0.025
                cells.append(f"{100 * np.mean(held):.1f}{' ×' if low else ''}" if held else "")
            key = f"| {law} | {method}, {fitted} rows | {shift} | {known} | {len(found)} | "
            out.append(key + " | ".join(cells) + " |")
    return "\n".join(out)


def _order(group: tuple[tuple[str, ...], list[dict[str, str]]]) -> tuple[Any, ...]:
    law, method, fitted, shift, known = group[0]
    return law, method, known, int(fitted), shift


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.expected", description=__doc__)
    parser.add_argument("--samples", type=int, default=1000, help="runs of each kind; of isotonic maps a fifth")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long; the next run goes on")
    parser.add_argument("--file", type=Path, default=Path("build/expected.csv"), help="where the runs are kept")
    chosen = parser.parse_args(arguments)
    chosen.file.parent.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, str]] = []
    if chosen.file.exists():
        with chosen.file.open(newline="") as file:
            lines = list(csv.DictReader(file))
    done = {tuple(line[name] for name in KEYS if name != "shift") for line in lines}
    start = time.monotonic()
    with chosen.file.open("a", newline="") as file:
        for seed in range(chosen.samples):
            for law in (*LAWS, _CLASSES):
                methods = ["vector"] if law == _CLASSES else CALIBRATORS if seed % 5 == 0 else ["Platt"]
                for method in methods:
                    for fitted in _FITTED:
                        if (law, method, str(fitted), str(seed)) in done:
                            continue
                        if time.monotonic() - start > chosen.seconds:
                            break
                        made = run(law, method, fitted, seed)
                        found = [{name: str(line.get(name, "")) for name in COLUMNS} for line in made]
                        writer = csv.DictWriter(file, COLUMNS)
                        if not lines:
                            writer.writeheader()
                        writer.writerows(found)
                        file.flush()
                        lines += found
    print(tables(lines), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
