"""What the package exports, and what holds for every measure."""

import dataclasses
import functools
import inspect
import json
import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score

from oddsmith import metrics
from oddsmith._foreign_names import FORMER
from oddsmith.errors import InvalidInputError

FUNCTIONS = [
    function
    for name in metrics.__all__
    if isinstance(function := getattr(metrics, name), metrics.ForecastFunction) and function.takes != "classes"
]

#: What a measure cannot do without.
NEEDED = {metrics.net_benefit: {"threshold": 0.4}}

#: How many there are, which is a sum of weights.
COUNTS = {"rows", "events"}


def test_names_are_sorted_and_exist():
    assert metrics.__all__ == sorted(metrics.__all__)
    assert all(getattr(metrics, name).__doc__ for name in metrics.__all__)


@pytest.mark.parametrize("measure", FUNCTIONS, ids=lambda measure: measure.__name__)
def test_laws_of_every_measure(measure):
    rng = np.random.default_rng(0)
    p = np.round(rng.uniform(0.05, 0.95, 80), 2)
    y = (rng.random(80) < p).astype(int)
    forecast = metrics.forecast_from_arrays(y, p)
    order = rng.permutation(80)

    needed = NEEDED.get(measure, {})
    called = functools.partial(measure, **needed)

    def of(table):
        found = measure.of(table, **needed)
        return float(found) if isinstance(measure, metrics.Measure) else found

    words, rows = np.where(y == 1, "yes", "no"), np.column_stack([1 - p, p])
    if measure is not metrics.reliability_curve:
        assert str(called(y, p)) == str(of(forecast))
        assert str(called(y[order], p[order])) == str(of(forecast))
        assert str(called(np.tile(y, 2), np.tile(p, 2))) == str(of(forecast.scale(2)))
        assert str(called(2 * y - 1, p)) == str(of(forecast))
        assert str(called(words, p, pos_label="yes")) == str(of(forecast))
        assert str(called(y, rows)) == str(called(words, rows)) == str(of(forecast))
        assert str(called(y, rows[:, ::-1], labels=[1, 0], pos_label=1)) == str(of(forecast))
    assert pickle.loads(pickle.dumps(measure)) is measure
    assert "Examples" in measure.__doc__ or "decompose : All parts" in measure.__doc__
    assert list(inspect.signature(measure).parameters)[:3] == ["y_true", "y_prob", "sample_weight"]
    with pytest.raises(InvalidInputError, match="ScoreTable"):
        measure.of(p, **needed)
    with pytest.raises(InvalidInputError, match="as long as"):
        called(y[1:], p)
    with pytest.raises(InvalidInputError, match="pos_label"):
        called(words, rows, pos_label="maybe")


@pytest.mark.parametrize("measure", FUNCTIONS, ids=lambda measure: measure.__name__)
@pytest.mark.parametrize("scale", [0.03, 5.0])
def test_float_weights_of_one_size_change_nothing(measure, scale):
    rng = np.random.default_rng(2)
    p = np.round(rng.uniform(0.05, 0.95, 150), 2)
    y = (rng.random(150) < p).astype(int)
    called = functools.partial(measure, **NEEDED.get(measure, {}))
    plain, weighted = called(y, p), called(y, p, np.full(150, scale))
    if isinstance(plain, metrics.ReliabilityCurve):
        assert weighted.fraction_positive == pytest.approx(plain.fraction_positive)
    elif isinstance(plain, metrics.Decomposition):
        assert dataclasses.astuple(weighted)[1:5] == pytest.approx(dataclasses.astuple(plain)[1:5])
    elif measure is metrics.cox_test:
        # Of counts the likelihood ratio, of weights the score test: equal in large samples.
        assert float(weighted) == pytest.approx(float(plain), rel=0.2)
    elif hasattr(plain, "__float__"):
        assert float(weighted) == pytest.approx(float(plain), abs=1e-9)
    else:
        assert numbers(weighted.to_dict()) == pytest.approx(numbers(plain.to_dict()), abs=1e-9, nan_ok=True)


