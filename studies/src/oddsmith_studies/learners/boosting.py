"""Boosting with exponential loss (AdaBoost) or log-loss, with every score form of the calibration studies."""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_expit
from sklearn.base import clone
from sklearn.tree import BaseDecisionTree
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from oddsmith import checks
from oddsmith.checks import Floats
from oddsmith_studies.learners import stumps
from oddsmith_studies.learners._base import BinaryClassifier, FeatureRows, TrainingRows
from oddsmith_studies.learners.trees import FARTHEST, LEAVES, SmoothedTreeClassifier

# log of a case's weight as a function of its margin z = yF: the negative slope of each loss.
_LOG_WEIGHT: dict[str, Callable[[Floats], Floats]] = {"exponential": np.negative, "log": lambda z: log_expit(-z)}

# P = σ(scale · F): exponential loss is least at half the log-odds.
_LOG_ODDS_SCALE = {"exponential": 2.0, "log": 1.0}

# How often a sample is drawn that gives a hypothesis better than chance, before boosting stops.
_DRAWS = 10


@dataclass(eq=False, repr=False)
class BoostedClassifier(BinaryClassifier):
    """Boost weak classifiers under exponential loss or log-loss.

    Boosted scores rank well but are not probabilities: ``vote_fraction`` shuns 0 and 1, and σ(2F) is too sure
    as soon as the base is richer than a stump. Calibrate either on data that was not used here.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=None
        The base: anything whose ``fit`` takes ``sample_weight``. None means a decision stump of least
        weighted error (ties: lowest feature, lowest threshold, + above it), searched on columns that are
        sorted once.
    n_estimators : int, default=100
        Rounds at most.
    loss : {"exponential", "log"}, default="exponential"
        AdaBoost, or boosting with log-loss.
    leaves : {"none", "laplace", "m_estimate", "curtailment", "bayesian"}, default="none"
        Smoothing of a tree's leaves, with the constants that ``smooth_leaves`` has by default; for others
        pass a ``SmoothedTreeClassifier`` as ``estimator``. Of stumps it only changes real votes.
    votes : {"discrete", "real"}, default="discrete"
        Whether a hypothesis votes −1 or +1, or 2P(+) − 1 in the scores; weights follow the sign in both
        cases.
    sampling : {"reweight", "resample"}, default="reweight"
        Give the weights to the base, or a bootstrap sample drawn by them. Full trees need "resample": they
        leave no error on the rows they saw, and reweighting then ends after one round.
    random_state : int, RandomState or None
        For samples, and for the base if it has a ``random_state``.

    Attributes
    ----------
    estimators_ : list
        Stumps ``(feature, threshold, low, high)``, or fitted estimators with classes 0 and 1.
    estimator_weights_, estimator_errors_ : ndarray of shape (n_rounds,)
        α_t and ε_t.
    classes_ : ndarray of shape (2,)

    Notes
    -----
    Round t fits h_t to weights q and takes ε_t = Σ_{h_t≠y} q/Σq and α_t = ½log((1−ε_t)/ε_t), where
    q_i ∝ exp(−y_i F(x_i)) for exponential loss and 1/(1+exp(y_i F(x_i))) for log-loss. Scores: F = Σα_t h_t
    (``decision_function``) and f = Σα_t h⁰¹_t/Σα_t = (1+F/Σα)/2 (``vote_fraction``). P = σ(2F), Logistic
    Correction, for exponential loss and σ(F) for log-loss.

    In α, ε_t is at least 1/(4m), m the weight of all cases. ε_t ≥ ½ discards h_t and stops (resampling first
    draws up to ten times). ε_t = 0 under "reweight" keeps h_t and stops, as the weights would not change any
    more. If no round succeeds, F = 0 and f = ½.

    References
    ----------
    Freund & Schapire (1997), A decision-theoretic generalization of on-line learning. Collins, Schapire &
    Singer (2002), Logistic regression, AdaBoost and Bregman distances. Niculescu-Mizil & Caruana (2005),
    Obtaining calibrated probabilities from boosting.

    Examples
    --------
    >>> from oddsmith_studies.learners import BoostedClassifier
    >>> X, y = [[0.1], [0.2], [0.3], [0.4], [0.5]], [0, 0, 1, 0, 1]
    >>> model = BoostedClassifier(n_estimators=3).fit(X, y)
    >>> model.vote_fraction([[0.0], [0.35], [1.0]]).round(3)
    array([0.281, 0.58 , 0.719])
    """

    estimator: Any = None
    n_estimators: int = 100
    _: KW_ONLY
    loss: str = "exponential"
    leaves: str = "none"
    votes: str = "discrete"
    sampling: str = "reweight"
    random_state: Any = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "BoostedClassifier":
        """Run the rounds."""
        rounds = checks.whole_number(self.n_estimators, "n_estimators", low=1)
        checks.one_of(self.loss, "loss", tuple(_LOG_WEIGHT))
        checks.one_of(self.leaves, "leaves", LEAVES)
        checks.one_of(self.votes, "votes", ("discrete", "real"))
        checks.one_of(self.sampling, "sampling", ("reweight", "resample"))
        data = self._read_training(X, y, sample_weight).present()
        rng = check_random_state(self.random_state)
        learner = self._learner(data, rng)
        # Weights that were normalized to a small total must not raise the floor of ε: there are at least as
        # many cases as rows.
        cases = max(data.weight.sum(), len(data.weight))
        margin = np.zeros(len(data.weight))
        self.estimators_: list[Any] = []
        alphas: list[float] = []
        errors: list[float] = []
        for _ in range(rounds):
            log_weight = _LOG_WEIGHT[self.loss](margin)
            # Only ratios matter, and the largest weight must not underflow.
            weight = data.weight * np.exp(log_weight - log_weight.max())
            weight /= weight.sum()
            hypothesis, vote, error = self._round(learner, data, weight, cases, rng)
            if error >= 0.5 - stumps.SLACK:
                break
            floored = max(error, 1 / (4 * cases))
            alphas.append(0.5 * float(np.log1p(-floored) - np.log(floored)))
            errors.append(error)
            self.estimators_.append(hypothesis)
            margin += alphas[-1] * data.sign * vote
            if error == 0 and self.sampling == "reweight":
                break
        self.estimator_weights_: Floats = np.array(alphas)
        self.estimator_errors_: Floats = np.array(errors)
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return F(x) = Σ α_t h_t(x)."""
        rows = self._read_rows(X)
        if self.estimator is None:
            return stumps.weighted_sum(self.estimators_, self.estimator_weights_, rows)
        return np.asarray(sum(self._terms(rows), start=np.zeros(rows.shape[0])))

    def vote_fraction(self, X: ArrayLike) -> Floats:
        """Return f(x) = Σ α_t h⁰¹_t(x)/Σ α_t, the weighted share of votes for the positive class."""
        score, total = self.decision_function(X), float(self.estimator_weights_.sum())
        return np.clip((1 + score / total) / 2, 0.0, 1.0) if total else np.full_like(score, 0.5)

    def log_odds(self, X: ArrayLike) -> Floats:
        """Return 2F(x) for exponential loss (Logistic Correction), F(x) for log-loss."""
        return _LOG_ODDS_SCALE[self.loss] * self.decision_function(X)

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Floats]:
        """Yield F(x) after each round."""
        rows = self._read_rows(X)
        if self.estimator is None:
            rows = stumps.by_column(rows)
        total = np.zeros(rows.shape[0])
        for term in self._terms(rows):
            total = total + term
            yield total

    def at_round(self, n_rounds: int) -> "BoostedClassifier":
        """Return this classifier as it stood after ``n_rounds`` rounds, without refitting.

        Where boosting stopped earlier, that is how it ended.
        """
        check_is_fitted(self)
        n_rounds = checks.whole_number(n_rounds, "n_rounds", low=0)
        if n_rounds > self.n_estimators:
            checks.fail(f"n_rounds must be ≤ n_estimators={self.n_estimators}", f"{n_rounds=}", "fit more rounds")
        earlier = copy(self)
        earlier.estimators_ = self.estimators_[:n_rounds]
        earlier.estimator_weights_ = self.estimator_weights_[:n_rounds]
        earlier.estimator_errors_ = self.estimator_errors_[:n_rounds]
        return earlier

    def _farthest(self) -> float:
        return FARTHEST if isinstance(self.estimator, (BaseDecisionTree, SmoothedTreeClassifier)) else np.inf

    def _learner(self, data: TrainingRows, rng: np.random.RandomState) -> Any:
        if self.estimator is None:
            return stumps.StumpLearner(data, self.leaves, self.votes == "real")
        base = self.estimator if self.leaves == "none" else SmoothedTreeClassifier(self.estimator, self.leaves)
        if not has_fit_parameter(base, "sample_weight"):
            checks.fail("estimator.fit must take sample_weight", repr(self.estimator), "choose another base")
        if self.votes == "real" and not hasattr(base, "predict_proba"):
            checks.fail('estimator must have predict_proba for votes="real"', repr(base), 'use votes="discrete"')
        return _EstimatorLearner(data, base, rng)

    def _round(
        self, learner: Any, data: TrainingRows, weight: Floats, cases: float, rng: np.random.RandomState
    ) -> tuple[Any, Floats, float]:
        """Return a hypothesis, its votes −1 and +1 on the training rows, and its weighted error there."""
        for _ in range(1 if self.sampling == "reweight" else _DRAWS):
            # Smoothed leaves and naive Bayes count cases, so the weights keep the total of the data.
            given = weight * cases if self.sampling == "reweight" else _draw(data, weight, rng)
            hypothesis = learner.fit(given)
            vote = np.where(self._score(hypothesis, learner.X) > 0, 1.0, -1.0)
            error = float(weight[vote != data.sign].sum())
            if error < 0.5 - stumps.SLACK:
                break
        return hypothesis, vote, error

    def _score(self, hypothesis: Any, X: FeatureRows) -> Floats:
        """Return h(x) in [−1, 1]."""
        if isinstance(hypothesis, stumps.Stump):
            return hypothesis.score(X)
        if self.votes == "discrete":
            return np.where(hypothesis.predict(X) == 1, 1.0, -1.0)
        probability: Floats = hypothesis.predict_proba(X)[:, 1]
        return 2 * probability - 1

    def _terms(self, rows: FeatureRows) -> Iterator[Floats]:
        for alpha, hypothesis in zip(self.estimator_weights_, self.estimators_, strict=True):
            yield alpha * self._score(hypothesis, rows)


class _EstimatorLearner:
    """Fits copies of one estimator to one training set under changing weights."""

    def __init__(self, data: TrainingRows, base: Any, rng: np.random.RandomState) -> None:
        self.X = data.X
        self.label = data.positive.astype(np.intp)
        self.base = base
        self.rng = rng
        self.seeds = [name for name in base.get_params() if name.split("__")[-1] == "random_state"]

    def fit(self, weight: Floats) -> Any:
        estimator = clone(self.base)
        estimator.set_params(**{name: self.rng.randint(2**31 - 1) for name in self.seeds})
        return estimator.fit(self.X, self.label, sample_weight=weight)


def _draw(data: TrainingRows, weight: Floats, rng: np.random.RandomState) -> Floats:
    """Return how often a bootstrap sample holds each row; expected counts if no sample holds both classes."""
    for _ in range(_DRAWS):
        counts = rng.multinomial(len(weight), weight)
        if counts[data.positive].any() and counts[~data.positive].any():
            return counts.astype(np.float64)
    return weight * len(weight)
