import hashlib

import pytest
from packing import put

from oddsmith_studies.data import SOURCES, File, check, checking, registry
from oddsmith_studies.data.sentences import read_sentences


@pytest.fixture
def sentences(lonely, monkeypatch):
    """Return a function that puts a file of sentences into a data folder and registers what is known of it."""

    def register(raw, sha256=(), digest=None):
        put(lonely, "sentiment/full_set.txt", raw)
        known = SOURCES["sentiment"].__class__(
            "sentiment", "t", "sentiment", "w", "u", "l", "c", "h", ((File("full_set.txt", sha256=sha256),),), digest
        )
        monkeypatch.setattr(registry, "SOURCES", {"sentiment": known})
        loader = {"sentiment": lambda folder: read_sentences(registry.locate("sentiment", folder))}
        monkeypatch.setattr(checking, "LOADERS", loader)
        return read_sentences(registry.locate("sentiment", lonely)).digest()

    return register


RAW = b"Good tin.\t1\n"
SHA = (hashlib.sha256(RAW).hexdigest(),)


def test_a_known_checksum_is_enough(sentences, lonely):
    sentences(RAW, SHA, digest="another")
    result = check("sentiment", lonely)
    assert result.ok
    assert dict(result.files) == {"full_set.txt": "intact"}


def test_the_same_contents_packed_otherwise_are_as_good(sentences, lonely):
    digest = sentences(RAW)
    sentences(b"Good tin.\t1\r\n", SHA, digest)
    result = check("sentiment", lonely)
    assert result.ok
    assert dict(result.files) == {"full_set.txt": "changed"}


def test_other_contents_are_a_problem(sentences, lonely):
    digest = sentences(RAW)
    sentences(b"Bad tin.\t1\n", (), digest)
    result = check("sentiment", lonely)
    assert result.problems == ("counts agree, but the contents differ from those that this version knows",)
    assert dict(result.files) == {"full_set.txt": "no published checksum"}


def test_another_checksum_is_a_problem_where_no_digest_is_known(sentences, lonely):
    sentences(b"Bad tin.\t1\n", SHA)
    result = check("sentiment", lonely)
    assert not result.ok
    assert "another checksum" in result.problems[0]


def test_without_any_checksum_counts_decide(sentences, lonely):
    sentences(RAW)
    assert check("sentiment", lonely).ok


def test_wrong_counts_are_a_problem(lonely):
    put(lonely, "sentiment/full_set.txt", RAW)
    result = check("sentiment", lonely)
    assert not result.ok
    assert "must contain 3,000 training documents; got 1" in result.problems[0]


@pytest.mark.heavy
@pytest.mark.parametrize("name", sorted(set(SOURCES) - {"trec_ap"}))
def test_real_data_are_intact(real, name, monkeypatch):
    data = real(name)
    monkeypatch.setattr(checking, "LOADERS", {name: lambda folder: data})
    result = check(name)
    assert result.ok, result.problems
    assert set(result.files.values()) == {"intact"}
    assert SOURCES[name].digest in (None, data.digest())
