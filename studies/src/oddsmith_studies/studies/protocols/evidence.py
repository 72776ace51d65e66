"""What was measured for what the documents say of calibration scores."""

from oddsmith_studies.studies._claims import Case
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies.protocols.measured import CLASSIFIERS, against, as_interval, tasks_of
from oddsmith_studies.studies.protocols.parts import IN_SAMPLE, LEAVE_ONE_OUT
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
            Case(f"{_name(task)}, {label}", skew(task, label))
            for task in tasks_of(results, BAYES)
            for label in ("positive", "negative")
        ],
        "5.1e": [
            Case(_name(task), as_interval(task["two_less_ten_folds"]))
            for classifier in CLASSIFIERS
            for task in tasks_of(results, classifier)
        ],
    }


def skew(task: Json, label: str) -> float:
    """Return how much farther a class's leave-one-out scores are from its test scores than those of five folds."""
    away = [task["protocols"][name]["distance"][label] for name in (LEAVE_ONE_OUT, "5 folds")]
    return float(away[0] - away[1])


def _name(task: Json) -> str:
    return f"{task['source']}, {task['classifier']}"
