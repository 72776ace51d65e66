"""Bennett 2003: asymmetric distributions of the scores of text classifiers."""

from oddsmith_studies.studies._study import Study
from oddsmith_studies.studies.bennett_2003.evidence import all_evidence
from oddsmith_studies.studies.bennett_2003.facts import all_facts
from oddsmith_studies.studies.bennett_2003.figures import all_figures
from oddsmith_studies.studies.bennett_2003.parts import all_parts, judged_parts
from oddsmith_studies.studies.bennett_2003.tables import all_tables

STUDY = Study(
    name="bennett-2003",
    title="Bennett 2003: asymmetric distributions of scores",
    data=("reuters21578", "20newsgroups", "ohsumed"),
    parts=all_parts,
    judged=judged_parts,
    tables=all_tables,
    figures=all_figures,
    evidence=all_evidence,
    facts=all_facts,
    version=3,
)
