"""Maps of every calibrator and of every shape at its edges, with scores that are hard to get right."""

import functools
from dataclasses import dataclass

import numpy as np

from catalogue import CLASSES, name, variants
from oddsmith import CalibrationMap
from oddsmith._types import Floats
from oddsmith.export.verification import probes
from oddsmith.maps import BlendMap, CosineMap, HeldInputMap, LinearMap, PolynomialMap, StepMap, constant_map
from oddsmith.maps.inputs import LogitInputMap, UnitInputMap
from oddsmith.maps.log_basis import LogBasisMap
from oddsmith.maps.soft_logit import SoftLogitMap, SoftLogOddsMap
from samples import THINNED, ours_allowed

TINY, MAX = 5e-324, 1.7976931348623157e308
EXTREMES = [0.0, TINY, 2.5e-308, 1e-300, 1e-150, 1e-20, 1.0, 700.0, 1e16, 3e17, 1e100, 1e150, 1e300, MAX]


@dataclass(frozen=True, eq=False)
class Case:
    name: str
    fitted: CalibrationMap
    scores: Floats
    expected: Floats


def _line(slope, intercept=0.0, scale=1.0):
    return PolynomialMap(np.empty(0), np.zeros(1), np.array([[intercept, slope, 0.0]]), scale)


_NEIGHBORS = np.array([-TINY, 0.0, TINY, 1.0, np.nextafter(1.0, 2.0), 0.1 + 0.2, MAX])
_NEIGHBORS.sort()
_RISE = np.linspace(0.0, 1.0, 2 * len(_NEIGHBORS) + 1)
_MANY = np.unique(np.random.default_rng(1).normal(size=1200))
_VALUES = np.sort(np.random.default_rng(2).random(2 * len(_MANY) + 1))

EDGES = {
    "constant": constant_map(0.3),
    "flat line": _line(1e-102),
    "steep": PolynomialMap(np.empty(0), np.zeros(1), np.array([[0.0, -1e300, -1e300]]), 2.0**-1000),
    "huge cubic": PolynomialMap(np.zeros(1), np.zeros(2), np.array([[1.0, 1e9, 0, 1e9], [1.0, 1e9, 1e-9, 0]]), 1.0),
    "far parabola": PolynomialMap(np.empty(0), np.array([1e8]), np.array([[0.0, 1.0, 1.0]]), 1.0),
    "adjacent steps": StepMap(_NEIGHBORS, _RISE[1::2], _RISE[0::2]),
    "many steps": StepMap(_MANY, _VALUES[1::2], _VALUES[0::2]),
    "many ramps": LinearMap(_MANY, _VALUES[1::2]),
    "one ramp": LinearMap(np.array([0.3]), np.array([0.25])),
    "jumps": LinearMap(np.array([-1e-300, 0.0, TINY, 1e-295, 1.0]), np.array([0.0, 0.2, 0.4, 0.6, 1.0])),
    "widest ramp": LinearMap(np.array([-MAX, 0.0, MAX]), np.array([0.1, 0.2, 0.9])),
    "widest cosine": CosineMap(-MAX, MAX, np.array([0.5, -0.4, 0.05])),
    "narrow cosine": CosineMap(0.0, 1e-310, np.array([0.5, -0.4])),
    "one-sided basis": LogBasisMap(np.array([1.5, 0.0]), 0.2, 0.3, 1.0),
    "narrow basis": LogBasisMap(np.array([1.0, 0.5]), 0.2, 1e-6, 2.0**-20),
    "middling basis": LogBasisMap(np.array([1.0, 0.5]), 0.2, 0.4, 2.0**-4),
    "steps of odds": LogitInputMap(
        StepMap(np.array([-2.0, 0.0]), np.array([0.2, 0.4]), np.array([0.1, 0.3, 0.9])), None
    ),
    "softened odds": SoftLogOddsMap(StepMap(np.array([-5.0, -1.0, 1e-9, 2.0]), _RISE[:4], _RISE[:5]), 1e-3),
    "held line": HeldInputMap(_line(0.7), -37.0, 37.0, 0.0, 1.0),
    "standardized steps": HeldInputMap(
        StepMap(np.array([-1.0, 0.3, 2.0]), _RISE[:3], _RISE[:4]), -1e9, 1e9, 600.0, 108.5
    ),
    "standardized basis": HeldInputMap(
        LogBasisMap(np.array([1.5, 0.5]), 0.2, 0.3, 1.0), 600.0 - 1e102, 600.0 + 1e102, 600.0, 100.0
    ),
    "softened line": SoftLogOddsMap(_line(0.7), 1e-9),
    "softened probabilities": SoftLogitMap(StepMap(np.array([-5.0, -1.0, 1e-9]), _RISE[:3], _RISE[:4]), 1e-3),
    "flat odds": LogitInputMap(_line(0.01), None),
    "unreached odds": UnitInputMap(StepMap(np.array([-50.0, 1.0, 90.0]), _RISE[:3], _RISE[:4]), 1e-6),
}
EDGES |= {
    f"shifted {name}": EDGES[name].shifted(move)
    for name, move in {
        "huge cubic": 1.5,
        "adjacent steps": -3.0,
        "many steps": 600.0,
        "jumps": 2.0,
        "widest ramp": -0.7,
        "widest cosine": 1.0,
        "narrow basis": -2.0,
        "steps of odds": -600.0,
        "unreached odds": 0.3,
    }.items()
}
EDGES["shifted blend"] = BlendMap((EDGES["adjacent steps"], EDGES["steep"]), np.array([0.25, 0.75])).shifted(-2.5)
EDGES["shifted certainty"] = StepMap(np.array([0.0]), np.array([0.5]), np.array([0.0, 1.0])).shifted(600.0)


