"""Whether rows are the ones of a fit is known from a few sums, and never said of other rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddsmith import ScoreTable, _kernels
from oddsmith.data.fingerprint import Fingerprint
from oddsmith.data.rows import read_rows

N = 400


def mark(scores, y, weight=None):
    return Fingerprint.of(ScoreTable.from_arrays(scores, y, weight))


def mark_of_rows(scores, y, weight=None):
    return Fingerprint.of(read_rows(scores, y, weight, None)[0])


def draw(seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=N)
    return rng, scores, (rng.random(N) < 0.3).astype(int)


UNFRIENDLY = {
    "normal": lambda s: s,
    "one sentinel": lambda s: np.append(s[:-1], 1e300),
    "two sentinels": lambda s: np.concatenate([s[:-2], [-1e300, 1e300]]),
    "tiny": lambda s: s * 1e-300,
    "far from 0": lambda s: 1e6 + 1e-9 * s,
    "deciles": lambda s: np.ceil(10 * np.argsort(np.argsort(s)) / N + 0.01),
    "two values": lambda s: np.sign(s),
    "probabilities near 0": lambda s: 1 / (1 + np.exp(15 - 6 * s)),
}


@pytest.mark.parametrize("kind", UNFRIENDLY)
@pytest.mark.parametrize("weighted", [False, True])
def test_other_labels_are_other_rows(kind, weighted):
    rng, scores, y = draw()
    scores = UNFRIENDLY[kind](scores)
    weight = rng.random(N) + 0.5 if weighted else None
    kept = mark(scores, y, weight)
    for _ in range(20):
        shuffled = rng.permutation(y)
        same = mark(scores, shuffled, weight)
        table, other = (ScoreTable.from_arrays(scores, labels, weight) for labels in (y, shuffled))
        assert kept.matches(same) == np.allclose(table.pos, other.pos)


@pytest.mark.parametrize("kind", UNFRIENDLY)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_order_of_rows_does_not_matter(kind, weighted):
    rng, scores, y = draw()
    scores = UNFRIENDLY[kind](scores)
    weight = rng.random(N) + 0.5 if weighted else np.ones(N, dtype=int)
    order = rng.permutation(N)
    assert mark(scores, y, weight).matches(mark(scores[order], y[order], weight[order]))


def test_a_moved_score_is_another_row():
    _, scores, y = draw()
    moved = scores.copy()
    moved[7] = np.nextafter(moved[7], np.inf)
    assert not mark(scores, y).matches(mark(moved, y))


@given(seed=st.integers(0, 10_000))
def test_rows_and_their_table_have_the_same(seed):
    rng, scores, y = draw(seed)
    scores = np.round(scores, 1)  # ties, and −0.0 beside 0.0
    counts = rng.integers(1, 4, N)
    repeated = np.repeat(scores, counts), np.repeat(y, counts)
    assert mark_of_rows(scores, y).matches(mark(scores, y))
    counted, single = mark_of_rows(scores, y, counts), mark(*repeated)
    assert counted[1:] == single[1:]  # a row that counts twice is one row


@pytest.mark.parametrize("weight", [None, np.full(N, 2), np.full(N, 0.25)])
def test_minus_zero_is_zero(weight):
    _, scores, y = draw()
    scores[:50] = 0.0
    negative = np.where(scores == 0, -0.0, scores)
    assert mark(scores, y, weight).matches(mark(negative, y, weight))


def test_compiled_loops_sum_the_same(monkeypatch):
    pytest.importorskip("numba", reason="the compiled loops need the extra fast")
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=300_000), rng.integers(0, 2, 300_000)
    scores[::1000] = -0.0
    rows, _ = read_rows(scores, y, None, None)
    assert _kernels.load_compiled(len(scores)) is not None
    fast = rows.mark_sums()
    monkeypatch.setattr(_kernels, "load_compiled", lambda _: None)
    assert fast == rows.mark_sums()


def test_cells_are_told_apart_from_rows():
    _, scores, y = draw()
    table = ScoreTable.from_arrays(scores, y)
    turned = ScoreTable.from_arrays(scores[::-1], y[::-1])
    cells = Fingerprint.of(table.quantize(0.25))
    assert not Fingerprint.of(table).matches(cells)
    assert Fingerprint.of(turned.quantize(0.25)).matches(cells)
