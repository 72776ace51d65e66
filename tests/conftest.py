"""Shared settings: the same examples on every machine, and no clock in property tests."""

from pathlib import Path

from hypothesis import HealthCheck, settings

# Modules that tests import are not collected for doctests: a second import would make their classes different ones.
collect_ignore = [
    str(path) for path in Path(__file__).parent.rglob("*.py") if not path.name.startswith(("test_", "conftest"))
]

settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("steady")
