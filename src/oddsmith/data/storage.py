"""Files of score tables: arrays, and everything else as JSON. Nothing in them could run."""

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith.atomic import write_atomically
from oddsmith.data.rows import Meaning
from oddsmith.data.table import ScoreTable

_FORMAT = "oddsmith table 1"
_COLUMNS = ("scores", "pos", "neg", "pos_sq", "neg_sq", "pos_sum", "neg_sum")
_LABELS = (type(None), str, int, float, bool)
_MEMBERS = ("rows", "resolution", "log_odds_cells", "in_sample")


def save_table(table: ScoreTable, path: str | os.PathLike[str], *, force: bool) -> None:
    """Write a table; see `ScoreTable.save`."""
    if not len(table):
        _check.fail("a table must contain rows to be saved", f"{table!r}", "check which tables were subtracted")
    if any(type(label) not in _LABELS for label in table.labels):
        _check.fail("labels must be text, numbers or bools to be saved", f"{table.labels!r}", "write them as text")
    head = {"format": _FORMAT, **{name: getattr(table, name) for name in _MEMBERS}, "labels": table.labels}
    if table.meaning != "score":
        head["meaning"] = table.meaning
    arrays: dict[str, NDArray[Any]] = {"scores": table.scores, **table._columns()}
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays, head=np.frombuffer(json.dumps(head).encode(), np.uint8))
    write_atomically(path, file.getvalue(), force=force)


def load_table(path: str | os.PathLike[str]) -> ScoreTable:
    """Read a table; see `ScoreTable.load`."""
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as file:
            head = json.loads(file["head"].tobytes())
            columns = {column: file.get(column) for column in _COLUMNS}
        flaw = _flaw_of_head(head) or _flaw_of_columns(columns)
        if flaw is None:
            members = {member: head[member] for member in _MEMBERS}
            return ScoreTable(**columns, **members, labels=tuple(head["labels"]), meaning=head.get("meaning", "score"))
    except FileNotFoundError:
        _check.fail("the file of the table must exist", os.fspath(path), "check the path")
    except (OSError, EOFError, LookupError, TypeError, AttributeError, ValueError, zipfile.BadZipFile) as error:
        flaw = f"{type(error).__name__}: {error}"
    return _check.fail(f"{Path(path).name} must be a file that ScoreTable.save wrote", flaw, "give another path")


def _flaw_of_columns(columns: dict[str, Any]) -> str | None:
    """Describe what no table could contain; None where all is well."""
    scores, pos, neg = (columns[name] for name in ("scores", "pos", "neg"))
    kind = np.int64 if columns["pos_sq"] is None else np.float64
    for name, column in columns.items():
        if column is None:
            continue
        if column.shape != scores.shape or column.ndim != 1 or not len(column):
            return f"column {name!r} of shape {column.shape} for scores of shape {scores.shape}"
        if column.dtype != (kind if name in ("pos", "neg") else np.float64):
            return f"column {name!r} of type {column.dtype}"
        if not np.isfinite(column).all() and name != "scores":
            return f"column {name!r} with values that are not finite"
        if name not in ("scores", "pos_sum", "neg_sum") and column.min() < 0:
            return f"column {name!r} with negative weights"
    for pair in ("sq", "sum"):
        if (columns[f"pos_{pair}"] is None) != (columns[f"neg_{pair}"] is None):
            return f"one of the columns 'pos_{pair}' and 'neg_{pair}'"
    if not np.all(scores[1:] > scores[:-1]) or np.isnan(scores).any():
        return "scores that do not ascend"
    if not np.all((pos > 0) | (neg > 0)):
        return "scores without weight"
    return None if sum(map(_check.weight_sum, (pos, neg))) <= _check.LARGEST_SUM else "weights with a sum above 2**63"


def _flaw_of_head(head: dict[str, Any]) -> str | None:
    """Describe what `save_table` would not have written; None where all is well."""
    if head["format"] != _FORMAT:
        return f"format {head['format']!r}"
    width, labels = head["resolution"], head["labels"]
    if type(head["rows"]) is not int or head["rows"] < 1:
        return f"rows={head['rows']!r}"
    if width is not None and not (type(width) is float and 0 < width < np.inf and np.frexp(width)[0] == 0.5):
        return f"resolution={width!r}"
    for name in ("log_odds_cells", "in_sample"):
        if type(head[name]) is not bool:
            return f"{name}={head[name]!r}"
    if (meaning := head.get("meaning", "score")) not in get_args(Meaning):
        return f"meaning={str(meaning)[:60]}"
    if head["log_odds_cells"] and width is None:
        return "log_odds_cells=True without a resolution"
    known = type(labels) is list and len(labels) == 2 and all(type(label) in _LABELS for label in labels)
    if not known or (labels[0] is not None and labels[0] == labels[1]):
        return f"labels={str(labels)[:60]}"
    return None
