"""A map applied where the rows are: the same kind of frame back, with one more column."""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import Any

from oddsmith import _check
from oddsmith.frames.scored_frame import ScoredFrame
from oddsmith.frames.segments import Maps
from oddsmith.maps.segments import segment_name

__all__ = ["apply"]


def apply(frame: Any, model: Any, score: str, name: str = "probability", by: str | None = None) -> Any:
    """Add the probability of each row to a frame, inside its own engine.

    Nothing is computed yet where the frame is lazy. Probabilities are those of NumPy, up to 1e-12. A missing score
    (null or NaN), or one that the model refuses, gives a missing probability; ±∞ give the limits. Engines that keep
    the order of rows keep it.

    Parameters
    ----------
    frame : data frame or table of an engine
        pandas, Polars (eager or lazy), PyArrow, DuckDB relation, Dask, PySpark, Ibis: whatever narwhals reads.
    model : CalibrationModel, Calibrator, CalibrationMap, or mapping of segment to such
        Rows of a segment that a mapping lacks get a missing probability, and of one that a model lacks the model's own.
    score : str
        Column of scores.
    name : str, default "probability"
        Of the new column.
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
    # SQL does not tell names apart by case.
    if name.casefold() in (column.casefold() for column in rows.names.originals.values()):
        _check.fail("frame must not have the new column yet", repr(name), "choose another name")
    if maps.by is not None:
        maps = dataclasses.replace(maps, by=rows.by[0])
    added = rows.names.for_new([name])
    (new,) = added
    with rows.engine.asking(rows.frame, "plan the probability"):
        return rows.names.restored(rows.engine.with_probability(rows, maps, new), added)


def _maps(model: Any, by: str | None) -> Maps:
    """Return the maps of whatever was given."""
    from oddsmith.modelfile import CalibrationModel, map_of

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
    names = [str(segment_name(key)) for key in model]
    times = Counter(names)
    for key, text in zip(model, names, strict=True):
        if times[text] > 1:
            _check.fail(
                "segments must be different when their keys are written as text", f"{key!r} and another", "rename one"
            )
    return Maps(None, by, dict(zip(names, map(map_of, model.values()), strict=True)))
