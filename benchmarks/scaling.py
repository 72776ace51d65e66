"""Joint scalings of many classes: time against probmetrics where it is installed, memory, and the size of a saved one.

``python -m benchmarks.scaling``. Processor seconds of one thread, so that a busy machine changes little.
"""

import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from benchmarks.measure import header, report
from benchmarks.quality.sets import simulated_logits
from oddsmith import AutoScaling, MatrixScaling, TemperatureScaling, VectorScaling

_NONE = float("nan")


def scaling() -> None:
    """Print all times of this page."""
    warnings.simplefilter("ignore")
    header("Joint scaling", "peer ms")
    _hundred()
    _ten()
    _thousand()


def _hundred() -> None:
    """Time one hundred classes: the structured matrix is the measure."""
    for network, (logits, y) in (simulated_logits() | {"normal classes": _normal_classes(5000, 100)}).items():
        z, y = logits[:5000], y[:5000]
        peer = _peer("SMSCalibrator", z, y)
        for cls, bar in ((MatrixScaling, 3.0), (AutoScaling, 30.0)):
            _against(f"{cls.__name__}, 5,000 × 100, {network}", _ours(cls, z, y), peer, bar)


def _ten() -> None:
    z, y = _drawn(5000, 10)
    ours = _ours(AutoScaling, z, y)
    report("AutoScaling, 5,000 × 10, in seconds", ours, None, ours, 1.5, at_least=False)


def _thousand() -> None:
    """Time a thousand classes, and what they take."""
    z, y = _drawn(50_000, 1000)
    peer = _peer("TemperatureScalingCalibrator", z, y)
    _against("TemperatureScaling, 50,000 × 1,000", _ours(TemperatureScaling, z, y), peer, 1.0)
    ours = _ours(VectorScaling, z, y)
    report("VectorScaling, 50,000 × 1,000, in seconds", ours, None, ours, 60, at_least=False)
    for cls in (TemperatureScaling, VectorScaling):
        taken = _memory(cls, z, y) / z.nbytes
        report(f"{cls.__name__}, 50,000 × 1,000: memory / logits", 0.0, None, 1 + taken, 3, at_least=False)
    with tempfile.TemporaryDirectory() as folder:
        for cls in (TemperatureScaling, VectorScaling, AutoScaling):  # which tries no matrix of a million numbers
            file = Path(folder) / "model.json"
            cls(classes=range(1000)).fit(z[:2000], y[:2000]).save(file, force=True)
            print(f"  {cls.__name__ + ', 1,000 classes, saved':<54}{file.stat().st_size / 1e6:>10.2f} MB", flush=True)


def _drawn(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return logits that are twice as sure as they should be."""
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=(n, k))
    z[np.arange(n), rng.integers(0, k, n)] += 2 + np.log(k)
    return 2 * z, np.argmax(z + rng.gumbel(size=(n, k)), axis=1)


def _normal_classes(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return logits of a nearest mean that weighs its features wrongly: a full matrix would put them right."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(k, 20))
    y = rng.integers(0, k, n)
    features = means[y] + rng.normal(size=(n, 20))
    apart = (features[:, None] - means) ** 2
    return -0.5 * apart @ np.linspace(0.2, 2, 20), y


def _seconds(function: Callable[[], object]) -> float:
    """Return the least processor time of two calls."""
    taken = []
    for _ in range(2):
        start = time.process_time()
        function()
        taken.append(time.process_time() - start)
    return min(taken)


def _ours(cls: Any, z: np.ndarray, y: np.ndarray) -> float:
    return _seconds(lambda: cls(classes=range(z.shape[1])).fit(z, y))


def _peer(name: str, z: np.ndarray, y: np.ndarray) -> float:
    """Return the time of a calibrator of probmetrics, NaN where that is not installed."""
    if not (find_spec("probmetrics") and find_spec("torch")):
        return _NONE
    import torch
    from probmetrics import calibrators

    torch.set_num_threads(1)
    prob = softmax(z, axis=1)
    return _seconds(lambda: getattr(calibrators, name)().fit(prob, y))


def _against(what: str, ours: float, peer: float, bar: float) -> None:
    """Print how many times the peer's time ours is."""
    report(what, ours, peer, ours / peer, _NONE if np.isnan(peer) else bar, at_least=False)


def _memory(cls: Any, z: np.ndarray, y: np.ndarray) -> int:
    """Return the most bytes that a fit held at a time, besides the logits."""
    tracemalloc.start()
    cls(classes=range(z.shape[1])).fit(z, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


if __name__ == "__main__":
    scaling()
