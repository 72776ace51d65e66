"""Everything that turns the scores of several classes into probabilities, behind one signature."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.special import softmax

from benchmarks.quality.probmetrics_peers import SEVERAL, probmetrics_peers
from benchmarks.quality.tasks import NOTHING, OTHER_FORM, Competitor
from benchmarks.quality.versions import source_version
from oddsmith import AutoCalibrator, BetaCalibrator, IsotonicCalibrator, PlattCalibrator
from oddsmith.calibrators.auto_scaling import AutoScaling
from oddsmith.calibrators.scaling import DirichletScaling, MatrixScaling, TemperatureScaling, VectorScaling
from oddsmith.classify import couple_pairwise, normalize_one_vs_rest

Array = np.ndarray

#: Probabilities are held above this before their logarithms are taken.
_LEAST = float(np.finfo(float).tiny)
#: Answers for all pairs of classes that are held at a time.
_PAIRS_AT_A_TIME = 2**22


def competitors() -> dict[str, Competitor]:
    """Return all competitors by name."""
    return {one.name: one for one in (*_ours(), *_peers())}


def are_probabilities(scores: Array) -> bool:
    """Tell whether rows may be taken for distributions."""
    return bool(scores.min() >= 0 and np.allclose(scores.sum(axis=1), 1, atol=1e-6))


def as_probabilities(scores: Array, test: Array) -> tuple[Array, Array]:
    """Return the distributions that a peer wants which knows nothing else."""
    return (scores, test) if are_probabilities(scores) else (softmax(scores, axis=1), softmax(test, axis=1))


def _ours() -> Iterator[Competitor]:
    for cls in (AutoScaling, TemperatureScaling, VectorScaling, MatrixScaling, DirichletScaling):
        yield Competitor(cls.__name__, source_version(cls), partial(_joint, cls))
    label = source_version(AutoScaling)
    yield Competitor("AutoScaling" + OTHER_FORM, label, _other_form)
    yield Competitor("AutoScaling:top class kept", label, partial(_joint, partial(AutoScaling, accuracy="keep")))
    joins = {"one vs rest": (_one_vs_rest, normalize_one_vs_rest), "pairs": (_pairs, couple_pairwise)}
    for way, cls in (
        *itertools.product(["one vs rest"], (AutoCalibrator, PlattCalibrator, IsotonicCalibrator, BetaCalibrator)),
        ("pairs", PlattCalibrator),
    ):
        calibrate, join = joins[way]
        yield Competitor(f"{way}:{cls.__name__}", source_version(cls) + source_version(join), partial(calibrate, cls))


def _joint(make: Any, scores: Array, y: Array, test: Array) -> Array:
    form = "probabilities" if are_probabilities(scores) else "logits"
    return make(classes=range(scores.shape[1]), input=form).fit(scores, y).predict_proba(test)


def _other_form(scores: Array, y: Array, test: Array) -> Array:
    if are_probabilities(scores):
        return _joint(AutoScaling, np.log(np.maximum(scores, _LEAST)), y, np.log(np.maximum(test, _LEAST)))
    scores, test = as_probabilities(scores, test)
    return _joint(AutoScaling, scores, y, test)


def _one_vs_rest(cls: Any, scores: Array, y: Array, test: Array) -> Array:
    answers = [_answering(cls, scores[:, c], y == c)(test[:, c]) for c in range(scores.shape[1])]
    return normalize_one_vs_rest(np.column_stack(answers))


def _pairs(cls: Any, scores: Array, y: Array, test: Array) -> Array:
    k = scores.shape[1]
    probabilities = are_probabilities(scores)
    pairs = list(itertools.combinations(range(k), 2))
    maps, cases = {}, np.zeros((k, k))
    for i, j in pairs:
        rows = (y == i) | (y == j)
        cases[i, j] = cases[j, i] = rows.sum()
        maps[i, j] = _answering(cls, _between(scores[rows], i, j, probabilities), y[rows] == i)
    found = []
    for part in np.array_split(test, -(-len(test) * k * k // _PAIRS_AT_A_TIME)):
        answers = np.full((len(part), k, k), 0.5)
        for i, j in pairs:
            answers[:, i, j] = maps[i, j](_between(part, i, j, probabilities))
            answers[:, j, i] = 1 - answers[:, i, j]
        found.append(couple_pairwise(answers, cases))
    return np.concatenate(found)


def _between(scores: Array, i: int, j: int, probabilities: bool) -> Array:
    """Return what speaks for one class rather than another: a share of both probabilities, or a margin."""
    if not probabilities:
        return scores[:, i] - scores[:, j]
    both = scores[:, i] + scores[:, j]
    return np.where(both > 0, scores[:, i] / np.where(both > 0, both, 1), 0.5)


def _answering(cls: Any, scores: Array, y: Array) -> Callable[[Array], Array]:
    """Return the calibrated answer to one question, or the smoothed base rate where one answer never occurred."""
    if y.all() or not y.any():
        return lambda test: np.full(len(test), (y.sum() + 0.5) / (len(y) + 1))
    fitted = cls().fit(scores, y.astype(int))
    return lambda test: fitted.predict_proba(test)[:, 1]


def _peers() -> Iterator[Competitor]:
    yield Competitor(NOTHING, "1", _nothing)
    yield from probmetrics_peers(SEVERAL, as_probabilities)


def _nothing(scores: Array, y: Array, test: Array) -> Array:
    del y
    return as_probabilities(scores, test)[1]
