"""Shared settings: the same examples on every machine, no clock in property tests, and which engines ran."""

import ast
import os
import sys
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

from frame_engines import ENGINES

#: Importing it registers what only some tests want.
collect_ignore = ["meta/toys.py"]

settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.register_profile("short", settings.get_profile("steady"), max_examples=15)
settings.load_profile("steady")  # what other conftests import is read before this run is configured


def pytest_addoption(parser):
    """Let a newcomer run every test, each with a few of its cases."""
    parser.addoption("--cases", type=int, default=0, metavar="N", help="run at most N cases of each test; 0 runs all")
    parser.addoption("--core", action="store_true", help="skip tests that need a package that is not installed")


def pytest_configure(config):
    """Watch which engines run, and with --core what is absent."""
    if config.getoption("core"):
        config.pluginmanager.register(_Core(), "core alone")
    settings.load_profile("short" if config.getoption("cases") else "steady")
    config.pluginmanager.register(_Engines(config), "engines that ran")


def pytest_collection_modifyitems(config, items):
    """Take some cases of each test, and skip examples in docstrings that import what a user's machine may lack."""
    if most := config.getoption("cases"):
        chosen = few_of_each(items, most)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = [item for item in items if item in chosen]
        for item in items:
            if not item.get_closest_marker("xdist_group"):
                item.add_marker(pytest.mark.xdist_group(item.path.name))  # what a file's tests share is made once
    for item in items:
        if isinstance(item, pytest.DoctestItem) and os.environ.get("CI") != "true":
            source = "".join(example.source for example in item.dtest.examples)
            imported = [
                name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for name in node.names
            ]
            if missing := [alias.name for alias in imported if find_spec(alias.name.partition(".")[0]) is None]:
                item.add_marker(pytest.mark.skip(reason=f"no module {', '.join(missing)}"))


def few_of_each(items, most):
    """Return at most so many cases of each test, evenly spaced, starting elsewhere from test to test.

    Of a heavy test that is its first case alone.
    """
    tests = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    chosen = set()
    for number, cases in enumerate(tests.values()):
        if cases[0].get_closest_marker("heavy"):
            chosen.add(cases[0])
            continue
        step = max(len(cases) / most, 1.0)
        chosen |= {cases[int(number + step * place) % len(cases)] for place in range(min(most, len(cases)))}
    return chosen


#: What tests the program, the documentation or compiled loops, none of which the core has.
MORE_THAN_CORE = {
    *("src/oddsmith/_compiled.py", "src/oddsmith/cli", "tests/cli", "tests/docs", "tests/meta/test_plug_ins.py"),
    *("tests/meta/test_readme_blocks.py", "tests/test_demo.py", "tests/test_pins.py"),
}


class _Core:
    """Skips tests and modules of tests whose failure is that a package is not installed."""

    def pytest_ignore_collect(self, collection_path, config):
        return True if collection_path.relative_to(config.rootpath).as_posix() in MORE_THAN_CORE else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        return _skipped_if_absent(report, call, item)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        report = yield
        if report.failed and _skipped_if_absent(report, report.call, collector).skipped:
            # What was imported in part would fail in a module that imports it, for another reason.
            for name in [name for name, module in sys.modules.items() if _is_of(module, collector.path)]:
                del sys.modules[name]
        return report


def _is_of(module, path):
    return getattr(module, "__file__", None) == str(path)


def _skipped_if_absent(report, call, node):
    error = None if call is None or call.excinfo is None else call.excinfo.value
    while report.failed and error is not None:
        if isinstance(error, ImportError) and error.name and find_spec(error.name.partition(".")[0]) is None:
            report.outcome, report.longrepr = "skipped", (str(node.path), 0, f"Skipped: no module {error.name}")
        # An error in an example of a docstring comes within one of doctest's own.
        error = error.exc_info[1] if hasattr(error, "exc_info") else error.__cause__ or error.__context__
    return report


class _Engines:
    """Gathers engines from the reports of tests, which come from all workers, and fails a run in CI that lacks one."""

    def __init__(self, config):
        self.config = config
        self.ran = set()
        self.asked = False

    def pytest_runtest_logreport(self, report):
        if report.nodeid.startswith("tests/frames/test_engines.py"):
            self.asked = True
        if report.when == "call" and not report.skipped:
            self.ran |= {value for name, value in report.user_properties if name == "engine"}

    @property
    def missing(self):
        """Engines that should have run."""
        whole = self.asked and not hasattr(self.config, "workerinput")
        return [name for name in ENGINES if name not in self.ran] if whole else []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        if self.missing and os.environ.get("CI") == "true":
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if self.ran:
            terminalreporter.write_line(f"engines: {', '.join(name for name in ENGINES if name in self.ran)}")
        if self.missing:
            terminalreporter.write_line(f"engines that did not run: {', '.join(self.missing)}", red=True)
