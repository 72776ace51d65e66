"""Each parametric fit equals an independent optimizer's answer."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

from oddsmith import (
    AsymmetricGaussianCalibrator,
    AsymmetricLaplaceCalibrator,
    DensityCalibrator,
    GaussianCalibrator,
    HybridCalibrator,
    IsotonicCalibrator,
    LaplaceCalibrator,
    LogisticCalibrator,
    PiecewiseLogisticCalibrator,
    PlattCalibrator,
)
from samples import examples, ours_allowed, samples

weights_of = st.sampled_from(["none", "counts", "floats"])


def draw_weights(kind, n):
    rng = np.random.default_rng(n)
    return {"none": None, "counts": rng.integers(1, 5, n), "floats": rng.random(n) + 0.1}[kind]


def fit(calibrator, *arguments):
    with ours_allowed():
        return calibrator.fit(*arguments)


def overlap(scores, y):
    return scores[y == 1].min() < scores[y == 0].max() and scores[y == 0].min() < scores[y == 1].max()


def cross_entropy(z, t, v):
    return np.sum(v * (np.logaddexp(0, z) - t * z))


@given(samples(min_size=4), weights_of, st.sampled_from([0.0, 0.1, 3.0]), st.booleans())
def test_logistic(data, kind, l2, fit_intercept):
    scores, y = data
    assume(overlap(scores, y) and (fit_intercept or (scores[y == 1].min() < 0 < scores[y == 1].max())))
    v = draw_weights(kind, len(y))
    cal = fit(LogisticCalibrator(l2, fit_intercept), scores, y, v)
    v = np.ones(len(y)) if v is None else v

    def objective(theta):
        a, b = theta[0], theta[1] if fit_intercept else 0.0
        return cross_entropy(a * scores + b, y, v) + l2 * (a * a + b * b)

    best = minimize(
        objective,
        np.zeros(1 + fit_intercept),
        method="Nelder-Mead",
        options={"xatol": 1e-11, "fatol": 1e-14, "maxiter": 4000},
    )
    found = objective([cal.a_, cal.b_])
    assert found <= best.fun + 1e-9 * (1 + abs(best.fun))


@given(samples(), weights_of)
def test_platt(data, kind):
    scores, y = data
    assume(np.ptp(scores) > 0)
    v = draw_weights(kind, len(y))
    cal = fit(PlattCalibrator(), scores, y, v)
    v = np.ones(len(y)) if v is None else v
    n_pos, n_neg = v[y == 1].sum(), v[y == 0].sum()
    t = np.where(y == 1, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))
    p = 1 / (1 + np.exp(-(cal.a_ * scores + cal.b_)))
    # At the minimum of a convex function both derivatives vanish.
    assert np.sum(v * (p - t)) == pytest.approx(0, abs=1e-9 * v.sum())
    assert np.sum(v * (p - t) * scores) == pytest.approx(0, abs=1e-9 * v.sum() * np.abs(scores).max())


@given(samples(min_size=6), weights_of)
def test_gaussian(data, kind):
    scores, y = data
    v = draw_weights(kind, len(y))
    assume(all(np.ptp(scores[y == c]) > 0.1 for c in (0, 1)))
    cal = fit(GaussianCalibrator(), scores, y, v)
    for density, c in ((cal.positive_, 1), (cal.negative_, 0)):
        w = None if v is None else v[y == c]
        mean = np.average(scores[y == c], weights=w)
        assert density.parameters["mu"] == pytest.approx(mean, abs=1e-12)
        assert density.parameters["sigma"] == pytest.approx(
            np.sqrt(np.average((scores[y == c] - mean) ** 2, weights=w))
        )


def log_density(density, x):
    """Evaluate a fitted density at raw scores from its reported parameters alone."""
    p, d = density.parameters, None
    if "mu" in p:
        return -0.5 * ((x - p["mu"]) / p["sigma"]) ** 2 - np.log(p["sigma"] * np.sqrt(2 * np.pi))
    d = x - p["theta"]
    if "b" in p:
        return -np.abs(d) / p["b"] - np.log(2 * p["b"])
    if "gamma" in p:
        return -np.where(d <= 0, -p["beta"] * d, p["gamma"] * d) - np.log(1 / p["beta"] + 1 / p["gamma"])
    sigma = np.where(d <= 0, p["sigma_l"], p["sigma_r"])
    return -(d**2) / (2 * sigma**2) + np.log(2 / np.sqrt(2 * np.pi) / (p["sigma_l"] + p["sigma_r"]))


FAMILIES = {
    LaplaceCalibrator: lambda q: {"theta": q[0], "b": np.exp(q[1])},
    AsymmetricLaplaceCalibrator: lambda q: {"theta": q[0], "beta": np.exp(q[1]), "gamma": np.exp(q[2])},
    AsymmetricGaussianCalibrator: lambda q: {"theta": q[0], "sigma_l": np.exp(q[1]), "sigma_r": np.exp(q[2])},
}


@pytest.mark.parametrize("cls", FAMILIES)
@examples(15)
@given(data=samples(min_size=30), kind=weights_of)
def test_no_density_of_the_family_is_likelier(cls, data, kind):
    scores, y = data
    assume(min(y.sum(), (1 - y).sum()) >= 8)
    v = draw_weights(kind, len(y))
    subdivisions = {} if cls is LaplaceCalibrator else {"subdivisions": 40}
    cal = fit(cls(**subdivisions), scores, y, v)
    v = np.ones(len(y)) if v is None else v
    for density, c in ((cal.positive_, 1), (cal.negative_, 0)):
        x, w = scores[y == c], v[y == c]
        assert density.log_likelihood == pytest.approx(np.sum(w * log_density(density, x)), abs=1e-6 * w.sum())
        if density.spike:
            continue  # the likelihood has no maximum beyond the continuity constants

        def loss(q, x=x, w=w):
            stand_in = type("Density", (), {"parameters": FAMILIES[cls](q)})
            return -np.sum(w * log_density(stand_in, x))

        for start in (np.median(x), x.mean(), density.theta):
            q = minimize(
                loss,
                [start, 0.0, 0.0],
                method="Nelder-Mead",
                options={"xatol": 1e-8, "fatol": 1e-9, "maxiter": 2000},
            )
            if min(np.exp(np.abs(q.x[1:]))) < 1e3:
                assert -density.log_likelihood <= q.fun + 1e-3 * w.sum() / len(x)


@examples(15)
@given(samples(min_size=30))
def test_exhaustive_search_finds_no_better_mode(data):
    scores, y = data
    assume(min(y.sum(), (1 - y).sum()) >= 5)
    cal = fit(AsymmetricGaussianCalibrator(), scores, y)
    for density, c in ((cal.positive_, 1), (cal.negative_, 0)):
        x = np.unique(scores[y == c])
        gaps = np.linspace(0, 1, 10, endpoint=False)
        candidates = np.append((x[:-1, None] + np.diff(x)[:, None] * gaps).ravel(), x[-1])
        d = scores[y == c][None] - candidates[:, None]
        values = np.cbrt((d**2 * (d <= 0)).sum(axis=1)) + np.cbrt((d**2 * (d > 0)).sum(axis=1))
        at = np.argmin(np.abs(candidates - density.theta))
        assert values[at] <= values.min() * (1 + 1e-9)


@examples(15)
@given(samples(min_size=20), st.sampled_from([True, False]))
def test_hybrid_given_its_mode(data, weighted):
    scores, y = data
    assume(min(y.sum(), (1 - y).sum()) >= 5)
    v = np.arange(1, len(y) + 1) % 3 + 1 if weighted else None
    cal = fit(HybridCalibrator(), scores, y, v)
    v = np.ones(len(y)) if v is None else v
    for density, c, inner in ((cal.positive_, 1, -1), (cal.negative_, 0, 1)):
        if density.spike:
            continue
        d, w = scores[y == c] - density.theta, v[y == c]
        inside = d <= 0 if inner < 0 else d > 0

        def loss(q, d=d, w=w, inside=inside):
            u, sigma = np.exp(q)
            terms = np.where(inside, np.abs(d) / u, d**2 / (2 * sigma**2))
            return np.sum(w * terms) + w.sum() * np.log(u + np.sqrt(np.pi / 2) * sigma)

        best = minimize(
            loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}
        )
        assert -density.log_likelihood <= best.fun + 1e-7


@given(samples(min_size=6))
def test_exponential_is_the_likelier_end(data):
    scores, y = data
    assume(all(np.ptp(scores[y == c]) > 0.1 for c in (0, 1)))
    cal = fit(DensityCalibrator("exponential", "gaussian"), scores, y)
    x = scores[y == 1]
    assert cal.positive_.theta == (x.min() if x.mean() - x.min() <= x.max() - x.mean() else x.max())
    assert not any("spike" in message for message in cal.fit_warnings_)


@examples(25)
@given(samples(min_size=12), weights_of, st.sampled_from([0.01, 1.0]), st.booleans())
def test_piecewise_at_given_knots(data, kind, l2, monotone):
    scores, y = data
    assume(overlap(scores, y))
    v = draw_weights(kind, len(y))
    knots = np.quantile(scores, [0.3, 0.7])
    assume(scores.min() < knots[0] < knots[1] < scores.max())
    cal = fit(PiecewiseLogisticCalibrator(knots=knots, penalty=l2, monotone=monotone), scores, y, v)
    v = np.ones(len(y)) if v is None else v
    features = np.stack([np.minimum(scores, knots[0]), np.clip(scores, *knots), np.maximum(scores, knots[1])])
    features -= features.min(axis=1, keepdims=True)

    def objective(theta):
        z = theta[0] + theta[1:] @ features
        return cross_entropy(z, y, v) + l2 * np.sum(np.diff(theta[1:]) ** 2)

    bounds = [(None, None)] + [(0 if monotone else None, None)] * 3
    best = minimize(
        objective,
        np.zeros(4),
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
    )
    p = cal.log_odds(scores)
    found = cross_entropy(p, y, v) + l2 * np.sum(np.diff(cal.slopes_) ** 2)
    assert found <= best.fun + 1e-7 * (1 + abs(best.fun))


@examples(10)
@given(samples(min_size=40, max_size=60), st.sampled_from([0.1, 1.0]))
def test_the_pair_is_the_likeliest_of_all(data, l2):
    scores, y = data
    assume(overlap(scores, y) and min(y.sum(), (1 - y).sum()) >= 8)
    cal = fit(PiecewiseLogisticCalibrator(penalty=l2), scores, y)
    tenths = [np.percentile(scores[y == c], np.arange(10, 100, 10)) for c in (0, 1)]
    likelihoods = [
        fit(PiecewiseLogisticCalibrator(knots=[a, b], penalty=l2), scores, y).log_likelihood_
        for a in tenths[0]
        for b in tenths[1]
        if scores.min() < a < b < scores.max()
    ]
    assume(likelihoods)
    assert cal.log_likelihood_ == pytest.approx(max(likelihoods), abs=1e-8)


@given(samples())
def test_isotonic_is_the_max_min_formula(data):
    scores, y = data
    cal = fit(IsotonicCalibrator(), scores, y)
    distinct = np.unique(scores)
    for i, s in enumerate(distinct):
        value = max(
            min(y[(scores >= distinct[j]) & (scores <= distinct[k])].mean() for k in range(i, len(distinct)))
            for j in range(i + 1)
        )
        assert cal.predict_proba([s])[0, 1] == pytest.approx(value, abs=1e-12)
    assert cal.predict_proba(scores)[:, 1].mean() == pytest.approx(y.mean())


@given(samples(min_size=6))
def test_sums_match_the_targets(data):
    """Σp = Σt and Σsp = Σst, with t the targets actually used."""
    scores, y = data
    assume(overlap(scores, y))
    for cal in (LogisticCalibrator(), PiecewiseLogisticCalibrator(penalty=0.5)):
        p = fit(cal, scores, y).predict_proba(scores)[:, 1]
        assert p.sum() == pytest.approx(y.sum(), abs=1e-7 * len(y))
        assert (p * scores).sum() == pytest.approx((y * scores).sum(), abs=1e-6 * len(y))


def test_a_stiff_penalty_gives_logistic_regression():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=300)
    y = (rng.random(300) < 1 / (1 + np.exp(-scores))).astype(int)
    stiff, line = PiecewiseLogisticCalibrator(penalty=1e9).fit(scores, y), LogisticCalibrator().fit(scores, y)
    np.testing.assert_allclose(stiff.log_odds(scores), line.log_odds(scores), atol=1e-6)


@pytest.mark.parametrize("scale", [1e-150, 1e-5, 1.0, 1e5, 1e150])
def test_logistic_with_a_penalty_at_any_scale(scale):
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    y = (rng.random(200) < 1 / (1 + np.exp(-x))).astype(int)
    cal = LogisticCalibrator(penalty=0.3).fit(x * scale, y)
    best = minimize_scalar(lambda b: cross_entropy(np.full(200, b), y, 1.0) + 0.3 * b * b)
    total = (
        cross_entropy(cal.log_odds(x * scale), y, 1.0) + 0.3 * (cal.a_ * cal.a_ if scale >= 1 else 0) + 0.3 * cal.b_**2
    )
    assert total <= best.fun + 1e-9
