import re

import pytest
from packing import put

from oddsmith.errors import InvalidInputError
from oddsmith_studies.data import SOURCES, cache_folder, find, locate, source
from oddsmith_studies.data.checking import LOADERS


@pytest.mark.parametrize("wanted", SOURCES.values(), ids=lambda wanted: wanted.name)
def test_sources_are_complete(wanted):
    assert SOURCES[wanted.name] is wanted
    assert all([wanted.title, wanted.folder, wanted.what, wanted.licence, wanted.citation])
    assert wanted.home.startswith("http")
    assert wanted.downloads or wanted.name == "trec_ap"
    for form in wanted.forms:
        assert form
        for file in form:
            assert file.url is None or re.fullmatch(r"https?://\S+/" + re.escape(file.name), file.url)
            assert all(re.fullmatch("[0-9a-f]{64}", sha) for sha in file.sha256)
            # What is downloaded without a published checksum is known by its contents.
            assert file.url is None or file.sha256 or wanted.digest


def test_every_source_has_a_loader():
    assert set(LOADERS) == set(SOURCES)


def test_unknown_names_are_refused():
    with pytest.raises(InvalidInputError, match=r"name must be one of 'reuters21578', .*; got name='reuters'"):
        source("reuters")


def test_a_given_folder_comes_first_then_the_variable_then_the_cache(lonely, tmp_path, monkeypatch):
    variable = tmp_path / "variable"
    for root in (cache_folder(), variable, lonely):
        assert find("phishing", lonely) is None or find("phishing", lonely).folder != root / "phishing"
        put(root, "phishing/phishing.gz", b"")
        monkeypatch.setenv("ODDSMITH_DATA", str(variable))
        assert find("phishing", lonely).folder == root / "phishing"
    assert find("phishing").folder == variable / "phishing"


def test_the_cache_follows_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "oddsmith"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "oddsmith"


def test_a_form_counts_only_when_it_is_whole(lonely):
    put(lonely, "adult/adult.data.gz", b"")
    assert find("adult", lonely) is None
    put(lonely, "adult/adult.zip", b"")
    assert [file.name for file in find("adult", lonely).files] == ["adult.zip"]
    put(lonely, "adult/adult.test.gz", b"")
    assert [file.name for file in find("adult", lonely).files] == ["adult.data.gz", "adult.test.gz"]


def test_what_is_missing_is_said_with_its_address_and_its_place(lonely):
    with pytest.raises(InvalidInputError) as raised:
        locate("web", lonely)
    message = str(raised.value)
    assert f"none in {lonely}, {cache_folder()}." in message
    assert "Hint: run 'oddsmith data fetch web', or put https://" in message
    assert "binary/w8a and https://" in message
    assert message.endswith(f"binary/w8a.t into {lonely / 'web'}.")


def test_what_cannot_be_downloaded_is_said_with_its_parts(lonely):
    with pytest.raises(InvalidInputError, match=r"put train, test, categories, documents into .*trec_ap; http://"):
        locate("trec_ap", lonely)
