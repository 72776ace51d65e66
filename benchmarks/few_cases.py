"""`AutoScaling` against `TemperatureScaling` with few cases per class: ``python -m benchmarks.few_cases``.

Settings in which one temperature is exactly right (expected log-loss on 2,000 rows of known probabilities), networks on
CIFAR-10 thinned to 100 cases (ODDSMITH_DATA names the folder), and simulated logits of a hundred classes whose classes
are slightly biased, with 1,000 cases. Prints mean log-losses and the bound that each setting has to meet.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax, softmax

from oddsmith import AutoScaling, TemperatureScaling
from oddsmith.errors import OddsmithWarning

#: Most that AutoScaling may lose: a share of the log-loss of temperature scaling, or nats.
BOUNDS = {"exact 30 x 3": 0.025, "exact 100 x 3": 0.015, "exact 100 x 10": 0.015}
_NATS = 0.002
_TEST_ROWS = 2000


class Sample(NamedTuple):
    """Logits and labels to fit to, and logits with the probabilities, or the labels one-hot, to judge by."""

    logits: np.ndarray
    y: np.ndarray
    test_logits: np.ndarray
    test_prob: np.ndarray


def exact(rng: np.random.Generator, n: int, k: int) -> Sample:
    """Draw logits that a temperature of 2 puts right."""
    logits = 3 * rng.normal(size=(n + _TEST_ROWS, k))
    prob = softmax(logits / 2, axis=1)
    y = np.argmax(logits / 2 + rng.gumbel(size=logits.shape), axis=1)
    return Sample(logits[:n], y[:n], logits[n:], prob[n:])


def hundred_classes(rng: np.random.Generator, bias: float, n: int = 1000, k: int = 100) -> Sample:
    """Draw logits of a network that is overconfident and biased towards some classes."""
    truth = 1.5 * rng.normal(size=(n + _TEST_ROWS, k))
    truth[np.arange(len(truth)), rng.integers(k, size=len(truth))] += 6
    y = np.argmax(truth + rng.gumbel(size=truth.shape), axis=1)
    logits = 1.7 * (truth + 0.3 * rng.normal(size=truth.shape) + bias * rng.normal(size=k))
    return Sample(logits[:n], y[:n], logits[n:], softmax(truth[n:], axis=1))


def thinned(rng: np.random.Generator, path: Path, n: int = 100) -> Sample:
    """Draw cases of a network on CIFAR-10, and others to judge by."""
    with np.load(path) as stored:
        logits = np.log(np.maximum(stored["predictions"].astype(np.float64), 1e-38))
        y = stored["ground_truth"].ravel().astype(np.intp)
    rows = rng.permutation(len(y))
    own, other = rows[:n], rows[n : n + 5000]
    return Sample(logits[own], y[own], logits[other], np.eye(logits.shape[1])[y[other]])


def settings() -> Iterator[tuple[str, object]]:
    """Yield names of settings and functions that draw from them."""
    for n, k in ((30, 3), (100, 3), (100, 10)):
        yield f"exact {n} x {k}", lambda rng, n=n, k=k: exact(rng, n, k)
    for path in sorted((Path(os.environ.get("ODDSMITH_DATA", ".")) / "nn_cifar10").glob("*.npz")):
        yield f"{path.stem}, 100 cases", lambda rng, path=path: thinned(rng, path)
    for bias in (0.0, 0.2):
        yield f"100 classes, 1,000 cases, bias {bias:g}", lambda rng, bias=bias: hundred_classes(rng, bias)


def loss(method: object, sample: Sample) -> float:
    """Return the expected log-loss after a fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        fitted = method(classes=range(sample.logits.shape[1])).fit(sample.logits, sample.y)  # type: ignore[operator]
    return -float((sample.test_prob * fitted.predict_log_proba(sample.test_logits)).sum(axis=1).mean())


def main(arguments: list[str] | None = None) -> int:
    """Print what each setting gives, and return 1 where a bound is missed by more than two standard errors."""
    parser = argparse.ArgumentParser("python -m benchmarks.few_cases", description=__doc__)
    parser.add_argument(
        "--repeats", type=int, default=200, help="samples of each setting; a tenth of a hundred classes"
    )
    wishes = parser.parse_args(arguments)
    missed = 0
    print("| setting | as given | temperature | auto | difference | standard error | bound |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, draw in settings():
        losses = []
        for seed in range(max(wishes.repeats // (20 if "100 classes" in name else 1), 2)):
            sample = draw(np.random.default_rng(seed))  # type: ignore[operator]
            given = -float((sample.test_prob * log_softmax(sample.test_logits, axis=1)).sum(axis=1).mean())
            losses.append((given, loss(TemperatureScaling, sample), loss(AutoScaling, sample)))
        given, tempered, ours = np.mean(losses, axis=0)
        apart = np.array([each[2] - each[1] for each in losses])
        error = float(apart.std(ddof=1)) / np.sqrt(len(apart))
        bound = BOUNDS[name] * tempered if name in BOUNDS else _NATS
        missed += ours - tempered > bound + 2 * error
        figures = f"{given:.4f} | {tempered:.4f} | {ours:.4f} | {ours - tempered:+.4f} | {error:.4f} | {bound:.4f}"
        print(f"| {name} | {figures} |", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
