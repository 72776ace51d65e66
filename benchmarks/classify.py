"""Classifiers: joint scaling, boosting and kernel machines against scikit-learn."""

import time

import numpy as np
from scipy import sparse
from sklearn.calibration import _TemperatureScaling
from sklearn.ensemble import AdaBoostClassifier

from benchmarks.measure import best_of, header, report
from oddsmith.classify.scaling import TemperatureScaling
from oddsmith.learners import BoostedClassifier, KernelLogisticRegression


def classify() -> None:
    """Print all ratios of this page."""
    rng = np.random.default_rng(0)
    header("Classifiers", "peer ms")
    for rows, classes in ((10_000, 10), (10_000, 1000)):
        logits = 3 * rng.normal(size=(rows, classes))
        noise = rng.gumbel(size=logits.shape)
        y = np.argmax(logits / 1.7 + noise, axis=1)
        peer = best_of(lambda z=logits, t=y: _TemperatureScaling().fit(z, t), 3)
        ours = best_of(lambda z=logits, t=y, k=classes: TemperatureScaling(classes=np.arange(k)).fit(z, t), 3)
        bar = 5 if classes == 1000 else float("nan")
        report(f"temperature on {rows:,} × {classes:,} logits", ours, peer, peer / ours, bar)
    X = rng.normal(size=(10_000, 50))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=10_000) > 0).astype(int)
    ours = _once(lambda: BoostedClassifier(n_estimators=1024).fit(X, y))
    peer = _once(lambda: AdaBoostClassifier(n_estimators=1024).fit(X, y))
    report("1,024 boosted stumps on 10,000 × 50", ours, peer, peer / ours, 1)
    wide = sparse.random(50_000, 300, density=0.04, random_state=0, format="csr")
    wide.data[:] = 1.0
    signal = wide @ rng.normal(size=300)
    labels = (rng.random(50_000) < 1 / (1 + np.exp(-signal))).astype(int)
    ours = _once(lambda: KernelLogisticRegression("quadratic", penalty=1e-4).fit(wide, labels))
    print(
        f"  {'quadratic kernel machine on 50,000 × 300 binary rows':<54}{1e3 * ours:>10.0f}  (about a minute is asked)"
    )


def _once(function) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
