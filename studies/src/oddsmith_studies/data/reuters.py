"""Reuters-21578: the original SGML, and the ModApte split."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from oddsmith import checks
from oddsmith_studies.data._contents import load, tar_members
from oddsmith_studies.data.registry import Folder, Found
from oddsmith_studies.data.shapes import Corpus, Document

#: The ten largest categories, with their training and test documents.
TEN_CATEGORIES = {
    "earn": (2877, 1087),
    "acq": (1650, 719),
    "money-fx": (538, 179),
    "grain": (433, 149),
    "crude": (389, 189),
    "trade": (369, 117),
    "interest": (347, 131),
    "wheat": (212, 71),
    "ship": (197, 89),
    "corn": (181, 56),
}

_EXPECTED = {
    "training documents": 9603,
    "test documents": 3299,
    "training documents without a category": 1828,
    "test documents without a category": 280,
    "categories": 118,
    "categories in both halves": 90,
    **{f"training documents in {category}": train for category, (train, _) in TEN_CATEGORIES.items()},
    **{f"test documents in {category}": test for category, (_, test) in TEN_CATEGORIES.items()},
}

_ARTICLE = re.compile(r"<REUTERS ([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_NAME = re.compile(r"<D>(.*?)</D>")
_TEXT = re.compile(r'<TEXT(?: TYPE="(\w+)")?>(.*?)</TEXT>', re.DOTALL)
_TITLE = re.compile(r"<TITLE>(.*?)</TITLE>", re.DOTALL)
_BODY = re.compile(r"<BODY>(.*?)</BODY>", re.DOTALL)
_CONTROL = re.compile(r"&#\d+;")


class Article(NamedTuple):
    """One story as it stands in the SGML.

    ``topics_flag`` is YES, NO or BYPASS: whether an indexer has considered the story, which is not whether it has
    topics. ``split`` is TRAIN, TEST or NOT-USED.
    """

    newid: int
    topics_flag: str
    split: str
    topics: tuple[str, ...]
    title: str
    body: str


def load_reuters(folder: Folder = None) -> Corpus:
    """Load the ModApte split of Reuters-21578 with all its topics.

    ModApte is the stories with ``TOPICS="YES"`` and ``LEWISSPLIT`` TRAIN or TEST. Stories without a topic stay: they
    are negative for every category. A text is title and body; BRIEF stories have no body (the SGML carries a filler
    there), UNPROC stories no title.

    Parameters
    ----------
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    Corpus
        9,603 training and 3,299 test texts in 118 topics, in the order of their NEWID.

    Examples
    --------
    >>> from oddsmith_studies.data import load_reuters
    >>> load_reuters().positive("earn").sum()  # doctest: +SKIP
    np.int64(3964)
    """
    return load("reuters21578", folder, read_reuters, _EXPECTED)


def load_reuters_ten(folder: Folder = None) -> Corpus:
    """Load Reuters-21578 with its ten largest categories only, largest first.

    Examples
    --------
    >>> from oddsmith_studies.data import load_reuters_ten
    >>> load_reuters_ten().categories[:3]  # doctest: +SKIP
    ('earn', 'acq', 'money-fx')
    """
    return load_reuters(folder).only(tuple(TEN_CATEGORIES))


def read_reuters(found: Found) -> Corpus:
    """Read the ModApte split out of the archive, without comparing counts."""
    stories = [
        story
        for path, raw in tar_members(found)
        if path.suffix == ".sgm"
        for story in parse_sgml(raw.decode("latin-1"))
        if story.topics_flag == "YES" and story.split in ("TRAIN", "TEST")
    ]
    stories.sort(key=lambda story: story.newid)
    documents = (
        Document(str(story.newid), f"{story.title}\n{story.body}".strip(), story.topics, story.split == "TRAIN")
        for story in stories
    )
    return Corpus.of(found.source.title, documents)


def parse_sgml(sgml: str) -> Iterator[Article]:
    """Yield the stories of one SGML file.

    Examples
    --------
    >>> from oddsmith_studies.data.reuters import parse_sgml
    >>> head = '<REUTERS TOPICS="YES" LEWISSPLIT="TEST" NEWID="7"><TOPICS><D>tin</D></TOPICS>'
    >>> next(parse_sgml(head + "<TEXT><TITLE>A &lt;B></TITLE></TEXT></REUTERS>"))
    Article(newid=7, topics_flag='YES', split='TEST', topics=('tin',), title='A <B>', body='')
    """
    for head, inner in _ARTICLE.findall(sgml):
        attributes = dict(_ATTRIBUTE.findall(head))
        found, topics = _TEXT.search(inner), _TOPICS.search(inner)
        if found is None or topics is None or not {"NEWID", "TOPICS", "LEWISSPLIT"} <= set(attributes):
            checks.fail("a story must have NEWID, TOPICS, LEWISSPLIT and TEXT", head, "get reuters21578 again")
        kind, text = found.groups()
        yield Article(
            newid=int(attributes["NEWID"]),
            topics_flag=attributes["TOPICS"],
            split=attributes["LEWISSPLIT"],
            # Two stories name a topic twice.
            topics=tuple(dict.fromkeys(_NAME.findall(topics[1]))),
            title="" if kind == "UNPROC" else _first(_TITLE, text),
            body=_plain(text) if kind == "UNPROC" else _first(_BODY, text),
        )


def _first(element: re.Pattern[str], text: str) -> str:
    match = element.search(text)
    return _plain(match[1]) if match else ""


def _plain(text: str) -> str:
    """Drop control characters, written as entities, and resolve the three entities that stand for a character."""
    return _CONTROL.sub("", text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()
