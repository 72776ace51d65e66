"""JSON lines: one object per line, whose text is kept as it stands."""

import contextlib
import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from oddsmith import _check
from oddsmith.files._engine import Engine
from oddsmith.files._layout import BadPlace, Layout
from oddsmith.files._lines import first_rejects, line_relation, lines, reject_options
from oddsmith.frames import identifier, text_literal

#: Objects looked at to learn the names of columns.
_SAMPLE = 1000

#: Elements of a list that have names; longer ones are no scores of classes.
_LONG_LIST = 100

#: Whether an object has a key twice, of which nobody knows which one is meant.
_REPEATED = "coalesce(len(try(json_keys(line))) <> len(list_distinct(try(json_keys(line)))), false)"


@dataclass(frozen=True)
class JSONLines(Layout):
    """One JSON object per line; empty lines mean nothing."""

    compression: str  # "none", "gzip", "zstd" or "auto"
    nested: tuple[tuple[str, str], ...] = ()  # names such as "model.score", and where these are in an object

    @staticmethod
    def open(engine: Engine, paths: Sequence[str], compression: str) -> "JSONLines":
        """Learn the columns from the first objects of the first file."""
        names: dict[str, None] = {}
        nested: dict[str, str] = {}
        text = [line for line in itertools.islice(lines(engine, paths[0], compression), _SAMPLE) if line.strip()]
        if not text:
            _check.fail("the file must contain rows", "no line with text", "check how it was written")
        if text[0].lstrip().startswith("["):
            _check.fail("the file must contain one JSON object per line", "a list", "write JSON lines: jq -c '.[]'")
        for line in text:
            with contextlib.suppress(ValueError, RecursionError):
                found = json.loads(line)
                names |= dict.fromkeys(found if isinstance(found, dict) else ())
                nested |= _leaves(found) if isinstance(found, dict) else {}
        if not names:
            got = f"{text[0].strip()[:40]!r} at the beginning"
            _check.fail("the file must contain one JSON object per line", got, "write JSON lines")
        deep = tuple((name, where) for name, where in nested.items() if name not in names)
        return JSONLines(tuple(paths), tuple(names), compression, deep)

    @property
    def names(self) -> tuple[str, ...]:
        """Keys, and dotted names of what is deeper."""
        return (*self.columns, *(name for name, _ in self.nested))

    def pointer(self, name: str) -> str:
        """Return where a column is in an object: a key, or of a dotted name a key of its keys."""
        return pointer(name) if name in self.columns else dict(self.nested).get(name, pointer(name))

    def select(self, names: Sequence[str], *, note_rejects: bool = False) -> str:
        """Return a query for some columns, with the text of the line as ``line``."""
        return self._split_lines(names, self.relation(note_rejects=note_rejects))

    def relation(self, *, note_rejects: bool = False) -> str:
        """Return the lines that are not empty."""
        source = line_relation(self.paths, self.compression, f"{self.key_options}{reject_options(note_rejects)}")
        listed = ", ".join(["line", "0 AS number", *map(identifier, self.keys)])
        return f"(SELECT {listed} FROM {source} WHERE trim(line) <> '')"

    def own_field(self, name: str) -> str:
        """Return an expression for a column."""
        return f"try(json_extract_string(source.line, {text_literal(self.pointer(name))}))"

    def _split_lines(self, names: Sequence[str], relation: str) -> str:
        # One list, so that each line is parsed once; a line that is no JSON gives null instead of an error.
        own = [name for name in names if name not in self.keys]
        pointers = ", ".join(text_literal(self.pointer(name)) for name in own) or "''"
        fields = [identifier(name) if name in self.keys else f"fields[{own.index(name) + 1}]" for name in names]
        listed = ", ".join(f"{field} AS f{i}" for i, field in enumerate(fields))
        return (
            f"SELECT {listed}, fields IS NULL OR {_REPEATED} AS broken, line, number FROM "
            f"(SELECT *, try(json_extract_string(line, [{pointers}])) AS fields FROM {relation})"
        )

    def locate(self, engine: Engine, names: Sequence[str], problem: str, limit: int) -> list[BadPlace]:
        """Return the first places where something is wrong, by line number."""
        # Latin-1 leaves no line out, and what is wrong with a row does not depend on letters.
        every = line_relation(self.paths, self.compression, f"{self.key_options}, encoding='latin-1'")
        numbered = f"(SELECT *, row_number() OVER () AS number FROM {every})"
        rows = self._split_lines(names, f"(FROM {numbered} WHERE trim(line) <> '')")
        bad = engine.rows(f"SELECT number, {problem} AS problem FROM ({rows}) WHERE problem IS NOT NULL LIMIT {limit}")
        rejects = [(number, why) for number, _, why in first_rejects(engine, self.paths[0], limit)]
        return [(number, why) for number, why in sorted({*bad, *rejects})[:limit]]


def pointer(name: str) -> str:
    """Return where a key is in an object (RFC 6901)."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _leaves(content: dict[str, Any]) -> dict[str, str]:
    """Return the values inside of values by dotted names, and where they are; elements of short lists by number."""
    found: dict[str, str] = {}
    todo: list[tuple[str, str, Any]] = [(key, pointer(key), value) for key, value in content.items()]
    for name, where, value in todo:
        parts: Iterable[tuple[Any, Any]] = ()
        if isinstance(value, dict):
            parts = value.items()
        elif isinstance(value, list) and len(value) <= _LONG_LIST:
            parts = enumerate(value)
        todo += [(f"{name}.{key}", where + pointer(str(key)), part) for key, part in parts]
        if not isinstance(value, dict | list) and name not in content:
            found[name] = where
    return found
