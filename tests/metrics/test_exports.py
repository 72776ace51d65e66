"""What the package exports, and what holds for every measure."""

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


def test_twins_serve_as_scikit_learn_scorers():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 2))
    y = (rng.random(200) < 1 / (1 + np.exp(-x[:, 0]))).astype(int)
    scorer = make_scorer(metrics.log_loss.from_arrays, response_method="predict_proba", greater_is_better=False)
    ours = cross_val_score(LogisticRegression(), x, y, scoring=scorer)
    theirs = cross_val_score(LogisticRegression(), x, y, scoring="neg_log_loss")
    assert ours == pytest.approx(theirs)
