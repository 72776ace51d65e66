"""
Scores
======

Where the scores of each class lie, and which map fits them.
"""

import numpy as np

from oddsmith import (
    AsymmetricLaplaceCalibrator,
    GaussianCalibrator,
    IsotonicCalibrator,
    PiecewiseLogisticCalibrator,
    PlattCalibrator,
    ScoreTable,
)
from oddsmith.plots import DensityDisplay, ScoreSpaceDisplay

rng = np.random.default_rng(0)
y = rng.random(4000) < 0.4
scores = np.where(y, 1.5 + rng.laplace(0, 1.2, 4000), -1.0 - rng.gamma(2.0, 0.8, 4000) + rng.normal(0, 1.2, 4000))
fit, held_out = ScoreTable.from_arrays(scores[:2000], y[:2000]), ScoreTable.from_arrays(scores[2000:], y[2000:])

# %%
# The two classes
# ---------------
# A histogram of each, with area 1.

display = DensityDisplay.from_table(held_out).plot()

# %%
# Fitted densities
# ----------------
# Some calibrators fit a density to each class; Bayes' rule turns the two into a probability.

methods = {"asymmetric Laplace": AsymmetricLaplaceCalibrator(), "Gaussian": GaussianCalibrator()}
fitted = {name: method.fit_table(fit) for name, method in methods.items()}
display = DensityDisplay.from_table(held_out, calibrators=fitted).plot()

# %%
# Observed log-odds
# -----------------
# Each dot is a group of cases with similar scores, with an interval; a triangle is a group with one class only. On this
# scale Platt's sigmoid is a straight line.

methods = {"Platt": PlattCalibrator(), "isotonic": IsotonicCalibrator()}
methods["piecewise"] = PiecewiseLogisticCalibrator(monotone=True)
maps = {name: method.fit_table(fit) for name, method in methods.items()}
display = ScoreSpaceDisplay.from_table(held_out, maps=maps).plot()

# %%
# The same as probabilities:

display = ScoreSpaceDisplay.from_table(held_out, maps=maps).plot(scale="probability")
