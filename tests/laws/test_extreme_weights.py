"""Weights so large or so small that sums wrap, overflow or vanish: one clear error, at every door."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue import CLASSES
from oddsmith import ScoreTable, _check, metrics
from oddsmith.errors import InvalidInputError
from samples import ours_allowed

SCORES = np.array([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0])
Y = np.array([0, 0, 1, 0, 1, 1])

TOO_LARGE = r"must have a sum of weights below 2\*\*63; got [\d.e+inf]+\. Hint: divide all weights by one number\."
TOO_SMALL = r"weights must be 0 or at least 1e-100; got sample_weight\[\d\]=[\d.e-]+\. Hint: multiply all weights"

EXTREME = {
    "counts that wrap": (np.full(6, 2**61), TOO_LARGE),
    "counts that wrap to a positive sum": (np.full(6, 2**62), TOO_LARGE),
    "counts above the largest": (np.array([2**63 + 5, 1, 1, 1, 1, 1], np.uint64), TOO_LARGE),
    "1e308": (np.full(6, 1e308), TOO_LARGE),
    "1e300": (np.full(6, 1e300), TOO_LARGE),
    "one of 1e20": (np.array([1, 1, 1, 1, 1, 1e20]), TOO_LARGE),
    "5e-324": (np.full(6, 5e-324), TOO_SMALL),
    "one of 1e-200": (np.array([1, 1, 1e-200, 1, 1, 1]), TOO_SMALL),
}


@pytest.fixture(params=EXTREME)
def extreme(request):
    return EXTREME[request.param]


def test_tables(extreme):
    weight, words = extreme
    with pytest.raises(InvalidInputError, match=words):
        ScoreTable.from_arrays(SCORES, Y, weight)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_fits(cls, extreme):
    weight, words = extreme
    for fit in (cls().fit, cls().partial_fit):
        with pytest.raises(InvalidInputError, match=words):
            fit(SCORES, Y, weight)


@pytest.mark.parametrize(
    "name", [name for name in metrics.__all__ if isinstance(getattr(metrics, name), metrics.ForecastFunction)]
)
def test_measures(name, extreme):
    weight, words = extreme
    prob = 1 / (1 + np.exp(-SCORES))
    if getattr(metrics, name).takes == "classes":
        prob = np.column_stack([1 - prob, prob])
    with pytest.raises(InvalidInputError, match=words):
        getattr(metrics, name)(Y, prob, sample_weight=weight)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("weight", [1e-100, 1e18])
def test_the_least_and_the_largest_that_are_taken(cls, weight):
    with ours_allowed():
        prob = cls().fit(SCORES, Y, np.full(6, weight)).predict_proba(SCORES)
    assert np.all((prob >= 0) & (prob <= 1))


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=9))
def test_sums_are_exact(counts):
    assert _check.weight_sum(np.array(counts, np.uint64)) == sum(counts)
    signed = [count // 2 for count in counts]
    assert _check.weight_sum(np.array(signed, np.int64)) == sum(signed)


@given(st.lists(st.integers(2**60, 2**63 - 1), min_size=2, max_size=9))
def test_merging_and_scaling_refuse_what_wraps(counts):
    tables = [ScoreTable.from_arrays([float(i % 3)], [i % 2], [count]) for i, count in enumerate(counts)]
    if sum(counts) < 2**63:
        merged = tables[0].merge(*tables[1:])
        assert merged.rows == merged.n_pos + merged.n_neg == sum(counts)
        return
    with pytest.raises(InvalidInputError, match=TOO_LARGE):
        tables[0].merge(*tables[1:])
    with pytest.raises(InvalidInputError, match=TOO_LARGE):
        tables[0].scale(1 + 2**63 // counts[0])
    with pytest.raises(InvalidInputError, match=TOO_LARGE):
        tables[0].scale(1e30)


def test_taking_everything_away_leaves_a_table_that_prints():
    table = ScoreTable.from_arrays(SCORES, Y)
    for one in (table, table.quantize(1.0), table.scale(0.5)):
        rest = one.minus(one)
        assert (len(rest), rest.rows) == (0, 0)
        assert "distinct=0" in repr(rest)
        assert "prevalence=nan" in repr(rest)
        assert one.merge(rest) == one
        with pytest.raises(InvalidInputError, match="the table must contain scores; got ScoreTable"):
            rest.span()


def test_light_rows_are_what_is_left_where_heavy_ones_are_taken_away():
    heavy, light = (ScoreTable.from_arrays(SCORES, Y, np.full(len(Y), weight)) for weight in (1.0, 1e-20))
    apart = light.map(lambda scores: scores + 10)
    assert heavy.merge(apart).minus(heavy) == apart
    with pytest.raises(InvalidInputError, match=r"the remaining weight must exceed rounding error; got 6 rows"):
        heavy.merge(light).minus(heavy)


def test_light_rows_that_are_not_there_are_not_taken_away():
    heavy, light = (ScoreTable.from_arrays([score], [1], [weight]) for score, weight in ((0.0, 1.0), (1.0, 1e-20)))
    with pytest.raises(InvalidInputError, match="more weight than is in it"):
        heavy.merge(light).minus(light.scale(2.0))
