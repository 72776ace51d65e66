"""The compiled loops against their NumPy twins, and both against plain sorting."""

import numpy as np
import pytest

from oddsmith import ScoreTable, _kernels
from oddsmith.calibrators._mode import ClassScores, _block_sums
from oddsmith.data.rows import LabeledScores
from oddsmith.fitting.cells import Cells
from optional import needs

RNG = np.random.default_rng(7)
N = 30_000
BASE = RNG.normal(size=N)

SCORES = {
    "normal": BASE,
    "uniform": RNG.random(N),
    "all negative": -RNG.random(N),
    "clustered": 1e6 + 1e-6 * BASE,
    "discrete": np.round(BASE, 2),
    "with zeros of both signs": np.where(RNG.random(N) < 0.3, np.where(RNG.random(N) < 0.5, 0.0, -0.0), BASE),
    "heavy tails": RNG.standard_t(1.5, N),
    "sorted": np.sort(BASE),
    "reversed": np.sort(BASE)[::-1],
    "two values": np.where(BASE > 0, 1.0, -1.0),
    "subnormal": BASE * 5e-324,
    "all magnitudes": BASE * 10.0 ** RNG.integers(-300, 300, N),
    "integers": np.floor(BASE * 1000),
}
POSITIVE = RNG.random(N) < 1 / (1 + np.exp(-BASE))

each = pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES)


@pytest.fixture
def numpy_only(monkeypatch):
    monkeypatch.setenv("ODDSMITH_COMPILED", "0")


def reference(scores, positive):
    distinct, place = np.unique(scores + 0.0, return_inverse=True)
    return distinct, np.bincount(place, positive).astype(int), np.bincount(place, ~positive).astype(int)


