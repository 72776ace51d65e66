"""What new columns of a file are computed from: its scores, checked row by row, and its keys of segments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith.files.bad_rows import RowProblem, problems_of
from oddsmith.files.columns import Columns, list_columns
from oddsmith.files.rows import EXACT, distribution_problems
from oddsmith.files.source import ScoreFile

__all__ = ["InputColumns", "probability_inputs", "score_inputs", "scores_of"]


@dataclass(frozen=True)
class InputColumns:
    """What new columns are computed from."""

    columns: Columns  # scores or probabilities, no label or weight; usable in every row that is kept
    problems: list[RowProblem]  # what may be wrong with them
    by: tuple[str, ...] = ()  # columns of segments, which may be missing in a row

    @property
    def expressions(self) -> dict[str, str]:
        """Names of what is computed from, with expressions over the columns of the file as f0 and so on."""
        k = len(self.columns.names)
        scores = {f"s{i}": f"TRY_CAST(f{i} AS DOUBLE)" for i in range(k)}
        return scores | {f"k{i}": f"CAST(f{k + i} AS VARCHAR)" for i in range(len(self.by))}


def score_inputs(file: ScoreFile, columns: Columns, input_: str) -> InputColumns:
    """Return the scores as s0 and so on, and the keys of segments as k0 and so on."""
    scores = Columns(columns.scores, columns.classes)
    k, problems = len(scores.scores), problems_of(file, scores, infinite=input_ != "probabilities")
    if input_ == "probabilities" and k > 1:
        problems += distribution_problems(k)
    return InputColumns(scores, problems, columns.by)


def probability_inputs(file: ScoreFile, groups: Sequence[Sequence[str]]) -> InputColumns:
    """Return columns of classifiers as s0 and so on: of each P(positive class), or one probability per class."""
    names = tuple(name for group in groups for name in group)
    if len(set(names)) < len(names):
        _check.fail("columns must differ", list_columns(names), "name each once")
    inputs = score_inputs(file, Columns(names), "logits")
    start = 0
    for group in groups:
        inputs.problems.extend(
            distribution_problems(len(group), start) if len(group) > 1 else _share_problems(start, group[0])
        )
        start += len(group)
    return inputs


def _share_problems(place: int, name: str) -> list[RowProblem]:
    """Return what may be wrong with a probability of two classes."""
    number, value = f"TRY_CAST(f{place} AS DOUBLE)", f"': ' || CAST(f{place} AS VARCHAR)"
    return [RowProblem(f"{number} < 0 OR {number} > 1", f"{name!r} is not in [0, 1]", value)]


def scores_of(batch: Mapping[str, NDArray[Any]], k: int, input_: str) -> NDArray[np.float64]:
    """Return the scores of a batch as a matrix; rounded probabilities are divided by their sum."""
    values = np.column_stack([np.ma.getdata(batch[f"s{i}"]) for i in range(k)])
    if input_ == "probabilities" and k > 1:
        total = values.sum(axis=1, keepdims=True)
        values = np.where(np.abs(total - 1) > EXACT, values / total, values)
    return values
