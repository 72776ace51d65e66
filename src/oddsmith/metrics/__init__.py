"""Measures of forecasts, with their tests and intervals.

A measure is a plain function, ``measure(y_true, y_prob, sample_weight=None, *, pos_label=None)``, that returns a float;
what it computes is defined on a forecast, a `ScoreTable` whose score is a log-odds: ``measure.of(table)``. Rows of
class probabilities make a `ClassForecast`. `MEASURES` contains what summaries, reports and the command line show, and
`register_measure` adds to it.
"""

import typing as _typing
from functools import partial as _partial
from types import ModuleType as _Module

from oddsmith._foreign_names import refuse as _refuse

# isort: off
# Measures first, in the order in which summaries show them.
from oddsmith.metrics.measure import MEASURES as _MEASURES
from oddsmith.metrics.measure import Figure as Figure
from oddsmith.metrics.measure import ForecastFunction as ForecastFunction
from oddsmith.metrics.measure import Measure as Measure
from oddsmith.metrics.measure import forecast_from_arrays as forecast_from_arrays
from oddsmith.metrics.measure import measure as measure
from oddsmith.metrics.measure import register_measure as register_measure
from oddsmith.metrics.proper import Decomposition as Decomposition
from oddsmith.metrics.proper import brier_discrimination as brier_discrimination
from oddsmith.metrics.proper import brier_miscalibration as brier_miscalibration
from oddsmith.metrics.proper import brier_uncertainty as brier_uncertainty
from oddsmith.metrics.proper import decompose as decompose
from oddsmith.metrics.proper import log_loss as log_loss
from oddsmith.metrics.proper import log_loss_discrimination as log_loss_discrimination
from oddsmith.metrics.proper import log_loss_miscalibration as log_loss_miscalibration
from oddsmith.metrics.proper import log_loss_uncertainty as log_loss_uncertainty
from oddsmith.metrics.proper import root_mean_squared_error as root_mean_squared_error
from oddsmith.metrics.proper import squared_error as squared_error
from oddsmith.metrics.proper import zero_one_error as zero_one_error
from oddsmith.metrics.reliability import ErrorDefinition as ErrorDefinition
from oddsmith.metrics.reliability import calibration_error as calibration_error
from oddsmith.metrics.reliability import classwise_calibration_error as classwise_calibration_error
from oddsmith.metrics.reliability import top_label_calibration_error as top_label_calibration_error
from oddsmith.metrics.smooth import e90 as e90
from oddsmith.metrics.smooth import integrated_calibration_index as integrated_calibration_index
from oddsmith.metrics.smooth import smooth_calibration_error as smooth_calibration_error
from oddsmith.metrics.slope import calibration_intercept as calibration_intercept
from oddsmith.metrics.slope import calibration_slope as calibration_slope
from oddsmith.metrics.ranking import accuracy as accuracy
from oddsmith.metrics.ranking import average_precision as average_precision
from oddsmith.metrics.ranking import break_even as break_even
from oddsmith.metrics.ranking import distinct_outputs as distinct_outputs
from oddsmith.metrics.ranking import lift as lift
from oddsmith.metrics.ranking import roc_auc as roc_auc

