"""Long data take shortcuts: histograms, sketches, bounds. None may change the answer."""

import itertools

import numpy as np
import pytest
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from oddsmith import (
    AsymmetricGaussianCalibrator,
    AsymmetricLaplaceCalibrator,
    HybridCalibrator,
    IsotonicCalibrator,
    LogisticCalibrator,
    MonotoneLogisticCalibrator,
    PiecewiseLogisticCalibrator,
    PlattCalibrator,
    ScoreTable,
    _kernels,
)
from oddsmith.fitting import designs, line
from oddsmith.fitting.designs import LongDesign
from oddsmith.fitting.newton import minimize
from oddsmith.fitting.sketches import ScoreScale
from oddsmith.fitting.targets import LABELS
from optional import needs
from samples import ours_allowed

N = 60_000
RNG = np.random.default_rng(11)
BASE = RNG.normal(size=N)
HEAVY = RNG.standard_t(1.5, N)
CHANCE = RNG.random(N)


def labels(log_odds):
    return (CHANCE < expit(log_odds)).astype(int)


DATA = {
    "normal": (BASE, labels(2 * BASE - 0.5)),
    "clustered": (np.repeat([-2.0, 0.0, 1e3], N // 3) + 1e-5 * BASE, labels(BASE)),
    "shifted": (1e8 + BASE, labels(2 * BASE)),
    "discrete": (np.round(BASE, 1), labels(2 * BASE)),
    "probabilities": (1 / (1 + np.exp(-5 * BASE)), labels(3 * BASE)),
    "sorted": (np.sort(BASE), labels(2 * np.sort(BASE))),
    "heavy tails": (HEAVY, labels(2 * HEAVY - 0.5)),
    "steep": (BASE, labels(2e4 * BASE)),  # within one cell of any histogram
    "rare": (BASE, labels(2 * BASE - 10)),
}
each = pytest.mark.parametrize(("scores", "y"), DATA.values(), ids=DATA)
compiled = pytest.mark.parametrize("switch", ["0", "1"], ids=["numpy", "compiled"])


@pytest.fixture
def use(switch, monkeypatch):
    if switch == "1":
        needs("numba")
    monkeypatch.setenv("ODDSMITH_COMPILED", switch)


def fit(calibrator, *arguments):
    with ours_allowed():
        return calibrator.fit(*arguments)


def fit_table(calibrator, table):
    with ours_allowed():
        return calibrator.fit_table(table)


@each
@compiled
@pytest.mark.parametrize("weighted", [False, True])
def test_line_reaches_the_optimum(scores, y, switch, use, weighted):
    v = np.random.default_rng(1).random(N) + 0.5 if weighted else None
    cal = fit(PlattCalibrator(), scores, y, v)
    table = ScoreTable.from_arrays(scores, y, v)
    again = fit_table(PlattCalibrator(), table)
    v = np.ones(N) if v is None else v
    n_pos, n_neg = v[y == 1].sum(), v[y == 0].sum()
    t = np.where(y == 1, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))
    # Distance to the optimum in parameters: the Newton step from the answer, by sums of extended precision.
    line = cal.map_
    x = ((scores - line.origins[0]) / line.scale).astype(np.longdouble)
    intercept, slope, _ = line.coefficients[0]
    p = 1 / (1 + np.exp(-(slope * x + intercept)))
    g = np.array([np.sum(v * (p - t) * x), np.sum(v * (p - t))], dtype=float)
    h = v * p * (1 - p)
    hessian = np.array([[np.sum(h * x * x), np.sum(h * x)], [np.sum(h * x), np.sum(h)]], dtype=float)
    step = np.linalg.solve(hessian, g)
    assert abs(step[0]) <= 1e-10 * abs(slope)
    assert abs(step[1]) <= 1e-10 * max(abs(intercept), abs(slope))
    np.testing.assert_allclose(again.log_odds(scores[:100]), cal.log_odds(scores[:100]), rtol=1e-9, atol=1e-9)


@each
def test_plain_logistic_from_rows_and_table(scores, y):
    direct = fit(LogisticCalibrator(), scores, y)
    table = fit_table(LogisticCalibrator(), ScoreTable.from_arrays(scores, y))
    np.testing.assert_allclose(direct.log_odds(scores[:200]), table.log_odds(scores[:200]), rtol=1e-9, atol=1e-9)


@each
@compiled
def test_isotonic_agrees_with_scikit_learn(scores, y, switch, use):
    cal = fit(IsotonicCalibrator(), scores, y)
    peer = IsotonicRegression(out_of_bounds="clip").fit(scores, y)
    query = np.concatenate([scores, np.random.default_rng(2).uniform(scores.min() - 1, scores.max() + 1, N)])
    # Scores closer than its tolerance are one score to scikit-learn.
    close = 1e-9 if np.abs(scores).max() < 1e6 else 1e-2
    assert np.mean(np.abs(cal.predict_proba(query)[:, 1] - peer.predict(query)) > close) < 1e-3


@each
@compiled
@pytest.mark.parametrize(
    ("cls", "powers", "objective"),
    [
        (AsymmetricLaplaceCalibrator, (1, 1), lambda a, b: np.sqrt(a) + np.sqrt(b)),
        (AsymmetricGaussianCalibrator, (2, 2), lambda a, b: np.cbrt(a) + np.cbrt(b)),
    ],
)
def test_bounds_never_cut_off_the_best_mode(scores, y, switch, use, cls, powers, objective):
    cal = fit(cls(1), scores, y)
    for density, c in ((cal.positive_, 1), (cal.negative_, 0)):
        x, w = np.unique(scores[y == c], return_counts=True)
        x = (x - np.median(x)).astype(np.longdouble)
        sums = [np.cumsum(w * x**k) for k in range(3)]
        left, right = (
            s[1] - s[0] * x if power == 1 else s[2] - 2 * s[1] * x + s[0] * x * x
            for s, power in ((sums, powers[0]), ([s[-1] - s for s in sums], powers[1]))
        )
        values = objective(np.abs(left).astype(float), np.abs(right).astype(float))
        at = np.argmin(np.abs(np.unique(scores[y == c]) - density.theta))
        assert values[at] <= values.min() * (1 + 1e-9)


@each
def test_finer_candidates_only_help(scores, y):
    coarse, fine = (fit(AsymmetricGaussianCalibrator(k), scores, y) for k in (1, 10))
    assert fine.positive_.log_likelihood >= coarse.positive_.log_likelihood - 1e-6
    hybrid = [fit(HybridCalibrator(k), scores, y).negative_.log_likelihood for k in (1, 10)]
    assert hybrid[1] >= hybrid[0] - 1e-6


@pytest.mark.parametrize("name", ["normal", "discrete", "probabilities", "heavy tails", "shifted"])
def test_piecewise_pair_is_as_good_as_any(name):
    scores, y = DATA[name]
    cal = fit(PiecewiseLogisticCalibrator(penalty=1.0), scores, y)
    table = ScoreTable.from_arrays(scores, y)

    def likelihood(knots):
        other = fit_table(PiecewiseLogisticCalibrator(penalty=1.0, knots=knots), table)
        z = other.log_odds(scores)
        return np.sum(y * z - np.logaddexp(0, z))

    z = cal.log_odds(scores)
    mine = np.sum(y * z - np.logaddexp(0, z))
    tenths = [np.percentile(scores[y == c], np.arange(10, 100, 10)) for c in (0, 1)]
    pairs = [(a, b) for a, b in itertools.product(*tenths) if scores.min() < a < b < scores.max()]
    best = max(likelihood(pair) for pair in [*pairs[::3], tuple(cal.knots_[1:-1])])
    assert mine >= best - 1e-5 * abs(best)
    # And at its knots the fit on the whole table is at its optimum: the gradient vanishes.
    p = expit(z)
    assert abs(np.sum(p - y)) <= 1e-7 * N


def test_piecewise_growth_on_long_data():
    scores = np.sort(np.random.default_rng(3).normal(size=N))
    y = labels(np.interp(scores, [-3, -1, 1, 3], [-6, -0.5, 0.5, 6]))
    cal = fit(PiecewiseLogisticCalibrator("grow", selection="bic"), scores, y)
    assert 2 <= len(cal.slopes_) <= 8
    assert [step.kept for step in cal.trace_] == [True] * len(cal.slopes_) + [False]
    three = fit(PiecewiseLogisticCalibrator(monotone=True), scores, y)
    assert three.map_.is_monotone
    np.testing.assert_allclose(
        three.log_odds([-2.0, 0.0, 2.0]), np.interp([-2, 0, 2], [-3, -1, 1, 3], [-6, -0.5, 0.5, 6]), atol=0.6
    )


def test_quantized_tables_fit_nearly_the_same():
    scores, y = DATA["normal"]
    table = ScoreTable.from_arrays(scores, y)
    coarse = table.quantize(2.0**-9)
    for cal in (
        PlattCalibrator(),
        LogisticCalibrator(),
        AsymmetricLaplaceCalibrator(),
        PiecewiseLogisticCalibrator(penalty=1.0),
    ):
        exact = fit_table(cal, table).predict_proba([-2.0, 0.0, 2.0])
        near = fit_table(cal, coarse).predict_proba([-2.0, 0.0, 2.0])
        np.testing.assert_allclose(near, exact, atol=2e-3)
    assert fit_table(LogisticCalibrator(), coarse).a_ == pytest.approx(
        fit_table(LogisticCalibrator(), table).a_, rel=1e-5
    )


@each
def test_rising_pieces_reach_the_optimum_mostly_without_a_pass_over_the_scores(scores, y, monkeypatch):
    passes = []
    walk = designs._walk
    monkeypatch.setattr(designs, "_walk", lambda *given: passes.append(1) or walk(*given))
    found = fit(MonotoneLogisticCalibrator(), scores, y)
    quick = len(passes)
    # The same fit, with every score as its own point.
    monkeypatch.setattr(LongDesign, "fit", every_score)
    exact = fit(MonotoneLogisticCalibrator(), scores, y)
    t = np.where(y == 1, (y.sum() + 1) / (y.sum() + 2), 1 / (len(y) - y.sum() + 2))
    z, best = found.log_odds(scores), exact.log_odds(scores)
    losses = [np.sum(np.logaddexp(0, one) - t * one) for one in (z, best)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)
    if np.ptp(best) < 1e3:
        assert quick == 0


def every_score(self, penalty, start=None, direction=None):
    """`LongDesign.fit` from the sketch's fit on, whether or not it is fine enough."""
    first = self.short.fit(penalty, start, direction)
    return minimize(designs._SummedLoss(self._parts, 0.0, penalty), first.theta, self.short.cases, direction)


def test_no_product_is_long_enough_for_threads():
    """OpenBLAS divides longer ones, and a loaded machine then takes 15 to 60 times as long."""
    assert line._PIECE <= _kernels.DOT_ALONE
    scores, y = DATA["normal"]
    table = ScoreTable.from_arrays(scores, y)
    frame = ScoreScale.of(table)
    for size in (1, 3, 9, 30, 100):
        long = LongDesign.of(table, frame, lambda x, k=size: x[:, None] ** np.arange(k), LABELS, np.empty(0))
        for columns, up, down in (*long._parts(), *long.short._parts()):
            assert columns.size <= 9_216
            assert columns.size * size <= 262_144
            assert len(columns) == len(up) == len(down) <= _kernels.DOT_ALONE
        assert sum(len(up) for _, up, _ in long._parts()) == len(table)
        assert sum(len(up) for _, up, _ in long.short._parts()) == len(long.short.up)
