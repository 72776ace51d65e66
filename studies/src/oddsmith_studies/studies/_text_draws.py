"""What verdicts over texts rest on: every method on the scores of one draw of folds, with intervals by document."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit, stdtrit
from sklearn.base import clone

from oddsmith import AsymmetricLaplaceCalibrator, Calibrator, ScoreTable
from oddsmith.checks import Floats
from oddsmith.metrics import Interval, empirical_log_odds
from oddsmith.metrics.proper import decision_log_prob, decision_squared_error
from oddsmith.plots import DensityDisplay
from oddsmith_studies.studies._intervals import over_draws
from oddsmith_studies.studies._study import Json, Part, Results, Setting
from oddsmith_studies.studies._text_features import NEWSGROUPS, OHSUMED, REUTERS, categories_of
from oddsmith_studies.studies._text_figures import bin_edges
from oddsmith_studies.studies._text_methods import (
    A_GAUSS,
    A_LAPLACE,
    A_LAPLACE_DOUBLE,
    GAUSS,
    GROWN,
    LR,
    METHODS,
    NOISE,
    PLR,
    RAW,
    as_input,
    in_doubles,
    inputs_of,
)
from oddsmith_studies.studies._text_parts import CLASSIFIER_COST, CORPUS_COST, part_name
from oddsmith_studies.studies._text_scores import PERCEPTRON, SVM, Scored, score_categories

#: How often the folds of the training rows are drawn anew.
DRAWS = 5
_QUICK_DRAWS = 1
#: The document's own corpus first, then the smaller stand-in.
ORDER = (REUTERS, OHSUMED, NEWSGROUPS)

_SIDES = ("positive_", "negative_")
_LEVEL = 0.95
#: Likelihoods closer than this, relative to their size, differ by rounding.
_ROUNDING = 1e-11
#: P within 0.001 of 0 or 1.
_SURE = float(np.log(999))


def draw_parts(
    setting: Setting, recipes: dict[str, str], classifiers: Sequence[str], methods: Sequence[str]
) -> list[Part]:
    """Return a part for each corpus, draw of folds and classifier."""
    draws = _QUICK_DRAWS if setting.quick else DRAWS
    return [
        Part(
            draw_name(corpus, classifier, draw),
            draw_part,
            {
                "corpus": corpus,
                "recipe": recipes[corpus],
                "classifier": classifier,
                "draw": draw,
                "methods": list(methods),
            },
            cost=CORPUS_COST[corpus] * CLASSIFIER_COST[classifier],
        )
        for corpus in ORDER
        for draw in range(1, draws + 1)
        for classifier in classifiers
    ]


def draw_name(corpus: str, classifier: str, draw: int) -> str:
    """Return the name of a part."""
    return part_name(f"draw-{draw}", corpus, classifier)


def draws_of(results: Results, corpus: str, classifier: str) -> list[Json]:
    """Return the draws that a run has of a corpus and classifier."""
    names = (draw_name(corpus, classifier, draw) for draw in range(1, DRAWS + 1))
    return [results[name] for name in names if name in results]


def draw_part(setting: Setting, corpus: str, recipe: str, classifier: str, draw: int, methods: Sequence[str]) -> Json:
    """Score all categories of a corpus by folds of this draw, calibrate, and keep what claims are judged by."""
    categories = categories_of(setting, corpus)
    scored = dict(score_categories(setting, corpus, recipe, classifier, categories, draw=draw))
    return {
        "classifier": classifier,
        "inputs": {
            name: _judged(classifier, {key: as_input(each, name) for key, each in scored.items()}, methods)
            for name in inputs_of(classifier)
        },
    }


def _judged(classifier: str, scored: dict[str, Scored], methods: Sequence[str]) -> Json:
    signed: dict[str, list[Floats]] = {}
    fits = {}
    probability = all(0 <= each.train.min() and each.train.max() <= 1 for each in scored.values())
    for category, each in scored.items():
        table = ScoreTable.from_arrays(each.train, each.y_train)
        fitted: dict[str, Any] = {name: clone(METHODS[name]).fit_table(table) for name in methods}
        odds = {RAW: np.log(each.test) - np.log1p(-each.test) if probability else each.test}
        odds |= {name: method.log_odds(each.test) for name, method in fitted.items()}
        if probability:
            odds[A_LAPLACE_DOUBLE] = in_doubles(table, each.test)
        mine = {name: np.where(each.y_test, values, -values) for name, values in odds.items()}
        fits[category] = _fit(fitted, table, ScoreTable.from_arrays(each.test, each.y_test))
        if A_GAUSS in fitted:
            worst = {name: float(decision_log_prob(mine[name]).min()) for name in (A_GAUSS, A_LAPLACE)}
            fits[category] |= {"worst": worst, "excess": _excess(mine[A_GAUSS], mine[A_LAPLACE])}
        for name, values in mine.items():
            signed.setdefault(name, []).append(values)
    # One row per category, one column per document.
    rows = {name: np.array(values) for name, values in signed.items()}
    # A margin is no log-odds: of a raw support vector machine only the decisions count.
    losses = [name for name in rows if not (name == RAW and classifier == SVM)]
    return {
        "totals": {
            name: [
                float(decision_log_prob(values).sum()) if name in losses else None,
                float(decision_squared_error(values).sum()) if name in losses else None,
                int(np.sum(values <= 0)),
            ]
            for name, values in rows.items()
        },
        "gains": _gains(rows, losses),
        "categories": fits,
        "largest_share": {name: _largest_share(rows[name]) for name in losses},
        "sure": float(np.mean(np.abs(rows[RAW]) > _SURE)),
        "wrong": {name: _when_wrong(rows[name]) for name in (RAW, A_LAPLACE)},
        "beyond_0.01": _beyond(rows[LR], rows[NOISE]) if NOISE in rows else None,
        "kept": {name: np.round(decision_log_prob(rows[name]), 6) for name in (RAW, A_LAPLACE, PLR)}
        if classifier != PERCEPTRON
        else None,
    }


def _beyond(first: Floats, second: Floats) -> float:
    """Return the share of decisions whose probabilities differ by more than 0.01."""
    return float(np.mean(np.abs(expit(first) - expit(second)) > 0.01))


def _fit(fitted: dict[str, Any], table: ScoreTable, test: ScoreTable) -> Json:
    """Return what claims ask of the fits of one category."""
    edges = bin_edges([table, test])
    found: dict[str, Any] = {
        "slopes": fitted[PLR].slopes_,
        "distance": {
            half: {name: _distance(rows, fitted[name], edges) for name in (LR, A_LAPLACE, PLR)}
            for half, rows in (("training", table), ("test", test))
        },
    }
    if GROWN in fitted:
        found |= {"pieces": len(fitted[GROWN].slopes_), "at_data": _at_data(table, fitted[A_LAPLACE])}
    if A_GAUSS in fitted:
        found["modes"] = [
            [mode, getattr(fitted[GAUSS], side).parameters["mu"], getattr(fitted[A_GAUSS], side).parameters["theta"]]
            for side, mode in zip(_SIDES, DensityDisplay.from_table(table).modes, strict=True)
        ]
    return found


def _at_data(table: ScoreTable, fit: AsymmetricLaplaceCalibrator) -> list[bool]:
    """Return for each class whether no mode between its scores is likelier than the best of the scores."""
    divided = AsymmetricLaplaceCalibrator(subdivisions=10).fit_table(table)
    # A search counts likelihoods that differ by rounding as ties, and may return a mode between two scores that tie.
    return [
        getattr(divided, side).log_likelihood <= best + _ROUNDING * abs(best)
        for side, best in ((side, getattr(fit, side).log_likelihood) for side in _SIDES)
    ]


def _distance(table: ScoreTable, fit: Calibrator, edges: Floats) -> float:
    """Return the mean distance of a map from the empirical log-odds, over bins with both classes."""
    found = empirical_log_odds(table, edges=edges)
    both = ~found.one_class
    if not both.any():
        return float("nan")
    weight = (found.pos + found.neg)[both]
    apart = np.abs(fit.log_odds(found.mean_score[both]) - found.log_odds[both])
    return float(weight @ apart / weight.sum())


def _excess(first: Floats, second: Floats) -> list[float]:
    """Return by which share the first log-loss of one category exceeds the second, with its interval."""
    losses = [-np.asarray(decision_log_prob(each)) for each in (first, second)]
    base = float(losses[1].sum())
    return [end / base for end in by_document((losses[0] - losses[1])[None])]


def _gains(rows: dict[str, Floats], losses: list[str]) -> Json:
    """Return what each method gains on each later one, in totals with 95 % intervals; above 0 the first is better.

    "wins" are decisions to whose truth the first method gives more probability, less those of the second.
    """
    by_measure: dict[str, dict[str, Floats]] = {
        "log-loss": {name: np.asarray(decision_log_prob(rows[name])) for name in losses},
        "squared error": {name: -np.asarray(decision_squared_error(rows[name])) for name in losses},
        "errors": {name: -(values <= 0).astype(float) for name, values in rows.items()},
    }
    found: dict[str, dict[str, dict[str, list[float]]]] = {"wins": {}}
    for measure, goods in by_measure.items():
        names = list(goods)
        found[measure] = {a: {b: by_document(goods[a] - goods[b]) for b in names[i + 1 :]} for i, a in enumerate(names)}
    found["wins"] = {
        a: {b: by_document(np.sign(rows[a] - rows[b])) for b in losses[i + 1 :]} for i, a in enumerate(losses)
    }
    return found


def by_document(differences: Floats) -> list[float]:
    """Return the total of differences, one row per category, with the 95 % t interval over documents.

    Decisions about one document are taken together: they have its words, and its labels, in common.

    Examples
    --------
    >>> import numpy as np
    >>> total, low, high = by_document(np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 0.0]]))
    >>> total, bool(low < 0 < high)
    (6.0, True)
    """
    documents = differences.sum(axis=0)
    total = float(documents.sum())
    if not np.isfinite(total):
        return [total, total, total]
    n = len(documents)
    reach = float(stdtrit(n - 1, 0.5 + _LEVEL / 2) * documents.std(ddof=1) * np.sqrt(n))
    return [total, total - reach, total + reach]


def _largest_share(signed: Floats) -> float:
    """Return the share of a method's log-loss that its worst decision makes up."""
    losses = decision_log_prob(signed)
    return float(losses.min() / losses.sum()) if np.isfinite(losses).all() else 1.0


