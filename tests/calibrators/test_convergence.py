"""Every likelihood fit reaches its optimum on scores as they are: skewed, rare, certain, with outliers.

The optimum comes from an independent solver. Where it lies at infinity the fit must say so.
"""

import os
import warnings

import numpy as np
import pytest
from benchmarks.families import FAMILIES, network_problems
from scipy.optimize import minimize
from scipy.special import expit

import oddsmith
from oddsmith import (
    BetaCalibrator,
    LogisticCalibrator,
    MonotoneLogisticCalibrator,
    PiecewiseLogisticCalibrator,
    PlattCalibrator,
    ScoreTable,
    SplineCalibrator,
    TemperatureCalibrator,
)
from oddsmith.errors import NegativeSlopeWarning, NonConvergenceWarning, SeparableWarning
from oddsmith.fitting.hinge_fits import HingeFits
from oddsmith.maps import HeldInputMap
from samples import ours_allowed

needs_data = pytest.mark.skipif("ODDSMITH_DATA" not in os.environ, reason="needs the networks of ODDSMITH_DATA")

SEEDS = range(6)


def cases():
    """Return hard tables by name: every family at three sizes."""
    for name, family in FAMILIES.items():
        for seed in SEEDS:
            rng = np.random.default_rng([seed, len(name)])
            yield f"{name} {seed}", family(rng, [20, 300, 2000][seed % 3])


CASES = dict(cases())


def losses(z, y, v):
    """Return the log-losses of log-odds z, none of which can cancel."""
    return v * np.logaddexp(0, np.where(y == 1, -z, z))


def objective(z, t, v):
    """Return Σ v[log(1 + eᶻ) − t z] as a sum of non-negative terms."""
    return np.sum(v * (np.log1p(np.exp(-np.abs(z))) + np.where(z >= 0, 1 - t, t) * np.abs(z)))


def best(columns, t, v, penalty=None, bounds=None):
    """Minimize by SciPy from several starts, on features brought to one scale, and return the least objective."""
    scale = np.abs(columns).max(axis=0)
    scale[scale == 0] = 1.0
    X = columns / scale
    penalty = np.zeros((X.shape[1],) * 2) if penalty is None else penalty / scale[:, None] / scale

    def value(theta):
        return objective(X @ theta, t, v) + theta @ penalty @ theta / 2

    def gradient(theta):
        return X.T @ (v * (expit(X @ theta) - t)) + penalty @ theta

    def curvature(theta):
        p = expit(X @ theta)
        return (X * (v * p * (1 - p))[:, None]).T @ X + penalty

    level = np.log((v @ t) / (v @ (1 - t)))
    start = np.zeros(X.shape[1])
    start[-1] = level / X[0, -1] if X[0, -1] else 0.0
    found = [value(start)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for method in ("trust-exact", "L-BFGS-B") if bounds is None else ("L-BFGS-B",):
            again = start
            for _ in range(3):
                options = {"maxiter": 1000, **({"ftol": 0, "gtol": 0} if method == "L-BFGS-B" else {"gtol": 1e-12})}
                answer = minimize(
                    value, again, jac=gradient, hess=curvature, method=method, bounds=bounds, options=options
                )
                again = answer.x
                found.append(answer.fun)
    return min(found)


def fitted(calibrator, data):
    with ours_allowed():
        return calibrator.fit(*data)


def platt(y, v):
    n_pos, n_neg = v[y == 1].sum(), v[y == 0].sum()
    return np.where(y == 1, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))


def weights(data):
    return np.ones(len(data[1])) if data[2] is None else data[2].astype(float)


def close(found, optimum):
    return found <= optimum + 1e-9 * (1 + abs(optimum))


def log_odds_of(p):
    """Return log-odds, with 0 and 1 held as the calibrators hold them."""
    low = min(np.finfo(float).eps, p[p > 0].min())
    held = np.clip(p, low, min(1 - low, np.nextafter(1, 0)))
    return np.log(held / (1 - held))


