"""The inverse of maps: which scores reach a probability, compared with probcal and with P at every probe."""

import functools

import numpy as np
import probcal
import pytest

import oddsmith
from catalogue import variants
from oddsmith import BetaCalibrator, PlattCalibrator
from oddsmith.errors import InvalidInputError
from oddsmith.export.verification import probe_scores
from oddsmith.maps import BlendMap, CosineMap, LinearMap, LogitInputMap, PolynomialMap, StepMap, line_map
from oddsmith.model import Model
from samples import THINNED, ours_allowed

CUBIC = PolynomialMap(np.empty(0), np.zeros(1), np.array([[0.2, -1.0, 0.5, 1.0]]), 1.0)
PARABOLA = PolynomialMap(np.array([1.0]), np.zeros(2), np.array([[0.0, 1.0, 0.5], [2.0, -1.0, 0.0]]), 1.0)
BINS = StepMap(np.array([0.0, 1.0, 2.0]), np.array([0.3, 0.1, 0.9]), np.array([0.3, 0.7, 0.1, 0.4]))
SHAPES = {
    "cubic": CUBIC,
    "parabola": PARABOLA,
    "bins": BINS,
    "jagged": LinearMap(np.arange(5.0), np.array([0.1, 0.8, 0.3, 0.9, 0.0])),
    "waves": CosineMap(-1.0, 3.0, np.array([0.4, -0.2, 0.15, 0.1])),
    "falling line": line_map(-3.0, 0.7),
    "cubic of odds": LogitInputMap(CUBIC, 1e-9),
    "bins of odds": LogitInputMap(BINS, None),
    "falling odds": LogitInputMap(line_map(-0.5), 1e-300),
    "shifted bins": BINS.shifted(-1.3),
    "shifted waves": CosineMap(-1.0, 3.0, np.array([0.4, -0.2, 0.15, 0.1])).shifted(0.7),
}


@functools.cache
def fitted():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=250) * 2
    y = (rng.random(250) < 1 / (1 + np.exp(-scores))).astype(int)
    with ours_allowed():
        calibrators = [one.fit(scores, y) for one in variants()]
        of_prob = [type(one)(input="probability", clip=1e-9).fit(1 / (1 + np.exp(-scores)), y) for one in calibrators]
    maps = {f"{i} {type(one).__name__}": one.map_ for i, one in enumerate((calibrators + of_prob)[::THINNED])}
    return maps | SHAPES


def model_of(found):
    return Model("method", {}, found, (0, 1), None)


def test_intervals_hold_exactly_the_scores_that_reach_the_value():
    rng = np.random.default_rng(1)
    for name, found in fitted().items():
        scores = probe_scores(found)
        scores = scores[np.isfinite(scores)]
        prob = found.probability(scores)
        chosen = rng.choice(np.unique(prob), 4)
        for p in np.clip(np.concatenate([chosen, np.nextafter(chosen, 0), np.nextafter(chosen, 1)]), 0, 1).tolist():
            try:
                intervals = model_of(found).scores_at(p)
            except InvalidInputError:
                assert isinstance(found, BlendMap), name
                assert not found.is_monotone
                break
            inside = np.any([(low <= scores) & (scores <= high) for low, high in intervals], axis=0)
            wrong = (inside if intervals else False) != (prob >= p)
            # Where rounding makes P itself rise and fall in its last digit no cut-off can follow.
            assert np.all(np.abs(prob[wrong] - p) <= 2 * np.spacing(p)), (name, p, scores[wrong][:3])
            if found.is_monotone and intervals:
                cut = model_of(found).score_at(p)
                assert intervals == ((cut, np.inf),)
                if np.isfinite(cut):
                    below, at = found.probability(np.array([np.nextafter(cut, -np.inf), cut]))
                    assert below < p <= at, (name, p)


