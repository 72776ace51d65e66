"""Classifiers with calibrated probabilities: scores of any classifier, protocols, several classes."""

from oddsmith.classify.auto_scaling import AutoScaling
from oddsmith.classify.class_fit import fit_class_rows as fit_class_rows
from oddsmith.classify.classifier import CalibratedClassifier
from oddsmith.classify.coupling import couple_code_matrix, couple_pairwise, normalize_one_vs_rest
from oddsmith.classify.methods import SCALINGS as SCALINGS
from oddsmith.classify.protocols import score_tables
from oddsmith.classify.scaling import DirichletScaling, MatrixScaling, TemperatureScaling, VectorScaling
from oddsmith.classify.scaling import JointScaling as JointScaling
from oddsmith.classify.scores import ClassifierScores, classifier_scores

__all__ = [
    "AutoScaling",
    "CalibratedClassifier",
    "ClassifierScores",
    "DirichletScaling",
    "MatrixScaling",
    "TemperatureScaling",
    "VectorScaling",
    "classifier_scores",
    "couple_code_matrix",
    "couple_pairwise",
    "normalize_one_vs_rest",
    "score_tables",
]
