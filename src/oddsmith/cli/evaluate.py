"""``oddsmith evaluate``: how good probabilities are."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from oddsmith._types import Floats
    from oddsmith.cli._input import CommandInput
    from oddsmith.cli._output import CommandOutput
    from oddsmith.data import ScoreRows, ScoreTable
    from oddsmith.metrics import Groups
    from oddsmith.report import NextSteps

EXAMPLE = "oddsmith evaluate predictions.csv --probability p --label label"

#: Columns of a terminal in which definitions have room.
_ROOMY = 110

#: Classes that are shown.
_WORST = 10

#: Measures that are shown before and after calibration, of two classes or of several.
_COMPARED = {
    "log_loss",
    "squared_error",
    "zero_one_error",
    "calibration_error",
    "top_label_calibration_error",
    "classwise_calibration_error",
    "calibration_slope",
    "roc_auc",
}

#: The default method, by which they are calibrated.
_DEFAULT = "auto"


def evaluate(
    *,
    columns: option.ProbabilityColumns,
    scores_are: option.ClassScoresAre = "auto",
    sample: option.RowLimit = None,
    seed: option.Seed = 0,
    groups: option.GroupColumn = None,
    by: option.ResultSegments = None,
    rows: option.RowOptions,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Evaluate probabilities: a verdict, measures with intervals, tests of calibration, and a reliability diagram.

    Some measures are shown before and after calibration by 'auto', each row by a fit to the other four of five folds.
    The probabilities of the file are "before", a model's as well; a file with one case of a class has no "after".

    Several classes: `oddsmith evaluate classes.csv --scores 'p_*' --label label`; of logits the softmax is evaluated.
    """
    import numpy as np

    from oddsmith.cli._curve import bars, curve
    from oddsmith.cli._input import CommandInput
    from oddsmith.cli._output import CommandOutput, print_text
    from oddsmith.cli._segments import refuse_groups

    out = CommandOutput(quiet=quiet, as_json=as_json)
    source = CommandInput(columns, rows, scores_are, sample, seed, groups, by)
    refuse_groups(source)
    content, told = (_of_rows if source.several else _of_table)(out, source)

    def show(console: "Console") -> None:
        for text in told.head:
            print_text(console, text)
        _print_before_and_after(console, content)
        for table in _tables(content, console.width >= _ROOMY):
            console.print(table)
        console.print(_worst_classes(content))
        if by is not None:
            console.print(_worst_segments(content["segments"], several=source.several))
        print_text(console, f"\n{told.diagram}, in bins of equal weight:")
        ends, width = np.array([0.0, 1.0]), min(50, console.width - 6)
        points = content["reliability"]
        dots = list(zip(points["mean_predicted"], points["fraction_positive"], strict=True))
        plain = console.options.ascii_only
        console.print(curve(ends, ends, points=dots, width=width, height=width // 3, ascii_only=plain))
        if told.heights is not None:
            console.print(f"cases{bars(told.heights, width, ascii_only=plain)}\n")
        for text in told.tail:
            print_text(console, text)

    out.result(content, show)


class _Told(NamedTuple):
    """Text above the tables, of the diagram, and below it."""

    head: list[str]
    diagram: str
    heights: "Floats | None"
    tail: list[str]


def _of_table(out: "CommandOutput", source: "CommandInput") -> tuple[dict[str, Any], _Told]:
    """Evaluate probabilities of two classes."""
    import numpy as np

    from oddsmith.cli._input import other_label
    from oddsmith.cli._segments import segments_of
    from oddsmith.maps import logit
    from oddsmith.metrics import FIRST, evaluate, reliability_curve

    forecast, data, roles = source.read_forecast(out)
    groups = {name: part.map(logit) for name, part in data.segments.items()} if source.groups else None
    segments = segments_of(source, data.segments, out)
    with out.show_warnings(), out.waiting("Resampling"):
        found = evaluate(forecast, random_state=source.seed, distinct=data.distinct, groups=groups)
        part = data.segments if source.groups else None
        found["calibrated"] = _calibrated(data.table, part, source.seed)
        by_segment = _by_segment({name: part.map(logit) for name, part in segments.items()})
    found["classes"][0]["label"] = data.labels[1]
    counts, heights = reliability_curve.of(forecast, n_bins=20), np.zeros(20)
    heights[np.round(20 * counts.low).astype(int)] = counts.weight
    other = other_label(data.labels)
    repair = "take 1 − p" + ("" if other is None else f", or pass --positive {other}")
    verdict = _verdict(found["judged"], source.of_other_rows().next_steps(roles, data.labels), repair)
    warning = verdict if found["judged"]["kind"] in FIRST else ""
    seen, cells = found["data"], found["data"]["cells"]
    on = "" if cells is None else f"; measured on {cells:,} cells of neighboring probabilities"
    what = f"{seen['rows']:,} rows, {seen['prevalence']:.2%} positive, {data.distinct:,} distinct probabilities{on}"
    head = [f"{verdict}\n", what]
    diagram = "Observed share of positives (o) by predicted probability"
    content = {**found, "warning": warning, "verdict": verdict}
    if source.by is not None:
        content["segments"] = by_segment
    return content, _Told(head, diagram, heights, found["notes"])


def _of_rows(out: "CommandOutput", source: "CommandInput") -> tuple[dict[str, Any], _Told]:
    """Evaluate probabilities of several classes."""
    from oddsmith.cli._segments import segments_of
    from oddsmith.metrics import FIRST, evaluate

    data = source.read_classes(out)
    segments = segments_of(source, data.segments, out)
    with out.show_warnings(), out.waiting("Resampling"):
        found = evaluate(data.rows, random_state=source.seed, groups=data.groups)
        found["calibrated"] = _calibrated(data.rows, data.groups, source.seed)
        by_segment = _by_segment(segments)
    steps = source.of_other_rows().class_next_steps()
    verdict = _verdict(found["judged"], steps, steps.if_reversed)
    warning = verdict if found["judged"]["kind"] in FIRST else ""
    of = "" if data.rows.input == "probabilities" else ", the softmax of logits"
    what = f"{data.rows.n_rows:,} rows of {len(data.rows.labels):,} classes{of}"
    head = [f"{verdict}\n", what]
    diagram = "Share of right decisions (o) by the probability of the decision"
    facts = {"input": data.rows.input, "rows_in_file": data.total}
    content = {**found, "data": found["data"] | facts, "warning": warning, "verdict": verdict}
    if source.by is not None:
        content["segments"] = by_segment
    return content, _Told(head, diagram, None, found["notes"])


def _calibrated(data: "ScoreTable | ScoreRows", groups: "Groups | None", seed: int) -> dict[str, Any]:
    """Return the measures after calibration by the default on held-out folds, or the reason for none."""
    from oddsmith.cli._input import class_methods, table_methods
    from oddsmith.data import ScoreTable
    from oddsmith.errors import InvalidInputError
    from oddsmith.metrics import evaluate
    from oddsmith.report import compare_methods

    methods = (table_methods if isinstance(data, ScoreTable) else class_methods)([_DEFAULT])
    try:
        compared = compare_methods(data, methods, random_state=seed, input="probability", groups=groups)
        after = compared.held_out_forecast(_DEFAULT)
        measures = evaluate(after, intervals=False, groups=compared.groups(_DEFAULT))["measures"]
    except InvalidInputError as reason:
        return {"reason": str(reason)}
    advice = compared.to_dict()["advice"]
    return {
        "method": _DEFAULT,
        "folds": compared.n_folds,
        "gain": advice["gain"],
        "words": compared.advice.change,
        "measures": measures,
    }


def _print_before_and_after(console: "Console", found: dict[str, Any]) -> None:
    """Print measures before and after calibration."""
    from oddsmith.cli._output import print_text, table_of
    from oddsmith.report import figure, rows_of_measures

    after = found["calibrated"]
    if "reason" in after:
        print_text(console, f"No measures after calibration: {after['reason']}\n")
        return
    compared = {
        when: part | {"measures": {name: one for name, one in part["measures"].items() if name in _COMPARED}}
        for when, part in (("before", found), ("after", found | after))
    }
    rows = [[row["title"], *(figure(cell["value"]) for cell in row["cells"])] for row in rows_of_measures(compared)]
    console.print(table_of(["measure"], list(compared), rows))
    print_text(console, f"After calibration by {_DEFAULT}, in {after['folds']} folds, {after['words']}.\n")


def _by_segment(segments: "Mapping[str, ScoreTable | ScoreRows]") -> list[dict[str, Any]]:
    """Return the figures of each segment, those whose mean probability is surely farthest from its share first.

    Of several classes probability and share are those of the decision: its confidence and its accuracy.
    """
    from oddsmith.cli._segments import distance_from_zero
    from oddsmith.data import ScoreTable
    from oddsmith.metrics import evaluate, forecast_of, holm

    found = []
    for name, part in segments.items():
        one = evaluate(part, intervals=False)
        forecast = part if isinstance(part, ScoreTable) else forecast_of(part).of_top_label()
        decided = one if forecast is part else evaluate(forecast, intervals=False)
        kept = {key: one[key] for key in ("data", "measures", "tests", "judged")}
        found.append({"segment": name, **decided["classes"][0], **kept})
    known = [one for one in found if one["p_value"] is not None]
    for one, p_holm in zip(known, holm([one["p_value"] for one in known]).tolist() if known else [], strict=True):
        one["p_holm"] = p_holm
    return sorted(found, key=lambda one: distance_from_zero(one["gap"]), reverse=True)


def _worst_segments(found: list[dict[str, Any]], *, several: bool) -> "Table":
    """Return the segments, the worst first."""
    from oddsmith.cli._output import table_of
    from oddsmith.cli._segments import SHOWN, caption_of
    from oddsmith.report import figure, p_value

    rows = []
    for one in found[:SHOWN]:
        gap, error, loss = one["gap"], one["calibration_error"], one["measures"]["log_loss"]
        ends = gap["interval"]
        interval = f"[{figure(ends['low'])}, {figure(ends['high'])}]" if "low" in ends else "–"
        p = "–" if one["p_holm"] is None else p_value({"p_value": one["p_holm"]})
        figures = (one["share"], one["mean_probability"], gap["value"])
        values = (loss.get("value"), error.get("value"))
        row = [one["segment"], f"{one['data']['rows']:,}", *map(figure, figures), interval, *map(figure, values), p]
        rows.append(row)
    names = ("accuracy", "confidence", "− accuracy") if several else ("share", "mean P", "− share")
    titles = ["rows", *names, "95 % interval", "log-loss", "ECE", "p (Holm)"]
    return table_of(["segment"], titles, rows, caption=caption_of(len(found), "the worst first"))


def _worst_classes(found: dict[str, Any]) -> "Table":
    """Return the classes whose mean probability is farthest from their share."""
    from oddsmith.cli._output import table_of
    from oddsmith.report import figure, p_value

    ordered = sorted(found["classes"], key=lambda one: -abs(one["gap"]["value"] or 0.0))
    more = len(ordered) - _WORST
    told = f"the {_WORST} with the largest |mean P − share|; {more:,} more with --json"
    rows = []
    for one in ordered[:_WORST]:
        figures = map(figure, (one["share"], one["mean_probability"], one["calibration_error"]["value"]))
        p = "–" if one["p_holm"] is None else p_value({"p_value": one["p_holm"]})
        rows.append([str(one["label"]), f"{one['cases']:,.6g}", *figures, p])
    single = len(ordered) == 1
    titles = ["cases", "share", "mean P", "ECE", "p" if single else "p (Holm)"]
    return table_of(["positive class" if single else "class"], titles, rows, caption=told if more > 0 else None)


def _verdict(judged: dict[str, Any], steps: "NextSteps", if_reversed: str) -> str:
    """Return the verdict and what to do about it. These rows are held out: nothing is to be fitted to them."""
    step = {
        "reversed": f" Next: {if_reversed}",
        "miscalibrated": f" Next: fit a calibrator to other rows, and apply it to these: {steps.fit('auto')}",
        "slight": " Calibrating is optional.",
        "calibrated": " The probabilities can be used as they are.",
    }
    kind = "miscalibrated" if judged["kind"] == "impossible" else judged["kind"]
    return f"{judged['words']}{step.get(kind, '')}"


def _tables(found: dict[str, Any], roomy: bool) -> Iterator["Table"]:
    """Return the measures and the tests of calibration, with definitions where there is room."""
    from rich.table import Table

    from oddsmith.report import explain_bias, figure, rows_of_measures, rows_of_tests

    measures, tests = list(rows_of_measures({"": found})), list(rows_of_tests({"": found}))
    lines = [row["cells"][0]["lines"] for row in measures]
    values = [[figure(row["cells"][0]["value"]), "\n".join(line)] for row, line in zip(measures, lines, strict=True)]
    p_values = [row["p_values"] for row in tests]
    for rows, cells, titles, caption in (
        (measures, values, ("measure", "value", "95 % interval", "definition"), explain_bias(lines)),
        (tests, p_values, ("test of calibration", "p-value", "statistic"), ""),
    ):
        table = Table(caption=caption or None)
        table.add_column(titles[0], overflow="fold")
        for title in titles[1:-1]:
            table.add_column(title, justify="right", no_wrap=title.endswith("value"))
        if roomy:
            table.add_column(titles[-1], style="dim")
        for row, cell in zip(rows, cells, strict=True):
            table.add_row(row["title"], *cell, *([row["definition"]] if roomy else []))
        yield table
