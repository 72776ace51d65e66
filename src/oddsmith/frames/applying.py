"""Models applied where the rows are: the same kind of frame back, with the probabilities as new columns."""

import dataclasses
import itertools
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, cast

import narwhals.stable.v2 as nw

from oddsmith import _check
from oddsmith.errors import UnknownSegmentWarning
from oddsmith.export import input_columns, joint_model_of, labels_of_one_kind, new_columns, to_sql
from oddsmith.frames.engines.base import KEY_SEPARATOR
from oddsmith.frames.plans import JointPlan
from oddsmith.frames.scored_frame import ScoredFrame
from oddsmith.frames.segments import Maps
from oddsmith.maps import JointMap, Keys, Segment, segment_name
from oddsmith.model import Model, map_of

__all__ = ["apply"]

#: Rows of a lazy frame whose segments are looked up before anything else is computed.
_FIRST_ROWS = 1000

#: Frames of one query may come from several statements, whose views must not have the same name.
_VIEW_NUMBERS = itertools.count()

#: In the name of a segment of several columns: any value that no other segment has, or a missing one.
_OTHER = "\x1e"


def apply(
    frame: Any,
    model: Any,
    scores: str | Sequence[str] | None = None,
    name: str | None = None,
    by: str | Sequence[str] | None = None,
) -> Any:
    """Add the probabilities of each row to a frame, inside its own engine.

    A model that reads one score of two classes adds one column, the probability of the positive class. All others add
    one column per class and the most probable label, of equal ones the first, in a column called "decision".

    Probabilities are those of NumPy, up to 1e-12. A missing score (null or NaN), or one that the model refuses, gives a
    missing probability; ±∞ give the limits. Engines that keep the order of rows keep it. Nothing is computed yet where
    the frame is lazy, with one exception: the segments of a model are compared with those of the first 1,000 rows,
    unless DuckDB reads these from Arrow, whose streams can be read once only. Rows without a map of their segment are
    reported in a warning, and refused where no row has one. Of several classes, a row with a missing value, or with one
    that is not a probability where the model reads these, gives missing values in all new columns; a logit of −inf
    masks its class, whose probability is 0, and +inf is read as 1e300.

    Parameters
    ----------
    frame : data frame or table of an engine
        pandas, Polars (eager or lazy), PyArrow, DuckDB relation, Dask, PySpark or Ibis, as narwhals reads them.
    model : Model, fitted calibrator or scaling, CalibrationMap or JointMap, or mapping of segment to calibrator or map
        Rows of a segment that a mapping lacks get a missing probability, and of one that a model lacks the model's own.
    scores : str or sequence of str, optional
        Column of the scores; for several classes the columns of logits or probabilities, in the order of the classes.
        By default those of the fit.
    name : str, optional
        Name of the new column: "probability" by default, or "calibrated_probability" where the frame has such a column,
        as those of Spark ML do. With several classes the part of the names before "_" and the label.
    by : str or sequence of str, optional
        Columns of segments: text, integers or bools. A model by segment has their names. Keys of a mapping by several
        columns are tuples, as `ScoreTable.from_frame` makes them.

    Returns
    -------
    frame

    See Also
    --------
    oddsmith.export.to_sql : The same as text.
    oddsmith.files.apply_model : For files.

    Examples
    --------
    >>> import polars as pl
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.frames.applying import apply
    >>> fitted = SquashCalibrator().fit([-1.0, 1.0], [0, 1])
    >>> apply(pl.LazyFrame({"margin": [0.0, None]}), fitted, "margin").collect()["probability"].to_list()
    [0.5, None]
    """
    several = None if isinstance(model, Mapping) else joint_model_of(model)
    if several is not None:
        return _with_classes(frame, several, scores, f"{name or 'probability'}_", by)
    maps = _maps(model, by)
    score = _score_column(model, scores)
    rows = ScoredFrame.of(frame, score, score, None, maps.by)
    taken = {column.casefold() for column in rows.names.originals.values()}  # SQL ignores the case of names
    if name is None:
        name = "calibrated_probability" if "probability" in taken else "probability"
    if name.casefold() in taken:
        _check.fail("frame must not have the new column yet", repr(name), "choose another name")
    maps = dataclasses.replace(maps, by=rows.by)
    if maps.by:
        _report_unknown(rows, maps)
    added = rows.names.for_new([name])
    (new,) = added
    with rows.engine.translate_errors(rows.frame, "plan the probability"):
        if len(maps.by) < 2:
            return rows.names.restore(rows.engine.with_probability(rows, maps, new), added)
        # It is dropped afterwards.
        key = f"{rows.spare}_keys"
        keyed = _add_keys(rows, maps, key)
        native = rows.engine.with_probability(keyed, dataclasses.replace(maps, by=(key,)), new)
        return rows.names.restore(nw.from_native(native).drop(key).to_native(), added)


