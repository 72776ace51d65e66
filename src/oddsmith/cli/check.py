"""``oddsmith check``: a gate for pipelines, which lets probabilities pass or not."""

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from oddsmith.cli import _options as option
from oddsmith.cli._exit import CHECK_FAILED
from oddsmith.errors import InvalidInputError

if TYPE_CHECKING:
    from rich.console import Console

    from oddsmith.cli._input import CommandInput
    from oddsmith.cli._output import CommandOutput

EXAMPLE = "oddsmith check predictions.parquet --max-ece 0.2 --min-p 0.001 --junit check.xml"

TestName = Literal[
    "spiegelhalter",
    "hosmer-lemeshow",
    "cox",
    "kolmogorov-smirnov",
    "kuiper",
    "likelihood-ratio",
    "top-label",
    "classwise",
]
Of = Literal["value", "corrected", "lower", "upper"]
Limit = float | None
Bounds = list[str] | None
_BOUND = "MEASURE=LIMIT"

#: What of a measure a bound may be of: how it is called, and where results have it.
_OF: dict[Of, tuple[str, str]] = {
    "value": ("", "value"),
    "corrected": (", bias-corrected", "corrected"),
    "lower": (", lower end of the 95 % interval", "low"),
    "upper": (", upper end of the 95 % interval", "high"),
}

#: What a measure must have for it.
_NEEDED: dict[Of, str] = {"value": "a value", "corrected": "a bias", "lower": "an interval", "upper": "an interval"}


@dataclass(frozen=True)
class Bound:
    """A bound and whether it holds."""

    measure: str
    definition: str
    value: float
    limit: float
    at_most: bool  # else the value must not fall below the limit
    segment: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the value is on the right side; the limit itself is."""
        return self.value <= self.limit if self.at_most else self.value >= self.limit

    @property
    def margin(self) -> float:
        """How far the value is on the right side of the limit; below 0 where the bound is broken."""
        return self.limit - self.value if self.at_most else self.value - self.limit

    @property
    def words(self) -> str:
        """The bound in words."""
        where = "" if self.segment is None else f"{self.segment}: "
        return f"{where}{self.measure} {'≤' if self.at_most else '≥'} {self.limit:g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the bound as plain JSON."""
        value = self.value if abs(self.value) < float("inf") else str(self.value)
        return {**asdict(self), "value": value, "holds": self.holds}


