"""Expected performance of a model on rows whose labels have not arrived."""

from oddsmith.expected.performance import expected_performance, observed_performance, promises
from oddsmith.expected.results import BLIND as BLIND
from oddsmith.expected.results import Expectation, ExpectedPerformance, Promise
from oddsmith.expected.weights import importance_weights

__all__ = [
    "Expectation",
    "ExpectedPerformance",
    "Promise",
    "expected_performance",
    "importance_weights",
    "observed_performance",
    "promises",
]
