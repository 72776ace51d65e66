"""Bands of rising probabilities: against brute force, their coverage, and what they contain."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression, minimize_scalar
from scipy.special import expit, logit
from scipy.stats import beta

from oddsmith import AutoCalibrator, IsotonicCalibrator, PlattCalibrator, ScoreTable
from oddsmith.bands import Band, _band_of_runs, _groups, _ratio_limits, _runs, band, pointwise_band
from oddsmith.base_rates import shift_prior
from oddsmith.errors import InvalidInputError, ModelFileError
from oddsmith.export import to_sql
from oddsmith.maps import CalibrationMap
from oddsmith.model import Model
from oddsmith.model._model import read_content


def drawn(n, seed, decimals=None, truth=lambda s: expit(8 * (s - 0.5))):
    rng = np.random.default_rng(seed)
    scores = rng.random(n) if decimals is None else rng.random(n).round(decimals)
    return ScoreTable.from_arrays(scores, rng.random(n) < truth(scores))


def all_pairs(table, starts, level, at):
    """Return the band of all pairs of groups at a score, by brute force."""
    ends, low, high = [*starts[1:].tolist(), len(table)], 0.0, 1.0
    pairs = [(j, k) for j in range(len(starts)) for k in range(j, len(starts))]
    error = (1 - level) / (2 * len(pairs))
    for j, k in pairs:
        run = slice(starts[j], ends[k])
        pos, n = table.pos[run].sum(), table.total[run].sum()
        if table.scores[ends[k] - 1] <= at and pos:
            low = max(low, beta.ppf(error, pos, n - pos + 1))
        if table.scores[starts[j]] >= at and pos < n:
            high = min(high, beta.ppf(1 - error, pos + 1, n - pos))
    return low, high


@pytest.mark.parametrize(("n", "decimals"), [(25, None), (200, 1), (300, 2)])
def test_with_all_pairs_it_is_the_brute_force_band(n, decimals):
    table = drawn(n, n, decimals)
    starts, pos, total = _groups(table, "a band", 25)
    first, last = np.triu_indices(len(starts))
    found = _band_of_runs(table, starts, pos, total, first, last, 0.9)
    near = np.concatenate([table.scores, np.nextafter(table.scores, 0), np.nextafter(table.scores, 2), [-1.0, 3.0]])
    for at in near[:: max(len(near) // 60, 1)].tolist():
        np.testing.assert_allclose(found.limits([at])[0], all_pairs(table, starts, 0.9, at), atol=1e-8)


@pytest.mark.parametrize("n", [100, 1000, 10_000])
def test_the_sparse_band_is_narrower_than_that_of_all_pairs(n):
    table = drawn(n, 1)
    starts, pos, total = _groups(table, "a band")
    pairs = _band_of_runs(table, starts, pos, total, *np.triu_indices(len(starts)), 0.95)
    places = np.linspace(0, 1, 200)
    assert np.diff(band(table).limits(places)).mean() <= np.diff(pairs.limits(places)).mean()


def test_runs_are_within_the_groups_and_differ():
    for groups in (1, 2, 7, 40, 400):
        first, last = _runs(groups)
        assert 0 <= first.min() <= last.max() == groups - 1
        assert np.all(first <= last)
        assert len({*zip(first.tolist(), last.tolist(), strict=True)}) == len(first) <= groups * (groups + 1) / 2


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize(
    "truth", [lambda s: expit(8 * (s - 0.5)), lambda s: 0 * s + 0.03, lambda s: np.where(s < 0.5, 0.2, 0.7)]
)
def test_the_band_covers_every_rising_truth(n, truth):
    places, covered, times = np.linspace(0, 1, 501), 0, 100
    for seed in range(times):
        low, high = band(drawn(n, [seed, n], truth=truth)).limits(places).T
        covered += np.all((low <= truth(places)) & (truth(places) <= high))
    assert covered >= times * (0.95 - 3 * np.sqrt(0.95 * 0.05 / times))


@pytest.mark.parametrize("n", [100, 1000])
def test_pointwise_limits_cover_the_true_p(n):
    places, times = np.linspace(0.05, 0.95, 19), 100
    covered = np.zeros(len(places))
    for seed in range(times):
        low, high = pointwise_band(drawn(n, [seed, n])).limits(places).T
        truth = expit(8 * (places - 0.5))
        covered += (low <= truth) & (truth <= high)
    assert covered.mean() >= 0.93 * times
    assert covered.min() >= times * (0.93 - 3.5 * np.sqrt(0.93 * 0.07 / times))


@pytest.mark.parametrize("decimals", [None, 1])
def test_limits_of_a_place_invert_the_likelihood_ratio(decimals):
    table = drawn(120, 5, decimals)
    pos, total = table.pos.astype(float), table.total.astype(float)

    def loss(prob):
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(pos > 0, pos * np.log(prob), 0) + np.where(total > pos, (total - pos) * np.log1p(-prob), 0)
        return -terms.sum()

    def isotonic(part):
        return isotonic_regression(pos[part] / total[part], weights=total[part]).x

    whole = isotonic(slice(None))
    places = np.arange(0, len(table), max(len(table) // 10, 1))
    low, high = _ratio_limits(table.pos, table.total, places, 3.84)
    for place, limits in zip(places.tolist(), zip(low.tolist(), high.tolist(), strict=True), strict=True):

        def ratio(p, place=place):
            left = np.minimum(isotonic(slice(place)), p) if place else np.empty(0)
            right = np.maximum(isotonic(slice(place + 1, None)), p) if place + 1 < len(table) else np.empty(0)
            return 2 * (loss(np.concatenate([left, [p], right])) - loss(whole))

        assert limits[0] <= whole[place] <= limits[1]
        for limit, end in zip(limits, (0.0, 1.0), strict=True):
            if abs(limit - end) > 1e-9:
                assert ratio(limit) == pytest.approx(3.84, abs=1e-6)
        best = minimize_scalar(ratio, bounds=(1e-9, 1 - 1e-9), method="bounded")
        assert limits[0] - 1e-6 <= best.x <= limits[1] + 1e-6


@pytest.mark.parametrize("make", [band, pointwise_band])
def test_limits_contain_the_isotonic_fit(make):
    for seed, decimals in ((0, None), (1, 1), (2, 2)):
        table = drawn(400, seed, decimals)
        fitted = IsotonicCalibrator(between="step").fit_table(table).map_.probability(table.scores)
        low, high = make(table).limits(table.scores).T
        assert np.all((low <= fitted + 1e-9) & (fitted <= high + 1e-9))
        assert np.all((0 <= low) & (high <= 1))


def test_limits_are_maps():
    found = pointwise_band(drawn(300, 3))
    for side in (found.lower, found.upper):
        assert CalibrationMap.from_dict(side.to_dict()) == side
        assert "CASE" in to_sql(side)
    assert isinstance(found, Band)
    assert not found.simultaneous


def test_rows_without_errors_or_of_one_score():
    for make in (band, pointwise_band):
        same = make(ScoreTable.from_arrays(np.full(50, 0.3), np.arange(50) < 10))
        low, high = same.limits([0.3])[0]
        assert 0.05 < low < 0.2 < high < 0.4
        assert same.limits([0.2, 0.4]).tolist() == [[0.0, high], [low, 1.0]]
        sure = make(ScoreTable.from_arrays(np.arange(40.0), np.ones(40, int)))
        assert sure.limits([39.0])[0, 0] > 0.6
        assert np.all(sure.limits(np.arange(40.0))[:, 1] == 1.0)


def test_areas_of_miscalibration_in_words():
    table = drawn(3000, 4, truth=lambda s: s)
    prob = np.clip(table.scores + np.where(table.scores > 0.6, 0.25, 0.0), 0, 1)
    (area,) = band(table).areas(prob, table.scores)
    assert 0.6 <= area.low < area.high <= 1
    assert area.gap < 0
    assert "are too high: somewhere between them P is at least" in str(area)
    assert band(table).areas(table.scores, table.scores) == []


def test_weights_and_levels_are_refused():
    table = drawn(50, 0)
    for make in (band, pointwise_band):
        with pytest.raises(InvalidInputError, match="needs counts of rows"):
            make(table.scale(0.5))
        with pytest.raises(InvalidInputError, match="level must"):
            make(table, 1.0)


def test_models_keep_their_band():
    table = drawn(300, 3)
    found = pointwise_band(table)
    model = Model.from_fitted(PlattCalibrator().fit_table(table), table=table, band=found)
    places = np.linspace(-0.5, 1.5, 101)
    again = Model.from_json(model.to_json())
    assert again == model
    assert again.schema == 5
    np.testing.assert_array_equal(again.predict_interval(places), found.limits(places))
    shifted = shift_prior(again, 0.1)
    odds = shifted.predict_interval(places)
    assert Model.from_json(shifted.to_json()) == shifted
    move = logit(0.1) - logit(table.prevalence)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(logit(odds), logit(found.limits(places)) + move, atol=1e-9)
    segments = Model.from_json(model.with_segments("country", {"at": model}).to_json())
    assert segments.of_segment("at").band == found
    plain = Model.from_fitted(PlattCalibrator().fit_table(table), table=table)
    assert plain.schema == 1
    both = plain.with_segments("country", {"at": model})
    assert Model.from_json(both.to_json()) == both
    with pytest.raises(InvalidInputError, match="must keep a band"):
        plain.predict_interval(places)


def test_damaged_bands_are_refused():
    table = drawn(40, 3)
    model = Model.from_fitted(PlattCalibrator().fit_table(table), table=table, band=pointwise_band(table))
    for damage in (
        {"level": 1.0},
        {"simultaneous": 0},
        {"rows": 0},
        {"lower": {"shape": "step"}},
        {"upper": None},
        {"more": 1},
    ):
        content = model._content(5)
        content["band"] |= damage
        with pytest.raises(ModelFileError, match="band"):
            read_content(5, content)


def test_calibrators_keep_their_band_and_its_limits_are_models():
    rng = np.random.default_rng(3)
    scores = rng.random(400).round(2)
    y = rng.random(400) < scores
    found = pointwise_band(ScoreTable.from_arrays(scores, y), 0.9)
    places = np.linspace(-0.5, 1.5, 101)
    for method in (PlattCalibrator, IsotonicCalibrator, AutoCalibrator):
        cal = method(keep_band=0.9).fit(scores, y)
        assert cal.band_ == found
        np.testing.assert_array_equal(cal.predict_interval(places), found.limits(places))
        np.testing.assert_array_equal(cal.predict_interval(places, found.level), found.limits(places))
        with pytest.raises(InvalidInputError, match=r"level must be 0.\d+, that of the limits; got level=0.5"):
            Model.from_fitted(cal).predict_interval(places, 0.5)
        chunks = method(keep_band=0.9).partial_fit(scores[:150], y[:150]).partial_fit(scores[150:], y[150:])
        assert chunks.band_ == found
        model = Model.from_fitted(cal)
        assert model.band == found
        assert "keep_band" not in model.parameters
        for side, column in (("lower", 0), ("upper", 1)):
            limit = model.limit(side)
            np.testing.assert_array_equal(limit.probability(places), found.limits(places)[:, column])
            assert Model.from_json(limit.to_json()) == limit
        both = model.with_segments("country", {"at": model})
        assert both.limit("upper").of_segment("at").map == found.upper
    assert PlattCalibrator(keep_band=True).fit(scores, y).band_.level == 0.95
    again = PlattCalibrator(keep_band=True).fit(scores, y).set_params(keep_band=False).fit(scores, y)
    assert again.band_ is None
    with pytest.raises(InvalidInputError, match="fit it with keep_band=True"):
        again.predict_interval(places)
    with pytest.raises(InvalidInputError, match="must keep a band"):
        Model.from_fitted(again).limit("lower")
    for bad in ("yes", 2, -1, np.nan, 0):
        with pytest.raises(InvalidInputError, match="keep_band must"):
            PlattCalibrator(keep_band=bad).fit(scores, y)
    with pytest.raises(InvalidInputError, match="an interval of P needs counts of rows"):
        PlattCalibrator(keep_band=True).fit(scores, y, rng.random(400))
