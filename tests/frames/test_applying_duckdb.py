"""DuckDB's form of a map: the same probabilities wherever knots lie, rows in their order, nothing run too early."""

import re

import numpy as np
import pytest

from oddsmith import AutoCalibrator, PiecewiseLogisticCalibrator, SplineCalibrator
from oddsmith.errors import InvalidInputError
from oddsmith.formula import SCORE, Pieces, absolute, clip, evaluate, log, sigmoid, walk
from oddsmith.frames import duckdb_expressions
from oddsmith.frames.applying import apply
from oddsmith.frames.hinges import as_hinges
from oddsmith.frames.searching import plan_search
from oddsmith.maps import LinearMap, ScalingMap, ScalingPart, StepMap
from optional import needs
from samples import ours_allowed

pa = needs("pyarrow")
LARGEST = float(np.finfo(float).max)


def knots_of_kind(kind):
    rng = np.random.default_rng(5)
    return np.unique(
        {
            "even": lambda: np.linspace(-3, 3, 1000),
            "normal": lambda: rng.normal(size=1000),
            "pairs": lambda: np.sort(rng.normal(size=500))[:, None] + [0.0, 1e-9],
            "heavy tails": lambda: rng.standard_cauchy(1000) ** 3,
            "clusters": lambda: np.concatenate([rng.normal(size=500), 1e8 + 1e-6 * rng.normal(size=500)]),
            "neighbors": lambda: np.nextafter(1.0, 2.0) + np.spacing(1.0) * np.arange(60),
            "tiny": lambda: 5e-324 * np.arange(-40, 40),
            "huge": lambda: np.linspace(-0.4, 0.4, 50) * LARGEST,
            "few": lambda: np.linspace(0, 1, 25),
        }[kind]()
    )


KINDS = ["even", "normal", "pairs", "heavy tails", "clusters", "neighbors", "tiny", "huge", "few"]


def probes(knots):
    inside = np.random.default_rng(6).uniform(max(knots[0], -1e300), min(knots[-1], 1e300), 2000)
    extremes = [0.0, -0.0, 5e-324, -5e-324, 1e-300, 1.0, 1e15, -1e15, 1e300, -1e300, LARGEST, -LARGEST]
    near = [knots, np.nextafter(knots, -LARGEST), np.nextafter(knots, LARGEST)]
    return np.concatenate([inside, extremes, *near])


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_passes_all_knots_below(kind):
    knots = knots_of_kind(kind)
    scores = probes(knots)
    search = plan_search(knots)
    scores = scores[(scores >= search.low) & (scores <= search.high)]
    place = np.zeros(len(scores), int)
    if len(search.before):
        place = search.before[np.floor((scores - search.low) * search.per_cell).astype(int)]
    for step in search.steps:
        place = np.where(scores > search.padded_knots[place + step - 1], place + step, place)
    np.testing.assert_array_equal(place, np.searchsorted(knots, scores))


def test_a_guide_saves_comparisons():
    assert len(plan_search(knots_of_kind("normal")).steps) <= 3
    assert len(plan_search(knots_of_kind("pairs")).steps) <= 3
    assert len(plan_search(knots_of_kind("heavy tails")).steps) <= 10


