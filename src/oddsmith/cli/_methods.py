"""Calibrators by their name on the command line: platt, asymmetric-laplace, venn-abers."""

import difflib
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
    known = name.replace("_", "-").lower()
    if known not in METHODS:
        close = difflib.get_close_matches(known, METHODS, n=1)
        hint = f"did you mean {close[0]!r}" if close else "choose one of them"
        _check.fail(f"--method must be one of {', '.join(METHODS)}", repr(name), hint)
    return METHODS[known]()
