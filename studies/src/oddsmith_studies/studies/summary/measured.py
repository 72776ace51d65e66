"""What the parts measured, put together: one row per cell, one column per method.

A cell is a problem, a classifier, a calibration size and a share of positives.

The regret of a method in a cell is its loss less that of the cell's best method, in percent of the loss of one who
knows the share of positives alone, and 100 at most: an infinite log-loss counts 100.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy
from scipy.stats import rankdata

from oddsmith.checks import Bools, Floats
from oddsmith.metrics import Interval, holm, paired_bootstrap
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies.summary.classifiers import CLASSIFIERS
from oddsmith_studies.studies.summary.methods import RAW
from oddsmith_studies.studies.summary.parts import SIZES
from oddsmith_studies.studies.summary.tasks import problem_of

Loss = Literal["log_loss", "brier"]
Words = NDArray[np.str_]

#: Shares of positives, by their upper ends.
BANDS = {"about 1 %": 0.02, "about 5 %": 0.10, "about 20 %": 0.35, "about 50 %": 1.0}
ALL = "all"
SIZE_NAMES = tuple(str(size) if size else ALL for size in SIZES)

_N_BOOT = 2000
_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Field:
    """All cells and all methods.

    Attributes
    ----------
    methods : tuple of str
    problem, source, classifier, size, band : array of str of shape (cells,)
    rate : array of shape (cells,)
        Share of positives.
    thinned : bool array of shape (cells,)
    drawings : int array of shape (cells,)
    log_loss, brier : array of shape (cells, methods)
        Means over drawings.
    infinite : array of shape (cells, methods)
        Drawings of infinite log-loss.
    """

    methods: tuple[str, ...]
    problem: Words
    source: Words
    classifier: Words
    size: Words
    band: Words
    rate: Floats
    thinned: Bools
    drawings: NDArray[np.int64]
    log_loss: Floats
    brier: Floats
    infinite: Floats

    @property
    def classifiers(self) -> list[str]:
        """The classifiers of this run, in their order."""
        return [name for name in CLASSIFIERS if name in self.classifier]

    @property
    def sizes(self) -> list[str]:
        """The sizes of this run, in their order."""
        return [name for name in SIZE_NAMES if name in self.size]

    @property
    def bands(self) -> list[str]:
        """The shares of positives of this run, in their order."""
        return [name for name in BANDS if name in self.band]

    @property
    def texts(self) -> Bools:
        """Which cells are of texts."""
        return np.array([problem_of(str(name)).is_text for name in self.problem])

    @property
    def developed_on(self) -> Bools:
        """Which cells are of problems that the default was developed on."""
        return np.array([problem_of(str(name)).developed_on for name in self.problem])

    def losses(self, loss: Loss) -> Floats:
        """Return the mean losses, shape (cells, methods)."""
        return self.log_loss if loss == "log_loss" else self.brier

    def regret(self, loss: Loss = "log_loss") -> Floats:
        """Return the regrets, shape (cells, methods)."""
        if loss == "log_loss":
            knowing_the_rate = -(xlogy(self.rate, self.rate) + xlog1py(1 - self.rate, -self.rate))
        else:
            knowing_the_rate = self.rate * (1 - self.rate)
        losses = self.losses(loss)
        lost = losses - losses.min(axis=1, keepdims=True)
        return np.asarray(100 * np.minimum(lost / knowing_the_rate[:, None], 1.0))

    def ranks(self, loss: Loss = "log_loss") -> Floats:
        """Return the ranks in every cell, from 1, infinite losses last; equals share theirs."""
        return np.asarray(rankdata(self.losses(loss), axis=1))

    def wins(self, loss: Loss = "log_loss") -> Floats:
        """Return which share of every cell each method won: equals divide it."""
        losses = self.losses(loss)
        best = losses == losses.min(axis=1, keepdims=True)
        return np.asarray(best / best.sum(axis=1, keepdims=True))

    def column(self, method: str) -> int:
        """Return the place of a method."""
        return self.methods.index(method)

    def mean(self, values: Floats, method: str, where: Bools | slice = slice(None)) -> Interval:
        """Return the mean of a method's values over cells, with an interval over sources of data."""
        mine = values[where, self.column(method)]
        return self._interval(mine, self.source[where])

    def difference(
        self, method: str, other: str, where: Bools | slice = slice(None), loss: Loss = "log_loss"
    ) -> Interval:
        """Return the mean difference of two methods' regrets over cells, with an interval over sources of data."""
        regret = self.regret(loss)
        paired = regret[where, self.column(method)] - regret[where, self.column(other)]
        return self._interval(paired, self.source[where])

    def can_judge(self, where: Bools | slice = slice(None)) -> bool:
        """Return whether some cells come from enough sources of data for a test to find a method better than another.

        From n sources p is at least (3/4)^n, and Holm multiplies the least p by the number of comparisons.
        """
        return 0.75 ** len(np.unique(self.source[where])) * (len(self.methods) - 1) < 1 - _LEVEL

    def beaten_by(self, method: str, where: Bools | slice = slice(None), loss: Loss = "log_loss") -> list[str]:
        """Return the methods that are surely better: by 5 % tests, corrected by Holm for the number of methods.

        Where `can_judge` is false, none can be.
        """
        regret, mine, sources = self.regret(loss)[where], self.column(method), self.source[where]
        others = [name for name in self.methods if name != method]
        if not self.can_judge(where):
            return []
        tests = [
            paired_bootstrap(
                regret[:, mine], regret[:, self.column(name)], groups=sources, n_resamples=_N_BOOT, random_state=0
            )
            for name in others
        ]
        corrected = holm([test.p_value for test in tests])
        return [name for name, test, p in zip(others, tests, corrected, strict=True) if test.low > 0 and p < 1 - _LEVEL]

    def _interval(self, values: Floats, sources: Words) -> Interval:
        if len(np.unique(sources)) < 2:  # as in quick runs
            return Interval(float(values.mean()), -np.inf, np.inf, _LEVEL, "one source of data bounds nothing")
        found = paired_bootstrap(
            values, np.zeros(len(values)), groups=sources, level=_LEVEL, n_resamples=_N_BOOT, random_state=0
        )
        mean, low, high = float(values.mean()), found.low, found.high
        return Interval(mean, low, high, _LEVEL, f"bootstrap of {len(np.unique(sources))} sources of data")


