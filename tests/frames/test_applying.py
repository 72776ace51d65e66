"""Every engine gives the probabilities of NumPy, and the same kind of frame back."""

import contextlib
import sqlite3
import warnings

import narwhals.stable.v2 as nw
import numpy as np
import pytest

from oddsmith import (
    AutoCalibrator,
    BetaCalibrator,
    CosineCalibrator,
    IsotonicCalibrator,
    PiecewiseLogisticCalibrator,
    PlattCalibrator,
    ScoreTable,
    SplineCalibrator,
    VennAbersCalibrator,
)
from oddsmith.errors import InvalidInputError, UnknownSegmentWarning
from oddsmith.export.verification import probe_scores
from oddsmith.frames.applying import apply
from oddsmith.maps import BlendMap, StepMap, constant_map, line_map, map_families
from oddsmith.model import Model
from optional import needs
from samples import ours_allowed

pa = needs("pyarrow")

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
]

RNG = np.random.default_rng(11)
N = 300
SCORES = np.round(RNG.normal(size=N), 2)
PROBS = 1 / (1 + np.exp(-SCORES))
Y = (RNG.random(N) < 1 / (1 + np.exp(-2 * SCORES))).astype(int)

#: One per shape: a line, broken lines, cubics, logarithms, cosines, interpolation, steps, a blend.
METHODS = {
    "line": PlattCalibrator(),
    "broken": PiecewiseLogisticCalibrator(knots=[-0.5, 0.5]),
    "cubic": SplineCalibrator(),
    "log": BetaCalibrator(),
    "cosine": CosineCalibrator(),
    "ramp": IsotonicCalibrator(),
    "step": IsotonicCalibrator(between="step"),
    "at": VennAbersCalibrator(),
    "blend": AutoCalibrator(),
}


@pytest.fixture(scope="module")
def maps():
    with ours_allowed():
        return {name: method.fit(SCORES, Y).map_ for name, method in METHODS.items()}


def rows_of(result):
    """Collect a frame and put its rows in order."""
    frame = nw.from_native(result)
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return frame.sort("id")


def column(frame, name):
    """Return a column with NaN for what is missing."""
    return np.array([np.nan if value is None else value for value in frame[name].to_list()])


def test_same_probabilities_as_numpy(held, maps):
    scores = np.unique(np.concatenate([thinned(probe_scores(one)) for one in maps.values()]))
    table = pa.table({"s": scores, "id": np.arange(len(scores))})
    frame = held(table)
    result = frame
    for name, one in maps.items():
        result = apply(result, one, scores="s", name=name)
    assert type(result) is type(frame)
    rows = rows_of(result)
    assert rows.columns == ["s", "id", *maps]
    for name, one in maps.items():
        np.testing.assert_allclose(column(rows, name), one.probability(scores), rtol=0, atol=1e-12, err_msg=name)


