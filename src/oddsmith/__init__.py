"""Oddsmith turns the scores of any classifier into probabilities that mean what they say.

A table is what the data say about a score; a metric is a function of a table; a calibrator is a function from a table
to a map. Importing the package costs next to nothing: every name is loaded when it is first used.
"""

import importlib
from functools import partial
from typing import TYPE_CHECKING, Any

from oddsmith import _hooks
from oddsmith._version import __version__ as __version__

if TYPE_CHECKING:
    from oddsmith.calibrators import *  # noqa: F403
    from oddsmith.classify import AutoScaling as AutoScaling
    from oddsmith.classify import CalibratedClassifier as CalibratedClassifier
    from oddsmith.classify import DirichletScaling as DirichletScaling
    from oddsmith.classify import MatrixScaling as MatrixScaling
    from oddsmith.classify import TemperatureScaling as TemperatureScaling
    from oddsmith.classify import VectorScaling as VectorScaling
    from oddsmith.classify import score_tables as score_tables
    from oddsmith.data import ScoreTable as ScoreTable
    from oddsmith.learners import BoostedClassifier as BoostedClassifier
    from oddsmith.learners import KernelLogisticRegression as KernelLogisticRegression
    from oddsmith.learners import MultinomialNaiveBayes as MultinomialNaiveBayes
    from oddsmith.learners import SmoothedTreeClassifier as SmoothedTreeClassifier
    from oddsmith.learners import VotedPerceptron as VotedPerceptron
    from oddsmith.maps import CalibrationMap as CalibrationMap
    from oddsmith.model import load as load

#: Where public names are, besides the calibrators, whose names say what they are.
_HOMES = {
    "classify": (
        "AutoScaling",
        "CalibratedClassifier",
        "DirichletScaling",
        "MatrixScaling",
        "TemperatureScaling",
        "VectorScaling",
        "score_tables",
    ),
    "learners": (
        "BoostedClassifier",
        "KernelLogisticRegression",
        "MultinomialNaiveBayes",
        "SmoothedTreeClassifier",
        "VotedPerceptron",
    ),
    "maps": ("CalibrationMap",),
    "model": ("load",),
    "data": ("ScoreTable",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

#: Rooms that users look into by name.
_ROOMS = (
    "calibrators",
    "checks",
    "classify",
    "combine",
    "decide",
    "errors",
    "export",
    "files",
    "frames",
    "learners",
    "maps",
    "metrics",
    "model",
    "plots",
    "report",
    "data",
)


#: Names that are gone, and what to use instead.
_GONE = {"TableStream": "ScoreTable.save and ScoreTable.load, with one file per chunk, and merge"}


def _load(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"oddsmith.{module}"), name)


_hooks.PROVIDERS |= {
    "tables from a frame": partial(_load, "frames", "tables_from_frame"),
    "apply to a frame": partial(_load, "frames", "apply"),
    "apply a joint model to a frame": partial(_load, "frames", "apply_joint"),
    "save a calibrator": partial(_load, "model", "save"),
    "save a scaling": partial(_load, "model", "save_scaling"),
}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        value: Any = sorted({*_HOME_OF, *_load("calibrators", "__all__")})
    elif name in _HOME_OF:
        value = _load(_HOME_OF[name], name)
    elif name in _ROOMS:
        return importlib.import_module(f"oddsmith.{name}")
    elif name.endswith("Calibrator") and name in _load("calibrators", "__all__"):
        value = _load("calibrators", name)
    else:
        instead = f"; use {_GONE[name]}" if name in _GONE else ""
        msg = f"module 'oddsmith' has no attribute {name!r}{instead}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({"__version__", *_ROOMS, *__getattr__("__all__")})
