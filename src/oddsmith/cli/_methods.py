"""Calibrators by their name on the command line: platt, asymmetric-laplace, venn-abers."""

import difflib
import re

import oddsmith.calibrators
from oddsmith import _check
from oddsmith.calibrators import Calibrator

METHODS: dict[str, type[Calibrator]] = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.removesuffix("Calibrator")).lower(): getattr(oddsmith.calibrators, name)
    for name in oddsmith.calibrators.__all__
    if name != "Calibrator"
}


def calibrator_named(name: str) -> Calibrator:
    """Return a calibrator with its defaults."""
    known = name.replace("_", "-").lower()
    if known not in METHODS:
        close = difflib.get_close_matches(known, METHODS, n=1)
        hint = f"did you mean {close[0]!r}" if close else "choose one of them"
        _check.fail(f"--method must be one of {', '.join(METHODS)}", repr(name), hint)
    return METHODS[known]()
