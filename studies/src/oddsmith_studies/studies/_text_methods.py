"""Scores to probabilities: every method of both papers on the same decisions, compared by both papers' tests."""

from dataclasses import fields
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from oddsmith import (
    AsymmetricGaussianCalibrator,
    AsymmetricLaplaceCalibrator,
    Calibrator,
    GaussianCalibrator,
    HybridCalibrator,
    LaplaceCalibrator,
    LogisticCalibrator,
    PiecewiseLogisticCalibrator,
    PlattCalibrator,
    ScoreTable,
)
from oddsmith.checks import Bools, Floats
from oddsmith.metrics import compare
from oddsmith.metrics.comparison import MeasureComparison
from oddsmith.metrics.proper import decision_log_prob, decision_squared_error
from oddsmith_studies.studies._study import Json, Setting
from oddsmith_studies.studies._text_features import categories_of
from oddsmith_studies.studies._text_scores import LOGISTIC, SVM, Scored, score_categories

RAW, LR, NOISE, PLR, GROWN = "raw", "LR", "LR+noise", "PLR", "PLR, grown"
#: Logistic regression with the document's penalty λ(a² + b²), λ chosen on held-out scores.
LR_CHOSEN = "LR, λ chosen"
GAUSS, A_GAUSS, LAPLACE, A_LAPLACE, HYBRID = "Gauss", "A. Gauss", "Laplace", "A. Laplace", "hybrid"
GUARDED = "A. Laplace, guarded"
#: The asymmetric Laplace with rates so large, and P in double precision, that P = 0 occurs.
A_LAPLACE_DOUBLE = "A. Laplace, P in doubles"

METHODS: dict[str, Calibrator] = {
    LR: LogisticCalibrator(),
    NOISE: PlattCalibrator(),
    GAUSS: GaussianCalibrator(),
    A_GAUSS: AsymmetricGaussianCalibrator(),
    LAPLACE: LaplaceCalibrator(),
    A_LAPLACE: AsymmetricLaplaceCalibrator(),
    GUARDED: AsymmetricLaplaceCalibrator(min_side=0.05),
    HYBRID: HybridCalibrator(),
    PLR: PiecewiseLogisticCalibrator(),
    GROWN: PiecewiseLogisticCalibrator(n_pieces="grow"),
}

#: The tests of methods in Zhang & Yang (2004) and in Bennett (2003), as `oddsmith.metrics.compare` takes them.
PROTOCOLS: dict[str, dict[str, Any]] = {"ZY04": {"test": "t", "alpha": 0.05}, "B03": {"test": "sign", "alpha": 0.01}}

#: Penalties λ among which held-out scores choose, and those whose totals are shown one by one.
PENALTIES = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
SHOWN_PENALTIES = (0.1, 1.0, 10.0, 20.0, 100.0)
_FOLDS = 5

#: Rates of spikes, relative to the range of the scores, with which P underflows.
_STEEP = 1e12
#: Shares of decisions, the worst of a method, that may be left out of its total.
_WORST = (0.0001, 0.001, 0.01)


def calibrate_corpus(setting: Setting, corpus: str, recipe: str, classifier: str, shown: str | None = None) -> Json:
    """Score all categories of a corpus, calibrate by every method, and compare over all decisions.

    Parameters
    ----------
    setting : Setting
    corpus, recipe, classifier : str
    shown : str, optional
        The category whose scores are kept for pictures.
    """
    categories = categories_of(setting, corpus)
    scored = dict(score_categories(setting, corpus, recipe, classifier, categories))
    return {
        "corpus": corpus,
        "recipe": recipe,
        "classifier": classifier,
        "categories": list(categories),
        "positive": {name: [int(each.y_train.sum()), int(each.y_test.sum())] for name, each in scored.items()},
        "rows": [len(scored[categories[0]].y_train), len(scored[categories[0]].y_test)],
        "inputs": {
            name: _calibrate(classifier, {key: as_input(each, name) for key, each in scored.items()})
            for name in inputs_of(classifier)
        },
        "shown": None if shown is None else {"category": shown, **scored[shown]._asdict()},
    }


def inputs_of(classifier: str) -> tuple[str, ...]:
    """Return what calibrators are given: of the logistic-regression classifier its probability, then its log-odds."""
    return ("probability", "log-odds") if classifier == LOGISTIC else ("score",)


def as_input(scored: Scored, name: str) -> Scored:
    """Return scores as calibrators are given them."""
    return scored._replace(train=expit(scored.train), test=expit(scored.test)) if name == "probability" else scored


