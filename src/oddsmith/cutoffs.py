"""Cut-offs: which scores to select so that precision, recall, the false-positive rate or the workload keeps a target.

`threshold` returns a cut-off with a finite-sample guarantee: over samples of independent rows, the selection breaks its
target with probability 1 − level at most. Precision needs one assumption, that P never falls with the score;
recall, the false-positive rate and the share of selected rows need none. `least_cost` returns the cut-off at which the
costs of wrong decisions are least, with an interval. All are functions of a table of counts.
"""

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft
from scipy.special import betainc

from oddsmith import _check
from oddsmith._types import Floats, Ints
from oddsmith.bands import pointwise_band
from oddsmith.data import ScoreTable, is_reversed
from oddsmith.decide import cost_threshold
from oddsmith.errors import ReversedScoreWarning
from oddsmith.metrics import Result

__all__ = ["CostThreshold", "Threshold", "least_cost", "threshold"]

Goal = Literal["precision", "recall", "fpr", "share"]

#: Growth of the row counts at which the errors among the highest scores are compared with a limit.
_GROWTH = 1.02

#: Steps per factor e of the levels that are tried for the limits.
_LEVELS = 200

#: Standard deviations and further errors beyond which a binomial count has no mass that matters.
_SPREAD, _FURTHER = 9.0, 40

#: Probability that may be cut off at each look; it is counted as crossing.
_NEGLIGIBLE = 1e-14

#: Products of two lengths from which a convolution is faster by the fast Fourier transform.
_LONG = 50_000

_NAMES: dict[Goal, str] = {
    "precision": "precision",
    "recall": "recall",
    "fpr": "the false-positive rate",
    "share": "the share of selected rows",
}

#: Which rows the rule counts, and what it needs of them.
_NEEDS: dict[Goal, str] = {
    "precision": "rows in a row from the highest score down, all positive",
    "recall": "positive rows",
    "fpr": "negative rows, and a score above them all",
    "share": "rows, and a score above them all",
}


@dataclass(frozen=True, eq=False)
class Threshold(Result):
    """A cut-off, what it selects from the table, and what is guaranteed; ``str`` gives the guarantee as a sentence.

    Attributes
    ----------
    goal : {"precision", "recall", "fpr", "share"}
    target, level : float
    cut : float or None
        Select ``score >= cut``; None where no selection can be guaranteed.
    selected : int
        Rows of the table that the cut selects.
    rows : int
        Rows of the table.
    true_positives : int
        Positive rows among the selected.
    precision, recall, fpr : float
        What the cut reaches on the table itself; NaN where undefined.
    needed : int
        The fewest rows with which the rule can select any: rows of all classes without an error for precision,
        positives for recall, negatives for the false-positive rate.

    See Also
    --------
    threshold : Returns it.
    """

    goal: Goal
    target: float
    level: float
    cut: float | None
    selected: int
    rows: int
    true_positives: int
    precision: float
    recall: float
    fpr: float
    needed: int

    def __str__(self) -> str:
        bound = f"{'at least' if self.goal in ('precision', 'recall') else 'at most'} {self.target:g}"
        if self.cut is None:
            return (
                f"No score can be selected with {_NAMES[self.goal]} {bound} at {self.level:.4g} confidence: the "
                f"rule needs at least {self.needed:,} {_NEEDS[self.goal]}."
            )
        given = ", if P never falls with the score" if self.goal == "precision" else ""
        what = "the share of rows with" if self.goal == "share" else f"{_NAMES[self.goal]} of"
        return (
            f"With {self.level:.4g} confidence, {what} score >= {self.cut!r} is {bound} on rows drawn like "
            f"these{given}."
        )


