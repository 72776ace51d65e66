"""What the study of asymmetric distributions rests on."""

import numpy as np
import pytest

from oddsmith import LogisticCalibrator, ScoreTable
from oddsmith_studies.studies import Part, Setting, load
from oddsmith_studies.studies._running import compute
from oddsmith_studies.studies._text_draws import _distance, _when_wrong
from oddsmith_studies.studies._text_features import RECIPES, REUTERS
from oddsmith_studies.studies._text_methods import (
    A_LAPLACE,
    LR,
    METHODS,
    NOISE,
    RAW,
    _agreement,
    _without_worst,
    calibrate_corpus,
)
from oddsmith_studies.studies._text_scores import PERCEPTRON
from oddsmith_studies.studies.bennett_2003.parts import time_fits
from oddsmith_studies.studies.bennett_2003.tables import SEVEN, seven

QUICK = Setting(quick=True)


def test_no_figure_of_the_lost_table_is_quoted():
    published = load("bennett-2003").published
    assert not published.tables
    for corpus in ("reuters", "trec_ap", "msn_web"):
        for classifier, measure in published.figures["marks"][corpus]:
            assert classifier in ("naive Bayes", "linear SVM")
            assert measure in ("log-loss", "squared error", "errors")


def test_all_methods_of_the_document_are_there():
    assert set(SEVEN) <= {RAW, *METHODS}
    asked = {part.arguments.get("recipe") for part in load("bennett-2003").parts(Setting())}
    assert {name for name in RECIPES if name.startswith("Bennett")} <= asked


def test_the_votes_of_perceptrons_are_a_score(needs_data):
    needs_data(("reuters21578",))
    arguments = {"corpus": REUTERS, "recipe": "Bennett", "classifier": PERCEPTRON, "shown": "earn"}
    part = compute(Part("perceptron", calibrate_corpus, arguments), QUICK).result
    view = seven(part, "log-loss", "ZY04")
    assert set(view.names) == set(SEVEN)
    # One decision in ten is positive: whoever knows nothing loses 0.3 or more a decision.
    assert view.totals[view.names.index(LR)] > -0.2 * part["inputs"]["score"]["decisions"]
    assert part["shown"]["category"] == "earn"
    # Both logistic regressions are nearly the same, and log-loss and squared error have one sign test.
    assert part["inputs"]["score"]["noise"]["mean"] < 0.01
    losses, squares = (seven(part, measure) for measure in ("log-loss", "squared error"))
    assert losses.wins.tolist() == squares.wins.tolist()
    assert {NOISE, A_LAPLACE} <= set(losses.names)


def test_worst_decisions_are_left_out_of_both_totals():
    signed = np.concatenate([np.full(9999, 2.0), [-500.0]])
    found = _without_worst(signed, np.full(10_000, 1.0))
    assert found["largest_share"] == pytest.approx(500 / (500 + 9999 * np.logaddexp(0, -2)), rel=1e-6)
    mine, other = found["without"]["0.0001"]
    assert mine == pytest.approx(-9999 * np.logaddexp(0, -2))
    assert other == pytest.approx(-9999 * np.logaddexp(0, -1))


def test_agreement_counts_decisions():
    found = _agreement(np.array([-1.0, 0.1, 3.0]), np.array([-1.0, -0.1, 3.0]))
    assert found["decided_otherwise"] == 1
    assert found["beyond_0.01"] == pytest.approx(1 / 3)


def test_the_distance_from_empirical_log_odds_is_small_for_the_truth():
    rng = np.random.default_rng(0)
    s = rng.normal(scale=2, size=20_000)
    table = ScoreTable.from_arrays(s, rng.random(20_000) < 1 / (1 + np.exp(-s)))
    near, far = (LogisticCalibrator(penalty=penalty).fit_table(table) for penalty in (0, 1e4))
    edges = np.linspace(-6, 6, 31)
    assert _distance(table, near, edges) < 0.2 < _distance(table, far, edges)


def test_times_are_answers_not_seconds():
    found = time_fits(QUICK)
    assert set(found["below"].values()) <= {True, False}
    assert not any(isinstance(value, float) and value < 1 for value in found.values())


def test_how_wrong_wrong_decisions_are():
    mean, error = _when_wrong(np.array([[2.0, -1.0, -3.0], [1.0, -1.0, 4.0]]))
    squares = 1 / (1 + np.exp([-1.0, -3.0, -1.0])) ** 2
    assert mean == pytest.approx(squares.mean())
    assert 0 < error < 1
