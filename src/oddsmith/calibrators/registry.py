"""Calibrators by the name of their method: "platt", "asymmetric-laplace", "venn-abers"."""

import difflib
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from oddsmith import _check
from oddsmith.calibrators._base import Calibrator

__all__ = ["METHODS", "calibrator_named", "find_method", "method_name", "register"]

AnyClass = TypeVar("AnyClass", bound=type[Any])

#: What others call a method.
_ALIASES = {"sigmoid": "platt"}

_CLASSES: dict[str, type[Calibrator]] = {}

#: Every calibrator by the name of its method, those that were registered later included.
METHODS: Mapping[str, type[Calibrator]] = MappingProxyType(_CLASSES)


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
    known = METHODS.get(name, cls)
    if not issubclass(cls, Calibrator) or (known.__module__, known.__name__) != (cls.__module__, cls.__name__):
        got = f"{cls.__name__}, a name of {known.__module__}" if issubclass(cls, Calibrator) else cls.__name__
        _check.fail("a registered class must be a Calibrator with a name of its own", got, "rename the class")
    _CLASSES[name] = cls
    return cls


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
