"""Explicit features of kernels: k(x, z) = φ(x)·φ(z), exactly or by landmarks."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from oddsmith.checks import Floats, Ints
from oddsmith_studies.learners._base import FeatureRows, is_sparse

SQRT2 = float(np.sqrt(2))

# Rows whose features are multiplied at a time.
_BLOCK = 2048


class Polynomial(NamedTuple):
    """h(x) = v·x + xᵀAx, v ``linear`` and A ``square`` (None if there is none)."""

    linear: Floats
    square: Any

    def scores(self, X: FeatureRows) -> Floats:
        """Return h of every row."""
        scores: Floats = X @ self.linear
        if self.square is None:
            return scores
        image = X @ self.square
        if is_sparse(X):
            # Sparse or dense, the image only counts where X is not 0.
            scores += np.asarray(X.multiply(image).sum(axis=1)).ravel()
        else:
            scores += np.einsum("ij,ij->i", image, X)
        return scores


class Matrix:
    """Features that are stored: φ(x) are the rows of a matrix, dense or sparse."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.size: int = int(matrix.shape[1])
        self._squared = matrix.power(2) if is_sparse(matrix) else None

    def forward(self, coef: Floats) -> Floats:
        """Return Φ·coef."""
        return np.asarray(self.matrix @ coef)

    def adjoint(self, by_row: Floats) -> Floats:
        """Return Φᵀ·by_row."""
        return np.asarray(self.matrix.T @ by_row)

    def squares(self, by_row: Floats) -> Floats:
        """Return (Φ∘Φ)ᵀ·by_row."""
        if self._squared is None:
            return np.asarray(np.einsum("i,ij,ij->j", by_row, self.matrix, self.matrix))
        return np.asarray(self._squared.T @ by_row)

    def gram(self, by_row: Floats) -> Floats:
        """Return Φᵀ·diag(by_row)·Φ."""
        if self._squared is None:
            return _summed_gram(self.matrix, by_row, lambda block: block)
        return np.asarray((self.matrix.T @ sparse.diags_array(by_row) @ self.matrix).toarray())


class LinearFeatures(Matrix):
    """Features of x·z: x itself."""

    def polynomial(self, coef: Floats) -> Polynomial:
        """Return coef·φ(x) as a polynomial in x."""
        return Polynomial(coef, None)


class SparseQuadratic(Matrix):
    """Features of (x·z+1)² for sparse rows: √2·x_j, x_j² and √2·x_j·x_k of the pairs that occur.

    The kernel's constant feature is left out: its coefficient is Σc = 0 as the intercept is free.
    """

    def __init__(self, X: Any) -> None:
        self.n_columns: int = X.shape[1]
        left, right = _pairs_in_rows(X)
        values = X.data[left] * X.data[right]
        values[left != right] *= SQRT2
        codes = X.indices[left].astype(np.int64) * self.n_columns + X.indices[right]
        self.codes: Ints
        self.codes, columns = np.unique(codes, return_inverse=True)
        row_ends = np.concatenate([[0], np.cumsum(_pairs_by_row(X))])
        pairs = sparse.csr_array((values, columns, row_ends), shape=(X.shape[0], len(self.codes)))
        super().__init__(sparse.hstack([SQRT2 * sparse.csr_array(X), pairs], format="csr"))

    def pairs_with_first(self) -> tuple[Ints, Ints]:
        """Return the columns k that occur together with the first, and where the features of x_1·x_k are."""
        others = np.flatnonzero(self.codes < self.n_columns)
        return self.codes[others], others + self.n_columns

    def polynomial(self, coef: Floats) -> Polynomial:
        """Return coef·φ(x) as a polynomial in x."""
        first, second = np.divmod(self.codes, self.n_columns)
        values = coef[self.n_columns :] * np.where(first == second, 1.0, SQRT2)
        shape = (self.n_columns, self.n_columns)
        return Polynomial(SQRT2 * coef[: self.n_columns], sparse.csr_array((values, (first, second)), shape=shape))


