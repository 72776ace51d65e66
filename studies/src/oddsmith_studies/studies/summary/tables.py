"""Tables of the summary."""

import numpy as np

from oddsmith.checks import Bools
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import Cell, Column, Table
from oddsmith_studies.studies.summary.measured import Field, Loss, collect
from oddsmith_studies.studies.summary.methods import AUTO, RAW, kind_of, short_name
from oddsmith_studies.studies.summary.tasks import problem_of

_REGRET = (
    "Regret: loss less that of the best method of the cell, in percent of the loss of a forecast that knows only "
    "the share of positives, 100 at most; an infinite log-loss counts as 100."
)


def all_tables(results: Results) -> list[Table]:
    """Return the problems, the standings, the default against all others, and Platt against isotonic."""
    field = collect(results)
    return [_problems(results), _standings(field), _default(field), _groups(field), _crossing(field)]


def by_regret(field: Field) -> list[str]:
    """Return the methods, the least mean regret in log-loss first."""
    order = np.argsort(field.regret().mean(axis=0), kind="stable")
    return [field.methods[i] for i in order]


def worse_than_raw(field: Field, method: str) -> float:
    """Return in which share of cells a method does harm; thinned ones, where raw scores are wrong by design, apart."""
    mine, raw = (field.log_loss[~field.thinned, field.column(name)] for name in (method, RAW))
    return float((mine > raw).mean())


def _problems(results: Results) -> Table:
    first = {part["problem"]: part for part in reversed(list(results.values()))}
    rows: list[list[Cell]] = [
        [
            name,
            part["source"],
            *(part["rows"][use] for use in ("train", "pool", "test")),
            100 * part["positive"]["test"] / part["rows"]["test"],
            ", ".join(
                f"{100 * rate:g} %" for rate in sorted({cell["rate"] for cell in part["cells"] if cell["thinned"]})
            )
            or None,
            "yes" if problem_of(name).developed_on else "no",
        ]
        for name, part in reversed(first.items())
    ]
    return Table(
        "problems",
        "Problems: rows to train, to calibrate with and to judge by",
        (
            "problem",
            "source",
            Column("train", "d"),
            Column("pool", "d"),
            Column("test", "d"),
            Column("positive, %", ".2g"),
            "thinned to",
            f"{AUTO} developed on it",
        ),
        rows,
        "Problems of one source share rows, so intervals take a source as a whole. Thinned: the classifier was trained "
        "on all rows; calibration and test have fewer positives. Developed on it: `benchmarks.quality`, by which the "
        "default was chosen, has the same rows and positive class, with other splits and learners.",
    )


def _standings(field: Field) -> Table:
    ranks, wins = field.ranks(), field.wins()
    regret, brier = field.regret(), field.regret("brier")
    fits = field.drawings.sum()
    rows: list[list[Cell]] = []
    for name in by_regret(field):
        k = field.column(name)
        rows.append(
            [
                name,
                short_name(name),
                kind_of(name),
                field.mean(regret, name),
                float(ranks[:, k].mean()),
                100 * float(wins[:, k].mean()),
                field.mean(brier, name),
                100 * float(field.wins("brier")[:, k].mean()),
                100 * float(field.infinite[:, k].sum() / fits),
                None if name == RAW else 100 * worse_than_raw(field, name),
                float(np.quantile(regret[:, k], 0.95)),
            ]
        )
    return Table(
        "standings",
        f"Every calibrator over {len(field.rate)} cells of problem, classifier, size and share of positives",
        (
            "method",
            "on the map",
            "kind",
            Column("regret in log-loss", ".2f"),
            Column("mean rank", ".1f"),
            Column("cells won, %", ".1f"),
            Column("regret in Brier score", ".2f"),
            Column("cells won in Brier score, %", ".1f"),
            Column("infinite log-losses, %", ".2f"),
            Column("worse than raw, %", ".1f"),
            Column("regret exceeded in 5 % of cells", ".1f"),
        ),
        rows,
        f"{_REGRET} Intervals: 95 %, whole sources of data resampled. Infinite: share of all drawings in which a test "
        "case had probability 0. Worse than raw: share of the cells that were not thinned in which log-loss is larger "
        "than that of uncalibrated scores. Squashing and Logistic Correction fit "
        "nothing and are made only for margins and boosted scores.",
    )


