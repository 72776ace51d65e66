"""The blend for several classes: what it promises about calibration, order, decisions, files and odd input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

from oddsmith import (
    AutoScaling,
    CalibratedClassifier,
    IsotonicCalibrator,
    MatrixScaling,
    PlattCalibrator,
    TemperatureScaling,
    VectorScaling,
    load,
)
from oddsmith.calibrators import _sorted_cases, auto_scaling
from oddsmith.calibrators._recenter import level_classes
from oddsmith.calibrators.registry import fit_method
from oddsmith.data.score_rows import ScoreRows
from oddsmith.errors import InvalidInputError, ReversedScoreWarning, SeparableWarning
from samples import examples, ours_allowed

seeds = st.integers(0, 2**32 - 1)
quick = examples(15)


def sample(n=400, k=4, seed=0, sharpness=2.0, bias=1.0):
    """Draw over-confident logits whose classes are biased, every class present twice."""
    rng = np.random.default_rng(seed)
    truth = 2 * rng.normal(size=(n, k)) + bias * rng.normal(size=k)
    y = np.argmax(truth + rng.gumbel(size=(n, k)), axis=1)
    y[: 2 * k] = np.tile(np.arange(k), 2)
    return sharpness * (truth + 0.5 * rng.normal(size=(n, k))), y


def loss(prob, y):
    return -np.log(prob[np.arange(len(y)), y]).mean()


def excess(prob, y, weight):
    """Return |Σw(P − Y)| of each class in standard errors."""
    off = weight @ (prob - np.eye(prob.shape[1])[y])
    return np.abs(off) / np.sqrt(weight @ (prob * (1 - prob)))


@quick
@given(seeds, st.integers(2, 12), st.integers(10, 400), st.floats(0.2, 5), st.floats(0, 3))
def test_sums_of_forecasts_are_those_of_each_class(seed, k, per_class, sharpness, bias):
    """Two standard errors are left with fewer than 200 cases per class: frequencies are then mostly chance."""
    logits, y = sample(max(per_class * k // 2, 2 * k), k, seed, sharpness, bias)
    weight = np.random.default_rng(seed).integers(1, 4, len(y))
    fitted = AutoScaling().fit(logits, y, sample_weight=weight)
    few = weight.sum() < 200 * k
    assert excess(fitted.predict_proba(logits), y, weight).max() <= (2.0 if few else 0.5)


def test_a_class_whose_forecasts_are_right_in_the_large_is_not_moved():
    prob = np.full((2, 100), 0.5)
    both = np.array([True, True])
    assert_allclose(level_classes(prob, np.ones(100), np.array([51.0, 49.0]), both, 0.5), 0)
    assert_allclose(level_classes(prob, np.ones(100), np.array([55.0, 45.0]), both, 2.0), 0)
    for freedom, share in ((0.5, 0.7 - 0.025), (2.0, 0.7 - 0.1)):  # a standard error is about 5 cases
        shift = level_classes(prob, np.ones(100), np.array([70.0, 30.0]), both, freedom)
        assert_allclose(softmax(shift)[0], share, atol=0.01)


@pytest.mark.parametrize(("bias", "gain"), [(0.0, -0.002), (0.7, 0.001)])
def test_with_few_cases_per_class_close_sums_get_the_weight_that_they_earn(bias, gain, monkeypatch):
    """Mean expected losses of twelve samples; ``python -m benchmarks.few_cases`` takes hundreds."""
    losses = []
    for seed in range(12):
        rng = np.random.default_rng([seed, 7])
        logits = 3 * rng.normal(size=(1100, 3))
        y, truth = np.argmax(logits / 2 + rng.gumbel(size=logits.shape), axis=1), softmax(logits[100:] / 2, axis=1)
        logits = logits + 2 * bias * rng.normal(size=3)
        fits = []
        for evidence in (np.inf, auto_scaling._EVIDENCE_OF_BIAS):
            with monkeypatch.context() as patch, ours_allowed():
                patch.setattr(auto_scaling, "_EVIDENCE_OF_BIAS", evidence)
                fits.append(AutoScaling(classes=range(3)).fit(logits[:100], y[:100]))
        losses.append([-(truth * fit.predict_log_proba(logits[100:])).sum(axis=1).mean() for fit in fits])
    loose, ours = np.mean(losses, axis=0)
    assert loose - ours >= gain


@pytest.mark.parametrize("split", range(2))
def test_logits_that_one_temperature_wants_clipped_are_read_as_they_are_too(split, monkeypatch):
    """Raw log-odds of naive Bayes: one number needs them clipped, a matrix finds more in them as they are."""
    X, y = load_digits(return_X_y=True)
    trained, own, other = np.split(np.random.default_rng(split).permutation(len(y)), [300, 1300])
    logits = GaussianNB().fit(X[trained], y[trained]).predict_joint_log_proba(X)
    readings = auto_scaling._readings
    losses = []
    for alone in ("clipped", "as they are", None):

        def chosen(cases, read, alone=alone):
            clipped, as_they_are, *softened = readings(cases, read)
            assert (clipped.clips, as_they_are.clips) == (True, False)
            each = {"clipped": [clipped, *softened], "as they are": [as_they_are._replace(suffix="")]}
            return each.get(alone, [clipped, as_they_are, *softened])

        monkeypatch.setattr(auto_scaling, "_readings", chosen)
        fitted = AutoScaling().fit(logits[own], y[own])
        losses.append(loss(fitted.predict_proba(logits[other]), y[other]))
    assert any("unclipped" in name for name in fitted.weights_)
    assert losses[2] < min(losses[:2])


@pytest.mark.parametrize(("n", "k", "bound"), [(30, 3, 0.025), (100, 3, 0.015), (100, 10, 0.015)])
def test_where_temperature_is_exactly_right_little_is_lost(n, k, bound):
    """Means over twelve samples of the expected loss; ``python -m benchmarks.few_cases`` takes hundreds."""
    losses = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        logits = 3 * rng.normal(size=(n + 1000, k))
        y = np.argmax(logits / 2 + rng.gumbel(size=logits.shape), axis=1)
        truth = softmax(logits[n:] / 2, axis=1)
        with ours_allowed():
            fits = [method(classes=range(k)).fit(logits[:n], y[:n]) for method in (TemperatureScaling, AutoScaling)]
        losses.append([-(truth * fit.predict_log_proba(logits[n:])).sum(axis=1).mean() for fit in fits])
    tempered, ours = np.mean(losses, axis=0)
    assert ours <= (1 + bound) * tempered


@quick
@given(seeds, st.permutations(range(4)))
def test_neither_the_order_of_rows_nor_that_of_classes_matters(seed, order):
    logits, y = sample(200, seed=seed)
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 3, size=len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), counts))
    expected = AutoScaling().fit(logits, y, sample_weight=counts).predict_proba(logits)
    mixed = AutoScaling(classes=order).fit(logits[rows][:, order], y[rows])
    assert_allclose(mixed.predict_proba(logits[:, order]), expected[:, order], atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [500, 2000])
def test_it_is_never_clearly_worse_than_temperature_scaling(n, seed):
    """Logits that one temperature puts right leave nothing else to find."""
    rng = np.random.default_rng(seed)
    logits = 3 * rng.normal(size=(n + 20_000, 5))
    y = np.argmax(logits / 2 + rng.gumbel(size=logits.shape), axis=1)
    ours, tempered = (
        loss(method().fit(logits[:n], y[:n]).predict_proba(logits[n:]), y[n:])
        for method in (AutoScaling, TemperatureScaling)
    )
    assert ours <= tempered + max(0.002, 1.5 * 5 / n)


@pytest.mark.parametrize("unit", [300.0, 1e4, 1e9])
@pytest.mark.parametrize("mask", [None, -1e30, -np.inf])
def test_margins_in_any_unit_are_scaled_as_well_as_by_temperature(unit, mask, tmp_path):
    """Margins of a perceptron are 1e4: logs of probabilities that end at −700 made 0 and 1 of them all."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(4400, 5))
    gone = (rng.random(truth.shape) < 0.2) & (np.arange(5) > 0)
    log_odds = truth if mask is None else np.where(gone, -np.inf, truth)
    logits = unit * truth if mask is None else np.where(gone, mask, unit * truth)
    y = np.argmax(log_odds + rng.gumbel(size=truth.shape), axis=1)
    fitted = AutoScaling(classes=range(5)).fit(logits[:400], y[:400])
    tempered = TemperatureScaling(classes=range(5)).fit(logits[:400], y[:400]).predict_proba(logits[400:])
    prob = fitted.predict_proba(logits[400:])
    assert loss(prob, y[400:]) < loss(tempered, y[400:]) + 0.01
    assert np.all(prob[~np.isfinite(logits[400:])] == 0)
    fitted.save(tmp_path / "m.json")
    assert_allclose(load(tmp_path / "m.json").predict_proba(logits[400:]), prob, rtol=1e-12)


