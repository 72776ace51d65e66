"""What is inside the files of a data set, however they are packed."""

import gzip
import hashlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn, Protocol, TypeVar

from oddsmith import checks
from oddsmith.errors import InvalidInputError
from oddsmith_studies.data.registry import Folder, Found, locate

_UNREADABLE = (
    OSError,
    EOFError,
    LookupError,
    ValueError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)


class Counted(Protocol):
    """Parsed data that can say how much of what there is."""

    def counts(self) -> dict[str, int]:
        """Return numbers of rows by kind."""
        ...


Parsed = TypeVar("Parsed", bound=Counted)


def load(name: str, folder: Folder, read: Callable[[Found], Parsed], expected: Mapping[str, int]) -> Parsed:
    """Find a data set, read it, and compare its counts with those it must have."""
    found = locate(name, folder)
    with _legible(found):
        data = read(found)
    counts = data.counts()
    for what, want in expected.items():
        if counts.get(what, 0) != want:
            checks.fail(
                f"{_shown(found)} must contain {want:,} {what}",
                f"{counts.get(what, 0):,}",
                f"it is cut short or another version: get {name} again from {found.source.home}",
            )
    return data


def content(found: Found, name: str) -> bytes:
    """Return one published file: as it is, gzipped, or out of a zip archive."""
    for path in map(found.path, found.files):
        if path.suffix == ".zip":
            return _unzipped(path, name)
        if path.name in (name, f"{name}.gz"):
            return _ungzipped(path.name, path.read_bytes())
    return _lacks(_shown(found), name)


def tar_members(found: Found) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield every file of a tar archive as it streams by."""
    with tarfile.open(found.path(found.files[0]), "r|*") as archive:
        for member in archive:
            handle = archive.extractfile(member) if member.isfile() else None
            if handle is not None:
                yield PurePosixPath(member.name), handle.read()


def parquet_rows(found: Found, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Return columns of a Parquet file, a tuple a row."""
    import duckdb

    path = found.path(found.files[0])
    try:
        with duckdb.connect() as connection:
            wanted = [duckdb.ColumnExpression(column) for column in columns]
            return connection.from_parquet(str(path)).select(*wanted).fetchall()
    except duckdb.Error as error:
        checks.fail(f"{path} must be a Parquet file with columns {', '.join(columns)}", str(error), "get it again")


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


@contextmanager
def _legible(found: Found) -> Iterator[None]:
    """Turn what goes wrong in reading a file into one clear error."""
    try:
        yield
    except InvalidInputError:
        raise
    except _UNREADABLE as error:
        checks.fail(
            f"{_shown(found)} must be whole and readable",
            f"{type(error).__name__}: {error}",
            f"get {found.source.name} again from {found.source.home}",
        )


def _unzipped(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if PurePosixPath(member).name in (name, f"{name}.gz"):
                return _ungzipped(member, archive.read(member))
    return _lacks(str(path), name)


def _ungzipped(name: str, raw: bytes) -> bytes:
    return gzip.decompress(raw) if name.endswith(".gz") else raw


def _lacks(where: str, name: str) -> NoReturn:
    checks.fail(f"{where} must contain {name}", "other files only", "get it again")


def _shown(found: Found) -> str:
    return " + ".join(str(found.path(file)) for file in found.files)