def _default(field: Field) -> Table:
    beaten, judged = field.beaten_by(AUTO), field.can_judge()
    rows: list[list[Cell]] = []
    for name in by_regret(field):
        if name == AUTO:
            continue
        closer = field.log_loss[:, field.column(AUTO)] < field.log_loss[:, field.column(name)]
        rows.append(
            [
                name,
                field.difference(AUTO, name),
                field.difference(AUTO, name, loss="brier"),
                100 * float(closer.mean()),
                ("yes" if name in beaten else "no") if judged else None,
            ]
        )
    return Table(
        "default",
        f"{AUTO} against every other method",
        (
            "against",
            Column("difference of regrets, log-loss", "+.2f"),
            Column("the same, Brier score", "+.2f"),
            Column(f"cells with {AUTO} better, %", ".0f"),
            f"{AUTO} surely worse",
        ),
        rows,
        f"Below 0 {AUTO} is better. Surely: 5 % test over sources of data, corrected by Holm for the number of "
        "methods.",
    )


def groups_of(field: Field) -> dict[str, Bools]:
    """Return which cells belong to each classifier, size, share of positives, and kind of rows."""
    groups = {name: field.classifier == name for name in field.classifiers}
    groups |= {f"{name} cases": field.size == name for name in field.sizes}
    groups |= {f"{name} positive": field.band == name for name in field.bands}
    return groups | {"texts": field.texts, "tables": ~field.texts}


def best_of(field: Field, where: Bools, loss: Loss = "log_loss") -> str:
    """Return the method of the least mean regret in some cells."""
    regret = field.regret(loss)[where].mean(axis=0)
    return field.methods[int(np.argmin(regret))]


def _groups(field: Field) -> Table:
    regret = field.regret()
    rows: list[list[Cell]] = []
    for name, where in groups_of(field).items():
        best = best_of(field, where)
        rows.append(
            [
                name,
                int(where.sum()),
                best,
                float(regret[where, field.column(best)].mean()),
                float(regret[where, field.column(AUTO)].mean()),
                field.difference(AUTO, best, where) if best != AUTO else None,
                ", ".join(field.beaten_by(AUTO, where)) or ("none" if field.can_judge(where) else None),
                best_of(field, where, "brier"),
            ]
        )
    return Table(
        "groups",
        "The best method of each classifier, size and share of positives",
        (
            "cells",
            Column("how many", "d"),
            "least regret",
            Column("its regret", ".2f"),
            Column(f"{AUTO}'s regret", ".2f"),
            Column("difference", "+.2f"),
            f"surely better than {AUTO}",
            "least regret in Brier score",
        ),
        rows,
        f"{_REGRET} Difference: {AUTO} less best, with a 95 % interval over sources of data; the best was chosen on "
        "the same cells, which flatters it. Surely: needs five sources of data; Holm's correction is over the "
        "methods of a row, not over the rows.",
    )


def _crossing(field: Field) -> Table:
    rows: list[list[Cell]] = []
    for name in [*field.classifiers, "all classifiers"]:
        mine = field.classifier == name if name in field.classifiers else np.ones(len(field.size), bool)
        sizes = [mine & (field.size == size) for size in field.sizes]
        rows.append([name, *(field.difference("isotonic", "Platt", where, "brier") for where in sizes)])
    return Table(
        "crossing",
        "Isotonic less Platt in Brier score, by calibration size",
        ("classifier", *(Column(f"{size} cases", "+.2f") for size in field.sizes)),
        rows,
        "Difference of regrets; below 0 isotonic regression is better. In Brier score, as plain isotonic regression "
        "has an infinite log-loss too often.",
    )
