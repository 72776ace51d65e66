"""Reliability diagrams hold what the measures say, and are drawn in the documents' forms."""

import numpy as np
import pytest
from gallery import RELIABILITY, content, quick, sample
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import beta
from sklearn.isotonic import IsotonicRegression

from oddsmith import ScoreTable
from oddsmith.bands import band, pointwise_band
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import (
    decompose,
    forecast_from_arrays,
    integrated_calibration_index,
    reliability_curve,
    smooth_calibration_error,
)
from oddsmith.plots import CorpDisplay, PredictionHistogramDisplay, ReliabilityDisplay, SmoothReliabilityDisplay

_, Y, PROB = sample(600)
FORECAST = forecast_from_arrays(Y, PROB)


@pytest.mark.parametrize("bins", ["width", "mass"])
def test_bins_are_those_of_the_measure(bins):
    display = ReliabilityDisplay.from_predictions(Y, PROB, bins=bins, n_bins=7)
    curve = reliability_curve.of(FORECAST, n_bins=7, bins=bins)
    for name in ("low", "high", "mean_predicted", "fraction_positive", "weight"):
        assert_array_equal(getattr(display.curve, name), getattr(curve, name))


def test_intervals_are_jeffreys():
    display = ReliabilityDisplay.from_predictions(Y, PROB, level=0.9)
    n, k = display.curve.weight, display.curve.weight * display.curve.fraction_positive
    assert_allclose(display.low, np.where(k > 0, beta.ppf(0.05, k + 0.5, n - k + 0.5), 0))
    assert_allclose(display.high, np.where(k < n, beta.ppf(0.95, k + 0.5, n - k + 0.5), 1))
    pure = ReliabilityDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.1, 0.9, 0.9])
    assert (pure.low[0], pure.high[1]) == (0, 1)
    assert pure.high[0] < 1


def test_float_weights_widen_intervals_by_their_variance():
    weight = np.random.default_rng(0).exponential(1, len(Y))
    one = ReliabilityDisplay.from_predictions(Y, PROB, n_bins=1, sample_weight=weight)
    n = weight.sum() ** 2 / (weight**2).sum()
    rate = np.average(Y, weights=weight)
    assert_allclose(one.low, beta.ppf(0.025, n * rate + 0.5, n * (1 - rate) + 0.5))
    assert one.high - one.low > np.diff(beta.ppf([0.025, 0.975], 600 * rate, 600 * (1 - rate)))


def test_points_are_drawn_at_mean_forecast_and_share():
    display = ReliabilityDisplay.from_predictions(Y, PROB).plot()
    (line,) = (line for line in display.ax_.lines if line.get_gid() == "series-0")
    assert_array_equal(line.get_xdata(), display.curve.mean_predicted)
    assert_array_equal(line.get_ydata(), display.curve.fraction_positive)


def test_lines_reach_over_their_bins_and_empty_bins_are_skipped():
    prob = np.array([0.05, 0.3, 0.35, 0.35, 1.0])
    display = ReliabilityDisplay.from_predictions([0, 0, 1, 1, 1], prob).plot(style="lines")
    (lines,) = (artist for artist in display.ax_.collections if artist.get_gid() == "series-0")
    third = 2 / 3
    expected = [[[0, 0], [0.1, 0]], [[0.3, third], [0.4, third]], [[0.9, 1], [1, 1]]]
    assert_allclose(np.array(lines.get_segments()), expected)


def test_counts_stand_over_the_bins():
    display = ReliabilityDisplay.from_predictions(Y, PROB).plot()
    (margin,) = display.ax_.child_axes
    assert [int(text.get_text()) for text in margin.texts] == display.curve.weight.astype(int).tolist()
    assert margin.get_ylabel() == "cases"
    weighted = ReliabilityDisplay.from_predictions(Y, PROB, sample_weight=np.full(len(Y), 0.5)).plot()
    assert weighted.ax_.child_axes[0].get_ylabel() == "weight"


@pytest.mark.parametrize("place", ["below", "above"])
def test_the_histogram_stands_where_it_is_wanted(place):
    display = CorpDisplay.from_table(FORECAST, level=None).plot(histogram=place)
    display.figure_.draw_without_rendering()
    (margin,) = display.ax_.child_axes
    assert (margin.get_position().y0 < display.ax_.get_position().y0) == (place == "below")
    assert display.plot(histogram=None).ax_.child_axes == []
    with pytest.raises(InvalidInputError, match="histogram must be one of"):
        display.plot(histogram="left")


