"""What the document mentions and does not run: other rules for the number of pieces, other curves, other costs."""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from oddsmith import Calibrator, PiecewiseLogisticCalibrator, ScoreTable, SplineCalibrator
from oddsmith.checks import Floats
from oddsmith.metrics import empirical_log_odds
from oddsmith.metrics.proper import decision_log_prob, decision_squared_error
from oddsmith_studies.data.text_choices import mean_norm_cost
from oddsmith_studies.studies._study import Json, Setting
from oddsmith_studies.studies._text_features import (
    RECIPES,
    REUTERS,
    categories_of,
    choose_words,
    count_corpus,
    load_texts,
    weigh,
)
from oddsmith_studies.studies._text_scores import score_categories

#: Rules for the number of pieces, by what the page calls them.
THREE, GAIN, AIC, BIC, MDL = "three pieces", "grown, 1 % rule", "grown, AIC", "grown, BIC", "grown, MDL"
CUBIC, SPLINE, EMPIRICAL = "cubic polynomial", "smoothing spline", "line through empirical log-odds"
RIVALS = (THREE, GAIN, AIC, BIC, MDL, CUBIC, SPLINE, EMPIRICAL)

#: Percentiles among which growing chooses knots.
_CANDIDATES = 19
_BINS = 20
_DEGREE = 3

#: Costs of the logistic-regression classifier, in units of 1, and numbers of words; a million is all of them.
SWEPT_COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
SWEPT_WORDS = (300, 1000, 2000, 1_000_000)
SWEPT_RECIPES = ("Zhang & Yang", "Zhang & Yang, gain over occurrences")


class _Polynomial(NamedTuple):
    """Log-odds that are a polynomial in the standardized score."""

    middle: float
    scale: float
    coefficients: list[float]

    def log_odds(self, scores: Floats) -> Floats:
        """Return the log-odds at scores."""
        return np.asarray(np.polyval(self.coefficients, (scores - self.middle) / self.scale))


def rivals_part(setting: Setting, classifier: str) -> Json:
    """Return the totals of every rival on Reuters, and how many pieces the grown ones have."""
    categories = categories_of(setting, REUTERS)
    totals = dict.fromkeys(RIVALS, np.zeros(3))
    pieces: dict[str, list[int]] = {name: [] for name in (GAIN, AIC, BIC, MDL)}
    for _, each in score_categories(setting, REUTERS, "Zhang & Yang", classifier, categories):
        # A classifier of probabilities is calibrated by its log-odds: powers of a probability bend less.
        table = ScoreTable.from_arrays(each.train, each.y_train)
        for name, fit in _fits(table):
            odds = np.asarray(fit.log_odds(each.test))
            signed = np.where(each.y_test, odds, -odds)
            sums = (decision_log_prob(signed).sum(), decision_squared_error(signed).sum(), np.sum(signed <= 0))
            totals[name] = totals[name] + np.array(sums)
            if name in pieces:
                pieces[name].append(len(fit.slopes_))
    return {"classifier": classifier, "totals": totals, "pieces": pieces}


def _fits(table: ScoreTable) -> Iterable[tuple[str, Any]]:
    yield THREE, PiecewiseLogisticCalibrator().fit_table(table)
    for name, rule in ((GAIN, "gain"), (AIC, "aic"), (BIC, "bic")):
        grown = PiecewiseLogisticCalibrator(n_pieces="grow", selection=rule).fit_table(table)
        yield name, grown
        if rule == "bic":
            yield MDL, _shortest(grown, table)
    yield CUBIC, _cubic(table)
    yield SPLINE, SplineCalibrator(input="log_odds").fit_table(table)
    yield EMPIRICAL, _line(table)


def _shortest(grown: PiecewiseLogisticCalibrator, table: ScoreTable) -> Calibrator:
    """Return the fit whose description is shortest: a piece costs ½ log n nats for its slope, and its knot's name.

    Each knot of MDL is one of BIC's, which counts the slope alone.
    """
    slope = 0.5 * math.log(table.n_pos + table.n_neg)
    kept: list[float] = []
    for before, step in zip(grown.trace_, grown.trace_[1:], strict=False):
        gain = step.log_likelihood - before.log_likelihood
        if not step.kept or step.knot is None or gain <= slope + math.log(_CANDIDATES - len(kept)):
            break
        kept.append(step.knot)
    return PiecewiseLogisticCalibrator(knots=sorted(kept), penalty=grown.penalty_).fit_table(table)


def _cubic(table: ScoreTable) -> _Polynomial:
    """Return the likeliest cubic, by a logistic regression on the powers of the standardized score."""
    scores, labels, counts = table.to_arrays()
    middle, scale = float(np.average(scores, weights=counts)), float(scores.std())
    powers = ((scores - middle) / scale)[:, None] ** np.arange(1, _DEGREE + 1)
    size = powers.std(axis=0)
    model = LogisticRegression(C=1e8, max_iter=5000).fit(powers / size, labels, sample_weight=counts)
    return _Polynomial(middle, scale, [*(model.coef_[0] / size)[::-1], float(model.intercept_[0])])


def _line(table: ScoreTable) -> _Polynomial:
    """Return the least-squares line through the empirical log-odds of bins of equal weight, ½ added to both counts.

    A bin weighs the inverse of the variance of its log-odds.
    """
    found = empirical_log_odds(table, n_bins=_BINS)
    odds = np.log(found.pos + 0.5) - np.log(found.neg + 0.5)
    variance = 1 / (found.pos + 0.5) + 1 / (found.neg + 0.5)
    return _Polynomial(0.0, 1.0, np.polyfit(found.mean_score, odds, 1, w=1 / np.sqrt(variance)).tolist())


def sweep_part(setting: Setting, recipe: str) -> Json:
    """Return the raw totals of the logistic-regression classifier on Reuters, by words that are kept and by cost."""
    how, texts = RECIPES[recipe], load_texts(REUTERS, setting)
    counts = count_corpus(REUTERS, setting, how.stop_words, how.rare, how.tokens)
    train, test = np.flatnonzero(texts.train), np.flatnonzero(~texts.train)
    words, costs = (SWEPT_WORDS[:2], SWEPT_COSTS[-2:]) if setting.quick else (SWEPT_WORDS, SWEPT_COSTS)
    totals = {f"{number}": {f"{cost:g}": np.zeros(3) for cost in costs} for number in words}
    for category in categories_of(setting, REUTERS):
        y = texts.positive(category)
        ranked = choose_words(counts, train, y, replace(how, words=max(words)))
        for number in words:
            fit, score = (counts.X[rows][:, ranked[:number]].astype(np.float64) for rows in (train, test))
            fit, score = weigh(fit, score, how.weights)
            constant = how.intercept / np.sqrt(mean_norm_cost(fit))
            for cost in costs:
                model = LogisticRegression(C=cost, solver="liblinear", intercept_scaling=constant).fit(fit, y[train])
                signed = np.where(y[test], 1, -1) * model.decision_function(score)
                sums = (decision_log_prob(signed).sum(), decision_squared_error(signed).sum(), np.sum(signed <= 0))
                totals[f"{number}"][f"{cost:g}"] += np.array(sums)
    return {"recipe": recipe, "totals": totals}
