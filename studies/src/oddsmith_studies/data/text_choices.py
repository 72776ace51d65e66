"""Two choices made before a text classifier is trained: which words, and which cost."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy
from sklearn.utils import check_array, check_consistent_length

from oddsmith import checks
from oddsmith.checks import Floats


def information_gain(X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Floats:
    """Measure what the presence of each word tells about the class, in nats.

    Use it to keep the best words of a category: ``SelectKBest(information_gain, k=1000)``. For a binary word
    and a binary class it is the same as mutual information.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, n_features)
        Only whether a value differs from 0 matters.
    y : array-like of shape (n,)
        Two classes.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    ndarray of shape (n_features,)
        Σ over present/absent and both classes of P(w, c)·log[P(w, c)/(P(w)·P(c))]; empty cells contribute 0.

    References
    ----------
    Yang & Pedersen (1997), A comparative study on feature selection in text categorization.

    Examples
    --------
    >>> from oddsmith_studies.data.text_choices import information_gain
    >>> information_gain([[1, 0], [1, 1], [0, 1], [0, 0]], [1, 1, 0, 0]).round(4)
    array([0.6931, 0.    ])
    """
    rows = check_array(X, accept_sparse="csr")
    labels = np.asarray(y)
    check_consistent_length(rows, labels)
    classes, code = np.unique(labels, return_inverse=True)
    if len(classes) != 2:
        checks.fail("y must contain two classes", f"{len(classes)}", "measure one class against the rest")
    given = checks.as_weights(sample_weight, len(code))
    weight = np.ones(len(code)) if given is None else given.astype(np.float64)
    mass = np.stack([weight * (code == 0), weight * (code == 1)]) / weight.sum()
    present = (rows != 0).astype(np.float64)
    joint_present = (present.T @ mass.T).T
    class_share = mass.sum(axis=1)[:, None]
    joint = np.stack([joint_present, np.maximum(class_share - joint_present, 0)])
    word_share = joint.sum(axis=1, keepdims=True)
    # Entropies subtract to the gain without a quotient that could be 0/0.
    gain = _entropy_terms(joint) - _entropy_terms(word_share) - _entropy_terms(class_share[None])
    return np.maximum(gain, 0)


def mean_norm_cost(X: ArrayLike) -> float:
    """Return the default cost of a linear support vector machine, C = (mean row norm)⁻².

    This is the square of the mean norm, not the mean of the squared norms.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, n_features)

    Returns
    -------
    float

    References
    ----------
    Zhang & Yang (2004), Probabilistic score estimation with piecewise logistic regression.

    Examples
    --------
    >>> from oddsmith_studies.data.text_choices import mean_norm_cost
    >>> round(mean_norm_cost([[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]]), 6)
    0.461887
    """
    rows = check_array(X, accept_sparse="csr", dtype=np.float64)
    squares = (rows.power(2) if hasattr(rows, "power") else np.square(rows)).sum(axis=1)
    norm = float(np.mean(np.sqrt(np.asarray(squares))))
    if norm == 0:
        checks.fail("X must have a row that is not 0", "only zeros", "check how features were made")
    return 1 / norm**2


def _entropy_terms(share: Floats) -> Floats:
    """Return Σ share·log(share) over all but the last axis."""
    return np.asarray(xlogy(share, share).sum(axis=(0, 1)))
