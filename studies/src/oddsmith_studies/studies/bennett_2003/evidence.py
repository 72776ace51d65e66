"""What was measured for each claim of the document."""

from collections.abc import Iterator

import numpy as np
from scipy.stats import binomtest

from oddsmith import Calibrator, ScoreTable
from oddsmith.metrics import Interval, empirical_log_odds
from oddsmith_studies.studies._claims import OWN, STAND_IN, Case
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies._text_features import REUTERS
from oddsmith_studies.studies._text_figures import refit, shown_tables
from oddsmith_studies.studies._text_methods import A_GAUSS, A_LAPLACE, GAUSS, HYBRID, LAPLACE, LR, NOISE, PLR, RAW
from oddsmith_studies.studies._text_parts import part_name
from oddsmith_studies.studies._text_results import gain, more_wins, sum_of
from oddsmith_studies.studies._text_scores import BAYES, PERCEPTRON
from oddsmith_studies.studies.bennett_2003.parts import CLASSIFIERS, CORPORA, TIMES
from oddsmith_studies.studies.bennett_2003.tables import SEVEN, seven

Found = Iterator[tuple[str, Case]]

_LOSSES = {"log-loss": "9.2.1a", "squared error": "9.2.1b"}
_BEST = (A_LAPLACE, NOISE, LR)
_OTHERS = (GAUSS, LAPLACE, A_GAUSS)


def all_evidence(results: Results) -> dict[str, list[Case]]:
    """Return the cases of each claim: Reuters is the document's own, the others stand in for MSN Web and TREC-AP."""
    found: dict[str, list[Case]] = {"9.2.4b": [], "9.2.4c": [Case("MSN Web", None)]}

    def add(cases: Found) -> None:
        for claim, case in cases:
            found.setdefault(claim, []).append(case)

    for corpus in CORPORA:
        data = OWN if corpus == REUTERS else STAND_IN
        for classifier in CLASSIFIERS:
            add(_of_part(f"{corpus}, {classifier}", results[part_name("main", corpus, classifier)], data))
        votes = results[part_name("main", corpus, PERCEPTRON)]
        add(iter([("9.2.11c", Case(corpus, gain(votes, "log-loss", LR, RAW), data))]))
    for data, corpora in ((OWN, CORPORA[:1]), (STAND_IN, CORPORA[1:])):
        parts = [results[part_name("main", corpus, name)] for corpus in corpora for name in CLASSIFIERS]
        add(iter([("9.2.6a", Case("modes of all classes", _nearer(parts), data))]))
    for classifier in CLASSIFIERS:
        add(_earn(classifier, results[part_name("main", REUTERS, classifier)]))
    add(iter([("9.2.9", Case(name, fast)) for name, fast in results[TIMES]["below"].items()]))
    return found


def _of_part(name: str, part: Json, data: str) -> Found:
    found, bayes = part["inputs"]["score"], part["classifier"] == BAYES
    for measure, claim in _LOSSES.items():
        for good in _BEST:
            for other in _OTHERS:
                yield claim, Case(f"{name}, {good} over {other}", gain(part, measure, good, other), data)
            if bayes:
                yield "9.2.1c", Case(f"{name}, {good}, {measure}", gain(part, measure, good, RAW), data)
        view = seven(part, measure)
        yield "9.2.2a", Case(f"{name}, {measure}", sum_of(view, NOISE) / sum_of(view, LR) - 1, data)
        for other in (LR, NOISE):
            ahead = gain(part, measure, other, A_LAPLACE).value
            yield "9.2.4a", Case(f"{name}, {other}, {measure}", ahead, data)
            if ahead > 0:
                wins = more_wins(seven(part, "log-loss"), other, A_LAPLACE)
                yield "9.2.4b", Case(f"{name}, {other}, {measure}", wins, data)
        for other in (RAW, A_GAUSS) if bayes else (A_GAUSS,):
            yield "9.2.5b", Case(f"{name}, {other}, {measure}", gain(part, measure, A_LAPLACE, other), data)
    yield "9.2.2b", Case(name, found["noise"]["beyond_0.01"], data)
    losses, errors = seven(part, "log-loss"), seven(part, "errors")
    rivals = [other for other in SEVEN if other != A_LAPLACE]
    best = min(rivals, key=lambda other: sum_of(errors, other))
    yield "9.2.3", Case(f"{name}, against {best}", more_wins(errors, best, A_LAPLACE), data)
    for other in (GAUSS, LAPLACE, LR, NOISE):
        yield "9.2.5a", Case(f"{name}, {other}", more_wins(losses, other, A_LAPLACE), data)
    for other in rivals:
        yield "9.2.5c", Case(f"{name}, {other}", more_wins(errors, other, A_LAPLACE), data)
    yield "9.2.6b", Case(name, gain(part, "log-loss", A_LAPLACE, A_GAUSS), data)
    mine, theirs = found["worst"][A_GAUSS]["without"]["0.01"]
    yield "9.2.6c", Case(name, mine / theirs - 1, data)
    if bayes:
        extreme = found["extreme"]
        yield "9.2.7a", Case(name, extreme["sure"], data)
        yield "9.2.7b", Case(name, extreme["wrong_and_sure"] / extreme["wrong"], data)
    squares, hard = seven(part, "squared error"), sum_of(errors, A_LAPLACE)
    for method in squares.names:
        yield "9.2.10a", Case(f"{name}, {method}", found["worst"][method]["largest_share"], data)
        yield "9.2.10b", Case(f"{name}, {method}", sum_of(squares, method) - hard, data)
    yield "9.2.11a", Case(name, gain(part, "log-loss", HYBRID, A_LAPLACE), data)
    yield "9.2.11b", Case(name, gain(part, "log-loss", PLR, A_LAPLACE), data)


def _nearer(parts: list[Json]) -> Interval:
    """Return the share of classes in which A. Gauss places the mode nearer to a kernel estimate than Gauss does."""
    nearer = farther = 0
    for part in parts:
        for fit in part["inputs"]["score"]["categories"].values():
            for mode, mean, theta in fit["modes"]:
                nearer += abs(theta - mode) < abs(mean - mode)
                farther += abs(theta - mode) > abs(mean - mode)
    share = binomtest(nearer, nearer + farther).proportion_ci(0.95, "exact")
    return Interval(nearer / (nearer + farther), float(share.low), float(share.high), 0.95, "exact interval")


def _earn(classifier: str, part: Json) -> Found:
    tables = shown_tables(part)
    fits = refit(tables["train"], (LR, A_LAPLACE))
    for half, table in tables.items():
        away = {name: _distance(table, fit) for name, fit in fits.items()}
        yield "9.2.8", Case(f"{classifier}, {half} scores", away[A_LAPLACE] - away[LR])


def _distance(table: ScoreTable, fit: Calibrator) -> float:
    """Return the mean distance of a map from the empirical log-odds, over bins with both classes."""
    found = empirical_log_odds(table)
    both = ~found.one_class
    weight = (found.pos + found.neg)[both]
    apart = np.abs(fit.log_odds(found.mean_score[both]) - found.log_odds[both])
    return float(weight @ apart / weight.sum())
