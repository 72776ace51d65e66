"""Names, keys, weights and types that engines read in ways of their own: taken as they are meant, or refused."""

import datetime
import decimal
import warnings
import zoneinfo

import narwhals.stable.v2 as nw
import numpy as np
import pytest

from oddsmith import PlattCalibrator, ScoreTable, SquashCalibrator
from oddsmith.errors import InvalidInputError, UnknownSegmentWarning
from oddsmith.frames import apply
from oddsmith.frames.keys import plain_keys, refuse_equal_keys
from optional import needs
from samples import ours_allowed

pa = needs("pyarrow")

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
]

from_frame = ScoreTable.from_frame
SCORES = np.array([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0])
Y = np.array([0, 1, 0, 1, 0, 1])
FITTED = SquashCalibrator().fit(SCORES, Y)
EXACT = ScoreTable.from_arrays(SCORES, Y)

#: 2026-01-01, in nanoseconds; and 01:30 in New York on the day when clocks are put back.
NEW_YEAR, TWICE = 1767225600_000000000, 1793511000_000000
NEW_YORK = zoneinfo.ZoneInfo("America/New_York")


def collected(result):
    frame = nw.from_native(result)
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return frame.sort("id")


@pytest.mark.parametrize("name", ["a.b", "^s.*$", "*", "^other$", "s`t", 'q"t', "two words", "S"])
def test_names_are_names(held, engine, name):
    """Beside a column that a pattern, a path or a search without case would find."""
    twin = name == "S" and engine in ("duckdb", "ibis-duckdb")
    columns = {name: SCORES, "s": np.full(6, 9.0), "other": np.full(6, 9.0), "y": Y, "id": np.arange(6)}
    if twin and engine == "duckdb":  # which renames one of the two as it takes them in
        columns.pop("s")
        twin = False
    frame = held(pa.table(columns))
    if twin:
        with pytest.raises(InvalidInputError, match="must differ by more than case in this engine; got 'S' and 's'"):
            from_frame(frame, name, "y")
        with pytest.raises(InvalidInputError, match="must differ by more than case"):
            apply(frame, FITTED, name)
        return
    assert from_frame(frame, name, "y") == EXACT
    assert from_frame(frame, "id", "y", by=name).keys() == set(SCORES)
    rows = collected(apply(frame, FITTED, name))
    assert rows.columns == [*columns, "probability"]
    np.testing.assert_allclose(rows["probability"].to_numpy(), FITTED.predict_proba(SCORES)[:, 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["a.b", "^s.*$", "*", "s`t", 'q"t', "two words"])
def test_names_of_segments_and_results_are_names(held, name):
    frame = held(pa.table({"s": SCORES, name: ["a", "b", "c"] * 2, "id": np.arange(6)}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownSegmentWarning)
        rows = collected(apply(frame, {"a": FITTED, "b": FITTED}, "s", by=name, name=f"{name} "))
    assert rows.columns == ["s", name, "id", f"{name} "]
    found = np.array([np.nan if p is None else p for p in rows[f"{name} "].to_list()])
    np.testing.assert_allclose(found[[0, 1, 3, 4]], FITTED.predict_proba(SCORES[[0, 1, 3, 4]])[:, 1], atol=1e-12)
    assert np.isnan(found[[2, 5]]).all()


def test_keys_keep_their_nanoseconds(held, engine):
    if engine in ("pyspark", "ibis-postgres"):
        pytest.skip("the engine itself has microseconds")
    moments = NEW_YEAR + np.array([0, 1, 2, 0, 1, 2])
    frame = held(pa.table({"s": SCORES, "y": Y, "k": pa.array(moments, pa.timestamp("ns"))}))
    tables = from_frame(frame, "s", "y", by="k")
    timestamp = needs("pandas").Timestamp
    assert list(tables) == [timestamp(NEW_YEAR + i) for i in range(3)]
    for i, table in enumerate(tables.values()):
        assert table == ScoreTable.from_arrays(SCORES[i::3], Y[i::3])


def test_keys_keep_their_time_zone(held, engine):
    """DuckDB and Spark store moments; the zone is that of the session, which in Spark goes without saying."""
    hours = [TWICE, TWICE + 3600_000000, TWICE + 7200_000000] * 2
    frame = held(pa.table({"s": SCORES, "y": Y, "k": pa.array(hours, pa.timestamp("us", "America/New_York"))}))
    tables = from_frame(frame, "s", "y", by="k")
    utc = [datetime.datetime(2026, 11, 1, hour, 30, tzinfo=datetime.UTC) for hour in (5, 6, 7)]
    if engine == "pyspark":
        zone = zoneinfo.ZoneInfo(frame.sparkSession.conf.get("spark.sql.session.timeZone"))
        assert list(tables) == [moment.astimezone(zone).replace(tzinfo=None) for moment in utc]
        return
    assert list(tables) == utc
    later = datetime.datetime(2026, 11, 1, 2, 30, tzinfo=NEW_YORK)
    assert tables[later] == ScoreTable.from_arrays(SCORES[2::3], Y[2::3])


def test_keys_of_the_hour_that_is_there_twice():
    """With their offset they are two; where the zone goes without saying they would be one, and are refused."""
    moments = np.array([TWICE, TWICE + 3600_000000]).astype("datetime64[us]")
    kind = nw.Datetime("us", "America/New_York")
    keys = plain_keys(moments, kind)
    assert [key.isoformat() for key in keys] == ["2026-11-01T01:30:00-04:00", "2026-11-01T01:30:00-05:00"]
    refuse_equal_keys(keys)
    with pytest.raises(InvalidInputError, match=r"keys must be different values; got .* twice\. Hint: cast the column"):
        refuse_equal_keys(plain_keys(moments, kind, local=True))


def test_keys_with_an_offset_and_in_the_zone_of_a_table():
    offset = datetime.timezone(datetime.timedelta(hours=5))
    frame = pa.table({"s": SCORES, "y": Y, "k": pa.array([TWICE] * 6, pa.timestamp("us", "+05:00"))})
    assert list(from_frame(frame, "s", "y", by="k")) == [datetime.datetime(2026, 11, 1, 10, 30, tzinfo=offset)]


def test_decimal_keys_are_refused_where_doubles_would_round_them(held, engine):
    if engine in ("pandas", "dask"):
        pytest.skip("pandas holds decimals as objects")
    keys = pa.array([decimal.Decimal("0.10000000000000000001"), decimal.Decimal("0.10000000000000000002")] * 3)
    with pytest.raises(InvalidInputError, match="column 'k' must contain keys that doubles do not round; got type D"):
        from_frame(held(pa.table({"s": SCORES, "y": Y, "k": keys})), "s", "y", by="k")


def test_decimals_are_numbers_or_refused(held, engine):
    values = pa.array([decimal.Decimal(text) for text in ("-1.00", "-0.50", "0.00", "0.25", "0.50", "1.00")])
    frame = held(pa.table({"s": values, "y": Y, "id": np.arange(6)}))
    if engine in ("pandas", "dask"):
        with pytest.raises(InvalidInputError, match=r"column 's' must be numeric; got type .* Hint: cast it"):
            from_frame(frame, "s", "y")
        return
    assert from_frame(frame, "s", "y") == EXACT
    rows = collected(apply(frame, FITTED, "s"))
    np.testing.assert_allclose(rows["probability"].to_numpy(), FITTED.predict_proba(SCORES)[:, 1], rtol=0, atol=1e-12)


def test_bools_are_numbers(held):
    flags = pa.array([True, False, None, True, False, True])
    frame = held(pa.table({"f": flags, "s": SCORES, "y": Y, "w": Y == 1, "id": np.arange(6)}))
    assert from_frame(frame, "s", "y", weight="w") == ScoreTable.from_arrays(SCORES, Y, Y)
    rows = collected(apply(frame, FITTED, "w"))
    np.testing.assert_allclose(rows["probability"].to_numpy(), FITTED.predict_proba(Y)[:, 1], rtol=0, atol=1e-12)
    assert from_frame(frame, "w", "y") == ScoreTable.from_arrays(Y, Y)


def test_integers_above_two_to_the_53_are_rounded_once(held):
    whole = np.array([2**53 + 1, 2**53 + 3, 2**62 + 1, -(2**53) - 1, 7, 2**63 - 1])
    frame = held(pa.table({"s": whole, "y": Y, "id": np.arange(6)}))
    assert from_frame(frame, "s", "y") == ScoreTable.from_arrays(whole.astype(np.float64), Y)
    with ours_allowed():
        line = PlattCalibrator().fit(whole.astype(np.float64), Y)
    rows = collected(apply(frame, line, "s"))
    np.testing.assert_allclose(rows["probability"].to_numpy(), line.predict_proba(whole)[:, 1], rtol=0, atol=1e-12)


TOO_LARGE = r"column 'w' must have a sum of weights below 2\*\*63; got [\d.e+inf]+\. Hint: divide all weights"
EXTREME = {
    "counts that wrap": (pa.array([2**61] * 6), TOO_LARGE),
    "counts that wrap to a positive sum": (pa.array([2**62] * 6), TOO_LARGE),
    "counts that wrap within a group": (pa.array([2**62] * 3 + [0] * 3), TOO_LARGE),
    "1e308": (pa.array([1e308] * 6), TOO_LARGE),
    "1e300": (pa.array([1e300] * 6), TOO_LARGE),
    "sums": (pa.array([3e18] * 6), TOO_LARGE),
    "5e-324": (pa.array([5e-324] * 6), r"weights must be 0 or at least 1e-100; got w=4.94066e-324\. Hint: multiply"),
    "one of 1e-200": (pa.array([1e-200] + [1.0] * 5), "weights must be 0 or at least 1e-100; got w=1e-200"),
}


@pytest.mark.parametrize("kind", EXTREME)
@pytest.mark.parametrize("resolution", [None, 0.25])
def test_weights_whose_sums_wrap_overflow_or_vanish(held, kind, resolution):
    weight, words = EXTREME[kind]
    same = np.zeros(6) if "within" in kind else SCORES
    with pytest.raises(InvalidInputError, match=words):
        from_frame(
            held(pa.table({"s": same, "y": Y * 0 + 1, "w": weight})), "s", "y", weight="w", resolution=resolution
        )


def test_unsigned_weights(held, engine):
    if engine in ("pyspark", "ibis-postgres"):
        pytest.skip("the engine has no unsigned integers")
    small, large = (pa.array([first, 1, 2, 3, 4, 5], pa.uint64()) for first in (2**53 + 1, 2**63 + 5))
    frame = held(pa.table({"s": SCORES, "y": Y, "w": small, "v": large}))
    assert from_frame(frame, "s", "y", weight="w") == ScoreTable.from_arrays(SCORES, Y, [2**53 + 1, 1, 2, 3, 4, 5])
    with pytest.raises(InvalidInputError, match=TOO_LARGE.replace("'w'", "'v'")):
        from_frame(frame, "s", "y", weight="v")


def test_large_counts_are_exact(held):
    counts = np.array([2**61 + 1, 2**53 + 1, 2**53 + 3, 1, 2**60 - 1, 5])
    frame = held(pa.table({"s": np.repeat([0.5, 0.75], 3), "y": Y, "w": counts}))
    assert from_frame(frame, "s", "y", weight="w") == ScoreTable.from_arrays(np.repeat([0.5, 0.75], 3), Y, counts)


def test_segments_with_one_name_are_refused():
    frame = pa.table({"s": SCORES, "g": ["1"] * 6})
    for twins in ({1: FITTED, "1": FITTED}, {True: FITTED, "true": FITTED}):
        with pytest.raises(InvalidInputError, match="segments must be different when their keys are written as text"):
            apply(frame, twins, "s", by="g")
