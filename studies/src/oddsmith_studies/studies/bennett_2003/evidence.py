"""What was measured for each claim of the document, on several draws of folds."""

from collections.abc import Iterator, Sequence

import numpy as np

from oddsmith.metrics import Interval
from oddsmith_studies.studies._claims import EVERYTHING, OWN, STAND_IN, Case
from oddsmith_studies.studies._intervals import over_draws, share_interval
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies._text_draws import DRAWS, draws_of, gain, inputs_over, mean_total, scaled
from oddsmith_studies.studies._text_features import REUTERS
from oddsmith_studies.studies._text_methods import A_GAUSS, A_LAPLACE, GAUSS, HYBRID, LAPLACE, LR, NOISE, PLR, RAW
from oddsmith_studies.studies._text_scores import BAYES, PERCEPTRON, SVM
from oddsmith_studies.studies.bennett_2003.parts import CLASSIFIERS, CORPORA, SEVEN, SHOWN, TIMES, reading_name

Found = Iterator[tuple[str, Case]]

_BEST = (A_LAPLACE, NOISE, LR)
#: The claim about each rival of the three.
_RIVALS = {GAUSS: "9.2.1a", LAPLACE: "9.2.1b", RAW: "9.2.1c", A_GAUSS: "9.2.1d"}
_LOSSES = ("log-loss", "squared error")


def all_evidence(results: Results, reading: str = "") -> dict[str, list[Case]]:
    """Return the cases of each claim: Reuters is the document's own, the others stand in for MSN Web and TREC-AP.

    With a ``reading`` the support vector machine on Reuters is that of another reading.
    """
    found: dict[str, list[Case]] = {
        "9.2.4b": [],
        "9.2.4c": [Case("MSN Web", None)],
        "9.2.4d": [],
        "9.2.6c": [],
    }
    modes: dict[str, list[list[float]]] = {}

    def add(cases: Found) -> None:
        for claim, case in cases:
            found.setdefault(claim, []).append(case)

    for corpus in CORPORA:
        data = OWN if corpus == REUTERS else STAND_IN
        for classifier in CLASSIFIERS:
            if draws := _draws(results, corpus, classifier, reading):
                add(_of_classifier(f"{corpus}, {classifier}", draws, data))
                modes.setdefault(data, []).extend(_modes(draws))
        if votes := draws_of(results, corpus, PERCEPTRON):
            for method in (LR, A_LAPLACE):
                add(iter([("9.2.11c", Case(f"{corpus}, {method}", gain(votes, "log-loss", method, RAW), data))]))
    for data, some in modes.items():
        add(iter([("9.2.6a", Case("modes of all classes", _nearer(some), data))]))
    for classifier in CLASSIFIERS:
        add(_earn(classifier, _draws(results, REUTERS, classifier, reading)))
    if TIMES in results:
        add(iter([("9.2.9", Case(name, fast)) for name, fast in results[TIMES]["below"].items()]))
    return found


def _draws(results: Results, corpus: str, classifier: str, reading: str) -> list[Json]:
    if not reading or (corpus, classifier) != (REUTERS, SVM):
        return draws_of(results, corpus, classifier)
    names = (reading_name(reading, draw) for draw in range(1, DRAWS + 1))
    return [results[name] for name in names if name in results]


