"""What was measured for what the documents say of calibration scores."""

from oddsmith_studies.studies._claims import Case
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies.protocols.measured import CLASSIFIERS, against, as_interval, tasks_of
from oddsmith_studies.studies.protocols.parts import IN_SAMPLE, LEAVE_ONE_OUT, METHODS
from oddsmith_studies.studies.protocols.tasks import BAYES, SVM, TREES


def all_evidence(results: Results) -> dict[str, list[Case]]:
    """Return the cases of each remark, one task each; all data are the documents'."""
    folds = results.published.figures["folds"]
    trees = tasks_of(results, TREES)
    return {
        "5.1a": [
            Case(_name(task), against(task, IN_SAMPLE, "Platt", folds["platt"])) for task in tasks_of(results, SVM)
        ],
        "5.1b": [
            Case(f"{_name(task)}, {method}", against(task, IN_SAMPLE, method, folds["boosting"]))
            for task in trees
            for method in ("Platt", "isotonic")
        ],
        "5.1c": [Case(_name(task), task["protocols"][IN_SAMPLE]["isotonic_values"] == [0.0, 1.0]) for task in trees],
        "5.1d": [
            Case(f"{_name(task)}, {method}", against(task, LEAVE_ONE_OUT, method, folds["bennett"]))
            for task in tasks_of(results, BAYES)
            for method in METHODS
        ],
        "5.1e": [
            Case(_name(task), as_interval(task["two_less_ten_folds"]))
            for classifier in CLASSIFIERS
            for task in tasks_of(results, classifier)
        ],
    }


def _name(task: Json) -> str:
    return f"{task['source']}, {task['classifier']}"
