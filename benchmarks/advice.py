"""Whether the advice of reports and commands is right: ``python -m benchmarks.advice [--samples 400]``.

Verdicts: how often scores of known calibration are called miscalibrated, and why.

* calibrated: p ~ Beta(1, 2), and labels are drawn by p. At most 6 % may be called miscalibrated.
* slope: the forecast is q with logit q = slope · logit p; "reversed roles" are forecasts p whose labels are drawn by q.
* certain: 2 % of the forecasts are replaced by 1.
* copies and clusters: rows repeated ten times; clusters of 20 dependent rows. Groups are given where it says so.
* classes: softmax of normal logits, of which labels are drawn; or of half those logits.

Recommendations: whether the choice of a method resists chance.

Forecasts of 25 methods are drawn around a known truth, so that the gain of each over the uncalibrated scores is known.

* equal: all methods err by as much, each in its own way. The default should be recommended, and the gain that is quoted
  should be the true one; that of the luckiest method is not.
* one wins: one method's log-loss is lower by 0.02 nats than that of all others. It should be found.
"""

import argparse
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_softmax, logit

from oddsmith import AutoCalibrator, IsotonicCalibrator, PlattCalibrator, ScoreTable
from oddsmith.data.score_rows import ScoreRows
from oddsmith.metrics import Verdict, forecast_from_arrays, verdict
from oddsmith.metrics.significance import Decisions
from oddsmith.report import compare_methods
from oddsmith.report.advice import HeldOut

N_METHODS, N_FOLDS = 25, 5
_WAVES = 6
#: Forecasts to draw methods from.
_POOL = 250


class Law(NamedTuple):
    """Cases, how far methods err in log-odds, how far uncalibrated scores do, and by how many nats one method wins."""

    n: int
    error: float
    raw: float
    win: float = 0.0


EQUAL = Law(500, 0.35, 0.55)
ONE_WINS = Law(5000, 0.45, 0.6, 0.02)


class Outcome(NamedTuple):
    """What happened in all samples: true and quoted gains, the gain of the luckiest, and how often the right choice."""

    true: float
    quoted: float
    luckiest: float
    covered: float
    right: float


class Truth:
    """A score with known probabilities, and forecasts that err by a given root mean square in log-odds."""

    def __init__(self, n_grid: int = 400) -> None:
        self.at = (np.arange(n_grid) + 0.5) / n_grid
        self.log_odds = 3 * self.at - 1.5 + np.sin(5 * self.at)

    def erring(self, size: float, rng: np.random.Generator) -> np.ndarray:
        """Return the truth with an error of random waves; its mean square over all scores is exact."""
        k = np.arange(1, _WAVES + 1)[:, None]
        phase, height = rng.uniform(0, 2 * np.pi, (_WAVES, 1)), rng.normal(size=(_WAVES, 1))
        wave = (height * np.sin(2 * np.pi * k * self.at + phase)).sum(axis=0)
        return self.log_odds + size * wave / np.sqrt(np.mean(wave**2))

    def loss(self, forecast: np.ndarray) -> float:
        """Return the mean log-loss of a forecast over all cases that there may be."""
        p = expit(self.log_odds)
        return float(np.mean(p * np.logaddexp(0, -forecast) + (1 - p) * np.logaddexp(0, forecast)))

    def scaled_to(self, forecast: np.ndarray, loss: float) -> np.ndarray:
        """Return the forecast with its error scaled so that it has a given loss."""
        error = forecast - self.log_odds
        size = brentq(lambda size: self.loss(self.log_odds + size * error) - loss, 0.0, 50.0)
        return self.log_odds + size * error


def simulate(law: Law, samples: int, seed: int = 0) -> Outcome:
    """Draw cases and methods, recommend, and compare what is quoted with what is true."""
    rng, truth = np.random.default_rng(seed), Truth()
    middle = truth.erring(law.error, np.random.default_rng(1))
    level = truth.loss(middle)
    pool = [truth.scaled_to(truth.erring(law.error, rng), level) for _ in range(_POOL)]
    rows = []
    for _ in range(samples):
        methods = [pool[i] for i in rng.choice(_POOL, N_METHODS, replace=False)]
        if law.win:
            methods[-1] = truth.scaled_to(methods[-1], level - law.win)
        raw = truth.erring(law.raw, rng)
        place = rng.integers(0, len(truth.at), law.n)
        positive = rng.random(law.n) < expit(truth.log_odds[place])
        names = [f"m{i}" for i in range(N_METHODS)]
        forecasts = {"raw": raw, **dict(zip(names, methods, strict=True))}
        losses = {name: np.logaddexp(0, np.where(positive, -of[place], of[place])) for name, of in forecasts.items()}
        decisions = Decisions.of(None, law.n)
        held = HeldOut(losses, decisions, positive, rng.integers(0, N_FOLDS, law.n), N_FOLDS)
        chosen, quoted = held.choose(names), held.gain(losses["raw"], held.nested_loss(names))
        true = truth.loss(raw) - truth.loss(forecasts[chosen])
        luckiest = max(float(np.mean(losses["raw"] - losses[name])) for name in names)
        wanted = names[-1] if law.win else names[0]
        rows.append((true, quoted.mean, luckiest, quoted.low <= true <= quoted.high, chosen == wanted))
    return Outcome(*np.mean(rows, axis=0).tolist())


