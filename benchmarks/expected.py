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

from benchmarks.monitor import CALIBRATORS, LAWS
from oddsmith import ScoreTable
from oddsmith.decide import binary_costs
from oddsmith.expected import expected_performance, observed_performance
from oddsmith.model import Model

_FITTED, _SHIFTS, _NEW = (500, 2_000, 5_000), (0.0, 0.5), 2_000
_CUTS, _COSTS = (0.3, 0.5), binary_costs(false_positive=1, false_negative=4)
KEYS = ("law", "map", "fitted", "shift", "seed")
_BAR = 0.91


def draw(rng: np.random.Generator, law: str, n: int, shift: float = 0.0) -> tuple[Any, Any]:
    level, spread = LAWS[law]
    score = np.round(20 * rng.normal(shift, 1.0, n)) / 20  # some are equal, so that tables are small
    return score, (rng.random(n) < 1 / (1 + np.exp(-level - spread * score))).astype(int)


def run(law: str, method: str, fitted: int, seed: int) -> list[dict[str, Any]]:
    """Fit once, and compare for each shift, with the rows of the fit known and unknown."""
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
    names = [name for name in lines[0] if name not in (*KEYS, "known")]
    out = ["| scores | fit | shift | known of the fit | runs | " + " | ".join(names) + " |"]
    out += ["|---" * (len(names) + 5) + "|"]
    for (law, method, fitted, shift, known), found in sorted(
        groups.items(), key=lambda one: (one[0][0], int(one[0][2]))
    ):
        cells = []
        for name in names:
            held = [int(line[name]) for line in found if line[name] != ""]
            low = held and stats.binomtest(sum(held), len(held), _BAR, alternative="less").pvalue < 0.025
            cells.append(f"{100 * np.mean(held):.1f}{' ×' if low else ''}" if held else "")
        out.append(
            f"| {law} | {method}, {fitted} rows | {shift} | {known} | {len(found)} | " + " | ".join(cells) + " |"
        )
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
            for law in LAWS:
                for method in CALIBRATORS if seed % 5 == 0 else ["Platt"]:
                    for fitted in _FITTED:
                        if (law, method, str(fitted), str(seed)) in done:
                            continue
                        if time.monotonic() - start > chosen.seconds:
                            break
                        found = [{k: str(v) for k, v in line.items()} for line in run(law, method, fitted, seed)]
                        writer = csv.DictWriter(file, list(found[0]))
                        if not lines:
                            writer.writeheader()
                        writer.writerows(found)
                        file.flush()
                        lines += found
    print(tables(lines), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