def _when_wrong(signed: Floats) -> list[float]:
    """Return the mean squared error of wrong decisions, with its standard error by document."""
    wrong = (signed <= 0).astype(float)
    squares = wrong * decision_squared_error(signed)
    counts, sums = wrong.sum(axis=0), squares.sum(axis=0)
    mean = float(sums.sum() / counts.sum())
    # Of a ratio of sums over documents, by linearization.
    error = float(np.sqrt(((sums - mean * counts) ** 2).sum()) / counts.sum())
    return [mean, error]


def inputs_over(draws: Sequence[Json], given: str | None = None) -> list[Json]:
    """Return one input of each draw, by default the first: of logistic regression its probability."""
    return [draw["inputs"][given or next(iter(draw["inputs"]))] for draw in draws]


def gain(draws: Sequence[Json], measure: str, first: str, second: str, *, given: str | None = None) -> Interval:
    """Return what the first method gains on the second in a total or in wins, over draws."""
    return over_draws([_gained(each["gains"][measure], first, second) for each in inputs_over(draws, given)])


def _gained(kept: Json, first: str, second: str) -> list[float]:
    if second in kept.get(first, {}):
        return list(kept[first][second])
    value, low, high = kept[second][first]
    return [-value, -high, -low]


MEASURES = ("log-loss", "squared error", "errors")


def mean_total(draws: Sequence[Json], measure: str, method: str) -> float:
    """Return the mean total of a method over draws."""
    return float(np.mean([each["totals"][method][MEASURES.index(measure)] for each in inputs_over(draws)]))


def scaled(interval: Interval, base: float) -> Interval:
    """Return an interval in units of a positive number."""
    ends = (interval.value / base, interval.low / base, interval.high / base)
    return Interval(*ends, interval.level, interval.method)
