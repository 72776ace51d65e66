"""What a document printed: one file a document, nothing typed in anywhere else."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from oddsmith import checks


@dataclass(frozen=True)
class PublishedTable:
    """A printed table.

    Parameters
    ----------
    where : str
        The place in the document.
    keys : tuple of str
        What names a row, such as ("classifier", "method").
    measures : tuple of str
        What its columns are.
    rows : mapping of keys to mapping of measure to float or None
        None where the document has no figure.
    """

    where: str
    keys: tuple[str, ...]
    measures: tuple[str, ...]
    rows: Mapping[tuple[str, ...], Mapping[str, float | None]]


@dataclass(frozen=True)
class Published:
    """All that one document printed.

    Parameters
    ----------
    document : str
        Whom to cite.
    source : str
        Which copy the figures were taken from.
    tables : mapping of str to PublishedTable
    figures : mapping of str to plain data
        Everything else.
    """

    document: str
    source: str
    tables: Mapping[str, PublishedTable]
    figures: Mapping[str, Any]


def read_published(name: str) -> Published:
    """Read ``expected/<name>.toml``.

    ::

        document = "Who (year), What."
        source = "which copy"

        [tables.reuters]
        where = "Table 1"
        keys = ["classifier", "method"]
        measures = ["log-loss", "errors"]
        rows = [["naive Bayes", "raw", -32554.7, 1696], ["SVM", "raw", nan, 492]]

        [figures.anything]
        where = "Section 4"
        value = 0.17

    ``nan`` stands where the document has no figure.
    """
    file = files("oddsmith_studies.studies").joinpath("expected", f"{name}.toml")
    if not file.is_file():
        checks.fail(f"study {name!r} must have its published figures", "no file", f"write expected/{name}.toml")
    return parse_published(file.read_text(encoding="utf-8"))


def parse_published(text: str) -> Published:
    """Read the contents of such a file."""
    found = tomllib.loads(text)
    tables = {key: _table(key, entry) for key, entry in found.get("tables", {}).items()}
    return Published(found["document"], found["source"], tables, found.get("figures", {}))


def _table(name: str, entry: Mapping[str, Any]) -> PublishedTable:
    keys, measures = tuple(entry["keys"]), tuple(entry["measures"])
    rows = {}
    for row in entry["rows"]:
        if len(row) != len(keys) + len(measures):
            checks.fail(f"rows of published table {name!r} must have all cells", f"{row}", "write nan for none")
        values = [None if math.isnan(value) else float(value) for value in row[len(keys) :]]
        rows[tuple(row[: len(keys)])] = dict(zip(measures, values, strict=True))
    return PublishedTable(entry["where"], keys, measures, rows)
