"""The monitor: are the probabilities of a deployed model still right as labels arrive, and what to do if not."""

from oddsmith.monitor.evidence import Evidence as Evidence
from oddsmith.monitor.evidence import MapError as MapError
from oddsmith.monitor.page import page
from oddsmith.monitor.recalibration import Recalibration, recalibrate
from oddsmith.monitor.watching import Batch, Finding, Monitor, Watch
from oddsmith.monitor.watching import has_steps as has_steps
from oddsmith.monitor.watching import readings as readings
from oddsmith.monitor.watching import refuse_other_labels as refuse_other_labels

__all__ = ["Batch", "Finding", "Monitor", "Recalibration", "Watch", "page", "recalibrate"]
