"""One answer from several classifiers: combine their calibrated log-odds.

Everything here takes log-odds, one row per item and one column per classifier (n × K), and returns log-odds:
they keep what a probability rounds away near 0 and 1. Log-odds of ±inf, certain classifiers, are taken wherever the
rule has a value for them. `combine_probabilities` applies any of the rules to probabilities. The rules differ in what
they assume:

================================  ==============================================================
`mean_probability`                one of the classifiers is right, but not known which
`mean_log_odds`                   all saw the same evidence, each with its own noise
`independent_evidence`            each saw other evidence, independent given the class
`StackingCombiner`                nothing; learns the weights from held-out rows
================================  ==============================================================
"""

import math
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit, logit, logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from oddsmith._check import as_array, as_distribution, as_labels, as_weights, fail, number, refuse_other_columns
from oddsmith._types import Floats
from oddsmith.errors import NonConvergenceWarning, SingleClassWarning

__all__ = [
    "StackingCombiner",
    "combine_class_probabilities",
    "combine_probabilities",
    "independent_evidence",
    "mean_log_odds",
    "mean_probability",
]

_LARGE = 30.0


def mean_probability(log_odds: ArrayLike) -> Floats:
    """Return the log-odds of the mean probability (linear opinion pool).

    L = log Σ_k σ(L_k) − log Σ_k σ(−L_k). The pool of calibrated classifiers is under-confident unless they
    agree: calibrate it once more.

    Parameters
    ----------
    log_odds : array of shape (n, K)
        One row per item, one column per classifier.

    Returns
    -------
    array of shape (n,)

    See Also
    --------
    mean_log_odds : For shared evidence.

    Examples
    --------
    >>> combine_probabilities([[0.9, 0.8, 0.6]], mean_probability).round(4).tolist()
    [0.7667]
    """
    columns = as_array(log_odds, "log_odds", (2,), infinite=True)
    return np.asarray(logsumexp(log_expit(columns), axis=1) - logsumexp(log_expit(-columns), axis=1))


def mean_log_odds(log_odds: ArrayLike) -> Floats:
    """Return the mean log-odds (logarithmic opinion pool).

    L = ΣL_k/K: a single confident classifier moves the result more than in `mean_probability`, and one with P = 0 or
    P = 1 decides alone; the mean of P = 0 and P = 1 is undefined.

    Parameters
    ----------
    log_odds : array of shape (n, K)
        One row per item, one column per classifier.

    Returns
    -------
    array of shape (n,)

    See Also
    --------
    independent_evidence : For evidence that is independent.
    mean_probability : For a mixture.

    Examples
    --------
    >>> mean_log_odds([[2.0, 1.0, -0.75]]).tolist()
    [0.75]
    """
    columns = _without_contradiction(log_odds)
    # Divided first, so that the sum of huge log-odds cannot overflow.
    return np.asarray((columns / columns.shape[1]).sum(axis=1))


def independent_evidence(log_odds: ArrayLike, prior: float) -> Floats:
    """Add up the evidence of classifiers that are independent given the class.

    L = ΣL_k − (K − 1)·logit π: Bayes' rule, with the prior counted once. Classifiers that saw the same
    features are not independent, and the result is then far too confident.

    Parameters
    ----------
    log_odds : array of shape (n, K)
        One row per item, one column per classifier.
    prior : float
        P(positive class) where the classifiers were calibrated, 0 < π < 1.

    Returns
    -------
    array of shape (n,)

    See Also
    --------
    mean_log_odds : For evidence that is shared.

    Examples
    --------
    >>> independent_evidence([[1.0, 0.5]], prior=0.5).tolist()
    [1.5]
    """
    columns = _without_contradiction(log_odds)
    if not 0.0 < (pi := number(prior, "prior", low=0.0, strict=True)) < 1.0:
        fail("prior must be between 0 and 1", f"prior={prior!r}", "pass the share of the positive class")
    return np.asarray(columns.sum(axis=1) - (columns.shape[1] - 1) * logit(pi))


def combine_probabilities(prob: ArrayLike, rule: Callable[..., Floats], **options: float) -> Floats:
    """Apply a rule of this module to probabilities P(positive class), and return probabilities.

    Parameters
    ----------
    prob : array of shape (n, K)
        One row per item, one column per classifier. P = 0 and P = 1 are certainties, which no evidence revises; where
        one item has both, only `mean_probability` has an answer.
    rule : callable
        `mean_probability`, `mean_log_odds` or `independent_evidence`.
    **options
        Further parameters of the rule.

    Returns
    -------
    array of shape (n,)

    See Also
    --------
    combine_class_probabilities : For several classes.
    StackingCombiner : Weights fitted to labels.

    Examples
    --------
    >>> combine_probabilities([[0.9, 0.8, 0.6]], independent_evidence, prior=0.3).round(4).tolist()
    [0.9966]
    """
    return np.asarray(expit(rule(logit(as_array(prob, "prob", (2,), unit=True)), **options)))


