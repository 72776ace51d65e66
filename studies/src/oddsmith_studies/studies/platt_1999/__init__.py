"""Platt 1999: probabilities of support vector machines, and of a kernel machine trained for them."""

from oddsmith_studies.studies._study import Study
from oddsmith_studies.studies.platt_1999.claims import all_claims
from oddsmith_studies.studies.platt_1999.figures import all_figures
from oddsmith_studies.studies.platt_1999.parts import all_parts
from oddsmith_studies.studies.platt_1999.story import tell
from oddsmith_studies.studies.platt_1999.tables import all_tables

STUDY = Study(
    name="platt-1999",
    title="Platt 1999: probabilistic outputs for support vector machines",
    data=("reuters21578", "a9a", "web"),
    parts=all_parts,
    tables=all_tables,
    figures=all_figures,
    claims=all_claims,
    story=tell,
)