def test_confused_and_biased_classes_are_told_apart():
    logits, y = sample(4000, 6, seed=1, bias=2.0)
    mix = np.eye(6) + 0.4 * np.random.default_rng(0).normal(size=(6, 6))
    logits = logits @ mix
    losses = {
        method.__name__: loss(method().fit(logits[:2000], y[:2000]).predict_proba(logits[2000:]), y[2000:])
        for method in (AutoScaling, TemperatureScaling, VectorScaling, MatrixScaling)
    }
    assert losses["AutoScaling"] <= min(losses.values()) + 0.002
    assert losses["AutoScaling"] < losses["TemperatureScaling"] - 0.05


@quick
@given(seeds, st.integers(2, 6))
def test_the_top_class_may_be_kept(seed, k):
    logits, y = sample(120, k, seed)
    fitted = AutoScaling(accuracy="keep").fit(logits, y)
    assert np.array_equal(fitted.predict(logits), logits.argmax(axis=1))
    assert {name.split(",")[0].split(" ")[0] for name in fitted.weights_} <= {"temperature", "uniform"}


def test_decisions_may_change_by_default():
    logits, y = sample(2000, 4, bias=3.0)
    logits[:, 0] += 5
    fitted = AutoScaling().fit(logits, y)
    assert np.mean(fitted.predict(logits) == y) > np.mean(logits.argmax(axis=1) == y) + 0.02


