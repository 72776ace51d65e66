"""The tasks: which rows, which kernel, which two-class problems are counted together."""

from collections import Counter
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from oddsmith.checks import Bools
from oddsmith_studies.data import Corpus, load_a9a, load_reuters, load_web
from oddsmith_studies.learners.feature_maps import SparseQuadratic
from oddsmith_studies.studies._study import Setting
from oddsmith_studies.studies._text_features import REUTERS, ZHANG_YANG, count_corpus, load_texts

#: Words of Reuters that each category keeps, by the name of the source; the first is the study's.
WORDS = {"reuters": ZHANG_YANG.words, "reuters-300": 300}
#: Topics of Reuters that are counted together, the largest; the document does not say how many it counts.
CATEGORIES = {"ten": 10, "20": 20, "30": 30, "50": 50, "90": 90}
#: Topics of a quick run, the largest, and the share of the words that they keep.
_QUICK_TOPICS = 12
_QUICK_WORDS = 0.2
_QUICK_ROWS = (2000, 1500)


class Task(NamedTuple):
    """A row of the document's table, as it is run.

    Attributes
    ----------
    name : str
    published : str
        The name of the document's row.
    source, kernel : str
        Rows and features; see `load_problems`.
    group : str
        Problems that are counted: one of `CATEGORIES` or "all" topics of Reuters; "all" elsewhere, where there is one.
    shown : str
        The problem that is drawn.
    """

    name: str
    published: str
    source: str
    kernel: str
    group: str
    shown: str


def _reuters(source: str, more: str = "") -> tuple[Task, Task]:
    ten, topics = f"Reuters linear, ten categories{more}", f"Reuters linear, all topics{more}"
    return (
        Task(ten, "Reuters linear", source, "linear", "ten", "earn"),
        Task(topics, "Reuters linear", source, "linear", "all", "earn"),
    )


TASKS = (
    *_reuters("reuters"),
    Task("Adult linear", "Adult linear", "adult", "linear", "all", "adult"),
    Task("Adult quadratic", "Adult quadratic", "adult", "quadratic", "all", "adult"),
    Task("Web linear", "Web linear", "web", "linear", "all", "web"),
    Task("Web quadratic", "Web quadratic", "web", "quadratic", "all", "web"),
)
#: Tasks with a drawn problem of their own: all topics of Reuters and the ten largest share theirs.
DRAWN = tuple(task for task in TASKS if task.source != "reuters" or task.group == "ten")
#: Reuters by the number of topics that are counted.
TOPICS = tuple(
    Task(f"Reuters linear, {number} topics", "Reuters linear", "reuters", "linear", group, "earn")
    for group, number in CATEGORIES.items()
    if group != "ten"
)
#: Other readings: other numbers of topics, fewer words, and both files of Web as published, although the second is part
#: of the first.
VARIANTS = (
    *TOPICS,
    *_reuters("reuters-300", ", fewer words"),
    Task("Web linear, files as published", "Web linear", "web-files", "linear", "all", "web-files"),
    Task("Web quadratic, files as published", "Web quadratic", "web-files", "quadratic", "all", "web-files"),
)


class Problem(NamedTuple):
    """A two-class problem: features of rows to train and to test, and how many of them are chosen (None: all)."""

    name: str
    X_train: Any
    y_train: Bools
    X_test: Any
    y_test: Bools
    words: int | None


def load_problems(setting: Setting, source: str, kernel: str) -> list[Problem]:
    """Return the problems of a source, largest category first; the features are those of the kernel.

    "adult" is a9a as published, "web-files" w8a, and "web" w8a without the training rows that are the test rows: every
    row of its second file is in its first one. Of "reuters" every topic is a problem, stories without a topic are in
    none; words are present or absent, common ones and those that occur fewer than three times dropped.
    """
    if source in WORDS:
        return _reuters_problems(setting, source)
    X, y, train = _rows(setting, source, kernel)
    return [Problem(source, X[train], y[train], X[~train], y[~train], None)]


