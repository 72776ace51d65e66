"""The contract of data, for two classes and for several: labels, meaning, folds, one class against the rest."""

from dataclasses import replace

import numpy as np
import pytest

from oddsmith import ScoreTable
from oddsmith.calibrators import find_method, fit_method
from oddsmith.data import ScoreRows
from oddsmith.errors import InvalidInputError

LABELS = ("ant", "bee", "cow")


def table(n=60, weight=None):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=n).round(1)
    return replace(
        ScoreTable.from_arrays(scores, (scores + rng.normal(size=n) > 0).astype(int), weight), in_sample=True
    )


def rows(n=60, weight=None, in_sample=True):
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(n, 3))
    truth = (logits + rng.gumbel(size=(n, 3))).argmax(axis=1)
    return ScoreRows(logits, truth, LABELS, weight, LABELS, "log_odds", in_sample)


def counts(n=60):
    return np.random.default_rng(1).integers(1, 4, n)


SAMPLES = [(make, weight) for make in (table, rows) for weight in (None, counts(), counts() / 2)]
KINDS = [make(weight=weight) for make, weight in SAMPLES]


@pytest.mark.parametrize("data", KINDS, ids=repr)
class TestContract:
    def test_it_knows_its_classes(self, data):
        assert len(data.labels) == data.n_classes == len(data.class_weights)
        assert data.meaning in ("score", "probability", "log_odds")

    def test_folds_are_parts_that_add_up_in_every_class(self, data):
        folds = data.folds(4, 0)
        for fold in folds:
            np.testing.assert_allclose(fold.rest.class_weights + fold.part.class_weights, data.class_weights)
        np.testing.assert_allclose(sum(fold.part.class_weights for fold in folds), data.class_weights)
        sizes = [fold.part.class_weights.sum() for fold in folds]
        if data.kind == "count":
            assert max(sizes) - min(sizes) <= 1

    def test_folds_keep_what_is_known(self, data):
        for fold in data.folds(2, 0):
            for part in fold:
                assert (part.in_sample, part.meaning, part.labels) == (True, data.meaning, data.labels)

    def test_one_class_against_the_rest(self, data):
        whole = data.class_weights.sum()
        for k, weight in enumerate(data.class_weights):
            part = data.one_vs_rest(k)
            assert isinstance(part, ScoreTable)
            assert part.in_sample
            np.testing.assert_allclose([part.n_pos, part.n_neg], [weight, whole - weight])

    @pytest.mark.parametrize("method", ["platt", "isotonic", "temperature", "vector"])
    def test_every_method_fits_it(self, data, method):
        if data.kind == "weight" and data.n_classes > 2:
            data = replace(data, in_sample=False)
        model = fit_method(data, method)
        columns = np.array([[0.5, -0.5, 1.0]] * 2) if data.n_classes == 3 else np.array([0.5, 1.0])
        prob = model.predict_proba(columns)
        assert prob.shape == (2, data.n_classes)
        np.testing.assert_allclose(prob.sum(axis=1), 1)


def test_the_negative_class_against_the_rest_is_the_mirrored_table():
    data = ScoreTable.from_arrays([0.1, 0.4, 0.4, 0.9], [0, 0, 1, 1])
    assert data.one_vs_rest(1) is data
    assert data.one_vs_rest(0) == ScoreTable.from_arrays([-0.1, -0.4, -0.4, -0.9], [1, 1, 0, 0])
    turned = replace(data, meaning="probability").one_vs_rest(0)
    assert turned == ScoreTable.from_arrays([0.9, 0.6, 0.6, 1 - 0.9], [1, 1, 0, 0])
    assert turned.meaning == "probability"


def test_scores_that_do_not_ascend_are_refused():
    for scores in ([1.0, 0.0], [0.0, 0.0], [0.0, np.nan]):
        with pytest.raises(InvalidInputError, match="must ascend"):
            ScoreTable(np.array(scores), np.array([1, 0]), np.array([0, 1]))


def test_what_scores_are_is_kept_until_they_change():
    data = replace(ScoreTable.from_arrays([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1]), meaning="probability")
    assert data.at(data.scores > 0.2).meaning == data.merge(data).meaning == data.quantize(0.25).exact().meaning
    assert data.map(lambda s: 2 * s).meaning == "score"
    assert data.merge(replace(data, meaning="score")).meaning == "score"
    with pytest.raises(InvalidInputError, match="of one meaning; got log_odds and probability"):
        data.merge(replace(data, meaning="log_odds"))


def test_the_file_of_a_table_keeps_what_its_scores_are(tmp_path):
    data = replace(ScoreTable.from_arrays([0.1, 0.9], [0, 1]), meaning="probability")
    data.save(tmp_path / "table.npz")
    assert ScoreTable.load(tmp_path / "table.npz").meaning == "probability"


def test_a_scaling_of_two_classes_reads_two_logits():
    data = table(300)
    scores, y, weight = data.to_arrays()
    for name in ("temperature", "vector", "dirichlet", "auto"):
        method = type(find_method(name, 3))
        by_hand = method().fit(np.column_stack([np.zeros(len(scores)), scores]), y, weight)
        fitted = method().fit_table(data)
        np.testing.assert_allclose(fitted.log_odds([0.5, -1.0]), by_hand.log_odds([[0.0, 0.5], [0.0, -1.0]]), atol=1e-9)
        np.testing.assert_allclose(fitted.transform([0.5])[0], by_hand.predict_proba([[0.0, 0.5]])[0], atol=1e-9)
    with pytest.raises(InvalidInputError, match="log_odds needs two classes; got 3"):
        method().fit(rows().values, rows().truth).log_odds([[0.0, 0.0, 0.0]])


def test_scalings_take_tables_of_probabilities_for_them():
    prob = ScoreTable.from_arrays([0.1, 0.3, 0.4, 0.6, 0.7, 0.9], [0, 0, 1, 0, 1, 1])
    fitted = fit_method(prob, "vector")
    assert fitted.map.input == "probabilities"
    known = fit_method(replace(prob.map(lambda p: np.log(p / (1 - p))), meaning="log_odds"), "vector")
    np.testing.assert_allclose(fitted.predict_proba([0.2]), known.predict_proba([np.log(0.25)]), atol=1e-9)
