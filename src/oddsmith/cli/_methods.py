"""Calibrators by their name on the command line: platt, asymmetric-laplace, venn-abers."""

import re

import oddsmith.calibrators
from oddsmith import _check
from oddsmith.calibrators import Calibrator


def _by_name() -> dict[str, type[Calibrator]]:
    classes = {
        name: getattr(oddsmith.calibrators, name) for name in oddsmith.calibrators.__all__ if name != "Calibrator"
    }
    return {
        re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.removesuffix("Calibrator")).lower(): cls
        for name, cls in classes.items()
    }


METHODS = _by_name()


def calibrator_called(name: str) -> Calibrator:
    """Return a calibrator with its defaults."""
    _check.one_of(name.replace("_", "-").lower(), "method", tuple(METHODS))
    return METHODS[name.replace("_", "-").lower()]()


def name_of(calibrator: Calibrator) -> str:
    """Return the name of a calibrator's method."""
    return next(name for name, cls in METHODS.items() if type(calibrator) is cls)
