"""The two shapes of a data set: texts with categories, and rows of attributes with a class."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith import checks
from oddsmith.checks import Bools

_BLOCK = 65_536


class Document(NamedTuple):
    """One text: its name, its words, its categories, and whether it is for training."""

    id: str
    text: str
    labels: Sequence[str]
    train: bool = True


@dataclass(frozen=True, eq=False)
class Corpus:
    """Texts, each in any number of categories.

    Parameters
    ----------
    name : str
    ids : tuple of str
        One a text, as published.
    texts : tuple of str
    categories : tuple of str
        Sorted.
    member : bool array of shape (n, n_categories)
        Whether a text is in a category.
    train : bool array of shape (n,)
        The training half of the published split; all, where none is published.
    """

    name: str
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    categories: tuple[str, ...]
    member: Bools
    train: Bools

    @classmethod
    def of(cls, name: str, documents: Iterable[Document]) -> "Corpus":
        """Collect documents in the order given."""
        kept = list(documents)
        categories = tuple(sorted({label for document in kept for label in document.labels}))
        column = {label: i for i, label in enumerate(categories)}
        member = np.zeros((len(kept), len(categories)), dtype=bool)
        for row, document in enumerate(kept):
            member[row, [column[label] for label in document.labels]] = True
        return cls(
            name=name,
            ids=tuple(document.id for document in kept),
            texts=tuple(document.text for document in kept),
            categories=categories,
            member=member,
            train=np.array([document.train for document in kept], dtype=bool),
        )

    def positive(self, category: str) -> Bools:
        """Return which texts are in a category."""
        checks.one_of(category, "category", self.categories)
        result: Bools = self.member[:, self.categories.index(category)]
        return result

    def only(self, categories: Sequence[str]) -> "Corpus":
        """Keep all texts, but only some categories, in the order given."""
        member = np.column_stack([self.positive(category) for category in categories])
        return replace(self, categories=tuple(categories), member=member)

    def counts(self) -> dict[str, int]:
        """Return numbers of documents in each half, in all, without a category, and a category."""
        found: dict[str, int] = {"categories": len(self.categories)}
        for half, rows in (("training", self.train), ("test", ~self.train)):
            found[f"{half} documents"] = int(rows.sum())
            found[f"{half} documents without a category"] = int((~self.member[rows].any(axis=1)).sum())
            for category, number in zip(self.categories, self.member[rows].sum(axis=0), strict=True):
                found[f"{half} documents in {category}"] = int(number)
        both = self.member[self.train].any(axis=0) & self.member[~self.train].any(axis=0)
        found["categories in both halves"] = int(both.sum())
        return found

    def digest(self) -> str:
        """Return the SHA-256 of ids, halves, categories and texts; white space in texts does not matter."""
        summary = hashlib.sha256()
        for row, (name, text) in enumerate(zip(self.ids, self.texts, strict=True)):
            labels = ",".join(self.categories[i] for i in np.flatnonzero(self.member[row]))
            summary.update(f"{name}\t{self.train[row]}\t{labels}\t{' '.join(text.split())}\n".encode())
        return summary.hexdigest()


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows of attributes, each with a class.

    Parameters
    ----------
    name : str
    X : array or sparse array of shape (n, n_features)
        In the narrowest type that holds the values: convert the rows you take.
    y : array of shape (n,)
        The class as published.
    features : tuple of str
    train : bool array of shape (n,)
        The training half of the published split; all, where none is published.
    """

    name: str
    X: Any
    y: NDArray[Any]
    features: tuple[str, ...]
    train: Bools

    def counts(self) -> dict[str, int]:
        """Return numbers of features, and of rows in each half, in all and a class."""
        found = {"features": int(self.X.shape[1])}
        for half, rows in (("training", self.train), ("test", ~self.train)):
            found[f"{half} rows"] = int(rows.sum())
            for label, number in Counter(self.y[rows].tolist()).items():
                found[f"{half} rows of class {label}"] = number
        return found

    def digest(self) -> str:
        """Return the SHA-256 of halves, classes and values."""
        summary = hashlib.sha256()
        for start in range(0, len(self.y), _BLOCK):
            rows = slice(start, start + _BLOCK)
            block = self.X[rows]
            block = block.toarray() if hasattr(block, "toarray") else block
            summary.update(np.ascontiguousarray(block, dtype="<f8").tobytes())
            summary.update(f"{self.y[rows].tolist()}\t{self.train[rows].tolist()}".encode())
        return summary.hexdigest()