def thinned(scores):
    """Keep the ends, 0, and one score in so many."""
    return np.concatenate([scores[:2], scores[-2:], [0.0], scores[:: 1 + len(scores) // 150]])


def test_missing_infinite_and_refused_scores(held, maps):
    scores = pa.array([None, float("nan"), float("inf"), -float("inf"), 0.5, 2.0, -1.0])
    frame = held(pa.table({"s": scores, "id": np.arange(7)}))
    refusing = PlattCalibrator(input="probability").fit(PROBS, Y)
    rows = rows_of(apply(apply(frame, maps["ramp"], "s"), refusing, "s", name="p"))
    ends = maps["ramp"].probability([1e300, -1e300, 0.5, 2.0, -1.0])
    np.testing.assert_allclose(column(rows, "probability"), [np.nan, np.nan, *ends], rtol=0, atol=1e-12)
    half = refusing.predict_proba([0.5])[0, 1]
    np.testing.assert_allclose(column(rows, "p"), [np.nan] * 4 + [half, np.nan, np.nan], rtol=0, atol=1e-12)
    result = frame
    for name, one in maps.items():
        result = apply(result, one, "s", name=name)
    rows = rows_of(result)
    for name, one in maps.items():
        expected = [np.nan, np.nan, *one.probability([np.inf, -np.inf, 0.5, 2.0, -1.0])]
        np.testing.assert_allclose(column(rows, name), expected, rtol=0, atol=1e-12, err_msg=name)


def test_narrow_scores_and_odd_names(held, maps):
    scores = np.array([-2, 0, 3], np.int16)
    frame = held(pa.table({"oddsmith": scores, "my score": scores.astype(np.float32) / 3, "id": np.arange(3)}))
    rows = rows_of(apply(apply(frame, maps["ramp"], "oddsmith", name="a"), maps["ramp"], "my score", name="of it"))
    assert rows.columns == ["oddsmith", "my score", "id", "a", "of it"]
    np.testing.assert_allclose(column(rows, "a"), maps["ramp"].probability(scores), rtol=0, atol=1e-12)
    widened = (scores.astype(np.float32) / 3).astype(float)
    np.testing.assert_allclose(column(rows, "of it"), maps["ramp"].probability(widened), rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def model():
    """A model with a map of its own in two segments."""
    tables = {name: ScoreTable.from_arrays(SCORES[i::3], Y[i::3]) for i, name in enumerate(["north", "it's", "3"])}
    fits = {}
    with ours_allowed():
        for method, name in ((PlattCalibrator(), "north"), (IsotonicCalibrator(), "it's")):
            fits[name] = Model.from_fitted(method.fit_table(tables[name]), table=tables[name])
        whole = tables["north"].merge(tables["it's"], tables["3"])
        own = Model.from_fitted(BetaCalibrator().fit_table(whole), table=whole)
    return own.with_segments("region", fits)


def test_segments(held, model):
    regions = np.random.default_rng(4).choice(["north", "it's", "3", "elsewhere", None], N)
    frame = held(pa.table({"s": SCORES, "region": pa.array(regions.tolist(), pa.string()), "id": np.arange(N)}))
    result = model.apply(frame, scores="s", name="p")
    assert type(result) is type(frame)
    rows = rows_of(result)
    assert rows.columns == ["s", "region", "id", "p"]
    np.testing.assert_allclose(column(rows, "p"), model.probability(SCORES, regions), rtol=0, atol=1e-12)


def warned_of_segments(frame, words):
    """Expect a warning, but of relations that DuckDB reads from Arrow."""
    from_arrow = type(frame).__name__ == "DuckDBPyRelation"
    return contextlib.nullcontext() if from_arrow else pytest.warns(UnknownSegmentWarning, match=words)


def test_infinite_scores_by_segment(held, maps):
    """Among the constants of segments may be slopes of 0, times which infinity is NaN."""
    kinds = {"line": maps["line"], "flat": constant_map(0.3), "ramp": maps["ramp"], "log": maps["log"]}
    names, scores = [*kinds] * 3, np.repeat([np.inf, -np.inf, np.nan], 4)
    frame = held(pa.table({"s": scores, "g": names, "id": np.arange(12)}))
    expected = [np.nan if s != s else kinds[name].probability([s])[0] for s, name in zip(scores, names, strict=True)]
    rows = rows_of(apply(frame, kinds, "s", by="g"))
    np.testing.assert_allclose(column(rows, "probability"), expected, rtol=0, atol=1e-12)


def test_segments_by_number_and_bool(held):
    keys = np.arange(N) % 2
    fits = {key: PlattCalibrator().fit(SCORES[keys == key], Y[keys == key]) for key in (0, 1)}
    frame = held(pa.table({"s": SCORES, "k": keys.astype(np.int32), "b": keys == 1, "id": np.arange(N)}))
    expected = np.where(keys, fits[1].predict_proba(SCORES)[:, 1], fits[0].predict_proba(SCORES)[:, 1])
    by_number = rows_of(apply(frame, fits, "s", by="k"))
    np.testing.assert_allclose(column(by_number, "probability"), expected, rtol=0, atol=1e-12)
    with warned_of_segments(frame, r"column 'b' get a missing probability: 150 of .*300 rows"):
        by_bool = rows_of(apply(frame, {True: fits[1]}, "s", by="b"))
    np.testing.assert_allclose(column(by_bool, "probability"), np.where(keys, expected, np.nan), rtol=0, atol=1e-12)


def test_thousands_of_segments(held):
    rng = np.random.default_rng(3)
    n = 3000
    names = np.array([f"segment {i}" for i in range(n)])
    line = PlattCalibrator().fit(SCORES, Y).map_
    maps = {name: type(line)(line.knots, line.origins + rng.normal(), line.coefficients, line.scale) for name in names}
    chosen, scores = rng.choice(names, n), rng.normal(size=n)
    rows = rows_of(apply(held(pa.table({"s": scores, "g": chosen, "id": np.arange(n)})), maps, "s", by="g"))
    expected = [maps[name].probability(s) for name, s in zip(chosen.tolist(), scores, strict=True)]
    np.testing.assert_allclose(column(rows, "probability"), expected, rtol=0, atol=1e-12)


def test_segments_of_too_many_shapes(duck):
    relation = duck.sql("SELECT 0.5 AS s, '8' AS g")
    lines = [line_map(1.0 + n / 100) for n in range(80)]
    blends = {str(n): BlendMap(tuple(lines[:n]), np.full(n, 1 / n)) for n in range(8, 78)}
    with pytest.raises(InvalidInputError, match="at most 64 shapes in all; got 70 segments with 71 shapes"):
        apply(relation, blends, "s", by="g")
    long = StepMap(np.arange(3e4), np.linspace(0, 1, 30000), np.linspace(0, 1, 30001))
    with pytest.raises(InvalidInputError, match="at most 50,000 knots in all"):
        apply(relation, {"8": long, "b": long}, "s", by="g")


def test_segments_with_other_numbers_of_knots_have_one_shape(duck):
    knots = np.arange(2.0, 80.0)
    stairs = {str(n): StepMap(knots[:n], knots[:n] / 80, np.append(0, knots[:n]) / 80) for n in range(8, 78)}
    assert len(map_families(list(stairs.values()))) == 1
    relation = duck.sql(
        "SELECT s + 0.5 * h AS s, g::VARCHAR AS g FROM range(0, 90) AS s(s), range(8, 78) AS g(g), range(2) h(h)"
    )
    found = apply(relation, stairs, "s", by="g").fetchall()
    assert len(found) == 180 * 70
    for score, name, p in found:
        assert p == stairs[name].probability([float(score)])[0]


def test_pandas_index_and_repeated_use(maps):
    frame = needs("pandas").DataFrame({"s": [0.3, -0.2, 1.0]}, index=["x", "y", "x"])
    result = apply(frame, maps["line"], "s")
    assert list(result.index) == ["x", "y", "x"]
    assert "probability" not in frame
    np.testing.assert_array_equal(result["probability"], maps["line"].probability(frame["s"]))


@pytest.mark.parametrize("build", ["pandas", "polars"])
def test_rows_without_a_key_are_counted(maps, build):
    rows = {"g": ["line", None, "line", None], "s": [0.0, 1.0, 2.0, 3.0]}
    none_found = {"g": ["", None], "s": [0.0, 1.0]}
    frame = needs(build).DataFrame
    with pytest.warns(UnknownSegmentWarning, match=r"missing probability: 2 of 4 rows in others \(a missing key; the"):
        apply(frame(rows), {"line": maps["line"]}, "s", by="g")
    with pytest.raises(
        InvalidInputError, match=r"got 2 of 2 rows in others \('', a missing key; the maps are of 'line'"
    ):
        apply(frame(none_found), {"line": maps["line"]}, "s", by="g")
    with pytest.raises(InvalidInputError, match="a mapping of segments must have maps; got none"):
        apply(frame(rows), {}, "s", by="g")


def test_a_number_is_not_the_name_of_a_column(maps):
    frame = needs("pandas").DataFrame({0: [1.0, 2.0]})
    with pytest.raises(
        InvalidInputError, match=r"scores must name the column of scores; got scores=0\. Hint: pass its"
    ):
        apply(frame, maps["line"], 0)


def test_dask_looks_segments_up(dask_client, maps):
    """Segments whose maps have the same shape are one look-up, however many knots each has."""
    staircases = {
        str(k): StepMap(np.linspace(-1, k, k), np.linspace(0, 1, k), np.linspace(0, 1, k + 1)) for k in range(2, 40)
    }
    segments = staircases | {"line": maps["line"], "ramp": maps["ramp"]}
    names = [*segments, "unknown", None]
    rows = needs("pandas").DataFrame({"g": names * 20, "s": np.resize(SCORES, 20 * len(names))}, index=range(840))
    rows.loc[3, "s"], rows.loc[5, "s"], rows.loc[60, "s"] = np.nan, np.inf, -np.inf
    with pytest.warns(UnknownSegmentWarning, match="'unknown'"):
        result = apply(needs("dask.dataframe").from_pandas(rows, npartitions=3), segments, "s", by="g")
    with pytest.warns(UnknownSegmentWarning, match="'unknown'"):
        expected = apply(rows, segments, "s", by="g")
    found = result.compute()
    assert found.index.equals(rows.index)
    np.testing.assert_allclose(found["probability"], expected["probability"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["Int64", "Float32", "int8", "double[pyarrow]"])
def test_dask_reads_all_kinds_of_numbers(dask_client, maps, kind):
    pandas = needs("pandas")
    rows = pandas.DataFrame({"s": pandas.Series([1, 0, 2, -3], dtype=kind)})
    if kind != "int8":
        rows.loc[1, "s"] = None
    result = apply(needs("dask.dataframe").from_pandas(rows, npartitions=2), maps["ramp"], "s").compute()["probability"]
    np.testing.assert_allclose(result, apply(rows, maps["ramp"], "s")["probability"], rtol=0, atol=1e-12)


def test_polars_streams(maps):
    frame = needs("polars").LazyFrame({"s": SCORES, "k": np.arange(N)})
    result = apply(frame, maps["ramp"], "s").filter(needs("polars").col("k") >= 100).collect(engine="streaming")
    np.testing.assert_allclose(result["probability"], maps["ramp"].probability(SCORES[100:]), rtol=0, atol=1e-12)


def test_what_cannot_be_applied(held, maps, model):
    frame = held(pa.table({"s": [0.1, 0.2], "t": ["x", "y"], "region": [0.5, 0.7]}))
    with pytest.raises(InvalidInputError, match="frame must not have the new column yet; got 't'"):
        apply(frame, maps["line"], "s", name="t")
    with pytest.raises(InvalidInputError, match="column 't' must be numeric"):
        apply(frame, maps["line"], "t")
    with pytest.raises(InvalidInputError, match="'missing' where there are s, t, region"):
        apply(frame, maps["line"], "missing")
    with pytest.raises(InvalidInputError, match="column 'region' must contain text, integers or bools"):
        model.apply(frame, scores="s")
    with pytest.raises(InvalidInputError, match="by must be given for a model by segment only"):
        apply(frame, maps["line"], "s", by="t")
    with pytest.raises(InvalidInputError, match="by must name the columns of the segments"):
        apply(frame, {"x": maps["line"]}, "s")
    with warnings.catch_warnings(), pytest.raises(InvalidInputError, match="model must be a fitted calibrator"):
        apply(frame, "line", "s")


def by_segment(keys):
    return {key: PlattCalibrator().fit(SCORES, Y) for key in keys}


@pytest.mark.parametrize("keys", [[0.0, 1.0], [np.float64(0), np.float64(1)], [(0,), (1,)], ["0", "1"]], ids=str)
def test_keys_that_are_written_otherwise_find_their_rows(held, keys):
    frame = held(pa.table({"s": SCORES[:4], "k": [0, 1, 1, 0], "id": np.arange(4)}))
    assert not np.isnan(column(rows_of(apply(frame, by_segment(keys), "s", by="k")), "probability")).any()


def test_segments_by_several_columns(held):
    """Keys may be text, integers or bools; a row in which one is missing has no segment."""
    keys = [("a", 1, True), ("a", 2, True), ("b", 1, False)]
    maps = {key: constant_map(float(i)) for i, key in enumerate(keys)}
    c, k, b = ["a", "a", "b", "b", "a", None], [1, 2, 1, 2, 1, 1], [True, True, False, False, False, True]
    frame = held(pa.table({"s": np.zeros(6), "c": c, "k": pa.array(k, pa.int32()), "b": b, "id": np.arange(6)}))
    with warned_of_segments(frame, r"columns 'c' and 'k' and 'b' get a missing probability: 3 of .*6 rows"):
        result = apply(frame, maps, "s", by=["c", "k", "b"])
    rows = rows_of(result)
    assert rows.columns == ["s", "c", "k", "b", "id", "probability"]
    expected = [*(1 / (1 + np.exp(-np.arange(3.0)))), np.nan, np.nan, np.nan]
    np.testing.assert_allclose(column(rows, "probability"), expected, rtol=0, atol=1e-12)


def test_maps_that_no_row_finds_are_refused(held, model):
    frame = held(pa.table({"s": SCORES[:4], "k": ["a", "b", "b", None], "id": np.arange(4)}))
    if type(frame).__name__ != "DuckDBPyRelation":
        others = r"got 4 of .*\('a', 'b', a missing key; .* 'A', 'B'\)"
        with pytest.raises(InvalidInputError, match=f"column 'k' must have maps; {others}"):
            apply(frame, by_segment(["A", "B"]), "s", by="k")
    with pytest.raises(InvalidInputError, match=r"as long as by, 1; got the key \('a', 1\)"):
        apply(frame, by_segment([("a", 1)]), "s", by="k")
    with pytest.raises(InvalidInputError, match=r"must be text, integers or bools; got 0\.5"):
        apply(frame, by_segment([0.5]), "s", by="k")
    with warned_of_segments(frame, "get the map of all rows: 4 of"):
        rows = rows_of(model.apply(frame, scores="s", by="k"))
    np.testing.assert_allclose(column(rows, "probability"), model.map.probability(SCORES[:4]), rtol=0, atol=1e-12)


def test_categories_of_bools_and_partitions_of_floats(dask_client):
    pandas, dask = needs("pandas"), needs("dask.dataframe")
    frame = pandas.DataFrame({"s": SCORES, "y": Y, "k": np.arange(N) % 2, "b": np.arange(N) % 2 == 1})
    frame["b"] = frame["b"].astype("category")
    tables = ScoreTable.from_frame(frame, "s", "y", by="b")
    assert list(tables) == [False, True]
    fits = {key: PlattCalibrator().fit_table(table) for key, table in tables.items()}
    expected = np.where(np.arange(N) % 2, *(fits[key].predict_proba(SCORES)[:, 1] for key in (True, False)))
    parts = [frame[:100], frame[100:].assign(k=frame["k"][100:].astype(float))]
    mixed = dask.from_map(lambda part: part, parts, meta=parts[0], enforce_metadata=False)
    numbers = {int(key): fitted for key, fitted in fits.items()}
    for found in (
        apply(frame, fits, "s", by="b"),
        apply(dask.from_pandas(frame, npartitions=2), fits, "s", by="b").compute(),
        apply(mixed, numbers, "s", by="k").compute(),
    ):
        np.testing.assert_allclose(found["probability"], expected, rtol=0, atol=1e-12)


def test_a_frame_that_has_a_column_of_probabilities(held, maps):
    rows = rows_of(apply(held(pa.table({"s": [0.1], "probability": [0.5], "id": [0]})), maps["line"], "s"))
    assert rows.columns == ["s", "probability", "id", "calibrated_probability"]


def test_names_that_are_no_text_or_repeated(maps):
    pandas = needs("pandas")
    with pytest.raises(InvalidInputError, match=r"names of columns must be text; got 0\. Hint: frame\.columns"):
        apply(pandas.DataFrame([[0.1, 0.2]]), maps["line"], "0")
    with pytest.raises(InvalidInputError, match=r"names of columns must differ; got .*'s'"):
        apply(pandas.DataFrame([[0.1, 0.2]], columns=["s", "s"]), maps["line"], "s")


def test_streams_of_arrow_are_read_and_datasets_are_named(maps):
    table = pa.table({"s": SCORES, "y": Y})
    assert ScoreTable.from_frame(table.to_reader(), "s", "y") == ScoreTable.from_arrays(SCORES, Y)
    result = apply(table.to_reader(), maps["line"], "s")
    np.testing.assert_array_equal(result["probability"], maps["line"].probability(SCORES))
    dataset = needs("pyarrow.dataset").dataset(table)
    with pytest.raises(InvalidInputError, match=r"got pyarrow\._dataset\.\w+\. Hint: .*duckdb\.from_arrow"):
        apply(dataset, maps["line"], "s")


def test_duckdb_compares_segments_where_rows_can_be_read_twice(duck):
    relation = duck.sql("SELECT 0.5 AS s, k FROM range(3) t(k)")
    with pytest.raises(InvalidInputError, match="got 3 of the first 3 rows in others"):
        apply(relation, by_segment(["a"]), "s", by="k")
    once = duck.from_arrow(pa.table({"s": SCORES, "k": np.arange(N)}).to_reader())
    assert len(apply(once, by_segment(range(N)), "s", by="k").fetchall()) == N


def test_a_backend_of_ibis_that_cannot_apply_a_map_is_refused_at_once(tmp_path, maps):
    ibis = needs("ibis")
    with contextlib.closing(sqlite3.connect(tmp_path / "rows.db")) as connection:
        connection.execute("CREATE TABLE rows (s DOUBLE)")
    backend = ibis.sqlite.connect(tmp_path / "rows.db")
    with pytest.raises(InvalidInputError, match=r"the backend sqlite must be able .* Hint: export the model to SQL"):
        apply(backend.table("rows"), maps["line"], "s")
    backend.disconnect()


def test_vectors_of_spark_ml(spark, maps):
    vectors, functions = needs("pyspark.ml.linalg").Vectors, needs("pyspark.ml.functions")
    rows = [(i, vectors.dense([-s, s])) for i, s in enumerate(SCORES[:3].tolist())]
    frame = spark.createDataFrame(rows, ["id", "probability"])
    with pytest.raises(InvalidInputError, match=r"'probability' must be numeric; .*vector_to_array\(column\)\[1\]"):
        apply(frame, maps["line"], "probability")
    scored = frame.withColumn("s", functions.vector_to_array("probability")[1])
    found = apply(scored, maps["line"], "s").sort("id").toPandas()["calibrated_probability"]
    np.testing.assert_allclose(found, maps["line"].probability(SCORES[:3]), rtol=0, atol=1e-12)


def test_repeated_names_in_spark(spark, maps):
    frame = spark.createDataFrame([(0.1, 0.2)], ["s", "t"]).toDF("s", "s")
    with pytest.raises(InvalidInputError, match="names of columns must differ"):
        apply(frame, maps["line"], "s")
