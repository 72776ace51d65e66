"""Penalized logistic fits, globally convergent: steps lower the objective, and the gradient tells when to stop."""

from oddsmith.fitting.designs import FeatureMap as FeatureMap
from oddsmith.fitting.designs import LongDesign as LongDesign
from oddsmith.fitting.designs import design as design
from oddsmith.fitting.designs import fit_rising as fit_rising
from oddsmith.fitting.designs import moment_design as moment_design
from oddsmith.fitting.held_out import HeldOutLaw as HeldOutLaw
from oddsmith.fitting.hinge_fits import HingeFits as HingeFits
from oddsmith.fitting.hinge_fits import hinges as hinges
from oddsmith.fitting.hinge_fits import slope_basis as slope_basis
from oddsmith.fitting.hinge_fits import slopes_of as slopes_of
from oddsmith.fitting.line import Line as Line
from oddsmith.fitting.line import fit_line as fit_line
from oddsmith.fitting.mixture import mixture_weights as mixture_weights
from oddsmith.fitting.newton import Minimum as Minimum
from oddsmith.fitting.newton import rising_step as rising_step
from oddsmith.fitting.sketches import ScoreScale as ScoreScale
from oddsmith.fitting.sketches import Sketch as Sketch
from oddsmith.fitting.sketches import in_blocks as in_blocks
from oddsmith.fitting.sketches import sketch as sketch
from oddsmith.fitting.targets import LABELS as LABELS
from oddsmith.fitting.targets import between_targets as between_targets
from oddsmith.fitting.targets import platt_targets as platt_targets
