"""Motives: three reasons that the papers give for probabilities, as experiments.

Costs that are known only when a decision is made, combining classifiers of different kinds, and active learning.
"""

from oddsmith_studies.studies._study import Study
from oddsmith_studies.studies.motives.figures import all_figures
from oddsmith_studies.studies.motives.parts import all_parts
from oddsmith_studies.studies.motives.results import all_evidence, all_facts, all_tables

STUDY = Study(
    name="motives",
    title="Motives: what calibrated probabilities are for",
    data=("reuters21578", "a9a", "imdb"),
    parts=all_parts,
    tables=all_tables,
    figures=all_figures,
    evidence=all_evidence,
    facts=all_facts,
)
