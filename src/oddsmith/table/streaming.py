"""A score table that grows by chunks and outlives the process that fills it.

The file holds the table and the names of the chunks that are in it, and both change in one step: a process that is
killed at any moment leaves the file of before or of after. So whoever starts again offers all chunks once more, and
none is lost or counted twice.
"""

import io
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith.atomic import write_atomically
from oddsmith.table.table import ScoreTable

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # pragma: no cover - Windows, where nothing keeps a second writer out
    flock = None  # type: ignore[assignment]

__all__ = ["TableStream"]

_FORMAT = "oddsmith table stream 1"
_COLUMNS = ("scores", "pos", "neg", "pos_sq", "neg_sq", "pos_sum", "neg_sum")


class TableStream:
    """Add chunks of rows to a score table in a file, each once, whatever interrupts it.

    Every chunk has a name: of a file, a day, an offset. A chunk that is in the table is not added again, so after a
    crash simply go through all chunks from the start, or skip those that are ``in`` the stream. Each addition writes
    the whole file, so chunks should not be small; with ``max_cells`` the file has a size that does not grow with the
    rows. One process at a time can have a stream open; several write one each, and their tables merge.

    Parameters
    ----------
    path : path-like
        The file; made with the first chunk.
    max_cells : int, optional
        Keep at most so many scores apart by pooling them in cells; see `ScoreTable.coarsen`. None takes what the file
        says, or keeps all.
    pos_label : object, optional
        The positive label; needed unless labels are {0, 1}, {−1, +1} or bool.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.npz"
    >>> for attempt in range(2):
    ...     with TableStream(path) as stream:
    ...         print(stream.add("monday", [0.2, 0.7], [0, 1]), stream.table.rows)
    True 2
    False 2
    """

    def __init__(self, path: str | os.PathLike[str], *, max_cells: int | None = None, pos_label: Any = None) -> None:
        self.path: Path = Path(path)
        self.max_cells: int | None = None if max_cells is None else _check.whole_number(max_cells, "max_cells", low=4)
        self.pos_label = pos_label
        self._table: ScoreTable | None = None
        self._chunks: dict[str, None] = {}  # a set that keeps its order
        self._lock = _locked(self.path)
        try:
            if self.path.exists():
                self._read()
        except BaseException:
            self.close()
            raise

    def add(self, chunk: str, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> bool:
        """Add rows under a name, and write the file; return False, and do nothing, if the name is in it.

        Parameters
        ----------
        chunk : str
            Name of the chunk.
        scores, y, sample_weight
            As for `ScoreTable.from_arrays`.
        """
        if chunk in self:
            return False
        return self.add_table(chunk, ScoreTable.from_arrays(scores, y, sample_weight, self.pos_label))

    def add_table(self, chunk: str, table: ScoreTable) -> bool:
        """Add the rows of a table under a name; see `add`."""
        if chunk in self:
            return False
        if self._lock is None:
            _check.fail("the stream must be open", "a closed one", "open it again")
        merged = table if self._table is None else self._table.merge(table)
        if self.max_cells is not None:
            merged = merged.coarsen(self.max_cells)
        chunks = {**self._chunks, chunk: None}
        write_atomically(self.path, _content(merged, list(chunks), self.max_cells), force=True)
        self._table, self._chunks = merged, chunks
        return True

    @property
    def table(self) -> ScoreTable:
        """All rows so far."""
        if self._table is None:
            _check.fail("the stream must hold a chunk", "none yet", "add one")
        return self._table

    def __contains__(self, chunk: object) -> bool:
        if not isinstance(chunk, str) or not chunk:
            _check.fail("a chunk must be named by a text", repr(chunk), "pass the name of a file, or a day")
        return chunk in self._chunks

    def __iter__(self) -> Iterator[str]:
        return iter(self._chunks)

    def __len__(self) -> int:
        return len(self._chunks)

    def close(self) -> None:
        """Let others open the file."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> None:
        try:
            with np.load(io.BytesIO(self.path.read_bytes()), allow_pickle=False) as file:
                head = json.loads(file["head"].tobytes())
                columns = {name: file.get(name) for name in _COLUMNS}
            if head["format"] != _FORMAT:
                self._refuse(f"format {head['format']!r}")
            flaw = _flaw_of_columns(columns) or _flaw_of_head(head)
            if flaw is not None:
                self._refuse(flaw)
            names = ("rows", "resolution", "log_odds_cells")
            in_sample = head.get("in_sample", False)
            self._table = ScoreTable(**columns, **{name: head[name] for name in names}, in_sample=in_sample)
            chunks, max_cells = head["chunks"], head["max_cells"]
        except (OSError, EOFError, LookupError, TypeError, AttributeError, ValueError, zipfile.BadZipFile) as error:
            self._refuse(f"{type(error).__name__}: {error}")
        if self.max_cells not in (None, max_cells):
            must = f"{self.path.name} must be opened with the cells it was made with"
            _check.fail(must, f"max_cells={self.max_cells} for {max_cells}", "leave max_cells out")
        self._chunks, self.max_cells = dict.fromkeys(chunks), max_cells

    def _refuse(self, got: str) -> NoReturn:
        _check.fail(f"{self.path.name} must hold a table stream", got, "give another path, or delete the file")


def _flaw_of_columns(columns: dict[str, Any]) -> str | None:
    """Say in words what no table could hold; None where all is well."""
    scores, pos, neg = (columns[name] for name in ("scores", "pos", "neg"))
    kind = np.int64 if columns["pos_sq"] is None else np.float64
    for name, column in columns.items():
        if column is None:
            continue
        if column.shape != scores.shape or column.ndim != 1 or not len(column):
            return f"column {name!r} of shape {column.shape} for scores of shape {scores.shape}"
        if column.dtype != (kind if name in ("pos", "neg") else np.float64):
            return f"column {name!r} of type {column.dtype}"
        if not np.isfinite(column).all():
            return f"column {name!r} with values that are not finite"
        if name not in ("scores", "pos_sum", "neg_sum") and column.min() < 0:
            return f"column {name!r} with negative weights"
    for pair in ("sq", "sum"):
        if (columns[f"pos_{pair}"] is None) != (columns[f"neg_{pair}"] is None):
            return f"one of the columns 'pos_{pair}' and 'neg_{pair}'"
    if not np.all(np.diff(scores) > 0):
        return "scores that do not ascend"
    if not np.all((pos > 0) | (neg > 0)):
        return "scores without weight"
    return None if sum(map(_check.weight_sum, (pos, neg))) <= _check.LARGEST_SUM else "weights with a sum above 2**63"


def _flaw_of_head(head: dict[str, Any]) -> str | None:
    """Say in words what `_content` would not have written; None where all is well."""
    width, cells, chunks = head["resolution"], head["max_cells"], head["chunks"]
    if type(head["rows"]) is not int or head["rows"] < 1:
        return f"rows={head['rows']!r}"
    if width is not None and not (type(width) is float and 0 < width < np.inf and np.frexp(width)[0] == 0.5):
        return f"resolution={width!r}"
    if type(head["log_odds_cells"]) is not bool or (head["log_odds_cells"] and width is None):
        return f"log_odds_cells={head['log_odds_cells']!r}"
    if type(head.get("in_sample", False)) is not bool:
        return f"in_sample={head['in_sample']!r}"
    if cells is not None and (type(cells) is not int or cells < 4):
        return f"max_cells={cells!r}"
    if type(chunks) is not list or not chunks or any(type(name) is not str or not name for name in chunks):
        return f"chunks={str(chunks)[:60]}"
    return None if len(set(chunks)) == len(chunks) else "chunks that are there twice"


def _content(table: ScoreTable, chunks: list[str], max_cells: int | None) -> bytes:
    """Return the file of a stream: arrays, and everything else as JSON. Nothing in it could run."""
    head = {
        "format": _FORMAT,
        "rows": table.rows,
        "resolution": table.resolution,
        "log_odds_cells": table.log_odds_cells,
        "in_sample": table.in_sample,
        "max_cells": max_cells,
        "chunks": chunks,
    }
    arrays: dict[str, NDArray[Any]] = {"scores": table.scores, **table._columns()}
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays, head=np.frombuffer(json.dumps(head).encode(), np.uint8))
    return file.getvalue()


def _locked(path: Path) -> int | None:
    """Hold a lock beside a file, which the system lets go when the process dies; return its handle."""
    if not path.parent.is_dir():
        _check.fail("the folder of the stream must exist", str(path.parent), "create it, or check the path")
    handle = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT)
    if flock is not None:
        try:
            flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            must = f"{path.name} must be open once"
            _check.fail(must, "another process, or this one, that has it open", "close it there")
        except OSError:  # pragma: no cover - a file system without locks
            pass
    return handle
