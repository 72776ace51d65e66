"""The score table: what it shows, keeps and refuses."""

import numpy as np
import pytest

from oddsmith import ScoreTable
from oddsmith.data import kind_of_ranking, ranking_z, signal_kind
from oddsmith.errors import InvalidInputError

TABLE = ScoreTable.from_arrays([0.2, 0.9, 0.2, -1.0], [0, 1, 1, 0])


def test_what_it_holds():
    np.testing.assert_array_equal(TABLE.scores, [-1.0, 0.2, 0.9])
    np.testing.assert_array_equal(TABLE.pos, [0, 1, 1])
    np.testing.assert_array_equal(TABLE.neg, [1, 1, 0])
    assert TABLE.pos.dtype == TABLE.neg.dtype == np.int64
    assert (TABLE.rows, len(TABLE), TABLE.n_pos, TABLE.n_neg, TABLE.prevalence) == (4, 3, 2, 2, 0.5)
    assert TABLE.span() == (-1.0, 0.9)


def test_repr_shows_rows_weight_prevalence_and_resolution():
    assert repr(TABLE) == ("ScoreTable(rows=4, distinct=3, kind=count, weight=4, prevalence=0.5, resolution=exact)")
    assert "resolution=0.25" in repr(TABLE.quantize(0.25))
    assert "kind=weight, weight=2" in repr(TABLE.scale(0.5))


def test_immutable():
    with pytest.raises(ValueError, match="read-only"):
        TABLE.pos[0] = 5
    with pytest.raises(AttributeError):
        TABLE.rows = 7
    with pytest.raises(TypeError):
        hash(TABLE)


def test_weights_carry_squared_sums():
    table = ScoreTable.from_arrays([1.0, 1.0, 2.0], [1, 1, 0], [0.5, 2.0, 3.0])
    np.testing.assert_allclose(table.pos, [2.5, 0.0])
    np.testing.assert_allclose(table.pos_sq, [4.25, 0.0])
    np.testing.assert_allclose(table.neg_sq, [0.0, 9.0])
    assert table.rows == 3
    np.testing.assert_allclose(table.scale(2.0).pos_sq, [17.0, 0.0])


def test_the_user_keeps_writable_arrays():
    scores = np.array([3.0, 1.0, 2.0])
    ScoreTable.from_arrays(scores, [0, 1, 0])
    scores[0] = 9.0


def test_equality():
    assert TABLE != ScoreTable.from_arrays([0.2], [1])
    assert TABLE != "table"
    assert TABLE == TABLE.merge(TABLE).minus(TABLE)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: TABLE.quantize(0.3), r"width must be a power of two; got width=0.3. Hint: use 0.25"),
        (lambda: TABLE.quantize(0.0), "width must be finite and > 0"),
        (lambda: TABLE.quantize(1.0).quantize(0.5), "width must not be finer than the table's"),
        (lambda: TABLE.scale(0), "factor must be an integer ≥ 1"),
        (lambda: TABLE.scale(-0.5), "factor must be finite and > 0"),
        (lambda: TABLE.scale("x"), "factor must be a number"),
        (lambda: TABLE.map(lambda s: s[:1]), "function must give one number per score"),
        (lambda: TABLE.map(lambda s: s * np.nan), "function must give one number per score"),
    ],
)
def test_refusals(act, words):
    with pytest.raises(InvalidInputError, match=words):
        act()


def test_forecasts_may_be_infinite():
    forecast = TABLE.map(lambda s: np.where(s > 0.5, np.inf, s))
    assert forecast.scores[-1] == np.inf


@pytest.mark.parametrize("digits", [1, 8], ids=["ties", "apart"])
@pytest.mark.parametrize("effect", [-0.02, 0.0, 0.003, 0.0097, 0.02, 1.0])
def test_blocks_of_a_long_table_tell_the_same_signal_as_its_scores(effect, digits):
    rng = np.random.default_rng(5)
    scores = np.round(rng.normal(size=60_000) * 10_000, digits)
    y = rng.random(60_000) < 1 / (1 + np.exp(-effect * scores / 10_000))
    table = ScoreTable.from_arrays(scores, y)
    assert len(table) > 20_000
    assert kind_of_ranking(table) == signal_kind(ranking_z(table))
