"""The score table: what the data say about a score.

Every fit and every measure depends on the data only through one thing: how much positive and how much negative weight
fell on each distinct score. `ScoreTable` is that thing; it merges by adding.
"""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check, _kernels
from oddsmith._types import Bools, Floats, Ints, Weights
from oddsmith.data.folds import Fold, RandomState, deal_counts, equal_rows
from oddsmith.data.grid import Grid, finest_width, power_of_two
from oddsmith.data.near_ties import near_runs
from oddsmith.data.row_hash import mark_sums
from oddsmith.data.rows import LabeledScores, Meaning, read_rows, slices, total_weight

__all__ = ["Origin", "Sample", "ScoreTable", "as_table", "pool"]

#: Residues below this share of the weight at a score are rounding, when float-weighted tables are subtracted.
_ROUNDING = 1e-12


class Origin(NamedTuple):
    """What is known of a table's rows in addition to their weights.

    Parameters
    ----------
    in_sample : bool, default False
        Whether scores are forecasts of a map that was fitted to these rows.
    labels : tuple
        The negative and the positive label, each None where it is not known.
    meaning : {"score", "probability", "log_odds"}, default "score"
        What the scores are.

    See Also
    --------
    ScoreTable : Has it as ``origin``.
    """

    in_sample: bool = False
    labels: tuple[Any, Any] = (None, None)
    meaning: Meaning = "score"

    def join(self, *others: "Origin") -> "Origin":
        """Return the origin of rows of several tables, whose labels and meaning must agree where they are known.

        Parameters
        ----------
        *others : Origin

        Returns
        -------
        Origin
        """
        labels, meanings = self.labels, {self.meaning, *(other.meaning for other in others)}
        if len(meanings - {"score"}) > 1:
            got = " and ".join(sorted(meanings - {"score"}))
            _check.fail("tables must have scores of one meaning", got, "turn probabilities into log-odds first")
        for other in others:
            pairs = list(zip(labels, other.labels, strict=True))
            if any(a is not None and b is not None and a != b for a, b in pairs):
                got = f"{other.labels!r} and {labels!r} (negative, positive)"
                _check.fail("tables must have the same labels", got, "build both with the same pos_label")
            negative, positive = (b if a is None else a for a, b in pairs)
            labels = (negative, positive)
        meaning = self.meaning if len(meanings) == 1 else "score"
        return Origin(self.in_sample or any(other.in_sample for other in others), labels, meaning)


