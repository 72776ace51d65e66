"""
Several classes
===============

How often the most probable class is the true one, class by class, and which classes are taken for which.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from oddsmith import CalibratedClassifier
from oddsmith.plots import ClasswiseReliabilityDisplay, ConfidenceDisplay, ConfusionDisplay

X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
p = GaussianNB().fit(X, y).predict_proba(X_new)

# %%
# The most probable class
# -----------------------
# Naive Bayes is nearly always sure.

display = ConfidenceDisplay.from_predictions(y_new, p)

# %%
# After calibration:

calibrated = CalibratedClassifier(GaussianNB()).fit(X, y).predict_proba(X_new)
display = ConfidenceDisplay.from_predictions(y_new, calibrated)

# %%
# Class by class
# --------------
# Each class against the rest, the worst first.

display = ClasswiseReliabilityDisplay.from_predictions(y_new, p, n_classes=4)

# %%
# What is taken for what
# ----------------------

display = ConfusionDisplay.from_predictions(y_new, calibrated)
