"""Scores to calibrate: every learner trained on every data set once, and kept on disk."""

import hashlib
import os
import time
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.quality.learners import FOR_SEVERAL, learners, score
from benchmarks.quality.sets import OWN, SETS, SEVERAL, STORED, STORED_SEVERAL, Rows

#: Raised when sets, learners or splits change, so that stored scores are not mistaken for new ones.
RECIPE = 1
#: Sets of two and of several classes.
NAMES = {"two": (*SETS, *STORED), "several": (*SEVERAL, *STORED_SEVERAL)}
#: Those that need no files: what comes with scikit-learn, and simulated logits.
OWN_NAMES = {"two": tuple(OWN), "several": ("digits.all", "simulated.all")}
_TRAIN, _CAL, _TEST = 4000, 3000, 4000
#: Of stored scores of several classes so many calibrate, and all others judge.
_CAL_SEVERAL = 5000
_ARRAYS = ("scores_cal", "y_cal", "scores_test", "y_test")


@dataclass(frozen=True, eq=False)
class ScoreSet:
    """Scores of one learner on one data set: a pool to calibrate with and a part to judge by."""

    data: str
    learner: str
    scores_cal: np.ndarray
    y_cal: np.ndarray
    scores_test: np.ndarray
    y_test: np.ndarray

    @property
    def source(self) -> str:
        """Name the rows that it comes from."""
        return self.data.partition(".")[0]

    @cached_property
    def digest(self) -> str:
        """Name its content, so that results are never read for other scores."""
        content = hashlib.sha256()
        for name in _ARRAYS:
            content.update(getattr(self, name).tobytes())
        return content.hexdigest()[:16]


def cache_folder() -> Path:
    """Return where scores and results are kept."""
    return Path(os.environ.get("ODDSMITH_CACHE") or Path.home() / ".cache/oddsmith/quality")


def score_sets(names: tuple[str, ...] = NAMES["two"]) -> Iterator[ScoreSet]:
    """Yield the score sets of the named data sets, training what is not stored yet."""
    for name in names:
        folder = cache_folder() / f"scores-{RECIPE}" / name
        if not (folder / "done").exists():
            _build(name, folder)
        for file in sorted(folder.glob("*.npz")):
            with np.load(file) as stored:
                yield ScoreSet(name, file.stem, *(stored[field] for field in _ARRAYS))


def _build(name: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    if stored := {**STORED, **STORED_SEVERAL}.get(name):
        for learner, (scores, y) in stored().items():
            order = rng.permutation(len(y))
            n_cal, n_test = (_CAL, _TEST) if scores.ndim == 1 else (_CAL_SEVERAL, len(y))
            _store(folder / f"{learner}.npz", scores, y, order[:n_cal], order[n_cal : n_cal + n_test])
    else:
        _train({**SETS, **OWN, **SEVERAL}[name](), rng, name, folder)
    (folder / "done").touch()


def _train(rows: Rows, rng: np.random.Generator, name: str, folder: Path) -> None:
    n, classes = len(rows.y), np.unique(rows.y)
    sizes = min(_TRAIN, 3 * n // 10), min(_CAL, n // 3), _TEST
    order = rng.permutation(n)[: sum(sizes)]
    X, y = rows.X[order], np.searchsorted(classes, rows.y[order])
    train, cal, test = np.split(np.arange(len(order)), np.cumsum(sizes[:2]))
    if rows.kind == "text":
        words = CountVectorizer(min_df=3, max_features=rows.n_words).fit(X[train])
        X = words.transform(X)
    for learner, model in learners(rows.kind, X.shape[1]).items():
        if len(classes) > 2 and learner not in FOR_SEVERAL:
            continue
        file, start = folder / f"{learner}.npz", time.perf_counter()
        if file.exists():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fast settings stop some learners early, which is meant
            model.fit(X[train], y[train])
            later = np.concatenate([cal, test])
            found = score(model, X[later])
            scores = np.full((len(y), *found.shape[1:]), np.nan)
            scores[later] = found
        _store(file, scores, y, cal, test)
        print(f"  trained {learner} on {name}: {time.perf_counter() - start:.1f} s", flush=True)


def _store(file: Path, scores: np.ndarray, y: np.ndarray, cal: np.ndarray, test: np.ndarray) -> None:
    part = file.with_suffix(".part")
    with part.open("wb") as stream:
        np.savez_compressed(stream, scores_cal=scores[cal], y_cal=y[cal], scores_test=scores[test], y_test=y[test])
    part.replace(file)
