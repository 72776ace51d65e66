"""``oddsmith show``: what a model file holds."""

import dataclasses
import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oddsmith.cli import _options as option

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from oddsmith.maps import JointMap, Term
    from oddsmith.model import DataSummary, Model

    Draw = Callable[[Console], None]

EXAMPLE = "oddsmith show model.json"

#: Classes that are listed.
_SHOWN = 50


def show(
    model: option.ModelFile,
    score_at: Annotated[
        float | None,
        typer.Option("--score-at", metavar="P", help="Print only which scores have this probability or more."),
    ] = None,
    as_json: option.AsJson = False,
    quiet: option.Quiet = False,
) -> None:
    """Describe a model and its origin, and draw its curve, or list its classes."""
    from oddsmith.cli._output import CommandOutput
    from oddsmith.model import load

    fitted = load(model)
    if score_at is not None:
        CommandOutput(quiet=quiet, as_json=as_json).result(*_scores_at(fitted, score_at))
        return
    told, draw = _two_classes(fitted) if fitted.has_one_score else _several_classes(fitted)
    content = {
        "model": str(model),
        "method": fitted.method,
        "parameters": dict(fitted.parameters),
        "labels": list(fitted.labels),
        **told,
    }
    CommandOutput(quiet=quiet, as_json=as_json).result(content, draw)


def _scores_at(model: "Model", prob: float) -> tuple[dict[str, Any], str]:
    """Return the intervals of scores that reach a probability, of each segment, for programs and for people."""
    from oddsmith.metrics import plain

    whole = model.expand_effects()
    parts = {_segment_name(name): part for name, part in whole.segments.items()} | {"": whole}
    found = {name: dataclasses.replace(part, by=None, segments={}).scores_at(prob) for name, part in parts.items()}
    lines = []
    for name, intervals in found.items():
        where = f"{name}: " if name else "other segments: " if len(found) > 1 else ""
        cuts = [_condition(low, high) for low, high in intervals]
        lines.append(f"{where}{' or '.join(cuts) if cuts else f'no score reaches {prob:g}'}")
    return {"prob": prob, "scores": plain(found)}, "\n".join(lines)


def _segment_name(segment: Any) -> str:
    """Return the name of a segment; None is any other value of a column."""
    return ", ".join("other" if key is None else key for key in ((segment,) if isinstance(segment, str) else segment))


def _condition(low: float, high: float) -> str:
    """Return an interval of scores as a condition."""
    if math.isinf(low) and math.isinf(high):
        return "every score"
    if math.isinf(high):
        return f"score >= {low!r}"
    return f"score <= {high!r}" if math.isinf(low) else f"{low!r} <= score <= {high!r}"


def _two_classes(model: "Model") -> tuple[dict[str, Any], "Draw"]:
    """Return what a model of two classes is, for programs and for people."""
    import numpy as np

    from oddsmith._check import visible
    from oddsmith.cli._curve import curve
    from oddsmith.cli._output import print_text, table_of
    from oddsmith.model import DataSummary, map_of

    data = model.data
    assert data is None or isinstance(data, DataSummary)
    low, high = _ends(model) if data is None else (data.low, data.high)
    share = np.linspace(0, 1, 41)
    at = np.unique(low * (1 - share) + high * share)  # never beyond the largest double
    prob = map_of(model.map).probability(at)
    segments = {
        name if isinstance(name, str) else ", ".join(name): part.data
        for name, part in model.segments.items()
        if isinstance(part.data, DataSummary)
    }
    content = {
        "data": None if data is None else data.to_dict(),
        "warnings": list(model.warnings),
        "version": model.version,
        "by": model.by,
        "segments": {name: part.to_dict() for name, part in segments.items()},
        "curve": {"score": at.tolist(), "probability": prob.tolist()},
        "band": None if model.band is None else {"level": model.band.level, "simultaneous": model.band.simultaneous},
    }

    def draw(console: "Console") -> None:
        facts = {"labels": f"{model.labels[0]} / {model.labels[1]} (positive)"}
        facts |= {"rows": "not fitted to any"} if data is None else _facts(data)
        if model.band is not None:
            kind = "of the whole curve" if model.band.simultaneous else "pointwise"
            facts["limits of P"] = f"{100 * model.band.level:.4g} %, {kind}"
        _print_facts(console, model, facts)
        if model.effects is not None:
            names = model.segment_columns
            effects = [
                (visible(" x ".join(names[place] for place in term.columns) or "all rows"), *_range(term))
                for term in model.effects.terms
            ]
            console.print(table_of(["effects of"], ["values", "shifts of log-odds", "slopes"], effects))
        elif model.by is not None:
            rows = [(visible(name), f"{part.rows:,}", f"{part.prevalence:.2%}") for name, part in segments.items()]
            console.print(
                table_of([visible(f"segment ({', '.join(model.segment_columns)})")], ["rows", "positive"], rows)
            )
        print_text(console, "\nProbability by score:")
        console.print(curve(at, prob, width=min(60, console.width - 6), ascii_only=console.options.ascii_only))

    return content, draw


