"""Calibration maps: values, monotony, dictionaries, and the fast look-up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddsmith import CalibrationMap
from oddsmith.errors import InvalidInputError
from oddsmith.maps import CosineMap, HeldInputMap, LinearMap, PolynomialMap, StepMap, constant_map
from oddsmith.maps.inputs import LogitInputMap, UnitInputMap
from oddsmith.maps.locate import by_interval
from oddsmith.maps.log_basis import LogBasisMap

LINE = PolynomialMap(np.empty(0), np.zeros(1), np.array([[0.0, 1.0, 0.0]]), 1.0)
BENT = PolynomialMap(np.array([0.0]), np.zeros(2), np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]), 1.0)
STEPS = StepMap(np.array([0.0, 1.0]), np.array([0.2, 0.6]), np.array([0.1, 0.4, 0.9]))
RAMP = LinearMap(np.array([-1.0, 1.0]), np.array([0.0, 1.0]))

MAPS = [
    LINE,
    BENT,
    STEPS,
    RAMP,
    CosineMap(0.0, 1.0, np.array([0.5, -0.5])),
    LogitInputMap(LINE, 1e-6),
    UnitInputMap(LINE, 1e-6),
    HeldInputMap(LINE, -37.0, 37.0, 0.5, 2.0),
    LogBasisMap(np.array([1.0, 0.5]), 0.2, 0.0, 1.0),
    PolynomialMap(np.zeros(1), np.zeros(2), np.array([[0.0, 1.0, 0.0, 0.2], [0.0, 1.0, 0.3, 0.1]]), 1.0),
    constant_map(0.3),
]


@pytest.mark.parametrize("fitted", MAPS, ids=lambda m: m.shape)
def test_dictionary_round_trip(fitted):
    content = fitted.to_dict()
    assert CalibrationMap.from_dict(content) == fitted
    assert all(not isinstance(value, np.ndarray) for value in content.values())
    assert fitted != LINE or fitted is LINE


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"shape": "nonsense"},
        {"shape": "step"},
        {"shape": "step", "knots": [], "extra": 1},
        {"shape": ["step"]},
        {"shape": "step", 1: 2},
        {"shape": "unit_input", "inner": {"shape": {}}, "clip": 0.1},
    ],
    ids=str,
)
def test_bad_dictionaries_are_refused(content):
    with pytest.raises(InvalidInputError, match="must"):
        CalibrationMap.from_dict(content)


def test_values():
    np.testing.assert_array_equal(STEPS.probability([-1.0, 0.0, 0.5, 1.0, 2.0]), [0.1, 0.2, 0.4, 0.6, 0.9])
    np.testing.assert_allclose(RAMP.probability([-2.0, 0.0, 0.5, 3.0]), [0.0, 0.5, 0.75, 1.0], rtol=2e-15)
    np.testing.assert_allclose(RAMP.log_odds([-2.0, 0.0, 3.0]), [-np.inf, 0.0, np.inf], atol=1e-14)
    np.testing.assert_array_equal(BENT.log_odds([-1.0, 0.0, 1.0]), [-1.0, 0.0, -1.0])
    np.testing.assert_array_equal(LinearMap(np.array([1.0]), np.array([0.3])).probability([0.0, 2.0]), [0.3, 0.3])
    assert constant_map(0.3).log_odds(1e300) == 0.3


def test_monotony():
    assert LINE.is_monotone
    assert not BENT.is_monotone
    assert STEPS.is_monotone
    assert not StepMap(STEPS.knots, STEPS.at[::-1], STEPS.between).is_monotone
    assert not LinearMap(RAMP.knots, RAMP.values[::-1]).is_monotone
    assert not CosineMap(0.0, 1.0, np.array([0.5, 0.4])).is_monotone
    assert CosineMap(0.0, 1.0, np.array([0.5, -2.0])).is_monotone
    assert not CosineMap(0.0, 1.0, np.array([0.5, 0.0, 0.4])).is_monotone
    jump = PolynomialMap(np.array([0.0]), np.zeros(2), np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]), 1.0)
    assert not jump.is_monotone
    parabola = PolynomialMap(np.empty(0), np.zeros(1), np.array([[0.0, 1.0, 0.1]]), 1.0)
    assert not parabola.is_monotone
    assert LogitInputMap(LINE, None).is_monotone


def test_a_parabola_far_from_the_origin_keeps_its_digits():
    shifted = PolynomialMap(np.empty(0), np.array([1e8]), np.array([[0.0, 1.0, 1.0]]), 1.0)
    assert shifted.log_odds(1e8 + 0.5) == 0.75


def test_extremes_are_finite():
    steep = PolynomialMap(np.empty(0), np.zeros(1), np.array([[0.0, -1e300, -1e300]]), 2.0**-1000)
    assert np.isfinite(steep.log_odds([-1.7e308, 0.0, 1.7e308])).all()


@given(
    st.integers(1, 400),
    st.integers(0, 10**6),
    st.sampled_from([1.0, 1e-12, 1e12, 1e300]),
    st.sampled_from(["left", "right"]),
)
def test_look_up_is_binary_search(knots, seed, scale, side):
    rng = np.random.default_rng(seed)
    places = np.unique(rng.standard_t(2, knots) * scale)
    near = np.concatenate([places, np.nextafter(places, -np.inf), [-1.7e308, 1.7e308]])
    scores = np.concatenate([rng.standard_t(2, 50_000) * scale, near])
    found = by_interval(places, scores, lambda _, place: place.astype(float), side)
    np.testing.assert_array_equal(found, np.searchsorted(places, scores, side))


def test_look_up_falls_back_when_knots_are_too_close():
    knots = np.arange(20) * 5e-324
    scores = np.repeat(knots, 3000)
    found = by_interval(knots, scores, lambda _, place: place.astype(float))
    np.testing.assert_array_equal(found, np.searchsorted(knots, scores))


def test_interpolation_never_passes_the_next_value():
    rng = np.random.default_rng(0)
    knots, values = np.unique(rng.normal(size=300)), np.sort(rng.random(300))
    ramp = LinearMap(knots, values)
    np.testing.assert_array_equal(ramp.probability(knots), values)
    around = np.sort(np.concatenate([knots, np.nextafter(knots, -np.inf), np.nextafter(knots, np.inf)]))
    assert np.all(np.diff(ramp.probability(around)) >= 0)


@pytest.mark.parametrize("fitted", [RAMP, LinearMap(np.array([-1.7e308, 1.7e308]), np.array([0.1, 0.9])), STEPS, LINE])
def test_a_missing_score_leaves_infinite_ones_alone(fitted):
    there = [np.inf, -np.inf, 1.7e308]
    missing, *values = fitted.probability([np.nan, *there])
    assert values == fitted.probability(there).tolist()
    assert np.isnan(missing) or fitted is STEPS


@pytest.mark.parametrize("fitted", [LogitInputMap(LINE, None), LogitInputMap(LINE, 1e-6), UnitInputMap(LINE, 1e-6)])
def test_a_missing_score_hides_none_that_is_no_probability(fitted):
    assert np.isnan(fitted.log_odds([np.nan, 0.5])).tolist() == [True, False]
    assert np.isnan(fitted.log_odds([np.nan]))
    for bad in (2.0, -1.0, np.inf):
        with pytest.raises(InvalidInputError, match=r"scores must lie in \[0, 1\]"):
            fitted.log_odds([np.nan, bad])


def test_a_shape_that_writes_neither_of_two_methods_says_so():
    class Empty(CalibrationMap):
        is_monotone = True

    for name in ("log_odds", "probability"):
        with pytest.raises(NotImplementedError, match="Empty must write log_odds or probability"):
            getattr(Empty(), name)([0.0])
        with pytest.raises(NotImplementedError, match="Empty must write log_odds_formula or probability_formula"):
            getattr(Empty(), f"{name}_formula")()


def test_a_held_input_is_standardized_between_its_bounds():
    held = HeldInputMap(LINE, -37.0, 37.0, 1.0, 2.0)
    np.testing.assert_array_equal(held.log_odds([-1e300, -37.0, 1.0, 5.0, np.inf]), [-19.0, -19.0, 0.0, 2.0, 18.0])
    assert np.isnan(held.log_odds([np.nan]))
    assert held.is_monotone
    assert not HeldInputMap(BENT, -37.0, 37.0, 1.0, 2.0).is_monotone
