"""The monitor: are the probabilities of a deployed model still right as labels arrive, and what to do if not."""

from oddsmith.monitor.evidence import Evidence as Evidence
from oddsmith.monitor.evidence import MapError as MapError
from oddsmith.monitor.findings import Batch, Finding, Watch
from oddsmith.monitor.forecasts import has_steps as has_steps
from oddsmith.monitor.forecasts import possible_classes as possible_classes
from oddsmith.monitor.forecasts import readings as readings
from oddsmith.monitor.forecasts import refuse_other_labels as refuse_other_labels
from oddsmith.monitor.forecasts import steps_of as steps_of
from oddsmith.monitor.forecasts import values_of as values_of
from oddsmith.monitor.page import page
from oddsmith.monitor.recalibration import Recalibration, recalibrate
from oddsmith.monitor.watching import Monitor

__all__ = ["Batch", "Finding", "Monitor", "Recalibration", "Watch", "page", "recalibrate"]
