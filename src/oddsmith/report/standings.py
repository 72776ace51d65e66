"""Methods that were compared on the same held-out cases: who stands where, and what to do."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.data import Signal
from oddsmith.errors import OddsmithWarning
from oddsmith.metrics import Comparison, Verdict, plain
from oddsmith.report.advice import Advice

__all__ = ["Standings", "held_out"]

Method = TypeVar("Method")

#: Methods that are named where several do as well.
_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class Standings:
    """What cross-validation says about several methods.

    Attributes
    ----------
    comparison : Comparison
        Totals, wins, losses and tests of every pair.
    n_folds : int
    failed : dict of str to str
        Methods that could not be fitted, and why.
    advice : Advice
        Which method to use, and what it gains.
    judged : Verdict
        Whether the uncalibrated scores can be used as probabilities.
    signal : Signal
        Whether the scores separate the classes at all.
    """

    comparison: Comparison
    n_folds: int
    failed: dict[str, str]
    advice: Advice
    judged: Verdict
    signal: Signal

    @property
    def ranking(self) -> list[str]:
        """Names of the methods, the least log-loss first."""
        part = self.comparison["log_loss"]
        order = np.argsort(part.means, kind="stable")
        return [part.names[i] for i in order]

    def mean(self, measure: str) -> dict[str, float]:
        """Return the mean log_loss (in nats), squared_error or zero_one_error of each method."""
        part = self.comparison[measure]
        return dict(zip(part.names, part.means.tolist(), strict=True))

    @property
    def baseline(self) -> str:
        """What methods are compared with: uncalibrated scores, or the base rate where those are not probabilities."""
        return self.advice.baseline

    @property
    def verdict(self) -> str:
        """What to do, in words."""
        return self.advice.words

    @property
    def standing(self) -> str:
        """Which method has the least log-loss, and which ones cannot be told from it."""
        part, best = self.comparison["log_loss"], self.ranking[0]
        told = f"{best} has the least log-loss, {self.mean('log_loss')[best]:z.4f} per case"
        if self.advice.kind == "few":
            return f"{told}; the cases are too few to rank the methods."
        if self.advice.kind == "reversed":
            return f"{told}; compare again once {self.signal.repaired}."
        left = [name for name in self.ranking if name in part.not_beaten(best, corrected=True)]
        if not left:
            return f"{told}. It is significantly better than every other method."
        shown = ", ".join(left[:_NAMED]) + (f" and {len(left) - _NAMED} more" if len(left) > _NAMED else "")
        return f"{told}. Statistically indistinguishable from it: {shown}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the held-out forecasts as plain JSON."""
        content = {
            "verdict": self.verdict,
            "standing": self.standing,
            "advice": {**asdict(self.advice), "gain": self.advice.gain._asdict()},
            "judged": self.judged,
            "signal": {**asdict(self.signal), "kind": self.signal.kind},
            "ranking": self.ranking,
            "folds": self.n_folds,
            "mean": {measure: self.mean(measure) for measure in self.comparison.measures},
            "failed": dict(self.failed),
            "comparison": self.comparison,
        }
        return dict(plain(content))


def held_out(
    methods: Mapping[str, Method],
    forecast: Callable[[Method], list[Floats]],
    progress: Callable[[float], None] | None,
) -> tuple[dict[str, Floats], dict[str, str]]:
    """Return what methods say of all folds, each fitted to the others, and why some could not be fitted."""
    found, failed = {}, {}
    for done, (name, method) in enumerate(methods.items()):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OddsmithWarning)
                found[name] = np.concatenate(forecast(method))
        except ValueError as error:
            failed[name] = str(error)
        if progress is not None:
            progress((done + 1) / len(methods))
    if not found:
        _check.fail("some method must fit the data", f"none: {'; '.join(failed.values())}", "choose other methods")
    return found, failed