def collect(results: Results, which: slice = slice(None)) -> Field:
    """Put the results of all parts together; of some drawings alone, where there are such."""
    every = [(part, cell) for part in results.values() for cell in part["cells"]]
    cells = [(part, cell) for part, cell in every if cell["brier"][RAW][which]]
    methods = tuple(sorted(cells[0][1]["log_loss"], key=lambda name: (name == RAW, name.lower())))
    losses = {
        loss: [[np.array(cell[loss][name][which]) for name in methods] for _, cell in cells]
        for loss in ("log_loss", "brier")
    }

    def words(values: Sequence[str]) -> Words:
        return np.array(values, dtype=np.str_)

    return Field(
        methods=methods,
        problem=words([part["problem"] for part, _ in cells]),
        source=words([part["source"] for part, _ in cells]),
        classifier=words([part["classifier"] for part, _ in cells]),
        size=words([ALL if cell["all"] else str(cell["size"]) for _, cell in cells]),
        band=words([next(name for name, end in BANDS.items() if cell["rate"] < end) for _, cell in cells]),
        rate=np.array([cell["rate"] for _, cell in cells]),
        thinned=np.array([cell["thinned"] for _, cell in cells]),
        drawings=np.array([len(cell["brier"][RAW][which]) for _, cell in cells]),
        log_loss=np.array([[each.mean() for each in row] for row in losses["log_loss"]]),
        brier=np.array([[each.mean() for each in row] for row in losses["brier"]]),
        infinite=np.array([[float(np.isinf(each).sum()) for each in row] for row in losses["log_loss"]]),
    )