def combine_class_probabilities(prob: ArrayLike, rule: Callable[..., Floats], prior: ArrayLike | None = None) -> Floats:
    """Apply a rule of this module to the probabilities of several classes; for two it is the rule itself.

    `mean_probability`: p_c = Σ_k P_kc/K. `mean_log_odds`: p_c ∝ exp(Σ_k log P_kc/K). `independent_evidence`:
    p_c ∝ Π_k P_kc/π_c^(K−1).

    Parameters
    ----------
    prob : array of shape (n, K, c)
        One row per item, one row per classifier and one column per class, which sum to 1. P = 0 excludes a class; where
        classifiers exclude all of them, only `mean_probability` has an answer.
    rule : callable
        `mean_probability`, `mean_log_odds` or `independent_evidence`.
    prior : array of shape (c,), optional
        Shares of the classes where the classifiers were calibrated, > 0; `independent_evidence` needs them.

    Returns
    -------
    array of shape (n, c)

    See Also
    --------
    combine_probabilities : For two classes.
    StackingCombiner : Weights fitted to labels.

    Examples
    --------
    >>> prob = [[[0.5, 0.3, 0.2], [0.7, 0.2, 0.1]]]
    >>> combine_class_probabilities(prob, mean_probability).round(3).tolist()
    [[0.6, 0.25, 0.15]]
    >>> combine_class_probabilities(prob, independent_evidence, prior=[0.5, 0.25, 0.25]).round(3).tolist()
    [[0.686, 0.235, 0.078]]
    """
    p = as_array(prob, "prob", (3,), unit=True)
    n, classifiers, classes = p.shape
    as_distribution(p.reshape(-1, classes))
    if rule is mean_probability:
        return np.asarray(p.mean(axis=1))
    with np.errstate(divide="ignore"):
        logs = np.log(p).sum(axis=1)
    if rule is mean_log_odds:
        logs = logs / classifiers
    elif rule is independent_evidence:
        logs = logs - (classifiers - 1) * np.log(_class_prior(prior, classes))
    else:
        fail("rule must be a rule of oddsmith.combine", repr(rule), "use mean_log_odds")
    excluded = np.isneginf(logs).all(axis=1)
    if excluded.any():
        fail(
            "some class must be possible for all classifiers (P > 0)",
            f"{int(excluded.sum())} rows without, first prob[{int(np.argmax(excluded))}]",
            "use mean_probability, or calibrators whose P stays inside (0, 1)",
        )
    return np.asarray(softmax(logs, axis=1)).reshape(n, classes)


def _class_prior(prior: ArrayLike | None, classes: int) -> Floats:
    shares = np.empty(0) if prior is None else as_array(prior, "prior", (1,))
    if len(shares) != classes or not (shares > 0).all():
        got = "none" if prior is None else f"prior={np.asarray(prior).tolist()}"
        fail("prior must be one share > 0 per class", got, "pass the shares of the classes")
    return np.asarray(shares / shares.sum())


def _without_contradiction(log_odds: ArrayLike) -> Floats:
    """Return log-odds, refusing items that one classifier is certain of and another is certain against."""
    columns = as_array(log_odds, "log_odds", (2,), infinite=True)
    contradicted = (columns == np.inf).any(axis=1) & (columns == -np.inf).any(axis=1)
    if contradicted.any():
        fail(
            "log_odds of an item must not be certain both ways (P = 0 and P = 1)",
            f"{int(contradicted.sum())} such rows, first log_odds[{int(np.argmax(contradicted))}]",
            "use mean_probability, or calibrators whose P stays inside (0, 1)",
        )
    return columns


