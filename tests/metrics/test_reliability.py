"""Calibration errors and curves against row versions, vectors, scikit-learn and probcal."""

import json
from pathlib import Path

import numpy as np
import pytest
from error_definitions import PEERS
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from oddsmith import ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import class_forecast, curves, forecast_from_arrays, reliability
from oddsmith.metrics.reliability import DEFINITIONS, ErrorDefinition, calibration_error
from samples import samples

EVERY = DEFINITIONS | PEERS
VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "vectors.json").read_text())["methods"]


def data(seed=0, n=500, decimals=None):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 1.2, n)
    p = p if decimals is None else np.round(p, decimals)
    return (rng.random(n) < p**1.4).astype(int), p


def rows_ece(y, p, n_bins, power):
    bins = [min(int(n_bins * x + 1e-12), n_bins - 1) for x in p]
    groups = [[(t, x) for t, x, b in zip(y, p, bins, strict=True) if b == k] for k in set(bins)]
    return sum(len(g) * abs(sum(t - x for t, x in g) / len(g)) ** power for g in groups) / len(y)


@pytest.mark.parametrize(("norm", "power"), [("l1", 1), ("squared", 2)])
@given(samples(), st.integers(1, 20))
def test_equals_the_row_version(norm, power, sample, n_bins):
    scores, y = sample
    found = calibration_error.of(
        ScoreTable.from_arrays(scores, y), definition=ErrorDefinition(n_bins, "width", norm=norm)
    )
    assert float(found) == pytest.approx(rows_ece(y, 1 / (1 + np.exp(-scores)), n_bins, power), abs=1e-12)


@pytest.mark.parametrize("name", sorted(EVERY))
@given(samples(), st.integers(0, 99))
def test_weights_are_repetitions(name, sample, seed):
    scores, y = sample
    if name == "calzone_equal_count":
        assume(np.ptp(scores) > 0)
    weight = np.random.default_rng(seed).integers(1, 4, len(y))
    counted = calibration_error.of(ScoreTable.from_arrays(scores, y, weight), definition=EVERY[name])
    repeated = calibration_error.of(
        ScoreTable.from_arrays(np.repeat(scores, weight), np.repeat(y, weight)), definition=EVERY[name]
    )
    assert float(counted) == pytest.approx(float(repeated), abs=1e-9)
    assert counted.definition == str(EVERY[name])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("decimals", [None, 1, 2])
def test_agrees_with_probcal(seed, decimals):
    probcal = pytest.importorskip("probcal.metrics")
    y, p = data(seed, decimals=decimals)
    for name, theirs in (
        ("probcal", probcal.ece),
        ("probcal_debiased", probcal.ece_debiased),
        ("probcal_sweep", probcal.ece_sweep),
    ):
        assert float(calibration_error(y, p, definition=EVERY[name])) == pytest.approx(theirs(y, p), abs=1e-9)


@pytest.mark.parametrize("decimals", [None, 1, 2])
def test_agrees_with_sklearn(decimals):
    y, p = data(3, decimals=decimals)
    true, predicted = calibration_curve(y, p, n_bins=5)
    weight = np.bincount(np.searchsorted(np.linspace(0, 1, 6)[1:-1], p))
    gaps = np.abs(true - predicted)
    assert float(calibration_error(y, p, definition=PEERS["sklearn"])) == pytest.approx(gaps @ weight / len(y))


def test_libraries_disagree_and_every_number_says_how_it_was_made():
    y, p = data(1)
    forecast = forecast_from_arrays(y, p)
    figures = {name: calibration_error.of(forecast, definition=definition) for name, definition in PEERS.items()}
    assert len({round(float(figure), 6) for figure in figures.values()}) >= 8
    assert len({figure.definition for figure in figures.values()}) == len(PEERS)
    assert "monotone sweep" in str(figures["probcal_sweep"])


def largest_gap(y, p, edge, ends, **options):
    definition = ErrorDefinition(10, "width", edge, ends, norm="max", **options)
    return float(calibration_error(y, p, definition=definition))


