"""A table, arrays and a fitted classifier give the same picture."""

import numpy as np
import pytest
from gallery import FORECASTS, SCORES, content, quick, sample
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from oddsmith import CalibratedClassifier, GaussianCalibrator, PlattCalibrator, ScoreTable, metrics
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import forecast_from_arrays, forecast_of
from oddsmith.plots import (
    ComparisonDisplay,
    CorpDisplay,
    DensityDisplay,
    PredictionHistogramDisplay,
    ReliabilityDisplay,
    ScoreSpaceDisplay,
    SmoothReliabilityDisplay,
)

S, Y, PROB = sample(300)
X = np.column_stack([S, np.random.default_rng(1).normal(size=300)])
MODEL = GaussianNB().fit(X, Y)
WORDS = np.array(["no", "yes"])[Y]


@pytest.mark.parametrize("cls", FORECASTS)
def test_forecasts_come_from_everywhere(cls):
    options = quick(cls)
    prob = MODEL.predict_proba(X)[:, 1]
    made = [
        cls.from_estimator(MODEL, X, Y, name="", **options),
        cls.from_predictions(Y, prob, **options),
        cls.from_predictions(WORDS, prob, pos_label="yes", **options),
        cls.from_table(forecast_from_arrays(Y, prob), **options),
    ]
    assert len({content(display) for display in made}) == 1
    assert cls.from_estimator(MODEL, X, Y, **options).name == "GaussianNB"


@pytest.mark.parametrize("cls", SCORES)
def test_scores_come_from_everywhere(cls):
    margin = LogisticRegression().fit(X, Y)
    scores = margin.decision_function(X)
    made = [
        cls.from_estimator(margin, X, Y),
        cls.from_predictions(Y, scores),
        cls.from_table(ScoreTable.from_arrays(scores, Y)),
    ]
    assert len({content(display) for display in made}) == 1
    other = cls.from_estimator(margin, X, Y, response_method="predict_proba")
    assert content(other) != content(made[0])


def test_the_positive_label_may_be_the_first():
    model = GaussianNB().fit(X, WORDS)
    prob = model.predict_proba(X)[:, 0]
    one = ReliabilityDisplay.from_estimator(model, X, WORDS, pos_label="no", name="")
    other = ReliabilityDisplay.from_predictions(1 - Y, prob)
    np.testing.assert_allclose(one.curve.mean_predicted, other.curve.mean_predicted)
    np.testing.assert_array_equal(one.curve.fraction_positive, other.curve.fraction_positive)
    mirrored = ScoreSpaceDisplay.from_estimator(model, X, WORDS, pos_label="no", n_bins=5).points[""].empirical
    usual = ScoreSpaceDisplay.from_estimator(model, X, WORDS, n_bins=5).points[""].empirical
    np.testing.assert_allclose(mirrored.log_odds, -usual.log_odds[::-1])
    np.testing.assert_allclose(mirrored.mean_score, -usual.mean_score[::-1])
    with pytest.raises(InvalidInputError, match="pos_label must be one of 'no', 'yes'"):
        ReliabilityDisplay.from_estimator(model, X, WORDS, pos_label="maybe")


def test_one_class_in_the_test_rows_is_enough():
    display = ReliabilityDisplay.from_estimator(MODEL, X[Y == 0], Y[Y == 0])
    assert not display.curve.fraction_positive.any()


def test_calibrators_and_calibrated_classifiers_are_estimators():
    platt = PlattCalibrator().fit(S[::2], Y[::2])
    assert CorpDisplay.from_estimator(platt, S, Y, level=None).name == "PlattCalibrator"
    whole = CalibratedClassifier(GaussianNB(), PlattCalibrator()).fit(X, Y)
    display = ReliabilityDisplay.from_estimator(whole, X, Y, name="")
    again = ReliabilityDisplay.from_predictions(Y, whole.predict_proba(X)[:, 1])
    assert content(display) == content(again)


