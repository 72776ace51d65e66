"""What the outcomes say: means, ranks, and tests over sources of data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, wilcoxon

from benchmarks.quality.tasks import NOTHING, Outcome, Task
from oddsmith.metrics import holm, paired_bootstrap

_N_BOOT = 10_000

#: Intervals from fewer sources of data than this would be wider than the range of the measure.
_FEWEST_SOURCES = 6


@dataclass(frozen=True)
class Field:
    """All outcomes: a row per task, a column per competitor."""

    names: list[str]
    tasks: list[Task]
    log_loss: np.ndarray
    brier: np.ndarray
    failures: np.ndarray
    infinite: np.ndarray

    @classmethod
    def of(cls, tasks: Sequence[Task], found: dict[str, list[Outcome]]) -> "Field":
        """Put the outcomes of all competitors side by side."""
        values = np.array([found[name] for name in found], dtype=float)  # competitor × task × part
        return cls(list(found), list(tasks), *values.transpose(2, 1, 0))

    @property
    def sizes(self) -> list[str]:
        """Name the calibration sizes."""
        return list(dict.fromkeys(task.size for task in self.tasks))

    @property
    def sources(self) -> np.ndarray:
        """Name the rows that each task comes from."""
        return np.array([task.scores.source for task in self.tasks])

    def of_size(self, size: str) -> np.ndarray:
        """Mark the tasks of one size."""
        return np.array([task.size == size for task in self.tasks])

    def inside_unit(self) -> np.ndarray:
        """Mark the tasks whose scores are probabilities, none of them 0 or 1."""
        pools = [task.scores.scores_cal for task in self.tasks]
        return np.array([bool(pool.min() > 0 and pool.max() < 1) for pool in pools])

    def losses(self, name: str) -> np.ndarray:
        """Return the log-losses of one competitor."""
        return self.log_loss[:, self.names.index(name)]


def standings(field: Field, seed: int) -> list[dict]:
    """Return means, mean ranks and win rates of every competitor, the least mean log-loss first.

    The win rate is the share of the others that a competitor beats on a task, ties counting half, with an interval from
    drawing whole sources.
    """
    # Twins differ in the last digits only, and share their rank.
    ranks, brier_ranks = (rankdata(np.round(losses, 9), axis=1) for losses in (field.log_loss, field.brier))
    rows = []
    for column in np.argsort(field.log_loss.mean(axis=0), kind="stable"):
        row = {
            "competitor": field.names[column],
            "log_loss": 1e3 * field.log_loss[:, column].mean(),
            "brier": 1e3 * field.brier[:, column].mean(),
            "rank": ranks[:, column].mean(),
        }
        for measure, each in (("log_loss", ranks), ("brier", brier_ranks)):
            wins = (len(field.names) - each[:, column]) / max(len(field.names) - 1, 1)
            row[f"wins_{measure}"] = (wins.mean(), *_bootstrap(wins, field.sources, 0.95, seed))
        for size in field.sizes:
            here = field.of_size(size)
            row[f"log_loss@{size}"] = 1e3 * field.log_loss[here, column].mean()
            row[f"brier@{size}"] = 1e3 * field.brier[here, column].mean()
            row[f"rank@{size}"] = ranks[here, column].mean()
        row["failures"] = int(field.failures[:, column].sum())
        row["infinite"] = int((field.infinite[:, column] > 0).sum())
        rows.append(row)
    return rows


def against_reference(field: Field, reference: str, seed: int) -> list[dict]:
    """Test the reference against every other competitor.

    Tasks of one source are not independent: Wilcoxon's test sees one mean a source, the bootstrap draws whole sources.
    Differences are of log-loss, reference − other, times 10³: negative where the reference is better.
    """
    rows = []
    for name in field.names:
        if name == reference:
            continue
        difference = field.losses(reference) - field.losses(name)
        by_source = _source_means(difference, field.sources)
        other = by_source[by_source != 0]  # Wilcoxon's test drops the rest, of which older releases of SciPy warn
        interval = _bootstrap(difference, field.sources, 0.95, seed)
        ran = field.failures[:, field.names.index(name)] == 0
        rows.append(
            {
                "competitor": name,
                "difference": 1e3 * difference.mean(),
                "low": 1e3 * interval[0],
                "high": 1e3 * interval[1],
                "wins": int((by_source < 0).sum()),
                "sources": len(by_source),
                "wilcoxon": float(wilcoxon(other).pvalue) if len(other) else 1.0,
                "difference_where_it_ran": 1e3 * difference[ran].mean() if ran.any() else float("nan"),
            }
        )
    for row, corrected in zip(rows, holm([row["wilcoxon"] for row in rows]), strict=True):
        row["holm"] = float(corrected)
    return sorted(rows, key=lambda row: -row["difference"])


def against_nothing(field: Field, seed: int) -> list[dict]:
    """Return by how much every competitor is worse than doing nothing, with upper 95 % limits over sources.

    Margins and exact zeros are easily improved on. So two parts also stand alone: probabilities strictly between 0 and
    1, and those of logistic regression, which leaves least to gain.
    """
    logistic = np.array([task.scores.learner == "logistic" for task in field.tasks])
    parts = {"all": np.ones(len(field.tasks), bool), "inner": field.inside_unit()}
    parts |= {f"logistic@{size}": logistic & field.of_size(size) for size in field.sizes}
    parts = {part: here for part, here in parts.items() if here.any()}
    rows = []
    for name in field.names:
        if name == NOTHING:
            continue
        row: dict = {"competitor": name}
        for part, here in parts.items():
            difference, sources = (field.losses(name) - field.losses(NOTHING))[here], field.sources[here]
            row[part] = 1e3 * difference.mean()
            # The upper end of a two-sided 90 % interval is a one-sided 95 % limit.
            row[f"{part} limit"] = 1e3 * _bootstrap(difference, sources, 0.90, seed)[1]
        rows.append(row)
    return sorted(rows, key=lambda row: row["all limit"])


def _source_means(values: np.ndarray, sources: np.ndarray) -> np.ndarray:
    return np.array([values[sources == source].mean() for source in np.unique(sources)])


def _bootstrap(difference: np.ndarray, sources: np.ndarray, level: float, seed: int) -> tuple[float, float]:
    if len(np.unique(sources)) < _FEWEST_SOURCES:
        return np.nan, np.nan
    zero = np.zeros(len(difference))
    found = paired_bootstrap(
        difference, zero, groups=sources, level=level, n_resamples=_N_BOOT, random_state=np.random.default_rng(seed)
    )
    return found.low, found.high
