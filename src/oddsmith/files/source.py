"""Open a file of scores, whatever it is written in and wherever it comes from."""

import codecs
import difflib
import glob
import gzip
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal, Self

from oddsmith import _check
from oddsmith.atomic import File
from oddsmith.files._compression import compression_of
from oddsmith.files._csv import CSV
from oddsmith.files._engine import Engine, translate_errors
from oddsmith.files._jsonl import JSONLines
from oddsmith.files._layout import AS_SHOWN, FORMATS, Layout, TextFormat, keys_of
from oddsmith.files._lines import lines
from oddsmith.files._numpy import MAGIC, ZIP_MAGICS, NumpyArrays, holds_matrix, is_numpy
from oddsmith.files._parquet import Parquet

__all__ = ["ScoreFile", "TextFormat", "has_matrix", "input_files", "open_scores"]

_STANDARD_INPUT = 0  # where it is a file, that has a number
_LAYOUTS: dict[str, type[Layout]] = {"csv": CSV, "tsv": CSV, "json": JSONLines, "parquet": Parquet}


def has_matrix(path: str | os.PathLike[str]) -> bool:
    """Return whether a file contains arrays with one column per class; also True for a file that cannot be read.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    bool

    See Also
    --------
    read_rows : Reads it.
    """
    return is_numpy(path) and holds_matrix(path)


