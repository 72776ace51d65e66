"""What is kept of a run: enough to judge the claims and to write the page again, computing nothing."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from oddsmith import checks
from oddsmith.metrics.result import plain
from oddsmith_studies.studies._claims import Claim, Evidence, evidence_from_dict, evidence_to_dict, judge
from oddsmith_studies.studies._published import Published
from oddsmith_studies.studies._tables import Table

#: The file that holds a record.
FILE = "results.json"


@dataclass(frozen=True)
class Record:
    """Tables, captions and measurements of a run.

    Parameters
    ----------
    study, title : str
    made : mapping
        Command, seed, versions, digests of data sets.
    published : Published
        What the document printed.
    tables : mapping of str to Table
    captions : mapping of str to str
        Of the pictures, by name.
    evidence : mapping of str to sequence of Case
        What the verdicts rest on, by claim.
    remarks : mapping of str to str
        Sentences with numbers that no table holds, by name.
    """

    study: str
    title: str
    made: Mapping[str, Any]
    published: Published
    tables: Mapping[str, Table]
    captions: Mapping[str, str]
    evidence: Evidence
    remarks: Mapping[str, str]

    @cached_property
    def claims(self) -> list[Claim]:
        """The verdicts."""
        return judge(self.study, self.evidence)

    @property
    def quick(self) -> bool:
        """Whether it was a quick run."""
        return bool(self.made["quick"])

    def verdicts_of(self, number: str) -> str:
        """Say the verdicts on a claim, such as "holds on the document's data and stand-ins"."""
        found: dict[str, list[str]] = {}
        for claim in self.claims:
            if claim.id == number:
                found.setdefault(claim.verdict, []).append(claim.data)
        return ", ".join(f"{verdict} on {' and '.join(data)}" for verdict, data in found.items())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; the same for the same seed."""
        found: dict[str, Any] = plain(
            {
                "study": self.study,
                "title": self.title,
                "made": dict(self.made),
                "claims": [claim.to_dict() for claim in self.claims],
                "evidence": evidence_to_dict(self.evidence),
                "captions": dict(self.captions),
                "remarks": dict(self.remarks),
                "tables": [table.to_dict() for table in self.tables.values()],
            }
        )
        return found


def read_record(folder: Path, published: Published) -> Record:
    """Return what an earlier run has left in its folder; the claims are judged by the rules of today."""
    file = folder / FILE
    if not file.is_file():
        checks.fail("the folder must contain the results of a run", f"no {file}", "run the study first")
    kept = json.loads(file.read_text(encoding="utf-8"))
    tables = [Table.from_dict(each) for each in kept["tables"]]
    return Record(
        kept["study"],
        kept["title"],
        kept["made"],
        published,
        {table.name: table for table in tables},
        kept["captions"],
        evidence_from_dict(kept["evidence"]),
        kept["remarks"],
    )