def threshold(
    table: ScoreTable,
    *,
    precision: float | None = None,
    recall: float | None = None,
    fpr: float | None = None,
    share: float | None = None,
    level: float = 0.95,
) -> Threshold:
    """Choose the cut-off that selects most rows (for recall, fewest) such that a target is guaranteed.

    Precision: the number of errors among the n highest scores is compared with limits for every n. Half of the error
    probability goes to limits of one pointwise level such that, at a P that is flat at the target, errors ever fall to
    a limit with no more than that probability (exact, by dynamic programming over counts that grow by 2 %; stepped
    down once scores are accepted). Half goes to testing counts in a fixed sequence, from the fewest rows that can pass
    without an error to the first that fails. The larger of the two selections is taken. Recall, the false-positive
    rate and the share of selected rows are guaranteed by an order statistic of the positive scores, the negative
    scores or all scores. Equal scores are selected together, and cells of a quantized table are selected whole.

    Use rows that neither trained the classifier nor fitted its calibrator.

    Parameters
    ----------
    table : ScoreTable
        Of counts, and of any score, larger meaning more positive.
    precision : float, optional
        Least share of positives among the selected rows.
    recall : float, optional
        Least share of the positives that is selected.
    fpr : float, optional
        Largest share of the negatives that is selected.
    share : float, optional
        Largest share of all rows that is selected: 200 of 5,000 cases per day are ``share=200 / 5000``.
    level : float, default 0.95
        Probability, over samples like the table, that the target is kept.

    Returns
    -------
    Threshold

    See Also
    --------
    least_cost : The cut-off of least cost.
    oddsmith.model.Model.score_at : The score at which P reaches a value.

    References
    ----------
    A. Angelopoulos, S. Bates, E. Candès, M. Jordan and L. Lei, Learn then test, Annals of Applied Statistics 2025.
    J. Romano and M. Wolf, Exact and approximate stepdown methods for multiple hypothesis testing, JASA 2005.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.arange(1000)
    >>> table = ScoreTable.from_arrays(scores, scores >= 500)
    >>> print(threshold(table, recall=0.9))
    With 0.95 confidence, recall of score >= 538.0 is at least 0.9 on rows drawn like these.
    >>> threshold(table, precision=0.9).selected
    536
    >>> threshold(table.at(scores >= 800), precision=0.99).cut is None  # 200 rows: too few
    True
    """
    given: dict[Goal, float | None] = {"precision": precision, "recall": recall, "fpr": fpr, "share": share}
    goals = [goal for goal, value in given.items() if value is not None]
    if len(goals) != 1:
        must = "exactly one of precision, recall, fpr and share must be given"
        _check.fail(must, " and ".join(goals) or "none", "pass one target, such as precision=0.99")
    goal = goals[0]
    target = _between(given[goal], goal, "0.99" if goal in ("precision", "recall") else "0.01")
    delta = 1 - _between(level, "level", "0.95")
    _refuse_unsuitable(table)
    # Counts from the highest score down.
    pos, neg = (np.cumsum(side[::-1], dtype=np.int64) for side in (table.pos, table.neg))
    if goal == "precision":
        needed = _fewest(target, delta / 2)
        count = _count_for_precision(pos + neg, neg, target, delta / 2)
    elif goal == "recall":
        needed = _fewest(target, delta)
        rank = int(_binomial_limits(pos[-1:], 1 - target, delta)[0]) + 1  # of the positive at the cut, from below
        count = int(np.searchsorted(pos, pos[-1] - rank + 1)) + 1 if rank else 0
    else:
        needed = _fewest(1 - target, delta)
        counted = neg if goal == "fpr" else pos + neg
        allowed = int(_binomial_limits(counted[-1:], target, delta)[0])
        count = int(np.searchsorted(counted, allowed, side="right")) if allowed >= 0 else 0
    return _result(table, goal, target, level, count, needed)


@dataclass(frozen=True, eq=False)
class CostThreshold(Result):
    """The cut-off of least cost; ``str`` gives it as a sentence.

    Attributes
    ----------
    cut : float or None
        Select ``score >= cut``; None where selecting nothing costs least.
    low, high : float
        The cut-offs at which P may be ``prob``; ±∞ where selecting all, or nothing, may cost least.
    prob : float
        The P from which on selecting costs less.
    level : float
    mean_cost : float
        Cost per row of the table at the cut-off. It was chosen on these rows: on new ones it costs a little more.
    selected, rows : int

    See Also
    --------
    least_cost : Returns it.
    """

    cut: float | None
    low: float
    high: float
    prob: float
    level: float
    mean_cost: float
    selected: int
    rows: int

    def __str__(self) -> str:
        what = "selecting nothing" if self.cut is None else f"selecting score >= {self.cut!r}"
        return (
            f"Expected cost is least when {what}, where P reaches {self.prob:.4g}; the {100 * self.level:.4g} % "
            f"interval of that score is {self.low:.6g} to {self.high:.6g}."
        )


