"""Whether a compressed file is whole: the engine takes some that were cut for complete, and checks no sums of gzip."""

import gzip
import zlib
from typing import IO

from oddsmith import _check

_PIECE = 2**20

_FRAME = b"\x28\xb5\x2f\xfd"
#: A frame of other content begins with 0x184D2A50 to 0x184D2A5F.
_OTHER_FRAMES = frozenset(bytes([low, 0x2A, 0x4D, 0x18]) for low in range(0x50, 0x60))


def compression_of(path: str) -> str:
    """Return how a file is compressed, by its first bytes: "none", "gzip" or "zstd"; refuse one that is not whole."""
    with open(path, "rb") as file:
        start = file.read(4)
        file.seek(0)
        kind = "gzip" if start[:2] == b"\x1f\x8b" else "zstd" if start in {_FRAME, *_OTHER_FRAMES} else "none"
        try:
            if kind != "none":
                (_walk_gzip if kind == "gzip" else _walk_zstd)(file)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            must = f"{path} must be a whole file of {kind}"
            _check.fail(must, str(error).rstrip("."), "copy or download it again, or check how it was written")
    return kind


def _walk_gzip(file: IO[bytes]) -> None:
    """Read all of it: sums stand at the end."""
    with gzip.open(file) as content:
        while content.read(_PIECE):
            pass


def _walk_zstd(file: IO[bytes]) -> None:
    """Walk from block to block, which tell their sizes; what is in them the engine checks (RFC 8878)."""
    while start := file.read(4):
        if start in _OTHER_FRAMES:
            _skip(file, int.from_bytes(_take(file, 4), "little"))
        elif start == _FRAME:
            _walk_frame(file)
        else:
            msg = f"{len(start)} bytes that begin no frame"
            raise EOFError(msg)


def _walk_frame(file: IO[bytes]) -> None:
    (kind,) = _take(file, 1)
    is_single, has_sum = bool(kind & 0x20), bool(kind & 0x04)
    size_of_length = (int(is_single), 2, 4, 8)[kind >> 6]
    _take(file, (not is_single) + (0, 1, 2, 4)[kind & 0x03] + size_of_length)
    is_last = False
    while not is_last:
        block = int.from_bytes(_take(file, 3), "little")
        is_last, is_repeated = bool(block & 1), (block >> 1) & 3 == 1
        _skip(file, 1 if is_repeated else block >> 3)
    _take(file, 4 if has_sum else 0)


def _take(file: IO[bytes], size: int) -> bytes:
    """Read exactly this many bytes."""
    found = file.read(size)
    if len(found) < size:
        msg = "a file that ends within a frame"
        raise EOFError(msg)
    return found


def _skip(file: IO[bytes], size: int) -> None:
    """Pass over bytes, of which the last must be there."""
    if size:
        file.seek(size - 1, 1)
        _take(file, 1)
