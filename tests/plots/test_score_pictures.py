"""Pictures of scores: empirical log-odds with maps, histograms with densities."""

import numpy as np
import pytest
from gallery import quietly, sample
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from scipy.stats import gaussian_kde, norm

from oddsmith import (
    AsymmetricGaussianCalibrator,
    AsymmetricLaplaceCalibrator,
    DensityCalibrator,
    GaussianCalibrator,
    HybridCalibrator,
    IsotonicCalibrator,
    LaplaceCalibrator,
    PlattCalibrator,
    ScoreTable,
)
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import empirical_log_odds
from oddsmith.plots import DensityDisplay, ScoreSpaceDisplay

SCORES, Y, _ = sample(600)
TABLE = ScoreTable.from_arrays(SCORES, Y)
DENSITIES = [
    AsymmetricGaussianCalibrator(),
    AsymmetricLaplaceCalibrator(),
    DensityCalibrator("exponential", "gaussian"),
    GaussianCalibrator(),
    GaussianCalibrator(tied=True),
    HybridCalibrator(),
    LaplaceCalibrator(),
]


def test_points_and_maps_are_those_of_the_library():
    platt = PlattCalibrator().fit_table(TABLE)
    display = ScoreSpaceDisplay.from_table(TABLE, maps={"Platt": platt, "map": platt.map_}, n_bins=10)
    found, expected = display.points[""].empirical, empirical_log_odds(TABLE, n_bins=10)
    assert_array_equal(found.log_odds, expected.log_odds)
    assert_array_equal(display.maps["Platt"], platt.log_odds(display.grid))
    assert_array_equal(display.maps["map"], display.maps["Platt"])
    reach = norm.ppf(0.975) * np.sqrt(1 / (found.pos + 0.5) + 1 / (found.neg + 0.5))
    assert_allclose(display.points[""].high - found.log_odds, reach)


@pytest.mark.parametrize("edges", [None, [-2.0, -1.0, 0.0, 0.5, 8.0]])
def test_float_weights_use_their_squares(edges):
    weight = np.random.default_rng(0).exponential(1, len(Y))
    points = ScoreSpaceDisplay.from_predictions(Y, SCORES, sample_weight=weight, n_bins=5, edges=edges).points[""]
    found = points.empirical
    inside = (SCORES >= found.low[1]) & (SCORES < found.low[2])
    n_pos, n_neg = (weight[inside & (Y == k)].sum() ** 2 / (weight[inside & (Y == k)] ** 2).sum() for k in (1, 0))
    reach = norm.ppf(0.975) * np.sqrt(1 / (n_pos + 0.5) + 1 / (n_neg + 0.5))
    assert points.high[1] - found.log_odds[1] == pytest.approx(reach)


def test_counts_stand_for_rows():
    count = np.random.default_rng(0).integers(1, 4, len(Y))
    one = ScoreSpaceDisplay.from_predictions(Y, SCORES, sample_weight=count)
    other = ScoreSpaceDisplay.from_predictions(np.repeat(Y, count), np.repeat(SCORES, count))
    assert_array_equal(one.points[""].low, other.points[""].low)


def test_pure_bins_are_open_triangles():
    table = ScoreTable.from_arrays([-2.0, -1.9, 0.0, 0.1, 2.0, 2.1], [0, 0, 0, 1, 1, 1])
    display = ScoreSpaceDisplay.from_table(table, n_bins=3).plot()
    marks = {line.get_marker(): line for line in display.ax_.lines if len(line.get_xdata())}
    assert marks["v"].get_xdata() == pytest.approx(-1.95)
    assert marks["^"].get_ydata() == pytest.approx(np.log(2.5 / 0.5))
    assert marks["^"].get_markerfacecolor() == "#FFFFFF"
    assert marks["o"].get_xdata() == pytest.approx(0.05)


def test_infinite_maps_run_out_of_the_picture():
    table = ScoreTable.from_arrays([-2.0, -1.0, 0.0, 0.5, 1.0, 2.0], [0, 0, 1, 0, 1, 1])
    isotonic = IsotonicCalibrator().fit_table(table)
    display = ScoreSpaceDisplay.from_table(table, maps={"isotonic": isotonic}, n_bins=3)
    assert np.isinf(display.maps["isotonic"]).any()
    (line,) = (line for line in display.plot().ax_.lines if line.get_gid() == "series-0")
    low, high = display.ax_.get_ylim()
    assert np.isfinite(line.get_ydata()).all()
    assert line.get_ydata().min() < low
    assert line.get_ydata().max() > high
    assert_array_equal(display.plot(scale="probability").ax_.lines[-1].get_ydata(), expit(display.maps["isotonic"]))


