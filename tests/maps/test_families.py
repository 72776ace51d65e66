"""Many maps as few formulas: each row of their columns is one of the maps."""

import numpy as np
import pytest

from oddsmith.formula import Column, MemberSteps, as_decisions, combine, guard, walk, with_limits
from oddsmith.maps import (
    BlendMap,
    HeldInputMap,
    LinearMap,
    LogitInputMap,
    PolynomialMap,
    StepMap,
    UnitInputMap,
    constant_map,
    line_map,
    map_families,
)
from shapes import ONE_SCORE, RAMP, SCORES, STEPS

RNG = np.random.default_rng(5)


def lines(n, seed=5):
    rng = np.random.default_rng(seed)
    return [line_map(*rng.normal(size=3), 2.0 ** rng.integers(-3, 4)) for _ in range(n)]


def values(formula, scores):
    """Return the probability of each member, by rows."""
    with np.errstate(all="ignore"):
        return np.broadcast_to(MemberSteps().function_of(formula)(scores), (formula_members(formula), len(scores)))


def formula_members(formula):
    return max((len(node.values) for node in walk(formula) if isinstance(node, Column)), default=1)


SETS = {
    "lines": lines(40),
    "every shape": [*ONE_SCORE, *[one.shifted(0.5) for one in ONE_SCORE]],
    "steps of other lengths": [
        StepMap(np.arange(float(n)), np.linspace(0, 1, n), np.linspace(0, 1, n + 1)) for n in range(1, 9)
    ],
    "ramps": [LinearMap(np.sort(RNG.random(n)), np.sort(RNG.random(n))) for n in (1, 3, 8)],
    "shifted inputs": [UnitInputMap(one, 1e-6).shifted(0.3) for one in lines(5)],
    "two ways to clip": [LogitInputMap(one, clip) for clip in (1e-6, 1e-3) for one in lines(3)],
    "held": [HeldInputMap(one, 0.0, 1.0, 0.5, 2.0) for one in lines(4)],
    "steep and flat": [line_map(1e200), line_map(0.0, 0.2), line_map(-1e-200), constant_map(-0.4)],
    "parabolas": [PolynomialMap(np.empty(0), RNG.normal(size=1), RNG.normal(size=(1, 3)), 0.5) for _ in range(4)],
    "blends": [BlendMap((one, STEPS, RAMP), np.array([0.2, 0.3, 0.5])) for one in lines(3)],
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("strict", [False, True])
def test_every_member_is_its_map(name, strict):
    maps = SETS[name]
    found = map_families(maps)
    assert sorted(np.concatenate([one.members for one in found])) == list(range(len(maps)))

    def plain(formula):
        formula = with_limits(as_decisions(formula), always=strict)
        return guard(formula) if strict else formula

    joint = combine([one._replace(formula=plain(one.formula)) for one in found])
    got = values(joint, SCORES)
    for row, one in zip(np.broadcast_to(got, (len(maps), len(SCORES))), maps, strict=True):
        np.testing.assert_allclose(row, one.probability(SCORES), rtol=0, atol=1e-12)
    ends = values(joint, np.array([-np.inf, np.inf]))
    for row, one in zip(np.broadcast_to(ends, (len(maps), 2)), maps, strict=True):
        if one.shape not in ("logit_input", "unit_input", "soft_logit"):
            np.testing.assert_allclose(row, one.probability([-np.inf, np.inf]), rtol=0, atol=1e-12)


def test_lines_are_one_family_however_many():
    assert len(map_families(SETS["lines"])) == 1
    assert len(map_families(SETS["steps of other lengths"])) == 1
    assert len(map_families(SETS["shifted inputs"])) == 1
    assert len(map_families([None, *SETS["lines"]])) == 2
