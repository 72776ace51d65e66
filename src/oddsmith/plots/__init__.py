"""Pictures: computed first, drawn after.

Every picture is a display, as in scikit-learn: ``from_predictions`` and ``from_estimator`` compute it and draw it into
``ax``; all other ``from_`` methods, such as ``from_table``, compute only. ``plot(ax=None, theme="light")`` draws it
(again), ``save(path)`` writes it, and in a notebook it shows itself. Nothing global is touched: no settings of
matplotlib, no figures of pyplot.
"""

import typing as _typing
from functools import partial as _partial
from types import ModuleType as _Module

from oddsmith._foreign_names import refuse as _refuse
from oddsmith.plots._bands import Band as Band
from oddsmith.plots.belt import CalibrationBeltDisplay as CalibrationBeltDisplay
from oddsmith.plots.classwise import ClasswiseReliabilityDisplay as ClasswiseReliabilityDisplay
from oddsmith.plots.comparison import ComparisonDisplay as ComparisonDisplay
from oddsmith.plots.confidence import ConfidenceDisplay as ConfidenceDisplay
from oddsmith.plots.confusion import ConfusionDisplay as ConfusionDisplay
from oddsmith.plots.corp import CorpDisplay as CorpDisplay
from oddsmith.plots.cumulative import CumulativeCalibrationDisplay as CumulativeCalibrationDisplay
from oddsmith.plots.decision_curve import DecisionCurveDisplay as DecisionCurveDisplay
from oddsmith.plots.decision_curve import NetBenefitDifferenceDisplay as NetBenefitDifferenceDisplay
from oddsmith.plots.decomposition import DecompositionDisplay as DecompositionDisplay
from oddsmith.plots.densities import DensityDisplay as DensityDisplay
from oddsmith.plots.densities import HasClassDensities as HasClassDensities
from oddsmith.plots.forest import AuditDisplay as AuditDisplay
from oddsmith.plots.histogram import PredictionHistogramDisplay as PredictionHistogramDisplay
from oddsmith.plots.learning_curve import LearningCurve as LearningCurve
from oddsmith.plots.learning_curve import LearningCurveDisplay as LearningCurveDisplay
from oddsmith.plots.murphy import MurphyDisplay as MurphyDisplay
from oddsmith.plots.reliability import ReliabilityDisplay as ReliabilityDisplay
from oddsmith.plots.risk_coverage import RiskCoverageDisplay as RiskCoverageDisplay
from oddsmith.plots.score_space import EmpiricalPoints as EmpiricalPoints
from oddsmith.plots.score_space import ScoreSpaceDisplay as ScoreSpaceDisplay
from oddsmith.plots.smooth import SmoothReliabilityDisplay as SmoothReliabilityDisplay

#: Every name that is imported here.
__all__ = sorted(name for name, value in globals().items() if name[0] != "_" and not isinstance(value, _Module))

# Names that other rooms use.
from oddsmith.plots.display import Display as Display
from oddsmith.plots.theme import THEMES as THEMES

if not _typing.TYPE_CHECKING:  # for which it would make every name known
    __getattr__ = _partial(_refuse, __name__)
