"""OHSUMED: medical abstracts of 1991 that belong to exactly one disease group."""

from collections.abc import Iterator

from oddsmith_studies.data._contents import load, parquet_rows, tar_members
from oddsmith_studies.data.registry import Folder, Found
from oddsmith_studies.data.shapes import Corpus, Document

#: Training and test abstracts a disease group.
DISEASES = {
    "C01": (114, 102),
    "C02": (25, 50),
    "C03": (21, 29),
    "C04": (430, 600),
    "C05": (83, 140),
    "C06": (176, 178),
    "C07": (29, 34),
    "C08": (121, 129),
    "C09": (35, 28),
    "C10": (215, 342),
    "C11": (49, 76),
    "C12": (155, 187),
    "C13": (92, 103),
    "C14": (585, 590),
    "C15": (54, 79),
    "C16": (59, 70),
    "C17": (101, 132),
    "C18": (168, 155),
    "C19": (40, 46),
    "C20": (179, 231),
    "C21": (240, 313),
    "C22": (9, 10),
    "C23": (377, 419),
}

_EXPECTED = {
    "training documents": 3_357,
    "test documents": 4_043,
    "categories": 23,
    **{f"training documents in {disease}": train for disease, (train, _) in DISEASES.items()},
    **{f"test documents in {disease}": test for disease, (_, test) in DISEASES.items()},
}


def load_ohsumed(folder: Folder = None) -> Corpus:
    """Load the OHSUMED abstracts of 1991 with one category.

    The published archive holds a file for each abstract and category; abstracts with several categories are left out.

    Parameters
    ----------
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    Corpus
        3,357 training and 4,043 test abstracts, each in one of 23 disease groups of MeSH, sorted by name.

    Examples
    --------
    >>> from oddsmith_studies.data import load_ohsumed
    >>> load_ohsumed().positive("C14").sum()  # doctest: +SKIP
    np.int64(1175)
    """
    return load("ohsumed", folder, read_ohsumed, _EXPECTED)


def read_ohsumed(found: Found) -> Corpus:
    """Read abstracts from the archive or from Parquet, without comparing counts."""
    packed = found.files[0].name.endswith(".parquet")
    return Corpus.of(found.source.title, sorted(_from_parquet(found) if packed else _from_archive(found)))


def _from_parquet(found: Found) -> Iterator[Document]:
    for split, category, name, text in parquet_rows(found, ("split", "category", "id", "text")):
        yield Document(name, text, (category,), split == "train")


def _from_archive(found: Found) -> list[Document]:
    abstracts: dict[str, Document] = {}
    for path, raw in tar_members(found):
        if len(path.parts) < 3 or path.parts[-3] not in ("training", "test"):
            continue
        half, category, name = path.parts[-3:]
        labels = (*abstracts[name].labels, category) if name in abstracts else (category,)
        abstracts[name] = Document(name, raw.decode("latin-1"), labels, half == "training")
    return [abstract for abstract in abstracts.values() if len(abstract.labels) == 1]