_UNKNOWN = Origin()


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable:
    """Sorted distinct scores with the positive and negative weight at each.

    The weighted empirical measure of (score, label), and the sufficient statistic of every calibrator and measure in
    this library. Counts are exact integers; float weights are importance weights and carry their squared sums.
    Immutable. Build it with `from_arrays` or `from_frame`.

    Attributes
    ----------
    scores : ndarray of float64, shape (m,)
        Distinct scores in ascending order; after `quantize`, the mean score of each cell.
    pos, neg : ndarray, shape (m,)
        Weight of the positive and negative rows: int64 counts, or float64.
    pos_sq, neg_sq : ndarray or None
        Sums of squared weights; None for counts, whose squared sums are the counts themselves.
    pos_sum, neg_sum : ndarray or None
        Class-wise sums of weight × score within each cell of a quantized table; None for exact tables.
    rows : int
        Number of rows that went in; by default what the counts sum to, or for float weights one per score.
    resolution : float or None
        Cell width of a quantized table, None when scores are exact.
    log_odds_cells : bool
        Whether that width is one of log-odds, the scores being probabilities.
    in_sample : bool
        Whether the scores are the forecasts of a map that was fitted on some of these rows. Then measures flatter the
        map, and p-values are refused. Every operation keeps it; it does not affect equality.
    labels : tuple
        The negative and the positive label as far as rows showed them, else None. Tables with other labels do not
        merge; they do not affect equality.
    meaning : {"score", "probability", "log_odds"}
        What the scores are known to be; "score" is any real number. Operations on rows keep it, a change of the scores
        (`map`) does not. It does not affect equality.

    See Also
    --------
    oddsmith.data.ScoreRows : Rows of several classes.
    oddsmith.frames.tables_from_frame : A table per segment.

    Examples
    --------
    >>> from oddsmith import ScoreTable
    >>> table = ScoreTable.from_arrays([0.2, 0.9, 0.2], [0, 1, 1])
    >>> table
    ScoreTable(rows=3, distinct=2, kind=count, weight=3, prevalence=0.6667, resolution=exact)
    >>> table.merge(table) == table.scale(2)
    True
    """

    scores: Floats
    pos: Weights
    neg: Weights
    pos_sq: Floats | None = None
    neg_sq: Floats | None = None
    pos_sum: Floats | None = None
    neg_sum: Floats | None = None
    rows: int = -1
    resolution: float | None = None
    log_odds_cells: bool = False
    in_sample: bool = False
    labels: tuple[Any, Any] = (None, None)
    meaning: Meaning = "score"

    def __post_init__(self) -> None:
        if not (self.scores[1:] > self.scores[:-1]).all():
            got, hint = f"{len(self.scores)} scores in another order, or NaN", "build it with ScoreTable.from_arrays"
            _check.fail("the scores of a table must ascend", got, hint)
        if self.rows < 0:
            rows = int(self.pos.sum() + self.neg.sum()) if self.pos_sq is None else len(self.scores)
            object.__setattr__(self, "rows", rows)
        for column in self._columns().values():
            column.setflags(write=False)
        self.scores.setflags(write=False)

    @staticmethod
    def from_arrays(
        scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, pos_label: Any = None
    ) -> "ScoreTable":
        """Build a table from scores and labels.

        Parameters
        ----------
        scores : array-like of shape (n,) or (n, 1)
            Finite real scores, larger meaning more positive.
        y : array-like of shape (n,)
            Labels {0, 1}, {−1, +1}, bool, or any two values with ``pos_label``.
        sample_weight : array-like of shape (n,), optional
            Integer-typed weights are counts (weight 2 = the row twice); float weights are importance weights. A row of
            weight 0 is absent.
        pos_label : object, optional
            The positive label.

        Returns
        -------
        ScoreTable
        """
        rows, (negative, positive) = read_rows(scores, y, sample_weight, pos_label)
        table = ScoreTable.from_rows(rows)
        shown = (_plain(negative) if table.n_neg else None, _plain(positive) if table.n_pos else None)
        return replace(table, labels=shown)

    @staticmethod
    def from_rows(rows: LabeledScores) -> "ScoreTable":
        """Sort rows that were read before.

        Parameters
        ----------
        rows : Sample
            Validated scores, labels and weights.

        Returns
        -------
        ScoreTable
        """
        weight = rows.weight
        if weight is None:
            scores, pos, neg = _kernels.count_table(rows.scores, rows.positive)
            return ScoreTable(scores, pos, neg, rows=len(rows.scores), meaning=rows.meaning)
        columns: dict[str, NDArray[Any]] = {"pos": weight * rows.positive, "neg": weight * ~rows.positive}
        if rows.kind == "weight":
            columns |= {f"{side}_sq": column**2 for side, column in columns.items()}
        return pool(rows.scores, columns, rows.n_rows, None, Origin(meaning=rows.meaning))

    @overload
    @staticmethod
    def from_frame(
        frame: Any,
        score: str,
        label: str,
        weight: str | None = None,
        by: None = None,
        resolution: float | Literal["auto"] | None = None,
        pos_label: Any = None,
        bad_rows: Literal["refuse", "skip"] = "refuse",
    ) -> "ScoreTable": ...

    @overload
    @staticmethod
    def from_frame(
        frame: Any,
        score: str,
        label: str,
        weight: str | None = None,
        *,
        by: str | Sequence[str],
        resolution: float | Literal["auto"] | None = None,
        pos_label: Any = None,
        bad_rows: Literal["refuse", "skip"] = "refuse",
    ) -> "dict[Any, ScoreTable]": ...

    @staticmethod
    def from_frame(
        frame: Any,
        score: str,
        label: str,
        weight: str | None = None,
        by: str | Sequence[str] | None = None,
        resolution: float | Literal["auto"] | None = None,
        pos_label: Any = None,
        bad_rows: Literal["refuse", "skip"] = "refuse",
    ) -> "ScoreTable | dict[Any, ScoreTable]":
        """Build a table where the rows are, by one GROUP BY.

        Parameters
        ----------
        frame : data frame or table of an engine
            pandas, Polars (eager or lazy), PyArrow, DuckDB relation, Dask, PySpark or Ibis, as narwhals reads them.
        score, label : str
            Columns: scores of any numeric type; labels as for `from_arrays`.
        weight : str, optional
            Column of weights: integer-typed are counts, others importance weights.
        by : str or sequence of str, optional
            Columns (segments, days, folds) whose values each get a table of their own: the result is a dict, its keys
            tuples when a sequence is given.
        resolution : None, float or "auto"
            None keeps every distinct score, up to 5,000,000 of an engine. A number, a power of two, is the width of
            cells in which scores are pooled. "auto" chooses cells after a look at the range of the scores, so fine that
            fits hardly move (see ``oddsmith.frames.resolution``); probabilities get cells of log-odds, and few rows or
            few distinct scores stay exact.
        pos_label : object, optional
            The positive label.
        bad_rows : {"refuse", "skip"}, default "refuse"
            What to do when a score, label, weight or key is missing (null or NaN) or infinite.

        Returns
        -------
        ScoreTable or dict[Any, ScoreTable]

        Examples
        --------
        >>> import polars as pl
        >>> frame = pl.LazyFrame({"s": [0.2, 0.9, 0.2], "y": [False, True, True], "day": [1, 1, 2]})
        >>> ScoreTable.from_frame(frame, "s", "y")
        ScoreTable(rows=3, distinct=2, kind=count, weight=3, prevalence=0.6667, resolution=exact)
        >>> sorted(ScoreTable.from_frame(frame, "s", "y", by="day"))
        [1, 2]
        """
        from oddsmith.frames import tables_from_frame as build

        made: ScoreTable | dict[Any, ScoreTable]
        made = build(frame, score, label, weight, by, resolution, pos_label, bad_rows)
        return made

    @staticmethod
    def from_query(
        connection: Any, sql: str, pos_label: Any = None, bad_rows: Literal["refuse", "skip"] = "refuse"
    ) -> "ScoreTable | dict[Any, ScoreTable]":
        """Build a table from the result of a query, which a warehouse has run.

        Parameters
        ----------
        connection : connection of DB-API, DuckDB or SQLAlchemy
        sql : str
            From `oddsmith.frames.table_query`, or ``oddsmith table --print-sql``; or a query of one's own with the
            columns ``score``, ``label`` and ``rows``. Each further column is a key; the result is a dict of tables.
        pos_label : object, optional
            The positive label.
        bad_rows : {"refuse", "skip"}, default "refuse"
            What to do when a score, label, weight or key is missing, or a score infinite.

        Returns
        -------
        ScoreTable or dict[Any, ScoreTable]

        Examples
        --------
        >>> import sqlite3
        >>> connection = sqlite3.connect(":memory:")
        >>> _ = connection.execute("CREATE TABLE scores AS SELECT 0.2 AS s, 0 AS y UNION ALL SELECT 0.9, 1")
        >>> sql = "SELECT s AS score, y AS label, COUNT(*) AS rows FROM scores GROUP BY s, y"
        >>> ScoreTable.from_query(connection, sql)
        ScoreTable(rows=2, distinct=2, kind=count, weight=2, prevalence=0.5, resolution=exact)
        """
        from oddsmith.frames import table_from_query as build

        made: ScoreTable | dict[Any, ScoreTable] = build(connection, sql, pos_label, bad_rows)
        return made

    @property
    def kind(self) -> Literal["count", "weight"]:
        """Either "count" for integer counts or "weight" for float importance weights."""
        return "count" if self.pos_sq is None else "weight"

    @property
    def grid(self) -> Grid | None:
        """The cells of a quantized table, None when scores are exact."""
        return None if self.resolution is None else Grid(self.resolution, self.log_odds_cells)

    @property
    def n_classes(self) -> int:
        """Two."""
        return 2

    @property
    def class_weights(self) -> Floats:
        """Weight of the negative and of the positive class."""
        return np.array([self.n_neg, self.n_pos], dtype=np.float64)

    def one_vs_rest(self, index: int) -> "ScoreTable":
        """Return the table in which one of the two classes is positive: 1 the table itself, 0 with negated scores.

        Probabilities p become 1 − p.

        Parameters
        ----------
        index : int
            0 for the negative class, 1 for the positive one.

        Returns
        -------
        ScoreTable

        Examples
        --------
        >>> ScoreTable.from_arrays([1.0, 2.0, 3.0], [0, 0, 1]).one_vs_rest(0).scores
        array([-3., -2., -1.])
        """
        _check.one_of(index, "index", (0, 1))
        if index == 1:
            return self
        turned = self.exact().map(lambda s: 1 - s if self.meaning == "probability" else -s, self.meaning)
        sides: dict[str, Any] = {"pos": turned.neg, "neg": turned.pos, "pos_sq": turned.neg_sq, "neg_sq": turned.pos_sq}
        return replace(turned, **sides, labels=(self.labels[1], self.labels[0]))

    @cached_property
    def n_pos(self) -> float:
        """Positive weight."""
        return total_weight(self.pos)

    @cached_property
    def n_neg(self) -> float:
        """Negative weight."""
        return total_weight(self.neg)

    @property
    def total(self) -> Weights:
        """Weight of both classes at each score."""
        return self.pos + self.neg

    @property
    def squares(self) -> tuple[Weights, Weights]:
        """Sums of squared weights of the positive and the negative class at each score; of counts the counts."""
        return (self.pos, self.neg) if self.pos_sq is None or self.neg_sq is None else (self.pos_sq, self.neg_sq)

    @property
    def prevalence(self) -> float:
        """Share of the weight that is positive; NaN for an empty table, as after ``table.minus(table)``."""
        total = self.n_pos + self.n_neg
        return self.n_pos / total if total else math.nan

    def span(self) -> tuple[float, float]:
        """Smallest and largest score.

        Returns
        -------
        tuple[float, float]
        """
        if not len(self):
            _check.fail("the table must contain scores", f"{self!r}", "check which tables were subtracted")
        return float(self.scores[0]), float(self.scores[-1])

    def marginal(self) -> tuple[Floats, Weights | None]:
        """Scores of both classes with their weights (None: all ones).

        Returns
        -------
        tuple[ndarray, ndarray or None]
        """
        return self.scores, None if self.all_ones else self.total

    @property
    def all_ones(self) -> bool:
        """Whether every score stands for exactly one row."""
        return self.kind == "count" and self.rows == len(self)

    def chunks(self) -> Iterator[tuple[Floats, Bools, Bools]]:
        """Iterate over scores with marks of positive and negative weight.

        Yields
        ------
        tuple[ndarray, ndarray, ndarray]
        """
        for part in slices(len(self.scores)):
            yield self.scores[part], self.pos[part] > 0, self.neg[part] > 0

    def of_class(self, positive: bool) -> tuple[Floats, Weights | None]:
        """Scores, ascending, with the weight of one class at each, which may be 0; of cells, the class's mean.

        Parameters
        ----------
        positive : bool
            Which class: the positive one if True.

        Returns
        -------
        tuple[ndarray, ndarray or None]
        """
        weight, sums = (self.pos, self.pos_sum) if positive else (self.neg, self.neg_sum)
        if sums is None:
            return self.scores, weight
        held = weight > 0
        return sums[held] / weight[held], weight[held]

    def positive_weight(self, part: slice) -> Floats:
        """Positive weight at some of the scores.

        Parameters
        ----------
        part : slice or array
            Which scores.

        Returns
        -------
        ndarray
        """
        return self.pos[part].astype(np.float64)

    def class_sums(self, scale: float, shift: float) -> tuple[float, float]:
        """Sum s/scale − shift over the weight of the positive and of the negative class.

        Parameters
        ----------
        scale : float
            The unit of the sums.
        shift : float
            What is subtracted from each score in that unit.

        Returns
        -------
        tuple[float, float]
        """
        if self.pos_sum is not None and self.neg_sum is not None:
            return (
                float((self.pos_sum / scale - shift * self.pos).sum()),
                float((self.neg_sum / scale - shift * self.neg).sum()),
            )
        if self.all_ones:
            return LabeledScores(self.scores, self.pos > 0, None).class_sums(scale, shift)
        x = self.scores / scale - shift
        return float(np.dot(self.pos, x)), float(np.dot(self.neg, x))

    def mark_sums(self) -> tuple[float, float]:
        """Sum the marks of the scores, or of the cells, over the positive weight and over all.

        Returns
        -------
        tuple[float, float]
        """
        return self._mark_sums

    @cached_property
    def _mark_sums(self) -> tuple[float, float]:  # kept: many calibrators are fitted to one table
        return mark_sums(self._cells(), self.pos, None if self.all_ones else self.total)

    @property
    def origin(self) -> Origin:
        """Whether the table is in-sample, its labels, and what its scores are."""
        return Origin(self.in_sample, self.labels, self.meaning)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the table to a file that `load` reads: whole or not at all, even if interrupted.

        The file contains arrays and JSON, and nothing that could run. Its size is that of the table: `coarsen` bounds
        it.

        Parameters
        ----------
        path : path-like
        force : bool, default False
            Replace a file that exists.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "monday.npz"
        >>> table = ScoreTable.from_arrays([0.2, 0.9], ["no", "yes"], pos_label="yes")
        >>> table.save(path)
        >>> ScoreTable.load(path).labels
        ('no', 'yes')
        """
        from oddsmith.data.storage import save_table

        save_table(self, path, force=force)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> "ScoreTable":
        """Read a table that `save` wrote; a file that contains none is refused.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        ScoreTable
        """
        from oddsmith.data.storage import load_table

        return load_table(path)

    def merge(self, *others: "ScoreTable") -> "ScoreTable":
        """Add tables: the table of all rows together.

        Tables of different resolution merge by coarsening to the widest cells; counts with float weights become
        weights. Tables of other labels are refused: with another ``pos_label`` they would be counted the wrong way
        round.

        Parameters
        ----------
        *others : ScoreTable
            Tables of other rows; ``*others`` may be empty.

        Returns
        -------
        ScoreTable
        """
        tables = [self, *others]
        grids = [grid for table in tables if (grid := table.grid) is not None]
        widest = max(grids, default=None)
        if widest is not None:
            tables = [table.quantize(*widest) for table in tables]
        if any(table.kind == "weight" for table in tables):
            tables = [table._to_float_weights() for table in tables]
        columns = [table._columns() for table in tables]
        joined = {name: np.concatenate([column[name] for column in columns]) for name in columns[0]}
        scores = np.concatenate([table.scores for table in tables])
        origin = self.origin.join(*(table.origin for table in others))
        return pool(scores, joined, sum(table.rows for table in tables), widest, origin)

    def minus(self, other: "ScoreTable") -> "ScoreTable":
        """Take away a part that was merged in: ``a.merge(b).minus(b)`` is ``a``, exactly so for counts.

        Tables of different resolution are coarsened to the wider cells, as in `merge`.

        Parameters
        ----------
        other : ScoreTable
            Part of this table.

        Returns
        -------
        ScoreTable

        Raises
        ------
        InvalidInputError
            If ``other`` is not a part of this table, or float weights of the remainder are lost in rounding.
        """
        if other.kind == "weight" and self.kind == "count":
            got = f"{other!r} from {self!r}"
            _check.fail("the subtracted table must count rows as this one does", got, "give both the same weights")
        widest = max((grid for grid in (self.grid, other.grid) if grid is not None), default=None)
        if widest is not None and (self.grid, other.grid) != (widest, widest):
            return self.quantize(*widest).minus(other.quantize(*widest))
        part = other._to_float_weights() if self.kind == "weight" else other
        at = np.searchsorted(self._cells(), part._cells())
        inside = at < len(self.scores)
        if not inside.all() or not np.array_equal(self._cells()[at], part._cells()):
            _check.fail("the subtracted table must be part of this one", "scores that are not in it", "check the order")
        left = {name: column.copy() for name, column in self._columns().items()}
        for name, column in part._columns().items():
            left[name][at] -= column
        slack = {side: (0 if self.kind == "count" else _ROUNDING) * self._columns()[side] for side in ("pos", "neg")}
        if any(np.any(left[side] < -slack[side]) for side in slack):
            _check.fail("the subtracted table must be part of this one", "more weight than is in it", "check the order")
        if self.kind == "weight":
            for side in slack:
                gone = left[side] <= slack[side]
                for name in {side, f"{side}_sq", f"{side}_sum"} & left.keys():
                    left[name][gone] = 0
        total = left["pos"] + left["neg"]
        held = total > 0
        if self.rows > part.rows and not held.any():
            got = f"{self.rows - part.rows} rows of less than {_ROUNDING:g} of the weight at their scores"
            _check.fail("the remaining weight must exceed rounding error", got, "keep its own table")
        kept = {name: column[held] for name, column in left.items()}
        means = self.scores.copy()
        if self.grid is not None:  # exact scores stay where they are
            rest = total[at] > 0
            share = part.total[rest] / total[at][rest]
            means[at[rest]] += share * (self.scores[at[rest]] - part.scores[rest])
            means = self.grid.inside(means, self.scores)
        return _assemble(means[held], kept, self.rows - part.rows, self.grid, self.origin.join(part.origin))

    def scale(self, factor: float) -> "ScoreTable":
        """Multiply every weight; a whole factor keeps counts (each row repeated), any other makes weights.

        Parameters
        ----------
        factor : float
            What each weight is multiplied by.

        Returns
        -------
        ScoreTable
        """
        table, rows, times = self, self.rows, factor
        if isinstance(factor, (int, np.integer)) and self.kind == "count":
            times = _check.whole_number(factor, "factor", low=1)
            rows *= times
        else:
            times = _check.number(factor, "factor", low=0, strict=True)
            table = self._to_float_weights()
        _check.refuse_large_sum((self.n_pos + self.n_neg) * times, "the scaled table")
        factors = {name: times**2 if name.endswith("_sq") else times for name in table._columns()}
        columns = {name: column * factors[name] for name, column in table._columns().items()}
        return self._with(self.scores, columns, rows, self.grid)

    def quantize(self, width: float, log_odds: bool = False) -> "ScoreTable":
        """Pool scores in cells of one width, a power of two, on a grid anchored at 0.

        Grids of powers of two nest, so tables of different widths still merge. Each cell keeps the score sums of both
        classes and stands at its mean score. Rounding is only ever done by this name, and the repr shows it.

        Parameters
        ----------
        width : float
        log_odds : bool, default False
            Whether the width is one of log-odds, for scores that are probabilities.

        Returns
        -------
        ScoreTable
        """
        grid = Grid(power_of_two(width, "width"), bool(log_odds))
        if self.resolution is not None and log_odds != self.log_odds_cells:
            _check.fail(
                "cells must stay on one axis",
                f"cells of {'log-odds' if log_odds else 'the score'} from {self!r}",
                "build both tables with the same resolution",
            )
        if self.resolution is not None and width < self.resolution:
            _check.fail(
                "width must not be finer than the table's", f"width={width!r}", f"use {self.resolution!r} or more"
            )
        if log_odds and not (0 <= self.scores[0] and self.scores[-1] <= 1):
            low, high = self.span()
            _check.fail(
                "cells of log-odds need scores in [0, 1]", f"scores from {low:g} to {high:g}", "use log_odds=False"
            )
        if grid == self.grid:
            return self
        columns = self._columns()
        columns.setdefault("pos_sum", self.pos * self.scores)
        columns.setdefault("neg_sum", self.neg * self.scores)
        return pool(self.scores, columns, self.rows, grid, self.origin)

    def coarsen(self, max_cells: int) -> "ScoreTable":
        """Pool scores in the finest cells of which at most ``max_cells`` are occupied; fewer scores stay as they are.

        The width depends on the scores alone and never shrinks as rows are added: a stream that merges its chunks in
        any order, coarsening as it goes, ends with the table of all its rows coarsened once.

        Parameters
        ----------
        max_cells : int
            The largest number of scores to keep.

        Returns
        -------
        ScoreTable
        """
        limit = _check.whole_number(max_cells, "max_cells", low=4)
        if len(self) <= limit:
            return self
        places = Grid(1.0, self.log_odds_cells).place(self.scores)
        return self.quantize(finest_width(places, limit, self.resolution), self.log_odds_cells)

    def map(self, function: Callable[[Floats], ArrayLike], meaning: Meaning = "score") -> "ScoreTable":
        """Replace every score by ``function(scores)`` and pool what becomes equal.

        With a calibration map's ``log_odds`` this gives a *forecast*: a table whose score is a log-odds, which may be
        infinite.

        Parameters
        ----------
        function : callable
            From an array of scores to one of the same length.
        meaning : {"score", "probability", "log_odds"}, default "score"
            What the new scores are known to be.

        Returns
        -------
        ScoreTable
        """
        mapped = np.asarray(function(self.scores), dtype=np.float64)
        if mapped.shape != self.scores.shape or np.isnan(mapped).any():
            got = f"shape {mapped.shape}, or NaN"
            _check.fail("function must give one number per score", got, "check the function")
        columns = {name: column for name, column in self._columns().items() if not name.endswith("_sum")}
        return pool(mapped, columns, self.rows, None, self.origin._replace(meaning=meaning))

    def exact(self) -> "ScoreTable":
        """Return the table; a quantized one with each cell at its mean score, so that it can be resampled.

        Returns
        -------
        ScoreTable
        """
        return self if self.resolution is None else self.map(lambda scores: scores, self.meaning)

    def folds(self, n_folds: int = 5, random_state: RandomState = None) -> "list[Fold[ScoreTable]]":
        """Split at random in parts of equal size, each with its share of both classes; without rows.

        The law is that of a shuffled, stratified split of the rows. Float weights at one score and class are dealt as
        the (Σw)²/Σw² rows of equal weight that would vary as much: the rows themselves where none are tied.

        Parameters
        ----------
        n_folds : int, default 5
        random_state : int, Generator or None

        Returns
        -------
        list of Fold
            ``part``, and ``rest`` of the other parts; the parts merge to the table.

        Examples
        --------
        >>> table = ScoreTable.from_arrays([0.1, 0.1, 0.7, 0.9], [0, 0, 1, 1])
        >>> [len(fold.part) for fold in table.folds(2, random_state=0)]
        [2, 2]
        """
        if self.kind == "weight":
            return self._weighted_folds(n_folds, random_state)
        self.refuse_unknown_rows()
        k = _check.whole_number(n_folds, "n_folds", low=2)
        if k > self.rows:
            _check.fail("n_folds must be at most the number of rows", f"{k} folds of {self.rows} rows", "use fewer")
        counts = self.pos.astype(np.int64), self.neg.astype(np.int64)
        hands = deal_counts(counts, k, np.random.default_rng(random_state))
        parts = (self.with_weights(pos, neg) for pos, neg in zip(*hands, strict=True))
        return [Fold(self.minus(part), part) for part in parts]

    def _weighted_folds(self, n_folds: int, random_state: RandomState) -> "list[Fold[ScoreTable]]":
        (pos, pos_unit), (neg, neg_unit) = map(equal_rows, (self.pos, self.neg), self.squares)
        counted = ScoreTable(self.scores, pos, neg, resolution=self.resolution, **self.origin._asdict())

        def weigh(part: ScoreTable) -> ScoreTable:
            at = np.searchsorted(self.scores, part.scores)
            plus, minus = part.pos * pos_unit[at], part.neg * neg_unit[at]
            return part.with_weights(plus, minus, (plus * pos_unit[at], minus * neg_unit[at]), part.rows)

        return [Fold(*map(weigh, fold)) for fold in counted.folds(n_folds, random_state)]

    def rows_by_class(self) -> tuple[int, int]:
        """Return the number of positive and of negative rows that `folds` deals.

        Returns
        -------
        tuple[int, int]
        """
        if self.kind == "count":
            return int(self.n_pos), int(self.n_neg)
        pos, neg = (int(rows.sum()) for rows, _ in map(equal_rows, (self.pos, self.neg), self.squares))
        return pos, neg

    def with_weights(
        self, pos: Weights, neg: Weights, squares: tuple[Floats, Floats] | None = None, rows: int = -1
    ) -> "ScoreTable":
        """Return the same scores with other counts, or with weights and their squares; without cells of weight 0.

        Parameters
        ----------
        pos : array of shape (m,)
            Positive weight at each score.
        neg : array of shape (m,)
            Negative weight at each score.
        squares : tuple of arrays, optional
            Sums of squared weights of either class, for float weights.
        rows : int, optional
            The number of rows.

        Returns
        -------
        ScoreTable
        """
        held = pos + neg > 0
        pos_sq, neg_sq = (None, None) if squares is None else (side[held] for side in squares)
        return ScoreTable(self.scores[held], pos[held], neg[held], pos_sq, neg_sq, rows=rows, **self.origin._asdict())

    def refuse_unknown_rows(self) -> None:
        """Refuse to resample float weights, and cells that keep only sums of scores."""
        if self.kind != "count":
            _check.fail(
                "resampling a table needs counts",
                "float weights, which do not show the number of rows",
                "pass integer-typed weights, or resample where the rows are, one table per fold",
            )
        if self.resolution is not None:
            _check.fail(
                "resampling needs exact scores",
                f"a table of resolution {self.resolution:g}, whose cells keep only sums of scores",
                "resample before quantize, or take table.exact()",
            )

    def join_near_ties(self) -> "ScoreTable":
        """Take exact scores that differ by rounding alone for one, in their middle; the table itself where none do.

        Returns
        -------
        ScoreTable
        """
        starts = self._near_runs
        if starts is None:
            return self
        first, last, columns = self._runs(starts)
        joined = self._with(np.where(first == last, first, first / 2 + last / 2), columns, self.rows, None)
        joined.__dict__["_near_runs"] = None
        return joined

    def in_runs(self, starts: NDArray[np.intp]) -> "ScoreTable":
        """Add up runs of exact scores, given where each starts; the mean represents each run.

        Parameters
        ----------
        starts : array of int
            The place of the first score of each run.

        Returns
        -------
        ScoreTable
        """
        first, last, columns = self._runs(starts)
        # About the first score of each run, so that none far out takes the others' digits, and without overflow.
        exponent = math.frexp(max(-self.scores[0], self.scores[-1]))[1]
        scale = math.ldexp(1.0, max(min(exponent, 1023), -1020))
        away = self.scores / scale - np.repeat(first / scale, np.diff(starts, append=len(self)))
        sums = np.add.reduceat(away if self.all_ones else self.total * away, starts)
        means = (first / scale + sums / (columns["pos"] + columns["neg"])) * scale
        # A mean lies among its scores, whatever the rounding.
        return self._with(np.clip(means, first, last), columns, self.rows, None)

    def at(self, held: Bools) -> "ScoreTable":
        """Keep some of the scores.

        Parameters
        ----------
        held : array of bool or int
            Which scores to keep.

        Returns
        -------
        ScoreTable
        """
        columns = {name: column[held] for name, column in self._columns().items()}
        return self._with(self.scores[held], columns, self.rows, self.grid)

    @cached_property
    def _near_runs(self) -> NDArray[np.intp] | None:
        return near_runs(self.scores) if self.resolution is None else None

    def to_arrays(self) -> tuple[Floats, Ints, Weights]:
        """Return scores, labels {0, 1} and weights, one row for each score and class that has weight.

        Returns
        -------
        tuple[ndarray, ndarray, ndarray]
        """
        held_neg, held_pos = self.neg > 0, self.pos > 0
        scores = np.concatenate([self.scores[held_neg], self.scores[held_pos]])
        y = np.repeat(np.array([0, 1]), [int(held_neg.sum()), int(held_pos.sum())])
        return scores, y, np.concatenate([self.neg[held_neg], self.pos[held_pos]])

    def __len__(self) -> int:
        return len(self.scores)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreTable):
            return NotImplemented
        mine, theirs = self._columns(), other._columns()
        return (
            (self.rows, self.grid, mine.keys()) == (other.rows, other.grid, theirs.keys())
            and np.array_equal(self.scores, other.scores)
            and all(np.array_equal(mine[name], theirs[name]) for name in mine)
        )

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        resolution = "exact" if self.resolution is None else f"{self.resolution:g}"
        resolution += " of log-odds" if self.log_odds_cells else ""
        resolution += ", in_sample=True" if self.in_sample else ""
        return (
            f"ScoreTable(rows={self.rows}, distinct={len(self)}, kind={self.kind}, "
            f"weight={self.n_pos + self.n_neg:.12g}, prevalence={self.prevalence:.4g}, resolution={resolution})"
        )

    def _columns(self) -> dict[str, NDArray[Any]]:
        """Everything that adds under merge."""
        names = ("pos", "neg", "pos_sq", "neg_sq", "pos_sum", "neg_sum")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def _runs(self, starts: NDArray[np.intp]) -> tuple[Floats, Floats, dict[str, NDArray[Any]]]:
        """Return the first and the last score of each run, and its sums."""
        columns = {name: np.add.reduceat(column, starts) for name, column in self._columns().items()}
        return self.scores[starts], self.scores[np.append(starts[1:], len(self)) - 1], columns

    def _cells(self) -> Floats:
        return self.scores if self.grid is None else self.grid.cells(self.scores)

    def _to_float_weights(self) -> "ScoreTable":
        """Return the same table as float weights; every counted row has weight 1, so counts are squared sums too."""
        if self.kind == "weight":
            return self
        columns = self._columns()
        columns["pos"], columns["neg"] = self.pos.astype(np.float64), self.neg.astype(np.float64)
        columns["pos_sq"], columns["neg_sq"] = columns["pos"].copy(), columns["neg"].copy()
        return self._with(self.scores, columns, self.rows, self.grid)

    def _with(self, scores: Floats, columns: dict[str, NDArray[Any]], rows: int, grid: Grid | None) -> "ScoreTable":
        """Return a table made from this one, of the same origin."""
        return _assemble(scores, columns, rows, grid, self.origin)


#: Scores and labels, sorted or not: what fits that need no order take.
Sample = ScoreTable | LabeledScores


def as_table(data: Sample) -> ScoreTable:
    """Return the table of a sample; rows are sorted first.

    Parameters
    ----------
    data : ScoreTable or ScoreRows
        Data of two classes.

    Returns
    -------
    ScoreTable

    See Also
    --------
    oddsmith.ScoreTable.from_arrays : From scores and labels.
    """
    return data if isinstance(data, ScoreTable) else ScoreTable.from_rows(data)


def pool(
    scores: Floats, columns: dict[str, NDArray[Any]], rows: int, grid: Grid | None, origin: Origin = _UNKNOWN
) -> ScoreTable:
    """Sort, add up what shares a score (or a cell), and stand each cell at its mean."""
    _check.refuse_large_sum(sum(_check.weight_sum(columns[side]) for side in ("pos", "neg")), "the table")
    keys = scores + 0.0 if grid is None else grid.cells(scores)  # −0.0 becomes 0.0
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = _kernels.run_starts(ordered)
    pooled = {name: np.add.reduceat(column[order], starts) for name, column in columns.items()}
    if grid is None:
        return _assemble(ordered[starts], pooled, rows, None, origin)
    # About a score of the cell, so that a cell of equal scores stands exactly at them.
    members = scores[order]
    first = members[starts]
    away = members - np.repeat(first, np.diff(starts, append=len(members)))
    total = (columns["pos"] + columns["neg"])[order]
    mean = first + np.add.reduceat(away * total, starts) / (pooled["pos"] + pooled["neg"])
    return _assemble(grid.inside(mean, first), pooled, rows, grid, origin)


def _plain(label: Any) -> Any:
    """Return a label as Python's own value."""
    return label.item() if isinstance(label, np.generic) else label


def _assemble(
    scores: Floats, columns: dict[str, NDArray[Any]], rows: int, grid: Grid | None, origin: Origin
) -> ScoreTable:
    width, log_odds = grid or (None, False)
    fields: dict[str, Any] = {**columns, "resolution": width, "log_odds_cells": log_odds, **origin._asdict()}
    return ScoreTable(scores, rows=rows, **fields)
