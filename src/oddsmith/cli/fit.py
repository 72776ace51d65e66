"""``oddsmith fit``: from scored rows to a model file."""

import warnings
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from oddsmith.cli._input import CommandInput
    from oddsmith.cli._output import CommandOutput
    from oddsmith.data import ScoreRows, ScoreTable
    from oddsmith.metrics import Verdict
    from oddsmith.model import Model
    from oddsmith.report import MethodComparison, NextSteps

    Rows = TypeVar("Rows", ScoreTable, ScoreRows)

EXAMPLE = "oddsmith fit scores.csv -o model.json --score score --label label"

#: Segments that a warning names.
_SHOWN = 3

#: Segments with fewer rows are named in a warning.
_FEW_ROWS = 50


def fit(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write; '-' is standard output.")],
    columns: option.ScoreColumns,
    scores_are: option.ScoresAre = "auto",
    sample: option.RowLimit = None,
    seed: option.Seed = 0,
    method: option.MethodName = "auto",
    by: option.SegmentColumns = None,
    pool: Annotated[
        bool, typer.Option("--pool", help="With --by: one map, and shrunken effects of segments on its log-odds.")
    ] = False,
    groups: option.GroupColumn = None,
    keep_band: Annotated[
        bool, typer.Option("--keep-band", help="Store 95 % limits of the true P at each score, for apply --limits.")
    ] = False,
    rows: option.RowOptions,
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Fit a calibrator to scores and labels, and write it to a model file.

    Several classes: `oddsmith fit classes.csv -o model.json --scores 'p_*' --label label`.
    """
    from oddsmith import _check
    from oddsmith.cli._input import CommandInput, refuse_options
    from oddsmith.cli._output import CommandOutput, writable_file
    from oddsmith.files import replacing

    out = CommandOutput(quiet=quiet, as_json=as_json, output=output)
    source = CommandInput(columns, rows, scores_are, sample, seed, groups, by, fits=True)
    if by is not None and groups is not None:
        hint = "leave out --groups, and judge each segment by oddsmith evaluate --groups"
        _check.fail("--groups must not be combined with --by", f"--groups {groups} --by {by}", hint)
    if pool and by is None:
        _check.fail("--pool must go with --by", "--pool alone", "name the columns: --by country,device")
    if pool and keep_band:
        got, hint = "--pool --keep-band", "leave one of them out"
        _check.fail("--keep-band must not be combined with --pool, which moves P in each segment", got, hint)
    with writable_file(output, ".json") as target, replacing(target, force=force, sources=source.files) as unfinished:
        model: Model
        if source.several:
            refuse_options("the scores of two classes", pool=pool or None, keep_band=keep_band or None)
            model, content, told = _fit_classes(out, source, method)
        else:
            model, content, told = _fit_two_classes(out, source, method, pool=pool, keep_band=keep_band)
        model.save(unfinished)
    content = {"model": str(output), "method": model.method, **content}
    out.result(content, f"{model.method} fitted {told}, written to {output}\n{content['verdict']}")


def _fit_two_classes(
    out: "CommandOutput", source: "CommandInput", method: str, *, pool: bool, keep_band: bool
) -> tuple["Model", dict[str, Any], str]:
    """Fit a method to two classes; return the model, its description, and what it was fitted to."""
    from oddsmith.calibrators import Calibrator, find_method, fit_method
    from oddsmith.errors import OddsmithWarning
    from oddsmith.metrics import verdict

    chosen = find_method(method, 2, "--method")
    if isinstance(chosen, Calibrator):
        chosen.set_params(input=source.meaning, keep_band=keep_band)
    data, roles = source.read_scores(out)
    by = roles.by
    if source.meaning == "probability":
        _refuse_certain(data.table)

    def fit_to(table: "ScoreTable") -> "Model":
        meaning = source.meaning
        if meaning == "score" and not _within_unit(data.table) and _within_unit(table):
            meaning = "log_odds"  # what the scores of all rows are not: probabilities
        return fit_method(replace(table, labels=data.labels, meaning=meaning), chosen)

    _refuse_row_names(by, len(data.segments), data.table.rows)
    with out.waiting("Fitting"), out.show_warnings():
        model = replace(fit_to(data.table), column_names=(roles.score,))
        groups = data.segments if source.groups else None
        judged = verdict(data.table, input=source.meaning, groups=groups)
    terms: list[dict[str, Any]] = []
    if by and pool:
        from oddsmith.pooling import PooledCalibrator

        with out.waiting("Fitting segments"), warnings.catch_warnings():
            warnings.simplefilter("ignore", OddsmithWarning)  # shown for all rows
            tables = {
                name: replace(table, labels=data.labels, meaning=source.meaning)
                for name, table in data.segments.items()
            }
            pooled = PooledCalibrator(by, chosen, random_state=source.seed).fit_tables(tables)
        terms = [term.to_dict() for term in pooled.terms_]
        model = replace(pooled.model_, column_names=(roles.score,))
    elif by:
        model = _with_segments(out, model, by, data.segments, fit_to)
    content = {
        "rows": data.table.rows,
        "prevalence": data.table.prevalence,
        "segments": len(data.segments) if terms else len(model.segments),
        **({"terms": terms} if terms else {}),
        "warnings": list(model.warnings),
        "verdict": _verdict(judged, source.next_steps(roles, data.labels)),
    }
    over = f", {content['segments']} segments" if by else ""
    return model, content, f"to {data.table.rows:,} rows{over}{_spread(terms)}"


def _within_unit(table: "ScoreTable") -> bool:
    low, high = table.span()
    return low >= 0 and high <= 1


def _refuse_row_names(by: "Sequence[str]", segments: int, rows: int) -> None:
    """Refuse columns of segments that name rows."""
    from oddsmith import _check

    if by and segments == rows > 1:
        got = f"{', '.join(map(repr, by))}, with {rows:,} values in as many rows"
        _check.fail("--by must name a column that groups rows", got, "choose another column, or leave --by out")


def _with_segments(
    out: "CommandOutput",
    model: "Model",
    by: "Sequence[str]",
    segments: "Mapping[Any, Rows]",
    fitted_to: "Callable[[Rows], Model]",
) -> "Model":
    """Return a model with one fitted to each segment, and print their warnings once for all segments that share one."""
    from oddsmith.errors import OddsmithWarning

    parts, found = {}, defaultdict[str, list[str]](list)
    with out.progress("Fitting segments") as progress:
        for done, (name, rows) in enumerate(segments.items()):
            progress(done / len(segments))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OddsmithWarning)  # the model holds them
                parts[name] = replace(fitted_to(rows), column_names=None)
            for text in parts[name].warnings:
                found[f"{parts[name].method}: {text}"].append(name)
    for text, names in found.items():
        out.warn(f"{_segments(names)}: {text}")
    if few := [name for name, part in parts.items() if part.data is None or part.data.rows < _FEW_ROWS]:
        out.warn(f"{_segments(few)}: fewer than {_FEW_ROWS} rows; the map of all rows may forecast better there")
    return model.with_segments(by[0] if len(by) == 1 else by, parts)


def _spread(terms: list[dict[str, Any]]) -> str:
    """Return by how much segments differ, in words."""
    found = [
        f"{' x '.join(term['columns'])} {term['offset_sd']:.2f}"
        + (f" (slopes {term['slope_sd']:.2f})" if term["slope_sd"] else "")
        for term in terms
    ]
    return f"; standard deviations of their log-odds: {', '.join(found)}" if found else ""


def _fit_classes(out: "CommandOutput", source: "CommandInput", method: str) -> tuple["Model", dict[str, Any], str]:
    """Fit a method to several classes; return what `_fit_two_classes` does."""
    from oddsmith.calibrators import Calibrator, find_method, fit_method
    from oddsmith.errors import InvalidInputError
    from oddsmith.metrics import verdict
    from oddsmith.report import compare_methods

    chosen = find_method(method, 3, "--method")
    data = source.read_classes(out, tables=isinstance(chosen, Calibrator))
    with out.waiting("Fitting"), out.show_warnings() as found:
        model = fit_method(data.rows, chosen, tables=data.tables)
        judged = verdict(data.rows, groups=data.groups)
    model, by = replace(model, warnings=tuple(dict.fromkeys(found))), source.roles.by
    if data.groups is not None and model.verdict:
        # The method measured its gain on single rows that it held out, with other rows of their groups in the fit.
        try:
            compared = compare_methods(data.rows, {method: chosen}, groups=data.groups, random_state=source.seed)
            model = replace(model, verdict=_gain_over_groups(judged, compared))
        except InvalidInputError as reason:
            model = replace(model, verdict=f"The gain is not known: {reason}")
    if by:
        _refuse_row_names(by, len(data.segments), data.rows.n_rows)
        model = _with_segments(out, model, by, data.segments, lambda rows: fit_method(rows, chosen))
    assert model.data is not None
    content = {
        "input": model.map.input,
        "rows": model.data.rows,
        "rows_in_file": data.total,
        "classes": {str(label): n for label, n in zip(model.labels, model.data.weights, strict=True)},
        "segments": len(model.segments),
        "warnings": list(model.warnings),
        "verdict": _verdict(judged, source.class_next_steps()),
    }
    used = data.total if data.tables is not None else data.rows.n_rows
    sampled = f" (a sample of {data.total:,})" if used < data.total else ""
    each = "to each class against the rest " if model.map.shape == "one_vs_rest" else ""
    over = f", {len(model.segments)} segments" if by else ""
    return model, content, f"{each}to {used:,} rows{sampled} of {len(model.labels)} classes{over}"


def _gain_over_groups(judged: "Verdict", found: "MethodComparison") -> str:
    """Return what calibrating brought on groups that were held out whole."""
    before, after, gain = found.advice.before, found.advice.after, found.advice.gain
    outcome = "calibrating was worth it" if gain.low > 0 else "no clear difference from the uncalibrated scores"
    words = (
        f"In {found.n_folds} folds of whole groups the log-loss went from {before:.4f} to {after:.4f} (gain "
        f"{gain.mean:.4f}, 95 % interval {gain.low:.4f} to {gain.high:.4f})"
    )
    return f"{judged.words} {words}." if judged.comes_first else f"{words}: {outcome}."


def _refuse_certain(table: "ScoreTable") -> None:
    """Refuse probabilities whose log-odds are infinite."""
    from oddsmith import _check

    certain = (table.scores == 0) | (table.scores == 1)
    if certain.any():
        rows = (table.pos + table.neg)[certain].sum()
        _check.fail(
            "--scores-are probability is for scores strictly between 0 and 1, whose log-odds are finite",
            f"{rows:,.6g} rows of exactly 0 or 1",
            "leave --scores-are out, or pass the classifier's log-odds",
        )


def _verdict(judged: "Verdict", steps: "NextSteps") -> str:
    """Return the verdict on the scores before they were calibrated, and what to do first."""
    step = f" Next: {steps.if_reversed}" if judged.kind == "reversed" else ""
    return f"Before calibration: {judged.words}{step}"


def _segments(names: list[str]) -> str:
    """Name segments, of many the first ones."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return (
        f"segment {shown}" if len(names) == 1 else f"{len(names):,} segments ({shown}{', …' * (len(names) > _SHOWN)})"
    )
