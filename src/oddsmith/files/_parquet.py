"""Parquet files."""

import base64
import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec

from oddsmith import _check
from oddsmith.files._engine import Engine
from oddsmith.files._layout import TypedColumns, path_list
from oddsmith.frames import identifier


@dataclass(frozen=True)
class Parquet(TypedColumns):
    """Columns with types, of which only those in use are read."""

    @staticmethod
    def open(engine: Engine, paths: Sequence[str], compression: str) -> "Parquet":
        """Read names and types from the files' footers."""
        del compression  # within the file, if any
        of_all = Parquet(tuple(paths), (), ())
        names, types, *_ = zip(*engine.rows(f"DESCRIBE SELECT * FROM {of_all.relation()}"), strict=True)
        stored = {name for (name,) in engine.rows(f"SELECT name FROM parquet_schema({path_list(paths[:1])})")}
        for name in stored - set(names):
            # The engine has called it otherwise if another column differs by case alone.
            if twin := next((other for other in names if other.casefold() == name.casefold()), None):
                must = "names of columns must differ by more than case"
                _check.fail(must, f"{twin!r} and {name!r}", "rename or drop one of them where the file is made")
        return replace(of_all, columns=names, types=types)

    def is_duration(self, engine: Engine, name: str) -> bool:
        """Tell whether whole numbers stand for durations, which the format has no type for: writers note it aside."""
        if self.type_of(name) != "BIGINT":
            return False
        noted = f"SELECT key, value FROM parquet_kv_metadata({path_list(self.paths[:1])})"
        found = {bytes(key): bytes(value) for key, value in engine.rows(noted)}
        with contextlib.suppress(AttributeError, KeyError, OSError, TypeError, ValueError):  # anything may be noted
            if b"pandas" in found:
                columns = json.loads(found[b"pandas"])["columns"]
                return any(each["name"] == name and "timedelta" in each["numpy_type"] for each in columns)
            if b"ARROW:schema" in found and find_spec("pyarrow") is not None:
                pa = import_module("pyarrow")
                schema = pa.ipc.read_schema(pa.BufferReader(base64.b64decode(found[b"ARROW:schema"])))
                return bool(pa.types.is_duration(schema.field(name).type))
        return False

    def relation(self, *, note_rejects: bool = False) -> str:
        """Return the files as a relation."""
        del note_rejects  # a file of this kind is readable or not, never by rows
        # Columns are told apart by name, not by place.
        options = f"union_by_name={str(len(self.paths) > 1).lower()}{self.key_options}"
        return f"read_parquet({path_list(self.paths)}, {options})"

    def own_field(self, name: str) -> str:
        """Return an expression for a column."""
        return f"source.{identifier(name)}"
