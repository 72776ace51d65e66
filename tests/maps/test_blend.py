"""Blends of rising maps rise, however close to certain they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from oddsmith import AutoCalibrator, ScoreTable, VennAbersCalibrator
from oddsmith.maps import StepMap, line_map
from oddsmith.maps.blend import BlendMap
from samples import ours_allowed


def falls(log_odds):
    """Return by how much the log-odds fall at most, in units of their own rounding."""
    return np.max(-np.diff(log_odds) / (np.finfo(float).eps * np.maximum(1, np.abs(log_odds[1:]))))


slopes = st.floats(0, 5)
levels = st.floats(-20, 40)


@given(st.lists(st.tuples(slopes, levels, st.floats(0.01, 1)), min_size=1, max_size=4))
def test_a_blend_of_rising_maps_rises_to_rounding(lines):
    weights = np.array([weight for _, _, weight in lines])
    blend = BlendMap(tuple(line_map(slope, level) for slope, level, _ in lines), weights / weights.sum())
    scores = np.concatenate([np.linspace(-60, 60, 2001), 18.9 + np.arange(2000) * np.spacing(18.9)])
    assert falls(blend.log_odds(np.sort(scores))) <= 8


def test_a_blend_of_steps_close_to_one_rises():
    values = 1 - np.arange(40, 0, -1) * 2.0**-53
    steps = StepMap(np.arange(39.0), values[1:], values)
    blend = BlendMap((steps, line_map(0.1, 30.0)), np.array([0.4, 0.6]))
    assert falls(blend.log_odds(np.linspace(-1, 40, 5001))) <= 0


def test_log_odds_of_a_blend_are_finite_as_far_as_those_of_its_parts():
    blend = BlendMap((line_map(1.0), line_map(2.0)), np.array([0.5, 0.5]))
    scores = np.array([-1e300, -2000.0, -745.0, 0.0, 745.0, 2000.0, 1e300])
    found = blend.log_odds(scores)
    assert np.all(np.diff(found) > 0)
    assert found[1] == pytest.approx(-2000 - np.log(2))
    assert found[5] == pytest.approx(2000 + np.log(2))


def sure_counts(seed):
    """Counts of 2³¹ to 2⁴⁰ cases per score, with P up to 1 − 10⁻¹²."""
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.normal(0, 3, 300))
    total = rng.integers(2**20, 2**40, 300)
    pos = rng.binomial(total, expit(3 * scores + 12))
    labels, weight = np.repeat([1, 0], 300), np.concatenate([pos, total - pos])
    return ScoreTable.from_arrays(np.tile(scores, 2), labels, weight)


@pytest.mark.parametrize("seed", [0, 3, 7])
def test_venn_abers_and_the_default_rise_with_huge_counts(seed):
    table = sure_counts(seed)
    places = np.unique(np.concatenate([np.linspace(-12, 12, 4001), table.scores, np.nextafter(table.scores, 99)]))
    with ours_allowed():
        steps, blend = VennAbersCalibrator().fit_table(table), AutoCalibrator().fit_table(table)
    assert steps.map_.is_monotone
    assert falls(steps.log_odds(places)) <= 0
    assert blend.map_.is_monotone
    assert falls(blend.log_odds(places)) <= 8
