"""How often the monitor alarms falsely, and how late rightly: ``python -m benchmarks.monitor [--seconds 600]``.

False alarms: runs of 100,000 rows in batches of 500, with exact probabilities and with maps fitted to 500 and 2,000
rows; each map once with its error allowed for and once taken as exact. Delays: rows from a loss to the alarm in batches
of 25, with probcal's monitor on the same rows. Many runs are counted at once, by the evidence of the library; a test
compares them with the monitor itself. Results go to a CSV file, and the next call goes on where the last one stopped.
"""

import argparse
import csv
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from oddsmith import AutoCalibrator, BetaCalibrator, IsotonicCalibrator, PlattCalibrator, ScoreTable
from oddsmith.model import Model
from oddsmith.monitor import Batch, Evidence, Monitor, readings
from oddsmith.monitor.evidence import ALTERNATIVES
from oddsmith.monitor.tracks import Track

_ROWS, _BATCH = 100_000, 500
_AFTER, _STEP = 6_000, 25
_LIMIT = math.log(20)

#: Seeds of one job, and shares of all seeds with other maps and delays, and with probcal, which takes longest.
_SEEDS, _OTHERS, _PROBCAL = 20, 0.2, 0.06

#: Laws of the score, whose log-odds are a line of it: about 40 %, and 4 % positives.
LAWS: dict[str, tuple[float, float]] = {"common": (-0.4, 1.2), "rare": (-4.0, 1.3)}
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(99)
#: Log-odds of the prevalence, about which slopes turn.
CENTERS = {
    law: float(logit(expit(level + spread * _NODES) @ _WEIGHTS / _WEIGHTS.sum()))
    for law, (level, spread) in LAWS.items()
}
LOSSES = {"offset 0.5": (0.5, 1.0), "offset -0.5": (-0.5, 1.0), "slope 0.7": (0.0, 0.7)}
_RIGHT = {"offset 0.5": "too low", "offset -0.5": "too high", "slope 0.7": "too extreme"}
CALIBRATORS: dict[str, Callable[[], Any]] = {"Platt": PlattCalibrator, "isotonic": IsotonicCalibrator}
MAPS = CALIBRATORS | {"beta": lambda: BetaCalibrator(input="log_odds"), "auto": AutoCalibrator}
COLUMNS = (
    *("section", "law", "map", "fitted", "loss", "calm", "monitor", "seed"),
    *("alarm", "evidence", "named", "onset", "onset_known"),
)

#: Scores are rounded, so that tables are small.
_GRID = np.arange(-130, 131) / 20


class Rows(NamedTuple):
    """Rows in batches: the place of each score in the grid, and its label."""

    place: Any
    y: Any

    def counts(self, batch: int) -> tuple[Any, Any]:
        """Return positives, and all rows, of each batch and score."""
        cell = np.arange(len(self.y)) // batch * len(_GRID) + self.place
        size = len(self.y) // batch * len(_GRID)
        pos, total = np.bincount(cell, self.y, size), np.bincount(cell, minlength=size)
        return pos.reshape(-1, len(_GRID)), total.reshape(-1, len(_GRID))


def draw(rng: np.random.Generator, law: str, n: int, loss: tuple[float, float] = (0.0, 1.0)) -> Rows:
    """Draw scores and labels; slopes turn about the log-odds of the prevalence."""
    place = np.rint(20 * rng.standard_normal(n)).astype(int) + len(_GRID) // 2
    center = CENTERS[law]
    moved = center + loss[0] + loss[1] * (_exact(law) - center)
    return Rows(place, (rng.random(n) < expit(moved)[place]).astype(int))


def _exact(law: str) -> Any:
    """Return the true log-odds of the grid."""
    level, spread = LAWS[law]
    return level + spread * _GRID


def fitted_model(rng: np.random.Generator, law: str, method: str, rows: int) -> tuple[Model, ScoreTable]:
    place, y = draw(rng, law, rows)
    table = ScoreTable.from_arrays(_GRID[place], y)
    return Model.from_fitted(MAPS[method]().fit_table(table), table=table), table