def _calibrate(classifier: str, scored: dict[str, Scored]) -> Json:
    odds: dict[str, list[Floats]] = {}
    penalized: dict[float, list[Floats]] = {}
    fits = {}
    probability = all(0 <= each.train.min() and each.train.max() <= 1 for each in scored.values())
    for category, each in scored.items():
        table = ScoreTable.from_arrays(each.train, each.y_train)
        found = {RAW: np.log(each.test) - np.log1p(-each.test) if probability else each.test}
        fitted: dict[str, Calibrator] = {name: clone(method).fit_table(table) for name, method in METHODS.items()}
        fitted[LR_CHOSEN] = LogisticCalibrator(penalty=chosen_penalty(each.train, each.y_train)).fit_table(table)
        for penalty in SHOWN_PENALTIES:
            line = LogisticCalibrator(penalty=penalty).fit_table(table).log_odds(each.test)
            penalized.setdefault(penalty, []).append(np.where(each.y_test, line, -line))
        found |= {name: method.log_odds(each.test) for name, method in fitted.items()}
        if probability:
            found[A_LAPLACE_DOUBLE] = in_doubles(table, each.test)
        for name, values in found.items():
            odds.setdefault(name, []).append(values)
        fits[category] = _describe(fitted)
    truth = np.concatenate([each.y_test for each in scored.values()])
    pooled = {name: np.concatenate(values) for name, values in odds.items()}
    signed = {name: np.where(truth, values, -values) for name, values in pooled.items()}
    sizes = [len(each.y_test) for each in scored.values()]
    # A margin is no log-odds: of a raw support vector machine only the decisions count.
    no_losses = {RAW} if classifier == SVM else set()
    return {
        "decisions": len(truth),
        "penalties": {f"{penalty:g}": _losses(np.concatenate(values), False) for penalty, values in penalized.items()},
        "comparisons": {name: _compare(truth, pooled, tests, no_losses) for name, tests in PROTOCOLS.items()},
        "categories": {
            category: fits[category] | {"losses": {name: _losses(part[name], name in no_losses) for name in signed}}
            for category, part in _by_category(signed, list(scored), sizes)
        },
        "worst": {name: _without_worst(values, signed[A_LAPLACE]) for name, values in signed.items()},
        "extreme": _extremes(signed[RAW], pooled[RAW]),
        "noise": _agreement(pooled[LR], pooled[NOISE]),
    }


def chosen_penalty(scores: Floats, y: Bools) -> float:
    """Return the penalty of logistic regression with the best log-loss on held-out scores, the least of equals."""
    folds = list(StratifiedKFold(_FOLDS, shuffle=True, random_state=0).split(scores, y))

    def gain(penalty: float) -> float:
        total = 0.0
        for rest, held in folds:
            odds = LogisticCalibrator(penalty=penalty).fit(scores[rest], y[rest]).log_odds(scores[held])
            total += float(decision_log_prob(np.where(y[held], odds, -odds)).sum())
        return total

    return max(PENALTIES, key=lambda penalty: (gain(penalty), -penalty))


def in_doubles(table: ScoreTable, test: Floats) -> Floats:
    """Return log-odds of the asymmetric Laplace with spikes so steep that P may be 0 in double precision."""
    low, high = table.span()
    odds = AsymmetricLaplaceCalibrator(inf=_STEEP / (high - low)).fit_table(table).log_odds(test)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(expit(odds)) - np.log(expit(-odds)))


def _compare(truth: Bools, odds: dict[str, Floats], tests: Json, no_losses: set[str]) -> Json:
    """Return what each measure's comparison holds; those of losses leave out what has none."""
    everyone = compare(truth, odds, input="log_odds", **tests)
    some = {name: values for name, values in odds.items() if name not in no_losses}
    losses = compare(truth, some, input="log_odds", **tests) if no_losses else everyone
    chosen = {"log_loss": losses, "squared_error": losses, "zero_one_error": everyone}
    found = {
        measure: {field.name: getattr(each[measure], field.name) for field in fields(MeasureComparison)}
        for measure, each in chosen.items()
    }
    for measure, part in found.items():
        sums = len(truth) * part["means"]
        part["totals"] = {"log_loss": -sums, "zero_one_error": np.rint(sums)}.get(measure, sums)
    return found


def _by_category(signed: dict[str, Floats], categories: list[str], sizes: list[int]) -> Any:
    ends = np.cumsum(sizes)
    for category, end, size in zip(categories, ends, sizes, strict=True):
        yield category, {name: values[end - size : end] for name, values in signed.items()}


def _losses(signed: Floats, decisions_only: bool) -> list[float | None]:
    errors = float(np.sum(signed <= 0))
    if decisions_only:
        return [None, None, errors]
    return [float(decision_log_prob(signed).sum()), float(decision_squared_error(signed).sum()), errors]


def _describe(fitted: dict[str, Any]) -> Json:
    """Return what tables show of the fits of one category."""
    sides = ("positive_", "negative_")
    return {
        "slopes": fitted[PLR].slopes_,
        "penalty": fitted[LR_CHOSEN].penalty,
        "pieces": len(fitted[GROWN].slopes_),
        "spikes": sum(getattr(fitted[A_LAPLACE], side).spike for side in sides),
    }


def _without_worst(signed: Floats, reference: Floats) -> Json:
    """Return the share of the worst decision in a method's log-loss, and totals of it and of a reference without some.

    The worst are those of the method, left out of both totals.
    """
    losses, others = decision_log_prob(signed), decision_log_prob(reference)
    order = np.argsort(losses, kind="stable")
    whole = float(losses.sum())
    totals = {}
    for share in _WORST:
        left = order[int(np.ceil(share * len(order))) :]
        totals[f"{share:g}"] = [float(losses[left].sum()), float(others[left].sum())]
    return {"largest_share": float(losses[order[0]]) / whole if np.isfinite(whole) else 1.0, "without": totals}


def _extremes(signed: Floats, odds: Floats) -> Json:
    """Return how sure the raw classifier is, and how sure where it is wrong: P within 0.001 of 0 or 1."""
    sure = np.abs(odds) > np.log(999)
    wrong = signed <= 0
    return {
        "sure": float(sure.mean()),
        "wrong": int(wrong.sum()),
        "wrong_and_sure": int((sure & wrong).sum()),
        "share_of_loss": float(decision_log_prob(signed[wrong]).sum() / decision_log_prob(signed).sum()),
    }


def _agreement(first: Floats, second: Floats) -> Json:
    """Return how far apart two methods are, decision by decision."""
    apart = np.abs(expit(first) - expit(second))
    return {
        "mean": float(apart.mean()),
        "beyond_0.01": float(np.mean(apart > 0.01)),
        "decided_otherwise": int(np.sum((first > 0) != (second > 0))),
    }
