"""Whether cut-offs, estimated base rates and bands keep their promise: ``python -m benchmarks.decisions [family ...]``.

One repetition draws rows of known laws, fits what is fitted once, and notes for each cell of its family whether the
promise was kept. Outcomes go to a csv file after each repetition, and the next run goes on where the last one stopped:
``--repetitions 1000`` is the number in all, ``--seconds`` limits a run.
"""

import argparse
import csv
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtri

from oddsmith import AutoCalibrator, AutoScaling, PlattCalibrator, ScoreTable, VectorScaling
from oddsmith.bands import band, pointwise_band
from oddsmith.base_rates import PriorEstimate, estimate_prior
from oddsmith.cutoffs import threshold
from oddsmith.data import ScoreRows

Outcome = tuple[str, bool]


class Family(NamedTuple):
    """What one repetition finds for each cell; the share of kept promises that is due, by the end of a cell's name."""

    repetition: Callable[[np.random.Generator], Iterator[Outcome]]
    bars: dict[str, float]


def _rows(rng: np.random.Generator, n: int, rate: float, distance: float) -> tuple[np.ndarray, np.ndarray]:
    y = rng.random(n) < rate
    return distance * y + rng.normal(size=n), y


def _contains(found: PriorEstimate, rate: float) -> bool:
    return found.low[1] <= rate <= found.high[1]


def base_rates(rng: np.random.Generator) -> Iterator[Outcome]:
    """Estimate base rates, with intervals and the test of no shift; labeled rows are 30 % positive.

    "bent" is Platt's map of exp(score), whose log-odds are not linear; "model alone" has no labeled rows.
    """
    for labeled, auc in product((500, 2000), (0.75, 0.9)):
        distance = np.sqrt(2) * ndtri(auc)
        scores, y = _rows(rng, labeled, 0.3, distance)
        table, bent = (ScoreTable.from_arrays(read(scores), y) for read in (np.asarray, np.exp))
        maps = {
            "default": (AutoCalibrator().fit_table(table), table, np.asarray),
            "Platt": (PlattCalibrator().fit_table(table), table, np.asarray),
            "bent": (PlattCalibrator().fit_table(bent), bent, np.exp),
        }
        for new, rate in product((200, 2000, 10_000), (0.01, 0.1, 0.5, 0.9)):
            rows = _rows(rng, new, rate, distance)[0]
            for name, (fitted, known, read) in maps.items():
                found = estimate_prior(fitted, read(rows), labeled=known)
                yield f"{name}, AUC {auc}, {labeled} labeled, {new} new, rate {rate}", _contains(found, rate)
            alone = estimate_prior(maps["default"][0], rows)
            yield f"default, model alone, AUC {auc}, {labeled} labeled, {new} new, rate {rate}", _contains(alone, rate)
        rows = _rows(rng, 1000, 0.3, distance)[0]
        for name, (fitted, known, read) in maps.items():
            p_value = estimate_prior(fitted, read(rows), labeled=known).p_no_shift
            yield f"AUC {auc}, {labeled} labeled, no shift, {name}", p_value is None or p_value >= 0.05


def class_rates(rng: np.random.Generator) -> Iterator[Outcome]:
    """Estimate base rates of several classes: normal logits of some unit, with other intercepts than the labeled rows.

    A cell is the interval of one class.
    """
    for old, new in (((0.2, 0.3, 0.5), (0.7, 0.25, 0.05)), ((0.2,) * 5, (0.5, 0.3, 0.1, 0.09, 0.01))):
        for labeled, distance in product((500, 2000), (1.2, 2.0)):
            means = distance * np.eye(len(old))

            def rows(n: int, rates: tuple[float, ...], means: np.ndarray = means) -> tuple[np.ndarray, np.ndarray]:
                y = rng.choice(len(rates), n, p=rates)
                return 2 * (means[y] + rng.normal(size=means[y].shape)) + means[0], y

            for name, scaling in (("vector", VectorScaling()), ("auto", AutoScaling())):
                logits, y = rows(labeled, old)
                fitted, labels = scaling.fit(logits, y), tuple(range(len(old)))
                known = ScoreRows(logits, y, labels, None, tuple(map(str, labels)), "log_odds")
                for n in (200, 2000):
                    found = estimate_prior(fitted, rows(n, new)[0], labeled=known)
                    for place, rate in enumerate(new):
                        kept = found.low[place] <= rate <= found.high[place]
                        start = f"{len(old)} classes, {name}, distance {distance}, {labeled} labeled, {n} new"
                        yield f"{start}, rate {rate}", kept


