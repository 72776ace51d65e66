"""Fit every calibrator to hard scores, a million times: ``python -m benchmarks.fuzz --fits 1000000``.

What must be true of each fit: no error and no warning but our own, no NaN, probabilities within [0, 1], no fall where
the method claims that its map is monotone, and a loss in sample that is bounded by that of the base rate. The run may
be stopped at any time and continues where it was; ``--state`` names the file that keeps its place.
"""

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import oddsmith
from benchmarks.families import FAMILIES, Case
from oddsmith import Calibrator, ScoreTable, calibrators
from oddsmith.atomic import write_atomically
from oddsmith.errors import OddsmithError, OddsmithWarning, SeparableWarning

#: Sizes of the samples and how often each comes: most defects show in small ones.
SIZES = (3, 6, 12, 25, 60, 300, 2000)
_SHARES = (0.15, 0.15, 0.2, 0.25, 0.2, 0.04, 0.01)

#: Which log-loss in sample may lie above that of the base rate by how many nats; others claim nothing. Venn–Abers adds
#: a case at every score: with rare positives that costs about log N.
BOUNDS = {
    "AutoCalibrator": 3.0,
    "BBQCalibrator": 3.0,
    "BetaCalibrator": 3.0,
    "ENIRCalibrator": 3.0,
    "HistogramCalibrator": 3.0,
    "IsotonicCalibrator": 1e-6,
    "LogisticCalibrator": 3.0,
    "MonotoneLogisticCalibrator": 3.0,
    "PiecewiseLogisticCalibrator": 3.0,
    "PlattCalibrator": 3.0,
    "ScalingBinningCalibrator": 3.0,
    "SplineCalibrator": 3.0,
    "VennAbersCalibrator": 10.0,
}

#: Whose map never falls.
MONOTONE = {
    "AutoCalibrator",
    "BetaCalibrator",
    "CenteredIsotonicCalibrator",
    "IsotonicCalibrator",
    "LogisticCorrectionCalibrator",
    "MinMaxCalibrator",
    "MonotoneLogisticCalibrator",
    "SquashCalibrator",
    "TemperatureCalibrator",
    "VennAbersCalibrator",
}

#: A nat is a nat for counts; under float weights only these, which maximize a likelihood, claim their bound.
_LIKELIHOOD = {"BetaCalibrator", "IsotonicCalibrator", "LogisticCalibrator", "PlattCalibrator"}

#: Where every row stands for at least this many cases, a bound is meant in units of the smallest row; means of a line
#: over bins, which maximize nothing, have none there.
_VAST = 2**31

#: Slow methods take part in every so many-th sample only.
_EVERY = {"AutoCalibrator": 4, "PiecewiseLogisticCalibrator": 2, "BBQCalibrator": 2}


