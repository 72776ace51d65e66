"""Pictures of one category's scores: the empirical log-odds, and the densities of both classes."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit
from sklearn.base import clone

from oddsmith import Calibrator, ScoreTable
from oddsmith.checks import Floats
from oddsmith.errors import OddsmithWarning
from oddsmith.plots import DensityDisplay, ScoreSpaceDisplay
from oddsmith.table.quantiles import quantiles
from oddsmith_studies.studies._study import Json
from oddsmith_studies.studies._text_methods import METHODS, inputs_of

if TYPE_CHECKING:
    pass

_BINS_A_CLASS = 15


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


def log_odds_picture(part: Json, names: Sequence[str]) -> ScoreSpaceDisplay:
    """Return the empirical log-odds of training and test scores, with fits to the former."""
    tables = shown_tables(part)
    return ScoreSpaceDisplay.from_tables(
        {"training scores": tables["train"], "test scores": tables["test"]},
        maps=refit(tables["train"], names),
        edges=_edges(list(tables.values())),
    )


def _edges(tables: Sequence[ScoreTable]) -> Floats:
    """Return edges of bins in which each class of the first table has its share.

    Bins of equal weight would leave a rare class one or two of them.
    """
    scores = tables[0].scores
    shares = np.arange(1, _BINS_A_CLASS) / _BINS_A_CLASS
    inner = [quantiles(scores, weight, shares) for weight in (tables[0].pos, tables[0].neg)]
    ends = [min(table.span()[0] for table in tables), max(table.span()[1] for table in tables)]
    return np.unique(np.concatenate([*inner, ends]))


def density_picture(part: Json, half: str, names: Sequence[str]) -> DensityDisplay:
    """Return the distributions of one half's scores by class, with densities fitted to the training scores."""
    tables = shown_tables(part, log_odds=True)
    return DensityDisplay.from_table(tables[half], calibrators=refit(tables["train"], names))
