"""What is computed: one corpus with one classifier per part, Reuters with other readings, and how long fits take."""

import time
from collections.abc import Callable

import numpy as np

from oddsmith import AsymmetricGaussianCalibrator, AsymmetricLaplaceCalibrator
from oddsmith_studies.studies._study import Json, Part, Setting
from oddsmith_studies.studies._text_draws import draw_parts
from oddsmith_studies.studies._text_features import NEWSGROUPS, OHSUMED, REUTERS
from oddsmith_studies.studies._text_methods import A_GAUSS, A_LAPLACE, GAUSS, HYBRID, LAPLACE, LR, NOISE, PLR
from oddsmith_studies.studies._text_parts import text_part
from oddsmith_studies.studies._text_scores import BAYES, PERCEPTRON, SVM

#: The copy of the document has lost how many words it keeps; 300 and 1000 are recalled, and both are run on Reuters.
RECIPES = {REUTERS: "Bennett", NEWSGROUPS: "Bennett, 1000 words", OHSUMED: "Bennett, 1000 words"}
CORPORA = tuple(RECIPES)
CLASSIFIERS = (BAYES, SVM)
SHOWN = "earn"

#: Other readings of the document, all of them shown.
VARIANTS = {
    "1000-words": "Bennett, 1000 words",
    "once": "Bennett, words chosen once",
    "no-idf": "Bennett, no idf",
    "binary": "Bennett, binary words",
    "zhang-yang": "Zhang & Yang",
}
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
    return [*parts, *judged_parts(setting)]


def judged_parts(setting: Setting) -> list[Part]:
    """Return the parts that verdicts rest on: every corpus and classifier on several draws of folds, and the times."""
    return [*draw_parts(setting, RECIPES, (*CLASSIFIERS, PERCEPTRON), _JUDGED), Part(TIMES, time_fits, cost=0.5)]


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
