"""
Reliability
===========

How often what was forecast happened.
"""

import numpy as np

from oddsmith.plots import ReliabilityDisplay

rng = np.random.default_rng(0)
log_odds = rng.normal(scale=2, size=2000)
y = rng.random(2000) < 1 / (1 + np.exp(-log_odds / 2))
figure = ReliabilityDisplay.from_predictions(y, 1 / (1 + np.exp(-log_odds))).figure_
