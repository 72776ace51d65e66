"""A report in one call."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith.atomic import replacing
from oddsmith.calibrators import METHODS, SCALINGS
from oddsmith.data import Meaning, ScoreRows, ScoreTable
from oddsmith.metrics import class_columns
from oddsmith.report.render import to_html, to_json, to_markdown
from oddsmith.report.summary import summarize

__all__ = ["WRITERS", "write_report"]

#: How a report is written, by the end of the file's name.
WRITERS = {".html": to_html, ".htm": to_html, ".md": to_markdown, ".json": to_json}

#: Rows whose sums miss 1 by less are probabilities.
_SLACK = 1e-5


def write_report(
    y_true: ArrayLike,
    y_score: ArrayLike,
    path: str | os.PathLike[str],
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    methods: Mapping[str, Any] | None = None,
    input: Meaning = "score",
    name: str = "scores",
    sheet: Literal["clinical"] | None = None,
    random_state: int = 0,
    force: bool = False,
) -> dict[str, Any]:
    """Compare methods on probabilities or scores, and write the report to a file.

    The classifier must not have been trained on these rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    y_score : array-like of shape (n,) or (n, k)
        Probabilities or scores of the positive class, or a column per class: probabilities or logits.
    path : path
        Ends with .html, .md or .json.
    sample_weight : array-like of shape (n,), optional
        Integer-typed weights are counts, float weights importance weights.
    pos_label : object, optional
        The positive label.
    labels : array-like of shape (k,), optional
        Labels in the order of the columns; by default the sorted labels of ``y_true``.
    methods : mapping of str to method, optional
        Unfitted calibrators or joint scalings by name; by default all for this number of classes.
    input : {"score", "probability", "log_odds"}, default "score"
        What the scores mean uncalibrated. "score": probabilities where they lie in [0, 1], with several columns where
        rows sum to 1 too; else nothing known, with several columns logits.
    name : str, default "scores"
        What the report calls the data.
    sheet : {"clinical"}, optional
        For two classes also the `oddsmith.metrics.clinical_sheet` of the methods that are shown.
    random_state : int, default 0
        Seed of folds and intervals.
    force : bool, default False
        Whether to replace a file that exists.

    Returns
    -------
    dict
        The content of the report, from `summarize`.

    See Also
    --------
    compare_methods : The comparison alone.
    oddsmith.metrics.evaluate : The measures alone.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from oddsmith import PlattCalibrator
    >>> y, p = np.arange(200) % 2, (np.arange(200) * 0.618) % 1
    >>> with TemporaryDirectory() as folder:
    ...     write_report(y, p, f"{folder}/report.html", methods={"platt": PlattCalibrator()})["verdict"][:10]
    'The score '
    """
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        _check.fail("path must end in .html, .md or .json", repr(str(path)), "change the end of the name")
    _check.one_of(input, "input", ("score", "probability", "log_odds"))
    data: ScoreTable | ScoreRows
    if np.ndim(y_score) < 2 or np.shape(y_score)[1] < 2:
        data = ScoreTable.from_arrays(y_score, y_true, sample_weight, pos_label)
    else:
        data = _rows(y_true, y_score, sample_weight, labels, input)
    known = METHODS if isinstance(data, ScoreTable) else SCALINGS
    chosen = {each: make() for each, make in known.items()} if methods is None else methods
    with replacing(path, force=force) as page:
        content = summarize(
            data,
            chosen,
            name=name,
            sheet=sheet,
            random_state=random_state,
            input=input if isinstance(data, ScoreTable) else "score",
        )
        page.write_text(WRITERS[suffix](content), encoding="utf-8")
    return content


def _rows(
    y_true: ArrayLike,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None,
    labels: ArrayLike | None,
    input: Meaning,
) -> ScoreRows:
    values = _check.as_array(y_score, "y_score", (2,))
    truth, known = class_columns(y_true, values.shape, labels)
    sums_to_one = bool(np.all(values >= 0) and np.all(np.abs(values.sum(axis=1) - 1) <= _SLACK))
    if input == "score":
        input = "probability" if sums_to_one else "log_odds"
    if input == "probability":
        values = _check.as_distribution(values)
    names = tuple(known.tolist())
    weight = _check.as_weights(sample_weight, len(values))
    return ScoreRows(values, truth, names, weight, tuple(map(str, names)), input)
