"""Partially pooled calibration of segments: the map of all rows, with shrunken effects of columns and their crossing.

A map for each segment alone overfits small segments, and one map for all ignores how they differ. `PooledCalibrator`
lets the data decide how far segments move from the map of all rows.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators import Calibrator, find_method, fit_method
from oddsmith.data import ScoreTable, deal_weight
from oddsmith.fitting import GroupEffects, LabeledOdds, fit_groups, held_out_gain
from oddsmith.frames import BadRowPolicy
from oddsmith.maps import SUREST, CalibrationMap, Effects, Term, check_columns, segment_names
from oddsmith.metrics import Result
from oddsmith.model import Model, map_of

__all__ = ["PooledCalibrator", "PooledTerm"]

_N_FOLDS = 5

#: Width of the cells of log-odds in which the rows of a segment are summed.
_WIDTH = 2.0**-4

#: Rounds in which the effects of each column are fitted next to those of the others, and the change that ends them.
_ROUNDS, _SMALL = 20, 1e-3


@dataclass(frozen=True, eq=False)
class PooledTerm(Result):
    """The effects of one column, or of the crossing.

    Attributes
    ----------
    columns : tuple of str
    values : int
        Number of values, or of crossings, in the rows of the fit.
    offset_sd, slope_sd : float
        Standard deviations of the effects on log-odds: of offsets, and of slopes per unit of the log-odds of all rows.
        0 means that segments do not differ measurably: no other value raises the log marginal likelihood by 1.
    slope_gain, slope_error : float
        By how much slopes raise the log-likelihood of held-out rows, with its standard error; 0 where the marginal
        likelihood has none. Slopes with a gain of less than one standard error are left out.

    See Also
    --------
    PooledCalibrator : Contains one per term.
    """

    columns: tuple[str, ...]
    values: int
    offset_sd: float
    slope_sd: float
    slope_gain: float
    slope_error: float


@dataclass(eq=False)
class PooledCalibrator:
    r"""Calibrate by segment with partial pooling.

    A method is fitted to all rows; with its log-odds z, those of a row in segment (a, b) are

    z + u_a + u_b + u_ab, or (1 + v_a + v_b + v_ab)·z + … with slopes,

    where the effects of each column, and then those of the crossing, are normal around 0 with standard deviations of
    highest marginal likelihood. They are 0 unless this rises by more than 1 (Akaike's criterion): then the columns add
    nothing, and the map of all rows remains. Slopes turn about the mean log-odds of their segment, keep the order of
    scores, and are left out unless they raise the likelihood of held-out rows by more than a standard error. Unseen
    crossings get the effects of their columns, unseen or missing values none.

    Parameters
    ----------
    by : str or sequence of str
        Columns of segments: text, integers or bools.
    method : Calibrator or str, default "auto"
        The method for all rows, unfitted.
    random_state : int, default 0
        Of the folds by which slopes are chosen.

    Attributes
    ----------
    model_ : Model
        With `Effects`: it is saved, exported and applied like any other.
    terms_ : tuple of PooledTerm
        What was fitted, the columns first.

    See Also
    --------
    oddsmith.audit.audit : Measures the calibration of segments.

    References
    ----------
    A. Gelman & J. Hill, Data Analysis Using Regression and Multilevel/Hierarchical Models, 2007.

    Examples
    --------
    >>> import pandas as pd
    >>> shops = pd.DataFrame({"shop": ["a", "b"] * 300, "score": [0.3, 0.6, 0.8, 0.1] * 150})
    >>> shops["label"] = [1, 0, 1, 1, 0, 0] * 98 + [1] * 12
    >>> pooled = PooledCalibrator("shop", "platt").fit(shops)
    >>> pooled.model_.probability([0.5, 0.5, 0.5], ["a", "b", "unseen"]).round(2).tolist()
    [0.66, 0.36, 0.52]
    """

    by: str | Sequence[str]
    method: Calibrator | str = "auto"
    random_state: int = 0

    def fit(
        self,
        frame: Any,
        score: str = "score",
        label: str = "label",
        weight: str | None = None,
        *,
        pos_label: Any = None,
        resolution: Any = None,
        bad_rows: BadRowPolicy = "refuse",
    ) -> Self:
        """Fit to the rows of a frame; parameters are those of `ScoreTable.from_frame`.

        Parameters
        ----------
        frame : data frame or table of an engine
            Rows in the engine's own type.
        score : str, default "score"
            The column of scores.
        label : str, default "label"
            The column of labels.
        weight : str, optional
            The column of weights.
        pos_label : object, optional
            The positive label.
        resolution : float or "auto", optional
            The width of cells in which scores are pooled.
        bad_rows : {"refuse", "skip"}, default "refuse"
            What to do with rows that cannot be used.

        Returns
        -------
        self
        """
        columns = self._columns()
        cells = {"resolution": resolution, "pos_label": pos_label, "bad_rows": bad_rows}
        self.fit_tables(ScoreTable.from_frame(frame, score, label, weight, by=columns, **cells))
        self.model_: Model = replace(self.model_, column_names=(score,))
        return self

    def fit_tables(self, tables: Mapping[Any, ScoreTable]) -> Self:
        """Fit to a table for each segment, as `ScoreTable.from_frame` makes them with ``by``.

        Parameters
        ----------
        tables : mapping of tuple to ScoreTable
            A table for each combination of values of the columns.

        Returns
        -------
        self
        """
        columns = self._columns()
        names = _names(tables, len(columns))
        first, *others = tables.values()
        whole = first.merge(*others)
        chosen = find_method(self.method) if isinstance(self.method, str) else self.method
        if not isinstance(chosen, Calibrator):
            _check.fail("method must be a calibrator of two classes", repr(self.method), 'use "auto" or "platt"')
        model = fit_method(whole, chosen)
        rows, segment = _cells(list(tables.values()), map_of(model))
        rng = np.random.default_rng(self.random_state)
        hands = list(zip(*(deal_weight(side, _N_FOLDS, rng) for side in (rows.pos, rows.neg)), strict=True))
        fits = _fit_columns(rows, [_Groups.of(names, (place,), segment, rows) for place in range(len(columns))], hands)
        if len(columns) > 1:
            crossed = _drop_explained(_with_effects(rows, fits), names, segment)
            kept = crossed.pos + crossed.neg > 0
            held = [(np.where(kept, pos, 0.0), np.where(kept, neg, 0.0)) for pos, neg in hands]
            fits += _fit_columns(crossed, [_Groups.of(names, tuple(range(len(columns))), segment, rows)], held)
        terms = tuple(_term(fit) for fit in fits if fit.effects.offset_sd > 0 or fit.effects.slope_sd > 0)
        self.terms_ = tuple(
            PooledTerm(
                tuple(columns[place] for place in fit.groups.columns),
                len(fit.groups.keys),
                fit.effects.offset_sd,
                fit.effects.slope_sd,
                fit.gain,
                fit.error,
            )
            for fit in fits
        )
        parameters = {"by": list(columns), "method": model.method, "parameters": dict(model.parameters)}
        pooled = Model(
            type(self).__name__, parameters, model.map, model.labels, model.data, model.warnings, verdict=model.verdict
        )
        self.model_ = pooled.with_effects(columns, Effects(len(columns), terms))
        return self

    def predict_proba(self, scores: ArrayLike, segments: ArrayLike) -> Floats:
        """Return P of both classes, shape (n, 2).

        Parameters
        ----------
        scores : array-like of shape (n,)
        segments : array-like of shape (n,) or (n, columns)

        Returns
        -------
        ndarray
        """
        found: Floats = self.model_.predict_proba(scores, segments)
        return found

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the model to a file, whole or not at all; ``force`` replaces one that exists.

        Parameters
        ----------
        path : str or Path
            The file.
        force : bool, default False
            Whether to replace a file of this name.
        """
        self.model_.save(path, force=force)

    def _columns(self) -> tuple[str, ...]:
        return check_columns((self.by,) if isinstance(self.by, str) else tuple(self.by))


def _names(tables: Mapping[Any, ScoreTable], n_columns: int) -> list[tuple[str, ...]]:
    """Return the keys of each table as texts."""
    if not tables:
        _check.fail("there must be a table for each segment", "none", "pass those of ScoreTable.from_frame with by=")
    names = segment_names(tables)
    if bad := [key for key, name in zip(tables, names, strict=True) if len(name) != n_columns]:
        _check.fail(f"keys of segments must be {n_columns} values", repr(bad[0]), "name every column")
    return names


def _drop_explained(rows: LabeledOdds, names: Sequence[tuple[str, ...]], segment: NDArray[np.intp]) -> LabeledOdds:
    """Return rows without the weight of segments that have one of their values alone: their column explains them.

    They would make the effects of crossings look smaller than they are where a value has several.
    """
    counts = [Counter(values) for values in zip(*names, strict=True)]
    alone = [any(count[value] == 1 for count, value in zip(counts, name, strict=True)) for name in names]
    kept = ~np.array(alone)[segment]
    return rows._replace(pos=rows.pos * kept, neg=rows.neg * kept)


def _cells(tables: Sequence[ScoreTable], fitted: CalibrationMap) -> tuple[LabeledOdds, NDArray[np.intp]]:
    """Return the cells of all tables with the log-odds of the map of all rows, and the table of each."""
    segment = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    scores, pos, neg = (
        np.concatenate([np.asarray(getattr(table, name), dtype=np.float64) for table in tables])
        for name in ("scores", "pos", "neg")
    )
    odds = np.clip(fitted.log_odds(scores), -SUREST, SUREST)
    # Importance weights count as much as as many rows of equal weight.
    weight = sum(float(table.total.sum()) for table in tables)
    squared = sum(float(np.add(*table.squares).sum()) for table in tables)
    scale = weight / squared
    # Effects move within a cell by far less than their standard error: rows of a segment share cells.
    cell = np.floor(odds / _WIDTH).astype(np.int64)
    _, at = np.unique(segment * (2 * int(SUREST / _WIDTH) + 2) + cell, return_inverse=True)
    total = np.bincount(at, pos + neg)
    held = np.bincount(at, (pos + neg) * odds) / total
    first = np.zeros(len(total), dtype=np.intp)
    first[at] = segment
    pos, neg = (np.asarray(np.bincount(at, side * scale), dtype=np.float64) for side in (pos, neg))
    return LabeledOdds(held, held, pos, neg), first


@dataclass(frozen=True)
class _Groups:
    """Groups of cells by the keys of some columns, and their mean log-odds, about which slopes turn."""

    columns: tuple[int, ...]
    keys: tuple[tuple[str, ...], ...]
    of_rows: NDArray[np.intp]
    centers: Floats

    @staticmethod
    def of(
        names: Sequence[tuple[str, ...]], columns: tuple[int, ...], segment: NDArray[np.intp], rows: LabeledOdds
    ) -> "_Groups":
        own = [tuple(name[column] for column in columns) for name in names]
        keys = sorted(set(own))
        number = {key: place for place, key in enumerate(keys)}
        group = np.array([number[key] for key in own], dtype=np.intp)[segment]
        weight = rows.pos + rows.neg
        sums = (np.bincount(group, values, len(keys)) for values in (weight * rows.odds, weight))
        return _Groups(columns, tuple(keys), group, np.divide(*sums))

    def about(self, rows: LabeledOdds) -> LabeledOdds:
        """Return rows whose variable of slopes is the log-odds of the map less the mean of their group."""
        return rows._replace(x=rows.x - self.centers[self.of_rows])


@dataclass(frozen=True)
class _Fit:
    """Effects of groups, and what slopes bring to held-out rows."""

    groups: _Groups
    effects: GroupEffects
    gain: float = 0.0
    error: float = 0.0

    def contribution(self, rows: LabeledOdds) -> Floats:
        return self.effects.contribution(self.groups.about(rows).x, self.groups.of_rows)


def _fit_columns(rows: LabeledOdds, groups: Sequence[_Groups], hands: Sequence[tuple[Floats, Floats]]) -> list[_Fit]:
    """Fit the effects of several columns in turn, each next to those of the others; offsets first, then slopes."""
    fits = [_Fit(own, _offsets(rows, own)) for own in groups]
    for _ in range(_ROUNDS if len(groups) > 1 else 0):
        before = [fit.contribution(rows) for fit in fits]
        for place, fit in enumerate(fits):
            fits[place] = _Fit(fit.groups, _offsets(_next_to_others(rows, fits, place), fit.groups, fit.effects))
        changes = (np.abs(fit.contribution(rows) - old).max() for fit, old in zip(fits, before, strict=True))
        if max(changes) <= _SMALL:
            break
    for place in range(len(fits)):
        fits[place] = _with_slopes(_next_to_others(rows, fits, place), fits[place], hands)
    return fits


def _next_to_others(rows: LabeledOdds, fits: Sequence[_Fit], place: int) -> LabeledOdds:
    """Return rows with the effects of all columns but one."""
    return _with_effects(rows, [fit for i, fit in enumerate(fits) if i != place])


def _with_effects(rows: LabeledOdds, fits: Sequence[_Fit]) -> LabeledOdds:
    odds = np.sum([rows.odds, *(fit.contribution(rows) for fit in fits)], axis=0)
    slopes = [fit.effects.slopes[fit.groups.of_rows] for fit in fits]
    return rows._replace(odds=odds, slope=np.sum([np.broadcast_to(rows.slope, odds.shape), *slopes], axis=0))


def _offsets(rows: LabeledOdds, own: _Groups, start: GroupEffects | None = None) -> GroupEffects:
    return fit_groups(own.about(rows), own.of_rows, len(own.keys), slopes=False, start=start)


def _with_slopes(rows: LabeledOdds, fit: _Fit, hands: Sequence[tuple[Floats, Floats]]) -> _Fit:
    """Return a fit with slopes where these raise the likelihood of held-out rows by more than a standard error."""
    own = fit.groups
    rows = own.about(rows)
    sloped = fit_groups(rows, own.of_rows, len(own.keys), slopes=True, start=fit.effects)
    if sloped.slope_sd == 0:
        return fit
    gain, error = held_out_gain(rows, hands, own.of_rows, sloped, fit.effects)
    return _Fit(own, sloped if gain > error else fit.effects, gain, error)


def _term(fit: _Fit) -> Term:
    """Return the effects on log-odds = slope · z + shift; those of the fit turn about the mean of their group."""
    effects, own = fit.effects, fit.groups
    return Term(own.columns, own.keys, effects.offsets - own.centers * effects.slopes, effects.slopes)
