"""Where features are measured from: far from 0, products of rows leave no digits for what tells the rows apart."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from oddsmith.checks import Floats
from oddsmith_studies.learners._base import FeatureRows, is_sparse
from oddsmith_studies.learners.feature_maps import SQRT2, DenseQuadratic, Polynomial, SparseQuadratic


def origin_of(X: FeatureRows) -> Floats:
    """Return the mean of the features; 0 for one that some sparse row leaves out, so that it stays sparse."""
    if not is_sparse(X):
        return np.asarray(X.mean(axis=0))
    in_every_row = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    columns = X[:, in_every_row].toarray()
    origin = np.zeros(X.shape[1])
    origin[in_every_row] = columns.mean(axis=0) if columns.size else 0.0
    return origin


def measured_from(origin: Floats, X: FeatureRows) -> FeatureRows:
    """Return rows less the origin."""
    if not is_sparse(X):
        return X - origin
    (moved,) = np.nonzero(origin)
    if len(moved) == 0:
        return X
    row_ends = np.arange(X.shape[0] + 1) * len(moved)
    entries = np.tile(origin[moved], X.shape[0]), np.tile(moved, X.shape[0]), row_ends
    return sparse.csr_array(X) - sparse.csr_array(entries, shape=X.shape)


def quadratic_kernel(X: FeatureRows, Z: FeatureRows, origin: Floats) -> Floats:
    """Return (x·z+1)² of rows that are measured from an origin m, less what Σc = 0 and the intercept make up for.

    With d = x − m and e = z − m, k(x, z) − k(x, m) − k(m, z) + k(m, m) = (d·e)² + 2d·e(d·m + e·m + 1 + m·m)
    + 2(d·m)(e·m): a kernel too, without the powers of m that cancel.
    """
    product = X @ Z.T
    inner = product.toarray() if is_sparse(product) else np.asarray(product)
    left, right = X @ origin, Z @ origin
    of_rows = left[:, None] + right + (1 + origin @ origin)
    return np.asarray(inner * (inner + 2 * of_rows) + 2 * left[:, None] * right)


class OffsetQuadratic:
    """Explicit features of (x·z+1)² for rows that are measured from an origin, turned so that they keep their digits.

    Turned so that the origin is (m, 0, …, 0), features are √2·d_k, √2·(m + d_1)d_k and so on: for m of 1e8 two copies
    of d_k, whose small difference d_1·d_k has lost its digits. A rotation in the plane of each such pair is the same
    kernel: it gives √2(r·d_k + m/r·d_1·d_k) and √2/r·d_1·d_k, r² = 1 + m²; for k = 1 the same with r² = 2 + 4m².
    """

    def __init__(self, rows: FeatureRows, origin: Floats) -> None:
        self._turn, m = _turn(origin, is_sparse(rows))
        turned = rows @ self._turn
        self._base: SparseQuadratic | DenseQuadratic
        if is_sparse(rows):
            turned.sort_indices()  # a pair is the earlier column and the later one
            self._base, self._first = SparseQuadratic(turned), turned[:, [0]].toarray().ravel()
        else:
            self._base, self._first = DenseQuadratic(turned), turned[:, 0]
        self.size = self._base.size
        linear = np.arange(rows.shape[1])
        partner, pair = self._base.pairs_with_first()
        # Of each feature's first power, how much is in the first and in the second coordinate of the plane.
        along = np.where(linear == 0, np.hypot(1, SQRT2 * m), np.hypot(1, m))
        mixed = np.where(partner == 0, SQRT2 * m, m) / along[partner]
        rest = np.delete(np.arange(self.size), np.concatenate([linear, pair]))
        values = np.concatenate([along, mixed, 1 / along[partner], np.ones(len(rest))])
        places = np.concatenate([linear, pair, pair, rest]), np.concatenate([linear, partner, pair, rest])
        self._plane = sparse.csr_array((values, places), shape=(self.size, self.size))
        self._cross = np.zeros(len(linear))
        self._cross[partner] = 2 * along[partner] * mixed * np.where(partner == 0, 1 / SQRT2, 1.0)

    def forward(self, coef: Floats) -> Floats:
        return self._base.forward(self._plane @ coef)

    def adjoint(self, by_row: Floats) -> Floats:
        return np.asarray(self._plane.T @ self._base.adjoint(by_row))

    def squares(self, by_row: Floats) -> Floats:
        result: Floats = self._plane.power(2).T @ self._base.squares(by_row)
        # Of a sum of two features also twice their product, which is d_1 times the square of the first.
        width = len(self._cross)
        result[:width] += self._cross * self._base.squares(by_row * self._first)[:width]
        return result

    def gram(self, by_row: Floats) -> Floats:
        half = self._plane.T @ self._base.gram(by_row)
        return np.asarray((self._plane.T @ half.T).T)

    def polynomial(self, coef: Floats) -> Polynomial:
        """Return coef·φ as a polynomial in x − origin."""
        linear, square = self._base.polynomial(self._plane @ coef)
        return Polynomial(self._turn @ linear, self._turn @ square @ self._turn.T)


def _turn(origin: Floats, as_sparse: bool) -> tuple[Any, float]:
    """Return the matrix by which rows are turned, and the origin's first coordinate then, the others being 0.

    Features without an origin keep their columns, after all others.
    """
    order = np.argsort(origin == 0, kind="stable")
    moved = int(np.count_nonzero(origin))
    size = float(np.linalg.norm(origin))
    mirror = origin[order[:moved]] / (size or 1.0)
    m = 0.0
    if moved:
        # A reflection along the sum of two unit vectors, of the signs that do not cancel.
        m = -float(np.copysign(size, mirror[0]))
        mirror[0] += np.copysign(1.0, mirror[0])
        mirror /= np.linalg.norm(mirror)
    block, rest = np.eye(moved) - 2 * np.outer(mirror, mirror), len(order) - moved
    if as_sparse:
        ones = sparse.diags_array(np.ones(rest))
        return sparse.csr_array(sparse.block_diag([block, ones]))[np.argsort(order)], m
    return block_diag(block, np.eye(rest))[np.argsort(order)], m
