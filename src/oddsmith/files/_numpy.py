"""Arrays of NumPy (``.npy``, ``.npz``): a matrix is one column per class, a vector one; nothing is unpickled."""

import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith.files._engine import Engine
from oddsmith.files._labels import LABEL_NAMES
from oddsmith.files._layout import TypedColumns

MAGIC = b"\x93NUMPY"

#: How an archive begins that holds something, or nothing.
ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")

#: What a matrix of scores is called, the likeliest first.
_PROBABILITIES = ("probabilities", "probability", "probs", "prob", "proba", "p", "y_prob")
_SCORES = ("logits", "logit", "scores", "score", "y_score", "y_pred", "predictions", "outputs", "output")
_MATRICES = (*_SCORES[:2], *_PROBABILITIES, *_SCORES[2:])

#: What the only array of a file, and labels from another file, are called.
ONLY, LABELS = "scores", "labels"

_VIEW = "arrays"

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class NumpyArrays(TypedColumns):
    """Arrays with one entry per row."""

    arrays: Arrays = field(repr=False, compare=False)  # that the columns come from

    @staticmethod
    def open(engine: Engine, paths: Sequence[str], compression: str, labels: str | None = None) -> "NumpyArrays":
        """Read the arrays of one file, of ``.npy`` only what is used; ``labels`` is another file, of labels alone."""
        del compression
        if len(paths) != 1:
            _check.fail("arrays must come from one file", f"{len(paths)} files", "read one at a time, or join them")
        found = _load(paths[0])
        if labels is not None:
            given = _load(labels)
            if len(given) != 1:
                _check.fail(f"{labels} must contain one array", ", ".join(given), "save the labels alone, with np.save")
            found = {**found, LABELS: next(iter(given.values()))}
        names, columns = _columns(paths[0], found)
        try:
            engine.connection.register(_VIEW, {f"c{i}": column for i, column in enumerate(columns)})
            types = [row[1] for row in engine.rows(f"DESCRIBE {_VIEW}")]
        except RuntimeError as error:  # pragma: no cover - a type of NumPy's that the engine lacks
            _check.fail(f"{paths[0]} must contain numbers or text", str(error), "convert the arrays")
        return NumpyArrays(tuple(paths), names, tuple(types), found)

    def matrix(self, kind: Literal["score", "probability"]) -> tuple[str, ...]:
        """Return the columns of the matrix of scores where one is recognized; among several this kind comes first."""
        name = _matrix_of(self.arrays, _MATRICES if kind == "score" else (*_PROBABILITIES, *_SCORES))
        return () if name is None else _names(name, self.arrays[name])

    def columns_of(self, array: str) -> tuple[str, ...]:
        """Return the columns of a matrix; empty if the file has no such matrix."""
        is_matrix = array in self.arrays and self.arrays[array].ndim == 2
        return tuple(name for name in _names(array, self.arrays[array]) if name in self.columns) if is_matrix else ()

    def relation(self, *, note_rejects: bool = False) -> str:
        """Return the columns as a relation: c0 and so on."""
        del note_rejects
        return _VIEW


def is_numpy(path: str | os.PathLike[str]) -> bool:
    """Tell whether a name is that of a file of arrays."""
    return Path(path).suffix.lower() in (".npy", ".npz")


def holds_matrix(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file of arrays has a matrix of several columns, from what the arrays say of themselves."""
    try:
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                file.seek(0)
                return _is_wide(_shape(file))
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as member:
                    if _is_wide(_shape(member)):
                        return True
    except Exception:  # whatever archives raise that were damaged; who reads the file explains it
        return True
    return False


def _shape(file: IO[bytes]) -> tuple[int, ...]:
    """Return the shape that stands at the beginning of an array."""
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape: tuple[int, ...] = read[np.lib.format.read_magic(file)](file)[0]
    return shape


def _is_wide(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and shape[1] > 1


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Write arrays to ``.npz``, or the first of them to ``.npy``."""
    with path.open("wb") as file:
        if path.suffix.lower() == ".npy":
            np.save(file, next(iter(arrays.values())), allow_pickle=False)
        else:
            np.savez(file, allow_pickle=False, **arrays)


def _load(path: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file that are no objects."""
    must, hint = f"{path} must be a whole file of NumPy arrays", "write it with np.save or np.savez, without objects"
    try:
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                return {ONLY: np.load(path, mmap_mode="r", allow_pickle=False)}
            file.seek(0)
            with np.load(file, allow_pickle=False) as held:
                return {name: held[name] for name in held.files}
    except MemoryError:
        raise
    except Exception as error:  # whatever archives raise that were damaged or made to do harm
        is_code = any(word in str(error) for word in ("pickle", "Python objects"))
        got = "objects, which only running code could read" if is_code else str(error).rstrip(".")
        _check.fail(must, got or type(error).__name__, hint)


def _columns(path: str, arrays: Arrays) -> tuple[tuple[str, ...], list[NDArray[Any]]]:
    """Return names and values of all columns."""
    main = _matrix_of(arrays, _MATRICES)
    rows = max((len(a) for a in arrays.values() if a.ndim), default=0) if main is None else len(arrays[main])
    if not rows:
        _check.fail(
            f"{path} must contain arrays with rows", ", ".join(arrays) or "no array", "check how it was written"
        )
    names, columns = list[str](), list[NDArray[Any]]()
    for name, array in arrays.items():
        if array.ndim not in (1, 2) or array.dtype.kind not in "biufUS" or array.size == 0:
            continue
        if len(array) != rows:
            if name.casefold() in LABEL_NAMES:
                must = f"array {name!r} must have one entry per row of {main or 'the scores'!r}"
                _check.fail(must, f"{len(array):,} for {rows:,} rows", "check that they belong together")
            continue  # such as names of classes
        names += _names(name, array)
        columns += [_plain(column) for column in (array.T if array.ndim == 2 else [array])]
    if not names:
        shapes = ", ".join(f"{name} {array.dtype} {array.shape}" for name, array in arrays.items())
        _check.fail(
            f"{path} must contain numbers or text with 1 or 2 axes", shapes, "save a matrix of scores and labels"
        )
    return tuple(names), columns


def _matrix_of(arrays: Arrays, known: Sequence[str]) -> str | None:
    """Return the array that holds one column per class: the first that is called so, or the only one with columns."""
    wide = [name for name, a in arrays.items() if _is_wide(a.shape) and a.dtype.kind in "biuf"]
    named = sorted((n for n in wide if n.casefold() in known), key=lambda n: known.index(n.casefold()))
    return named[0] if named else wide[0] if len(wide) == 1 else None


def _names(name: str, array: NDArray[Any]) -> tuple[str, ...]:
    if array.ndim == 1 or array.shape[1] == 1:
        return (name,)
    return tuple(f"{name}_{i}" for i in range(array.shape[1]))


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column as the engine takes it: in this machine's order of bytes, text as objects."""
    if column.dtype.kind == "S":
        return np.array([text.decode("utf-8", "replace") for text in column.tolist()], dtype=object)
    if column.dtype.kind == "U":
        return column.astype(object)
    wide = column.dtype.kind == "f" and column.dtype.itemsize not in (4, 8)
    return np.asarray(column).astype(np.float64 if wide else column.dtype.newbyteorder("="), copy=False)
