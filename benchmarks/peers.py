"""The calibrators that other libraries have too, against the fastest of them: fit and as many predictions."""

import time
import warnings
from functools import partial

import numpy as np
import probcal

import oddsmith
from benchmarks.measure import best_of, header, report, scores_of_kind
from benchmarks.quality.competitors import competitors
from benchmarks.quality.tasks import Calibrate

#: Ours, the peers that have it, and the bar on the ratio of the fastest peer's time to ours.
PEERS = {
    "BetaCalibrator": (("probcal:BetaCalibrator", "betacal:abm"), 10),
    "TemperatureCalibrator": (("probcal:TemperatureCalibrator", "sklearn:temperature"), 10),
    "HistogramCalibrator": (("probcal:HistogramBinningCalibrator",), 10),
    "ScalingBinningCalibrator": (("probcal:ScalingBinningCalibrator",), 10),
    "BBQCalibrator": (("probcal:BBQCalibrator",), 10),
    "CenteredIsotonicCalibrator": (("probcal:CenteredIsotonicCalibrator",), 10),
    "VennAbersCalibrator": (("probcal:VennAbersCalibrator", "venn-abers"), 25),
    "SplineCalibrator": (("probcal:SplineCalibrator", "splinecalib"), 10),
    "ENIRCalibrator": (("probcal:ENIRCalibrator",), 10),
}
#: A peer gets ten times as many scores as long as this many seconds would do if its time grew in proportion.
PATIENCE = 100.0


def peers() -> None:
    """Compare on one million probabilities; a peer that is too slow for so many is timed on fewer, to its advantage."""
    prob, y = scores_of_kind("probability", 10**6)
    known = competitors()
    header("One million probabilities: fit and predict, against the fastest peer", "peer ms")
    for name, (rivals, bar) in PEERS.items():
        ours = best_of(partial(known[name].calibrate, prob, y, prob), 3)
        theirs, most, rival = min((*_as_many_as_it_stands(known[rival].calibrate, prob, y), rival) for rival in rivals)
        fewer = "" if most == len(prob) else f" on {most:,}"
        report(f"{name.removesuffix('Calibrator')}; {rival}{fewer}", ours, theirs, theirs / ours, bar)
    widths = oddsmith.HistogramCalibrator(bins="width"), probcal.HistogramBinningCalibrator(strategy="width")
    ours, theirs = (best_of(lambda one=one: one.fit(prob, y).predict_proba(prob), 3) for one in widths)
    report("Histogram of equal widths, one pass; probcal", ours, theirs, theirs / ours, 0.5)
    n = 10**5
    ours = best_of(lambda: oddsmith.AutoCalibrator().fit(prob[:n], y[:n]), 3)
    theirs = best_of(lambda: probcal.CalibratorSelector().fit(prob[:n], y[:n]), 1)
    report(f"Auto, fit to {n:,}; probcal's selector", ours, theirs, theirs / ours, 30)


def _as_many_as_it_stands(calibrate: Calibrate, prob: np.ndarray, y: np.ndarray) -> tuple[float, int]:
    """Return the seconds that a peer takes for as many scores as it can be waited for, and how many these are."""
    n = 1000
    while True:
        taken = _seconds(calibrate, prob[:n], y[:n])
        if n == len(prob) or 10 * taken > PATIENCE:
            return (min(taken, _seconds(calibrate, prob[:n], y[:n])) if taken < PATIENCE / 10 else taken), n
        n *= 10


def _seconds(calibrate: Calibrate, prob: np.ndarray, y: np.ndarray) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        calibrate(prob, y, prob)
        return time.perf_counter() - start
