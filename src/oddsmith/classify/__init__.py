"""Classifiers with calibrated probabilities: scores of any classifier, protocols, several classes."""

import typing as _typing
from functools import partial as _partial

from oddsmith._foreign_names import refuse as _refuse
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

if not _typing.TYPE_CHECKING:  # for which it would make every name known
    __getattr__ = _partial(_refuse, __name__)
