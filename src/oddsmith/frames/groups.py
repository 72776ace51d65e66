"""What an engine sent, made into rows that can be used: bad values named, labels read, segments found."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Bools, Floats, Weights
from oddsmith.data import Grid
from oddsmith.errors import InvalidInputError
from oddsmith.frames import scored_frame as _limits
from oddsmith.frames.bad_rows import BadRows
from oddsmith.frames.engines.base import SentColumn
from oddsmith.frames.keys import plain_keys
from oddsmith.frames.scored_frame import HALF, ScoredFrame

#: Means this close to the smallest score of a group differ from it by rounding only; likewise squares.
_ROUNDING = 1e-12
_SQUARE_ROUNDING = 1e-11


@dataclass(frozen=True)
class Groups:
    """Rows by segment, cell and class."""

    keys: list[Any]  # names of the segments
    segment: NDArray[np.intp]  # which of them a group belongs to
    cells: Floats  # or exact scores
    positive: Bools
    rows: NDArray[np.int64]
    weight: Weights  # counts, or sums of float weights
    means: Floats  # of scores
    weight_sq: Floats | None = None  # sums of squared float weights
    variance: Floats | None = None  # of scores, NaN where rounding hides it
    labels: tuple[Any, Any] = (None, None)  # the negative and the positive one, as far as there are such
    dropped: BadRows | None = None


def read_groups(
    frame: ScoredFrame,
    pos_label: Any,
    allowed: Callable[[BadRows], BadRows | None],
    grid: Grid | None,
    *,
    squares: bool = False,
) -> Groups:
    """Ask a frame for its groups and make sense of them; ``allowed`` refuses bad rows, or tells what is left out."""
    sent = frame.groups(grid, squares=squares)
    everything = len(sent["rows"].values)
    if not everything:
        _check.fail("frame must contain at least one row", "0 rows", "check how rows were selected")
    if grid is not None:
        refuse_overflow(sent["cell"].values, np.where(sent["least"].missing, np.nan, sent["least"].values), grid)
    bad, found = _bad_values(frame, sent)
    dropped = allowed(found)
    kept = ~bad
    if "odd" in sent:
        kept &= sent["odd"].values != 0  # a row of weight 0 is absent
    if not kept.any():
        _check.fail("frame must contain rows that can be used", "none: all weights are 0", "check the weights")
    columns = {name: column.values[kept] for name, column in sent.items()}
    positive, labels = positive_labels(columns["label"], frame.original_name(frame.label), pos_label)
    if frame.lazy:
        refuse_many_groups(everything, grid)
    rows = columns["rows"].astype(np.int64)
    weight = rows if frame.weight is None else _weight(columns, frame.original_name(frame.weight))
    cells = columns["cell"].astype(np.float64)
    keys, segment = _segments(frame, columns)
    means = cells if grid is None else _means(columns, weight, grid)
    weight_sq = None if frame.counts else columns["weight_sq"].astype(np.float64)
    variance = None
    if squares:
        mean, square = columns["sum"] / weight, columns["square"] / weight
        variance = cell_variance(square, mean, _equal(columns, weight))
    return Groups(keys, segment, cells, positive, rows, weight, means, weight_sq, variance, labels, dropped)


def refuse_many_groups(n: int, grid: Grid | None) -> None:
    """Refuse more groups than an engine may send."""
    if n > _limits.MAX_GROUPS:
        what = "distinct scores" if grid is None else f"cells of width {grid.width:g}"
        hint = 'pass resolution="auto", or a width such as 2**-10' if grid is None else "pass a wider resolution"
        _check.fail(f"{what} times labels and keys must be at most {_limits.MAX_GROUPS:,}", "more", hint)


def refuse_overflow(cells: Floats, least: Floats, grid: Grid) -> None:
    """Refuse cells too narrow to be numbered; ``least`` is a score of each."""
    far = np.isinf(cells) & np.isfinite(least)
    if far.any():
        largest = float(np.abs(least[far]).max())
        _check.fail(
            "resolution must suit the size of the scores", f"{grid.width:g} for {largest:g}", "pass a wider one"
        )


def _bad_values(frame: ScoredFrame, sent: dict[str, SentColumn]) -> tuple[Bools, BadRows]:
    """Return which groups cannot be used, and why."""
    rows = sent["rows"].values
    roles = {"cell": "score", "label": "label"} | {f"key{i}": "segment" for i in range(len(frame.by))}
    if frame.weight is not None:
        roles["odd"] = "weight"
        _refuse_odd_weights(sent, frame.names.originals[frame.weight])
    bad = np.zeros(len(rows), dtype=bool)
    reasons: Counter[str] = Counter()
    for column, role in roles.items():
        values, missing = sent[column]
        infinite = np.isinf(values) & ~missing if values.dtype.kind == "f" else np.zeros(len(rows), dtype=bool)
        reasons[f"{role} is missing"] += int(rows[missing].sum())
        reasons[f"{role} is not finite"] += int(rows[infinite].sum())
        bad |= missing | infinite
    return bad, BadRows(int(rows[bad].sum()), int(rows.sum()), +reasons)


def _refuse_odd_weights(sent: dict[str, SentColumn], name: str) -> None:
    """Refuse weights below 0, and those that are too small or too large for their sums."""
    values, missing = sent["odd"]
    held = values[~missing & (values != 0) & (values != 1)]
    if np.any(held < 0):
        lowest = held[held < 0][0]
        _check.fail(f"column {name!r} must contain weights ≥ 0", f"{lowest:g}", "drop the row or use weight 0")
    finite = held[np.isfinite(held)]
    if len(finite):
        _check.refuse_large_sum(float(finite.max()), f"column {name!r}")
        _check.refuse_tiny_weight(float(finite.min()), name)


def _weight(columns: dict[str, NDArray[Any]], name: str) -> Weights:
    """Return the weight of each group; the sum of all must have room too."""
    if "weight" in columns:
        weight = columns["weight"].astype(np.float64)
        _check.refuse_large_sum(_check.weight_sum(weight), f"column {name}")
        return weight
    high, low = (columns[half].astype(np.int64) for half in ("high", "low"))
    total = int(_check.weight_sum(high)) * HALF + int(_check.weight_sum(low))
    _check.refuse_large_sum(total, f"column {name}")
    return high * HALF + low


def positive_labels(labels: NDArray[Any], name: str, pos_label: Any) -> tuple[Bools, tuple[Any, Any]]:
    """Read labels as `ScoreTable.from_arrays` does; return which are positive, and what both are called."""
    distinct = list(dict.fromkeys(labels.tolist()))
    try:
        coding = _check.as_labels(np.array(distinct), len(distinct), pos_label)
    except InvalidInputError as error:
        msg = f"column {name}: {error}"
        raise InvalidInputError(msg) from None
    sides: dict[bool, Any] = {bool(side): label for side, label in zip(coding.positive, distinct, strict=True)}
    positive = labels == sides[True] if True in sides else np.zeros(len(labels), dtype=bool)
    return np.asarray(positive), (sides.get(False), sides.get(True))


def _means(columns: dict[str, NDArray[Any]], weight: Weights, grid: Grid) -> Floats:
    """Return the mean score of each group, inside its cell."""
    if not np.isfinite(columns["sum"]).all():
        _check.fail("sums of scores must be finite", "an overflow", "divide the scores by their largest")
    # A group of equal scores must stand exactly at them: a step of a map may begin right there.
    means = np.where(_equal(columns, weight), columns["least"], columns["sum"] / weight)
    return grid.inside(means, columns["least"].astype(np.float64))


def cell_variance(square: Floats, mean: Floats, equal: Bools) -> Floats:
    """Return the variance of the scores of each group, from the mean square, as far as rounding lets it be seen."""
    variance: Floats = square - mean**2
    variance[variance <= _SQUARE_ROUNDING * square] = np.nan
    variance[equal] = 0.0
    return variance


def _equal(columns: dict[str, NDArray[Any]], weight: Weights) -> Bools:
    """Return which groups hold equal scores: their mean is the smallest score, up to rounding."""
    least = columns["least"]
    equal: Bools = np.abs(columns["sum"] / weight - least) <= _ROUNDING * np.abs(least)
    return equal


def _segments(frame: ScoredFrame, columns: dict[str, NDArray[Any]]) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the keys of the segments in order, and which one each group belongs to."""
    if not frame.by:
        return [None], np.zeros(len(columns["rows"]), dtype=np.intp)
    found = [_distinct(columns[f"key{i}"], name) for i, name in enumerate(frame.by)]
    names = [
        plain_keys(distinct, frame.schema[name], local=frame.engine.has_local_times)
        for (distinct, _), name in zip(found, frame.by, strict=True)
    ]
    shape = [len(distinct) for distinct in names]
    codes = np.ravel_multi_index([code.reshape(-1) for _, code in found], shape)
    present, segment = np.unique(codes, return_inverse=True)
    places = zip(*np.unravel_index(present, shape), strict=True)
    keys = [tuple(distinct[i] for distinct, i in zip(names, place, strict=True)) for place in places]
    return keys, segment.reshape(-1)


def _distinct(keys: NDArray[Any], name: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the different keys of a column in order, and which one each is."""
    try:
        return np.unique(keys, return_inverse=True)
    except TypeError:
        kinds = " and ".join(sorted({type(key).__name__ for key in keys}))
        must = f"column {name!r} of segments must have values of one type"
        _check.fail(must, kinds, "cast the column to text in the frame first")
