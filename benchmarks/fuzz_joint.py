"""Fit every joint scaling to hard logits: ``python -m benchmarks.fuzz_joint --fits 3000``.

What must be true of each fit: no error but a refusal where one is due, no warning but our own, no NaN, rows that sum to
1, P = 0 at −inf and nowhere else for the true class, a loss in sample that is not far above that of the base rates
and, where the true class is always on top, not above that of the logits as given; and a warning where the logits do not
favor the true class. On new rows, decisions must be about as accurate as by the largest logit, and margins in any unit
must not cost much more than by temperature scaling. The run may be stopped at any time and continues where it was;
``--state`` names its file.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax
from sklearn.naive_bayes import GaussianNB

from oddsmith import AutoScaling, DirichletScaling, MatrixScaling, TemperatureScaling, VectorScaling
from oddsmith.atomic import write_atomically
from oddsmith.errors import OddsmithError, OddsmithWarning, ReversedScoreWarning

METHODS: dict[str, Callable[..., Any]] = {
    "TemperatureScaling": TemperatureScaling,
    "VectorScaling": VectorScaling,
    "MatrixScaling": MatrixScaling,
    "DirichletScaling": DirichletScaling,
    "AutoScaling": AutoScaling,
    "AutoScaling, top class kept": partial(AutoScaling, accuracy="keep"),
}

#: What masks are written as.
MASKS = (-1e4, -1e9, float(np.finfo(np.float32).min), -np.inf)

#: Log-loss in sample may exceed that of the base rates by this much, in nats per case and over all cases.
_ABOVE, _ABOVE_IN_ALL = 0.05, 6.0

#: And that of logits that are always right by this much per case.
_ABOVE_GIVEN = 0.01

#: After a fit to at least so many rows per class, decisions for so many new rows may be right less often than those by
#: the largest logit, by this share.
_PER_CLASS, _NEW_ROWS, _LESS_OFTEN = 20, 2000, 0.03

#: On new rows log-loss may exceed that of temperature scaling by this much per case, of margins in any unit.
_ABOVE_TEMPERED = 0.05

#: Logits from here on may be masks.
_LARGE = 300.0


class Case(NamedTuple):
    """Logits, labels and weights, and the logits and labels of new rows to judge decisions by."""

    z: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None
    new: tuple[np.ndarray, np.ndarray] | None = None


def _drawn(rng: np.random.Generator, n: int, k: int) -> Case:
    z = 10.0 ** rng.uniform(-1, 1.5) * rng.normal(size=(n, k))
    y = np.argmax(10.0 ** rng.uniform(-1.5, 0.5) * z + rng.gumbel(size=(n, k)), axis=1)
    return Case(z, y)


def _masked(rng: np.random.Generator, n: int, k: int, share: float, columns: int = 0) -> Case:
    z, y, *_ = _drawn(rng, n, k)
    mask = rng.random(z.shape) < share
    mask[:, rng.permutation(k)[:columns]] = True
    mask[mask.all(axis=1), 0] = False
    y = np.argmax(np.where(mask, -np.inf, z / max(float(z.std()), 1e-9) + rng.gumbel(size=z.shape)), axis=1)
    return Case(np.where(mask, rng.choice(MASKS), z), y)


def always_right(rng: np.random.Generator, n: int, k: int) -> Case:
    """Put the true class on top in every row."""
    z = 10.0 ** rng.uniform(-2, 3) * rng.normal(size=(n, k))
    return Case(z, z.argmax(axis=1))


def all_rows_masked(rng: np.random.Generator, n: int, k: int) -> Case:
    """Mask one class in all rows."""
    return _masked(rng, n, k, 0.0, columns=min(1, k - 1))


def varying_masks(rng: np.random.Generator, n: int, k: int) -> Case:
    """Mask other classes in each row."""
    return _masked(rng, n, k, float(rng.uniform(0.1, 0.9)))


def sporadic_masks(rng: np.random.Generator, n: int, k: int) -> Case:
    """Mask a few logits."""
    return _masked(rng, n, k, 0.02)


def one_huge_logit(rng: np.random.Generator, n: int, k: int) -> Case:
    """Make one logit of one row far larger, or lower, than all others."""
    case = _drawn(rng, n, k)
    case.z[rng.integers(n), rng.integers(k)] = rng.choice([-1, 1]) * 10.0 ** rng.uniform(3, 250)
    return case


def any_unit(rng: np.random.Generator, n: int, k: int) -> Case:
    """Draw margins of perceptrons and the like: right up to a factor of up to 1e9."""
    z, y, *_ = _drawn(rng, n + _NEW_ROWS, k)
    z *= 10.0 ** rng.uniform(2, 9)
    return Case(z[:n], y[:n], new=(z[n:], y[n:]))


def few_cases(rng: np.random.Generator, n: int, k: int) -> Case:
    """Draw three cases per class at most."""
    return _drawn(rng, min(n, int(rng.integers(k, 3 * k + 1))), k)


def single_case(rng: np.random.Generator, n: int, k: int) -> Case:
    """Leave one case to a class."""
    case = _drawn(rng, n, k)
    case.y[case.y == k - 1] = 0
    case.y[int(rng.integers(n))] = k - 1
    return case


def rare_classes(rng: np.random.Generator, n: int, k: int) -> Case:
    """Draw classes of very different frequencies, some of which may be missing."""
    z, *_ = _drawn(rng, n, k)
    y = np.argmax(z / max(float(z.std()), 1e-9) - 2.0 * np.arange(k) + rng.gumbel(size=z.shape), axis=1)
    return Case(z, y)


def heavy_weights(rng: np.random.Generator, n: int, k: int) -> Case:
    """Draw counts, or float weights of very different sizes."""
    z, y, *_ = _drawn(rng, n, k)
    return Case(z, y, rng.integers(0, 1000, n) if rng.random() < 0.5 else 10.0 ** rng.uniform(-6, 6, n))


def equal_logits(rng: np.random.Generator, n: int, k: int) -> Case:
    """Make all logits of most rows, or of all of them, equal."""
    z, y, *_ = _drawn(rng, n, k)
    z[rng.random(n) < rng.choice([0.7, 1.0])] = rng.normal()
    return Case(z, y)


def reversed_logits(rng: np.random.Generator, n: int, k: int) -> Case:
    """Negate all logits, or put the columns in another order."""
    z, y, *_ = _drawn(rng, n, k)
    return Case(-z if rng.random() < 0.5 else z[:, rng.permutation(k)], y)


def too_sure(rng: np.random.Generator, n: int, k: int) -> Case:
    """Multiply the logits of some rows by up to 1e8, as naive Bayes does."""
    z, y, *_ = _drawn(rng, n + _NEW_ROWS, k)
    far = rng.random((len(z), 1)) < rng.uniform(0.05, 0.9)
    z = np.where(far, 10.0 ** rng.uniform(1, 8, (len(z), 1)), 1.0) * z
    return Case(z[:n], y[:n], new=(z[n:], y[n:]))


def naive_bayes(rng: np.random.Generator, n: int, k: int) -> Case:
    """Read log-odds of Gaussian naive Bayes, of 1e2 to 1e9: copies of features count as evidence of their own.

    It learns from few rows, in which many values are 0: where a feature does not vary within a class, the smoothing
    alone gives its variance.
    """
    n, learned = max(n, 100, _PER_CLASS * k), int(rng.integers(3, 9)) * k
    y = np.append(np.arange(learned) % k, rng.integers(k, size=n + _NEW_ROWS))
    features = rng.normal(size=(k, 6))[y] + rng.uniform(0.2, 1.2) * rng.normal(size=(len(y), 6))
    X = np.repeat(features, int(rng.integers(1, 6)), axis=1)
    X = np.where(rng.random(X.shape) < rng.uniform(0, 0.7), 0.0, X)
    classifier = GaussianNB(var_smoothing=10.0 ** rng.uniform(-9, -2)).fit(X[:learned], y[:learned])
    z, y = classifier.predict_joint_log_proba(X[learned:]), y[learned:]
    return Case(z[:n], y[:n], new=(z[n:], y[n:]))


FAMILIES = {
    each.__name__: each
    for each in (
        always_right,
        all_rows_masked,
        varying_masks,
        sporadic_masks,
        one_huge_logit,
        any_unit,
        few_cases,
        single_case,
        rare_classes,
        heavy_weights,
        equal_logits,
        reversed_logits,
        too_sure,
        naive_bayes,
    )
}


def sample(seed: int) -> tuple[str, Case]:
    """Return the name of a family and a sample of it, of 2 to 20 classes."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(list(FAMILIES)))
    n, k = int(rng.choice([5, 12, 40, 150, 400], p=[0.15, 0.2, 0.3, 0.25, 0.1])), int(rng.integers(2, 21))
    case = FAMILIES[name](rng, n, k)
    if case.weight is not None and not case.weight.any():
        return name, case._replace(weight=None)
    return name, case


