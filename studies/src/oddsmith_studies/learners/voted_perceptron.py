"""The voted perceptron with a log-odds score."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from oddsmith import checks
from oddsmith.checks import Floats
from oddsmith_studies.learners._base import BinaryClassifier, TrainingRows, is_sparse

# Queries are scored in blocks of about this many activations, 8 MB.
_BLOCK = 1 << 20


@dataclass(eq=False, repr=False)
class VotedPerceptron(BinaryClassifier):
    """Let every perceptron of an online run vote, each as long as it survived.

    The score is the log ratio of the two sides' votes, an unbounded score for a method that by itself only
    votes.

    Parameters
    ----------
    epochs : int, default=1
        Passes over the rows.
    total : float, optional
        What all votes are scaled to before ½ is added to either side; by default they are counts of presentations,
        and the score of a unanimous vote grows with the number of rows.
    shuffle : bool, default=False
        Draw a new order of rows for each pass. Rows sorted by class need it.
    random_state : int, RandomState or None
        For the orders.

    Attributes
    ----------
    mistakes_ : matrix of shape (n_mistakes, n_features)
        The rows that changed the perceptron, dense or sparse as X was; perceptron k is
        v_k = Σ_{j≤k} ``steps_[j]``·``mistakes_[j]`` with intercept Σ_{j≤k} ``steps_[j]``.
    steps_ : ndarray of shape (n_mistakes,)
        Label ±1 of each such row, times the weight of its presentation where that is below 1.
    survival_ : ndarray of shape (n_mistakes,)
        c_k, the weight of presentations that perceptron k met, its own mistake included.
    classes_ : ndarray of shape (2,)

    Notes
    -----
    Score s(x) = log[(S₊+½)/(S₋+½)], S₊ = Σ c_k over the perceptrons with v_k·x + b_k > 0 and S₋ over all
    others. The initial zero perceptron does not vote. A mistake is y(v·x + b) ≤ 0. A row of weight 2 is
    presented twice in succession, a remainder below 1 is a presentation with a smaller step.

    References
    ----------
    Freund & Schapire (1999), Large margin classification using the perceptron algorithm. Bennett (2003),
    Using asymmetric distributions to improve text classifier probability estimates.

    Examples
    --------
    >>> from oddsmith_studies.learners import VotedPerceptron
    >>> model = VotedPerceptron(epochs=2).fit([[1.0], [-1.0], [2.0], [-2.0]], [1, 0, 1, 0])
    >>> model.decision_function([[3.0], [-3.0]]).round(3)
    array([ 2.833, -2.833])
    """

    epochs: int = 1
    _: KW_ONLY
    total: float | None = None
    shuffle: bool = False
    random_state: Any = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "VotedPerceptron":
        """Run the perceptron over the rows, keeping every mistake."""
        epochs = checks.whole_number(self.epochs, "epochs", low=1)
        checks.one_of(self.shuffle, "shuffle", (False, True))
        if self.total is not None:
            checks.number(self.total, "total", low=0, strict=True)
        data = self._read_training(X, y, sample_weight).present()
        rng = check_random_state(self.random_state)
        n = len(data.weight)
        orders = [rng.permutation(n) if self.shuffle else np.arange(n) for _ in range(epochs)]
        self.steps_: Floats
        self.survival_: Floats
        rows, self.steps_, self.survival_ = _run(data, np.concatenate(orders))
        self.mistakes_: Any = data.X[rows]
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the log ratio of the votes for and against."""
        rows = self._read_rows(X)
        block = max(1, _BLOCK // len(self.steps_))
        plus = np.concatenate([self._votes(rows[i : i + block]) for i in range(0, rows.shape[0], block)])
        everyone = float(self.survival_.sum())
        scale = 1.0 if self.total is None else self.total / everyone
        minus = np.maximum(everyone - plus, 0.0)
        return np.asarray(np.log(scale * plus + 0.5) - np.log(scale * minus + 0.5))

    def _farthest(self) -> float:
        return 1e150

    def _votes(self, rows: Any) -> Floats:
        products = rows @ self.mistakes_.T
        if is_sparse(products):
            products = products.toarray()
        activations = np.cumsum((products + 1) * self.steps_, axis=1)
        return np.asarray((activations > 0) @ self.survival_)


def _run(data: TrainingRows, order: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return the row, the step and the survival of every mistake."""
    sign = data.sign
    row_of = _row_reader(data.X)
    coefficients, intercept = np.zeros(data.X.shape[1]), 0.0
    rows: list[int] = []
    steps: list[float] = []
    survival: list[float] = []
    for i in order:
        columns, values = row_of(i)
        left = data.weight[i]
        while left > 0:
            if sign[i] * (coefficients[columns] @ values + intercept) > 0:
                survival[-1] += left
                break
            presented = min(left, 1.0)
            coefficients[columns] += sign[i] * presented * values
            intercept += sign[i] * presented
            rows.append(i)
            steps.append(sign[i] * presented)
            survival.append(presented)
            left -= presented
    return np.array(rows, dtype=np.intp), np.array(steps), np.array(survival)


def _row_reader(X: Any) -> Any:
    """Return a function from a row's number to its columns and their values."""
    if not is_sparse(X):
        everything = slice(None)
        return lambda i: (everything, X[i])
    start, columns, values = X.indptr, X.indices, X.data
    return lambda i: (columns[start[i] : start[i + 1]], values[start[i] : start[i + 1]])
