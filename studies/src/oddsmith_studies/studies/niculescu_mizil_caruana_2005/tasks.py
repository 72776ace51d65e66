"""The eight problems: rows to train, to select by, and to test."""

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from oddsmith.checks import Bools
from oddsmith_studies.data import BOOSTING_TASKS, load_boosting_task, load_covertype
from oddsmith_studies.studies._study import Json, Setting

#: The document's problems, then public ones in place of its private MEDIS, SLAC and MG.
PROBLEMS = tuple(BOOSTING_TASKS)
STAND_INS = {"PHISHING": "MEDIS", "WEB": "SLAC", "IMDB": "MG"}
OWN_PROBLEMS = tuple(problem for problem in PROBLEMS if problem not in STAND_INS)

#: Readings of a problem: COV_TYPE with another positive class, and stand-ins with all their rows.
SECOND_CLASS, WITH_COPIES = "second class", "with copies"


class Sizes(NamedTuple):
    """How many rows are drawn; of fewer all the rest are test rows."""

    train: int
    validation: int
    test: int

    def ends(self, rows: int) -> tuple[int, int, int]:
        """Return where training, validation and test rows end: at least a quarter of few rows are test rows.

        Examples
        --------
        >>> Sizes(4000, 1000, 20_000).ends(48_842), Sizes(4000, 1000, 20_000).ends(6000)
        ((4000, 5000, 25000), (3000, 3750, 6000))
        """
        train, validation = self.train, self.validation
        if train + validation > 3 * rows // 4:
            train, validation = min(train, rows // 2), min(validation, rows // 8)
        return train, train + validation, min(train + validation + self.test, rows)


FULL, QUICK = Sizes(4000, 1000, 20_000), Sizes(450, 250, 1600)


class Sample(NamedTuple):
    """Rows of a problem, drawn once for everything that is trained on it."""

    X_train: Any
    y_train: Bools
    X_validation: Any
    y_validation: Bools
    X_test: Any
    y_test: Bools


def sizes_of(setting: Setting) -> Sizes:
    """Return how many rows a run draws."""
    return QUICK if setting.quick else FULL


def sample(setting: Setting, problem: str) -> Sample:
    """Return the rows of a problem."""
    return _draw(setting, problem)[0]


def sample_again(setting: Setting, problem: str, variant: str, draw: int, train: int = 0) -> Sample:
    """Return the rows of a reading of a problem; the first draw of a problem itself is that of `sample`.

    ``train`` is how many rows train, by default as many as elsewhere.
    """
    key = ("rows", problem) if draw == 0 else ("rows", problem, draw)
    sizes = sizes_of(setting)
    if train:
        sizes = sizes._replace(train=train)
    return _drawn(problem, setting.data, setting.seed_of(*key), sizes, variant)[0]


def problem_part(setting: Setting, problem: str) -> Json:
    """Say what a problem is, and keep the labels of its test rows."""
    drawn, facts = _draw(setting, problem)
    return {
        "problem": problem,
        **facts,
        "features": drawn.X_train.shape[1],
        "rows": {"train": len(drawn.y_train), "validation": len(drawn.y_validation), "test": len(drawn.y_test)},
        "copies": copies(drawn),
        "y_test": drawn.y_test.astype(np.int8),
    }


def copies(drawn: Sample) -> float:
    """Return the share of test rows whose features are those of a training row."""
    seen = {row.tobytes() for row in drawn.X_train}
    return float(np.mean([row.tobytes() in seen for row in drawn.X_test]))


def _draw(setting: Setting, problem: str) -> tuple[Sample, Json]:
    return _drawn(problem, setting.data, setting.seed_of("rows", problem), sizes_of(setting))


@cache
def _drawn(problem: str, folder: str | None, seed: int, sizes: Sizes, variant: str = "") -> tuple[Sample, Json]:
    """Return the rows of a problem, and what it is; the whole of it is not kept.

    Of rows of a stand-in with equal features one is kept, so that no test row has been seen in training.
    """
    task = load_boosting_task(problem, folder)
    if variant == SECOND_CLASS:
        task = replace(task, y=load_covertype(folder).y == 1, positive="spruce and fir, the second largest class")
    every = len(task.y)
    if task.stand_in and variant != WITH_COPIES:
        once = np.sort(np.unique(task.X, axis=0, return_index=True)[1])
        task = replace(task, X=task.X[once], y=task.y[once])
    order = np.random.default_rng(seed).permutation(len(task.y))
    ends = sizes.ends(len(task.y))
    parts: list[Any] = []
    for rows in (order[: ends[0]], order[ends[0] : ends[1]], order[ends[1] : ends[2]]):
        # 32 bits hold every value exactly, and are what trees compare.
        parts += [np.ascontiguousarray(task.X[rows], dtype=np.float32), task.y[rows]]
    facts = {"positive": task.positive, "stand_in": task.stand_in, "all": len(task.y), "share": float(task.y.mean())}
    facts["left_out"] = 1 - len(task.y) / every
    return Sample(*parts), facts
