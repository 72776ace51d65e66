"""What was measured: the default against every calibrator, and the documents' claims over more classifiers."""

from collections.abc import Sequence
from typing import get_args

import numpy as np

from oddsmith_studies.studies._claims import EVERYTHING, Case, Measured
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies.summary.measured import ALL, Field, Loss, collect
from oddsmith_studies.studies.summary.methods import AUTO, RAW
from oddsmith_studies.studies.summary.tables import groups_of

_LIMIT = 2000
_TEXT_CLASSIFIERS = ("naive Bayes", "linear SVM", "logistic regression")


def all_evidence(results: Results) -> dict[str, list[Case]]:
    """Return the cases of each claim."""
    field = collect(results)
    found: dict[str, list[Case]] = {}

    def add(claim: str, name: str, value: Measured) -> None:
        found.setdefault(claim, []).append(Case(name, value, EVERYTHING))

    losses: tuple[Loss, ...] = get_args(Loss)
    for loss in losses:
        add("S.1", _words(loss), len(field.beaten_by(AUTO, loss=loss)) if field.can_judge() else "undecided")
    for name, where in groups_of(field).items():
        add("S.2", name, len(field.beaten_by(AUTO, where)) if field.can_judge(where) else "undecided")
    for name in ("asymmetric Laplace", "piecewise logistic"):
        add("S.3", name, field.difference(name, AUTO, field.texts))
    for size in field.sizes:
        if size != ALL and int(size) < _LIMIT:
            add("S.4", f"{size} cases", field.difference("Platt", "isotonic", field.size == size, "brier"))
    fewest = (field.size == field.sizes[0]) & ~field.thinned
    for name in ("Platt", "isotonic", AUTO):
        add("S.5", f"{name}, {field.sizes[0]} cases", field.difference(name, RAW, fewest, "brier"))
    texts = field.texts & ~field.thinned & (field.size == ALL)
    for name in _present(field, _TEXT_CLASSIFIERS):
        for other in ("logistic", "asymmetric Laplace"):
            difference = field.difference("piecewise logistic", other, texts & (field.classifier == name))
            add("S.6", f"{name}, less {other}", difference)
    named = np.isin(field.classifier, _present(field, ("naive Bayes", "linear SVM", "voted perceptron")))
    for first in ("asymmetric Laplace", "Platt", "logistic"):
        for second in ("Gaussian", "Laplace", "asymmetric Gaussian"):
            for loss in losses:
                difference = field.difference(first, second, texts & named, loss)
                add("S.7", f"{first} less {second}, {_words(loss)}", difference)
    for claim, name in (("S.8a", "boosted stumps"), ("S.8b", "boosted trees")):
        where = ~field.thinned & (field.classifier == name)
        add(claim, name, field.difference("logistic correction", "Platt", where))
    enough = np.isin(field.size, (ALL, "2000")) & ~field.thinned
    gains = {
        name: field.difference(AUTO, RAW, enough & (field.classifier == name), "brier").value
        for name in field.classifiers
    }
    ranking = sorted(gains, key=lambda name: gains[name])
    for name in _present(field, ("boosted trees", "linear SVM", "boosted stumps", "naive Bayes")):
        add("S.9", name, (ranking.index(name) + 1) / len(ranking))
    return found


def _present(field: Field, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in field.classifiers]


def _words(loss: Loss) -> str:
    return "log-loss" if loss == "log_loss" else "Brier score"