class TestMissingClasses:
    def test_they_get_what_the_others_leave_them_and_the_verdict_says_so(self):
        logits, y = sample(600, 5, bias=0.0)
        kept = (y != 2) & (y != 4)
        fitted = AutoScaling(classes=range(5)).fit(logits[kept], y[kept])
        prob = fitted.predict_proba(logits)
        assert "No case is of class 2, 4: its probability follows from its logit" in fitted.verdict_
        assert np.isfinite(fitted.predict_log_proba(logits)).all()
        assert 0.001 < prob[:, 2].mean() < 0.1
        assert prob[y == 2, 2].mean() > 5 * prob[y != 2, 2].mean()
        assert excess(prob[kept], y[kept], np.ones(kept.sum()))[[0, 1, 3]].max() <= 0.5

    def test_a_class_of_one_case(self):
        logits, y = sample(100, 3)
        y[y == 2] = 1
        y[0] = 2
        assert np.isfinite(AutoScaling().fit(logits, y).predict_log_proba(logits)).all()

    @pytest.mark.parametrize("n", [1, 2, 3, 5])
    def test_a_handful_of_cases(self, n):
        with ours_allowed():
            fitted = AutoScaling(classes=range(3)).fit(np.eye(3)[np.arange(n) % 3], np.arange(n) % 3)
        assert np.isfinite(fitted.predict_log_proba(np.eye(3))).all()


