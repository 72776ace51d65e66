"""How good the probabilities are, against peers, on real data: ``python -m benchmarks.quality``."""