def faults(method: str, name: str, case: Case) -> list[str]:
    """Fit, and return in words all that is wrong."""
    z, y, weight, _ = case
    k = z.shape[1]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            fitted = METHODS[method](classes=range(k)).fit(z, y, weight)
            prob, logs = fitted.predict_proba(z), fitted.predict_log_proba(z)
        except OddsmithError as error:
            return [f"refused: {error}"]
        except Exception as error:  # foreign errors are what is looked for
            return [f"{type(error).__name__}: {error}"]
    found = [f"warning: {one.message}" for one in said if not issubclass(one.category, OddsmithWarning)]
    if np.isnan(prob).any() or np.isnan(logs).any() or np.abs(prob.sum(axis=1) - 1).max() > 1e-9:
        return [*found, "NaN, or rows that do not sum to 1"]
    closed = np.isneginf(z)
    if np.any(prob[closed] != 0) or not np.array_equal(np.isneginf(logs), closed):
        found.append("P is not 0 at −inf, or 0 elsewhere")
    if _not_favored(case) and not any(issubclass(one.category, ReversedScoreWarning) for one in said):
        found.append("no warning, though the logits do not favor the true class")
    warned = any(issubclass(one.category, OddsmithWarning) for one in said)
    if case.new is not None and len(y) >= _PER_CLASS * k and not warned:
        found += _decisions(fitted, *case.new)
        if name == "any_unit" and (lost := _lost_to_temperature(fitted, case)) > _ABOVE_TEMPERED:
            found.append(f"{lost:.3g} nats per new row above temperature scaling")
    return found + _losses(name, case, logs)


