"""Odd data are drawn, or refused in clear words; never with a warning."""

import numpy as np
import pytest
from gallery import FORECASTS, SCORES, quick
from matplotlib.backends.backend_agg import FigureCanvasAgg

from oddsmith import ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import forecast_from_arrays
from oddsmith.plots import ComparisonDisplay, DensityDisplay, LearningCurveDisplay

ODD = {
    "one class": ([1, 1, 1, 1], [0.2, 0.4, 0.6, 0.8]),
    "no positives": ([0, 0, 0], [0.2, 0.4, 0.6]),
    "one prediction": ([0, 1, 1], [0.6, 0.6, 0.6]),
    "three rows": ([0, 1, 1], [0.1, 0.4, 0.9]),
    "one row": ([1], [0.3]),
    "certain and right": ([0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0]),
    "certain and wrong": ([1, 0, 1, 0], [0.0, 0.0, 1.0, 1.0]),
    "certain or even": ([0, 1, 0, 1], [0.0, 0.5, 0.5, 1.0]),
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
@pytest.mark.parametrize("cls", [*FORECASTS, *SCORES])
def test_odd_data_are_drawn_without_warnings(cls, data):
    y, prob = data
    for weight in (3, 0.25):
        cls.from_predictions(y, prob, sample_weight=weight, **quick(cls)).plot()
    display = cls.from_predictions(y, prob, **quick(cls))
    FigureCanvasAgg(display.plot().figure_).draw()


@pytest.mark.parametrize("cls", FORECASTS)
def test_certain_forecasts_stand_at_the_edges(cls):
    forecast = forecast_from_arrays([0, 1, 0, 1], [0.0, 0.0, 1.0, 1.0])
    assert np.isinf(forecast.scores).all()
    display = cls.from_table(forecast, **quick(cls))
    assert display.plot().ax_.get_xlim()[0] < 0


@pytest.mark.parametrize("cls", SCORES)
def test_infinite_scores_are_refused(cls):
    forecast = forecast_from_arrays([0, 1, 0, 1], [0.0, 0.0, 1.0, 1.0])
    with pytest.raises(InvalidInputError, match="scores must be finite"):
        cls.from_table(forecast)


@pytest.mark.parametrize("cls", SCORES)
def test_far_scores_are_drawn(cls):
    table = ScoreTable.from_arrays(np.array([-3.0, -1.0, 0.5, 2.0]) * 1e8, [0, 1, 0, 1])
    FigureCanvasAgg(cls.from_table(table).plot().figure_).draw()


@pytest.mark.parametrize("cls", SCORES)
@pytest.mark.parametrize(
    "scores",
    [
        [2.0, 1e300, 5.0],
        [-1e300, 1e300, 5.0],
        [1e16, 1e16 + 2, 1e16 + 4],
        [1e300, 1e300, 1e300],
        [1e-300, 2e-300, 3e-300],
        [0.0, 1e-310, 2e-310],
    ],
    ids=str,
)
def test_scores_at_the_ends_of_doubles_are_drawn(cls, scores):
    for weight in (1, 10**15):
        display = cls.from_predictions([0, 1, 0], scores, sample_weight=weight)
        FigureCanvasAgg(display.figure_).draw()


@pytest.mark.parametrize("cls", SCORES)
def test_scores_beyond_any_axis_are_refused(cls):
    with pytest.raises(InvalidInputError, match=r"scores must lie within ±1e\+300 to be drawn; got scores from -1.7e"):
        cls.from_predictions([0, 1, 0], [-1.7e308, 1.7e308, 1.6e308])


def test_one_score_far_from_all_others_is_no_width_of_a_kernel():
    display = DensityDisplay.from_predictions([0, 1] * 500, [0.0] * 999 + [1e12])
    assert display.modes[0] == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("cls", FORECASTS)
def test_unknown_options_are_refused_by_the_name_of_the_picture(cls):
    with pytest.raises(TypeError, match=rf"^{cls.__name__}\.plot\(\) got an unexpected keyword argument 'colour'"):
        cls.from_predictions([0, 1, 1], [0.1, 0.4, 0.9], colour="red", **quick(cls))


def test_empty_comparisons_are_refused():
    with pytest.raises(InvalidInputError, match="trials must not be empty"):
        LearningCurveDisplay.from_trials({})
    with pytest.raises(InvalidInputError, match="intervals must be by method"):
        ComparisonDisplay.from_intervals({}, measure="loss")
