"""The fixtures that scikit-learn's tests take from its conftest, fixed to one value each."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from samples import ours_allowed


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: of scikit-learn")


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture
def global_dtype():
    return np.float64


@pytest.fixture
def pyplot():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")
    yield plt
    plt.close("all")


@pytest.fixture(autouse=True)
def _the_same_in_every_run():
    """Some of the tests draw from the global generator; and what we or liblinear warn of is not what they test."""
    np.random.seed(0)  # noqa: NPY002
    with ours_allowed():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
