"""JSON lines: one object per line, whose text is kept as it stands."""

import contextlib
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass

from oddsmith import _check
from oddsmith.files._engine import Engine
from oddsmith.files._layout import BadPlace, Layout
from oddsmith.files._lines import first_rejects, line_relation, lines, reject_options
from oddsmith.frames import text_literal

#: Objects looked at to learn the names of columns.
_SAMPLE = 1000

#: Whether an object has a key twice, of which nobody knows which one is meant.
_REPEATED = "coalesce(len(try(json_keys(line))) <> len(list_distinct(try(json_keys(line)))), false)"


@dataclass(frozen=True)
class JSONLines(Layout):
    """One JSON object per line; empty lines mean nothing."""

    compression: str  # "none", "gzip", "zstd" or "auto"

    @staticmethod
    def open(engine: Engine, paths: Sequence[str], compression: str) -> "JSONLines":
        """Learn the columns from the first objects of the first file."""
        names: dict[str, None] = {}
        text = [line for line in itertools.islice(lines(engine, paths[0], compression), _SAMPLE) if line.strip()]
        if not text:
            _check.fail("the file must contain rows", "no line with text", "check how it was written")
        if text[0].lstrip().startswith("["):
            _check.fail("the file must contain one JSON object per line", "a list", "write JSON lines: jq -c '.[]'")
        for line in text:
            with contextlib.suppress(ValueError, RecursionError):
                found = json.loads(line)
                names |= dict.fromkeys(found if isinstance(found, dict) else ())
        if not names:
            got = f"{text[0].strip()[:40]!r} at the beginning"
            _check.fail("the file must contain one JSON object per line", got, "write JSON lines")
        return JSONLines(tuple(paths), tuple(names), compression)

    def select(self, names: Sequence[str], *, note_rejects: bool = False) -> str:
        """Return a query for some columns, with the text of the line as ``line``."""
        return self._taken_apart(names, self.relation(note_rejects=note_rejects))

    def relation(self, *, note_rejects: bool = False) -> str:
        """Return the lines that are not empty."""
        source = line_relation(self.paths, self.compression, reject_options(note_rejects))
        return f"(SELECT line, 0 AS number FROM {source} WHERE trim(line) <> '')"

    def field(self, name: str) -> str:
        """Return an expression for a column."""
        return f"try(json_extract_string(source.line, {text_literal(pointer(name))}))"

    def _taken_apart(self, names: Sequence[str], relation: str) -> str:
        # One list, so that each line is parsed once; a line that is no JSON gives null instead of an error.
        pointers = ", ".join(text_literal(pointer(name)) for name in names)
        listed = ", ".join(f"fields[{i + 1}] AS f{i}" for i in range(len(names)))
        return (
            f"SELECT {listed}, fields IS NULL OR {_REPEATED} AS broken, line, number FROM "
            f"(SELECT try(json_extract_string(line, [{pointers}])) AS fields, line, number FROM {relation})"
        )

    def locate(self, engine: Engine, names: Sequence[str], problem: str, limit: int) -> list[BadPlace]:
        """Return the first places where something is wrong, by line number."""
        # Latin-1 leaves no line out, and what is wrong with a row does not depend on letters.
        every = line_relation(self.paths, self.compression, ", encoding='latin-1'")
        numbered = f"(SELECT line, row_number() OVER () AS number FROM {every})"
        rows = self._taken_apart(names, f"(FROM {numbered} WHERE trim(line) <> '')")
        bad = engine.rows(f"SELECT number, {problem} AS problem FROM ({rows}) WHERE problem IS NOT NULL LIMIT {limit}")
        rejects = [(number, why) for number, _, why in first_rejects(engine, self.paths[0], limit)]
        return [(number, why) for number, why in sorted({*bad, *rejects})[:limit]]


def pointer(name: str) -> str:
    """Return where a key is in an object (RFC 6901)."""
    return "/" + name.replace("~", "~0").replace("/", "~1")
