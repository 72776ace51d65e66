"""Oddities in the data of a fit, found without looking at any method."""

import math
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from oddsmith._types import Floats, Ints, Weights
from oddsmith.data.rows import LabeledScores
from oddsmith.data.table import Sample, ScoreTable

SignalKind = Literal["rising", "reversed", "none"]

#: Number of standard errors at which a difference counts as significant. A reversed score needs more evidence, because
#: most scores are not reversed.
_RISING, _REVERSED = 2.0, -3.0
#: Copies of rows: neighboring scores that share a rate of positives; the least number of scores expected to have both
#: labels for a judgment; and the share of that number at or below which equal rows count as copies.
_NEIGHBORS, _EXPECTED, _MIXED = 10, 15.0, 0.3
_LONG = 20_000
_BLOCK = 512
_SAMPLE = 1024


def is_separable(data: Sample) -> bool:
    """Whether one threshold separates the classes, ties at the threshold included, in either direction."""
    low_pos = low_neg = math.inf
    high_pos = high_neg = -math.inf
    for scores, pos, neg in data.chunks():
        if pos.any():
            held = scores[pos]
            low_pos, high_pos = min(low_pos, held.min()), max(high_pos, held.max())
        if neg.any():
            held = scores[neg]
            low_neg, high_neg = min(low_neg, held.min()), max(high_neg, held.max())
        if low_pos < high_neg and low_neg < high_pos:
            return False
    return True


def signal_kind(z: float) -> SignalKind:
    """Decide whether scores rise with the class, fall, or show neither, from standard errors above no signal at all.

    Fits, verdicts and reports all decide by this function.

    Examples
    --------
    >>> [signal_kind(z) for z in (2.5, 1.0, -2.5, -3.5)]
    ['rising', 'none', 'none', 'reversed']
    """
    return "reversed" if z < _REVERSED else "rising" if z > _RISING else "none"


def is_reversed(data: Sample) -> bool:
    """Whether the area under the ROC curve is significantly below ½, by `signal_kind`."""
    if isinstance(data, LabeledScores):
        if _surely_rises(data):
            return False
        data = ScoreTable.from_rows(data)
    if len(data) > _LONG and _area(*_blocks(data), inside=0.0) >= 0.5:
        return False
    return _area(data.pos, data.neg) < 0.5 and signal_kind(ranking_z(data)) == "reversed"


def kind_of_ranking(table: ScoreTable) -> SignalKind:
    """Return `signal_kind` of `ranking_z`, of most long tables by blocks of scores."""
    if len(table) > _LONG and table.kind == "count":
        # No pair within a block counts, and no tie makes the variance smaller: the least that z can be.
        spread = math.sqrt((table.n_pos + table.n_neg + 1) / (12 * table.n_pos * table.n_neg))
        if signal_kind((_area(*_blocks(table), inside=0.0) - 0.5) / spread) == "rising":
            return "rising"
    return signal_kind(ranking_z(table))


def ranking_z(table: ScoreTable) -> float:
    """Return by how many standard errors the area under the ROC curve lies above ½ (Mann–Whitney)."""
    # The number of rows of each class; of equal weight that would vary as much, for float weights.
    size_pos, size_neg = table.n_pos**2 / float(table.squares[0].sum()), table.n_neg**2 / float(table.squares[1].sum())
    share = table.total / (table.n_pos + table.n_neg)
    tied = float(np.sum(share * share * share))
    variance = (size_pos + size_neg + 1) * (1 - tied) / (12 * size_pos * size_neg)
    return (_area(table.pos, table.neg) - 0.5) / math.sqrt(variance) if variance > 0 else 0.0


def _area(pos: Weights, neg: Weights, inside: float = 0.5) -> float:
    """Return the area under the ROC curve, pairs within a cell counting ``inside`` (½: ties)."""
    below = np.cumsum(neg, dtype=np.float64) - neg
    return float(np.sum(pos * (below + inside * neg))) / (float(pos.sum()) * float(neg.sum()))


def _blocks(table: ScoreTable) -> tuple[Weights, Weights]:
    """Return the weight of each class in blocks of neighboring cells."""
    full = len(table) // _BLOCK * _BLOCK
    pos, neg = (
        np.append(column[:full].reshape(-1, _BLOCK).sum(axis=1), column[full:].sum())
        for column in (table.pos, table.neg)
    )
    return pos, neg


def _surely_rises(rows: LabeledScores) -> bool:
    """Whether positives have the higher score more often than not, even if no tie counted, judged without a full sort.

    Of long data by some rows of each class, evenly spaced, and then by three standard errors.
    """
    if rows.weight is not None:
        return False
    neg, pos = (_some(rows, side) for side in (False, True))
    standard_error = math.sqrt((len(neg) + len(pos) + 1) / (12 * len(neg) * len(pos)))
    margin = 3 * standard_error if len(rows.scores) > _LONG else 0.0
    below = np.searchsorted(np.sort(neg), pos)
    return float(below.mean()) > (0.5 + margin) * len(neg)


