"""Verdicts on what the document claims."""

from collections.abc import Mapping

import numpy as np

from oddsmith.metrics import Interval
from oddsmith_studies.studies._claims import Claim, judge_all
from oddsmith_studies.studies._published import Published
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import written
from oddsmith_studies.studies._text_results import known
from oddsmith_studies.studies.platt_1999.densities import INNER, WHOLE, falls_at, gain_interval
from oddsmith_studies.studies.platt_1999.figures import shown_table
from oddsmith_studies.studies.platt_1999.machines import LIKELIHOOD, SVM
from oddsmith_studies.studies.platt_1999.measured import chosen_part, difference, looks, shares, total_of
from oddsmith_studies.studies.platt_1999.parts import GAUSSIANS, IN_SAMPLE, RAW, REGULARISED, SIGMOID
from oddsmith_studies.studies.platt_1999.tasks import DRAWN, TASKS

_PAIRED = "95 % intervals of paired differences of totals over test rows"


def all_claims(results: Results) -> list[Claim]:
    """Return a verdict on each claim."""
    published = results.published
    return [
        _errors(results, published),
        _likelihood(results, published),
        _sparse(results),
        _exponential(results),
        _turning(results),
        _biased(results),
    ]


def _errors(results: Results, published: Published) -> Claim:
    found = {task.name: difference(results, task, SIGMOID, RAW, "errors") for task in TASKS}
    fewer, more = sum(each.high < 0 for each in found.values()), sum(each.low > 0 for each in found.values())
    printed = published.tables["results"].rows
    theirs = {
        task.published: known(printed[task.published, SIGMOID]["errors"])
        - known(printed[task.published, RAW]["errors"])
        for task in TASKS
    }
    return Claim(
        "9.3.1",
        "With a sigmoid a support vector machine makes about as many errors as without, or fewer.",
        "sigmoid less raw: " + ", ".join(f"{value:+.0f} ({name})" for name, value in theirs.items()),
        f"sigmoid less raw: {_listed(found, '+.0f')}",
        judge_all([each.low <= 0 for each in found.values()]),
        f"{_PAIRED}: surely fewer errors on {fewer} of {len(found)} tasks, surely more on {more}; a task speaks "
        "against the claim where the interval lies above 0",
    )


def _likelihood(results: Results, published: Published) -> Claim:
    printed = published.tables["results"].rows
    theirs = {
        task.published: known(printed[task.published, SIGMOID]["−Σ log p"])
        / known(printed[task.published, REGULARISED]["−Σ log p"])
        - 1
        for task in TASKS
    }
    ours = {task.name: total_of(results, task, SIGMOID) / total_of(results, task, REGULARISED) - 1 for task in TASKS}
    found = {task.name: difference(results, task, SIGMOID, REGULARISED, "log_loss") for task in TASKS}
    better, worse = (
        sum(held) for held in zip(*((each.high < 0, each.low > 0) for each in found.values()), strict=True)
    )
    reach = max(abs(value) for value in theirs.values())
    return Claim(
        "9.3.2",
        "The probabilities of a support vector machine with a sigmoid are about as likely as those of the regularised-"
        "likelihood machine; neither dominates.",
        f"−Σ log p of the sigmoid against the other: {_percent(theirs)}; better on "
        f"{sum(value < 0 for value in theirs.values())} of {len(theirs)} tasks",
        f"{_percent(ours)}; difference {_listed(found, '+.0f')}: sigmoid surely better on {better}, surely worse on "
        f"{worse} of {len(found)} tasks",
        judge_all([*(abs(value) <= reach for value in ours.values()), (better > 0) == (worse > 0)]),
        f"about as likely: totals no farther apart than the document's own farthest, {100 * reach:.0f} %; one "
        f"dominates if it is surely better on a task and the other on none, by {_PAIRED}; this rule was settled when a "
        "quick run on fewer rows had been seen",
    )