def _of_classifier(name: str, draws: Sequence[Json], data: str) -> Found:
    bayes = draws[0]["classifier"] == BAYES
    methods = [each for each in SEVEN if bayes or each != RAW]
    for measure in _LOSSES:
        totals = {method: abs(mean_total(draws, measure, method)) for method in methods}
        for rival, claim in _RIVALS.items():
            if rival in methods:
                for good in _BEST:
                    gained = scaled(gain(draws, measure, good, rival), totals[rival])
                    yield claim, Case(f"{name}, {good}, {measure}", gained, data)
        yield "9.2.2a", Case(f"{name}, {measure}", scaled(gain(draws, measure, NOISE, LR), totals[LR]), data)
        for other in (LR, NOISE):
            ahead = gain(draws, measure, other, A_LAPLACE)
            yield "9.2.4a", Case(f"{name}, {other}, {measure}", ahead, data)
            if ahead.value > 0:
                wins = gain(draws, "wins", other, A_LAPLACE)
                yield "9.2.4b", Case(f"{name}, {other}, {measure}", wins, data)
                yield "9.2.4d", Case(f"{name}, {other}, {measure}", scaled(ahead, totals[A_LAPLACE]), data)
        for other in (RAW, A_GAUSS) if bayes else (A_GAUSS,):
            yield "9.2.5b", Case(f"{name}, {other}, {measure}", gain(draws, measure, A_LAPLACE, other), data)
        for method in methods:
            if measure == "squared error":
                over = totals[method] - mean_total(draws, "errors", A_LAPLACE)
                yield "9.2.10b", Case(f"{name}, {method}", over, EVERYTHING)
    yield "9.2.2b", Case(name, float(np.mean([each["beyond_0.01"] for each in inputs_over(draws)])), data)
    for other in SEVEN:
        if other != A_LAPLACE:
            more = gain(draws, "errors", other, A_LAPLACE)
            yield "9.2.3", Case(f"{name}, {other}", more, data)
            yield "9.2.5c", Case(f"{name}, {other}", more, data)
    for other in (GAUSS, LAPLACE, LR, NOISE):
        yield "9.2.5a", Case(f"{name}, {other}", gain(draws, "wins", other, A_LAPLACE), data)
    for other in (RAW, A_GAUSS) if bayes else (A_GAUSS,):
        yield "9.2.5d", Case(f"{name}, {other}", gain(draws, "wins", other, A_LAPLACE), data)
    yield "9.2.6b", Case(name, gain(draws, "log-loss", A_LAPLACE, A_GAUSS), data)
    yield from _without_outliers(name, draws, data)
    if bayes:
        yield "9.2.7a", Case(name, float(np.mean([each["sure"] for each in inputs_over(draws)])), data)
        wrong = [[_with_error(each["wrong"][method]) for method in (RAW, A_LAPLACE)] for each in inputs_over(draws)]
        yield "9.2.7b", Case(name, over_draws([_difference(*pair) for pair in wrong]), data)
    for method in methods:
        share = float(np.mean([each["largest_share"][method] for each in inputs_over(draws)]))
        yield "9.2.10a", Case(f"{name}, {method}", share, EVERYTHING)
    yield "9.2.11a", Case(name, gain(draws, "log-loss", HYBRID, A_LAPLACE), data)
    yield "9.2.11b", Case(name, gain(draws, "log-loss", PLR, A_LAPLACE), data)


def _without_outliers(name: str, draws: Sequence[Json], data: str) -> Found:
    """Return the excess of A. Gauss in the categories where no draw has a worse single decision of it."""
    for category in inputs_over(draws)[0]["categories"]:
        fits = [each["categories"][category] for each in inputs_over(draws)]
        if all(fit["worst"][A_GAUSS] >= fit["worst"][A_LAPLACE] for fit in fits):
            yield "9.2.6c", Case(f"{name}, {category}", over_draws([fit["excess"] for fit in fits]), data)


def _with_error(kept: Sequence[float]) -> tuple[float, float]:
    mean, error = kept
    return mean, error


def _difference(first: tuple[float, float], second: tuple[float, float]) -> list[float]:
    """Return the difference of two means with its interval, as of independent ones: it is the longer for it."""
    middle, reach = first[0] - second[0], 1.959963984540054 * float(np.hypot(first[1], second[1]))
    return [middle, middle - reach, middle + reach]


def _modes(draws: Sequence[Json]) -> list[list[float]]:
    """Return modes by a kernel estimate, Gauss and A. Gauss, of each class and category, mean over draws."""
    by_draw = [[modes for fit in each["categories"].values() for modes in fit["modes"]] for each in inputs_over(draws)]
    return [list(each) for each in np.mean(by_draw, axis=0)]


def _nearer(modes: Sequence[Sequence[float]]) -> Interval:
    """Return the share of classes in which A. Gauss places the mode nearer to a kernel estimate than Gauss does."""
    nearer = sum(abs(theta - mode) < abs(mean - mode) for mode, mean, theta in modes)
    farther = sum(abs(theta - mode) > abs(mean - mode) for mode, mean, theta in modes)
    return share_interval(nearer, nearer + farther)


def _earn(classifier: str, draws: Sequence[Json]) -> Found:
    for half in ("training", "test") if draws else ():
        away = [each["categories"][SHOWN]["distance"][half] for each in inputs_over(draws)]
        apart = float(np.mean([of[A_LAPLACE] - of[LR] for of in away]))
        yield "9.2.8", Case(f"{classifier}, {half} scores", apart)
