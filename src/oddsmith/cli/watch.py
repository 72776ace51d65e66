"""``oddsmith watch``: whether a model's probabilities still hold, as labels arrive."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from oddsmith.cli import _options as option
from oddsmith.cli._exit import CHECK_FAILED

EXAMPLE = "oddsmith watch model.json labeled.jsonl --state watch.json"


def watch(
    *,
    model: option.ModelFile,
    file: option.ScoresFile,
    state: Annotated[
        Path, typer.Option("--state", help="File of the evidence so far; created by the first batch, then updated.")
    ],
    scores: option.ScoreNames = None,
    label: option.LabelColumn = None,
    weight: Annotated[
        str | None, typer.Option("--weight", "-w", help="Column of counts: whole numbers, how often a row was seen.")
    ] = None,
    positive: option.Positive = None,
    by: Annotated[
        str | None, typer.Option("--by", help="Column of segments, each with separate evidence. [default: as fitted]")
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            "--calibration",
            help="File of the rows of the fit, for the error of the model. [default: a fit to as many rows, "
            "with scores as in the first batch]",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option("--alpha", help="Probability of any false alarm. [default: 0.05]"),
    ] = None,
    batch: Annotated[
        str | None, typer.Option("--batch", help="Name of the batch, which counts once. [default: by file and scores]")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="Write an HTML page with the course of the evidence.")
    ] = None,
    bad_rows: option.BadRowsOption = "refuse",
    text: option.TextOptions,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Count rows whose labels have arrived, and test whether P is still calibrated: exit code 1 on alarm.

    The guarantee is over the whole run: for any number of calls, a model that is still calibrated raises an alarm
    with probability alpha at most. The same batch counts once, so a job may be run again.
    """
    from oddsmith import _check
    from oddsmith.cli._input import class_rows, model_table, segments_in
    from oddsmith.cli._output import CommandOutput
    from oddsmith.files import write_atomically
    from oddsmith.model import load
    from oddsmith.monitor import Monitor
    from oddsmith.monitor import page as page_of

    out = CommandOutput(quiet=quiet, as_json=as_json)
    fitted = load(model)
    segments = segments_in(by, fitted)
    if not fitted.has_one_score and segments is not None:
        _check.fail("files of several classes have no segments", f"--by {by}", "leave --by out, or split the file")
    columns: dict[str, Any] = {"scores": scores, "label": label, "positive": positive}

    def rows(path: str, segments: Any = None, **chosen: Any) -> Any:
        if not fitted.has_one_score:
            return class_rows(out, path, fitted, scores or (), label, **chosen)
        data = model_table(out, path, fitted, **columns, by=segments, **chosen)
        return data.table if segments is None else data.segments

    fit_rows = None if calibration is None else rows(str(calibration))
    with out.show_warnings():
        if state.exists():
            monitor = Monitor.load(state, fitted, calibration=fit_rows)
            if alpha is not None and alpha != monitor.alpha:
                _check.fail("--alpha must be that of the state", f"{alpha:g}, not {monitor.alpha:g}", "leave it out")
        else:
            level = 0.05 if alpha is None else alpha
            monitor = Monitor(fitted, calibration=fit_rows, alpha=level, by_segment=segments is not None)
    data = rows(file, segments, weight=weight, bad_rows=bad_rows, text=text.text)
    name = f"{Path(file).name} {_digest_without_labels(data)}" if batch is None else batch
    before = monitor.result().batches
    found = monitor.update_table(data, batch=name)
    if found.batches == before:
        out.remark(f"Batch {name} was counted before.")
    monitor.save(state)
    if page is not None:
        write_atomically(page, page_of(monitor), force=True, sources=[state, model])
    out.result({"state": str(state), **found.to_dict()}, str(found))
    if found.alarm:
        raise typer.Exit(CHECK_FAILED)


def _digest_without_labels(data: Any) -> str:
    """Return a short hash of scores: a batch whose labels have changed keeps its name, and is refused."""
    import hashlib

    import numpy as np

    from oddsmith.data import ScoreRows
    from oddsmith.model import table_hash

    if isinstance(data, ScoreRows):
        return hashlib.sha256(np.ascontiguousarray(data.values).data).hexdigest()[:8]
    first, *others = data.values() if isinstance(data, dict) else (data,)
    table = first.merge(*others)
    return table_hash(replace(table, pos=np.zeros_like(table.pos), neg=table.total))[:8]
