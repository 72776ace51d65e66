"""What the parts found: what each motive is worth, as cases, tables and sentences."""

from collections.abc import Sequence

import numpy as np

from oddsmith.checks import Floats
from oddsmith.metrics import Interval
from oddsmith.plots.trials import mean_of_trials
from oddsmith_studies.studies._claims import EVERYTHING, Case
from oddsmith_studies.studies._record import Record
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import Cell, Column, Table, written
from oddsmith_studies.studies._text_draws import scaled
from oddsmith_studies.studies.motives.parts import (
    BY_CALIBRATED,
    BY_RAW,
    CALIBRATED,
    CALIBRATED_MEAN,
    COMBINED,
    COMBINING,
    COSTED,
    COSTS,
    DECIDING,
    FIRST,
    RANDOM,
    RAW_SUM,
    RAW_SUM_CALIBRATED,
    REPEATS,
    RETRAINED,
    SAMPLED,
    SAMPLING,
    SQUASHED,
    STEP,
    repeats,
    sampling_name,
)

_LEVEL = 0.95


def all_evidence(results: Results) -> dict[str, list[Case]]:
    """Return the cases of each question."""
    found: dict[str, list[Case]] = {number: [] for number in ("M.1a", "M.1b", "M.2a", "M.2b", "M.3a", "M.3b")}
    for name in COSTED:
        part = results[f"costs-{name.lower()}"]
        found["M.1a"].append(Case(name, _interval(part["less"][SQUASHED]), EVERYTHING))
        found["M.1b"].append(
            Case(name, scaled(_interval(part["less"][RETRAINED]), part["mean"][RETRAINED]), EVERYTHING)
        )
    for name in COMBINED:
        part = results[f"combining-{name.lower()}"]
        found["M.2a"].append(Case(name, _interval(part["less"][RAW_SUM_CALIBRATED]), EVERYTHING))
        best = min(COMBINING[:3], key=lambda kind: part["log_loss"][kind])
        found["M.2b"].append(Case(f"{name}, {best}", _interval(part["less"][best]), EVERYTHING))
    for name in SAMPLED:
        needed = labels_needed(results, name)
        for number, other in (("M.3a", RANDOM), ("M.3b", BY_RAW)):
            found[number].append(Case(name, mean_of_trials(needed[BY_CALIBRATED] - needed[other], _LEVEL), EVERYTHING))
    return found


def _interval(kept: Sequence[float]) -> Interval:
    value, low, high = kept
    return Interval(value, low, high, _LEVEL, "paired t interval over rows")


def curves(results: Results, problem: str, rule: str) -> Floats:
    """Return the share of test errors after each batch, one row per repeat."""
    return np.array([results[sampling_name(problem, repeat)][rule] for repeat in range(repeats(results.setting))])


def labels_after(batches: int) -> Floats:
    """Return how many rows are labelled after each batch."""
    return FIRST + STEP * np.arange(batches, dtype=np.float64)


def labels_needed(results: Results, problem: str) -> dict[str, Floats]:
    """Return, by rule and repeat, the labels until the errors are those of random sampling with all its labels.

    A run that never gets there counts as having needed all.
    """
    target = curves(results, problem, RANDOM)[:, -1].mean()
    found = {}
    for rule in SAMPLING:
        errors = curves(results, problem, rule)
        labels = labels_after(errors.shape[1])
        there = errors <= target
        found[rule] = np.where(there.any(axis=1), labels[there.argmax(axis=1)], labels[-1])
    return found


def all_tables(results: Results) -> list[Table]:
    """Return one table for each motive."""
    return [_costs(results), _combining(results), _sampling(results)]


def _costs(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for name in COSTED:
        part = results[f"costs-{name.lower()}"]
        less = [_interval(part["less"][other]) for other in (SQUASHED, RETRAINED)]
        rows.append([name, *(1000 * part["mean"][way] for way in DECIDING), *(scaled(each, 1e-3) for each in less)])
    columns = [Column(way, ".1f") for way in DECIDING]
    return Table(
        "costs",
        "Mean cost per thousand decisions when costs are known only at prediction time",
        ("problem", *columns, Column("calibrated less squashed", "+.1f"), Column("calibrated less retrained", "+.1f")),
        rows,
        f"Means over {len(COSTS)} ratios c from {COSTS[0]:g} to {COSTS[-1]:g} of the cost of a missed positive, "
        "2c/(1 + c), to that of a false alarm, 2/(1 + c), with paired 95 % t intervals over test rows. One linear "
        f"support vector machine serves all ratios but where it is retrained, {len(COSTS)} times, with the costs as "
        "weights of the classes.",
    )


def _combining(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for measure, title in (("log_loss", "log-loss"), ("errors", "errors, %")):
        for name in COMBINED:
            found = results[f"combining-{name.lower()}"][measure]
            rows.append([title, name, *((100 if measure == "errors" else 1) * found[way] for way in COMBINING)])
    return Table(
        "combining",
        "Classifiers of three kinds, alone and combined",
        ("measure", "problem", *(Column(way, ".3f") for way in COMBINING)),
        rows,
        "Single classifiers are calibrated by Platt scaling on five folds. Their raw scores are log-odds of naive "
        "Bayes, margins, and log-odds of shares of votes.",
    )


def _sampling(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for name in SAMPLED:
        needed = labels_needed(results, name)
        for rule in SAMPLING:
            errors = curves(results, name, rule)
            fewer = None if rule == RANDOM else mean_of_trials(needed[rule] - needed[RANDOM], _LEVEL)
            last = mean_of_trials(100 * errors[:, -1], _LEVEL)
            rows.append([name, rule, mean_of_trials(needed[rule], _LEVEL), fewer, last])
    return Table(
        "sampling",
        "Labels that are needed, and errors with all labels",
        (
            "problem",
            "rule",
            Column("labels needed", ".0f"),
            Column("less random", "+.0f"),
            Column("errors with all labels, %", ".1f"),
        ),
        rows,
        "Labels until the errors are those that random sampling has, on average, with all its labels; a repeat that "
        f"does not get there counts as having needed all. Means over {repeats(results.setting)} repeats with 95 % t "
        "intervals.",
    )


def all_facts(record: Record) -> dict[str, str]:
    """Return what was found."""
    costs, sampling = record.tables["costs"], record.tables["sampling"]

    def over(number: str) -> str:
        return record.verdicts_of(number)

    cheaper = [100 * (float(row[1]) / float(row[2]) - 1) for row in costs.rows]  # type: ignore[arg-type]
    like = [100 * (float(row[1]) / float(row[3]) - 1) for row in costs.rows]  # type: ignore[arg-type]
    saved = "; ".join(
        f"{name} {written(sampling.cell('less random', name, BY_CALIBRATED), '+.0f')} by calibrated P and "
        f"{written(sampling.cell('less random', name, BY_RAW), '+.0f')} by raw P"
        for name in SAMPLED
    )
    return {
        "cheaper": f"{min(cheaper):+.0f} to {max(cheaper):+.0f} %",
        "like_retrained": f"{min(like):+.0f} to {max(like):+.0f} %",
        "costs_verdict": over("M.1a"),
        "retrained_verdict": over("M.1b"),
        "sum_verdict": over("M.2a"),
        "alone_verdict": over("M.2b"),
        "random_verdict": over("M.3a"),
        "raw_verdict": over("M.3b"),
        "saved": saved,
        "repeats": f"{REPEATS}",
        "mean": CALIBRATED_MEAN,
        "sum": RAW_SUM,
        "calibrated": CALIBRATED,
    }
