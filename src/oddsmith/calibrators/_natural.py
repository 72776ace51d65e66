"""Natural cubic splines by their values at the knots: pieces, basis and roughness."""

from typing import NamedTuple

import numpy as np

from oddsmith._types import Floats


class NaturalSpline(NamedTuple):
    """The natural cubic splines over given knots, linear in their values there and straight beyond the ends."""

    #: Ascending, two or more.
    knots: Floats
    #: Coefficients of 1, t, t², t³ in each piece for each value, shape (k + 1, 4, k); t is counted from ``origins``.
    pieces: Floats
    #: ∫f″² as a quadratic form in the values.
    roughness: Floats

    @property
    def origins(self) -> Floats:
        """Where t is 0 in each piece: the knot that it starts from, of the first the one where it ends."""
        return np.append(self.knots[0], self.knots)

    @classmethod
    def over(cls, knots: Floats) -> "NaturalSpline":
        """Return the splines over these knots (Green and Silverman 1994, section 2.1)."""
        k = len(knots)
        width = np.diff(knots)
        values = np.eye(k)
        slope = np.diff(values, axis=0) / width[:, None]
        bend = np.diff(slope, axis=0)
        inner = np.diag((width[:-1] + width[1:]) / 3) + np.diag(width[1:-1] / 6, 1) + np.diag(width[1:-1] / 6, -1)
        second = np.zeros((k, k))
        second[1:-1] = np.linalg.solve(inner, bend)
        first = slope - width[:, None] * (2 * second[:-1] + second[1:]) / 6
        last = slope[-1] + width[-1] * (second[-2] + 2 * second[-1]) / 6
        zero = np.zeros((1, k))
        pieces = np.stack(
            [
                np.vstack([values[:1], values]),
                np.vstack([first[:1], first, last[None]]),
                np.vstack([zero, second[:-1] / 2, zero]),
                np.vstack([zero, np.diff(second, axis=0) / (6 * width[:, None]), zero]),
            ],
            axis=1,
        )
        return cls(knots, pieces, bend.T @ second[1:-1])

    @property
    def shapes(self) -> Floats:
        """Values at the knots of k splines: a level, a slope about x = 0, and others of roughness 1.

        Fits in these coordinates are well conditioned where x = 0 lies amid the scores, however far some lie beyond the
        knots; fits in the values at the knots are not, since straight lines are differences of large ones.
        """
        rough, ways = np.linalg.eigh(self.roughness)
        bent = ways[:, 2:] / np.sqrt(rough[2:])
        return np.column_stack([np.ones_like(self.knots), self.knots / np.linalg.norm(self.knots), bent])

    def basis(self, x: Floats) -> Floats:
        """Return the spline at x for each value 1 at one knot, shape (n, k)."""
        result = np.empty((len(x), len(self.knots)))
        place = np.searchsorted(self.knots, x)
        for piece in range(int(place.min()), int(place.max()) + 1):
            here = place == piece
            t = x[here] - self.origins[piece]
            result[here] = np.vander(t, 4, increasing=True) @ self.pieces[piece]
        return result
