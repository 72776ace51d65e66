"""Ranking measures against scikit-learn and row versions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from oddsmith import ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import ranking
from samples import samples


@given(samples())
def test_agrees_with_sklearn(sample):
    scores, y = sample
    table = ScoreTable.from_arrays(scores, y)
    assert ranking.auc.of(table) == pytest.approx(oracle.roc_auc_score(y, scores))
    assert ranking.average_precision.of(table) == pytest.approx(oracle.average_precision_score(y, scores))
    assert ranking.accuracy.of(table) == pytest.approx(oracle.accuracy_score(y, scores > 0))
    assert ranking.distinct_outputs.of(table) == len(np.unique(scores))


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


@pytest.mark.parametrize("measure", [ranking.auc, ranking.average_precision, ranking.lift, ranking.break_even])
@given(samples())
def test_weights_are_repetitions(measure, sample):
    scores, y = sample
    weight = np.arange(len(y)) % 3 + 1
    repeated = measure.of(ScoreTable.from_arrays(np.repeat(scores, weight), np.repeat(y, weight)))
    assert measure.of(ScoreTable.from_arrays(scores, y, weight)) == pytest.approx(repeated)


def test_bad_input():
    for measure in (ranking.auc, ranking.average_precision, ranking.lift, ranking.break_even):
        with pytest.raises(InvalidInputError, match="must be present"):
            measure([0, 0], [0.2, 0.3])
    with pytest.raises(InvalidInputError, match="both classes"):
        ranking.auc([1, 1], [0.2, 0.3])
    with pytest.raises(InvalidInputError, match="at most 1"):
        ranking.lift([0, 1], [0.2, 0.3], q=2)
