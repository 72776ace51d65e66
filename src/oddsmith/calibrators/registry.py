"""Calibrators by the name of their method: "platt", "asymmetric-laplace", "venn-abers".

Another package adds a calibrator by an entry point of the group ``oddsmith.calibrators``, whose object is the class; it
is loaded when methods are first looked up.
"""

import difflib
import re
import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, TypeVar

from oddsmith import _check
from oddsmith.calibrators._base import Calibrator
from oddsmith.errors import OddsmithWarning

__all__ = ["METHODS", "calibrator_named", "find_method", "method_name", "register"]

AnyClass = TypeVar("AnyClass", bound=type[Any])

#: What others call a method.
_ALIASES = {"sigmoid": "platt"}

_GROUP = "oddsmith.calibrators"


class _Methods(Mapping[str, type[Calibrator]]):
    """Calibrators by name, those of installed packages included; they are loaded on first use."""

    def __init__(self) -> None:
        self.registered: dict[str, type[Calibrator]] = {}
        self._entries_loaded = False

    def _all(self) -> dict[str, type[Calibrator]]:
        if not self._entries_loaded:
            self._entries_loaded = True  # first: a package may look methods up while it is loaded
            _load_entries()
        return self.registered

    def __getitem__(self, name: str) -> type[Calibrator]:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f"METHODS({', '.join(self)})"


_METHODS = _Methods()

#: Every calibrator by the name of its method, those that were registered later and those of other packages included.
METHODS: Mapping[str, type[Calibrator]] = _METHODS


def method_name(cls: type[Any]) -> str:
    """Return the name of the method that a class implements.

    Examples
    --------
    >>> from oddsmith import AsymmetricLaplaceCalibrator
    >>> method_name(AsymmetricLaplaceCalibrator)
    'asymmetric-laplace'
    """
    bare = re.sub(r"(Calibrator|Scaling)$", "", cls.__name__)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", bare).lower()


def register(cls: AnyClass) -> AnyClass:
    """Make a calibrator known by its name; usable as a decorator.

    A class may be registered again, as when a notebook cell is run twice, but may not take the name of another one.
    """
    name = method_name(cls)
    known = _METHODS.registered.get(name, cls)
    if not issubclass(cls, Calibrator) or (known.__module__, known.__name__) != (cls.__module__, cls.__name__):
        got = f"{cls.__name__}, a name of {known.__module__}" if issubclass(cls, Calibrator) else cls.__name__
        _check.fail("a registered class must be a Calibrator with a name of its own", got, "rename the class")
    _METHODS.registered[name] = cls
    return cls


def _load_entries() -> None:
    """Register the calibrators of installed packages; one that fails is left out with a warning."""
    for entry in sorted(entry_points(group=_GROUP)):
        try:
            register(entry.load())
        except Exception as error:  # whatever another package does wrong
            package = entry.dist.name if entry.dist else entry.module
            failure = f"{type(error).__name__}: {error}"
            message = f"The calibrator {entry.name!r} of {package} cannot be loaded and is left out ({failure})."
            warnings.warn(_check.visible(message), OddsmithWarning, stacklevel=2)


def find_method(name: str, methods: Mapping[str, AnyClass], option: str = "method") -> AnyClass:
    """Return the class with this name, in any case and with "-" or "_"; ``option`` is what errors call it."""
    wanted = name.replace("_", "-").lower()
    wanted = _ALIASES.get(wanted, wanted)
    if wanted not in methods:
        close = difflib.get_close_matches(wanted, [*methods, *_ALIASES], n=1)
        hint = f"did you mean {close[0]!r}" if close else "choose one of them"
        _check.fail(f"{option} must be one of {', '.join(sorted(methods))}", f"{option}={name!r}", hint)
    return methods[wanted]


def calibrator_named(name: str, option: str = "method") -> Calibrator:
    """Return a calibrator with its defaults; ``option`` is what errors call the name.

    Examples
    --------
    >>> calibrator_named("venn_abers"), calibrator_named("sigmoid")
    (VennAbersCalibrator(), PlattCalibrator())
    """
    return find_method(name, METHODS, option)()
