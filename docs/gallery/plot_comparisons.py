"""
Comparisons
===========

Which method is better, by how much, and from how many cases on.
"""

import numpy as np

from oddsmith import AutoCalibrator, IsotonicCalibrator, PlattCalibrator, ScoreTable, SquashCalibrator
from oddsmith.metrics import log_loss
from oddsmith.plots import ComparisonDisplay, LearningCurveDisplay

rng = np.random.default_rng(0)


def draw(n):
    """Return scores that are pressed together at the top, and labels."""
    log_odds = rng.normal(0, 2, n)
    return np.minimum(log_odds, 0) + np.tanh(np.maximum(log_odds, 0)), rng.random(n) < 1 / (1 + np.exp(-log_odds))


test = ScoreTable.from_arrays(*draw(5000))
methods = {"Platt": PlattCalibrator(), "isotonic": IsotonicCalibrator(bounded=True), "auto": AutoCalibrator()}

# %%
# Methods on the same cases
# -------------------------
# Log-loss on 5,000 new cases, with 95 % intervals. Marks come from paired tests, which find differences where intervals
# overlap.

scores, y = draw(1000)
fitted = {name: method.fit(scores, y) for name, method in methods.items()}
fitted["uncalibrated"] = SquashCalibrator().fit(scores, y)
display = ComparisonDisplay.from_table(test, fitted, raw="uncalibrated", n_resamples=500).plot()

# %%
# By the number of cases
# ----------------------
# Each point is the mean of ten fits, each to new cases, with a 95 % interval.

new_scores, new_y = draw(20_000)
sizes = [32, 128, 512, 2048]
samples = [[draw(size) for _ in range(10)] for size in sizes]
trials = {
    name: (sizes, [[log_loss(new_y, method.fit(*s).predict_proba(new_scores)[:, 1]) for s in row] for row in samples])
    for name, method in methods.items()
}
display = LearningCurveDisplay.from_trials(trials, measure="log-loss").plot()
