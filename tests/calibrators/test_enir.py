"""The near-isotonic path against its optimality conditions, and the ensemble against its formula and a peer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from oddsmith import IsotonicCalibrator, ScoreTable
from oddsmith.calibrators import ENIRCalibrator, enir
from oddsmith.calibrators._near_isotonic import near_isotonic_path
from oddsmith.errors import InvalidInputError
from optional import needs
from samples import ours_allowed, samples


@st.composite
def cells(draw):
    """Positive and negative weight of cells: rows, counts or importance weights."""
    n = draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["rows", "counts", "weights"]))
    if kind == "weights":
        return rng.random(n), rng.random(n)
    pos = rng.integers(0, 2 if kind == "rows" else 4, n).astype(float)
    neg = 1 - pos if kind == "rows" else rng.integers(0, 4, n) + (pos == 0)
    return pos, neg.astype(float)


def along(path, step, n):
    """The fitted value of every cell."""
    fit = path.fit(step)
    return np.repeat(fit.values, np.diff(fit.starts, append=n))


@given(cells())
def test_every_fit_of_the_path_is_optimal(data):
    pos, neg = data
    weight = pos + neg
    path = near_isotonic_path(pos, neg)
    assert path.penalties[0] == 0
    assert np.all(np.diff(path.penalties) > 0)
    for step, penalty in enumerate(path.penalties):
        fitted = along(path, step, len(pos))
        # With u = the running sum of w(y − m): 0 ≤ u ≤ λ, u = λ where m falls, u = 0 where it rises.
        running = np.cumsum(pos - weight * fitted)
        near = 1e-9 * weight.sum()
        assert abs(running[-1]) < near
        u, change = running[:-1], np.diff(fitted)
        assert np.all((u > -near) & (u < penalty + near))
        np.testing.assert_allclose(u[change < -1e-9], penalty, atol=near)
        np.testing.assert_allclose(u[change > 1e-9], 0, atol=near)
        assert path.sizes[step] == len(path.fit(step).values)


@given(cells())
def test_the_path_leads_from_the_data_to_the_isotonic_fit(data):
    pos, neg = data
    path = near_isotonic_path(pos, neg)
    np.testing.assert_allclose(along(path, 0, len(pos)), pos / (pos + neg), atol=1e-12)
    scores, y = np.tile(np.arange(len(pos)), 2), np.repeat([1, 0], len(pos))
    with ours_allowed():
        isotonic = IsotonicCalibrator().fit(scores, y, np.concatenate([pos, neg]))
    if 0 < pos.sum() < (pos + neg).sum():
        expected = isotonic.predict_proba(np.arange(len(pos)))[:, 1]
        np.testing.assert_allclose(along(path, len(path.penalties) - 1, len(pos)), expected, atol=1e-9)


@given(cells())
def test_the_likelihood_falls_along_the_path(data):
    path = near_isotonic_path(*data)
    found = [enir._log_likelihood(path, step) for step in range(len(path.penalties))]
    assert np.all(np.diff(found) <= 1e-9)
    assert np.all(np.diff(path.sizes) < 0)


@given(samples(min_size=4), st.booleans())
def test_the_ensemble_is_the_mean_of_all_fits_by_their_bic(data, weighted):
    scores, y = data
    if np.ptp(scores) == 0:
        return
    weights = np.random.default_rng(len(y)).integers(1, 4, len(y)) if weighted else None
    with ours_allowed():
        cal = ENIRCalibrator(smoothing=None).fit(scores, y, weights)
        smoothed = ENIRCalibrator(smoothing="laplace").fit(scores, y, weights)
    table = ScoreTable.from_arrays(scores, y, weights)
    pos, neg = table.pos.astype(float), table.neg.astype(float)
    path = near_isotonic_path(pos, neg)
    fits = np.array([along(path, step, len(pos)) for step in range(len(path.penalties))])
    with np.errstate(divide="ignore", invalid="ignore"):
        likelihood = np.nansum(pos * np.log(fits), axis=1) + np.nansum(neg * np.log1p(-fits), axis=1)
    share = np.exp(likelihood - path.sizes / 2 * np.log(table.n_pos + table.n_neg))
    data = path.fit(0)
    if len(share) > 1 and np.mean((data.pos == 0) | (data.neg == 0)) > 0.5:
        share[0] = 0  # as published: this fit repeats the labels
    np.testing.assert_allclose(
        cal.predict_proba(table.scores)[:, 1], share @ fits / share.sum(), atol=1e-9 * len(path.penalties)
    )
    # One case of each class to each level of each fit.
    sizes = np.array([level_weights(path.fit(step), pos + neg) for step in range(len(path.penalties))])
    np.testing.assert_allclose(
        smoothed.predict_proba(table.scores)[:, 1],
        share @ ((sizes * fits + 1) / (sizes + 2)) / share.sum(),
        atol=1e-9 * len(path.penalties),
    )


def level_weights(fit, weight):
    """The weight of the level that each cell is in."""
    level = np.repeat(np.arange(len(fit.starts)), np.diff(fit.starts, append=len(weight)))
    return np.bincount(level, weight)[level]


@pytest.mark.parametrize("smoothing", ["kt", "laplace"])
@given(samples(min_size=4))
def test_smoothed_probabilities_are_never_0_or_1(smoothing, data):
    scores, y = data
    with ours_allowed():
        p = ENIRCalibrator(smoothing=smoothing).fit(scores, y).predict_proba(scores)[:, 1]
    assert 0 < p.min() <= p.max() < 1


def test_smoothing_pays_where_it_matters():
    scores, y, truth = waves(300)
    unseen, labels, truth = waves(20_000, seed=1)
    fitted = {kind: ENIRCalibrator(smoothing=kind).fit(scores, y) for kind in ("kt", None)}
    certain = fitted[None].predict_proba(unseen)[:, 1]
    assert np.any((certain == 0) & (labels == 1))
    assert log_loss(fitted["kt"], unseen, truth) < log_loss(fitted[None], unseen, truth) - 0.05
    with pytest.raises(InvalidInputError, match="smoothing"):
        ENIRCalibrator(smoothing="jeffreys").fit(scores, y)


def test_equal_neighbors_move_together():
    # Of 1, 1, 0 the first two fall at half the pace at which the last rises.
    path = near_isotonic_path(np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(path.penalties, [0, 2 / 3])
    np.testing.assert_allclose(along(path, 1, 3), 2 / 3)


def price(fitted, y, weight, penalty):
    """The objective of near-isotonic regression."""
    return np.sum(weight * (y - fitted) ** 2) / 2 + penalty * np.sum(np.maximum(-np.diff(fitted), 0))


def optimum(y, weight, penalty):
    """Near-isotonic regression by its dual, a least-squares problem with bounds: ½‖W^½y − W^−½Dᵀu‖², 0 ≤ u ≤ λ."""
    falls = np.eye(len(y) - 1, len(y)) - np.eye(len(y) - 1, len(y), k=1)
    root = np.sqrt(weight)
    dual = lsq_linear((falls / root).T, root * y, bounds=(0, penalty), method="bvls", tol=1e-14)
    return y - falls.T @ dual.x / weight


@pytest.mark.parametrize("seed", range(20))
def test_every_fit_of_the_path_is_that_of_an_independent_solver(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 14))
    pos = rng.integers(0, 2 + seed % 3, n).astype(float)
    neg = np.maximum(rng.integers(0, 2, n), pos == 0).astype(float)
    path = near_isotonic_path(pos, neg)
    for step, penalty in enumerate(path.penalties[1:], 1):
        np.testing.assert_allclose(along(path, step, n), optimum(pos / (pos + neg), pos + neg, penalty), atol=1e-8)


#: Rows with equal labels side by side, and what probcal 0.4.0 gives for them with all of its fits kept.
LABELS = np.array([0, 1, 0, 1, 1, 0, 1, 1])
SCORES = np.arange(1, 9) / 10
PROBCAL = np.array([0, 0.799053, 0.200947, 0.911191, 0.858325, 0.230483, 1, 1])
OURS = np.array([0, 0.5, 0.5, 0.700136, 0.700136, 0.599729, 1, 1])


def test_a_peer_parts_equal_neighbors():
    """Why probabilities differ from probcal's, here by 0.37.

    Equal neighbors never part (Tibshirani and others, theorem 1). There the last of several equal labels moves alone,
    so that its fits are not those of the penalties that it names; and the fit at λ = 0, the labels themselves, which
    the publication leaves out, takes part. Between scores it gives a step, the publication a straight line.
    """
    path = near_isotonic_path(LABELS.astype(float), 1.0 - LABELS)
    np.testing.assert_allclose(path.penalties, [0, 0.5, 2 / 3])
    cal = ENIRCalibrator(smoothing=None).fit(SCORES, LABELS)
    assert cal.penalties_.min() > 0
    found = cal.predict_proba(SCORES)[:, 1]
    np.testing.assert_allclose(found, OURS, atol=1e-6)
    assert np.abs(found - PROBCAL).max() == pytest.approx(0.369246, abs=1e-6)
    np.testing.assert_allclose(cal.predict_proba([0.15])[:, 1], (found[0] + found[1]) / 2)


def test_a_peer_is_still_as_described():
    probcal = needs("probcal")
    peer = probcal.ENIRCalibrator(max_solutions=None).fit(SCORES, LABELS)
    np.testing.assert_allclose(peer.predict_proba(SCORES), PROBCAL, atol=1e-6)
    assert peer.model_weights_[0] == pytest.approx(0.598, abs=1e-3)  # of the labels themselves
    ones = np.ones(len(LABELS))
    lambdas = peer.path_lambdas_[peer.kept_breakpoints_]
    above = [
        price(fitted, LABELS, ones, penalty) - price(optimum(LABELS, ones, penalty), LABELS, ones, penalty)
        for fitted, penalty in zip(peer.path_solutions_[1:], lambdas[1:], strict=True)
    ]
    assert max(above) > 0.05


def test_the_labels_themselves_are_no_fit_unless_there_is_no_other():
    scores, y, _ = waves(40)
    cal = ENIRCalibrator().fit(scores, y)
    assert cal.penalties_.min() > 0
    # Many cases at each score: the data are frequencies, and may be followed where they fall.
    places = np.repeat([0.0, 1.0, 2.0], 400)
    labels = np.tile(np.arange(400), 3) < np.repeat([80, 240, 160], 400)
    cal = ENIRCalibrator(smoothing=None).fit(places, labels.astype(int))
    assert cal.penalties_[0] == 0
    np.testing.assert_allclose(cal.predict_proba([0.0, 1.0, 2.0])[:, 1], [0.2, 0.6, 0.4], atol=1e-3)


@pytest.mark.parametrize("truth", [lambda p: p**2, lambda p: 0.5 + 0.4 * np.sin(9 * p)], ids=["rising", "waves"])
def test_a_peer_says_the_same_where_neighbors_differ(truth):
    probcal = needs("probcal")
    rng = np.random.default_rng(0)
    prob = np.round(rng.random(3000), 2)
    y = (rng.random(3000) < truth(prob)).astype(int)
    weights = rng.random(3000) + 0.5  # so that no two shares are equal: the peer lets equal neighbors part
    peer = probcal.ENIRCalibrator(max_solutions=None).fit(prob, y, sample_weight=weights)
    cal = ENIRCalibrator(smoothing=None).fit(prob, y, weights)
    places = np.unique(prob)
    np.testing.assert_allclose(cal.predict_proba(places)[:, 1], peer.predict_proba(places), atol=1e-11)
    known = np.isin(np.round(peer.path_lambdas_[peer.kept_breakpoints_], 6), np.round(cal.penalties_, 6))
    np.testing.assert_allclose(peer.model_weights_[known], cal.posterior_, atol=1e-9)


def log_loss(calibrator, scores, truth):
    p = np.clip(calibrator.predict_proba(scores)[:, 1], 1e-6, 1 - 1e-6)
    return -np.mean(truth * np.log(p) + (1 - truth) * np.log1p(-p))


def waves(n, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    truth = 0.5 + 0.4 * np.sin(3 * scores)
    return scores, (rng.random(n) < truth).astype(int), truth


def test_a_true_fall_is_followed():
    scores, y, truth = waves(5000)
    cal = ENIRCalibrator().fit(scores, y)
    assert not cal.map_.is_monotone
    assert log_loss(cal, scores, truth) < log_loss(IsotonicCalibrator().fit(scores, y), scores, truth) - 0.1


def test_pooling_long_data_costs_nothing(monkeypatch):
    scores, y, truth = waves(30_000)
    pooled = ENIRCalibrator().fit(scores, y)
    monkeypatch.setattr(enir, "_CELLS", 30_000)
    exact = ENIRCalibrator().fit(scores, y)
    assert log_loss(pooled, scores, truth) <= log_loss(exact, scores, truth) + 1e-3
    distance = pooled.predict_proba(scores) - exact.predict_proba(scores)
    assert 0 < np.sqrt(np.mean(distance**2)) < 0.03


def test_pooled_cells_hold_equal_parts_of_both_classes():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=200_000)
    y = (rng.random(200_000) < 1 / (1 + np.exp(4 - scores))).astype(int)
    starts, pos, neg = enir._cells(ScoreTable.from_arrays(scores, y))
    assert 3500 < len(starts) <= enir._CELLS
    assert (pos.sum(), neg.sum()) == (y.sum(), len(y) - y.sum())
    mass = pos / y.sum() + neg / (len(y) - y.sum())
    # Runs of one class are whole, so a cell may reach beyond its part; rare as they are, positives fill many cells.
    assert np.max(mass[(pos > 0) & (neg > 0)]) < 3 * 2 / enir._CELLS
    assert np.sum(pos > 0) > 1500


def test_perfectly_separated_classes():
    with ours_allowed():
        cal = ENIRCalibrator().fit([0.0, 1.0, 2.0, 3.0], [0, 0, 1, 1])
        certain = ENIRCalibrator(smoothing=None).fit([0.0, 1.0, 2.0, 3.0], [0, 0, 1, 1])
    places = [-1.0, 1.0, 1.5, 2.0, 9.0]
    np.testing.assert_allclose(cal.predict_proba(places)[:, 1], [1 / 6, 1 / 6, 0.5, 5 / 6, 5 / 6])
    np.testing.assert_allclose(certain.predict_proba(places)[:, 1], [0, 0, 0.5, 1, 1])
    assert cal.penalties_.tolist() == [0.0]
