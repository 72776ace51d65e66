"""Laws that hold for every exported calibrator, by being exported."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import catalogue
from catalogue import name, variants
from oddsmith import CalibrationMap, ScoreTable
from oddsmith.errors import ConstantScoreWarning, SingleClassWarning
from samples import examples, grid, ours_allowed, readable, samples

every = pytest.mark.parametrize("calibrator", variants(), ids=name)
few = examples(15)


def fitted(calibrator, *arguments):
    with ours_allowed():
        return clone(calibrator).fit(*arguments)


def claiming(law):
    return pytest.mark.parametrize("calibrator", catalogue.claiming(law), ids=name)


def agree(a, b, scores, tolerance=1e-8):
    places = readable(a, grid(scores))
    p, q = a.predict_proba(places)[:, 1], b.predict_proba(places)[:, 1]
    np.testing.assert_allclose(p, q, atol=tolerance, rtol=0)


@every
@few
@given(data=samples())
def test_probabilities_are_probabilities(calibrator, data):
    cal = fitted(calibrator, *data)
    places = readable(cal, grid(data[0]))
    proba = cal.predict_proba(places)
    assert proba.shape == (len(places), 2)
    assert np.all((proba >= 0) & (proba <= 1))
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(cal.predict(places), (proba[:, 1] > 0.5).astype(int))
    assert not np.isnan(cal.log_odds(places)).any()


@every
@few
@given(data=samples())
def test_fit_is_fit_table(calibrator, data):
    with ours_allowed():
        from_table = clone(calibrator).fit_table(ScoreTable.from_arrays(*data))
    agree(fitted(calibrator, *data), from_table, data[0], 1e-10)


@every
@few
@given(data=samples(), random=st.randoms(use_true_random=False))
def test_row_order_is_irrelevant(calibrator, data, random):
    scores, y = data
    order = list(range(len(y)))
    random.shuffle(order)
    agree(fitted(calibrator, scores, y), fitted(calibrator, scores[order], y[order]), scores)


@every
@few
@given(data=samples())
def test_weights_are_repetitions_and_zero_is_absence(calibrator, data):
    scores, y = data
    weights = np.arange(len(y)) % 3
    weights[[np.argmax(y), np.argmin(y)]] = 2
    weighted = fitted(calibrator, scores, y, weights)
    agree(weighted, fitted(calibrator, np.repeat(scores, weights), np.repeat(y, weights)), scores)
    agree(weighted, fitted(calibrator, scores, y, weights.astype(float)), scores)


@every
@few
@given(data=samples())
def test_the_map_survives_every_way_of_keeping_it(calibrator, data):
    cal = fitted(calibrator, *data)
    copy = pickle.loads(pickle.dumps(cal))
    assert copy.map_ == cal.map_
    rebuilt = CalibrationMap.from_dict(cal.map_.to_dict())
    assert rebuilt == cal.map_
    places = readable(cal, grid(data[0]))
    np.testing.assert_array_equal(rebuilt.log_odds(places), cal.map_.log_odds(places))
    assert clone(cal).get_params() == cal.get_params()


@every
@few
@given(data=samples())
def test_maps_say_truly_whether_they_are_monotone(calibrator, data):
    cal = fitted(calibrator, *data)
    values = cal.predict_proba(readable(cal, grid(data[0])))[:, 1]
    if cal.map_.is_monotone:
        assert np.all(np.diff(values) >= -1e-12)


@claiming("monotone")
@few
@given(data=samples())
def test_maps_are_monotone_where_claimed(calibrator, data):
    assert fitted(calibrator, *data).map_.is_monotone


@claiming("scale")
@few
@given(data=samples(min_size=8), factor=st.sampled_from([3.7, 1e-3, 1e150, 1e-150]))
def test_scale_changes_nothing_where_claimed(calibrator, data, factor):
    scores, y = data
    cal, places = fitted(calibrator, scores, y), grid(scores)
    q = fitted(calibrator, scores * factor, y).predict_proba(places * factor)[:, 1]
    # A place that is a step but for rounding may be on either side of it.
    p = np.stack([cal.predict_proba(places * (1 + shift))[:, 1] for shift in (-1e-15, 0, 1e-15)])
    np.testing.assert_allclose(np.abs(p - q).min(axis=0), 0, atol=1e-6)


@claiming("shift")
@few
@given(data=samples(min_size=8), shift=st.sampled_from([-3.3, 1e3]))
def test_shift_changes_nothing_where_claimed(calibrator, data, shift):
    scores, y = data
    p = fitted(calibrator, scores, y).predict_proba(scores)[:, 1]
    q = fitted(calibrator, scores + shift, y).predict_proba(scores + shift)[:, 1]
    np.testing.assert_allclose(p, q, atol=1e-6)


@claiming("mirror")
@few
@given(data=samples(min_size=8))
def test_mirrored_data_give_the_mirrored_map_where_claimed(calibrator, data):
    scores, y = data
    p = fitted(calibrator, scores, y).predict_proba(grid(scores))[:, 1]
    q = fitted(calibrator, -scores, 1 - y).predict_proba(-grid(scores))[:, 1]
    np.testing.assert_allclose(p, 1 - q, atol=1e-7)


@every
@few
@given(
    data=samples(),
    factor=st.sampled_from([1e-150, 1e-6, 1e6, 1e150]),
    shift=st.sampled_from([0.0, 1e8, -1e8]),
)
def test_extreme_scores_give_finite_answers(calibrator, data, factor, shift):
    scores, y = data[0] * factor + shift, data[1]
    cal = fitted(calibrator, scores, y)
    assert not np.isnan(cal.predict_proba(scores)).any()
    wide = np.array([-1.7e308, -1e150, -1.0, 0.0, 5e-324, 1.0, 1e150, 1.7e308])
    assert not np.isnan(cal.predict_proba(readable(cal, wide))).any()


@every
def test_scores_as_far_apart_as_doubles_go(calibrator):
    scores, y = np.array([-1.7e308, -1e300, 3.0, -2.0, 1e299, 1.7e308]), np.array([0, 0, 1, 0, 1, 1])
    assert not np.isnan(fitted(calibrator, scores, y).predict_proba(scores)).any()


@every
@few
@given(data=samples())
def test_input_is_not_modified(calibrator, data):
    scores, y = data[0].copy(), data[1].copy()
    weights = np.ones(len(y))
    scores.setflags(write=False), y.setflags(write=False), weights.setflags(write=False)
    fitted(calibrator, scores, y, weights).predict_proba(scores)


@every
def test_one_class_gives_the_add_one_prior(calibrator):
    if not calibrator._learns:
        cal = clone(calibrator).fit([1.0, 2.0, 3.0], [1, 1, 1])
        assert cal.predict_proba([0.0])[0, 1] == 0.5
        return
    with pytest.warns(SingleClassWarning, match="All labels are positive"):
        cal = clone(calibrator).fit([1.0, 2.0, 3.0], [1, 1, 1])
    np.testing.assert_allclose(cal.predict_proba([-9.0, 2.0, 9.0])[:, 1], 4 / 5)
    assert cal.classes_.tolist() == [0, 1]
    assert "All labels are positive" in cal.fit_warnings_[0]
    with pytest.warns(SingleClassWarning, match="All labels are negative"):
        cal = clone(calibrator).fit([1.0, 2.0, 3.0], [0, 0, 1], [1, 1, 0])
    np.testing.assert_allclose(cal.predict_proba([2.0])[:, 1], 1 / 4)


@every
def test_constant_scores_give_a_constant(calibrator):
    if not calibrator._learns:
        cal = clone(calibrator).fit([2.0, 2.0], [0, 1])
        assert cal.predict_proba([0.0])[0, 1] == 0.5
        return
    with pytest.warns(ConstantScoreWarning, match="All scores equal 2"):
        cal = clone(calibrator).fit([2.0] * 4, [0, 1, 0, 0])
    values = cal.predict_proba([-9.0, 2.0, 9.0])[:, 1]
    assert np.all(values == values[0])
    mean = "IsotonicCalibrator" in name(calibrator) or getattr(calibrator, "prior", "") == "frequency"
    if not getattr(calibrator, "bounded", False):
        assert values[0] == pytest.approx(1 / 4 if mean else 2 / 6)


@every
def test_two_rows_are_enough(calibrator):
    cal = fitted(calibrator, [0.0, 1.0], [0, 1])
    assert not np.isnan(cal.predict_proba(readable(cal, np.array([-1.0, 0.0, 0.5, 1.0, 2.0])))).any()


@every
def test_rare_positives(calibrator):
    rng = np.random.default_rng(5)
    scores = rng.normal(size=100_000)
    y = np.zeros(100_000, int)
    y[np.argsort(scores)[-30]] = 1
    cal = fitted(calibrator, scores, y)
    assert not np.isnan(cal.predict_proba(scores)).any()


@every
def test_probability_input_is_its_log_odds(calibrator):
    rng = np.random.default_rng(3)
    scores = rng.normal(size=50)
    y = (rng.random(50) < 1 / (1 + np.exp(-scores))).astype(int)
    prob = 1 / (1 + np.exp(-scores))
    direct = fitted(calibrator, scores, y)
    declared = fitted(clone(calibrator).set_params(input="probability"), prob, y)
    np.testing.assert_allclose(declared.predict_proba(prob), direct.predict_proba(scores), atol=1e-7)
    with ours_allowed():
        table = clone(calibrator).set_params(input="probability").fit_table(ScoreTable.from_arrays(prob, y))
    np.testing.assert_allclose(table.predict_proba(prob), direct.predict_proba(scores), atol=1e-7)
    assert CalibrationMap.from_dict(declared.map_.to_dict()) == declared.map_
    assert "input='probability'" in repr(declared)