def numbers(found, name=""):
    """Return the numbers in a result by their places in it, without those that count."""
    if isinstance(found, dict | list):
        pairs = found.items() if isinstance(found, dict) else enumerate(found)
        return {k: v for key, part in pairs if key not in COUNTS for k, v in numbers(part, f"{name}/{key}").items()}
    return {name: found} if isinstance(found, int | float) else {}


@pytest.mark.parametrize("measure", FUNCTIONS, ids=lambda measure: measure.__name__)
def test_results_are_plain_json(measure):
    forecast = metrics.forecast_from_arrays([0, 1, 0, 1, 1], [0.1, 0.4, 0.5, 0.8, 0.8])
    result = measure.of(forecast, **NEEDED.get(measure, {}))
    if not isinstance(result, (int, float)):
        read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert set(read) == {field.name for field in dataclasses.fields(result)}
        if hasattr(result, "__float__"):
            assert read["value"] == float(result)


def test_other_results_are_plain_json():
    forecast = metrics.forecast_from_arrays([0, 1, 0, 1, 1], [0.1, 0.4, 0.5, 0.8, 0.8])
    for result in (
        metrics.interval(metrics.log_loss_miscalibration, forecast, n_resamples=40, random_state=0),
        metrics.sign_test(3, 1),
        metrics.paired_t_test([-np.inf, 0.0], [-1.0, 0.0]),
        metrics.paired_bootstrap([1.0, 2.0], [0.0, 1.5], n_resamples=10, random_state=0),
        metrics.empirical_log_odds(forecast, n_bins=2),
    ):
        read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert set(read) == {field.name for field in dataclasses.fields(result)}
    assert metrics.paired_t_test([-np.inf, 0.0], [-1.0, 0.0]).to_dict()["t"] == "-inf"


def test_measures_serve_as_scikit_learn_scorers():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 2))
    y = (rng.random(200) < 1 / (1 + np.exp(-x[:, 0]))).astype(int)
    scorer = make_scorer(metrics.log_loss, response_method="predict_proba", greater_is_better=False)
    ours = cross_val_score(LogisticRegression(), x, y, scoring=scorer)
    theirs = cross_val_score(LogisticRegression(), x, y, scoring="neg_log_loss")
    assert ours == pytest.approx(theirs)


@pytest.fixture
def toy():
    @metrics.register_measure
    @metrics.measure("mean of P")
    def toy_mean(forecast):
        return float(forecast.total @ (1 / (1 + np.exp(-forecast.scores)))) / float(forecast.total.sum())

    yield toy_mean
    del metrics.MEASURES["toy_mean"]


def test_a_measure_from_outside_is_one_of_ours(toy):
    y, p = [0, 1, 0, 1, 1], np.array([0.1, 0.4, 0.5, 0.8, 0.7])
    assert toy(y, p) == pytest.approx(0.5)
    found = metrics.evaluate(metrics.forecast_from_arrays(y, p), n_resamples=50, random_state=0)
    part = found["measures"]["toy_mean"]
    assert (part["value"], part["definition"]) == (pytest.approx(0.5), "mean of P")
    assert part["interval"]["low"] < 0.5 < part["interval"]["high"]


def test_registering_is_refused(toy):
    with pytest.raises(InvalidInputError, match=r"oddsmith\.metrics\.measure"):
        metrics.register_measure(np.mean)
    with pytest.raises(InvalidInputError, match="unique"):
        metrics.register_measure(metrics.measure()(toy._function))
    assert metrics.register_measure(toy) is toy


@pytest.mark.parametrize("name", FORMER["oddsmith.metrics"])
def test_former_names_say_what_to_use(name):
    with pytest.raises(AttributeError, match=rf"oddsmith.metrics has no '{name}'; use oddsmith.metrics.\w+"):
        getattr(metrics, name)