def test_the_histogram_counts_classes():
    display = PredictionHistogramDisplay.from_predictions(Y, PROB, n_bins=8)
    assert_array_equal(display.pos, np.histogram(PROB[Y == 1], 8, (0, 1))[0])
    assert_array_equal(display.neg, np.histogram(PROB[Y == 0], 8, (0, 1))[0])
    heights = [bar.get_height() for bar in display.plot().ax_.patches]
    assert_array_equal(heights, np.concatenate([display.neg, display.pos]))


def test_corp_is_isotonic_regression_with_its_decomposition():
    display = CorpDisplay.from_table(FORECAST, level=None)
    assert_allclose(np.interp(PROB, display.prob, display.rate), IsotonicRegression().fit(PROB, Y).predict(PROB))
    assert display.decomposition == decompose.of(FORECAST, score="squared")
    assert display.band is None


@pytest.mark.heavy
@pytest.mark.parametrize("weighted", [False, True])
def test_the_consistency_band_holds_calibrated_curves(weighted):
    rng = np.random.default_rng(1)
    prob = rng.random(300)
    weight = rng.exponential(1, 300) if weighted else None
    band = CorpDisplay.from_predictions(rng.random(300) < prob, prob, sample_weight=weight, level=0.9).band
    held = []
    for _ in range(60):
        other = CorpDisplay.from_predictions(rng.random(300) < prob, prob, sample_weight=weight, level=None)
        curve = np.interp(band.at, other.prob, other.rate)
        held.append(np.mean((curve >= band.low) & (curve <= band.high)))
    assert 0.85 < np.mean(held) < 0.95
    assert band.level == 0.9


def test_an_overconfident_curve_leaves_the_consistency_band():
    rng = np.random.default_rng(0)
    truth = rng.random(3000)
    prob = truth**3 / (truth**3 + (1 - truth) ** 3)
    display = CorpDisplay.from_predictions(rng.random(3000) < truth, prob)
    curve = np.interp(display.band.at, display.prob, display.rate)
    at = np.searchsorted(display.band.at, [0.1, 0.9])
    assert curve[at[0]] > display.band.high[at[0]]
    assert curve[at[1]] < display.band.low[at[1]]


