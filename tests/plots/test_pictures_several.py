"""Pictures of several classes: from arrays, estimators and forecasts, each class against the rest a binary table."""

import numpy as np
import pytest
from gallery import CLASSES, class_sample, content, quick
from matplotlib.figure import Figure

from oddsmith import TemperatureScaling
from oddsmith.decide import decide
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import class_forecast, forecast_from_arrays
from oddsmith.plots import (
    ClasswiseReliabilityDisplay,
    ConfidenceDisplay,
    ConfusionDisplay,
    CorpDisplay,
    RiskCoverageDisplay,
)
from oddsmith.plots.theme import short_name

Y, PROB = class_sample()
WORDS = np.array(["ant", "bee", "cat", "dog"])


@pytest.mark.parametrize("cls", CLASSES)
def test_they_come_from_everywhere(cls):
    scaling = TemperatureScaling().fit(PROB, WORDS[Y])
    prob = scaling.predict_proba(PROB)
    made = [
        cls.from_estimator(scaling, PROB, WORDS[Y], name="", **quick(cls)),
        cls.from_predictions(WORDS[Y], prob, **quick(cls)),
        cls.from_forecast(class_forecast(WORDS[Y], prob), **quick(cls)),
    ]
    assert len({content(display) for display in made}) == 1
    assert cls.from_estimator(scaling, PROB, WORDS[Y], **quick(cls)).name == "TemperatureScaling"
    ax = Figure().add_subplot()
    assert cls.from_predictions(Y, PROB, ax=ax, theme="dark", **quick(cls)).ax_ is ax


@pytest.mark.parametrize("cls", CLASSES)
def test_an_estimator_without_probabilities_is_refused(cls):
    with pytest.raises(InvalidInputError, match="estimator must have predict_proba"):
        cls.from_estimator(object(), PROB, Y)


def test_confidence_is_the_table_of_the_top_label():
    mine = ConfidenceDisplay.from_predictions(Y, PROB, level=None)
    right, top = PROB.argmax(axis=1) == Y, PROB.max(axis=1)
    theirs = CorpDisplay.from_table(forecast_from_arrays(right, top), level=None)
    np.testing.assert_array_equal(mine.prob, theirs.prob)
    np.testing.assert_array_equal(mine.rate, theirs.rate)
    assert mine.ax_.get_ylabel() == "observed accuracy"


def test_the_worst_class_comes_first_and_is_one_against_the_rest():
    prob = PROB.copy()
    prob[:, 2] *= 4
    prob /= prob.sum(axis=1, keepdims=True)
    display = ClasswiseReliabilityDisplay.from_predictions(
        WORDS[Y], prob, n_classes=2, **quick(ClasswiseReliabilityDisplay)
    )
    assert next(iter(display.diagrams)) == "cat"
    assert len(display.diagrams) == 2
    assert list(display.errors.values()) == sorted(display.errors.values(), reverse=True)
    theirs = CorpDisplay.from_table(forecast_from_arrays(Y == 2, prob[:, 2]), level=None)
    np.testing.assert_array_equal(display.diagrams["cat"].rate, theirs.rate)


def test_a_second_forecast_joins_the_panels_of_the_first():
    quickly = quick(ClasswiseReliabilityDisplay)
    first = ClasswiseReliabilityDisplay.from_predictions(WORDS[Y], PROB, n_classes=3, name="before", **quickly)
    shown = list(first.diagrams)
    even = np.full_like(PROB, 0.25)
    second = ClasswiseReliabilityDisplay.from_predictions(
        WORDS[Y], even, classes=shown, name="after", ax=first.ax_, **quickly
    )
    assert list(second.diagrams) == shown
    panels = first.ax_.child_axes
    assert [panel.get_title() for panel in panels] == shown
    for panel in panels:
        curves = [line for line in panel.lines if str(line.get_gid()).startswith("series-")]
        assert len({line.get_color() for line in curves}) == len(curves) == 2
    assert [text.get_text() for text in first.ax_.get_legend().get_texts()] == ["before", "after"]
    with pytest.raises(InvalidInputError, match="classes must be one of"):
        ClasswiseReliabilityDisplay.from_predictions(WORDS[Y], PROB, classes=["emu"])


def test_confusion_counts_decisions():
    display = ConfusionDisplay.from_predictions(Y, PROB)
    decided = PROB.argmax(axis=1)
    for actual in range(4):
        for predicted in range(4):
            assert display.weight[actual, predicted] == np.sum((Y == actual) & (decided == predicted))
    costs = 1 - np.eye(4)
    costs[0] = 0.1
    cheap = ConfusionDisplay.from_predictions(Y, PROB, costs=costs)
    np.testing.assert_array_equal(cheap.weight.sum(axis=0), np.bincount(decide(PROB, costs), minlength=4))
    np.testing.assert_allclose(cheap.shares.sum(axis=1), 1)
    with pytest.raises(InvalidInputError, match="costs must have a row and a column for each of 4 classes"):
        ConfusionDisplay.from_predictions(Y, PROB, costs=np.eye(3))


def test_a_class_without_cases_has_no_shares():
    display = ConfusionDisplay.from_predictions(["a", "b"], [[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]], labels=["a", "b", "c"])
    assert display.shares.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]


def test_names_of_classes_are_names():
    assert short_name("a $x$ b\nc") == r"a \$x\$ b c"
    assert len(short_name("x" * 90)) == 14
    labels = ["$a_", "$b^", "<c>\n&"]
    prob = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    for cls in CLASSES:
        shown = cls.from_predictions(
            labels, prob, labels=labels, name="$m$" if cls is ConfusionDisplay else "", **quick(cls)
        )
        assert shown.to_svg().startswith("<?xml")


def test_risk_coverage_is_that_of_the_rows():
    truth, prob = class_sample()
    display = RiskCoverageDisplay.from_predictions(truth, prob)
    sure, wrong = prob.max(axis=1), prob.argmax(axis=1) != truth
    for coverage, risk, least, low, high in zip(
        display.coverage, display.risk, display.confidence, display.band.low, display.band.high, strict=True
    ):
        held = sure >= least - 1e-12
        assert held.mean() == pytest.approx(coverage)
        assert wrong[held].mean() == pytest.approx(risk)
        assert low <= risk <= high
    assert display.coverage[-1] == 1.0
    weighted = RiskCoverageDisplay.from_predictions(truth, prob, sample_weight=np.full(len(truth), 0.5))
    assert weighted.band is None
    np.testing.assert_allclose(weighted.risk, display.risk)