@dataclass(frozen=True)
class ScoreFile:
    """A file of scores that is open for reading; close it, or use it in a ``with`` block.

    Attributes
    ----------
    name : str
        What it is called in messages.
    sources : tuple
        The files that it consists of, which must not be written to.

    See Also
    --------
    open_scores : Opens it.
    """

    name: str
    layout: Layout
    engine: Engine
    sources: tuple[File, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self.layout.names

    def matrix(self, kind: Literal["score", "probability"] = "score") -> tuple[str, ...]:
        """Return columns that come from a matrix of one column per class, rather of this kind; none but of arrays.

        Parameters
        ----------
        kind : {"score", "probability"}, default "score"
            Which matrix is preferred.

        Returns
        -------
        tuple[str, ...]
        """
        return self.layout.matrix(kind) if isinstance(self.layout, NumpyArrays) else ()

    def columns_of(self, array: str) -> tuple[str, ...]:
        """Return the columns of a matrix of this name; empty if the file has no such matrix.

        Parameters
        ----------
        array : str
            The name of an array.

        Returns
        -------
        tuple[str, ...]
        """
        return self.layout.columns_of(array) if isinstance(self.layout, NumpyArrays) else ()

    @property
    def suffix(self) -> str:
        """The end of the name of a text file with the same rows: .csv, or .jsonl."""
        return ".jsonl" if isinstance(self.layout, JSONLines) else ".csv"

    def close(self) -> None:
        """Let go of everything that reading needed."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_scores(
    path: str | os.PathLike[str],
    labels: str | os.PathLike[str] | None = None,
    text: TextFormat = AS_SHOWN,
) -> ScoreFile:
    r"""Open a file of scores through DuckDB.

    CSV, TSV, JSON lines and Parquet, compressed by gzip or Zstandard or not; recognized by their first bytes, the end
    of the name, and finally by the first line. Nothing is read into memory, so that files may be larger than it. Arrays
    of NumPy (``.npy``, ``.npz``) are columns too: of a matrix called "logits" they are "logits_0", "logits_1" and so
    on.

    Parameters
    ----------
    path : path-like
        A file, a pattern such as ``"scores/**/*.parquet"`` for files with the same columns, or "-" for standard input.
        What can be read only once is first copied to a temporary file. The keys of folders called ``key=value`` that a
        pattern finds are columns of text.
    labels : path-like, optional
        A second file, ``.npy``, with the labels of a file of arrays; they become the column "labels".
    text : TextFormat, optional
        Delimiter, decimal mark, encoding and lines before the header of a text file, where they cannot be recognized.

    Returns
    -------
    ScoreFile

    See Also
    --------
    read_table : Reads scores of two classes.
    read_rows : Reads scores of several classes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("score,label\n0.3,0\n0.9,1\n")
    >>> with open_scores(path) as file:
    ...     file.columns
    ('score', 'label')
    """
    engine = Engine()
    try:
        name = os.fspath(path)
        paths = _spool(name, engine) or _find(name)
        shown = "standard input" if name == "-" else name
        with translate_errors(shown):
            layout = _layout(engine, name, paths, None if labels is None else _find(os.fspath(labels))[0], text)
            if len(paths) > 1 or glob.has_magic(name):
                keys = keys_of(paths, layout.names)
                layout = replace(layout, columns=(*layout.columns, *keys), keys=keys)
            return ScoreFile(shown, layout, engine, (*input_files(name), *([] if labels is None else [labels])))
    except BaseException:
        engine.close()
        raise


def input_files(path: str | os.PathLike[str]) -> list[File]:
    """Return the files that a path, a pattern or "-" refers to, if there are any: none of them may be written to.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    list[File]

    See Also
    --------
    open_scores : Opens them.
    """
    name = os.fspath(path)
    return [_STANDARD_INPUT] if name == "-" else [name, *glob.glob(name, recursive=True)]


def _spool(name: str, engine: Engine) -> list[str]:
    """Copy what can be read only once."""
    if name != "-" and (not os.path.exists(name) or os.path.isfile(name) or os.path.isdir(name)):
        return []
    with tempfile.NamedTemporaryFile(dir=engine.folder, delete=False) as copy:
        if name == "-":
            if sys.stdin is None:
                _check.fail("standard input must be open", "a closed one", "pipe rows into it, or name a file")
            shutil.copyfileobj(sys.stdin.buffer, copy)
        else:
            with open(name, "rb") as pipe:
                shutil.copyfileobj(pipe, copy)
    return [copy.name]


def _find(name: str) -> list[str]:
    """Return the files that are meant."""
    if os.path.isdir(name):
        _check.fail("the path must be a file", f"the folder {name}", f"use a pattern: '{name}/*.parquet'")
    matching = (path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
    found = [name] if os.path.exists(name) else sorted(matching)
    if not found:
        folder = Path(name).parent
        there = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        close = difflib.get_close_matches(Path(name).name, there, n=1)
        _check.fail("the file must exist", name, f"did you mean {folder / close[0]}" if close else "check the path")
    for path in found:
        if not os.access(path, os.R_OK):
            _check.fail("the file must be readable", path, "check its permissions")
    return found


def _layout(engine: Engine, name: str, paths: Sequence[str], labels: str | None, text: TextFormat) -> Layout:
    with open(paths[0], "rb") as file:
        magic = file.read(len(MAGIC))
    if magic == MAGIC or magic[:4] in ZIP_MAGICS:
        _refuse_text_format(name, text)
        return NumpyArrays.open(engine, paths, "none", labels)
    if labels is not None:
        _check.fail("only arrays may have labels in another file", name, "join them by columns, or pass --label")
    if magic[:4] == b"PAR1":
        _refuse_text_format(name, text)
        return Parquet.open(engine, paths, "none")
    compressions = [compression_of(path) for path in paths]
    if codecs.lookup(text.encoding).name != "utf-8":
        paths, compressions = _decode(engine, paths, compressions, text.encoding), ["none"] * len(paths)
    elif magic[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        _check.fail(
            "the file must be UTF-8 text", "UTF-16", 'pass text=TextFormat(encoding="utf-16") (--encoding utf-16)'
        )
    stem = Path(name).with_suffix("") if Path(name).suffix in (".gz", ".zst") else Path(name)
    compression = compressions[0] if len(paths) == 1 else "auto"
    kind = _LAYOUTS.get(FORMATS.get(stem.suffix.lower(), ""))
    if kind is None:
        first = next((line for line in lines(engine, paths[0], compressions[0]) if line.strip()), "")
        kind = JSONLines if first.lstrip()[:1] in ("{", "[") else CSV
    if kind is CSV:
        return CSV.open(engine, paths, compression, text)
    _refuse_text_format(name, replace(text, encoding="utf-8"))
    return kind.open(engine, paths, compression)


def _refuse_text_format(name: str, text: TextFormat) -> None:
    """Refuse to say how text is written of a file that is none, or has one form only."""
    if text != AS_SHOWN:
        changed = next(each.name for each in fields(text) if getattr(text, each.name) != each.default)
        option = changed.replace("_", "-")
        _check.fail(f"{changed} is for files of text", name, f"leave text=TextFormat({changed}=…) (--{option}) out")


def _decode(engine: Engine, paths: Sequence[str], compressions: Sequence[str], encoding: str) -> list[str]:
    """Write copies of files in UTF-8 to the folder of the engine, with the same names."""
    copies = []
    for number, (path, compression) in enumerate(zip(paths, compressions, strict=True)):
        if compression == "zstd":
            _check.fail("files compressed by Zstandard must be UTF-8 text", path, "decompress it first")
        # The path is kept, for folders may be keys.
        copy = os.path.join(engine.folder, str(number), os.path.splitdrive(path)[1].lstrip(os.sep).replace("..", "up"))
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        try:
            with (
                (
                    gzip.open(path, "rt", encoding=encoding, newline="")
                    if compression == "gzip"
                    else open(path, encoding=encoding, newline="")
                ) as source,
                open(copy, "w", encoding="utf-8", newline="") as target,
            ):
                shutil.copyfileobj(source, target)
        except UnicodeError as error:
            hint = 'try text=TextFormat(encoding="latin-1") (--encoding latin-1)'
            _check.fail(f"{path} must be text in {encoding}", str(error), hint)
        copies.append(copy)
    return copies
