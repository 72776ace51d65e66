import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import SelectKBest, mutual_info_classif

from oddsmith.errors import InvalidInputError
from oddsmith_studies.data.text_choices import information_gain, mean_norm_cost

VECTORS = json.loads((Path(__file__).parents[3] / "tests" / "golden" / "vectors.json").read_text(encoding="utf-8"))


def test_information_gain_vector():
    (case,) = VECTORS["methods"]["information_gain"]
    (present_plus, present_minus), (absent_plus, absent_minus) = case["counts"]
    X, y = [[1], [1], [0], [0]], [1, 0, 1, 0]
    counts = [present_plus, present_minus, absent_plus, absent_minus]
    for form in (np.array, sparse.csr_array):
        gain = information_gain(form(X), y, sample_weight=counts)
        assert gain == pytest.approx([case["value"]], abs=1e-10)
        assert gain / np.log(2) == pytest.approx([case["value_bits"]], abs=1e-10)


def test_information_gain_is_mutual_information_of_presence():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.7, size=(60, 5)), rng.choice(["no", "yes"], 60)
    expected = mutual_info_classif(X > 0, y, discrete_features=True)
    np.testing.assert_allclose(information_gain(X, y), expected, atol=1e-10)
    kept = SelectKBest(information_gain, k=2).fit(X, y).get_support()
    assert set(np.flatnonzero(kept)) == set(np.argsort(expected)[-2:])


def test_a_word_that_never_varies_tells_nothing():
    assert information_gain([[1, 0], [2, 0], [3, 0]], [0, 1, 1]).tolist() == [0, 0]


def test_information_gain_needs_two_classes():
    with pytest.raises(InvalidInputError, match="y must contain two classes; got 3"):
        information_gain(np.eye(3), [0, 1, 2])


def test_cost_vector():
    (case,) = VECTORS["methods"]["svm_default_cost"]
    for form in (np.array, sparse.csr_array):
        assert mean_norm_cost(form(case["X"])) == pytest.approx(case["C"], abs=1e-10)


def test_cost_of_empty_rows_is_refused():
    with pytest.raises(InvalidInputError, match="X must have a row that is not 0; got only zeros"):
        mean_norm_cost(np.zeros((2, 2)))
