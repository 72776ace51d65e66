"""Things that a user's machine may lack, but that CI installs: a test without them skips there and fails here."""

import importlib
import os

import pytest


def needs(module):
    """Return the module, skip the test where it is absent, or fail in CI."""
    if os.environ.get("CI") == "true":
        return importlib.import_module(module)
    return pytest.importorskip(module)
