"""What is computed: one corpus with one classifier per part, Reuters with other readings, and how fits are found."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from oddsmith import AsymmetricGaussianCalibrator, AsymmetricLaplaceCalibrator, ScoreTable
from oddsmith.checks import Floats
from oddsmith.errors import OddsmithWarning
from oddsmith_studies.studies._study import Json, Part, Setting
from oddsmith_studies.studies._text_draws import DRAWS, draw_part, draw_parts
from oddsmith_studies.studies._text_features import NEWSGROUPS, OHSUMED, REUTERS, categories_of
from oddsmith_studies.studies._text_methods import (
    A_GAUSS,
    A_LAPLACE,
    GAUSS,
    GROWN,
    GUARDED,
    HYBRID,
    LAPLACE,
    LR,
    NOISE,
    PLR,
    RAW,
)
from oddsmith_studies.studies._text_parts import part_name, text_part
from oddsmith_studies.studies._text_scores import BAYES, PERCEPTRON, SVM, score_categories

#: The copy of the document has lost how many words it keeps; 300 and 1000 are recalled, and both are run on Reuters.
RECIPES = {REUTERS: "Bennett", NEWSGROUPS: "Bennett, 1000 words", OHSUMED: "Bennett, 1000 words"}
CORPORA = tuple(RECIPES)
CLASSIFIERS = (BAYES, SVM)
SHOWN = "earn"

#: The document's methods, in its order.
SEVEN = (GAUSS, A_GAUSS, LAPLACE, A_LAPLACE, LR, NOISE, RAW)
#: What it proposes for later, and a guard against spikes of ours.
LATER = (HYBRID, PLR, GROWN, GUARDED)

#: Other readings of the document, all of them shown.
VARIANTS = {
    "1000-words": "Bennett, 1000 words",
    "once": "Bennett, words chosen once",
    "no-idf": "Bennett, no idf",
    "binary": "Bennett, binary words",
    "zhang-yang": "Zhang & Yang",
}
#: The voted perceptron with shares of votes instead of counts.
SHARES = {corpus: f"{recipe}, shares of votes" for corpus, recipe in RECIPES.items()}
TIMES = "times"
_JUDGED = (LR, NOISE, GAUSS, A_GAUSS, LAPLACE, A_LAPLACE, HYBRID, PLR)
_REPEATS = 5
#: Exponent of the time in the number of scores below which it is called n log n.
_EXPONENT = 1.25


def all_parts(setting: Setting) -> list[Part]:
    """Return a part for each corpus and classifier, for each variant, for each draw of folds, and the times."""
    parts = [
        text_part("main", corpus, recipe, classifier, {"shown": SHOWN if corpus == REUTERS else None})
        for corpus, recipe in RECIPES.items()
        for classifier in (*CLASSIFIERS, PERCEPTRON)
    ]
    for name, recipe in VARIANTS.items():
        if setting.quick and name != "1000-words":
            continue
        # Weights of words do not touch naive Bayes, which counts.
        some = CLASSIFIERS[1:] if name in ("no-idf", "binary") else CLASSIFIERS
        parts += [text_part(f"variant-{name}", REUTERS, recipe, classifier, {}) for classifier in some]
    parts += [text_part("variant-shares", corpus, SHARES[corpus], PERCEPTRON, {}) for corpus in CORPORA]
    parts += [Part(part_name("joint", REUTERS, name), joint_part, {"classifier": name}) for name in CLASSIFIERS]
    parts += [
        Part(
            reading_name(name, draw),
            draw_part,
            {"corpus": REUTERS, "recipe": recipe, "classifier": SVM, "draw": draw, "methods": list(_JUDGED)},
        )
        for name, recipe in readings_of(setting).items()
        for draw in range(1, 1 + (1 if setting.quick else DRAWS))
    ]
    return [*parts, *judged_parts(setting)]


def readings_of(setting: Setting) -> dict[str, str]:
    """Return the readings of the support vector machine that verdicts are tried on."""
    return {name: recipe for name, recipe in VARIANTS.items() if name == "1000-words" or not setting.quick}


def reading_name(reading: str, draw: int) -> str:
    """Return the name of a part: the support vector machine by another reading, on one draw of folds."""
    return part_name(f"reading-{reading}-{draw}", REUTERS, SVM)


def judged_parts(setting: Setting) -> list[Part]:
    """Return the parts that verdicts rest on: every corpus and classifier on several draws of folds, and the times."""
    return [*draw_parts(setting, RECIPES, (*CLASSIFIERS, PERCEPTRON), _JUDGED), Part(TIMES, time_fits, cost=0.5)]


def joint_part(setting: Setting, classifier: str) -> Json:
    """Fit asymmetric Laplace distributions in all three parameters at once, as the document could have.

    Returns, for each class of each category, by how much the likelihood that a simplex search reaches from the median
    falls short of the one that goes through all modes, and how often it evaluated the likelihood.
    """
    found = []
    for _, each in score_categories(setting, REUTERS, RECIPES[REUTERS], classifier, categories_of(setting, REUTERS)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OddsmithWarning)
            fit = AsymmetricLaplaceCalibrator().fit_table(ScoreTable.from_arrays(each.train, each.y_train))
        for scores, density in ((each.train[each.y_train], fit.positive_), (each.train[~each.y_train], fit.negative_)):
            known = density.parameters
            best = _likelihood(scores, known["theta"], known["beta"], known["gamma"])
            reached, evaluations = _at_once(scores)
            found.append([best - reached, evaluations, bool(density.spike)])
    return found


def _at_once(scores: Floats) -> tuple[float, int]:
    middle = float(np.median(scores))
    rate = 1 / float(np.mean(np.abs(scores - middle)))

    def loss(place: Any) -> float:
        theta, beta, gamma = place[0], np.exp(place[1]), np.exp(place[2])
        return -_likelihood(scores, float(theta), float(beta), float(gamma))

    limits: Any = {"maxiter": 10_000, "maxfev": 10_000, "xatol": 1e-9, "fatol": 1e-9}
    found: Any = minimize(loss, [middle, np.log(rate), np.log(rate)], method="Nelder-Mead", options=limits)
    return -float(found.fun), int(found.nfev)


def _likelihood(scores: Floats, theta: float, beta: float, gamma: float) -> float:
    away = scores - theta
    height = np.log(beta) + np.log(gamma) - np.log(beta + gamma)
    return float(len(scores) * height - np.sum(np.where(away <= 0, -beta * away, gamma * away)))


def time_fits(setting: Setting) -> Json:
    """Tell whether asymmetric fits to four times as many scores take about four times as long.

    n log n grows with an exponent of 1.08 over these sizes. Seconds differ from run to run, so that only the answer is
    kept: whether the exponent is below 1.25.
    """
    sizes = (20_000, 80_000) if setting.quick else (50_000, 200_000, 800_000)
    rng = np.random.default_rng(setting.seed_of("times"))
    y = rng.random(sizes[-1]) < 0.3
    # Inner tails shorter than outer ones, as the document finds them.
    side = rng.random(sizes[-1]) < 0.75
    scores = np.where(y, 1.0, -1.0) * (1 + np.where(side, 1.5, -0.5) * rng.exponential(size=sizes[-1]))
    answers = {}
    for name, calibrator in (
        ("A. Laplace", AsymmetricLaplaceCalibrator()),
        ("A. Gauss", AsymmetricGaussianCalibrator()),
    ):
        seconds = [_seconds(lambda n=n, each=calibrator: each.fit(scores[:n], y[:n])) for n in sizes]  # type: ignore[misc]
        exponent = np.log(seconds[-1] / seconds[0]) / np.log(sizes[-1] / sizes[0])
        answers[name] = bool(exponent < _EXPONENT)
    return {"sizes": list(sizes), "exponent": _EXPONENT, "below": answers}


def _seconds(fit: Callable[[], object]) -> float:
    """Return the least time of several, which other work on the machine disturbs least."""
    times = []
    for _ in range(_REPEATS):
        start = time.process_time()
        fit()
        times.append(time.process_time() - start)
    return min(times)