def line_columns(s):
    """Return the score about its median and a constant, so that no outlier takes the others' digits."""
    return np.column_stack([(s - np.median(s)) / np.abs(s - np.median(s)).max(), np.ones(len(s))])


@pytest.mark.parametrize("name", CASES)
def test_platt_reaches_its_optimum(name):
    data = CASES[name]
    s, y, _ = data
    v = weights(data)
    cal = fitted(PlattCalibrator(), data)
    t = platt(y, v)
    assert close(objective(cal.log_odds(s), t, v), best(line_columns(s), t, v))


@pytest.mark.parametrize("family", FAMILIES)
def test_platt_reaches_its_optimum_on_a_few_rows(family):
    """Curvature vanishes within a step where a row weighs more than all others: half steps do not find the way."""
    for seed in range(12):
        rng = np.random.default_rng([seed, 2])
        data = FAMILIES[family](rng, int(rng.choice([3, 5, 12])))
        s, y, _ = data
        v = weights(data)
        t = platt(y, v)
        found, optimum = objective(fitted(PlattCalibrator(), data).log_odds(s), t, v), best(line_columns(s), t, v)
        assert close(found, optimum), (seed, found - optimum)


# A penalty on scores of any size, but for those whose squares are not.
PENALIZED = [name for name, data in CASES.items() if 1e-100 < np.abs(data[0]).max() < 1e100]


@pytest.mark.parametrize(("name", "l2"), [(name, 0.0) for name in CASES] + [(name, 1e-3) for name in PENALIZED])
def test_logistic_reaches_its_optimum(name, l2):
    data = CASES[name]
    s, y, _ = data
    v = weights(data)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        cal = LogisticCalibrator(penalty=l2).fit(*data)
    if l2 == 0 and any(issubclass(one.category, SeparableWarning) for one in said):
        t = platt(y, v)
        assert close(objective(cal.log_odds(s), t, v), best(line_columns(s), t, v))
        return
    assert not any(issubclass(one.category, NonConvergenceWarning) for one in said)
    found = objective(cal.log_odds(s), y, v)
    if l2:
        found += l2 * (cal.a_**2 + cal.b_**2)
        optimum = best(np.column_stack([s, np.ones(len(s))]), y, v, 2 * l2 * np.eye(2))
    else:
        optimum = best(line_columns(s), y, v)
    assert close(found, optimum)
    share = v[y == 1].sum() / v.sum()
    constant = objective(np.full(len(s), np.log(share) - np.log1p(-share)), y, v)
    assert close(found, constant + l2 * (np.log(share) - np.log1p(-share)) ** 2)


@pytest.mark.parametrize("name", CASES)
def test_beta_reaches_its_optimum(name):
    data = CASES[name]
    s, y, _ = data
    v = weights(data)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        cal = BetaCalibrator().fit(*data)
    t = platt(y, v) if any(issubclass(one.category, SeparableWarning) for one in said) else y
    z = s
    if isinstance(cal.map_, HeldInputMap):
        z = cal.map_._enter(s)
    elif cal.input_ == "probability":
        z = log_odds_of(s)
    assert cal.a_ >= 0
    assert cal.b_ >= 0
    if np.ptp(z) > 1e6 or np.ptp(z) < 1e-6:
        return  # the independent solver cannot tell
    columns = np.column_stack([-np.logaddexp(0, -z), np.logaddexp(0, z), np.ones(len(z))])
    columns[:, :2] -= np.median(columns[:, :2], axis=0)
    optimum = best(columns, t, v, bounds=[(0, None), (0, None), (None, None)])
    assert close(objective(cal.log_odds(s), t, v), optimum)


