"""What was measured for each claim of the document, on several draws of folds."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from oddsmith.metrics import Interval
from oddsmith_studies.studies._claims import OWN, STAND_IN, Case
from oddsmith_studies.studies._intervals import over_draws, share_interval
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies._text_draws import (
    by_document,
    draws_of,
    gain,
    inputs_over,
    mean_total,
    scaled,
)
from oddsmith_studies.studies._text_features import REUTERS
from oddsmith_studies.studies._text_methods import A_LAPLACE, A_LAPLACE_DOUBLE, GROWN, LR, PLR, RAW
from oddsmith_studies.studies._text_scores import BAYES, LOGISTIC, SVM
from oddsmith_studies.studies.zhang_yang_2004.parts import CLASSIFIERS, CORPORA

Found = Iterator[tuple[str, Case]]


def all_evidence(results: Results) -> dict[str, list[Case]]:
    """Return the cases of each claim: Reuters is the document's own, the other corpora stand in for TREC-AP."""
    found: dict[str, list[Case]] = {"9.1.2b": [Case("TREC-AP, linear SVM", None)]}
    fits: dict[str, list[int]] = {}

    def add(cases: Found) -> None:
        for claim, case in cases:
            found.setdefault(claim, []).append(case)

    for corpus in CORPORA:
        data = OWN if corpus == REUTERS else STAND_IN
        parts = {name: draws_of(results, corpus, name) for name in CLASSIFIERS}
        for classifier, draws in parts.items():
            if draws:
                add(_of_classifier(f"{corpus}, {classifier}", draws, data))
                fits.setdefault(data, []).extend(_pieces(draws))
        if all(parts.values()):
            add(_of_corpus(corpus, parts, data))
    for data, pieces in fits.items():
        few = sum(2 <= each <= 4 for each in pieces)
        add(iter([("9.1.7a", Case("all fits", share_interval(few, len(pieces)), data))]))
    return found


def laplace_of(draws: Sequence[Json]) -> str:
    """Return the method behind a published row: of A. Laplace on probabilities the one where P may be 0."""
    return A_LAPLACE_DOUBLE if A_LAPLACE_DOUBLE in inputs_over(draws)[0]["totals"] else A_LAPLACE


def _of_classifier(name: str, draws: Sequence[Json], data: str) -> Found:
    laplace = laplace_of(draws)
    for other in (LR, laplace):
        yield "9.1.1a", Case(f"{name}, over {other}", gain(draws, "log-loss", PLR, other), data)
    rivals = [other for other in (RAW, LR, laplace) if mean_or_none(draws, "squared error", other) is not None]
    best = min(rivals, key=lambda other: mean_total(draws, "squared error", other))
    yield "9.1.2a", Case(f"{name}, over {best}", gain(draws, "squared error", PLR, best), data)
    fewest = min((RAW, LR, PLR), key=lambda other: mean_total(draws, "errors", other))
    excess = gain(draws, "errors", fewest, laplace)
    yield "9.1.3", Case(f"{name}, over {fewest}", scaled(excess, mean_total(draws, "errors", fewest)), data)
    for given in draws[0]["inputs"]:
        fits = [fit for each in inputs_over(draws, given) for fit in each["categories"].values()]
        of = name if len(draws[0]["inputs"]) == 1 else f"{name}, {given}"
        yield "9.1.6", Case(of, sum(min(fit["slopes"]) < 0 for fit in fits), data)
        yield "9.1.10", Case(of, sum(not at for fit in fits for at in fit["at_data"]), data)
    gained = gain(draws, "log-loss", GROWN, PLR)
    yield "9.1.7b", Case(name, scaled(gained, -mean_total(draws, "log-loss", PLR)), data)
    for category in inputs_over(draws)[0]["categories"]:
        away = [each["categories"][category]["distance"]["test"] for each in inputs_over(draws)]
        nearest = [of[PLR] - min(of[LR], of[A_LAPLACE]) for of in away]
        yield "9.1.12", Case(f"{name}, {category}", float(np.mean(nearest)), data)


def mean_or_none(draws: Sequence[Json], measure: str, method: str) -> float | None:
    """Return a mean total, or None of a raw classifier that gives no probability."""
    kept = inputs_over(draws)[0]["totals"][method]
    return None if None in kept and measure != "errors" else mean_total(draws, measure, method)


def _pieces(draws: Sequence[Json]) -> list[int]:
    return [fit["pieces"] for each in inputs_over(draws) for fit in each["categories"].values()]


def _of_corpus(corpus: str, parts: dict[str, list[Json]], data: str) -> Found:
    logistic, svm, bayes = parts[LOGISTIC], parts[SVM], parts[BAYES]
    gained = gain(logistic, "log-loss", PLR, RAW)
    if data == OWN:
        yield "9.1.1b", Case(corpus, scaled(gained, -mean_total(logistic, "log-loss", RAW)), data)
    yield "9.1.5a", Case(corpus, gained, data)
    yield "9.1.5c", Case(corpus, gain(logistic, "squared error", PLR, RAW), data)
    for other in (LR, A_LAPLACE_DOUBLE):
        yield "9.1.5b", Case(f"{corpus}, {other}", gain(logistic, "log-loss", other, RAW), data)
        yield "9.1.5d", Case(f"{corpus}, {other}", gain(logistic, "squared error", other, RAW), data)
    yield "9.1.4a", Case(corpus, math.isinf(mean_total(logistic, "log-loss", A_LAPLACE_DOUBLE)), data)
    of_svm = [np.array(each["kept"][A_LAPLACE]) for each in inputs_over(svm)]
    of_odds = [np.array(each["kept"][A_LAPLACE]) for each in inputs_over(logistic, "log-odds")]
    apart = _over_pairs([odds - margin for odds, margin in zip(of_odds, of_svm, strict=True)])
    yield "9.1.4b", Case(corpus, scaled(apart, -mean_total(svm, "log-loss", A_LAPLACE)), data)
    raw = [np.array(each["kept"][RAW]) for each in inputs_over(logistic)]
    lines = [np.array(each["kept"][PLR]) for each in inputs_over(svm)]
    yield "9.1.8a", Case(corpus, _over_pairs([mine - own for mine, own in zip(lines, raw, strict=True)]), data)
    squares = [np.expm1(own) ** 2 - np.expm1(mine) ** 2 for mine, own in zip(lines, raw, strict=True)]
    yield "9.1.8b", Case(corpus, _over_pairs(squares), data)
    worst = min((LR, A_LAPLACE, PLR), key=lambda method: mean_total(bayes, "log-loss", method))
    ratio = mean_total(bayes, "log-loss", RAW) / mean_total(bayes, "log-loss", worst)
    yield "9.1.9", Case(corpus, ratio, data)
    for claim, measure in (("9.1.11a", "log-loss"), ("9.1.11b", "squared error"), ("9.1.11c", "errors")):
        yield claim, Case(corpus, gain(svm, measure, LR, A_LAPLACE), data)


def _over_pairs(differences: Sequence[np.ndarray]) -> Interval:
    return over_draws([by_document(each) for each in differences])
