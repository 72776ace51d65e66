"""The studies' learners: boosting against scikit-learn, and a kernel machine."""

import time

import numpy as np
from scipy import sparse
from sklearn.ensemble import AdaBoostClassifier

from benchmarks.measure import header, report
from oddsmith_studies.learners import BoostedClassifier, KernelLogisticRegression


def learners() -> None:
    """Print all ratios of this page."""
    rng = np.random.default_rng(0)
    header("Learners", "peer ms")
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
