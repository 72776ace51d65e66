"""Run a study by its name."""

import os
import pkgutil
import platform
from collections import Counter
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from oddsmith import __version__, checks
from oddsmith_studies.data.registry import Folder
from oddsmith_studies.studies._claims import EDITION, over_seeds
from oddsmith_studies.studies._result import StudyResult, finish
from oddsmith_studies.studies._result import rewrite as rewrite_folder
from oddsmith_studies.studies._running import Watcher, compute_parts
from oddsmith_studies.studies._store import Computed, data_digests, open_store
from oddsmith_studies.studies._study import DEFAULT_GRID, Results, Setting, Study


def names() -> list[str]:
    """Return the names of all studies: of every module next to this one that is not private."""
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name.replace("_", "-") for module in found if not module.name.startswith("_"))


def load(name: str) -> Study:
    """Return a study by its name.

    Examples
    --------
    >>> load("course-project").data
    ('sentiment',)
    """
    checks.one_of(name, "name", tuple(names()))
    study: Study = import_module(f"oddsmith_studies.studies.{name.replace('-', '_')}").STUDY
    return study


def list_studies() -> list[Study]:
    """Return all studies, each with its ``name``, ``title`` and ``data``."""
    return [load(name) for name in names()]


def run(
    study: str | Study,
    *,
    quick: bool = False,
    resume: bool = False,
    jobs: int = 1,
    data: Folder = None,
    out: str | os.PathLike[str] | None = None,
    seed: int = 0,
    grid: str = DEFAULT_GRID,
    progress: Watcher | None = None,
) -> StudyResult:
    """Run a study and write what comes out of it.

    Parameters
    ----------
    study : str or Study
        One of `list`, by name, or any other.
    quick : bool, default False
        Do the same on less data, in about a minute.
    resume : bool, default False
        Go on with what an earlier run in the same folder has computed with the same version, seed, size, grid and data.
    jobs : int, default 1
        Processes; the results do not depend on it.
    data : path, optional
        A data folder to look in first.
    out : path, optional
        Where to write, and to keep parts for `resume`; by default nothing is written.
    seed : int, default 0
    grid : str, default "default"
        Which of the study's ``grids`` to search.
    progress : callable, optional
        Called with a `Progress` after each part.

    Returns
    -------
    StudyResult

    Examples
    --------
    >>> from oddsmith_studies import studies
    >>> studies.run("course-project", quick=True, out="course").claims[0].verdict  # doctest: +SKIP
    'holds'
    """
    chosen = load(study) if isinstance(study, str) else study
    checks.whole_number(jobs, "jobs", low=1)
    checks.whole_number(seed, "seed", low=0)
    if resume and out is None:
        checks.fail("out must be given to resume", "out=None", "name the folder of the earlier run")
    checks.one_of(grid, f"grid of {chosen.name}", chosen.grids)
    setting = Setting(seed, quick, None if data is None else os.fspath(data), grid)
    digests = data_digests(chosen, data)
    folder = None if out is None else Path(out)
    store = open_store(folder, chosen, setting, digests, resume=resume)
    computed = compute_parts(chosen.parts(setting), setting, store, jobs=jobs, watch=progress)
    results = Results(setting, {name: each.result for name, each in computed.items()}, chosen.published)
    seconds = {name: each.seconds for name, each in computed.items()}
    result = finish(chosen, results, _made(chosen, setting, digests, computed), seconds)
    if folder is not None:
        result.write(folder)
    return result


def rewrite(study: str | Study, folder: str | os.PathLike[str]) -> list[Path]:
    """Judge the claims and write the page again from the results in a folder, computing nothing.

    Parameters
    ----------
    study : str or Study
    folder : path
        Of an earlier run; pictures stay as they are.

    Returns
    -------
    list of Path
        The result of `apply_model`: what was written.
    """
    return rewrite_folder(load(study) if isinstance(study, str) else study, Path(folder))


def judge_again(
    study: str | Study,
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    jobs: int = 1,
    data: Folder = None,
    seed: int = 0,
    draws: int = 1,
    progress: Watcher | None = None,
) -> list[Path]:
    """Compute only what the verdicts rest on, and judge again; tables and pictures of the earlier run stay.

    Parameters
    ----------
    study : str or Study
        Of one that does not name its judged parts all are computed.
    folder : path
        Of an earlier run; parts are kept there for ``resume``.
    resume, jobs, data, seed, progress
        As of `run`.
    draws : int, default 1
        With how many seeds, from ``seed`` on; their measurements are combined.

    Returns
    -------
    list of Path
        The result of `apply_model`: what was written.
    """
    chosen = load(study) if isinstance(study, str) else study
    checks.whole_number(draws, "draws", low=1)
    digests, measured, seconds = data_digests(chosen, data), [], 0.0
    for each in range(seed, seed + draws):
        setting = Setting(each, False, None if data is None else os.fspath(data))
        store = open_store(Path(folder), chosen, setting, digests, resume=resume)
        parts = (chosen.judged or chosen.parts)(setting)
        computed = compute_parts(parts, setting, store, jobs=jobs, watch=progress)
        results = Results(setting, {name: one.result for name, one in computed.items()}, chosen.published)
        measured.append(chosen.evidence(results))
        seconds += sum(one.seconds for one in computed.values())
    made = _made(chosen, Setting(seed), {}, computed)
    how = {key: made[key] for key in ("version", "seed", "parts", "rules", "versions")}
    several = f" --draws {draws}" if draws > 1 else ""
    how |= {"command": f"{made['command']} --judge{several}", "seconds": seconds, "draws": draws}
    return rewrite_folder(chosen, Path(folder), evidence=over_seeds(measured), judged=how)


def _made(study: Study, setting: Setting, digests: dict[str, str], computed: dict[str, Computed]) -> dict[str, Any]:
    given = {"--grid": setting.grid if setting.grid != DEFAULT_GRID else None, "--seed": setting.seed or None}
    options = " --quick" if setting.quick else ""
    options += "".join(f" {name} {value}" for name, value in given.items() if value is not None)
    odd: Counter[str] = Counter()
    for each in computed.values():
        odd.update(each.odd)
    packages = {"numpy": "numpy", "scipy": "scipy", "scikit-learn": "scikit-learn", "matplotlib": "matplotlib"}
    versions = {"oddsmith": __version__, "Python": platform.python_version()}
    return {
        "command": f"oddsmith study {study.name}{options}",
        "version": study.version,
        "seed": setting.seed,
        "quick": setting.quick,
        "rules": EDITION,
        "parts": len(computed),
        "data": digests,
        "versions": versions | {name: version(package) for name, package in packages.items()},
        "odd": dict(sorted(odd.items())),
        "document": study.published.document,
        "source": study.published.source,
    }