def least_cost(table: ScoreTable, costs: ArrayLike, level: float = 0.95) -> CostThreshold:
    """Choose the cut-off of least total cost on a table.

    That is where the isotonic fit of P passes the threshold of the costs; the interval contains the scores whose
    pointwise limits (`oddsmith.bands.pointwise_band`) contain it. With calibrated probabilities nothing needs to be
    searched for: see `oddsmith.decide.cost_threshold`.

    Parameters
    ----------
    table : ScoreTable
        Of counts, and of any score.
    costs : array-like of shape (2, 2)
        As made by `oddsmith.decide.binary_costs`.
    level : float, default 0.95

    Returns
    -------
    CostThreshold

    See Also
    --------
    threshold : A cut-off that guarantees a rate.
    oddsmith.decide.decide : Decisions by costs, row by row.

    Examples
    --------
    >>> from oddsmith.decide import binary_costs
    >>> scores = np.arange(1000)
    >>> table = ScoreTable.from_arrays(scores, np.random.default_rng(0).random(1000) < scores / 1000)
    >>> found = least_cost(table, binary_costs(false_positive=1, false_negative=4))
    >>> found.cut, found.low, found.high, found.prob
    (193.0, 91.0, 351.0, 0.2)
    """
    level = _between(level, "level", "0.95")
    _refuse_unsuitable(table)
    prob = cost_threshold(costs)
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.ndim != 2 or not isinstance(prob, float):
        _check.fail("costs must have shape (2, 2)", f"shape {matrix.shape}", "pass the costs of all rows")
    (true_negative, false_negative), (false_positive, true_positive) = matrix.tolist()
    saved = table.pos * (false_negative - true_positive) - table.neg * (false_positive - true_negative)
    from_top = np.append(0.0, np.cumsum(saved[::-1]))
    count = int(np.argmax(from_top))
    low, high = pointwise_band(table, level).limits(table.scores).T
    possible = np.flatnonzero((low <= prob) & (prob <= high))
    ends = [math.inf if count == 0 else _lowest_score(table, len(table) - count)] * 2
    if count == len(table):
        ends[0] = -math.inf
    if len(possible):
        first, last = int(possible[0]), int(possible[-1])
        ends[0] = min(ends[0], -math.inf if first == 0 else _lowest_score(table, first))
        ends[1] = max(ends[1], math.inf if last == len(table) - 1 else _lowest_score(table, last))
    selected = table.total[len(table) - count :].sum()
    nothing = float(table.n_pos * false_negative + table.n_neg * true_negative)
    return CostThreshold(
        cut=_lowest_score(table, len(table) - count) if count else None,
        low=ends[0],
        high=ends[1],
        prob=prob,
        level=level,
        mean_cost=(nothing - float(from_top[count])) / table.rows,
        selected=int(selected),
        rows=table.rows,
    )


def _result(table: ScoreTable, goal: Goal, target: float, level: float, count: int, needed: int) -> Threshold:
    """Return the cut-off that selects some of the highest distinct scores."""
    from_top = slice(len(table) - count, None)
    pos, neg = int(table.pos[from_top].sum()), int(table.neg[from_top].sum())
    return Threshold(
        goal=goal,
        target=target,
        level=level,
        cut=_lowest_score(table, len(table) - count) if count else None,
        selected=pos + neg,
        rows=table.rows,
        true_positives=pos,
        precision=pos / (pos + neg) if count else math.nan,
        recall=pos / table.n_pos if table.n_pos else math.nan,
        fpr=neg / table.n_neg if table.n_neg else math.nan,
        needed=needed,
    )


def _lowest_score(table: ScoreTable, place: int) -> float:
    """Return the score at a place, or the lower edge of its cell."""
    score, grid = float(table.scores[place]), table.grid
    if grid is None:
        return score
    cell = grid.cells(table.scores[place : place + 1])
    edge = grid.score(cell * grid.width)
    for _ in range(64):  # the way back from log-odds is rounded
        if grid.cells(edge)[0] >= cell[0]:
            return float(edge[0])
        edge = np.nextafter(edge, np.inf)
    return score