#: What is counted as "called miscalibrated".
_MISCALIBRATED = ("impossible", "miscalibrated", "slight")


class Sample(NamedTuple):
    """Probabilities of a positive, labels, and the group of each row."""

    prob: np.ndarray
    y: np.ndarray
    group: np.ndarray | None = None

    def judged(self, *, by_group: bool = False) -> Verdict:
        """Return the verdict."""
        groups = None
        if by_group:
            groups = {
                one: forecast_from_arrays(self.y[self.group == one], self.prob[self.group == one])
                for one in np.unique(self.group)
            }
        return verdict(forecast_from_arrays(self.y, self.prob), groups=groups)

    def advised(self, *, by_group: bool = False) -> str:
        """Return what a comparison of three methods advises."""
        groups = None
        if by_group:
            groups = {
                one: ScoreTable.from_arrays(self.prob[self.group == one], self.y[self.group == one])
                for one in np.unique(self.group)
            }
        methods = {"auto": AutoCalibrator(), "platt": PlattCalibrator(), "isotonic": IsotonicCalibrator()}
        return compare_methods(ScoreTable.from_arrays(self.prob, self.y), methods, groups=groups).advice.kind


def sloped(n: int, slope: float, rng: np.random.Generator, *, swap: bool = False) -> Sample:
    """Draw p ~ Beta(1, 2) and q with logit q = slope · logit p; labels by p and forecasts q, or the reverse."""
    p = rng.beta(1, 2, n)
    q = expit(slope * logit(p))
    truth, forecast = (q, p) if swap else (p, q)
    return Sample(forecast, (rng.random(n) < truth).astype(int))


