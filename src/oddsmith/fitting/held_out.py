"""Means over cases that fits did not see, and weights of a blend from the likelihoods of such cases."""

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from oddsmith._types import Floats

#: Weight of a prior of a blend that is equal for all parts, in cases.
_PRIOR = 2.0

_MAX_STEPS = 500


class HeldOutLaw(NamedTuple):
    """Student's law of a mean over held-out cases.

    Attributes
    ----------
    error : float
        Its standard error.
    df : float
        Degrees of freedom.
    """

    error: float
    df: float

    @classmethod
    def of(cls, error: float, n_folds: int, cases: ArrayLike, n_groups: int | None = None) -> Self:
        """Return the law from the error that independent cases would have, the folds, and the cases of each class.

        Fits to overlapping folds are not independent: their variance is larger by 1 + k/(k − 1) (Nadeau and Bengio).
        The cases outside the most frequent class give the degrees of freedom, or the groups if there are fewer.

        References
        ----------
        C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52, 2003.

        Examples
        --------
        >>> round(HeldOutLaw.of(0.1, 5, [30, 12]).half_width(), 4)
        0.3301
        """
        counts = np.asarray(cases, dtype=np.float64)
        factor = math.sqrt(1 + n_folds / (n_folds - 1)) if n_folds > 1 else 1.0
        units = min(float(counts.sum() - counts.max()), math.inf if n_groups is None else n_groups)
        return cls(error * factor, max(units - 1, 1.0))

    def half_width(self, level: float = 0.95) -> float:
        """Return half the width of an interval around the mean."""
        return float(stdtrit(self.df, (1 + level) / 2)) * self.error

    def p_value(self, mean: float) -> float:
        """Return the two-sided p-value of a true mean of 0."""
        if self.error <= 1e-15 * abs(mean):
            return float(mean == 0)
        return float(2 * stdtr(self.df, -abs(mean) / self.error))


def mixture_weights(likelihood: Floats, cases: Floats, prior: Floats | None = None) -> Floats:
    """Return the weights of the most probable blend of forecasts under a Dirichlet prior, by EM.

    The likelihood, shape (parts, n), is P of what happened by each part, of a case up to a factor that all parts share;
    ``cases`` is the number of cases of each column, ``prior`` that of each part; by default two, in equal shares.
    """
    size = len(likelihood)
    if prior is None:
        prior = np.full(size, _PRIOR / size)
    used = cases > 0
    likelihood, cases = np.ascontiguousarray(likelihood[:, used]), cases[used]  # else columns lie apart: twice the time
    total = float(cases.sum() + prior.sum())
    # Steps become small where rows that all parts forecast alike outweigh the others: then the prior decides.
    weights = (prior / prior.sum() + 1 / size) / 2
    for _ in range(_MAX_STEPS):
        due = likelihood @ (cases / (weights @ likelihood))
        new = (weights * due + prior) / total
        moved, weights = float(np.abs(new - weights).max()), new
        if moved < 1e-5:
            break
    return np.asarray(weights / weights.sum())
