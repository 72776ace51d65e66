"""Scale: tables, fits and maps over Parquet files, against the engine's own scan and against scikit-learn.

``python -m benchmarks.scale [rows ...]`` takes other sizes, for example 1e8, which wants 1 GB of disk and some minutes.
"""

import glob
import importlib
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
from sklearn.calibration import _SigmoidCalibration

from benchmarks.measure import best_of, header, report
from oddsmith import AutoCalibrator, IsotonicCalibrator, PiecewiseLogisticCalibrator, PlattCalibrator, ScoreTable
from oddsmith.expected import expected_performance
from oddsmith.frames import apply, class_tables
from oddsmith.maps import CalibrationMap, JointMap, LinearMap, ScalingMap, ScalingPart, StepMap
from oddsmith.model import Model
from oddsmith.monitor import Monitor

ROWS = (10**6, 10**7)
_FILE_ROWS = 10**7
#: Rows from which the bars against scikit-learn and other engines' measurements make sense, and up to which.
_MANY, _FEW = 10**7, 10**6
_STEPS = 1000
#: Rows that the default is fitted to before it is applied.
_FITTED = 20_000
_CLASSES = 10
_MOST_MEMORY = 0.75e9


def scale(sizes: tuple[int, ...] = ROWS) -> None:
    """Measure every size in files of its own, which are then deleted."""
    for rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write_rows(Path(folder), rows)
            measure(f"{folder}/*.parquet", rows)
        with tempfile.TemporaryDirectory() as folder:
            write_logits(Path(folder), rows)
            measure_classes(f"{folder}/*.parquet", rows)


def write_rows(folder: Path, rows: int) -> None:
    """Write normal scores, and labels that follow them, in files of ten million rows."""
    with _connected() as connection:
        for number, start in enumerate(range(0, rows, _FILE_ROWS)):
            end = min(start + _FILE_ROWS, rows)
            uniform = [f"(hash(i * 3 + {k}) >> 11) / 9007199254740992.0::DOUBLE" for k in range(3)]
            normal = f"sqrt(-2 * ln(1 - {uniform[0]})) * cos({2 * np.pi} * {uniform[1]})"
            rows_sql = f"SELECT {normal} AS score, {uniform[2]} AS u FROM range({start}, {end}) t(i)"
            labels = f"SELECT score, (u < 1 / (1 + exp(0.5 - 2 * score)))::TINYINT AS label FROM ({rows_sql})"
            connection.execute(f"COPY ({labels}) TO '{folder}/{number}.parquet'")


def measure(files: str, rows: int) -> None:
    """Print one size: table and fit, maps inside DuckDB, memory, and other engines."""
    tries = 7 if rows <= _MANY else 3
    with _connected() as connection:
        relation = connection.read_parquet(files)
        print(f"\n{rows:.0e} rows of Parquet in DuckDB, by the clock", flush=True)
        for what, query in (
            ("bare scan, SELECT sum(score)", lambda: total(relation)),
            ("table", lambda: table_of(relation)),
        ):
            taken = best_of(query, tries)
            print(f"  {what:<54}{1e3 * taken:>10.2f} ms{rows / taken:>13.3g} rows/s", flush=True)
        table = table_of(relation)
        for method in (PlattCalibrator(), PiecewiseLogisticCalibrator(), IsotonicCalibrator()):
            taken = best_of(lambda method=method: method.fit_table(table), 3)
            print(f"  {type(method).__name__ + ' from the table':<54}{1e3 * taken:>10.2f} ms")
        _against_sklearn(connection, files, rows, tries)
        # Work, not time: a short query that finds all cores free looks faster than a long one ever can.
        header("against the bare scan, in processor time of all threads", "scan ms")
        scan = least_work(lambda: total(relation), tries)
        taken = least_work(lambda: table_of(relation), tries)
        report("table", taken, scan, taken / scan, 8, at_least=False)
        for what, (fitted, bar) in maps_of(table).items():
            inside = apply(relation, fitted, "score").aggregate("sum(probability)")
            taken = least_work(inside.fetchall, tries)
            report(what, taken, scan, taken / scan, bar, at_least=False)
        _deployed(relation, tries)
        for name, score in (("log-odds", "score"), ("probabilities", "1 / (1 + exp(-score))")):
            _default_against_platt(relation.project(f"{score} AS score, label"), name, tries)
    _memory(files)
    if rows <= _FEW:
        for name, build in ENGINES.items():
            _engine(name, build, files)


