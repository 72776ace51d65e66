"""Which label is positive: never guessed in silence, and the error names the argument to pass."""

import re

import numpy as np
import pytest

from oddsmith import AutoCalibrator, AutoScaling, CalibratedClassifier, PlattCalibrator, ScoreTable
from oddsmith.errors import InvalidInputError

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=90)
Y = (RNG.random(90) < 1 / (1 + np.exp(-2 * SCORES))).astype(int)


@pytest.mark.parametrize("names", [("benign", "malignant"), (3, 7), (0.0, 2.0)])
def test_two_other_labels_are_refused_with_their_counts_and_the_argument_to_pass(names):
    y = np.array(names)[Y]
    with pytest.raises(InvalidInputError) as caught:
        PlattCalibrator().fit(SCORES, y)
    message = str(caught.value)
    for name, count in zip(names, np.bincount(Y), strict=True):
        assert f"{name!r} ({count} rows)" in message
    chosen = re.search(r"pass pos_label=(\S+) if higher scores mean \1, else pos_label=(\S+)\.$", message)
    assert (chosen[1], chosen[2]) == (repr(names[1]), repr(names[0]))
    fitted = PlattCalibrator(pos_label=names[1]).fit(SCORES, y)
    assert fitted.map_ == PlattCalibrator().fit(SCORES, Y).map_


@pytest.mark.parametrize("kind", [int, float, np.int8])
def test_of_1_and_2_the_second_is_positive_and_this_is_stated(kind):
    y = (Y + 1).astype(kind)
    platt, auto = PlattCalibrator().fit(SCORES, y), AutoCalibrator().fit(SCORES, y)
    assert platt.classes_.tolist() == [1, 2]
    assert platt.map_ == PlattCalibrator().fit(SCORES, Y).map_
    assert repr(platt) == "PlattCalibrator(), label 2 is positive"
    assert repr(auto).endswith("label 2 is positive")
    assert auto.verdict_.endswith(" Label 2 is positive.")
    assert auto.verdict_.count("Label 2") == 1
    assert ScoreTable.from_arrays(SCORES, y) == ScoreTable.from_arrays(SCORES, Y)
    assert "label" not in repr(AutoCalibrator().fit(SCORES, Y)) + AutoCalibrator().fit(SCORES, Y).verdict_.lower()


def test_a_single_2_may_be_anything():
    with pytest.raises(InvalidInputError, match=r"got classes 2 \(90 rows\)\. Hint: pass pos_label=2\.$"):
        PlattCalibrator().fit(SCORES, np.full(90, 2))


def test_three_classes_are_led_to_the_scaling():
    with pytest.raises(InvalidInputError, match="Calibrate scores of all classes by AutoScaling") as caught:
        PlattCalibrator().fit(SCORES, np.arange(90) % 3)
    assert "got 3 classes: 0 (30 rows), 1 (30 rows), 2 (30 rows)" in str(caught.value)
    assert AutoScaling.__name__ in str(caught.value)


def test_the_classifier_keeps_the_sorted_classes_of_scikit_learn():
    from sklearn.naive_bayes import GaussianNB

    model = CalibratedClassifier(GaussianNB(), cv=3).fit(SCORES[:, None], np.array(["malignant", "benign"])[Y])
    assert model.classes_.tolist() == ["benign", "malignant"]
