"""Calibrators that read scores within [0, 1] as probabilities say so, and refuse a later score that is none."""

import numpy as np
import pytest

import oddsmith
from oddsmith import HistogramCalibrator
from oddsmith.calibrators._log_odds_input import UnitCalibrator
from oddsmith.errors import InvalidInputError
from oddsmith.export import to_python
from oddsmith.formula import evaluate
from samples import ours_allowed

READERS = [
    getattr(oddsmith, name)()
    for name in oddsmith.calibrators.__all__
    if issubclass(getattr(oddsmith, name), UnitCalibrator) and name != "HistogramCalibrator"
] + [HistogramCalibrator(bins="width")]


@pytest.fixture(params=READERS, ids=lambda calibrator: type(calibrator).__name__)
def fitted(request):
    rng = np.random.default_rng(0)
    prob = rng.beta(0.5, 1.5, 400)
    with ours_allowed():
        return request.param.fit(prob, (rng.random(400) < prob**1.5).astype(int))


def test_the_reading_is_said(fitted):
    assert fitted.input_ == "probability"
    assert repr(fitted).endswith("fitted to probabilities")


@pytest.mark.parametrize("score", [-0.01, 1.01, -1e-5, 1 + 1e-5, 7.0, -1e300])
def test_a_later_score_that_is_no_probability_is_refused(fitted, score):
    for method in (fitted.predict_proba, fitted.log_odds, fitted.predict, fitted.transform):
        with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\].*input=\"log_odds\""):
            method([0.5, score])
    for formula in (fitted.map_.probability_formula(), fitted.map_.log_odds_formula()):
        value = evaluate(formula, np.array([0.5, score]))
        assert np.isfinite(value[0])
        assert np.isnan(value[1])


def test_exported_code_returns_nan_there(fitted):
    scope = {}
    exec(to_python(fitted), scope)
    probability = next(value for name, value in scope.items() if callable(value) and not name.startswith("_"))
    assert np.isnan(probability(1.5))
    assert probability(0.5) == pytest.approx(fitted.predict_proba([0.5])[0, 1], abs=1e-12)


@pytest.mark.parametrize("slip", [-1e-7, 1 + 1e-7])
def test_rounding_is_taken_for_0_or_1(fitted, slip):
    assert fitted.log_odds([slip]) == pytest.approx(fitted.log_odds([np.round(slip)]))


def test_log_odds_have_no_limits():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=200)
    y = (rng.random(200) < 0.5 + 0.4 * np.tanh(scores)).astype(int)
    for calibrator in READERS:
        with ours_allowed():
            fitted = calibrator.fit(scores, y)
        assert fitted.input_ == "log_odds"
        assert repr(fitted).endswith("fitted to log-odds")
        assert np.isfinite(fitted.predict_proba([-1e6, 1e6])).all()
