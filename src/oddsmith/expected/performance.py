"""Expected performance of a model on rows whose labels have not arrived.

While the probabilities are right, they determine the expected number of positives in any selection of rows, and so
accuracy, precision, recall and any loss. Everything is computed from one table of scores, for any number of rows.
"""

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import RandomState, ScoreRows, ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.expected.classes import expected_class_performance, observed_class_performance
from oddsmith.expected.results import Expectation, ExpectedPerformance, Promise
from oddsmith.files import choose_columns, open_scores, read_table
from oddsmith.frames import BadRowPolicy, spare_name, tables_from_frame
from oddsmith.maps import SUREST, Segment, logit
from oddsmith.model import DataSummary, Model, map_of, model_of
from oddsmith.monitor import MapError, has_steps, readings, refuse_other_labels

__all__ = ["expected_performance", "observed_performance", "promises"]

#: Maps that resampled calibration rows would have given, and labels that are drawn for each.
_MAPS, _LABELS = 100, 10

#: Cells of log-odds in which labels are drawn.
_CELLS = 1024

#: Threshold of the more probable class.
_HALF = 0.5

#: Measures that may exceed 1.
_UNBOUNDED = ("log_loss", "cost")


class _Judged(NamedTuple):
    """The model whose decisions and losses are judged, and the one whose probabilities are believed."""

    model: Model
    believed: Model

    def forecast(self, table: ScoreTable) -> ScoreTable:
        """Return the table of the first one's log-odds, where each row is positive by the second one's probability."""
        total = table.total.astype(float)
        prob = expit(readings(self.believed)(table.scores))
        pos, neg = total * prob, total * (1 - prob)
        expected = ScoreTable(table.scores, pos, neg, pos, neg, rows=table.rows)
        return expected.map(map_of(self.model.map).log_odds)


class _Part(NamedTuple):
    """Rows by cell of log-odds, their probability, and that under each map."""

    log_odds: Floats
    rows: Floats
    center: Floats
    prob: Floats  # (maps, cells)

    @staticmethod
    def join(parts: Sequence["_Part"]) -> "_Part":
        log_odds = np.concatenate([part.log_odds for part in parts])
        order = np.argsort(log_odds, kind="stable")
        rows, center = (np.concatenate(each)[order] for each in zip(*((p.rows, p.center) for p in parts), strict=True))
        return _Part(log_odds[order], rows, center, np.concatenate([part.prob for part in parts], axis=1)[:, order])