@functools.cache
def every_case() -> list[Case]:
    """Every calibrator, with its options, with probabilities, with scores of odd sizes; and the edges."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=250) * 2
    y = (rng.random(250) < 1 / (1 + np.exp(-scores))).astype(int)
    prob = np.round(1 / (1 + np.exp(-scores)), 3)
    cases = [_case(name(calibrator), calibrator, scores, y) for calibrator in variants()]
    for cls in CLASSES[::THINNED]:
        cases += [
            _case(f"{cls.__name__} of probabilities", cls(input="probability", clip=1e-9), prob, y),
            _case(f"{cls.__name__} of sure probabilities", cls(input="probability"), np.clip(prob, 1e-300, 0.999), y),
            _case(f"{cls.__name__} of small scores", cls(), scores * 1e-300, y),
            _case(f"{cls.__name__} of distant scores", cls(), scores + 1e8, y),
            _case(f"{cls.__name__} of large scores", cls(), scores * 2e307, y),
        ]
    return cases + [_with_scores(label, fitted) for label, fitted in EDGES.items()]


def _case(label, calibrator, scores, y):
    with ours_allowed():
        return _with_scores(label, calibrator.fit(scores, y).map_)


def _with_scores(label, fitted):
    return Case(label, fitted, *probes(fitted, *(sign * size for size in EXTREMES for sign in (-1.0, 1.0))))


def largest(cases: list[Case], answers) -> float:
    """Return the largest difference in probability, and say where it is if it is too large."""
    worst = 0.0
    for case, answer in zip(cases, answers, strict=True):
        got = np.asarray(answer, dtype=np.float64)
        missing = np.isnan(got) & np.isnan(case.expected)
        difference = np.where(missing, 0.0, np.nan_to_num(np.abs(got - case.expected), nan=np.inf))
        place = int(np.argmax(difference))
        assert difference[place] <= 1e-12, (case.name, case.scores[place], got[place], case.expected[place])
        worst = max(worst, float(difference[place]))
    return worst