@pytest.mark.parametrize("family", FAMILIES)
def test_beta_with_three_parameters_is_not_worse_than_with_two(family):
    """Both minimize one objective, so that more freedom cannot cost anything, wherever slopes are held at 0."""
    for seed in range(60):
        rng = np.random.default_rng([seed, 1])
        data = FAMILIES[family](rng, int(rng.choice([3, 5, 12, 40])))
        s, y, _ = data
        within = 0 <= s.min() and s.max() <= 1
        declared = {"input": "score"} if within else {"input": "log_odds"}  # one reading of the scores
        three, two = (fitted(BetaCalibrator(parameters=k, **declared), data) for k in (3, 2))
        v = weights(data)
        t = platt(y, v) if any("separates" in said for said in three.fit_warnings_) else y
        free, tied = (objective(cal.log_odds(s), t, v) for cal in (three, two))
        assert close(free, tied), (seed, free - tied)


@needs_data
@pytest.mark.parametrize("log_odds", [False, True])
@pytest.mark.parametrize("cls", [PlattCalibrator, LogisticCalibrator, BetaCalibrator])
def test_networks(cls, log_odds):
    for name, data in network_problems(log_odds).items():
        s, y, _ = data
        v = weights(data)
        cal = fitted(cls(), data)
        t = platt(y, v) if cls is PlattCalibrator else y
        if cls is BetaCalibrator:
            z = s if log_odds else log_odds_of(s)
            columns = np.column_stack([-np.logaddexp(0, -z), np.logaddexp(0, z), np.ones(len(z))])
            optimum = best(columns, t, v, bounds=[(0, None), (0, None), (None, None)])
        else:
            optimum = best(line_columns(s), t, v)
        assert close(objective(cal.log_odds(s), t, v), optimum), name
        share = y.mean()
        assert objective(cal.log_odds(s), y, v) <= objective(np.full(len(s), np.log(share / (1 - share))), y, v) + 3


def test_the_slope_does_not_run_away():
    s = np.r_[np.linspace(0, 1e-3, 300), 1.0]
    y = np.zeros(301, int)
    y[[150, 300]] = 1
    assert PlattCalibrator().fit(s, y).a_ == pytest.approx(6.24388, rel=1e-5)


@pytest.mark.parametrize("n", [2_000, 20_000, 200_000])
def test_one_sentinel_does_not_stop_the_fit(n):
    rng = np.random.default_rng(0)
    s = rng.normal(size=n)
    y = (rng.random(n) < expit(s)).astype(int)
    alone = LogisticCalibrator().fit(s[1:], y[1:])
    s[0], y[0] = 1e12, 1
    for cal in (LogisticCalibrator().fit(s, y), LogisticCalibrator().fit_table(ScoreTable.from_arrays(s, y))):
        assert cal.a_ == pytest.approx(alone.a_, rel=1e-6)


BOUNDED = [
    "PlattCalibrator",
    "BetaCalibrator",
    "MonotoneLogisticCalibrator",
    "ScalingBinningCalibrator",
    "VennAbersCalibrator",
    "BBQCalibrator",
    "ENIRCalibrator",
    "HistogramCalibrator",
    "AutoCalibrator",
    "LogisticCalibrator",
    "PiecewiseLogisticCalibrator",
    "SplineCalibrator",
    "IsotonicCalibrator",
]


SMOOTH = {"LogisticCalibrator", "PiecewiseLogisticCalibrator", "IsotonicCalibrator"}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("cls", BOUNDED)
def test_no_fit_is_much_worse_than_the_base_rate(cls, name):
    data = CASES[name]
    s, y, _ = data
    v = weights(data)
    cal = fitted(getattr(oddsmith, cls)(), data)
    share = v[y == 1].sum() / v.sum()
    base = -(v[y == 1].sum() * np.log(share) + v[y == 0].sum() * np.log1p(-share))
    if cls in SMOOTH and not any(
        "separates" in said or "do not determine one of the pieces" in said for said in cal.fit_warnings_
    ):
        # Their penalties do not touch a constant, which therefore bounds the loss itself.
        assert losses(cal.log_odds(s), y, v).sum() <= base + 1e-9 * (1 + abs(base))
    # Venn–Abers adds a case at every score: where positives are rare that costs about log N.
    bound = 3 + np.log(len(s)) / 2 if cls == "VennAbersCalibrator" else 3
    unit = 1
    if v.min() >= 2**31:  # where every row is vast, the smallest of them; means of a line over bins have no bound
        unit = np.inf if cls == "ScalingBinningCalibrator" else v.min()
    assert losses(cal.log_odds(s), y, v).sum() <= base + bound * unit + 1e-9 * abs(base)


