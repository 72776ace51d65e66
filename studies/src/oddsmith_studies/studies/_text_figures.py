"""Pictures of one category's scores: the empirical log-odds, and the densities of both classes."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone

from oddsmith import Calibrator, ScoreTable
from oddsmith.checks import Floats
from oddsmith.data.weighted_quantiles import quantiles
from oddsmith.errors import OddsmithWarning
from oddsmith.plots import DensityDisplay, ScoreSpaceDisplay
from oddsmith_studies.studies._figures import ONE_CLASS, Adjusted
from oddsmith_studies.studies._study import Json
from oddsmith_studies.studies._text_methods import METHODS, inputs_of
from oddsmith_studies.studies._text_scores import BAYES, LOGISTIC, PERCEPTRON, SVM

_BINS_PER_CLASS = 15


def shown_tables(part: Json, *, log_odds: bool = False) -> dict[str, ScoreTable]:
    """Return the scores of a part's shown category, of training rows by five folds and of test rows.

    They are what the calibrators were given; with ``log_odds`` a probability is left as the log-odds it came from.
    """
    shown = part["shown"]
    found = {}
    for half in ("train", "test"):
        scores = np.array(shown[half])
        if inputs_of(part["classifier"])[0] == "probability" and not log_odds:
            scores = expit(scores)
        found[half] = ScoreTable.from_arrays(scores, np.array(shown[f"y_{half}"]))
    return found


def refit(table: ScoreTable, names: Sequence[str]) -> dict[str, Calibrator]:
    """Fit methods again to draw them; what was odd was counted when it was computed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        return {name: clone(METHODS[name]).fit_table(table) for name in names}


#: Log-odds that all pictures of a study show, so that they can be compared.
_LOG_ODDS = (-11.0, 9.0)
#: What the score of a classifier is.
_SCORES = {BAYES: "log-odds of naive Bayes", SVM: "margin", LOGISTIC: "probability", PERCEPTRON: "log ratio of votes"}
#: Shares of negatives and of positives whose scores are drawn; a few naive Bayes scores lie far beyond the others.
_DRAWN = (0.01, 0.75)

#: What captions say of `log_odds_picture`.
LOG_ODDS_NOTE = (
    "Bins end at equal shares of either class of the training scores; triangles are bins with one class only, bars "
    f"95 % intervals. For naive Bayes the highest {100 * (1 - _DRAWN[1]):.0f} % of the positives and the lowest "
    f"{100 * _DRAWN[0]:.0f} % of the negatives lie outside the picture."
)


def log_odds_picture(part: Json, names: Sequence[str]) -> Adjusted:
    """Return the empirical log-odds of training and test scores, with fits to the former."""
    tables = shown_tables(part)
    display = ScoreSpaceDisplay.from_tables(
        {"training scores": tables["train"], "test scores": tables["test"]},
        maps=refit(tables["train"], names),
        edges=bin_edges(list(tables.values())),
    )
    axes: dict[str, Any] = {"ylim": _LOG_ODDS, "xlabel": _SCORES[part["classifier"]]}
    if part["classifier"] == BAYES:
        table = tables["train"]
        low = float(quantiles(table.scores, table.neg, np.array([_DRAWN[0]]))[0])
        axes["xlim"] = (low, float(quantiles(table.scores, table.pos, np.array([_DRAWN[1]]))[0]))
    return Adjusted(display, axes, marks=ONE_CLASS)


def bin_edges(tables: Sequence[ScoreTable]) -> Floats:
    """Return edges of bins in which each class of the first table has its share.

    Bins of equal weight would leave a rare class one or two of them.
    """
    scores = tables[0].scores
    shares = np.arange(1, _BINS_PER_CLASS) / _BINS_PER_CLASS
    inner = [quantiles(scores, weight, shares) for weight in (tables[0].pos, tables[0].neg)]
    ends = [min(table.span()[0] for table in tables), max(table.span()[1] for table in tables)]
    return np.unique(np.concatenate([*inner, ends]))


def density_picture(part: Json, half: str, names: Sequence[str], **axes: Any) -> Adjusted:
    """Return the distributions of one half's scores by class, with densities fitted to the training scores.

    Both halves have the range of the training scores; ``axes`` are further settings of the axes.
    """
    tables = shown_tables(part, log_odds=True)
    fits = refit(tables["train"], names)
    pictures = {key: DensityDisplay.from_table(table, calibrators=fits) for key, table in tables.items()}
    edges = pictures["train"].edges
    tallest = max(float(max(each.pos.max(), each.neg.max())) for each in pictures.values())
    peak = max(float(curve.max()) for curves in pictures["train"].densities.values() for curve in curves)
    same = {"xlim": (edges[0], edges[-1]), "ylim": (0, 1.05 * max(tallest, min(peak, 2 * tallest)))}
    labels = {"xlabel": _SCORES[part["classifier"]]}
    rename = {f"{name} (in-sample)": f"{name}, fitted to training scores" for name in names}
    rename |= {name: f"{name}, fitted to training scores" for name in names}
    return Adjusted(pictures[half], same | labels | axes, rename)
