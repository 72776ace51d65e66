import numpy as np
import pytest
from benchmarks.quality.scores import ScoreSet


@pytest.fixture
def make_scores():
    """Return a maker of probabilities that are right, with labels drawn from them."""

    def make(data="toy", learner="logistic", n=600, seed=0):
        rng = np.random.default_rng(seed)
        scores = rng.uniform(0.02, 0.98, 2 * n)
        y = (rng.random(2 * n) < scores).astype(int)
        return ScoreSet(data, learner, scores[:n], y[:n], scores[n:], y[n:])

    return make


@pytest.fixture
def make_several():
    """Return a maker of logits of four classes, twice as sure as they should be."""

    def make(data="toy.all", learner="network", n=400, seed=0, k=4):
        rng = np.random.default_rng(seed)
        logits = 2 * rng.normal(size=(2 * n, k))
        y = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
        return ScoreSet(data, learner, 2 * logits[:n], y[:n], 2 * logits[n:], y[n:])

    return make


@pytest.fixture
def toy(make_scores):
    return make_scores()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ODDSMITH_CACHE", str(tmp_path))
    return tmp_path
