"""A study that was run, and the files it is written to."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from oddsmith.atomic import write_atomically
from oddsmith.metrics.result import plain
from oddsmith_studies.studies._claims import Claim, claims_table
from oddsmith_studies.studies._figures import StudyFigure
from oddsmith_studies.studies._page import to_html, write_page
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
    tables : list of Table
    figures : list of StudyFigure
    claims : list of Claim
    page : str
        In Markdown.
    made : dict
        Command, seed, versions, digests of data sets.
    seconds : dict
        How long each part took; parts that were kept from an earlier run, then.
    """

    study: Study
    results: Results
    tables: list[Table]
    figures: list[StudyFigure]
    claims: list[Claim]
    page: str
    made: dict[str, Any]
    seconds: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the pictures as plain data; the same for the same seed."""
        return {
            "study": self.study.name,
            "title": self.study.title,
            "made": self.made,
            "claims": [claim.to_dict() for claim in self.claims],
            "tables": [table.to_dict() for table in self.tables],
        }

    def write(self, folder: Path) -> list[Path]:
        """Write page, tables, pictures and JSON; return where.

        ``index.md`` and ``index.html``, ``results.json``, ``tables/*.md|csv|json``, ``figures/*.svg|png``, and
        ``run.json`` with the times, which alone differ from run to run.
        """
        contents: dict[str, str | Callable[[Path], object]] = {
            "index.md": self.page,
            "index.html": to_html(self.study.title, self.page),
            "results.json": _json(self.to_dict()),
            "run.json": _json({"seconds": sum(self.seconds.values()), "parts": self.seconds}),
        }
        for table in (*self.tables, claims_table(self.claims)):
            place = f"tables/{table.name}"
            contents |= {f"{place}.md": table.to_markdown() + "\n", f"{place}.csv": table.to_csv()}
            contents[f"{place}.json"] = _json(table.to_dict())
        for figure in self.figures:
            for end in ("svg", "png"):
                contents[f"figures/{figure.name}.{end}"] = partial(figure.display.save, **figure.options)
        for name, content in contents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content, force=True)
        return [folder / name for name in contents]


def finish(study: Study, results: Results, made: dict[str, Any], seconds: dict[str, float]) -> StudyResult:
    """Make tables, pictures, verdicts and the page of computed parts."""
    tables, figures, claims = study.tables(results), study.figures(results), study.claims(results)
    page = write_page(study.title, study.story(results), tables, figures, claims, made)
    return StudyResult(study, results, tables, figures, claims, page, made, seconds)


def _json(value: Any) -> str:
    return json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
