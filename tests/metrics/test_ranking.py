"""Ranking measures against scikit-learn and row versions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from oddsmith import ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import interval, ranking
from samples import samples


@given(samples())
def test_agrees_with_sklearn(sample):
    scores, y = sample
    table = ScoreTable.from_arrays(scores, y)
    assert ranking.roc_auc.of(table) == pytest.approx(oracle.roc_auc_score(y, scores))
    assert ranking.average_precision.of(table) == pytest.approx(oracle.average_precision_score(y, scores))
    assert ranking.accuracy.of(table) == pytest.approx(oracle.accuracy_score(y, scores > 0))
    assert ranking.distinct_outputs.of(table) == len(np.unique(scores))


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("decimals", [1, 15])
def test_area_of_several_classes_agrees_with_sklearn(multi_class, decimals):
    rng = np.random.default_rng(0)
    rows = np.round(rng.dirichlet([0.4, 1.0, 2.0, 1.0], 200), decimals)
    rows[:, -1] = 1 - rows[:, :-1].sum(axis=1)
    y = (np.cumsum(rng.dirichlet([2, 2, 2, 2], 200) + rows, axis=1) / 2 > rng.random((200, 1))).argmax(axis=1)
    expected = oracle.roc_auc_score(y, rows, multi_class=multi_class, average="macro")
    assert ranking.roc_auc(y, rows, multi_class=multi_class) == pytest.approx(expected, abs=1e-12)
    counts = rng.integers(1, 4, 200)
    repeated = ranking.roc_auc(np.repeat(y, counts), np.repeat(rows, counts, axis=0), multi_class=multi_class)
    assert ranking.roc_auc(y, rows, counts, multi_class=multi_class) == pytest.approx(repeated, abs=1e-12)
    found = interval(ranking.roc_auc, y, rows, options={"multi_class": multi_class}, n_resamples=40, random_state=0)
    assert found.low < found.value < found.high
    with pytest.raises(InvalidInputError, match="multi_class"):
        ranking.roc_auc(y, rows, multi_class="macro")
    with pytest.raises(InvalidInputError, match="both classes"):
        ranking.roc_auc(np.zeros(9, int), rows[:9], labels=range(4), multi_class=multi_class)


def rows_in_top(scores, y, k):
    cut = np.sort(scores)[::-1][: int(np.ceil(k))][-1]
    above, tied = y[scores > cut], y[scores == cut]
    return above.sum() + tied.mean() * (k - len(above))


@given(samples(), st.sampled_from([0.1, 0.25, 0.5, 1.0]))
def test_top_of_the_ranking_equals_the_row_version(sample, q):
    scores, y = sample
    table = ScoreTable.from_arrays(scores, y)
    k = q * len(y)
    assert ranking.lift.of(table, q=q) == pytest.approx(rows_in_top(scores, y, k) / k / y.mean())
    assert ranking.break_even.of(table) == pytest.approx(rows_in_top(scores, y, y.sum()) / y.sum())


@pytest.mark.parametrize("measure", [ranking.roc_auc, ranking.average_precision, ranking.lift, ranking.break_even])
@given(samples())
def test_weights_are_repetitions(measure, sample):
    scores, y = sample
    weight = np.arange(len(y)) % 3 + 1
    repeated = measure.of(ScoreTable.from_arrays(np.repeat(scores, weight), np.repeat(y, weight)))
    assert measure.of(ScoreTable.from_arrays(scores, y, weight)) == pytest.approx(repeated)


def test_bad_input():
    for measure in (ranking.roc_auc, ranking.average_precision, ranking.lift, ranking.break_even):
        with pytest.raises(InvalidInputError, match="must be present"):
            measure([0, 0], [0.2, 0.3])
    with pytest.raises(InvalidInputError, match="both classes"):
        ranking.roc_auc([1, 1], [0.2, 0.3])
    with pytest.raises(InvalidInputError, match="at most 1"):
        ranking.lift([0, 1], [0.2, 0.3], q=2)
