"""Scores that are not plausible log-odds: far outliers, ranks, percents, credit scores, raw log-odds of naive Bayes."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

import oddsmith
from oddsmith import (
    AutoCalibrator,
    BetaCalibrator,
    CalibratedClassifier,
    LogisticCalibrator,
    MonotoneLogisticCalibrator,
    PlattCalibrator,
    SplineCalibrator,
    TemperatureCalibrator,
)
from oddsmith.calibrators import METHODS
from oddsmith.data import read_rows
from oddsmith.errors import FarScoreWarning, NegativeSlopeWarning, NonConvergenceWarning
from oddsmith.maps import HeldInputMap
from samples import ours_allowed

#: Methods that fit nothing have nothing that far scores could dominate.
METHOD_NAMES = [cls.__name__ for cls in METHODS.values()]
LEARNERS = [name for name in METHOD_NAMES if getattr(oddsmith, name)._learns]


def with_outliers(rng, n, sides=(-1,)):
    """Return normal scores with true log-odds 1.75 s, and one in ten far away and truly negative."""
    scores = rng.normal(size=n)
    far = np.arange(n) % 10 == 0
    log_odds = np.where(far, -40.0, 1.75 * scores)
    scores[far] = 10 ** rng.uniform(3, 10, far.sum()) * rng.choice(sides, far.sum())
    return scores, (rng.random(n) < expit(log_odds)).astype(int), log_odds


def log_loss(log_odds, y):
    log_odds = np.clip(log_odds, -36.0, 36.0)
    return float(np.mean(np.logaddexp(0, np.where(y == 1, -log_odds, log_odds))))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("sides", [(-1,), (1,), (-1, 1)], ids=["below", "above", "both"])
def test_far_outliers_leave_every_fit_alone_or_are_named(name, sides):
    scores, y, _ = with_outliers(np.random.default_rng(0), 1000, sides)
    new, new_y, truth = with_outliers(np.random.default_rng(1), 20_000, sides)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fitted = getattr(oddsmith, name)().fit(scores, y)
    best = log_loss(truth, new_y)
    assert 0.43 < best < 0.46
    near, new_near = np.abs(scores) < 900, np.abs(new) < 900
    with ours_allowed():
        without = getattr(oddsmith, name)().fit(scores[near], y[near])
    clean = 0.9 * log_loss(without.log_odds(new[new_near]), new_y[new_near])  # what steps that are certain cost anyhow
    named = any(issubclass(one.category, FarScoreWarning) for one in said)
    assert named or log_loss(fitted.log_odds(new), new_y) <= max(best, clean) + 0.023
    assert named == any("far from the others" in text for text in fitted.fit_warnings_)


def test_platt_stays_as_defined_and_names_the_range():
    scores, y, _ = with_outliers(np.random.default_rng(0), 1000)
    with pytest.warns(FarScoreWarning, match=r"dominate the fit: without those beyond -\d\.\d+ … \d\.\d+ the log-loss"):
        fitted = PlattCalibrator().fit(scores, y)
    t = np.where(y == 1, (y.sum() + 1) / (y.sum() + 2), 1 / (len(y) - y.sum() + 2))
    residual = expit(fitted.log_odds(scores)) - t
    assert abs(residual.mean()) < 1e-9
    assert "fitted to" not in repr(fitted)


@pytest.mark.parametrize("name", ["PlattCalibrator", "LogisticCalibrator", "AutoCalibrator", "IsotonicCalibrator"])
@pytest.mark.parametrize("tail", ["normal", "laplace", "log-normal", "t"])
def test_no_false_alarm_where_the_fit_is_right(name, tail):
    rng = np.random.default_rng(2)
    scores = {
        "normal": rng.normal(size=1000),
        "laplace": rng.laplace(size=1000),
        "log-normal": np.exp(rng.normal(size=1000)),
        "t": rng.standard_t(2, 1000),
    }[tail]
    y = (rng.random(1000) < expit(scores - np.median(scores))).astype(int)
    getattr(oddsmith, name)().fit(scores, y)  # warnings are errors


def test_raw_log_odds_of_naive_bayes_keep_the_accuracy():
    X, y = load_digits(return_X_y=True)
    train = np.arange(len(y)) % 2 == 0
    plain = GaussianNB().fit(X[train], y[train]).score(X[~train], y[~train])
    for method, most in (("sigmoid", 0.72), ("logistic", 0.72), ("beta", 0.75), ("auto", 0.72)):
        model = CalibratedClassifier(GaussianNB(), method).fit(X[train], y[train])
        prob = model.predict_proba(X[~train])
        assert model.score(X[~train], y[~train]) > plain - 0.02
        assert -np.mean(np.log(prob[np.arange(len(prob)), y[~train]])) < most
    held = CalibratedClassifier(GaussianNB(), PlattCalibrator()).fit(X[train], y[train]).calibrators_
    assert all(isinstance(each.map_, HeldInputMap) for each in held)
    assert repr(held[0]) == "PlattCalibrator() fitted to log-odds held within ±37"


def known_log_odds(scores, y):
    rows, _ = read_rows(scores, y, None, None)
    return replace(rows, meaning="log_odds")


def test_known_log_odds_that_are_thirty_times_too_large_stay_as_they_are():
    rng = np.random.default_rng(3)
    truth = rng.normal(0, 2, 2000)
    y = (rng.random(2000) < expit(truth)).astype(int)
    known = PlattCalibrator().fit_table(known_log_odds(30 * truth, y))
    assert known.map_ == PlattCalibrator().fit(30 * truth, y).map_
    declared = PlattCalibrator(input="log_odds").fit_table(known_log_odds(1e9 * truth**3, y))
    assert not isinstance(declared.map_, HeldInputMap)


def in_units(unit, z):
    """Return normal scores as ranks, percents, deciles or credit scores."""
    return {
        "ranks": np.argsort(np.argsort(z)) + 1.0,
        "percents": np.clip(np.rint(50 + 15 * z), 0, 100),
        "deciles": np.clip(np.rint(5.5 + 3 * z), 1, 10),
        "credit scores": np.clip(np.rint(600 + 80 * z), 300, 850),
    }[unit]


UNITS = ["ranks", "percents", "deciles", "credit scores"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("n", [100, 300, 1000])
def test_whole_numbers_are_standardized_and_beta_is_at_its_optimum(unit, n):
    rng = np.random.default_rng([n, 1])
    z = rng.normal(size=n)
    scores, y = in_units(unit, z), (rng.random(n) < expit(1.5 * z - 0.7)).astype(int)
    fitted = BetaCalibrator().fit(scores, y)
    assert (fitted.input_, repr(fitted)) == ("standardized", "BetaCalibrator() fitted to standardized scores")
    assert fitted.map_.scale == pytest.approx(np.diff(np.quantile(scores, [0.25, 0.75], method="inverted_cdf"))[0])
    x = (scores - fitted.map_.center) / fitted.map_.scale
    features = np.column_stack([-np.logaddexp(0, -x), np.logaddexp(0, x), np.ones(n)])

    def loss(theta):
        log_odds = features @ theta
        return np.sum(np.logaddexp(0, log_odds) - y * log_odds), features.T @ (expit(log_odds) - y)

    best = minimize(loss, [1.0, 1.0, 0.0], jac=True, bounds=[(0, None)] * 2 + [(None, None)], method="L-BFGS-B")
    assert loss([fitted.a_, fitted.b_, fitted.c_])[0] <= best.fun + 1e-6


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("cls", [AutoCalibrator, BetaCalibrator, TemperatureCalibrator, MonotoneLogisticCalibrator])
def test_whole_numbers_need_no_warning_and_have_neighbors(unit, cls):
    rng = np.random.default_rng(5)
    z = rng.normal(size=200)
    scores, y = in_units(unit, z), (rng.random(200) < expit(1.5 * z)).astype(int)
    fitted = cls().fit(scores, y)  # warnings are errors
    assert fitted.input_ == "standardized"
    ends = fitted.log_odds([scores.min() - 1, scores.min(), scores.max(), scores.max() + 1])
    assert np.all(np.abs(ends) < 8)
    assert np.all(np.abs(np.diff(ends)[[0, 2]]) < 1.2)


@pytest.mark.parametrize("most", [5, 7])
def test_ratings_cost_no_more_than_by_platt_and_have_neighbors(most):
    """Of log-odds of one sign log p is next to 0: read as such, 30 ratings gave P = 1e-19 just below the lowest."""
    losses = {AutoCalibrator: [], BetaCalibrator: [], PlattCalibrator: []}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=5030)
        scores = np.clip(np.rint((1 + most) / 2 + (most - 1) / 4 * z), 1, most)
        y = (rng.random(5030) < expit(1.2 * z - 0.5)).astype(int)
        for cls, found in losses.items():
            with ours_allowed():
                fitted = cls().fit(scores[:30], y[:30])
            found.append(log_loss(fitted.log_odds(scores[30:]), y[30:]))
            assert np.all(np.abs(fitted.log_odds([0.0, most + 1.0])) < 16)
    platt = np.mean(losses[PlattCalibrator])
    assert np.mean(losses[AutoCalibrator]) < platt + 0.003
    assert np.mean(losses[BetaCalibrator]) < platt + 0.015


def test_declared_log_odds_are_used_as_given():
    rng = np.random.default_rng(7)
    z = rng.normal(size=300)
    scores, y = np.rint(40 * z), (rng.random(300) < expit(1.5 * z)).astype(int)
    for cls in (AutoCalibrator, BetaCalibrator, TemperatureCalibrator, SplineCalibrator, MonotoneLogisticCalibrator):
        with ours_allowed():
            assert cls(input="log_odds").fit(scores, y).input_ == "log_odds"


def test_a_wall_of_beta_is_named_and_avoided():
    rng = np.random.default_rng(2)
    z = rng.normal(size=300)
    ranks, y = in_units("ranks", z), (rng.random(300) < expit(1.5 * z - 0.7)).astype(int)
    with pytest.warns(NonConvergenceWarning, match="One slope would be beyond all bounds"):
        fitted = BetaCalibrator(input="log_odds").fit(ranks, y)
    assert fitted.a_ == fitted.b_
    assert fitted.predict_proba([0.0])[0, 1] > 1e-3


def test_a_spline_of_raw_log_odds_has_probabilities():
    rng = np.random.default_rng(8)
    z = rng.normal(0, 2, 900)
    y = (rng.random(900) < expit(z)).astype(int)
    scores = z * 10 ** (9 * rng.beta(2, 2, 900))
    for given in (SplineCalibrator(), SplineCalibrator(input="log_odds")):
        with ours_allowed():
            prob = given.fit(scores, y).predict_proba(scores)[:, 1]
        assert np.all((prob >= 0) & (prob <= 1))


def test_a_few_whole_log_odds_of_both_signs_stay_log_odds():
    scores, y = np.arange(-5.0, 6.0), (np.arange(11) % 3 == 0) | (np.arange(11) > 6)
    with ours_allowed():
        assert TemperatureCalibrator().fit(scores, y).input_ == "log_odds"


@pytest.mark.parametrize("cls", [BetaCalibrator, TemperatureCalibrator, SplineCalibrator])
def test_the_choice_does_not_depend_on_the_order_or_the_form_of_rows(cls):
    rng = np.random.default_rng(9)
    z = rng.normal(0, 2, 400)
    scores, y = z * np.where(rng.random(400) < 0.1, 1e4, 1.0), (rng.random(400) < expit(z)).astype(int)
    order = rng.permutation(400)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FarScoreWarning)
        warnings.simplefilter("ignore", NegativeSlopeWarning)
        fits = [
            cls().fit(scores, y),
            cls().fit(scores[order], y[order]),
            cls().fit(scores, y, np.ones(400)),
            cls().fit_table(oddsmith.ScoreTable.from_arrays(scores, y)),
        ]
    for other in fits[1:]:
        assert other.input_ == fits[0].input_
        np.testing.assert_allclose(other.predict_proba(scores), fits[0].predict_proba(scores), atol=1e-7)


def test_a_constant_of_huge_scores_is_one():
    with ours_allowed():
        fitted = LogisticCalibrator().fit_table(known_log_odds([1e9, 1e9, 1e9], [0, 1, 0]))
    assert fitted.predict_proba([1e9])[0, 1] == pytest.approx(0.4)
