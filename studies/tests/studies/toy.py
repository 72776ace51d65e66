"""A study that takes no time: sums of random numbers."""

import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from oddsmith import PlattCalibrator
from oddsmith.metrics import Interval
from oddsmith_studies.studies import (
    Case,
    Column,
    Drawing,
    Panels,
    Part,
    Published,
    PublishedTable,
    Rule,
    Study,
    StudyFigure,
    Table,
    with_published,
)

PAGE = """\
- **We found:** Toys work,
  as they should. {drawn}

{{ table means }}

{picture}

{{ run }}

{{ verdicts }}

## More

{{ fold Details & all }}

{{ table overall }}

{{ end }}
"""

#: What a test puts in the place of ``expected/verdicts.toml``.
RULES = {"9.0.1": Rule("9.0.1", "toy", "Toys | work.", "0.5", "The difference", "below", 0)}


def draw_numbers(setting, number, counter=None, killed=False):
    """Draw some numbers; count the calls in a file; die where told to."""
    if counter is not None:
        with Path(counter).open("a") as file:
            file.write(f"{number}\n")
    if killed and not os.environ.get("SURVIVE"):
        os._exit(9)
    rng = np.random.default_rng(setting.seed_of("draw", number))
    drawn = rng.normal(size=10 if setting.quick else 1000)
    PlattCalibrator().fit([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])  # separable: an oddity to be counted
    return {"mean": drawn.mean(), "all": drawn, "number": np.int64(number), "worst": -np.inf}


def sleep_long(_setting, pids):
    """Tell the number of this process, then sleep."""
    with Path(pids).open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(600)


class Invented(Study):
    """A study whose document was never printed."""

    @property
    def published(self):
        printed = PublishedTable("Table 1", ("draw",), ("mean",), {("0",): {"mean": 0.5}, ("1",): {"mean": None}})
        return Published("Nobody (2000), Nothing.", "memory", {"means": printed}, {})

    @property
    def template(self):
        return PAGE


def toy_study(counter=None, killed=None):
    """Return a study with tables, a verdict and a page, of which a part may die."""
    counted = {"counter": None if counter is None else str(counter)}

    def parts(_setting):
        return [
            Part(f"draw-{i}", draw_numbers, {"number": i, **counted, "killed": i == killed}, cost=1 + i)
            for i in range(4)
        ]

    return Invented("toy", "A toy study", parts, tables, lambda _results: [], lambda _results: {}, facts)


def illustrated_study():
    """Return the same with pictures, which take most of the time."""
    return replace(toy_study(), figures=figures)


def judged_study():
    """Return the same with pictures and a verdict; `RULES` must be in force."""
    return replace(illustrated_study(), evidence=evidence)


def sleeping_study(pids):
    """Return a study that takes ten minutes."""
    return replace(
        toy_study(), parts=lambda _setting: [Part(f"sleep-{i}", sleep_long, {"pids": pids}) for i in range(2)]
    )


def tables(results):
    ours = {(str(part["number"]),): {"mean": part["mean"], "worst": part["worst"]} for part in results.values()}
    means = [part["mean"] for part in results.starting("draw-")]
    spread = Interval(float(np.mean(means)), min(means), max(means), 0.95, "range")
    return [
        with_published("means", "Means", results.published.tables["means"], ours, formats={"mean": ".3f"}),
        Table("overall", "Overall", ("what", Column("mean", ".2f")), [("all", spread), ("none", None)], note="Note."),
    ]


def evidence(_results):
    return {"9.0.1": [Case("toys", Interval(-1.0, -2.0, -0.5, 0.95, "toy"))]}


def facts(record):
    return {
        "drawn": f"It drew {len(record.tables['means'].rows)} times.",
        "picture": "{{ figure one }}" if record.captions else "",
    }


def figures(results):
    drawings = {
        name: Drawing(lambda ax, look, y=part["all"]: ax.plot(np.sort(y), label="drawn", **look.ink(0).line()))
        for name, part in results.items()
    }
    return [
        StudyFigure("one", "The first one.", drawings["draw-0"]),
        StudyFigure("every", "All.", Panels(drawings, columns=3)),
    ]
