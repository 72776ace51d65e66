"""A law of every calibrator on every engine: no score in, no probability out, and all other rows as ever."""

import narwhals.stable.v2 as nw
import numpy as np
import pytest

from catalogue import CLASSES
from oddsmith.frames import apply
from optional import needs
from samples import ours_allowed

pa = needs("pyarrow")

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
]

RNG = np.random.default_rng(2)
N = 60
#: Of one kind and of the other; fits may begin and end in ramps, steps or constants.
SCORES = {"margins": RNG.normal(size=N), "probabilities": RNG.random(N) * 0.98 + 0.01}
WHOLE = {"margins": [None, 0, 1, None, -1, 2], "probabilities": [None, 1, 1, None, 1, 1]}
BY_SEGMENT = [
    "IsotonicCalibrator",
    "LaplaceCalibrator",
    "MinMaxCalibrator",
    "PiecewiseLogisticCalibrator",
    "PlattCalibrator",
    "VennAbersCalibrator",
]


@pytest.fixture(scope="module", params=SCORES)
def fits(request):
    scores = SCORES[request.param]
    y = (np.random.default_rng(3).random(N) < 1 / (1 + np.exp(2 - 4 * scores))).astype(int)
    with ours_allowed():
        return request.param, {cls.__name__: cls().fit(scores, y).map_ for cls in CLASSES}


def columns(kind):
    """Scores of two types, two of six missing; NaN among the doubles."""
    s = SCORES[kind][:6].tolist()
    return {
        "double": pa.array([None, *s[1:4], float("nan"), s[5]], pa.float64()),
        "whole": pa.array(WHOLE[kind], pa.int32()),
    }


def probabilities(result, names):
    frame = nw.from_native(result)
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return {name: frame.sort("id")[name].to_list() for name in names}


def same(found, expected, name):
    """Compare, None and NaN alike being no number."""
    found = [np.nan if value is None else value for value in found]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=name)


def expected(one, column):
    scores = np.array([np.nan if s is None else s for s in column.to_pylist()], dtype=np.float64)
    prob = np.full(len(scores), np.nan)
    prob[~np.isnan(scores)] = one.probability(scores[~np.isnan(scores)])
    return prob


@pytest.mark.parametrize("score", ["double", "whole"])
def test_no_score_no_probability(held, fits, score):
    kind, maps = fits
    table = columns(kind)
    result = held(pa.table({**table, "id": np.arange(6)}))
    for name, one in maps.items():
        result = apply(result, one, score, name=name)
    found = probabilities(result, maps)
    for name, one in maps.items():
        same(found[name], expected(one, table[score]), name)


def test_no_score_no_probability_by_segment(held, fits):
    """A segment per map: lines, broken lines, steps and ramps."""
    kind, maps = fits
    maps = {name: maps[name] for name in BY_SEGMENT}
    column = columns(kind)["double"]
    n = 6 * len(maps)
    rows = {"double": pa.array(column.to_pylist() * len(maps)), "g": np.repeat(list(maps), 6), "id": np.arange(n)}
    found = probabilities(apply(held(pa.table(rows)), maps, "double", by="g"), ["probability"])["probability"]
    for i, (name, one) in enumerate(maps.items()):
        same(found[6 * i : 6 * i + 6], expected(one, column), name)
