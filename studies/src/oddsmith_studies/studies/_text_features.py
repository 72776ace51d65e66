"""Texts to numbers: the corpora, and the words that each document keeps, chooses and weighs."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from oddsmith.checks import Bools, Floats
from oddsmith_studies.data import (
    STOP_WORDS,
    Corpus,
    WordCounts,
    best_words,
    count_words,
    load_newsgroups,
    load_ohsumed,
    load_reuters_ten,
)
from oddsmith_studies.data.text_choices import information_gain
from oddsmith_studies.studies._study import Setting

REUTERS, NEWSGROUPS, OHSUMED = "Reuters-21578", "20 Newsgroups", "OHSUMED"

#: Words that occur less often are dropped.
RARE = 3

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Recipe:
    """How a document makes numbers of texts.

    Parameters
    ----------
    stop_words : bool
        Whether common words are dropped.
    rare : {"corpus", "documents"}
        Whether words must occur three times in the corpus, or in three of the training documents.
    words : int
        How many are kept.
    selection : {"category", "once", "global", "m-ary"}
        By information gain about the category, from the rows that a classifier is trained on; from all training rows,
        folds included; from all training rows by the sum of gains over all categories; or by the gain about all
        categories at once, documents in none being a class of their own.
    weights : {"binary", "unit", "tf-idf", "tf"}
        Of words, for all classifiers but naive Bayes; all but the first are scaled to unit length, "unit" being binary.
    smoothing : {"laplace", "bayesian"}
        Of naive Bayes.
    intercept : float
        Value of the constant feature of linear classifiers, in mean lengths of rows: the larger, the less their bias is
        penalized.
    tokens : {"letters", "digits"}
        Whether words are runs of at least two letters, or of letters and digits of any length.
    events : {"multinomial", "binary", "bernoulli"}
        What naive Bayes models: counts; counts cut at one; or which of all words are present.
    gain : {"presence", "occurrences"}
        Whether information gain is that of a word's presence in a document, or of each occurrence of a word.
    votes : {"counts", "shares"}
        Of the voted perceptron: counted, or scaled so that all classifiers of a category have as many.
    """

    stop_words: bool
    rare: Literal["corpus", "documents"]
    words: int
    selection: Literal["category", "once", "global", "m-ary"]
    weights: Literal["binary", "unit", "tf-idf", "tf"]
    smoothing: Literal["laplace", "bayesian"]
    intercept: float = 2.0
    tokens: Literal["letters", "digits"] = "letters"
    events: Literal["multinomial", "binary", "bernoulli"] = "multinomial"
    gain: Literal["presence", "occurrences"] = "presence"
    votes: Literal["counts", "shares"] = "counts"


ZHANG_YANG = Recipe(
    stop_words=True, rare="corpus", words=1000, selection="category", weights="binary", smoothing="laplace"
)
BENNETT = Recipe(
    stop_words=False, rare="documents", words=300, selection="category", weights="tf-idf", smoothing="bayesian"
)

RECIPES: dict[str, Recipe] = {
    "Zhang & Yang": ZHANG_YANG,
    "Zhang & Yang, words chosen once": replace(ZHANG_YANG, selection="once"),
    "Zhang & Yang, one list of words for all": replace(ZHANG_YANG, selection="global"),
    "Zhang & Yang, m-ary gain": replace(ZHANG_YANG, selection="m-ary"),
    "Zhang & Yang, unit length": replace(ZHANG_YANG, weights="unit"),
    "Zhang & Yang, m-ary gain, unit length": replace(ZHANG_YANG, selection="m-ary", weights="unit"),
    "Zhang & Yang, penalized bias": replace(ZHANG_YANG, intercept=0.2),
    "Zhang & Yang, 300 words": replace(ZHANG_YANG, words=300),
    "Zhang & Yang, 2000 words": replace(ZHANG_YANG, words=2000),
    "Zhang & Yang, all words": replace(ZHANG_YANG, words=1_000_000),
    "Zhang & Yang, digits count as letters": replace(ZHANG_YANG, tokens="digits"),
    "Zhang & Yang, stop words kept": replace(ZHANG_YANG, stop_words=False),
    "Zhang & Yang, Bayesian smoothing": replace(ZHANG_YANG, smoothing="bayesian"),
    "Zhang & Yang, a word once per document": replace(ZHANG_YANG, events="binary"),
    "Zhang & Yang, Bernoulli words": replace(ZHANG_YANG, events="bernoulli"),
    "Zhang & Yang, m-ary gain, a word once per document": replace(ZHANG_YANG, selection="m-ary", events="binary"),
    "Zhang & Yang, gain over occurrences": replace(ZHANG_YANG, gain="occurrences"),
    "Zhang & Yang, gain over occurrences, unit length": replace(ZHANG_YANG, gain="occurrences", weights="unit"),
    "Zhang & Yang, m-ary gain over occurrences": replace(ZHANG_YANG, gain="occurrences", selection="m-ary"),
    "Zhang & Yang, m-ary gain over occurrences, unit length": replace(
        ZHANG_YANG, gain="occurrences", selection="m-ary", weights="unit"
    ),
    "Bennett": BENNETT,
    "Bennett, 1000 words": replace(BENNETT, words=1000),
    "Bennett, shares of votes": replace(BENNETT, votes="shares"),
    "Bennett, 1000 words, shares of votes": replace(BENNETT, words=1000, votes="shares"),
    "Bennett, words chosen once": replace(BENNETT, selection="once"),
    "Bennett, no idf": replace(BENNETT, weights="tf"),
    "Bennett, binary words": replace(BENNETT, weights="binary"),
}


def categories_of(setting: Setting, corpus: str) -> tuple[str, ...]:
    """Return the categories that a run looks at: of OHSUMED the ten largest, as of Reuters."""
    texts = load_texts(corpus, setting)
    if setting.quick:
        return {REUTERS: ("earn", "acq", "crude"), NEWSGROUPS: ("sci.med", "talk.politics.mideast")}.get(
            corpus, ("C04", "C14")
        )
    order = np.argsort(-texts.member[texts.train].sum(axis=0), kind="stable")
    return tuple(texts.categories[i] for i in (order[:10] if corpus == OHSUMED else order))


@cache
def load_texts(corpus: str, setting: Setting) -> Corpus:
    """Load a corpus; a quick run takes some of its texts."""
    load = {REUTERS: load_reuters_ten, NEWSGROUPS: load_newsgroups, OHSUMED: load_ohsumed}[corpus]
    texts = load(setting.data)
    if not setting.quick:
        return texts
    rng = np.random.default_rng(setting.seed_of("quick", corpus))
    kept = np.sort(
        np.concatenate(
            [rng.permutation(np.flatnonzero(half))[:size] for half, size in ((texts.train, 1500), (~texts.train, 900))]
        )
    )
    return replace(
        texts,
        ids=tuple(texts.ids[i] for i in kept),
        texts=tuple(texts.texts[i] for i in kept),
        member=texts.member[kept],
        train=texts.train[kept],
    )


@cache
def count_corpus(corpus: str, setting: Setting, stop_words: bool, rare: str, tokens: str = "letters") -> WordCounts:
    """Count the words of a corpus that are not too rare."""
    texts = load_texts(corpus, setting)
    counts = count_words(texts.texts, STOP_WORDS if stop_words else (), digits=tokens == "digits")
    often = counts.occurrences() if rare == "corpus" else counts.documents(texts.train)
    return counts.keep(often >= RARE)


def choose_words(counts: WordCounts, rows: Rows, y: Bools, how: Recipe) -> Rows:
    """Return the words that tell most about a category, by some rows."""
    X = counts.X[rows]
    known = np.arange(X.shape[1])
    if how.rare == "documents":
        # What is rare is judged by the rows given, too.
        known = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= RARE)
        X = X[:, known]
    if how.gain == "occurrences":
        return known[_best_by_occurrences(X, np.column_stack([y[rows], ~y[rows]]), how.words)]
    return known[best_words(X, y[rows], how.words)]


def choose_for_all(X: Any, ys: list[Bools], words: int) -> Rows:
    """Return the words that tell most about all categories."""
    gains = np.sum([information_gain(X, y) for y in ys], axis=0)
    return np.argsort(-gains, kind="stable")[:words]


def choose_by_all_categories(X: Any, member: Bools, how: Recipe) -> Rows:
    """Return the words that tell most about which categories a document is in.

    The m-ary gain: a document in several categories counts once in each, one in none in a class of its own.
    """
    classes = np.column_stack([member, ~member.any(axis=1)])
    if how.gain == "occurrences":
        return _best_by_occurrences(X, classes, how.words)
    mass = classes / classes.sum()
    return _largest_gains(np.asarray((X > 0).astype(np.float64).T @ mass), mass.sum(axis=0), how.words)


def _best_by_occurrences(X: Any, classes: Bools, words: int) -> Rows:
    """Return the words with the largest gain where each occurrence of any word is an event, in its document's class."""
    counts = np.asarray(X.astype(np.float64).T @ classes.astype(np.float64))
    return _largest_gains(counts / counts.sum(), counts.sum(axis=0) / counts.sum(), words)


