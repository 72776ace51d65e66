"""Tables of the protocols."""

import numpy as np

from oddsmith_studies.studies._published import Published
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import Cell, Column, Table
from oddsmith_studies.studies.protocols.measured import (
    CLASSIFIERS,
    against,
    count_signs,
    mean_distance,
    protocols_of,
    relative_change,
    slope_ratio,
    tasks_of,
)
from oddsmith_studies.studies.protocols.parts import METHODS


def all_tables(results: Results) -> list[Table]:
    """Return what the documents do, the protocols over all tasks, and every task by itself."""
    published = results.published
    return [_schemes(published), _protocols(results), _tasks(results)]


def _schemes(published: Published) -> Table:
    return Table(
        "schemes",
        "Scores that the documents calibrate on",
        ("document", "scores"),
        list(published.figures["schemes"].items()),
    )


def _protocols(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for classifier in CLASSIFIERS:
        tasks = tasks_of(results, classifier)
        for protocol in protocols_of(tasks):
            cells: list[Cell] = [classifier, protocol]
            for method in METHODS:
                change = float(np.mean([relative_change(task, protocol, method) for task in tasks]))
                worse, better = count_signs(against(task, protocol, method, "10 folds") for task in tasks)
                cells += [100 * change, f"{worse} / {better}"]
            excess = float(np.mean([task["protocols"][protocol]["error"] - task["test"]["error"] for task in tasks]))
            steeper = float(np.exp(np.mean([np.log(slope_ratio(task, protocol)) for task in tasks])))
            rows.append([*cells, steeper, 100 * excess, mean_distance(tasks, protocol)])
    columns: list[str | Column] = ["classifier", "protocol"]
    for method in METHODS:
        columns += [Column(f"{method}, %", "+.1f"), f"{method}, worse / better"]
    return Table(
        "protocols",
        "Log-loss on test rows by protocol, relative to ten folds",
        (
            *columns,
            Column("slope", ".2f"),
            Column("error less test error, points", "+.2f"),
            Column("distance", ".3f"),
        ),
        rows,
        "Mean change over tasks in %, and on how many tasks the 95 % interval of the paired difference lies above or "
        "below 0. Slope: of Platt's sigmoid, relative to ten folds, geometric mean. Error: of the uncalibrated "
        "decisions on calibration rows, less that on test rows. Distance: largest "
        "gap between the distributions of calibration and test scores, mean over tasks and classes. P is clipped "
        "1/(2n) from 0 and 1, n being the calibration rows.",
    )


def _tasks(results: Results) -> Table:
    rows: list[list[Cell]] = [
        [
            part["source"],
            part["classifier"],
            protocol,
            *(found["log_loss"][method] for method in METHODS),
            found["error"],
            found["distance"]["positive"],
            found["distance"]["negative"],
        ]
        for part in results.values()
        for protocol, found in part["protocols"].items()
    ]
    return Table(
        "tasks",
        "Every task: mean log-loss on test rows (nats), error on calibration rows, distance to test scores by class",
        (
            "task",
            "classifier",
            "protocol",
            *(Column(method, ".4f") for method in METHODS),
            Column("error", ".4f"),
            Column("distance, positive", ".3f"),
            Column("distance, negative", ".3f"),
        ),
        rows,
    )
