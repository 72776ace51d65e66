"""Tables of the study: the printed one next to ours, and what lies behind it."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from oddsmith_studies.studies._published import Published, PublishedTable
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import Cell, Column, Table, with_published
from oddsmith_studies.studies._text_results import known
from oddsmith_studies.studies.platt_1999.calibration_rows import rows_table
from oddsmith_studies.studies.platt_1999.densities import INNER, WHOLE, gain_interval
from oddsmith_studies.studies.platt_1999.machines import LIKELIHOOD, SVM
from oddsmith_studies.studies.platt_1999.measured import (
    chosen_cost,
    chosen_part,
    crossings,
    difference,
    looks,
    shares,
    totals,
    tried,
)
from oddsmith_studies.studies.platt_1999.parts import (
    CONSTANT,
    GAUSSIANS,
    IN_SAMPLE,
    MARGIN,
    PLAIN,
    RAW,
    REGULARIZED,
    SIGMOID,
    TIED,
    costs,
)
from oddsmith_studies.studies.platt_1999.sizes import REPORTED, all_sizes, draws, spread
from oddsmith_studies.studies.platt_1999.tasks import DRAWN, TASKS, VARIANTS, Task, kept_words

METHODS = (RAW, SIGMOID, REGULARIZED)
FORMATS = {"errors": ".0f", "−Σ log P": ".1f"}
_MEASURES = {"errors": "errors", "log_loss": "−Σ log P"}

_BOTH = (
    "The document does not state how many categories of Reuters it counts: its one row is compared with both of "
    "ours, and neither is claimed to be it."
)


def all_tables(results: Results) -> list[Table]:
    """Return all tables."""
    published = results.published
    return [
        _results(results, published),
        _differences(results),
        _sparsity(results),
        _crossings(results),
        _crossings_reuters(results),
        _maps(results),
        _densities(results),
        rows_table(results),
        _sizes(results, published),
        _readings(results, published),
        _costs(results),
    ]


def for_tasks(published: Published, tasks: tuple[Task, ...]) -> PublishedTable:
    """Return the printed table with a row for each of our tasks; those of Reuters get the same figures."""
    printed = published.tables["results"]
    rows: dict[tuple[str, ...], Mapping[str, float | None]] = {
        (task.name, method): printed.rows[task.published, method] for task in tasks for method in METHODS
    }
    return replace(printed, rows=rows)


def _results(results: Results, published: Published) -> Table:
    return with_published(
        "results",
        "Errors and −Σ log P on test rows: ours and the published",
        for_tasks(published, TASKS),
        {(task.name, method): totals(results, task, method) for task in TASKS for method in (*METHODS, CONSTANT)},
        formats=FORMATS,
        note=f"Sums over all test decisions, in nats; a raw support vector machine has no probability. The last row "
        f"of a task knows no features, only how many training rows are positive. {_BOTH}",
    )


def _differences(results: Results) -> Table:
    rows: list[list[Cell]] = [
        [
            task.name,
            difference(results, task, SIGMOID, RAW, "errors"),
            difference(results, task, SIGMOID, REGULARIZED, "errors"),
            difference(results, task, SIGMOID, REGULARIZED, "log_loss"),
        ]
        for task in TASKS
    ]
    return Table(
        "differences",
        "What the sigmoid changes, with 95 % intervals",
        (
            "task",
            Column("errors: sigmoid less raw", "+.0f"),
            Column("errors: sigmoid less likelihood machine", "+.0f"),
            Column("−Σ log P: sigmoid less likelihood machine", "+.1f"),
        ),
        rows,
        "Paired t intervals of totals over test rows; the decisions about one story, which depend on each other, are "
        "summed first. Below 0 the sigmoid is better.",
    )


def _sparsity(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for task in TASKS:
        coefficients = looks(results, task, LIKELIHOOD).values()
        n = chosen_part(results, task, LIKELIHOOD)["rows"][0]
        rows.append(
            [
                task.name,
                n,
                len(coefficients),
                100 * shares(results, task, SVM, "inside"),
                100 * shares(results, task, SVM, "inside", "on"),
                100 * shares(results, task, LIKELIHOOD, "nonzero"),
                sum(each["nonzero"] < n for each in coefficients),
                100 * shares(results, task, LIKELIHOOD, "small"),
            ]
        )
    return Table(
        "sparsity",
        "How many training rows the expansions need",
        (
            "task",
            Column("training rows", "d"),
            Column("machines", "d"),
            Column("SVM: inside the margin, %", ".1f"),
            Column("SVM: inside or on it, %", ".1f"),
            Column("likelihood: coefficient not 0, %", ".1f"),
            Column("machines with a coefficient of 0", "d"),
            Column("likelihood: below 1 % of the largest, %", ".1f"),
        ),
        rows,
        "Shares of training rows, means over machines (one per category). A row inside the margin, ys < 1 with y = ±1, "
        f"is a support vector; one on it (within {MARGIN:g}) may be; no other is. Equal rows on the margin can "
        "share one coefficient, so that the second share is an upper bound.",
    )


def _crossings(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for task in TASKS:
        at = np.array(list(crossings(results, task, SIGMOID).values()))
        shown = looks(results, task, SVM)[task.shown]["maps"]
        (slope, bias), (steep, _) = shown[SIGMOID], shown[IN_SAMPLE]
        own = crossings(results, task, SIGMOID)[task.shown]
        rows.append([task.name, len(at), float(np.median(at)), at.min(), at.max(), task.shown, slope, bias, own, steep])
    return Table(
        "crossings",
        "The score where P = ½: −b/a",
        (
            "task",
            Column("sigmoids", "d"),
            Column("median −b/a", ".2f"),
            Column("least", ".2f"),
            Column("greatest", ".2f"),
            "of these",
            Column("a", ".2f"),
            Column("b", ".2f"),
            Column("−b/a", ".2f"),
            Column("a on training scores", ".2f"),
        ),
        rows,
        "The log-odds are as + b, in the document −(As + B); a raw support vector machine decides at s = 0. "
        "Topics whose held-out scores have one class only get no sigmoid.",
    )


def _crossings_reuters(results: Results) -> Table:
    ten = TASKS[0]
    found = looks(results, ten, SVM)
    rows: list[list[Cell]] = [
        [name, found[name]["positive"], *found[name]["maps"][SIGMOID], at]
        for name, at in crossings(results, ten, SIGMOID).items()
    ]
    columns = (
        "category",
        Column("training stories", "d"),
        Column("a", ".2f"),
        Column("b", ".2f"),
        Column("−b/a", ".2f"),
    )
    return Table("crossings-reuters", "Where P = ½ in the ten largest categories of Reuters", columns, rows)


def _maps(results: Results) -> Table:
    names = (SIGMOID, PLAIN, IN_SAMPLE, TIED, GAUSSIANS)
    rows: list[list[Cell]] = []
    for task in TASKS:
        found = [totals(results, task, name) for name in names]
        rows.append([task.name, *(each["−Σ log P"] for each in found), *(each["errors"] for each in found)])
    return Table(
        "maps",
        "Other ways from the same margins to probabilities",
        (
            "task",
            *(Column(f"−Σ log P, {name}", ".1f", "−Σ log P") for name in names),
            *(Column(f"errors, {name}", ".0f", "errors") for name in names),
        ),
        rows,
        "All but the sigmoid on training scores are fitted to the scores of three folds. Plain targets are 1 and 0, as "
        "the slides print them; all other sigmoids have targets that stay clear of both.",
    )


def _densities(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for task in DRAWN:
        for label, found in looks(results, task, SVM)[task.shown]["classes"].items():
            gains = [gain_interval(found, pair) for pair in (WHOLE, INNER)]
            rows.append([task.name, task.shown, label, found["kurtosis"], *gains])
    return Table(
        "densities",
        "Exponential or Gaussian: the outputs of each class",
        (
            "task",
            "problem",
            "class",
            Column("excess kurtosis", ".1f"),
            Column("both sides, nats per row", "+.3f"),
            Column("inner side, nats per row", "+.3f"),
        ),
        rows,
        "Mean log-density of test scores under the exponential density less that under the Gaussian, with its 95 % "
        "interval; above 0 the exponential one fits better. Both sides: an asymmetric Laplace against a Gaussian. "
        "Inner side: two densities with a Gaussian outer side, one falling exponentially towards the other class, "
        "one like half a Gaussian. All are fitted to the scores of three folds.",
    )


def _sizes(results: Results, published: Published) -> Table:
    web_rows = published.figures["sizes"]["web_test_rows"]
    printed = published.tables["results"].rows
    rows: list[list[Cell]] = []
    for task in TASKS[2:]:
        scale = web_rows / chosen_part(results, task, SVM)["rows"][1] if task.source == "web" else 1.0
        for size in all_sizes(results.setting):
            if (size.source, size.kernel) == (task.source, task.kernel):
                found = [spread(results, size, *reported, scale) for reported in REPORTED]
                rows.append([task.name, size.rows, *found])
        everything = [known(totals(results, task, method)[_MEASURES[measure]]) for method, measure in REPORTED]
        training = chosen_part(results, task, SVM)["rows"][0]
        rows.append([task.name, training, *(scale * value for value in everything)])
        rows.append([f"{task.name}, published", None, *(printed[task.name, m][_MEASURES[by]] for m, by in REPORTED)])
    return Table(
        "sizes",
        "Fewer training rows",
        (
            "task",
            Column("training rows", ",d"),
            *(Column(f"{_MEASURES[measure]}, {method}", ".0f") for method, measure in REPORTED),
        ),
        rows,
        f"Mean over {draws(results.setting)} random subsets, with the least and the greatest in brackets. Counts of "
        f"Web are scaled to {web_rows:,} test rows, a number that is {published.figures['sizes']['where']}.",
    )


def _readings(results: Results, published: Published) -> Table:
    rows: list[list[Cell]] = []
    for name in dict.fromkeys(task.published for task in TASKS):
        for task in (*TASKS, *VARIANTS):
            if task.published == name:
                rows += _readings_of(results, task)
        printed = published.tables["results"].rows
        cells = [printed[name, method][measure] for method in METHODS for measure in FORMATS]
        rows.append([name, "published", None, None, *cells[:1], *cells[2:]])
    columns = [Column(f"errors, {RAW}", ".0f")]
    for method in METHODS[1:]:
        columns += [Column(f"errors, {method}", ".0f"), Column(f"−Σ log P, {method}", ".1f")]
    return Table(
        "readings",
        "Every reading of the document",
        ("task", "reading", Column("C", "g"), Column("1/(2λn)", "g"), *columns),
        rows,
        "C and 1/(2λn) in units of (mean length of a row)⁻². Costs by held-out rows: C by the errors of the support "
        "vector machine, λ by the likelihood of its own machine; the results above are these, on the first reading of "
        "each task. Topics: the largest ones. Fewer words: "
        f"{kept_words(results.setting, 'reuters-300')} per topic instead of {kept_words(results.setting, 'reuters')}. "
        "Files as published: training rows that are the test rows left in, so that test rows are not new.",
    )


def _readings_of(results: Results, task: Task) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for how, cost, likelihood in (
        ("costs by held-out rows", chosen_cost(results, task, SVM), chosen_cost(results, task, LIKELIHOOD)),
        ("C by the sigmoid's −Σ log P", chosen_cost(results, task, SVM, "log_loss"), None),
        ("both costs 1", 1.0, 1.0),
    ):
        raw, sigmoid = (totals(results, task, method, cost) for method in (RAW, SIGMOID))
        cells: list[Cell] = [task.name, how, cost, likelihood, raw["errors"], *sigmoid.values()]
        other = totals(results, task, REGULARIZED, likelihood).values() if likelihood else (None, None)
        rows.append([*cells, *other])
    return rows


def _costs(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for task in (*TASKS, *VARIANTS):
        machines = {machine: tried(results, task, machine) for machine in (SVM, LIKELIHOOD)}
        for cost in costs(results.setting):
            svm, likelihood = machines[SVM][cost], machines[LIKELIHOOD][cost]
            marks = [
                name for name, machine in (("C", SVM), ("λ", LIKELIHOOD)) if chosen_cost(results, task, machine) == cost
            ]
            rows.append(
                [
                    task.name,
                    f"{cost:g}",
                    ", ".join(marks),
                    svm["held"]["errors"],
                    svm["held"]["log_loss"],
                    svm["test"]["errors"][RAW],
                    svm["test"]["errors"][SIGMOID],
                    svm["test"]["log_loss"][SIGMOID],
                    sum(not each["converged"] for each in looks(results, task, SVM, cost).values()),
                    likelihood["held"]["errors"],
                    likelihood["held"]["log_loss"],
                    likelihood["test"]["errors"][REGULARIZED],
                    likelihood["test"]["log_loss"][REGULARIZED],
                ]
            )
    return Table(
        "costs",
        "Every cost that was tried",
        (
            "task",
            "cost",
            "chosen",
            Column("SVM: held-out errors", ".0f"),
            Column("held-out −Σ log P", ".1f"),
            Column("raw errors", ".0f"),
            Column("sigmoid errors", ".0f"),
            Column("sigmoid −Σ log P", ".1f"),
            Column("SVMs not converged", "d"),
            Column("likelihood: held-out errors", ".0f"),
            Column("held-out −Σ log P, likelihood", ".1f"),
            Column("errors", ".0f"),
            Column("−Σ log P", ".1f"),
        ),
        rows,
        "Held-out figures are sums over training rows in three folds, the others over test rows.",
    )
