"""What the parts over texts found, as comparisons, totals and tables."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from oddsmith.checks import Floats
from oddsmith.metrics import Interval
from oddsmith.metrics.comparison import MeasureComparison
from oddsmith.metrics.significance import holm
from oddsmith_studies.studies._study import Json
from oddsmith_studies.studies._tables import Cell, Column, Table
from oddsmith_studies.studies._text_features import NEWSGROUPS, OHSUMED
from oddsmith_studies.studies._text_methods import A_LAPLACE, A_LAPLACE_DOUBLE
from oddsmith_studies.studies._text_scores import LOGISTIC, SVM

MEASURES = {"log-loss": "log_loss", "squared error": "squared_error", "errors": "zero_one_error"}
FORMATS = {"log-loss": ".1f", "squared error": ".1f", "errors": ".0f"}

#: Said under every table that holds a corpus which the documents do not have.
STAND_IN = (
    f"{NEWSGROUPS} (20 groups) and {OHSUMED} (its ten largest disease groups) stand in for TREC-AP, which is licensed "
    "and not available here."
)

_ARRAYS = ("means", "totals", "wins", "ties", "p_values", "holm", "better")


@dataclass(frozen=True, eq=False)
class TotalsComparison(MeasureComparison):
    """A comparison with totals as the documents have them: Σ log P(true class), Σ(t − P)², or errors."""

    totals: Floats


def comparison(part: Json, measure: str, *, protocol: str = "ZY04", given: str | None = None) -> TotalsComparison:
    """Return all pairs of methods of a part on a measure, "log-loss", "squared error" or "errors".

    ``given`` is the calibrators' input, by default the first: of logistic regression its probability.
    """
    kept = part["inputs"][given or next(iter(part["inputs"]))]["comparisons"][protocol][MEASURES[measure]]
    arrays = {name: np.array(kept[name], float) for name in _ARRAYS}
    return TotalsComparison(**(kept | arrays | {"names": tuple(kept["names"]), "better": arrays["better"] > 0}))


def among(found: TotalsComparison, names: Sequence[str]) -> TotalsComparison:
    """Return the comparison of some methods only, in the order given; those without the measure are left out."""
    kept = [found.names.index(name) for name in names if name in found.names]
    grid = np.ix_(kept, kept)
    p_values, corrected = found.p_values[grid], np.ones((len(kept), len(kept)))
    upper = np.triu_indices(len(kept), 1)
    corrected[upper] = corrected.T[upper] = holm(p_values[upper])
    return replace(
        found,
        names=tuple(found.names[i] for i in kept),
        means=found.means[kept],
        totals=found.totals[kept],
        wins=found.wins[grid],
        ties=found.ties[grid],
        p_values=p_values,
        holm=corrected,
        better=found.better[grid],
    )


def beats(found: MeasureComparison, first: str, second: str) -> bool:
    """Return whether the first method is significantly better than the second."""
    return second not in found.not_beaten(first)


def total(found: TotalsComparison, name: str) -> float | None:
    """Return a method's total; None where it has none."""
    return float(found.totals[found.names.index(name)]) if name in found.names else None


def known(value: float | None) -> float:
    """Return a figure that is surely there."""
    assert value is not None
    return value


def sum_of(found: TotalsComparison, name: str) -> float:
    """Return the total of a method that surely has one."""
    return known(total(found, name))


def listed(names: Sequence[str], most: int = 6) -> str:
    """Write some names, and how many more there are."""
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return "; ".join([*names[:most], *more]) or "none"


def totals(part: Json, *, given: str | None = None) -> dict[str, dict[str, float | None]]:
    """Return the totals of every method by measure."""
    views = {measure: comparison(part, measure, given=given) for measure in MEASURES}
    return {name: {measure: total(view, name) for measure, view in views.items()} for name in views["errors"].names}


def published_name(part: Json, name: str, given: str | None = None) -> str:
    """Return the method that stands for a published row: of A. Laplace on probabilities the one where P may be 0."""
    first = next(iter(part["inputs"]))
    return A_LAPLACE_DOUBLE if name == A_LAPLACE and (given or first) == "probability" else name


def inputs(part: Json) -> list[tuple[str, str]]:
    """Return the names of a part's inputs, and each with the classifier as a row is headed."""
    return [
        (given, f"{part['classifier']}, {given}" if part["classifier"] == LOGISTIC else part["classifier"])
        for given in part["inputs"]
    ]


def all_methods_table(name: str, title: str, parts: Sequence[Json], note: str) -> Table:
    """Return totals of every method with both papers' marks."""
    rows: list[list[Cell]] = []
    for part in parts:
        for given, label in inputs(part):
            by_t = {measure: comparison(part, measure, given=given) for measure in MEASURES}
            by_sign = {measure: comparison(part, measure, protocol="B03", given=given) for measure in MEASURES}
            for method in by_t["errors"].names:
                cells: list[Cell] = [label, method]
                for measure, view in by_t.items():
                    cells.append(total(view, method))
                    if measure != "errors":
                        cells.append(_mark(view, method))
                    if measure != "squared error":
                        cells.append(_mark(by_sign[measure], method))
                rows.append(cells)
    return Table(
        name,
        title,
        (
            "classifier",
            "method",
            Column("log-loss", ".1f"),
            "log-loss, t-test",
            "log-loss, sign test",
            Column("squared error", ".1f"),
            "squared error, t-test",
            Column("errors", ".0f"),
            "errors, sign test",
        ),
        rows,
        "Sums over all decisions; for log-loss, Σ log P(true class), larger is better. * beats all other methods of "
        "its classifier, ‡ all but one or two: paired t-test at 0.05, sign test at 0.01. The sign test counts "
        "decisions and not what they cost, so that raw naive Bayes, a little more certain wherever it is right, can "
        "win it with the worst total. Sign tests of squared error are those of log-loss. "
        f"A {SVM} has no probability of its own. {note}".strip(),
    )


def _mark(view: MeasureComparison, method: str) -> str:
    return view.mark(method) if method in view.names else ""


def paired_difference(first: Sequence[float], second: Sequence[float]) -> Interval:
    """Return the difference of two totals over the same rows, with its 95 % interval by the t-test."""
    a, b = np.asarray(first, float), np.asarray(second, float)
    ends: Any = ttest_rel(a, b).confidence_interval(0.95)
    return Interval(
        float((a - b).sum()), float(ends.low) * len(a), float(ends.high) * len(a), 0.95, "paired t interval of totals"
    )