def test_the_smooth_curve_is_a_kernel_mean():
    bandwidth = float(smooth_calibration_error.of(FORECAST))
    display = SmoothReliabilityDisplay.from_table(FORECAST, level=None, bandwidth=bandwidth)
    t, sigma = display.prob[:, None], display.bandwidth
    kernel = sum(np.exp(-((t - image) ** 2) / (2 * sigma**2)) for image in (PROB, -PROB, 2 - PROB))
    near = np.isfinite(display.rate)
    assert_allclose(display.rate[near], (kernel @ Y / kernel.sum(axis=1))[near], atol=1e-9)
    gap = np.mean(np.abs(np.interp(PROB, display.prob[near], display.rate[near]) - PROB))
    assert gap == pytest.approx(float(integrated_calibration_index.of(FORECAST, smoother="kernel")), abs=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_bandwidth_foretells_left_out_rows_best(weighted):
    rng = np.random.default_rng(3)
    prob = rng.random(120)
    y = (rng.random(120) < np.where(prob > 0.5, 0.9, 0.1)).astype(int)
    weight = rng.exponential(1, 120) if weighted else np.ones(120, int)
    display = SmoothReliabilityDisplay.from_predictions(y, prob, sample_weight=weight, level=None)

    def error(sigma):
        shifts = [prob + 2 * k for k in (-1, 0, 1)] + [2 * k - prob for k in (-1, 0, 1)]
        kernel = sum(np.exp(-((prob[:, None] - image) ** 2) / (2 * sigma**2)) for image in shifts) * weight
        np.fill_diagonal(kernel, 0)
        return weight @ (y - kernel @ y / kernel.sum(axis=1)) ** 2

    choices = 2.0 ** np.arange(0, 7, 0.5) / 200
    assert display.bandwidth == pytest.approx(choices[np.argmin([error(sigma) for sigma in choices])])


def test_the_smooth_curve_follows_a_steep_truth():
    rng = np.random.default_rng(0)
    prob = np.clip(rng.normal(0.5, 0.06, 4000), 0.01, 0.99)
    truth = 1 / (1 + np.exp(-25 * (prob - 0.5)))
    y = rng.random(4000) < truth
    display = SmoothReliabilityDisplay.from_predictions(y, prob, level=None)
    assert float(smooth_calibration_error(y, prob)) > 2 * display.bandwidth
    assert_allclose(np.interp([0.42, 0.5, 0.58], display.prob, display.rate), [0.119, 0.5, 0.881], atol=0.06)


def test_the_smooth_curve_has_gaps_where_there_are_no_forecasts():
    prob = np.repeat([0.1, 0.9], 200)
    y = np.random.default_rng(0).random(400) < prob
    display = SmoothReliabilityDisplay.from_predictions(y, prob, bandwidth=0.02, n_resamples=30)
    shown = display.prob[np.isfinite(display.rate)]
    assert (shown.min(), shown.max()) == pytest.approx((0.08, 0.92))
    assert not np.any((shown > 0.121) & (shown < 0.879))
    assert_array_equal(np.isfinite(display.band.low), np.isfinite(display.rate))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_bootstrap_band_is_as_wide_as_kernel_means_vary(weighted):
    rng = np.random.default_rng(2)
    prob = rng.random(4000)
    weight = rng.exponential(1, 4000) if weighted else None  # of mean square 2
    options = {"bandwidth": 0.1, "level": 0.9, "sample_weight": weight}
    band = SmoothReliabilityDisplay.from_predictions(rng.random(4000) < prob, prob, **options).band
    deviation = np.sqrt((2 if weighted else 1) * 0.25 / (4000 * 2 * np.sqrt(np.pi) * 0.1))
    assert np.interp(0.5, band.at, band.high - band.low) == pytest.approx(2 * 1.645 * deviation, rel=0.15)


@pytest.mark.parametrize("cls", RELIABILITY)
def test_counts_are_repeated_rows(cls):
    count = np.random.default_rng(0).integers(0, 4, len(Y))
    one = cls.from_predictions(Y, PROB, sample_weight=count, **quick(cls))
    other = cls.from_predictions(np.repeat(Y, count), np.repeat(PROB, count), **quick(cls))
    assert content(one) == content(other)


@pytest.mark.parametrize("cls", [CorpDisplay, SmoothReliabilityDisplay])
def test_long_forecasts_are_drawn_from_cells(cls):
    rng = np.random.default_rng(0)
    prob = rng.beta(0.5, 2, 20_000)
    y = rng.random(20_000) < prob**1.3
    long = cls.from_predictions(y, prob, n_resamples=100)
    rounded = np.round(prob * 1000) / 1000  # few enough for no cells
    short = cls.from_predictions(y, rounded, n_resamples=100)
    at = np.linspace(0.05, 0.6, 20)
    for name in ("low", "high"):
        ours, theirs = (np.interp(at, each.band.at, getattr(each.band, name)) for each in (long, short))
        assert_allclose(ours, theirs, atol=0.04)
    assert len(ScoreTable.from_arrays(prob, y)) == 20_000


@pytest.mark.parametrize("cls", RELIABILITY)
def test_bad_options_are_refused(cls):
    with pytest.raises(InvalidInputError, match="level must be below 1"):
        cls.from_predictions(Y, PROB, level=95)
    with pytest.raises(InvalidInputError, match="forecast must be a ScoreTable"):
        cls.from_table(PROB)
    with pytest.raises(InvalidInputError, match="y_prob must be finite and in"):
        cls.from_predictions(Y, 2 * PROB)
    with pytest.raises(InvalidInputError, match="limit must be finite and > 0"):
        cls.from_predictions(Y, PROB, **quick(cls)).plot(limit=0)


def test_a_limit_ends_both_axes():
    display = ReliabilityDisplay.from_predictions(Y, PROB).plot(limit=0.1)
    assert display.ax_.get_xlim()[1] == display.ax_.get_ylim()[1] == pytest.approx(0.102)
    assert display.ax_.child_axes[0].get_xlim() == display.ax_.get_xlim()


@pytest.mark.parametrize("kind", [CorpDisplay, ReliabilityDisplay, SmoothReliabilityDisplay])
@pytest.mark.parametrize("make", [band, pointwise_band])
def test_limits_of_the_true_p_are_drawn(kind, make):
    found = make(FORECAST)
    display = kind.from_table(FORECAST, **quick(kind)).plot(band=found)
    low, high = (line for line in display.ax_.lines if str(line.get_gid()).startswith("limit"))
    prob = low.get_xdata()[1:-1]
    for line, column in ((low, 0), (high, 1)):
        assert_array_equal(line.get_ydata()[1:-1], found.limits(np.log(prob) - np.log1p(-prob))[:, column])
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names.count("95 % band of the true P" if make is band else "95 % pointwise limits of P") == 1