def certain(n: int, rng: np.random.Generator) -> Sample:
    """Draw calibrated forecasts of which 2 % are replaced by 1."""
    drawn = sloped(n, 1.0, rng)
    drawn.prob[rng.choice(n, n // 50, replace=False)] = 1.0
    return drawn


def copied(n: int, times: int, rng: np.random.Generator) -> Sample:
    """Draw calibrated forecasts and repeat all rows."""
    drawn = sloped(n, 1.0, rng)
    return Sample(np.tile(drawn.prob, times), np.tile(drawn.y, times), np.tile(np.arange(n), times))


def clustered(n_groups: int, size: int, rng: np.random.Generator) -> Sample:
    """Draw calibrated forecasts whose labels depend on each other within groups: two thirds share a random number."""
    group = np.repeat(np.arange(n_groups), size)
    p = rng.beta(1, 2, len(group))
    own, common = rng.random(len(group)), rng.random(n_groups)[group]
    return Sample(p, (np.where(rng.random(len(group)) < 2 / 3, common, own) < p).astype(int), group)


def judged_classes(n: int, k: int, factor: float, rng: np.random.Generator) -> Verdict:
    """Return the verdict on the softmax of logits, if labels are drawn by the softmax of some multiple of them."""
    logits = 1.5 * rng.normal(size=(n, k))
    truth = np.argmax(log_softmax(factor * logits, axis=1) + rng.gumbel(size=(n, k)), axis=1)
    names = tuple(map(str, range(k)))
    return verdict(ScoreRows(logits, truth, names, None, names, "log_odds"))


Draw = Callable[[np.random.Generator], Verdict]


def _sloped(n: int, slope: float, rng: np.random.Generator, *, swap: bool = False) -> Verdict:
    return sloped(n, slope, rng, swap=swap).judged()


#: Name → how to draw a verdict, and the least and the largest share that may be called miscalibrated.
VERDICTS: dict[str, tuple[Draw, float, float]] = {
    **{f"calibrated, {n} cases": (partial(_sloped, n, 1.0), 0.0, 0.06) for n in (60, 100, 300, 1000, 2000, 10_000)},
    "slope 0.5, 300 cases": (partial(_sloped, 300, 0.5), 0.95, 1.0),
    "slope 0.7, 1,000 cases": (partial(_sloped, 1000, 0.7), 0.95, 1.0),
    "slope 0.8, 2,000 cases": (partial(_sloped, 2000, 0.8), 0.95, 1.0),
    "slope 0.5, 300 cases, reversed roles": (partial(_sloped, 300, 0.5, swap=True), 0.95, 1.0),
    "slope 0.7, 1,000 cases, reversed roles": (partial(_sloped, 1000, 0.7, swap=True), 0.95, 1.0),
    "slope 0.8, 2,000 cases, reversed roles": (partial(_sloped, 2000, 0.8, swap=True), 0.95, 1.0),
    "2 % certain, 300 cases": (lambda rng: certain(300, rng).judged(), 0.9, 1.0),
    "300 cases, ten times each": (lambda rng: copied(300, 10, rng).judged(), 0.0, 0.06),
    "300 cases, ten times each, groups": (lambda rng: copied(300, 10, rng).judged(by_group=True), 0.0, 0.06),
    "60 clusters of 20, groups": (lambda rng: clustered(60, 20, rng).judged(by_group=True), 0.0, 0.06),
    "30 clusters of 20, groups": (lambda rng: clustered(30, 20, rng).judged(by_group=True), 0.0, 0.06),
    "3 classes, calibrated, 100 cases": (partial(judged_classes, 100, 3, 1.0), 0.0, 0.06),
    "3 classes, calibrated, 1,000 cases": (partial(judged_classes, 1000, 3, 1.0), 0.0, 0.06),
    "10 classes, calibrated, 300 cases": (partial(judged_classes, 300, 10, 1.0), 0.0, 0.06),
    "10 classes, calibrated, 2,000 cases": (partial(judged_classes, 2000, 10, 1.0), 0.0, 0.06),
    "3 classes, half the logits, 300 cases": (partial(judged_classes, 300, 3, 0.5), 0.95, 1.0),
}

#: Name → how to draw advice; "calibrate" is wrong for all of them.
ADVICE: dict[str, Callable[[np.random.Generator], str]] = {
    "calibrated, 300 cases": lambda rng: sloped(300, 1.0, rng).advised(),
    "300 cases, ten times each": lambda rng: copied(300, 10, rng).advised(),
    "60 clusters of 20, groups": lambda rng: clustered(60, 20, rng).advised(by_group=True),
}


def count_verdicts(draw: Draw, samples: int, seed: int = 0) -> Counter[str]:
    """Return how often each kind of verdict is drawn."""
    rng = np.random.default_rng(seed)
    return Counter(draw(rng).kind for _ in range(samples))


def share_called_miscalibrated(kinds: Counter[str]) -> float:
    """Return the share of verdicts by which scores are miscalibrated."""
    return sum(kinds[kind] for kind in _MISCALIBRATED) / kinds.total()


def print_verdicts(samples: int) -> None:
    """Print the share of each kind of verdict."""
    for name, (draw, least, most) in VERDICTS.items():
        kinds = count_verdicts(draw, samples)
        share = share_called_miscalibrated(kinds)
        error = np.sqrt(max(share * (1 - share), 0.05 * 0.95) / samples)
        met = least - 2 * error <= share <= most + 2 * error
        bound = f"at least {least:.0%}" if least else f"at most {most:.0%}"
        told = ", ".join(f"{kind} {times / samples:.1%}" for kind, times in kinds.most_common())
        print(f"{name}: called miscalibrated {share:.1%} ({bound}{'' if met else ', NOT MET'}); {told}", flush=True)


def print_advice(samples: int) -> None:
    """Print how often calibrated scores are to be calibrated."""
    for name, draw in ADVICE.items():
        rng = np.random.default_rng(0)
        kinds = Counter(draw(rng) for _ in range(samples))
        told = ", ".join(f"{kind} {times / samples:.1%}" for kind, times in kinds.most_common())
        print(f"advice on {name}: {told}", flush=True)


def main() -> None:
    """Print all simulations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--advice-samples", type=int, default=100, help="Of comparisons, which take a second each.")
    given = parser.parse_args()
    print_verdicts(given.samples)
    print_advice(given.advice_samples)
    for title, law in (("25 equal methods", EQUAL), ("one wins by 0.02 nats", ONE_WINS)):
        found = simulate(law, given.samples)
        print(f"{title}, {law.n} cases, {given.samples} samples")
        print(f"  true gain of the recommended method {found.true:.5f}, quoted {found.quoted:.5f}", end="")
        print(f" ({found.quoted / found.true - 1:+.1%}), of the luckiest {found.luckiest:.5f}", end="")
        print(f" ({found.luckiest / found.true - 1:+.1%})")
        print(f"  intervals that contain it {found.covered:.1%}; right recommendation {found.right:.1%}")


if __name__ == "__main__":
    main()
