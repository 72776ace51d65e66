"""What the parts found: cases, tables and sentences."""

import numpy as np

from oddsmith_studies.studies._claims import Case
from oddsmith_studies.studies._record import Record
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies._tables import Cell, Column, Table
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import STUMPS, TREES
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.measured import TEN, with_error
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tasks import OWN_PROBLEMS
from oddsmith_studies.studies.why_boosting.parts import (
    CALIBRATED,
    FOLLOWED,
    LOSSES,
    RANKING,
    SEVEN_MEASURES,
    UNCALIBRATED,
    learner_name,
    rounds_name,
)

_TOP = TEN[0]


def followed(results: Results, problem: str, base: str) -> Json:
    """Return what was followed over rounds."""
    return results[rounds_name(problem, base)]


def mean_of_problems(results: Results, learner: str, way: str, measure: str) -> float:
    """Return a measure of a learner, mean over the document's own problems."""
    return float(np.mean([results[learner_name(problem, learner)][way][measure] for problem in OWN_PROBLEMS]))


def place(results: Results, learner: str, way: str, measure: str) -> int:
    """Return the place of a learner among ten, the best being first."""
    sign = -1 if measure in RANKING else 1
    means = {each: sign * mean_of_problems(results, each, way, measure) for each in TEN}
    return 1 + sum(value < means[learner] for value in means.values())


def all_evidence(results: Results) -> dict[str, list[Case]]:
    """Return the cases of each claim."""
    found: dict[str, list[Case]] = {number: [] for number in ("B.1a", "B.1b", "B.1c", "B.2", "B.3a", "B.3b")}
    for measure in RANKING:
        found["B.1a"].append(Case(measure, place(results, _TOP, UNCALIBRATED, measure)))
    for measure in LOSSES:
        found["B.1b"].append(Case(measure, place(results, _TOP, UNCALIBRATED, measure)))
        found["B.1c"].append(Case(measure, place(results, _TOP, CALIBRATED, measure)))
    for problem in FOLLOWED:
        part = followed(results, problem, TREES)
        first, last = part["rounds"][len(part["rounds"]) // 3], part["rounds"][-1]
        change = last["sure"]["boosted"] - first["sure"]["boosted"]
        found["B.2"].append(Case(f"{problem}, {first['rounds']} to {last['rounds']} rounds", change))
        for number, group in (("B.3a", "easiest"), ("B.3b", "hardest")):
            found[number].append(Case(problem, with_error(*part["paired"][group])))
    return found


def all_tables(results: Results) -> list[Table]:
    """Return learners by measure, margins by difficulty, and slopes."""
    return [*(_learners(results, way) for way in (UNCALIBRATED, CALIBRATED)), _groups(results), _slopes(results)]


def _learners(results: Results, way: str) -> Table:
    rows: list[list[Cell]] = []
    for learner in TEN:
        cells: list[Cell] = [learner]
        for measure in SEVEN_MEASURES:
            value = mean_of_problems(results, learner, way, measure)
            cells.append(f"{value:.3f} ({place(results, learner, way, measure)})")
        rows.append(cells)
    return Table(
        f"learners-{way.lower()}",
        f"Ten learners by seven measures, {'before calibration' if way == UNCALIBRATED else 'after Platt scaling'}",
        ("learner", *SEVEN_MEASURES),
        rows,
        "Means over the document's own five problems, with the place among ten in brackets. For each measure the "
        "model that is best by it on validation rows, by which Platt scaling is fitted, too. Lift: the share of "
        "positives among the quarter of rows with the highest scores, relative to that among all. Break-even: "
        "precision among as many rows as there are positives. Cross-entropy in bits.",
    )


def _groups(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for problem in FOLLOWED:
        part = followed(results, problem, TREES)
        for name in ("boosted", "bagged"):
            rows += [
                [problem, name, each["rounds"], *each["groups"][name], 100 * each["sure"][name]]
                for each in (part["rounds"][len(part["rounds"]) // 3], part["rounds"][-1])
            ]
    quarters = [Column(name, "+.3f") for name in ("easiest quarter", "second", "third", "hardest quarter")]
    return Table(
        "groups",
        "Mean margin of test rows by how hard they are",
        ("problem", "trees", Column("rounds", "d"), *quarters, Column("votes within 0.05 of 0 or 1, %", ".1f")),
        rows,
        "Margin: share of votes for the true class less that for the other. Rows are ranked by how many trees of a "
        "separate bag are right about them.",
    )


def _slopes(results: Results) -> Table:
    rows: list[list[Cell]] = [
        [problem, base, each["rounds"], each["slope of 2F"], each["slope of the vote"]]
        for problem in FOLLOWED
        for base in (STUMPS, TREES)
        for each in followed(results, problem, base)["rounds"]
    ]
    return Table(
        "slopes",
        "Slope of what happened over predicted log-odds, by rounds",
        ("problem", "boosted", Column("rounds", "d"), Column("of z", ".2f"), Column("of the vote", ".2f")),
        rows,
        "On test rows. 1: log-odds are right; below 1 they are too large, above 1 too small. z = 2Σα(2h − 1) is "
        "what Logistic Correction takes for the log-odds; the vote's log-odds are those of its share.",
    )


def all_facts(record: Record) -> dict[str, str]:
    """Return what was found."""
    before, slopes = record.tables["learners-uncalibrated"], record.tables["slopes"]
    after = record.tables["learners-platt"]

    def places(table: Table, measures: tuple[str, ...]) -> str:
        cells = [str(table.cell(measure, _TOP)) for measure in measures]
        return ", ".join(cell.partition("(")[2].rstrip(")") for cell in cells)

    def last(base: str, column: str) -> str:
        values = [float(_last(slopes, problem, base)[slopes.header.index(column)]) for problem in FOLLOWED]  # type: ignore[arg-type]
        return f"{min(values):.2g} to {max(values):.2g}"

    return {
        "ranking_places": places(before, tuple(RANKING)),
        "loss_places": places(before, LOSSES),
        "calibrated_places": places(after, LOSSES),
        "easy_verdict": record.verdicts_of("B.3a"),
        "hard_verdict": record.verdicts_of("B.3b"),
        "inwards_verdict": record.verdicts_of("B.2"),
        "stump_slopes": last(STUMPS, "of z"),
        "tree_slopes": last(TREES, "of z"),
        "vote_slopes": last(TREES, "of the vote"),
        "stump_vote_slopes": last(STUMPS, "of the vote"),
    }


def _last(slopes: Table, problem: str, base: str) -> list[Cell]:
    rows = [list(row) for row in slopes.rows if tuple(row[:2]) == (problem, base) and None not in row]
    return rows[-1]
