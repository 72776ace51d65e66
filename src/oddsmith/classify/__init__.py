"""Classifiers with calibrated probabilities: scores of any classifier, protocols, several classes."""

from oddsmith.classify.classifier import CalibratedClassifier
from oddsmith.classify.coupling import couple_code_matrix, couple_pairwise, normalize_one_vs_rest
from oddsmith.classify.protocols import score_tables
from oddsmith.classify.scores import ClassifierScores, classifier_scores

__all__ = [
    "CalibratedClassifier",
    "ClassifierScores",
    "classifier_scores",
    "couple_code_matrix",
    "couple_pairwise",
    "normalize_one_vs_rest",
    "score_tables",
]
