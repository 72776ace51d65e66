"""What a model keeps of the data it was fitted to."""

import hashlib
import math
import re
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, cast

import numpy as np

from oddsmith.data import Fingerprint, ScoreTable
from oddsmith.model.checked import array, keys, number, text, whole
from oddsmith.model.strict_json import refuse, show

__all__ = ["ClassCounts", "DataSummary", "table_hash"]


@dataclass(frozen=True)
class DataSummary:
    """Summary of the data of a fit: enough to recognize them, not enough to reconstruct them.

    Parameters
    ----------
    rows : int
        Number of rows.
    distinct : int or None
        Number of distinct scores, or of cells, where the fit needed their order.
    kind : {"count", "weight"}
        Whether rows were counted or had importance weights.
    weight : float
        Weight of all rows.
    prevalence : float
        Share of the weight that is positive.
    low, high : float
        Smallest and largest score.
    resolution : float or None
        Cell width of a quantized table, None when scores are exact.
    log_odds_cells : bool
        Whether that width is one of log-odds.
    sha256 : str or None
        Hash of the score table, the same for the same rows in any order; None where the table was not kept.

    See Also
    --------
    ClassCounts : For several classes.
    """

    rows: int
    distinct: int | None
    kind: Literal["count", "weight"]
    weight: float
    prevalence: float
    low: float
    high: float
    resolution: float | None
    log_odds_cells: bool
    sha256: str | None

    @staticmethod
    def of(table: ScoreTable) -> "DataSummary":
        """Summarise a score table.

        Parameters
        ----------
        table : ScoreTable
            Counts of positives and negatives by score.

        Returns
        -------
        DataSummary
        """
        return replace(
            DataSummary.from_fingerprint(Fingerprint.of(table)), distinct=len(table), sha256=table_hash(table)
        )

    @staticmethod
    def from_fingerprint(data: Fingerprint) -> "DataSummary":
        """Return what a calibrator kept of the rows of its fit.

        Parameters
        ----------
        data : ScoreTable or ScoreRows
            What a model was fitted to.

        Returns
        -------
        DataSummary
        """
        weight = data.n_pos + data.n_neg
        extremes, cells = (data.low, data.high), (data.resolution, data.log_odds_cells)
        return DataSummary(data.rows, None, data.kind, float(weight), data.n_pos / weight, *extremes, *cells, None)

    @property
    def weighted(self) -> bool:
        """Whether rows had importance weights; else they were counted."""
        return self.kind == "weight"

    @property
    def weights(self) -> tuple[float, ...]:
        """Number of cases, or weight, of the negative and of the positive class."""
        return self.weight * (1 - self.prevalence), self.weight * self.prevalence

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values.

        Returns
        -------
        dict
        """
        return asdict(self)

    @staticmethod
    def from_dict(content: Any) -> "DataSummary":
        """Rebuild a summary, checking every value.

        Parameters
        ----------
        content : mapping
            What ``to_dict`` wrote.

        Returns
        -------
        DataSummary
        """
        keys(content, [field.name for field in fields(DataSummary)], "data")
        kind, digest, width = content["kind"], content["sha256"], content["resolution"]
        if kind not in ("count", "weight"):
            refuse("data.kind must be count or weight", show(kind))
        if type(content["log_odds_cells"]) is not bool:
            refuse("data.log_odds_cells must be true or false", show(content["log_odds_cells"]))
        if digest is not None and not re.fullmatch("[0-9a-f]{64}", text(digest, "data.sha256")):
            refuse("data.sha256 must be 64 hexadecimal digits", show(digest))
        low, high = number(content["low"], "data.low"), number(content["high"], "data.high")
        if low > high:
            refuse("data.low must not exceed data.high", f"{low!r} and {high!r}")
        return DataSummary(
            whole(content["rows"], "data.rows", low=1),
            None if content["distinct"] is None else whole(content["distinct"], "data.distinct", low=1),
            cast(Literal["count", "weight"], kind),
            number(content["weight"], "data.weight", low=0, high=math.inf, strict=True),
            number(content["prevalence"], "data.prevalence", low=0, high=1),
            low,
            high,
            None if width is None else number(width, "data.resolution", low=0, strict=True),
            content["log_odds_cells"],
            digest,
        )


@dataclass(frozen=True)
class ClassCounts:
    """Counts of the rows that a model of several columns was fitted to.

    Parameters
    ----------
    rows : int
        Number of rows that carry weight.
    weighted : bool
        Whether rows had importance weights; else they were counted.
    weights : tuple of float
        Number of cases, or weight, of each class.

    See Also
    --------
    DataSummary : For one score.
    """

    rows: int
    weighted: bool
    weights: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values.

        Returns
        -------
        dict
        """
        return {"rows": self.rows, "weighted": self.weighted, "weights": list(self.weights)}

    @staticmethod
    def from_dict(content: Any, k: int) -> "ClassCounts":
        """Rebuild counts of k classes, checking every value.

        Parameters
        ----------
        content : mapping
            What ``to_dict`` wrote.
        k : int
            How many classes there are.

        Returns
        -------
        ClassCounts
        """
        keys(content, ("rows", "weighted", "weights"), "data")
        if type(content["weighted"]) is not bool:
            refuse("data.weighted must be true or false", show(content["weighted"]))
        weights = array(content["weights"], "data.weights", length=k, low=0, high=1e300)
        return ClassCounts(whole(content["rows"], "data.rows", low=1), content["weighted"], tuple(weights))


def table_hash(table: ScoreTable) -> str:
    """Return the SHA-256 of the contents of a score table: its columns as little-endian 64-bit numbers, by name.

    Of a quantized table the numbers of its cells stand for the scores, and sums of scores are left out: their last
    digits depend on the order in which an engine adds.

    Parameters
    ----------
    table : ScoreTable
        Counts of positives and negatives by score.

    Returns
    -------
    str

    See Also
    --------
    DataSummary : Contains it.

    Examples
    --------
    >>> from oddsmith import ScoreTable
    >>> one, other = ScoreTable.from_arrays([1, 2], [0, 1]), ScoreTable.from_arrays([2, 1], [1, 0])
    >>> table_hash(one) == table_hash(other)
    True
    """
    scores = table.scores if table.grid is None else table.grid.cells(table.scores)
    columns = {"scores": scores, "pos": table.pos, "neg": table.neg, "pos_sq": table.pos_sq, "neg_sq": table.neg_sq}
    axis = " of log-odds" if table.log_odds_cells else ""
    digest = hashlib.sha256(f"score table 1 rows={table.rows} resolution={table.resolution!r}{axis}".encode())
    for name, column in columns.items():
        if column is not None:
            kind = "<i8" if column.dtype.kind == "i" else "<f8"
            digest.update(f"\n{name} {kind} {len(column)}\n".encode())
            digest.update(np.ascontiguousarray(column, dtype=kind).data)
    return digest.hexdigest()
