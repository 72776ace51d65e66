"""Oddsmith turns the scores of any classifier into probabilities that mean what they say."""

from oddsmith.calibrators import *  # noqa: F403
from oddsmith.table import ScoreTable
