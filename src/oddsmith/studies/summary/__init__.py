"""Summary: every calibrator over the score sets of all the documents, and the map of which one wins where."""

from oddsmith.studies._study import Study
from oddsmith.studies.summary.claims import all_claims
from oddsmith.studies.summary.figures import all_figures
from oddsmith.studies.summary.parts import all_parts
from oddsmith.studies.summary.story import tell
from oddsmith.studies.summary.tables import all_tables

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
    claims=all_claims,
    story=tell,
)
