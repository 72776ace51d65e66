"""What a model forecasts for rows with labels: tables of log-odds, one for each thing that is watched."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import ScoreRows, ScoreTable
from oddsmith.maps import SUREST, InputMap, LinearMap, Segment, StepMap, logit, rows_by_segment
from oddsmith.model import ClassCounts, DataSummary, Model, map_of

__all__ = ["class_forecasts", "has_steps", "positive_labels", "readings", "steps_of", "values_of"]

#: What is watched of several classes before each of them.
DECIDED = "decided class"


def readings(model: Model) -> Callable[[Floats], Floats]:
    """Return the log-odds of a model, where P of 0 and 1 are read as what as many rows as those of the fit can show."""
    return lambda scores: _possible(map_of(model.map).log_odds(scores), model)


def _possible(log_odds: Floats, model: Model) -> Floats:
    if not isinstance(model.data, DataSummary):
        return log_odds
    return np.where(np.abs(log_odds) < SUREST, log_odds, np.copysign(math.log(2 * model.data.rows), log_odds))


def possible_classes(log_prob: Floats, model: Model) -> Floats:
    """Return log-probabilities of classes where P of 0 is read as what as many rows as those of the fit can show."""
    if not isinstance(model.data, ClassCounts):
        return np.maximum(log_prob, -SUREST)
    found = np.where(log_prob > -SUREST, log_prob, -math.log(2 * model.data.rows + 1))
    return np.asarray(found - np.logaddexp.reduce(found, axis=1, keepdims=True))


def values_of(model: Model, rows: ScoreRows) -> Floats:
    """Return the values of rows as a model of several columns reads them."""
    if model.map.input == "probabilities" and rows.meaning == "log_odds":
        return np.asarray(softmax(rows.values, axis=1))
    return rows.logits() if model.map.input == "logits" else rows.values


def class_forecasts(model: Model, rows: ScoreRows) -> dict[str, ScoreTable]:
    """Return for the decided class and for each class the log-odds of a row being of it, and whether it is.

    Of two classes only the second, the positive one, is watched, under an empty name.
    """
    log_prob = possible_classes(model.predict_log_proba(values_of(model, rows)), model)
    each, best = np.arange(len(log_prob)), log_prob.argmax(axis=1)
    others = log_prob.copy()
    others[each, best] = -np.inf
    with np.errstate(divide="ignore"):
        odds = log_prob - np.log(-np.expm1(np.minimum(log_prob, -1e-300)))
        odds[each, best] = log_prob[each, best] - np.logaddexp.reduce(others, axis=1)
    odds = np.clip(odds, -SUREST, SUREST)

    def table(z: Floats, hit: NDArray[np.bool_]) -> ScoreTable:
        return ScoreTable.from_arrays(z, hit, rows.weight)

    if len(model.labels) == 2:
        return {"": table(odds[:, 1], rows.truth == 1)}
    found = {DECIDED: table(odds[each, best], rows.truth == best)}
    return found | {f"class {label}": table(odds[:, k], rows.truth == k) for k, label in enumerate(model.labels)}


def has_steps(model: Model) -> bool:
    """Return whether a map of a model has steps: bins, and isotonic regression whatever is between its steps."""
    found = [each.map for each in (model.of_segment(None), *model.segments.values()) if each.has_one_score]
    inner = [one.inner if isinstance(one, InputMap) else one for one in found]
    return any(isinstance(one, (LinearMap, StepMap)) and len(one.knots) > 2 for one in inner)


def steps_of(model: Model) -> Floats | None:
    """Return the ascending log-odds of the steps of a map; None for one without, or whose values change between them.

    Of centered isotonic regression hardly two scores have the same value.
    """
    one = model.map.inner if isinstance(model.map, InputMap) else model.map
    if isinstance(one, StepMap):
        values = np.unique(np.concatenate([one.at, one.between]))
    elif isinstance(one, LinearMap):
        values = np.unique(one.values)
        if 2 * np.unique(one.values[1:][np.diff(one.values) == 0]).size < len(values):
            return None
    else:
        return None
    return None if len(values) <= 2 else np.unique(_possible(logit(values), model))


def refuse_other_labels(model: Model, table: ScoreTable) -> None:
    """Refuse a table whose labels are neither those of the model nor 0 and 1, or are the other way round."""
    for shown, own, other, plain in zip(table.labels, model.labels, model.labels[::-1], ((0, -1), (1,)), strict=True):
        if shown is not None and shown != own and (shown == other or shown not in plain):
            _fail_labels(model, shown)


def positive_labels(model: Model | None, labels: NDArray[Any]) -> NDArray[Any]:
    """Return whether each label is the positive one of the model; labels of 0 and 1 as they are."""
    if model is None or labels.ndim != 1 or (labels.dtype.kind == "f" and np.isnan(labels).any()):
        return labels
    shown = set(labels.tolist())
    if shown <= set(model.labels):
        return np.asarray([each == model.labels[1] for each in labels.tolist()], bool)
    if not (shown <= {0, 1} or shown <= {-1, 1}):
        _fail_labels(model, next(each for each in labels.tolist() if each not in model.labels))
    return labels


def rows_of_classes(model: Model, values: Any, labels: NDArray[Any], weight: NDArray[Any] | None) -> ScoreRows:
    """Return rows with one column for each class, whose labels must be those of the model."""
    found = _check.as_array(values, "scores", (2,), masked=model.map.input == "logits")
    if labels.shape != found.shape[:1] or (weight is not None and weight.shape != labels.shape):
        _check.fail("y must be as long as the scores", f"{labels.shape} for {len(found)} rows", "pass one per row")
    places = {label: place for place, label in enumerate(model.labels)}
    shown = labels.tolist()
    if strange := [each for each in shown if each not in places]:
        _fail_labels(model, strange[0])
    truth = np.array([places[each] for each in shown], np.intp)
    meaning: Any = "probability" if model.map.input == "probabilities" else "log_odds"
    return ScoreRows(found, truth, model.labels, weight, ("",) * found.shape[1], meaning)


def segments_of(keys: NDArray[Any], n: int, columns: int) -> Mapping[Segment, NDArray[np.intp]]:
    """Return the rows of each segment, by one column of keys or several; each row must have one."""
    if keys.shape != ((n,) if columns == 1 else (n, columns)):
        got, hint = (
            f"shape {keys.shape} for {n} scores",
            "pass one per score" if columns == 1 else f"pass {columns} each",
        )
        _check.fail("segments must be as long as the scores", got, hint)
    places = rows_by_segment(*keys.reshape(n, columns).T)
    if None in places:
        got = f"{len(places[None])} of {n} rows without one"
        _check.fail("every row must have a segment", got, "name a segment for those rows, or leave them out")
    return places


def _fail_labels(model: Model, label: Any) -> NoReturn:
    got = f"{label!r} for a model of {' and '.join(map(repr, model.labels[:5]))}"
    hint = "check the column of labels" + (", or pass whether each is positive as 0 and 1" * model.has_one_score)
    _check.fail("labels must be those of the model", got, hint)
