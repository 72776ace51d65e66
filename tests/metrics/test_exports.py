"""What the package exports, and what holds for every measure."""

import dataclasses
import json
import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score

from oddsmith import metrics
from oddsmith.errors import InvalidInputError

MEASURES = [getattr(metrics, name) for name in metrics.__all__ if isinstance(getattr(metrics, name), metrics.Measure)]


def test_names_are_sorted_and_exist():
    assert metrics.__all__ == sorted(metrics.__all__)
    assert all(getattr(metrics, name).__doc__ for name in metrics.__all__)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_laws_of_every_measure(measure):
    rng = np.random.default_rng(0)
    p = np.round(rng.uniform(0.05, 0.95, 80), 2)
    y = (rng.random(80) < p).astype(int)
    forecast = metrics.forecast_from_arrays(y, p)
    order = rng.permutation(80)
    assert str(measure(forecast)) == str(measure.from_arrays(y, p)) or measure is metrics.reliability_curve
    if measure is not metrics.reliability_curve:
        assert str(measure.from_arrays(y[order], p[order])) == str(measure(forecast))
        assert str(measure.from_arrays(np.tile(y, 2), np.tile(p, 2))) == str(measure(forecast.scale(2)))
        assert str(measure.from_arrays(2 * y - 1, p)) == str(measure(forecast))
    assert pickle.loads(pickle.dumps(measure)) is measure
    assert "Examples" in measure.__doc__
    with pytest.raises(InvalidInputError, match="ScoreTable"):
        measure(p)
    with pytest.raises(InvalidInputError, match="y_prob"):
        measure.from_arrays(y, np.column_stack([1 - p, p]))
    with pytest.raises(InvalidInputError, match="as long as"):
        measure.from_arrays(y[1:], p)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
@pytest.mark.parametrize("scale", [0.03, 5.0])
def test_float_weights_of_one_size_change_nothing(measure, scale):
    rng = np.random.default_rng(2)
    p = np.round(rng.uniform(0.05, 0.95, 150), 2)
    y = (rng.random(150) < p).astype(int)
    plain, weighted = measure.from_arrays(y, p), measure.from_arrays(y, p, np.full(150, scale))
    if isinstance(plain, metrics.ReliabilityCurve):
        assert weighted.fraction_positive == pytest.approx(plain.fraction_positive)
    elif isinstance(plain, metrics.Decomposition):
        assert weighted.to_dict() == pytest.approx(plain.to_dict())
    elif measure is metrics.cox_test:
        # Of counts the likelihood ratio, of weights the score test: equal in large samples.
        assert float(weighted) == pytest.approx(float(plain), rel=0.2)
    else:
        assert float(weighted) == pytest.approx(float(plain), abs=1e-9)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_results_are_plain_json(measure):
    result = measure.from_arrays([0, 1, 0, 1, 1], [0.1, 0.4, 0.5, 0.8, 0.8])
    if not isinstance(result, (int, float)):
        read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert set(read) == {field.name for field in dataclasses.fields(result)}
        if hasattr(result, "__float__"):
            assert read["value"] == float(result)


def test_other_results_are_plain_json():
    forecast = metrics.forecast_from_arrays([0, 1, 0, 1, 1], [0.1, 0.4, 0.5, 0.8, 0.8])
    for result in (
        metrics.interval(metrics.miscalibration, forecast, n_resamples=40, random_state=0),
        metrics.sign_test(3, 1),
        metrics.paired_t_test([-np.inf, 0.0], [-1.0, 0.0]),
        metrics.paired_bootstrap([1.0, 2.0], [0.0, 1.5], n_resamples=10, random_state=0),
        metrics.empirical_log_odds(forecast, n_bins=2),
    ):
        read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert set(read) == {field.name for field in dataclasses.fields(result)}
    assert metrics.paired_t_test([-np.inf, 0.0], [-1.0, 0.0]).to_dict()["t"] == "-inf"


def test_twins_serve_as_scikit_learn_scorers():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 2))
    y = (rng.random(200) < 1 / (1 + np.exp(-x[:, 0]))).astype(int)
    scorer = make_scorer(metrics.log_loss.from_arrays, response_method="predict_proba", greater_is_better=False)
    ours = cross_val_score(LogisticRegression(), x, y, scoring=scorer)
    theirs = cross_val_score(LogisticRegression(), x, y, scoring="neg_log_loss")
    assert ours == pytest.approx(theirs)
