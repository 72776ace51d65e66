"""Readings: several draws of the rows, another positive class, stand-ins with copies, fuller leaves, more rows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from oddsmith.plots.trials import mean_of_trials
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
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.measured import best
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
    OWN_PROBLEMS,
    PROBLEMS,
    SECOND_CLASS,
    WITH_COPIES,
    sample_again,
)

DRAWS = 5
#: Training rows of the size curve.
SIZES_PROBLEM, SIZES = "LETTER.P2", (6000, 8000, 10_000, 12_000)
_LEAST_ERROR = "error"
_LEVEL = 0.95


class Reading(NamedTuple):
    """A way to read the document: which rows, and which trees."""

    problem: str
    base: str
    variant: str = ""
    shape: str = "unpruned"
    criterion: str = "gini"
    train: int = 0
    draws: int = DRAWS

    @property
    def plain(self) -> bool:
        """Whether its first draw is that of Table 2, in a style that has been boosted there."""
        return self.changed == ""

    @property
    def changed(self) -> str:
        """In what it differs."""
        if self.criterion == _LEAST_ERROR:
            return "least-error stumps"
        if self.train:
            return f"{self.train:,} training rows"
        return self.variant or (self.shape if self.shape != "unpruned" else "")

    @property
    def name(self) -> str:
        """What is said of it in the table."""
        return self.changed or f"{self.draws} draws"

    @property
    def style(self) -> Style:
        """The one style that is boosted."""
        return Style(self.base, self.criterion, self.shape, "bayesian" if self.base == TREES else "none")

    def part(self, draw: int) -> str:
        """Return the name of a draw's part."""
        named = self.changed.replace(",", "") or self.shape
        return part_name("reading", self.problem, self.base, named, str(draw))


def all_readings(setting: Setting) -> list[Reading]:
    """Return the readings of a run: a quick one has one, with two draws."""
    if setting.quick:
        return [Reading("COV_TYPE", STUMPS, SECOND_CLASS, draws=2)]
    both = (STUMPS, TREES)
    return [
        *(Reading(problem, base) for problem in OWN_PROBLEMS for base in both),
        *(Reading("COV_TYPE", base, SECOND_CLASS) for base in both),
        *(Reading(problem, base, WITH_COPIES, draws=1) for problem in ("PHISHING", "WEB") for base in both),
        *(Reading(problem, TREES, shape=shape, draws=1) for problem in OWN_PROBLEMS for shape in LEAVES),
        *(Reading(problem, STUMPS, criterion=_LEAST_ERROR, draws=1) for problem in OWN_PROBLEMS),
        *(Reading(SIZES_PROBLEM, STUMPS, train=size, draws=1) for size in SIZES),
    ]


def every_part(setting: Setting) -> list[Part]:
    """Return all parts: those of the document's tables and figures, and the readings."""
    more = [
        Part(
            reading.part(draw),
            reading_part,
            {key: value for key, value in reading._asdict().items() if key != "draws"} | {"draw": draw},
            cost=25.0 if reading.problem != "HS" else 70.0,
        )
        for reading in all_readings(setting)
        for draw in range(reading.plain, reading.draws)
    ]
    return [*all_parts(setting), *more]


def reading_part(setting: Setting, draw: int, **reading: Any) -> Json:
    """Boost one style on one draw; return the test losses of each method, its rounds chosen on validation rows."""
    how = Reading(**reading)
    problem, base, style = how.problem, how.base, how.style
    drawn = sample_again(setting, problem, how.variant, draw, how.train)
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
    """Return the readings next to the published figures."""
    printed = results.published.tables["cross_entropy"].rows
    rows: list[list[Cell]] = []
    last: tuple[str, str] | None = None
    for reading in sorted(all_readings(results.setting), key=lambda each: (PROBLEMS.index(each.problem), each.base)):
        key = (reading.problem, reading.base)
        if key != last and key in printed:
            rows.append([*key, "published", *(printed[key][name] for name in COLUMNS)])
        last = key
        rows.append([*key, reading.name, *(over_draws(each) for each in _by_draw(results, reading).values())])
    return Table(
        "readings",
        "Readings: cross-entropy in bits",
        ("problem", "boosted", "reading", *(Column(name, ".3f") for name in COLUMNS)),
        rows,
        f"Mean over {DRAWS} draws of training, validation and test rows with 95 % t intervals; draws of LETTER and HS "
        "share many of their rows. Other readings: the draw of Table 2. One style each: gini, but for least-error "
        "stumps, with Bayesian leaves of full trees. Rounds are chosen on validation rows.",
    )


def own_by_draw(results: Results, base: str) -> dict[str, list[float]]:
    """Return the cross-entropy of each draw by method, mean over the document's own problems; a quick run has none."""
    found = [
        _by_draw(results, reading)
        for reading in all_readings(results.setting)
        if reading.base == base and reading.plain
    ]
    return {name: np.mean([each[name] for each in found], axis=0).tolist() for name in COLUMNS} if found else {}


def over_draws(values: Sequence[float]) -> Cell:
    """Return the mean over draws with its interval."""
    return values[0] if len(values) == 1 else mean_of_trials(values, _LEVEL)


def _by_draw(results: Results, reading: Reading) -> dict[str, list[float]]:
    """Return the cross-entropy of each draw, by method."""
    draws = [results[reading.part(draw)]["losses"] for draw in range(reading.plain, reading.draws)]
    if reading.plain:
        style = str(reading.style)
        draws[:0] = [
            {
                name: best(results, reading.problem, reading.base, name, CROSS_ENTROPY, style=style).test
                for name in COLUMNS
            }
        ]
    return {name: [draw[name][CROSS_ENTROPY][0] for draw in draws] for name in COLUMNS}