@pytest.mark.parametrize("cls", [MonotoneLogisticCalibrator, SplineCalibrator, PiecewiseLogisticCalibrator])
@pytest.mark.parametrize("name", CASES)
def test_curves_converge(cls, name):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        cls().fit(*CASES[name])
    assert not [str(one.message) for one in said if issubclass(one.category, NonConvergenceWarning)]


@pytest.mark.parametrize("seed", [426, 664, 1616, 2228])
def test_a_gain_that_rounding_hides_is_no_lack_of_convergence(seed):
    rng = np.random.default_rng([seed, 7])
    data = FAMILIES["large counts"](rng, int(rng.choice([3, 5, 12, 40, 150, 600])))
    assert not any("stopped before" in said for said in fitted(PiecewiseLogisticCalibrator(), data).fit_warnings_)


@pytest.mark.parametrize("seed", range(6))
def test_far_scores_of_vast_weight_cost_piecewise_neither_steps_nor_digits(seed, monkeypatch):
    """Slopes differ by ten decades from piece to piece: hinges must not cancel where scores are far."""
    rng = np.random.default_rng([seed, 8])
    s = np.exp(rng.normal(0, 8, 800))
    y = (rng.random(800) < expit(np.log(s) / 3)).astype(int)
    weight = (2 ** rng.uniform(31, 40, 800)).astype(np.int64)
    evaluations = []
    evaluate = HingeFits.evaluate
    monkeypatch.setattr(HingeFits, "evaluate", lambda *given: evaluations.append(1) or evaluate(*given))
    cal, mirrored = (
        fitted(PiecewiseLogisticCalibrator(), (s, y, weight)),
        fitted(PiecewiseLogisticCalibrator(), (-s, 1 - y, weight)),
    )
    assert len(evaluations) < 1500
    assert not any("stopped before" in said for said in cal.fit_warnings_)
    ours = losses(cal.log_odds(s), y, weight).sum()
    assert ours == pytest.approx(losses(mirrored.log_odds(-s), 1 - y, weight).sum(), rel=1e-6)


def test_a_temperature_in_the_wrong_direction_is_said():
    with pytest.warns(NegativeSlopeWarning, match="Higher scores go with the negative class"):
        TemperatureCalibrator(input="log_odds").fit([-3.0, -1.0, 1.0, 3.0, 0.5, 2.0], [1, 1, 0, 0, 1, 1])


def test_a_heavy_row_does_not_tilt_a_flat_fit():
    """The least slope of a rising fit is one over the range of the scores, not over their weighted spread."""
    rng = np.random.default_rng(5)
    s = rng.normal(size=2000)
    y = (rng.random(2000) < 1 / (1 + np.exp(s))).astype(int)
    weight = np.ones(2000, np.int64)
    weight[np.argmin(np.where(y == 0, np.abs(s), np.inf))] = 10**12
    with ours_allowed():
        cal = oddsmith.MonotoneLogisticCalibrator().fit(s, y, weight)
    level = np.log(weight[y == 1].sum()) - np.log(weight[y == 0].sum())
    np.testing.assert_allclose(cal.log_odds(s), level, atol=1e-3)


def test_a_row_whose_weight_vanishes_beside_another_does_not_tilt_a_flat_fit():
    """Rounding leaves nothing of the curvature of a slope beside that of the level: the slope is 0, not noise."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        cal = MonotoneLogisticCalibrator().fit([6.1e-10, 7.5e-9, 4.5e-6], [1, 0, 0], [1.48e17, 1.7e-58, 6.3e-19])
    assert not [one for one in said if issubclass(one.category, NonConvergenceWarning)]
    np.testing.assert_allclose(cal.log_odds([6.1e-10, 7.5e-9, 4.5e-6]), np.log(1.48e17 + 1), atol=1e-3)
