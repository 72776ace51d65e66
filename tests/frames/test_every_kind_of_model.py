"""A law of every kind of model on every engine: the probabilities of NumPy at ±∞, NaN, NULL and unknown segments."""

import narwhals.stable.v2 as nw
import numpy as np
import pytest

from oddsmith import AutoCalibrator, IsotonicCalibrator, PlattCalibrator, ScoreTable
from oddsmith.bands import band
from oddsmith.frames import apply
from oddsmith.maps import rows_by_segment
from oddsmith.model import Model
from oddsmith.pooling import PooledCalibrator
from optional import needs
from samples import ours_allowed

pa = needs("pyarrow")

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
]

N = 400
RNG = np.random.default_rng(5)
SHOP, DEVICE = RNG.choice(["a", "b", "c d"], N), RNG.integers(0, 3, N)
MARGINS = np.round(RNG.normal(size=N) * 2, 3)
Y = (RNG.random(N) < 1 / (1 + np.exp(-MARGINS - 2 * DEVICE - 3 * (SHOP == "b")))).astype(int)
PROBS = 1 / (1 + np.exp(-MARGINS))

MAX = 1.7976931348623157e308
SCORES = [np.inf, -np.inf, np.nan, None, MAX, -MAX, 1e300, 0.0, 5e-324, 0.25, -1.5, 0.7]
SHOPS = ["a", "b", "c d", "unknown", "A", "", None]
DEVICES = [0, 1, 7, None]


def segments(scores, *methods):
    """Return a model of one method in each shop, and one in some crossings of shops and devices."""
    by_shop, by_both = {}, {}
    for shop, method in zip(("a", "b", "c d"), methods, strict=True):
        rows = shop == SHOP
        by_shop[shop] = Model.from_fitted(method.fit(scores[rows], Y[rows]))
        rows &= DEVICE == 1
        by_both[shop, "1"] = Model.from_fitted(method.fit(scores[rows], Y[rows]))
    return by_shop, by_both


@pytest.fixture(scope="module")
def models():
    frame = needs("pandas").DataFrame({"margin": MARGINS, "prob": PROBS, "y": Y, "shop": SHOP, "device": DEVICE})
    table = ScoreTable.from_arrays(MARGINS, Y)
    with ours_allowed():
        whole = Model.from_fitted(AutoCalibrator().fit_table(table), table=table, band=band(table))
        of_probs = Model.from_fitted(PlattCalibrator(input="probability").fit(PROBS, Y))
        by_shop, _ = segments(PROBS, PlattCalibrator(), AutoCalibrator(), IsotonicCalibrator())
        _, by_both = segments(MARGINS, PlattCalibrator(), IsotonicCalibrator(between="step"), PlattCalibrator())
        found = {
            "with a band": whole.shifted(1.3),
            "by shop": of_probs.with_segments("shop", by_shop),
            "by shop and device": whole.with_segments(["shop", "device"], by_both).shifted(-0.7),
            "pooled by shop": PooledCalibrator("shop", "auto").fit(frame[:150], "prob", "y").model_,
            "pooled by both": PooledCalibrator(["shop", "device"], "platt").fit(frame, "margin", "y").model_.shifted(2),
        }
    assert all(found[name].effects.terms for name in found if "pooled" in name)
    return found


def rows(engine):
    """Return every score in every segment; with a missing one integers are floats in pandas, which name no segment."""
    devices = DEVICES[:-1] if engine in ("pandas", "dask") else DEVICES
    scores, shops, given = zip(*((s, shop, d) for s in SCORES for shop in SHOPS for d in devices), strict=True)
    columns = {"s": pa.array(scores, pa.float64()), "shop": pa.array(shops, pa.string()), "device": pa.array(given)}
    return pa.table({**columns, "id": np.arange(len(scores))})


def expected(model, table):
    """Return the probability of each row, by the map of its segment."""
    scores = np.array([np.nan if score is None else score for score in table["s"].to_pylist()])
    found, there = np.full(len(scores), np.nan), ~np.isnan(scores)
    columns = [np.array(table[name].to_pylist(), dtype=object)[there] for name in model.segment_columns]
    parts = {None: np.arange(there.sum())}
    if columns:
        parts = rows_by_segment(*columns, partial=model.effects is not None)
    prob = np.full(there.sum(), np.nan)
    for name, own in parts.items():
        one, given = model.of_segment(name).map, scores[there][own]
        low, high = one.domain
        taken = own[(low <= given) & (given <= high)]
        prob[taken] = one.probability(scores[there][taken])
    found[there] = prob
    return found


@pytest.mark.filterwarnings("ignore::oddsmith.errors.UnknownSegmentWarning")
def test_probabilities_of_numpy(held, engine, models):
    table = rows(engine)
    frame = held(table)
    for name, model in models.items():
        result = nw.from_native(apply(frame, model, "s", name="p"))
        result = (result.collect() if isinstance(result, nw.LazyFrame) else result).sort("id")
        found = np.array([np.nan if value is None else value for value in result["p"].to_list()])
        np.testing.assert_allclose(found, expected(model, table), rtol=0, atol=1e-12, err_msg=name)
