import re
from dataclasses import replace

import numpy as np
import pytest
from packing import gz, parquet, put, read, tar, zipped

from oddsmith.errors import InvalidInputError
from oddsmith_studies.data import (
    find,
    load_imdb,
    load_sentences,
    load_trec_ap,
)
from oddsmith_studies.data.imdb import read_imdb
from oddsmith_studies.data.newsgroups import read_newsgroups
from oddsmith_studies.data.ohsumed import read_ohsumed
from oddsmith_studies.data.sentences import read_sentences
from oddsmith_studies.data.trec_ap import read_trec_ap


def same(one, other):
    assert (one.ids, one.texts, one.categories) == (other.ids, other.texts, other.categories)
    np.testing.assert_array_equal(one.member, other.member)
    np.testing.assert_array_equal(one.train, other.train)
    assert one.digest() == other.digest()


def test_newsgroups_from_archive_and_parquet(lonely):
    messages = {
        "20news-bydate-train/sci.tin/9": "Subject: caf\xe9\n\nTin.",
        "20news-bydate-train/rec.lead/12": "Subject: lead",
        "20news-bydate-test/sci.tin/9": "Subject: more",
    }
    put(lonely, "20newsgroups/20news-bydate.tar.gz", tar(messages))
    corpus = read(read_newsgroups, "20newsgroups", lonely)
    assert corpus.ids == ("test/sci.tin/9", "train/rec.lead/12", "train/sci.tin/9")
    assert corpus.texts[2] == "Subject: caf\xe9\n\nTin."
    assert corpus.positive("sci.tin").tolist() == [True, False, True]
    assert corpus.train.tolist() == [False, True, True]
    rows = [
        (path.split("/")[0].removeprefix("20news-bydate-"), *path.split("/")[1:], text)
        for path, text in messages.items()
    ]
    parquet(lonely / "20newsgroups" / "20news-bydate.parquet", ("split", "group", "id", "text"), rows)
    assert find("20newsgroups", lonely).files[0].name == "20news-bydate.parquet"
    same(read(read_newsgroups, "20newsgroups", lonely), corpus)


def test_ohsumed_leaves_out_abstracts_with_two_categories(lonely):
    files = {
        "ohsumed-first-20000-docs/training/C01/0000001": "Tin fever.\n A case.",
        "ohsumed-first-20000-docs/training/C02/0000002": "Lead fever.",
        "ohsumed-first-20000-docs/training/C01/0000002": "Lead fever.",
        "ohsumed-first-20000-docs/test/C02/0010001": "Zinc.",
        "ohsumed-first-20000-docs/README": "no abstract",
    }
    put(lonely, "ohsumed/ohsumed-first-20000-docs.tar.gz", tar(files))
    corpus = read(read_ohsumed, "ohsumed", lonely)
    assert corpus.ids == ("0000001", "0010001")
    assert corpus.categories == ("C01", "C02")
    rows = [("train", "C01", "0000001", "Tin fever.\n A case."), ("test", "C02", "0010001", "Zinc.")]
    parquet(lonely / "ohsumed" / "ohsumed_single_23.parquet", ("split", "category", "id", "text"), rows)
    same(read(read_ohsumed, "ohsumed", lonely), corpus)


def test_imdb_from_archive_and_parquet(lonely):
    files = {
        "aclImdb/train/pos/0_9.txt": "Fine<br />film \u2019".encode(),
        "aclImdb/train/neg/0_2.txt": b"Dull.",
        "aclImdb/train/unsup/0_0.txt": b"Unlabelled.",
        "aclImdb/train/urls_pos.txt": b"http://",
        "aclImdb/test/neg/3_1.txt": b"Duller.",
    }
    put(lonely, "imdb/aclImdb_v1.tar.gz", tar(files))
    corpus = read(read_imdb, "imdb", lonely)
    assert corpus.ids == ("test/neg/3_1", "train/neg/0_2", "train/pos/0_9")
    assert corpus.texts[2] == "Fine<br />film \u2019"
    assert corpus.positive("positive").tolist() == [False, False, True]
    rows = [("train", 1, 0, 9, corpus.texts[2]), ("train", 0, 0, 2, "Dull."), ("test", 0, 3, 1, "Duller.")]
    parquet(lonely / "imdb" / "aclImdb.parquet", ("split", "label", "id", "stars", "text"), rows)
    same(read(read_imdb, "imdb", lonely), corpus)


def test_parquet_without_a_column_is_refused(lonely):
    parquet(lonely / "imdb" / "aclImdb.parquet", ("split", "label"), [("train", 1)])
    with pytest.raises(InvalidInputError, match="must be a Parquet file with columns split, label, id, stars, text"):
        load_imdb(lonely)


SENTENCES = {
    "amazon_cells_labelled.txt": b"Good tin.\t1\nBad\ttin.\t0\n",
    "imdb_labelled.txt": "A line \x85 that goes on.  \t0\r\n\r\n".encode(),
    "yelp_labelled.txt": "Cr\xe8me.\t1".encode(),
}


