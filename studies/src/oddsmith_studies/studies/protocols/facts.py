"""Numbers of the page."""

import numpy as np

from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies.protocols.measured import mean_distance, relative_change, tasks_of
from oddsmith_studies.studies.protocols.parts import IN_SAMPLE, LEAVE_ONE_OUT
from oddsmith_studies.studies.protocols.tasks import BAYES, CATEGORIES, SVM, TREES

#: What the page calls the protocols that it compares for every classifier.
_PROTOCOLS = {"in_sample": IN_SAMPLE, "2_folds": "2 folds", "5_folds": "5 folds", "held_out": "30 % held out"}


def all_remarks(results: Results) -> dict[str, str]:
    """Return what each protocol does to scores, errors and losses."""
    tasks = {name: tasks_of(results, of) for name, of in (("bayes", BAYES), ("svm", SVM), ("trees", TREES))}
    found = {
        "tasks": f"{len(results)}",
        "categories": f"{sum(task['source'] in CATEGORIES for task in tasks['svm'])}",
        "errors_in_sample": _errors(tasks["trees"], IN_SAMPLE),
        "errors_3_folds": _errors(tasks["trees"], "3 folds"),
        "errors_on_test_rows": f"{100 * np.mean([task['test']['error'] for task in tasks['trees']]):.1f}",
        "distance_leave_one_out": f"{mean_distance(tasks['bayes'], LEAVE_ONE_OUT):.3f}",
        "distance_10_folds": f"{mean_distance(tasks['bayes'], '10 folds'):.3f}",
        "distance_5_folds": f"{mean_distance(tasks['bayes'], '5 folds'):.3f}",
        "platt_leave_one_out": _change(tasks["bayes"], LEAVE_ONE_OUT, "Platt"),
        "laplace_leave_one_out": _change(tasks["bayes"], LEAVE_ONE_OUT, "A. Laplace"),
    }
    for classifier, some in tasks.items():
        found |= {f"platt_{key}_{classifier}": _change(some, name, "Platt") for key, name in _PROTOCOLS.items()}
        found[f"isotonic_in_sample_{classifier}"] = _change(some, IN_SAMPLE, "isotonic")
        if classifier != "bayes":
            found[f"distance_in_sample_{classifier}"] = f"{mean_distance(some, IN_SAMPLE):.2f}"
            found[f"distance_3_folds_{classifier}"] = f"{mean_distance(some, '3 folds'):.2f}"
    return found


def _errors(tasks: list[Json], protocol: str) -> str:
    return f"{100 * np.mean([task['protocols'][protocol]['error'] for task in tasks]):.1f}"


def _change(tasks: list[Json], protocol: str, method: str) -> str:
    return f"{100 * float(np.mean([relative_change(task, protocol, method) for task in tasks])):+.1f} %"
