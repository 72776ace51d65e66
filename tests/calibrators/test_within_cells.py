"""Cells divided: the sums stay, places within cells come near those of the scores, single scores stay whole."""

import numpy as np
import pytest

from oddsmith import HistogramCalibrator, LaplaceCalibrator, ScoreTable
from oddsmith.calibrators._within_cells import divide

RNG = np.random.default_rng(5)
N = 40_000
SCORES = RNG.normal(size=N)
Y = (RNG.random(N) < 1 / (1 + np.exp(-SCORES))).astype(int)
WIDTH = 2.0**-4


@pytest.mark.parametrize("weight", [None, np.full(N, 0.3)])
@pytest.mark.parametrize("log_odds", [False, True])
def test_what_a_division_keeps(weight, log_odds):
    scores = 1 / (1 + np.exp(-SCORES)) if log_odds else SCORES
    cells = ScoreTable.from_arrays(scores, Y, weight).quantize(WIDTH, log_odds)
    parts = divide(cells, np.array([0.1, 0.5]))
    assert len(cells) + 6 * 31 >= len(parts) > len(cells) + 100
    assert np.all(np.diff(parts.scores) > 0)
    np.testing.assert_array_equal(np.unique(cells.grid.cells(parts.scores)), cells.grid.cells(cells.scores))
    for side in ("pos", "neg"):
        for column in (side, f"{side}_sum", *([f"{side}_sq"] if weight is not None else [])):
            whole, found = getattr(cells, column).sum(), getattr(parts, column).sum()
            assert found == pytest.approx(whole, rel=1e-4), column
        assert getattr(parts, side).sum() == pytest.approx(getattr(cells, side).sum(), rel=1e-12)
        assert getattr(parts, side).min() >= 0


def test_medians_and_edges_come_nearer():
    exact = ScoreTable.from_arrays(SCORES, Y)
    cells = exact.quantize(WIDTH)
    away = [
        abs(a.theta - b.theta)
        for wanted, found in [(LaplaceCalibrator().fit_table(exact), LaplaceCalibrator().fit_table(cells))]
        for a, b in [(wanted.positive_, found.positive_), (wanted.negative_, found.negative_)]
    ]
    assert max(away) < WIDTH / 10
    wanted, found = (HistogramCalibrator(n_bins=8).fit_table(table).map_.knots for table in (exact, cells))
    assert np.abs(wanted - found).max() < WIDTH / 10


def test_single_scores_stay_whole():
    tied = np.concatenate([np.round(SCORES, 1), np.full(N, 0.33)])
    labels = np.concatenate([Y, Y])
    alone = ScoreTable.from_arrays(np.round(SCORES, 1), Y).quantize(2.0**-4)
    assert len(divide(alone, alone.scores)) == len(alone)
    mixed = ScoreTable.from_arrays(np.concatenate([SCORES, tied[N:]]), labels).quantize(WIDTH)
    parts = divide(mixed, np.array([0.33]))
    heavy = np.argmax(mixed.total)
    assert mixed.scores[heavy] in parts.scores


def test_exact_tables_and_outer_cells_stay_as_they_are():
    exact = ScoreTable.from_arrays(SCORES, Y)
    assert divide(exact, SCORES[:3]) is exact
    two = ScoreTable.from_arrays([0.1, 0.2, 0.9], [0, 1, 1]).quantize(0.5)
    assert divide(two, np.array([0.1, 5.0])) == two
