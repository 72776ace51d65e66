"""What may be odd about the data of a fit, found without looking at any method."""

import math

import numpy as np

from oddsmith._types import Weights
from oddsmith.table.rows import ScoreRows
from oddsmith.table.table import Sample, ScoreTable

#: Scores whose area under the curve lies this many standard errors below ½ look the wrong way round.
_REVERSED = -2.0
_LONG = 20_000
_BLOCK = 512


def is_separable(data: Sample) -> bool:
    """Whether one threshold separates the classes, ties at the threshold included, in either direction."""
    low_pos = low_neg = math.inf
    high_pos = high_neg = -math.inf
    for scores, pos, neg in data.chunks():
        if pos.any():
            held = scores[pos]
            low_pos, high_pos = min(low_pos, held.min()), max(high_pos, held.max())
        if neg.any():
            held = scores[neg]
            low_neg, high_neg = min(low_neg, held.min()), max(high_neg, held.max())
        if low_pos < high_neg and low_neg < high_pos:
            return False
    return True


def is_reversed(data: Sample) -> bool:
    """Whether the area under the ROC curve is significantly below ½ (z < −2)."""
    if isinstance(data, ScoreRows):
        # Where a sample of both classes speaks clearly for the score, the sort is not needed.
        if len(data.scores) > _LONG and _sampled_z(data) > 3:
            return False
        data = ScoreTable.from_rows(data)
    if len(data) > _LONG and _coarse_z(data) > _REVERSED:
        return False
    return ranking_z(data) < _REVERSED


def ranking_z(table: ScoreTable) -> float:
    """Return by how many standard errors the area under the ROC curve lies above ½ (Mann–Whitney)."""
    return _auc_z(table.pos, table.neg, *_effective(table))


def _auc_z(pos: Weights, neg: Weights, size_pos: float, size_neg: float, inside: float = 0.5) -> float:
    """Return z of the Mann–Whitney test, pairs within a cell counting ``inside`` (½: ties)."""
    n_pos, n_neg = float(pos.sum()), float(neg.sum())
    below = np.cumsum(neg, dtype=np.float64) - neg
    area = float(np.sum(pos * (below + inside * neg))) / (n_pos * n_neg)
    share = (pos + neg) / (n_pos + n_neg)
    tied = float(np.sum(share * share * share))
    variance = (size_pos + size_neg + 1) * (1 - tied) / (12 * size_pos * size_neg)
    return (area - 0.5) / math.sqrt(variance) if variance > 0 else 0.0


def _coarse_z(table: ScoreTable) -> float:
    """Return a lower bound on z from blocks of neighboring cells, every pair within a block counted against."""
    full = len(table) // _BLOCK * _BLOCK
    pos, neg = (
        np.append(column[:full].reshape(-1, _BLOCK).sum(axis=1), column[full:].sum())
        for column in (table.pos, table.neg)
    )
    return _auc_z(pos, neg, *_effective(table), inside=0.0)


def _sampled_z(rows: ScoreRows, size: int = 1024) -> float:
    """Return z on at most ``size`` rows per class, evenly spaced."""
    picked = []
    step = max(1, len(rows.scores) // (2 * size))
    for positive in (True, False):
        thin = rows.scores[::step][rows.positive[::step] == positive]
        if len(thin) < size // 2:
            thin = rows.scores[np.flatnonzero(rows.positive == positive)]
            thin = thin[:: max(1, len(thin) // size)]
        picked.append(thin)
    scores = np.concatenate(picked)
    positive_rows = np.repeat([True, False], [len(part) for part in picked])
    table = ScoreTable.from_rows(ScoreRows(scores, positive_rows, None))
    return ranking_z(table)


def _effective(table: ScoreTable) -> tuple[float, float]:
    """Return the number of rows of each class; of equal weight that would vary as much, for float weights."""
    pos_sq, neg_sq = (float(side.sum()) for side in table.squares)
    return table.n_pos**2 / pos_sq, table.n_neg**2 / neg_sq