def _add_keys(rows: ScoredFrame, maps: Maps, name: str) -> ScoredFrame:
    """Return rows with the keys of all columns as one text, in a column of that name."""
    if not (values := _values_of_columns(maps)):
        return rows.with_frame(rows.frame.with_columns(rows.segment().alias(name)), (name,))
    parts = [f"{name}{place}" for place in range(len(values))]
    frame = rows.frame.with_columns(
        **{
            part: nw.when(key.is_in(known)).then(key).otherwise(nw.lit(_OTHER))
            for part, key, known in zip(parts, rows.keys(), values, strict=True)
        }
    )
    joined = nw.concat_str([nw.col(part) for part in parts], separator=KEY_SEPARATOR)
    return rows.with_frame(frame.with_columns(joined.alias(name)).drop(*parts), (name,))


def _values_of_columns(maps: Maps) -> list[list[str]]:
    """Return the values of each column that some segment has, where segments are of any other values, too."""
    if not any(_OTHER in name for name in maps.segments):
        return []
    keys = zip(*(name.split(KEY_SEPARATOR) for name in maps.segments), strict=True)
    return [sorted(set(own) - {_OTHER}) for own in keys]


def _name_in_maps(name: str, values: Sequence[Collection[str]]) -> str:
    """Return the name of a segment as maps have it: where they know some of its values only, others are any other."""
    keys = name.split(KEY_SEPARATOR)
    known = [key in own for key, own in zip(keys, values, strict=False)]
    if not any(known):
        return name
    return KEY_SEPARATOR.join(key if is_known else _OTHER for key, is_known in zip(keys, known, strict=True))


def _with_classes(
    frame: Any, model: Model, scores: str | Sequence[str] | None, prefix: str, by: str | Sequence[str] | None
) -> Any:
    """Add the probability of each class, and the decision, to a frame."""
    if scores is None and model.column_names is None:
        _check.fail("scores must name the columns of the classes", "scores=None", "name one column per class")
    given = input_columns(model, [scores] if isinstance(scores, str) and model.map.columns == 1 else scores)
    keys = _segment_columns(model, by)
    rows = ScoredFrame.of(frame, given[0], given[0], None, keys, given)
    added = rows.names.for_new(new_columns(model, prefix, rows.names.originals.values()))
    *probs, decision = added
    assert isinstance(model.map, JointMap)
    labels = labels_of_one_kind(model)
    plan = JointPlan(model.map, rows.scores, probs, decision, labels)
    if keys:
        segments: dict[str, Any] = {_join_keys(name): part.map for name, part in model.segments.items()}
        _report_unknown(rows, Maps(cast("Any", model.map), rows.by, segments))
        plan = plan._replace(segments=segments)
    with rows.engine.translate_errors(rows.frame, "plan the probabilities"):
        if not rows.lazy or not (keys or rows.engine.prefers_statements):
            return rows.names.restore(rows.engine.with_probabilities(rows, plan), added)
        native, values = rows.frame.to_native(), [*(0.5 for _ in probs), labels[0]]
        known = dict(zip(added, values, strict=True))
        batches = rows.engine.with_batches(native, known, partial(_batch, rows=rows, plan=plan))
        if batches is not None:
            return rows.names.restore(batches, added)
        # Bools are "true" and "false" as text, which is not what every database makes of them.
        texts = {name: f"{rows.spare}_{name}" for name in rows.by if rows.has_bools(name)}
        if texts:
            added_keys = {texts[name]: key for name, key in zip(rows.by, rows.keys(), strict=True) if name in texts}
            native = rows.frame.with_columns(**added_keys).to_native()
        by = tuple(texts.get(name, name) for name in rows.by)
        plain = dataclasses.replace(model, by=by[0] if len(by) == 1 else by) if keys else model
        view, own = f"{rows.spare}_rows{next(_VIEW_NUMBERS)}", f"{rows.spare}_p"
        write = partial(_statement, plain, table=view, columns=list(rows.scores), name=own)
        named = dict(zip(new_columns(model, f"{own}_", rows.schema), added, strict=True))
        made = rows.engine.with_statement(native, view, write, dict(zip(named, values, strict=True)))
        if texts:
            made = nw.from_native(made).drop(*texts.values()).to_native()
        if rows.engine.renames:
            made = rows.engine.rename(made, {name: name for name in rows.schema} | named)
        else:
            made = nw.from_native(made).rename(named).to_native()
        return rows.names.restore(made, added)


def _statement(model: Model, dialect: str, **options: Any) -> str:
    """Return the statement of a model in a dialect."""
    return to_sql(model, dialect=dialect, **options)


def _batch(part: Any, *, rows: ScoredFrame, plan: JointPlan) -> Any:
    """Return a batch in memory with the columns of a plan."""
    here = ScoredFrame.of(part, rows.score, rows.score, None, rows.by, rows.scores)
    return here.engine.with_probabilities(here, plan)


