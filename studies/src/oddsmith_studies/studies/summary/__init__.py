"""Summary: every calibrator over the score sets of all the documents, and the map of which one wins where."""

from oddsmith_studies.studies._study import Study
from oddsmith_studies.studies.summary.evidence import all_evidence
from oddsmith_studies.studies.summary.facts import all_remarks
from oddsmith_studies.studies.summary.figures import all_figures
from oddsmith_studies.studies.summary.parts import all_parts
from oddsmith_studies.studies.summary.tables import all_tables

STUDY = Study(
    name="summary",
    title="Which calibrator should I take? A map over classifiers, calibration sizes and shares of positives",
    data=(
        "reuters21578",
        "20newsgroups",
        "ohsumed",
        "sentiment",
        "covtype",
        "adult",
        "letter",
        "indian_pines",
        "phishing",
        "web",
        "imdb",
    ),
    parts=all_parts,
    tables=all_tables,
    figures=all_figures,
    evidence=all_evidence,
    remarks=all_remarks,
)
