"""What is boosted: styles of stumps and trees, and for how many rounds."""

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from sklearn.tree import DecisionTreeClassifier

from oddsmith_studies.learners import BoostedClassifier, SmoothedTreeClassifier
from oddsmith_studies.studies._study import DEFAULT_GRID, Setting
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.growing import SortedTreeClassifier

STUMPS, TWO_LEVELS, TREES = "stumps", "two-level trees", "trees"
BASES = (STUMPS, TWO_LEVELS, TREES)
EXPONENTIAL, LOG = "exponential", "log"

PAPER = "paper"
GRIDS = (DEFAULT_GRID, PAPER)

_DEPTHS = {STUMPS: 1, TWO_LEVELS: 2, TREES: None}
_SHAPES: dict[str, dict[str, Any]] = {
    "unpruned": {},
    "pruned": {"ccp_alpha": 1e-3},
    "five per leaf": {"min_samples_leaf": 5},
    "10 per leaf": {"min_samples_leaf": 10},
    "25 per leaf": {"min_samples_leaf": 25},
    "50 per leaf": {"min_samples_leaf": 50},
}
#: Shapes of the document's grid; the others are readings.
_PAPER_SHAPES = ("unpruned", "pruned", "five per leaf", "50 per leaf")
#: Splitting criteria and tree growers of the document that cannot be had.
ABSENT = ("MML", "SMML", "ID3", "CART0", "C4.5")
#: Fuller leaves of full trees, as readings.
LEAVES = ("five per leaf", "10 per leaf", "25 per leaf", "50 per leaf")

#: A full tree on the 200 bands of HS takes longest.
_SLOW, _SLOW_ROUNDS = "HS", 256
_ROUNDS = {
    DEFAULT_GRID: {STUMPS: 2048, TWO_LEVELS: 1024, TREES: 1024},
    PAPER: {STUMPS: 8192, TWO_LEVELS: 2048, TREES: 2048},
}
_QUICK_ROUNDS = {STUMPS: 16, TWO_LEVELS: 8, TREES: 8}


class Style(NamedTuple):
    """A kind of base classifier."""

    base: str
    criterion: str
    shape: str = "unpruned"
    leaves: str = "none"

    def __str__(self) -> str:
        words = [self.criterion]
        words += [self.shape] if self.shape != "unpruned" else []
        words += [self.leaves] if self.leaves != "none" else []
        return ", ".join(words)


def styles(setting: Setting, base: str) -> list[Style]:
    """Return the styles of a base that a run tries.

    The document's package of tree growers cannot be had. The default grid has two splitting criteria, and for full
    trees two smoothings of leaves; the paper's grid has least error as a third criterion of stumps, and trees of four
    shapes with three kinds of leaves. Two-level trees, a footnote there, come in the two criteria.
    """
    criteria = ("gini",) if setting.quick else ("gini", "entropy")
    paper = setting.grid == PAPER
    if base == TREES:
        shapes = _PAPER_SHAPES if paper else ("unpruned",)
        leaves = ("none", "laplace", "bayesian") if paper else ("laplace", "bayesian")
        return [Style(base, *each) for each in product(criteria, shapes, leaves)]
    found = [Style(base, criterion) for criterion in criteria]
    return [*found, Style(base, "error")] if paper and base == STUMPS else found


def last_round(setting: Setting, base: str, problem: str) -> int:
    """Return for how many rounds a base is boosted."""
    if setting.quick:
        return _QUICK_ROUNDS[base]
    if setting.grid == DEFAULT_GRID and problem == _SLOW and base != STUMPS:
        return _SLOW_ROUNDS
    return _ROUNDS[setting.grid][base]


def rounds(last: int) -> list[int]:
    """Return the rounds after which a model is tried: 2, 4, 8, … as in the document."""
    return [2**power for power in range(1, last.bit_length()) if 2**power <= last]


def make_boosted(style: Style, loss: str, last: int, seed: int) -> BoostedClassifier:
    """Return a classifier that has not been fitted.

    Full trees get a bootstrap sample drawn by the weights, for they would leave no error on rows that they saw; stumps
    and two-level trees get the weights.
    """
    if style.criterion == "error":
        return BoostedClassifier(None, last, loss=loss, random_state=seed)
    how = {"criterion": style.criterion, "max_depth": _DEPTHS[style.base], **_SHAPES[style.shape]}
    base: Any
    if style.shape != "pruned":
        base = SortedTreeClassifier(**how, leaves=style.leaves)
    else:
        base = SmoothedTreeClassifier(DecisionTreeClassifier(**how), style.leaves)
    sampling = "resample" if style.base == TREES else "reweight"
    return BoostedClassifier(base, last, loss=loss, sampling=sampling, random_state=seed)


def ways_to_vote(base: str) -> Sequence[str]:
    """Return how hypotheses vote: 0 or 1 as in the document's equation 4, and full trees also by the leaf's P."""
    return ("discrete", "real") if base == TREES else ("discrete",)
