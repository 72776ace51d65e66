"""Expected performance of several classes.

Measures are functions of a few sums over rows: how many rows of each class are decided rightly, how many rows each
class has, and losses. Labels are random, so these sums have a mean and a covariance under the probabilities; draws of
the sums give draws of the measures. The error of the map is that of an offset of each class and of one slope of the
log-probabilities.
"""

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import ScoreRows, ScoreTable
from oddsmith.expected.results import Expectation, ExpectedPerformance
from oddsmith.files import open_scores, read_unlabeled
from oddsmith.frames import BadRowPolicy
from oddsmith.maps import SUREST, Segment
from oddsmith.model import ClassCounts, Model
from oddsmith.monitor import possible_classes, values_of

__all__ = ["expected_class_performance", "observed_class_performance"]

#: Maps that resampled calibration rows would have given, and labels that are drawn for each.
_MAPS, _LABELS = 100, 10

#: Rows handled at a time.
_CHUNK = 8192

#: Prior information on each parameter of the map's error: offsets of classes without any row have an error of 2.
_PRIOR = 0.25

#: Measures that may exceed 1.
_LIMITS = {"log_loss": math.inf, "brier": 2.0, "cost": math.inf}


@dataclass(frozen=True)
class _Judged:
    """Rows of one part: what is judged, and whose probabilities are believed."""

    model: Model
    believed: Model
    values: Floats
    costs: Floats | None

    def __post_init__(self) -> None:
        if not len(self.values):
            _check.fail("there must be at least one row", "none", "leave it out")

    def chunks(self) -> Iterator["_Chunk"]:
        for at in range(0, len(self.values), _CHUNK):
            values = self.values[at : at + _CHUNK]
            own = np.maximum(self.model.predict_log_proba(values), -SUREST)
            believed = own if self.believed is self.model else self.believed.predict_log_proba(values)
            yield _Chunk.of(own, possible_classes(believed, self.believed), self.costs)


class _Chunk(NamedTuple):
    """Some rows: decided class, believed log-probabilities, and the loss of every kind if a class is true."""

    decided: NDArray[np.intp]
    log_prob: Floats  # (n, classes)
    losses: Floats  # (n, classes, kinds)

    @staticmethod
    def of(log_prob: Floats, believed: Floats, costs: Floats | None) -> "_Chunk":
        prob = np.exp(log_prob)
        losses = [-log_prob, (prob**2).sum(axis=1, keepdims=True) - 2 * prob + 1]
        if costs is not None:
            losses.append(costs[(prob @ costs.T).argmin(axis=1)])
        return _Chunk(log_prob.argmax(axis=1), believed, np.stack(losses, axis=2))

    def mean(self, prob: Floats) -> Floats:
        """Return the expected sums: right decisions of each class, rows of each class, losses."""
        k = prob.shape[1]
        right = np.bincount(self.decided, prob[np.arange(len(prob)), self.decided], k)
        return np.concatenate([right, prob.sum(axis=0), np.einsum("ic,icl->l", prob, self.losses)])

    def covariance(self, prob: Floats) -> Floats:
        """Return the covariance of the sums, where labels are drawn by these probabilities."""
        n, k = prob.shape
        chosen, each = np.eye(k)[self.decided], np.arange(n)
        of_right = prob[each, self.decided]
        mean = np.hstack([chosen * of_right[:, None], prob, np.einsum("ic,icl->il", prob, self.losses)])
        second = np.zeros((mean.shape[1],) * 2)
        right = np.diag(np.bincount(self.decided, of_right, k))
        second[:k, :k] = second[:k, k : 2 * k] = second[k : 2 * k, :k] = right
        second[k : 2 * k, k : 2 * k] = np.diag(prob.sum(axis=0))
        with_right = (chosen * of_right[:, None]).T @ self.losses[each, self.decided]
        with_rows = np.einsum("ic,icl->cl", prob, self.losses)
        second[:k, 2 * k :], second[k : 2 * k, 2 * k :] = with_right, with_rows
        second[2 * k :, :k], second[2 * k :, k : 2 * k] = with_right.T, with_rows.T
        second[2 * k :, 2 * k :] = np.einsum("ic,icl,icm->lm", prob, self.losses, self.losses)
        return np.asarray(second - mean.T @ mean)


