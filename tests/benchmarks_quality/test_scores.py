import os

import numpy as np
import pytest
from benchmarks.quality import scores, sets
from sklearn.metrics import roc_auc_score

has_data = pytest.mark.skipif(not os.environ.get("ODDSMITH_DATA"), reason="ODDSMITH_DATA names no folder of data")


def rows_of(kind):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 900)
    if kind == "text":
        words = np.array(["good", "fine", "bad", "poor", "film", "plot"])
        chance = np.where(y[:, None] == 1, [0.3, 0.3, 0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0.3, 0.3, 0.1, 0.1])
        texts = [" ".join(rng.choice(words, 8, p=row)) for row in chance]
        return sets.Rows(np.array(texts, object), y, "text")
    X = rng.normal(size=(900, 4)) + y[:, None]
    return sets.Rows((X > 0.5).astype(float) if kind == "binary" else X, y, kind)


@pytest.mark.parametrize("kind", ["numeric", "binary", "text"])
def test_every_learner_gives_scores_that_mean_something(kind, cache, monkeypatch):
    monkeypatch.setitem(scores.SETS, "toy", lambda: rows_of(kind))
    found = list(scores.score_sets(("toy",)))
    assert len(found) == 9
    for one in found:
        assert (len(one.y_cal), len(one.y_test)) == (300, 330)
        assert roc_auc_score(one.y_test, one.scores_test) > 0.7, one.learner
        margin = one.learner in {"linear_svm", "adaboost"}
        assert (one.scores_cal.min() < 0) == margin, one.learner


def test_an_interrupted_run_goes_on_where_it_stopped(cache, monkeypatch, capsys):
    monkeypatch.setitem(scores.SETS, "toy", lambda: rows_of("numeric"))
    first = {one.learner: one.digest for one in scores.score_sets(("toy",))}
    folder = cache / f"scores-{scores.RECIPE}" / "toy"
    (folder / "done").unlink()
    (folder / "tree.npz").unlink()
    capsys.readouterr()
    assert {one.learner: one.digest for one in scores.score_sets(("toy",))} == first
    assert capsys.readouterr().out.count("trained") == 1
    monkeypatch.setitem(scores.SETS, "toy", None)  # what is stored needs no data
    assert len(list(scores.score_sets(("toy",)))) == 9


def test_data_must_be_named(monkeypatch):
    monkeypatch.delenv("ODDSMITH_DATA", raising=False)
    with pytest.raises(SystemExit, match="ODDSMITH_DATA must name the folder"):
        sets.data_folder()


@has_data
@pytest.mark.parametrize(
    ("name", "rows", "positives"),
    [
        ("sentiment", 3000, 1500),
        ("letter.p1", 20000, 753),
        ("letter.p2", 20000, 9940),
        ("indian_pines", 10249, 2455),
        ("reuters.acq", 12902, 2369),
        ("ohsumed", 7400, 1030),
    ],
)
def test_sets_have_the_rows_they_should(name, rows, positives):
    found = sets.SETS[name]()
    assert (len(found.X), len(found.y), found.y.sum()) == (rows, rows, positives)


@has_data
def test_network_outputs_are_probabilities_of_the_class():
    for prob, y in sets.network_scores().values():
        assert len(prob) == 10_000
        assert y.sum() == 1000
        assert roc_auc_score(y, prob) > 0.8
