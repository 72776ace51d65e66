"""The tasks on which protocols are compared: rows to train and to test, and a classifier for them."""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from oddsmith.checks import Bools
from oddsmith.classify.scores import ResponseMethod
from oddsmith_studies.data import (
    STOP_WORDS,
    BinaryTask,
    Corpus,
    count_words,
    load_a9a,
    load_boosting_task,
    load_reuters_ten,
)
from oddsmith_studies.data.text_choices import mean_norm_cost
from oddsmith_studies.learners import BoostedClassifier, MultinomialNaiveBayes
from oddsmith_studies.studies._study import Setting

CATEGORIES = ("earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "wheat", "ship", "corn")
BAYES, SVM, TREES = "naive Bayes", "linear SVM", "boosted trees"

#: Rare words are left out, but none by a look at labels: so no protocol can leak them.
_RARE = 3
_TREE_ROWS = 4000


class Halves(NamedTuple):
    """Rows to train and rows to test."""

    X_train: Any
    y_train: Bools
    X_test: Any
    y_test: Bools


@dataclass(frozen=True)
class Task:
    """A two-class problem with a classifier.

    Attributes
    ----------
    rows : Halves
    estimator : classifier
        Not fitted.
    response_method : str
        The kind of its score; see `oddsmith.classify.classifier_scores`.
    """

    rows: Halves
    estimator: Any
    response_method: ResponseMethod


def load_task(setting: Setting, source: str, classifier: str) -> Task:
    """Return a task: a category of Reuters, "adult", or a problem of the boosting study.

    Multinomial naive Bayes counts words; the support vector machine has hinge loss, features present or absent, and the
    cost of Zhang and Yang; full trees are boosted by resampling, and their score is the share of votes.
    """
    rows = _sampled(setting, source, _halves(setting, source, classifier))
    seed = setting.seed_of("classifier", source)
    if classifier == BAYES:
        return Task(rows, MultinomialNaiveBayes(), "log_odds")
    if classifier == SVM:
        cost = mean_norm_cost(rows.X_train)
        return Task(
            rows, LinearSVC(C=cost, loss="hinge", dual=True, max_iter=100_000, random_state=seed), "decision_function"
        )
    rounds = 8 if setting.quick else 128
    trees = BoostedClassifier(DecisionTreeClassifier(), rounds, sampling="resample", random_state=seed)
    return Task(rows, trees, "votes")


def _halves(setting: Setting, source: str, classifier: str) -> Halves:
    if source in CATEGORIES:
        corpus, counts = _reuters(setting.data)
        X = counts if classifier == BAYES else (counts > 0).astype(np.float64)
        return _split(X, corpus.positive(source), corpus.train)
    if source == "adult":
        rows = _adult(setting.data)
        return _split(rows.X, rows.y == 1, rows.train)
    task = _boosting_task(source, setting.data)
    order = np.random.default_rng(setting.seed_of("rows", source)).permutation(len(task.y))
    train = np.isin(np.arange(len(order)), order[:_TREE_ROWS])
    return _split(task.X.astype(np.float64), task.y, train)


def _split(X: Any, y: Bools, train: Bools) -> Halves:
    return Halves(X[train], y[train], X[~train], y[~train])


def _sampled(setting: Setting, source: str, rows: Halves) -> Halves:
    """Leave a quick run some rows of each half."""
    if not setting.quick:
        return rows
    rng = np.random.default_rng(setting.seed_of("quick", source))
    train, test = (np.sort(rng.permutation(len(y))[:1200]) for y in (rows.y_train, rows.y_test))
    return Halves(rows.X_train[train], rows.y_train[train], rows.X_test[test], rows.y_test[test])


@cache
def _reuters(folder: str | None) -> tuple[Corpus, Any]:
    corpus = load_reuters_ten(folder)
    counts = count_words(corpus.texts, STOP_WORDS)
    return corpus, counts.keep(counts.documents(corpus.train) >= _RARE).X


@cache
def _adult(folder: str | None) -> Any:
    return load_a9a(folder)


@cache
def _boosting_task(name: str, folder: str | None) -> BinaryTask:
    return load_boosting_task(name, folder)


def leave_one_out_scores(X: Any, y: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the log-odds of each row by multinomial naive Bayes trained on all others, without training so often.

    A row enters the model only through the counts of its own class, and leaves it by subtraction. Laplace smoothing, as
    `MultinomialNaiveBayes` has by default.

    Parameters
    ----------
    X : sparse array of shape (n, n_words)
        Counts.
    y : bool array of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> leave_one_out_scores(csr_array([[2, 0], [1, 1], [0, 2], [0, 1]]), np.array([True, True, False, False])).round(2)
    array([ 1.14, -0.53, -0.69, -0.12])
    """
    cells = X.tocoo()
    lengths, n_words = np.asarray(X.sum(axis=1), np.float64), X.shape[1]
    scores = np.zeros(len(y))
    for sign, own in ((1.0, y), (-1.0, ~y)):
        # Without itself a row's own class has one case, its words and its length less; the other class is as it was.
        words = np.asarray(X[own].sum(axis=0), np.float64)
        left = np.where(own[cells.row], cells.data, 0)
        terms = cells.data * np.log(words[cells.col] - left + 1)
        cases, total = own.sum() - own, words.sum() - np.where(own, lengths, 0)
        summed = np.bincount(cells.row, terms, minlength=len(y))
        scores += sign * (np.log(cases) + summed - lengths * np.log(total + n_words))
    return scores
