"""The index of all studies: every claim of every document in one line."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from oddsmith.atomic import write_atomically
from oddsmith_studies.studies._claims import Verdict
from oddsmith_studies.studies._record import FILE, Record, read_record
from oddsmith_studies.studies._run import list_studies
from oddsmith_studies.studies._tables import Cell, Column, Table

_WORDS: tuple[Verdict, ...] = get_args(Verdict)

_HEAD = """\
# Studies: every claim of the five documents

Each study repeats the experiments of a document on its data, or on public stand-ins for data that are private or
licensed. A verdict is *holds*, *fails*, *undecided* (the test has no power, or the direction is not significant) or
*cannot be tested* (the data are not available). The document's own data are judged apart from stand-ins. Rules and
thresholds stand in one file, `studies/src/oddsmith_studies/studies/expected/verdicts.toml`: they follow what
the documents say; thresholds that no document gives were fixed when the first full runs were known.
"""


def write_index(folder: str | os.PathLike[str]) -> Path:
    """Write ``index.md`` with every claim of the studies whose results lie in folders of a folder; return where."""
    root = Path(folder)
    records = [
        read_record(root / study.name, study.published)
        for study in list_studies()
        if (root / study.name / FILE).is_file()
    ]
    path = root / "index.md"
    write_atomically(path, index_page(records), force=True)
    return path


def index_page(records: Sequence[Record]) -> str:
    """Return the index in Markdown."""
    pages = [f"{_HEAD}\n{_counts(records).to_markdown()}"]
    for record in records:
        table = Table(
            "claims",
            f"[{record.title}]({record.study}/index.md)",
            ("claim", "what it says", "tested on", "published", "ours", "verdict"),
            [(each.id, each.text, each.data, each.published, each.ours, each.verdict) for each in record.claims],
        )
        pages.append(table.to_markdown())
    return "\n\n".join(pages) + "\n"


def _counts(records: Sequence[Record]) -> Table:
    rows: list[list[Cell]] = []
    for record in records:
        found = [claim.verdict for claim in record.claims]
        rows.append([f"[{record.title}]({record.study}/index.md)", *(found.count(word) for word in _WORDS)])
    columns: list[str | Column] = ["study", *(Column(word, "d") for word in _WORDS)]
    return Table("verdicts", "Verdicts by study", columns, rows)
