"""Proper scores against row versions, vectors and scikit-learn."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from oddsmith import IsotonicCalibrator, ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import proper
from samples import ours_allowed, samples

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "vectors.json").read_text())["methods"]


def rows_log_loss(y, log_odds):
    return sum(np.logaddexp(0, -z if t else z) for t, z in zip(y, log_odds, strict=True)) / len(y)


def rows_squared(y, log_odds):
    return np.mean([(t - 1 / (1 + np.exp(-z))) ** 2 for t, z in zip(y, log_odds, strict=True)])


def rows_zero_one(y, log_odds):
    return np.mean([t != (z > 0) for t, z in zip(y, log_odds, strict=True)])


PAIRS = [
    (proper.log_loss, rows_log_loss),
    (proper.squared_error, rows_squared),
    (proper.zero_one_error, rows_zero_one),
]


@pytest.mark.parametrize(("table_version", "row_version"), PAIRS)
@given(samples())
def test_equals_the_row_version(table_version, row_version, sample):
    scores, y = sample
    assert table_version.of(ScoreTable.from_arrays(scores, y)) == pytest.approx(row_version(y, scores), rel=1e-12)


@pytest.mark.parametrize(
    "measure", [proper.log_loss, proper.squared_error, proper.zero_one_error, proper.log_loss_uncertainty]
)
@given(samples(), st.integers(0, 1000))
def test_weights_are_repetitions(measure, sample, seed):
    scores, y = sample
    weight = np.random.default_rng(seed).integers(1, 4, len(y))
    repeated = measure.of(ScoreTable.from_arrays(np.repeat(scores, weight), np.repeat(y, weight)))
    assert measure.of(ScoreTable.from_arrays(scores, y, weight)) == pytest.approx(repeated, rel=1e-12)
    assert measure.of(ScoreTable.from_arrays(scores, y, weight * 0.5)) == pytest.approx(repeated, rel=1e-12)


@pytest.mark.parametrize("case", VECTORS["measures"], ids=lambda case: case["case"])
def test_vectors(case):
    arrays = case["labels01"], case["inputs"]
    found = {
        "log_loss_sum": -proper.log_loss(*arrays, total=True),
        "log_loss_mean": -proper.log_loss(*arrays),
        "log_loss_sum_base2": -proper.log_loss(*arrays, total=True, base=2),
        "squared_error_sum": proper.squared_error(*arrays, total=True),
        "mse": proper.squared_error(*arrays),
        "rmse": proper.root_mean_squared_error(*arrays),
        "errors": proper.zero_one_error(*arrays, total=True),
        "cross_entropy": proper.log_loss(*arrays),
    }
    for name in found.keys() & case.keys():
        assert found[name] == pytest.approx(case[name], abs=1e-9), name


def test_the_log_loss_as_a_total_and_in_bits():
    y, p, weight = [1, 0, 1], [0.9, 0.2, 0.6], [1.0, 2.5, 0.5]
    total = -np.log([0.9, 0.8, 0.6]) @ weight
    assert proper.log_loss(y, p, weight, total=True) == pytest.approx(total)
    assert proper.log_loss(y, p, weight) == pytest.approx(total / 4)
    assert proper.log_loss(y, p, weight, base=2) == pytest.approx(total / 4 / np.log(2))
    assert proper.log_loss(y, p, weight, total=True, base=10) == pytest.approx(total / np.log(10))


@given(samples())
def test_agrees_with_sklearn(sample):
    scores, y = sample
    p = 1 / (1 + np.exp(-scores))
    assert proper.log_loss(y, p) == pytest.approx(oracle.log_loss(y, p, labels=[0, 1]), rel=1e-9)
    assert proper.squared_error(y, p) == pytest.approx(oracle.brier_score_loss(y, p), rel=1e-9)


def test_a_certain_error_is_infinite_and_certain_truth_is_free():
    assert proper.log_loss([0, 1], [1.0, 1.0]) == np.inf
    assert proper.log_loss([0, 1], [1.0, 1.0], total=True) == np.inf
    assert proper.log_loss([0, 1], [0.0, 1.0]) == 0.0
    assert proper.log_loss([0, 1], [1.0, 1.0], clip=1e-6) == pytest.approx(-np.log(1e-6) / 2, rel=1e-6)
    parts = proper.decompose([0, 1], [1.0, 1.0])
    assert (parts.miscalibration, parts.discrimination) == (np.inf, 0.0)


@pytest.mark.parametrize("score", ["log", "squared"])
@given(samples())
def test_decomposition_adds_up_and_is_that_of_isotonic_regression(score, sample):
    scores, y = sample
    table = ScoreTable.from_arrays(scores, y)
    parts = proper.decompose.of(table, score=score)
    assert parts.score == pytest.approx(
        parts.miscalibration - parts.discrimination + parts.uncertainty, rel=1e-9, abs=1e-12
    )
    if len(table) > 1:
        with ours_allowed():
            mapped = table.map(IsotonicCalibrator().fit(scores, y).log_odds)
        loss = proper.log_loss.of(mapped) if score == "log" else proper.squared_error.of(mapped)
        assert parts.miscalibration == pytest.approx(parts.score - loss, abs=1e-9)
    assert "CORP" in str(parts)
    named = {"log": proper.log_loss_miscalibration, "squared": proper.brier_miscalibration}[score]
    assert named.of(table) == parts.miscalibration


def test_matches_probcal_decomposition():
    probcal = pytest.importorskip("probcal.metrics")
    rng = np.random.default_rng(0)
    p = rng.uniform(0.02, 0.98, 400)
    y = (rng.random(400) < p**2).astype(int)
    assert proper.log_loss(y, p) == pytest.approx(probcal.log_loss(y, p), rel=1e-9)
    assert proper.squared_error(y, p) == pytest.approx(probcal.brier_score(y, p), rel=1e-9)


def test_bad_input():
    with pytest.raises(InvalidInputError, match="ScoreTable"):
        proper.log_loss.of([0.1, 0.2])
    with pytest.raises(InvalidInputError, match=r"\[0, 1\]"):
        proper.log_loss([0, 1], [0.2, 1.2])
    for base in (1, "bits", None):
        with pytest.raises(InvalidInputError, match=r"base must .*; got"):
            proper.log_loss([0, 1], [0.2, 0.2], base=base)
    with pytest.raises(InvalidInputError, match="clip"):
        proper.log_loss([0, 1], [0.2, 0.2], clip=0.5)
    with pytest.raises(InvalidInputError, match="score"):
        proper.decompose([0, 1], [0.2, 0.2], score="brier")


def test_measures_pickle_and_name_themselves():
    assert pickle.loads(pickle.dumps(proper.log_loss)) is proper.log_loss
    assert repr(proper.log_loss) == "<Measure log_loss>"
