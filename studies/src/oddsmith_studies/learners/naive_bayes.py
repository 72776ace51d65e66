"""Multinomial naive Bayes with the log-odds as score."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import checks
from oddsmith.checks import Floats
from oddsmith_studies.learners._base import BinaryClassifier


@dataclass(eq=False, repr=False)
class MultinomialNaiveBayes(BinaryClassifier):
    """Classify counts by naive Bayes; the score is the exact log-odds.

    The log-odds is summed from log ratios, so it never passes through a probability that rounds to 0 or 1:
    this is what a calibrator needs, because naive Bayes is far too sure of itself and its information sits in
    the tails.

    Parameters
    ----------
    smoothing : {"laplace", "bayesian"}, default="laplace"
        "laplace" as in Zhang & Yang (2004), "bayesian" as in Bennett (2003); see the notes.
    m : float, default=None
        Weight of the overall word prior when ``smoothing="bayesian"``; None means the number of words V.

    Attributes
    ----------
    word_log_odds_ : ndarray of shape (n_features,)
        log P(w|+)/P(w|−).
    prior_log_odds_ : float
        log π₊/π₋.
    classes_ : ndarray of shape (2,)

    Notes
    -----
    s(d) = log π₊/π₋ + Σ_w n_w(d)·log[P(w|+)/P(w|−)].

    Laplace: P(w|c) = (n_wc+1)/(n_c+V), π_c = N_c/N. Bayesian: P(w|c) = (n_wc+m·P(w))/(n_c+m) with P(w) =
    n_w/n, π_c = (N_c+1)/(N+2). A word that no training row holds has P(w) = 0; its ratio is then the limit
    (n₋+m)/(n₊+m), which is also what Laplace smoothing gives it. ``sample_weight`` multiplies the counts.

    References
    ----------
    Zhang & Yang (2004), Probabilistic score estimation with piecewise logistic regression. Bennett (2003),
    Using asymmetric distributions to improve text classifier probability estimates.

    Examples
    --------
    >>> from oddsmith_studies.learners import MultinomialNaiveBayes
    >>> X, y = [[2, 0, 1], [1, 1, 0], [0, 2, 1], [0, 3, 0], [1, 1, 2]], [1, 1, 0, 0, 0]
    >>> MultinomialNaiveBayes().fit(X, y).decision_function([[0, 2, 1], [3, 0, 0]]).round(4)
    array([-2.1476,  3.1305])
    """

    smoothing: str = "laplace"
    m: float | None = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "MultinomialNaiveBayes":
        """Count words by class."""
        checks.one_of(self.smoothing, "smoothing", ("laplace", "bayesian"))
        data = self._read_training(X, y, sample_weight).present()
        lowest = data.X.min()
        if lowest < 0:
            # scikit-learn's checks look for these words.
            got = f"Negative values in data passed to {type(self).__name__}, down to {lowest:g}"
            checks.fail("X must contain counts ≥ 0", got, "pass counts, not centered features")
        weight_by_class = [data.weight * ~data.positive, data.weight * data.positive]
        words = np.stack([data.X.T @ weight for weight in weight_by_class])
        cases = np.array([weight.sum() for weight in weight_by_class])
        if self.smoothing == "laplace":
            added, total = np.ones(words.shape[1]), float(words.shape[1])
        else:
            total = float(words.shape[1]) if self.m is None else checks.number(self.m, "m", low=0, strict=True)
            # Only a table without a single word has the sum 0; any prior then gives the same ratio.
            added = total * words.sum(axis=0) / max(words.sum(), np.finfo(float).tiny)
            cases = cases + 1
        # A word that nobody used: equal numerators stand for the limit of their ratio.
        smoothed = np.where(words.sum(axis=0) + added > 0, words + added, 1.0)
        denominators = words.sum(axis=1) + total
        self.word_log_odds_: Floats = _log_ratio(smoothed) - _log_ratio(denominators)
        self.prior_log_odds_: float = float(_log_ratio(cases))
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the log-odds of each row."""
        return np.asarray(self._read_rows(X) @ self.word_log_odds_ + self.prior_log_odds_)

    def _farthest(self) -> float:
        return 1e280  # times any weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _log_ratio(by_class: Floats) -> Any:
    """Return log(second/first) of values that are given negative class first."""
    return np.log(by_class[1]) - np.log(by_class[0])
