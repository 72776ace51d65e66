"""A fit to cells says so where a choice hangs on their width, and says nothing otherwise."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from catalogue import name, variants
from oddsmith import (
    AsymmetricGaussianCalibrator,
    AsymmetricLaplaceCalibrator,
    AutoCalibrator,
    BBQCalibrator,
    DensityCalibrator,
    HistogramCalibrator,
    HybridCalibrator,
    PiecewiseLogisticCalibrator,
    ScalingBinningCalibrator,
    ScoreTable,
    SplineCalibrator,
)
from oddsmith.errors import OddsmithWarning, QuantizedSelectionWarning
from samples import ours_allowed

WIDTH = 0.25


def rows(seed, n=150):
    """Rows of two overlapping classes, each with two humps: modes and bends that are hard to place."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    humps = np.where(rng.random(n) < 0.5, -1.2, 1.2) * rng.uniform(0.5, 1.5)
    return np.where(y, 1.0, -1.0) + humps + rng.normal(0, 0.7, n), y.astype(int)


def fitted(calibrator, table):
    """Return a fit, and what it says about cells."""
    fresh = clone(calibrator)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OddsmithWarning)
        fresh.fit_table(table)
    return fresh, [str(one.message) for one in caught if one.category is QuantizedSelectionWarning]


def modes(fit):
    return np.array([fit.positive_.theta, fit.negative_.theta])


def penalty(fit):
    return np.log10([fit.penalty_])


def edges(fit):
    return getattr(fit.map_, "knots", np.empty(0))


def mean_bins(fit):
    return np.array([fit.n_bins_ @ fit.posterior_])


#: Calibrator, what it chooses, its name in the message, and distances that are surely the same and surely another.
KINDS = [
    (AsymmetricLaplaceCalibrator(), modes, "mode of the", WIDTH, 6 * WIDTH),
    (AsymmetricGaussianCalibrator(), modes, "mode of the", WIDTH, 6 * WIDTH),
    (HybridCalibrator(), modes, "mode of the", WIDTH, 6 * WIDTH),
    (DensityCalibrator("hybrid", "hybrid"), modes, "mode of the", WIDTH, 6 * WIDTH),
    (PiecewiseLogisticCalibrator(penalty=0.0), lambda fit: fit.knots_, "knots", WIDTH, 6 * WIDTH),
    (PiecewiseLogisticCalibrator(n_pieces="grow", penalty=0.0), lambda fit: fit.knots_, "knots", WIDTH, 6 * WIDTH),
    (PiecewiseLogisticCalibrator(knots=[-0.5, 0.5]), penalty, "penalty", 0.1, 0.5),
    (SplineCalibrator(input="log_odds"), penalty, "penalty", 0.1, 0.5),
    (HistogramCalibrator(n_bins=25), edges, "edges of the bins", WIDTH, 6 * WIDTH),
    (ScalingBinningCalibrator(n_bins=25), edges, "edges of the bins", WIDTH, 6 * WIDTH),
    (BBQCalibrator(input="log_odds"), mean_bins, "mean number of bins", 1e-5, 0.5),
]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("calibrator", "chosen", "words", "near", "far"), KINDS, ids=lambda one: name(one) if hasattr(one, "fit") else ""
)
def test_a_choice_that_hangs_on_the_width_is_said(calibrator, chosen, words, near, far):
    silent = loud = 0
    for seed in range(30):
        cells = ScoreTable.from_arrays(*rows(seed)).quantize(WIDTH)
        fit, said = fitted(calibrator, cells)
        own, other = chosen(fit), chosen(fitted(calibrator, cells.quantize(2 * WIDTH))[0])
        apart = np.inf if len(own) != len(other) else np.abs(own - other).max(initial=0.0)
        if apart < near:
            assert not said
            silent += 1
        elif apart > far:
            (message,) = said
            assert words in message
            assert f"the width of the cells, {WIDTH:g}" in message
            assert "at this width" in message
            assert "Hint: " in message
            assert message.endswith(fit.fit_warnings_[-1])
            loud += 1
    assert loud > 0
    assert silent > 0 or words.endswith("bins")  # which differ a little at any width


def test_the_words_of_a_jump():
    calibrator = AsymmetricLaplaceCalibrator()
    for seed in range(100):
        cells = ScoreTable.from_arrays(*rows(seed)).quantize(WIDTH)
        fit, said = fitted(calibrator, cells)
        if said and "positives" in said[0]:
            break
    wider, _ = fitted(calibrator, cells.quantize(2 * WIDTH))
    ours, theirs = fit.positive_.theta, wider.positive_.theta
    assert f"mode of the positives: {ours:g} at this width, {theirs:g} at twice the width" in said[0]


@pytest.mark.parametrize("calibrator", variants(), ids=name)
def test_exact_tables_say_nothing_about_cells(calibrator):
    for seed in range(3):
        assert fitted(calibrator, ScoreTable.from_arrays(*rows(seed)))[1] == []


def test_fine_cells_say_nothing_about_cells():
    for calibrator in variants():
        cells = ScoreTable.from_arrays(*rows(0)).quantize(2.0**-40)
        assert fitted(calibrator, cells)[1] == [], name(calibrator)


def test_a_blend_speaks_for_itself():
    cells = ScoreTable.from_arrays(*rows(0)).quantize(1.0)
    assert fitted(AutoCalibrator(), cells)[1] == []


def test_streams_and_declared_probabilities_say_so_too():
    loud = []
    for seed in range(40):
        scores, y = rows(seed)
        stream = SplineCalibrator(input="log_odds")
        with ours_allowed():
            stream.partial_fit(scores[:70], y[:70], max_cells=24).partial_fit(scores[70:], y[70:])
        assert stream.fit_warnings_ == fitted(SplineCalibrator(input="log_odds"), stream.table_)[0].fit_warnings_
        loud += [message for message in stream.fit_warnings_ if "width of the cells" in message]
        cells = ScoreTable.from_arrays(1 / (1 + np.exp(-scores)), y).quantize(WIDTH, log_odds=True)
        loud += fitted(AsymmetricLaplaceCalibrator(input="probability"), cells)[1]
    assert any("penalty" in message for message in loud)
    assert any("mode" in message for message in loud)