def _deployed(relation: duckdb.DuckDBPyRelation, tries: int) -> None:
    """Print what expected performance and a batch of the monitor cost, against the table of the same rows."""
    some = table_of(relation.limit(_FITTED))
    model = Model.from_fitted(PlattCalibrator().fit_table(some), table=some)
    header("against the table, in processor time of all threads", "table ms")
    for what, done in (
        ("expected performance", lambda: expected_performance(model, relation, score="score")),
        ("a batch of the monitor", lambda: Monitor(model).update_table(table_of(relation))),
    ):
        taken, other = alternately(done, lambda: table_of(relation), tries)
        report(what, taken, other, taken / other, 1.5, at_least=False)


def _default_against_platt(relation: duckdb.DuckDBPyRelation, name: str, tries: int) -> None:
    """Print what the default's map takes, applied to a Parquet file and written to another, against Platt's."""
    with tempfile.TemporaryDirectory() as folder:
        relation.write_parquet(f"{folder}/in.parquet")
        scores = relation.limit(_FITTED).fetchnumpy()
        rows = duckdb.read_parquet(f"{folder}/in.parquet")

        def applied(fitted: CalibrationMap) -> Callable[[], object]:
            return lambda: apply(rows, fitted, "score").write_parquet(f"{folder}/out.parquet")

        methods = AutoCalibrator(), PlattCalibrator()
        ours, platt = (applied(method.fit(scores["score"], scores["label"]).map_) for method in methods)
        taken, other = alternately(ours, platt, tries)
        report(f"default to Parquet, {name}, against Platt's", taken, other, taken / other, 4, at_least=False)


def write_logits(folder: Path, rows: int) -> None:
    """Write normal logits of ten classes, and labels that are the largest logit in most rows."""
    names = [f"logit_{place}" for place in range(_CLASSES)]
    with _connected() as connection:
        for number, start in enumerate(range(0, rows, _FILE_ROWS)):
            end = min(start + _FILE_ROWS, rows)
            uniform = [f"(hash(i * 31 + {k}) >> 11) / 9007199254740992.0::DOUBLE" for k in range(2 * _CLASSES)]
            normal = [
                f"sqrt(-2 * ln(1 - {u})) * cos({2 * np.pi} * {v}) AS {name}"
                for u, v, name in zip(uniform[::2], uniform[1::2], names, strict=True)
            ]
            logits = f"SELECT i, {', '.join(normal)} FROM range({start}, {end}) t(i)"
            best = f"list_position([{', '.join(names)}], greatest({', '.join(names)})) - 1"
            label = f"(CASE WHEN i % 4 = 0 THEN i % {_CLASSES} ELSE {best} END)::TINYINT AS label"
            connection.execute(
                f"COPY (SELECT {', '.join(names)}, {label} FROM ({logits})) TO '{folder}/{number}.parquet'"
            )


def measure_classes(files: str, rows: int) -> None:
    """Print one size of ten classes: joint maps and tables inside DuckDB, against a scan of the columns they read."""
    tries = 7 if rows <= _MANY else 3
    names = [f"logit_{place}" for place in range(_CLASSES)]
    with _connected() as connection:
        relation = connection.read_parquet(files)
        print(f"\n{rows:.0e} rows × {_CLASSES} classes of Parquet in DuckDB", flush=True)
        header("against the bare scan, in processor time of all threads", "scan ms")
        bare = relation.aggregate(", ".join(f"sum({name})" for name in names))
        sums = [*(f"sum(probability_{place})" for place in range(_CLASSES)), "max(decision)"]
        for what, (fitted, bar) in joint_maps().items():
            inside = apply(relation, fitted, names).aggregate(", ".join(sums))
            taken, scan = alternately(inside.fetchall, bare.fetchall, tries)
            report(f"{what}, probabilities and decision", taken, scan, taken / scan, bar, at_least=False)
        taken = least_work(lambda: class_tables(relation, names, "label", range(_CLASSES)), 3)
        report("tables of all classes", taken, scan, taken / scan, float("nan"), at_least=False)


