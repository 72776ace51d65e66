"""Oddsmith turns the scores of any classifier into probabilities that mean what they say.

A table is what the data show about a score; a measure is a function of a table; a calibrator is a function from a table
to a map. Every name is loaded when it is first used, so importing the package is fast.
"""

import importlib
from typing import TYPE_CHECKING, Any

from oddsmith._foreign_names import refuse as _refuse
from oddsmith._version import __version__ as __version__

if TYPE_CHECKING:
    from oddsmith.calibrators import *  # noqa: F403
    from oddsmith.classify import CalibratedClassifier as CalibratedClassifier
    from oddsmith.classify import score_tables as score_tables
    from oddsmith.data import ScoreTable as ScoreTable
    from oddsmith.maps import CalibrationMap as CalibrationMap
    from oddsmith.model import load as load
    from oddsmith.report import write_report as write_report

#: Modules of public names other than those of calibrators, which end in Calibrator or Scaling.
_HOMES = {
    "classify": (
        "CalibratedClassifier",
        "score_tables",
    ),
    "maps": ("CalibrationMap",),
    "model": ("load",),
    "data": ("ScoreTable",),
    "report": ("write_report",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

#: Public modules.
_ROOMS = (
    "audit",
    "bands",
    "base_rates",
    "calibrators",
    "checks",
    "classify",
    "combine",
    "cutoffs",
    "data",
    "decide",
    "errors",
    "expected",
    "explain",
    "export",
    "files",
    "frames",
    "maps",
    "metrics",
    "model",
    "monitor",
    "planning",
    "plots",
    "pooling",
    "report",
)


def _load(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"oddsmith.{module}"), name)


def __getattr__(name: str) -> Any:
    if name == "__all__":
        value: Any = sorted({*_HOME_OF, *_load("calibrators", "__all__")})
    elif name in _HOME_OF:
        value = _load(_HOME_OF[name], name)
    elif name in _ROOMS:
        return importlib.import_module(f"oddsmith.{name}")
    elif name.endswith(("Calibrator", "Scaling")) and name in _load("calibrators", "__all__"):
        value = _load("calibrators", name)
    else:
        _refuse("oddsmith", name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({"__version__", *_ROOMS, *__getattr__("__all__")})