def expected_class_performance(
    model: Model,
    believed: Model,
    unlabeled: Any,
    columns: Any,
    by: Segment | None,
    costs: ArrayLike | None,
    calibration: ScoreTable | ScoreRows | None,
    level: float,
    bad_rows: BadRowPolicy,
    rng: np.random.Generator,
) -> ExpectedPerformance:
    """Return what is expected of rows with one column for each class."""
    prices = _prices(costs, len(model.labels))
    parts = _parts(model, unlabeled, columns, by, bad_rows)
    judged = {
        name: _Judged(model.of_segment(name), believed.of_segment(name), values, prices)
        for name, values in parts.items()
    }
    if calibration is not None and not isinstance(calibration, ScoreRows):
        got = type(calibration).__name__
        _check.fail("calibration rows of several classes must be ScoreRows", got, "pass the rows of the fit")
    errors: dict[int, Floats | None] = {}
    for one in judged.values():
        if id(one.believed) not in errors:
            alike = [other for other in judged.values() if other.believed is one.believed]
            errors[id(one.believed)] = _map_errors(one.believed, calibration, alike, rng)
    found = {name: _performance(model, [one], errors, level, rng) for name, one in judged.items()}
    if list(found) == [None]:
        return found[None]
    whole = _performance(model, list(judged.values()), errors, level, rng)
    return ExpectedPerformance(**{**vars(whole), "chunks": {str(name): each for name, each in found.items()}})


def observed_class_performance(model: Model, labeled: ScoreRows, costs: ArrayLike | None) -> dict[str, float]:
    """Return the same measures of rows with labels."""
    if tuple(map(str, labeled.labels)) != tuple(map(str, model.labels)):
        got = f"{labeled.labels!r} for a model of {model.labels!r}"
        _check.fail("labels must be those of the model, in its order", got, "name the columns of the fit")
    prices, k = _prices(costs, len(model.labels)), len(model.labels)
    log_prob = np.maximum(model.predict_log_proba(values_of(model, labeled)), -SUREST)
    chunk = _Chunk.of(log_prob, log_prob, prices)
    weight = np.ones(labeled.n_rows) if labeled.weight is None else labeled.weight.astype(float)
    right = np.bincount(labeled.truth, weight * (chunk.decided == labeled.truth), k)
    losses = weight @ chunk.losses[np.arange(labeled.n_rows), labeled.truth]
    sums = np.concatenate([right, labeled.class_weights, losses])
    found = _measures(sums[None], np.bincount(chunk.decided, weight, k))
    return {name: float(values[0]) for name, values in found.items()}


def _performance(
    model: Model, judged: list[_Judged], errors: Mapping[int, Floats | None], level: float, rng: np.random.Generator
) -> ExpectedPerformance:
    k = len(model.labels)
    has_error = all(each is not None for each in errors.values())
    exact: Any = 0.0
    spread: Any = 0.0
    means: Any = 0.0
    decided = np.zeros(k)
    for one in judged:
        known = errors[id(one.believed)]
        lines = np.zeros((_MAPS, k + 1)) if known is None else known
        for chunk in one.chunks():
            prob = np.exp(chunk.log_prob)
            exact = exact + chunk.mean(prob)
            spread = spread + chunk.covariance(prob)
            moved = [chunk.mean(softmax(chunk.log_prob * (1 + line[-1]) + line[:-1], axis=1)) for line in lines]
            means = means + np.array(moved)
            decided += np.bincount(chunk.decided, minlength=k)
    values, vectors = np.linalg.eigh(spread)
    root = vectors * np.sqrt(np.maximum(values, 0))
    draws = means.repeat(_LABELS, axis=0)
    draws = np.maximum(draws + rng.standard_normal(draws.shape) @ root.T, 0.0)
    draws[:, :k] = np.minimum(draws[:, :k], np.minimum(draws[:, k : 2 * k], decided))
    expected = _measures(exact[None], decided)
    drawn = _measures(draws, decided)
    measures = {
        name: Expectation.of_draws(
            float(one[0]), drawn[name], level, -math.inf if name == "cost" else 0.0, _LIMITS.get(name, 1.0)
        )
        for name, one in expected.items()
    }
    rows = int(decided.sum())
    shares = dict(zip(map(str, model.labels), (exact[k : 2 * k] / rows).tolist(), strict=True))
    return ExpectedPerformance(rows, shares, measures, 0, 0, has_error, False, level, {})


def _measures(sums: Floats, decided: NDArray[Any]) -> dict[str, Floats]:
    """Return each measure for every row of sums; classes that are never decided, or never occur, are left out."""
    k, n = len(decided), decided.sum()
    right, rows, losses = sums[:, :k], sums[:, k : 2 * k], sums[:, 2 * k :]
    found = {"accuracy": right.sum(axis=1) / n}
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = {
            "macro_precision": right / decided,
            "macro_recall": right / rows,
            "macro_f1": 2 * right / (decided + rows),
        }
    for name, share in shares.items():
        known = np.isfinite(share)
        found[name] = np.where(known, share, 0.0).sum(axis=1) / known.sum(axis=1)
    return found | dict(zip(("log_loss", "brier", "cost"), (losses / n).T, strict=False))


