"""Seven libraries' calibration errors, as those libraries computed them, come out of their definitions."""

import json
from pathlib import Path

import numpy as np
import pytest
from error_definitions import PEERS
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from oddsmith.metrics import ErrorDefinition, calibration_error, forecast_from_arrays, smooth_calibration_error

FIGURES = json.loads((Path(__file__).parents[1] / "golden" / "peer_errors.json").read_text())
#: What the libraries give beside their defaults.
OPTIONS = {
    "calzone_mce": ErrorDefinition(10, "width", "right", "dropped", norm="max"),
    "calzone_top_equal_count": ErrorDefinition(10, "quantile", "right", "dropped", classes="top"),
    "netcal_mass": ErrorDefinition(10, "quantile"),
    "torchmetrics_l2": ErrorDefinition(15, "width", "left", "apart", norm="l2"),
    "torchmetrics_max": ErrorDefinition(15, "width", "left", "apart", norm="max"),
    "uncertainty_calibration_ece_em": ErrorDefinition(15, "split"),
}


def naive_bayes():
    """Forecasts of naive Bayes: overconfident, all distinct, as near to 0 as 1e-12."""
    x, y = make_classification(6000, 20, weights=[0.8, 0.2], flip_y=0.05, random_state=0)
    model = GaussianNB().fit(x[:2000], y[:2000])
    return y[4000:], model.predict_proba(x[4000:])[:, 1]


def ties():
    """Sixty-fourths, which meet edges exactly, 0 and 1 among them."""
    i = np.arange(2000)
    p = (37 * i % 65) / 64
    return (((7 * i * i + 3 * i) % 101) / 101 < p + 1.5 * p * (1 - p) * (1 - 2 * p)).astype(int), p


FORECASTS = {"naive_bayes": forecast_from_arrays(*naive_bayes()), "ties": forecast_from_arrays(*ties())}
CASES = [(data, name) for data in FORECASTS for name in FIGURES[data] if name != "relplot"]


@pytest.mark.parametrize(("data", "name"), CASES, ids=lambda part: part)
def test_figures_of_the_libraries(data, name):
    definition = (OPTIONS | PEERS)[name]
    if (data, name) == ("ties", "uncertainty_calibration"):
        definition = PEERS["uncertainty_calibration_discrete"]  # which the library takes for few distinct forecasts
    found = calibration_error.of(FORECASTS[data], definition=definition)
    assert float(found) == pytest.approx(FIGURES[data][name], abs=1e-9)


def test_what_relplot_halves_is_most_of_naive_bayes():
    # A third of these forecasts lie below 1e-3, at the end of that library's lattice.
    exact = float(smooth_calibration_error.of(FORECASTS["naive_bayes"]))
    assert FIGURES["naive_bayes"]["relplot"] - exact > 0.01


def test_no_two_of_the_libraries_agree():
    figures = FIGURES["naive_bayes"]
    assert max(figures[name] for name in PEERS if name in figures) > 2 * figures["calzone_top_class"]
    assert set(PEERS) - set(figures) == {"sklearn", "uncertainty_calibration_discrete"}
