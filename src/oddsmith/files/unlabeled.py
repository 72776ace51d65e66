"""Read the scores of a file that a model reads, without labels."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from oddsmith._types import Floats
from oddsmith.files._engine import Progress, translate_errors
from oddsmith.files.adding import stage
from oddsmith.files.applying import choose_model_columns
from oddsmith.files.inputs import score_inputs, scores_of
from oddsmith.files.source import ScoreFile
from oddsmith.frames import BadRowPolicy, BadRows
from oddsmith.model import Model

__all__ = ["read_unlabeled"]


def read_unlabeled(
    file: ScoreFile,
    model: Model,
    scores: Sequence[str] = (),
    *,
    bad_rows: BadRowPolicy = "refuse",
    progress: Progress | None = None,
) -> tuple[Floats, BadRows | None, str]:
    """Return the rows that a model reads, shape (n, columns), the rows left out, and what was guessed.

    Parameters
    ----------
    file : ScoreFile
    model : Model
    scores : sequence of str, optional
        Columns to read; by default those of the fit, or the one that is called like a score.
    bad_rows : {"refuse", "skip"}, default "refuse"
    progress : callable, optional
        Called with the share that is done, from 0 to 1.

    Returns
    -------
    tuple[ndarray, BadRows or None, str]

    See Also
    --------
    read_table : With labels.
    """
    columns = choose_model_columns(file, replace(model, by=None, segments={}), scores)
    kind = model.map.input
    inputs = score_inputs(file, columns, kind)
    with translate_errors(file.name):
        dropped, _ = stage(file, inputs, [], bad_rows, progress)
        names = ", ".join(inputs.expressions)
        found = file.engine.connection.execute(f"SELECT {names} FROM staged WHERE problem IS NULL").fetchnumpy()
    return np.asarray(scores_of(found, len(inputs.expressions), kind)), dropped, columns.message
