"""Why boosting distorts probabilities: margins by rounds, what easy and hard cases get, and ten learners by measure."""

from oddsmith_studies.studies._study import Study
from oddsmith_studies.studies.why_boosting.figures import all_figures
from oddsmith_studies.studies.why_boosting.parts import all_parts
from oddsmith_studies.studies.why_boosting.results import all_evidence, all_facts, all_tables

STUDY = Study(
    name="why-boosting",
    title="Why boosting distorts, and what it is good at",
    data=("covtype", "adult", "letter", "indian_pines"),
    parts=all_parts,
    tables=all_tables,
    figures=all_figures,
    evidence=all_evidence,
    facts=all_facts,
)