def test_steps_are_cut_at_their_knots():
    steps = StepMap(np.array([0.0, 1.0]), np.array([0.2, 0.6]), np.array([0.1, 0.4, 0.9]))
    found = model_of(steps)
    assert found.score_at(0.1) == -np.inf
    assert found.score_at(0.2) == 0.0
    assert found.score_at(np.nextafter(0.2, 1)) == np.nextafter(0.0, 1)
    assert found.score_at(0.4) == np.nextafter(0.0, 1)
    assert found.score_at(0.6) == 1.0
    assert found.score_at(0.9) == np.nextafter(1.0, 2)
    assert found.score_at(0.95) is None


def test_falling_and_turning_maps():
    assert model_of(line_map(-2.0, 1.0)).score_at(0.5) == pytest.approx(0.5, abs=1e-15)
    assert model_of(BINS).scores_at(0.3) == ((-np.inf, np.nextafter(1.0, 0)), (2.0, np.inf))
    assert model_of(BINS).scores_at(0.95) == ()
    np.testing.assert_allclose(model_of(PARABOLA).scores_at(0.5), [(-np.inf, -2), (0, 2)], atol=1e-12)
    middle = model_of(StepMap(np.array([0.0, 2.0]), np.array([0.7, 0.7]), np.array([0.1, 0.7, 0.1])))
    with pytest.raises(InvalidInputError, match=r"rises or falls throughout; got P ≥ 0.5 from 0 to 2 only. Hint: use"):
        middle.score_at(0.5)
    with pytest.raises(InvalidInputError, match="in 2 intervals"):
        model_of(BINS).score_at(0.3)
    blend = BlendMap((line_map(-1.0), line_map(2.0)), np.array([0.5, 0.5]))
    with pytest.raises(InvalidInputError, match="a BlendMap that falls somewhere"):
        model_of(blend).score_at(0.5)


def test_maps_of_probabilities_stay_within_their_scores():
    held = model_of(LogitInputMap(line_map(1.0), None))
    assert held.score_at(0.25) == pytest.approx(0.25, abs=1e-15)
    assert held.score_at(0.0) == -np.inf
    assert held.score_at(1.0) is None


def test_what_has_no_cut_off_is_refused():
    found = model_of(line_map(1.0))
    for p in (-0.1, 1.1, np.nan):
        with pytest.raises(InvalidInputError, match="prob must be"):
            found.score_at(p)
    with pytest.raises(InvalidInputError, match="of_segment"):
        found.with_segments("country", {"at": found}).score_at(0.5)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    y = (rows + rng.normal(size=(60, 3))).argmax(axis=1)
    several = Model.from_fitted(oddsmith.TemperatureScaling().fit(rows, y))
    with pytest.raises(InvalidInputError, match="one score of two classes; got 3 columns"):
        several.score_at(0.5)


@pytest.mark.parametrize("prob", [0.2, 0.35, 0.5, 0.71])
def test_the_inverse_is_that_of_probcal(prob):
    rng = np.random.default_rng(3)
    scores = rng.beta(1, 2, 3000)
    y = (rng.random(3000) < 0.1 + 0.7 * scores**1.5).astype(int)
    for theirs, ours in (
        (probcal.PlattCalibrator(), PlattCalibrator(input="probability", clip=1e-12)),
        (probcal.BetaCalibrator(), BetaCalibrator(input="probability", clip=1e-12)),
    ):
        cut = Model.from_fitted(ours.fit(scores, y)).score_at(prob)
        assert cut == pytest.approx(theirs.fit(scores, y).point_inverse([prob])[0], abs=1e-9)
    # Between knots the two isotonic maps differ: ours is made of their blocks.
    blocks = probcal.IsotonicCalibrator(interpolation="linear").fit(scores, y)
    ramp = LinearMap(blocks._knots(), blocks.block_mean_)
    assert model_of(ramp).score_at(prob) == pytest.approx(blocks.interval_inverse(prob, 1.0)[0], abs=1e-9)
    blocks = probcal.IsotonicCalibrator().fit(scores, y)
    steps = StepMap(blocks.block_first_s_[1:], blocks.block_mean_[1:], blocks.block_mean_)
    assert model_of(steps).score_at(prob) == blocks.interval_inverse(prob, 1.0)[0]
