"""CalArena, a public benchmark of calibrators, run with ours: ``python -m benchmarks.calarena cv-multiclass``.

Its data are two files per benchmark in ``calibration_benchmarks/``: ``NAME.h5`` with ``probas_cal``, ``labels_cal``,
``probas_test`` and ``labels_test`` for each ``{dataset}/{model}``, and ``NAME-experiments.csv``, which lists them. The
results have its columns, so that ``results/NAME/*.csv`` can lie beside its own. Its runner takes the same calibrators:
``from benchmarks.calarena import CUSTOM_CALIBRATORS`` is all that its ``custom_calibrators.py`` needs. Needs h5py.

Berta et al. (2026), CalArena: a large-scale post-hoc calibration benchmark, arXiv 2605.30188.
"""

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from oddsmith import AutoCalibrator, AutoScaling, TemperatureCalibrator, TemperatureScaling

Array = np.ndarray

_N_BINS = 15
#: Probabilities are held above this, the least of single precision, as CalArena holds them.
_LEAST = float(np.finfo(np.float32).tiny)


class ArenaCalibrator:
    """One calibrator for two classes and one for several, as CalArena calls them."""

    def __init__(self, two: Callable[[], Any], several: Callable[..., Any]) -> None:
        self.two = two
        self.several = several

    def fit(self, p: Array, y: Array) -> None:
        """Fit to the probabilities of each class, or of the second of two, and labels from 0."""
        k = 1 if p.ndim == 1 else p.shape[1]
        self._fitted = self.two() if k <= 2 else self.several(classes=range(k), input="probabilities")
        self._fitted.fit(_scores(p), np.ravel(y))

    def predict_proba(self, p: Array) -> Array:
        """Return calibrated probabilities of each class, shape (n, k)."""
        return np.asarray(self._fitted.predict_proba(_scores(p)))


#: By the names that results are shown under; in the form that CalArena's ``custom_calibrators.py`` wants.
CUSTOM_CALIBRATORS: dict[str, Callable[[], ArenaCalibrator]] = {
    "Oddsmith": lambda: ArenaCalibrator(AutoCalibrator, AutoScaling),
    "Oddsmith-top-kept": lambda: ArenaCalibrator(AutoCalibrator, partial(AutoScaling, accuracy="keep")),
    "Oddsmith-TS": lambda: ArenaCalibrator(TemperatureCalibrator, TemperatureScaling),
}


def _scores(p: Array) -> Array:
    """Return what a calibrator is given: rows of several classes, or the probability of the second of two."""
    p = np.asarray(p, dtype=float)
    return p if p.ndim == 2 and p.shape[1] > 2 else p.reshape(len(p), -1)[:, -1]


def measures(prob: Array, y: Array) -> dict[str, float]:
    """Return the measures that CalArena reports of probabilities of shape (n, k): those of two classes have one more.

    The Brier score is summed over classes; the calibration error is that of the top class, or of the second of two.
    """
    n, k = prob.shape
    true = prob[np.arange(n), y]
    top = prob.argmax(axis=1)
    found = {
        "brier": float(np.mean((1 - true) ** 2 + (prob**2).sum(axis=1) - true**2)),
        "logloss": float(-np.log(np.maximum(true, _LEAST)).mean()),
    }
    if k == 2:
        order = np.argsort(prob[:, 1], kind="stable")
        ahead = np.append(0.0, np.cumsum((y - prob[:, 1])[order]) / n)
        found["kuiper"] = float(ahead.max() - ahead.min())
    sure, right = (prob[:, 1], y) if k == 2 else (prob.max(axis=1), top == y)
    cells = np.clip(np.ceil(sure * _N_BINS).astype(int) - 1, 0, _N_BINS - 1)
    found[f"ece-{_N_BINS}"] = float(np.abs(np.bincount(cells, right - sure)).sum() / n)
    return {**found, "accuracy": float(np.mean(top == y))}


def _files(benchmark: str) -> tuple[str, str]:
    return f"{benchmark}.h5", f"{benchmark}-experiments.csv"


def rows(name: str, benchmark: str, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the results of one calibrator on all experiments of a benchmark."""
    import h5py

    with (
        (folder / f"{benchmark}-experiments.csv").open(newline="") as listed,
        h5py.File(folder / f"{benchmark}.h5") as h5,
    ):
        for experiment in csv.DictReader(listed):
            data = h5[f"{experiment['dataset']}/{experiment['model']}"]
            p, y, test, truth = (data[key][:] for key in ("probas_cal", "labels_cal", "probas_test", "labels_test"))
            row: dict[str, Any] = {key: experiment[key] for key in ("dataset", "model")}
            row |= {"cal_size": len(p), "test_size": len(test)}
            if benchmark.endswith("-multiclass"):
                row["n_classes"] = p.shape[1]
            calibrator = CUSTOM_CALIBRATORS[name]()
            start = time.perf_counter()
            calibrator.fit(p, y)
            prob = calibrator.predict_proba(test)
            taken = time.perf_counter() - start
            row |= {f"{name}_{key}": value for key, value in measures(prob, truth.ravel()).items()}
            yield {**row, f"{name}_time": taken}


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen calibrators and write one file of results for each."""
    parser = argparse.ArgumentParser("python -m benchmarks.calarena", description=__doc__)
    parser.add_argument("benchmark", nargs="+", help="such as tabrepo-binary or cv-multiclass")
    parser.add_argument("--data", type=Path, default=Path("calibration_benchmarks"), help="folder of its data")
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder to write to")
    parser.add_argument("--only", nargs="+", default=list(CUSTOM_CALIBRATORS), choices=CUSTOM_CALIBRATORS)
    wishes = parser.parse_args(arguments)
    for benchmark in wishes.benchmark:
        missing = [
            name for name in (f"{benchmark}.h5", f"{benchmark}-experiments.csv") if not (wishes.data / name).exists()
        ]
        if missing:
            needed = " and ".join(missing)
            print(f"{wishes.data} must contain {needed}. Hint: --data names another folder.", file=sys.stderr)
            return 2
        for name in wishes.only:
            found = list(rows(name, benchmark, wishes.data))
            file = wishes.results / benchmark / f"{name}.csv"
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("w", newline="") as stream:
                writer = csv.DictWriter(stream, found[0])
                writer.writeheader()
                writer.writerows(found)
            print(f"{file}: {len(found)} experiments", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
