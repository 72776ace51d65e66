"""Net benefit is that of dcurves, its intervals those of a mean, and its band holds for all thresholds together."""

import json
from pathlib import Path

import numpy as np
import pytest

from oddsmith.errors import InvalidInputError
from oddsmith.metrics import compare_net_benefit, decision_curve, forecast_from_arrays, net_benefit

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "net_benefit.json").read_text())


def sample(n, seed=0):
    """Return labels, their probabilities, and probabilities that are too timid."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(-1.5, 1.5, n)
    p = 1 / (1 + np.exp(-odds))
    return (rng.random(n) < p).astype(int), p, 1 / (1 + np.exp(-0.5 * odds + 0.5))


@pytest.mark.parametrize("column", ["marker", "history"])
def test_the_example_of_dcurves(column):
    curve = decision_curve(GOLDEN["y"], GOLDEN[column], thresholds=np.arange(1, 100) / 100)
    np.testing.assert_allclose(curve.net_benefit, GOLDEN["net_benefit"][column], rtol=0, atol=1e-12)
    np.testing.assert_allclose(curve.treat_all, GOLDEN["net_benefit"]["all"], rtol=0, atol=1e-12)
    if column == "marker":
        np.testing.assert_allclose(curve.avoided, GOLDEN["avoided"], rtol=0, atol=1e-12)


def test_a_probability_at_the_threshold_is_treated():
    for t in np.arange(1, 100) / 100:
        assert net_benefit([1, 0], [t, t], threshold=t) == pytest.approx(0.5 - 0.5 * t / (1 - t), abs=1e-15)
        assert net_benefit([1, 0], [t * (1 - 1e-14)] * 2, threshold=t) == 0


@pytest.mark.parametrize("kind", ["counts", "floats"])
def test_rows_by_hand(kind):
    y, p, q = sample(3000)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, 3000) if kind == "counts" else rng.lognormal(size=3000)
    at = np.array([0.05, 0.2, 0.4])
    value = np.where(y[:, None] == 1, 1.0, -at / (1 - at))
    rows = value * (p[:, None] >= at)
    pair = rows - value * (q[:, None] >= at)
    squares = weight if kind == "counts" else weight**2
    curve = decision_curve(y, p, weight, thresholds=at)
    assert curve.net_benefit == pytest.approx(weight @ rows / weight.sum())
    error = np.sqrt(squares @ (rows - curve.net_benefit) ** 2) / weight.sum()
    assert curve.high - curve.net_benefit == pytest.approx(1.959964 * error, rel=1e-6)
    found = compare_net_benefit(y, p, q, weight, thresholds=at)
    assert found.difference == pytest.approx(weight @ pair / weight.sum())
    error = np.sqrt(squares @ (pair - found.difference) ** 2) / weight.sum()
    cubes = weight if kind == "counts" else weight**3
    skewness = cubes @ (pair - found.difference) ** 3 / (squares @ (pair - found.difference) ** 2) ** 1.5
    for end, side in ((found.low, 1), (found.high, -1)):
        t = (found.difference - end) / error
        unskewed = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
        assert unskewed == pytest.approx(np.full(3, side * found.critical))
    assert 1.96 < found.critical < 2.42  # Bonferroni's of three is 2.394


def test_groups_are_the_units_of_the_band():
    y, p, q = sample(1500)
    alone, named = compare_net_benefit(y, p, q), compare_net_benefit(y, p, q, groups=np.arange(1500))
    np.testing.assert_allclose(named.low, alone.low, atol=1e-12)
    # Each row three times, in one group: as sure as once.
    again, order = np.repeat(np.arange(1500), 3), np.random.default_rng(0).permutation(4500)
    at = again[order]
    thrice = compare_net_benefit(y[at], p[at], q[at], groups=at)
    np.testing.assert_allclose(thrice.low, alone.low, atol=1e-9)
    assert np.nanmean(thrice.high - thrice.low) > 1.5 * np.nanmean(
        compare_net_benefit(y[at], p[at], q[at]).high - compare_net_benefit(y[at], p[at], q[at]).low
    )
    with pytest.raises(InvalidInputError, match="two groups or more"):
        compare_net_benefit(y, p, q, groups=np.zeros(1500))


def test_counts_are_rows_repeated():
    y, p, q = sample(400)
    weight = np.random.default_rng(0).integers(1, 4, 400)
    again = np.repeat(np.arange(400), weight)
    once, often = compare_net_benefit(y, p, q, weight), compare_net_benefit(y[again], p[again], q[again])
    np.testing.assert_allclose(once.low, often.low, rtol=0, atol=1e-9)
    curve = decision_curve(y, p, weight), decision_curve(y[again], p[again])
    np.testing.assert_allclose(curve[0].low, curve[1].low, rtol=0, atol=1e-12)


def test_nothing_is_promised_where_few_cases_are_treated_differently():
    y, p, q = sample(400)
    found = compare_net_benefit(y, p, p)
    assert not found.difference.any()
    assert np.isnan(found.low).all()
    at = found.thresholds
    apart = (p[:, None] >= at) != (q[:, None] >= at)
    few = np.minimum(apart[y == 1].sum(axis=0), apart[y == 0].sum(axis=0)) < 3
    assert few.any()
    assert np.array_equal(np.isnan(compare_net_benefit(y, p, q).high), few)
    treated = p[:, None] >= at
    few = np.minimum(treated[y == 1].sum(axis=0), treated[y == 0].sum(axis=0)) < 5
    assert np.array_equal(np.isnan(decision_curve(y, p).low), few)


def test_the_band_covers_all_thresholds_together():
    """300 samples; benchmarks.coverage has more. The truth is that of the population that samples are drawn from."""
    _, p, q = sample(200_000, seed=5)
    at = np.arange(1, 20) / 20
    treated = (p[:, None] >= at).astype(float) - (q[:, None] >= at)
    truth = (p[:, None] * treated - (1 - p[:, None]) * at / (1 - at) * treated).mean(axis=0)
    rng, covered = np.random.default_rng(6), 0
    for _ in range(300):
        rows = rng.integers(0, len(p), 600)
        y = (rng.random(600) < p[rows]).astype(int)
        found = compare_net_benefit(y, p[rows], q[rows], thresholds=at)
        covered += bool(np.all(~((truth < found.low - 1e-12) | (truth > found.high + 1e-12))))
    assert 0.92 <= covered / 300 <= 0.98


def test_the_band_covers_on_both_sides_where_positives_are_rare():
    """Without the correction for skewness most misses are on one side."""
    rng = np.random.default_rng(0)
    odds = rng.normal(-3.5, 1.0, 100_000)
    p, q, at = 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(0.4 - 0.6 * odds)), np.arange(1, 11) / 20
    treated = (p[:, None] >= at).astype(float) - (q[:, None] >= at)
    truth = (p[:, None] * treated - (1 - p[:, None]) * at / (1 - at) * treated).mean(axis=0)
    above = below = 0
    for _ in range(300):
        rows = rng.integers(0, len(p), 800)
        y = (rng.random(800) < p[rows]).astype(int)
        found = compare_net_benefit(y, p[rows], q[rows], thresholds=at)
        above += bool((truth > found.high + 1e-12).any())
        below += bool((truth < found.low - 1e-12).any())
    assert 0.92 <= 1 - (above + below) / 300 <= 0.99
    assert max(above, below) <= 12


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.1, np.nan])
def test_bad_thresholds(threshold):
    with pytest.raises(InvalidInputError, match="threshold"):
        net_benefit([0, 1], [0.2, 0.6], threshold=threshold)


def test_bad_pairs():
    with pytest.raises(InvalidInputError, match="both forecasts must have the same cases"):
        compare_net_benefit([0, 1], [0.2, 0.6], [0.5])
    with pytest.raises(InvalidInputError, match="at least two cases"):
        compare_net_benefit([1], [0.2], [0.5])


def test_certain_and_constant_forecasts():
    curve = decision_curve([0, 1, 1], [0.0, 1.0, 1.0])
    assert curve.net_benefit == pytest.approx(np.full(99, 2 / 3))
    none = decision_curve.of(forecast_from_arrays([0, 1, 1], [0.0, 0.0, 0.0]))
    assert not none.net_benefit.any()