@pytest.mark.parametrize("cls", FORECASTS, ids=lambda cls: cls.__name__)
def test_a_forecast_on_the_rows_of_its_fit_is_marked(cls):
    platt, table = PlattCalibrator().fit(S, Y), ScoreTable.from_arrays(S, Y)
    assert cls.from_estimator(platt, S, Y, **quick(cls)).name == "PlattCalibrator (in-sample)"
    assert cls.from_table(forecast_of(table, platt), name="Platt", **quick(cls)).name == "Platt (in-sample)"
    assert cls.from_table(forecast_of(table, platt), **quick(cls)).name == "in-sample"
    assert cls.from_table(forecast_of(table, platt, in_sample=False), **quick(cls)).name == ""
    drawn = cls.from_estimator(platt, S, Y, **quick(cls)).plot().ax_
    legend = [text.get_text() for text in drawn.get_legend().get_texts()]
    assert "in-sample" in " ".join([*legend, drawn.get_title()])


def test_fits_to_the_rows_shown_are_marked():
    table, others = ScoreTable.from_arrays(S, Y), ScoreTable.from_arrays(S[::2], Y[::2])
    fitted = GaussianCalibrator().fit_table(table)
    for display in (
        ScoreSpaceDisplay.from_table(table, maps={"fit": fitted}),
        DensityDisplay.from_table(table, calibrators={"fit": fitted}),
    ):
        assert display.in_sample == {"fit"}
        assert "fit (in-sample)" in [text.get_text() for text in display.plot().ax_.get_legend().get_texts()]
    # With other rows beside them the reader sees both.
    assert not ScoreSpaceDisplay.from_tables({"train": table, "test": others}, maps={"fit": fitted}).in_sample
    assert not ScoreSpaceDisplay.from_table(others, maps={"fit": fitted}).in_sample
    rows = ComparisonDisplay.from_table(
        table, {"fit": fitted, "map": fitted.map_}, measure=metrics.roc_auc, n_resamples=20
    )
    assert [label.get_text() for label in rows.plot(sort=False).ax_.get_yticklabels()] == ["fit (in-sample)", "map"]


def test_weights_reach_the_table():
    weight = np.random.default_rng(0).integers(0, 3, len(Y))
    display = DensityDisplay.from_estimator(MODEL, X, Y, sample_weight=weight)
    again = DensityDisplay.from_estimator(MODEL, np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    np.testing.assert_allclose(display.pos, again.pos)


def test_what_gives_no_probability_of_two_classes_is_refused():
    with pytest.raises(InvalidInputError, match="estimator must have predict_proba; got LinearSVC"):
        ReliabilityDisplay.from_estimator(LinearSVC().fit(X, Y), X, Y)
    three = GaussianNB().fit(X, np.arange(300) % 3)
    with pytest.raises(InvalidInputError, match="estimator must have two classes_; got 3 classes"):
        ReliabilityDisplay.from_estimator(three, X, Y)


@pytest.mark.parametrize("cls", [CorpDisplay, ReliabilityDisplay, SmoothReliabilityDisplay])
def test_predictions_and_estimators_are_drawn_at_once_as_in_scikit_learn(cls):
    ax = Figure().add_subplot()
    display = cls.from_predictions(WORDS, PROB, pos_label="yes", name="mine", ax=ax, theme="dark", **quick(cls))
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    assert display.line_ in ax.lines
    assert "mine" in display.line_.get_label()
    drawn = len(ax.lines)
    again = cls.from_estimator(MODEL, X, Y, ax=ax, **quick(cls))
    assert len(ax.lines) > drawn
    assert again.line_ is not display.line_
    assert "GaussianNB" in again.line_.get_label()
    own = cls.from_predictions(Y, PROB, **quick(cls))
    assert own.figure_ is not ax.figure
    table = forecast_from_arrays(Y, PROB)
    assert not hasattr(cls.from_table(table, **quick(cls)), "ax_")


def test_other_pictures_are_drawn_at_once_too():
    ax = Figure().add_subplot()
    assert PredictionHistogramDisplay.from_predictions(Y, PROB, ax=ax, n_bins=5).ax_ is ax
    assert DensityDisplay.from_predictions(Y, S, n_bins=5, modes=True).ax_.get_xlabel() == "score"
    maps = {"Platt": PlattCalibrator().fit(S, Y)}
    display = ScoreSpaceDisplay.from_predictions(Y, S, maps=maps, scale="probability", ax=ax)
    assert display.lines_["Platt"] in ax.lines
    assert display.ax_.get_ylabel() == "probability"
    both = ComparisonDisplay.from_predictions(Y, {"a": PROB, "b": PROB / 2}, n_resamples=40, sort=False)
    assert both.lines_[""] in both.ax_.lines
    with pytest.raises(TypeError, match="colour"):
        ReliabilityDisplay.from_predictions(Y, PROB, colour="red")
