"""Which scores a sigmoid is fitted to: training scores, 30 % held out, three folds, and leave-one-out, side by side."""

from collections.abc import Sequence

import numpy as np
from sklearn.base import clone

from oddsmith import PlattCalibrator
from oddsmith.checks import Bools, Floats
from oddsmith.metrics.proper import decision_log_prob
from oddsmith.plots.trials import mean_of_trials
from oddsmith_studies.studies._published import read_published
from oddsmith_studies.studies._study import Json, Part, Results, Setting
from oddsmith_studies.studies._tables import Cell, Column, Table
from oddsmith_studies.studies.platt_1999.machines import SVM, make_machine, score_problem
from oddsmith_studies.studies.platt_1999.sizes import draws
from oddsmith_studies.studies.platt_1999.tasks import load_problems

SOURCES = ("adult", "web")
TRAINING, HELD_OUT, FOLDS, LEAVE_ONE_OUT = "training scores", "30 % held out", "3 folds", "leave-one-out"
WAYS = (TRAINING, HELD_OUT, FOLDS, LEAVE_ONE_OUT)
_HELD_SHARE, _COST, _QUICK_SHARE = 0.3, 1.0, 0.1
_LEVEL = 0.95


def rows_parts(setting: Setting) -> list[Part]:
    """Return a part for each source and random subset of its training rows."""
    return [
        Part(_name(source, draw), rows_part, {"source": source, "draw": draw}, cost=20.0)
        for source in SOURCES
        for draw in range(draws(setting))
    ]


def _name(source: str, draw: int) -> str:
    return f"rows-{source}-{draw}"


def rows_part(setting: Setting, source: str, draw: int) -> Json:
    """Fit the sigmoid in four ways on a small subset; return errors and −Σ log P on all test rows.

    With 30 % held out the machine in use is the one that was trained on the other rows; else it has seen all of them.
    """
    (problem,) = load_problems(setting, source, "linear")
    size = read_published("platt-1999").figures["sizes"][source][0]
    size = round(_QUICK_SHARE * size) if setting.quick else size
    rng = np.random.default_rng(setting.seed_of("rows", source, size, draw))
    kept = np.sort(rng.permutation(len(problem.y_train))[:size])
    few = problem._replace(X_train=problem.X_train[kept], y_train=problem.y_train[kept])
    scores = score_problem(setting, few, "linear", SVM, _COST)
    machine = make_machine(setting, few, "linear", SVM, _COST)
    first = rng.permutation(size)
    rest, held = first[round(_HELD_SHARE * size) :], first[: round(_HELD_SHARE * size)]
    part = clone(machine).fit(few.X_train[rest], few.y_train[rest])
    alone = np.array([_without(machine, few.X_train, few.y_train, row) for row in range(size)])
    found = {
        TRAINING: (scores.train, few.y_train, scores.test),
        HELD_OUT: (part.decision_function(few.X_train[held]), few.y_train[held], part.decision_function(few.X_test)),
        FOLDS: (scores.held, scores.y_held, scores.test),
        LEAVE_ONE_OUT: (alone, few.y_train, scores.test),
    }
    return {"rows": size, "ways": {way: _judge(*each, few.y_test) for way, each in found.items()}}


def _without(machine: object, X: Floats, y: Bools, row: int) -> float:
    others = np.arange(len(y)) != row
    fitted = clone(machine).fit(X[others], y[others])
    return float(fitted.decision_function(X[[row]])[0])


def _judge(fit: Floats, y: Bools, test: Floats, truth: Bools) -> list[float]:
    odds = PlattCalibrator().fit(fit, y).log_odds(test)
    return [float(np.sum((odds > 0) != truth)), float(-decision_log_prob(np.where(truth, odds, -odds)).sum())]


def rows_table(results: Results) -> Table:
    """Return the four ways side by side, and what each changes from three folds."""
    rows: list[list[Cell]] = []
    for source in SOURCES:
        parts = [results[_name(source, draw)] for draw in range(draws(results.setting))]
        for way in WAYS:
            errors, losses = (_of(parts, way, place) for place in range(2))
            less = [mine - folds for mine, folds in zip(losses, _of(parts, FOLDS, 1), strict=True)]
            change = None if way == FOLDS else mean_of_trials(less, _LEVEL)
            rows.append([f"{source.title()} linear", parts[0]["rows"], way])
            rows[-1] += [mean_of_trials(errors, _LEVEL), mean_of_trials(losses, _LEVEL), change]
    return Table(
        "calibration-rows",
        "The scores that the sigmoid is fitted to, side by side",
        (
            "task",
            Column("training rows", ",d"),
            "sigmoid fitted to",
            Column("errors", ".0f"),
            Column("−Σ log P", ".0f"),
            Column("−Σ log P less 3 folds", "+.1f"),
        ),
        rows,
        f"Means over {draws(results.setting)} random subsets with 95 % t intervals, cost 1, all test rows. With 30 % "
        "held out, the machine in use is trained on the other rows alone. Small subsets, because leave-one-out trains "
        "a machine per row.",
    )


def _of(parts: Sequence[Json], way: str, place: int) -> list[float]:
    return [part["ways"][way][place] for part in parts]
