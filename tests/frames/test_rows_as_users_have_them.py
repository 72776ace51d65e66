"""Several files, indexes that repeat, empty partitions: every row keeps its own probability, and counts once."""

import sys

import narwhals.stable.v2 as nw
import numpy as np
import pytest

from catalogue import CLASSES
from oddsmith import IsotonicCalibrator, PlattCalibrator, ScoreTable, SplineCalibrator, VennAbersCalibrator
from oddsmith.errors import EngineError
from oddsmith.frames import apply
from optional import needs
from samples import ours_allowed

pa = needs("pyarrow")
parquet = needs("pyarrow.parquet")

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),  # by Ibis
]

RNG = np.random.default_rng(5)
N = 400
PROBS = np.round(RNG.random(N), 3) * 0.998 + 0.001
Y = (RNG.random(N) < PROBS**2).astype(int)
GROUP = RNG.choice(["a", "b", "c"], N)
#: The third file is empty.
FILES = [np.arange(0, 150), np.arange(150, 160), np.arange(0), np.arange(160, N)]


@pytest.fixture(scope="module")
def fits():
    """Every calibrator, fitted."""
    with ours_allowed():
        return {cls.__name__: cls().fit(PROBS, Y).map_ for cls in CLASSES}


@pytest.fixture(scope="module")
def segments():
    with ours_allowed():
        methods = {"a": IsotonicCalibrator(), "b": VennAbersCalibrator(), "c": PlattCalibrator()}
        return {key: method.fit(PROBS[key == GROUP], Y[key == GROUP]).map_ for key, method in methods.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The rows in several Parquet files, each with an index of its own that begins at 0."""
    needs("pandas")
    folder = tmp_path_factory.mktemp("files")
    for i, rows in enumerate(FILES):
        columns = {
            "p": PROBS[rows],
            "y": Y[rows],
            "g": GROUP[rows].astype(str),
            "id": rows,
            "y32": Y[rows].astype(np.int32),
        }
        pa.table(columns).to_pandas().to_parquet(folder / f"{i}.parquet")
    return folder


def _dask_files(folder, fixture):
    return needs("dask.dataframe").read_parquet(folder)


def _dask_index(folder, fixture):
    """An index with repeated and unsorted values in every partition."""
    frame = _dask_files(folder, fixture)
    return frame.map_partitions(lambda part: part.set_axis((7 * np.arange(len(part))) % 5), meta=frame._meta)


def _dask_two_sources(folder, fixture):
    """Partitions made of those of two frames."""
    frame = _dask_files(folder, fixture)
    files = [pa.table({"g": GROUP[rows].astype(str)}).to_pandas() for rows in FILES]
    other = needs("dask.dataframe").from_map(lambda i: files[i], range(len(files)))
    beside = lambda a, b: a.assign(g=b["g"])[["p", "y", "g", "id", "y32"]]  # noqa: E731 (it must travel to workers)
    return frame[["p", "y", "id", "y32"]].map_partitions(beside, other, meta=frame._meta)


FORMS = {
    "dask files": _dask_files,
    "dask reset_index": lambda folder, fixture: _dask_files(folder, fixture).reset_index(drop=True),
    "dask repeated index": _dask_index,
    "dask two sources": _dask_two_sources,
    "dask concat": lambda folder, fixture: needs("dask.dataframe").concat(
        [needs("dask.dataframe").read_parquet(folder / f"{i}.parquet") for i in range(4)]
    ),
    "dask filtered": lambda folder, fixture: _dask_files(folder, fixture).query("id >= 0"),
    "dask repartitioned": lambda folder, fixture: _dask_files(folder, fixture).repartition(npartitions=3),
    "dask shuffled": lambda folder, fixture: _dask_files(folder, fixture).shuffle("g"),
    "dask one partition": lambda folder, fixture: _dask_files(folder, fixture).repartition(npartitions=1),
    "duckdb": lambda folder, fixture: fixture("duck").read_parquet(f"{folder}/*.parquet"),
    "ibis": lambda folder, fixture: needs("ibis").read_parquet(f"{folder}/*.parquet"),
    "pandas": lambda folder, fixture: _dask_index(folder, fixture).compute(),
    "polars": lambda folder, fixture: needs("polars").scan_parquet(f"{folder}/*.parquet"),
    "pyarrow": lambda folder, fixture: needs("pyarrow.dataset").dataset(folder).to_table(),
    "pyspark": lambda folder, fixture: fixture("spark").read.parquet(str(folder)).repartition(8, "g"),
}


@pytest.fixture(params=FORMS)
def rows(request, folder):
    """The rows in one of the forms."""
    if request.param.startswith("dask"):
        needs("dask")
        request.getfixturevalue("dask_client")
    return FORMS[request.param](folder, request.getfixturevalue)


def collected(result):
    frame = nw.from_native(result)
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def test_values_stay_with_their_rows(rows, fits):
    result = rows
    names = list(fits)
    for name in names:
        result = apply(result, fits[name], "p", name=name)
    found = collected(result)
    ids = found["id"].to_numpy()
    assert sorted(ids) == list(range(N))
    np.testing.assert_array_equal(found["p"].to_numpy(), PROBS[ids])
    for name in names:
        expected = fits[name].probability(PROBS[ids])
        np.testing.assert_allclose(found[name].to_numpy(), expected, rtol=0, atol=1e-12, err_msg=name)


def test_values_stay_with_their_rows_by_segment(rows, segments):
    found = collected(apply(rows, segments, "p", by="g"))
    ids = found["id"].to_numpy()
    assert sorted(ids) == list(range(N))
    expected = [segments[g].probability(p) for g, p in zip(GROUP[ids], PROBS[ids], strict=True)]
    np.testing.assert_allclose(found["probability"].to_numpy(), expected, rtol=0, atol=1e-12)


def test_every_row_counts_once(rows, request):
    if "two sources" in request.node.callspec.id:
        with pytest.raises(EngineError, match="Objects are not co-aligned"):  # refused, and right once they are one
            ScoreTable.from_frame(rows, "p", "y", weight="y32", resolution=2**-4)
        rows = rows.persist()
    exact = ScoreTable.from_arrays(PROBS, Y)
    assert ScoreTable.from_frame(rows, "p", "y") == exact
    cells = ScoreTable.from_frame(rows, "p", "y", weight="y32", resolution=2**-4)
    np.testing.assert_array_equal(cells.pos, [count for count in exact.quantize(2**-4).pos if count])
    tables = ScoreTable.from_frame(rows, "p", "y", by="g")
    assert tables == {key: ScoreTable.from_arrays(PROBS[key == GROUP], Y[key == GROUP]) for key in "abc"}


@pytest.mark.parametrize("form", [form for form in FORMS if form.startswith("dask")])
def test_dask_keeps_order_index_partitions_and_divisions(form, folder, request, dask_client, fits, segments):
    frame = FORMS[form](folder, request.getfixturevalue)
    for result in (apply(frame, fits["VennAbersCalibrator"], "p"), apply(frame, segments, "p", by="g")):
        assert result.npartitions == frame.npartitions
        assert result.divisions == frame.divisions
        pandas, kept = needs("pandas"), result.drop(columns="probability")
        one_type_of_text = int(pandas.__version__.partition(".")[0]) >= 3  # before, Dask may compute another
        for before, after in zip(frame.partitions, kept.partitions, strict=True):
            if form == "dask shuffled":  # whose order is not the same twice
                before, after = (part.compute().sort_values("id") for part in (before, after))
            else:
                before, after = before.compute(), after.compute()
            pandas.testing.assert_frame_equal(before, after, check_dtype=one_type_of_text)


def test_dask_workers_do_without_the_library(dask_client, folder, fits, segments):
    """What is sent to workers needs NumPy and pandas alone."""

    def forbid():
        held = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "oddsmith"}
        sys.modules["oddsmith"] = None  # importing it fails
        return len(held)

    def allow():
        del sys.modules["oddsmith"]

    frame = _dask_files(folder, None)
    dask_client.run(forbid)
    try:
        for result in (*(apply(frame, one, "p") for one in fits.values()), apply(frame, segments, "p", by="g")):
            assert result["probability"].notnull().all().compute()
    finally:
        dask_client.run(allow)


def test_dask_ranges_of_dates_stay_known(dask_client):
    """A sorted index with known divisions stays one, so that rows can still be looked up by it."""
    pandas = needs("pandas")
    days = pandas.date_range("2026-01-01", periods=N)
    frame = needs("dask.dataframe").from_pandas(pandas.DataFrame({"p": PROBS}, index=days), npartitions=4)
    with ours_allowed():
        one = SplineCalibrator().fit(PROBS, Y)
    result = apply(frame, one, "p")
    assert result.known_divisions
    found = result.loc["2026-02-01":"2026-02-03"].compute()
    np.testing.assert_allclose(found["probability"], one.predict_proba(PROBS[31:34])[:, 1], rtol=0, atol=1e-12)