@pytest.mark.parametrize("rides_along", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_many_knots(duck, monkeypatch, kind, rides_along):
    monkeypatch.setattr(duckdb_expressions, "_SMALL", 0 if rides_along else 10**9)
    knots = knots_of_kind(kind)
    rng = np.random.default_rng(7)
    at, between = rng.random(len(knots)), rng.random(len(knots) + 1)
    scores = probes(knots)
    relation = duck.from_arrow(pa.table({"s": scores}))
    for one in (StepMap(knots, at, between), StepMap(knots, between[1:], between), LinearMap(knots, np.sort(at))):
        result = apply(relation, one, "s")
        assert ("CROSS" in result.explain().upper()) == rides_along
        np.testing.assert_allclose(
            result.fetchnumpy()["probability"], one.probability(scores), rtol=0, atol=1e-12, err_msg=kind
        )


def test_pieces_of_cubics_share_their_search(duck):
    rng = np.random.default_rng(8)
    s = rng.normal(size=2000)
    with ours_allowed():
        one = SplineCalibrator().fit(s, (rng.random(2000) < 1 / (1 + np.exp(-np.sin(3 * s) - s))).astype(int)).map_
    assert len(one.knots) >= 8
    result = apply(duck.from_arrow(pa.table({"s": s})), one, "s")
    np.testing.assert_allclose(result.fetchnumpy()["probability"], one.probability(s), rtol=0, atol=1e-12)
    assert result.sql_query().count("_before") <= 2


def test_broken_lines_become_hinges(duck):
    rng = np.random.default_rng(9)
    s = 50 + 30 * rng.normal(size=500)
    y = (rng.random(500) < 1 / (1 + np.exp((50 - s) / 20))).astype(int)
    one = PiecewiseLogisticCalibrator(knots=[20.0, 80.0]).fit(s, y).map_
    sql = apply(duck.from_arrow(pa.table({"s": s})), one, "s").sql_query()
    assert "abs(" in sql.lower()
    scores = np.concatenate([probes(one.knots), s, np.linspace(-1e4, 1e4, 999)])
    result = apply(duck.from_arrow(pa.table({"s": scores})), one, "s")
    np.testing.assert_allclose(result.fetchnumpy()["probability"], one.probability(scores), rtol=0, atol=1e-12)


def test_hinges_only_where_they_are_exact():
    knots = np.array([0.0, 1.0])
    meet = Pieces(knots, SCORE * np.array([1.0, 2.0, 0.5]) + np.array([0.0, 0.0, 1.5]))
    hinges = as_hinges(meet)
    scores = np.linspace(hinges.center - hinges.reach, hinges.center + hinges.reach, 999)
    np.testing.assert_allclose(evaluate(hinges.formula, scores), evaluate(meet, scores), rtol=0, atol=1e-12)
    jump = Pieces(knots, SCORE * np.array([1.0, 2.0, 0.5]) + np.array([0.0, 0.0, 1.6]))
    curve = Pieces(knots, SCORE * SCORE * np.array([1.0, 2.0, 0.5]))
    steep = Pieces(knots, SCORE * np.array([0.0, 1e6, 0.0]) + np.array([0.0, 0.0, 1e6]))
    many = LinearMap(np.linspace(0, 1, 50), np.linspace(0, 1, 50) ** 2).probability_formula()
    assert [as_hinges(other) for other in (jump, curve, steep, many)] == [None] * 4


def soft(x):
    """Return the softened log-odds of a formula."""
    return log((sigmoid(x) + 1e-4) / (sigmoid(-x) + 1e-4))


def test_hinges_of_a_logarithm_that_rises():
    at = np.array([-1.0, 2.0])
    slopes, odds = np.array([1.0, 2.0, 0.5]), evaluate(soft(SCORE), at)
    levels = np.cumsum(np.append(0.0, -np.diff(slopes) * odds))
    rising = soft(clip(SCORE, -750.0, 750.0))
    line = Pieces(at, rising * slopes + levels)
    hinges = as_hinges(line)
    scores = np.concatenate([probes(at), np.linspace(-30, 30, 999)])
    found = evaluate(hinges.formula, evaluate(hinges.of, scores))
    np.testing.assert_allclose(found, evaluate(line, scores), rtol=0, atol=1e-12)
    # Lines that meet at both knots, of a logarithm that falls, or that has one value at several scores.
    for other in (soft(-SCORE), log(1.0 + absolute(SCORE)), log(1.0 + SCORE * SCORE)):
        levels = np.cumsum(np.append(0.0, -np.diff(slopes) * evaluate(other, at)))
        assert as_hinges(Pieces(at, other * slopes + levels)) is None
    assert as_hinges(Pieces(at, rising * slopes + SCORE + levels)) is None


@pytest.mark.parametrize("kind", ["log_odds", "probability", "score"])
def test_the_default_takes_each_logarithm_once(duck, kind):
    rng = np.random.default_rng(10)
    odds = 1.5 * rng.normal(size=4000)
    s = odds if kind == "log_odds" else 1 / (1 + np.exp(-odds))
    y = (rng.random(4000) < 1 / (1 + np.exp(0.5 - 3 * np.tanh(odds)))).astype(int)
    one = AutoCalibrator(input=kind).fit(s, y).map_
    knots = [node.knots for node in walk(one.probability_formula()) if isinstance(node, Pieces)]
    scores = np.concatenate([s, *(probes(each) for each in knots), [-np.inf, np.inf, -1.0, 0.0, 1.0, 1.5, np.nan]])
    relation = duck.from_arrow(pa.table({"s": pa.array([*scores, None], pa.float64())}))
    result = apply(relation, one, "s")
    written = result.sql_query()
    assert written.count("LN(") == len(set(re.findall(r"LN\(.*? AS \"\w+_log\d+\"", written))) <= 4
    found = result.fetchnumpy()["probability"]
    taken = ~np.isnan(evaluate(one.probability_formula(), np.clip(scores, -LARGEST, LARGEST)))
    assert np.ma.getmaskarray(found).tolist() == [*~taken, True]
    expected = one.probability(scores[taken])
    np.testing.assert_allclose(np.ma.getdata(found)[:-1][taken], expected, rtol=0, atol=1e-12)


def test_text_in_a_query_is_not_read_as_a_part_of_its_plan(duck):
    rows = duck.sql("SELECT 0.5 AS s, i AS k, 'a' AS t FROM range(3) r(i)")
    one = StepMap(np.arange(1.0, 1000.0), np.arange(1, 1000) / 1000, np.arange(1000) / 1000)
    assert "CROSS" not in apply(rows.project("*, t || '~99999999 rows'"), one, "s").explain().upper()
    with pytest.raises(InvalidInputError, match="got 3 of the first 3 rows in others"):
        apply(rows.filter("t || k <> 'ARROW_SCAN'"), {"a": one}, "s", by="k")


def test_rows_keep_their_order(tmp_path):
    n, file = 400_000, str(tmp_path / "rows.parquet")
    one = StepMap(np.arange(1.0, 1000.0), np.arange(1, 1000) / 1000, np.arange(1000) / 1000)
    ramps = {key: LinearMap(np.array([0.0, 1000.0]), np.array([0.0, key / 1000])) for key in range(1000)}
    models = {None: one, "k": ramps}
    stream = pa.table({"i": np.arange(n), "s": np.zeros(n), "k": np.arange(n) % 1000})
    with needs("duckdb").connect(config={"threads": 4}) as connection:
        rows = f"SELECT i, (hash(i) % 1000)::DOUBLE AS s, hash(i) % 1000 AS k FROM range({n}) t(i)"
        connection.execute(f"COPY ({rows}) TO '{file}' (ROW_GROUP_SIZE 20000)")
        for by, model in models.items():
            for relation in (
                connection.read_parquet(file),
                connection.read_parquet(file).filter("s < 990"),
                connection.from_arrow(stream.to_reader(max_chunksize=5000)),  # whose size DuckDB cannot guess
            ):
                numbers = apply(relation, model, "s", by=by).fetchnumpy()["i"]
                assert np.all(np.diff(numbers.astype(np.int64)) > 0)


def test_nothing_is_run_before_it_is_asked(duck):
    relation = duck.sql("SELECT CASE WHEN i >= 0 THEN error('run too early') END::DOUBLE AS s FROM range(9) t(i)")
    knots = np.arange(100.0)
    result = apply(relation, StepMap(knots, knots / 100, np.append(knots, 99) / 100), "s")
    with pytest.raises(Exception, match="run too early"):
        result.fetchall()


def blend_of_ten(shift=0.0):
    """Return a blend of all that AutoScaling blends, of ten classes, and rows from tiny to beyond all bounds."""
    rng = np.random.default_rng(9)
    k = 10
    matrix, level = np.eye(k) + rng.normal(size=(k, k)) / 10, rng.normal(size=k) / 10
    floored = "floored_log_probabilities"
    parts = (
        ScalingPart("base rates", floored, 0.0, np.array(0.0), level),
        ScalingPart("temperature", floored, 0.0, np.array(0.6), np.zeros(k)),
        ScalingPart("vector", floored, 0.0, 0.6 + level, level),
        ScalingPart("matrix", floored, 0.0, matrix, level),
        ScalingPart("matrix, softened", floored, 1e-3, matrix / 2, -level),
    )
    blend = ScalingMap(k, "logits", parts, np.array([0.1, 0.2, 0.3, 0.3, 0.1]), shift * level)
    sizes = np.repeat([1e-3, 1.0, 8.0, 40.0, 1e3, 1e5], 60)
    rows = sizes[:, None] * rng.normal(size=(len(sizes), k))
    extremes = rng.choice([-np.inf, -1e300, -1e4, 0.0, 1e4, 1e300, np.inf], (60, k))
    return blend, np.concatenate([rows, extremes, 49.9 * np.sign(rng.normal(size=(60, k)))])


@pytest.mark.parametrize("shift", [0.0, 1.0, 1e4])
def test_a_blend_of_ten_classes_is_that_of_numpy(shift):
    duckdb = needs("duckdb")
    blend, rows = blend_of_ten(shift)
    expected = np.exp(blend.class_log_probability(rows))
    np.testing.assert_allclose(blend.class_probability(rows), expected, atol=1e-12, rtol=0)
    rows[::7, 3], rows[1::7, 4], expected[::7], expected[1::7] = np.nan, np.nan, np.nan, np.nan
    columns = {f"x{i}": pa.array(rows[:, i], mask=np.isnan(rows[:, i]) & (i == 3)) for i in range(10)}
    with duckdb.connect() as connection:
        held = connection.from_arrow(pa.table(columns))
        found = apply(held, blend, list(columns)).fetchnumpy()
    got = np.column_stack([np.ma.filled(found[f"probability_{i}"], np.nan) for i in range(10)])
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=0)
    decided, known = np.ma.getdata(found["decision"]), ~np.isnan(expected[:, 0])
    assert np.ma.getmaskarray(found["decision"]).tolist() == (~known).tolist()
    chosen = np.take_along_axis(expected[known], decided[known].astype(int)[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(chosen, expected[known].max(axis=1), atol=1e-12)


def test_slopes_that_overflow_for_small_scores_leave_no_row_plain():
    steep = ScalingPart("temperature", "log_probabilities", 0.0, np.array(1e4), np.zeros(3))
    flat = steep._replace(coef=np.array(0.5))
    blend = ScalingMap(3, "logits", (steep, flat), np.array([0.5, 0.5]), np.zeros(3))
    rows = np.array([[0.1, 0.0, -0.2], [40.0, 39.0, -40.0], [0.0, 0.0, 0.0]])
    duckdb = needs("duckdb")
    with duckdb.connect() as connection:
        held = connection.from_arrow(pa.table({name: rows[:, i] for i, name in enumerate("abc")}))
        found = apply(held, blend, ["a", "b", "c"]).fetchnumpy()
    got = np.column_stack([found[f"probability_{i}"] for i in range(3)])
    np.testing.assert_allclose(got, np.exp(blend.class_log_probability(rows)), atol=1e-12)
