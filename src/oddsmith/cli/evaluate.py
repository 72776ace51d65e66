"""``oddsmith evaluate``: how good probabilities are."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from oddsmith._types import Floats
    from oddsmith.cli._input import CommandInput
    from oddsmith.cli._output import CommandOutput
    from oddsmith.table import ScoreTable

EXAMPLE = "oddsmith evaluate predictions.csv --probability p --label label"

#: Columns of a terminal in which definitions have room.
_ROOMY = 110

_LEVEL = 0.05

#: Bootstrap samples of the intervals, for two classes and for several.
_SAMPLES, _CLASS_SAMPLES = 1000, 400

#: Classes that are shown.
_WORST = 10

#: Errors of several classes that a perfect forecast has by chance alone.
_ERRORS = ("top_label_calibration_error", "classwise_calibration_error")


def evaluate(
    *,
    columns: option.ProbabilityColumns,
    scores_are: option.ClassScoresAre = "auto",
    sample: option.RowLimit = None,
    seed: option.Seed = 0,
    rows: option.RowOptions,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Evaluate probabilities: measures with intervals, tests of calibration, and a reliability diagram.

    Several classes: `oddsmith evaluate classes.csv --scores 'p_*' --label label`; of logits the softmax is evaluated.
    """
    import numpy as np

    from oddsmith.cli._curve import bars, curve
    from oddsmith.cli._input import CommandInput
    from oddsmith.cli._output import CommandOutput, print_text

    out = CommandOutput(quiet=quiet, as_json=as_json)
    source = CommandInput(columns, rows, scores_are, sample, seed)
    content, told = (_evaluate_classes if source.several else _evaluate)(out, source)

    def show(console: "Console") -> None:
        for text in told.head:
            print_text(console, text)
        for table in _tables(content, console.width >= _ROOMY, classes=source.several):
            console.print(table)
        if source.several:
            console.print(_worst_classes(content))
        print_text(console, f"\n{told.diagram}, in bins of equal weight:")
        ends, width = np.array([0.0, 1.0]), min(50, console.width - 6)
        dots = list(zip(told.points["mean_predicted"], told.points["fraction_positive"], strict=True))
        console.print(curve(ends, ends, points=dots, width=width, height=width // 3))
        if told.heights is not None:
            console.print(f"cases{bars(told.heights, width)}\n")
        for text in told.tail:
            print_text(console, text)

    out.result(content, show)


class _Told(NamedTuple):
    """What is said above the tables, of the diagram, and below it."""

    head: list[str]
    diagram: str
    points: dict[str, Any]
    heights: "Floats | None"
    tail: list[str]


def _evaluate(out: "CommandOutput", source: "CommandInput") -> tuple[dict[str, Any], _Told]:
    """Evaluate what is said of two classes."""
    import numpy as np

    from oddsmith.metrics import reliability_curve, summary
    from oddsmith.metrics.result import plain

    forecast, data, roles = source.read_forecast(out)
    with out.show_warnings(), out.waiting("Resampling"):
        found = summary(forecast, n_resamples=_SAMPLES, random_state=source.seed, distinct=data.distinct)
    points = plain(reliability_curve.of(forecast, n_bins=10, bins="mass"))
    counts, heights = reliability_curve.of(forecast, n_bins=20), np.zeros(20)
    heights[np.round(20 * counts.low).astype(int)] = counts.weight
    warning = _warning(forecast, data.labels)
    verdict = _verdict(found, warning, source.next_steps(roles, data.labels).fit("auto"))
    seen, cells = found["data"], found["data"]["cells"]
    on = "" if cells is None else f"; measured on {cells:,} cells of neighboring probabilities"
    what = f"{seen['rows']:,} rows, {seen['prevalence']:.2%} positive, {data.distinct:,} distinct probabilities{on}"
    head = [f"{warning}\n", what] if warning else [what]
    diagram = "Observed share of positives (o) by predicted probability"
    content = {**found, "warning": warning, "verdict": verdict, "reliability": points}
    return content, _Told(head, diagram, points, heights, [verdict])


def _evaluate_classes(out: "CommandOutput", source: "CommandInput") -> tuple[dict[str, Any], _Told]:
    """Evaluate what is said of several classes."""
    from oddsmith.metrics import evaluate_classes

    data = source.read_classes(out)
    with out.show_warnings(), out.waiting("Resampling"):
        found = evaluate_classes(data.rows, random_state=source.seed, n_resamples=_CLASS_SAMPLES)
    unsure = next((note for note in found["notes"] if note.startswith("Cannot tell")), "")
    verdict = _verdict(found, unsure, source.class_next_steps().fit("auto"))
    of = "" if data.rows.input == "probabilities" else ", the softmax of logits"
    head = [f"{data.rows.n_rows:,} rows of {len(data.rows.labels):,} classes{of}"]
    diagram = "Share of right decisions (o) by the probability of the decision"
    content = {**found, "rows_in_file": data.total, "verdict": verdict}
    return content, _Told(head, diagram, found["top_label"]["curve"], None, [*found["notes"], verdict])


def _worst_classes(found: dict[str, Any]) -> "Table":
    """Return the classes whose mean probability is farthest from their share."""
    from oddsmith.cli._output import table_of
    from oddsmith.report.wording import figure, p_value

    ordered = sorted(found["classes"].items(), key=lambda item: -abs(item[1]["gap"]["value"] or 0.0))
    more = len(ordered) - _WORST
    told = f"the {_WORST} with the largest |mean P − share|; {more:,} more with --json"
    rows = []
    for name, one in ordered[:_WORST]:
        figures = map(figure, (one["share"], one["mean_probability"], one["calibration_error"]["value"]))
        p = "–" if one["p_holm"] is None else p_value({"p_value": one["p_holm"]})
        rows.append([name, f"{one['cases']:,.6g}", *figures, p])
    titles = ["cases", "share", "mean P", "ECE", "p (Holm)"]
    return table_of(["class"], titles, rows, caption=told if more > 0 else None)


def _warning(forecast: "ScoreTable", labels: tuple[Any, Any]) -> str:
    """Say what makes every figure below it moot: too few cases, or probabilities that do not rank; empty where none."""
    from oddsmith.cli._input import other_label
    from oddsmith.metrics.enough import few_cases, too_few
    from oddsmith.report.signal import Signal
    from oddsmith.table.resample import rows_by_class

    cases = rows_by_class(forecast)
    signal = Signal.of(forecast) if min(cases) > 0 else None
    if signal is None or (signal.kind != "reversed" and too_few(*cases)):
        return f"Cannot tell much: {few_cases(*cases)}."
    other = other_label(labels)
    swap = "" if other is None else f", or pass --positive {other}"
    repair = f" Take 1 − p{swap}." if signal.kind == "reversed" else ""
    return signal.words("probability") + repair


def _verdict(found: dict[str, Any], warning: str, fit: str) -> str:
    """Say whether tests refute calibration, or an error is larger than chance explains; and what to do about it."""
    from oddsmith.metrics import holm
    from oddsmith.report.titles import title_of
    from oddsmith.report.wording import figure

    known = {name: float(test["p_value"]) for name, test in found["tests"].items() if "reason" not in test}
    if not known:
        return "No test of calibration can be made of these data."
    corrected = zip(known, holm(list(known.values())).tolist(), strict=True)
    refuted = [title_of(name) for name, p in corrected if p < _LEVEL]
    among = f"at the {_LEVEL:.0%} level, corrected for {len(known)} tests"
    errors = [(name, found["measures"].get(name, {})) for name in _ERRORS]
    beyond = [
        f"the {title_of(name, classes=True)} is {figure(one['value'])}, above {figure(one['consistency'][1])}, "
        "the most that chance gives 95 % of perfect forecasts"
        for name, one in errors
        if "consistency" in one and one["value"] > one["consistency"][1]
    ]
    if refuted:
        told = f"Not calibrated: refuted {among}, by {', '.join(refuted)}."
    elif beyond:
        told = f"Tests refute nothing, but {'; '.join(beyond)}."
    else:
        few = "; so few cases refute little" if warning.startswith("Cannot tell") else ""
        return f"Nothing refutes calibration {among}{few}."
    return told if warning else f"{told} Next: {fit}"


def _tables(found: dict[str, Any], roomy: bool, *, classes: bool = False) -> Iterator["Table"]:
    """Return the measures and the tests of calibration, with definitions where there is room."""
    from rich.table import Table

    from oddsmith.report.wording import bias_explained, figure, rows_of_measures, rows_of_tests

    measures, tests = list(rows_of_measures({"": found}, classes=classes)), list(rows_of_tests({"": found}))
    lines = [row["cells"][0]["lines"] for row in measures]
    values = [[figure(row["cells"][0]["value"]), "\n".join(line)] for row, line in zip(measures, lines, strict=True)]
    p_values = [row["p_values"] for row in tests]
    for rows, cells, titles, caption in (
        (measures, values, ("measure", "value", "95 % interval", "definition"), bias_explained(lines)),
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
