"""scikit-learn's own tests with our classes in the place of its own.

A test module is loaded from the installed wheel while the names that it imports stand for ours, so that even the
parameters of its tests are ours. `ours` gives its tests and fixtures to a module of this suite, without those of what
only scikit-learn has; `differ` marks the tests that are expected to fail: strictly, so that a test which passes may not
be listed.
"""

import importlib.util
from contextlib import ExitStack
from unittest.mock import patch

import pytest
import sklearn

#: The tests differ from release to release; the lists of differences are written for this one and later ones.
RELEASE = (1, 9)
INSTALLED = tuple(int(part) for part in sklearn.__version__.split(".")[:2])


def load(name, substitutes):
    """Return a copy of ``sklearn.tests.<name>`` that imported our classes; {module: {name: ours}} says which."""
    if INSTALLED < RELEASE:
        pytest.skip(f"written for the tests of scikit-learn {RELEASE}, got {INSTALLED}", allow_module_level=True)
    spec = importlib.util.find_spec(f"sklearn.tests.{name}")
    if spec is None:
        pytest.skip("scikit-learn is installed without its tests", allow_module_level=True)
    module = importlib.util.module_from_spec(spec)
    with ExitStack() as stack:
        for origin, ours in substitutes.items():
            stack.enter_context(patch.multiple(importlib.import_module(origin), **ours))
        spec.loader.exec_module(module)
    return module


def ours(module, differences, not_ours):
    """Return the module's tests and fixtures by name, without those of what is not ours."""
    found = {
        name: value
        for name, value in vars(module).items()
        if name.startswith("test_") or type(value).__name__ == "FixtureFunctionDefinition"
    }

    for test in found.values():
        if hasattr(test, "pytestmark"):
            test.pytestmark = [_listed(mark) for mark in test.pytestmark]

    def test_what_is_listed_exists():
        listed = {name.partition("[")[0] for name in [*differences, *not_ours]}
        assert listed <= found.keys() or INSTALLED > RELEASE
        assert all([*differences.values(), *not_ours.values()])

    kept = {name: value for name, value in found.items() if name not in not_ours}
    return {**kept, "test_what_is_listed_exists": test_what_is_listed_exists}


def _listed(mark):
    """Return a mark whose parameters are a list, which pytest wants, where scikit-learn passes a generator."""
    if mark.name != "parametrize":
        return mark
    names, values = mark.args
    return pytest.mark.parametrize(names, list(values), **mark.kwargs).mark


def differ(request, differences):
    """Expect the running test to fail where it, or all its variants, are listed."""
    name = request.node.name
    reason = differences.get(name, differences.get(name.partition("[")[0]))
    if reason is not None:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
