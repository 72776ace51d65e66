"""The Large Movie Review Dataset: film reviews, half of them positive."""

from collections.abc import Iterator

from oddsmith_studies.data._contents import load, parquet_rows, tar_members
from oddsmith_studies.data.registry import Folder, Found
from oddsmith_studies.data.shapes import Corpus, Document

_EXPECTED = {
    "training documents": 25_000,
    "test documents": 25_000,
    "training documents in positive": 12_500,
    "test documents in positive": 12_500,
}


def load_imdb(folder: Folder = None) -> Corpus:
    """Load the labelled reviews, raw, with their line-break tags.

    An id ends in the number of stars, as published: ``train/pos/127_9`` has nine of ten.

    Parameters
    ----------
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    Corpus
        25,000 training and 25,000 test reviews with one category, "positive"; sorted by id.

    Notes
    -----
    The Parquet copy has eight texts that are not film reviews: train/pos 0 and 7, train/neg 2 and 9, test/pos 0, 2, 7
    and 9.

    Examples
    --------
    >>> from oddsmith_studies.data import load_imdb
    >>> load_imdb().counts()["training documents in positive"]  # doctest: +SKIP
    12500
    """
    return load("imdb", folder, read_imdb, _EXPECTED)


def read_imdb(found: Found) -> Corpus:
    """Read reviews from the archive or from Parquet, without comparing counts."""
    packed = found.files[0].name.endswith(".parquet")
    return Corpus.of(found.source.title, sorted(_from_parquet(found) if packed else _from_archive(found)))


def _from_parquet(found: Found) -> Iterator[Document]:
    for split, label, number, stars, text in parquet_rows(found, ("split", "label", "id", "stars", "text")):
        yield _review(split, "pos" if label else "neg", f"{number}_{stars}", text)


def _from_archive(found: Found) -> Iterator[Document]:
    for path, raw in tar_members(found):
        if path.suffix == ".txt" and path.parts[-2] in ("pos", "neg"):
            yield _review(path.parts[-3], path.parts[-2], path.stem, raw.decode())


def _review(split: str, side: str, name: str, text: str) -> Document:
    return Document(f"{split}/{side}/{name}", text, ("positive",) if side == "pos" else (), split == "train")
