"""Columns of probabilities, as new columns are computed from them."""

from collections.abc import Sequence

from oddsmith import _check
from oddsmith.files.adding import InputColumns
from oddsmith.files.bad_rows import RowProblem, problems_of
from oddsmith.files.class_columns import ClassColumns
from oddsmith.files.class_reading import distribution_problems
from oddsmith.files.columns import listed
from oddsmith.files.source import ScoreFile

__all__ = ["class_probability_inputs", "probability_inputs"]


def probability_inputs(file: ScoreFile, columns: Sequence[str]) -> InputColumns:
    """Return columns of P(positive class) as s0 and so on; each must lie in [0, 1]."""
    found, inputs = list(columns), _inputs(file, columns)
    for i, name in enumerate(found):
        number = f"TRY_CAST(f{i} AS DOUBLE)"
        value = f"': ' || CAST(f{i} AS VARCHAR)"
        inputs.problems.append(RowProblem(f"{number} < 0 OR {number} > 1", f"{name!r} is not in [0, 1]", value))
    return inputs


def class_probability_inputs(file: ScoreFile, groups: Sequence[Sequence[str]]) -> InputColumns:
    """Return columns of several classifiers, each with one probability per class, as s0 and so on."""
    inputs = _inputs(file, [name for group in groups for name in group])
    for start in range(0, len(inputs.kept), len(groups[0])):
        inputs.problems.extend(distribution_problems(len(groups[0]), start))
    return inputs


def _inputs(file: ScoreFile, columns: Sequence[str]) -> InputColumns:
    if len(set(columns)) < len(columns):
        _check.fail("columns must differ", listed(columns), "name each once")
    roles = ClassColumns(tuple(columns), tuple(range(len(columns))), None, None, "")
    kept = {f"s{i}": f"TRY_CAST(f{i} AS DOUBLE)" for i in range(len(columns))}
    return InputColumns(roles, problems_of(file, roles), kept)