class Stream(NamedTuple):
    """The evidence of one run before its first row, and the log-odds of the grid."""

    evidence: Evidence
    log_odds: Any

    @staticmethod
    def of(monitor: Monitor, log_odds: Any, first: Any) -> "Stream":
        """Return the stream of a monitor, by its model where it has one; ``first`` is the size of the first batch."""
        if monitor.model is not None:
            log_odds = readings(monitor.model)(_GRID)
        like = ScoreTable.from_arrays(log_odds, np.zeros(len(log_odds), int), first)
        return Stream(monitor._new_track((None, ""), like, like, 0).evidence, log_odds)

    def of_steps(self, pos: Any, total: Any) -> Any:
        """Return the log-likelihood of the errors of steps after each batch, None where the map has no steps."""
        steps = self.evidence.steps
        if steps is None:
            return None
        on = np.isclose(self.log_odds[:, None], steps.log_odds, rtol=1e-12, atol=1e-12).astype(float)
        seen = np.stack([np.cumsum(pos, axis=0) @ on, np.cumsum(total - pos, axis=0) @ on], axis=1)
        return replace(steps, seen=seen).log_likelihood


def followed(streams: list[Stream], counts: list[tuple[Any, Any]], rows: int) -> tuple[list[Evidence], Any]:
    """Return the evidence of all streams after each batch, and the ratios of the batches: (streams, batches, lines)."""
    ratios = np.array([one.evidence.ratios(one.log_odds, *each) for one, each in zip(streams, counts, strict=True)])
    of_steps = [one.of_steps(*each) for one, each in zip(streams, counts, strict=True)]
    has_steps = all(each is not None for each in of_steps)
    state = replace(streams[0].evidence)
    steps = [state]
    for at in range(ratios.shape[1]):
        state = replace(state)
        state.count(ratios[:, at], rows, np.array(of_steps)[:, at] if has_steps else None)
        steps.append(state)
    return steps, ratios


def false_alarms(law: str, method: str, fitted: int, seeds: range) -> Iterator[dict[str, Any]]:
    """Run monitors without a loss; those of a map are on the same rows and with the same fit."""
    streams: dict[str, list[Stream]] = defaultdict(list)
    counts = []
    for seed in seeds:
        rng = np.random.default_rng([1, seed, fitted, *law.encode()])
        made = fitted_model(rng, law, method, fitted) if fitted else None
        counts.append(draw(rng, law, _ROWS).counts(_BATCH))
        first = counts[-1][1][0]
        if made is None:
            streams["exact"].append(Stream.of(Monitor(), _exact(law), first))
            continue
        own = Stream.of(Monitor(made[0], calibration=made[1]), None, first)
        streams["with its error"].append(own)
        streams["as exact"].append(Stream.of(Monitor(), own.log_odds, first))
    for name, runs in streams.items():
        path = np.array([each.log_evidence for each in followed(runs, counts, _BATCH)[0][1:]])
        for seed, one in zip(seeds, path.T, strict=True):
            alarm = int(np.argmax(one >= _LIMIT) + 1) * _BATCH if one.max() >= _LIMIT else ""
            key = {"section": "false", "law": law, "map": method, "fitted": fitted, "monitor": name, "seed": seed}
            yield key | {"alarm": alarm, "evidence": f"{math.exp(min(one.max(), 700)):.4g}"}


