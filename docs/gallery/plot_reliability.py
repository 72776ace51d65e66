"""
Reliability diagrams
====================

The observed share of positives against the forecast probability: in bins, without bins, and smoothed.
"""

import numpy as np

from oddsmith import PlattCalibrator
from oddsmith.plots import CorpDisplay, PredictionHistogramDisplay, ReliabilityDisplay, SmoothReliabilityDisplay

rng = np.random.default_rng(0)
log_odds = rng.normal(-0.5, 1.5, 3000)  # true ones
y = rng.random(3000) < 1 / (1 + np.exp(-log_odds))
scores = 2 * log_odds  # of a classifier that is too sure
p = 1 / (1 + np.exp(-scores))

# %%
# In bins
# -------
# A point per bin, with a 95 % interval; below, how many forecasts each bin has.

display = ReliabilityDisplay.from_predictions(y[1000:], p[1000:], name="too sure")

# %%
# The same with a line across each bin:

display = ReliabilityDisplay.from_predictions(y[1000:], p[1000:], name="too sure", style="lines")

# %%
# Before and after
# ----------------
# A second diagram on the same axes gets its own color.

calibrator = PlattCalibrator().fit(scores[:1000], y[:1000])
calibrated = calibrator.predict_proba(scores[1000:])[:, 1]

before = ReliabilityDisplay.from_predictions(y[1000:], p[1000:], name="before")
display = ReliabilityDisplay.from_predictions(y[1000:], calibrated, name="after", ax=before.ax_)

# %%
# Without bins
# ------------
# Isotonic regression chooses the bins (CORP). At each place the band holds 95 % of the curves of calibrated forecasts.

display = CorpDisplay.from_predictions(y[1000:], p[1000:])

# %%
# Smoothed
# --------
# A kernel smoother, with the bandwidth that predicts left-out rows best.

display = SmoothReliabilityDisplay.from_predictions(y[1000:], p[1000:])

# %%
# The forecasts alone
# -------------------
# How many cases have which forecast, stacked by class.

display = PredictionHistogramDisplay.from_predictions(y[1000:], p[1000:])

# %%
# Dark theme
# ----------
# Every display takes ``theme="dark"``.

display = CorpDisplay.from_predictions(y[1000:], p[1000:], theme="dark")