def _largest_gains(present: Floats, shares: Floats, words: int) -> Rows:
    """Return the words with the largest information gain, by the joint share of word and class and that of classes."""
    joint = np.stack([present, np.maximum(shares - present, 0)])
    entropy = xlogy(joint, joint).sum(axis=(0, 2)) - xlogy(s := joint.sum(axis=2), s).sum(axis=0)
    return np.argsort(-entropy, kind="stable")[:words]


def weigh(fit: Any, score: Any, weights: str) -> tuple[Any, Any]:
    """Weigh the words of two sets of texts by what the first one says."""
    if weights in ("binary", "unit"):
        fit, score = ((each > 0).astype(np.float64) for each in (fit, score))
        return (fit, score) if weights == "binary" else (_unit_rows(fit), _unit_rows(score))
    scale = np.ones(fit.shape[1])
    if weights == "tf-idf":
        held = np.bincount(fit.indices, minlength=fit.shape[1])
        scale = np.log(fit.shape[0] / np.maximum(held, 1))
    return _unit_rows(fit @ sparse.diags_array(scale)), _unit_rows(score @ sparse.diags_array(scale))


def _unit_rows(X: Any) -> Any:
    length = np.sqrt(np.asarray(X.power(2).sum(axis=1)))
    # A text without any of the words stays empty.
    return sparse.csr_array(sparse.diags_array(1 / np.where(length > 0, length, 1.0)) @ X)
