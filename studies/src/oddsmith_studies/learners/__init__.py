"""The documents' classifiers that scikit-learn lacks: each is a source of scores to calibrate.

All are binary scikit-learn classifiers with ``decision_function`` (the score), ``log_odds``,
``predict_proba`` and ``predict``; ``classes_`` is sorted and ``classes_[1]`` is the positive class.
"""

from oddsmith_studies.learners.boosting import BoostedClassifier
from oddsmith_studies.learners.kernel_logistic import KernelLogisticRegression
from oddsmith_studies.learners.naive_bayes import MultinomialNaiveBayes
from oddsmith_studies.learners.trees import SmoothedTreeClassifier, TreeCounts, smooth_leaves
from oddsmith_studies.learners.voted_perceptron import VotedPerceptron

__all__ = [
    "BoostedClassifier",
    "KernelLogisticRegression",
    "MultinomialNaiveBayes",
    "SmoothedTreeClassifier",
    "TreeCounts",
    "VotedPerceptron",
    "smooth_leaves",
]
