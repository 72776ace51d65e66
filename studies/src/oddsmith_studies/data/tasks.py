"""The two-class problems of the boosting study, and public ones in place of those that are private."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from types import MappingProxyType
from typing import Any

import numpy as np

from oddsmith import checks
from oddsmith.checks import Bools
from oddsmith_studies.data.adult import POSITIVE, load_adult
from oddsmith_studies.data.covertype import load_covertype
from oddsmith_studies.data.imdb import load_imdb
from oddsmith_studies.data.indian_pines import load_indian_pines
from oddsmith_studies.data.letter import load_letter
from oddsmith_studies.data.registry import Folder
from oddsmith_studies.data.shapes import LabelledRows
from oddsmith_studies.data.svmlight import load_phishing, load_web
from oddsmith_studies.data.words import STOP_WORDS, count_words

_TOP_WORDS = 200


@dataclass(frozen=True, eq=False)
class BinaryTask:
    """A two-class problem, with all its rows together: the study draws its own samples.

    Parameters
    ----------
    name : str
    X : array of shape (n, n_features)
        Dense, in the narrowest type that holds the values: convert the rows you take.
    y : bool array of shape (n,)
    features : tuple of str
    positive : str
        What the positive class is.
    stand_in : bool
        Whether the document used another, private problem in its place.
    """

    name: str
    X: Any
    y: Bools
    features: tuple[str, ...]
    positive: str
    stand_in: bool = False


def load_boosting_task(name: str, folder: Folder = None) -> BinaryTask:
    """Load a problem of the boosting study.

    COV_TYPE (largest class against the rest), ADULT, LETTER.P1 (the letter O), LETTER.P2 (A–M against N–Z) and HS
    (Indian Pines, soybean-mintill) are the document's. PHISHING, WEB and IMDB (how often a review has each of the 200
    words that most training reviews have, common English words left out) stand in for its private MEDIS, SLAC and MG.

    Parameters
    ----------
    name : str
        One of ``BOOSTING_TASKS``.
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    BinaryTask

    References
    ----------
    Niculescu-Mizil & Caruana (2005), Obtaining calibrated probabilities from boosting.

    Examples
    --------
    >>> from oddsmith_studies.data import load_boosting_task
    >>> load_boosting_task("LETTER.P1").y.mean()  # doctest: +SKIP
    np.float64(0.03765)
    """
    checks.one_of(name, "name", tuple(BOOSTING_TASKS))
    return BOOSTING_TASKS[name](folder)


def _cov_type(folder: Folder) -> BinaryTask:
    rows = load_covertype(folder)
    return _task("COV_TYPE", rows, rows.y == 2, "lodgepole pine, the largest class")


def _adult(folder: Folder) -> BinaryTask:
    rows = load_adult(folder)
    return _task("ADULT", rows, rows.y == POSITIVE, "income above 50K")


def _letter_p1(folder: Folder) -> BinaryTask:
    rows = load_letter(folder)
    return _task("LETTER.P1", rows, rows.y == "O", "the letter O")


def _letter_p2(folder: Folder) -> BinaryTask:
    rows = load_letter(folder)
    return _task("LETTER.P2", rows, np.isin(rows.y, list(ascii_uppercase[:13])), "letters A to M")


def _hs(folder: Folder) -> BinaryTask:
    rows = load_indian_pines(folder)
    return _task("HS", rows, rows.y == "Soybean-mintill", "soybean-mintill")


def _phishing(folder: Folder) -> BinaryTask:
    rows = load_phishing(folder)
    dense = rows.X.toarray().astype(np.float32)
    return BinaryTask("PHISHING", dense, rows.y == 1, rows.features, "phishing sites", stand_in=True)


def _web(folder: Folder) -> BinaryTask:
    rows = load_web(folder)
    # The test rows are among the training rows.
    once = rows.train
    dense = rows.X[once].astype(np.uint8).toarray()
    return BinaryTask("WEB", dense, rows.y[once] == 1, rows.features, "pages of the category", stand_in=True)


def _imdb(folder: Folder) -> BinaryTask:
    corpus = load_imdb(folder)
    counts = count_words((text.replace("<br />", " ") for text in corpus.texts), STOP_WORDS)
    # Words are chosen without a look at the labels; of equals the first in the alphabet.
    top = np.argsort(-counts.documents(corpus.train), kind="stable")[:_TOP_WORDS]
    kept = counts.keep(np.sort(top))
    dense = kept.X.astype(np.uint16).toarray()
    return BinaryTask(
        "IMDB", dense, corpus.positive("positive"), tuple(kept.words.tolist()), "positive reviews", stand_in=True
    )


def _task(name: str, rows: LabelledRows, y: Bools, positive: str) -> BinaryTask:
    return BinaryTask(name, rows.X, y, rows.features, positive)


#: How each problem is loaded, the document's first.
BOOSTING_TASKS: Mapping[str, Callable[[Folder], BinaryTask]] = MappingProxyType(
    {
        "COV_TYPE": _cov_type,
        "ADULT": _adult,
        "LETTER.P1": _letter_p1,
        "LETTER.P2": _letter_p2,
        "HS": _hs,
        "PHISHING": _phishing,
        "WEB": _web,
        "IMDB": _imdb,
    }
)
