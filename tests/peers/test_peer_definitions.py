"""Definitions of other libraries equal them on random data: its published algorithm is restated here, row by row."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from error_definitions import PEERS
from scipy.stats import binned_statistic
from sklearn.calibration import calibration_curve

from oddsmith.metrics import ErrorDefinition, calibration_error, smooth_calibration_error


def gaps_of(y, p, index):
    """Return the share of rows and |share of positives − mean forecast| of each bin that holds any."""
    bins = np.unique(index)
    shares = np.array([np.mean(index == b) for b in bins])
    return shares, np.array([abs(y[index == b].mean() - p[index == b].mean()) for b in bins])


def torchmetrics(y, p):
    """Bucketize at 16 boundaries, so that P = 1 has a bin of its own."""
    shares, gaps = gaps_of(y, p, np.searchsorted(np.linspace(0, 1, 16), p, side="right"))
    return shares @ gaps


def netcal_gaps(y, p):
    """Histogram of ten bins, the last one closed, with means of labels and of forecasts."""
    edges = np.linspace(0, 1, 11)
    counts = np.histogram(p, edges)[0]
    held = counts > 0
    means = [binned_statistic(p, values, "mean", edges).statistic[held] for values in (y, p)]
    return counts[held] / len(p), np.abs(means[0] - means[1])


def mapie(y, p):
    """Fifty edges; digitized with the right end closed, P = 0 alone in bin 0."""
    shares, gaps = gaps_of(y, p, np.digitize(p, np.linspace(0, 1, 50), right=True))
    return shares @ gaps


def calzone(y, p, edges):
    """Ten intervals (a, b]; what lies on the lowest edge is in none."""
    masks = [(p > low) & (p <= high) for low, high in itertools.pairwise(edges)]
    held = [mask for mask in masks if mask.any()]
    if not held:
        return np.nan
    gaps = [abs(y[mask].mean() - p[mask].mean()) for mask in held]
    counts = [mask.sum() for mask in held]
    return np.dot(counts, gaps) / sum(counts)


def calzone_top(y, p):
    top, favored = np.maximum(p, 1 - p), (p > 0.5).astype(int)
    return calzone((favored == y).astype(float), top, np.linspace(0, 1, 11))


def array_split_edges(p, n_bins):
    parts = np.array_split(np.sort(p), min(n_bins, len(p)))
    return np.unique([(a[-1] + b[0]) / 2 for a, b in itertools.pairwise(parts)])


def distinct_edges(p):
    values = np.unique(p)
    return (values[:-1] + values[1:]) / 2


def unbiased_l2(y, p, edges):
    """Kumar et al.: bins of one row count nothing."""
    index, total = np.searchsorted(edges, p), 0.0
    for b in np.unique(index):
        rows = index == b
        if rows.sum() > 1:
            rate = y[rows].mean()
            total += rows.mean() * ((p[rows].mean() - rate) ** 2 - rate * (1 - rate) / (rows.sum() - 1))
    return np.sqrt(max(total, 0.0))


def uncertainty_calibration(y, p):
    few = len(np.unique(p)) < len(p) / 4
    return unbiased_l2(y, p, distinct_edges(p) if few else array_split_edges(p, 15))


def uncertainty_calibration_ece(y, p):
    shares, gaps = gaps_of(y, p, np.searchsorted(np.arange(1, 16) / 15, p))
    return shares @ gaps


def quantile_index(p, n_bins):
    return np.searchsorted(np.unique(np.quantile(p, np.linspace(0, 1, n_bins + 1)[1:-1])), p, side="right")


def probcal(y, p):
    shares, gaps = gaps_of(y, p, quantile_index(p, 15))
    return shares @ gaps


def probcal_debiased(y, p):
    """A bin of one row keeps its gap."""
    index, total = quantile_index(p, 15), 0.0
    for b in np.unique(index):
        rows = index == b
        rate, gap = y[rows].mean(), y[rows].mean() - p[rows].mean()
        variance = rate * (1 - rate) / (rows.sum() - 1) if rows.sum() > 1 else 0.0
        total += rows.mean() * np.sqrt(max(gap**2 - variance, 0.0))
    return total


def probcal_sweep(y, p):
    best = np.zeros(len(p), int)
    for n_bins in range(2, min(len(p), 100) + 1):
        index = quantile_index(p, n_bins)
        if np.any(np.diff([y[index == b].mean() for b in np.unique(index)]) < 0):
            break
        best = index
    shares, gaps = gaps_of(y, p, best)
    return shares @ gaps


def sklearn(y, p):
    true, predicted = calibration_curve(y, p, n_bins=5)
    index = np.searchsorted(np.linspace(0, 1, 6)[1:-1], p)
    return np.abs(true - predicted) @ np.bincount(index)[np.unique(index)] / len(p)


LIBRARIES = {
    "calzone": lambda y, p: calzone(y, p, np.linspace(0, 1, 11)),
    "calzone_equal_count": lambda y, p: calzone(y, p, np.quantile(p, np.linspace(0, 1, 11))),
    "calzone_top_class": calzone_top,
    "mapie": mapie,
    "netcal": lambda y, p: np.dot(*netcal_gaps(y, p)),
    "netcal_ace": lambda y, p: netcal_gaps(y, p)[1].mean(),
    "netcal_mce": lambda y, p: netcal_gaps(y, p)[1].max(),
    "probcal": probcal,
    "probcal_debiased": probcal_debiased,
    "probcal_sweep": probcal_sweep,
    "sklearn": sklearn,
    "torchmetrics": torchmetrics,
    "uncertainty_calibration": uncertainty_calibration,
    "uncertainty_calibration_discrete": lambda y, p: unbiased_l2(y, p, distinct_edges(p)),
    "uncertainty_calibration_ece": uncertainty_calibration_ece,
}


def relplot_at(y, p, sigma):
    """Forecasts shared between nodes, mirrored once, convolved with a Gaussian cut at ±½, read off at a mesh."""
    nodes = max(2000, round(20 / sigma)) // 2 + 1
    grid, mesh = np.linspace(0, 1, nodes), np.linspace(0, 1, max(round(10 / sigma), 200))
    kernel = np.exp(-((grid - 0.5) ** 2) / (2 * sigma**2)) / (np.sqrt(2 * np.pi) * sigma)
    left = np.clip((p * (nodes - 1)).astype(int), 0, nodes - 2)
    right_share = p * (nodes - 1) - left

    def smooth(mass):
        values = np.zeros(nodes)
        np.add.at(values, left, (1 - right_share) * mass)
        np.add.at(values, left + 1, right_share * mass)
        mirrored = np.concatenate([values[::-1][:-1], values, values[::-1][1:]])
        return np.interp(mesh, grid, np.convolve(mirrored, kernel, "valid")[nodes // 2 : nodes // 2 + nodes])

    return np.abs(smooth(p - y)).sum() / (smooth(np.ones(len(p))) + 1e-4).sum()


def relplot(y, p):
    start, end = 1.0, 0.0
    for _ in range(10):
        middle = (start + end) / 2
        if middle < 1e-3 or middle < relplot_at(y, p, middle):
            end = middle
        else:
            start = middle
    return relplot_at(y, p, start)


SIZES = [2, 3, 5, 11, 30, 49, 100, 101, 121, 400]


def random_data(seed):
    rng = np.random.default_rng(seed)
    n = SIZES[seed % len(SIZES)]
    p = [rng.random(n), rng.beta(0.3, 0.9, n), rng.integers(0, 65, n) / 64, rng.integers(0, 9, n) / 8][seed // 10 % 4]
    return (rng.random(n) < p**1.3).astype(int), p


@pytest.mark.parametrize("name", sorted(PEERS))
def test_definitions_equal_the_library(name):
    for seed in range(120):
        y, p = random_data(seed)
        theirs = LIBRARIES[name](y, p)
        if np.isnan(theirs):
            continue  # nothing lies above the lowest edge
        assert float(calibration_error(y, p, definition=PEERS[name])) == pytest.approx(theirs, abs=1e-7), seed


@pytest.mark.parametrize("name", ["ece", "ece_debiased", "ece_sweep"])
def test_restated_algorithms_are_those_of_probcal(name):
    library = pytest.importorskip("probcal.metrics")
    for seed in range(120):
        y, p = random_data(seed)
        if y.min() == y.max():
            continue  # which it refuses
        ours = LIBRARIES[name.replace("ece", "probcal")](y, p)
        assert ours == pytest.approx(getattr(library, name)(y, p), abs=1e-7), seed


def test_the_smooth_error_is_near_that_of_relplot_off_the_ends():
    """Which halves what its lattice puts at P = 0 and P = 1, and cuts the kernel at ±½."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p = 0.2 + 0.6 * rng.random(400)
        y = (rng.random(400) < p**1.5).astype(int)
        assert smooth_calibration_error(y, p) == pytest.approx(relplot(y, p), abs=2e-3), seed


def test_the_page_shows_how_to_get_each_number():
    page = (Path(__file__).parents[2] / "docs" / "measures" / "calibration_error.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^\| `(\w+)` \| `(ErrorDefinition\(.*\))` \|$", page, re.M))
    assert {name: eval(text, {"ErrorDefinition": ErrorDefinition}) for name, text in shown.items()} == PEERS