def test_sentences_plain_zipped_and_merged(lonely):
    put(lonely, "sentiment/full_set.txt", b"Good tin.\t1\n")
    merged = read(read_sentences, "sentiment", lonely)
    assert (merged.ids, merged.texts) == (("full/1",), ("Good tin.",))
    members = {f"sentiment labelled sentences/{name}": raw for name, raw in SENTENCES.items()}
    decoys = {f"__MACOSX/sentiment labelled sentences/._{name}": b"\0" for name in SENTENCES}
    put(lonely, "sentiment/sentiment+labelled+sentences.zip", zipped({**decoys, **members}))
    corpus = read(read_sentences, "sentiment", lonely)
    assert corpus.ids == ("amazon/1", "amazon/2", "imdb/1", "yelp/1")
    assert corpus.texts == ("Good tin.", "Bad\ttin.", "A line \x85 that goes on.", "Cr\xe8me.")
    assert corpus.positive("positive").tolist() == [True, False, False, True]
    for name, raw in SENTENCES.items():
        put(lonely, f"sentiment/{name}", raw)
    same(read(read_sentences, "sentiment", lonely), corpus)


def test_a_sentence_without_a_label_is_refused(lonely):
    put(lonely, "sentiment/full_set.txt", b"Good tin.\t1\nBad tin.\n")
    with pytest.raises(InvalidInputError, match=r"line 2 of full_set.txt must end in a tab and 0 or 1; got 'Bad tin.'"):
        load_sentences(lonely)


def test_a_zip_archive_without_its_file_is_refused(lonely):
    put(lonely, "sentiment/sentiment+labelled+sentences.zip", zipped({"readme.txt": b""}))
    with pytest.raises(InvalidInputError, match=r"sentences.zip must contain amazon_cells_labelled.txt; got other"):
        load_sentences(lonely)


def ap(number, head, *texts):
    body = "".join(f"<TEXT>\n   {text}\n</TEXT>\n" for text in texts)
    return (
        f"<DOC>\n<DOCNO> {number} </DOCNO>\n<FILEID>AP-NR</FILEID>\n<FIRST>r i AM-Tin 02-12</FIRST>\n"
        f"<HEAD>{head}</HEAD>\n<DATELINE>LIMA (AP)</DATELINE>\n{body}</DOC>\n"
    )


@pytest.fixture
def own_copy(lonely):
    of_1988 = ap("AP880212-0001", "Tin Up", "Tin rose.") + ap("AP880212-0002", "In no list")
    put(lonely, "trec_ap/documents/1988/ap880212", of_1988)
    put(lonely, "trec_ap/documents/1990/ap900101.gz", gz(ap("AP900101-0007", "Lead", "Lead fell.", "More.")))
    put(lonely, "trec_ap/train", "1: AP880212-0001\n")
    put(lonely, "trec_ap/test", "2: AP900101-0007\n\n")
    put(lonely, "trec_ap/categories/tin", "1: AP880212-0001\n")
    put(lonely, "trec_ap/categories/metals.ids", "1: AP880212-0001\n2: AP900101-0007\n3: AP991231-0001\n")
    return lonely


def test_own_trec_ap(own_copy):
    corpus = read(read_trec_ap, "trec_ap", own_copy)
    assert corpus.ids == ("AP880212-0001", "AP900101-0007")
    assert corpus.texts == ("Tin Up\nTin rose.", "Lead\nLead fell.\nMore.")
    assert corpus.categories == ("metals", "tin")
    assert corpus.member.tolist() == [[True, True], [True, False]]
    assert corpus.train.tolist() == [True, False]
    with pytest.raises(InvalidInputError, match="must contain 142,791 training documents; got 1"):
        load_trec_ap(own_copy)


def test_own_trec_ap_must_have_all_stories(own_copy):
    put(own_copy, "trec_ap/test", "2: AP900101-0007\n9: AP900101-0009\n")
    with pytest.raises(InvalidInputError, match="every story of the lists; got 1 missing, such as AP900101-0009"):
        load_trec_ap(own_copy)


@pytest.mark.parametrize(
    ("name", "per_category"),
    [("20newsgroups", (377, 600)), ("ohsumed", (9, 585)), ("imdb", (12_500, 12_500))],
)
def test_real_corpora(real, name, per_category):
    corpus = real(name)
    in_training = corpus.member[corpus.train].sum(axis=0)
    assert (in_training.min(), in_training.max()) == per_category
    assert (corpus.member.sum(axis=1) == 1).all() or name == "imdb"
    assert len(set(corpus.ids)) == len(corpus.ids)
    assert min(map(len, corpus.texts)) > 20


def test_real_sentences(real, where):
    found, corpus = where("sentiment"), real("sentiment")
    assert [sum(name.startswith(site) for name in corpus.ids) for site in ("amazon", "imdb", "yelp")] == [1_000] * 3
    assert any("\x85" in text for text in corpus.texts)
    merged = replace(found, files=found.source.forms[-1])
    if merged.path(merged.files[0]).exists():
        assert read_sentences(merged).counts() == corpus.counts()


def test_only_and_positive_know_their_categories(lonely):
    put(lonely, "sentiment/full_set.txt", b"Good tin.\t1\n")
    corpus = read(read_sentences, "sentiment", lonely)
    with pytest.raises(InvalidInputError, match=re.escape("category must be one of 'positive'; got category='earn'")):
        corpus.positive("earn")
