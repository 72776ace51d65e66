"""Pictures of the study: scores of *earn*, their densities, and their log-odds."""

from oddsmith.plots.display import Display
from oddsmith_studies.studies._figures import Panels, StudyFigure
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._text_features import REUTERS
from oddsmith_studies.studies._text_figures import LOG_ODDS_NOTE, density_picture, log_odds_picture
from oddsmith_studies.studies._text_methods import A_GAUSS, A_LAPLACE, GAUSS, HYBRID, LR
from oddsmith_studies.studies._text_parts import part_name
from oddsmith_studies.studies._text_scores import BAYES, PERCEPTRON, SVM
from oddsmith_studies.studies.bennett_2003.parts import CLASSIFIERS, SHOWN

#: Four and a half decades below the peak, so that tails are seen.
_LOGARITHMIC = {
    BAYES: {"yscale": "log", "ylim": (1e-6, 3e-2)},
    SVM: {"yscale": "log", "ylim": (1e-4, 3.0)},
}


def all_figures(results: Results) -> list[StudyFigure]:
    """Return densities of both halves, Gaussians with modes, and empirical log-odds."""
    parts = {classifier: results[part_name("main", REUTERS, classifier)] for classifier in (*CLASSIFIERS, PERCEPTRON)}
    densities: dict[str, Display] = {
        f"{classifier}, {half} scores": density_picture(parts[classifier], key, (A_LAPLACE,))
        for half, key in (("training", "train"), ("test", "test"))
        for classifier in CLASSIFIERS
    }
    gaussians = {
        classifier: density_picture(parts[classifier], "train", (GAUSS, A_GAUSS), **_LOGARITHMIC[classifier])
        for classifier in CLASSIFIERS
    }
    log_odds: dict[str, Display] = {
        classifier: log_odds_picture(part, (LR, A_LAPLACE, HYBRID)) for classifier, part in parts.items()
    }
    return [
        StudyFigure(
            "densities",
            f"Scores of training and test documents for {SHOWN} in Reuters, and asymmetric Laplace distributions "
            "fitted to the training scores.",
            Panels(densities, size=(3.4, 2.3), alike=True),
        ),
        StudyFigure(
            "gaussians",
            f"Gaussian and asymmetric Gaussian densities fitted to the training scores of {SHOWN}, with a logarithmic "
            "axis: in the tails they fall far below the density of the scores there.",
            Panels(gaussians, size=(3.4, 2.5), alike=True),
        ),
        StudyFigure(
            "log-odds",
            f"Empirical log-odds of {SHOWN} in training and test scores, with fits to the training scores. "
            f"{LOG_ODDS_NOTE}",
            Panels(log_odds, columns=3, size=(2.8, 2.6), alike=True),
        ),
    ]
