"""
Several classes
===============

How often the most probable class is the true one.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from oddsmith import CalibratedClassifier
from oddsmith.plots import ConfidenceDisplay

X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)

# %%
# Before
# ------
# Naive Bayes is nearly always sure.

display = ConfidenceDisplay.from_predictions(y_new, GaussianNB().fit(X, y).predict_proba(X_new))

# %%
# After
# -----

calibrated = CalibratedClassifier(GaussianNB()).fit(X, y)
display = ConfidenceDisplay.from_predictions(y_new, calibrated.predict_proba(X_new))