def _decisions(fitted: Any, z: np.ndarray, y: np.ndarray) -> list[str]:
    lost = float(np.mean(z.argmax(axis=1) == y) - np.mean(fitted.predict(z) == y))
    return [f"{lost:.3f} less accurate than the largest logit, without a warning"] if lost > _LESS_OFTEN else []


def _lost_to_temperature(fitted: Any, case: Case) -> float:
    z, y = case.new if case.new is not None else case[:2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        tempered = TemperatureScaling(classes=range(z.shape[1])).fit(case.z, case.y, case.weight)
    ours, theirs = (each.predict_log_proba(z)[np.arange(len(y)), y] for each in (fitted, tempered))
    return float(np.mean(theirs - ours))


def _not_favored(case: Case) -> bool:
    """Whether logits without masks are, on average, clearly lower for the true class than for all classes."""
    z, y, weight, _ = case
    if np.abs(z).max() >= _LARGE:
        return False
    return bool(np.average(z[np.arange(len(y)), y] - z.mean(axis=1), weights=weight) < -1e-9)


def _losses(name: str, case: Case, logs: np.ndarray) -> list[str]:
    z, y, weight, _ = case
    v = np.ones(len(y)) if weight is None else weight.astype(float)
    share, each = v / v.sum(), np.arange(len(y))
    rates = np.bincount(y, share, z.shape[1])
    base, ours = (
        -float(share @ np.log(rates, out=np.zeros_like(rates), where=rates > 0)[y]),
        -float(share @ logs[each, y]),
    )
    given = -float(share @ log_softmax(np.maximum(z, -1e300), axis=1)[each, y])
    found = []
    # One temperature cannot reproduce base rates: uniform probabilities are what it can fall back on.
    bound = max(base, np.log(z.shape[1])) + _ABOVE + _ABOVE_IN_ALL / v.sum() if weight is None else np.inf
    if ours > min(bound, max(given, bound)):
        found.append(f"{ours - bound:.3g} nats per case above the base rates")
    if name == "always_right" and ours > given + _ABOVE_GIVEN:
        found.append(f"{ours - given:.3g} nats per case above the logits as given")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run, and print what was found."""
    parser = argparse.ArgumentParser("python -m benchmarks.fuzz_joint", description=__doc__)
    parser.add_argument("--fits", type=int, default=3000, help="how many fits in all")
    parser.add_argument("--first", type=int, default=0, help="seed of the first sample")
    parser.add_argument("--state", type=Path, default=Path("fuzz_joint.json"), help="file that remembers the run")
    wishes = parser.parse_args(arguments)
    state: dict[str, Any] = {"seed": wishes.first, "fits": 0, "faults": []}
    if wishes.state.exists():
        state = json.loads(wishes.state.read_text())
    shown = time.monotonic()
    while state["fits"] < wishes.fits:
        name, case = sample(state["seed"])
        for method in METHODS:
            state["faults"] += [[state["seed"], name, method, fault] for fault in faults(method, name, case)]
            state["fits"] += 1
        state["seed"] += 1
        if state["seed"] % 50 == 0 or state["fits"] >= wishes.fits:
            write_atomically(wishes.state, json.dumps(state, indent=1), force=True)
        if time.monotonic() - shown > 30:
            shown = time.monotonic()
            print(f"{state['fits']:,} fits, {len(state['faults'])} faults", flush=True)
    print(f"{state['fits']:,} fits to {state['seed'] - wishes.first:,} samples, {len(state['faults'])} faults")
    for fault in state["faults"][:50]:
        print("  seed {}, {}: {}: {}".format(*fault))
    return 1 if state["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