def sample(seed: int) -> tuple[str, Case]:
    """Return the name of a family and a sample of it."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(list(FAMILIES)))
    return name, FAMILIES[name](rng, int(rng.choice(SIZES, p=_SHARES)))


def everyone(seed: int) -> list[Calibrator]:
    """Return the calibrators whose turn it is."""
    names = [name for name in calibrators.__all__ if name.endswith("Calibrator") and name != "Calibrator"]
    return [getattr(oddsmith, name)() for name in names if seed % _EVERY.get(name, 1) == 0]


def faults(calibrator: Calibrator, case: Case) -> list[str]:
    """Fit, and return in words all that is wrong."""
    scores, y, weight = case
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            calibrator.fit(scores, y, weight)
            spread = float(scores.max()) - float(scores.min())
            beyond = [scores.min() - spread, scores.max() + spread] if np.isfinite(spread) else []
            if getattr(calibrator, "input_", "") == "probability":
                beyond = [0.0, 1.0]
            places = np.sort(np.concatenate([scores, beyond, (scores[1:] / 2 + scores[:-1] / 2)]))
            places = places[np.isfinite(places)]
            prob, log_odds = calibrator.predict_proba(places)[:, 1], calibrator.log_odds(scores)
        except OddsmithError as error:
            return [f"refused: {error}"]
        except Exception as error:  # foreign errors are what is looked for
            return [f"{type(error).__name__}: {error}"]
    found = [f"warning: {one.message}" for one in said if not issubclass(one.category, OddsmithWarning)]
    if not np.all((prob >= 0) & (prob <= 1)) or np.isnan(log_odds).any():
        return [*found, "NaN, or no probability"]
    if type(calibrator).__name__ in MONOTONE and np.diff(prob).min() < -1e-12:
        found.append(f"falls by {-np.diff(prob).min():.3g}")
    separable = any(issubclass(one.category, SeparableWarning) for one in said)
    return found + _losses(calibrator, case, log_odds) + _in_the_large(calibrator, case, prob, places, separable)


def _losses(calibrator: Calibrator, case: Case, log_odds: np.ndarray) -> list[str]:
    _, y, weight = case
    name = type(calibrator).__name__
    bound = BOUNDS.get(name)
    if bound is None or (weight is not None and weight.dtype.kind == "f" and name not in _LIKELIHOOD):
        return []
    v = np.ones(len(y)) if weight is None else weight.astype(float)
    n_pos, n_neg = v[y == 1].sum(), v[y == 0].sum()
    base = n_pos * np.log1p(n_neg / n_pos) + n_neg * np.log1p(n_pos / n_neg)
    loss = float(v @ np.logaddexp(0, np.where(y == 1, -log_odds, log_odds)))
    stated = getattr(calibrator, "log_likelihood_", None)
    # More than 600 scores are pooled in blocks.
    if stated is not None and abs(stated + loss) > 1e-3 * (1 + loss):
        return [f"log_likelihood_ is off by {stated + loss:.3g}"]
    unit = 1.0
    if v.min() >= _VAST:
        unit = np.inf if name == "ScalingBinningCalibrator" else float(v.min())
    return [] if loss <= base + bound * unit + 1e-9 * base else [f"{loss - base:.3g} nats above the base rate"]


def _in_the_large(
    calibrator: Calibrator, case: Case, prob: np.ndarray, places: np.ndarray, separable: bool
) -> list[str]:
    if type(calibrator).__name__ != "AutoCalibrator" or (case[2] is not None and case[2].dtype.kind == "f"):
        return []
    table = ScoreTable.from_arrays(*case)
    p = prob[np.searchsorted(places, table.scores)]
    off = abs(float(table.total @ p) - table.n_pos)
    allowed = 0.5 * np.sqrt(float(table.total @ (p * (1 - p))))
    limit = max(allowed, 1.0) if separable or table.n_pos < 1 else allowed
    return [] if off <= limit + 1e-9 * table.n_pos else [f"off in the large by {off / max(allowed, 1e-300):.3g} × ½ SE"]


def main(arguments: list[str] | None = None) -> int:
    """Run, and print what was found."""
    parser = argparse.ArgumentParser("python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--fits", type=int, default=1_000_000, help="how many fits in all")
    parser.add_argument("--first", type=int, default=0, help="seed of the first sample")
    parser.add_argument("--state", type=Path, default=Path("fuzz.json"), help="file that remembers where the run is")
    wishes = parser.parse_args(arguments)
    state: dict[str, Any] = {"seed": wishes.first, "fits": 0, "faults": [], "counts": {}}
    if wishes.state.exists():
        state = json.loads(wishes.state.read_text())
    counts, shown = Counter(state["counts"]), time.monotonic()
    while state["fits"] < wishes.fits:
        name, case = sample(state["seed"])
        for calibrator in everyone(state["seed"]):
            cls = type(calibrator).__name__
            counts[cls] += 1
            state["faults"] += [[state["seed"], name, cls, fault] for fault in faults(calibrator, case)]
            state["fits"] += 1
        state["seed"] += 1
        if state["seed"] % 200 == 0 or state["fits"] >= wishes.fits:
            state["counts"] = dict(counts)
            write_atomically(wishes.state, json.dumps(state, indent=1), force=True)
        if time.monotonic() - shown > 30:
            shown = time.monotonic()
            print(f"{state['fits']:,} fits, {len(state['faults'])} faults", flush=True)
    print(f"{state['fits']:,} fits to {state['seed'] - wishes.first:,} samples, {len(state['faults'])} faults")
    for fault in state["faults"][:50]:
        print("  seed {}, {}: {}: {}".format(*fault))
    return 1 if state["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
