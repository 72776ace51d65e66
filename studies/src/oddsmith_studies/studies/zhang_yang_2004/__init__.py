"""Zhang and Yang 2004: piecewise logistic regression against the asymmetric Laplace and logistic regression."""

from oddsmith_studies.studies._study import Study
from oddsmith_studies.studies.zhang_yang_2004.evidence import all_evidence
from oddsmith_studies.studies.zhang_yang_2004.facts import all_facts
from oddsmith_studies.studies.zhang_yang_2004.figures import all_figures
from oddsmith_studies.studies.zhang_yang_2004.parts import all_parts, judged_parts
from oddsmith_studies.studies.zhang_yang_2004.tables import all_tables

STUDY = Study(
    name="zhang-yang-2004",
    title="Zhang & Yang 2004: piecewise logistic regression",
    data=("reuters21578", "20newsgroups", "ohsumed"),
    parts=all_parts,
    judged=judged_parts,
    tables=all_tables,
    figures=all_figures,
    evidence=all_evidence,
    facts=all_facts,
    version=3,
)
