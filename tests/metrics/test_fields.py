"""Measures by the names of fields equal what packages of those fields, or formulas written out, give."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import chi2, ks_2samp
from sklearn.metrics import (
    brier_score_loss,
    d2_brier_score,
    d2_log_loss_score,
    log_loss,
    roc_auc_score,
    roc_curve,
)

from oddsmith import LogisticCalibrator, metrics
from oddsmith.audit import audit
from oddsmith.errors import InvalidInputError
from oddsmith.metrics.slope import recalibration_line
from oddsmith.metrics.smoothers import lowess
from oddsmith.model import Model

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def r():
    """What clinical.R printed: numbers by name."""
    with (GOLDEN / "clinical.csv").open(newline="") as file:
        return {row["name"]: row["value"] for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def rows():
    """The rows of clinical.R: labels and two forecasts."""
    i = np.arange(1, 301)
    odds = np.round(4 * np.sin(i * 1.7) * np.cos(i * 0.31) - 1.2, 4)

    def inverse(x):
        return 1 / (1 + np.exp(-x))

    p, q = np.round(inverse(odds), 6), np.round(inverse(0.5 * odds + 0.8 * np.sin(i * 0.9) + 0.3), 6)
    return (inverse(0.7 * odds - 0.3) > (i * 0.6180339887) % 1).astype(int), p, q


def test_the_rows_are_those_of_r(r, rows):
    y, p, q = rows
    for k in range(1, 301, 13):
        assert [float(each) for each in r[f"row_{k}"].split()] == [p[k - 1], q[k - 1], y[k - 1]]


def test_val_prob_of_rms(r, rows):
    y, p, _ = rows
    index = metrics.integrated_calibration_index
    ours = {
        "C (ROC)": metrics.roc_auc(y, p),
        "Dxy": metrics.gini(y, p),
        "Brier": metrics.squared_error(y, p),
        "Slope": metrics.calibration_slope(y, p),
        "S:z": metrics.spiegelhalter_test(y, p).value,
        "S:p": metrics.spiegelhalter_test(y, p).p_value,
        "Eavg": index(y, p, smoother="lowess"),
        "Emax": index(y, p, smoother="lowess", statistic="emax"),
    }
    for name, value in ours.items():
        assert value == pytest.approx(float(r[name]), abs=1e-6), name
    assert index(y, p, smoother="lowess", statistic="e90") == pytest.approx(float(r["E90"]), abs=1e-9)
    # Discrimination is that of the forecast as it is, unreliability what the logistic recalibration gains.
    slope, intercept = recalibration_line(metrics.forecast_from_arrays(y, p))
    recalibrated = expit(slope * logit(p) + intercept)
    likelihood_ratio = 2 * 300 * (log_loss(y, np.full(300, y.mean())) - log_loss(y, p))
    unreliability = 2 * 300 * (log_loss(y, p) - log_loss(y, recalibrated))
    ours = {
        "Intercept": intercept,
        "R2": metrics.nagelkerke_r2(y, p),
        "D": (likelihood_ratio - 1) / 300,
        "D:Chi-sq": likelihood_ratio,
        "U": (unreliability - 2) / 300,
        "U:Chi-sq": unreliability,
        "U:p": chi2.sf(unreliability, 2),
        "Q": (likelihood_ratio - unreliability + 1) / 300,
    }
    for name, value in ours.items():
        assert value == pytest.approx(float(r[name]), abs=1e-6), name


def test_loess_and_splines_are_those_of_r(r, rows):
    y, p, _ = rows
    for name, smoother, forecast in (("loess", "loess", p), ("spline", "spline", p), ("tied", "loess", p.round(2))):
        for statistic in ("ici", "e50", "e90", "emax"):
            ours = metrics.integrated_calibration_index(y, forecast, smoother=smoother, statistic=statistic)
            assert ours == pytest.approx(float(r[f"{name}_{statistic}"]), abs=1e-9), (name, statistic)


@pytest.mark.parametrize("smoother", ["loess", "spline"])
def test_smoothers_of_counts_and_of_few_values(smoother, rows):
    y, p, _ = rows
    weight = np.random.default_rng(0).integers(0, 4, 300)
    again = np.repeat(np.arange(300), weight)
    index = metrics.integrated_calibration_index
    assert index(y, p, weight, smoother=smoother) == pytest.approx(index(y[again], p[again], smoother=smoother))
    assert index(y, p, np.full(300, 0.2), smoother=smoother) == pytest.approx(index(y, p, smoother=smoother), abs=0.01)
    for few in ([0.3] * 6, [0.2, 0.2, 0.2, 0.8, 0.8, 0.8], [0.1, 0.1, 0.4, 0.4, 0.9, 0.9]):
        assert 0 <= index([0, 1, 0, 1, 1, 0], few, smoother=smoother) <= 1
    assert 0 <= index([0, 1, 0, 1, 1, 0], [0.0, 0.4, 0.2, 0.4, 1.0, 0.3], smoother=smoother) <= 1


def test_numbers_of_python_packages(rows):
    y, p, _ = rows
    peers = json.loads((GOLDEN / "fields.json").read_text())
    assert metrics.log_likelihood_ratio_cost(y, p) == pytest.approx(peers["cllr"], abs=1e-10)
    assert metrics.min_log_likelihood_ratio_cost(y, p) == pytest.approx(peers["cllr_min"], abs=1e-10)
    curve = metrics.murphy_curve(y, p, thresholds=peers["elementary"]["at"])
    # Its elementary score has no factor of 2.
    np.testing.assert_allclose(curve.score / 2, peers["elementary"]["score"], atol=1e-12)
    for score in ("squared", "log"):
        parts = metrics.decompose(y, p, score=score)
        for name, value in peers[score].items():
            assert getattr(parts, name) == pytest.approx(value, abs=1e-8)
    walk = metrics.cumulative_calibration(y, p)
    assert walk.ecce_range == pytest.approx(peers["mcgrad"]["global_ecce"], abs=1e-12)
    assert walk.ecce_range / walk.deviation == pytest.approx(peers["mcgrad"]["global_ecce_sigma"], abs=1e-9)
    frame = pd.DataFrame({"p": p, "y": y, "a": np.arange(1, 301) % 3, "b": np.arange(1, 301) % 2})
    found = audit(frame, ["a", "b"], probability="p", label="y", resolution=None)
    assert found.multicalibration_error == pytest.approx(peers["mcgrad"]["mce"], abs=1e-9)
    assert found.multicalibration_sigma == pytest.approx(peers["mcgrad"]["mce_sigma"], abs=1e-9)
    assert found.multicalibration_p_value == pytest.approx(peers["mcgrad"]["mce_pvalue"], abs=1e-6)


def test_skill_scores_of_scikit_learn(rows):
    y, p, _ = rows
    assert metrics.brier_skill_score(y, p) == pytest.approx(d2_brier_score(y, p))
    assert metrics.normalized_entropy(y, p) == pytest.approx(1 - d2_log_loss_score(y, p))


def test_the_murphy_curve_is_the_integrand_of_the_brier_score(rows):
    y, p, _ = rows
    at = (np.arange(20_000) + 0.5) / 20_000
    curve = metrics.murphy_curve(y, p, thresholds=at)
    parts = metrics.decompose(y, p, score="squared")
    assert curve.score.mean() == pytest.approx(parts.score, abs=1e-5)
    assert curve.recalibrated.mean() == pytest.approx(parts.score - parts.miscalibration, abs=1e-5)
    assert curve.base_rate.mean() == pytest.approx(parts.uncertainty, abs=1e-5)
    assert (curve.recalibrated <= np.minimum(curve.score, curve.base_rate) + 1e-12).all()
    with pytest.raises(InvalidInputError, match="thresholds must lie in"):
        metrics.murphy_curve(y, p, thresholds=[1.2])


def test_cumulative_differences_by_hand(rows):
    y, p, _ = rows
    weight = np.random.default_rng(0).integers(0, 4, 300)
    again = np.repeat(np.arange(300), weight)
    order = np.argsort(p[again], kind="stable")
    by_hand = np.cumsum((y[again] - p[again])[order]) / len(again)
    walk = metrics.cumulative_calibration(y, p, weight)
    last = np.append(np.flatnonzero(np.diff(p[again][order])), len(again) - 1)
    np.testing.assert_allclose(walk.difference[1:], by_hand[last], atol=1e-12)
    assert walk.deviation == pytest.approx(np.sqrt((p[again] * (1 - p[again])).sum()) / len(again))
    assert walk.reach / walk.deviation == pytest.approx(2.2414, abs=1e-4)


def test_delong_of_proc(r, rows):
    y, p, q = rows
    test = metrics.delong_test(y, p, q)
    assert test.areas == pytest.approx((float(r["auc_p"]), float(r["auc_q"])), abs=1e-12)
    assert test.z == pytest.approx(float(r["delong_z"]), abs=1e-9)
    assert test.p_value == pytest.approx(float(r["delong_p"]), abs=1e-9)


def test_delong_of_equal_and_certain_forecasts():
    y = [0, 0, 1, 1]
    same = metrics.delong_test(y, [0.1, 0.2, 0.2, 0.4], [0.1, 0.2, 0.2, 0.4])
    assert (same.z, same.p_value) == (0, 1)
    sure = metrics.delong_test(y, [0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1])
    assert (sure.z, sure.p_value) == (np.inf, 0)
    with pytest.raises(InvalidInputError, match="two cases of each class"):
        metrics.delong_test([0, 1, 1], [0.1, 0.2, 0.3], [0.1, 0.2, 0.3])


def test_formulas(rows):
    y, p, _ = rows
    share, entropy = y.mean(), log_loss(y, np.full(300, y.mean()))
    gain = 2 * 300 * (entropy - log_loss(y, p))
    assert metrics.brier_skill_score(y, p) == pytest.approx(1 - brier_score_loss(y, p) / (share * (1 - share)))
    assert metrics.normalized_entropy(y, p) == pytest.approx(log_loss(y, p) / entropy)
    nagelkerke = (1 - np.exp(-gain / 300)) / (1 - np.exp(-2 * entropy))
    assert metrics.nagelkerke_r2(y, p) == pytest.approx(nagelkerke)
    assert metrics.predicted_observed_ratio(y, p) == pytest.approx(p.sum() / y.sum())
    assert metrics.gini(y, p) == pytest.approx(2 * roc_auc_score(y, p) - 1)
    assert metrics.ks_separation(y, p) == pytest.approx(ks_2samp(p[y == 1], p[y == 0]).statistic)
    ratio = p / (1 - p) / (share / (1 - share))
    cost = (np.log2(1 + 1 / ratio[y == 1]).mean() + np.log2(1 + ratio[y == 0]).mean()) / 2
    assert metrics.log_likelihood_ratio_cost(y, p) == pytest.approx(cost)
    ratio = p / (1 - p) / (0.2 / 0.8)
    cost = (np.log2(1 + 1 / ratio[y == 1]).mean() + np.log2(1 + ratio[y == 0]).mean()) / 2
    assert metrics.log_likelihood_ratio_cost(y, p, prior=0.2) == pytest.approx(cost)


def test_the_equal_error_rate_lies_on_the_hull_of_the_roc_curve(rows):
    y, p, _ = rows
    alarm, hit, _ = roc_curve(y, p, drop_intermediate=False)
    weights = np.linspace(0, 1, 100_001)
    # The hull in the direction (w, 1 − w): least of w·alarm + (1 − w)·miss; its maximum over w is the rate.
    least = np.min(np.outer(weights, alarm) + np.outer(1 - weights, 1 - hit), axis=1)
    assert metrics.equal_error_rate(y, p) == pytest.approx(least.max(), abs=1e-5)


@given(st.integers(0, 10_000))
def test_the_least_cost_is_that_of_the_best_rising_ratio(seed):
    rng = np.random.default_rng(seed)
    y = np.r_[0, 1, rng.integers(0, 2, 12)]
    p = rng.choice([0.1, 0.3, 0.35, 0.6, 0.9], 14)
    least = metrics.min_log_likelihood_ratio_cost(y, p)
    assert 0 <= least <= 1 + 1e-12
    assert least <= metrics.log_likelihood_ratio_cost(y, p) + 1e-12
    for slope in (0.0, 0.5, 1.0, 2.0):  # no rising map is better
        odds = slope * np.log(p / (1 - p)) + rng.normal()
        assert least <= metrics.log_likelihood_ratio_cost(y, 1 / (1 + np.exp(-odds))) + 1e-12


def test_counts_are_rows_repeated(rows):
    y, p, _ = rows
    weight = np.random.default_rng(0).integers(0, 4, 300)
    again = np.repeat(np.arange(300), weight)
    for name in ("brier_skill_score", "nagelkerke_r2", "ks_separation", "equal_error_rate", "gini"):
        measure = getattr(metrics, name)
        assert measure(y, p, weight) == pytest.approx(measure(y[again], p[again]), abs=1e-12)
    x, at = np.unique(p[again], return_inverse=True)
    count, ones = np.bincount(at), np.bincount(at, y[again])
    curve = lowess(x, ones / count, count)
    assert lowess(x, ones / count, count.astype(float)) == pytest.approx(curve, abs=1e-12)


@pytest.mark.parametrize(("x", "y"), [([0.3], [1.0]), ([0.2, 0.8], [0.0, 1.0]), ([0.1, 0.1 + 1e-12, 0.9], [0, 1, 1])])
def test_lowess_of_few_values(x, y):
    curve = lowess(np.array(x), np.array(y, dtype=float), np.ones(len(x), int))
    assert np.isfinite(curve).all()


@pytest.mark.parametrize("name", ["gini", "ks_separation", "equal_error_rate", "normalized_entropy", "nagelkerke_r2"])
def test_one_class_alone_is_refused(name):
    with pytest.raises(InvalidInputError, match="both classes must be present"):
        getattr(metrics, name)([1, 1], [0.2, 0.6])


def test_likelihood_ratios_are_odds_without_the_share_of_positives(rows):
    y, p, _ = rows
    model = Model.from_fitted(LogisticCalibrator().fit(logit(p), y))
    ratio = model.log_likelihood_ratio(logit(p))
    np.testing.assert_allclose(ratio, model.log_odds(logit(p)) - logit(y.mean()))
    np.testing.assert_allclose(ratio, model.shifted(-logit(y.mean())).log_odds(logit(p)), atol=1e-12)
    cost = (np.log2(1 + np.exp(-ratio[y == 1])).mean() + np.log2(1 + np.exp(ratio[y == 0])).mean()) / 2
    assert metrics.log_likelihood_ratio_cost(y, model.probability(logit(p))) == pytest.approx(cost)
    assert model.log_likelihood_ratio([0.3], prior=0.5) == model.log_odds([0.3])
    for prior, message in ((0.0, "prior must be"), (1.0, "prior must be below 1")):
        with pytest.raises(InvalidInputError, match=message):
            model.log_likelihood_ratio([0.3], prior=prior)
    with pytest.raises(InvalidInputError, match="prior must be known"):
        Model("x", {}, model.map, model.labels, None).log_likelihood_ratio([0.3])
