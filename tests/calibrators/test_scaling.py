import functools
import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_softmax, softmax
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from oddsmith.calibrators import AutoScaling
from oddsmith.calibrators.registry import SCALINGS
from oddsmith.calibrators.scaling import DirichletScaling, MatrixScaling, TemperatureScaling, VectorScaling
from oddsmith.classify import CalibratedClassifier
from oddsmith.errors import (
    ConstantScoreWarning,
    InvalidInputError,
    NonConvergenceWarning,
    ReversedScoreWarning,
    SeparableWarning,
    SingleClassWarning,
)
from oddsmith.fitting import softmax as softmax_fits
from oddsmith.fitting import softmax_linear
from oddsmith.maps import ScalingMap
from oddsmith.model import Model
from samples import examples, ours_allowed

LINEAR = [VectorScaling, MatrixScaling, DirichletScaling]
SINGLE = [TemperatureScaling, *LINEAR]
ALL = [*SINGLE, AutoScaling]
single = pytest.mark.parametrize("method", SINGLE)
every = pytest.mark.parametrize("method", ALL)
quick = examples(25)
seeds = st.integers(0, 2**32 - 1)


def sample(n=150, k=4, seed=0, temperature=0.5):
    """Draw logits and labels with P = softmax(logits/temperature), every class present."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, k))
    y = np.argmax(logits / temperature + rng.gumbel(size=(n, k)), axis=1)
    y[:k] = np.arange(k)
    return logits, y


def slope(beta, logits, y):
    """Return the derivative of the log-loss in β, row by row and without any trick."""
    return np.sum(softmax(beta * logits, axis=1) * logits) - logits[np.arange(len(y)), y].sum()


def gradient(fitted, logits, y):
    """Return the gradient of the penalized log-loss of a linear scaling in (T·coef, intercept)."""
    x, k, t = fitted._features(logits), logits.shape[1], fitted.temperature_
    excess = fitted.predict_proba(logits) - np.eye(k)[y]
    slopes = (excess * x).sum(axis=0) if fitted.coef_.ndim == 1 else excess.T @ x
    identity = np.ones(k) if fitted.coef_.ndim == 1 else np.eye(k)
    return np.append(
        slopes / t + fitted._penalty(k) * (fitted.coef_ * t - identity),
        excess.sum(axis=0) + fitted._penalty(k).flat[0] * fitted.intercept_,
    )


@quick
@given(seeds, st.integers(2, 6), st.integers(10, 3000), st.sampled_from([0.05, 0.5, 3.0]), st.floats(-8, 8))
def test_temperature_reaches_the_optimum(seed, k, n, temperature, log_scale):
    logits, y = sample(n, k, seed, temperature)
    assume(0 < -slope(0, logits, y))
    assume(np.any(logits.max(axis=1) > logits[np.arange(n), y]))
    best = brentq(slope, 1e-6, 1e4, args=(logits, y), xtol=1e-14, rtol=1e-13)
    assume(1e-3 < best < 1e3)
    fitted = TemperatureScaling().fit(logits * np.exp(log_scale), y)
    assume(fitted._floor is None)  # else logits were clipped, and have another optimum
    assert_allclose(np.exp(log_scale) / fitted.temperature_, best, rtol=1e-8)


def test_temperature_needs_few_passes_over_all_rows(monkeypatch):
    sizes = []
    derivatives = softmax_fits._derivatives
    monkeypatch.setattr(
        softmax_fits, "_derivatives", lambda rows, *rest: (sizes.append(len(rows.z)), derivatives(rows, *rest))[1]
    )
    logits, y = sample(140_000, 5)
    TemperatureScaling().fit(logits, y)
    assert sizes.count(140_000) <= 3
    assert sum(sizes) <= 3.5 * 140_000


@pytest.mark.parametrize("network", ["wideresnet-16-4", "lenet-5"])
def test_temperature_of_real_networks(network):
    folder = os.environ.get("ODDSMITH_DATA")
    if folder is None:
        if os.environ.get("CI") == "true":
            pytest.fail("ODDSMITH_DATA must name the data folder in continuous integration")
        pytest.skip("ODDSMITH_DATA names no data folder")
    with np.load(Path(folder) / "nn_cifar10" / f"{network}-cifar-10.npz") as stored:
        logits = np.log(np.maximum(stored["predictions"].astype(np.float64), 1e-38))
        y = stored["ground_truth"].ravel()
    best = brentq(slope, 1e-3, 1e3, args=(logits, y), xtol=1e-14, rtol=1e-13)
    fitted = TemperatureScaling().fit(logits, y)
    assert_allclose(1 / fitted.temperature_, best, rtol=1e-8)
    losses = {}
    for method in ALL:
        log_p = method().fit(logits[:5000], y[:5000]).predict_log_proba(logits[5000:])
        losses[method] = -log_p[np.arange(5000), y[5000:]].mean()
    raw = -log_softmax(logits[5000:], axis=1)[np.arange(5000), y[5000:]].mean()
    assert max(losses.values()) < raw
    assert max(losses[method] for method in LINEAR) < losses[TemperatureScaling]


@pytest.mark.parametrize("method", LINEAR)
@quick
@given(seeds, st.integers(2, 5), st.floats(-6, 6), st.floats(0.1, 100))
def test_linear_scaling_reaches_the_optimum(method, seed, k, log_scale, l2):
    logits, y = sample(60, k, seed)
    fitted = method(penalty=l2).fit(logits * np.exp(log_scale), y)
    # The objective is convex by its penalty or more, so this bounds what could still be gained.
    weakest = min(l2, fitted._penalty(k).min())
    left = np.sum(gradient(fitted, logits * np.exp(log_scale), y) ** 2) / (2 * weakest)
    assert left <= 60 * 1e-14


def test_vector_scaling_equals_a_general_optimizer():
    logits, y = sample(k=3)
    fitted = VectorScaling(penalty=2.0).fit(logits, y)
    x = logits - logits.mean(axis=1, keepdims=True)
    t = TemperatureScaling().fit(logits, y).temperature_

    def loss(theta):
        log_p = log_softmax(x * theta[:3] / t + theta[3:], axis=1)
        return np.sum((theta - [1, 1, 1, 0, 0, 0]) ** 2) - log_p[np.arange(len(y)), y].sum()

    best = minimize(loss, [1, 1, 1, 0, 0, 0], tol=1e-10)
    assert_allclose(np.append(fitted.coef_ * t, fitted.intercept_), best.x, atol=1e-4)
    assert loss(np.append(fitted.coef_ * t, fitted.intercept_)) <= best.fun + 1e-10


@pytest.mark.parametrize("method", [VectorScaling, MatrixScaling])
def test_a_strong_pull_gives_temperature_scaling(method):
    logits, y = sample()
    options = {} if method is VectorScaling else {"penalty_off_diagonal": 1e9}
    fitted = method(penalty=1e9, **options).fit(logits, y)
    expected = TemperatureScaling().fit(logits, y).predict_proba(logits)
    assert_allclose(fitted.predict_proba(logits), expected, atol=1e-6)


def test_many_rows_recover_a_matrix_that_confuses_classes():
    rng = np.random.default_rng(0)
    logits = 2 * rng.normal(size=(20_000, 3))
    truth = np.array([[1.0, 0.5, 0.0], [0.0, 0.7, 0.3], [0.0, 0.0, 1.2]])
    z = (logits - logits.mean(axis=1, keepdims=True)) @ truth.T + [0.3, 0.0, -0.3]
    y = np.argmax(z + rng.gumbel(size=z.shape), axis=1)
    fitted = MatrixScaling(penalty=0.1, penalty_off_diagonal=0.1).fit(logits, y)
    assert np.abs(fitted.predict_proba(logits) - softmax(z, axis=1)).mean() < 0.01


@every
@quick
@given(seeds, st.permutations(range(4)))
def test_permuting_classes_permutes_the_output(method, seed, order):
    logits, y = sample(seed=seed)
    p = method().fit(logits, y).predict_proba(logits)
    permuted = method(classes=order).fit(logits[:, order], y)
    assert permuted.classes_.tolist() == list(order)
    assert_allclose(permuted.predict_proba(logits[:, order]), p[:, order], atol=1e-7)


@every
@quick
@given(seeds)
def test_weights_are_repetitions_and_row_order_is_irrelevant(method, seed):
    logits, y = sample(seed=seed)
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 3, size=len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), counts))
    weighted = method(classes=range(4)).fit(logits, y, sample_weight=counts)
    repeated = method(classes=range(4)).fit(logits[rows], y[rows])
    assert_allclose(weighted.predict_proba(logits), repeated.predict_proba(logits), atol=1e-8)


@every
def test_a_constant_added_to_a_row_changes_nothing(method):
    logits, y = sample()
    shifted = logits + 100 * np.random.default_rng(1).normal(size=(len(y), 1))
    fitted = method().fit(logits, y)
    assert_allclose(fitted.predict_proba(shifted), fitted.predict_proba(logits), atol=1e-11)
    assert_allclose(method().fit(shifted, y).predict_proba(logits), fitted.predict_proba(logits), atol=1e-9)


@single
@pytest.mark.parametrize("scale", [1e-4, 1e4, 1e200])
def test_extreme_logits_give_finite_distributions(method, scale):
    logits, y = sample()
    fitted = method().fit(logits * scale, y)
    p = fitted.predict_proba(logits * scale)
    assert_allclose(p.sum(axis=1), 1)
    assert p.min() >= 0
    assert 0 < fitted.temperature_ < np.inf
    if method is not DirichletScaling:
        assert_allclose(p, method().fit(logits, y).predict_proba(logits), atol=1e-8)


@every
def test_predictions_far_outside_the_data_are_finite(method):
    logits, y = sample()
    far = np.array([[1e4, -1e4, 0.0, 0.0], [-1e4, -1e4, 1e4, 1e4]])
    fitted = method().fit(logits, y)
    assert np.isfinite(fitted.predict_log_proba(far)).all()
    assert_allclose(fitted.predict_proba(far).sum(axis=1), 1)


@single
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_separable_data_stay_finite(method, scale):
    logits, _ = sample()
    y = logits.argmax(axis=1)
    with pytest.warns(SeparableWarning, match="no temperature is best: T = 1"):
        fitted = method().fit(logits * scale, y)
    assert fitted.temperature_ == 1.0
    assert np.isfinite(fitted.predict_log_proba(logits * scale)).all()
    assert np.mean(fitted.predict(logits * scale) == y) > 0.9


@pytest.mark.parametrize("method", [*ALL, functools.partial(AutoScaling, accuracy="keep")])
@pytest.mark.parametrize(("n", "k"), [(1000, 100), (300, 10), (100, 3), (30, 10), (10, 3)])
def test_rows_that_are_always_right_are_not_made_worse(method, n, k):
    """Law: new rows lose at most 0.01 nats against the logits as given, and the fit warns."""
    rng = np.random.default_rng(n)
    y = rng.integers(0, k, 2 * n + 2000)
    y[:k] = np.arange(k)
    z = rng.normal(size=(len(y), k))
    z[np.arange(len(y)), y] += 13
    right = np.flatnonzero(z.argmax(axis=1) == y)[:n]
    with pytest.warns(SeparableWarning):
        fitted = method(classes=range(k)).fit(z[right], y[right])
    new = np.arange(len(y) - 2000, len(y))
    ours, given = (
        log_p[np.arange(2000), y[new]].mean()
        for log_p in (fitted.predict_log_proba(z[new]), log_softmax(z[new], axis=1))
    )
    assert -ours <= -given + 0.01


def masked_sample(kind, value, n=300, k=5):
    """Draw overconfident logits, some classes of which are impossible, and labels; every class that may occur does."""
    rng = np.random.default_rng(3)
    truth = 2 * rng.normal(size=(n + 2000, k))
    share = {"one class": 0.0, "varying": 0.4, "sporadic": 0.02}[kind]
    mask = rng.random(truth.shape) < share
    mask[:, 2] |= kind == "one class"
    mask[mask.all(axis=1), 0] = False
    y = np.argmax(np.where(mask, -np.inf, truth + rng.gumbel(size=truth.shape)), axis=1)
    return np.where(mask, value, 2 * truth), y, mask


@every
@pytest.mark.parametrize("kind", ["one class", "varying", "sporadic"])
def test_masks_are_read_as_masks_whatever_number_stands_for_them(method, kind):
    """Law: what a mask is written as does not matter, and classes that are possible are calibrated as without masks."""
    losses = {}
    for value in (-1e4, -1e9, float(np.finfo(np.float32).min), -np.inf):
        z, y, mask = masked_sample(kind, value)
        fitted = method(classes=range(5)).fit(z[:300], y[:300])
        prob = fitted.predict_proba(z[300:])
        assert prob[mask[300:]].max() < 0.02
        assert_allclose(prob.sum(axis=1), 1)
        losses[value] = -np.log(prob[np.arange(2000), y[300:]]).mean()
        if method is TemperatureScaling:
            assert 1.5 < fitted.temperature_ < 2.7
        if np.isinf(value):
            assert prob[mask[300:]].max() == 0
            assert np.array_equal(np.isneginf(fitted.predict_log_proba(z[300:])), mask[300:])
    best = -log_softmax(np.where(mask, -np.inf, z / 2)[300:], axis=1)[np.arange(2000), y[300:]].mean()
    assert max(losses.values()) - min(losses.values()) < 0.01
    assert max(losses.values()) < best + 0.05


@every
def test_a_fit_without_masks_predicts_rows_with_masks(method):
    logits, y = sample(300, temperature=2.0)
    fitted = method().fit(logits, y)
    for value in (-1e9, -np.inf):
        masked = logits.copy()
        masked[:, 1] = value
        prob = fitted.predict_proba(masked)
        rest = fitted.predict_proba(logits)[:, [0, 2, 3]]
        assert_allclose(prob[:, [0, 2, 3]], rest / rest.sum(axis=1, keepdims=True), atol=0.12)
        assert prob[:, 1].max() < (0.03 if method is AutoScaling else 0.01)  # a share of base rates


@every
def test_a_mask_that_cannot_be_right_is_refused(method):
    logits, y = sample()
    wrong, whole, high = logits.copy(), logits.copy(), logits.copy()
    wrong[7, y[7]] = -np.inf
    whole[5] = -np.inf
    high[4, 0] = np.inf
    with pytest.raises(
        InvalidInputError, match=r"true class of a row.*1 such rows, the first at row 7.*Hint: check the masks"
    ):
        method().fit(wrong, y)
    with pytest.raises(InvalidInputError, match="1 rows of −inf only, the first at row 5"):
        method().fit(whole, y)
    with pytest.raises(InvalidInputError, match="1 rows of −inf only"):
        method().fit(logits, y).predict_proba(whole)
    with pytest.raises(InvalidInputError, match=r"logits\[4, 0\]=inf"):
        method().fit(high, y)


@pytest.mark.parametrize("method", LINEAR)
def test_a_floor_is_saved_and_older_files_are_read(method):
    z, y, mask = masked_sample("varying", -1e9)
    model = Model.from_fitted(method(classes=range(5)).fit(z, y))
    loaded = Model.from_json(model.to_json())
    assert np.array_equal(loaded.predict_proba(z), model.predict_proba(z))
    (part,) = model.map.to_dict()["parts"]
    assert part["floor"] >= 700
    assert part["drop"] > 0
    content = model.map.to_dict()
    for name in ("floor", "drop"):
        del content["parts"][0][name]
    older = ScalingMap.from_dict(content)
    assert older.to_dict() == content
    plain = np.where(mask, 0.0, z)
    assert_allclose(older.class_probability(plain), model.predict_proba(plain), atol=1e-12)


def too_sure(n=600, k=5):
    """Draw logits of which a third of the rows are wrong by up to 1e8, as naive Bayes is, and labels."""
    rng = np.random.default_rng(11)
    truth = 2 * rng.normal(size=(n, k))
    y = np.argmax(truth + rng.gumbel(size=(n, k)), axis=1)
    y[:k] = np.arange(k)
    far = np.where(np.arange(n)[:, None] % 3 > 0, 1.0, 10.0 ** rng.uniform(1, 8, size=(n, 1)))
    return truth * far, y


@pytest.mark.parametrize("method", LINEAR)
def test_far_logits_that_carry_no_information_do_not_hurt(method):
    """Law: where labels are drawn at random, no loss in sample is above that of uniform probabilities."""
    z, y = too_sure(150, 17)
    y = np.random.default_rng(4).permutation(y)
    with ours_allowed():
        fitted = method().fit(z, y)
    assert -fitted.predict_log_proba(z)[np.arange(150), y].mean() <= np.log(17)


@pytest.mark.parametrize("split", range(3))
@pytest.mark.parametrize("response", ["auto", "predict_proba"])
@pytest.mark.parametrize("name", SCALINGS)
def test_naive_bayes_keeps_its_accuracy(name, response, split):
    """Its log-odds go down to −3e9; clipped, they are as good as probabilities, which their rounding clips."""
    X, y = load_digits(return_X_y=True)
    own, other = np.array_split(np.random.default_rng(split).permutation(len(y)), 2)
    fitted = CalibratedClassifier(GaussianNB(), name, response_method=response).fit(X[own], y[own])
    accuracy = GaussianNB().fit(X[own], y[own]).score(X[other], y[other])
    assert fitted.score(X[other], y[other]) >= accuracy - 0.02
    assert log_loss(y[other], fitted.predict_proba(X[other])) < 0.7


#: What becomes of rows that have far logits.
FAR = {
    "rows": lambda rng, z, size: z * size,
    "every logit": lambda rng, z, size: z * 10 ** rng.uniform(3, 10, z.shape),
    "a low logit": lambda rng, z, size: np.where(np.arange(len(z)) == rng.integers(len(z)), -size, z),
    "a high logit": lambda rng, z, size: np.where(np.arange(len(z)) == rng.integers(len(z)), size, z),
}


@every
@pytest.mark.parametrize("kind", FAR)
@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_far_logits_do_not_cost_accuracy(method, kind, scale):
    """Law: with logits of 1e3 to 1e10 in a tenth of the rows, decisions are about as good as by the largest logit."""
    rng, k = np.random.default_rng(5), 5
    truth = 2 * rng.normal(size=(4600, k))
    y, z = np.argmax(truth + rng.gumbel(size=truth.shape), axis=1), scale * truth
    for row in range(0, len(z), 10):
        z[row] = FAR[kind](rng, z[row], 10 ** rng.uniform(3, 10))
    fitted = method().fit(z[:600], y[:600])
    own = np.mean(z[600:].argmax(axis=1) == y[600:])
    assert np.mean(fitted.predict(z[600:]) == y[600:]) >= own - 0.02
    assert -fitted.predict_log_proba(z[600:])[np.arange(4000), y[600:]].mean() < np.log(k) - 0.3


@every
@pytest.mark.parametrize("seed", range(3))
def test_logits_that_are_not_far_enough_for_masks_are_clipped_too(method, seed):
    """A tenth of the rows are noise of size 15 to 150; no logit is 700 below the largest of its row."""
    rng, k = np.random.default_rng(seed), 5
    truth = 1.5 * rng.normal(size=(4300, k))
    y = np.argmax(truth + rng.gumbel(size=truth.shape), axis=1)
    z, far = truth.copy(), slice(0, None, 10)
    z[far] = 5 * 10 ** rng.uniform(0.5, 1.5, (430, 1)) * rng.normal(size=(430, k))
    z = np.maximum(z, z.max(axis=1, keepdims=True) - 690)
    fitted = method().fit(z[:300], y[:300])
    own = np.mean(z[300:].argmax(axis=1) == y[300:])
    assert fitted.map_.parts[0].clip_at < 37
    assert np.mean(fitted.predict(z[300:]) == y[300:]) >= own - 0.02


@every
def test_ordinary_overconfidence_is_not_clipped(method):
    """Rows differ in sharpness as those of networks do: clipping would gain .01 nats per case."""
    rng = np.random.default_rng(0)
    truth = 3 * rng.normal(size=(3000, 10))
    truth[np.arange(3000), rng.integers(10, size=3000)] += 6
    y = np.argmax(truth + rng.gumbel(size=truth.shape), axis=1)
    z = 3 * (truth + 0.5 * rng.normal(size=truth.shape)) * np.exp(0.4 * rng.normal(size=(3000, 1)))
    assert np.ptp(z, axis=1).max() > 100
    assert method().fit(z, y).map_.parts[0].clip_at is None


@every
def test_clipped_logits_are_saved_and_applied(method):
    """As on logits that were clipped before; a class of −inf stays impossible."""
    z, y = too_sure()
    model = Model.from_fitted(fitted := method().fit(z, y))
    limits = {part.clip_at for part in model.map.parts}
    assert len(limits) == 1
    limit = limits.pop()
    assert 1 < limit < 37
    below = np.maximum(z - z.max(axis=1, keepdims=True), -limit)
    assert_allclose(fitted.predict_log_proba(z), fitted.predict_log_proba(below), atol=1e-12)
    if method is not AutoScaling:
        assert_allclose(fitted.predict_proba(z), method().fit(below, y).predict_proba(below), atol=1e-9)
    assert np.array_equal(Model.from_json(model.to_json()).predict_proba(z), fitted.predict_proba(z))
    one, other = z.copy(), np.arange(len(y)) == 7
    one[other, (y[7] + 1) % 5] = -np.inf
    prob = (again := method().fit(one, y)).predict_proba(one)
    assert again.map_.parts[0].clip_at is not None
    assert prob[7, (y[7] + 1) % 5] == 0
    assert_allclose(prob[~other], fitted.predict_proba(z)[~other], atol=0.01)


def test_clipped_temperature_scaling_keeps_decisions():
    z, y = too_sure()
    fitted = TemperatureScaling().fit(z, y)
    limit = fitted.map_.parts[0].floor
    expected = softmax(np.maximum(z - z.max(axis=1, keepdims=True), -limit) / fitted.temperature_, axis=1)
    assert_allclose(fitted.predict_proba(z), expected, atol=1e-12)
    assert np.array_equal(fitted.predict(z), z.argmax(axis=1))


@pytest.mark.parametrize("method", [TemperatureScaling, *LINEAR])
def test_repeated_rows_and_weights_clip_alike(method):
    z, y = too_sure(200)
    counts = np.random.default_rng(1).integers(1, 4, len(y))
    order = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), counts))
    fits = method().fit(z, y, sample_weight=counts), method().fit(z[order], y[order])
    assert_allclose(*(each.temperature_ for each in fits), rtol=1e-7)
    limits = [each.map_.parts[0].clip_at for each in fits]
    assert limits[0] == limits[1] < 37


@every
@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
def test_logits_in_another_unit_are_not_clipped(method, scale):
    logits, y = sample(300)
    fitted, other = method().fit(scale * logits, y), method().fit(logits, y)
    assert {part.clip_at for part in fitted.map_.parts} == {None}
    if method is not AutoScaling:
        assert fitted.temperature_ == pytest.approx(scale * other.temperature_, rel=1e-6)


@every
@pytest.mark.parametrize("kind", ["one class", "varying", "sporadic"])
@pytest.mark.parametrize("value", [-1e4, -1e9, -np.inf])
def test_masks_are_not_clipped(method, kind, value):
    z, y, _ = masked_sample(kind, value)
    assert {part.clip_at for part in method(classes=range(5)).fit(z, y).map_.parts} == {None}


def test_reversed_logits_end_at_the_upper_bound():
    logits, y = sample()
    with pytest.warns(ReversedScoreWarning):
        fitted = TemperatureScaling().fit(-logits, y)
    assert 0 < fitted.temperature_ < np.inf
    assert_allclose(fitted.predict_proba(-logits), 0.25, atol=1e-5)


@pytest.mark.parametrize("method", LINEAR)
@pytest.mark.parametrize(("n", "k"), [(40, 13), (150, 4)])
def test_reversed_logits_pull_linear_scalings_towards_uniform(method, n, k):
    """Law: the fit warns, and its loss in sample is not above that of uniform probabilities."""
    logits, y = sample(n, k, seed=2)
    with pytest.warns(ReversedScoreWarning, match="uniform"):
        fitted = method().fit(-logits, y)
    assert -fitted.predict_log_proba(-logits)[np.arange(n), y].mean() <= np.log(k)
    stiff = method(penalty=1e9, **({} if method is VectorScaling else {"penalty_off_diagonal": 1e9}))
    with pytest.warns(ReversedScoreWarning):
        assert_allclose(stiff.fit(-logits, y).predict_proba(-logits), 1 / k, atol=1e-5)


@pytest.mark.parametrize("method", LINEAR)
def test_a_temperature_beyond_the_upper_bound_pulls_linear_scalings_towards_uniform(method):
    logits, y, weight = [[1.0, 0.0], [1.0, 0.0]], [0, 1], [10**7 + 1, 10**7]
    with pytest.warns(NonConvergenceWarning, match="beyond"):
        fitted = method(penalty=1.0).fit(logits, y, sample_weight=weight)
    assert_allclose(fitted.predict_proba(logits), 0.5, atol=1e-6)
    assert abs(fitted.coef_).max() < 1e-6


def test_columns_in_another_order_are_found_by_a_matrix_with_a_warning():
    logits, y = sample(2000)
    with pytest.warns(ReversedScoreWarning):
        fitted = MatrixScaling().fit(logits[:, [1, 2, 3, 0]], y)
    turned = TemperatureScaling().fit(logits, y)
    ours, best = (
        -p[np.arange(2000), y].mean()
        for p in (fitted.predict_log_proba(logits[:, [1, 2, 3, 0]]), turned.predict_log_proba(logits))
    )
    assert ours < best + 0.05


def test_an_optimum_beyond_the_bracket_is_reported():
    logits = np.array([[1.0, 1.0 - 1e-9, 0.0]] * 8)
    with pytest.warns(NonConvergenceWarning, match="beyond"):
        fitted = TemperatureScaling(classes=[0, 1, 2]).fit(logits, [0, 0, 0, 0, 0, 0, 1, 1])
    assert 0 < fitted.temperature_ < 1e-6


@single
def test_one_sentinel_among_the_logits_does_not_hide_the_others(method):
    """A bracket, or a unit, by the mean size of the logits would leave every other row at uniform probabilities."""
    z, y = sample(300, temperature=2.0)
    alone = method().fit(z, y)
    far, right = np.zeros((1, z.shape[1])), [1]
    far[0, right] = 1e12
    both = method().fit(np.vstack([z, far]), np.append(y, right))
    assert_allclose(both.predict_proba(z), alone.predict_proba(z), atol=0.02)


@pytest.mark.parametrize("value", [0.0, 0.1, -7.3])
def test_constant_logits(value):
    logits, y = np.full((9, 3), value), [0, 0, 0, 0, 0, 1, 1, 1, 2]
    with pytest.warns(ConstantScoreWarning):
        fitted = TemperatureScaling().fit(logits, y)
    assert fitted.temperature_ == 1.0
    assert_allclose(fitted.predict_proba(logits), 1 / 3)
    for method in LINEAR:
        p = method(penalty=1e-3, **({} if method is VectorScaling else {"penalty_off_diagonal": 1e-3})).fit(logits, y)
        assert_allclose(p.predict_proba(logits)[0], [5 / 9, 3 / 9, 1 / 9], atol=1e-3)


@every
def test_a_class_missing_from_y_is_safe(method):
    logits, y = sample()
    kept = y != 2
    fitted = method(classes=[0, 1, 2, 3]).fit(logits[kept], y[kept])
    p = fitted.predict_proba(logits)
    assert p.shape == (len(y), 4)
    assert np.isfinite(fitted.predict_log_proba(logits)).all()
    with pytest.raises(InvalidInputError, match="4 columns for 3 classes"):
        method().fit(logits[kept], y[kept])


@pytest.mark.filterwarnings("ignore::oddsmith.errors.SeparableWarning")
@every
def test_one_class_warns_and_stays_finite(method):
    logits, _ = sample()
    with pytest.warns(SingleClassWarning):
        fitted = method(classes=[0, 1, 2, 3]).fit(logits, np.zeros(len(logits), dtype=int))
    assert np.isfinite(fitted.predict_log_proba(logits)).all()


@every
def test_one_column_is_the_log_odds_of_two_classes(method):
    rng = np.random.default_rng(0)
    s = rng.normal(size=200)
    y = np.where(rng.random(200) < expit(2 * s), "yes", "no")
    one = method().fit(s, y)
    two = method().fit(np.column_stack([np.zeros(200), s]), y)
    assert one.classes_.tolist() == ["no", "yes"]
    assert_allclose(one.predict_proba(s), two.predict_proba(np.column_stack([0 * s, s])))
    assert_allclose(one.predict_proba(s[:, None]), one.predict_proba(s))


@every
def test_the_three_predictions_agree(method):
    logits, y = sample()
    fitted = method().fit(logits, y)
    assert_allclose(fitted.predict_proba(logits), np.exp(fitted.predict_log_proba(logits)))
    assert np.array_equal(fitted.predict(logits), fitted.classes_[fitted.predict_proba(logits).argmax(axis=1)])


def test_temperature_never_changes_a_decision():
    logits, y = sample()
    assert np.array_equal(TemperatureScaling().fit(logits, y).predict(logits), logits.argmax(axis=1))


@every
def test_input_kinds_pickle_and_clone(method):
    logits, y = sample()
    fitted = method().fit(logits, y)
    expected = fitted.predict_proba(logits)
    frozen = logits.copy()
    frozen.flags.writeable = False
    assert np.array_equal(method().fit(frozen, y).predict_proba(frozen), expected)
    assert_allclose(method().fit(logits.tolist(), y.tolist()).predict_proba(logits), expected)
    assert_allclose(method().fit(pd.DataFrame(logits), pd.Series(y)).predict_proba(logits), expected)
    assert_allclose(method().fit(logits.astype(np.float32), y).predict_proba(logits), expected, atol=1e-5)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(logits), expected)
    copy = clone(fitted)
    assert not hasattr(copy, "classes_")
    assert copy.get_params() == fitted.get_params()


@pytest.mark.parametrize("method", LINEAR)
def test_non_convergence_is_reported(method, monkeypatch):
    logits, y = sample()
    monkeypatch.setattr(softmax_linear, "_MAX_STEPS", 1)
    with pytest.warns(NonConvergenceWarning, match="stopped"):
        method().fit(logits, y)


GOOD, LABELS = sample(20, 3)
BAD = np.where(np.arange(60).reshape(20, 3) == 7, np.nan, GOOD)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: TemperatureScaling().fit(BAD, LABELS), r"logits must be finite.*logits\[2, 1\]=nan"),
        (lambda: TemperatureScaling().fit(GOOD, LABELS[:-1]), "y must be as long as the scores"),
        (lambda: TemperatureScaling().fit(GOOD, None), "requires y to be passed"),
        (lambda: TemperatureScaling().fit(GOOD, LABELS + 0.5), "continuous"),
        (lambda: TemperatureScaling().fit(GOOD[:, :2], LABELS), "2 columns for 3 classes"),
        (lambda: TemperatureScaling().fit(GOOD[:0], LABELS[:0]), "must not be empty"),
        (lambda: TemperatureScaling().fit(GOOD[None], LABELS), "1 or 2 axes"),
        (lambda: TemperatureScaling(classes=[0, 1, 1]).fit(GOOD, LABELS), "label of each column, once"),
        (lambda: TemperatureScaling(classes="abc").fit(GOOD, LABELS), "one column per class"),
        (
            lambda: TemperatureScaling(classes=[0, 1, 5]).fit(GOOD, LABELS),
            r"labels from classes; got labels \[2\]",
        ),
        (
            lambda: TemperatureScaling().fit(GOOD, LABELS, sample_weight=-np.ones(20)),
            "sample_weight must be ≥ 0",
        ),
        (lambda: VectorScaling(penalty=0).fit(GOOD, LABELS), "penalty must be finite and > 0"),
        (
            lambda: MatrixScaling(penalty_off_diagonal=-1).fit(GOOD, LABELS),
            "penalty_off_diagonal must be finite and > 0",
        ),
        (lambda: DirichletScaling(penalty="1").fit(GOOD, LABELS), "penalty must be a number"),
        (lambda: VectorScaling().fit(GOOD, LABELS).predict(GOOD[:, :2]), "X has 2 features"),
    ],
)
def test_bad_input_is_refused_in_the_house_form(call, words):
    with pytest.raises(InvalidInputError, match=words) as caught:
        call()
    assert ". Hint: " in str(caught.value)


WIDTH = "one column is one class here, and the check's X has another number of columns than classes"
EXPECTED_FAILURES = {
    "check_estimators_overwrite_params": WIDTH,
    "check_estimators_fit_returns_self": WIDTH,
    "check_readonly_memmap_input": WIDTH,
    "check_n_features_in_after_fitting": WIDTH,
    "check_positive_only_tag_during_fit": WIDTH,
    "check_estimators_dtypes": WIDTH,
    "check_sample_weight_equivalence_on_dense_data": WIDTH,
    "check_dtype_object": WIDTH,
    "check_pipeline_consistency": WIDTH,
    "check_estimators_nan_inf": WIDTH,
    "check_estimators_pickle": WIDTH,
    "check_classifiers_classes": WIDTH,
    "check_classifiers_train": WIDTH,
    "check_transformer_data_not_an_array": WIDTH,
    "check_transformer_general": WIDTH,
    "check_transformer_preserve_dtypes": WIDTH,
}


@every
def test_an_argument_without_a_name_is_refused_by_the_class_itself(method):
    with pytest.raises(TypeError, match=rf"^{method.__name__}\.__init__\(\) takes"):
        method(1)


@pytest.mark.filterwarnings("ignore::oddsmith.errors.OddsmithWarning")
@parametrize_with_checks([method() for method in ALL], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", [TemperatureScaling, VectorScaling, MatrixScaling, DirichletScaling, AutoScaling])
@pytest.mark.parametrize("size", [1e-300, 1e298])
def test_logits_and_weights_of_any_size_are_fitted_saved_and_loaded(method, size):
    rng = np.random.default_rng(0)
    logits = 3 * rng.normal(size=(200, 4))
    y = np.argmax(logits / 2 + rng.gumbel(size=logits.shape), axis=1)
    with ours_allowed():
        fitted = method().fit(size * logits, y, 10.0 ** rng.integers(-12, 12, 200))
    loaded = Model.from_json(Model.from_fitted(fitted).to_json())
    assert np.isfinite(loaded.predict_proba(size * logits)).all()
