"""Costs of decisions, from a small CSV file."""

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats, Label
from oddsmith.files._labels import class_values, read_labels
from oddsmith.files.columns import list_columns

__all__ = ["Costs", "read_costs", "read_two_class_costs"]

#: What the column of the decisions may be called, if not by nothing at all.
_DECISIONS = ("", "decision", "decisions")


class Costs(NamedTuple):
    """Names and costs of decisions.

    Parameters
    ----------
    matrix : ndarray of shape (d, k)
        The cost of decision d when the class is c.
    decisions : tuple
        What the decisions are called.
    classes : tuple
        The label of each column.

    See Also
    --------
    read_costs : Returns them.
    """

    matrix: Floats
    decisions: tuple[Label, ...]
    classes: tuple[Label, ...]


def read_costs(path: str | os.PathLike[str], classes: Sequence[Label]) -> Costs:
    r"""Read what each decision costs when each class is the true one.

    The header names the classes, in any order. Each further line contains the costs of a decision: of the class in the
    same place of the header, or of the name in its first field where the header begins with "decision".

    Parameters
    ----------
    path : path-like
    classes : sequence
        The classes, in the order of the columns of the result.

    Returns
    -------
    Costs

    See Also
    --------
    oddsmith.decide.decide : Takes costs.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "costs.csv"
    >>> _ = path.write_text("decision,sick,well\ntreat,1,3\nwait,20,0\n")
    >>> read_costs(path, ["well", "sick"])
    Costs(matrix=array([[ 3.,  1.],
           [ 0., 20.]]), decisions=('treat', 'wait'), classes=('well', 'sick'))
    """
    titles, names, matrix = _table(path)
    values = class_values([*map(str, classes)], titles)
    wanted, found = values[: len(classes)], values[len(classes) :]
    if sorted(map(str, found)) != sorted(map(str, wanted)):
        got, hint = f"columns {list_columns(titles)}", "write one column per class, and nothing else"
        _check.fail(f"{path} must have the columns {list_columns([str(each) for each in classes])}", got, hint)
    place = [found.index(each) for each in wanted]
    if names is None:
        # Decisions are the classes, in the order of the header: rows and columns are put in order together.
        return Costs(matrix[np.ix_(place, place)], tuple(classes), tuple(classes))
    return Costs(matrix[:, place], tuple(names), tuple(classes))


def read_two_class_costs(path: str | os.PathLike[str], positive: str | None) -> Costs:
    """Read the costs of two classes, negative first; which is positive is told as for scores of two classes."""
    titles, _, _ = _table(path)
    if len(titles) != 2:
        got, hint = f"columns {list_columns(titles)}", "pass --scores, one column per class, for more"
        _check.fail(f"{path} must have one column for each of two classes", got, hint)
    return read_costs(path, read_labels(dict.fromkeys(titles, 0), positive)[1])


def _table(path: str | os.PathLike[str]) -> tuple[list[str], list[str] | None, Floats]:
    """Return the classes of the header, the names of decisions where there are any, and the costs."""
    text = io.StringIO(Path(path).read_text(encoding="utf-8-sig", errors="replace"))
    rows = [[field.strip() for field in row] for row in csv.reader(text) if any(field.strip() for field in row)]
    must = f"{path} must have a header of classes, and a line of costs for each decision"
    if len(rows) < 2 or len(rows[0]) < 2:
        _check.fail(must, f"{len(rows)} lines", "write it as CSV: a,b then 0,1 then 5,0")
    header, *lines = rows
    named = header[0].casefold() in _DECISIONS
    titles, names = (header[1:], [line[0] for line in lines]) if named else (header, None)
    if any(len(line) != len(header) for line in lines) or (names is None and len(lines) != len(titles)):
        sizes = " or ".join(str(size) for size in sorted({len(line) for line in lines}))
        got = f"{len(lines)} lines of {sizes} for {len(header)} columns"
        hint = "write a line for each class, or begin the header with decision and each line with its name"
        _check.fail(must, got, hint)
    if names is not None and len(set(names)) < len(names):
        _check.fail(f"decisions of {path} must differ", list_columns(names), "name each once")
    matrix = np.array([[_cost(path, field) for field in line[named:]] for line in lines])
    if not np.isfinite(matrix).all():
        _check.fail(f"costs in {path} must be finite", "a cost that is not", "write a large number instead")
    return titles, names, matrix


def _cost(path: str | os.PathLike[str], field: str) -> float:
    try:
        return float(field.replace("_", "?"))  # Python takes 1_0 for 10
    except ValueError:
        _check.fail(f"costs in {path} must be numbers", repr(field), "write one number in each field")
