"""Protocols: which scores a calibrator may see, tried on the same tasks.

In-sample, 30 % held out, 2, 3, 5 and 10 folds, and leave-one-out for naive Bayes.
"""

from oddsmith_studies.studies._study import Study
from oddsmith_studies.studies.protocols.evidence import all_evidence
from oddsmith_studies.studies.protocols.facts import all_remarks
from oddsmith_studies.studies.protocols.figures import all_figures
from oddsmith_studies.studies.protocols.parts import all_parts
from oddsmith_studies.studies.protocols.tables import all_tables

STUDY = Study(
    name="protocols",
    title="Protocols: the scores that a calibrator may see",
    data=("reuters21578", "a9a", "adult", "letter"),
    parts=all_parts,
    tables=all_tables,
    figures=all_figures,
    evidence=all_evidence,
    remarks=all_remarks,
)
