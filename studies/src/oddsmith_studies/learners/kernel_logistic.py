"""Kernel logistic regression by regularized likelihood."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import check_random_state

from oddsmith import checks
from oddsmith.checks import Floats
from oddsmith_studies.learners import feature_maps as maps
from oddsmith_studies.learners._base import BinaryClassifier, FeatureRows, TrainingRows, is_sparse
from oddsmith_studies.learners._newton import Fit, LogisticLoss, solve_features, solve_kernel
from oddsmith_studies.learners._origin import OffsetQuadratic, measured_from, origin_of, quadratic_kernel

# Explicit quadratic features take about 50 bytes an entry while they are made: a gigabyte at most.
_MOST_ENTRIES = 20_000_000

# Scores against many centers are computed in blocks of about this many kernel values, 64 MB.
_BLOCK = 1 << 23

# Squares below this have lost their digits: such features do not vary.
_LEAST_VARIANCE = 1e-300

# Rounding that may move a probability by more than about this is refused.
_LARGEST_ERROR = 1e-5


class Centers(NamedTuple):
    """h = Σ coef_i k(rows_i, ·)."""

    rows: FeatureRows
    coef: Floats


@dataclass(eq=False, repr=False)
class KernelLogisticRegression(BinaryClassifier):
    """Fit a kernel machine by regularized likelihood: its outputs are log-odds from the start.

    The contrast to a support vector machine with a sigmoid: no calibration step, but every row enters the
    expansion.

    Parameters
    ----------
    kernel : {"linear", "quadratic", "rbf"} or callable, default="linear"
        x·z, (x·z+1)², exp(−γ‖x−z‖²), or a function of two matrices that returns the matrix of kernel values.
    penalty : float, default=1e-3
        λ, the weight of ‖h‖². Choose it by validation.
    gamma : float or "scale", default="scale"
        γ of "rbf"; "scale" is 1/(n_features·variance of X).
    exact_rows : int, default=5000
        Kernels without a finite feature map are fitted exactly up to so many rows, by landmarks above.
    n_landmarks : int, default=500
        Rows drawn as landmarks.
    tol : float, default=1e-7
        Stop after a Newton step with a decrement (a distance from the optimum, before the step) of at most
        this.
    max_iter : int, default=100
        Newton steps at most.
    random_state : int, RandomState or None
        For the landmarks.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,)
        c; 0 for rows of weight 0.
    intercept_ : float
        b.
    origin_ : ndarray of shape (n_features,)
        Where features are measured from in ``form_``: their mean; 0 for a feature that some sparse row leaves out, and
        for kernels that are functions.
    form_ : Polynomial(linear, square) or Centers(rows, coef)
        f without its constant, as it is evaluated, in x − origin_.
    constant_ : float
        Its constant, which is b where the origin is 0.
    approximate_ : bool
        Whether landmarks were used.
    n_iter_ : int
    classes_ : ndarray of shape (2,)

    Notes
    -----
    f = h + b, h = Σc_i k(x_i, ·), P = σ(f); minimizes −(1/m)Σ[t log p + (1−t) log(1−p)] + λ‖h‖², b free, the
    mean being weighted by ``sample_weight``. At the optimum c_i = (t_i−p_i)/(2λm) and Σc = 0.

    Features are measured from their mean, so that large offsets cost no digits. For linear and RBF kernels the
    model does not depend on it. The quadratic kernel does depend on where 0 is, and its model is kept: far from
    0, say at 1e8, a linear part without penalty. Explicit features hold it at any offset; a kernel matrix does
    not, and is refused where rounding would show. Groups of rows 1e7 and more apart are not helped: what is small
    within a group is lost next to the distance.

    Linear and quadratic kernels are solved over their explicit features, sparse if X is. A quadratic kernel
    with more than 20 million feature values, or with fewer rows than columns, is treated like other kernels:
    exactly by Newton steps on the kernel matrix up to ``exact_rows`` rows, above that by Nyström's
    approximation k(x, L)K_L⁻¹k(L, z) with landmarks L; then c expands f in the approximate kernel.

    References
    ----------
    Wahba (1999), Support vector machines, reproducing kernel Hilbert spaces and the randomized GACV. Platt
    (1999), Probabilistic outputs for support vector machines. Williams & Seeger (2001), Using the Nyström
    method to speed up kernel machines.

    Examples
    --------
    >>> from oddsmith_studies.learners import KernelLogisticRegression
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], [1, 0, 0, 1]
    >>> model = KernelLogisticRegression("quadratic", penalty=0.1).fit(X, y)
    >>> model.predict_proba([[0.0], [3.0]])[:, 1].round(3)
    array([0.054, 0.999])
    """

    kernel: str | Callable[[Any, Any], Any] = "linear"
    penalty: float = 1e-3
    _: KW_ONLY
    gamma: float | str = "scale"
    exact_rows: int = 5000
    n_landmarks: int = 500
    tol: float = 1e-7
    max_iter: int = 100
    random_state: Any = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "KernelLogisticRegression":
        """Minimize the regularized negative log-likelihood."""
        self._check_parameters()
        everything = self._read_training(X, y, sample_weight)
        data = everything.present()
        self.gamma_: float = self._resolve_gamma(data)
        # Of a function of rows nobody knows how it changes with the origin.
        self.origin_: Floats = np.zeros(data.X.shape[1]) if callable(self.kernel) else origin_of(data.X)
        rows = measured_from(self.origin_, data.X)
        loss = LogisticLoss(data.positive, data.weight)
        self.form_: maps.Polynomial | Centers
        self.approximate_: bool = False
        if self.kernel == "linear" or (self.kernel == "quadratic" and _has_small_features(data.X)):
            self.form_, fit = self._fit_features(rows, loss)
        elif len(data.weight) <= self.exact_rows:
            self.form_, fit = self._fit_rows(rows, loss)
        else:
            self.approximate_ = True
            self.form_, fit = self._fit_landmarks(rows, loss)
        self.constant_: float = fit.intercept
        self.intercept_: float = fit.intercept
        if self.kernel in ("linear", "quadratic"):
            # k(x, 0) is the same for all x, and Σc = 0: so h(0) = 0.
            self.intercept_ = float(self._scores(-self.origin_[None, :])[0])
        self.n_iter_: int = fit.n_iter
        self.dual_coef_: Floats = np.zeros(len(everything.weight))
        self.dual_coef_[everything.weight > 0] = -loss.slope(fit.scores) / (2 * self.penalty)
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return f(x), the log-odds."""
        rows = self._read_rows(X)
        return self._scores(measured_from(self.origin_, rows))

    def _scores(self, rows: FeatureRows) -> Floats:
        """Return f of rows that are measured from the origin."""
        if isinstance(self.form_, maps.Polynomial):
            return self.form_.scores(rows) + self.constant_
        centers, coef = self.form_
        block = max(1, _BLOCK // len(coef))
        parts = [
            self._kernel_values(rows[start : start + block], centers) @ coef for start in range(0, rows.shape[0], block)
        ]
        return np.concatenate(parts) + self.constant_

    def _farthest(self) -> float:
        return 1e75 if self.kernel == "quadratic" else 1e150

    def _check_parameters(self) -> None:
        if not callable(self.kernel):
            checks.one_of(self.kernel, "kernel", ("linear", "quadratic", "rbf"))
        checks.number(self.penalty, "penalty", low=0, strict=True)
        checks.number(self.tol, "tol", low=0, strict=True)
        checks.whole_number(self.max_iter, "max_iter", low=1)
        checks.whole_number(self.exact_rows, "exact_rows", low=0)
        checks.whole_number(self.n_landmarks, "n_landmarks", low=1)
        if self.gamma != "scale":
            checks.number(self.gamma, "gamma", low=0, strict=True)

    def _resolve_gamma(self, data: TrainingRows) -> float:
        if self.gamma != "scale":
            return float(self.gamma)
        share = data.weight / data.weight.sum() / data.X.shape[1]
        mean = float((share @ data.X).sum())
        if is_sparse(data.X):
            of_entries = np.repeat(share, np.diff(data.X.indptr))
            left_out = 1 - float(of_entries.sum()) if len(of_entries) < np.prod(data.X.shape) else 0.0
            variance = float(of_entries @ np.square(data.X.data - mean)) + left_out * mean**2
        else:
            variance = float((share @ np.square(data.X - mean)).sum())
        return 1 / (data.X.shape[1] * variance) if variance > _LEAST_VARIANCE else 1.0

    def _fit_features(self, X: FeatureRows, loss: LogisticLoss) -> tuple[maps.Polynomial, Fit]:
        features = maps.LinearFeatures(X) if self.kernel == "linear" else OffsetQuadratic(X, self.origin_)
        fit = solve_features(features, loss, self.penalty, self.tol, self.max_iter)
        return features.polynomial(fit.coef), fit

    def _fit_rows(self, X: FeatureRows, loss: LogisticLoss) -> tuple[Centers, Fit]:
        kernel = self._kernel_values(X, X)
        self._refuse_rounding(kernel, loss)
        fit = solve_kernel(kernel, loss, self.penalty, self.tol, self.max_iter)
        return Centers(X, fit.coef), fit

    def _fit_landmarks(self, X: FeatureRows, loss: LogisticLoss) -> tuple[Centers, Fit]:
        rng = check_random_state(self.random_state)
        chosen = rng.choice(X.shape[0], min(self.n_landmarks, X.shape[0]), replace=False)
        landmarks = X[np.sort(chosen)]
        self._refuse_rounding(self._kernel_values(landmarks, landmarks), loss)
        features, whiten = maps.nystroem(X, landmarks, self._kernel_values)
        fit = solve_features(features, loss, self.penalty, self.tol, self.max_iter)
        return Centers(landmarks, whiten @ fit.coef), fit

    def _refuse_rounding(self, kernel: Floats, loss: LogisticLoss) -> None:
        """Refuse kernel values so large that their rounding outweighs λ."""
        # About by how much P is off: the last digits of the kernel next to what λ adds to its scaled diagonal.
        error = np.finfo(np.float64).eps * float(np.abs(kernel).max()) * loss.share.max() / (8 * self.penalty)
        if error > _LARGEST_ERROR:
            checks.fail(
                "kernel values must keep digits next to penalty",
                f"values up to {np.abs(kernel).max():.2g} with penalty={self.penalty:g}",
                "center and scale the features, for example by StandardScaler",
            )

    def _kernel_values(self, X: FeatureRows, Z: FeatureRows) -> Floats:
        if self.kernel == "quadratic":
            values = quadratic_kernel(X, Z, self.origin_)
        elif self.kernel == "rbf":
            values = rbf_kernel(X, Z, gamma=self.gamma_)
        else:
            values = np.asarray(self.kernel(X, Z), dtype=np.float64)  # type: ignore[operator]
        if values.shape != (X.shape[0], Z.shape[0]):
            must = f"kernel must return a matrix of shape {(X.shape[0], Z.shape[0])}"
            checks.fail(must, f"shape {values.shape}", "compare all rows of the first argument with all of the second")
        if not np.isfinite(values).all():
            checks.fail("kernel values must be finite", "NaN or infinity among them", "rescale the features")
        return np.asarray(values)


def _has_small_features(X: FeatureRows) -> bool:
    """Say whether explicit quadratic features cost less than the kernel matrix would."""
    if not is_sparse(X) and X.shape[0] <= X.shape[1]:
        return False
    return maps.quadratic_entries(X) <= _MOST_ENTRIES
