"""What the study of protocols rests on."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from oddsmith_studies.learners import MultinomialNaiveBayes
from oddsmith_studies.studies import Part, Setting
from oddsmith_studies.studies._running import compute
from oddsmith_studies.studies.protocols import parts, tasks


def test_leaving_one_out_by_subtraction_is_training_without_it():
    rng = np.random.default_rng(0)
    X, y = csr_array(rng.poisson(0.4, size=(40, 12))), rng.random(40) < 0.3
    found = tasks.leave_one_out_scores(X, y)
    for row in range(40):
        others = np.arange(40) != row
        alone = MultinomialNaiveBayes().fit(X[others], y[others]).decision_function(X[[row]])
        assert found[row] == pytest.approx(alone[0], rel=1e-10)


def test_every_row_is_scored_once_by_a_classifier_that_did_not_see_it(needs_data):
    needs_data(("a9a",))
    task = tasks.load_task(Setting(quick=True), "adult", tasks.SVM)
    for cv in (2, 5):
        rows, _ = parts._fold_scores(task, cv, seed=0)
        assert sorted(rows) == list(range(len(task.rows.y_train)))
    rows, _ = parts._fold_scores(task, 0.3, seed=0)
    assert len(set(rows)) == len(rows) == round(0.3 * len(task.rows.y_train))


def test_boosted_trees_know_their_training_rows_by_heart(needs_data):
    needs_data(("letter",))
    part = Part("letter", parts.task_part, {"source": "LETTER.P2", "classifier": tasks.TREES})
    found = compute(part, Setting(quick=True)).result
    in_sample = found["protocols"][parts.IN_SAMPLE]
    assert in_sample["error"] < 0.01 < found["test"]["error"]
    assert in_sample["against"]["3 folds"]["isotonic"][1] > 0
    assert found["protocols"]["3 folds"]["against"]["3 folds"]["Platt"] == [0, 0, 0]
    counted = sum(sum(found["test"][label]) for label in ("positive", "negative"))
    assert counted == found["rows"]["test"]