def test_edge_rules_differ_at_edges_only():
    y, p = [1, 0, 1, 1], [0.2, 0.25, 0.3, 1.0]
    assert largest_gap(y, p, "left", "closed") == pytest.approx(0.7)
    assert largest_gap(y, p, "right", "closed") == pytest.approx(0.8)
    ends = [1, 0, 1, 0], [0.0, 0.05, 1.0, 0.95]
    # With the end in the interval beside, ȳ = ½ and p̄ = 0.975 or 0.025; apart, it is alone; dropped, it is gone.
    assert largest_gap(*ends, "left", "closed") == pytest.approx(0.475)
    assert largest_gap(*ends, "left", "apart") == pytest.approx(0.95)
    assert largest_gap(*ends, "right", "apart") == pytest.approx(1.0)
    assert largest_gap([1, 0, 0], [0.0, 0.05, 0.6], "right", "dropped") == pytest.approx(0.6)
    assert largest_gap([1, 0, 0], [1.0, 0.05, 0.6], "left", "dropped") == pytest.approx(0.6)


def test_weight_left_out_is_not_counted():
    definition = ErrorDefinition(10, "width", "right", "dropped")
    with_zeros = calibration_error([1, 0, 0, 1], [0.0, 0.0, 0.3, 0.9], definition=definition)
    assert float(with_zeros) == float(calibration_error([0, 1], [0.3, 0.9], definition=definition))
    with pytest.raises(InvalidInputError, match="inside the outer edge"):
        calibration_error([0, 1], [0.0, 0.0], definition=definition)


@pytest.mark.parametrize("decimals", [None, 1, 2])
@pytest.mark.parametrize("n_bins", [1, 4, 7, 15])
def test_split_deals_rows_out_as_numpy_does(n_bins, decimals):
    y, p = data(8, n=67, decimals=decimals)
    order = np.argsort(p)
    cuts = [part[0] for part in np.array_split(p[order], n_bins)[1:]]
    before = [part[-1] for part in np.array_split(p[order], n_bins)[:-1]]
    edges = np.unique((np.array(cuts) + before) / 2)
    bins = np.searchsorted(edges, p)
    gaps = np.array([abs((y - p)[bins == k].sum()) for k in np.unique(bins)])
    found = calibration_error(y, p, definition=ErrorDefinition(n_bins, "split"))
    assert float(found) == pytest.approx(gaps.sum() / len(y))


def test_distinct_forecasts_as_bins():
    y, p = data(9, decimals=1)
    gaps = [abs((y - p)[p == value].sum()) for value in np.unique(p)]
    found = calibration_error.of(forecast_from_arrays(y, p), definition=ErrorDefinition(bins="distinct"))
    assert float(found) == pytest.approx(sum(gaps) / len(y))
    assert "one bin per distinct forecast" in str(found)


@pytest.mark.parametrize("name", sorted(EVERY))
@pytest.mark.parametrize("scale", [0.01, 7.5])
def test_float_weights_of_one_size_are_counts(name, scale):
    y, p = data(10, n=200, decimals=2)
    counted = calibration_error(y, p, definition=EVERY[name])
    weighted = calibration_error(y, p, np.full(200, scale), definition=EVERY[name])
    if EVERY[name].bins in ("split", "split_or_distinct"):
        # Which bins are larger is a matter of rows.
        assert float(weighted) == pytest.approx(float(counted), abs=0.02)
    else:
        assert float(weighted) == pytest.approx(float(counted), abs=1e-9)


def test_debiased_squared_error_is_unbiased():
    rng = np.random.default_rng(4)
    p = np.repeat([0.2, 0.5, 0.7], 20)
    truth = np.repeat([0.3, 0.5, 0.65], 20)
    definition = ErrorDefinition(3, "mass", norm="squared", debias="total")
    values = [
        float(calibration_error((rng.random(60) < truth).astype(int), p, definition=definition)) for _ in range(2000)
    ]
    assert np.mean(values) == pytest.approx(np.mean((p - truth) ** 2), abs=4 * np.std(values) / np.sqrt(2000))


def test_single_rows_and_empty_bins_never_divide_by_zero():
    for name in set(EVERY) - {"calzone_equal_count"}:
        assert 0 <= float(calibration_error([1], [0.4], definition=EVERY[name])) <= 1
        assert 0 <= float(calibration_error([1, 0], [1.0, 0.0], definition=EVERY[name])) <= 1


