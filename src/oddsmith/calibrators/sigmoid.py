"""Logistic regression on a score: one sigmoid, with plain or with Platt's targets."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators._base import Calibrator, Fitted, convergence_notes
from oddsmith.data import Sample, is_separable
from oddsmith.errors import NegativeSlopeWarning
from oddsmith.fitting import LABELS, Line, fit_line, platt_targets
from oddsmith.maps import line_map


@dataclass(eq=False, repr=False)
class _LineCalibrator(Calibrator):
    """A calibrator whose log-odds are a straight line, a·s + b."""

    a_: float = field(init=False)
    b_: float = field(init=False)

    _needs_order: ClassVar[bool] = False

    @property
    def coef_(self) -> Floats:
        """The slope as scikit-learn's linear classifiers have it, shape (1, 1)."""
        return np.array([[self.a_]])

    @property
    def intercept_(self) -> Floats:
        """The intercept as scikit-learn's linear classifiers have it, shape (1,)."""
        return np.array([self.b_])


def _result(line: Line, **attributes: Any) -> Fitted:
    """Return a straight line with what every line has."""
    notes = convergence_notes(line.converged)
    if line.slope < 0:
        message = f"The fitted slope is negative (a = {line.a:.4g}): P falls as s rises."
        notes.append((NegativeSlopeWarning, message))
    fitted = line_map(line.slope, line.intercept, line.center, line.scale)
    return Fitted(fitted, {"a_": line.a, "b_": line.b, **attributes}, notes)


@dataclass(eq=False, repr=False)
class LogisticCalibrator(_LineCalibrator):
    """Fit a logistic regression of the label on the score.

    Models L = as + b by maximum likelihood: two parameters, one sigmoid. Use it when the classes' log-odds look
    straight; prefer `PlattCalibrator` with few cases, which never becomes certain.

    Parameters
    ----------
    penalty : float, default 0
        Penalty λ(a² + b²), on the original scale of the scores.
    fit_intercept : bool, default True
        With False b ≡ 0, so that P = ½ at score 0.
    pos_label, input, clip
        As for every calibrator.

    Attributes
    ----------
    a_, b_ : float
        Slope and intercept.

    See Also
    --------
    PlattCalibrator : The same with softened targets.

    Notes
    -----
    Minimizes Σ log(1 + exp(−yᵢ(asᵢ + b))) + λ(a² + b²) by Newton's method with backtracking. With λ = 0 and
    classes that a threshold separates, the loss has no minimum: the fit then uses Platt's targets, with a warning.

    References
    ----------
    J. Zhang and Y. Yang, Probabilistic score estimation with piecewise logistic regression, ICML 2004.

    Examples
    --------
    >>> from oddsmith import LogisticCalibrator
    >>> cal = LogisticCalibrator().fit([-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1])
    >>> cal.predict_proba([0.0, 2.0])[:, 1].round(3)
    array([0.387, 0.957])
    """

    penalty: float = 0.0
    fit_intercept: bool = True

    _when_separable: ClassVar[str] = "with penalty=0 the fit uses Platt's targets instead"

    def _check_parameters(self) -> None:
        _check.number(self.penalty, "penalty", low=0)
        _check.one_of(self.fit_intercept, "fit_intercept", (True, False))

    def _fit(self, data: Sample) -> Fitted:
        endless = is_separable if self.fit_intercept else is_one_sided
        targets = platt_targets(data) if self.penalty == 0 and endless(data) else LABELS
        return _result(fit_line(data, targets, self.penalty, self.fit_intercept))


@dataclass(eq=False, repr=False)
class PlattCalibrator(_LineCalibrator):
    """Fit a sigmoid to targets softened away from 0 and 1 (Platt scaling; Bennett's LR+noise).

    Models P = 1/(1 + exp(As + B)), A = −a, B = −b. Finite for any data, separable ones included: the first choice
    for a few dozen to a few thousand cases whose log-odds look straight.

    Parameters
    ----------
    pos_label, input, clip
        As for every calibrator.

    Attributes
    ----------
    a_, b_ : float
        Slope and intercept of the log-odds, −A and −B in Platt's notation.
    targets_ : tuple of float
        t₊ and t₋.

    See Also
    --------
    LogisticCalibrator : The same without softened targets.
    BetaCalibrator : A sigmoid that may be asymmetric, for probabilities.
    MonotoneLogisticCalibrator : A curve that may bend more often.

    Notes
    -----
    Minimizes −Σ [tᵢ log pᵢ + (1 − tᵢ) log(1 − pᵢ)] with t₊ = (N₊ + 1)/(N₊ + 2) for positives and t₋ = 1/(N₋ + 2) for
    negatives. N₊ and N₋ are sums of weights, so the fit is not invariant to the scale of float weights.

    References
    ----------
    J. Platt, Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods, 1999.
    H.-T. Lin, C.-J. Lin and R. Weng, A note on Platt's probabilistic outputs for support vector machines, 2007.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator
    >>> scores, y = [-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1]
    >>> cal = PlattCalibrator().fit(scores, y)
    >>> cal.predict_proba([0.0, 2.0])[:, 1].round(3)
    array([0.452, 0.739])
    """

    targets_: tuple[float, float] = field(init=False)

    _when_separable: ClassVar[str] = "only Platt's targets keep the fit finite"

    def _fit(self, data: Sample) -> Fitted:
        targets = platt_targets(data)
        return _result(fit_line(data, targets), targets_=(targets.pos_up, targets.neg_up))


def is_one_sided(data: Sample) -> bool:
    """Whether all of as, for some a ≠ 0, agree in sign with the labels, so that b ≡ 0 has no finite fit."""
    agree = oppose = True
    for scores, pos, neg in data.chunks():
        up, down = scores > 0, scores < 0
        agree = agree and not np.any((pos & down) | (neg & up))
        oppose = oppose and not np.any((pos & up) | (neg & down))
        if not (agree or oppose):
            return False
    return True
