"""Centered isotonic regression against its definition."""

import numpy as np
import pytest
from hypothesis import assume, given

from oddsmith import CenteredIsotonicCalibrator, IsotonicCalibrator
from samples import grid, ours_allowed, samples


def fit(calibrator, *arguments):
    with ours_allowed():
        return calibrator.fit(*arguments)


@given(samples())
def test_isotonic_values_at_the_centers_of_blocks(data):
    scores, y = data
    assume(scores.min() < scores.max())
    values = fit(IsotonicCalibrator(), scores, y).predict_proba(scores)[:, 1]
    levels = np.unique(values)
    points = []
    for level in levels:
        block = scores[values == level]
        # Blocks at 0 and 1 keep their width.
        places = [block.min(), block.max()] if level in (0, 1) else [block.mean()]
        points += [(place, level) for place in places]
    queries = grid(scores)
    found = fit(CenteredIsotonicCalibrator(), scores, y).predict_proba(queries)[:, 1]
    np.testing.assert_allclose(found, np.interp(queries, *zip(*points, strict=True)), atol=1e-12)


def test_a_hundred_negatives_below_one_positive_cost_nothing():
    scores, y = np.append(np.linspace(0, 1, 100), 2.0), np.append(np.zeros(100, int), 1)
    assert fit(CenteredIsotonicCalibrator(), scores, y).predict_proba(scores)[:, 1].sum() == pytest.approx(1)


def test_bounded_stays_clear_of_0_and_1():
    cal = fit(CenteredIsotonicCalibrator(bounded=True), [0.0, 1.0, 2.0, 3.0], [0, 0, 1, 1])
    np.testing.assert_allclose(cal.predict_proba([-9.0, 9.0])[:, 1], [1 / 4, 3 / 4])
    one = fit(CenteredIsotonicCalibrator(bounded=True), [2.0, 2.0, 2.0, 2.0], [0, 1, 1, 1])
    assert one.predict_proba([0.0])[0, 1] == pytest.approx(1 / 3 + (4 / 5 - 1 / 3) * 3 / 4)


def test_different_scores_stay_different_between_the_end_centers():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=2000)
    y = (rng.random(2000) < 1 / (1 + np.exp(-scores))).astype(int)
    cal = fit(CenteredIsotonicCalibrator(), scores, y)
    knots, values = cal.map_.knots, cal.map_.values
    low, high = knots[values == 0].max(initial=knots[0]), knots[values == 1].min(initial=knots[-1])
    assert np.all(np.diff(cal.predict_proba(np.linspace(low, high, 500))[:, 1]) > 0)
