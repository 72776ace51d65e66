"""Readings: several draws of the rows, another positive class, no copies, and fuller leaves."""

from typing import NamedTuple

import numpy as np

from oddsmith.metrics import Interval
from oddsmith_studies.studies._study import Json, Part, Results, Setting
from oddsmith_studies.studies._tables import Cell, Column, Table
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import (
    EXPONENTIAL,
    LEAVES,
    LOG,
    STUMPS,
    TREES,
    Style,
    last_round,
    rounds,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.methods import (
    COLUMNS,
    CROSS_ENTROPY,
    LOGLOSS,
    losses,
    methods_of,
    summary,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.parts import all_parts, part_name
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.scores import boost
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tasks import (
    NO_COPIES,
    PROBLEMS,
    SECOND_CLASS,
    STAND_INS,
    sample_again,
)

DRAWS = 5
_OWN = tuple(problem for problem in PROBLEMS if problem not in STAND_INS)


class Reading(NamedTuple):
    """A way to read the document: which rows, and which trees."""

    problem: str
    base: str
    variant: str = ""
    shape: str = "unpruned"
    draws: int = DRAWS

    @property
    def name(self) -> str:
        """What is said of it in the table."""
        return self.variant or (self.shape if self.shape != "unpruned" else f"{self.draws} draws")

    def part(self, draw: int) -> str:
        """Return the name of a draw's part."""
        return part_name("reading", self.problem, self.base, self.variant or self.shape, str(draw))


def all_readings(setting: Setting) -> list[Reading]:
    """Return the readings of a run: a quick one has one, with two draws."""
    if setting.quick:
        return [Reading("COV_TYPE", STUMPS, SECOND_CLASS, draws=2)]
    both = (STUMPS, TREES)
    return [
        *(Reading(problem, base) for problem in _OWN for base in both),
        *(Reading("COV_TYPE", base, SECOND_CLASS) for base in both),
        *(Reading(problem, base, NO_COPIES) for problem in ("PHISHING", "WEB") for base in both),
        *(Reading(problem, TREES, shape=shape, draws=1) for problem in _OWN for shape in LEAVES),
    ]


def every_part(setting: Setting) -> list[Part]:
    """Return all parts: those of the document's tables and figures, and the readings."""
    more = [
        Part(
            reading.part(draw),
            reading_part,
            {key: value for key, value in reading._asdict().items() if key != "draws"} | {"draw": draw},
            cost=20.0 if reading.problem != "HS" else 200.0,
        )
        for reading in all_readings(setting)
        for draw in range(reading.draws)
    ]
    return [*all_parts(setting), *more]


def reading_part(setting: Setting, problem: str, base: str, variant: str, shape: str, draw: int) -> Json:
    """Boost one style on one draw; return the test losses of each method, its rounds chosen on validation rows."""
    drawn = sample_again(setting, problem, variant, draw)
    style = Style(base, "gini", shape, "bayesian" if base == TREES else "none")
    tried = rounds(last_round(setting, base, problem))
    found: dict[str, dict[str, list[float]]] = {}
    for loss in (EXPONENTIAL, LOG):
        scores = boost(
            drawn,
            style,
            loss,
            tried,
            seed=setting.seed_of("boosting", problem, *style, loss, draw),
            fold_seed=setting.seed_of("folds", problem, draw) if loss == EXPONENTIAL else None,
        )["discrete"]
        judged: dict[str, list[tuple[float, dict[str, list[float]]]]] = {}
        for number in tried:
            for name, (forecast, cases) in methods_of(scores[number], drawn.y_train, drawn.y_validation).items():
                if name in COLUMNS and (name == LOGLOSS) == (loss == LOG):
                    held = summary(losses(forecast(scores[number].validation), drawn.y_validation, cases))
                    test = summary(losses(forecast(scores[number].test), drawn.y_test, cases))
                    judged.setdefault(name, []).append((held[CROSS_ENTROPY][0], test))
        found |= {name: min(each, key=lambda pair: pair[0])[1] for name, each in judged.items()}
    return {"problem": f"{problem}, reading", "losses": found}


def readings_table(results: Results) -> Table:
    """Return the readings beside the published figures."""
    printed = results.published.tables["cross_entropy"].rows
    rows: list[list[Cell]] = []
    last: tuple[str, str] | None = None
    for reading in sorted(all_readings(results.setting), key=lambda each: (PROBLEMS.index(each.problem), each.base)):
        key = (reading.problem, reading.base)
        if key != last and key in printed:
            rows.append([*key, "published", *(printed[key][name] for name in COLUMNS)])
        last = key
        values = {
            name: [results[reading.part(draw)]["losses"][name][CROSS_ENTROPY][0] for draw in range(reading.draws)]
            for name in COLUMNS
        }
        rows.append([*key, reading.name, *(_spread(each) for each in values.values())])
    return Table(
        "readings",
        "Readings: cross-entropy in bits",
        ("problem", "boosted", "reading", *(Column(name, ".3f") for name in COLUMNS)),
        rows,
        f"Mean over {DRAWS} draws of all rows, with the least and the greatest in brackets; leaves of full trees on "
        "one draw. One style each, gini, with Bayesian leaves of full trees, so that rows are not those of Table 2.",
    )


def _spread(values: list[float]) -> Cell:
    if len(values) == 1:
        return values[0]
    return Interval(float(np.mean(values)), min(values), max(values), 1.0, "range over draws")
