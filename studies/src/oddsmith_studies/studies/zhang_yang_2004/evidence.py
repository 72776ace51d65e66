"""What was measured for each claim of the document."""

import math
from collections.abc import Iterator

from oddsmith.metrics import Interval
from oddsmith_studies.studies._claims import OWN, STAND_IN, Case
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies._text_features import REUTERS
from oddsmith_studies.studies._text_methods import A_LAPLACE, A_LAPLACE_DOUBLE, GROWN, LR, PLR, RAW
from oddsmith_studies.studies._text_parts import part_name
from oddsmith_studies.studies._text_results import comparison, gain, paired_difference, published_name, sum_of
from oddsmith_studies.studies._text_scores import BAYES, LOGISTIC, SVM
from oddsmith_studies.studies.zhang_yang_2004.parts import CLASSIFIERS, CORPORA

Found = Iterator[tuple[str, Case]]


def all_evidence(results: Results) -> dict[str, list[Case]]:
    """Return the cases of each claim: Reuters is the document's own, the other corpora stand in for TREC-AP."""
    found: dict[str, list[Case]] = {"9.1.2b": [Case("TREC-AP, linear SVM", None)]}
    for corpus in CORPORA:
        data = OWN if corpus == REUTERS else STAND_IN
        parts = {name: results[part_name("main", corpus, name)] for name in CLASSIFIERS}
        for classifier, part in parts.items():
            for claim, case in _of_part(f"{corpus}, {classifier}", part, data):
                found.setdefault(claim, []).append(case)
        for claim, case in _of_corpus(corpus, parts, data):
            found.setdefault(claim, []).append(case)
    return found


def _of_part(name: str, part: Json, data: str) -> Found:
    laplace = published_name(part, A_LAPLACE)
    for other in (LR, laplace):
        yield "9.1.1a", Case(f"{name}, over {other}", gain(part, "log-loss", PLR, other), data)
    others = [gain(part, "squared error", PLR, other) for other in (LR, laplace)]
    least = others[0] if others[0].value < others[1].value else others[1]
    yield "9.1.2a", Case(name, least, data)
    errors = comparison(part, "errors")
    fewest = min(sum_of(errors, other) for other in (LR, PLR))
    yield "9.1.3", Case(name, sum_of(errors, laplace) - fewest, data)
    for given, found in part["inputs"].items():
        fits = found["categories"].values()
        of = name if len(part["inputs"]) == 1 else f"{name}, {given}"
        yield "9.1.6", Case(of, sum(min(fit["slopes"]) < 0 for fit in fits), data)
        yield "9.1.10", Case(of, sum(not at for fit in fits for at in fit["at_data"]), data)
    own = next(iter(part["inputs"].values()))["categories"]
    yield "9.1.7a", Case(name, sum(2 <= fit["pieces"] <= 4 for fit in own.values()) / len(own), data)
    view = comparison(part, "log-loss")
    yield "9.1.7b", Case(name, sum_of(view, GROWN) / sum_of(view, PLR) - 1, data)
    for category, fit in own.items():
        losses = {method: fit["losses"][method][0] for method in (PLR, LR, laplace)}
        ahead = losses[PLR] - max(losses[LR], losses[laplace])
        yield "9.1.12", Case(f"{name}, {category}", ahead, data)


def _of_corpus(corpus: str, parts: dict[str, Json], data: str) -> Found:
    logistic, svm, bayes = parts[LOGISTIC], parts[SVM], parts[BAYES]
    gained = gain(logistic, "log-loss", PLR, RAW)
    if data == OWN:
        yield "9.1.1b", Case(corpus, gained, data)
    yield "9.1.5a", Case(corpus, gained, data)
    for other in (LR, A_LAPLACE_DOUBLE):
        yield "9.1.5b", Case(f"{corpus}, {other}", gain(logistic, "log-loss", other, RAW), data)
    yield "9.1.4a", Case(corpus, math.isinf(sum_of(comparison(logistic, "log-loss"), A_LAPLACE_DOUBLE)), data)
    of_svm, of_odds = svm["inputs"]["score"]["kept"], logistic["inputs"]["log-odds"]["kept"]
    apart = paired_difference(of_odds[A_LAPLACE], of_svm[A_LAPLACE])
    base = -sum(of_svm[A_LAPLACE])
    yield "9.1.4b", Case(corpus, _scaled(apart, base), data)
    raw = logistic["inputs"]["probability"]["kept"][RAW]
    yield "9.1.8a", Case(corpus, paired_difference(of_svm[PLR], raw), data)
    squares = [[math.expm1(loss) ** 2 for loss in losses] for losses in (raw, of_svm[PLR])]
    yield "9.1.8b", Case(corpus, paired_difference(*squares), data)
    view = comparison(bayes, "log-loss")
    worst = min(sum_of(view, method) for method in (LR, A_LAPLACE, PLR))
    yield "9.1.9", Case(corpus, sum_of(view, RAW) / worst, data)
    for claim, measure in (("9.1.11a", "log-loss"), ("9.1.11b", "squared error"), ("9.1.11c", "errors")):
        yield claim, Case(corpus, gain(svm, measure, LR, A_LAPLACE), data)


def _scaled(interval: Interval, base: float) -> Interval:
    return Interval(interval.value / base, interval.low / base, interval.high / base, interval.level, interval.method)
