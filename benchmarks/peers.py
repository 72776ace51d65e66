"""The calibrators that other libraries have too, against the fastest of them: fit and one million predictions."""

import time
from collections.abc import Callable

import numpy as np

import oddsmith
from benchmarks.measure import best_of, header, report, scores_of_kind

#: Ours, the peer's, and the bar on the ratio of times.
PAIRS = {
    "BetaCalibrator": ("BetaCalibrator", 10),
    "TemperatureCalibrator": ("TemperatureCalibrator", 10),
    "HistogramCalibrator": ("HistogramBinningCalibrator", 10),
    "ScalingBinningCalibrator": ("ScalingBinningCalibrator", 10),
    "BBQCalibrator": ("BBQCalibrator", 10),
    "CentredIsotonicCalibrator": ("CenteredIsotonicCalibrator", 10),
    "VennAbersCalibrator": ("VennAbersCalibrator", 25),
}


def peers() -> None:
    """Compare on one million probabilities, where the peer can be run; splines and ENIR on as many as it stands."""
    import probcal

    prob, y = scores_of_kind("probability", 10**6)
    header("One million probabilities: fit and predict, against probcal", "peer ms")
    for name, (peer, bar) in PAIRS.items():
        ours = best_of(_both(getattr(oddsmith, name), prob, y), 3)
        theirs = _once(_both(getattr(probcal, peer), prob, y))
        report(name.removesuffix("Calibrator"), ours, theirs, theirs / ours, bar)
    ours = best_of(_both(lambda: oddsmith.HistogramCalibrator(bins="width"), prob, y), 3)
    theirs = _once(_both(lambda: probcal.HistogramBinningCalibrator(strategy="width"), prob, y))
    report("Histogram of equal widths, one pass", ours, theirs, theirs / ours, 2)
    for name, n in {"SplineCalibrator": 10**5, "ENIRCalibrator": 10**4}.items():
        ours = best_of(_both(getattr(oddsmith, name), prob[:n], y[:n]), 3)
        theirs = _once(_both(getattr(probcal, name), prob[:n], y[:n]))
        report(f"{name.removesuffix('Calibrator')}, {n:,} probabilities", ours, theirs, theirs / ours, 10)
    n = 10**5
    ours = best_of(lambda: oddsmith.AutoCalibrator().fit(prob[:n], y[:n]), 3)
    theirs = _once(lambda: probcal.CalibratorSelector().fit(prob[:n], y[:n]))
    report(f"Auto against the selector, {n:,} probabilities", ours, theirs, theirs / ours, 30)


def _both(make: Callable[[], object], prob: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    return lambda: make().fit(prob, y).predict_proba(prob)


def _once(function: Callable[[], object]) -> float:
    """Time a peer once: some take a minute."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
