"""Whether the recommendation of a report resists chance: ``python -m benchmarks.advice [--samples 400]``.

Forecasts of 25 methods are drawn around a known truth, so that the gain of each over the uncalibrated scores is known.

* equal: all methods err by as much, each in its own way. The default should be recommended, and the gain that is quoted
  should be the true one; that of the luckiest method is not.
* one wins: one method's log-loss is lower by 0.02 nats than that of all others. It should be found.
"""

import argparse
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from oddsmith.metrics.significance import Decisions
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
        chosen, quoted = held.choose(names), held.gain(losses["raw"], held.nested(names))
        true = truth.loss(raw) - truth.loss(forecasts[chosen])
        luckiest = max(float(np.mean(losses["raw"] - losses[name])) for name in names)
        wanted = names[-1] if law.win else names[0]
        rows.append((true, quoted.mean, luckiest, quoted.low <= true <= quoted.high, chosen == wanted))
    return Outcome(*np.mean(rows, axis=0).tolist())


def main() -> None:
    """Print both simulations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=400)
    samples = parser.parse_args().samples
    for title, law in (("25 equal methods", EQUAL), ("one wins by 0.02 nats", ONE_WINS)):
        found = simulate(law, samples)
        print(f"{title}, {law.n} cases, {samples} samples")
        print(f"  true gain of the recommended method {found.true:.5f}, quoted {found.quoted:.5f}", end="")
        print(f" ({found.quoted / found.true - 1:+.1%}), of the luckiest {found.luckiest:.5f}", end="")
        print(f" ({found.luckiest / found.true - 1:+.1%})")
        print(f"  intervals that hold it {found.covered:.1%}; right recommendation {found.right:.1%}")


if __name__ == "__main__":
    main()