def assert_same(table, expected):
    for found, wanted in zip(table, expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert not np.signbit(table[0][table[0] == 0]).any()


@each
def test_table_in_numpy(scores, numpy_only):
    assert_same(_kernels.count_table(scores, POSITIVE), reference(scores, POSITIVE))


@each
def test_table_compiled(scores):
    needs("numba")
    assert _kernels.load_compiled(N) is not None
    assert_same(_kernels.count_table(scores, POSITIVE), reference(scores, POSITIVE))


@each
def test_short_tables_agree(scores):
    assert_same(_kernels.count_table(scores[:500], POSITIVE[:500]), reference(scores[:500], POSITIVE[:500]))


@each
def test_violators_pooled_alike(scores, monkeypatch):
    needs("numba")
    table = ScoreTable.from_arrays(np.resize(scores, N), POSITIVE)
    if len(table) < _kernels.COMPILED_FROM:
        table = ScoreTable.from_arrays(scores + np.arange(N) * 1e-9, POSITIVE)
    compiled = _kernels.pool_violators(table.pos, table.neg)
    monkeypatch.setenv("ODDSMITH_COMPILED", "0")
    plain = _kernels.pool_violators(table.pos, table.neg)
    np.testing.assert_array_equal(compiled[0], plain[0])
    np.testing.assert_array_equal(compiled[1], plain[1])


@pytest.mark.parametrize("shape", ["rising", "falling", "level", "waves", "one step", "in turn", "counts"])
def test_blocks_are_those_of_the_pool_of_all_rows(shape):
    needs("numba")
    r = np.linspace(0, 1, N)
    rates = {
        "rising": r,
        "falling": 1 - r,
        "waves": np.sin(9 * r) ** 2,
        "one step": r > 0.5,
        "in turn": np.arange(N) % 2,
    }
    rng = np.random.default_rng(10)
    total = rng.integers(1, 50, N) if shape == "counts" else np.ones(N, int)
    pos = rng.binomial(total, rates.get(shape, np.full(N, 0.5)))
    starts, means = _kernels.pool_violators(pos, total - pos)
    # Means rise from block to block, and within a block no beginning has a lower mean than the block.
    assert np.all(np.diff(means) > 0)
    before = np.cumsum(pos) - np.repeat((np.cumsum(pos) - pos)[starts], np.diff(starts, append=N))
    weight = np.cumsum(total) - np.repeat((np.cumsum(total) - total)[starts], np.diff(starts, append=N))
    assert np.all(before >= np.repeat(means, np.diff(starts, append=N)) * weight * (1 - 1e-12))
    np.testing.assert_array_equal(means, np.add.reduceat(pos, starts) / np.add.reduceat(total, starts))


@pytest.mark.parametrize("powers", [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_block_sums_agree(monkeypatch, powers):
    needs("numba")
    table = ScoreTable.from_arrays(BASE, POSITIVE)
    sample = ClassScores(table.scores, table.pos, 4.0, table.n_pos)
    compiled = _block_sums(sample, powers)
    monkeypatch.setenv("ODDSMITH_COMPILED", "0")
    for found, plain in zip(compiled, _block_sums(sample, powers), strict=True):
        np.testing.assert_allclose(found[: len(plain)], plain, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("unit", [np.inf, 0.01])
def test_cells_agree(unit):
    compiled = needs("oddsmith._compiled")
    cells = Cells.over(LabeledScores(BASE, POSITIVE, None), 8.0, 0.25, unit)
    x = BASE / 8 - 0.25
    inner = np.abs(x) < cells.reach  # the outermost score is an edge
    assert compiled.class_sums(BASE, POSITIVE, 1 / 8, 0.25) == pytest.approx((x[POSITIVE].sum(), x[~POSITIVE].sum()))
    x = x[inner]
    place = cells.places(x)
    u = (x - cells.centers[place]) / cells.widths[place]
    assert np.abs(u).max() <= 0.5 + 1e-9
    grid = 1 / cells.unit, cells.bits, cells.half
    for equal in {False, cells.are_equal}:
        counts = compiled.cell_counts(BASE[inner], 1 / 8, 0.25, *grid, equal)
        np.testing.assert_array_equal(counts, np.bincount(place, minlength=2 * cells.half))
    if cells.are_equal:
        for power, row in enumerate(cells.moments(compiled, BASE[inner])):
            np.testing.assert_allclose(row, np.bincount(place, u**power, 2 * cells.half), atol=1e-9)


def test_sums_over_forecasts_agree():
    compiled = needs("oddsmith._compiled")
    weight = np.random.default_rng(9).random(N)
    for slope, level, center in ((8.0, -0.5, 0.0), (-3.0, 1.0, 0.1), (4e4, 0.0, 0.0), (0.0, -1e4, 0.0)):
        x = (BASE / 8 - 0.25 - center).astype(np.longdouble)
        p = 1 / (1 + np.exp(-np.clip(slope * x + level, -1e4, 1e4)))
        h = p * (1 - p)
        place = 1 / 8, 0.25, slope, level, center
        gradient = compiled.line_gradient(BASE, *place)
        np.testing.assert_allclose(gradient, [(p * x).sum(), p.sum()], rtol=1e-14, atol=1e-12)
        for w in (None, weight):
            v = 1.0 if w is None else w
            expected = [(v * each).sum() for each in (p * x, p, h * x * x, h * x, h)]
            found = compiled.line_derivatives(BASE, w, *place)
            np.testing.assert_allclose(found, np.array(expected, float), rtol=1e-12, atol=1e-12)


def test_gauss_points_keep_four_moments():
    rng = np.random.default_rng(8)
    x, w = rng.random((50, 20)) - 0.5, rng.random((50, 20))
    x[0] = 0.3  # a cell with a single distinct score
    sums = np.array([(w * x**k).sum(axis=1) for k in range(4)])
    points, share = _kernels.gauss_points(np.zeros(50), np.ones(50), sums)
    assert np.all(share >= 0)
    for k in range(4):
        np.testing.assert_allclose((share * points**k).reshape(2, -1).sum(axis=0), sums[k], atol=1e-9)


def test_switched_off_without_numba(monkeypatch):
    _kernels._has_numba.cache_clear()
    monkeypatch.setattr(_kernels.importlib.util, "find_spec", lambda _: None)
    assert _kernels.load_compiled(10**7) is None
    _kernels._has_numba.cache_clear()


def test_no_label_bit_left_falls_back_to_argsort():
    huge = SCORES["all magnitudes"]
    assert _kernels._key_limits(huge) is None
