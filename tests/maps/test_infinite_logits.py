"""Rows of infinite and missing logits in every shape of a scaling: both formulas, and plain Python, agree."""

import itertools

import numpy as np
import pytest

from oddsmith.export import to_python
from oddsmith.maps import ScalingMap, ScalingPart

K = 4
ROWS = np.array(list(itertools.product([-np.inf, np.inf, -1.0, 2.0, np.nan], repeat=K)))


def scaling(reading, coefs, floor, drop, shift, seed=0):
    """Return a blend of scalings, of base rates alone where a coefficient is 0."""
    rng = np.random.default_rng(seed)
    parts = []
    for place, coef in enumerate(coefs):
        softening = 0.01 if place and reading.startswith("floored") else 0.0
        parts.append(ScalingPart("", reading, softening, coef, 0.1 * rng.normal(size=K), floor, drop))
    return ScalingMap(K, "logits", tuple(parts), np.full(len(parts), 1 / len(parts)), np.array(shift))


NUMBER, DIAGONAL = np.array(0.6), np.array([0.5, 0.7, 0.9, 1.1])
MATRIX = np.eye(K) + 0.1 * np.random.default_rng(3).normal(size=(K, K))
BLEND = MATRIX, DIAGONAL, np.array(0.0)


@pytest.mark.parametrize("reading", ["logits", "log_probabilities", "floored_log_probabilities"])
@pytest.mark.parametrize(
    "coefs", [(NUMBER,), (DIAGONAL,), (MATRIX,), BLEND], ids=["number", "diagonal", "matrix", "all"]
)
@pytest.mark.parametrize(("floor", "drop"), [(None, None), (30.0, None), (30.0, 5.0)])
@pytest.mark.parametrize("shift", [[0.0] * K, [0.0, 1.0, -1.0, 0.5], [0.0, -200.0, 0.0, 0.0]], ids=["0", "some", "far"])
def test_infinite_and_missing_logits(reading, coefs, floor, drop, shift):
    fitted = scaling(reading, coefs, floor, drop, shift)
    prob, names = fitted.class_probability(ROWS), {}
    exec(to_python(fitted), names)
    plain = np.array([names["probabilities"](row) for row in ROWS.tolist()])
    missing, masked = np.isnan(ROWS).any(axis=1), np.isneginf(ROWS)
    masked &= ~masked.all(axis=1, keepdims=True)
    expected = np.where(missing[:, None], np.nan, prob)
    for found in (prob, np.exp(fitted.class_log_probability(ROWS)), plain):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        assert np.isfinite(found[~missing]).all()
        assert not found[masked & ~missing[:, None]].any()
        np.testing.assert_allclose(found[~missing].sum(axis=1), 1.0, rtol=0, atol=1e-12)
