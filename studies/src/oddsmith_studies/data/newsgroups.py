"""20 Newsgroups, by date: messages with headers, one group each."""

from collections.abc import Iterator

from oddsmith_studies.data._contents import load, parquet_rows, tar_members
from oddsmith_studies.data.registry import Folder, Found
from oddsmith_studies.data.shapes import Corpus, Document

#: Training and test messages a group.
GROUPS = {
    "alt.atheism": (480, 319),
    "comp.graphics": (584, 389),
    "comp.os.ms-windows.misc": (591, 394),
    "comp.sys.ibm.pc.hardware": (590, 392),
    "comp.sys.mac.hardware": (578, 385),
    "comp.windows.x": (593, 395),
    "misc.forsale": (585, 390),
    "rec.autos": (594, 396),
    "rec.motorcycles": (598, 398),
    "rec.sport.baseball": (597, 397),
    "rec.sport.hockey": (600, 399),
    "sci.crypt": (595, 396),
    "sci.electronics": (591, 393),
    "sci.med": (594, 396),
    "sci.space": (593, 394),
    "soc.religion.christian": (599, 398),
    "talk.politics.guns": (546, 364),
    "talk.politics.mideast": (564, 376),
    "talk.politics.misc": (465, 310),
    "talk.religion.misc": (377, 251),
}

_EXPECTED = {
    "training documents": 11_314,
    "test documents": 7_532,
    "categories": 20,
    **{f"training documents in {group}": train for group, (train, _) in GROUPS.items()},
    **{f"test documents in {group}": test for group, (_, test) in GROUPS.items()},
}


def load_newsgroups(folder: Folder = None) -> Corpus:
    """Load the by-date version of 20 Newsgroups.

    Messages are whole, with the headers that this version keeps. They come sorted by half, group and name.

    Parameters
    ----------
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    Corpus
        11,314 training and 7,532 test messages, each in one of 20 groups.

    Examples
    --------
    >>> from oddsmith_studies.data import load_newsgroups
    >>> load_newsgroups().ids[0]  # doctest: +SKIP
    'test/alt.atheism/53068'
    """
    return load("20newsgroups", folder, read_newsgroups, _EXPECTED)


def read_newsgroups(found: Found) -> Corpus:
    """Read messages from the archive or from Parquet, without comparing counts."""
    packed = found.files[0].name.endswith(".parquet")
    return Corpus.of(found.source.title, sorted(_from_parquet(found) if packed else _from_archive(found)))


def _from_parquet(found: Found) -> Iterator[Document]:
    for split, group, name, text in parquet_rows(found, ("split", "group", "id", "text")):
        yield _message(split, group, name, text)


def _from_archive(found: Found) -> Iterator[Document]:
    for path, raw in tar_members(found):
        half, group, name = path.parts[-3:]
        yield _message(half.removeprefix("20news-bydate-"), group, name, raw.decode("latin-1"))


def _message(split: str, group: str, name: str, text: str) -> Document:
    return Document(f"{split}/{group}/{name}", text, (group,), split == "train")