def _map_errors(
    believed: Model, calibration: ScoreRows | None, judged: list[_Judged], rng: np.random.Generator
) -> Floats | None:
    """Return offsets of the log-probabilities and a change of their slope by which resampled maps differ."""
    if calibration is not None:
        log_prob = possible_classes(believed.predict_log_proba(values_of(believed, calibration)), believed)
        weight = np.ones(calibration.n_rows) if calibration.weight is None else calibration.weight.astype(float)
        squared = weight if calibration.kind == "count" else weight**2
        information, gradient = _information(log_prob, weight, calibration.truth)
        inverse = np.linalg.inv(information + _PRIOR * np.eye(len(information)))
        covariance = inverse @ (gradient.T @ (gradient * squared[:, None])) @ inverse
    elif isinstance(believed.data, ClassCounts):
        n = 0
        total: Any = 0.0
        for chunk in (chunk for one in judged for chunk in one.chunks()):
            n, total = n + len(chunk.decided), total + _information(chunk.log_prob, np.ones(len(chunk.decided)))[0]
        information = total * believed.data.rows / n
        covariance = np.linalg.inv(information + _PRIOR * np.eye(len(information)))
    else:
        return None
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(rng.standard_normal((_MAPS, len(values))) @ (vectors * np.sqrt(np.maximum(values, 0))).T)


def _information(log_prob: Floats, weight: Floats, truth: Any = None) -> tuple[Floats, Floats]:
    """Return the information on offsets and slope, and each row's gradient at its label."""
    prob, z = np.exp(log_prob), np.maximum(log_prob, -SUREST)
    mean = (prob * z).sum(axis=1)
    k = prob.shape[1]
    found = np.zeros((k + 1, k + 1))
    found[:k, :k] = np.diag(weight @ prob) - prob.T @ (prob * weight[:, None])
    found[:k, k] = found[k, :k] = weight @ (prob * (z - mean[:, None]))
    found[k, k] = weight @ ((prob * z**2).sum(axis=1) - mean**2)
    if truth is None:
        return found, np.zeros((0, k + 1))
    return found, np.column_stack([np.eye(k)[truth] - prob, z[np.arange(len(z)), truth] - mean])


def _prices(costs: ArrayLike | None, k: int) -> Floats | None:
    prices = None if costs is None else _check.as_array(costs, "costs", (2,))
    if prices is not None and prices.shape[1] != k:
        _check.fail(f"costs must have {k} columns, one for each class", f"shape {prices.shape}", "see oddsmith.decide")
    return prices


def _parts(model: Model, unlabeled: Any, columns: Any, by: Segment | None, bad_rows: BadRowPolicy) -> dict[Any, Floats]:
    """Return the values of all rows, or of each value of a column."""
    if isinstance(unlabeled, Mapping):
        return {name: _values(model, each) for name, each in unlabeled.items()}
    if isinstance(unlabeled, (str, os.PathLike)):
        if by is not None:
            _check.fail("chunks of several classes need a frame", f"by={by!r} with a path", "pass a data frame")
        with open_scores(unlabeled) as file:
            return {None: read_unlabeled(file, model, columns or (), bad_rows=bad_rows)[0]}
    frame: Any = nw.from_native(unlabeled, pass_through=True)
    if frame is unlabeled and not nw.dependencies.is_narwhals_dataframe(frame):
        if by is not None:
            _check.fail("by needs a frame", f"by={by!r} with {type(unlabeled).__name__}", "pass a frame")
        return {None: _values(model, unlabeled)}
    names = list(columns or model.column_names or ())
    if len(names) != model.map.columns:
        _check.fail(f"score must name {model.map.columns} columns", repr(columns), "pass score=, a list in their order")
    if by is not None and not isinstance(by, str):
        _check.fail("segments must be of one column here", f"by={by!r}", "fit a model by one column")
    rows = frame.select(*names, *([] if by is None else [by])).lazy().collect()
    if by is None:
        return {None: _values(model, rows.to_numpy())}
    labels = rows.get_column(by).to_numpy()
    values = rows.select(*names).to_numpy()
    return {name: _values(model, values[labels == name]) for name in sorted(set(labels.tolist()))}


def _values(model: Model, unlabeled: Any) -> Floats:
    return values_of(model, unlabeled) if isinstance(unlabeled, ScoreRows) else np.asarray(unlabeled)
