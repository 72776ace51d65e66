"""How sure a table is of P at each score: bands for any map that rises, without a model of its shape.

`band` contains the whole true map with its probability, in finite samples; `pointwise_band` contains the
true P at a score, and is narrower. Both are two step maps, which are exported as any map is.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, chdtri

from oddsmith import _check
from oddsmith._types import Floats, Ints, Weights
from oddsmith.data import ScoreTable, equal_mass_starts
from oddsmith.maps import Band, StepMap

__all__ = ["Band", "band", "pointwise_band"]

#: Groups of neighboring scores whose runs are looked at, at most.
_GROUPS = 400

#: Growth of the lengths of runs, and shifts of their starts per length.
_GROWTH, _STARTS = 1.1, 6

#: Scores that isotonic regression is taken of, and places at which its likelihood ratio is inverted, at most.
_CELLS, _PLACES = 20_000, 500

#: Halvings of the distance to a limit.
_HALVINGS = 45


def band(table: ScoreTable, level: float = 0.95) -> Band:
    """Return a band that contains the whole of any rising P with probability ``level`` or more, in finite samples.

    Scores are put into at most 400 groups of equal weight. The positives of a run of groups are stochastically no fewer
    than binomial with the P of its first score and no more than with that of its last one: Clopper and Pearson's limits
    of runs bound P to their left and right, and the best of all are taken. The error probability is divided by the
    number of runs: of lengths that grow by 10 %, starting every sixth of their length, which is narrower than with all
    pairs of groups. Where limits cross, no rising map agrees with the table.

    For one class of several, pass its table against the rest.

    Parameters
    ----------
    table : ScoreTable
        Of counts.
    level : float, default 0.95

    Returns
    -------
    Band

    See Also
    --------
    pointwise_band : Limits at one score instead of all.

    References
    ----------
    T. Dimitriadis, L. Dümbgen, A. Henzi, M. Puke and J. Ziegel, Honest calibration assessment for binary outcome
    predictions, Biometrika 2023, arXiv 2203.04065.

    Examples
    --------
    >>> scores = np.arange(1000) / 1000
    >>> found = band(ScoreTable.from_arrays(scores, np.random.default_rng(0).random(1000) < scores))
    >>> found.limits([0.2, 0.8]).round(2).tolist()
    [[0.04, 0.4], [0.5, 0.97]]
    """
    share = _check.level(level)
    starts, pos, total = _groups(table, "a band that is valid in finite samples")
    first, last = _runs(len(starts))
    return _band_of_runs(table, starts, pos, total, first, last, share)


def _band_of_runs(
    table: ScoreTable, starts: Ints, pos: Weights, total: Weights, first: Ints, last: Ints, level: float
) -> Band:
    """Return the band of some runs of groups."""
    error = (1 - level) / (2 * len(first))
    sums = [np.append(0, np.cumsum(side)) for side in (pos, total)]
    k, n = (each[last + 1] - each[first] for each in sums)
    low, high = clopper_pearson(k, n, error)
    lower, upper = np.zeros(len(starts)), np.ones(len(starts))
    np.maximum.at(lower, last, low)
    np.minimum.at(upper, first, high)
    ends = np.append(starts[1:], len(table)) - 1
    lower, upper = np.maximum.accumulate(lower), np.minimum.accumulate(upper[::-1])[::-1]
    return _band(table.scores[ends], lower, table.scores[starts], upper, level, simultaneous=True, rows=table.rows)


def clopper_pearson(k: Weights, n: Weights, error: float) -> tuple[Floats, Floats]:
    """Return limits of a binomial share, each of which is wrong with probability ``error`` at most."""
    with np.errstate(invalid="ignore"):
        low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, error), 0.0)
        high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - error), 1.0)
    return low, high


def _runs(groups: int) -> tuple[Ints, Ints]:
    """Return the first and the last group of each run."""
    first, last, length = [], [], 1
    while length <= groups:
        starts = np.arange(0, groups - length + 1, max(length // _STARTS, 1))
        if starts[-1] != groups - length:
            starts = np.append(starts, groups - length)
        first.append(starts)
        last.append(starts + length - 1)
        length = max(length + 1, round(length * _GROWTH))
    return np.concatenate(first), np.concatenate(last)


def _groups(table: ScoreTable, what: str, most: int = _GROUPS) -> tuple[Ints, Weights, Weights]:
    """Return the first score of each group, and its positives and rows."""
    if table.kind != "count":
        _check.fail(
            f"{what} needs counts of rows", f"{table!r}", "use rows without weights, or whole numbers as counts"
        )
    table.span()
    starts = np.arange(len(table)) if len(table) <= most else equal_mass_starts(table.total, most)
    pos, total = (np.add.reduceat(side, starts) for side in (table.pos, table.total))
    return np.asarray(starts, np.int64), pos, total


def pointwise_band(table: ScoreTable, level: float = 0.95) -> Band:
    """Return limits that contain the true P at a score with probability ``level``, where P rises without jumps.

    At each of at most 500 scores the likelihood ratio of isotonic regression with and without P fixed at a value is
    inverted, at the quantile of χ² with one degree of freedom [1]_. In large samples its own quantile is smaller (2.28
    instead of 3.84 at 95 %), which leaves room for small ones; between those scores limits are those of the neighbors.
    The guarantee does not cover jumps of P, nor scores where P falls.

    For one class of several, pass its table against the rest.

    Parameters
    ----------
    table : ScoreTable
        Of counts.
    level : float, default 0.95

    Returns
    -------
    Band

    See Also
    --------
    band : Limits for all scores together.

    References
    ----------
    .. [1] M. Banerjee and J. Wellner, Likelihood ratio tests for monotone functions, Annals of Statistics 2001.

    Examples
    --------
    >>> scores = np.arange(1000) / 1000
    >>> found = pointwise_band(ScoreTable.from_arrays(scores, np.random.default_rng(0).random(1000) < scores))
    >>> found.limits([0.2, 0.8]).round(2).tolist()
    [[0.1, 0.29], [0.69, 0.91]]
    """
    share = _check.level(level)
    starts, pos, total = _groups(table, "an interval of P", _CELLS)
    ends = np.append(starts[1:], len(table)) - 1
    places = np.unique(np.linspace(0, len(starts) - 1, min(_PLACES, len(starts))).astype(np.int64))
    low, high = _ratio_limits(pos, total, places, float(chdtri(1, 1 - share)))
    at_low, at_high = table.scores[ends[places]], table.scores[starts[places]]
    return _band(at_low, low, at_high, high, share, simultaneous=False, rows=table.rows)


class _Blocks(NamedTuple):
    """Blocks of isotonic regressions, a row for each regression: positives and rows, 0 where there are fewer."""

    pos: Floats
    total: Floats

    @property
    def mean(self) -> Floats:
        return np.divide(self.pos, self.total, out=np.zeros_like(self.pos), where=self.total > 0)

    def loss(self, prob: Floats | None = None) -> Floats:
        """Return the deviance/2 of blocks from a P for each row, or from themselves: −log-likelihood."""
        at = self.mean if prob is None else prob[:, None]
        neg = self.total - self.pos
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(
                np.where(self.pos > 0, -self.pos * np.log(at), 0) + np.where(neg > 0, -neg * np.log1p(-at), 0)
            )


def _ratio_limits(pos: Weights, total: Weights, places: Ints, cut: float) -> tuple[Floats, Floats]:
    """Return the ends of the sets of P at some places for which twice the log of the likelihood ratio is ≤ cut."""
    left = _prefixes(pos, total, places)
    right = _prefixes((total - pos)[::-1], total[::-1], len(pos) - 1 - places[::-1])
    right = _Blocks(right.total[::-1] - right.pos[::-1], right.total[::-1])
    own = _Blocks(pos[places, None].astype(np.float64), total[places, None].astype(np.float64))
    whole = _prefixes(pos, total, np.array([len(pos)]))
    edges = np.searchsorted(np.cumsum(whole.total[0]), np.cumsum(total)[places] - 0.5)
    fitted = whole.mean[0][edges]
    least = whole.loss().sum()
    free_left, free_right = left.loss(), right.loss()

    def ratio(prob: Floats) -> Floats:
        losses = (
            np.where(left.mean > prob[:, None], left.loss(prob), free_left).sum(axis=1)
            + np.where(right.mean < prob[:, None], right.loss(prob), free_right).sum(axis=1)
            + own.loss(prob)[:, 0]
        )
        return np.asarray(2 * (losses - least))

    limits = []
    for end in (0.0, 1.0):
        inside, outside = fitted.copy(), np.full(len(places), end)
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            kept = ratio(middle) <= cut
            inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
        limits.append(outside)
    return limits[0], limits[1]


def _prefixes(pos: Weights, total: Weights, places: Ints) -> _Blocks:
    """Return the blocks of isotonic regression of all cells before each place; places ascend."""
    stack_pos: list[float] = []
    stack_total: list[float] = []
    found: list[tuple[list[float], list[float]]] = []
    wanted = iter(places.tolist())
    place = next(wanted, None)
    for i, (p, n) in enumerate(zip(pos.tolist(), total.tolist(), strict=True)):
        while place == i:
            found.append((stack_pos.copy(), stack_total.copy()))
            place = next(wanted, None)
        block_pos, block_total = float(p), float(n)
        while stack_pos and stack_pos[-1] * block_total >= block_pos * stack_total[-1]:
            block_pos += stack_pos.pop()
            block_total += stack_total.pop()
        stack_pos.append(block_pos)
        stack_total.append(block_total)
    while place is not None:
        found.append((stack_pos.copy(), stack_total.copy()))
        place = next(wanted, None)
    width = max(max((len(blocks) for blocks, _ in found), default=0), 1)
    padded = [np.zeros((len(found), width)) for _ in range(2)]
    for row, blocks in enumerate(found):
        for side, values in zip(padded, blocks, strict=True):
            side[row, : len(values)] = values
    return _Blocks(*padded)


def _band(
    at_low: Floats, low: Floats, at_high: Floats, high: Floats, level: float, *, simultaneous: bool, rows: int
) -> Band:
    """Return limits that are valid to the right of scores (lower), and to the left of scores (upper)."""
    lower = StepMap(at_low, low, np.append(0.0, low))
    upper = StepMap(at_high, high, np.append(high, 1.0))
    return Band(lower, upper, level, simultaneous, rows)
