"""Pictures of the study: the document's two figures."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from oddsmith.plots.theme import Theme
from oddsmith_studies.studies._figures import Drawing, Panels, StudyFigure
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._text_features import NEWSGROUPS
from oddsmith_studies.studies._text_figures import LOG_ODDS_NOTE, log_odds_picture
from oddsmith_studies.studies._text_methods import A_LAPLACE, LR, PLR
from oddsmith_studies.studies._text_parts import part_name
from oddsmith_studies.studies._text_scores import BAYES, LOGISTIC, SVM
from oddsmith_studies.studies.zhang_yang_2004.parts import SHOWN

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def all_figures(results: Results) -> list[StudyFigure]:
    """Return the family of distributions, and the empirical log-odds with the three fits."""
    published = results.published
    # From top to bottom as in the document: support vector machine, naive Bayes, logistic regression.
    panels = {
        f"{category}, {classifier}": log_odds_picture(
            results[part_name("main", corpus, classifier)], (LR, A_LAPLACE, PLR)
        )
        for classifier in (SVM, BAYES, LOGISTIC)
        for corpus, category in SHOWN.items()
    }
    return [
        StudyFigure(
            "family",
            "Asymmetric Laplace distributions with mode 0, rate 1 on the left and several rates on the right "
            "(the document's Figure 1).",
            Drawing(partial(_draw_family, family=published.figures["family"])),
        ),
        StudyFigure(
            "log-odds",
            "Empirical log-odds of training and test scores, and the three fits to the training scores (the document's "
            f"Figure 2). Left: earn of Reuters-21578; right: {SHOWN[NEWSGROUPS]} of {NEWSGROUPS}, in place of "
            f"yugoslavia of TREC-AP. {LOG_ODDS_NOTE} Vertical dashed lines: fitted to probabilities, A. Laplace has "
            "its modes at 0 and 1, where its log-odds jump.",
            Panels(panels, size=(3.4, 2.5), alike=True),
        ),
    ]


def _draw_family(ax: "Axes", look: Theme, family: dict[str, object]) -> None:
    beta = float(family["beta"])  # type: ignore[arg-type]
    x = np.linspace(-4, 4, 801)
    for series, gamma in enumerate(family["gamma"]):  # type: ignore[arg-type,var-annotated]
        density = beta * gamma / (beta + gamma) * np.exp(np.where(x <= 0, beta * x, -gamma * x))
        ax.plot(x, density, label=f"γ = {gamma:g}", **look.ink(series).line())
    ax.set(xlabel="x", ylabel=f"density, β = {beta:g}")
