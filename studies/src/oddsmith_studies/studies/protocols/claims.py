"""Verdicts on what the documents say of calibration scores."""

from collections.abc import Sequence

from oddsmith.metrics import Interval, sign_test
from oddsmith_studies.studies._claims import Claim, Verdict, judge_all
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies.protocols.measured import (
    CLASSIFIERS,
    against,
    as_interval,
    count_signs,
    mean_distance,
    slope_ratio,
    tasks_of,
)
from oddsmith_studies.studies.protocols.parts import IN_SAMPLE, LEAVE_ONE_OUT, METHODS
from oddsmith_studies.studies.protocols.tasks import BAYES, SVM, TREES

_SAID = "said without a figure"


def all_claims(results: Results) -> list[Claim]:
    """Return a verdict on each remark."""
    published = results.published
    folds = published.figures["folds"]
    return [
        _training_scores(tasks_of(results, SVM), folds["platt"]),
        _training_set(tasks_of(results, TREES), folds["boosting"]),
        _leave_one_out(tasks_of(results, BAYES), folds["bennett"]),
        _few_folds(results),
    ]


def _training_scores(tasks: list[Json], reference: str) -> Claim:
    found = [against(task, IN_SAMPLE, "Platt", reference) for task in tasks]
    steeper = sum(slope_ratio(task, IN_SAMPLE, reference) > 1 for task in tasks)
    test = sign_test(steeper, len(tasks) - steeper)
    return Claim(
        "9.3.6",
        "A sigmoid fitted to the scores of a support vector machine's own training cases is biased.",
        _SAID,
        f"log-loss against {reference}: {_counted(found)}; the fitted sigmoid is steeper on {steeper} of {len(tasks)}",
        judge_all([each.low > 0 for each in found]),
        f"a task counts where the 95 % interval of the paired difference in log-loss lies above 0; the slopes (sign "
        f"test over tasks, p = {test.p_value:.2g}) are shown beside it and do not decide",
    )


def _training_set(tasks: list[Json], reference: str) -> Claim:
    worse = {
        method: [against(task, IN_SAMPLE, method, reference) for task in tasks] for method in ("Platt", "isotonic")
    }
    steps = [task["protocols"][IN_SAMPLE]["isotonic_values"] == [0.0, 1.0] for task in tasks]
    held = [each.low > 0 for method in worse for each in worse[method]]
    return Claim(
        "9.4.8",
        "Calibrating boosted trees on their training set fails: isotonic regression becomes a step from 0 to 1.",
        _SAID,
        f"a step on {sum(steps)} of {len(tasks)} tasks; log-loss against {reference}: {_by_method(worse)}",
        judge_all([*steps, *held]),
        "a step where the fitted probabilities are 0 and 1 alone; worse where the 95 % interval of the paired "
        "difference in log-loss lies above 0",
    )


def _leave_one_out(tasks: list[Json], reference: str) -> Claim:
    found = {method: [against(task, LEAVE_ONE_OUT, method, reference) for task in tasks] for method in METHODS}
    counts = {method: count_signs(each) for method, each in found.items()}
    worse, better = (sum(pair[side] for pair in counts.values()) for side in (0, 1))
    farther = sum(mean_distance([task], LEAVE_ONE_OUT) > mean_distance([task], reference) for task in tasks)
    verdict: Verdict = "partly" if worse and better else "confirmed" if worse else "not confirmed"
    return Claim(
        "5.1, leave-one-out",
        "Leave-one-out is cheap for naive Bayes, but can skew the distribution of scores.",
        _SAID,
        f"against {reference}: scores farther from those of test rows on {farther} of {len(tasks)} tasks; log-loss "
        f"{_by_method(found)}",
        verdict,
        f"of {len(tasks) * len(METHODS)} pairs of task and method leave-one-out is surely worse on {worse} and surely "
        f"better on {better}",
    )


def _few_folds(results: Results) -> Claim:
    found = {
        classifier: [as_interval(task["two_less_ten_folds"]) for task in tasks_of(results, classifier)]
        for classifier in CLASSIFIERS
    }
    by_classifier = "; ".join(f"{name} {_counted(each, 'more', 'fewer')}" for name, each in found.items())
    return Claim(
        "5.1, few folds",
        "Too few folds underestimate the final classifier.",
        _SAID,
        f"errors on training rows with 2 folds, against 10: {by_classifier}",
        judge_all([each.low > 0 for classifier in found for each in found[classifier]]),
        "a task counts where the 95 % interval of the paired difference lies above 0; the decisions of naive Bayes are "
        "those of its own threshold, which is off, so fewer errors need not mean a better classifier",
    )


def _counted(found: Sequence[Interval], above: str = "worse", below: str = "better") -> str:
    more, less = count_signs(found)
    return f"{above} on {more}, {below} on {less} of {len(found)} tasks"


def _by_method(found: dict[str, list[Interval]]) -> str:
    return "; ".join(f"{method} {_counted(each)}" for method, each in found.items())
