"""From a frame to score tables."""

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from oddsmith.data import Grid, Origin, ScoreTable, pool
from oddsmith.errors import DroppedRowsWarning
from oddsmith.frames.bad_rows import BadRowPolicy, BadRows
from oddsmith.frames.groups import Groups, read_groups
from oddsmith.frames.keys import refuse_equal_keys
from oddsmith.frames.resolution import settle
from oddsmith.frames.scored_frame import ScoredFrame


def tables_from_frame(
    frame: Any,
    score: str,
    label: str,
    weight: str | None = None,
    by: str | Sequence[str] | None = None,
    resolution: float | Literal["auto"] | None = None,
    pos_label: Any = None,
    bad_rows: BadRowPolicy = "refuse",
) -> ScoreTable | dict[Any, ScoreTable]:
    """Build a score table, or one for each key; see `ScoreTable.from_frame`.

    Parameters
    ----------
    frame : data frame or table of an engine
        Rows in the engine's own type.
    score : str
        The column of scores.
    label : str
        The column of labels.
    weight : str, optional
        The column of weights.
    by : str or list of str, optional
        The column, or columns, of the segments.
    resolution : float or "auto", optional
        The width of cells in which scores are pooled.
    pos_label : object, optional
        The positive label.
    bad_rows : {"refuse", "skip"}, default "refuse"
        What to do with rows that cannot be used.

    Returns
    -------
    ScoreTable or dict[Any, ScoreTable]

    See Also
    --------
    class_tables : For several classes.
    oddsmith.ScoreTable.from_frame : The usual way to call it.
    """
    keys = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    rows = ScoredFrame.of(frame, score, label, weight, keys)
    allowed = partial(BadRows.allow, policy=bad_rows, name="the frame")
    grid, groups = settle(resolution, rows.extent, partial(read_groups, rows, pos_label, allowed))
    if groups.dropped is not None:
        # At the line that called from_frame.
        warnings.warn(f"left out: {groups.dropped.message}", DroppedRowsWarning, stacklevel=3)
    tables = tables_of(groups, grid)
    if by is None:
        return tables[0]
    found = [key[0] for key in groups.keys] if isinstance(by, str) else groups.keys
    refuse_equal_keys(found)
    return dict(zip(found, tables, strict=True))


def tables_of(groups: Groups, grid: Grid | None) -> list[ScoreTable]:
    """Return the table of each segment."""
    order = np.argsort(groups.segment, kind="stable")
    ends = np.cumsum(np.bincount(groups.segment, minlength=len(groups.keys)))
    return [_table(groups, part, grid) for part in np.split(order, ends[:-1])]


def _table(groups: Groups, part: NDArray[np.intp], grid: Grid | None) -> ScoreTable:
    positive, weight, means = groups.positive[part], groups.weight[part], groups.means[part]
    columns: dict[str, NDArray[Any]] = {"": weight}
    if groups.weight_sq is not None:
        columns["_sq"] = groups.weight_sq[part]
    if grid is not None:
        columns["_sum"] = weight * means
    both = {f"pos{name}": column * positive for name, column in columns.items()}
    both |= {f"neg{name}": column * ~positive for name, column in columns.items()}
    rows = groups.rows[part] if groups.weight_sq is not None else weight
    return pool(means, both, int(rows.sum()), grid, Origin(labels=groups.labels))