def _some(rows: LabeledScores, positive: bool) -> Floats:
    """Return the scores of a class, of long data some of them, evenly spaced."""
    step = len(rows.scores) // (2 * _SAMPLE) if len(rows.scores) > _LONG else 1
    thin = rows.scores[::step][rows.positive[::step] == positive]
    if step == 1 or len(thin) >= _SAMPLE // 2:
        return np.asarray(thin)
    held = rows.scores[rows.positive == positive]
    return np.asarray(held[:: max(1, len(held) // _SAMPLE)])


def share_of_copies(table: ScoreTable) -> float:
    """Return the share of rows that repeat an earlier one, score and label; 0 where chance explains equal scores.

    Rows with equal scores that are cases of their own, as a forest's votes, have different labels as often as the rate
    of positives among their neighbors implies. Copies never do.

    Examples
    --------
    >>> scores, y = np.arange(300.0), np.arange(300) % 2
    >>> share_of_copies(ScoreTable.from_arrays(np.tile(scores, 4), np.tile(y, 4)))
    0.75
    >>> share_of_copies(ScoreTable.from_arrays(np.tile(scores, 4), np.repeat(y, 4)))
    0.0
    """
    if table.kind != "count" or table.resolution is not None:
        return 0.0
    pos, total = table.pos.astype(np.float64), table.total.astype(np.float64)
    block = np.arange(len(total)) // _NEIGHBORS
    # By cells, not by rows: one cell of many rows must not be its own neighborhood.
    rate = (np.bincount(block, pos / total) + 0.5) / (np.bincount(block) + 1)
    repeated = total > 1
    near, times = rate[block][repeated], total[repeated]
    expected = float(np.sum(1 - near**times - (1 - near) ** times))
    mixed = (pos[repeated] > 0) & (pos[repeated] < times)
    if expected < _EXPECTED or mixed.sum() > _MIXED * expected:
        return 0.0
    return float(np.sum(times[~mixed] - 1) / total.sum())


@dataclass(frozen=True)
class Signal:
    """Whether scores favor the true class.

    Attributes
    ----------
    value : float
        For two classes the area under the ROC curve, for several the mean probability of the true class.
    by_chance : float
        What the value would be if the labels were shuffled.
    z : float
        By how many standard errors of shuffled labels the value lies above that.
    n_classes : int

    See Also
    --------
    oddsmith.report.MethodComparison : Has one.
    """

    value: float
    by_chance: float
    z: float
    n_classes: int

    @classmethod
    def of_table(cls, table: ScoreTable) -> Self:
        """Look at a table of both classes.

        Parameters
        ----------
        table : ScoreTable

        Returns
        -------
        Signal

        Examples
        --------
        >>> Signal.of_table(ScoreTable.from_arrays([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0], [9, 9, 9, 9])).kind
        'reversed'
        """
        return cls(_area(table.pos, table.neg), 0.5, ranking_z(table), 2)

    @classmethod
    def of_rows(cls, prob: Floats, truth: Ints, weight: Weights) -> Self:
        """Look at the probabilities of several classes.

        Parameters
        ----------
        prob : ndarray of shape (n, k)
        truth : ndarray of int of shape (n,)
            The column of the true class of each row.
        weight : ndarray of shape (n,)

        Returns
        -------
        Signal

        Notes
        -----
        Over all permutations of the labels the sum of P(true class) has the mean Σ_i Σ_c π_c P_ic and the variance
        Σ_i Σ_c n_c A_ic²/(n − 1), where A is P less its means over the rows and, by π, over the classes. Float weights
        count by (Σw)²/Σw².

        Examples
        --------
        >>> prob = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]] * 9)
        >>> Signal.of_rows(prob, np.array([0, 1, 2] * 9), np.ones(27, int)).kind
        'reversed'
        """
        share = weight / weight.sum(dtype=np.float64)
        n = 1 / float(share @ share) if weight.dtype.kind == "f" else float(weight.sum())
        rates, means = np.bincount(truth, share, prob.shape[1]), share @ prob
        apart = prob - means
        apart -= (apart @ rates)[:, None]
        spread = math.sqrt(float(share @ (apart**2 @ rates)) / max(n - 1, 1.0))
        value, by_chance = float(share @ prob[np.arange(len(prob)), truth]), float(means @ rates)
        # Forecasts that are all alike carry no signal.
        return cls(value, by_chance, (value - by_chance) / spread if spread > 1e-12 else 0.0, prob.shape[1])

    @property
    def kind(self) -> SignalKind:
        """Whether positives, or true classes, have higher scores than others, lower ones, or neither."""
        return signal_kind(self.z)

    @property
    def remedy(self) -> str:
        """What repairs reversed scores, as the end of a sentence."""
        return "the score is negated" if self.n_classes == 2 else "columns and labels belong together"

    def words(self, score: str = "score") -> str:
        """Return a sentence on a reversed or uninformative score; empty otherwise.

        Parameters
        ----------
        score : str, default "score"
            What the sentence calls the score.

        Returns
        -------
        str
        """
        if self.kind == "rising":
            return ""
        if self.n_classes == 2:
            area = f"area under the ROC curve {self.value:.3f}"
            if self.kind == "reversed":
                return f"The {score} is reversed: it is lower for positives than for negatives ({area})."
            return f"The {score} has no signal: {area}, statistically indistinguishable from 0.5."
        seen = f"mean probability of the true class {self.value:.3f}, with shuffled labels {self.by_chance:.3f}"
        if self.kind == "reversed":
            return (
                f"The true class gets less probability than by chance ({seen}): the columns are in another order than "
                "the labels, or the scores are reversed."
            )
        return f"The scores have no signal: {seen}, statistically indistinguishable."
