"""A study that was run, and the files it is written to."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from oddsmith.atomic import write_atomically
from oddsmith.metrics.result import plain
from oddsmith_studies.studies._claims import Claim, Evidence, claims_table
from oddsmith_studies.studies._figures import StudyFigure
from oddsmith_studies.studies._page import evidence_table, to_html, write_page
from oddsmith_studies.studies._record import FILE, Record, read_record
from oddsmith_studies.studies._study import Results, Study
from oddsmith_studies.studies._tables import Table


@dataclass(frozen=True)
class StudyResult:
    """What came out of a study.

    Parameters
    ----------
    study : Study
    results : Results
        Of the parts.
    figures : list of StudyFigure
    record : Record
        Tables, measurements and captions, and what they were made with.
    page : str
        In Markdown.
    seconds : dict
        How long each part took; parts that were kept from an earlier run, then.
    """

    study: Study
    results: Results
    figures: list[StudyFigure]
    record: Record
    page: str
    seconds: dict[str, float]

    @property
    def tables(self) -> list[Table]:
        """All tables."""
        return list(self.record.tables.values())

    @property
    def claims(self) -> list[Claim]:
        """All verdicts."""
        return self.record.claims

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the pictures as plain data; the same for the same seed."""
        return self.record.to_dict()

    def write(self, folder: Path) -> list[Path]:
        """Write page, tables, pictures and JSON; return where.

        ``index.md`` and ``index.html``, ``results.json``, ``tables/*.md|csv|json``, ``figures/*.svg|png``, and
        ``run.json`` with command, seed and versions, and with the times, which alone differ from run to run.
        """
        contents = _texts(self.record, self.page)
        how = {key: self.record.made[key] for key in ("command", "seed", "versions")}
        contents["run.json"] = _json({**how, "seconds": sum(self.seconds.values()), "parts": self.seconds})
        for figure in self.figures:
            for end in ("svg", "png"):
                contents[f"figures/{figure.name}.{end}"] = partial(figure.display.save, **figure.options)
        return _write(folder, contents)


def finish(study: Study, results: Results, made: dict[str, Any], seconds: dict[str, float]) -> StudyResult:
    """Make tables, pictures, verdicts and the page of computed parts."""
    tables, figures = study.tables(results), study.figures(results)
    record = Record(
        study.name,
        study.title,
        made,
        results.published,
        {table.name: table for table in tables},
        {figure.name: figure.caption for figure in figures},
        study.evidence(results),
        study.remarks(results),
    )
    return StudyResult(study, results, figures, record, _page(study, record), seconds)


def rewrite(
    study: Study, folder: Path, *, evidence: Evidence | None = None, judged: dict[str, Any] | None = None
) -> list[Path]:
    """Judge and tell again what an earlier run has left in its folder; return what was written.

    Tables and captions are those of the run, rules and words those of today. Measurements are those of the run, too,
    unless there is other ``evidence``; ``judged`` is how that was made.
    """
    record = read_record(folder, study.published)
    if evidence is not None:
        record = replace(record, evidence=evidence, made={**record.made, **({"judged": judged} if judged else {})})
    return _write(folder, _texts(record, _page(study, record)))


def _page(study: Study, record: Record) -> str:
    return write_page(record, study.template, study.facts(record))


Contents = dict[str, str | Callable[[Path], object]]


def _texts(record: Record, page: str) -> Contents:
    contents: Contents = {
        "index.md": page,
        "index.html": to_html(record.title, page),
        FILE: _json(record.to_dict()),
    }
    for table in (*record.tables.values(), claims_table(record.claims), evidence_table(record)):
        place = f"tables/{table.name}"
        contents |= {f"{place}.md": table.to_markdown() + "\n", f"{place}.csv": table.to_csv()}
        contents[f"{place}.json"] = _json(table.to_dict())
    return contents


def _write(folder: Path, contents: Contents) -> list[Path]:
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content, force=True)
    return [folder / name for name in contents]


def _json(value: Any) -> str:
    return json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
