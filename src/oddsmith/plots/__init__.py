"""Pictures: computed first, drawn after.

Every picture is a display, as in scikit-learn: ``from_predictions`` and ``from_estimator`` compute it and draw it into
``ax``; all other ``from_`` methods, such as ``from_table``, compute only. ``plot(ax=None, theme="light")`` draws it
(again), ``save(path)`` writes it, and in a notebook it shows itself. Nothing global is touched: no settings of
matplotlib, no figures of pyplot.
"""

from oddsmith.plots._bands import Band
from oddsmith.plots.classwise import ClasswiseReliabilityDisplay
from oddsmith.plots.comparison import ComparisonDisplay
from oddsmith.plots.confidence import ConfidenceDisplay
from oddsmith.plots.confusion import ConfusionDisplay
from oddsmith.plots.corp import CorpDisplay
from oddsmith.plots.densities import DensityDisplay
from oddsmith.plots.histogram import PredictionHistogramDisplay
from oddsmith.plots.learning_curve import LearningCurve, LearningCurveDisplay
from oddsmith.plots.reliability import ReliabilityDisplay
from oddsmith.plots.score_space import EmpiricalPoints, ScoreSpaceDisplay
from oddsmith.plots.smooth import SmoothReliabilityDisplay

__all__ = [
    "Band",
    "ClasswiseReliabilityDisplay",
    "ComparisonDisplay",
    "ConfidenceDisplay",
    "ConfusionDisplay",
    "CorpDisplay",
    "DensityDisplay",
    "EmpiricalPoints",
    "LearningCurve",
    "LearningCurveDisplay",
    "PredictionHistogramDisplay",
    "ReliabilityDisplay",
    "ScoreSpaceDisplay",
    "SmoothReliabilityDisplay",
]
