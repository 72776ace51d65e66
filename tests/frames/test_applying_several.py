"""Every engine gives the probabilities and decisions of NumPy for several classes, and the same kind of frame back."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import narwhals.stable.v2 as nw
import numpy as np
import pytest

from oddsmith import AutoScaling, IsotonicCalibrator, MatrixScaling, PlattCalibrator, TemperatureScaling, VectorScaling
from oddsmith.errors import InvalidInputError
from oddsmith.export.verification import probe_rows
from oddsmith.frames import apply
from oddsmith.model import Model
from optional import needs
from samples import ours_allowed

pa = needs("pyarrow")

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
]

RNG = np.random.default_rng(5)
LOGITS = 2 * RNG.normal(size=(300, 3))
POWERS = np.exp(LOGITS)
PROBS = POWERS / POWERS.sum(axis=1, keepdims=True)
FAR_LOGITS = LOGITS * np.where(np.arange(300) % 5 > 0, 1.0, 1e6)[:, None]
Y = (PROBS.cumsum(axis=1) > RNG.random((300, 1))).argmax(axis=1)
LABELS = np.array(['c"o`w', "cat", "it's \\ a dog"])  # sorted, as classes are
COLUMNS = ["x", "y z", "Z"]


@pytest.fixture(scope="module")
def models():
    """One of each shape: a number, a blend of all, steps of a score and of log-odds, and maps that refuse scores."""
    with ours_allowed():
        steps = [IsotonicCalibrator(between="step").fit(LOGITS[:, i], Y == i) for i in range(3)]
        lines = [PlattCalibrator(input="probability").fit(PROBS[:, i], Y == i) for i in range(2)]
        return {
            "temperature": Model.from_fitted(TemperatureScaling().fit(LOGITS, LABELS[Y])),
            "vector": Model.from_fitted(VectorScaling().fit(PROBS, LABELS[Y])),
            "auto": Model.from_fitted(AutoScaling().fit(LOGITS, LABELS[Y])),
            "clipped": Model.from_fitted(MatrixScaling().fit(FAR_LOGITS, LABELS[Y])),
            "steps": Model.from_one_vs_rest(steps, LABELS),
            "log-odds": Model.from_one_vs_rest(steps, LABELS, against_rest=True),
            "refused": Model.from_one_vs_rest([*lines, None], LABELS, input="probabilities"),
        }


def test_ibis_takes_backends_whose_statements_are_tested(models):
    needs("polars")
    table = needs("ibis").polars.connect({"rows": needs("polars").from_arrow(table_of(LOGITS))}).table("rows")
    with pytest.raises(InvalidInputError, match="of DuckDB, PostgreSQL or SQLite; got a table of polars"):
        apply(table, models["temperature"], COLUMNS)


def test_frames_of_ibis_are_applied_to_again_and_joined(models):
    table = needs("ibis").memtable(table_of(LOGITS))
    first = apply(table, models["temperature"], COLUMNS).rename(earlier="decision")
    second = apply(first, models["vector"], first.columns[-4:-1], name="second")
    other = apply(table.select("id", *COLUMNS), models["auto"], COLUMNS, name="other").select("id", "other_cat")
    found = collected(second.join(other, "id"))
    probs = models["temperature"].map.class_probability(LOGITS)
    np.testing.assert_allclose(found["second_cat"], models["vector"].map.class_probability(probs)[:, 1], atol=1e-12)
    np.testing.assert_allclose(found["other_cat"], models["auto"].map.class_probability(LOGITS)[:, 1], atol=1e-12)


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")
@pytest.mark.parametrize("numbers", [False, True])
def test_bools_name_segments(duck, models, tmp_path, numbers):
    """SQLite keeps them as numbers."""
    flags = [place % 3 == 0 for place in range(len(LOGITS))]
    model = models["temperature"].with_segments("flag", {True: models["vector"]})
    own = models["vector"].map.class_probability(PROBS), models["temperature"].map.class_probability(PROBS)
    frame = duck.from_arrow(table_of(PROBS).append_column("flag", pa.array(flags)))
    if numbers:
        with closing(sqlite3.connect(tmp_path / "rows.db")) as connection, connection:
            connection.execute('CREATE TABLE rows (id INTEGER, x REAL, "y z" REAL, "Z" REAL, flag BOOLEAN)')
            cases = [(place, *row, flag) for place, (row, flag) in enumerate(zip(PROBS.tolist(), flags, strict=True))]
            connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", cases)
        frame = needs("ibis").sqlite.connect(tmp_path / "rows.db").table("rows")
    found = collected(apply(frame, model, COLUMNS))
    got = np.column_stack([found[f"probability_{label}"].to_numpy() for label in LABELS])
    np.testing.assert_allclose(got, np.where(np.array(flags)[:, None], *own), atol=1e-12)
    assert found.columns[-5:] == ["flag", *(f"probability_{label}" for label in LABELS), "decision"]


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")
@pytest.mark.parametrize("by", [False, True])
def test_ibis_on_sqlite(models, tmp_path, by):
    rows = np.concatenate([probe_rows(models["auto"].map), [[np.inf, 0.0, -np.inf]]])
    keys = [["north", "it's", None][place % 3] for place in range(len(rows))]
    values = [[None if np.isnan(value) else value for value in row] for row in rows.tolist()]
    with closing(sqlite3.connect(tmp_path / "rows.db")) as connection, connection:
        connection.execute('CREATE TABLE "the rows" (id INTEGER, x REAL, "y z" REAL, "Z" REAL, region TEXT)')
        cases = [(place, *row, key) for place, (row, key) in enumerate(zip(values, keys, strict=True))]
        connection.executemany('INSERT INTO "the rows" VALUES (?, ?, ?, ?, ?)', cases)
    backend = needs("ibis").sqlite.connect(tmp_path / "rows.db")
    table = backend.table("the rows")
    model = models["auto"]
    if by:
        model = models["temperature"].with_segments("region", {"north": model, "it's": models["clipped"]})
    # What was computed from a table has no row numbers of its own.
    for given in (table, table.filter(table.id % 2 == 0)):
        found = apply(given, model, COLUMNS).to_pyarrow().sort_by("id")
        at = found["id"].to_numpy()
        own = [model.of_segment(keys[place]).map if by else model.map for place in at]
        expected = np.concatenate([one.class_probability(rows[[place]]) for one, place in zip(own, at, strict=True)])
        got = np.array([found[f"probability_{label}"].to_numpy() for label in LABELS]).T
        np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)
        assert found.column_names == [*table.columns, *(f"probability_{label}" for label in LABELS), "decision"]
        assert [one is None for one in found["decision"].to_pylist()] == np.isnan(expected).any(axis=1).tolist()
    with pytest.raises(InvalidInputError, match="must not have a column of this name; got _rowid_"):
        apply(table.mutate(_ROWID_=1), model, COLUMNS)


def table_of(rows):
    """Return rows as an Arrow table; every other missing value is null, the rest is NaN."""
    places = np.arange(len(rows))
    columns = {
        name: pa.array(rows[:, i], mask=np.isnan(rows[:, i]) & (places % 2 == 0)) for i, name in enumerate(COLUMNS)
    }
    return pa.table({"id": places, **columns, "note": ["kept"] * len(rows)})


def collected(result):
    frame = nw.from_native(result)
    return (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).sort("id")


def values_of(frame, name):
    return [None if value is None or value != value else value for value in frame[name].to_list()]


def test_same_as_numpy(held, engine, models):
    slow = {"pyspark": 2, "ibis-postgres": 2}.get(engine, 1)
    for name, model in models.items():
        rows = probe_rows(model.map)
        rows = np.concatenate([rows, [[np.inf, 0.0, -np.inf]] if model.map.input == "logits" else [[1.0, 0.0, 0.0]]])
        rows = rows[::slow]
        expected = model.map.class_probability(rows)
        missing = np.isnan(expected).any(axis=1)
        assert 0 < missing.sum() < len(rows)
        frame = held(table_of(rows))
        result = apply(frame, model, COLUMNS, name="p ")
        assert type(result) is type(frame)
        found = collected(result)
        assert found.columns == ["id", *COLUMNS, "note", *(f"p _{label}" for label in LABELS), "decision"]
        got = np.array([values_of(found, f"p _{label}") for label in LABELS], dtype=np.float64).T
        np.testing.assert_array_equal(np.isnan(got), np.isnan(expected), err_msg=name)
        np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0, err_msg=name)
        decisions = values_of(found, "decision")
        assert [decision is None for decision in decisions] == missing.tolist(), name
        best = np.nan_to_num(expected)
        chosen = [0 if decision is None else LABELS.tolist().index(decision) for decision in decisions]
        # Where two are equal up to rounding, either may be the larger.
        np.testing.assert_allclose(best[np.arange(len(rows)), chosen], best.max(axis=1), atol=1e-12, err_msg=name)


@pytest.mark.parametrize("keys", [("place it",), ("place it", "day")])
def test_segments_have_their_own_maps(held, engine, models, keys):
    """Maps of several shapes; a segment that the model does not know, and a missing key, get the map of all rows."""
    rows = probe_rows(models["temperature"].map)[:: 3 if engine == "pyspark" else 1]
    n = len(rows)
    names = [["north", 'so"uth', "it's", "new", None][i % 5] for i in range(n)]
    days = [i // 5 % 2 for i in range(n)]
    table = table_of(rows).append_column("place it", pa.array(names)).append_column("day", pa.array(days))
    parts = [models[name] for name in ("temperature", "auto", "clipped")]
    segments = dict(zip(["north", 'so"uth', "it's"], parts, strict=True))
    if len(keys) > 1:
        segments = {(name, str(day)): part for name, part in segments.items() for day in (0, 1)}
    model = models["steps"].with_segments(keys[0] if len(keys) == 1 else keys, segments)
    given = names if len(keys) == 1 else [(name, str(day)) for name, day in zip(names, days, strict=True)]
    own = [model.of_segment(one).map for one in given]
    expected = np.concatenate([fitted.class_probability(row[None]) for fitted, row in zip(own, rows, strict=True)])
    missing = np.isnan(expected).any(axis=1)
    frame = held(table)
    result = apply(frame, model, COLUMNS)
    assert type(result) is type(frame)
    found = collected(result)
    assert found.columns[: len(table.column_names)] == table.column_names
    got = np.array([values_of(found, f"probability_{label}") for label in LABELS], dtype=np.float64).T
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)
    assert [one is None for one in values_of(found, "decision")] == missing.tolist()


def test_spark_computes_many_classes_by_arrays(held, engine, models, monkeypatch):
    """A column per component takes minutes to plan for a hundred classes; three show the same."""
    if engine != "pyspark":
        pytest.skip("only Spark has another way for many classes")
    monkeypatch.setattr("oddsmith.frames.engines.spark._FEW_CLASSES", 0)
    test_same_as_numpy(held, engine, models)


def test_frames_in_memory_say_what_predict_says(models):
    for model in models.values():
        if model.map.input == "logits":
            found = apply(table_of(LOGITS), model, COLUMNS)
            for place, label in enumerate(LABELS):
                expected = model.predict_proba(LOGITS)[:, place]
                np.testing.assert_array_equal(found[f"probability_{label}"].to_numpy(), expected)
            assert found["decision"].to_pylist() == model.predict(LOGITS).tolist()


def test_ties_go_to_the_first_class(held, models):
    rows = np.array([[1.0, 1.0, 1.0], [0.0, 2.0, 2.0], [1e300, -1e300, 1e300]])
    found = collected(apply(held(table_of(rows)), models["temperature"], COLUMNS))
    assert found["decision"].to_list() == [LABELS[0], LABELS[1], LABELS[0]]


@pytest.mark.parametrize(
    ("labels", "kind"), [((3, 1, 2), int), ((0.5, 1.5, 2.5), float), ((1, 2.5, 3), float), ((1, "b", True), str)]
)
def test_decisions_are_labels_of_one_kind(held, models, labels, kind):
    model = replace(models["temperature"], labels=labels)
    found = collected(apply(held(table_of(LOGITS[:20])), model, COLUMNS))["decision"].to_list()
    best = model.map.class_probability(LOGITS[:20]).argmax(axis=1)
    assert [kind(value) for value in found] == [kind(labels[i]) for i in best]
    assert not isinstance(found[0], str) or kind is str


def test_truth_values(held, models):
    with ours_allowed():
        model = Model.from_fitted(TemperatureScaling().fit(LOGITS[:, :2], Y > 0))
    found = collected(apply(held(table_of(LOGITS)), model, COLUMNS[:2]))
    assert [bool(value) for value in found["decision"].to_list()] == (LOGITS[:, 1] > LOGITS[:, 0]).tolist()
    assert found.columns[-3:] == ["probability_False", "probability_True", "decision"]


def test_one_column_of_two_classes(held):
    with ours_allowed():
        model = Model.from_fitted(TemperatureScaling().fit(LOGITS[:, :1], Y > 0))
    found = collected(apply(held(table_of(LOGITS)), model, COLUMNS[:1]))
    np.testing.assert_allclose(found["probability_True"].to_list(), model.predict_proba(LOGITS[:, 0])[:, 1], atol=1e-12)


def test_columns_of_the_fit_and_the_method_of_a_model(held, models):
    model = replace(models["temperature"], column_names=tuple(COLUMNS))
    given, asked = (collected(result) for result in (apply(held(table_of(LOGITS)), model),
                                                     model.apply(held(table_of(LOGITS)))))  # fmt: skip
    assert given["decision"].to_list() == asked["decision"].to_list()
    with pytest.raises(InvalidInputError, match="scores must name the columns of the classes"):
        models["temperature"].apply(held(table_of(LOGITS)))


@pytest.mark.parametrize(
    ("labels", "name", "message"),
    [
        ((1, "1", 2), "p", "'p_1' for label '1' and label 1"),
        (("", "b", "c"), "p", "labels must not be empty"),
    ],
)
def test_names_that_collide_are_refused(held, models, labels, name, message):
    with pytest.raises(InvalidInputError, match=message):
        apply(held(table_of(LOGITS)), replace(models["temperature"], labels=labels), COLUMNS, name)


def test_a_decision_that_is_there_is_refused(held, models):
    frame = held(table_of(LOGITS).append_column("decision", pa.array(["no"] * len(LOGITS))))
    with pytest.raises(InvalidInputError, match="'decision' for the decision and column 'decision'"):
        apply(frame, models["temperature"], COLUMNS)


def test_what_is_no_joint_model_or_no_column_is_refused(held, models):
    frame = held(table_of(LOGITS))
    with pytest.raises(InvalidInputError, match="scores must be one column for a model of one score; got 3 names"):
        apply(frame, PlattCalibrator().fit(LOGITS[:, 0], Y == 0), COLUMNS)
    with pytest.raises(InvalidInputError, match="columns must be 3 names; got columns='x'"):
        apply(frame, models["temperature"], "x")
    with pytest.raises(InvalidInputError, match="frame must have the columns that are named; got 'nowhere'"):
        apply(frame, models["temperature"], ["x", "nowhere", "Z"])
    with pytest.raises(InvalidInputError, match="column 'note' must be numeric"):
        apply(frame, models["temperature"], ["x", "note", "Z"])


def test_whole_numbers_and_float32(held, models):
    rows = np.array([[1, 2, 3], [4, -5, 6]])
    columns = [pa.array(rows[:, 0]), pa.array(rows[:, 1], pa.int8()), pa.array(rows[:, 2], pa.float32())]
    frame = held(pa.table({"id": [0, 1], **dict(zip(COLUMNS, columns, strict=True))}))
    found = collected(apply(frame, models["temperature"], COLUMNS))
    got = np.column_stack([found[f"probability_{label}"].to_numpy() for label in LABELS])
    np.testing.assert_allclose(got, models["temperature"].map.class_probability(rows), atol=1e-12)


def test_no_rows(held, models, engine):
    if engine in ("dask", "pyspark", "ibis-duckdb", "ibis-postgres"):
        pytest.skip("an empty table cannot be put in there from Arrow alone")
    found = collected(apply(held(table_of(np.empty((0, 3)))), models["auto"], COLUMNS))
    assert len(found) == 0
    assert found.columns[-1] == "decision"


def test_duckdb_keeps_the_order_of_rows(duck, models):
    rows = duck.sql("SELECT i AS id, sin(i) * 3 AS x, cos(i) * 3 AS y, sin(i * i) AS z FROM range(300000) t(i)")
    for name in ("temperature", "steps"):
        found = apply(rows, models[name], ["x", "y", "z"]).fetchnumpy()["id"]
        np.testing.assert_array_equal(found, np.arange(300_000))


def test_lazy_frames_stay_lazy(models):
    polars = needs("polars")
    frame = polars.LazyFrame({"x": [1.0], "y": ["no number"], "z": [0.0]})
    with pytest.raises(InvalidInputError, match="column 'y' must be numeric"):
        apply(frame, models["temperature"], ["x", "y", "z"])
    later = frame.with_columns(polars.col("y").cast(polars.Float64))
    planned = apply(later, models["temperature"], ["x", "y", "z"])  # nothing was cast yet
    with pytest.raises(polars.exceptions.InvalidOperationError):
        planned.collect()


def test_plans_ask_once_of_each_score_whether_it_is_missing(models):
    """Within the column of each class the question would make plans grow with the square of the classes."""
    frame = needs("polars").from_arrow(table_of(LOGITS)).lazy()
    planned = apply(frame, models["temperature"], COLUMNS).explain(optimized=False)
    assert planned.count("nan()") == len(COLUMNS)
