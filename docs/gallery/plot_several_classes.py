"""
Several classes
===============

Naive Bayes on handwritten digits: whether it is right as often as it says, for the most probable class and for each
class, and which digits it confuses.
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
# Naive Bayes says 99 % on average, and is right in 83 % of the cases.

display = ConfidenceDisplay.from_predictions(y_new, p)

# %%
# After calibration:

calibrated = CalibratedClassifier(GaussianNB()).fit(X, y).predict_proba(X_new)
display = ConfidenceDisplay.from_predictions(y_new, calibrated)

# %%
# Class by class
# --------------
# Each class against the rest; the six worst classes, worst first.

display = ClasswiseReliabilityDisplay.from_predictions(y_new, p, n_classes=6)

# %%
# Confused classes
# ----------------
# After calibration; each cell shows the number of cases.

display = ConfusionDisplay.from_predictions(y_new, calibrated)
