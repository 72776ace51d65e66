"""Outcomes kept on disk: one file a competitor, so that a new one costs only itself."""

import hashlib
import json
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quality.scores import cache_folder
from benchmarks.quality.tasks import Competitor, Outcome, Task

#: Raised when the way to judge changes, so that stored outcomes are not mistaken for new ones.
RULES = 1
#: Seconds between two savings of a competitor that takes long.
_SAVE_EVERY = 10.0


def outcomes(competitor: Competitor, tasks: Sequence[Task], fresh: bool = False) -> list[Outcome]:
    """Return the outcome of every task, computing those that this version of the competitor has not met."""
    file = _file(competitor)
    known = {} if fresh else _read(file, competitor.version)
    missing = [task for task in tasks if task.key not in known]
    start = saved = time.perf_counter()
    for done, task in enumerate(missing, 1):
        known[task.key] = task.judge(competitor.calibrate)
        now = time.perf_counter()
        if done == len(missing) or now - saved > _SAVE_EVERY:
            _write(file, competitor.version, known)
            saved = now
            print(f"  {competitor.name}: {done} of {len(missing)} tasks, {now - start:.0f} s", file=sys.stderr)
    return [known[task.key] for task in tasks]


def _file(competitor: Competitor) -> Path:
    # The digest keeps names apart that differ only in what a file name cannot hold.
    digest = hashlib.sha256(competitor.name.encode()).hexdigest()[:6]
    return cache_folder() / f"results-{RULES}" / f"{re.sub(r'[^A-Za-z0-9]+', '-', competitor.name)}-{digest}.json"


def _read(file: Path, version: str) -> dict[str, Outcome]:
    stored = json.loads(file.read_text()) if file.exists() else {}
    if stored.get("version") != version:
        return {}
    return {key: Outcome(*values) for key, values in stored["outcomes"].items()}


def _write(file: Path, version: str, known: dict[str, Outcome]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps({"version": version, "outcomes": known}))
    part.replace(file)
