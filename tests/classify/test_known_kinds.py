"""What the classifier knows about its scores, the calibrator does not guess."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from oddsmith import AutoCalibrator, BetaCalibrator, PlattCalibrator, SplineCalibrator, TemperatureCalibrator
from oddsmith.classify import CalibratedClassifier
from samples import ours_allowed

X, Y = make_classification(200, 6, n_informative=4, flip_y=0.2, random_state=0)
GUESSING = [AutoCalibrator(), BetaCalibrator(), TemperatureCalibrator(), SplineCalibrator()]


def name(calibrator):
    return type(calibrator).__name__


class Fixed:
    """A fitted classifier whose margins or probabilities are the first column."""

    classes_ = np.array([0, 1])

    def decision_function(self, rows):
        return rows[:, 0]


class FixedProbability:
    classes_ = np.array([0, 1])

    def predict_proba(self, rows):
        return np.column_stack([1 - rows[:, 0], rows[:, 0]])


def calibrated(estimator, calibrator, scores, **options):
    return CalibratedClassifier(estimator, calibrator, prefit=True, **options).fit(scores[:, None], Y)


@pytest.fixture(autouse=True)
def _odd_fits_are_welcome():
    with ours_allowed():
        yield


@pytest.mark.parametrize("calibrator", GUESSING, ids=name)
class TestKinds:
    def test_margins_within_the_unit_interval_are_no_probabilities(self, calibrator):
        margins = np.linspace(0.1, 0.9, 200) + 0.02 * Y
        model = calibrated(Fixed(), calibrator, margins)
        assert model.calibrators_[0].input_ == "log_odds"
        declared = clone(calibrator).set_params(input="log_odds").fit(margins, Y)
        assert model.calibrators_[0].map_ == declared.map_

    def test_probabilities_are_read_as_the_guess_reads_them_0_and_1_included(self, calibrator):
        prob = np.clip(np.linspace(-0.1, 1.0, 200) + 0.1 * Y, 0, 1)
        model = calibrated(FixedProbability(), calibrator, prob)
        assert model.calibrators_[0].input_ == "probability"
        assert model.calibrators_[0].map_ == clone(calibrator).fit(prob, Y).map_

    def test_a_probability_that_rounds_above_1_stays_one(self, calibrator):
        prob = np.append(np.linspace(0.01, 0.99, 199), np.nextafter(1.0, 2.0))
        model = calibrated(FixedProbability(), calibrator, prob)
        assert model.calibrators_[0].input_ == "probability"

    def test_what_a_function_gives_is_still_guessed(self, calibrator):
        def score(estimator, rows):
            return rows[:, 0]

        model = calibrated(Fixed(), calibrator, np.linspace(0.1, 0.9, 200), response_method=score)
        assert model.calibrators_[0].input_ == "probability"

    def test_what_was_declared_is_kept(self, calibrator):
        declared = clone(calibrator).set_params(input="probability")
        model = calibrated(Fixed(), declared, np.linspace(0.1, 0.9, 200))
        assert model.calibrators_[0].input_ == "probability"
        assert model.calibrators_[0].map_ == clone(declared).fit(np.linspace(0.1, 0.9, 200), Y).map_

    def test_the_next_fit_of_the_same_calibrator_guesses_again(self, calibrator):
        scores = np.linspace(0.1, 0.9, 200)
        fitted = calibrated(Fixed(), calibrator, scores).calibrators_[0]
        assert fitted.input_ == "log_odds"
        assert fitted.fit(scores, Y).input_ == "probability"


@pytest.mark.parametrize(
    ("estimator", "kind", "expected"),
    [
        (LogisticRegression(C=1e-4), "auto", "log_odds"),
        (GaussianNB(), "auto", "log_odds"),
        (KNeighborsClassifier(), "auto", "probability"),
        (KNeighborsClassifier(), "votes", "probability"),
        (LogisticRegression(), "predict_proba", "probability"),
    ],
)
@pytest.mark.parametrize("three", [False, True])
def test_every_kind_of_score_has_its_reading(estimator, kind, expected, three):
    y = np.where(np.arange(200) % 5 == 0, 2, Y) if three else Y
    model = CalibratedClassifier(estimator, BetaCalibrator(), cv=2, response_method=kind).fit(X, y)
    assert {calibrator.input_ for calibrator in model.calibrators_} == {expected}


class Noting(PlattCalibrator):
    """Keeps what it was told of its scores."""

    kinds: ClassVar[list[str | None]] = []

    def fit_table(self, table):
        self.kinds.append(table.meaning)
        return super().fit_table(table)


@pytest.mark.parametrize("ensemble", [False, True])
@pytest.mark.parametrize(("multiclass", "problems"), [("one_vs_rest", 3), ("pairwise", 3), ([[1, -1, -1]], 1)])
@pytest.mark.parametrize(
    ("estimator", "kind"),
    [(GaussianNB(), "log_odds"), (LogisticRegression(), "log_odds"), (KNeighborsClassifier(), "probability")],
    ids=str,
)
def test_every_calibrator_is_told_the_kind(estimator, kind, multiclass, problems, ensemble):
    three = np.where(np.arange(200) % 3 == 0, 2, Y)
    for y, fits in ((Y, 1), (three, problems)):
        Noting.kinds.clear()
        CalibratedClassifier(estimator, Noting(), cv=3, multiclass=multiclass, ensemble=ensemble).fit(X, y)
        assert Noting.kinds == [kind] * fits * (3 if ensemble else 1)


def test_a_borrowed_map_is_told_the_kind_too():
    lonely = Y.copy()
    lonely[0] = 2
    Noting.kinds.clear()
    CalibratedClassifier(GaussianNB(), Noting(), cv=3).fit(X, lonely)
    assert Noting.kinds == ["log_odds"] * 3


@pytest.mark.parametrize("multiclass", ["auto", "one_vs_rest"])
@pytest.mark.parametrize("method", ["sigmoid", "logistic", "beta", "temperature", "auto"])
def test_log_odds_of_billions_cost_no_accuracy(method, multiclass):
    """Naive Bayes is sure of digits with pixels that never vary: Platt's method fell from 0.84 to 0.19."""
    train, test, truth, held = train_test_split(*load_digits(return_X_y=True), random_state=0)
    bayes = GaussianNB().fit(train, truth)
    assert np.ptp(bayes.predict_joint_log_proba(test)) > 1e8
    model = CalibratedClassifier(bayes, method, multiclass=multiclass).fit(train, truth)
    assert model.score(test, held) >= bayes.score(test, held) - 0.02
