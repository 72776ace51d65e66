"""What the course project rests on."""

from collections import Counter

import numpy as np
import pytest

from oddsmith import ScoreTable
from oddsmith_studies import studies
from oddsmith_studies.data import COURSE_STOP_WORDS, load_sentences
from oddsmith_studies.studies import Setting
from oddsmith_studies.studies.course_project import parts


@pytest.fixture
def data(needs_data):
    needs_data(("sentiment",))
    return parts.sentences(None)


def test_sentences_are_counted_as_the_document_says(data):
    assert data.X.shape == (3000, 5000)
    assert data.positive.sum() == 1500
    assert Counter(data.site.tolist()) == {"amazon": 1000, "imdb": 1000, "yelp": 1000}
    # As often as the sentence says it, apart from stop words and words of one letter.
    text = load_sentences().texts[1]
    assert text == "Good case, Excellent value."
    assert sorted(data.X[[1]].data.tolist()) == [1.0] * 4
    assert not COURSE_STOP_WORDS & {"good", "case", "excellent", "value"}


def test_splits_are_balanced_and_disjoint(data):
    rows = parts.draw(data.positive, 2200, 400, seed=3)
    assert [len(each) for each in rows] == [2200, 400, 400]
    assert [int(data.positive[each].sum()) for each in rows] == [1100, 200, 200]
    assert len(np.unique(np.concatenate(rows))) == 3000
    other = parts.draw(data.positive, 2200, 400, seed=4)
    assert set(rows[2]) != set(other[2])


def test_the_cost_with_the_smallest_error_is_taken():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.5
    X = rng.normal(size=(200, 5)) + y[:, None]
    machine, errors = parts.train_svm(X, y, [1e-6, 0.1, 1.0], seed=0)
    assert len(errors) == 3
    assert machine.C == [1e-6, 0.1, 1.0][int(np.argmin(errors))]


def test_kept_rows_make_the_same_table():
    table = ScoreTable.from_arrays([0.5, 0.5, 1.0, -2.0], [0, 1, 1, 0])
    assert parts.from_rows(parts.as_rows(table)) == table


def test_smaller_calibration_sets_lie_within_larger_ones_and_are_balanced():
    y = np.array([False, False, True, True, False, True])
    rows = parts._alternating(y)
    assert sorted(rows) == list(range(6))
    assert y[rows].tolist() == [True, False] * 3


def test_numbers_of_a_split_are_what_scikit_learn_finds(data):
    """The same split by scikit-learn alone, in the hand-out's own lines."""
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import brier_score_loss, log_loss

    found = parts.split_part(Setting(quick=True), 0)
    scores, labels = (np.array(found["calibration"][key]) for key in ("scores", "labels"))
    new, truth = (np.array(found["test"][key]) for key in ("scores", "labels"))
    measures = found["measures"]
    assert found["error"] == pytest.approx(np.mean((new > 0) != truth))
    assert measures["squashing"]["log_loss"] == pytest.approx(log_loss(truth, 1 / (1 + np.exp(-new))))
    for name, intercept in (("Platt", True), ("Platt, b = 0", False)):
        line = LogisticRegression(C=np.inf, fit_intercept=intercept, tol=1e-10).fit(scores[:, None], labels)
        prob = line.predict_proba(new[:, None])[:, 1]
        assert measures[name]["log_loss_unclipped"] == pytest.approx(log_loss(truth, prob), rel=1e-6)
    steps = IsotonicRegression(out_of_bounds="clip").fit(scores, labels).predict(new)
    assert measures["isotonic"]["squared_error"] == pytest.approx(brier_score_loss(truth, steps), rel=1e-9)


def test_intervals_over_splits_widen_with_the_share_of_test_rows():
    values = [0.1, 0.3, 0.2, 0.25]
    narrow, wide = (studies.interval_over_splits(values, n_test=n, n_train=1000) for n in (1, 500))
    assert narrow.value == wide.value == pytest.approx(np.mean(values))
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
