"""Ties whose last bits differ, as those of equal rows scored by two folds do, change no fit by more than rounding."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone

from catalogue import name, variants
from oddsmith import ScoreTable
from samples import ours_allowed

RNG = np.random.default_rng(5)
SCORES = RNG.normal(size=60)
Y = (RNG.uniform(size=180) < expit(2 * np.tile(SCORES, 3))).astype(int)
#: Between the scores, and not halfway, where bins end.
PLACES = np.convolve(np.sort(SCORES), [0.3, 0.7], "valid")


def fit(calibrator, scores):
    with ours_allowed():
        return clone(calibrator).fit(scores, Y)


@pytest.mark.parametrize("form", ["scores", "probabilities"])
@pytest.mark.parametrize("calibrator", variants(), ids=name)
def test_the_last_bits_of_ties_change_nothing(calibrator, form):
    ties = np.tile(SCORES, 3)
    noisy = ties + 2.0**-46 * np.random.default_rng(6).integers(-3, 4, 180)
    places = PLACES
    if form == "probabilities":
        ties, noisy, places = expit(ties), expit(noisy), expit(places)
    expected, got = fit(calibrator, ties), fit(calibrator, noisy)
    np.testing.assert_allclose(got.predict_proba(places), expected.predict_proba(places), atol=1e-6)
    with ours_allowed():
        by_table = clone(calibrator).fit_table(ScoreTable.from_arrays(noisy, Y))
    np.testing.assert_allclose(by_table.predict_proba(places), got.predict_proba(places), atol=1e-9)


@pytest.mark.parametrize("form", ["scores", "probabilities"])
@pytest.mark.parametrize("calibrator", variants(), ids=name)
def test_the_last_bits_of_a_new_score_change_nothing(calibrator, form):
    """One classifier scores one row twice, alone and among others: sums in another order differ in their last bits."""
    if getattr(calibrator, "outside", None) == "literal":
        pytest.skip("the literal rule jumps to ½ beyond the last calibration score")
    scores = SCORES if form == "scores" else expit(SCORES)
    fitted = fit(calibrator, np.tile(scores, 3))
    expected = fitted.predict_proba(scores)
    for direction in (-np.inf, np.inf):
        near = np.nextafter(np.nextafter(scores, direction), direction)
        np.testing.assert_allclose(fitted.predict_proba(near), expected, atol=1e-6)
