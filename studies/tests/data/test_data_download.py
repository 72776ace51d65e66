import functools
import hashlib
import http.server
import threading

import pytest
from packing import put

from oddsmith.errors import InvalidInputError
from oddsmith_studies.data import SOURCES, File, Source, cache_folder, fetch, find, registry


@pytest.fixture
def site(tmp_path):
    """Serve a folder; yield its address, the folder, and what was asked for."""
    folder, asked = tmp_path / "site", []
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            asked.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", folder, asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def register(lonely, monkeypatch):
    """Return a function that registers a data set with these forms."""

    def add(*forms):
        invented = Source("tiny", "Tiny", "tiny", "nothing", "tests", "free", "nobody", "http://home", forms)
        monkeypatch.setattr(registry, "SOURCES", {**SOURCES, "tiny": invented})

    return add


def sha(raw):
    return hashlib.sha256(raw).hexdigest()


def test_files_go_to_the_cache_or_to_the_folder_given(site, register, lonely):
    address, folder, _ = site
    (folder / "a.txt").write_bytes(b"tin")
    (folder / "b.txt").write_bytes(b"lead")
    register((File("a.txt", f"{address}/a.txt", (sha(b"tin"),)), File("b.txt", f"{address}/b.txt")))
    assert fetch("tiny").folder == cache_folder() / "tiny"
    assert (cache_folder() / "tiny" / "b.txt").read_bytes() == b"lead"
    found = fetch("tiny", lonely)
    assert (lonely / "tiny" / "a.txt").read_bytes() == b"tin"
    assert found == find("tiny", lonely)


def test_nothing_is_downloaded_twice(site, register, lonely):
    address, folder, asked = site
    (folder / "a.txt").write_bytes(b"tin")
    register((File("a.txt", f"{address}/a.txt", (sha(b"tin"), sha(b"repacked tin"))),))
    fetch("tiny", lonely)
    fetch("tiny", lonely)
    assert asked == ["/a.txt"]
    put(lonely, "tiny/a.txt", b"repacked tin")
    fetch("tiny", lonely)
    assert asked == ["/a.txt"]
    put(lonely, "tiny/a.txt", b"cut sh")
    fetch("tiny", lonely)
    assert asked == ["/a.txt"] * 2
    assert (lonely / "tiny" / "a.txt").read_bytes() == b"tin"


def test_a_wrong_checksum_is_refused_and_the_second_place_tried(site, register, lonely):
    address, folder, _ = site
    (folder / "a.txt").write_bytes(b"lead")
    (folder / "b.txt").write_bytes(b"tin")
    first = (File("a.txt", f"{address}/a.txt", (sha(b"tin"),)),)
    register(first)
    with pytest.raises(InvalidInputError, match=r"must be reachable and unchanged; got ValueError: .*hash") as raised:
        fetch("tiny", lonely)
    assert str(raised.value).endswith(f"Hint: put {address}/a.txt into {lonely / 'tiny'}.")
    assert find("tiny", lonely) is None
    register(first, (File("b.txt", f"{address}/b.txt", (sha(b"tin"),)),))
    assert [file.name for file in fetch("tiny", lonely).files] == ["b.txt"]


def test_a_missing_page_and_no_connection_are_said(site, register, lonely):
    address, *_ = site
    register((File("a.txt", f"{address}/a.txt"),), (File("b.txt", "http://127.0.0.1:9/b.txt"),))
    with pytest.raises(InvalidInputError, match=r"got HTTPError: 404 .*; ConnectionError: .*Hint: put .*a\.txt into"):
        fetch("tiny", lonely)


def test_progress_is_told(site, register, lonely):
    address, folder, _ = site
    (folder / "a.txt").write_bytes(b"tin")

    class Bar:
        total, seen = 0, 0

        def update(self, n):
            self.seen += n

        def reset(self):
            self.seen = 0

        def close(self):
            pass

    register((File("a.txt", f"{address}/a.txt"),))
    bar = Bar()
    fetch("tiny", lonely, progress=bar)
    assert bar.total == 3


def test_downloads_are_silent(site, register, lonely, capfd):
    address, folder, _ = site
    (folder / "a.txt").write_bytes(b"tin")
    register((File("a.txt", f"{address}/a.txt"),))
    fetch("tiny", lonely)
    assert capfd.readouterr() == ("", "")


def test_what_is_sold_is_not_downloaded(lonely):
    with pytest.raises(InvalidInputError, match="must be free to download; got sold by"):
        fetch("trec_ap", lonely)