def joint_maps() -> dict[str, tuple[JointMap, float]]:
    """Return maps of four shapes, and how many bare scans each may take."""
    rng = np.random.default_rng(0)
    level = rng.normal(size=_CLASSES) / 10
    matrix = np.eye(_CLASSES) + rng.normal(size=(_CLASSES, _CLASSES)) / 10
    slopes = {"temperature": (np.array(0.6), 0 * level), "vector": (0.6 + level, level), "matrix": (matrix, level)}
    found: dict[str, tuple[JointMap, float]] = {
        name: (_blend([1.0], [ScalingPart(name, "logits", 0.0, coef, intercept)]), 5.0)
        for name, (coef, intercept) in slopes.items()
    }
    # What AutoScaling made of the logits of networks: base rates, a temperature, two vectors and two matrices.
    reading, coefs = "floored_log_probabilities", [np.array(0.0), np.array(0.6), 0.6 + level, 0.7 + level]
    parts = [ScalingPart(str(i), reading, 0.0, coef, level) for i, coef in enumerate([*coefs, matrix, matrix / 2])]
    return found | {"blend of six parts": (_blend([0.02, 0.08, 0.2, 0.2, 0.25, 0.25], parts), float("nan"))}


def _blend(weights: list[float], parts: list[ScalingPart]) -> JointMap:
    return ScalingMap(_CLASSES, "logits", tuple(parts), np.array(weights), np.zeros(_CLASSES))


def _connected() -> duckdb.DuckDBPyConnection:
    """Return a connection that draws no bars between the figures."""
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    return connection


def total(relation: duckdb.DuckDBPyRelation) -> object:
    """Do the least that can be done with all scores."""
    return relation.aggregate("sum(score)").fetchall()


def least_work(function: Callable[[], object], tries: int) -> float:
    """Return the least processor time of several tries, in seconds, over all threads."""
    taken = []
    for _ in range(tries):
        start = time.process_time()
        function()
        taken.append(time.process_time() - start)
    return min(taken)


