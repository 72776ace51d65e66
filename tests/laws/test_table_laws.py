"""Laws of the score table: it adds, and forgets nothing but the order of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddsmith import ScoreTable
from oddsmith.errors import InvalidInputError
from samples import samples

table = ScoreTable.from_arrays


@given(samples(), samples(), samples())
def test_merge_is_associative_and_commutative(a, b, c):
    a, b, c = table(*a), table(*b), table(*c)
    assert a.merge(b) == b.merge(a)
    assert a.merge(b).merge(c) == a.merge(b.merge(c)) == a.merge(b, c)


@given(samples(), st.integers(1, 5))
def test_chunks_merged_are_the_whole(data, chunks):
    scores, y = data
    parts = [
        table(s, t) for s, t in zip(np.array_split(scores, chunks), np.array_split(y, chunks), strict=True) if len(s)
    ]
    assert parts[0].merge(*parts[1:]) == table(scores, y)


@given(samples(), st.randoms(use_true_random=False))
def test_row_order_is_irrelevant(data, random):
    scores, y = data
    order = list(range(len(y)))
    random.shuffle(order)
    assert table(scores[order], y[order]) == table(scores, y)


@given(samples(), st.data())
def test_integer_weights_are_repetitions(data, draw):
    scores, y = data
    weights = np.array(draw.draw(st.lists(st.integers(0, 4), min_size=len(y), max_size=len(y))))
    weights[0] = 1
    assert table(scores, y, weights) == table(np.repeat(scores, weights), np.repeat(y, weights))


@given(samples(), samples())
def test_minus_undoes_merge(a, b):
    a, b = table(*a), table(*b)
    assert a.merge(b).minus(b) == a


@given(samples(), samples(), st.sampled_from([0.125, 1.0, 4.0]))
def test_minus_undoes_merge_of_cells_and_weights(a, b, width):
    whole = table(*a, np.full(len(a[1]), 0.3)).quantize(width)
    part = table(*b, np.full(len(b[1]), 1.7)).quantize(width)
    rest = whole.merge(part).minus(part)
    np.testing.assert_allclose(rest.pos, whole.pos)
    np.testing.assert_allclose(rest.neg, whole.neg)
    assert rest.rows == whole.rows


@given(samples())
def test_scale_by_a_whole_number_repeats_rows(data):
    scores, y = data
    assert table(scores, y).scale(3) == table(np.tile(scores, 3), np.tile(y, 3))


@given(samples())
def test_scale_by_a_fraction_makes_weights(data):
    scores, y = data
    assert table(scores, y).scale(0.5) == table(scores, y, np.full(len(y), 0.5))


@given(samples(), samples(), st.sampled_from([0.25, 1.0]))
def test_quantize_and_merge_commute(a, b, width):
    a, b = table(*a), table(*b)
    first, last = a.merge(b).quantize(width), a.quantize(width).merge(b.quantize(width))
    np.testing.assert_array_equal(first.pos, last.pos)
    np.testing.assert_array_equal(first.neg, last.neg)
    np.testing.assert_allclose(first.scores, last.scores)
    np.testing.assert_allclose(first.pos_sum, last.pos_sum, atol=1e-9)


@given(samples(), samples())
def test_tables_of_different_widths_merge_by_coarsening(a, b):
    a, b = table(*a), table(*b)
    mixed, same = a.quantize(0.25).merge(b.quantize(1.0)), a.merge(b).quantize(1.0)
    np.testing.assert_array_equal(mixed.total, same.total)
    assert mixed.resolution == 1.0
    assert a.merge(b.quantize(1.0)).resolution == 1.0


@given(samples())
def test_quantize_keeps_class_sums_and_order(data):
    exact = table(*data)
    cells = exact.quantize(0.5)
    assert cells.pos_sum.sum() == pytest.approx(np.dot(exact.pos, exact.scores), abs=1e-9)
    assert cells.neg_sum.sum() == pytest.approx(np.dot(exact.neg, exact.scores), abs=1e-9)
    assert np.all(np.diff(cells.scores) > 0)
    assert np.all(np.floor(cells.scores / 0.5) == np.unique(np.floor(exact.scores / 0.5)))


@given(samples())
def test_arrays_and_back(data):
    exact = table(*data)
    assert table(*exact.to_arrays()) == exact


@given(samples())
def test_map_pools_what_becomes_equal(data):
    scores, y = data
    assert table(scores, y).map(np.floor) == table(np.floor(scores), y)
    assert table(scores, y).map(lambda s: -s).prevalence == table(scores, y).prevalence


@given(samples())
def test_float_weights_of_one_count_the_same(data):
    scores, y = data
    counts, weights = table(scores, y), table(scores, y, np.ones(len(y)))
    assert weights.kind == "weight"
    assert counts.kind == "count"
    np.testing.assert_array_equal(weights.pos, counts.pos)
    np.testing.assert_array_equal(weights.pos_sq, counts.pos)
    assert counts.merge(weights) == weights.merge(counts)


def test_taking_away_what_is_not_there_is_refused():
    a, b = table([1.0, 2.0], [0, 1]), table([3.0, 4.0], [0, 1])
    with pytest.raises(InvalidInputError, match="must be part of this one"):
        a.minus(b)
    with pytest.raises(InvalidInputError, match="more weight than is in it"):
        a.minus(a.scale(2))
    with pytest.raises(InvalidInputError, match="must be part of this one"):
        a.minus(b.quantize(1.0))
    with pytest.raises(InvalidInputError, match="must count rows as this one does"):
        a.minus(a.scale(0.5))


def test_tables_of_different_widths_are_taken_away_as_they_merge():
    rng = np.random.default_rng(5)
    a, b = (table(rng.normal(size=40), rng.integers(0, 2, 40)) for _ in range(2))
    for mine, theirs in ((None, 0.25), (0.25, None), (0.125, 0.25), (0.25, 0.125)):
        both = a.merge(b) if mine is None else a.merge(b).quantize(mine)
        left = both.minus(b if theirs is None else b.quantize(theirs))
        widest = a.quantize(0.25)
        assert (left.rows, left.grid) == (widest.rows, widest.grid)
        np.testing.assert_array_equal(left.pos, widest.pos)
        np.testing.assert_allclose(left.scores, widest.scores, rtol=0, atol=1e-12)
