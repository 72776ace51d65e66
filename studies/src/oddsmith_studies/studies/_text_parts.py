"""A part for each corpus, reading and classifier."""

from oddsmith_studies.studies._study import Json, Part
from oddsmith_studies.studies._text_features import NEWSGROUPS, OHSUMED, REUTERS
from oddsmith_studies.studies._text_methods import calibrate_corpus
from oddsmith_studies.studies._text_scores import BAYES, LOGISTIC, PERCEPTRON, SVM

CORPUS_COST = {REUTERS: 1.0, NEWSGROUPS: 2.0, OHSUMED: 0.6}
CLASSIFIER_COST = {BAYES: 1.0, SVM: 1.0, PERCEPTRON: 1.5, LOGISTIC: 3.0}


def part_name(group: str, corpus: str, classifier: str) -> str:
    """Return the name of a part; groups are "main" and each variant."""
    return f"{group}-{corpus}-{classifier}".lower().replace(" ", "-")


def text_part(group: str, corpus: str, recipe: str, classifier: str, more: dict[str, Json]) -> Part:
    """Return the part that calibrates a classifier on a corpus; ``more`` goes to `calibrate_corpus`."""
    cost = CORPUS_COST[corpus] * CLASSIFIER_COST[classifier]
    arguments = {"corpus": corpus, "recipe": recipe, "classifier": classifier, **more}
    return Part(part_name(group, corpus, classifier), calibrate_corpus, arguments, cost=cost)