def alternately(function: Callable[[], object], other: Callable[[], object], tries: int) -> tuple[float, float]:
    """Return the processor times of two functions, in turn: those of the try whose ratio is the median."""
    pairs = [(least_work(function, 1), least_work(other, 1)) for _ in range(tries)]
    return sorted(pairs, key=lambda pair: pair[0] / pair[1])[tries // 2]


def table_of(frame: object) -> ScoreTable:
    """Build the table that a billion rows would be fitted by."""
    return ScoreTable.from_frame(frame, "score", "label", resolution="auto")


def maps_of(table: ScoreTable) -> dict[str, tuple[CalibrationMap, float]]:
    """Return maps of four shapes, and how many bare scans each may take."""
    ends = np.searchsorted(np.cumsum(table.total), np.linspace(0, table.rows, _STEPS + 1)[1:-1])
    starts, values = np.unique(np.minimum(ends, len(table) - 2)), np.linspace(0.01, 0.99, _STEPS)
    values = values[: len(starts) + 1]
    last, first = table.scores[starts], table.scores[starts + 1]
    between = np.column_stack([last, first]).ravel()
    knots, kept = np.unique(between, return_index=True)
    return {
        "sigmoid": (PlattCalibrator().fit_table(table).map_, 4),
        "three pieces": (PiecewiseLogisticCalibrator(knots=[-0.7, 0.7]).fit_table(table).map_, 5),
        f"isotonic, {len(starts) + 1} steps": (StepMap(last, values[:-1], values), 15),
        f"isotonic, {len(starts) + 1} steps interpolated": (LinearMap(knots, np.repeat(values, 2)[1:-1][kept]), 20),
    }


def _against_sklearn(connection: duckdb.DuckDBPyConnection, files: str, rows: int, tries: int) -> None:
    def ours() -> None:
        PlattCalibrator().fit_table(table_of(connection.read_parquet(files)))

    def theirs() -> None:
        columns = connection.read_parquet(files).fetchnumpy()
        _SigmoidCalibration().fit(columns["score"], columns["label"])

    taken, start = best_of(ours, tries), time.perf_counter()
    theirs()
    other = time.perf_counter() - start
    bar = 25 if rows >= _MANY else float("nan")
    report("file to sigmoid; loaded into scikit-learn; how many times", taken, other, other / taken, bar)


def _memory(files: str) -> None:
    """Print the largest memory of a process that makes a table and a fit."""
    code = (
        "import sys, duckdb; from oddsmith import PlattCalibrator, ScoreTable;"
        # Not getrusage: a process starts with the largest memory of the one that started it.
        "peak = lambda: int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]);"
        "before = peak(); rows = duckdb.connect().read_parquet(sys.argv[1]);"
        "PlattCalibrator().fit_table(ScoreTable.from_frame(rows, 'score', 'label', resolution='auto'));"
        "print(before, peak())"
    )
    answer = subprocess.run([sys.executable, "-c", code, files], capture_output=True, text=True, check=True).stdout
    before, peak = (1024 * int(kilobytes) for kilobytes in answer.split())
    verdict = "met" if peak <= _MOST_MEMORY else "missed"
    print(f"  {'memory of table and fit, in a process of its own':<54}{peak / 1e6:>7.0f} MB", end="")
    print(f"  ({before / 1e6:.0f} MB of it before)  bar ≤ {_MOST_MEMORY / 1e6:g} MB {verdict}", flush=True)


def _engine(
    name: str, build: Callable[[list[str]], tuple[object, Callable[[object, str], object]]], files: str
) -> None:
    """Print what an engine takes for a sum of scores, a table, and a sum of probabilities."""
    try:
        frame, add = build(sorted(glob.glob(files)))
    except ImportError:
        print(f"  {name:<54} is not installed")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = table_of(frame)
        print(f"  {name}, against its own sum of scores", flush=True)
        scan = best_of(lambda: add(frame, "score"), 3)
        taken = best_of(lambda: table_of(frame), 2)
        report("  table", taken, scan, taken / scan, float("nan"))
        for what, (fitted, _) in maps_of(table).items():
            taken = best_of(lambda fitted=fitted: add(apply(frame, fitted, "score"), "probability"), 2)
            report(f"  {what}", taken, scan, taken / scan, float("nan"))


def _pandas(files: list[str]) -> tuple[object, Callable[[object, str], object]]:
    pandas = importlib.import_module("pandas")
    return pandas.concat([pandas.read_parquet(file) for file in files]), lambda frame, name: frame[name].sum()


def _polars(files: list[str]) -> tuple[object, Callable[[object, str], object]]:
    polars = importlib.import_module("polars")
    return polars.scan_parquet(files), lambda frame, name: frame.select(polars.col(name).sum()).collect()


def _dask(files: list[str]) -> tuple[object, Callable[[object, str], object]]:
    dask = importlib.import_module("dask.dataframe")
    return dask.read_parquet(files), lambda frame, name: frame[name].sum().compute(scheduler="threads")


def _ibis(files: list[str]) -> tuple[object, Callable[[object, str], object]]:
    connection = importlib.import_module("ibis").duckdb.connect()
    return connection.read_parquet(files), lambda frame, name: frame[name].sum().execute()


def _spark(files: list[str]) -> tuple[object, Callable[[object, str], object]]:
    builder = importlib.import_module("pyspark.sql").SparkSession.builder.master("local[*]")
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
    session = builder.config(map=quiet).getOrCreate()
    return session.read.parquet(*files), lambda frame, name: frame.selectExpr(f"sum({name})").collect()


ENGINES = {"pandas": _pandas, "Polars": _polars, "Dask": _dask, "Ibis": _ibis, "PySpark": _spark}

if __name__ == "__main__":
    scale(tuple(int(float(rows)) for rows in sys.argv[1:]) or ROWS)
