"""Learning curves and comparisons hold the intervals of the library."""

import numpy as np
import pytest
from gallery import sample
from numpy.testing import assert_allclose
from scipy.stats import t

from oddsmith import PlattCalibrator, ScoreTable, SquashCalibrator
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import calibration_error, compare, forecast_from_arrays, interval, log_loss, roc_auc
from oddsmith.plots import ComparisonDisplay, LearningCurveDisplay

SCORES, Y, PROB = sample(500)
TABLE = ScoreTable.from_arrays(3 * SCORES, Y)
TRAINING = ScoreTable.from_arrays(*(lambda scores, y, _: (3 * scores, y))(*sample(500, seed=1)))
METHODS = {"raw": SquashCalibrator().fit_table(TRAINING), "Platt": PlattCalibrator().fit_table(TRAINING)}


def test_learning_curves_have_students_intervals():
    values = np.random.default_rng(0).random((3, 10))
    curve = LearningCurveDisplay.from_trials({"a": ([64, 32, 128], values)}, level=0.9).curves["a"]
    assert curve.sizes.tolist() == [32, 64, 128]
    low, high = t.interval(0.9, 9, values[1].mean(), values[1].std(ddof=1) / np.sqrt(10))
    assert_allclose([curve.losses[0].value, curve.losses[0].low, curve.losses[0].high], [values[1].mean(), low, high])


def test_single_trials_have_no_error_bars():
    curve = LearningCurveDisplay.from_trials({"a": ([32, 64], [0.4, 0.3])}).curves["a"]
    assert [(loss.low, loss.value, loss.high) for loss in curve.losses] == [(0.4, 0.4, 0.4), (0.3, 0.3, 0.3)]


def test_sizes_are_ticks_of_a_logarithmic_axis():
    sizes = [32, 256, 8192, 65536]
    display = LearningCurveDisplay.from_trials({"a": (sizes, [4, 3, 2, 1]), "b": (sizes, [4, 4, 4, 4])}).plot()
    assert display.ax_.get_xscale() == "log"
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["32", "256", "8192", "66k"]
    left, right = (line.get_xdata() for line in display.ax_.lines if str(line.get_gid()).startswith("series"))
    assert np.all((left < sizes) & (right > sizes))


def test_bad_trials_are_refused():
    with pytest.raises(InvalidInputError, match="'a' must have positive sizes, and one row of values per size"):
        LearningCurveDisplay.from_trials({"a": ([1, 2], [[1.0, 2.0, 3.0]])})
    with pytest.raises(InvalidInputError, match="positive sizes"):
        LearningCurveDisplay.from_trials({"a": ([0, 2], [1.0, 2.0])})


def test_comparisons_hold_intervals_and_marks():
    display = ComparisonDisplay.from_table(TABLE, METHODS, raw="raw", n_resamples=60, level=0.9)
    for name, method in METHODS.items():
        again = interval(log_loss, TABLE.map(method.log_odds), level=0.9, n_resamples=60, random_state=0)
        assert display.groups[""][name] == again
    part = compare(TABLE, METHODS, raw="raw")["log_loss"]
    assert display.marks == {name: part.mark(name, "raw", corrected=True) for name in METHODS}
    assert display.marks["Platt"] == "*"
    plotted = display.plot().ax_
    assert [label.get_text() for label in plotted.get_yticklabels()] == ["Platt *", "raw"]
    assert plotted.get_xlabel() == "log-loss\n* beats all others\n(paired t-test, level 0.05 after Holm's correction)"


def test_rows_of_different_classifiers_are_compared():
    other = np.clip(PROB + 0.2, 0.01, 0.99)
    display = ComparisonDisplay.from_predictions(Y, {"a": PROB, "b": other}, n_resamples=40)
    logits = {name: np.log(p / (1 - p)) for name, p in (("a", PROB), ("b", other))}
    assert display.marks == {name: compare(Y, logits)["log_loss"].mark(name) for name in "ab"}
    assert display.groups[""]["b"].value == pytest.approx(log_loss(Y, other))


def test_marks_are_those_of_the_tables():
    """Of several methods without a real difference, single tests find a winner much too often."""
    rng = np.random.default_rng(3)
    differ = 0
    for _ in range(20):
        p = rng.beta(2, 2, 80)
        y = rng.random(80) < p
        methods = {name: 1 / (1 + np.exp(-np.log(p / (1 - p)) - 0.4 * rng.normal(size=80))) for name in "abcd"}
        part = compare(y, methods, input="probability")["log_loss"]
        display = ComparisonDisplay.from_predictions(y, methods, n_resamples=20)
        assert display.marks == {name: part.mark(name, corrected=True) for name in methods}
        differ += display.marks != {name: part.mark(name) for name in methods}
    assert differ > 0


def test_other_measures_have_no_marks_but_the_band_of_perfection():
    display = ComparisonDisplay.from_table(TABLE, METHODS, measure=calibration_error, n_resamples=90)
    assert display.marks == {}
    low, high = display.groups[""]["raw"].consistency
    ax = display.plot().ax_
    assert [low, high] in [list(line.get_xdata()) for line in ax.lines if line.get_linewidth() == 5]
    assert ax.get_xlabel() == "calibration error\npale bar: if perfectly calibrated"
    ranking = ComparisonDisplay.from_table(TABLE, METHODS, measure=roc_auc, n_resamples=20)
    assert ranking.plot().ax_.get_xlabel() == "roc auc"


def test_groups_share_rows_in_order():
    trials = {
        "raw": {"SVM": [0.3, 0.4], "NB": [0.2, 0.2], "RF": [0.1, 0.3]},
        "Platt": {"SVM": [0.1, 0.2], "RF": [0.1, 0.1], "DT": [0.5, 0.5]},
    }
    display = ComparisonDisplay.from_trials(trials, measure="squared error")
    names = ["NB", "RF", "SVM", "DT"]
    assert [label.get_text() for label in display.plot().ax_.get_yticklabels()] == names
    raw, platt = (line for line in display.ax_.lines if str(line.get_gid()).startswith("series"))
    assert_allclose(raw.get_xdata(), [0.2, 0.2, 0.35])
    assert_allclose(raw.get_ydata(), np.array([0, 1, 2]) - 0.15)
    assert_allclose(platt.get_ydata(), np.array([1, 2, 3]) + 0.15)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["raw", "Platt"]
    unsorted = [label.get_text() for label in display.plot(sort=False).ax_.get_yticklabels()]
    assert unsorted == ["SVM", "NB", "RF", "DT"]


def test_mixed_and_infinite_comparisons_are_refused():
    found = interval(log_loss, forecast_from_arrays(Y, PROB), n_resamples=20, random_state=0)
    with pytest.raises(InvalidInputError, match="intervals must be by method, or by group and method"):
        ComparisonDisplay.from_intervals({"a": found, "b": {"c": found}}, measure="loss")
    with pytest.raises(InvalidInputError, match="an interval needs a finite measure"):
        ComparisonDisplay.from_predictions([0, 1], {"a": [1.0, 0.5], "b": [0.4, 0.6]})
