"""Folds and bootstrap of tables have the law of folds and bootstrap of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from oddsmith import ScoreTable
from oddsmith.data.resample import bootstrap, resample_labels
from oddsmith.errors import InvalidInputError
from samples import samples


@given(samples(min_size=6), st.integers(2, 5), st.integers(0, 99))
def test_folds_are_a_partition(sample, k, seed):
    table = ScoreTable.from_arrays(*sample)
    split = table.folds(k, seed)
    sizes = [fold.part.rows for fold in split]
    assert sum(sizes) == table.rows
    assert max(sizes) - min(sizes) <= 1
    assert split[0].part.merge(*(fold.part for fold in split[1:])) == table
    for fold in split:
        assert fold.rest.merge(fold.part) == table
    positives = [fold.part.n_pos for fold in split]
    assert max(positives) - min(positives) <= 1


def test_fold_counts_have_the_hypergeometric_law_of_rows():
    table = ScoreTable.from_arrays(np.repeat([0.0, 1.0, 2.0], [6, 8, 10]), np.repeat([1, 0], [20, 4]))
    first = [table.folds(4, seed)[0].part for seed in range(2000)]
    counts = np.bincount([int(part.pos[part.scores == 1.0].sum()) for part in first], minlength=6)[:6]
    law = stats.hypergeom(20, 8, 5).pmf(np.arange(6)) * 2000
    assert np.sum((counts - law) ** 2 / law) < stats.chi2.ppf(0.999, 5)


@pytest.mark.parametrize("rows", [10**9, 10**15])
def test_more_rows_than_the_hypergeometric_law_takes_are_dealt_out(rows):
    table = ScoreTable.from_arrays([0.1, 0.2, 0.6, 0.9], [0, 0, 1, 1], [3, rows, rows + 4, 7])
    parts = [fold.part for fold in table.folds(5, 0)]
    for side in ("pos", "neg"):
        dealt = [getattr(part, side)[part.scores == score].sum() for part in parts for score in table.scores]
        assert np.reshape(dealt, (5, 4)).sum(axis=0).tolist() == getattr(table, side).tolist()
    assert np.ptp([part.rows for part in parts]) <= 1
    assert {len(part) for part in parts} <= {2, 3, 4}


def test_weighted_rows_that_are_alone_are_dealt_out_themselves():
    rng = np.random.default_rng(0)
    weight = rng.exponential(size=60)
    table = ScoreTable.from_arrays(rng.permutation(np.arange(60.0)), rng.integers(0, 2, 60), weight)
    split = table.folds(4, 1)
    assert table.rows_by_class() == (int((table.pos > 0).sum()), int((table.neg > 0).sum()))
    assert [fold.part.rows for fold in split] == [15] * 4
    dealt = np.concatenate([fold.part.total for fold in split])
    np.testing.assert_allclose(np.sort(dealt), np.sort(weight))
    for fold in split:
        assert not set(fold.part.scores) & set(fold.rest.scores)
        whole = fold.rest.merge(fold.part)
        for side in ("pos", "neg", "pos_sq", "neg_sq"):
            np.testing.assert_allclose(getattr(whole, side), getattr(table, side))


def test_tied_weights_are_dealt_out_as_rows_of_equal_weight():
    table = ScoreTable.from_arrays(np.repeat([0.0, 1.0], 40), np.tile([0, 1], 40), np.tile([0.5, 0.5, 1.5, 1.5], 20))
    # At each score and class 10 + 10 rows of weights ½ and 1½ vary as 16 rows of weight 1¼ do.
    assert table.rows_by_class() == (32, 32)
    split = table.folds(4, 0)
    assert {fold.part.n_pos for fold in split} == {10.0}
    assert sum(float(fold.part.pos_sq.sum()) for fold in split) == pytest.approx(float(table.pos_sq.sum()))
    assert any(0 < fold.part.pos[0] < table.pos[0] for fold in split)


def test_folds_need_no_more_parts_than_rows():
    table = ScoreTable.from_arrays([0.1, 0.1, 0.7, 0.9, 0.9], [0, 1, 1, 0, 1])
    assert table.rows_by_class() == (3, 2)
    with pytest.raises(InvalidInputError, match="at most the number of rows"):
        table.scale(0.5).folds(9)


def test_bootstrap_has_the_multinomial_law():
    table = ScoreTable.from_arrays([0.0, 1.0, 2.0], [0, 1, 1], [10, 30, 60])
    taken = [int(sample.pos[sample.scores == 2.0].sum()) for sample in bootstrap(table, 2000, random_state=0)]
    assert np.mean(taken) == pytest.approx(60, abs=0.5)
    assert np.var(taken) == pytest.approx(24, rel=0.12)


def test_new_labels_follow_their_probability():
    table = ScoreTable.from_arrays([0.0, 1.0], [0, 1], [50, 50])
    drawn = list(resample_labels(table, np.array([0.2, 1.0]), 1000, random_state=0))
    rate = [sample.pos[0] / sample.total[0] for sample in drawn]
    assert np.mean(rate) == pytest.approx(0.2, abs=0.01)
    assert all(sample.neg[1] == 0 and sample.rows == 100 for sample in drawn)


def test_random_state_repeats():
    table = ScoreTable.from_arrays(np.arange(20.0), np.arange(20) % 2)
    for draw in (
        lambda seed: [fold.part for fold in table.folds(3, seed)],
        lambda seed: list(bootstrap(table, 3, random_state=seed)),
        lambda seed: list(resample_labels(table, np.full(20, 0.5), 3, random_state=seed)),
    ):
        assert draw(1) == draw(1)
        assert draw(1) != draw(2)


def test_bad_input():
    table = ScoreTable.from_arrays([0.0, 1.0, 2.0], [0, 1, 1])
    for call, words in (
        (lambda: bootstrap(table.scale(0.5), 3), "needs counts"),
        (lambda: table.quantize(1.0).folds(), "exact scores"),
        (lambda: table.folds(4), "at most"),
        (lambda: table.folds(1), "n_folds"),
        (lambda: resample_labels(table, np.array([0.5]), 3), "one value per cell"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            call()