def _segment_columns(model: Model, by: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns of segments: those given, or of the fit."""
    given, own = (by,) if isinstance(by, str) else tuple(by or ()), model.segment_columns
    if given and not own:
        _check.fail("by must be given for a model by segment only", f"by={by!r}", "leave it out")
    if given and len(given) != len(own):
        _check.fail(f"by must name {len(own)} columns", f"by={by!r}", f"name columns of {', '.join(own)}")
    return given or own


def _score_column(model: Any, scores: str | Sequence[str] | None) -> str:
    """Return the column of scores: the one given, or that of the fit."""
    fitted_to = getattr(model, "column_names", None)
    names = fitted_to if scores is None else [scores] if isinstance(scores, str) else scores
    if not isinstance(names, Sequence):
        _check.fail("scores must name the column of scores", f"{scores=}", "pass its name, as text")
    if len(names) != 1:
        _check.fail("scores must be one column for a model of one score", f"{len(names)} names", "pass one name")
    return str(names[0])


def _report_unknown(rows: ScoredFrame, maps: Maps) -> None:
    """Warn of rows whose segment has no map; refuse a frame in which none has one, and there is no map for the rest."""
    with rows.engine.translate_errors(rows.frame, "list its segments"):
        sent = rows.engine.segments(rows, _FIRST_ROWS)
    if sent is None:
        return
    found, values = sent.values[~sent.missing].tolist(), _values_of_columns(maps)
    if len(rows.by) == 1 and rows.schema[rows.by[0]].is_integer():
        found = [str(key).removesuffix(".0") for key in found]  # a partition of Dask may have floats
    keys: Counter[str | None] = Counter(_name_in_maps(str(key), values) for key in found)
    if not values and (without := int(sent.missing.sum())):
        keys[None] = without
    unknown = {key: count for key, count in keys.items() if key not in maps.segments}
    none_known = bool(keys) and len(unknown) == len(keys)
    if not unknown or (maps.default is not None and not none_known):
        return
    column = f"column{'s' * (len(rows.by) > 1)} {' and '.join(map(rows.original_name, rows.by))}"
    looked = f"{'the first ' if rows.lazy else ''}{keys.total():,} rows"
    theirs, ours = (
        ", ".join(map(_show, sorted(names, key=lambda name: (name is None, name))[:4]))
        for names in (unknown, maps.segments)
    )
    got = f"{sum(unknown.values()):,} of {looked} in others ({theirs}; the maps are of {ours})"
    if none_known and maps.default is None:
        _check.fail(f"segments in {column} must have maps", got, "check the type and the case of the keys")
    rest = "a missing probability" if maps.default is None else "the map of all rows"
    warnings.warn(f"Rows of unknown segments in {column} get {rest}: {got}.", UnknownSegmentWarning, stacklevel=3)


def _show(name: str | None) -> str:
    """Return the name of a segment as messages show it."""
    if name is None:
        return "a missing key"
    keys = name.split(KEY_SEPARATOR)
    return repr(name) if len(keys) == 1 else repr(tuple(keys))


def _maps(model: Any, by: str | Sequence[str] | None) -> Maps:
    """Return the maps of whatever was given."""
    if isinstance(model, Model) and model.by is not None:
        columns = _segment_columns(model, by)
        model = model.expand_effects()
        return Maps(
            map_of(model.map), columns, {_join_keys(name): map_of(part) for name, part in model.segments.items()}
        )
    columns = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    if not isinstance(model, Mapping):
        if columns:
            _check.fail("by must be given for a model by segment only", f"by={by!r}", "leave it out")
        return Maps(map_of(model))
    if not columns:
        _check.fail(
            "by must name the columns of the segments", f"by={by!r}", "pass the columns that the tables were made by"
        )
    if not model:
        _check.fail("a mapping of segments must have maps", "none", "fit one per segment")
    names = [_segment(key, len(columns)) for key in model]
    times = Counter(names)
    for key, text in zip(model, names, strict=True):
        if times[text] > 1:
            _check.fail(
                "segments must be different when their keys are written as text", f"{key!r} and another", "rename one"
            )
    return Maps(None, columns, dict(zip(names, map(map_of, model.values()), strict=True)))


def _join_keys(name: Segment | Keys) -> str:
    """Return the name of a segment as one text."""
    if isinstance(name, str):
        return name
    if any(mark in key for key in name if key is not None for mark in (KEY_SEPARATOR, _OTHER)):
        must = "keys of several columns must not contain the characters U+001E and U+001F, which separate them"
        _check.fail(must, repr(name), "replace it in the frame, and fit again")
    return KEY_SEPARATOR.join(_OTHER if key is None else key for key in name)


def _segment(key: Any, columns: int) -> str:
    """Return a key of a mapping as the text that names its segment."""
    keys = key if isinstance(key, tuple) else (key,)
    if len(keys) != columns:
        _check.fail(f"keys of segments must be as long as by, {columns}", f"the key {key!r}", "name all columns")
    for each in keys:
        if isinstance(each, float) and not each.is_integer():
            _check.fail(
                "keys of segments must be text, integers or bools", f"{each!r}", "cast the column in the frame first"
            )
    names = tuple(str(segment_name(each)) for each in keys)
    return _join_keys(names[0] if len(names) == 1 else names)
