"""Models of several classes: every scaling and one vs rest, of logits and probabilities, from 2 to 100 classes."""

import functools

import numpy as np

from oddsmith import (
    AutoScaling,
    DirichletScaling,
    IsotonicCalibrator,
    MatrixScaling,
    PlattCalibrator,
    TemperatureScaling,
    VectorScaling,
)
from oddsmith.model import Model
from samples import ours_allowed

SCALINGS = (TemperatureScaling, VectorScaling, MatrixScaling, DirichletScaling, AutoScaling)


def sample(k, n=300):
    """Return logits that are too sure of themselves, their probabilities, and labels."""
    rng = np.random.default_rng(k)
    logits = 2 * rng.normal(size=(n, k))
    prob = softmax(logits)
    y = (softmax(0.6 * logits).cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    y[:k] = np.arange(k)
    return logits, prob, y


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@functools.cache
def joint_models(k):
    """Return models by name; of two classes also such that read one column."""
    logits, prob, y = sample(k)
    rows, scalings = {"logits": logits, "probabilities": prob}, SCALINGS
    if k == 2:
        rows |= {"one logit": logits[:, 1:] - logits[:, :1], "one probability": prob[:, 1:]}
        scalings = SCALINGS[::2]
    with ours_allowed():
        models = {
            f"{cls.__name__} of {what}": Model.from_fitted(
                cls(input="probabilities" if "prob" in what else "logits").fit(x, y)
            )
            for cls in scalings
            for what, x in rows.items()
        }
        for against_rest in (False, True):
            for cls in (PlattCalibrator, IsotonicCalibrator):
                fitted = [cls().fit(logits[:, i], y == i) for i in range(k)]
                name = f"{cls.__name__}{', against the rest' if against_rest else ''}"
                models[name] = Model.from_one_vs_rest(fitted, range(k), against_rest=against_rest)
        held = [PlattCalibrator(input="probability").fit(prob[:, i], y == i) for i in range(k - 1)]
        models["one class is not known"] = Model.from_one_vs_rest([*held, None], range(k), input="probabilities")
    move = np.linspace(-2.0, 3.0, k)
    for name in ("PlattCalibrator, against the rest", "one class is not known"):
        models[f"{name}, shifted"] = models[name].shifted(move)
    models["IsotonicCalibrator, shifted far"] = models["IsotonicCalibrator"].shifted(-120 * move)
    return models


@functools.cache
def many_classes():
    """Return models of a hundred classes, and a matrix of ten."""
    logits, _, y = sample(100, 500)
    tens, _, classes = sample(10)
    with ours_allowed():
        models = {cls.__name__: Model.from_fitted(cls().fit(logits, y)) for cls in SCALINGS[:2]}
        models["MatrixScaling"] = Model.from_fitted(MatrixScaling().fit(tens, classes))
    return models
