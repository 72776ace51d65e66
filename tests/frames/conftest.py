"""The same rows in every engine. Sessions and servers are started once, on first use."""

import importlib
import itertools
import logging
import os

import pytest

from frame_engines import ENGINES
from optional import needs
from servers import postgres  # noqa: F401  (a fixture)

_MODULES = {"pandas-arrow": "pandas", "polars-lazy": "polars", "ibis-duckdb": "ibis", "ibis-postgres": "ibis"}
_NUMBER = itertools.count()


@pytest.fixture(scope="session")
def duck():
    """A connection to DuckDB."""
    with needs("duckdb").connect() as connection:
        yield connection


@pytest.fixture(scope="session")
def dask_client():
    """A Dask cluster of two workers, each a process that is started again when it dies."""
    distributed = needs("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", "65536")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def spark():
    """A Spark session with two threads."""
    session = (
        needs("pyspark.sql")
        .SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "1g")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(params=ENGINES, scope="session")
def engine(request):
    """The name of an engine, each in turn."""
    needs(_MODULES.get(request.param, request.param))
    return request.param


@pytest.fixture(autouse=True)
def said(request, record_property):
    """Put the engine's name in the report of the test."""
    if "engine" in request.fixturenames:
        record_property("engine", request.getfixturevalue("engine"))


@pytest.fixture
def held(engine, request):
    """Return a function that puts an Arrow table in the engine."""
    return lambda table: _BUILD[engine](request.getfixturevalue, table)


def _pandas_arrow(fixture, table):
    pandas = importlib.import_module("pandas")
    return table.to_pandas(types_mapper=pandas.ArrowDtype)


def _duckdb(fixture, table):
    return fixture("duck").from_arrow(table)


def _dask(fixture, table):
    fixture("dask_client")
    return importlib.import_module("dask.dataframe").from_pandas(table.to_pandas(), npartitions=3)


def _postgres(fixture, table):
    return fixture("postgres_connection").create_table(f"rows{next(_NUMBER)}", table)


@pytest.fixture(scope="session")
def postgres_connection(postgres):  # noqa: F811
    """A connection to PostgreSQL by Ibis."""
    needs("psycopg")
    connection = postgres.ibis()
    yield connection
    connection.disconnect()


_BUILD = {
    "pandas": lambda fixture, table: table.to_pandas(),
    "pandas-arrow": _pandas_arrow,
    "pyarrow": lambda fixture, table: table,
    "polars": lambda fixture, table: importlib.import_module("polars").from_arrow(table),
    "polars-lazy": lambda fixture, table: importlib.import_module("polars").from_arrow(table).lazy(),
    "duckdb": _duckdb,
    "dask": _dask,
    "pyspark": lambda fixture, table: fixture("spark").createDataFrame(table),
    "ibis-duckdb": lambda fixture, table: importlib.import_module("ibis").memtable(table),
    "ibis-postgres": _postgres,
}
