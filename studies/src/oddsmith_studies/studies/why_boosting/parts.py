"""What is computed: one problem boosted round by round, and one learner on one problem by seven measures, a part."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

from oddsmith import ScoreTable
from oddsmith.checks import Bools, Floats
from oddsmith.data import is_separable
from oddsmith.maps.base import logit
from oddsmith.metrics import accuracy, average_precision, break_even, lift, roc_auc
from oddsmith.metrics.slope import recalibration_line
from oddsmith_studies.studies._study import Json, Part, Setting
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import EXPONENTIAL, STUMPS, TREES, Style
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.learners import LEARNERS, fitted_models, scores_of
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.measured import BOOSTED, TEN
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.methods import CROSS_ENTROPY, SQUARED_ERROR, losses, platt
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.scores import boost
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tasks import OWN_PROBLEMS, Sample, sample

#: Problems whose margins are followed: few and many positives, and a noisy one.
FOLLOWED = ("COV_TYPE", "ADULT", "LETTER.P2")
_LAST = {STUMPS: 1024, TREES: 1024}
#: HS has 200 features, and full trees of them take longest.
_LAST_SLOW, _QUICK_LAST = 256, 8
#: Shares are kept this far from 0 and 1.
_LEAST = 1e-6
_QUANTILES = tuple(np.linspace(0, 1, 101))
#: Predictions this near to 0 or 1 are sure.
_EDGE = 0.05

UNCALIBRATED, CALIBRATED = "uncalibrated", "Platt"
_LIFT = 0.25
#: Measures of order, and losses; of the former more is better.
RANKING: dict[str, Callable[[ScoreTable], float]] = {
    "accuracy": accuracy.of,
    "lift": lambda forecast: float(lift.of(forecast, q=_LIFT)),
    "ROC area": roc_auc.of,
    "average precision": average_precision.of,
    "break-even": break_even.of,
}
LOSSES = (SQUARED_ERROR, CROSS_ENTROPY)
SEVEN_MEASURES = (*RANKING, *LOSSES)


def all_parts(_setting: Setting) -> list[Part]:
    """Return a part for each problem and base that is followed, and one for each learner and problem."""
    follow = [
        Part(
            f"rounds-{problem}-{base}".lower().replace("_", "-"), rounds_part, {"problem": problem, "base": base}, 20.0
        )
        for problem in FOLLOWED
        for base in (TREES, STUMPS)
    ]
    learn = [
        Part(
            learner_name(problem, learner),
            measures_part,
            {"problem": problem, "learner": learner},
            30.0 if learner in BOOSTED else LEARNERS[learner].cost,
        )
        for problem in OWN_PROBLEMS
        for learner in TEN
    ]
    return [*follow, *learn]


def rounds_name(problem: str, base: str) -> str:
    """Return the name of a part."""
    return f"rounds-{problem}-{base}".lower().replace("_", "-")


def learner_name(problem: str, learner: str) -> str:
    """Return the name of a part."""
    return f"learner-{problem}-{learner}".lower().replace("_", "-")


def rounds_of(setting: Setting, problem: str, base: str) -> list[int]:
    """Return after how many rounds a model is looked at, in powers of 2."""
    last = _QUICK_LAST if setting.quick else _LAST_SLOW if problem == "HS" and base == TREES else _LAST[base]
    return [2**power for power in range(last.bit_length())]


def rounds_part(setting: Setting, problem: str, base: str) -> Json:
    """Boost one style, and follow votes and sums of test rows over rounds, with those of bagged trees for comparison.

    Rows are split into four groups by how likely a forest of bagged trees, which boosting does not see, finds their
    true class.
    """
    drawn, at = sample(setting, problem), rounds_of(setting, problem, base)
    style = Style(base, "gini", leaves="bayesian" if base == TREES else "none")
    boosted = boost(drawn, style, EXPONENTIAL, at, seed=setting.seed_of("boosting", problem, base), fold_seed=None)
    bag = BaggingClassifier(
        DecisionTreeClassifier(min_samples_leaf=5), at[-1], random_state=setting.seed_of("bag", problem)
    )
    bag.fit(drawn.X_train, drawn.y_train)
    sign = np.where(drawn.y_test, 1.0, -1.0)
    votes = np.array([tree.predict(drawn.X_test) for tree in bag.estimators_])
    # Every second tree ranks the rows by difficulty, the others are bagging itself, which is compared.
    known = votes[1::2].mean(axis=0)
    difficulty = np.argsort(np.argsort(-sign * (known - 0.5), kind="stable")) * 4 // len(sign)
    found: list[Json] = []
    for number in at:
        stage = boosted["discrete"][number].test
        shares = {"boosted": stage.share, "bagged": votes[::2][: max(number // 2, 1)].mean(axis=0)}
        found.append(
            {
                "rounds": number,
                "sure": {name: float(np.mean((f < _EDGE) | (f > 1 - _EDGE))) for name, f in shares.items()},
                "groups": {
                    name: [float((sign * (2 * f - 1))[difficulty == group].mean()) for group in range(4)]
                    for name, f in shares.items()
                },
                "margins": np.quantile(sign * (2 * stage.share - 1), _QUANTILES),
                "slope of 2F": _slope(2 * stage.total, drawn.y_test),
                "slope of the vote": _slope(_log_odds(stage.share), drawn.y_test),
            }
        )
    return {"problem": problem, "base": base, "rounds": found, "paired": _paired(boosted, at, sign, difficulty)}


def _log_odds(share: Floats) -> Floats:
    """Return log-odds, of shares kept a little away from 0 and 1."""
    return np.asarray(logit(np.clip(share, _LEAST, 1 - _LEAST)))


def _slope(odds: Floats, y: Bools) -> float | None:
    """Return the slope of what happened over log-odds; 1 where they are right, below it where they are too large."""
    table = ScoreTable.from_arrays(odds, y)
    return None if odds.min() == odds.max() or is_separable(table) else float(recalibration_line(table)[0])


def _paired(boosted: Any, at: list[int], sign: Floats, difficulty: Any) -> Json:
    """Return, for the easiest and the hardest quarter, the change of the margin from the eighth to the last round."""
    first, last = (sign * (2 * boosted["discrete"][number].test.share - 1) for number in (min(8, at[-1] // 2), at[-1]))
    return {
        name: [float(change.mean()), float(change.std(ddof=1) / np.sqrt(len(change)))]
        for name, group in (("easiest", 0), ("hardest", 3))
        for change in [(last - first)[difficulty == group]]
    }


def measures_part(setting: Setting, problem: str, learner: str) -> Json:
    """Return seven measures of one learner on test rows; for each the model that is best by it on validation rows."""
    drawn = sample(setting, problem)
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for validation, test in _outputs(setting, problem, learner, drawn):
        calibrator = platt(validation, drawn.y_validation)
        ways = {
            UNCALIBRATED: [_log_odds(each) for each in (validation, test)],
            CALIBRATED: [calibrator.log_odds(each) for each in (validation, test)],
        }
        for way, (held, new) in ways.items():
            cases = len(drawn.y_train if way == UNCALIBRATED else drawn.y_validation)
            judged = [_seven(odds, y, cases) for odds, y in ((held, drawn.y_validation), (new, drawn.y_test))]
            for measure in SEVEN_MEASURES:
                pair = judged[0][measure], judged[1][measure]
                best = found.setdefault(way, {}).get(measure)
                better = best is None or (pair[0] > best[0] if measure in RANKING else pair[0] < best[0])
                if better:
                    found[way][measure] = pair
    return {way: {measure: pair[1] for measure, pair in each.items()} for way, each in found.items()}


def _seven(odds: Floats, y: Bools, cases: int) -> dict[str, float]:
    table = ScoreTable.from_arrays(odds, y)
    lost = losses(odds, y, cases)
    return {name: float(of(table)) for name, of in RANKING.items()} | {
        name: float(lost[name].mean()) for name in LOSSES
    }


def _outputs(setting: Setting, problem: str, learner: str, drawn: Sample) -> Any:
    """Yield scores in [0, 1] of validation and test rows, of every model that is tried."""
    if learner in BOOSTED:
        base = BOOSTED[learner]
        style = Style(base, "gini", leaves="bayesian" if base == TREES else "none")
        at, seed = rounds_of(setting, problem, base), setting.seed_of("boosting", problem, base)
        stages = boost(drawn, style, EXPONENTIAL, at, seed=seed, fold_seed=None)["discrete"]
        yield from ((stage.validation.share, stage.test.share) for stage in stages.values())
        return
    for model in fitted_models(setting, problem, learner, drawn).values():
        yield scores_of(model, drawn.X_validation, drawn.X_test)
