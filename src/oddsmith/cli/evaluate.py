"""``oddsmith evaluate``: how good probabilities are."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from oddsmith.cli._classes import ClassOptions
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
    file: option.ScoresFile,
    probability: option.ProbabilityColumn = None,
    label: option.LabelColumn = None,
    weight: option.WeightColumn = None,
    positive: option.Positive = None,
    scores: option.ClassColumnNames = None,
    classes: option.Classes = None,
    labels: option.LabelsFile = None,
    scores_are: option.ClassScoresAre = "auto",
    sample: option.RowLimit = None,
    seed: option.Seed = 0,
    bad_rows: option.BadRowsOption = "refuse",
    resolution: option.Resolution = "auto",
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Evaluate probabilities: measures with intervals, tests of calibration, and a reliability diagram.

    Several classes: `oddsmith evaluate classes.csv --scores 'p_*' --label label`; of logits the softmax is evaluated.
    """
    import numpy as np

    from oddsmith.cli._classes import ClassOptions, are_several, refuse_class_options, refuse_two_class_options
    from oddsmith.cli._curve import bars, curve
    from oddsmith.cli._input import next_steps, read_forecast
    from oddsmith.cli._output import CommandOutput, print_text
    from oddsmith.metrics import reliability_curve, summary
    from oddsmith.metrics.result import plain

    out = CommandOutput(quiet=quiet, as_json=as_json)
    if are_several(file, scores, probability):
        refuse_two_class_options(probability=probability, positive=positive)
        told = ClassOptions(tuple(scores or ()), classes, label, labels, weight, scores_are, bad_rows, sample, seed)
        _evaluate_classes(out, file, told)
        return
    refuse_class_options(classes=classes, labels=labels, sample=sample)
    forecast, data, roles = read_forecast(
        out,
        file,
        probability=probability,
        label=label,
        weight=weight,
        positive=positive,
        bad_rows=bad_rows,
        resolution=resolution,
    )
    with out.show_warnings(), out.waiting("Resampling"):
        found = summary(forecast, n_resamples=_SAMPLES, random_state=seed, distinct=data.distinct)
    points = reliability_curve.of(forecast, n_bins=10, bins="mass")
    counts = reliability_curve.of(forecast, n_bins=20)
    warning = _warning(forecast, data.labels)
    fit = next_steps(file, roles, data.labels, positive, bad_rows, resolution).fit("auto")
    verdict = _verdict(found["tests"], warning, fit)
    content = {**found, "warning": warning, "verdict": verdict, "reliability": plain(points)}

    def show(console: "Console") -> None:
        if warning:
            print_text(console, f"{warning}\n")
        rows, cells = found["data"]["rows"], found["data"]["cells"]
        on = "" if cells is None else f"; measured on {cells:,} cells of neighboring probabilities"
        share = f"{found['data']['prevalence']:.2%} positive"
        print_text(console, f"{rows:,} rows, {share}, {data.distinct:,} distinct probabilities{on}")
        for table in _tables(found, console.width >= _ROOMY):
            console.print(table)
        width = min(50, console.width - 6)
        ends, heights = np.array([0.0, 1.0]), np.zeros(20)
        heights[np.round(20 * counts.low).astype(int)] = counts.weight
        dots = list(zip(points.mean_predicted.tolist(), points.fraction_positive.tolist(), strict=True))
        print_text(console, "\nObserved share of positives (o) by predicted probability, in bins of equal weight:")
        console.print(curve(ends, ends, points=dots, width=width, height=width // 3))
        console.print(f"cases{bars(heights, width)}\n")
        print_text(console, verdict)

    out.result(content, show)


def _evaluate_classes(out: "CommandOutput", file: str, told: "ClassOptions") -> None:
    """Evaluate what is said of several classes."""
    import numpy as np

    from oddsmith.cli._classes import class_next_steps, read_classes
    from oddsmith.cli._curve import curve
    from oddsmith.cli._output import print_text
    from oddsmith.metrics import evaluate_classes

    data = read_classes(out, file, told, "probability")
    with out.show_warnings(), out.waiting("Resampling"):
        found = evaluate_classes(data.rows, random_state=told.seed, n_resamples=_CLASS_SAMPLES)
    unsure = next((note for note in found["notes"] if note.startswith("Cannot tell")), "")
    verdict = _class_verdict(found, unsure, class_next_steps(file, told).fit("auto"))
    content = {**found, "rows_in_file": data.total, "verdict": verdict}

    def show(console: "Console") -> None:
        of = "" if data.rows.input == "probabilities" else ", the softmax of logits"
        print_text(console, f"{data.rows.n_rows:,} rows of {len(data.rows.labels):,} classes{of}")
        for table in (*_tables(found, console.width >= _ROOMY, classes=True), _worst_classes(found)):
            console.print(table)
        points, ends = found["top_label"]["curve"], np.array([0.0, 1.0])
        dots = list(zip(points["mean_predicted"], points["fraction_positive"], strict=True))
        print_text(
            console, "\nShare of right decisions (o) by the probability of the decision, in bins of equal weight:"
        )
        width = min(50, console.width - 6)
        console.print(curve(ends, ends, points=dots, width=width, height=width // 3))
        for note in found["notes"]:
            print_text(console, note)
        print_text(console, verdict)

    out.result(content, show)


def _class_verdict(found: dict[str, Any], warning: str, fit: str) -> str:
    """Say whether tests refute calibration, or an error is larger than chance explains."""
    from oddsmith.report.titles import title_of
    from oddsmith.report.wording import figure

    told = _verdict(found["tests"], warning, fit)
    errors = {name: found["measures"][name] for name in _ERRORS}
    beyond = {
        name: one for name, one in errors.items() if "consistency" in one and one["value"] > one["consistency"][1]
    }
    if not told.startswith("Nothing refutes") or not beyond:
        return told
    parts = []
    for name, one in beyond.items():
        most = f"{figure(one['consistency'][1])}, the most that chance gives 95 % of perfect forecasts"
        parts.append(f"the {title_of(name, classes=True)} is {figure(one['value'])}, above {most}")
    return f"Tests refute nothing, but {'; '.join(parts)}." + ("" if warning else f" Next: {fit}")


def _worst_classes(found: dict[str, Any]) -> "Table":
    """Return the classes whose mean probability is farthest from their share."""
    from rich.table import Table

    from oddsmith.report.wording import figure, p_value

    ordered = sorted(found["classes"].items(), key=lambda item: -abs(item[1]["gap"]["value"] or 0.0))
    more = len(ordered) - _WORST
    told = f"the {_WORST} with the largest |mean P − share|; {more:,} more with --json"
    table = Table(caption=told if more > 0 else None)
    table.add_column("class", overflow="fold")
    for title in ("cases", "share", "mean P", "ECE", "p (Holm)"):
        table.add_column(title, justify="right")
    for name, one in ordered[:_WORST]:
        p = "–" if one["p_holm"] is None else p_value({"p_value": one["p_holm"]})
        figures = [
            figure(value) for value in (one["share"], one["mean_probability"], one["calibration_error"]["value"])
        ]
        table.add_row(name, f"{one['cases']:,.6g}", *figures, p)
    return table


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


def _verdict(tests: dict[str, Any], warning: str, fit: str) -> str:
    """Say whether the data refute calibration, and how to calibrate unless something else is wrong."""
    from oddsmith.metrics import holm
    from oddsmith.report.titles import title_of

    known = {name: float(test["p_value"]) for name, test in tests.items() if "reason" not in test}
    if not known:
        return "No test of calibration can be made of these data."
    corrected = dict(zip(known, holm(list(known.values())).tolist(), strict=True))
    refuted = [title_of(name) for name, p in corrected.items() if p < _LEVEL]
    among = f"at the {_LEVEL:.0%} level, corrected for {len(known)} tests"
    if not refuted:
        few = "; so few cases refute little" if warning.startswith("Cannot tell") else ""
        return f"Nothing refutes calibration {among}{few}."
    told = f"Not calibrated: refuted {among}, by {', '.join(refuted)}."
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
