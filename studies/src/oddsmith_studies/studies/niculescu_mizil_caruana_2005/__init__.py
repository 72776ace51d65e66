"""Niculescu-Mizil & Caruana 2005: calibrated probabilities from boosting."""

from oddsmith_studies.studies._study import Study
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.evidence import all_evidence
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.facts import all_facts, all_remarks
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.figures import all_figures
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import GRIDS
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.readings import every_part
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tables import all_tables

STUDY = Study(
    name="niculescu-mizil-caruana-2005",
    title="Niculescu-Mizil & Caruana 2005: calibrated probabilities from boosting",
    data=("covtype", "adult", "letter", "indian_pines", "phishing", "web", "imdb"),
    grids=GRIDS,
    parts=every_part,
    tables=all_tables,
    figures=all_figures,
    evidence=all_evidence,
    facts=all_facts,
    remarks=all_remarks,
    version=4,
)
