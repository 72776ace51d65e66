"""The default on few cases: ``python -m benchmarks.small [--cases 30 100 1000] [--samples 300] [--coverage]``.

Labels are drawn from known curves, so that the held-out log-loss of a fitted map is an integral, not an estimate. Every
run continues where the last one stopped, computes again what belongs to other code, and prints how far AutoCalibrator
is from Platt's method and from the best simple method in each family. With ``--coverage`` it prints instead how often
``gain_interval_`` contains the true gain of the fitted map.
"""

import argparse
import json
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import betaln, comb, expit, logit

import oddsmith
from benchmarks.quality.versions import source_version

Curve = Callable[[np.ndarray], np.ndarray]

#: Points of equal weight that stand for the distribution of the scores.
_GRID = 2000
#: Samples with fewer cases of a class are drawn again.
_FEWEST = 2
#: Probabilities of 0 and 1, which isotonic regression gives, are clipped to this distance.
_CLIP = 1e-6

DEFAULT = "AutoCalibrator"
PLATT = "PlattCalibrator"
#: Methods by name; isotonic regression in its bounded form.
METHODS = {
    name: getattr(oddsmith, name)
    for name in (
        DEFAULT,
        PLATT,
        "TemperatureCalibrator",
        "BetaCalibrator",
        "LogisticCalibrator",
        "IsotonicCalibrator",
        "VennAbersCalibrator",
    )
}


class Family(NamedTuple):
    """Quantile function of the score, and score → log-odds of the true P."""

    score: Curve
    truth: Curve


def _normal(mean: float = 0.0, spread: float = 1.0) -> Curve:
    return lambda u: mean + spread * stats.norm.ppf(u)


def _prob(log_odds: Curve) -> Curve:
    return lambda u: expit(log_odds(u))


def _beta(a: float, b: float) -> Curve:
    return lambda u: stats.beta.ppf(u, a, b)


def _line(slope: float = 1.0, level: float = 0.0) -> Curve:
    """Straight in the log-odds that are the score."""
    return lambda s: slope * s + level


def _unit(slope: float = 1.0, level: float = 0.0) -> Curve:
    """Straight in the log-odds of a score that is a probability."""
    return lambda s: slope * logit(s) + level


def _votes(voters: int, a: float, b: float) -> Family:
    """Shares of votes, each vote right on its own: P given k votes is a posterior mean."""
    k = np.arange(voters + 1)
    mass = comb(voters, k) * np.exp(betaln(k + a, voters - k + b) - betaln(a, b))
    steps = np.cumsum(mass / mass.sum())
    return Family(
        lambda u: np.searchsorted(steps, np.minimum(u, steps[-1] - 1e-12)) / voters,
        lambda s: np.log((s * voters + a) / (voters - s * voters + b)),
    )


def _mixture(up: tuple[float, float], down: tuple[float, float], share: float) -> Family:
    """Margins that are normal in each class; the quantile function is interpolated."""
    at = np.linspace(-8, 8, 20_001)
    mass = share * stats.norm.cdf(at, *up) + (1 - share) * stats.norm.cdf(at, *down)
    return Family(
        lambda u: np.interp(u, mass, at),
        lambda s: logit(share) + stats.norm.logpdf(s, *up) - stats.norm.logpdf(s, *down),
    )