from oddsmith.metrics.belt import CalibrationBelt as CalibrationBelt
from oddsmith.metrics.belt import calibration_belt as calibration_belt
from oddsmith.metrics.calibration_tests import CalibrationTest as CalibrationTest
from oddsmith.metrics.calibration_tests import calibration_in_the_large_test as calibration_in_the_large_test
from oddsmith.metrics.calibration_tests import cox_test as cox_test
from oddsmith.metrics.calibration_tests import hosmer_lemeshow_test as hosmer_lemeshow_test
from oddsmith.metrics.calibration_tests import kolmogorov_smirnov_test as kolmogorov_smirnov_test
from oddsmith.metrics.calibration_tests import kuiper_test as kuiper_test
from oddsmith.metrics.calibration_tests import spiegelhalter_test as spiegelhalter_test
from oddsmith.metrics.canonical import canonical_calibration_error as canonical_calibration_error
from oddsmith.metrics.verdict import Verdict as Verdict
from oddsmith.metrics.verdict import verdict as verdict
from oddsmith.metrics.calibration_tests import ClassTests as ClassTests
from oddsmith.metrics.calibration_tests import classwise_test as classwise_test
from oddsmith.metrics.classes import ClassForecast as ClassForecast
from oddsmith.metrics.classes import class_forecast as class_forecast
from oddsmith.metrics.clinical import ClinicalSheet as ClinicalSheet
from oddsmith.metrics.clinical import clinical_sheet as clinical_sheet
from oddsmith.metrics.compare import compare as compare
from oddsmith.metrics.comparison import Comparison as Comparison
from oddsmith.metrics.comparison import MeasureComparison as MeasureComparison
from oddsmith.metrics.curves import CumulativeCalibration as CumulativeCalibration
from oddsmith.metrics.curves import EmpiricalLogOdds as EmpiricalLogOdds
from oddsmith.metrics.curves import MurphyCurve as MurphyCurve
from oddsmith.metrics.curves import ReliabilityCurve as ReliabilityCurve
from oddsmith.metrics.curves import cumulative_calibration as cumulative_calibration
from oddsmith.metrics.curves import empirical_log_odds as empirical_log_odds
from oddsmith.metrics.curves import murphy_curve as murphy_curve
from oddsmith.metrics.curves import reliability_curve as reliability_curve
from oddsmith.metrics.fields import DeLongTest as DeLongTest
from oddsmith.metrics.fields import brier_skill_score as brier_skill_score
from oddsmith.metrics.fields import delong_test as delong_test
from oddsmith.metrics.fields import equal_error_rate as equal_error_rate
from oddsmith.metrics.fields import gini as gini
from oddsmith.metrics.fields import ks_separation as ks_separation
from oddsmith.metrics.fields import log_likelihood_ratio_cost as log_likelihood_ratio_cost
from oddsmith.metrics.fields import min_log_likelihood_ratio_cost as min_log_likelihood_ratio_cost
from oddsmith.metrics.fields import nagelkerke_r2 as nagelkerke_r2
from oddsmith.metrics.fields import normalized_entropy as normalized_entropy
from oddsmith.metrics.fields import predicted_observed_ratio as predicted_observed_ratio
from oddsmith.metrics.groups import GroupedForecast as GroupedForecast
from oddsmith.metrics.groups import group_forecast as group_forecast
from oddsmith.metrics.intervals import Interval as Interval
from oddsmith.metrics.intervals import interval as interval
from oddsmith.metrics.net_benefit import DecisionCurve as DecisionCurve
from oddsmith.metrics.net_benefit import NetBenefitDifference as NetBenefitDifference
from oddsmith.metrics.net_benefit import compare_net_benefit as compare_net_benefit
from oddsmith.metrics.net_benefit import decision_curve as decision_curve
from oddsmith.metrics.net_benefit import net_benefit as net_benefit
from oddsmith.metrics.provenance import Forecast as Forecast
from oddsmith.metrics.provenance import HasLogOdds as HasLogOdds
from oddsmith.metrics.provenance import forecast_of as forecast_of
from oddsmith.metrics.resampling_tests import BootstrapTest as BootstrapTest
from oddsmith.metrics.resampling_tests import cluster_sign_flip_test as cluster_sign_flip_test
from oddsmith.metrics.resampling_tests import paired_bootstrap as paired_bootstrap
from oddsmith.metrics.significance import PairedTTest as PairedTTest
from oddsmith.metrics.significance import SignTest as SignTest
from oddsmith.metrics.significance import holm as holm
from oddsmith.metrics.significance import mcnemar_test as mcnemar_test
from oddsmith.metrics.significance import micro_sign_test as micro_sign_test
from oddsmith.metrics.significance import paired_t_test as paired_t_test
from oddsmith.metrics.significance import sign_test as sign_test
from oddsmith.metrics.evaluation import evaluate as evaluate
# isort: on

#: scikit-learn's name of the Brier score.
brier_score_loss = squared_error

#: Measures by name, in the order in which summaries, reports and the command line show them;
#: `register_measure` adds one.
MEASURES = _MEASURES

#: Every name that is imported here.
__all__ = sorted(name for name, value in globals().items() if name[0] != "_" and not isinstance(value, _Module))

# Names that other rooms use.
from oddsmith.metrics.bins import Bins as Bins
from oddsmith.metrics.bins import bin_cells as bin_cells
from oddsmith.metrics.bins import bin_index as bin_index
from oddsmith.metrics.bins import sum_by as sum_by
from oddsmith.metrics.calibration_tests import range_of_brownian_motion as range_of_brownian_motion
from oddsmith.metrics.classes import class_columns as class_columns
from oddsmith.metrics.compare import GROUPS as GROUPS
from oddsmith.metrics.compare import Rows as Rows
from oddsmith.metrics.compare import compare_gains as compare_gains
from oddsmith.metrics.evidence import RELEVANT as RELEVANT
from oddsmith.metrics.evidence import has_many_copies as has_many_copies
from oddsmith.metrics.grouped import mean_and_error_of_groups as mean_and_error_of_groups
from oddsmith.metrics.means import mean_with_interval as mean_with_interval
from oddsmith.metrics.measure import as_forecast as as_forecast
from oddsmith.metrics.measure import checked_level as checked_level
from oddsmith.metrics.measure import probability as probability
from oddsmith.metrics.proper import decision_log_prob as decision_log_prob
from oddsmith.metrics.provenance import is_fitted_to as is_fitted_to
from oddsmith.metrics.provenance import is_in_sample as is_in_sample
from oddsmith.metrics.resampled import equal_rows as equal_rows
from oddsmith.metrics.resampled import labels_again as labels_again
from oddsmith.metrics.resampled import rows_again as rows_again
from oddsmith.metrics.result import Result as Result
from oddsmith.metrics.result import plain as plain
from oddsmith.metrics.significance import Decisions as Decisions
from oddsmith.metrics.significance import mean_and_error as mean_and_error
from oddsmith.metrics.verdict import FIRST as FIRST
from oddsmith.metrics.verdict import Groups as Groups
from oddsmith.metrics.verdict import log_odds_of as log_odds_of
from oddsmith.metrics.verdict import row_evidence as row_evidence
from oddsmith.metrics.verdict import table_groups as table_groups
from oddsmith.metrics.verdict import verdict_of_evidence as verdict_of_evidence

if not _typing.TYPE_CHECKING:  # for which it would make every name known
    __getattr__ = _partial(_refuse, __name__)
