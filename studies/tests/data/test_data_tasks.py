import numpy as np
import pytest

from oddsmith.errors import InvalidInputError
from oddsmith_studies.data import BOOSTING_TASKS, load_boosting_task

SETS = {
    "COV_TYPE": ("covtype", 581_012, 54, 283_301),
    "ADULT": ("adult", 48_842, 108, 11_687),
    "LETTER.P1": ("letter", 20_000, 16, 753),
    "LETTER.P2": ("letter", 20_000, 16, 9_940),
    "HS": ("indian_pines", 10_249, 200, 2_455),
    "PHISHING": ("phishing", 11_055, 68, 6_157),
    "WEB": ("web", 49_749, 300, 1_479),
    "IMDB": ("imdb", 50_000, 200, 25_000),
}


def test_unknown_tasks_are_refused():
    assert tuple(BOOSTING_TASKS) == tuple(SETS)
    with pytest.raises(InvalidInputError, match=r"name must be one of 'COV_TYPE', .*; got name='SLAC'"):
        load_boosting_task("SLAC")


@pytest.mark.parametrize("name", SETS)
def test_real_tasks(where, name):
    data_set, n_rows, n_features, n_positive = SETS[name]
    where(data_set)
    task = load_boosting_task(name)
    assert task.X.shape == (n_rows, n_features) == (len(task.y), len(task.features))
    assert task.y.dtype == bool
    assert task.y.sum() == n_positive
    assert isinstance(task.X, np.ndarray)
    assert task.stand_in == (name in {"PHISHING", "WEB", "IMDB"})
    if name == "IMDB":
        assert {"movie", "film", "bad", "great"} <= set(task.features)
        assert not {"the", "br"} & set(task.features)