FAMILIES = {
    "right log-odds": Family(_normal(0, 2), _line()),
    "right probabilities": Family(_prob(_normal(0, 1.5)), _unit()),
    "overconfident log-odds": Family(_normal(0, 4), _line(0.5)),
    "overconfident probabilities": Family(_prob(_normal(0, 4.5)), _unit(0.3)),
    "underconfident log-odds": Family(_normal(0, 0.5), _line(3)),
    "underconfident probabilities": Family(_prob(_normal(0, 1.0)), _unit(2)),
    "shifted log-odds": Family(_normal(0, 1.5), _line(1, -2)),
    "shifted probabilities": Family(_prob(_normal(0, 1.5)), _unit(1, 1.5)),
    "nearly separable margins": Family(_normal(), _line(12)),
    "nearly separable probabilities": Family(_prob(_normal(0, 6)), _unit()),
    "rare log-odds": Family(_normal(-3.5, 1.2), _line()),
    "rare margins": Family(_normal(), _line(1.2, -3)),
    "beta probabilities": Family(_beta(0.5, 0.5), _unit()),
    "too sure beta probabilities": Family(lambda u: expit(2 * logit(stats.beta.ppf(u, 1, 2))), _unit(0.5)),
    "skewed probabilities": Family(_prob(_normal(-15, 6)), _unit(0.35, 3)),
    "skewed log-odds": Family(_normal(-6, 4), _line()),
    "log-normal scores": Family(lambda u: np.exp(stats.norm.ppf(u)), lambda s: 1.5 * np.log(s)),
    "Cauchy scores": Family(stats.cauchy.ppf, lambda s: np.clip(s, -3, 3)),
    "forest of 20": _votes(20, 0.7, 1.2),
    "forest of 200": _votes(200, 0.3, 0.6),
    "five neighbors": _votes(5, 0.5, 0.5),
    "equal margins": _mixture((1.0, 0.8), (-1.0, 0.8), 0.5),
    "unequal margins": _mixture((1.0, 1.3), (-1.0, 0.6), 0.3),
    "ranks": Family(lambda u: np.ceil(1000 * u), lambda s: 5 * (s / 1000 - 0.5)),
    "deciles": Family(lambda u: np.ceil(10 * u), lambda s: 0.5 * (s - 6)),
    "credit scores": Family(lambda u: np.rint(600 + 80 * stats.norm.ppf(u)), lambda s: (s - 560) / 60),
    "uniform probabilities": Family(lambda u: u, _unit()),
    "S-shaped": Family(lambda u: u, _unit(2.5)),
    "squared": Family(lambda u: u, lambda s: logit(s * s)),
    "root": Family(_beta(1, 3), lambda s: logit(np.sqrt(s))),
    "label noise": Family(_prob(_normal(0, 3)), lambda s: logit(0.1 + 0.8 * s)),
    "steps": Family(lambda u: 2 * u - 1, lambda s: np.where(s > 0.2, 1.5, -1.0)),
    "no signal": Family(_normal(), lambda s: np.full_like(s, -0.8)),
    "no signal probabilities": Family(_beta(2, 2), np.zeros_like),
}


def grid(family: Family) -> tuple[np.ndarray, np.ndarray]:
    """Return scores of equal weight and their true P."""
    scores = family.score((np.arange(_GRID) + 0.5) / _GRID)
    return scores, expit(family.truth(scores))