def _count_for_precision(taken: Ints, errors: Ints, target: float, delta: float) -> int:
    """Return how many distinct scores from the top either rule selects, each at the error probability ``delta``."""
    looks = _looks(target, delta, int(taken[-1]))
    if not len(looks):
        return 0
    return max(_by_sequence(taken, errors, looks, target, delta), _by_limits(taken, errors, looks, target, delta))


def _by_sequence(taken: Ints, errors: Ints, looks: Ints, target: float, delta: float) -> int:
    """Test the last whole score up to each look in turn, and stop at the first that fails."""
    last = np.searchsorted(taken, looks, side="right")
    last = np.unique(last[last > 0])
    last = last[taken[last - 1] >= looks[0]]
    n, wrong = taken[last - 1], errors[last - 1]
    failed = ~(_binomial_cdf(wrong, n, 1 - target) <= delta)
    passed = int(np.argmax(failed)) if failed.any() else len(last)
    return int(last[passed - 1]) if passed else 0


def _by_limits(taken: Ints, errors: Ints, looks: Ints, target: float, delta: float) -> int:
    """Compare errors with sequential limits, which are constant between looks, and step down.

    Once n rows are accepted, only counts beyond n can still be accepted in error: the limits are found again for the
    looks from there on, where fewer looks share the error probability.
    """
    ends = np.searchsorted(taken, np.append(looks[1:], taken[-1] + 1))  # scores above each look's successor
    count = first = 0
    while first < len(looks):
        limits = sequential_limits(target, delta, first, len(looks)).limits
        within = np.searchsorted(errors, limits, side="right")  # −1 allows none
        reached = np.minimum(within, ends[first:])
        reached = reached[(reached > 0) & (taken[reached - 1] >= looks[first:])]
        best = int(reached.max(initial=0))
        if best <= count:
            break
        count = best
        first = int(np.searchsorted(looks, taken[count - 1] + 1, side="right")) - 1
    return count


class SequentialLimits(NamedTuple):
    """Row counts, the most errors allowed at each (−1: none allowed), and the probability of ever being within them."""

    looks: Ints
    limits: Ints
    crossing: float


@lru_cache(maxsize=256)
def sequential_limits(target: float, delta: float, first: int, count: int) -> SequentialLimits:
    """Return the limits of the largest pointwise level whose crossing probability is at most ``delta``.

    Parameters
    ----------
    target : float
        Precision at which errors are Bernoulli(1 − target).
    delta : float
    first, count : int
        Looks from the first one on, of so many.
    """
    looks = _looks_from(_fewest(target, delta), count)[first:]
    error = 1 - target
    steps = list(_increments(looks, error))

    def attempt(k: int) -> SequentialLimits:
        limits = _binomial_limits(looks, error, delta * math.exp(-k / _LEVELS))
        return SequentialLimits(looks, limits, _crossing(steps, limits, delta))

    # Levels of one lattice, so that fewer looks never have a smaller level; the last is Bonferroni's, which holds.
    low, high = -1, math.ceil(_LEVELS * math.log(len(looks))) if len(looks) > 1 else 0
    best = attempt(high)
    while high - low > 1:
        middle = (low + high) // 2
        tried = attempt(middle)
        if tried.crossing <= delta:
            high, best = middle, tried
        else:
            low = middle
    return best


class _Increment(NamedTuple):
    """The law of the errors between two looks: the least number, and the probabilities from it on."""

    start: int
    prob: Floats


def _increments(looks: Ints, error: float) -> Iterator[_Increment]:
    """Return the law of the errors before the first look and between neighbors."""
    known: dict[int, _Increment] = {}
    for n in np.diff(looks, prepend=0).tolist():
        if n not in known:
            known[n] = _binomial_law(n, error)
        yield known[n]


def _binomial_law(n: int, error: float) -> _Increment:
    """Return where a binomial count lies, but for a negligible mass that is added at its least value."""
    mean, reach = n * error, _SPREAD * math.sqrt(n * error * (1 - error)) + _FURTHER
    low, high = max(math.floor(mean - reach), 0), min(math.ceil(mean + reach), n)
    return _Increment(
        low, np.diff(_binomial_cdf(np.arange(low, high + 1), np.full(high - low + 1, n), error), prepend=0.0)
    )


