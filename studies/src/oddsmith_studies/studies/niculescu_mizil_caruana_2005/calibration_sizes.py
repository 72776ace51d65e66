"""Learning curves: squared error after calibration on few and on many cases."""

from collections.abc import Mapping

import numpy as np

from oddsmith.checks import Bools, Floats
from oddsmith.metrics.proper import decision_squared_error
from oddsmith_studies.studies._study import Json, Setting
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.methods import ISO, PLATT, RAW, isotonic, platt
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.scores import Scores

TRIALS = 10
SIZES = tuple(2**power for power in range(5, 14))
_FEWEST_TEST = 1000
_QUICK_TRIALS, _QUICK_SIZES = 2, (32, 128)


def trials_and_sizes(setting: Setting) -> tuple[int, tuple[int, ...]]:
    """Return how many trials a run does, with calibration sets of which sizes."""
    return (_QUICK_TRIALS, _QUICK_SIZES) if setting.quick else (TRIALS, SIZES)


def learning_curves(setting: Setting, problem: str, y: Bools, by_round: Mapping[int, Scores]) -> Json:
    """Draw calibration cases from outside the training rows, and judge on those that are left.

    Returns, by size as text, squared errors by method: a list a number of rounds, with one value a trial. A size that
    leaves fewer than 1,000 cases is left out.
    """
    found: Json = {}
    trials, sizes = trials_and_sizes(setting)
    for size in (size for size in sizes if len(y) - size >= _FEWEST_TEST):
        found[str(size)] = {RAW: [], PLATT: [], ISO: []}
        for scores in by_round.values():
            values = [_trial(setting, problem, trial, size, scores.test.share, y) for trial in range(trials)]
            for name in found[str(size)]:
                found[str(size)][name].append([value[name] for value in values])
    return found


def _trial(setting: Setting, problem: str, trial: int, size: int, votes: Floats, y: Bools) -> dict[str, float]:
    # The same cases for every style and number of rounds; each size's cases are among those of the next.
    order = np.random.default_rng(setting.seed_of("calibration cases", problem, trial)).permutation(len(y))
    few, rest = order[:size], order[size:]
    found = {RAW: float(np.mean((votes[rest] - y[rest]) ** 2))}
    for name, fit in ((PLATT, platt), (ISO, isotonic)):
        odds = fit(votes[few], y[few]).log_odds(votes[rest])
        found[name] = float(decision_squared_error(np.where(y[rest], odds, -odds)).mean())
    return found
