"""A map applied where the rows are: the same kind of frame back, with one more column."""

import dataclasses
import warnings
from collections import Counter
from collections.abc import Mapping
from typing import Any

from oddsmith import _check
from oddsmith.errors import UnknownSegmentWarning
from oddsmith.frames.scored_frame import ScoredFrame
from oddsmith.frames.segments import Maps
from oddsmith.maps import segment_name

__all__ = ["apply"]

#: Rows of a lazy frame whose segments are looked up before anything else is computed.
_FIRST_ROWS = 1000


def apply(frame: Any, model: Any, score: str, name: str | None = None, by: str | None = None) -> Any:
    """Add the probability of each row to a frame, inside its own engine.

    Probabilities are those of NumPy, up to 1e-12. A missing score (null or NaN), or one that the model refuses, gives
    a missing probability; ±∞ give the limits. Engines that keep the order of rows keep it. Nothing is computed yet
    where the frame is lazy, with one exception: the segments of a model are compared with those of the first 1,000
    rows, unless DuckDB reads these from Arrow, whose streams can be read once only. Rows without a map of their
    segment are reported in a warning, and refused where no row has one.

    Parameters
    ----------
    frame : data frame or table of an engine
        pandas, Polars (eager or lazy), PyArrow, DuckDB relation, Dask, PySpark, Ibis: whatever narwhals reads.
    model : CalibrationModel, Calibrator, CalibrationMap, or mapping of segment to such
        Rows of a segment that a mapping lacks get a missing probability, and of one that a model lacks the model's own.
    score : str
        Column of scores.
    name : str, optional
        Of the new column: "probability" by default, or "calibrated_probability" where the frame has such a column, as
        those of Spark ML do.
    by : str, optional
        Column of segments: text, integers or bools. A model by segment knows its name.

    Examples
    --------
    >>> import polars as pl
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.frames.applying import apply
    >>> fitted = SquashCalibrator().fit([-1.0, 1.0], [0, 1])
    >>> apply(pl.LazyFrame({"margin": [0.0, None]}), fitted, "margin").collect()["probability"].to_list()
    [0.5, None]
    """
    maps = _maps(model, by)
    rows = ScoredFrame.of(frame, score, score, None, () if maps.by is None else (maps.by,))
    taken = {column.casefold() for column in rows.names.originals.values()}  # SQL ignores the case of names
    if name is None:
        name = "calibrated_probability" if "probability" in taken else "probability"
    if name.casefold() in taken:
        _check.fail("frame must not have the new column yet", repr(name), "choose another name")
    if maps.by is not None:
        maps = dataclasses.replace(maps, by=rows.by[0])
        _report_unknown(rows, maps)
    added = rows.names.for_new([name])
    (new,) = added
    with rows.engine.asking(rows.frame, "plan the probability"):
        return rows.names.restored(rows.engine.with_probability(rows, maps, new), added)


def _report_unknown(rows: ScoredFrame, maps: Maps) -> None:
    """Warn of rows whose segment has no map; refuse a frame in which none has one, and there is no map for the rest."""
    with rows.engine.asking(rows.frame, "list its segments"):
        sent = rows.engine.segments(rows, _FIRST_ROWS)
    if sent is None:
        return
    found = sent.values[~sent.missing].tolist()
    if rows.schema[rows.by[0]].is_integer():
        found = [str(key).removesuffix(".0") for key in found]  # a partition of Dask may have floats
    keys = Counter(map(str, found))
    unknown = {key: count for key, count in keys.items() if key not in maps.segments}
    none_known = bool(keys) and len(unknown) == len(keys)
    if not unknown or (maps.default is not None and not none_known):
        return
    column = rows.called(rows.by[0])
    looked = f"{'the first ' if rows.lazy else ''}{keys.total():,} rows"
    theirs, ours = (", ".join(map(repr, sorted(names)[:4])) for names in (unknown, maps.segments))
    got = f"{sum(unknown.values()):,} of {looked} in others ({theirs}; the maps are of {ours})"
    if none_known and maps.default is None:
        _check.fail(f"segments in column {column} must have maps", got, "check the type and the case of the keys")
    rest = "a missing probability" if maps.default is None else "the map of all rows"
    warnings.warn(
        f"Rows of unknown segments in column {column} get {rest}: {got}.", UnknownSegmentWarning, stacklevel=3
    )


def _maps(model: Any, by: str | None) -> Maps:
    """Return the maps of whatever was given."""
    from oddsmith.model import CalibrationModel, map_of

    if isinstance(model, CalibrationModel) and model.by is not None:
        segments = {key: part.map for key, part in model.segments.items()}
        return Maps(model.map, model.by if by is None else by, segments)
    if not isinstance(model, Mapping):
        if by is not None:
            _check.fail("by must be given for a model by segment only", f"by={by!r}", "leave it out")
        return Maps(map_of(model))
    if by is None:
        _check.fail(
            "by must name the column of the segments", "by=None", "pass the column that the tables were made by"
        )
    names = [_segment(key) for key in model]
    times = Counter(names)
    for key, text in zip(model, names, strict=True):
        if times[text] > 1:
            _check.fail(
                "segments must be different when their keys are written as text", f"{key!r} and another", "rename one"
            )
    return Maps(None, by, dict(zip(names, map(map_of, model.values()), strict=True)))


def _segment(key: Any) -> str:
    """Return a key of a mapping as the text that names its segment."""
    if isinstance(key, tuple):
        if len(key) != 1:
            _check.fail("maps must be by one column", f"the key {key!r}", "join the columns to one, and build by that")
        (key,) = key
    if isinstance(key, float) and not key.is_integer():
        _check.fail(
            "keys of segments must be text, integers or bools", f"{key!r}", "cast the column in the frame first"
        )
    return str(segment_name(key))