class DenseQuadratic:
    """The same features for dense rows, all pairs, made only in blocks of rows."""

    def __init__(self, X: Floats) -> None:
        self.X = X
        self.n_columns: int = X.shape[1]
        self.pairs: tuple[Ints, Ints] = np.triu_indices(self.n_columns)
        self.factors: Floats = np.where(self.pairs[0] == self.pairs[1], 1.0, SQRT2)
        self.size: int = self.n_columns + len(self.factors)

    def forward(self, coef: Floats) -> Floats:
        """Return Φ·coef."""
        return self.polynomial(coef).scores(self.X)

    def adjoint(self, by_row: Floats) -> Floats:
        """Return Φᵀ·by_row."""
        square = self.X.T @ (by_row[:, None] * self.X)
        return np.concatenate([SQRT2 * (by_row @ self.X), self.factors * square[self.pairs]])

    def squares(self, by_row: Floats) -> Floats:
        """Return (Φ∘Φ)ᵀ·by_row."""
        squared = np.square(self.X)
        square = squared.T @ (by_row[:, None] * squared)
        return np.concatenate([2 * (by_row @ squared), self.factors**2 * square[self.pairs]])

    def gram(self, by_row: Floats) -> Floats:
        """Return Φᵀ·diag(by_row)·Φ."""
        return _summed_gram(self.X, by_row, self._made)

    def pairs_with_first(self) -> tuple[Ints, Ints]:
        """Return the columns k that occur together with the first, and where the features of x_1·x_k are."""
        columns = np.arange(self.n_columns)
        return columns, columns + self.n_columns

    def polynomial(self, coef: Floats) -> Polynomial:
        """Return coef·φ(x) as a polynomial in x."""
        square = np.zeros((self.n_columns, self.n_columns))
        square[self.pairs] = self.factors * coef[self.n_columns :]
        return Polynomial(SQRT2 * coef[: self.n_columns], square)

    def _made(self, X: Floats) -> Floats:
        first, second = self.pairs
        return np.hstack([SQRT2 * X, self.factors * X[:, first] * X[:, second]])


def quadratic_entries(X: FeatureRows) -> int:
    """Return how many features of (x·z+1)² are kept: of all rows if X is sparse, of one if it is dense."""
    if is_sparse(X):
        return int(_pairs_by_row(X).sum()) + int(X.nnz)
    return int(X.shape[1] * (X.shape[1] + 3) // 2)


def nystroem(
    X: FeatureRows, landmarks: FeatureRows, kernel: Callable[[FeatureRows, FeatureRows], Floats]
) -> tuple[Matrix, Floats]:
    """Return approximate features, and the matrix that turns their coefficients into those of the landmarks.

    With K_L = UΛUᵀ the kernel among landmarks, φ(x) = Λ^(−½)Uᵀk(L, x); directions without size are left out.
    """
    values, vectors = np.linalg.eigh(kernel(landmarks, landmarks))
    kept = values > len(values) * np.finfo(float).eps * values[-1]
    whiten = vectors[:, kept] / np.sqrt(values[kept])
    return Matrix(kernel(X, landmarks) @ whiten), whiten


def _summed_gram(rows: Floats, by_row: Floats, features_of: Callable[[Floats], Floats]) -> Floats:
    """Return Φᵀ·diag(by_row)·Φ, with the features of one block of rows at a time."""
    total: Floats | float = 0.0
    for start in range(0, len(rows), _BLOCK):
        block = features_of(rows[start : start + _BLOCK])
        total = total + block.T @ (by_row[start : start + _BLOCK, None] * block)
    return np.asarray(total)


def _pairs_by_row(X: Any) -> Any:
    counts = np.diff(X.indptr).astype(np.int64)
    return counts * (counts + 1) // 2


def _pairs_in_rows(X: Any) -> tuple[Any, Any]:
    """Return all pairs of entries that share a row, as places in ``X.data``, the earlier place first."""
    entry = np.arange(X.nnz)
    partners = np.repeat(X.indptr[1:], np.diff(X.indptr)) - entry
    left = np.repeat(entry, partners)
    first = np.cumsum(partners) - partners
    return left, left + np.arange(len(left)) - np.repeat(first, partners)
