"""Scores of boosted classifiers after many rounds: of new rows, of the training rows, and of rows held out in folds."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from oddsmith.checks import Floats
from oddsmith_studies.learners import BoostedClassifier
from oddsmith_studies.learners.stumps import Stump
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import Style, make_boosted, ways_to_vote
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.growing import SortedTreeClassifier
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tasks import Sample

FOLDS = 3


class Stage(NamedTuple):
    """F = Σαh after some rounds, h in [−1, 1], and Σα."""

    total: Floats
    weight: float

    @property
    def share(self) -> Floats:
        """f, the weighted share of votes for the positive class."""
        if self.weight == 0:
            return np.full_like(self.total, 0.5)
        return np.clip((1 + self.total / self.weight) / 2, 0.0, 1.0)


class Scores(NamedTuple):
    """The scores of one model after one number of rounds.

    ``held`` are the shares of votes for the training rows by models that were trained on two other thirds.
    """

    train: Stage
    validation: Stage
    test: Stage
    held: Floats | None


def boost(
    drawn: Sample, style: Style, loss: str, at: Sequence[int], *, seed: int, fold_seed: int | None
) -> dict[str, dict[int, Scores]]:
    """Boost once, with ``fold_seed`` also without each third of the rows; return scores by way to vote and round.

    A way to vote changes what the hypotheses add up to, not which they are: one run serves both.
    """
    ways = ways_to_vote(style.base)
    model = make_boosted(style, loss, max(at), seed).fit(drawn.X_train, drawn.y_train)
    train, validation, test = (_staged(model, X, at, ways) for X in (drawn.X_train, drawn.X_validation, drawn.X_test))
    held: dict[str, dict[int, Floats]] = {way: {} for way in ways}
    if fold_seed is not None:
        held = {way: {number: np.empty(len(drawn.y_train)) for number in at} for way in ways}
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=fold_seed)
        for place, (rest, fold) in enumerate(folds.split(drawn.X_train, drawn.y_train), 1):
            model = make_boosted(style, loss, max(at), seed + place).fit(drawn.X_train[rest], drawn.y_train[rest])
            for way, stages in _staged(model, drawn.X_train[fold], at, ways).items():
                for number, stage in stages.items():
                    held[way][number][fold] = stage.share
    return {
        way: {
            number: Scores(train[way][number], validation[way][number], test[way][number], held[way].get(number))
            for number in at
        }
        for way in ways
    }


def _staged(model: BoostedClassifier, X: Floats, at: Sequence[int], ways: Sequence[str]) -> dict[str, dict[int, Stage]]:
    """Return scores after some rounds; where boosting stopped earlier, as it ended."""
    totals = {way: np.zeros(len(X)) for way in ways}
    weight, found = 0.0, {way: {0: Stage(np.zeros(len(X)), 0.0)} for way in ways}
    for number, (alpha, hypothesis) in enumerate(zip(model.estimator_weights_, model.estimators_, strict=True), 1):
        positive = _probability(hypothesis, X)
        weight += float(alpha)
        for way in ways:
            vote = 2 * positive - 1 if way == "real" else np.where(positive > 0.5, 1.0, -1.0)
            totals[way] += alpha * vote
        if number in at or number == len(model.estimators_):
            for way in ways:
                found[way][number] = Stage(totals[way].copy(), weight)
    return {
        way: {rounds: stages[max(done for done in stages if done <= rounds)] for rounds in at}
        for way, stages in found.items()
    }


def _probability(hypothesis: Any, X: Floats) -> Floats:
    """Return P(+) of each row's leaf."""
    if isinstance(hypothesis, Stump):
        return (hypothesis.score(X) + 1) / 2
    if isinstance(hypothesis, SortedTreeClassifier):
        return hypothesis.leaf_probability(X)
    # The rows are checked and of the tree's own type: checking them again each round takes longer than the tree.
    leaf = hypothesis.estimator_.apply(X, check_input=False)
    result: Floats = hypothesis.node_probability_[leaf]
    return result
