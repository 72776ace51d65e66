"""How many labels: against pmvalsampsize, and standard errors against simulation."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from oddsmith import ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.metrics import roc_auc
from oddsmith.planning import labels_needed

BETA = (1.33, 1.75)


def test_the_case_of_pmvalsampsize():
    """Its README: C 0.8, Beta(1.33, 1.75), prevalence 0.43; version 0.2.1 prints 510, 2,136 and 308."""
    found = labels_needed(beta=BETA, auc=0.8, widths={"oe_fixed": 0.2, "slope": 0.2, "auc": 0.1})
    assert found.prevalence == pytest.approx(0.43, abs=0.005)
    for name, theirs in {"oe_fixed": 510, "slope": 2136, "auc": 308}.items():
        assert found.needed[name] == pytest.approx(theirs, rel=0.01), name
    assert found.labels == found.needed["slope"]


def simulated(n, draws, seed):
    """Standard deviations of the measures over samples of n labels."""
    rng = np.random.default_rng(seed)
    values = {"slope": [], "intercept": [], "oe": [], "auc": [], "error": []}
    for _ in range(draws):
        p = rng.beta(*BETA, n)
        y = (rng.random(n) < p).astype(int)
        z = np.clip(logit(p), -12, 12)
        forecast = ScoreTable.from_arrays(z, y)
        a, b = _line(z, y)
        values["slope"].append(b)
        values["error"].append(np.abs(expit(a + b * z) - p).mean())
        values["intercept"].append(_intercept(z, y))
        values["oe"].append(math.log(y.mean() / p.mean()))
        values["auc"].append(roc_auc.of(forecast))
    return {name: np.std(each) for name, each in values.items()}


def _line(z, y):
    a, b = 0.0, 1.0
    for _ in range(12):
        p = expit(a + b * z)
        w = p * (1 - p)
        h = np.array([[w.sum(), (w * z).sum()], [(w * z).sum(), (w * z * z).sum()]])
        step = np.linalg.solve(h, [(y - p).sum(), ((y - p) * z).sum()])
        a, b = a + step[0], b + step[1]
    return a, b


def _intercept(z, y):
    a = 0.0
    for _ in range(12):
        p = expit(a + z)
        a += (y - p).sum() / (p * (1 - p)).sum()
    return a


@pytest.mark.parametrize(("n", "draws"), [(100, 2000), (300, 1500), (2000, 1000), (10_000, 300)])
def test_predicted_standard_errors_are_simulated_ones(n, draws):
    predicted = labels_needed(beta=BETA).standard_errors(n)
    found = simulated(n, draws, n)
    for name, error in found.items():
        # Ten percent, and two standard errors of the simulation.
        assert predicted[name] == pytest.approx(error, rel=0.1 + 2 / math.sqrt(2 * draws)), name


def test_the_labels_for_a_gain_show_it_with_the_power():
    truth = (0.0, 0.7)
    n = labels_needed(beta=BETA, widths={}, gain=truth, power=0.8).labels
    rng = np.random.default_rng(0)
    shown = 0
    for _ in range(1000):
        z = logit(rng.beta(*BETA, n))
        true = truth[0] + truth[1] * z
        y = rng.random(n) < expit(true)
        sign = np.where(y, -1, 1)
        d = np.logaddexp(0, sign * z) - np.logaddexp(0, sign * true)
        shown += d.mean() / d.std() * math.sqrt(n) > stats.norm.ppf(0.975)
    assert shown / 1000 == pytest.approx(0.8, abs=0.06)


def test_tables_and_arrays_are_the_same_law():
    p = np.random.default_rng(1).beta(*BETA, 500).round(2).clip(0.01, 0.99)
    table = ScoreTable.from_arrays(logit(p), np.zeros(500, int))
    assert labels_needed(p).needed == labels_needed(table).needed


def test_bad_questions_are_refused():
    for options, words in (
        ({}, "either prob or beta"),
        ({"prob": [0.5, 0.5]}, "probabilities must differ"),
        ({"prob": [0.5, 1.5]}, r"in \[0, 1\]"),
        ({"beta": BETA, "widths": {"ece": 0.1}}, "widths must be one of"),
        ({"beta": BETA, "widths": {"slope": 0}}, "width of slope"),
        ({"beta": BETA, "widths": {}}, "at least one width"),
        ({"beta": BETA, "gain": (0, 1)}, "differs from the diagonal"),
        ({"beta": BETA, "auc": 1.0}, "auc must be below 1"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            labels_needed(**options)
