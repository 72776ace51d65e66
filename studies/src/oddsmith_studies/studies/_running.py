"""Compute the parts of a study: one after another or in several processes, with the same results."""

import os
import re
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from oddsmith import checks
from oddsmith.errors import OddsmithWarning
from oddsmith_studies.studies._store import Computed, Store, as_json
from oddsmith_studies.studies._study import Part, Setting

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Parameters
    ----------
    part : str
        The part that has just been computed, or found computed.
    done, total : int
        Parts.
    share : float
        Of all costs, from 0 to 1.
    seconds : float
        Since the start.
    seconds_left : float or None
        By the parts computed in this run; None before the first.
    """

    part: str
    done: int
    total: int
    share: float
    seconds: float
    seconds_left: float | None


Watcher = Callable[[Progress], object]


def compute_parts(
    parts: list[Part], setting: Setting, store: Store, *, jobs: int = 1, watch: Watcher | None = None
) -> dict[str, Computed]:
    """Return the results of all parts in their order, taking from the store what it has."""
    _refuse_names([part.name for part in parts])
    start = time.perf_counter()
    costs = {part.name: part.cost for part in parts}
    whole, computed_cost = sum(costs.values()), 0.0
    found: dict[str, Computed] = {}

    def note(part: Part) -> None:
        if watch is not None:
            spent = time.perf_counter() - start
            done = sum(costs[name] for name in found)
            left = spent * (whole - done) / computed_cost if computed_cost else None
            watch(Progress(part.name, len(found), len(parts), done / whole, spent, left))

    for part in parts:
        if (kept := store.get(part)) is not None:
            found[part.name] = kept
            note(part)
    rest = [part for part in parts if part.name not in found]
    for part, computed in _in_process(rest, setting) if jobs == 1 else _in_pool(rest, setting, jobs):
        store.put(part, computed)
        found[part.name] = computed
        computed_cost += part.cost
        note(part)
    return {part.name: found[part.name] for part in parts}


def _in_process(parts: list[Part], setting: Setting) -> Iterator[tuple[Part, Computed]]:
    for part in parts:
        yield part, compute(part, setting)


def _in_pool(parts: list[Part], setting: Setting, jobs: int) -> Iterator[tuple[Part, Computed]]:
    # Fresh processes: a forked one would inherit threads and locks of whoever calls.
    with ProcessPoolExecutor(jobs, get_context("spawn"), _end_with_parent) as pool:
        # The long ones first, so that none is left alone at the end.
        ordered = sorted(parts, key=lambda part: -part.cost)
        running = {pool.submit(compute, part, setting): part for part in ordered}
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """End this process as soon as the one that asked for it is gone: nobody would take its results."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def compute(part: Part, setting: Setting) -> Computed:
    """Compute one part on one thread; count our own warnings instead of showing them."""
    start = time.perf_counter()
    # On one thread sums are the same whatever else runs, and processes do not fight for cores.
    with warnings.catch_warnings(record=True) as seen, threadpool_limits(1):
        warnings.simplefilter("always", OddsmithWarning)
        try:
            result = as_json(part.function(setting, **part.arguments))
        except Exception as error:
            error.add_note(f"in part {part.name!r}")
            raise
    odd = Counter(each.category.__name__ for each in seen if issubclass(each.category, OddsmithWarning))
    for each in seen:
        if not issubclass(each.category, OddsmithWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return Computed(result, time.perf_counter() - start, dict(sorted(odd.items())))


def _refuse_names(names: list[str]) -> None:
    if wrong := [name for name in names if not _NAME.fullmatch(name)]:
        checks.fail("names of parts must be small letters, digits, dots and dashes", f"{wrong[0]!r}", "rename it")
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        checks.fail("names of parts must differ", f"{twice!r} twice", "number them")
    if not names:
        checks.fail("a study must have parts", "none", "return some from Study.parts")
