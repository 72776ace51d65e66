"""What a logistic fit is to forecast for each class: the labels, or Platt's targets."""

from typing import NamedTuple, TypeVar

from oddsmith._types import Floats
from oddsmith.data import Sample

Amount = TypeVar("Amount", float, Floats)


class Targets(NamedTuple):
    """Shares of a case that pull its forecast up and down, t₊, 1 − t₊, t₋ and 1 − t₋: all are kept, none is rounded."""

    pos_up: float
    pos_down: float
    neg_up: float
    neg_down: float

    def up(self, pos: Amount, neg: Amount) -> Amount:
        """Return how much of the weight of both classes pulls up."""
        return self.pos_up * pos + self.neg_up * neg

    def down(self, pos: Amount, neg: Amount) -> Amount:
        """Return how much of it pulls down."""
        return self.pos_down * pos + self.neg_down * neg


#: The labels themselves.
LABELS = Targets(1.0, 0.0, 0.0, 1.0)


def platt_targets(data: Sample) -> Targets:
    """Return t₊ = (N₊ + 1)/(N₊ + 2) and t₋ = 1/(N₋ + 2)."""
    n_pos, n_neg = data.n_pos + 2, data.n_neg + 2
    return Targets((n_pos - 1) / n_pos, 1 / n_pos, 1 / n_neg, (n_neg - 1) / n_neg)


def between_targets(shares: Amount, data: Sample) -> Amount:
    """Return shares of positives drawn in from [0, 1] to the range of Platt's targets."""
    high, _, low, _ = platt_targets(data)
    return low + (high - low) * shares
