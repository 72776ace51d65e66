"""Whatever finite scores come, as far out, as close together and as few as doubles allow: probabilities come out.

A map is applied to infinite scores as well, and has its limits there: its values at the largest doubles.
"""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.base import clone

from catalogue import name, variants
from oddsmith.formula import MAX
from samples import examples, ours_allowed, readable

LARGEST, SMALLEST = 1.7e308, 5e-324
EXTREMES = [0.0, -0.0, 1.0, -1.0, SMALLEST, -SMALLEST, 1e-310, 2.3e-308, 1e-150, 1e150, 1e308, LARGEST, -LARGEST]
BEYOND = np.array([-np.inf, -LARGEST, -1e300, -1.0, -1e-300, 0.0, SMALLEST, 0.5, 1.0, 1e300, LARGEST, np.inf])

scores = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-5, 5),
    st.floats(0, 1),
    st.sampled_from(EXTREMES),
)
rows = st.lists(st.tuples(scores, st.booleans(), st.integers(0, 3)), min_size=2, max_size=9)


@pytest.mark.parametrize("weighting", ["rows", "counts", "weights"])
@pytest.mark.parametrize("calibrator", variants(), ids=name)
@examples(25)
@given(rows=rows)
@example(rows=[(0.0, False, 3), (2.0**48, True, 1), (2.3e-308, False, 1)])  # deviations whose mean underflows
def test_any_finite_scores_have_probabilities(calibrator, weighting, rows):
    values, labels, weights = (np.array(column) for column in zip(*rows, strict=True))
    if not weights.any():
        weights[0] = 1
    sample_weight = {"rows": None, "counts": weights, "weights": 0.37 * weights}[weighting]
    with ours_allowed():
        cal = clone(calibrator).fit(values, labels, sample_weight)
    places = readable(cal, np.concatenate([values, BEYOND]))
    proba, log_odds = cal.predict_proba(places), cal.log_odds(places)
    assert not np.isnan(proba).any()
    assert np.all((proba >= 0) & (proba <= 1))
    assert not np.isnan(log_odds).any()
    np.testing.assert_allclose(expit(log_odds), proba[:, 1], rtol=1e-12, atol=1e-15)
    assert isinstance(cal.map_.is_monotone, bool)
    ends = readable(cal, np.array([-np.inf, np.inf]))
    if len(ends):  # maps of probabilities refuse them
        np.testing.assert_array_equal(cal.predict_proba(ends), cal.predict_proba(np.clip(ends, -MAX, MAX)))
        np.testing.assert_array_equal(cal.log_odds(ends), cal.log_odds(np.clip(ends, -MAX, MAX)))
