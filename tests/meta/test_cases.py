"""With --cases every test runs, each with a few of its cases."""

import pytest

from conftest import few_of_each


class Case:
    """As much of a collected test as the choice looks at."""

    def __init__(self, nodeid, heavy=False):
        self.nodeid, self.heavy = nodeid, heavy

    def get_closest_marker(self, name):
        return pytest.mark.heavy.mark if self.heavy and name == "heavy" else None


def chosen(*tests, most=3):
    """Return the cases that are run of tests with so many cases, by name."""
    items = [Case(f"{name}[{k}]" if n > 1 else name, heavy) for name, n, heavy in tests for k in range(n)]
    found = few_of_each(items, most)
    return {
        name: [item.nodeid for item in items if item in found and item.nodeid.startswith(name)] for name, *_ in tests
    }


def test_every_test_keeps_some_of_its_cases():
    found = chosen(("alone", 1, False), ("two", 2, False), ("many", 100, False))
    assert {name: len(cases) for name, cases in found.items()} == {"alone": 1, "two": 2, "many": 3}


def test_the_cases_are_spread_and_others_from_test_to_test():
    found = chosen(("a", 90, False), ("b", 90, False))
    places = [[int(case[2:-1]) for case in cases] for cases in found.values()]
    assert [max(some) - min(some) for some in places] == [60, 60]
    assert set(places[0]).isdisjoint(places[1])


def test_of_a_heavy_test_the_first_case_runs():
    assert chosen(("heavy", 8, True)) == {"heavy": ["heavy[0]"]}
