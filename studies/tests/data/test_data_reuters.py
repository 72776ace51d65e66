import duckdb
import numpy as np
import pytest
from packing import put, read, tar

from oddsmith.errors import InvalidInputError
from oddsmith_studies.data import load_reuters, load_reuters_ten
from oddsmith_studies.data._contents import tar_members
from oddsmith_studies.data.reuters import TEN_CATEGORIES, parse_sgml, read_reuters


def story(newid, topics=("tin",), flag="YES", split="TRAIN", text="<TEXT>&#2;\n<TITLE>T</TITLE></TEXT>", extra=""):
    names = "".join(f"<D>{topic}</D>" for topic in topics)
    return (
        f'<REUTERS TOPICS="{flag}" LEWISSPLIT="{split}" CGISPLIT="TRAINING-SET"{extra} OLDID="1" NEWID="{newid}">\n'
        f"<DATE>26-FEB-1987</DATE>\n<TOPICS>{names}</TOPICS>\n<PLACES><D>usa</D></PLACES>\n"
        f"<UNKNOWN>&#5;&#5;C T\n&#22;f0704&#31;reute</UNKNOWN>\n{text}\n</REUTERS>\n"
    )


NORMAL = """<TEXT>&#2;
<TITLE>TIN UP AT &lt;ACME></TITLE>
<AUTHOR>    By A. Smith</AUTHOR>
<DATELINE>    LIMA, Feb 26 - </DATELINE><BODY>Tin rose 5 &gt; 4 pct at R&amp;D caf\xe9,
A&P said.
 Reuter
&#3;</BODY></TEXT>"""
BRIEF = '<TEXT TYPE="BRIEF">&#2;\n******<TITLE>TIN FALLS\n</TITLE>Blah blah blah.\n&#3;\n\n</TEXT>'
UNPROC = '<TEXT TYPE="UNPROC">&#2;\nTIN TABLE\n Jan.....4 &lt;x\n&#3;\n</TEXT>'

FIRST = '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n' + story(2, text=BRIEF) + story(1, ("tin", "lead", "tin"), text=NORMAL)
SECOND = (
    '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n'
    + story(3, (), split="TEST", extra=' CSECS="5"', text=UNPROC)
    + story(4, flag="NO")
    + story(5, flag="BYPASS")
    + story(6, split="NOT-USED")
    + story(7, ("zinc",), split="TEST")
)
MEMBERS = {"reut2-001.sgm": SECOND, "reut2-000.sgm": FIRST, "README.txt": "<REUTERS"}


def test_kinds_of_text():
    brief, normal = parse_sgml(FIRST)
    assert (brief.title, brief.body) == ("TIN FALLS", "")
    assert normal.title == "TIN UP AT <ACME>"
    assert normal.body == "Tin rose 5 > 4 pct at R&D caf\xe9,\nA&P said.\n Reuter"
    assert normal.topics == ("tin", "lead")
    unprocessed = next(parse_sgml(SECOND))
    assert (unprocessed.title, unprocessed.body) == ("", "TIN TABLE\n Jan.....4 <x")


@pytest.mark.parametrize(("name", "mode"), [("reuters21578.tar.gz", "w:gz"), ("reuters21578.tar.xz", "w:xz")])
def test_modapte_from_either_archive(lonely, name, mode):
    put(lonely, f"reuters21578/{name}", tar(MEMBERS, mode))
    corpus = read(read_reuters, "reuters21578", lonely)
    assert corpus.ids == ("1", "2", "3", "7")
    assert corpus.train.tolist() == [True, True, False, False]
    assert corpus.categories == ("lead", "tin", "zinc")
    assert corpus.member.tolist() == [[True, True, False], [False, True, False], [False] * 3, [False, False, True]]
    assert corpus.texts[1] == "TIN FALLS"
    assert corpus.texts[0].startswith("TIN UP AT <ACME>\nTin rose")
    counts = corpus.counts()
    assert counts["training documents in tin"] == 2
    assert counts["test documents without a category"] == 1
    assert counts["categories in both halves"] == 0


def test_wrong_counts_are_refused_by_file_and_number(lonely):
    path = put(lonely, "reuters21578/reuters21578.tar.gz", tar(MEMBERS))
    with pytest.raises(InvalidInputError) as raised:
        load_reuters(lonely)
    assert str(raised.value).startswith(
        f"{path} must contain 9,603 training documents; got 2. Hint: it is cut short or"
    )


def test_an_archive_that_is_cut_short_is_refused(lonely):
    archive = tar({name: text * 500 for name, text in MEMBERS.items()})
    path = put(lonely, "reuters21578/reuters21578.tar.gz", archive[: len(archive) // 2])
    with pytest.raises(InvalidInputError) as raised:
        load_reuters(lonely)
    assert str(raised.value).startswith(f"{path} must be whole and readable; got ")


@pytest.mark.parametrize("broken", [FIRST.replace("TOPICS=", "T="), FIRST.replace("TEXT>", "T>")])
def test_a_story_without_its_parts_is_refused(broken):
    with pytest.raises(InvalidInputError, match="a story must have NEWID, TOPICS, LEWISSPLIT and TEXT; got"):
        list(parse_sgml(broken))


def test_real_counts(real, where):
    stories = [
        story
        for path, raw in tar_members(where("reuters21578"))
        if path.suffix == ".sgm"
        for story in parse_sgml(raw.decode("latin-1"))
    ]
    assert sorted(story.newid for story in stories) == list(range(1, 21_579))
    modapte = real("reuters21578")
    assert len(stories) - len(modapte.ids) == 8_676
    assert (modapte.train.sum(), (~modapte.train).sum()) == (9_603, 3_299)


def test_real_ten_categories(where):
    where("reuters21578")
    ten = load_reuters_ten()
    assert ten.categories == tuple(TEN_CATEGORIES)
    train, test = (100 * ten.member[rows].mean(axis=0) for rows in (ten.train, ~ten.train))
    assert (train.max().round(2), train.min().round(2)) == (29.96, 1.88)
    assert (test.max().round(2), test.min().round(2)) == (32.95, 1.70)
    for category, counts in TEN_CATEGORIES.items():
        positive = ten.positive(category)
        assert (positive[ten.train].sum(), positive[~ten.train].sum()) == counts


def test_real_texts_are_those_of_another_parser(real, where):
    other = where("reuters21578").folder / "modapte.parquet"
    if not other.exists():
        pytest.skip("the local copy has no parsed twin")
    modapte = real("reuters21578")
    rows = duckdb.read_parquet(str(other)).select("newid, modapte, topics, title, body").fetchall()
    assert modapte.ids == tuple(str(row[0]) for row in rows)
    assert modapte.train.tolist() == [row[1] == "train" for row in rows]
    topics = [{modapte.categories[i] for i in np.flatnonzero(member)} for member in modapte.member]
    assert topics == [set(row[2]) for row in rows]
    assert modapte.texts == tuple(f"{row[3]}\n{row[4]}".strip() for row in rows)
