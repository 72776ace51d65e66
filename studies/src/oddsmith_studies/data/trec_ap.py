"""TREC-AP, from a user's own copy of the TIPSTER newswire.

The stories are sold; which of them belong to which half and category is free. The folder ``trec_ap`` must contain

* ``documents/``: the AP files of 1988, 1989 and 1990, below any folders, plain or gzipped;
* ``train`` and ``test``: the lists of the two halves, as on Lewis's page: ``lewisid: trecid``, one a line;
* ``categories/``: the list of positive stories of each of the twenty categories, one file each, in the same form.
"""

import gzip
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from oddsmith import checks
from oddsmith_studies.data._contents import load
from oddsmith_studies.data.registry import Folder, Found
from oddsmith_studies.data.shapes import Corpus, Document

_EXPECTED = {"training documents": 142_791, "test documents": 66_992, "categories": 20}

_STORY = re.compile(r"<DOC>(.*?)</DOC>", re.DOTALL)
_NUMBER = re.compile(r"<DOCNO>\s*(\S+)\s*</DOCNO>")
_TITLE = re.compile(r"<HEAD>(.*?)</HEAD>", re.DOTALL)
_BODY = re.compile(r"<TEXT>(.*?)</TEXT>", re.DOTALL)


class Story(NamedTuple):
    """One story of the newswire: its number, and title and body together."""

    trecid: str
    text: str


def load_trec_ap(folder: Folder = None) -> Corpus:
    """Load the TREC-AP collection from the stories and lists in ``trec_ap``.

    Parameters
    ----------
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    Corpus
        142,791 training stories of 1988 and 1989 and 66,992 test stories of 1990 in twenty categories.

    References
    ----------
    Lewis, Schapire, Callan & Papka (1996), Training algorithms for linear text classifiers.

    Examples
    --------
    >>> from oddsmith_studies.data import load_trec_ap
    >>> len(load_trec_ap("my/data").categories)  # doctest: +SKIP
    20
    """
    return load("trec_ap", folder, read_trec_ap, _EXPECTED)


def read_trec_ap(found: Found) -> Corpus:
    """Read stories and lists, without comparing counts."""
    train = set(parse_list(found.folder / "train"))
    wanted = train | set(parse_list(found.folder / "test"))
    labels: dict[str, list[str]] = defaultdict(list)
    for path in _files(found.folder / "categories"):
        for trecid in parse_list(path):
            labels[trecid].append(path.stem)
    stories = {
        story.trecid: story.text
        for path in _files(found.folder / "documents")
        for story in parse_stories(_text(path))
        if story.trecid in wanted
    }
    missing = wanted - set(stories)
    if missing:
        checks.fail(
            f"{found.folder / 'documents'} must contain every story of the lists",
            f"{len(missing):,} missing, such as {min(missing)}",
            "copy the AP files of all three years",
        )
    return Corpus.of(
        found.source.title,
        (Document(trecid, stories[trecid], labels[trecid], trecid in train) for trecid in sorted(stories)),
    )


def parse_list(path: Path) -> Iterator[str]:
    """Yield the TREC numbers of a list whose lines read ``lewisid: trecid``."""
    for line in _text(path).split("\n"):
        if line.strip():
            yield line.rpartition(":")[2].strip()


def parse_stories(sgml: str) -> Iterator[Story]:
    r"""Yield the stories of one file of the newswire.

    Examples
    --------
    >>> from oddsmith_studies.data.trec_ap import parse_stories
    >>> next(parse_stories("<DOC><DOCNO> AP1 </DOCNO><HEAD>Tin Up</HEAD><TEXT>Tin rose.</TEXT></DOC>"))
    Story(trecid='AP1', text='Tin Up\nTin rose.')
    """
    for story in _STORY.findall(sgml):
        number = _NUMBER.search(story)
        if number is not None:
            parts = [*_TITLE.findall(story), *_BODY.findall(story)]
            yield Story(number[1], "\n".join(part.strip() for part in parts))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _text(path: Path) -> str:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("latin-1")
