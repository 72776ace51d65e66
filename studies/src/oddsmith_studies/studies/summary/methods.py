"""Every calibrator there is, with its defaults: what it is called, and what kind of map it fits."""

import re
from functools import cache
from typing import NamedTuple

from oddsmith import calibrators
from oddsmith.calibrators import Calibrator

RAW = "raw"
AUTO = "Auto"

#: A base, and a frame for pairs of densities, whose defaults make the Gaussian.
_NO_METHODS = {"Calibrator", "DensityCalibrator"}

#: What is short for names that are too long for a small square.
_SHORT = {
    "asymmetric Gaussian": "A.Gau",
    "asymmetric Laplace": "A.Lap",
    "BBQ": "BBQ",
    "centered isotonic": "c.iso",
    "Gaussian": "Gauss",
    "Laplace": "Lapl.",
    "histogram": "hist",
    "isotonic": "isot.",
    "logistic": "LR",
    "logistic correction": "L.cor",
    "min max": "m–m",
    "monotone logistic": "mono",
    "piecewise logistic": "PLR",
    "scaling binning": "s.bin",
    "temperature": "temp",
    "Venn Abers": "V–A",
}
_NAMES = ("Gaussian", "Laplace", "Platt", "Auto", "BBQ", "ENIR", "Venn Abers")

#: Kinds of maps by the file that a method stands in; what a new file holds is taken for a curve until it is put here.
_KINDS = {
    "squash": "no fit",
    "sigmoid": "one line",
    "temperature": "one line",
    "density": "densities",
    "beta": "curves",
    "cosine": "curves",
    "spline": "curves",
    "piecewise": "curves",
    "monotone": "curves",
    "isotonic": "steps",
    "centered": "steps",
    "venn_abers": "steps",
    "binning": "steps",
    "bbq": "steps",
    "enir": "steps",
    "auto": "blend",
}
KINDS = ("one line", "curves", "steps", "densities", "blend", "no fit")


class Method(NamedTuple):
    """A calibrator: its class, a name of five letters at most, and the kind of its map."""

    calibrator: type[Calibrator]
    short: str
    kind: str


@cache
def find_methods() -> dict[str, Method]:
    """Return every exported calibrator by name.

    Examples
    --------
    >>> find_methods()["Venn Abers"].kind
    'steps'
    """
    found = {}
    for exported in calibrators.__all__:
        if exported.endswith("Calibrator") and exported not in _NO_METHODS:
            name = _words(exported)
            cls = getattr(calibrators, exported)
            kind = _KINDS.get(cls.__module__.rpartition(".")[2], "curves")
            found[name] = Method(cls, _SHORT.get(name, name)[:6], kind)
    return found


def kind_of(name: str) -> str:
    """Return the kind of a method's map; to leave scores uncalibrated is no fit."""
    return "no fit" if name == RAW else find_methods()[name].kind


def short_name(name: str) -> str:
    """Return a name that fits into a small square."""
    return RAW if name == RAW else find_methods()[name].short


def _words(exported: str) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", exported.removesuffix("Calibrator"))
    small = words.lower()
    for name in _NAMES:
        small = re.sub(rf"\b{name.lower()}\b", name, small)
    return small