def expected_performance(
    model: Any,
    unlabeled: Any,
    *,
    score: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    thresholds: float | Sequence[float] = _HALF,
    costs: ArrayLike | None = None,
    calibration: ScoreTable | ScoreRows | None = None,
    believed: Any = None,
    level: float = 0.95,
    bad_rows: BadRowPolicy = "refuse",
    random_state: RandomState = 0,
) -> ExpectedPerformance:
    """Return the expected measures of a model on rows without labels, from its probabilities.

    With probability p of each row, selected if p is at least the threshold: accuracy is the mean of p or 1 − p,
    precision Σp over the selected by their number, recall Σp over the selected by Σp of all, log-loss the mean entropy,
    Brier score the mean of p(1 − p), AUC the share of pairs in order, weighted by p and 1 − p.

    P of exactly 0 or 1, of a fit to n rows, is replaced by 1/(2n + 1) or its complement.

    With several classes the most probable one is decided, and measures are accuracy, means over classes of precision,
    recall and F1, log-loss, Brier score (summed over classes), and the cost of the decisions of least expected cost.

    Intervals come from 100 Poisson resamples of the calibration rows, each with one Newton step of the line through the
    log-odds, and ten draws of all labels for each. What they do not include: a share of positives at a given score that
    has moved since the calibration. No method can detect that without labels.

    Parameters
    ----------
    model : Model, fitted calibrator or scaling, or its map
    unlabeled : array-like, ScoreTable, dict of ScoreTable, data frame, table of an engine, or path
        Scores; of tables the labels are ignored, of a frame or file ``score`` names the column. Of several classes an
        array of shape (n, columns), `ScoreRows`, a frame or a path, which are read into memory.
    score : str or sequence of str, optional
        Column of the scores of a frame or file, or the columns of several classes.
    by : str or sequence of str, optional
        Column, or columns, whose values each get an estimate, such as the month; by default the segments of the model.
    thresholds : float or sequence of float, default 0.5
        Probabilities from which rows are selected, of two classes.
    costs : array of shape (2, 2), or (decisions, classes), optional
        Costs of a decision and a class, from `oddsmith.decide.binary_costs`; adds the mean cost at each threshold.
    calibration : ScoreTable or ScoreRows, optional
        The rows of the fit. Without it the map is as exact as a fit to as many rows as the model's, with scores like
        the unlabeled ones.
    believed : Model, fitted calibrator or CalibrationMap, optional
        Whose probabilities are used for the labels, such as those of a calibrator that was fitted with
        `importance_weights`; decisions and losses are those of ``model``. By default ``model`` itself.
    level : float, default 0.95
    bad_rows : {"refuse", "skip"}, default "refuse"
        What to do with rows of a frame or file that have no finite score.
    random_state : int, Generator or None

    Returns
    -------
    ExpectedPerformance

    See Also
    --------
    importance_weights : For rows that differ in other columns.
    observed_performance : The same once labels are known.
    oddsmith.base_rates.estimate_prior : For another base rate.

    References
    ----------
    Białek et al. (2024), Estimating model performance under covariate shift without labels, arXiv:2401.08348.

    Examples
    --------
    >>> from oddsmith.maps import line_map
    >>> found = expected_performance(line_map(1.0, 0.0), [-2.0, -1.0, 0.5, 3.0])
    >>> round(found.measures["accuracy@0.5"].value, 4)
    0.7967
    """
    fitted = model_of(model)
    level = _check.number(level, "level", low=0, strict=True)
    if level >= 1:
        _check.fail("level must be below 1", f"level={level!r}", "pass a share such as 0.95")
    by = by if by is None or isinstance(by, str) else tuple(by)
    if fitted.by is not None and by not in (None, fitted.by):
        _check.fail("by must be the segments of the model", f"by={by!r} and a model by {fitted.by!r}", "leave by out")
    trusted = fitted if believed is None else model_of(believed)
    if (trusted.has_one_score, trusted.map.columns) != (fitted.has_one_score, fitted.map.columns):
        got = f"{trusted.map.columns} columns, not {fitted.map.columns}"
        _check.fail("believed must read the columns of the model", got, "pass a model like the one that is judged")
    rng = np.random.default_rng(random_state)
    chunks = by if by is not None else fitted.by
    if not fitted.has_one_score:
        _refuse_thresholds(thresholds)
        return expected_class_performance(
            fitted, trusted, unlabeled, score, chunks, costs, calibration, level, bad_rows, rng
        )
    if isinstance(calibration, ScoreRows):
        _check.fail("calibration rows of two classes must be a ScoreTable", "ScoreRows", "pass the table of the fit")
    cuts, prices = _thresholds(thresholds), _prices(costs)
    tables = _score_tables(unlabeled, score, chunks, bad_rows)
    errors: dict[int, Floats | None] = {}
    parts, found = {}, {}
    judged = {name: _Judged(fitted.of_segment(name), trusted.of_segment(name)) for name in tables}
    for name, table in tables.items():
        own = judged[name].believed
        if id(own) not in errors:
            share = table.rows / sum(each.rows for each in tables.values())
            errors[id(own)] = _map_errors(own, calibration, tables, _rows_of_fit(trusted, own, share), rng)
        parts[name] = _part(judged[name], table, errors[id(own)], max(_CELLS // len(tables), 64))
    has_error = all(each is not None for each in errors.values())
    for name, part in parts.items():
        found[name] = _performance(part, [(judged[name], tables[name])], cuts, prices, level, has_error, rng)
    if list(found) == [None]:
        return found[None]
    both = [(judged[name], table) for name, table in tables.items()]
    whole = _performance(_Part.join(list(parts.values())), both, cuts, prices, level, has_error, rng)
    return ExpectedPerformance(**{**vars(whole), "chunks": {_chunk_name(name): each for name, each in found.items()}})


def _chunk_name(key: Any) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def promises(
    model: Any,
    labeled: ScoreTable | ScoreRows,
    *,
    thresholds: float | Sequence[float] = _HALF,
    costs: ArrayLike | None = None,
    calibration: ScoreTable | ScoreRows | None = None,
    level: float = 0.95,
    random_state: RandomState = 0,
) -> dict[str, Promise]:
    """Return the expected and the observed value of each measure.

    Intervals are wider than those of `expected_performance`: while the probabilities are right, all promises are
    kept together with probability ``level`` (Bonferroni).

    Parameters
    ----------
    model : Model, fitted calibrator or scaling, or its map
    thresholds : float or sequence of float, default 0.5
        Probabilities from which rows are selected, of two classes.
    costs : array of shape (2, 2), or (decisions, classes), optional
        Costs of a decision and a class; adds the mean cost.
    calibration : ScoreTable or ScoreRows, optional
        The rows of the fit, which determine how exact the map is.
    random_state : int, Generator or None
        Seed of the draws.
    labeled : ScoreTable, or ScoreRows of several classes
        Scores with labels.
    level : float, default 0.95

    Returns
    -------
    dict[str, Promise]

    See Also
    --------
    expected_performance : Without labels.
    observed_performance : With labels.
    """
    fitted = model_of(model)
    options: dict[str, Any] = {"thresholds": thresholds, "costs": costs, "calibration": calibration}
    seen = observed_performance(fitted, labeled, thresholds=thresholds, costs=costs)
    level = 1 - (1 - level) / len(seen)
    found = expected_performance(fitted, labeled, level=level, random_state=random_state, **options)
    return {
        name: Promise(one.value, one.low, one.high, value, one.low <= value <= one.high if value == value else None)
        for (name, one), value in zip(found.measures.items(), seen.values(), strict=True)
    }


def observed_performance(
    model: Any,
    labeled: ScoreTable | ScoreRows,
    *,
    thresholds: float | Sequence[float] = _HALF,
    costs: ArrayLike | None = None,
) -> dict[str, float]:
    """Return the same measures of rows with labels; NaN where undefined.

    Parameters
    ----------
    model : Model, fitted calibrator or scaling, or its map
    thresholds : float or sequence of float, default 0.5
        Probabilities from which rows are selected, of two classes.
    costs : array of shape (2, 2), or (decisions, classes), optional
        Costs of a decision and a class; adds the mean cost.
    labeled : ScoreTable, or ScoreRows of several classes
        Scores with labels.

    Returns
    -------
    dict[str, float]

    See Also
    --------
    expected_performance : Without labels.
    promises : Both, with intervals.
    """
    fitted = model_of(model)
    if isinstance(labeled, ScoreRows):
        _refuse_thresholds(thresholds)
        return observed_class_performance(fitted, labeled, costs)
    refuse_other_labels(fitted, labeled)
    forecast = labeled.map(map_of(fitted.map).log_odds)
    sides = (forecast.pos[None].astype(float), forecast.neg[None].astype(float))
    found = _measures(forecast.scores, *sides, _thresholds(thresholds), _prices(costs))
    return {name: float(values[0]) for name, values in found.items()}


def _score_tables(unlabeled: Any, score: Any, by: Segment | None, bad_rows: BadRowPolicy) -> dict[Any, ScoreTable]:
    """Return the table of all scores, or of each value of a column, without labels: all rows count as negative."""
    if isinstance(unlabeled, ScoreTable):
        found: dict[Any, ScoreTable] = {None: unlabeled}
    elif isinstance(unlabeled, dict):
        found = dict(unlabeled)
    elif isinstance(unlabeled, (str, os.PathLike)):
        with open_scores(unlabeled) as file:
            roles = choose_columns(file, score or (), by=by or (), one=True, needs_label=False)
            data = read_table(file, roles, bad_rows=bad_rows, needs_label=False)
        found = dict(data.segments) if by is not None else {None: data.table}
    elif _is_frame(unlabeled):
        if score is None:
            _check.fail("score must name the column of a frame", "score=None", "pass score=")
        frame = nw.from_native(unlabeled)
        label = spare_name(frame.collect_schema().names())
        native = frame.with_columns(nw.lit(False).alias(label)).to_native()
        made = tables_from_frame(native, score, label, by=by, resolution="auto", bad_rows=bad_rows)
        found = dict(made) if isinstance(made, dict) else {None: made}
    else:
        scores = _check.as_scores(unlabeled)
        found = {None: ScoreTable.from_arrays(scores, np.zeros(len(scores), int))}
    if by is not None and None in found and len(found) == 1:
        _check.fail("by needs a frame or a file", f"by={by!r} with {type(unlabeled).__name__}", "pass a frame")
    for table in found.values():
        if table.kind != "count":
            _check.fail("unlabeled rows must be counted", f"{table!r}", "use rows without weights")
    return found


def _is_frame(data: Any) -> bool:
    return nw.from_native(data, pass_through=True) is not data or nw.dependencies.is_narwhals_dataframe(data)


def _refuse_thresholds(values: float | Sequence[float]) -> None:
    if values != _HALF:
        _check.fail(
            "thresholds are for two classes", f"{values!r}", "leave them out: the most probable class is decided"
        )


def _thresholds(values: float | Sequence[float]) -> list[float]:
    found = [_check.number(each, "thresholds", low=0) for each in np.atleast_1d(np.asarray(values, object)).tolist()]
    if not found or max(found) > 1:
        _check.fail("thresholds must be probabilities", f"{values!r}", "pass numbers from 0 to 1")
    return found


def _prices(costs: ArrayLike | None) -> Floats | None:
    prices = None if costs is None else _check.as_array(costs, "costs", (2,))
    if prices is not None and prices.shape != (2, 2):
        _check.fail("costs must have shape (2, 2)", f"shape {prices.shape}", "make them with decide.binary_costs")
    return prices


def _rows_of_fit(model: Model, own: Model, share: float) -> float | None:
    """Return how many rows the map of a segment was fitted to; None for those of the whole model.

    A pooled map is at least as exact as one that was fitted to the rows of the segment alone.
    """
    if own is model or not isinstance(own.data, DataSummary):
        return None
    return own.data.rows * (1.0 if model.effects is None else share)


def _map_errors(
    model: Model,
    calibration: ScoreTable | None,
    tables: Mapping[Any, ScoreTable],
    rows: float | None,
    rng: np.random.Generator,
) -> Floats | None:
    """Return lines (offset, slope) less (0, 1) by which resampled maps differ; None where nothing is known."""
    fitted = map_of(model.map)
    if calibration is not None:
        wider = 1.0 if rows is None else math.sqrt(calibration.rows / rows)
        return wider * _resample_line(calibration.map(fitted.log_odds), rng)
    if not isinstance(model.data, DataSummary):
        return None
    forecasts = [table.map(fitted.log_odds) for table in tables.values()]
    forecast = forecasts[0].merge(*forecasts[1:])
    try:
        total, fit = forecast.total.astype(float), model.data
        error = MapError.like(forecast.scores, total, 0.0, fit.rows if rows is None else rows, fit.prevalence)
    except InvalidInputError:
        return None  # too few rows to know how scores are distributed
    return rng.standard_normal((_MAPS, 2)) @ error.root.T


def _resample_line(forecast: ScoreTable, rng: np.random.Generator) -> Floats:
    """Return one Newton step of the line for each of 100 resamples of its rows, less that of the rows themselves."""
    z = np.clip(forecast.scores, -SUREST, SUREST)
    features = np.column_stack([np.ones_like(z), z])
    prob, (pos_sq, neg_sq) = expit(z), forecast.squares
    information = features.T @ (features * (forecast.total * prob * (1 - prob))[:, None])
    draws = []
    for weight, squared, residual in ((forecast.pos, pos_sq, 1 - prob), (forecast.neg, neg_sq, -prob)):
        if forecast.kind == "count":
            change = rng.poisson(weight, (_MAPS, len(z))) - weight
        else:
            change = rng.standard_normal((_MAPS, len(z))) * np.sqrt(squared)
        draws.append((change * residual) @ features)
    # Where all log-odds are equal, only that one has an error.
    return np.asarray((draws[0] + draws[1]) @ np.linalg.pinv(information, rcond=1e-12, hermitian=True))


def _part(judged: _Judged, table: ScoreTable, errors: Floats | None, cells: int) -> _Part:
    """Return the cells of a table with their probability under each map."""
    forecast = judged.forecast(table)
    forecast = forecast.map(lambda z: np.clip(z, -SUREST, SUREST)).coarsen(cells)
    rows = forecast.total.astype(float)
    center = forecast.pos / rows
    z = logit(center)
    lines = np.zeros((1, 2)) if errors is None else errors
    prob = expit(z + lines[:, :1] + lines[:, 1:] * np.clip(z, -SUREST, SUREST))
    return _Part(forecast.scores, rows, center, prob)


def _performance(
    part: _Part,
    tables: Sequence[tuple[_Judged, ScoreTable]],
    cuts: Sequence[float],
    prices: Floats | None,
    level: float,
    has_error: bool,
    rng: np.random.Generator,
) -> ExpectedPerformance:
    forecasts = [judged.forecast(table) for judged, table in tables]
    whole = forecasts[0].merge(*forecasts[1:])
    exact = _measures(whole.scores, whole.pos[None].astype(float), whole.neg[None].astype(float), cuts, prices)
    # Labels are drawn in cells; what cells change of the expectation is taken away.
    sides = (part.rows * part.center, part.rows * (1 - part.center))
    pooled = _measures(part.log_odds, sides[0][None], sides[1][None], cuts, prices)
    counts = np.rint(part.rows).astype(np.int64)
    pos = np.vstack([rng.binomial(counts, part.prob) for _ in range(_MAPS * _LABELS // len(part.prob))]).astype(float)
    drawn = _measures(part.log_odds, pos, counts - pos, cuts, prices)
    measures = {
        name: Expectation.of_draws(
            float(values[0]),
            drawn[name] + (values[0] - pooled[name][0]),
            level,
            -math.inf if name.startswith("cost") else 0.0,
            math.inf if name.startswith(_UNBOUNDED) else 1.0,
        )
        for name, values in exact.items()
    }
    ranges = [(one.believed.data, table) for one, table in tables if isinstance(one.believed.data, DataSummary)]
    below = sum(int(table.total[table.scores < data.low].sum()) for data, table in ranges)
    above = sum(int(table.total[table.scores > data.high].sum()) for data, table in ranges)
    rows = sum(table.rows for _, table in tables)
    share = float(whole.pos.sum() / whole.total.sum())
    steps = any(has_steps(one.believed) for one, _ in tables)
    return ExpectedPerformance(rows, share, measures, below, above, has_error, steps, level, {})


def _measures(
    log_odds: Floats, pos: Floats, neg: Floats, cuts: Sequence[float], prices: Floats | None
) -> dict[str, Floats]:
    """Return each measure, for every row of positive and negative counts by ascending log-odds."""
    z = np.clip(log_odds, -SUREST, SUREST)
    n_pos, n_neg = pos.sum(axis=1), neg.sum(axis=1)
    n = n_pos + n_neg
    below = np.cumsum(neg, axis=1) - neg / 2
    found: dict[str, Floats] = {}
    with np.errstate(invalid="ignore", divide="ignore"):
        found["auc"] = (pos * below).sum(axis=1) / (n_pos * n_neg)
        found["log_loss"] = (pos @ np.logaddexp(0, -z) + neg @ np.logaddexp(0, z)) / n
        found["brier"] = (pos @ expit(-z) ** 2 + neg @ expit(z) ** 2) / n
        for cut in cuts:
            # As P is compared, but with all digits.
            chosen = log_odds >= logit(np.array(cut))
            true, false = pos[:, chosen].sum(axis=1), neg[:, chosen].sum(axis=1)
            found[f"accuracy@{cut:.15g}"] = (true + n_neg - false) / n
            found[f"precision@{cut:.15g}"] = true / (true + false)
            found[f"recall@{cut:.15g}"] = true / n_pos
            found[f"f1@{cut:.15g}"] = 2 * true / (true + false + n_pos)
            if prices is not None:
                (negative, missed), (needless, caught) = prices.tolist()
                total = negative * (n_neg - false) + missed * (n_pos - true) + needless * false + caught * true
                found[f"cost@{cut:.15g}"] = total / n
    return found
