"""Files are there whole or not at all."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

from oddsmith import atomic
from oddsmith.errors import InvalidInputError
from oddsmith.files import write_atomically


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("content", ["tëxt", "tëxt".encode(), lambda path: path.write_text("tëxt", encoding="utf-8")])
def test_content_is_written(tmp_path, content):
    write_atomically(tmp_path / "a", content)
    assert (tmp_path / "a").read_bytes() == "tëxt".encode()
    assert names(tmp_path) == ["a"]


def test_nothing_is_replaced_without_force(tmp_path):
    write_atomically(tmp_path / "a", "old")
    with pytest.raises(InvalidInputError, match="--force"):
        write_atomically(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "old"
    write_atomically(tmp_path / "a", "new", force=True)
    assert (tmp_path / "a").read_text() == "new"
    assert names(tmp_path) == ["a"]


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path):
    def write(unfinished):
        unfinished.write_text("mine")
        (tmp_path / "a").write_text("other")

    with pytest.raises(InvalidInputError, match="must not exist yet"):
        write_atomically(tmp_path / "a", write)
    assert (tmp_path / "a").read_text() == "other"
    assert names(tmp_path) == ["a"]


def test_file_systems_without_links(tmp_path, monkeypatch):
    def no_links(*_):
        raise PermissionError

    monkeypatch.setattr(os, "link", no_links)
    write_atomically(tmp_path / "a", "text")
    assert (tmp_path / "a").read_text() == "text"


def test_an_error_leaves_nothing(tmp_path):
    write_atomically(tmp_path / "a", "old")

    def fail_halfway(unfinished):
        unfinished.write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_atomically(tmp_path / "a", fail_halfway, force=True)
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_targets_that_cannot_be(tmp_path):
    with pytest.raises(InvalidInputError, match="folder of the output must exist"):
        write_atomically(tmp_path / "no" / "a", "")
    with pytest.raises(InvalidInputError, match="plain file"):
        write_atomically(tmp_path, "", force=True)
    with pytest.raises(InvalidInputError, match="plain file"):
        write_atomically("/dev/null", "", force=True)
    with pytest.raises(InvalidInputError, match="must be writable"):
        write_atomically(tmp_path / ("x" * 250), "")


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInputError, match="must have room for a; got a full disk"):
        write_atomically(tmp_path / "a", "text")
    assert names(tmp_path) == []


def test_links_stay_links(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "text"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o777])
def test_rights_are_kept(tmp_path, mode):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(mode)
    write_atomically(tmp_path / "a", "new", force=True)
    assert (tmp_path / "a").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_new_files_follow_the_umask(tmp_path, mask):
    old = os.umask(mask)
    try:
        write_atomically(tmp_path / "a", "new")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o666 & ~mask


def test_owners_are_kept_where_that_is_allowed(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")
    asked = []
    monkeypatch.setattr(os, "chown", lambda path, user, group: asked.append((user, group)))
    write_atomically(tmp_path / "a", "new", force=True)
    owner = (tmp_path / "a").stat()
    assert asked == [(owner.st_uid, owner.st_gid)]

    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(os, "chown", refused)
    write_atomically(tmp_path / "a", "newer", force=True)
    assert (tmp_path / "a").read_text() == "newer"


def test_a_source_is_never_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text("data")
    (tmp_path / "soft").symlink_to("a")
    os.link("a", "hard")
    with open("a") as file:
        sources = ["a", tmp_path / "a", "./a", "soft", "hard", file.fileno()]
        for source in sources:
            for target in ("a", tmp_path / "a", "soft", "hard"):
                for force in (True, False):
                    with pytest.raises(InvalidInputError, match="the output must not be the input"):
                        write_atomically(target, "new", force=force, sources=["missing", source])
    assert (tmp_path / "a").read_text() == "data"
    assert names(tmp_path) == ["a", "hard", "soft"]
    write_atomically("b", "new", sources=["a", "missing", "a\0b"])
    write_atomically("b", "newer", sources=["a"], force=True)
    assert (tmp_path / "b").read_text() == "newer"


def test_a_killed_run_leaves_no_half_file_and_is_cleaned_up_after(tmp_path):
    code = """
        import sys, time
        from oddsmith.files import replacing
        with replacing(sys.argv[1], force=True) as unfinished:
            with open(unfinished, "w") as file:
                file.write("half")
                file.flush()
                print("ready", flush=True)
                time.sleep(60)
    """
    write_atomically(tmp_path / "a", "old")
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "a")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        # While it runs, its folder belongs to it.
        write_atomically(tmp_path / "a", "newer", force=True)
        assert len(names(tmp_path)) == 2
        process.send_signal(signal.SIGKILL)
    assert (tmp_path / "a").read_text() == "newer"
    leftover = [name for name in names(tmp_path) if name != "a"]
    assert len(leftover) == 1
    assert leftover[0].startswith(".a.")
    assert leftover[0].endswith(".part")
    write_atomically(tmp_path / "a", "newest", force=True)
    assert names(tmp_path) == ["a"]


def test_another_writer_does_not_remove_a_new_folder(tmp_path, monkeypatch):
    make, left = tempfile.mkdtemp, [3]

    def swept(**where):
        folder = make(**where)
        if left[0]:
            left[0] -= 1
            atomic._remove_leftovers(tmp_path / "other")  # between making and locking
        return folder

    monkeypatch.setattr(tempfile, "mkdtemp", swept)
    write_atomically(tmp_path / "a", "text")
    assert left == [0]
    assert (tmp_path / "a").read_text() == "text"
    assert names(tmp_path) == ["a"]


def test_parallel_writers_in_one_folder(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: write_atomically(tmp_path / f"{i}", str(i)), range(400)))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {str(i): str(i) for i in range(400)}
