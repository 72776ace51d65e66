"""Whether a score tells the classes apart at all, and the right way round: what has to be said before anything else."""

from dataclasses import dataclass
from typing import Literal, Self

from oddsmith.metrics import auc
from oddsmith.table import ScoreTable
from oddsmith.table.signal import ranking_z

__all__ = ["Signal"]

#: Standard errors from ½ beyond which an area under the ROC curve is no chance. That a score is reversed is told more
#: reluctantly: most are not.
_RISING, _REVERSED = 2.0, -3.0


@dataclass(frozen=True)
class Signal:
    """How well a score ranks.

    Attributes
    ----------
    auc : float
        Area under the ROC curve.
    z : float
        By how many standard errors it lies above ½.
    """

    auc: float
    z: float

    @classmethod
    def of(cls, table: ScoreTable) -> Self:
        """Look at a table of both classes.

        Examples
        --------
        >>> Signal.of(ScoreTable.from_arrays([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0], [9, 9, 9, 9])).kind
        'reversed'
        """
        return cls(float(auc.of(table)), ranking_z(table))

    @property
    def kind(self) -> Literal["rising", "reversed", "none"]:
        """Whether positives have higher scores, lower ones, or neither."""
        return "reversed" if self.z < _REVERSED else "rising" if self.z > _RISING else "none"

    def words(self, score: str = "score") -> str:
        """Return what is wrong with the score, or whatever it is called; empty where nothing is."""
        area = f"area under the ROC curve {self.auc:.3f}"
        return {
            "reversed": f"The {score} is reversed: it is lower for positives than for negatives ({area}).",
            "none": f"The {score} carries no signal: {area}, statistically indistinguishable from 0.5.",
            "rising": "",
        }[self.kind]
