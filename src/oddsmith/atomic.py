"""Write files so that they are there whole or not at all."""

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from oddsmith import _check

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # pragma: no cover - Windows, where leftovers of killed runs stay until deleted by hand
    _CAN_LOCK = False
else:
    _CAN_LOCK = True

__all__ = ["replacing", "write_atomically"]


#: How the names of folders end that hold unfinished files.
_SUFFIX = ".oddsmith.part"
#: What goes wrong only where something is written, also where the system does not name the file.
_WRITE_ERRORS = frozenset({errno.EDQUOT, errno.EFBIG, errno.ENOSPC, errno.EROFS})

#: A file by its name, or by its number where it is open.
File = str | os.PathLike[str] | int


def write_atomically(
    path: str | os.PathLike[str],
    content: str | bytes | Callable[[Path], object],
    *,
    force: bool = False,
    sources: Iterable[File] = (),
) -> None:
    """Write a file that appears under its name only when it is complete.

    Content is written to a hidden folder next to the target, flushed to the disk and then moved in one step.
    Any interruption, even a kill or a power cut, leaves the old file or none; the folder of a killed run is removed by
    the next run that writes to the same folder. A file that is replaced leaves its rights, and its owner where that is
    allowed, to the new one.

    Parameters
    ----------
    path : path-like
        Where the file is to be.
    content : str, bytes or callable
        Text (UTF-8), bytes, or a function that writes the file at the path it is given.
    force : bool, default False
        Replace a file that exists.
    sources : iterable of path-like or int, optional
        What the content comes from: none of these files is ever replaced, under any name.

    See Also
    --------
    replacing : For several writes.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> write_atomically(path, "{}")
    >>> path.read_text()
    '{}'
    """
    with replacing(path, force=force, sources=sources) as unfinished:
        if callable(content):
            content(unfinished)
        else:
            with _translate_errors(unfinished):
                unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, force: bool = False, sources: Iterable[File] = ()) -> Iterator[Path]:
    """Yield a path to write to, in a hidden folder; after the block, move what was written to ``path``.

    The folder is next to the target, so that temporary files which are too large for memory can be written there too.
    After an error nothing is moved.

    Parameters
    ----------
    path : str or Path
        The file to write.
    force : bool, default False
        Whether to replace a file of this name.
    sources : iterable of Path
        Files that are read, which may not be replaced.

    Yields
    ------
    Path
        Where to write.

    See Also
    --------
    write_atomically : Writes one text.
    """
    target = Path(os.path.realpath(path))
    _refuse_sources(target, sources)
    _refuse_target(target, force)
    _remove_leftovers(target)
    with _translate_errors(target):
        folder, lock = _locked_folder(target)
    try:
        unfinished = folder / target.name
        with _translate_errors(target, within=folder):
            yield unfinished
        with _translate_errors(target):
            _flush(unfinished)
            _inherit(unfinished, target)
            _move(unfinished, target, force)
            _flush(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@contextlib.contextmanager
def _translate_errors(path: Path, within: Path | None = None) -> Iterator[None]:
    """Turn the system's error into ours; with ``within`` only what is wrong with writing to a folder."""
    try:
        yield
    except OSError as error:
        is_inside = within is None or within in Path(str(error.filename)).parents
        if not (is_inside or error.errno in _WRITE_ERRORS):
            raise
        if error.errno == errno.ENOSPC:
            _check.fail(
                f"the disk must have room for {path.name}", "a full disk", "free some space, or write elsewhere"
            )
        _check.fail(
            f"{path.name} must be writable in its folder", f"{error.strerror or error}", "check rights and free space"
        )


def _refuse_target(target: Path, force: bool) -> None:
    if not target.parent.is_dir():
        _check.fail("the folder of the output must exist", str(target.parent), "create it, or check the path")
    if target.exists() and not target.is_file():
        # A device must not be replaced by a file, whatever the rights.
        _check.fail("the output must be a plain file", str(target), "give the name of a file")
    if target.exists() and not force:
        _check.fail(
            "the output must not exist yet", str(target), "use another name, or force=True (--force) to replace it"
        )


def _refuse_sources(target: str | os.PathLike[str], sources: Iterable[File]) -> None:
    """Refuse to write to a file that is read, by whatever name: links and open files are the file."""
    if any(_is_same(source, target) for source in sources):
        _check.fail("the output must not be the input", os.fspath(target), "use another name for the output")


def _is_same(source: File, target: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samestat(os.stat(source), os.stat(target))
    except (OSError, ValueError):  # one of them does not exist
        return False


def _inherit(unfinished: Path, target: Path) -> None:
    """Give a file the rights of the one that it replaces, and the owner as far as that is allowed."""
    try:
        old = os.stat(target)
    except OSError:
        return
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(unfinished, old.st_uid, old.st_gid)
    os.chmod(unfinished, stat.S_IMODE(old.st_mode))


def _move(unfinished: Path, target: Path, force: bool) -> None:
    if not force:
        # A link refuses to replace a file that appeared meanwhile.
        try:
            os.link(unfinished, target)
        except FileExistsError:
            _refuse_target(target, force)
        except OSError:
            pass  # a file system without links
        else:
            return
    os.replace(unfinished, target)


def _flush(path: Path) -> None:
    """Make the disk hold what was written, or which names a folder has."""
    if os.name == "nt" and path.is_dir():  # pragma: no cover - folders cannot be opened there
        return
    handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _locked_folder(target: Path) -> tuple[Path, int | None]:
    """Make a hidden folder next to the target, with a lock that the system releases when the process dies.

    Until it is locked, a writer of another file may take it for the folder of a killed run and remove it; then the next
    one is tried.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=_SUFFIX, dir=target.parent))
        if not _CAN_LOCK:  # pragma: no cover
            return folder, None
        try:
            lock = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            continue
        with contextlib.suppress(OSError):  # a file system without locks, where nothing is removed either
            flock(lock, LOCK_EX)  # waits for a writer that is removing the folder
        if _is_same(lock, folder):
            return folder, lock
        os.close(lock)


def _remove_leftovers(target: Path) -> None:
    """Remove the folders of killed runs: those that are not locked."""
    if not _CAN_LOCK:  # pragma: no cover
        return
    for folder in target.parent.glob(f".*{_SUFFIX}"):
        if not folder.is_dir():
            continue
        with contextlib.suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                flock(handle, LOCK_EX | LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)
