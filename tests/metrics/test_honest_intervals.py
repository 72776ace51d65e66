"""No interval is certain by lack of data, and none leaves out its own estimate without a word."""

import numpy as np
import pytest
from scipy import stats

from oddsmith import metrics
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import interval
from oddsmith.metrics.intervals import explain_interval

ALL = [*(measure for measure in metrics.MEASURES.values() if measure.resampled), metrics.accuracy]
ALL += [metrics.brier_discrimination, metrics.brier_miscalibration, metrics.brier_uncertainty]


def hostile():
    """Yield labels, probabilities and weights that bring measures to the ends of their ranges."""
    rng = np.random.default_rng(0)
    p = rng.beta(1, 2, 60)
    yield "plain", rng.random(60) < p, p, None
    yield "separated", np.arange(30) >= 15, np.linspace(0.05, 0.95, 30), None
    yield "reversed", np.arange(30) < 15, np.linspace(0.05, 0.95, 30), None
    yield "two rows", [0, 1], [0.2, 0.8], None
    yield "one positive", np.arange(40) == 39, np.linspace(0.1, 0.9, 40), None
    yield "one class", np.zeros(25, int), rng.random(25), None
    yield "constant", np.arange(20) % 2, np.full(20, 0.5), None
    yield "certain", np.arange(20) % 2, (np.arange(20) % 2).astype(float), None
    yield "certain and wrong once", np.arange(20) % 2, np.append((np.arange(19) % 2).astype(float), 0.0), None
    yield "three values", rng.random(90) < 0.3, rng.choice([0.1, 0.3, 0.9], 90), None
    yield "far off", rng.random(80) < 0.5, np.full(80, 0.999) - rng.random(80) * 1e-4, None
    yield "rare, weighted", rng.random(300) < 0.02, rng.random(300) * 0.04, rng.lognormal(0, 1, 300)
    yield "one heavy row", np.arange(12) % 2, rng.random(12), np.append(np.ones(11), 1e6)
    yield "many counts", np.arange(12) % 2, rng.random(12), np.full(12, 10**6)


DATA = {name: data for name, *data in hostile()}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("measure", ALL, ids=lambda measure: measure.__name__)
def test_an_estimate_lies_in_its_interval_or_a_note_explains_why_not(measure, name):
    y, p, weight = DATA[name]
    try:
        found = interval(measure, y, p, weight, n_resamples=60, random_state=0)
    except InvalidInputError:
        return  # there is none, and the error gives the reason
    estimate = found.value if found.corrected is None else found.corrected
    assert found.low <= estimate <= found.high
    inside = found.low < found.value < found.high and found.low < estimate < found.high
    assert inside == (not found.note)
    assert found.note in str(found)
    assert found.to_dict()["note"] == found.note
    # A point is no interval.
    assert found.low < found.high


def test_a_biased_value_has_an_interval_of_the_corrected_one_and_a_note():
    """Without words the miscalibration of 0.0257 with [0, 0.0193] looks like a fault."""
    outside = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p = rng.beta(1, 2, 200)
        found = interval(metrics.log_loss_miscalibration, rng.random(200) < p, p, n_resamples=200, random_state=seed)
        if found.value >= found.high:
            outside += 1
            assert "biased" in found.note
        assert found.low <= found.corrected <= found.high
    assert outside > 0


def test_rounding_is_not_called_bias():
    corrected = -np.log(0.9)
    value = np.nextafter(corrected, 1)
    note = explain_interval(value, 0.0, corrected, corrected)[2]
    assert "biased" not in note
    assert "one-sided" in note


def test_a_sample_without_errors_is_not_certainty():
    for n_pos, n_neg, low in ((1, 1, 0.025), (1, 39, 0.025), (15, 15, 0.85), (100, 100, 0.98)):
        y = np.arange(n_pos + n_neg) >= n_neg
        found = interval(metrics.roc_auc, y, np.linspace(0.05, 0.95, n_pos + n_neg))
        assert (found.value, found.high) == (1, 1)
        assert low <= found.low < 1
        assert "one-sided" in found.note
    found = interval(metrics.zero_one_error, np.arange(30) >= 15, np.linspace(0.05, 0.95, 30))
    assert (found.low, found.high) == pytest.approx((0, stats.binomtest(0, 30).proportion_ci(0.95, "exact").high))
    for measure in (metrics.average_precision, metrics.break_even):
        with pytest.raises(InvalidInputError, match="samples that differ"):
            interval(measure, np.arange(30) >= 15, np.linspace(0.05, 0.95, 30), random_state=0)


@pytest.mark.parametrize(("wrong", "n"), [(0, 30), (1, 60), (7, 20), (20, 20)])
def test_shares_are_exact(wrong, n):
    y = np.arange(n) < wrong
    p = np.linspace(0.1, 0.4, n)
    exact = stats.binomtest(wrong, n).proportion_ci(0.95, "exact")
    error, right = interval(metrics.zero_one_error, y, p), interval(metrics.accuracy, y, p)
    assert (error.low, error.high) == pytest.approx((exact.low, exact.high))
    assert (right.low, right.high) == pytest.approx((1 - exact.high, 1 - exact.low))


def test_the_variance_of_an_area_is_delongs_with_many_cases():
    rng = np.random.default_rng(1)
    y = np.arange(4000) < 2000
    scores = np.where(y, rng.normal(1, 3, 4000), rng.normal(0, 1, 4000))
    found = interval(metrics.roc_auc, y, 1 / (1 + np.exp(-scores)))
    above = (scores[y][:, None] > scores[~y]).astype(float)
    delong = np.sqrt(above.mean(axis=1).var(ddof=1) / 2000 + above.mean(axis=0).var(ddof=1) / 2000)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * delong, rel=0.03)
    weighted = interval(metrics.roc_auc, y, 1 / (1 + np.exp(-scores)), np.full(4000, 0.3))
    assert (weighted.low, weighted.high) == pytest.approx((found.low, found.high), rel=1e-3)


@pytest.mark.parametrize("rate", [0.02, 0.1])
def test_error_rates_of_sixty_rows_are_covered(rate):
    rng = np.random.default_rng(2)
    found = [interval(metrics.zero_one_error, rng.random(60) < rate, np.full(60, 0.1)) for _ in range(400)]
    assert np.mean([one.low <= rate <= one.high for one in found]) >= 0.93


def test_an_area_of_thirty_and_thirty_is_covered():
    rng = np.random.default_rng(3)
    y, shift = np.arange(60) < 30, np.sqrt(2) * stats.norm.ppf(0.98)
    draws = (np.concatenate([rng.normal(shift, 1, 30), rng.normal(0, 1, 30)]) for _ in range(400))
    found = [interval(metrics.roc_auc, y, stats.logistic.cdf(scores)) for scores in draws]
    assert np.mean([one.low <= 0.98 <= one.high for one in found]) >= 0.93
