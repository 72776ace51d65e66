"""Vapnik's cosine expansion, in one dimension."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators._base import Calibrator, Fitted
from oddsmith.data import Sample, slices
from oddsmith.maps import CosineMap, share_of_way


@dataclass(eq=False, repr=False)
class CosineCalibrator(Calibrator):
    """Fit a short cosine series to the labels by penalized least squares.

    P = a₀ + Σ aₙ cos(nt) with t = π(s − min)/(max − min), clipped to [0, 1]. Of historical interest: it needs no shape
    assumption but may leave [0, 1] and fall.

    Parameters
    ----------
    n_terms : int, default 3
        Number of cosines.
    penalty : float, default 0.1
        Penalty on a₁, a₂, …
    pos_label, input, clip
        As for every calibrator.

    Attributes
    ----------
    coefficients_ : ndarray of shape (terms + 1,)
        a₀, a₁, …

    See Also
    --------
    SplineCalibrator : A smooth curve in log-odds.

    References
    ----------
    V. Vapnik, Statistical Learning Theory, 1998, section 11.11; here without the directions across the margin.

    Examples
    --------
    >>> from oddsmith import CosineCalibrator
    >>> cal = CosineCalibrator().fit([-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1])
    >>> cal.predict_proba([-2.0, 2.0])[:, 1].round(3)
    array([0.   , 0.878])
    """

    n_terms: int = 3
    penalty: float = 0.1

    coefficients_: Floats = field(init=False)

    _needs_order: ClassVar[bool] = False

    def _check_parameters(self) -> None:
        _check.whole_number(self.n_terms, "n_terms", low=1)
        _check.number(self.penalty, "penalty", low=0)

    def _fit(self, data: Sample) -> Fitted:
        low, high = data.span()
        scores, weight = data.marginal()
        gram = np.zeros((self.n_terms + 1, self.n_terms + 1))
        target = np.zeros(self.n_terms + 1)
        for part in slices(len(scores)):
            x = np.cos(np.pi * share_of_way(scores[part], low, high))
            basis = np.polynomial.chebyshev.chebvander(x, self.n_terms)
            weighted = basis if weight is None else basis * weight[part, None]
            gram += weighted.T @ basis
            target += data.positive_weight(part) @ basis
        penalty = np.diag([0.0] + [self.penalty] * self.n_terms)
        # Fewer distinct scores than terms leave the system singular without a penalty: the shortest solution is taken.
        solution = np.linalg.lstsq(gram + penalty, target, rcond=None)[0]
        coefficients = np.asarray(solution, dtype=np.float64)
        return Fitted(CosineMap(low, high, coefficients), {"coefficients_": coefficients})
