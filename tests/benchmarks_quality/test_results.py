import sys
from dataclasses import replace

import pytest
from benchmarks.quality.results import outcomes
from benchmarks.quality.tasks import Competitor, make_tasks
from benchmarks.quality.versions import source_version


@pytest.fixture
def counted():
    calls = []

    def calibrate(scores, y, test):
        calls.append(len(scores))
        return test

    return Competitor("toy:counted", "1", calibrate), calls


def test_only_what_is_missing_is_computed(toy, cache, counted):
    competitor, calls = counted
    first = outcomes(competitor, make_tasks([toy], ["full"], 0))
    assert calls == [600]
    both = outcomes(competitor, make_tasks([toy], ["500", "full"], 0))
    assert calls == [600, 500, 500, 500]
    assert both[1] == first[0]
    assert outcomes(competitor, make_tasks([toy], ["500", "full"], 0)) == both
    assert len(calls) == 4


def test_a_new_version_and_a_wish_compute_again(toy, cache, counted):
    competitor, calls = counted
    tasks = make_tasks([toy], ["full"], 0)
    outcomes(competitor, tasks)
    outcomes(replace(competitor, version="2"), tasks)
    assert len(calls) == 2
    outcomes(replace(competitor, version="2"), tasks, fresh=True)
    assert len(calls) == 3


def test_names_do_not_share_a_file(toy, cache, counted):
    competitor, calls = counted
    tasks = make_tasks([toy], ["full"], 0)
    outcomes(competitor, tasks)
    outcomes(replace(competitor, name="toy-counted"), tasks)
    outcomes(competitor, tasks)
    assert len(calls) == 2


def test_the_version_follows_imports_through_packages(tmp_path, monkeypatch):
    package = tmp_path / "toypackage"
    files = {
        "__init__.py": "from toypackage.base import Base\n",
        "base.py": "from toypackage import numbers\nclass Base:\n    n = numbers.N\n",
        "numbers.py": "N = 1\n",
        "top.py": "from toypackage import Base\nclass Top(Base): ...\n",
        "other.py": "class Other: ...\n",
    }
    package.mkdir()
    for name, text in files.items():
        (package / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    from toypackage.other import Other
    from toypackage.top import Top

    before = source_version(Top), source_version(Other)
    (package / "numbers.py").write_text('"""Words."""\nN = 1  # and more\n')
    assert source_version(Top) == before[0]
    (package / "numbers.py").write_text("N = 2\n")
    assert source_version(Top) != before[0]
    assert source_version(Other) == before[1]
    for name in [name for name in sys.modules if name.partition(".")[0] == "toypackage"]:
        del sys.modules[name]