def _range(term: "Term") -> tuple[str, str, str]:
    """Return how many values a term has, and from where to where its shifts and slopes go."""
    shifts, slopes = (f"{values.min():+.2f} to {values.max():+.2f}" for values in (term.shifts, term.slopes))
    return f"{len(term.keys):,}", shifts, slopes


def _facts(data: "DataSummary") -> dict[str, str]:
    """Return what the data of the fit were."""
    cells = "every distinct score" if data.resolution is None else f"cells of {data.resolution:g}"
    scores = cells if data.distinct is None else f"{data.distinct:,} scores, {cells}"
    return {
        "rows": f"{data.rows:,} ({scores})",
        "positive": f"{data.prevalence:.2%}",
        "scores": f"{data.low:.6g} to {data.high:.6g}",
        "data hash": data.sha256[:16] if data.sha256 else "not kept",
    }


def _ends(model: "Model") -> tuple[float, float]:
    """Return the scores between which P goes from 1 % to 99 %, of a model that was not fitted to any rows."""
    ends = [end for p in (0.01, 0.99) for interval in model.scores_at(p) for end in interval if math.isfinite(end)]
    return (min(ends), max(ends)) if ends else (0.0, 1.0)


def _several_classes(model: "Model") -> tuple[dict[str, Any], "Draw"]:
    """Return what a model of several classes is, for programs and for people."""
    from oddsmith._check import visible
    from oddsmith.cli._output import print_text, table_of
    from oddsmith.model import joint_map_of

    data, parts, k = model.data, _parts(joint_map_of(model)), len(model.labels)
    content = {
        "column_names": None if model.column_names is None else list(model.column_names),
        "input": model.map.input,
        "map": {"shape": model.map.shape, "columns": model.map.columns, "parts": parts},
        "data": None if data is None else data.to_dict(),
        "warnings": list(model.warnings),
        "verdict": model.verdict,
        "version": model.version,
    }

    def draw(console: "Console") -> None:
        facts = {
            "map": "; ".join(parts),
            "classes": f"{k:,}",
            "reads": f"{model.map.columns:,} columns of {model.map.input}",
            "rows": "not kept" if data is None else f"{data.rows:,}{' with weights' if data.weighted else ''}",
            **({"verdict": model.verdict} if model.verdict else {}),
        }
        _print_facts(console, model, facts)
        names = model.column_names or ()
        names = ("",) * (k - len(names)) + names
        figures = [("", "")] * k
        if data is not None:
            total = sum(data.weights)
            figures = [(f"{weight:,.6g}", f"{weight / total:.2%}") for weight in data.weights]
        rows = [
            (visible(str(label)), visible(name), *figure)
            for label, name, figure in zip(model.labels, names, figures, strict=True)
        ]
        console.print(table_of(["class", "column"], ["cases", "share"], rows[:_SHOWN]))
        if k > _SHOWN:
            print_text(console, f"and {k - _SHOWN:,} more classes (--json lists all)")

    return content, draw


def _print_facts(console: "Console", model: "Model", facts: dict[str, str]) -> None:
    from rich.table import Table

    from oddsmith._check import visible

    table = Table.grid(padding=(0, 2))
    for name, value in (
        ("method", model.method),
        *facts.items(),
        ("version", model.version),
        *(("warning", text) for text in model.warnings),
    ):
        table.add_row(name, visible(value))
    console.print(table)


def _parts(map_: "JointMap") -> list[str]:
    """Return what a map is made of, in words: the parts of a blend with their weights, or one map per class."""
    from collections import Counter

    from oddsmith.maps import OneVsRestMap, ScalingMap

    if isinstance(map_, OneVsRestMap):
        kinds = Counter(each.shape for each in map_.maps)
        of = "log-odds against the rest" if map_.against_rest else "its own column"
        counted = ", ".join(f"{times} × {shape}" for shape, times in sorted(kinds.items()))
        return [f"one map per class, of {of} ({counted}), divided by their sum"]
    assert isinstance(map_, ScalingMap)
    shapes = {0: "one slope", 1: "a slope per class", 2: "a matrix"}
    if len(map_.parts) == 1:
        return [f"{map_.parts[0].name} ({shapes[map_.parts[0].coef.ndim]})"]
    pairs = sorted(zip(map_.weights.tolist(), map_.parts, strict=True), key=lambda pair: -pair[0])
    return [f"{weight:.1%} {part.name} ({shapes[part.coef.ndim]})" for weight, part in pairs]
