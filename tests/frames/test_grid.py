"""Cells: they nest, they hold what fell in them, and streams that coarsen end where the whole does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddsmith import ScoreTable
from oddsmith.data.grid import Grid
from oddsmith.errors import InvalidInputError
from samples import samples

table = ScoreTable.from_arrays


def near_the_ends(n):
    """Probabilities of all sizes, the very ends included."""
    small = 10.0 ** np.random.default_rng(11).uniform(-320, 0, n // 2)
    return np.concatenate([small, 1 - small, [0.0, 1.0, 0.5, 5e-324, 1 - 2.0**-53]])


@pytest.mark.parametrize("exponent", [-10, -7, -3, 0])
def test_cells_of_log_odds_hold_what_fell_in_them(exponent):
    prob = near_the_ends(5000)
    exact = table(prob, np.random.default_rng(12).integers(0, 2, len(prob)))
    cells = exact.quantize(2.0**exponent, log_odds=True)
    grid = cells.grid
    np.testing.assert_array_equal(grid.cells(cells.scores), np.unique(grid.cells(exact.scores)))
    assert np.all(np.diff(cells.scores) > 0)
    assert (cells.n_pos, cells.n_neg, cells.rows) == (exact.n_pos, exact.n_neg, exact.rows)
    assert f"resolution={2.0**exponent:g} of log-odds" in repr(cells)
    assert cells != exact.quantize(2.0**exponent)


def test_means_outside_their_cells_are_moved_back():
    scores = near_the_ends(2000)
    for grid in (Grid(0.25), Grid(2.0**-8, log_odds=True), Grid(2.0**-70)):
        for away in (1e-15, -1e-15, 0.1):
            held = grid.inside(np.clip(scores * (1 + away), 0, 1), scores)
            np.testing.assert_array_equal(grid.cells(held), grid.cells(scores))
    np.testing.assert_array_equal(Grid(0.5).inside(np.array([-1e-17, 0.2, 0.6]), np.array([0.1] * 3)) // 0.1, [0, 2, 4])


def test_spans_are_the_widths_of_cells_in_the_score():
    grid = Grid(2.0**-8, log_odds=True)
    scores = np.array([1e-6, 0.01, 0.5, 0.99])
    step = grid.spans(scores) / 2
    np.testing.assert_allclose((grid.place(scores + step) - grid.place(scores - step)) / grid.width, 1, rtol=1e-4)
    np.testing.assert_array_equal(Grid(0.5).spans(scores), 0.5)


@given(samples(), samples(), st.sampled_from([(0.25, 1.0), (2.0, 0.5)]))
def test_log_odds_cells_merge_by_coarsening(a, b, widths):
    a, b = (table(1 / (1 + np.exp(-scores)), y) for scores, y in (a, b))
    mixed = a.quantize(widths[0], log_odds=True).merge(b.quantize(widths[1], log_odds=True))
    same = a.merge(b).quantize(max(widths), log_odds=True)
    np.testing.assert_array_equal(mixed.pos, same.pos)
    np.testing.assert_array_equal(mixed.neg, same.neg)
    np.testing.assert_allclose(mixed.scores, same.scores)
    assert mixed.grid == same.grid == a.merge(b.quantize(max(widths), log_odds=True)).grid


@given(samples(), samples())
def test_cells_taken_away_leave_the_mean_of_the_rest(a, b):
    a, b = table(*a).quantize(0.5), table(*b).quantize(0.5)
    rest = a.merge(b).minus(b)
    np.testing.assert_array_equal(rest.pos, a.pos)
    np.testing.assert_allclose(rest.scores, a.scores, rtol=1e-9, atol=1e-9)


def test_cells_of_equal_scores_stay_exactly_at_them():
    scores = np.repeat(np.arange(1, 50) / 49, 7)
    exact = table(scores, np.arange(len(scores)) % 2)
    cells = exact.quantize(2**-9)
    for same in (cells, cells.merge(cells), cells.merge(cells).minus(cells), exact.quantize(2**-9, log_odds=True)):
        np.testing.assert_array_equal(same.scores, exact.scores)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=2000),
        lambda rng: rng.standard_cauchy(2000),
        lambda rng: np.round(rng.normal(size=2000), 1),
    ],
    ids=["normal", "Cauchy", "with ties"],
)
def test_a_stream_that_coarsens_ends_where_the_whole_does(scale, draw):
    rng = np.random.default_rng(13)
    scores, y = draw(rng) * scale, rng.integers(0, 2, 2000)
    whole = table(scores, y).coarsen(100)
    assert len(whole) <= 100
    assert whole.resolution is None or len(table(scores, y).quantize(whole.resolution / 2)) > 100
    for chunks in (7, 40):
        parts = [table(scores[part], y[part]) for part in np.array_split(rng.permutation(2000), chunks)]
        stream = parts[0].coarsen(100)
        for part in parts[1:]:
            stream = stream.merge(part).coarsen(100)
        assert stream.grid == whole.grid
        np.testing.assert_array_equal(stream.pos, whole.pos)
        np.testing.assert_array_equal(stream.neg, whole.neg)
        np.testing.assert_allclose(stream.scores, whole.scores, rtol=1e-9, atol=1e-12 * scale)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_sizes_however_different_are_pooled_the_same_in_any_order(order):
    rng = np.random.default_rng(14)
    tiny, small, large = rng.normal(size=90) * 2.0**-300, rng.normal(size=90), rng.normal(size=90) * 2.0**400
    parts = [table(scores, rng.integers(0, 2, 90)) for scores in (tiny, small, large)]
    whole = parts[0].merge(*parts[1:]).coarsen(120)
    stream = parts[order[0]].coarsen(120)
    for i in order[1:]:
        stream = stream.merge(parts[i]).coarsen(120)
    assert stream.grid == whole.grid
    np.testing.assert_array_equal(stream.pos, whole.pos)
    np.testing.assert_array_equal(stream.neg, whole.neg)
    assert 90 <= len(whole) <= 120


def test_sizes_too_different_for_cells_of_one_width_are_refused():
    sizes = table(np.append(np.arange(1, 100) * 5e-324, [1e300, 2e300]), np.arange(101) % 2)
    with pytest.raises(InvalidInputError, match=r"span a smaller range .* got sizes from 4.94066e-324 to 2e.300"):
        sizes.coarsen(10)


@pytest.mark.parametrize("log_odds", [False, True])
def test_scores_and_places_are_inverse(log_odds):
    grid = Grid(1.0, log_odds)
    scores = near_the_ends(500)
    np.testing.assert_allclose(grid.score(grid.place(scores)), scores, rtol=1e-9, atol=1e-15)


def test_coarsening_keeps_the_axis():
    cells = (
        table(near_the_ends(500), np.random.default_rng(15).integers(0, 2, 505))
        .quantize(2**-6, log_odds=True)
        .coarsen(20)
    )
    assert cells.log_odds_cells
    assert 10 <= len(cells) <= 20


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (
            lambda: table([0.1, 2.0], [0, 1]).quantize(0.5, log_odds=True),
            "need scores in .0, 1.; got scores from 0.1 to 2",
        ),
        (
            lambda: table([0.1, 0.2], [0, 1]).quantize(0.5, log_odds=True).merge(table([0.1], [1]).quantize(0.5)),
            "cells must stay on one axis; got cells of log-odds from",
        ),
        (
            lambda: table([0.1], [1]).quantize(0.5, log_odds=True).minus(table([0.1], [1]).quantize(0.5)),
            "same resolution",
        ),
        (lambda: table([0.1], [1]).coarsen(3), "max_cells must be an integer ≥ 4"),
    ],
)
def test_refusals(act, words):
    with pytest.raises(InvalidInputError, match=words):
        act()
