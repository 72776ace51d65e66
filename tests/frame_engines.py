"""The engines that score tables are made and maps applied in; in CI all of them must have run."""

ENGINES = [
    "pandas",
    "pandas-arrow",
    "pyarrow",
    "polars",
    "polars-lazy",
    "duckdb",
    "dask",
    "pyspark",
    "ibis-duckdb",
    "ibis-postgres",
]
