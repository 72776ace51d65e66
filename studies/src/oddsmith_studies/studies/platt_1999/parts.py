"""What is computed: one machine with one kernel and one cost per part, on all problems of a source."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from oddsmith import GaussianCalibrator, LogisticCalibrator, PlattCalibrator, ScoreTable
from oddsmith.calibrators import Calibrator
from oddsmith.checks import Bools, Floats
from oddsmith.metrics import log_loss, zero_one_error
from oddsmith.metrics.proper import decision_log_prob
from oddsmith_studies.studies._study import Json, Part, Setting
from oddsmith_studies.studies.platt_1999.densities import coefficients, describe_classes
from oddsmith_studies.studies.platt_1999.machines import LIKELIHOOD, SVM, converged, score_problem
from oddsmith_studies.studies.platt_1999.tasks import TASKS, VARIANTS, Problem, groups_of, in_group, load_problems

RAW, SIGMOID, IN_SAMPLE, PLAIN = "raw SVM", "SVM + sigmoid", "sigmoid on training scores", "sigmoid, plain targets"
GAUSSIANS, TIED = "two Gaussians", "tied Gaussians, ½ at 0"
REGULARIZED, CONSTANT = "regularized likelihood", "share of positives alone"

#: What is fitted to the scores of three folds; the same sigmoid is fitted to training scores as well.
MAPS: dict[str, Calibrator] = {
    SIGMOID: PlattCalibrator(),
    PLAIN: LogisticCalibrator(),
    GAUSSIANS: GaussianCalibrator(prior="frequency"),
    TIED: GaussianCalibrator(tied=True, bias="zero"),
}
#: Methods whose losses are kept row by row, to be paired.
PAIRED = (RAW, SIGMOID, IN_SAMPLE, REGULARIZED)

#: How near to the margin a row is on it.
MARGIN = 1e-3

Rule = Literal["errors", "log_loss"]
#: What held-out rows choose the cost of each machine by.
RULES: Mapping[str, Rule] = {SVM: "errors", LIKELIHOOD: "log_loss"}

_COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
_QUICK_COSTS = (1.0, 10.0)


def all_parts(setting: Setting) -> list[Part]:
    """Return a part for each source, kernel, machine and cost."""
    kinds = dict.fromkeys((task.source, task.kernel) for task in (*TASKS, *VARIANTS))
    return [
        Part(
            part_name(source, kernel, machine, cost),
            machine_part,
            {"source": source, "kernel": kernel, "machine": machine, "cost": cost},
            cost=_time(source, kernel, machine, cost),
        )
        for source, kernel in kinds
        for machine in (SVM, LIKELIHOOD)
        for cost in costs(setting)
    ]


def judged_parts(setting: Setting) -> list[Part]:
    """Return the parts that verdicts rest on: those of the document's own tasks, in their main reading."""
    sources = {task.source for task in TASKS}
    return [part for part in all_parts(setting) if part.arguments["source"] in sources]


def costs(setting: Setting) -> tuple[float, ...]:
    """Return the costs that are tried."""
    return _QUICK_COSTS if setting.quick else _COSTS


def part_name(source: str, kernel: str, machine: str, cost: float) -> str:
    """Return the name of a part."""
    return f"{source}-{kernel}-{machine}-{cost:g}"


def _time(source: str, kernel: str, machine: str, cost: float) -> float:
    """Return roughly how many seconds a part takes."""
    if source.startswith("reuters"):
        return 70.0 if machine == SVM or source != "reuters" else 180.0
    if kernel == "linear":
        return 60.0 if machine == SVM and cost >= 10 else 8.0
    return {0.01: 20.0, 0.1: 25.0, 1.0: 60.0, 10.0: 180.0}.get(cost, 300.0)


def machine_part(setting: Setting, source: str, kernel: str, machine: str, cost: float) -> Json:
    """Train and judge one machine on all problems of a source.

    Returns, for each group of problems, sums over held-out and test decisions, and losses of test rows summed over the
    group's problems; and for each problem what its machine looks like.
    """
    problems = load_problems(setting, source, kernel)
    shown = _shown(source)
    judged = {each.name: judge_problem(setting, each, kernel, machine, cost, shown) for each in problems}
    return {
        "rows": [len(problems[0].y_train), len(problems[0].y_test)],
        "groups": {
            group: _summed([judged[each.name] for place, each in enumerate(problems) if in_group(place, group)])
            for group in groups_of(source)
        },
        "problems": {name: each["looks"] for name, each in judged.items()},
        "shown": {"scores": np.round(judged[shown]["scores"], 5), "y": judged[shown]["y"]} if machine == SVM else None,
    }


