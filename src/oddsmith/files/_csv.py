"""Comma- and tab-separated files.

The dialect is a matter of the first line alone, so that bad rows further down cannot change how a file is read: the
separator is the one of comma, tab, semicolon and bar that occurs most often, and a line without any number is a header.
All columns are text, as they stand.
"""

import contextlib
import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oddsmith import _check
from oddsmith.files._engine import Engine
from oddsmith.files._layout import BadPlace, Layout, path_list
from oddsmith.files._lines import first_rejects, lines, reject_options
from oddsmith.frames import text_literal

_SEPARATORS = ",\t;|"

#: Lines among which the first row is looked for where the file begins with what may be a comment.
_LOOKED_AT = 100

#: The longest field that Python's reader takes; the engine refuses long ones in its own words.
_LONGEST_FIELD = 2**31 - 1


@contextlib.contextmanager
def _long_fields() -> Iterator[None]:
    """Let fields be as long as the engine takes them, while a file is read."""
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)


@dataclass(frozen=True)
class CSV(Layout):
    """Separated text with optional quotes."""

    separator: str
    header: bool  # whether the first line holds the names
    skip: int  # number of empty lines before the first that is not
    compression: str  # "none", "gzip", "zstd" or "auto"

    @staticmethod
    def open(engine: Engine, paths: Sequence[str], compression: str) -> "CSV":
        """Find out about files from the first line of each."""
        heads = [_head(lines(engine, path, compression)) for path in paths]
        for path, head in zip(paths, heads, strict=True):
            if head != heads[0]:
                _check.fail(f"{path} must have the same columns as {paths[0]}", ", ".join(head[0]), "read it alone")
        return CSV(tuple(paths), *heads[0], compression)

    def relation(self, *, note_rejects: bool = False) -> str:
        """Return the files as a relation of text columns, c0 and so on."""
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.columns)))
        return (
            f"read_csv({path_list(self.paths)}, auto_detect=false, columns={{{columns}}}, "
            f"delim={text_literal(self.separator)}, quote='\"', escape='\"', allow_quoted_nulls=false, "
            f"header={str(self.header).lower()}, skip={self.skip}, compression='{self.compression}'"
            f"{reject_options(note_rejects)})"
        )

    def reading_all(self) -> str:
        """Return a condition that every row meets whose text is UTF-8 in all columns: others are left out."""
        return " WHERE " + " AND ".join(f"(source.c{i} IS NULL) IS NOT NULL" for i in range(len(self.columns)))

    def locate(self, engine: Engine, names: Sequence[str], problem: str, limit: int) -> list[BadPlace]:
        """Return the first places where something is wrong, by the number of the line on which the row begins.

        The engine counts rows, which may span lines; so the file is walked over until the rows it names were seen.
        What is wrong is a matter of the text alone: the first row with the text of the first bad row is that row.
        """
        bad = engine.rows(
            f"SELECT *, {problem} AS problem FROM ({self.select(names)}) WHERE problem IS NOT NULL LIMIT {limit}"
        )
        wanted = [([_unified(field) for field in fields], why) for *fields, _, why in bad]
        rejects = [(_unified(text), why) for _, text, why in first_rejects(engine, self.paths[0], limit)]
        used = [self.columns.index(name) for name in names]
        places: list[BadPlace] = []
        for number, raw, record in self._records(engine):
            rejected = next((i for i, (text, _) in enumerate(rejects) if text == _unified(raw)), None)
            if rejected is not None:
                places.append((number, rejects.pop(rejected)[1]))
            elif wanted and len(record) == len(self.columns) and [_unified(record[i]) for i in used] == wanted[0][0]:
                places.append((number, wanted.pop(0)[1]))
            if not (wanted or rejects):
                break
        return [*places, *((None, why) for _, why in [*wanted, *rejects])][:limit]

    def _records(self, engine: Engine) -> Iterator[tuple[int, str, list[str]]]:
        """Walk over rows: number of the first line, text, fields."""
        seen: list[str] = []

        def each_line() -> Iterator[str]:
            for line in lines(engine, self.paths[0], self.compression):
                seen.append(line)
                yield line + "\n"

        number, is_header = 1, self.header
        # A quote without end is a problem of the file that is reported anyway.
        with _long_fields(), contextlib.suppress(csv.Error):
            for record in csv.reader(each_line(), delimiter=self.separator):
                if record or len(self.columns) == 1:
                    if not is_header:
                        yield number, "\n".join(seen), record or [""]
                    is_header = False
                number += len(seen)
                seen.clear()


def _head(text: Iterator[str]) -> tuple[tuple[str, ...], str, bool, int]:
    """Return what the first line that is not empty says: names, separator, whether it is a header; and how many are."""
    skip = 0
    for line in text:
        if line.strip():
            break
        skip += 1
    else:
        _check.fail("the file must contain rows", "an empty file", "check how it was written")
    if "\r" in line:
        _check.fail("lines must end in \\n or \\r\\n", "\\r alone", "convert them: tr '\\r' '\\n' < old.csv > new.csv")
    text = _refuse_preface(line, skip + 1, text)
    unquoted = re.sub('"[^"]*"', "", line)
    separator = max(_SEPARATORS, key=unquoted.count)
    with _long_fields():
        fields = next(csv.reader(itertools.chain([line], text), delimiter=separator))
    header = not any(_is_number(field) for field in fields)
    names = tuple(field if header and field.strip() else f"column{i}" for i, field in enumerate(fields))
    return names, separator, header, skip


def _refuse_preface(line: str, number: int, text: Iterator[str]) -> Iterator[str]:
    """Refuse a first line that is not a row: a comment, or the separator, which one spreadsheet writes there."""
    hint = f"delete it: tail -n +{number + 1} old.csv > new.csv"
    if re.fullmatch(r'"?sep=.?"?', line.strip(), re.IGNORECASE):
        _check.fail("the first line must contain names of columns, or a row", repr(line.strip()), hint)
    if not _is_comment(line):
        return text
    first = list(itertools.islice(text, _LOOKED_AT))
    row = next((each for each in first if each.strip() and not _is_comment(each)), line)
    if _separators(row) != _separators(line):
        hint = "delete comments: grep -v '^ *#' old.csv > new.csv"
        _check.fail(
            "the first line must contain names of columns, or a row", f"the comment {line.strip()[:40]!r}", hint
        )
    return itertools.chain(first, text)


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _separators(line: str) -> int:
    """Return how often the commonest separator occurs."""
    return max(line.count(separator) for separator in _SEPARATORS)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _unified(text: str | None) -> str:
    """Return text as it can be compared: with one kind of line end, and what is not UTF-8 as the engine shows it."""
    return (text or "").replace("\r\n", "\n").replace("\r", "\n").replace("\ufffd", "?").strip("\n")
