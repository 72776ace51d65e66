"""What is computed: one problem and classifier a part; every calibrator on drawings of every size and imbalance."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddsmith.checks import Bools, Floats
from oddsmith.metrics.proper import decision_log_prob, decision_squared_error
from oddsmith_studies.studies._study import Json, Part, Setting
from oddsmith_studies.studies.summary.classifiers import CLASSIFIERS, Scored, score_rows
from oddsmith_studies.studies.summary.methods import RAW, find_methods
from oddsmith_studies.studies.summary.tasks import PROBLEMS, THINNED, Problem, load_rows, problem_of

#: Cases that calibrate, with how often they are drawn; 0 stands for all that there are.
SIZES = {50: 8, 100: 8, 200: 6, 500: 5, 2000: 3, 0: 1}
_QUICK_SIZES = {50: 2, 0: 1}

_QUICK_PROBLEMS = ("Reuters earn", "OHSUMED C04", "Sentences", "ADULT", "LETTER.P2")
_QUICK_CLASSIFIERS = ("naive Bayes", "linear SVM", "boosted stumps", "boosted trees", "neural network")

#: A calibration set that can be expected to hold fewer positives than this is none.
FEWEST = 2.0

#: A drawing must leave some of the pool out, or all drawings are the same.
_MOST = 0.9


def problem_part(setting: Setting, problem: str, classifier: str) -> Json:
    """Score a problem by a classifier, and judge every calibrator on all drawings."""
    task = problem_of(problem)
    rows = load_rows(setting, task)
    scored = score_rows(setting, task, rows, classifier)
    y_pool, y_test = rows.y["pool"], rows.y["test"]
    cells: list[Json] = []
    for share in (None, *THINNED) if task.balanced else (None,):
        rate = float(y_test.mean()) if share is None else share
        pool = len(thin(np.random.default_rng(0), y_pool, share))
        raw = _losses(scored.raw, y_test, rate)
        for size, drawings in (_QUICK_SIZES if setting.quick else SIZES).items():
            if (size or pool) * rate < FEWEST or size > _MOST * pool:
                continue
            seed = setting.seed_of("drawings", problem, classifier, str(share), size)
            draws = [np.random.default_rng([seed, number]) for number in range(drawings)]
            judged = [_judge(rng, scored, y_pool, y_test, share, size, rate) for rng in draws]
            losses = {name: [each[name] for each in judged] for name in judged[0]} | {RAW: [raw] * drawings}
            cells.append(
                {
                    "rate": rate,
                    "thinned": share is not None,
                    "size": size or pool,
                    "all": size == 0,
                    "log_loss": {name: [pair[0] for pair in pairs] for name, pairs in losses.items()},
                    "brier": {name: [pair[1] for pair in pairs] for name, pairs in losses.items()},
                }
            )
    return {"problem": problem, "source": task.source, "classifier": classifier, "cells": cells} | _counts(rows.y)


def thin(rng: np.random.Generator, y: Bools, share: float | None) -> NDArray[np.intp]:
    """Return rows of which so many are positive: all negatives, and positives at random; None leaves all rows.

    Examples
    --------
    >>> y = np.arange(200) < 100
    >>> y[thin(np.random.default_rng(0), y, 0.2)].mean()
    np.float64(0.2)
    """
    if share is None:
        return np.arange(len(y))
    positive, negative = np.flatnonzero(y), np.flatnonzero(~y)
    kept = min(round(len(negative) * share / (1 - share)), len(positive))
    return np.concatenate([rng.choice(positive, kept, replace=False), negative])


def _judge(
    rng: np.random.Generator,
    scored: Scored,
    y_pool: Bools,
    y_test: Bools,
    share: float | None,
    size: int,
    rate: float,
) -> dict[str, tuple[float, float]]:
    """Draw a calibration set as it comes, fit every calibrator to it, and return their losses on test rows."""
    rows = rng.permutation(thin(rng, y_pool, share))[: size or None]
    scores, y = scored.pool[rows], y_pool[rows]
    return {
        name: _losses(method.calibrator().fit(scores, y).log_odds(scored.test), y_test, rate)
        for name, method in find_methods().items()
    }


def _losses(odds: Floats, y: Bools, rate: float) -> tuple[float, float]:
    """Return the mean log-loss and Brier score where a share of ``rate`` is positive.

    The two classes' means are weighted by their shares, which is what thinning the test rows would give on average.
    """
    signed = np.where(y, odds, -odds)
    log_losses, briers = -decision_log_prob(signed), decision_squared_error(signed)
    log_loss, brier = (rate * each[y].mean() + (1 - rate) * each[~y].mean() for each in (log_losses, briers))
    return _rounded(log_loss), _rounded(brier)


def _rounded(loss: float) -> float:
    """Keep seven digits: methods that differ by rounding alone are equal."""
    return float(f"{loss:.6e}")


def _counts(y: dict[str, Bools]) -> dict[str, Any]:
    return {
        "rows": {use: len(each) for use, each in y.items()},
        "positive": {use: int(each.sum()) for use, each in y.items()},
    }


def all_parts(setting: Setting) -> list[Part]:
    """Return a part for each problem and classifier."""
    problems = [each for each in PROBLEMS if not setting.quick or each.name in _QUICK_PROBLEMS]
    classifiers = [name for name in CLASSIFIERS if not setting.quick or name in _QUICK_CLASSIFIERS]
    return [
        Part(
            f"{problem.name}-{classifier}".lower().replace(" ", "-").replace("_", "-"),
            problem_part,
            {"problem": problem.name, "classifier": classifier},
            cost=_cost(problem, classifier),
        )
        for problem in problems
        for classifier in classifiers
    ]


def _cost(problem: Problem, classifier: str) -> float:
    """Return about how many seconds a part takes: drawings, and training where that is slow."""
    training = {"boosted small trees": 5.0, "boosted trees": 8.0, "kernel logistic": 5.0, "quadratic SVM": 3.0}
    return (16.0 if problem.balanced else 4.0) + training.get(classifier, 1.0)
