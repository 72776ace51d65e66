"""What all engines have in common, in narwhals. An engine overrides what it does in its own way."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Bools
from oddsmith.data import Grid
from oddsmith.errors import EngineError, OddsmithError
from oddsmith.formula import Formula, with_limits
from oddsmith.frames.expressions import ExpressionReader, with_layers

if TYPE_CHECKING:
    from oddsmith.frames.plans import JointPlan
    from oddsmith.frames.scored_frame import ScoredFrame
    from oddsmith.frames.segments import Maps

#: A frame as narwhals shows it, in memory or not.
Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]

#: Between the keys of several columns, in the one text that names a segment: a character that separates units.
KEY_SEPARATOR = "\x1f"

#: From here on all doubles are whole.
_WHOLE = 2.0**53


class SentColumn(NamedTuple):
    """Values that an engine returned, and which of them are missing: null or NaN.

    Parameters
    ----------
    values : ndarray
    missing : ndarray of bool

    See Also
    --------
    FrameEngine.answer : Returns them.
    """

    values: NDArray[Any]
    missing: Bools

    @staticmethod
    def fill(held: NDArray[Any], missing: Bools) -> "SentColumn":
        """Return a column from the values that are there; NaN is missing too.

        Parameters
        ----------
        held : ndarray
            The values that are not missing.
        missing : ndarray of bool

        Returns
        -------
        SentColumn
        """
        values: NDArray[Any] = np.zeros(len(missing), dtype=held.dtype)
        values[~missing] = held
        if values.dtype.kind == "f":
            missing = missing | np.isnan(values)
        return SentColumn(values, missing)


class Extent(NamedTuple):
    """Number of rows, and the smallest and the largest finite score (None: there is none)."""

    rows: int
    span: tuple[float, float] | None


class LongNames(NamedTuple):
    """Columns of a frame with a row for every row and class.

    Parameters
    ----------
    score, place, hit : str
        The columns of the score, of the place of the class, and of whether the row is of the class.
    weight : str or None

    See Also
    --------
    FrameEngine.unpivot : Returns them.
    """

    score: str
    place: str  # of the class
    hit: str  # whether the row is of the class
    weight: str | None


class FrameEngine:
    """An engine and its dialect; the base class uses narwhals alone.

    Methods receive ``frame``, as narwhals shows it, or ``native``, the same in the engine's own type. ``rows`` is a
    frame with the names of its columns, ``maps`` the maps of segments, ``plan`` the maps of several classes with the
    names of the new columns: objects of this version of the library, whose attributes may change in the next.

    See Also
    --------
    register_engine : Adds an engine.
    """

    #: What narwhals calls the engine of its frames; where that is not said, all are taken.
    kinds: tuple[nw.Implementation, ...] = ()
    #: Whether columns may be Arrow's, which does not cast integers above 2⁵³ to doubles.
    holds_arrow = False
    #: Whether times without a zone are in the time zone of the session.
    has_local_times = False
    #: Whether columns can be renamed by their place or exact name, whatever that is.
    renames = False
    #: Whether probabilities of several classes are always a SELECT, not only those by segment.
    prefers_statements = False
    #: Whether constants are written as text that is cast: engines that speak SQL read 0.1 as a decimal.
    writes_numbers_as_text = False

    def takes(self, frame: Frame) -> bool:
        """Whether a frame is this engine's."""
        return not self.kinds or frame.implementation in self.kinds

    def distinguishes_case(self, frame: Frame) -> bool:
        """Whether names that differ by case alone are two names."""
        del frame
        return True

    def is_strict(self, frame: Frame) -> bool:
        """Whether the engine raises an error where a double would overflow or vanish."""
        del frame
        return False

    def rename(self, native: Any, names: Mapping[str, str]) -> Any:
        """Return a native frame with new names by old ones; all columns are named, in their order."""
        raise NotImplementedError

    def column_names(self, frame: Frame) -> list[str]:
        """Return the names of the columns."""
        return frame.collect_schema().names()

    def casting_hint(self, frame: Frame, name: str) -> str:
        """Return what to do about a column that is not numeric."""
        del frame, name
        return "cast it in the frame first"

    def query_text(self, native: Any) -> str | None:
        """Return the query of a native frame as the engine would show it, where it can."""

    def as_integer(self, flag: nw.Expr) -> nw.Expr:
        """Return a column of bools as 64 bits."""
        return flag.cast(nw.Int64)

    def with_cells(self, rows: "ScoredFrame", grid: Grid) -> tuple[Frame, nw.Expr]:
        """Return a frame, and the cell of each of its scores; missing and infinite scores stay what they are."""
        score = rows.as_double(rows.score)
        place = grid.place(score, lambda odds: odds.log()) * (1 / grid.width)
        if grid.log_odds:
            return rows.frame, nw.when((score >= 0.0) & (score <= 1.0)).then(place.floor()).otherwise(score)
        # Some engines round down to integers, which have no NaN, no infinity and an end.
        return rows.frame, nw.when((place >= -_WHOLE) & (place <= _WHOLE)).then(place.floor()).otherwise(place)

    def answer(self, frame: Frame, plan: Callable[[Any], Any]) -> dict[str, SentColumn]:
        """Query the columns of ``plan(frame)``, a query that is made from the frame."""
        with self.translate_errors(frame, "plan the query"):
            planned = plan(frame)
        with self.translate_errors(planned, "answer the query"):
            return self.fetch(planned)

    def quantiles(self, frame: Frame, column: nw.Expr, shares: Sequence[float]) -> list[float]:
        """Return quantiles of a column of numbers, without missing values; empty for a column without numbers."""
        wanted = {f"q{i}": nw.col("x").quantile(share, "linear") for i, share in enumerate(shares)}
        sent = self.answer(frame, lambda rows: rows.select(x=column).select(**wanted))
        return [float(one.values[0]) for one in sent.values() if not one.missing[0]]

    def fetch(self, planned: Frame) -> dict[str, SentColumn]:
        """Run a query and return its columns."""
        collected = planned.collect() if isinstance(planned, nw.LazyFrame) else planned
        return {series.name: _send(series) for series in collected.iter_columns()}

    @contextlib.contextmanager
    def translate_errors(self, frame: Frame, task: str) -> Iterator[None]:
        """Turn any error of an engine into one kind, with its message and the query, which must do a task."""
        try:
            yield
        except OddsmithError:
            raise
        except Exception as error:
            query = None
            with contextlib.suppress(Exception):
                query = self.query_text(frame.to_native())
            shown = "" if query is None else f"\n\nThe query:\n{query}"
            msg = (
                f"the engine of the frame must {task}; got {type(error).__name__}: {str(error).strip()}. "
                f"Hint: read the engine's message, and try a smaller query on the same frame.{shown}"
            )
            raise EngineError(msg) from error

    def unpivot(self, rows: "ScoredFrame", labels: Sequence[Any]) -> tuple[Any, LongNames]:
        """Return a native frame with a row for every row and class: its score, and whether the row is of the class.

        Where the label is missing, only the row of the first class shows it, so that such rows are counted once.
        """
        truth, label = f"{rows.spare}_truth", nw.col(rows.label)
        place: Any = nw.lit(-1)
        for number, one in reversed(list(enumerate(labels))):
            place = nw.when(label == one).then(nw.lit(number)).otherwise(place)
        numbered = {str(number): rows.as_double(name) for number, name in enumerate(rows.scores)}
        if self.holds_arrow:  # pandas cannot group by a column of Arrow's with both NaN and null
            floats = {name for name, kind in rows.schema.items() if kind.is_float()}
            for number, name in enumerate(rows.scores):
                if name in floats:
                    numbered[str(number)] = numbered[str(number)].fill_nan(None)
        kept = {truth: nw.when(~label.is_null()).then(place).otherwise(nw.lit(-2))}
        if rows.weight is not None:
            kept["weight"] = nw.col(rows.weight)
        frame = rows.frame.select(**numbered, **kept)
        long = frame.unpivot(list(numbered), index=list(kept), variable_name="place", value_name="score")
        long = long.with_columns(nw.col("place").cast(nw.Int64))
        absent = (nw.col(truth) == nw.lit(-2)) & (nw.col("place") == nw.lit(0))
        hit = nw.when(~absent).then(nw.col(truth) == nw.col("place"))
        names = LongNames("score", "place", "hit", None if rows.weight is None else "weight")
        return long.with_columns(hit=hit).to_native(), names

    def segments(self, rows: "ScoredFrame", most: int) -> SentColumn | None:
        """Return the segments of rows in memory, or of the first ``most``; None where looking would use the rows up."""
        segment = rows.segment().alias("segment")
        return rows.answer(lambda frame: (frame.head(most) if rows.lazy else frame).select(segment))["segment"]

    def with_probability(self, rows: "ScoredFrame", maps: "Maps", name: str) -> Any:
        """Return the native frame with a new column ``name``: the probability of each row.

        Parameters of segments are joined to the rows.
        """
        formula = maps.formula(lambda one: self.plain(rows.frame, one))
        score = rows.as_double(rows.score)
        reader = ExpressionReader(nw, score, rows.spare, as_text=self.writes_numbers_as_text)
        column, frame = reader.column(formula, name), rows.frame
        if reader.parameters:
            key = f"{rows.spare}_key"
            table: dict[str, list[Any]] = {key: list(maps.segments), **reader.parameters}
            frame = self.join(frame.with_columns(rows.segment().alias(key)), key, table)
        return frame.with_columns(column).select(*rows.schema, name).to_native()

    def with_probabilities(self, rows: "ScoredFrame", plan: "JointPlan") -> Any:
        """Return the native frame with the probabilities of several classes and the decision: layer by layer."""
        from oddsmith.formula import as_decisions

        layers = plan.layers(f"{rows.spare}_", prepare=as_decisions, strict=self.is_strict(rows.frame))
        reader = partial(ExpressionReader, as_text=self.writes_numbers_as_text)
        added = with_layers(nw, rows.frame, map(rows.as_double, plan.columns), plan, layers, reader)
        return added.select(*rows.schema, *plan.probs, plan.decision).to_native()

    def with_batches(self, native: Any, added: Mapping[str, Any], function: Callable[[Any], Any]) -> Any:
        """Return a native frame with the columns that a function adds to each batch of its rows.

        ``added`` has an example of the values of each column. None: the engine runs statements instead.
        """
        del native, added, function

    def with_statement(self, native: Any, view: str, write: Callable[[str], str], added: Mapping[str, Any]) -> Any:
        """Return what a SELECT makes of a native frame, which it calls ``view``.

        ``write`` returns the SELECT in a dialect; ``added`` has an example of the values of each new column.
        """
        del view, write, added
        hint = "apply model.of_segment(name) to the rows of each segment"
        _check.fail("segments of several classes need an engine that runs statements", type(native).__name__, hint)

    def join(self, frame: Frame, key: str, table: Mapping[str, list[Any]]) -> Frame:
        """Add the columns of a table, numbers, to the rows that have its key, a text; others get nulls."""
        raise NotImplementedError

    def plain(self, frame: Frame, formula: Formula) -> Formula:
        """Return a formula without pieces, clipped to the range of doubles where the engine needs that."""
        from oddsmith.formula import as_decisions, guard

        # Constants of segments become columns, in which a slope may be 0 where others are not.
        formula = with_limits(as_decisions(formula), always=True)
        return guard(formula) if self.is_strict(frame) else formula


def numbers(columns: dict[str, SentColumn]) -> list[float]:
    """Return the only row of an answer, NaN for what is missing."""
    return [np.nan if missing.any() else float(values[0]) for values, missing in columns.values()]


def _send(series: Any) -> SentColumn:
    missing = series.is_null().to_numpy().astype(bool)
    held = series.filter(~series.is_null()).to_numpy() if missing.any() else series.to_numpy()
    return SentColumn.fill(held, missing)