def groups_of(source: str) -> tuple[str, ...]:
    """Return the groups that the problems of a source are counted in."""
    if source not in WORDS:
        return ("all",)
    return (*CATEGORIES, "all") if source == "reuters" else ("ten", "all")


def in_group(place: int, group: str) -> bool:
    """Return whether a group counts the problem at a place, the largest being the first."""
    return group == "all" or place < CATEGORIES[group]


def quadratic_features(X: Any) -> Any:
    """Return φ with φ(x)·φ(z) = (x·z + 1)² − 1 for sparse rows: the constant feature is the bias's business.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = csr_array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> (quadratic_features(rows) @ quadratic_features(rows).T).toarray().round(9)
    array([[8., 3.],
           [3., 8.]])
    """
    features = SparseQuadratic(X).matrix
    # Scikit-learn's solvers take indices of 32 bits only.
    narrow = features.indices.astype(np.int32), features.indptr.astype(np.int32)
    return sparse.csr_array((features.data, *narrow), shape=features.shape)


def again(X: Any, y: Bools, train: Bools) -> Bools:
    """Return which training rows come again as test rows, each test row standing for one training row.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows, y = csr_array([[1], [1], [0], [1]]), np.array([True, True, True, True])
    >>> again(rows, y, np.array([True, True, True, False]))
    array([ True, False, False, False])
    """
    rows = sparse.csr_array(X)
    keys = [
        (rows.indices[start:end].tobytes(), rows.data[start:end].tobytes(), bool(label))
        for start, end, label in zip(rows.indptr[:-1], rows.indptr[1:], y, strict=True)
    ]
    left = Counter(key for key, first in zip(keys, train, strict=True) if not first)
    found = np.zeros(len(y), bool)
    for row in np.flatnonzero(train):
        if left[keys[row]]:
            left[keys[row]] -= 1
            found[row] = True
    return found


@cache
def _rows(setting: Setting, source: str, kernel: str) -> tuple[Any, Bools, Bools]:
    """Return the features of all rows, their labels, and which of them train; a quick run takes some of each half."""
    found = (load_a9a if source == "adult" else load_web)(setting.data)
    X, y, train = found.X.astype(np.float64), found.y == 1, found.train
    if source == "web":
        kept = ~train | ~again(X, y, train)
        X, y, train = X[kept], y[kept], train[kept]
    if setting.quick:
        rng = np.random.default_rng(setting.seed_of("quick", source))
        halves = zip((train, ~train), _QUICK_ROWS, strict=True)
        kept = np.sort(np.concatenate([rng.permutation(np.flatnonzero(half))[:size] for half, size in halves]))
        X, y, train = X[kept], y[kept], train[kept]
    return (quadratic_features(X) if kernel == "quadratic" else X), y, train


def _reuters_problems(setting: Setting, source: str) -> list[Problem]:
    texts, topics, member = _topics(setting)
    counts = count_corpus(REUTERS, setting, ZHANG_YANG.stop_words, ZHANG_YANG.rare)
    X = (counts.X > 0).astype(np.float64)
    train, words = texts.train, kept_words(setting, source)
    return [
        Problem(topic, X[train], member[train, i], X[~train], member[~train, i], words)
        for i, topic in enumerate(topics)
    ]


def kept_words(setting: Setting, source: str) -> int:
    """Return how many words a topic keeps."""
    return round(WORDS[source] * (_QUICK_WORDS if setting.quick else 1))


@cache
def _topics(setting: Setting) -> tuple[Corpus, tuple[str, ...], Bools]:
    """Return the texts, the names of all topics, largest first, and which text is in which."""
    texts, everything = load_texts(REUTERS, setting), load_reuters(setting.data)
    places = {name: i for i, name in enumerate(everything.ids)}
    member = everything.member[[places[name] for name in texts.ids]]
    order = np.argsort(-everything.member[everything.train].sum(axis=0), kind="stable")
    kept = order[:_QUICK_TOPICS] if setting.quick else order
    return texts, tuple(everything.categories[i] for i in kept), member[:, kept]