def cutoffs(rng: np.random.Generator) -> Iterator[Outcome]:
    """Choose cut-offs at the worst case, truths that are flat at the target, and by order statistics."""
    for n, target in product((1000, 10_000), (0.9, 0.99)):
        scores, prob = rng.random(n), np.full(n, target - 1e-9)
        found = threshold(ScoreTable.from_arrays(scores, rng.random(n) < prob), precision=target)
        yield f"precision {target}, {n} rows, flat", found.cut is None
        steep = ScoreTable.from_arrays(scores, rng.random(n) < expit(12 * (scores - 0.3)))
        cut = threshold(steep, precision=target).cut
        at = np.linspace(0 if cut is None else cut, 1, 2001)
        yield f"precision {target}, {n} rows, rising", cut is None or expit(12 * (at - 0.3)).mean() >= target
    for n in (300, 3000):
        table = ScoreTable.from_arrays(rng.random(n), rng.random(n) < 0.5)
        recall, alarms = threshold(table, recall=0.9).cut, threshold(table, fpr=0.1).cut
        yield f"recall 0.9, {n} rows", recall is None or 1 - recall >= 0.9
        yield f"fpr 0.1, {n} rows", alarms is None or 1 - alarms <= 0.1


def bands(rng: np.random.Generator) -> Iterator[Outcome]:
    """Draw the whole truth and its band; pointwise limits at one random score of continuous truths."""
    grid = np.linspace(0, 1, 1001)
    truths: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "logistic": lambda s: expit(8 * (s - 0.5)),
        "square": lambda s: s**2,
        "rare": lambda s: 0.05 * s,
        "flat": lambda s: 0 * s + 0.3,
    }
    for n, (name, truth) in product((100, 1000, 10_000), truths.items()):
        scores = rng.random(n)
        rows = ScoreTable.from_arrays(scores, rng.random(n) < truth(scores))
        low, high = band(rows).limits(grid).T
        yield f"band, {name}, {n} rows", bool(np.all((low <= truth(grid)) & (truth(grid) <= high)))
        at = rng.uniform(0.02, 0.98, 1)
        low, high = pointwise_band(rows).limits(at)[0]
        yield f"{name}, {n} rows, pointwise", bool(low <= truth(at)[0] <= high)


FAMILIES = {
    "bands": Family(bands, {"pointwise": 0.93, "": 0.95}),
    "base_rates": Family(
        base_rates, {"no shift, Platt": 0.945, "no shift, default": 0.93, "10000 new, rate 0.01": 0.88, "": 0.93}
    ),
    "class_rates": Family(class_rates, {"": 0.93}),
    "cutoffs": Family(cutoffs, {"": 0.95}),
}


def table(family: str, outcomes: dict[str, list[bool]]) -> tuple[str, int]:
    """Return the shares as a Markdown table, and how many miss their bar by more than two standard errors."""
    lines, failures = [f"| {family} | share in % | bar | repetitions |", "|---|---|---|---|"], 0
    for cell, marks in outcomes.items():
        bar = next(value for end, value in FAMILIES[family].bars.items() if cell.endswith(end))
        share = np.mean(marks)
        failures += (low := bar - share > 2 * np.sqrt(bar * (1 - bar) / len(marks)))
        lines.append(f"| {cell} | {100 * share:.1f}{' ×' if low else ''} | {100 * bar:g} | {len(marks)} |")
    return "\n".join(lines), int(failures)


def read(path: Path) -> dict[str, dict[str, list[bool]]]:
    """Return the outcomes that a file contains, by family and cell."""
    found: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    if path.exists():
        with path.open(newline="") as file:
            for family, cell, kept in csv.reader(file):
                found[family][cell].append(kept == "1")
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decisions", description=__doc__)
    parser.add_argument("families", nargs="*", help=f"of {', '.join(FAMILIES)}; by default all")
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=31415)
    parser.add_argument("--seconds", type=float, default=np.inf, help="stop each family after this time")
    parser.add_argument("--state", type=Path, default=Path("build/decisions.csv"), help="where outcomes are kept")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.families) - set(FAMILIES):
        parser.error(f"unknown family {', '.join(sorted(unknown))}")
    chosen.state.parent.mkdir(parents=True, exist_ok=True)
    failures = 0
    for family in chosen.families or FAMILIES:
        known, start = read(chosen.state)[family], time.monotonic()
        for number in range(max(map(len, known.values()), default=0), chosen.repetitions):
            rng = np.random.default_rng([chosen.seed, number, *family.encode()])
            found = list(FAMILIES[family].repetition(rng))
            with chosen.state.open("a", newline="") as file:
                csv.writer(file).writerows((family, cell, int(kept)) for cell, kept in found)
            if time.monotonic() - start > chosen.seconds:
                break
        shown, missed = table(family, read(chosen.state)[family])
        failures += missed
        print(f"{shown}\n\n{missed} shares miss their bar (×)\n", flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