class TestInput:
    def test_probabilities_are_recognized_and_said(self):
        logits, y = sample()
        prob = softmax(logits, axis=1)
        fitted = AutoScaling().fit(prob, y)
        assert fitted.input_ == "probabilities"
        assert repr(fitted) == "AutoScaling() fitted to probabilities"
        expected = AutoScaling(input="logits").fit(log_softmax(logits, axis=1), y)
        assert repr(expected) == "AutoScaling(input='logits') fitted to logits"
        assert_allclose(fitted.predict_proba(prob), expected.predict_proba(logits), atol=1e-6)

    def test_float32_probabilities_and_zeros(self):
        logits, y = sample(sharpness=20.0)
        prob = softmax(logits, axis=1).astype(np.float32)
        assert (prob == 0).any()
        fitted = AutoScaling().fit(prob, y)
        assert fitted.input_ == "probabilities"
        assert np.isfinite(fitted.predict_log_proba(prob)).all()

    def test_logits_that_are_no_probabilities(self):
        logits, y = sample()
        assert AutoScaling().fit(np.abs(logits), y).input_ == "logits"

    def test_what_was_fitted_to_probabilities_refuses_logits(self):
        logits, y = sample()
        fitted = AutoScaling().fit(softmax(logits, axis=1), y)
        with pytest.raises(InvalidInputError, match="finite and in \\[0, 1\\]"):
            fitted.predict_proba(logits)
        with pytest.raises(InvalidInputError, match="rows of prob must sum to 1"):
            AutoScaling(input="probabilities").fit(softmax(logits, axis=1) / 2, y)
        with pytest.raises(InvalidInputError, match="input must be one of 'auto', 'logits', 'probabilities'"):
            AutoScaling(input="odds").fit(logits, y)

    def test_one_column_of_probabilities(self):
        logits, y = sample(200, 2)
        prob = softmax(logits, axis=1)
        one, two = (TemperatureScaling(input="probabilities").fit(each, y) for each in (prob[:, 1], prob))
        assert_allclose(one.predict_proba(prob[:, 1]), two.predict_proba(prob), atol=1e-9)

    def test_tensors_are_taken_out_of_their_graph(self):
        class Tensor:
            def __init__(self, values, ready=False):
                self.values, self.ready = values, ready

            def detach(self):
                return Tensor(self.values)

            def cpu(self):
                return Tensor(self.values, ready=True)

            def __array__(self, dtype=None, copy=None):
                if not self.ready:
                    raise RuntimeError("this tensor requires grad and lies elsewhere")
                return np.asarray(self.values, dtype=dtype)

        logits, y = sample(100)
        expected = AutoScaling().fit(logits, y).predict_proba(logits)
        assert np.array_equal(AutoScaling().fit(Tensor(logits), y).predict_proba(Tensor(logits)), expected)

    def test_tensors_are_taken_by_the_common_protocol(self):
        class Tensor:
            def __init__(self, values):
                self.values = values

            def __dlpack__(self, **options):
                return self.values.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.values.__dlpack_device__()

        logits, y = sample(100)
        expected = AutoScaling().fit(logits, y).predict_proba(logits)
        assert np.array_equal(AutoScaling().fit(Tensor(logits), y).predict_proba(Tensor(logits)), expected)


