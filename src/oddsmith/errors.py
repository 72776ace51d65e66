"""Errors and warnings, one family each.

::

    OddsmithError
    ├── EngineError (RuntimeError)       the engine of the rows failed
    ├── InvalidInputError (ValueError)   scores, labels, weights or a parameter cannot be used
    │   └── ModelFileError               a model file is damaged, edited, too new or not a model file
    └── MissingExtraError (ImportError)  a package of an extra is not installed

    OddsmithWarning (UserWarning)        the fit is valid, but something about it is odd
    ├── SingleClassWarning               only one class has weight: nothing to learn from
    ├── ConstantScoreWarning             all scores are equal
    ├── PredictedLabelWarning            all scores are 0 and 1, or −1 and 1
    ├── SeparableWarning                 a threshold separates the classes perfectly
    ├── ReversedScoreWarning             higher scores go with the negative class
    ├── NegativeSlopeWarning             the fitted map falls where it should rise
    ├── SpikeWarning                     a density's mode sits at the edge of its class
    ├── NonConvergenceWarning            the optimizer stopped before its tolerance
    ├── FarScoreWarning                  a few scores far from the others dominate the fit
    ├── QuantizedSelectionWarning        a mode, knots, bins or a penalty depend on the width of the cells
    ├── InSampleWarning                  rows that calibrate a classifier seem to have trained it
    ├── LostAccuracyWarning              decisions by calibrated probabilities are less often right than by scores
    ├── NoInterceptWarning               a map without intercepts: estimated base rates are biased
    ├── DroppedRowsWarning               rows with missing or infinite values were left out
    ├── UnknownSegmentWarning            rows belong to segments that have no map
    ├── SkippedFoldWarning               a fold cannot be trained, or has no row to score
    ├── StepMapWarning                   a watched map has local errors: more false alarms than its level
    ├── UnseenClassWarning               a fold was trained without one of the classes
    └── UnusedWeightWarning              the classifier takes no weights

Every error reads ``<what must be true>; got <what came>. Hint: <one action>.``
"""

__all__ = [
    "ConstantScoreWarning",
    "DroppedRowsWarning",
    "EngineError",
    "FarScoreWarning",
    "InSampleWarning",
    "InvalidInputError",
    "LostAccuracyWarning",
    "MissingExtraError",
    "ModelFileError",
    "NegativeSlopeWarning",
    "NoInterceptWarning",
    "NonConvergenceWarning",
    "OddsmithError",
    "OddsmithWarning",
    "PredictedLabelWarning",
    "QuantizedSelectionWarning",
    "ReversedScoreWarning",
    "SeparableWarning",
    "SingleClassWarning",
    "SkippedFoldWarning",
    "SpikeWarning",
    "StepMapWarning",
    "UnknownSegmentWarning",
    "UnseenClassWarning",
    "UnusedWeightWarning",
]


class OddsmithError(Exception):
    """Base of all errors raised by this library."""


class EngineError(OddsmithError, RuntimeError):
    """The engine of the rows failed."""


class InvalidInputError(OddsmithError, ValueError):
    """Scores, labels, weights or a parameter cannot be used."""


class ModelFileError(InvalidInputError):
    """A model file is damaged, edited, written by a newer version, or not a model file."""


class MissingExtraError(OddsmithError, ImportError):
    """A package is missing that an extra of this library installs."""


class OddsmithWarning(UserWarning):
    """Base of all warnings issued by this library."""


class SingleClassWarning(OddsmithWarning):
    """Only one class has rows with weight, so the fit is a constant."""


class ConstantScoreWarning(OddsmithWarning):
    """All scores are equal, so the fit is a constant."""


class PredictedLabelWarning(OddsmithWarning):
    """All scores are 0 and 1, or −1 and 1: they look like predicted labels, which leave two probabilities."""


class SeparableWarning(OddsmithWarning):
    """A threshold on the score separates the classes perfectly."""


class ReversedScoreWarning(OddsmithWarning):
    """Higher scores go with the negative class: the score may be the wrong way round."""


class NegativeSlopeWarning(OddsmithWarning):
    """The fitted map falls where the score rises."""


class SpikeWarning(OddsmithWarning):
    """The mode of a class-conditional density is at the edge of its class."""


class NonConvergenceWarning(OddsmithWarning):
    """The optimizer stopped before it reached its tolerance."""


class FarScoreWarning(OddsmithWarning):
    """Scores far from the others dominate the fit: without them the others would be forecast better."""


class QuantizedSelectionWarning(OddsmithWarning):
    """A mode, knots, bins or a penalty depend on the width of the cells in which scores were pooled."""


class InSampleWarning(OddsmithWarning):
    """The rows that calibrate a classifier seem to include rows that trained it."""


class SkippedFoldWarning(OddsmithWarning):
    """A fold has only one class to train on, or scores only rows of classes that it was not trained on."""


class StepMapWarning(OddsmithWarning):
    """A watched map has local errors that are not allowed for, such as steps by segment: false alarms exceed alpha."""


class UnseenClassWarning(OddsmithWarning):
    """A fold was trained without a class: its rows of that class are not used to calibrate."""


class LostAccuracyWarning(OddsmithWarning):
    """Decisions by calibrated probabilities are clearly less often right than those by the scores themselves."""


class UnknownSegmentWarning(OddsmithWarning):
    """Rows belong to segments without a map."""


class NoInterceptWarning(OddsmithWarning):
    """A scaling of several classes has no intercepts, so base rates that are estimated with it are biased."""


class UnusedWeightWarning(OddsmithWarning):
    """The classifier takes no weights: only the calibrator uses them."""


class DroppedRowsWarning(OddsmithWarning):
    """Rows with missing or infinite values were left out."""


class UntestedDialectWarning(OddsmithWarning):
    """SQL was written in a dialect that the tests of this library do not run."""
