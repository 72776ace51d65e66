"""Classifiers: joint scaling against scikit-learn."""

import numpy as np
from sklearn.calibration import _TemperatureScaling

from benchmarks.measure import best_of, header, report
from oddsmith.calibrators.scaling import TemperatureScaling


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