class TestVerdict:
    def test_it_tells_what_was_chosen_and_whether_it_was_worth_it(self):
        fitted = AutoScaling().fit(*sample(1000))
        assert fitted.verdict_.startswith("A blend of ")
        assert "calibrating was worth it" in fitted.verdict_
        assert fitted.worth_it_
        assert fitted.gain_interval_[0] < fitted.gain_ < fitted.gain_interval_[1]
        assert sum(fitted.weights_.values()) == pytest.approx(1)

    @pytest.mark.parametrize("accuracy", ["free", "keep"])
    def test_reversed_logits_are_named_first_and_never_worth_it(self, accuracy):
        logits, y = sample(bias=0.0)
        with pytest.warns(ReversedScoreWarning):
            fitted = AutoScaling(accuracy=accuracy).fit(-logits, y)
        assert fitted.verdict_.startswith("The true class gets less probability than by chance")
        assert fitted.gain_interval_[0] > 0
        assert fitted.worth_it_ is False
        assert "worth it" not in fitted.verdict_

    @pytest.mark.parametrize("weighted", [False, True])
    def test_logits_without_signal_are_named_first_and_never_worth_it(self, weighted):
        logits, y = sample(bias=0.0)
        rng = np.random.default_rng(5)
        weight = rng.uniform(0.5, 2.0, len(y)) if weighted else None
        with ours_allowed():
            fitted = AutoScaling().fit(logits, rng.permutation(y), sample_weight=weight)
        assert fitted.verdict_.startswith("The scores have no signal")
        assert fitted.worth_it_ is False
        assert "worth it" not in fitted.verdict_

    def test_few_rows_that_are_always_right_are_not_without_signal(self):
        with pytest.warns(SeparableWarning):
            fitted = AutoScaling().fit(9 * np.eye(3), [0, 1, 2])
        assert "signal" not in fitted.verdict_

    def test_a_matrix_that_makes_no_sense_is_not_tried(self, monkeypatch):
        monkeypatch.setattr(auto_scaling, "_MATRIX_CLASSES", 3)
        fitted = AutoScaling().fit(*sample())
        assert not any(name.startswith("matrix") for name in fitted.weights_)
        assert "Matrix scaling was not tried: 400 cases are too few for 4 classes" in fitted.verdict_

    def test_too_few_cases_to_judge_by(self):
        with ours_allowed():
            fitted = AutoScaling(classes=[0, 1]).fit([[1.0, 0.0]] * 3, [0, 0, 0])
        assert fitted.worth_it_ is None
        assert "this is temperature scaling" in fitted.verdict_

    def test_many_cases_are_judged_in_fewer_folds(self, monkeypatch):
        monkeypatch.setattr(_sorted_cases, "_ENOUGH", 150)
        assert "In 2 folds" in AutoScaling().fit(*sample()).verdict_


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"accuracy": "best"}, "accuracy must be one of 'free', 'keep'"),
        ({"random_state": -1}, "random_state must be an integer ≥ 0"),
    ],
)
def test_bad_parameters_are_refused(options, words):
    with pytest.raises(InvalidInputError, match=words):
        AutoScaling(**options).fit(*sample(50))


def test_weights_and_repeated_rows_reach_the_same_optimum():
    """Scores that differ by rounding alone must not be told apart by where a solver stops."""
    with ours_allowed():
        check_sample_weight_equivalence_on_dense_data("CalibratedClassifier", CalibratedClassifier(GaussianNB()))


@pytest.mark.parametrize("calibrator", [PlattCalibrator(), IsotonicCalibrator(), AutoScaling(), VectorScaling()])
def test_masked_rows_of_several_classes(calibrator):
    """One class against the rest is fitted to rows in which neither is masked; P = 0 where it is."""
    logits, y = sample(300, 3)
    rng = np.random.default_rng(1)
    mask = rng.random(logits.shape) < 0.2
    mask[np.arange(len(y)), y] = False
    masked = np.where(mask, -np.inf, logits)
    rows = ScoreRows(masked, y, ("a", "b", "c"), None, ("a", "b", "c"), "log_odds")
    with ours_allowed():
        prob = fit_method(rows, calibrator).predict_proba(masked)
    assert np.all(prob[mask] == 0)
    assert_allclose(prob.sum(axis=1), 1)
    assert loss(np.maximum(prob, 1e-9), y) < np.log(3)
    masked[4, y[4]] = -np.inf
    with pytest.raises(InvalidInputError, match="true class of a row must not have a logit of −inf"):
        fit_method(rows, calibrator)


def test_the_gain_over_probabilities_of_zero_is_unbounded():
    logits, y = sample(400, 3, seed=1)
    prob = softmax(logits, axis=1)
    right = np.where((prob < 0.01) & (np.arange(3) != y[:, None]), 0.0, prob)
    fitted = AutoScaling().fit(right / right.sum(axis=1, keepdims=True), y)
    assert np.isfinite(fitted.gain_)
    assert np.isfinite(fitted.gain_interval_[0])
    assert fitted.gain_interval_[1] == np.inf
    assert "to infinity, since P = 0 may be wrong" in fitted.verdict_
    fitted = AutoScaling().fit(np.eye(3)[logits.argmax(axis=1)], y)
    assert (fitted.gain_, fitted.gain_interval_, fitted.worth_it_) == (np.inf, (np.inf, np.inf), True)
    assert "went from infinity to" in fitted.verdict_