def check(
    *,
    max_ece: Annotated[Limit, typer.Option("--max-ece", help="Calibration error, 15 bins between quantiles.")] = None,
    max_smooth_ece: Annotated[Limit, typer.Option("--max-smooth-ece", help="Smooth calibration error.")] = None,
    max_top_label_ece: Annotated[
        Limit, typer.Option("--max-top-label-ece", help="Several classes: calibration error of the decision.")
    ] = None,
    max_classwise_ece: Annotated[
        Limit, typer.Option("--max-classwise-ece", help="Several classes: mean calibration error of each class.")
    ] = None,
    max_log_loss: Annotated[Limit, typer.Option("--max-log-loss", help="Log-loss in nats.")] = None,
    max_brier: Annotated[Limit, typer.Option("--max-brier", help="Brier score.")] = None,
    min_auc: Annotated[Limit, typer.Option("--min-auc", help="Area under the ROC curve.")] = None,
    min_slope: Annotated[Limit, typer.Option("--min-slope", help="Calibration slope; 1 is ideal.")] = None,
    max_slope: Annotated[Limit, typer.Option("--max-slope", help="Calibration slope; 1 is ideal.")] = None,
    min_p: Annotated[Limit, typer.Option("--min-p", help="p-value of a test of calibration.")] = None,
    test: Annotated[
        TestName | None,
        typer.Option("--test", help="Which test. [default: spiegelhalter; several classes: likelihood-ratio]"),
    ] = None,
    at_most: Annotated[Bounds, typer.Option("--max", metavar=_BOUND, help="Upper bound of any measure.")] = None,
    at_least: Annotated[Bounds, typer.Option("--min", metavar=_BOUND, help="Lower bound of any measure.")] = None,
    of: Annotated[
        Of,
        typer.Option(
            "--of",
            help="What bounds of measures are compared with: the value, which for calibration errors grows as rows get "
            "fewer, the bias-corrected value, or an end of the 95 % interval.",
        ),
    ] = "value",
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file, too.")] = None,
    columns: option.ProbabilityColumns,
    groups: option.GroupColumn = None,
    by: option.ResultSegments = None,
    scores_are: option.ClassScoresAre = "auto",
    sample: option.RowLimit = None,
    seed: option.Seed = 0,
    rows: option.RowOptions,
    force: option.Force = False,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Compare measures of probabilities with bounds: exit code 0 if all are met, else 1.

    Several classes: `oddsmith check classes.csv --scores 'p_*' --label label --max-top-label-ece 0.05`.

    Segments: with `--by country` each segment of at least 50 rows must meet the bounds, too.

    Few rows: `oddsmith check predictions.csv --max-ece 0.05 --of upper` passes only if the whole interval meets
    the bound, `--of lower` fails only if no value of the interval does.
    """
    from rich.table import Table
    from rich.text import Text

    from oddsmith import _check
    from oddsmith.cli._input import CommandInput
    from oddsmith.cli._output import CommandOutput, print_text
    from oddsmith.cli._segments import refuse_groups
    from oddsmith.files import write_atomically

    out = CommandOutput(quiet=quiet, as_json=as_json)
    source = CommandInput(columns, rows, scores_are, sample, seed, groups, by)
    refuse_groups(source)
    used = (test or ("likelihood-ratio" if source.several else "spiegelhalter")).replace("-", "_")
    asked = [
        (name, at_most, _limit(limit, option, name, at_most))
        for option, name, at_most, limit in (
            ("--max-ece", "calibration_error", True, max_ece),
            ("--max-smooth-ece", "smooth_calibration_error", True, max_smooth_ece),
            ("--max-top-label-ece", "top_label_calibration_error", True, max_top_label_ece),
            ("--max-classwise-ece", "classwise_calibration_error", True, max_classwise_ece),
            ("--max-log-loss", "log_loss", True, max_log_loss),
            ("--max-brier", "squared_error", True, max_brier),
            ("--min-auc", "roc_auc", False, min_auc),
            ("--min-slope", "calibration_slope", False, min_slope),
            ("--max-slope", "calibration_slope", True, max_slope),
            ("--min-p", f"{used}_test", False, min_p),
        )
        if limit is not None
    ]
    asked += [_parse_bound(text, "--max", True, source.several) for text in at_most or []]
    asked += [_parse_bound(text, "--min", False, source.several) for text in at_least or []]
    if not asked:
        _check.fail("at least one bound must be given", "none", "pass one, such as --max-ece 0.05")
    found, segments = _measure(out, source, with_intervals=of != "value")
    bounds = [_bound(found, of, *one) for one in asked]
    bounds += _bounds_of_segments(out, segments, of, asked)
    if junit is not None:
        write_atomically(junit, _junit(columns.file, bounds), force=force, sources=source.files)
    passed = all(bound.holds for bound in bounds)
    judged = found["judged"]["words"]
    content = {
        "passed": passed,
        "data": found["data"],
        "bounds": [bound.to_dict() for bound in bounds],
        "verdict": judged,
    }

    def show(console: "Console") -> None:
        table = Table()
        table.add_column("bound", overflow="fold")
        table.add_column("measured", justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
        for bound in bounds:
            word = Text("holds", style="green") if bound.holds else Text("BROKEN", style="bold red")
            table.add_row(bound.words, f"{bound.value:.6g}", word)
        console.print(table)
        print_text(console, f"{sum(bound.holds for bound in bounds)} of {len(bounds)} bounds hold.")
        print_text(console, judged)

    out.result(content, show)
    if not passed:
        raise typer.Exit(CHECK_FAILED)


def _bounds_of_segments(
    out: "CommandOutput", segments: dict[str, dict[str, Any]], of: Of, asked: list[tuple[str, bool, float]]
) -> list[Bound]:
    """Return the bounds of every segment, those that are broken by most first."""
    bounds = []
    for name, found in segments.items():
        for one in asked:
            try:
                bounds.append(replace(_bound(found, of, *one), segment=name))
            except InvalidInputError as reason:
                out.remark(f"Segment {name} is not checked for {one[0]}: {reason}")
    return sorted(bounds, key=lambda bound: bound.margin)


def _measure(
    out: "CommandOutput", source: "CommandInput", *, with_intervals: bool
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return measures and tests of the probabilities in a file, and of its segments."""
    from oddsmith.cli._segments import segments_of
    from oddsmith.maps import logit
    from oddsmith.metrics import evaluate

    options: dict[str, Any] = {"intervals": with_intervals, "random_state": source.seed}
    if source.several:
        classes = source.read_classes(out)
        parts = segments_of(source, classes.segments, out)
        with out.show_warnings(), out.waiting("Measuring"):
            each = {name: evaluate(part, **options) for name, part in parts.items()}
            return evaluate(classes.rows, groups=classes.groups, **options), each
    forecast, data, _ = source.read_forecast(out)
    groups = {name: part.map(logit) for name, part in data.segments.items()} if source.groups else None
    segments = segments_of(source, data.segments, out)
    with out.show_warnings(), out.waiting("Measuring"):
        by_segment = {name: evaluate(part.map(logit), **options) for name, part in segments.items()}
        return evaluate(forecast, distinct=data.distinct, groups=groups, **options), by_segment


def _limit(limit: float, option: str, name: str, at_most: bool) -> float:
    """Return a limit that the measure can keep: upper ones are not below 0, lower ones not above 1."""
    from oddsmith import _check

    is_free = name == "calibration_slope"
    if not math.isfinite(limit):
        _check.fail(f"{option} must be finite", f"{limit}", f"pass a number, such as {option} 0.1")
    if not is_free and (limit < 0 if at_most else limit > 1):
        must = f"{option} must be {'at least 0' if at_most else 'at most 1'}, or it always fails"
        _check.fail(must, f"{limit:g}", f"pass a number from 0 to 1, such as {option} 0.1")
    return limit


def _parse_bound(text: str, option: str, at_most: bool, several: bool) -> tuple[str, bool, float]:
    """Read a bound of any measure, such as lift=2; for several classes the measures that there are decide."""
    from oddsmith import _check
    from oddsmith.metrics import MEASURES

    name, _, limit = text.partition("=")
    if not several:
        _check.one_of(name, option, tuple(MEASURES))
    try:
        return name, at_most, _check.number(float(limit), option, low=-float("inf"))
    except ValueError:
        _check.fail(f"{option} must be a measure and its limit", text, f"write {option} {name}=0.1")


def _bound(found: dict[str, Any], of: Of, name: str, at_most: bool, limit: float) -> Bound:
    """Compare a measure, or the p-value of a test, with a limit."""
    from oddsmith import _check
    from oddsmith.report import title_of

    is_test = name in found["tests"]
    if not is_test and name not in found["measures"]:
        known = [*found["measures"], *found["tests"]]
        _check.fail("a bound must name a known measure", name, f"choose among {', '.join(known)}")
    part = found["tests" if is_test else "measures"][name]
    if "reason" in part and "value" not in part:
        raise InvalidInputError(part["reason"])
    if is_test:
        return Bound(f"p-value ({title_of(name)})", part["definition"], float(part["p_value"]), limit, at_most)
    words, value = _figure(part, of, name)
    return Bound(f"{title_of(name)}{words}", part["definition"], value, limit, at_most)


def _figure(part: dict[str, Any], of: Of, name: str) -> tuple[str, float]:
    """Return what a bound is of, in words, and its value."""
    from oddsmith import _check

    words, key = _OF[of]
    where = part if key in part else part.get("interval", {})
    if where.get(key) is None:
        reason = part.get("interval", {}).get("reason")
        got = f"{name}, which has none" + (f": {reason}" if reason else "")
        hint = "bound its value, or an end of its interval" if of == "corrected" else "bound its value (--of value)"
        _check.fail(f"--of {of} needs a measure with {_NEEDED[of]}", got, hint)
    return words, float(where[key])


def _junit(file: str, bounds: list[Bound]) -> bytes:
    """Return JUnit XML: one test case per bound."""
    from xml.etree import ElementTree

    from oddsmith._check import visible

    broken = sum(not bound.holds for bound in bounds)
    counts = {"tests": str(len(bounds)), "failures": str(broken), "errors": "0", "skipped": "0"}
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "oddsmith check", **counts})
    for bound in bounds:
        case = ElementTree.SubElement(suite, "testcase", {"classname": visible(file), "name": bound.words})
        if not bound.holds:
            message = f"{bound.words}; got {bound.value:.6g}"
            ElementTree.SubElement(case, "failure", {"message": message, "type": "bound"}).text = bound.definition
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"
