"""The gain of the default and its verdict: unbounded, unknown, or of no use where the score is."""

import numpy as np
import pytest
from scipy.special import expit

from oddsmith import AutoCalibrator
from oddsmith.errors import OddsmithWarning, ReversedScoreWarning, SingleClassWarning
from samples import ours_allowed


def votes(n, voters, seed, wrong):
    """Shares of votes, 0 and 1 among them; these are always right unless ``wrong``."""
    rng = np.random.default_rng(seed)
    scores = rng.binomial(voters, rng.beta(0.6, 0.6, n)) / voters
    y = (rng.random(n) < 0.1 + 0.8 * scores).astype(int)
    y[scores == 0], y[scores == 1] = 0, 1
    if wrong:
        y[np.flatnonzero(scores == 0)[0]] = 1
    return scores, y


@pytest.mark.parametrize(("n", "voters"), [(30, 10), (100, 10), (20_000, 10_000)])
def test_a_certain_score_that_was_wrong_makes_the_gain_unbounded(n, voters):
    fitted = AutoCalibrator().fit(*votes(n, voters, 1, wrong=True))
    assert fitted.gain_ == np.inf
    assert fitted.gain_interval_ == (np.inf, np.inf)
    assert fitted.worth_it_ is True
    assert "from infinity to 0." in fitted.verdict_
    assert "unbounded gain" in fitted.verdict_


@pytest.mark.parametrize(("n", "voters"), [(30, 10), (100, 10), (20_000, 10_000)])
def test_certain_scores_that_were_right_so_far_leave_the_gain_without_an_upper_limit(n, voters):
    fitted = AutoCalibrator().fit(*votes(n, voters, 1, wrong=False))
    low, high = fitted.gain_interval_
    assert np.isfinite([fitted.gain_, low]).all()
    assert low < fitted.gain_
    assert high == np.inf
    assert "to infinity, since a score of exactly 0 or 1 may be wrong" in fitted.verdict_


def test_a_reversed_score_is_named_first_and_never_worth_it():
    rng = np.random.default_rng(3)
    z = rng.normal(0, 2, 500)
    y = (rng.random(500) < expit(-z)).astype(int)
    for scores in (z, expit(z), np.round(z)):
        with pytest.warns(OddsmithWarning) as found:
            fitted = AutoCalibrator().fit(scores, y)
        assert ReversedScoreWarning in {one.category for one in found}
        assert fitted.verdict_.startswith("The score is reversed: ")
        assert "Negate the scores, or check pos_label" in fitted.verdict_
        assert "worth it" not in fitted.verdict_
        assert not fitted.worth_it_


def test_a_score_without_signal_is_never_worth_it():
    z = np.linspace(-4, 4, 100)
    scores, y = np.tile(expit(z), 2), np.repeat([0, 1], 100)
    with ours_allowed():
        fitted = AutoCalibrator().fit(scores, y)
    assert fitted.gain_interval_[0] > 0  # doing nothing is far worse than a coin
    assert fitted.verdict_.startswith("The score has no clear signal: ")
    assert "worth it" not in fitted.verdict_
    assert fitted.worth_it_ is False


def test_one_class_is_never_worth_it():
    with pytest.warns(SingleClassWarning):
        fitted = AutoCalibrator().fit([0.2, 0.9, 0.4], [1, 1, 1])
    assert fitted.worth_it_ is None
    assert "worth it" not in fitted.verdict_


FOREIGN = {
    "ranks": lambda z: np.argsort(np.argsort(z)) + 1,
    "deciles": lambda z: np.argsort(np.argsort(z)) * 10 // len(z) + 1,
    "credit scores": lambda z: np.rint(600 + 50 * z),
    "raw scores": lambda z: 40 * z,
    "a column of large integers": lambda z: (1e15 * (z - z.min())).astype(np.uint64),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_scores_that_are_neither_probabilities_nor_log_odds_have_no_loss_before(name):
    rng = np.random.default_rng(11)
    z = rng.normal(0, 1.5, 300)
    y = (rng.random(300) < expit(z)).astype(int)
    scores = FOREIGN[name](z)
    fitted = AutoCalibrator().fit(scores, y)
    assert np.isnan([fitted.gain_, *fitted.gain_interval_]).all()
    assert fitted.worth_it_ is None
    assert "neither probabilities nor log-odds" in fitted.verdict_
    assert "with the base rate" in fitted.verdict_
    assert fitted.verdict_.endswith("the scores are informative.")
    with ours_allowed():
        declared = AutoCalibrator(input="log_odds").fit(scores, y)
    assert np.isfinite(declared.gain_)
