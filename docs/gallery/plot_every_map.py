"""
The map of every calibrator
===========================

Every method, fitted to the same 400 cases. Dots are the shares of positives in 20 groups of 4,000 other cases.
"""

import warnings

import numpy as np
from matplotlib.figure import Figure

from oddsmith import ScoreTable
from oddsmith.calibrators.registry import METHODS
from oddsmith.errors import OddsmithWarning
from oddsmith.plots import ScoreSpaceDisplay

rng = np.random.default_rng(0)
log_odds = rng.normal(-0.5, 2, 4400)
y = rng.random(4400) < 1 / (1 + np.exp(-log_odds))
scores = np.minimum(2.5 * log_odds, log_odds)  # too sure of negatives

fit = ScoreTable.from_arrays(scores[:400], y[:400])
held_out = ScoreTable.from_arrays(scores[400:], y[400:])


def draw(methods):
    """Draw the maps of some methods, three in a row."""
    rows = -(-len(methods) // 3)
    drawn = Figure(figsize=(6, 0.6 + 1.7 * rows), layout="compressed")
    drawn.supxlabel("score")
    drawn.supylabel("probability")
    panels = drawn.subplots(rows, 3, sharex=True, sharey=True).ravel()
    for panel, name in zip(panels, methods, strict=False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OddsmithWarning)  # poor fits are shown, too
            fitted = METHODS[name]().fit_table(fit)
        ScoreSpaceDisplay.from_table(held_out, maps={name: fitted}, n_bins=20).plot(panel, scale="probability")
        panel.get_legend().remove()
        panel.set(xlabel="", ylabel="")
        panel.set_title(name, fontsize="medium")
    for panel in panels[len(methods) :]:
        panel.remove()
    for panel in panels[: len(methods)][-3:]:  # the lowest of each column
        panel.tick_params(labelbottom=True)
    return drawn


# The default, and the classics
first = ["auto", "platt", "isotonic", "piecewise-logistic", "asymmetric-laplace", "asymmetric-gaussian"]
first += ["beta", "venn-abers", "monotone-logistic"]
figure = draw(first)

# %%
# All others, by name:

others = [name for name in METHODS if name not in first]
figure = draw(others)
