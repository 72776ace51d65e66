"""What is computed: one problem, one style and one loss per part, with all methods after each number of rounds."""

from collections.abc import Sequence

import numpy as np

from oddsmith.checks import Floats
from oddsmith_studies.studies._study import Json, Part, Setting
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.calibration_sizes import learning_curves
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import (
    BASES,
    EXPONENTIAL,
    LOG,
    TREES,
    Style,
    last_round,
    rounds,
    styles,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.learners import LEARNERS, learner_part
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.methods import (
    COLUMNS,
    ISO_TRAIN,
    MEASURES,
    losses,
    methods_of,
    rounded_probability,
    summary,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.reliability import picture
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.scores import Scores, boost
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tasks import PROBLEMS, Sample, problem_part, sample

#: After how many rounds the document's Figure 1 shows boosted trees.
SHOWN = (1, 4, 8, 32, 128, 1024)

#: Milliseconds of a stump, a two-level tree and a full tree.
_TIMES = {
    "COV_TYPE": (3, 3, 9),
    "ADULT": (2, 6, 20),
    "LETTER.P1": (1, 1, 3),
    "LETTER.P2": (1, 1, 5),
    "HS": (13, 25, 60),
    "PHISHING": (1, 2, 4),
    "WEB": (5, 8, 20),
    "IMDB": (8, 7, 40),
}


def all_parts(setting: Setting) -> list[Part]:
    """Return the parts: problems, boosting, other learners."""
    found = [Part(part_name("problem", problem), problem_part, {"problem": problem}) for problem in PROBLEMS]
    for problem in PROBLEMS:
        for place, base in enumerate(BASES):
            last = last_round(setting, base, problem)
            for style in styles(setting, base):
                for loss, fits in ((EXPONENTIAL, 3), (LOG, 1)):
                    found.append(
                        Part(
                            part_name(problem, *style, loss),
                            boosting_part,
                            {"problem": problem, "style": list(style), "loss": loss, "last": last},
                            cost=10 + last * fits * _TIMES[problem][place] / 1000,
                        )
                    )
    return found + [
        Part(part_name(problem, learner), learner_part, {"problem": problem, "learner": learner}, cost=how.cost)
        for problem in PROBLEMS
        for learner, how in LEARNERS.items()
    ]


def part_name(*words: str) -> str:
    """Return the name of a part."""
    return "-".join(words).lower().replace("_", "-").replace(" ", "-")


def boosting_part(setting: Setting, problem: str, style: Sequence[str], loss: str, last: int) -> Json:
    """Boost one style under one loss, and judge every method after each number of rounds.

    One run under exponential loss, with three folds, serves all methods but log-loss boosting.
    """
    drawn, how, tried = sample(setting, problem), Style(*style), rounds(last)
    whole = loss == EXPONENTIAL
    shown = [number for number in SHOWN if number <= last] if how.base == TREES and whole else []
    found = boost(
        drawn,
        how,
        loss,
        sorted({*tried, *shown, last}),
        seed=setting.seed_of("boosting", problem, *style, loss),
        fold_seed=setting.seed_of("folds", problem) if whole else None,
    )
    judged = {way: _judge_all(drawn, {number: by_round[number] for number in tried}) for way, by_round in found.items()}
    result = {
        "problem": problem,
        "base": how.base,
        "style": str(how),
        "loss": loss,
        "rounds": tried,
        "methods": judged,
        "kept": _kept(drawn, found["discrete"], judged["discrete"], tried),
    }
    if whole:
        result["step_on_training_rows"] = _is_step(drawn, found["discrete"][tried[-1]])
    if shown:
        result["pictures"] = {
            way: {str(number): picture(by_round[number], drawn) for number in sorted({*shown, last})}
            for way, by_round in found.items()
        }
        result["curves"] = learning_curves(setting, problem, drawn.y_test, {n: found["discrete"][n] for n in tried})
    return result


def _judge_all(drawn: Sample, by_round: dict[int, Scores]) -> Json:
    """Return losses on validation and test rows by method; a list has one entry per number of rounds."""
    found: dict[str, dict[str, list[Json]]] = {}
    for scores in by_round.values():
        for name, (forecast, cases) in methods_of(scores, drawn.y_train, drawn.y_validation).items():
            judged = found.setdefault(name, {"validation": [], "test": []})
            judged["validation"].append(summary(losses(forecast(scores.validation), drawn.y_validation, cases)))
            judged["test"].append(summary(losses(forecast(scores.test), drawn.y_test, cases)))
    return found


def _kept(drawn: Sample, by_round: dict[int, Scores], judged: Json, tried: list[int]) -> Json:
    """Return the test probabilities of the number of rounds that is best on validation rows, by method and measure."""
    kept: dict[str, dict[str, list[float]]] = {}
    for name in (name for name in COLUMNS if name in judged):
        for measure in MEASURES:
            best = tried[int(np.argmin([each[measure][0] for each in judged[name]["validation"]]))]
            forecast, _ = methods_of(by_round[best], drawn.y_train, drawn.y_validation)[name]
            kept.setdefault(name, {})[measure] = rounded_probability(forecast(by_round[best].test))
    return kept


def _is_step(drawn: Sample, scores: Scores) -> bool:
    """Say whether isotonic regression on the training rows only says 0 and 1."""
    forecast, _ = methods_of(scores, drawn.y_train, drawn.y_validation)[ISO_TRAIN]
    said: Floats = forecast(scores.train)
    return bool(np.isinf(said).all())
