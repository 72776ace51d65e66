"""Platt 1999: probabilities of support vector machines, and of a kernel machine trained for them."""

from oddsmith_studies.studies._study import Study
from oddsmith_studies.studies.platt_1999.calibration_rows import rows_parts
from oddsmith_studies.studies.platt_1999.evidence import all_evidence
from oddsmith_studies.studies.platt_1999.facts import all_facts
from oddsmith_studies.studies.platt_1999.figures import all_figures
from oddsmith_studies.studies.platt_1999.parts import judged_parts
from oddsmith_studies.studies.platt_1999.sizes import every_part
from oddsmith_studies.studies.platt_1999.tables import all_tables

STUDY = Study(
    name="platt-1999",
    title="Platt 1999: probabilistic outputs for support vector machines",
    data=("reuters21578", "a9a", "web"),
    parts=lambda setting: [*every_part(setting), *rows_parts(setting)],
    tables=all_tables,
    figures=all_figures,
    evidence=all_evidence,
    facts=all_facts,
    judged=judged_parts,
    version=3,
)