class StackingCombiner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Weight K classifiers by a logistic regression on their log-odds.

    Minimize Σ log(1 + e^(−yL)) + penalty/2·Σ w_k² with L = b + Σ_k w_k L_k. **The log-odds must be out of
    sample**: made by classifiers (and calibrators) that did not see these rows, for example by cross-fitting.
    On the rows that they were trained on, the most overfitted classifier would get all the weight.

    Parameters
    ----------
    penalty : float, default=0.1
        Penalty on the weights (not on b), > 0: keeps separable data finite and splits the weight between
        classifiers that agree. The default counts for about half a row with log-odds near ±1. Where some
        log-odds exceed 30 it grows with the square of the largest one, so that huge ones stay safe too.
    pos_label : label, optional
        The positive class; by default the larger of two labels.

    Attributes
    ----------
    coef_ : array of shape (K,)
        The weights w.
    intercept_ : float
        b.
    classes_ : array of shape (2,)
        The labels, negative first.

    See Also
    --------
    combine_probabilities : Rules without a fit.

    References
    ----------
    Wolpert (1992), Stacked generalization; Satopää et al. (2014) for pooling log-odds.

    Examples
    --------
    >>> log_odds = [[-2.0, -1.0], [-1.0, 0.5], [0.3, -0.4], [0.5, 1.0], [2.0, -0.5], [1.5, 1.5]]
    >>> stack = StackingCombiner().fit(log_odds, [0, 0, 1, 0, 1, 1])
    >>> bool(stack.coef_[0] > stack.coef_[1])
    True
    """

    def __init__(self, *, penalty: float = 0.1, pos_label: Any = None) -> None:
        self.penalty = penalty
        self.pos_label = pos_label

    def fit(self, log_odds: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the weights on out-of-sample log-odds (n × K); integer weights are repetitions.

        Parameters
        ----------
        log_odds : array-like of shape (n, K)
            Log-odds of the positive class by each of K classifiers.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            Integer-typed weights are counts, float weights importance weights.

        Returns
        -------
        self
        """
        columns = as_array(log_odds, "log_odds", (2,))
        penalty = number(self.penalty, "penalty", low=0.0, strict=True)
        self.classes_: NDArray[Any]
        positive, self.classes_ = as_labels(y, len(columns), self.pos_label, sort_labels=True)
        weights = as_weights(sample_weight, len(columns))
        weight = np.ones(len(columns)) if weights is None else weights.astype(np.float64)
        self.n_features_in_: int = columns.shape[1]
        present = weight > 0
        columns, positive, weight = columns[present], positive[present], weight[present]
        n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
        if n_positive == 0 or n_negative == 0:
            warnings.warn("Only one class carries weight: the fit is constant.", SingleClassWarning, stacklevel=2)
            self.coef_: Floats = np.zeros(columns.shape[1])
            self.intercept_: float = float(np.log((n_positive + 1) / (n_negative + 1)))
            return self
        # The same objective in columns of size 1: huge log-odds would leave nothing of the intercept.
        largest = float(np.abs(columns).max())
        # Columns of tiny log-odds, or with a huge penalty, stay below 1: beside it the solver must see the intercept.
        size = max(largest, 1e-5 * math.sqrt(penalty))
        inverse_penalty = (size * (_LARGE / max(largest, _LARGE))) ** 2 / penalty
        model = LogisticRegression(C=inverse_penalty, solver="newton-cholesky", tol=1e-10, max_iter=200)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(columns / size, positive, sample_weight=weight)
        if caught:
            warnings.warn("Stacking stopped before its tolerance.", NonConvergenceWarning, stacklevel=2)
        self.coef_, self.intercept_ = model.coef_[0] / size, float(model.intercept_[0])
        return self

    def log_odds(self, log_odds: ArrayLike) -> Floats:
        """Return the combined log-odds of each row.

        Parameters
        ----------
        log_odds : array-like of shape (n, K)
            Log-odds of the positive class by each of K classifiers.

        Returns
        -------
        ndarray
        """
        check_is_fitted(self)
        columns = as_array(log_odds, "log_odds", (2,))
        hint = "pass one column per classifier, in the same order"
        refuse_other_columns(columns, "log_odds", self, hint)
        return np.asarray(columns @ self.coef_ + self.intercept_)

    def predict_proba(self, log_odds: ArrayLike) -> Floats:
        """Return P(negative) and P(positive) for each row, shape (n, 2).

        Parameters
        ----------
        log_odds : array-like of shape (n, K)
            Log-odds of the positive class by each of K classifiers.

        Returns
        -------
        ndarray
        """
        combined = self.log_odds(log_odds)
        return np.column_stack([expit(-combined), expit(combined)])

    def predict_log_proba(self, log_odds: ArrayLike) -> Floats:
        """Return log P(negative) and log P(positive) for each row, shape (n, 2): finite where P itself rounds to 0.

        Parameters
        ----------
        log_odds : array-like of shape (n, K)
            Log-odds of the positive class by each of K classifiers.

        Returns
        -------
        ndarray
        """
        combined = self.log_odds(log_odds)
        return np.asarray(log_expit(np.column_stack([-combined, combined])))

    def predict(self, log_odds: ArrayLike) -> NDArray[Any]:
        """Return the label of each row: positive where P > ½.

        Parameters
        ----------
        log_odds : array-like of shape (n, K)
            Log-odds of the positive class by each of K classifiers.

        Returns
        -------
        ndarray
        """
        positive = self.log_odds(log_odds) > 0
        return np.asarray(self.classes_[positive.astype(int)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
