"""What the parts measured: the cost that held-out rows choose, and the figures of each task with it."""

import numpy as np

from oddsmith.metrics import Interval
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies._text_results import paired_difference
from oddsmith_studies.studies.platt_1999.machines import LIKELIHOOD, SVM
from oddsmith_studies.studies.platt_1999.parts import RAW, REGULARIZED, RULES, Rule, costs, part_name
from oddsmith_studies.studies.platt_1999.tasks import Task, in_group


def machine_of(method: str) -> str:
    """Return the machine behind a method."""
    return LIKELIHOOD if method == REGULARIZED else SVM


def part_of(results: Results, task: Task, machine: str, cost: float) -> Json:
    """Return the part of a task with a machine and a cost."""
    return results[part_name(task.source, task.kernel, machine, cost)]


def tried(results: Results, task: Task, machine: str) -> dict[float, Json]:
    """Return the sums of a task by cost."""
    return {cost: part_of(results, task, machine, cost)["groups"][task.group] for cost in costs(results.setting)}


def chosen_cost(results: Results, task: Task, machine: str, rule: Rule | None = None) -> float:
    """Return the cost with the least held-out errors or −Σ log P, the smallest of equals."""
    found = tried(results, task, machine)
    return min(found, key=lambda cost: (found[cost]["held"][rule or RULES[machine]], cost))


def chosen_part(results: Results, task: Task, machine: str) -> Json:
    """Return the part with the chosen cost."""
    return part_of(results, task, machine, chosen_cost(results, task, machine))


def totals(results: Results, task: Task, method: str, cost: float | None = None) -> dict[str, float | None]:
    """Return errors and −Σ log P of a method on test rows, with the chosen cost or another."""
    machine = machine_of(method)
    found = tried(results, task, machine)[cost or chosen_cost(results, task, machine)]["test"]
    return {
        "errors": found["errors"][method],
        "−Σ log P": None if method == RAW else found["log_loss"][method],
    }


def total_of(results: Results, task: Task, method: str, measure: str = "−Σ log P") -> float:
    """Return a total that is surely there."""
    value = totals(results, task, method)[measure]
    assert value is not None
    return value


def difference(results: Results, task: Task, first: str, second: str, measure: Rule) -> Interval:
    """Return first less second over the same test rows; decisions about one story are taken together."""
    rows = []
    for method in (first, second):
        part = chosen_part(results, task, machine_of(method))
        rows.append(part["groups"][task.group]["paired"][measure][method])
    return paired_difference(*rows)


def looks(results: Results, task: Task, machine: str, cost: float | None = None) -> dict[str, Json]:
    """Return what the machines of a task look like, problem by problem, with the chosen cost or another."""
    problems = part_of(results, task, machine, cost or chosen_cost(results, task, machine))["problems"]
    return {
        name: each
        for place, (name, each) in enumerate(problems.items())
        if in_group(place, task.group) and each["positive"]
    }


def crossings(results: Results, task: Task, method: str) -> dict[str, float]:
    """Return −b/a of each problem whose sigmoid is not constant: the score at which P = ½."""
    lines = {name: each["maps"][method] for name, each in looks(results, task, SVM).items()}
    return {name: -line[1] / line[0] for name, line in lines.items() if line is not None}


def shares(results: Results, task: Task, machine: str, *counts: str) -> float:
    """Return the share of training rows that some counts make up, mean over problems."""
    rows = chosen_part(results, task, machine)["rows"][0]
    return float(
        np.mean([sum(each[name] for name in counts) / rows for each in looks(results, task, machine).values()])
    )