def _shown(source: str) -> str:
    return next(task.shown for task in (*TASKS, *VARIANTS) if task.source == source)


def judge_problem(
    setting: Setting, problem: Problem, kernel: str, machine: str, cost: float, shown: str = ""
) -> dict[str, Any]:
    """Train one machine on one problem: held-out sums, losses of test rows by method, and what the machine looks like.

    The classes' densities are described for the problem that is ``shown``.
    """
    truth, positive = problem.y_test, int(problem.y_train.sum())
    looks: dict[str, Any] = {"positive": positive}
    # The add-one estimate.
    prior = np.full(len(truth), np.log(positive + 1) - np.log(len(problem.y_train) - positive + 1))
    if not positive:
        # Nothing can be learned of a topic without a training story.
        methods = (RAW, *MAPS, IN_SAMPLE, CONSTANT) if machine == SVM else (REGULARIZED,)
        held = _totals(ScoreTable.from_arrays(np.full(len(problem.y_train), prior[0]), problem.y_train))
        return {"held": held, "looks": looks} | _losses(dict.fromkeys(methods, prior), truth)
    scores = score_problem(setting, problem, kernel, machine, cost)
    table = ScoreTable.from_arrays(scores.held, scores.y_held)
    if machine == LIKELIHOOD:
        looks |= _expansion(scores.machine.dual_coef_)
        odds = {REGULARIZED: scores.test}
        held = _totals(table)
    else:
        looks |= _support(scores.train, problem.y_train) | {"converged": converged(scores.machine)}
        fits = {name: clone(method).fit_table(table) for name, method in MAPS.items()}
        fits[IN_SAMPLE] = PlattCalibrator().fit(scores.train, problem.y_train)
        looks["maps"] = {name: coefficients(fit) for name, fit in fits.items()}
        if problem.name == shown:
            looks["classes"] = describe_classes(table, scores.test, truth)
        odds = {RAW: scores.test, CONSTANT: prior} | {name: fit.log_odds(scores.test) for name, fit in fits.items()}
        # Of the two that choose a cost, the first is the machine's own error, the second the sigmoid's likelihood.
        held = _totals(table) | {"log_loss": _totals(table.map(fits[SIGMOID].log_odds))["log_loss"]}
    return {"held": held, "looks": looks, "scores": scores.test, "y": truth} | _losses(odds, truth)


def _totals(forecast: ScoreTable) -> dict[str, float]:
    return {"errors": zero_one_error.of(forecast, total=True), "log_loss": log_loss.of(forecast, total=True)}


def _losses(odds: dict[str, Floats], truth: Bools) -> dict[str, Any]:
    """Return errors and −log P of each test row by method."""
    return {
        "errors": {name: ((values > 0) != truth).astype(int) for name, values in odds.items()},
        # A margin is no log-odds: of a raw support vector machine only the decisions count.
        "log_loss": {
            name: -decision_log_prob(np.where(truth, values, -values)) for name, values in odds.items() if name != RAW
        },
    }


def _summed(judged: list[dict[str, Any]]) -> Json:
    """Return sums over problems: of held-out and of test decisions, and row by row where they are to be paired."""
    rows = {
        measure: {name: np.sum([each[measure][name] for each in judged], axis=0) for name in judged[0][measure]}
        for measure in ("errors", "log_loss")
    }
    return {
        "problems": len(judged),
        "held": {name: sum(each["held"][name] for each in judged) for name in ("errors", "log_loss")},
        "test": {measure: {name: values.sum() for name, values in by.items()} for measure, by in rows.items()},
        "paired": {
            measure: {name: np.round(values, 6) for name, values in by.items() if name in PAIRED}
            for measure, by in rows.items()
        },
    }


def _support(train: Floats, y: Bools) -> dict[str, int]:
    """Count training rows inside the margin, which must be support vectors, and on it, which may be."""
    signed = np.where(y, train, -train)
    return {"inside": int(np.sum(signed < 1 - MARGIN)), "on": int(np.sum(np.abs(signed - 1) <= MARGIN))}


def _expansion(coef: Floats) -> dict[str, float]:
    """Count the coefficients of the likelihood machine that are not 0, and those below a hundredth of the largest."""
    size = np.abs(coef)
    return {"nonzero": int(np.sum(size > 0)), "small": int(np.sum(size < 0.01 * size.max()))}
