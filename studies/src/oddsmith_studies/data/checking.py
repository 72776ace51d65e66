"""Whether a data set on this machine is the one that the studies were made with."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from oddsmith.errors import InvalidInputError
from oddsmith_studies.data._contents import checksum
from oddsmith_studies.data.adult import load_adult
from oddsmith_studies.data.cifar10 import load_cifar10_outputs
from oddsmith_studies.data.covertype import load_covertype
from oddsmith_studies.data.imdb import load_imdb
from oddsmith_studies.data.indian_pines import load_indian_pines
from oddsmith_studies.data.letter import load_letter
from oddsmith_studies.data.newsgroups import load_newsgroups
from oddsmith_studies.data.ohsumed import load_ohsumed
from oddsmith_studies.data.registry import Folder, Found, locate
from oddsmith_studies.data.reuters import load_reuters
from oddsmith_studies.data.sentences import load_sentences
from oddsmith_studies.data.shapes import Corpus, LabelledRows
from oddsmith_studies.data.sources import File
from oddsmith_studies.data.svmlight import load_a9a, load_phishing, load_web
from oddsmith_studies.data.trec_ap import load_trec_ap

INTACT, CHANGED, UNKNOWN = "intact", "changed", "no published checksum"


@dataclass(frozen=True)
class Check:
    """What a check found.

    Parameters
    ----------
    found : Found
    files : mapping of str to str
        A verdict a file: "intact", "changed" or "no published checksum".
    problems : tuple of str
        Empty when all is well.
    """

    found: Found
    files: Mapping[str, str]
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the data set can be trusted."""
        return not self.problems


def check(name: str, folder: Folder = None) -> Check:
    """Compare a data set on this machine with what it must be.

    It is read in full and its counts are compared. Then either every file must have a known checksum, or what is
    inside must have the known digest: the same data packed in another way are as good.

    Parameters
    ----------
    name : str
        One of ``SOURCES``.
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    Check

    Examples
    --------
    >>> from oddsmith_studies.data import check
    >>> check("letter").ok  # doctest: +SKIP
    True
    """
    found = locate(name, folder)
    files = {file.name: _verdict(found, file) for file in found.files}
    return Check(found, MappingProxyType(files), tuple(_problems(found, folder, set(files.values()))))


def _verdict(found: Found, file: File) -> str:
    if not file.sha256:
        return UNKNOWN
    return INTACT if checksum(found.path(file)) in file.sha256 else CHANGED


def _problems(found: Found, folder: Folder, verdicts: set[str]) -> Iterator[str]:
    try:
        data = LOADERS[found.source.name](folder)
    except InvalidInputError as error:
        yield str(error)
        return
    if verdicts == {INTACT}:
        return
    if found.source.digest is None:
        if CHANGED in verdicts:
            yield "counts agree, but a file has another checksum than the published one"
    elif data.digest() != found.source.digest:
        yield "counts agree, but the contents differ from those that this version knows"


#: How each data set is loaded.
LOADERS: Mapping[str, Callable[[Folder], Corpus | LabelledRows]] = MappingProxyType(
    {
        "20newsgroups": load_newsgroups,
        "a9a": load_a9a,
        "adult": load_adult,
        "covtype": load_covertype,
        "imdb": load_imdb,
        "indian_pines": load_indian_pines,
        "letter": load_letter,
        "nn_cifar10": lambda folder: load_cifar10_outputs(folder=folder),
        "ohsumed": load_ohsumed,
        "phishing": load_phishing,
        "reuters21578": load_reuters,
        "sentiment": load_sentences,
        "trec_ap": load_trec_ap,
        "web": load_web,
    }
)
