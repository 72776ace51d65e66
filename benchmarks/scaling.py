"""Several classes: held-out log-loss and rank of all ways to calibrate them, and the time of a fit.

``python -m benchmarks.scaling`` needs ``ODDSMITH_DATA``. With probmetrics installed its structured scalings (SVS, SMS)
take part.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from oddsmith.data.cifar10 import load_cifar10_outputs
from oddsmith.data.covertype import load_covertype
from oddsmith.data.indian_pines import load_indian_pines
from oddsmith.data.letter import load_letter
from oddsmith.data.newsgroups import load_newsgroups
from scipy.special import softmax
from scipy.stats import rankdata
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from oddsmith import AutoScaling, MatrixScaling, TemperatureScaling, VectorScaling
from oddsmith.classify import classifier_scores
from oddsmith.classify.methods import resolve_method
from oddsmith.classify.multiclass import make_calibration
from oddsmith.classify.target import read_target

_SIZES = (300, 1000, 3000)
_HELD_OUT = 2500


class Task(NamedTuple):
    """Scores of rows that trained nothing, with their form and their labels."""

    name: str
    values: Any
    form: Any
    y: Any


def networks() -> Iterator[Task]:
    """Yield CIFAR-10 outputs, and simulated logits of 100 classes: over-confident, some classes noisier than others."""
    for network in ("wideresnet-16-4", "lenet-5"):
        rows = load_cifar10_outputs(network)
        order = np.random.default_rng(0).permutation(len(rows.y))
        prob = np.asarray(rows.X, dtype=np.float64)[order]
        yield Task(f"cifar10 {network}", prob, "probability", np.asarray(rows.y)[order])
    for seed, (noise, sharpness, confusion) in enumerate(((1.3, 2.0, 0.7), (1.6, 1.5, 0.2))):
        rng = np.random.default_rng(seed)
        k, n = 100, 8000
        y = rng.integers(0, k, n)
        spread = noise * (0.6 + 0.8 * rng.random(k))
        logits = confusion * rng.normal(size=(k, k))[y] + spread[y][:, None] * rng.normal(size=(n, k))
        logits[np.arange(n), y] += (4 + rng.normal(size=k))[y]
        yield Task(f"simulated {seed}", sharpness * logits, "margin", y)


def classifiers() -> Iterator[Task]:
    """Yield the scores of five classifiers on five data sets."""
    learners: dict[str, Any] = {
        "naive Bayes": GaussianNB(var_smoothing=1e-3),
        "SVM": make_pipeline(StandardScaler(), LinearSVC()),
        "forest": RandomForestClassifier(60, random_state=0),
        "booster": HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=15),
        "MLP": make_pipeline(StandardScaler(), MLPClassifier((48,), max_iter=80, random_state=0)),
    }
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    yield from _scored("digits", X[order], y[order], 600, learners)
    for name, load in (("letter", load_letter), ("pines", load_indian_pines), ("covtype", load_covertype)):
        rows = load()
        order = np.random.default_rng(0).permutation(len(rows.y))[: 3500 + _SIZES[-1] + _HELD_OUT]
        yield from _scored(name, np.asarray(rows.X[order], dtype=np.float64), np.asarray(rows.y)[order], 3500, learners)
    corpus = load_newsgroups()
    order = np.random.default_rng(0).permutation(len(corpus.texts))[: 3500 + _SIZES[-1] + _HELD_OUT]
    words = TfidfVectorizer(max_features=20_000, sublinear_tf=True, stop_words="english")
    X = words.fit_transform([corpus.texts[row] for row in order])
    text: dict[str, Any] = {"naive Bayes": MultinomialNB(alpha=0.05), "SVM": LinearSVC(C=0.3)}
    yield from _scored("news", X, corpus.member.argmax(axis=1)[order], 3500, text)


def _scored(name: str, X: Any, y: Any, n_train: int, learners: dict[str, Any]) -> Iterator[Task]:
    for learner, estimator in learners.items():
        fitted = estimator.fit(X[:n_train], y[:n_train])
        scores = classifier_scores(fitted, X[n_train:])
        yield Task(f"{name} {learner}", scores.aligned(fitted.classes_), scores.form, y[n_train:])


Method = Callable[[Any, Any, Any, Any, Any], Any]


def _ours(method: Any, multiclass: Any = "one_vs_rest") -> Method:
    def run(values: Any, form: Any, y: Any, new: Any, classes: Any) -> Any:
        target = read_target(y, len(y), classes)
        calibration = make_calibration(resolve_method(method), target, multiclass).fit(values, form, target, None)
        return calibration.predict_proba(calibration.scores(new, form))

    return run


def _peer(name: str) -> Method:
    from probmetrics.calibrators import get_calibrator

    def run(values: Any, form: Any, y: Any, new: Any, classes: Any) -> Any:
        def prob(z: Any) -> Any:
            return z if form == "probability" else softmax(z, axis=1)

        return get_calibrator(name).fit(prob(values), np.searchsorted(classes, y)).predict_proba(prob(new))

    return run


def methods() -> dict[str, Method]:
    """Return all that is compared."""
    found = {
        "auto scaling": _ours(AutoScaling()),
        "top class kept": _ours(AutoScaling(accuracy="keep")),
        "temperature": _ours(TemperatureScaling()),
        "vector": _ours("vector"),
        "matrix": _ours("matrix"),
        "Dirichlet": _ours("dirichlet"),
        "rest: auto": _ours("auto"),
        "rest: Platt": _ours("platt"),
        "rest: isotonic": _ours("isotonic"),
        "rest: beta": _ours("beta"),
        "pairs: Platt": _ours("platt", "pairwise"),
    }
    try:
        return {**found, "SVS": _peer("svs"), "SMS": _peer("sms")}
    except ImportError:
        return found


def compare() -> None:
    """Print the held-out log-loss of each method on each task, means and ranks."""
    chosen = methods()
    print(f"{'task':<26}{'cases':>6}" + "".join(f"{name:>15}" for name in chosen))
    rows: list[list[float]] = []
    for tasks in (networks, classifiers):
        for task in tasks():
            for n in _SIZES:
                test = slice(max(len(task.y) - _HELD_OUT, n), None) if len(task.y) > 2000 else slice(600, None)
                if n > 600 and len(task.y) < 2000:
                    continue
                classes = np.unique(task.y)
                slow = len(classes) > 50
                losses = []
                for name, method in chosen.items():
                    if slow and name.startswith(("pairs", "rest")):
                        losses.append(np.inf)
                        continue
                    prob = method(task.values[:n], task.form, task.y[:n], task.values[test], classes)
                    true = prob[np.arange(len(prob)), np.searchsorted(classes, task.y[test])]
                    losses.append(float(-np.log(np.maximum(true, 1e-15)).mean()))
                rows.append(losses)
                print(f"{task.name:<26}{n:>6}" + "".join(f"{loss:>15.4f}" for loss in losses), flush=True)
    table = np.array(rows)
    ranks = np.array([rankdata(row) for row in table])
    finite = np.isfinite(table).all(axis=1)
    print(f"{'mean log-loss':<32}" + "".join(f"{loss:>15.4f}" for loss in table[finite].mean(axis=0)))
    print(f"{'mean rank':<32}" + "".join(f"{rank:>15.2f}" for rank in ranks.mean(axis=0)))
    print(f"{'lost against auto':<32}" + "".join(f"{share:>15.2f}" for share in (table > table[:, :1]).mean(axis=0)))


def measure() -> None:
    """Print the time of one fit, in processor seconds."""
    simulated = list(networks())
    for task, n in ((simulated[0], 5000), (simulated[2], 5000)):
        k = len(np.unique(task.y))
        print(f"{n:,} × {k}: seconds")
        for scaling in (TemperatureScaling, VectorScaling, MatrixScaling, AutoScaling):
            start = time.process_time()
            scaling(classes=range(k)).fit(task.values[:n], task.y[:n])
            print(f"  {scaling.__name__:<20}{time.process_time() - start:>8.3f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    measure()
    compare()
