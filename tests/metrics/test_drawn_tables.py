"""What intervals are made from: tables drawn again have the right law, supposed truths lie on their path."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from oddsmith import ScoreTable, metrics
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import class_forecast, interval
from oddsmith.metrics._alternatives import paths_of_truth, rates_of_alike, rates_of_neighbors
from oddsmith.metrics._confidence_limits import _allot, _quantile_curves
from oddsmith.metrics.resampled import equal_rows, labels_again, rows_again

RNG = np.random.default_rng(0)
SCORES = RNG.normal(0, 1.5, 200)
LABELS = (RNG.random(200) < expit(0.6 * SCORES)).astype(int)
WEIGHT = RNG.exponential(size=200)
WEIGHTED = ScoreTable.from_arrays(np.round(SCORES), LABELS, WEIGHT)
COUNTED = ScoreTable.from_arrays(np.round(SCORES), LABELS)


def cell(table, score, side):
    """The weight of one class at a score; 0 where the score was not drawn."""
    return float(getattr(table, side)[table.scores == score].sum())


@pytest.mark.parametrize("table", [COUNTED, WEIGHTED], ids=["counts", "floats"])
def test_rows_drawn_again_have_the_mean_and_variance_of_rows(table):
    drawn = list(rows_again(table, 4000, np.random.default_rng(1)))
    weight = np.ones(200) if table is COUNTED else WEIGHT
    for score, side, wanted in ((0.0, "pos", 1), (1.0, "neg", 0)):
        held = (np.round(SCORES) == score) & (LABELS == wanted)
        sums = np.array([cell(one, score, side) for one in drawn])
        # The bootstrap of rows: a sum over n rows drawn with replacement of w·[in the cell].
        amount = weight * held
        assert sums.mean() == pytest.approx(amount.sum(), rel=0.03)
        # As rows of equal weight in a cell, not the rows themselves: Σw² is kept, and the total number of rows.
        squares = float((amount**2).sum())
        units = 200 if table is COUNTED else sum(equal_rows(*pair)[0].sum() for pair in sides(table))
        assert sums.var() == pytest.approx(squares - amount.sum() ** 2 / units, rel=0.1)


def sides(table):
    return ((table.pos, table.pos_sq), (table.neg, table.neg_sq))


@pytest.mark.parametrize("table", [COUNTED, WEIGHTED], ids=["counts", "floats"])
def test_labels_drawn_again_follow_their_probability(table):
    prob = np.linspace(0.1, 0.9, len(table))
    drawn = list(labels_again(table, prob, 3000, np.random.default_rng(2)))
    share = [sum(cell(one, score, "pos") for one in drawn) for score in table.scores]
    total = [sum(cell(one, score, "pos") + cell(one, score, "neg") for one in drawn) for score in table.scores]
    np.testing.assert_allclose(np.array(share) / total, prob, atol=0.02)
    np.testing.assert_allclose(np.array(total) / 3000, table.total, rtol=0.12, atol=0.1)


@pytest.mark.parametrize("table", [COUNTED, WEIGHTED], ids=["counts", "floats"])
@pytest.mark.parametrize("null", ["calibrated", "constant"])
@pytest.mark.parametrize("path", [0, 1], ids=["curve", "line"])
def test_supposed_truths_lie_on_a_line_from_the_null_hypothesis(table, null, path):
    truths = paths_of_truth(table, null)[path]
    start = expit(table.scores) if null == "calibrated" else np.full(len(table), table.prevalence)
    np.testing.assert_allclose(truths[0].prob, start)
    inside = [t.prob - start for t in truths[1:] if 0 < t.prob.min() and t.prob.max() < 1]
    assert len(inside) >= 2
    # All differences point the same way, and grow.
    direction = inside[-1] / np.linalg.norm(inside[-1])
    lengths = np.array([step @ direction for step in inside])
    np.testing.assert_allclose(inside, np.outer(lengths, direction), atol=1e-9)
    assert np.all(np.diff(lengths) > 0)
    for truth in truths:
        shares = truth.population.pos / truth.population.total
        np.testing.assert_allclose(shares, truth.prob, atol=1e-6)
        assert truth.population.kind == table.kind
    suggested = min(truths[1:], key=lambda truth: truth.distance)
    assert suggested.distance == 0


def test_truths_far_away_are_drawn_less_often():
    assert _allot(750, [1.5, 0.0, 24.0, 16.0]) == [300, 300, 75, 75]
    assert min(_allot(15, [1.0] * 13)) == 3


def test_few_samples_widen_as_a_prediction_interval_does():
    rng = np.random.default_rng(3)
    missed = []
    for _ in range(1500):
        # Of a normal law, 7 samples under each of 4 truths: the next one should lie outside in 5 % of the cases.
        samples = [rng.normal(k, 1 + k / 4, 7) for k in range(4)]
        low, _, high = _quantile_curves(samples, 0.025)
        fresh = rng.normal(2, 1.5)
        missed.append(not low[2] <= fresh <= high[2])
    assert 0.02 < np.mean(missed) < 0.075
    many = [rng.normal(0, 1, 20_000) for _ in range(3)]
    np.testing.assert_allclose(_quantile_curves(many, 0.025)[:, 1], stats.norm.ppf([0.025, 0.5, 0.975]), atol=0.05)


@pytest.mark.parametrize("positives", [200, 190, 60])
@pytest.mark.parametrize("score", ["log", "squared"])
def test_uncertainty_has_the_interval_of_the_base_rate(positives, score):
    # At ½ the uncertainty is largest: the bootstrap never exceeds it, and yet it must be covered.
    table = ScoreTable.from_arrays([0.0, 0.0], [1, 0], [positives, 400 - positives])
    measure = {"log": metrics.log_loss_uncertainty, "squared": metrics.brier_uncertainty}[score]
    found = interval(measure, table, n_resamples=4000, random_state=0)
    rates = stats.binom(400, positives / 400).ppf([0.025, 0.975]) / 400
    value = {"log": lambda r: -r * np.log(r) - (1 - r) * np.log(1 - r), "squared": lambda r: r * (1 - r)}[score]
    places = np.append(rates, 0.5) if rates[0] <= 0.5 <= rates[1] else rates
    assert found.low == pytest.approx(min(value(places)), abs=0.008)
    assert found.high == pytest.approx(max(value(places)), abs=0.008)
    assert found.high >= found.value


def test_samples_with_infinite_measures_have_no_interval():
    def unbounded(table):
        return np.inf if table.n_pos > table.n_neg else 0.1

    table = ScoreTable.from_arrays([-1.0, 0.5, 1.0], [0, 1, 0], [100, 100, 10])
    with pytest.raises(InvalidInputError, match="finite measures"), np.errstate(invalid="ignore"):
        interval(unbounded, table, nonnegative=True, n_resamples=100, random_state=0)


@pytest.mark.parametrize("table", [COUNTED, WEIGHTED], ids=["counts", "floats"])
def test_rates_of_single_cells_are_those_of_the_table(table):
    np.testing.assert_allclose(rates_of_neighbors(table, 1), table.pos / table.total, atol=1e-12)
    moved = rates_of_neighbors(table, 10**6) - expit(table.scores)
    assert table.total @ moved == pytest.approx(table.n_pos - table.total @ expit(table.scores), abs=0.5)


@pytest.mark.parametrize(
    "weight", [None, np.arange(1, 301), np.linspace(0.5, 2, 300)], ids=["rows", "counts", "floats"]
)
def test_rates_of_similar_rows_keep_the_shares_of_classes(weight):
    rng = np.random.default_rng(8)
    prob = rng.dirichlet(np.full(3, 20.0), 300)
    forecast = class_forecast(rng.permutation(np.arange(300) % 3), prob, weight)
    coarse, fine = rates_of_alike(forecast)
    for moved in (coarse, fine):
        np.testing.assert_allclose(moved.sum(axis=1), 1)
    np.testing.assert_allclose(forecast.weight @ coarse / forecast.weight.sum(), forecast.base_rates, atol=1e-3)
    # Equal rows are one group, however many they are.
    same = class_forecast([0, 1, 2, 0], np.tile([0.2, 0.3, 0.5], (4, 1)), [10, 20, 30, 40])
    for moved in rates_of_alike(same):
        np.testing.assert_allclose(moved, np.tile(same.base_rates, (4, 1)))
