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
from oddsmith.files._layout import AS_SHOWN, BadPlace, Layout, TextFormat, path_list
from oddsmith.files._lines import first_rejects, lines, reject_options
from oddsmith.frames import text_literal

_SEPARATORS = ",\t;|"

#: Lines among which the first row is looked for where the file begins with what may be a comment.
_LOOKED_AT = 100

#: A number with a decimal comma.
_WITH_COMMA = r"\s*[-+]?(\d+,\d*|,\d+)([eE][-+]?\d+)?\s*"

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
    text: TextFormat

    @staticmethod
    def open(engine: Engine, paths: Sequence[str], compression: str, text: TextFormat = AS_SHOWN) -> "CSV":
        """Find out about files from the first line of each."""
        heads = [_head(lines(engine, path, compression), text) for path in paths]
        for path, head in zip(paths, heads, strict=True):
            if head != heads[0]:
                _check.fail(f"{path} must have the same columns as {paths[0]}", ", ".join(head[0]), "read it alone")
        return CSV(tuple(paths), *heads[0], compression, text)

    def relation(self, *, note_rejects: bool = False) -> str:
        """Return the files as a relation of text columns, c0 and so on."""
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(self._n_own))
        return (
            f"read_csv({path_list(self.paths)}, auto_detect=false, columns={{{columns}}}, "
            f"delim={text_literal(self.separator)}, quote='\"', escape='\"', allow_quoted_nulls=false, "
            f"header={str(self.header).lower()}, skip={self.skip}, compression='{self.compression}'"
            f"{self.key_options}{reject_options(note_rejects)})"
        )

    @property
    def _n_own(self) -> int:
        return len(self.columns) - len(self.keys)

    def own_field(self, name: str) -> str:
        """Return an expression for the text of a column, in which numbers have decimal points."""
        return self.with_points(f"source.c{self.columns.index(name)}")

    def with_points(self, field: str) -> str:
        """Return text in which numbers with a decimal comma have a point, and those with a point are no numbers."""
        if self.text.decimal == ".":
            return field
        is_number = f"TRY_CAST({field} AS DOUBLE) IS NOT NULL AND contains({field}, '.')"
        return (
            f"CASE WHEN regexp_full_match({field}, {text_literal(_WITH_COMMA)}) THEN replace({field}, ',', '.') "
            f"WHEN {is_number} THEN {field} || ' (a point)' ELSE {field} END"
        )

    def read_all_condition(self) -> str:
        """Return a condition that every row meets whose text is UTF-8 in all columns: others are left out."""
        return " WHERE " + " AND ".join(f"(source.c{i} IS NULL) IS NOT NULL" for i in range(self._n_own))

    def locate(self, engine: Engine, names: Sequence[str], problem: str, limit: int) -> list[BadPlace]:
        """Return the first places where something is wrong, by the number of the line on which the row begins.

        The engine counts rows, which may span lines; so the file is walked over until the rows it names were seen.
        What is wrong is a matter of the text alone: the first row with the text of the first bad row is that row.
        """
        used = [self.columns.index(name) for name in names if name not in self.keys]
        texts = [f"source.c{i} AS r{i}" for i in used]
        fields = [f"{self.field(name)} AS f{i}" for i, name in enumerate(names)]
        rows = f"SELECT {', '.join([*texts, *fields])}, false AS broken FROM {self.relation()} AS source"
        shown = ", ".join([*(f"r{i}" for i in used), f"{problem} AS problem"])
        found = engine.rows(f"SELECT {shown} FROM ({rows}) WHERE problem IS NOT NULL LIMIT {limit}")
        wanted = [([_unify(text) for text in row[:-1]], row[-1]) for row in found]
        rejects = [(_unify(text), why) for _, text, why in first_rejects(engine, self.paths[0], limit)]
        places: list[BadPlace] = []
        for number, raw, record in self._records(engine):
            rejected = next((i for i, (text, _) in enumerate(rejects) if text == _unify(raw)), None)
            if rejected is not None:
                places.append((number, rejects.pop(rejected)[1]))
            elif wanted and len(record) == self._n_own and [_unify(record[i]) for i in used] == wanted[0][0]:
                places.append((number, wanted.pop(0)[1]))
            if not (wanted or rejects):
                break
        return [*places, *((None, why) for _, why in [*wanted, *rejects])][:limit]

    def _records(self, engine: Engine) -> Iterator[tuple[int, str, list[str]]]:
        """Walk over rows: number of the first line, text, fields."""
        seen: list[str] = []

        def each_line() -> Iterator[str]:
            every = lines(engine, self.paths[0], self.compression)
            for line in itertools.islice(every, self.text.skip_lines, None):
                seen.append(line)
                yield line + "\n"

        number, is_header = 1 + self.text.skip_lines, self.header
        # A quote without end is a problem of the file that is reported anyway.
        with _long_fields(), contextlib.suppress(csv.Error):
            for record in csv.reader(each_line(), delimiter=self.separator):
                if record or self._n_own == 1:
                    if not is_header:
                        yield number, "\n".join(seen), record or [""]
                    is_header = False
                number += len(seen)
                seen.clear()


def _head(text: Iterator[str], form: TextFormat) -> tuple[tuple[str, ...], str, bool, int]:
    """Return what the first line that is not empty says: names, separator, whether it is a header; and how many are."""
    skip = form.skip_lines
    for line in itertools.islice(text, skip, None):
        if line.strip():
            break
        skip += 1
    else:
        _check.fail("the file must contain rows", "an empty file", "check how it was written")
    if "\r" in line:
        _check.fail("lines must end in \\n or \\r\\n", "\\r alone", "convert them: tr '\\r' '\\n' < old.csv > new.csv")
    text = _refuse_preface(line, skip + 1, text)
    unquoted = re.sub('"[^"]*"', "", line)
    separator = form.delimiter or max(_SEPARATORS, key=unquoted.count)
    with _long_fields():
        fields = next(csv.reader(itertools.chain([line], text), delimiter=separator))
    header = not any(_is_number(field.replace(form.decimal, ".")) for field in fields)
    names = tuple(field if header and field.strip() else f"column{i}" for i, field in enumerate(fields))
    return names, separator, header, skip


def _refuse_preface(line: str, number: int, text: Iterator[str]) -> Iterator[str]:
    """Refuse a first line that is not a row: a comment, or the separator, which one spreadsheet writes there."""
    hint = f"pass text=TextFormat(skip_lines={number}) (--skip-lines {number})"
    if re.fullmatch(r'"?sep=.?"?', line.strip(), re.IGNORECASE):
        _check.fail("the first line must contain names of columns, or a row", repr(line.strip()), hint)
    if not _is_comment(line):
        return text
    first = list(itertools.islice(text, _LOOKED_AT))
    places = (i for i, each in enumerate(first) if each.strip() and not _is_comment(each))
    if (place := next(places, None)) is not None and _separators(first[place]) != _separators(line):
        hint = f"pass text=TextFormat(skip_lines={number + place}) (--skip-lines {number + place})"
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


def _unify(text: str | None) -> str:
    """Return text as it can be compared: with one kind of line end, and what is not UTF-8 as the engine shows it."""
    return (text or "").replace("\r\n", "\n").replace("\r", "\n").replace("\ufffd", "?").strip("\n")
