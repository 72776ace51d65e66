"""Sentiment Labelled Sentences: the 3,000 sentences of the course project."""

from collections.abc import Iterator

from oddsmith import checks
from oddsmith_studies.data._contents import content, load
from oddsmith_studies.data.registry import Folder, Found
from oddsmith_studies.data.shapes import Corpus, Document

_PARTS = ("amazon_cells_labelled.txt", "imdb_labelled.txt", "yelp_labelled.txt")
_MERGED = "full_set.txt"
_EXPECTED = {"training documents": 3_000, "training documents in positive": 1_500}


def load_sentences(folder: Folder = None) -> Corpus:
    """Load the sentences of the three sites, without a split: none is published.

    Parameters
    ----------
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    Corpus
        3,000 sentences with one category, "positive", which holds half of them; in the order of the files.

    Examples
    --------
    >>> from oddsmith_studies.data import load_sentences
    >>> load_sentences().texts[1]  # doctest: +SKIP
    'Good case, Excellent value.'
    """
    return load("sentiment", folder, read_sentences, _EXPECTED)


def read_sentences(found: Found) -> Corpus:
    """Read the three files, zipped or not, or the merged one, without comparing counts."""
    names = (_MERGED,) if found.files[0].name == _MERGED else _PARTS
    return Corpus.of(
        found.source.title, (document for name in names for document in parse_lines(name, content(found, name)))
    )


def parse_lines(name: str, raw: bytes) -> Iterator[Document]:
    r"""Yield the sentences of one file: a sentence, a tab, 0 or 1.

    Examples
    --------
    >>> from oddsmith_studies.data.sentences import parse_lines
    >>> next(parse_lines("yelp_labelled.txt", b"Crust is crisp.\t1"))
    Document(id='yelp/1', text='Crust is crisp.', labels=('positive',), train=True)
    """
    site = name.partition("_")[0]
    # Not splitlines: a sentence may hold the character U+0085, which it takes for the end of a line.
    for number, line in enumerate(raw.decode().split("\n"), start=1):
        if not line.strip():
            continue
        sentence, _, label = line.rpartition("\t")
        if label.strip() not in ("0", "1"):
            checks.fail(f"line {number} of {name} must end in a tab and 0 or 1", repr(line), "get sentiment again")
        yield Document(f"{site}/{number}", sentence.strip(), ("positive",) if label.strip() == "1" else ())
