"""Texts as counts of words, and the words worth keeping."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from oddsmith import checks
from oddsmith.checks import Bools
from oddsmith_studies.data.text_choices import information_gain

# fmt: off
# Scikit-learn's list holds words that name things, even a category of Reuters.
_NO_STOP_WORDS = frozenset({
    "amount", "bill", "bottom", "call", "co", "con", "cry", "describe", "detail", "empty", "fill", "find", "fire",
    "found", "front", "full", "inc", "interest", "ltd", "mill", "mine", "move", "name", "serious", "show", "side",
    "sincere", "system", "thick", "thin", "top",
})
# fmt: on

#: Common English words that say nothing of a subject.
STOP_WORDS: frozenset[str] = frozenset(ENGLISH_STOP_WORDS) - _NO_STOP_WORDS

#: The words that the course project says to drop at least.
COURSE_STOP_WORDS = frozenset({"the", "a", "an", "i", "he", "she", "they", "to", "of", "it", "from"})

#: Every byte of Latin-1 to its small letter, and to a space when it is no letter.
_SMALL_LETTERS = "".join(chr(code).lower() if chr(code).isalpha() else " " for code in range(256)).encode("latin-1")
#: The same, but digits stay.
_SMALL_OR_DIGITS = bytes(code if chr(code) in "0123456789" else _SMALL_LETTERS[code] for code in range(256))


@dataclass(frozen=True, eq=False)
class WordCounts:
    """How often each word occurs in each text.

    Parameters
    ----------
    X : sparse array of shape (n_texts, n_words)
        Counts, in rows.
    words : array of shape (n_words,)
        Sorted.
    """

    X: Any
    words: NDArray[Any]

    def keep(self, which: Bools | NDArray[np.intp]) -> "WordCounts":
        """Keep some words, by mask or by place."""
        return WordCounts(self.X[:, which], self.words[which])

    def occurrences(self, rows: Bools | slice = slice(None)) -> NDArray[np.int64]:
        """Return how often each word occurs in some of the texts."""
        return np.asarray(self.X[rows].sum(axis=0), dtype=np.int64)

    def documents(self, rows: Bools | slice = slice(None)) -> NDArray[np.int64]:
        """Return in how many of the texts each word occurs."""
        return np.bincount(self.X[rows].indices, minlength=len(self.words))


def count_words(texts: Iterable[str], stop_words: Collection[str] = (), *, digits: bool = False) -> WordCounts:
    """Count the words of texts.

    A word is a run of at least two letters, in lower case; everything else separates words. Nothing is stemmed.
    Characters beyond Latin-1 are no letters.

    Parameters
    ----------
    texts : iterable of str
    stop_words : collection of str, default=()
        Words not to count.
    digits : bool, default=False
        Whether digits count as letters, and a single character as a word.

    Returns
    -------
    WordCounts

    Examples
    --------
    >>> from oddsmith_studies.data import count_words
    >>> counts = count_words(["Tin up 5% -- tin!", "Tin's down"], stop_words={"up"})
    >>> counts.words.tolist(), counts.X.toarray().tolist()
    (['down', 'tin'], [[0, 2], [1, 1]])
    """
    characters, least = (_SMALL_OR_DIGITS, 1) if digits else (_SMALL_LETTERS, 2)
    place: defaultdict[bytes, int] = defaultdict()
    place.default_factory = place.__len__
    found, lengths = [np.empty(0, np.int32)], [0]
    for text in texts:
        words = text.encode("latin-1", "replace").translate(characters).split()
        found.append(np.fromiter(map(place.__getitem__, words), np.int32, len(words)))
        lengths.append(len(words))
    columns, shape = np.concatenate(found), (len(lengths) - 1, len(place))
    # 32 bits are what scikit-learn's solvers take, as long as they suffice.
    ends = np.cumsum(lengths).astype(np.int32 if len(columns) < np.iinfo(np.int32).max else np.int64)
    counts: Any = sparse.csr_array((np.ones(len(columns), np.int32), columns, ends), shape=shape)
    counts.sum_duplicates()
    spelled = np.array([word.decode("latin-1") for word in place], dtype=np.str_)
    order = np.argsort(spelled)
    kept = np.array([i for i in order if len(spelled[i]) >= least and spelled[i] not in stop_words], dtype=np.intp)
    X = counts[:, kept]
    X.sort_indices()
    return WordCounts(X, spelled[kept])


def best_words(X: Any, y: ArrayLike, k: int) -> NDArray[np.intp]:
    """Return the places of the k words whose presence tells most about a category, best first.

    Words are ranked by `oddsmith_studies.data.text_choices.information_gain`; of equals the first comes first.

    Parameters
    ----------
    X : array-like or sparse array of shape (n, n_words)
        Only whether a value differs from 0 matters.
    y : array-like of shape (n,)
        Two classes.
    k : int
        All words, where there are fewer.

    Returns
    -------
    ndarray of shape (k,)

    References
    ----------
    Yang & Pedersen (1997), A comparative study on feature selection in text categorization.

    Examples
    --------
    >>> from oddsmith_studies.data import best_words
    >>> best_words([[1, 0, 1], [1, 1, 0], [0, 1, 0], [0, 0, 0]], [1, 1, 0, 0], k=2)
    array([0, 2])
    """
    best: NDArray[np.intp] = np.argsort(-information_gain(X, y), kind="stable")
    return best[: checks.whole_number(k, "k", low=1)]
