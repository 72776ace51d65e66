"""Fewer training rows: the same machines on random subsets, because the document does not tell how many it had."""

from typing import Any, NamedTuple

import numpy as np

from oddsmith.metrics import Interval
from oddsmith_studies.studies._published import read_published
from oddsmith_studies.studies._study import Json, Part, Results, Setting
from oddsmith_studies.studies.platt_1999.machines import LIKELIHOOD, SVM
from oddsmith_studies.studies.platt_1999.parts import (
    RAW,
    REGULARIZED,
    RULES,
    SIGMOID,
    all_parts,
    costs,
    judge_problem,
)
from oddsmith_studies.studies.platt_1999.tasks import load_problems

DRAWS = 5
KERNELS = ("linear", "quadratic")
_QUICK_DRAWS, _QUICK_SHARE = 2, 0.2

#: What a reading reports: a method and a measure.
REPORTED = (
    (RAW, "errors"),
    (SIGMOID, "errors"),
    (SIGMOID, "log_loss"),
    (REGULARIZED, "errors"),
    (REGULARIZED, "log_loss"),
)


class Size(NamedTuple):
    """A number of training rows of a source."""

    source: str
    kernel: str
    rows: int

    def part(self, draw: int) -> str:
        """Return the name of a draw's part."""
        return f"size-{self.source}-{self.kernel}-{self.rows}-{draw}"


def all_sizes(setting: Setting) -> list[Size]:
    """Return all readings of the training size."""
    published = read_published("platt-1999").figures["sizes"]
    share = _QUICK_SHARE if setting.quick else 1.0
    return [
        Size(source, kernel, round(share * rows))
        for source in ("adult", "web")
        for kernel in KERNELS
        # Of the quadratic kernel the smaller one alone, for time.
        for rows in (published[source][:1] if setting.quick or kernel == "quadratic" else published[source])
    ]


def draws(setting: Setting) -> int:
    """Return how many subsets are drawn of a size."""
    return _QUICK_DRAWS if setting.quick else DRAWS


def every_part(setting: Setting) -> list[Part]:
    """Return all parts: of all training rows, and of fewer."""
    fewer = [
        Part(
            size.part(draw),
            size_part,
            {"source": size.source, "kernel": size.kernel, "rows": size.rows, "draw": draw},
            cost=size.rows / 400 * (3 if size.kernel == "quadratic" else 1),
        )
        for size in all_sizes(setting)
        for draw in range(draws(setting))
    ]
    return [*all_parts(setting), *fewer]


def size_part(setting: Setting, source: str, kernel: str, rows: int, draw: int) -> Json:
    """Train and judge both machines on a random subset of the training rows, with costs chosen by its held-out rows."""
    (problem,) = load_problems(setting, source, kernel)
    rng = np.random.default_rng(setting.seed_of("rows", source, rows, draw))
    kept = np.sort(rng.permutation(len(problem.y_train))[:rows])
    few = problem._replace(X_train=problem.X_train[kept], y_train=problem.y_train[kept])
    found: dict[str, Any] = {"rows": [rows, len(few.y_test)], "costs": {}}
    for machine in (SVM, LIKELIHOOD):
        tried = {cost: judge_problem(setting, few, kernel, machine, cost) for cost in costs(setting)}
        best = min(tried, key=lambda cost: (tried[cost]["held"][RULES[machine]], cost))
        found["costs"][machine] = best
        for measure in ("errors", "log_loss"):
            sums = {name: float(np.sum(values)) for name, values in tried[best][measure].items()}
            found.setdefault(measure, {}).update(sums)
    return found


def spread(results: Results, size: Size, method: str, measure: str, scale: float = 1.0) -> Interval:
    """Return a total's mean over draws, with its least and greatest."""
    values = [scale * results[size.part(draw)][measure][method] for draw in range(draws(results.setting))]
    return Interval(float(np.mean(values)), min(values), max(values), 1.0, "range over draws")