def delays(law: str, loss: str, calm: int, seeds: range, probcal: bool) -> Iterator[dict[str, Any]]:
    """Run monitors with a loss after the calm rows, all on the same rows."""
    streams: dict[str, list[Stream]] = defaultdict(list)
    counts = []
    key = {"section": "delay", "law": law, "loss": loss, "calm": calm}
    for seed in seeds:
        rng = np.random.default_rng([2, seed, calm, *law.encode()])
        made = {fitted: fitted_model(rng, law, "Platt", fitted) for fitted in (500, 2_000)}
        before, after = draw(rng, law, calm), draw(rng, law, _AFTER, LOSSES[loss])
        rows = Rows(np.concatenate([before.place, after.place]), np.concatenate([before.y, after.y]))
        counts.append(rows.counts(_STEP))
        first = counts[-1][1][0]
        streams["exact"].append(Stream.of(Monitor(), _exact(law), first))
        for fitted, (model, table) in made.items():
            streams[f"map of {fitted:,} rows"].append(Stream.of(Monitor(model, calibration=table), None, first))
        if probcal:
            yield key | {"monitor": "probcal", "seed": seed, "alarm": _probcal(expit(_exact(law))[rows.place], rows.y)}
    for name, runs in streams.items():
        steps, ratios = followed(runs, counts, _STEP)
        paths = np.array([each.log_evidence for each in steps[1:]]).T
        nulls = np.array([np.broadcast_to(each.null, len(seeds)) for each in steps]).T
        for place, (seed, path) in enumerate(zip(seeds, paths, strict=True)):
            found: dict[str, Any] = {"alarm": ""}
            if path.max() >= _LIMIT:
                alarm = int(np.argmax(path >= _LIMIT)) + 1
                end = steps[min(alarm + 500 // _STEP, len(path))]
                one = replace(end, grown=end.grown[place], null=nulls[place, end.rows // _STEP])
                found = _found(one, ratios[place], nulls[place], alarm)
                known = _onset_of_known(ratios[place, : end.rows // _STEP], LOSSES[loss])
                found |= {"named": int(found["named"] == _RIGHT[loss]), "onset": found["onset"] - calm}
                found |= {"onset_known": known - calm}
            yield key | {"monitor": name, "seed": seed} | found


def _found(end: Evidence, ratios: Any, nulls: Any, alarm: int) -> dict[str, Any]:
    """Return the alarm's row and what the monitor finds at the end: direction, and rows before the loss."""
    log = [
        Batch("", at * _STEP + 1, (at + 1) * _STEP, 0, 0.0, float(nulls[at]), tuple(each[: len(ALTERNATIVES)]), 0.0)
        for at, each in enumerate(ratios[: end.rows // _STEP])
    ]
    found = Track(end, 0.05, log, alarm_row=alarm * _STEP).finding(None, "")
    return {"alarm": found.alarm_row, "named": found.direction, "onset": (found.since_row or 0) - 1}


def _onset_of_known(ratios: Any, loss: tuple[float, float]) -> int:
    """Return the likeliest number of rows before a loss of known offset and slope, with exact probabilities before."""
    (place,) = np.flatnonzero((ALTERNATIVES == loss).all(axis=1))
    return int(np.argmax(np.cumsum(ratios[::-1, place])[::-1])) * _STEP


def _probcal(p: Any, y: Any) -> int | str:
    """Return the row at which probcal's monitor alarms."""
    from probcal.monitor import CalibrationMonitor

    monitor = CalibrationMonitor()
    for at in range(0, len(y), _STEP):
        if monitor.update(y[at : at + _STEP], p[at : at + _STEP]).alarm:
            return at + _STEP
    return ""


def jobs(samples: int) -> Iterator[tuple[tuple[Any, ...], Callable[[], Iterator[dict[str, Any]]]]]:
    """Return what is to be run: first the false alarms of exact P and Platt's maps, then the others in turn."""
    blocks = [range(first, min(first + _SEEDS, samples)) for first in range(0, samples, _SEEDS)]
    some = [block for block in blocks if block[0] < _OTHERS * samples]

    def false(law: str, method: str, fitted: int, seeds: range) -> Any:
        key = ("false", law, method, fitted, "", "", seeds[0])
        return key, _call(false_alarms, law, method, fitted, seeds)

    for seeds, law in product(blocks, LAWS):
        yield from (false(law, *fit, seeds) for fit in (("", 0), ("Platt", 500), ("Platt", 2_000)))
    for seeds, law in product(some, LAWS):
        yield from (false(law, name, n, seeds) for name in MAPS if name != "Platt" for n in (500, 2_000))
        for loss, calm in product(LOSSES, (0, 2_000)):
            run = _call(delays, law, loss, calm, seeds, seeds[0] < _PROBCAL * samples)
            yield ("delay", law, "", "", loss, calm, seeds[0]), run


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
        "| loss | law | calm rows | monitor | runs | median delay | false | named rightly | onset, median error | of a "
        "known loss |",
    ]
    out += ["|---" * 10 + "|"]
    for (section, law, _, _, loss, calm, monitor), found in sorted(groups.items()):
        if section == "delay":
            late = [math.inf if not line["alarm"] else int(line["alarm"]) - int(calm) for line in found]
            right = [each for each in late if each > 0]
            named = [int(line["named"]) for line in found if line["named"]]
            onsets = [[abs(int(line[name])) for line in found if line[name]] for name in ("onset", "onset_known")]
            medians = [f"{np.median(each):.0f}" for each in onsets if each]
            shown = [f"{100 * np.mean(named):.0f} %", *medians] if named else ["", "", ""]
            figures = [len(found), f"{np.median(right):.0f}" if right else "", len(late) - len(right), *shown]
            out.append(f"| {loss} | {law} | {calm} | {monitor} | " + " | ".join(map(str, figures)) + " |")
    return "\n".join(out)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.monitor", description=__doc__)
    parser.add_argument("--samples", type=int, default=1000, help="runs of each kind, of some fewer")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long; the next call goes on")
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
