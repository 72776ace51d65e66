"""The page of the protocols."""

import numpy as np

from oddsmith_studies.studies._page import Story
from oddsmith_studies.studies._record import Record
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies.protocols.measured import mean_distance, relative_change, tasks_of
from oddsmith_studies.studies.protocols.parts import IN_SAMPLE, LEAVE_ONE_OUT
from oddsmith_studies.studies.protocols.tasks import BAYES, CATEGORIES, SVM, TREES


def tell(record: Record) -> Story:
    """Tell what each protocol does to scores and to losses."""
    return Story(
        claims="A calibrator must see scores like those it will meet: scores of a classifier's own training cases are "
        "biased, too few folds underestimate the classifier, and leave-one-out can skew the scores.",
        found=record.remarks["found"],
        table="protocols",
        shows="the change in log-loss by protocol, classifier and method.",
        figure="changes",
        draws="the change in log-loss of each task against ten folds.",
        unchecked="No document prints a comparison of protocols, so that there are no published figures.",
        body=record.remarks["body"],
    )


def all_remarks(results: Results) -> dict[str, str]:
    """Return what was found in short, and the page below it."""
    svm, trees, bayes = (tasks_of(results, classifier) for classifier in (SVM, TREES, BAYES))
    found = (
        "Scores of training rows cost Platt scaling "
        f"{_change(trees, IN_SAMPLE, 'Platt')} of log-loss with boosted trees, {_change(svm, IN_SAMPLE, 'Platt')} with "
        f"the support vector machine and {_change(bayes, IN_SAMPLE, 'Platt')} with naive Bayes, against ten folds; two "
        f"folds instead of ten {_change(trees, '2 folds', 'Platt')}, {_change(svm, '2 folds', 'Platt')} and "
        f"{_change(bayes, '2 folds', 'Platt')}."
    )
    return {"found": found, "body": _body(results)}


def _body(results: Results) -> str:
    svm, trees, bayes = (tasks_of(results, classifier) for classifier in (SVM, TREES, BAYES))
    errors = {
        name: 100 * float(np.mean([task["protocols"][name]["error"] for task in trees]))
        for name in (IN_SAMPLE, "3 folds")
    }
    tested = 100 * float(np.mean([task["test"]["error"] for task in trees]))
    categories = sum(task["source"] in CATEGORIES for task in svm)
    return f"""\
## What was done

All the documents warn of scores that a classifier gives to its own training cases, and each gets others in its own way:

{{{{ table schemes }}}}

Here every way is tried on the same {len(results)} tasks: {categories} categories of Reuters and Adult, each with naive
Bayes and with a linear support vector machine; Adult and two problems of printed letters with boosted trees. The
classifier in use is always the one trained on all training rows; only the scores that calibrate it differ. Words are
kept or dropped without a look at labels, so that no protocol can leak them.

## In-sample scores

{{{{ figure scores }}}}

The largest gap between the distributions of in-sample and of test scores is {mean_distance(svm, IN_SAMPLE):.2f} for the
support vector machine and {mean_distance(trees, IN_SAMPLE):.2f} for boosted trees, against
{mean_distance(svm, "3 folds"):.2f} and {mean_distance(trees, "3 folds"):.2f} with three folds. Boosted trees make
{errors[IN_SAMPLE]:.1f} % errors on the rows they were trained on, {errors["3 folds"]:.1f} % on those left out of three
folds, and {tested:.1f} % on test rows. In log-loss on test rows, Platt scaling on in-sample scores instead of ten folds
costs {_change(bayes, IN_SAMPLE, "Platt")} with naive Bayes, {_change(svm, IN_SAMPLE, "Platt")} with the support vector
machine and {_change(trees, IN_SAMPLE, "Platt")} with boosted trees; isotonic regression
{_change(bayes, IN_SAMPLE, "isotonic")}, {_change(svm, IN_SAMPLE, "isotonic")} and
{_change(trees, IN_SAMPLE, "isotonic")}.

## How many folds

A classifier trained on half of the rows is not the one in use. With two folds instead of ten, Platt scaling changes
the log-loss by {_change(bayes, "2 folds", "Platt")} for naive Bayes, {_change(svm, "2 folds", "Platt")} for the support
vector machine and {_change(trees, "2 folds", "Platt")} for boosted trees; with five folds by
{_change(bayes, "5 folds", "Platt")}, {_change(svm, "5 folds", "Platt")} and {_change(trees, "5 folds", "Platt")}. With
30 % held out, where fewer rows calibrate, it is {_change(bayes, "30 % held out", "Platt")},
{_change(svm, "30 % held out", "Platt")} and {_change(trees, "30 % held out", "Platt")}.

## Leave-one-out

Naive Bayes needs no training for it: a row leaves the counts of its class by subtraction, which gives all scores in one
pass. Their distance to test scores is {mean_distance(bayes, LEAVE_ONE_OUT):.3f}, that of ten folds
{mean_distance(bayes, "10 folds"):.3f} and that of five {mean_distance(bayes, "5 folds"):.3f}; Platt scaling on them
instead of ten folds changes the log-loss by {_change(bayes, LEAVE_ONE_OUT, "Platt")}, the asymmetric Laplace
distributions by {_change(bayes, LEAVE_ONE_OUT, "A. Laplace")}.

{{{{ figure distances }}}}"""


def _change(tasks: list[Json], protocol: str, method: str) -> str:
    return f"{100 * float(np.mean([relative_change(task, protocol, method) for task in tasks])):+.1f} %"
