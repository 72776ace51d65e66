"""``oddsmith evaluate``: how good probabilities are."""

from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from oddsmith.cli import _input as read
from oddsmith.cli._curve import bars, curve
from oddsmith.cli._output import AsJson, Quiet, Voice, say
from oddsmith.metrics import holm, reliability_curve, summary
from oddsmith.metrics.result import plain
from oddsmith.report.advice import few_cases, too_few
from oddsmith.report.signal import Signal
from oddsmith.report.titles import title_of
from oddsmith.report.wording import BIAS, figure, interval_lines, p_value
from oddsmith.table import ScoreTable
from oddsmith.table.resample import rows_by_class

#: Columns of a terminal in which definitions have room.
_ROOMY = 110

_LEVEL = 0.05

#: Bootstrap samples of the intervals.
_SAMPLES = 1000


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: oddsmith evaluate predictions.csv --probability p --label label")(evaluate)


def evaluate(
    file: read.ScoresFile,
    probability: read.ProbabilityColumn = None,
    label: read.LabelColumn = None,
    weight: read.WeightColumn = None,
    positive: read.Positive = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the intervals.")] = 0,
    bad_rows: read.BadRows = "refuse",
    resolution: read.Resolution = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Judge probabilities: measures with intervals, tests of calibration, and a reliability diagram."""
    voice = Voice(quiet=quiet, as_json=as_json)
    forecast, distinct = read.read_forecast(
        voice,
        file,
        probability=probability,
        label=label,
        weight=weight,
        positive=positive,
        bad_rows=bad_rows,
        resolution=resolution,
    )
    with voice.odd_things_said(), voice.waiting("Resampling"):
        found = summary(forecast, n_resamples=_SAMPLES, random_state=seed, distinct=distinct)
    points = reliability_curve.of(forecast, n_bins=10, bins="mass")
    counts = reliability_curve.of(forecast, n_bins=20)
    warning = _warning(forecast)
    content = {**found, "warning": warning, "verdict": _verdict(found["tests"], warning), "reliability": plain(points)}

    def show(console: Console) -> None:
        data = found["data"]
        if warning:
            say(console, f"{warning}\n")
        cells = "" if data["cells"] is None else f"; measured on {data['cells']:,} cells of neighbouring probabilities"
        rows = f"{data['rows']:,} rows, {data['prevalence']:.2%} positive"
        say(console, f"{rows}, {data['distinct']:,} distinct probabilities{cells}")
        console.print(_measures(found["measures"], console.width >= _ROOMY))
        console.print(_tests(found["tests"], console.width >= _ROOMY))
        width = min(50, console.width - 6)
        ends, heights = np.array([0.0, 1.0]), np.zeros(20)
        heights[np.round(20 * counts.low).astype(int)] = counts.weight
        dots = list(zip(points.mean_predicted.tolist(), points.fraction_positive.tolist(), strict=True))
        say(console, "\nObserved share of positives (o) by predicted probability, in bins of equal weight:")
        console.print(curve(ends, ends, points=dots, width=width, height=width // 3))
        console.print(f"cases{bars(heights, width)}\n")
        say(console, str(content["verdict"]))

    voice.result(content, show)


def _warning(forecast: ScoreTable) -> str:
    """Say what makes every figure below it moot: too few cases, or probabilities that do not rank; empty where none."""
    if forecast.n_pos == 0 or forecast.n_neg == 0:
        return ""
    cases, signal = rows_by_class(forecast), Signal.of(forecast)
    if signal.kind != "reversed" and too_few(*cases):
        return f"Cannot tell much: {few_cases(*cases)}."
    repair = " Take 1 − p, or name the other label by --positive." if signal.kind == "reversed" else ""
    return signal.words.replace("The score", "The probability") + repair


def _verdict(tests: dict[str, Any], warning: str) -> str:
    """Say in one sentence whether the data refute calibration."""
    known = {name: float(test["p_value"]) for name, test in tests.items() if "reason" not in test}
    if not known:
        return "No test of calibration can be made of these data."
    corrected = dict(zip(known, holm(list(known.values())).tolist(), strict=True))
    refuted = [title_of(name) for name, p in corrected.items() if p < _LEVEL]
    among = f"at the {_LEVEL:.0%} level, corrected for {len(known)} tests"
    if not refuted:
        few = "; so few cases refute little" if warning.startswith("Cannot tell") else ""
        return f"Nothing refutes calibration {among}{few}."
    return f"Not calibrated: refuted {among}, by {', '.join(refuted)}."


def _measures(measures: dict[str, Any], roomy: bool) -> Table:
    table = Table(caption=BIAS)
    table.add_column("measure", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("95 % interval", justify="right")
    if roomy:
        table.add_column("definition", style="dim")
    for name, part in measures.items():
        words = [part.get("reason", part["definition"])] if roomy else []
        table.add_row(title_of(name), figure(part.get("value")), "\n".join(interval_lines(part)), *words)
    return table


def _tests(tests: dict[str, Any], roomy: bool) -> Table:
    table = Table()
    table.add_column("test of calibration", overflow="fold")
    table.add_column("p-value", justify="right", no_wrap=True)
    if roomy:
        table.add_column("statistic", style="dim")
    for name, part in tests.items():
        words = [part.get("reason", part.get("definition"))] if roomy else []
        table.add_row(title_of(name), p_value(part), *words)
    return table