def test_names_of_tables_and_scales_are_checked():
    with pytest.raises(InvalidInputError, match="tables must not be empty"):
        ScoreSpaceDisplay.from_tables({})
    with pytest.raises(InvalidInputError, match="scale must be one of"):
        ScoreSpaceDisplay.from_table(TABLE).plot(scale="odds")


@pytest.mark.parametrize("calibrator", DENSITIES, ids=repr)
def test_class_densities_integrate_to_one_and_give_the_map(calibrator):
    fitted = quietly(calibrator, TABLE)
    grid = np.linspace(-80, 80, 400_001)
    pos, neg = fitted.class_densities(grid)
    assert np.trapezoid(pos, grid) == pytest.approx(1, abs=1e-3)
    assert np.trapezoid(neg, grid) == pytest.approx(1, abs=1e-3)
    at = np.linspace(*np.percentile(SCORES[Y == 1], [1, 99]), 41)  # an exponential is 0 outside its class
    pos, neg = fitted.class_densities(at)
    prior = np.log(fitted.prior_positive_) - np.log1p(-fitted.prior_positive_)
    assert_allclose(np.log(pos) - np.log(neg) + prior, fitted.log_odds(at), atol=1e-9)
    assert np.log(fitted.class_densities(SCORES[Y == 1])[0]).sum() == pytest.approx(fitted.positive_.log_likelihood)
    assert np.log(fitted.class_densities(SCORES[Y == 0])[1]).sum() == pytest.approx(fitted.negative_.log_likelihood)


def test_densities_do_not_outlive_a_degenerate_fit():
    calibrator = GaussianCalibrator().fit_table(TABLE)
    quietly(calibrator, ScoreTable.from_arrays([1.0, 2.0], [1, 1]))
    with pytest.raises(InvalidInputError, match="densities need both classes"):
        calibrator.class_densities([0.0])


def test_histograms_are_densities_of_the_whole_class():
    display = DensityDisplay.from_table(TABLE, n_bins=12)
    width = np.diff(display.edges)
    assert_allclose(display.pos * width, np.histogram(SCORES[Y == 1], display.edges)[0] / Y.sum())
    assert display.neg @ width <= 1
    assert 0.98 <= np.mean((display.edges[0] <= SCORES) & (display.edges[-1] >= SCORES)) <= 1


def test_weights_count_in_histograms():
    weight = np.random.default_rng(0).exponential(1, len(Y))
    display = DensityDisplay.from_predictions(Y, SCORES, sample_weight=weight, n_bins=12)
    share = np.histogram(SCORES[Y == 0], display.edges, weights=weight[Y == 0])[0] / weight[Y == 0].sum()
    assert_allclose(display.neg * np.diff(display.edges), share)


def test_modes_are_those_of_a_kernel_estimate():
    display = DensityDisplay.from_table(TABLE)
    for positive, mode in zip((1, 0), display.modes, strict=True):
        scores = SCORES[Y == positive]
        spread = min(scores.std(), np.subtract(*np.percentile(scores, [75, 25])) / 1.34)
        estimate = gaussian_kde(scores, 0.9 * spread * len(scores) ** -0.2 / scores.std(ddof=1))
        grid = np.linspace(-6, 6, 2001)
        assert mode == pytest.approx(grid[np.argmax(estimate(grid))], abs=0.05)


def test_what_is_no_density_of_these_scores_is_refused():
    with pytest.raises(InvalidInputError, match="'Platt' must model densities; got PlattCalibrator"):
        DensityDisplay.from_table(TABLE, calibrators={"Platt": PlattCalibrator().fit_table(TABLE)})
    prob = TABLE.map(expit)
    fitted = GaussianCalibrator(input="probability").fit_table(prob)
    with pytest.raises(InvalidInputError, match="must be fitted to scores as they are drawn"):
        DensityDisplay.from_table(prob, calibrators={"Gaussian": fitted})