def _crossing(steps: list[_Increment], limits: Ints, enough: float = 1.0) -> float:
    """Return the probability that errors are within a limit at any look; stop where it exceeds ``enough``.

    The distribution of the errors on paths that have not crossed is carried from look to look. What is cut off at its
    far end is counted as crossing.
    """
    start, law, crossed = 0, np.ones(1), 0.0
    for step, limit in zip(steps, limits.tolist(), strict=True):
        start, law = start + step.start, _convolve(law, step.prob)
        within = max(limit + 1 - start, 0)
        crossed += float(law[:within].sum())
        start, law = start + within, law[within:]
        kept = int(np.searchsorted(-np.cumsum(law[::-1])[::-1], -_NEGLIGIBLE))
        crossed += float(law[kept:].sum())
        law = law[:kept]
        if crossed > enough or not kept:
            break
    return crossed


def _convolve(left: Floats, right: Floats) -> Floats:
    """Return the law of a sum."""
    n = len(left) + len(right) - 1
    if len(left) * len(right) < _LONG:
        return np.convolve(left, right)
    size = fft.next_fast_len(n, real=True)
    product = fft.irfft(fft.rfft(left, size) * fft.rfft(right, size), size)[:n]
    return np.maximum(product, 0.0)


def _looks(target: float, delta: float, rows: int) -> Ints:
    """Return row counts that grow by 2 %, from the fewest that pass without an error."""
    fewest = _fewest(target, delta)
    count = (
        0 if rows < fewest else math.ceil(math.log(rows / fewest) / math.log(_GROWTH)) + math.ceil(2 / (_GROWTH - 1))
    )
    looks = _looks_from(fewest, count)
    return looks[looks <= rows]


@lru_cache(maxsize=64)
def _looks_from(fewest: int, count: int) -> Ints:
    looks = [fewest][:count]
    while len(looks) < count:
        looks.append(max(looks[-1] + 1, math.floor(looks[-1] * _GROWTH)))
    return np.array(looks, np.int64)


def _fewest(target: float, delta: float) -> int:
    """Return the least n with targetⁿ ≤ delta."""
    n = max(math.ceil(math.log(delta) / math.log(target)) - 1, 1)
    return n if n * math.log(target) <= math.log(delta) else n + 1


def _binomial_cdf(k: Ints, n: Ints, p: float) -> Floats:
    """Return P(Bin(n, p) ≤ k), also where k = −1 or k = n."""
    inside = np.clip(k, 0, n - 1)
    return np.asarray(np.where(k < 0, 0.0, np.where(k >= n, 1.0, betainc(n - inside, inside + 1, 1 - p))))


def _binomial_limits(n: Ints, p: float, level: float) -> Ints:
    """Return the largest k with P(Bin(n, p) ≤ k) ≤ level, −1 where there is none."""
    n = np.asarray(n, np.int64)
    low, high = np.full(len(n), -1), n.copy()  # low is within the level, high is not
    while np.any(high - low > 1):
        middle = (low + high) // 2
        within = _binomial_cdf(middle, n, p) <= level
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return low


def _between(value: object, name: str, example: str) -> float:
    """Return a share strictly between 0 and 1."""
    found = _check.number(value, name, low=0, strict=True)
    if found >= 1:
        _check.fail(f"{name} must be below 1", f"{name}={value!r}", f"pass a share such as {name}={example}")
    return found


def _refuse_unsuitable(table: ScoreTable) -> None:
    """Refuse tables for which nothing can be guaranteed, and warn of reversed scores."""
    if table.kind != "count":
        _check.fail(
            "a guarantee needs counts of rows", f"{table!r}", "use rows without weights, or whole numbers as counts"
        )
    if table.in_sample:
        got = "a forecast that was fitted on these rows"
        _check.fail("a guarantee on the rows of the fit is refused", got, "use held-out rows or cross-fitted forecasts")
    table.span()
    if table.n_pos and table.n_neg and is_reversed(table):
        message = (
            "Higher scores go with the negative class (area under the ROC curve significantly below ½), but cut-offs "
            "select the highest. Hint: negate the scores."
        )
        warnings.warn(message, ReversedScoreWarning, stacklevel=3)
