"""Bayes' rule on two fitted densities: the log-odds as a calibration map."""

import math

import numpy as np

from oddsmith.calibrators._families import Density
from oddsmith.maps import PolynomialMap


def bayes_map(positive: Density, negative: Density, log_prior_ratio: float, scale: float) -> PolynomialMap:
    """Return log p(s|+) − log p(s|−) + log π₊/π₋ as a piecewise quadratic."""
    bends = {density.theta for density in (positive, negative) if density.left != density.right or density.left.rate}
    knots = np.array(sorted(bends))
    # One place inside each piece tells which tail of each density holds there.
    places = np.concatenate([[-math.inf], knots[:-1] / 2 + knots[1:] / 2, [math.inf]]) if len(knots) else np.zeros(1)
    origins, coefficients = [], []
    for place in places:
        # Expanded about the mode of the steeper tail, whose large terms then do not cancel.
        origin = max((positive, negative), key=lambda density: density.tail(place)[::-1]).theta
        c0, c1, c2 = log_prior_ratio, 0.0, 0.0
        for sign, density in ((1, positive), (-1, negative)):
            tail = density.tail(place)
            delta = origin / scale - density.theta / scale
            rate = tail.rate if place <= density.theta else -tail.rate
            c0 += sign * (density.peak + rate * delta - tail.curve * delta**2)
            c1 += sign * (rate - 2 * tail.curve * delta)
            c2 -= sign * tail.curve
        origins.append(origin)
        coefficients.append([c0, c1, c2])
    return PolynomialMap(knots, np.array(origins), np.array(coefficients), scale)


def hold_ends(fitted: PolynomialMap) -> PolynomialMap:
    """Keep the log-odds constant beyond the outermost places where they turn back."""
    knots, origins, coefficients = list(fitted.knots), list(fitted.origins), fitted.coefficients.tolist()
    for end, outward in ((0, -1), (-1, 1)):
        _, c1, c2 = coefficients[end]
        if outward * c2 > 0 or (c2 == 0 and c1 >= 0):
            continue  # far out the slope is positive
        edge = knots[end]
        turn = edge if c2 == 0 else origins[end] - c1 / (2 * c2) * fitted.scale
        turn = outward * max(outward * turn, outward * edge)
        held = [float(fitted.log_odds(turn)), 0.0, 0.0]
        if turn == edge:
            coefficients[end] = held
            continue
        for column, value in ((knots, turn), (origins, turn), (coefficients, held)):
            column.insert(0 if end == 0 else len(column), value)
    return PolynomialMap(np.array(knots), np.array(origins), np.array(coefficients), fitted.scale)