def sample(name: str, cases: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores and labels, with at least two cases of each class."""
    family, rng = FAMILIES[name], np.random.default_rng([zlib.crc32(name.encode()), cases, number])
    while True:
        scores = family.score(rng.random(cases))
        y = (rng.random(cases) < expit(family.truth(scores))).astype(int)
        if min(y.sum(), cases - y.sum()) >= _FEWEST:
            return scores, y


def expected_loss(prob: np.ndarray, truth: np.ndarray) -> float:
    """Return the log-loss of forecasts over a grid."""
    prob = np.clip(prob, _CLIP, 1 - _CLIP)
    return float(-np.mean(truth * np.log(prob) + (1 - truth) * np.log1p(-prob)))


def loss_of(method: str, name: str, cases: int, number: int) -> float:
    """Fit a method to one sample, and return the held-out loss."""
    scores, truth = grid(FAMILIES[name])
    calibrator = METHODS[method]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oddsmith.errors.OddsmithWarning)
        prob = calibrator.fit(*sample(name, cases, number)).predict_proba(scores)[:, 1]
    return expected_loss(prob, truth)


class Store:
    """Losses by method, family, number of cases and sample, kept in a file of JSON per version of each method."""

    def __init__(self, folder: Path) -> None:
        self._files = {method: folder / f"{method}-{source_version(cls)}.json" for method, cls in METHODS.items()}
        self._known = {
            method: json.loads(file.read_text()) if file.exists() else {} for method, file in self._files.items()
        }

    def losses(self, method: str, name: str, cases: int, samples: int) -> np.ndarray:
        """Return the losses of the first samples, computing those that are missing."""
        known: list[float] = self._known[method].setdefault(f"{name}/{cases}", [])
        if len(known) < samples:
            known += [loss_of(method, name, cases, number) for number in range(len(known), samples)]
            self._files[method].parent.mkdir(parents=True, exist_ok=True)
            part = self._files[method].with_suffix(".part")
            part.write_text(json.dumps(self._known[method]))
            part.replace(self._files[method])
        return np.array(known[:samples])


class Row(NamedTuple):
    """Mean losses of a family: of the truth, the default, Platt's and the best simple method; difference, error."""

    family: str
    truth: float
    auto: float
    platt: float
    best: str
    best_loss: float
    difference: float
    error: float

    def loses_to(self, other: float) -> bool:
        """Whether the default is worse than a loss by more than 0.005 or 2 %."""
        return self.auto - other > min(0.005, 0.02 * other)


def rows(store: Store, cases: int, samples: int, families: list[str], seconds: float) -> Iterator[Row]:
    """Yield the figures of each family."""
    start = time.monotonic()
    for name in families:
        if time.monotonic() - start > seconds:
            return
        found = {method: store.losses(method, name, cases, samples) for method in METHODS}
        means = {method: float(losses.mean()) for method, losses in found.items()}
        best = min((method for method in means if method != DEFAULT), key=means.__getitem__)
        difference = found[DEFAULT] - found[PLATT]
        error = float(difference.std(ddof=1) / np.sqrt(samples))
        truth = grid(FAMILIES[name])[1]
        yield Row(
            name,
            expected_loss(truth, truth),
            means[DEFAULT],
            means[PLATT],
            best.removesuffix("Calibrator"),
            means[best],
            float(difference.mean()),
            error,
        )


def table(found: list[Row], cases: int) -> str:
    """Return the figures of one number of cases as a Markdown table."""
    lines = [
        f"\n{cases} cases: held-out log-loss; × marks a default that is worse by more than 0.005 or 2 %\n",
        "| family | truth | default | Platt | default − Platt | | best simple method | default − best |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in found:
        mark, behind = ("×" if row.loses_to(other) else "" for other in (row.platt, row.best_loss))
        lines.append(
            f"| {row.family} | {row.truth:.4f} | {row.auto:.4f} | {row.platt:.4f} "
            f"| {row.difference:+.4f} ± {row.error:.4f} | {mark} | {row.best} {row.best_loss:.4f} "
            f"| {row.auto - row.best_loss:+.4f} {behind} |"
        )
    autos, platts, bests = (np.array([getattr(row, part) for row in found]) for part in ("auto", "platt", "best_loss"))
    lost, behind = (sum(row.loses_to(getattr(row, part)) for row in found) for part in ("platt", "best_loss"))
    lines.append(
        f"\n{lost} of {len(found)} families lost to Platt's method, {behind} to the best of six simple methods; means: "
        f"default {autos.mean():.4f}, Platt's {platts.mean():.4f}, best of each family {bests.mean():.4f}"
    )
    return "\n".join(lines)


#: Where intervals of the gain are simulated: scores that are log-odds or probabilities, none of them certain.
COVERED = (
    "right log-odds",
    "right probabilities",
    "overconfident log-odds",
    "underconfident probabilities",
    "shifted log-odds",
    "rare log-odds",
    "beta probabilities",
    "label noise",
    "no signal probabilities",
)


def gain_is_covered(name: str, cases: int, number: int) -> bool:
    """Whether the interval of the gain contains the true gain of the map that was fitted."""
    scores, truth = grid(FAMILIES[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oddsmith.errors.OddsmithWarning)
        fitted = oddsmith.AutoCalibrator().fit(*sample(name, cases, number))
    given = scores if fitted.input_ == "probability" else expit(scores)
    before, after = (expected_loss(prob, truth) for prob in (given, fitted.predict_proba(scores)[:, 1]))
    low, high = fitted.gain_interval_
    return bool(low <= before - after <= high)


def coverage(cases: int, samples: int) -> str:
    """Return the shares of intervals that contain the true gain as a Markdown table."""
    lines = [
        f"\n{cases} cases, {samples} samples: share of 95 % intervals with the true gain\n",
        "| family | % |",
        "|---|---|",
    ]
    for name in COVERED:
        share = np.mean([gain_is_covered(name, cases, number) for number in range(samples)])
        lines.append(f"| {name} | {100 * share:.1f} ± {100 * np.sqrt(share * (1 - share) / samples):.1f} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small", description=__doc__)
    parser.add_argument("--cases", type=int, nargs="+", default=[30, 100, 1000], help="sizes of the samples")
    parser.add_argument("--samples", type=int, default=300, help="of each family and size")
    parser.add_argument("--only", nargs="+", choices=FAMILIES, default=list(FAMILIES), metavar="FAMILY")
    parser.add_argument("--seconds", type=float, default=np.inf, help="stop after this time; the next run continues")
    parser.add_argument("--state", type=Path, default=Path("build/small"), help="folder of the losses")
    parser.add_argument("--coverage", action="store_true", help="intervals of the gain instead of losses")
    chosen = parser.parse_args()
    store = Store(chosen.state)
    for cases in chosen.cases:
        if chosen.coverage:
            print(coverage(cases, chosen.samples), flush=True)
        else:
            print(table(list(rows(store, cases, chosen.samples, chosen.only, chosen.seconds)), cases), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