def _sparse(results: Results) -> Claim:
    held, shown = [], []
    for task in TASKS:
        rows = chosen_part(results, task, LIKELIHOOD)["rows"][0]
        upper = shares(results, task, SVM, "inside", "on")
        full = [each["nonzero"] == rows for each in looks(results, task, LIKELIHOOD).values()]
        held += [upper < 1, all(full)]
        shown.append(
            f"{task.name} {100 * upper:.0f} % against {100 * shares(results, task, LIKELIHOOD, 'nonzero'):.0f} %"
        )
    return Claim(
        "9.3.3",
        "The expansion of a support vector machine stays sparse with a sigmoid; that of the likelihood machine has a "
        "coefficient for every training row.",
        "said without a figure",
        f"rows that may be support vectors against rows with c ≠ 0: {', '.join(shown)}",
        judge_all(held),
        "sparse where fewer than all rows lie inside or on the margin; the likelihood machine counts as full where no "
        "coefficient is 0 (the table of sparsity tells how many are small)",
    )


def _exponential(results: Results) -> Claim:
    held: dict[str, list[bool]] = {WHOLE: [], INNER: []}
    against = 0
    for task in DRAWN:
        for found in looks(results, task, SVM)[task.shown]["classes"].values():
            for pair, each in held.items():
                gain = gain_interval(found, pair)
                each.append(gain.low > 0)
                against += pair == WHOLE and gain.high < 0
    return Claim(
        "9.3.4",
        "The outputs of a support vector machine, class by class, are far from Gaussian and apparently exponential.",
        "said of pictures that are not at hand",
        f"of {len(held[WHOLE])} classes an asymmetric Laplace density fits {sum(held[WHOLE])} surely better than a "
        f"Gaussian and {against} surely worse; on the side of the other class alone an exponential fall fits "
        f"{sum(held[INNER])} surely better than half a Gaussian",
        judge_all(held[WHOLE]),
        "95 % intervals of the mean gain in log-density of test rows, densities fitted to scores of three folds; the "
        "verdict is by both sides; of Reuters the category earn",
    )


def _turning(results: Results) -> Claim:
    inside, rows = {}, {}
    for task in DRAWN:
        table = shown_table(results, task)
        falls = falls_at(looks(results, task, SVM)[task.shown]["maps"][GAUSSIANS], table.scores)
        rows[task.name] = 100 * float(table.total[falls].sum() / table.total.sum())
        inside[task.name] = bool(falls.any())
    return Claim(
        "9.3.5",
        "The posterior that follows from two Gaussians is not monotone.",
        "follows from the formula; seen in a picture that is not at hand",
        "test rows where it falls as the output rises: "
        + ", ".join(f"{share:.2g} % ({name})" for name, share in rows.items()),
        judge_all(list(inside.values())),
        "a parabola of log-odds always turns where the variances differ; a task counts where a test row lies beyond "
        "the turn; of Reuters the category earn",
    )


def _biased(results: Results) -> Claim:
    found = {task.name: difference(results, task, IN_SAMPLE, SIGMOID, "log_loss") for task in TASKS}
    slopes = {}
    for task in TASKS:
        maps = [each["maps"] for each in looks(results, task, SVM).values() if each["maps"][SIGMOID] is not None]
        slopes[task.name] = float(np.median([each[IN_SAMPLE][0] / each[SIGMOID][0] for each in maps]))
    return Claim(
        "9.3.6",
        "A sigmoid fitted to the outputs for the machine's own training rows is biased.",
        "said without a figure",
        f"−Σ log p on training scores less three folds: {_listed(found, '+.0f')}; its slope is "
        + ", ".join(f"{ratio:.2f} ({name})" for name, ratio in slopes.items())
        + " times that of three folds (median over categories)",
        judge_all([each.low > 0 for each in found.values()]),
        f"{_PAIRED}: a task counts where the interval lies above 0",
    )


def _listed(found: Mapping[str, Interval], form: str) -> str:
    return ", ".join(f"{written(each, form)} ({name})" for name, each in found.items())


def _percent(found: Mapping[str, float]) -> str:
    return ", ".join(f"{100 * value:+.0f} % ({name})" for name, value in found.items())
