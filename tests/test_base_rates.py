"""Base rates: Elkan's theorem for every shape, weights undone once, and base rates estimated without labels."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit, softmax

from catalogue import variants
from oddsmith import PlattCalibrator, ScoreTable, TemperatureScaling, VectorScaling
from oddsmith.base_rates import base_rates, estimate_prior, shift_prior, undo_weights
from oddsmith.data import ScoreRows
from oddsmith.errors import InvalidInputError, NoInterceptWarning
from oddsmith.maps import ScalingMap, ScalingPart
from oddsmith.model import Model
from samples import THINNED, ours_allowed


def rows_of(n, rate, seed, distance=1.5):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < rate
    return distance * y + rng.normal(size=n), y


def elkan(p, old, new):
    """Return the probability at another base rate, by theorem 2 of Elkan (2001)."""
    return new * (p - p * old) / (old - p * old + new * p - old * new)


def test_shifted_models_follow_elkans_theorem():
    scores, y = rows_of(300, 0.4, 0)
    table, places = ScoreTable.from_arrays(scores, y), np.linspace(-4, 6, 301)
    for calibrator in variants()[::THINNED]:
        with ours_allowed():
            model = Model.from_fitted(calibrator.fit_table(table))
        old = table.prevalence
        for new in (0.02, 0.4, 0.97):
            shifted = shift_prior(model, new)
            assert shifted.labels == model.labels
            expected = elkan(model.probability(places), old, new)
            assert np.abs(shifted.probability(places) - expected).max() <= 1e-12, calibrator
            assert base_rates(shifted) == (1 - new, new)
            assert Model.from_json(shifted.to_json()) == shifted
            back = shift_prior(shifted, old)
            np.testing.assert_allclose(back.probability(places), model.probability(places), atol=1e-12)


def three_classes(n, rates, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=rates)
    return 2 * np.eye(3)[y] + rng.normal(size=(n, 3)), y


def test_several_classes_are_shifted_by_ratios():
    rows, y = three_classes(600, [0.2, 0.3, 0.5], 0)
    model = Model.from_fitted(VectorScaling().fit(rows, np.array(["a", "b", "c"])[y]))
    old = np.bincount(y) / len(y)
    np.testing.assert_allclose(base_rates(model), old)
    shifted = shift_prior(model, {"c": 0.1, "a": 0.6, "b": 0.3})
    odds = model.predict_proba(rows) * [0.6, 0.3, 0.1] / old
    np.testing.assert_allclose(shifted.predict_proba(rows), odds / odds.sum(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_allclose(base_rates(Model.from_json(shifted.to_json())), [0.6, 0.3, 0.1])


def test_segments_are_shifted_by_the_same_log_odds():
    scores, y = rows_of(400, 0.4, 0)
    model, part = (
        Model.from_fitted(PlattCalibrator().fit_table(table), table=table)
        for table in (ScoreTable.from_arrays(scores, y), ScoreTable.from_arrays(scores[:100], y[:100]))
    )
    both = model.with_segments("country", {"at": part})
    shifted = shift_prior(both, 0.1)
    move = logit(0.1) - logit(y.mean())
    for segment in ("at", None):
        difference = shifted.of_segment(segment).map.log_odds(scores) - both.of_segment(segment).map.log_odds(scores)
        np.testing.assert_allclose(difference, move)


def test_weights_of_uncalibrated_scores_are_undone():
    p = np.array([0.001, 0.3, 0.99])
    expected = p / (p + 10 * (1 - p))
    for undone in (
        undo_weights(scale_pos_weight=10),
        undo_weights(class_weight={0: 1, 1: 10}),
        undo_weights(class_weight=[0.5, 5.0]),
        undo_weights(kept=0.1),
        undo_weights(kept={0: 0.1, 1: 1}),
        undo_weights(scale_pos_weight=2, kept=0.2),
    ):
        np.testing.assert_allclose(undone.probability(p), expected, rtol=1e-12)
        assert Model.from_json(undone.to_json()) == undone
    np.testing.assert_allclose(
        undo_weights(scale_pos_weight=10, input="log_odds").probability(logit(p)), expected, rtol=1e-12
    )
    assert undo_weights(kept=0.5, labels=("no", "yes")).labels == ("no", "yes")


def test_calibration_has_undone_weights_already():
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    y = rng.random(20_000) < expit(x - 3)
    weighted = expit(x - 3 + np.log(10))  # what training with scale_pos_weight=10 tends to
    model = Model.from_fitted(PlattCalibrator(input="probability").fit(weighted, y))
    assert model.probability(weighted).mean() == pytest.approx(y.mean(), rel=0.02)
    with pytest.raises(InvalidInputError, match="calibration on unweighted rows has undone already"):
        undo_weights(model, scale_pos_weight=10)
    # A calibrator that was fitted with the weights has not.
    with_weights = PlattCalibrator(input="probability").fit(weighted, y, np.where(y, 10.0, 1.0))
    undone = undo_weights(with_weights, class_weight=[1.0, 10.0])
    assert undone.probability(weighted).mean() == pytest.approx(y.mean(), rel=0.02)


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.3, 0.9, 1.0])
def test_the_estimate_is_the_exact_maximum(rate):
    scores, y = rows_of(1000, 0.4, 1)
    model = Model.from_fitted(PlattCalibrator().fit(scores, y))
    new, _ = rows_of(700, rate, 2)
    found = estimate_prior(model, new).rates[1]
    ratio = np.exp(model.log_odds(new) - logit(y.mean()))

    def likelihood(w):
        return np.log(w * ratio + 1 - w).sum()

    def slope(w):
        return ((ratio - 1) / (w * ratio + 1 - w)).sum()

    if 0 < found < 1:
        assert slope(found - 1e-9) > 0 > slope(found + 1e-9)
    else:
        assert slope(found) * (found - 0.5) >= 0
    for other in np.linspace(0.001, 0.999, 99):
        assert likelihood(other) <= likelihood(found) + 1e-9


def test_two_and_several_classes_agree_and_reach_the_maximum():
    rows, y = three_classes(3000, [0.3, 0.3, 0.4], 0)
    scaling = VectorScaling().fit(rows, y)
    new, truth = three_classes(2000, [0.7, 0.1, 0.2], 1)
    found = np.array(estimate_prior(scaling, new).rates)
    np.testing.assert_allclose(found, np.bincount(truth) / len(truth), atol=0.05)
    logs = Model.from_fitted(scaling).predict_log_proba(new) - np.log(np.bincount(y) / len(y))

    def loss(free):
        weights = log_softmax(np.append(free, 0.0))
        return -np.logaddexp.reduce(logs + weights, axis=1).mean()

    best = minimize(loss, np.zeros(2), tol=1e-14)
    np.testing.assert_allclose(found, softmax(np.append(best.x, 0.0)), atol=1e-5)


def test_intervals_of_several_classes_are_those_of_two():
    # The same map of two classes, once of log-odds and once of logits.
    scores, y = rows_of(800, 0.4, 0)
    two = PlattCalibrator().fit(scores, y)
    slope, intercept = two.log_odds([1.0, 0.0]) @ [[1, 0], [-1, 1]]
    part = ScalingPart("both", "logits", 0.0, np.array(2 * slope), np.array([0.0, intercept]))
    both = replace(Model.from_fitted(two), map=ScalingMap(2, "logits", (part,), np.ones(1), np.zeros(2)))
    new = rows_of(500, 0.1, 1)[0]
    expected, found = estimate_prior(two, new), estimate_prior(both, np.column_stack([-new / 4, new / 4]))
    for name in ("rates", "low", "high"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-6)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("rates", [(0.7, 0.25, 0.05), (0.01, 0.49, 0.5)])
def test_intervals_of_several_classes_cover(rates, known):
    times, covered, width = 40, np.zeros(3), np.zeros(3)
    for seed in range(times):
        rows, y = three_classes(500, [0.2, 0.3, 0.5], [seed, 1])
        labeled = ScoreRows(rows, y, (0, 1, 2), None, ("a", "b", "c"), "log_odds") if known else None
        found = estimate_prior(VectorScaling().fit(rows, y), three_classes(1000, rates, [seed, 2])[0], labeled=labeled)
        low, high = np.array(found.low), np.array(found.high)
        assert np.all((low <= found.rates) & (found.rates <= high))
        covered += (low <= rates) & (rates <= high)
        width += high - low
    assert covered.min() >= times * (0.93 - 3 * np.sqrt(0.93 * 0.07 / times))
    assert width.max() / times < 0.2


def test_classes_that_cannot_be_told_apart_have_wide_intervals():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    rows = 3 * np.eye(3)[np.minimum(y, 1)] + rng.normal(size=(900, 3))  # the last two look alike
    found = estimate_prior(VectorScaling().fit(rows, y), rows[:400])
    assert found.high[0] - found.low[0] < 0.2
    assert min(found.high[1] - found.low[1], found.high[2] - found.low[2]) > 0.3
    assert f"{found.labels[0]}: {found.rates[0]:.4g} ({found.low[0]:.4g} to" in str(found)


def test_certain_rows_decide_among_several_classes():
    scaling = VectorScaling().fit(*three_classes(500, [0.3, 0.3, 0.4], 0))
    found = estimate_prior(scaling, np.repeat([[1e6, 0, 0], [0, 1e6, 0]], 50, axis=0))
    np.testing.assert_allclose(found.rates, [0.5, 0.5, 0.0], atol=1e-9)
    assert 0.3 < found.low[0] < 0.5 < found.high[0] < 0.7
    assert found.low[2] == 0
    one = estimate_prior(scaling, [[0.0, 0.0, 0.0]])
    assert (one.low, one.high) == ((0.0,) * 3, (1.0,) * 3)


def test_scalings_without_intercepts_are_warned_of():
    rows, y = three_classes(600, [0.2, 0.3, 0.5], 0)
    for scaling, biased in ((TemperatureScaling(), True), (VectorScaling(), False)):
        model = Model.from_fitted(scaling.fit(rows, y))
        for one in (model, shift_prior(model, [0.3, 0.3, 0.4])):
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                estimate_prior(one, rows)
            assert [warning.category for warning in found] == [NoInterceptWarning] * biased


def test_certain_rows_decide():
    cal = PlattCalibrator().fit(*rows_of(300, 0.5, 3))
    far = np.full(50, 1e6)
    assert estimate_prior(cal, far).rates == (0.0, 1.0)
    assert estimate_prior(cal, -far).rates == (1.0, 0.0)
    half = estimate_prior(cal, np.append(far, -far))
    assert half.rates[1] == pytest.approx(0.5)
    assert half.low[1] < 0.5 < half.high[1]


@pytest.mark.parametrize("known", [True, False])
def test_intervals_cover_and_the_test_keeps_its_size(known):
    covered = rejected = 0
    times = 60
    for seed in range(times):
        table = ScoreTable.from_arrays(*rows_of(500, 0.4, [seed, 1]))
        cal = PlattCalibrator().fit_table(table)
        labeled = table if known else None
        found = estimate_prior(cal, rows_of(1000, 0.1, [seed, 2])[0], labeled=labeled)
        covered += found.low[1] <= 0.1 <= found.high[1]
        assert found.low[1] <= found.rates[1] <= found.high[1]
        rejected += estimate_prior(cal, rows_of(1000, 0.4, [seed, 3])[0], labeled=labeled).p_no_shift < 0.05
    assert covered >= times * (0.93 - 3 * np.sqrt(0.93 * 0.07 / times))
    assert rejected <= times * (0.055 + 3 * np.sqrt(0.055 * 0.945 / times))


def test_a_shift_is_found_and_shown():
    table = ScoreTable.from_arrays(*rows_of(2000, 0.5, 4))
    found = estimate_prior(PlattCalibrator().fit_table(table), rows_of(5000, 0.1, 5)[0], labeled=table)
    assert found.p_no_shift < 1e-10
    assert "among 5,000 rows" in str(found)
    assert "calibrated for 0.4" in str(found) or "calibrated for 0.5" in str(found)
    assert found.to_dict()["labeled_rows"] == 2000


def test_bad_base_rates_are_refused():
    cal = PlattCalibrator().fit(*rows_of(300, 0.5, 3))
    for rate in (0, 1, -0.1, np.nan):
        with pytest.raises(InvalidInputError, match="to_rate must be"):
            shift_prior(cal, rate)
    with pytest.raises(InvalidInputError, match="to_rate must sum to 1"):
        shift_prior(cal, [0.2, 0.3])
    with pytest.raises(InvalidInputError, match="must name the classes"):
        shift_prior(cal, {"yes": 0.2, "no": 0.8})
    with pytest.raises(InvalidInputError, match="must have 2 values"):
        shift_prior(cal, [0.2, 0.3, 0.5])
    with pytest.raises(InvalidInputError, match="a model without data"):
        shift_prior(undo_weights(kept=0.5), 0.2)
    with pytest.raises(InvalidInputError, match="one of scale_pos_weight, class_weight and kept"):
        undo_weights()
    with pytest.raises(InvalidInputError, match="class_weight='balanced'"):
        undo_weights(class_weight="balanced")
    with pytest.raises(InvalidInputError, match="kept must be finite and > 0"):
        undo_weights(kept=0)
    with pytest.raises(InvalidInputError, match="rows of both classes"):
        estimate_prior(cal, [0.1], labeled=ScoreTable.from_arrays([0.1, 0.2], [1, 1]))
    scaling = VectorScaling().fit(*three_classes(300, [0.2, 0.3, 0.5], 0))
    rows = ScoreRows(np.zeros((2, 3)), np.array([0, 1]), (0, 1, 2), None, ("a", "b", "c"), "log_odds")
    with pytest.raises(InvalidInputError, match="rows of every class"):
        estimate_prior(scaling, rows.values, labeled=rows)
    with pytest.raises(InvalidInputError, match="must be the ScoreRows"):
        estimate_prior(scaling, rows.values, labeled=ScoreTable.from_arrays([0.1, 0.2], [1, 0]))
    with pytest.raises(InvalidInputError, match="must be a ScoreTable"):
        estimate_prior(cal, [0.1], labeled=rows)
    model = Model.from_fitted(cal)
    with pytest.raises(InvalidInputError, match="of_segment"):
        estimate_prior(model.with_segments("country", {"at": model}), [0.1])


@pytest.mark.parametrize("distance", [3.0, 4.0, 6.0])
def test_intervals_of_classes_far_apart_are_short_and_cover(distance):
    # The variance of the score statistic at rates near 0 and 1 is that of a few rows, and accepts them again.
    times, covered, width = 40, 0, 0.0
    for seed in range(times):
        table = ScoreTable.from_arrays(*rows_of(500, 0.3, [seed, 1], distance))
        with ours_allowed():  # some samples are separable
            cal = PlattCalibrator().fit_table(table)
        found = estimate_prior(cal, rows_of(1000, 0.5, [seed, 2], distance)[0], labeled=table)
        covered += found.low[1] <= 0.5 <= found.high[1]
        width = max(width, found.high[1] - found.low[1])
    assert covered >= times * (0.93 - 3 * np.sqrt(0.93 * 0.07 / times))
    assert width < 0.12


def test_rows_that_say_nothing_reject_nothing():
    scores, y = rows_of(300, 0.4, 5)
    cal = PlattCalibrator().fit(scores, y)
    for new in ([0.3], [0.3, 0.3], [-40.0]):
        for labeled in (None, ScoreTable.from_arrays(scores, y)):
            found = estimate_prior(cal, new, labeled=labeled)
            assert (found.low[1], found.high[1]) == (0, 1) or labeled is not None
            assert found.p_no_shift > 0.05
