"""Random calibration data for the laws, and a context in which only our own warnings may appear."""

import warnings
from contextlib import contextmanager

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from oddsmith.errors import OddsmithWarning

#: Of examples, and of cases that one test goes through, one in so many is tried: with --cases fewer than all.
THINNED = settings.get_profile("steady").max_examples // settings.default.max_examples


def examples(most):
    """Return settings for so many examples of a property, or with --cases for fewer."""
    return settings(max_examples=max(most // THINNED, 5))


@st.composite
def samples(draw, min_size=2, max_size=60):
    """Scores with or without ties, labels that follow them more or less, both classes present."""
    n = draw(st.integers(min_size, max_size))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    decimals = draw(st.sampled_from([0, 1, None]))
    signal = draw(st.sampled_from([-1.0, 0.0, 1.5, 8.0]))
    scores = rng.normal(size=n) * 2
    y = (rng.random(n) < 1 / (1 + np.exp(-signal * scores))).astype(int)
    y[rng.integers(n)] = 1
    if y.all():
        y[rng.integers(n)] = 0
    if y.all() or not y.any():
        y[:2] = [0, 1]
    return (scores if decimals is None else np.round(scores, decimals) + 0.0), y


@contextmanager
def ours_allowed():
    """Let our warnings pass; any other is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        yield


class TwoClassLearner(LogisticRegression):
    """A classifier that refuses a third class, as its tags say; scikit-learn itself has none."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        if len(self.classes_) > 2:
            raise ValueError(f"Only binary classification is supported. Got {len(self.classes_)} classes")
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def grid(scores):
    """Scores, places between and beyond them."""
    low, high = float(np.min(scores)), float(np.max(scores))
    spread = (high - low) or 1.0
    return np.sort(np.concatenate([scores, np.linspace(low - spread, high + spread, 101)]))


def readable(calibrator, places):
    """Return the places that a fitted calibrator takes: of those that read probabilities, only what lies in [0, 1]."""
    reads = calibrator.input == "score" and getattr(calibrator, "input_", "") == "probability"
    return places[(places >= 0) & (places <= 1)] if reads else places
