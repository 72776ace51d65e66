"""The documents' data sets as two-class problems: rows to train, a pool to calibrate with, rows to judge by."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith.checks import Bools
from oddsmith_studies.data import (
    STOP_WORDS,
    BinaryTask,
    Corpus,
    best_words,
    count_words,
    load_boosting_task,
    load_newsgroups,
    load_ohsumed,
    load_reuters,
    load_sentences,
)
from oddsmith_studies.studies._study import Setting

#: Shares of positives that balanced problems are thinned to.
THINNED = (0.01, 0.05, 0.2)

#: Rows of each use at most; a third of all rows at most, but for those that judge.
_ROWS = {"train": 4000, "pool": 6000, "test": 6000}
_QUICK_ROWS = {"train": 400, "pool": 600, "test": 600}

#: Words that fewer training texts have are dropped; of the others those that tell most of the class are kept.
_RARE, _WORDS = 3, 1000

_CORPORA = {
    "Reuters": load_reuters,
    "Newsgroups": load_newsgroups,
    "OHSUMED": load_ohsumed,
    "Sentences": load_sentences,
}


@dataclass(frozen=True)
class Problem:
    """A two-class problem.

    Parameters
    ----------
    name : str
    source : str
        The data that it comes from: problems of one source share rows and are no independent witnesses.
    category : str, default ""
        Of a corpus; a problem of the boosting study has none.
    balanced : bool, default False
        Whether it is thinned to rarer positives, too.
    """

    name: str
    source: str
    category: str = ""
    balanced: bool = False

    @property
    def developed_on(self) -> bool:
        """Whether the default calibrator was developed on it: `benchmarks.quality` has the same rows and class."""
        return self.name not in _NEW

    @property
    def is_text(self) -> bool:
        """Whether its rows are texts."""
        return self.source in _CORPORA


#: Problems that played no part in the development of the default: other categories of corpora that did.
_NEW = frozenset(
    {"Reuters earn", "Reuters corn", "Reuters gold", "Reuters cocoa", "Newsgroups religion", "OHSUMED C16"}
)

PROBLEMS = (
    *(Problem(f"Reuters {topic}", "Reuters", topic) for topic in ("earn", "acq", "crude", "corn", "gold", "cocoa")),
    Problem("Newsgroups electronics", "Newsgroups", "sci.electronics"),
    Problem("Newsgroups religion", "Newsgroups", "talk.religion.misc"),
    Problem("OHSUMED C04", "OHSUMED", "C04"),
    Problem("OHSUMED C16", "OHSUMED", "C16"),
    Problem("Sentences", "Sentences", "positive", balanced=True),
    Problem("COV_TYPE", "COV_TYPE", balanced=True),
    Problem("ADULT", "ADULT"),
    Problem("LETTER.P1", "LETTER"),
    Problem("LETTER.P2", "LETTER", balanced=True),
    Problem("HS", "HS"),
    Problem("PHISHING", "PHISHING", balanced=True),
    Problem("WEB", "WEB"),
    Problem("IMDB", "IMDB", balanced=True),
)


def problem_of(name: str) -> Problem:
    """Return a problem by its name."""
    return next(each for each in PROBLEMS if each.name == name)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to train, to calibrate with and to judge by.

    Parameters
    ----------
    X : mapping of use to array or sparse array
        Counts of words, the most telling first, or attributes.
    y : mapping of use to bool array
    """

    X: dict[str, Any]
    y: dict[str, Bools]


def load_rows(setting: Setting, problem: Problem) -> Rows:
    """Draw the rows of a problem, the same for all classifiers."""
    X, y = _all_rows(setting.data, problem)
    # The draw knows no label: every use has about the shares of classes that there are.
    order = np.random.default_rng(setting.seed_of("rows", problem.source)).permutation(len(y))
    most, third = _QUICK_ROWS if setting.quick else _ROWS, len(y) // 3
    ends = np.cumsum([min(most["train"], third), min(most["pool"], third), most["test"]])
    drawn = dict(zip(most, np.split(order, ends)[:3], strict=True))
    if problem.is_text:
        X = _telling_words(X, y, drawn["train"])
    return Rows({use: X[rows].astype(np.float64) for use, rows in drawn.items()}, {u: y[r] for u, r in drawn.items()})


def _telling_words(X: Any, y: Bools, train: NDArray[np.intp]) -> Any:
    """Keep the words that tell most of the class, by the training texts alone, the best first."""
    known = np.flatnonzero(np.bincount(X[train].indices, minlength=X.shape[1]) >= _RARE)
    return X[:, known[best_words(X[train][:, known], y[train], _WORDS)]]


def _all_rows(folder: str | None, problem: Problem) -> tuple[Any, Bools]:
    if not problem.is_text:
        task = _table(folder, problem.name)
        return task.X, task.y
    corpus, counts = _counted(folder, problem.source)
    return counts, corpus.positive(problem.category)


@cache
def _table(folder: str | None, name: str) -> BinaryTask:
    return load_boosting_task(name, folder)


@cache
def _counted(folder: str | None, source: str) -> tuple[Corpus, Any]:
    corpus = _CORPORA[source](folder)
    return corpus, count_words(corpus.texts, STOP_WORDS).X
