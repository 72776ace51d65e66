"""One law of means over held-out cases, wherever a gain has an interval."""

import math

import numpy as np
import pytest
from scipy import stats

from oddsmith import AutoCalibrator, ScoreTable
from oddsmith.calibrators import AutoScaling
from oddsmith.fitting.held_out import HeldOutLaw
from oddsmith.metrics.significance import Decisions
from oddsmith.report.advice import HeldOut


def test_the_law_is_students_with_the_variance_of_nadeau_and_bengio():
    law = HeldOutLaw.of(0.1, 5, [7, 40, 3])
    assert law == pytest.approx((0.1 * math.sqrt(2.25), 9))
    assert law.half_width(0.9) == pytest.approx(stats.t.ppf(0.95, 9) * law.error)
    assert law.p_value(0.3) == pytest.approx(2 * stats.t.sf(0.3 / law.error, 9))
    assert HeldOutLaw.of(0.1, 1, [7, 40]) == (0.1, 6)
    assert HeldOutLaw.of(0.1, 5, [70, 40], n_groups=4).df == 3
    assert HeldOutLaw.of(0.1, 5, [0, 40]).df == 1
    assert HeldOutLaw(0.0, 5).p_value(0.2) == 0
    assert HeldOutLaw(0.0, 5).p_value(0.0) == 1


def test_every_gain_has_its_interval_by_this_law(monkeypatch):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(120, 3))
    y = np.argmax(z + rng.gumbel(size=z.shape), axis=1)
    table = ScoreTable.from_arrays(z[:, 0], y == 0)
    monkeypatch.setattr(HeldOutLaw, "half_width", lambda law, level=0.95: 7.0)
    for fitted in (AutoScaling().fit(z, y), AutoCalibrator().fit_table(table)):
        assert fitted.gain_interval_ == pytest.approx((fitted.gain_ - 7, fitted.gain_ + 7))
    held = HeldOut({}, Decisions.of(None, 120), y, np.arange(120) % 5, 5)
    gain = held.gain(z[:, 0], z[:, 1])
    assert (gain.low, gain.high) == pytest.approx((gain.mean - 7, gain.mean + 7))