def test_top_label_and_classwise():
    rng = np.random.default_rng(5)
    prob = rng.dirichlet(np.ones(3), 400)
    y = np.array([rng.choice(3, p=row) for row in prob])
    forecast = class_forecast(y, prob)
    top = calibration_error.of(forecast.of_top_label(), definition="ece")
    expected = calibration_error(prob.argmax(1) == y, prob.max(1), definition="ece")
    assert float(top) == expected == reliability.top_label_calibration_error(y, prob, definition="ece")
    parts = [calibration_error(y == k, prob[:, k], definition="ece") for k in range(3)]
    shares = np.bincount(y) / len(y)
    for average, mean in (("mean", np.mean(parts)), ("prevalence", shares @ parts), ("max", max(parts))):
        found = reliability.classwise_calibration_error.of(forecast, definition="ece", average=average)
        assert float(found) == pytest.approx(mean)
        assert "3 classes" in str(found)
    assert reliability.classwise_calibration_error(y, prob, definition="ece") == pytest.approx(np.mean(parts))


@pytest.mark.parametrize("weights", [None, "int", "float"])
def test_top_class_of_two(weights):
    y, p = data(6)
    weight = {None: None, "int": np.arange(500) % 3 + 1, "float": np.arange(500) % 3 + 1.0}[weights]
    found = calibration_error(y, p, weight, definition=PEERS["calzone_top_class"])
    expected = calibration_error((p > 0.5) == y, np.maximum(p, 1 - p), weight, definition=PEERS["calzone"])
    assert float(found) == pytest.approx(float(expected))


@pytest.mark.parametrize("case", VECTORS["reliability"], ids=lambda case: case["case"])
def test_reliability_vectors(case):
    curve = curves.reliability_curve(case["labels01"], case["inputs"])
    for name in ("low", "high", "mean_predicted", "fraction_positive"):
        assert getattr(curve, name) == pytest.approx([b[name] for b in case["bins"]])
    assert curve.weight.tolist() == [b["count"] for b in case["bins"]]


@pytest.mark.parametrize("case", VECTORS["empirical_log_odds"], ids=lambda case: case["case"])
def test_empirical_log_odds_vectors(case):
    bins = curves.empirical_log_odds(ScoreTable.from_arrays(case["scores"], case["labels"]), edges=case["edges"])
    names = {"pos": "n_plus", "neg": "n_minus", "mean_score": "mean_score", "log_odds": "log_odds", "low": "low"}
    for ours, theirs in names.items():
        assert getattr(bins, ours) == pytest.approx([b[theirs] for b in case["bins"]])
    assert bins.one_class.tolist() == [True, False, False, False]


@given(samples(), st.integers(1, 12))
def test_curves_keep_every_row(sample, n_bins):
    table = ScoreTable.from_arrays(*sample)
    for kind in ("width", "mass"):
        curve = curves.reliability_curve.of(table, n_bins=n_bins, bins=kind)
        assert curve.weight.sum() == len(sample[1])
        assert curve.weight @ curve.fraction_positive == pytest.approx(sample[1].sum())
        assert np.all(curve.low <= curve.high + 1e-12)
        assert np.all((curve.low <= curve.mean_predicted + 1e-9) & (curve.mean_predicted <= curve.high + 1e-9))
    bins = curves.empirical_log_odds(table, n_bins=n_bins)
    assert bins.pos.sum() + bins.neg.sum() == len(sample[1])
    assert np.all((bins.low <= bins.mean_score + 1e-9) & (bins.mean_score <= bins.high + 1e-9))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_bins": 0}, "n_bins"),
        ({"bins": "equal"}, "bins"),
        ({"norm": "l3"}, "norm"),
        ({"edge": "apart"}, "edge"),
        ({"ends": "open"}, "ends"),
        ({"norm": "l1", "debias": "total"}, "debias"),
    ],
)
def test_bad_definitions(options, words):
    with pytest.raises(InvalidInputError, match=words):
        ErrorDefinition(**options)


def test_bad_input():
    with pytest.raises(InvalidInputError, match="definition"):
        calibration_error([0, 1], [0.1, 0.2], definition="netcal")
    with pytest.raises(InvalidInputError, match="edges"):
        curves.empirical_log_odds(ScoreTable.from_arrays([0.0, 1.0], [0, 1]), edges=[1.0, 0.0])
