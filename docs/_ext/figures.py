"""The pictures of the pages, drawn while building by the library's own displays, for light and for dark screens.

Each picture is a function of the theme. Data come with scikit-learn, or are simulated; nothing is fetched.
"""

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from oddsmith import (
    AsymmetricLaplaceCalibrator,
    AutoCalibrator,
    GaussianCalibrator,
    HybridCalibrator,
    IsotonicCalibrator,
    LogisticCalibrator,
    PiecewiseLogisticCalibrator,
    PlattCalibrator,
    ScoreTable,
    SquashCalibrator,
)
from oddsmith.classify import classifier_scores
from oddsmith.errors import SeparableWarning
from oddsmith.metrics import forecast_from_arrays, log_loss
from oddsmith.plots import (
    CorpDisplay,
    DensityDisplay,
    LearningCurveDisplay,
    ReliabilityDisplay,
    ScoreSpaceDisplay,
)

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
Theme = str

FIGURES: dict[str, Callable[[Theme], Figure]] = {}


def figure(draw: Callable[[Theme], Figure]) -> Callable[[Theme], Figure]:
    """Make a function one of the pictures, by its name."""
    FIGURES[draw.__name__.replace("_", "-")] = draw
    return draw


def write(folder: Path) -> None:
    """Draw every picture, light and dark; the same picture is the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "oddsmith"}):
        for name, draw in FIGURES.items():
            for theme in ("light", "dark"):
                drawn = draw(theme)
                path = folder / f"{name}-{theme}.svg"
                drawn.savefig(path, facecolor=drawn.get_facecolor(), metadata={"Date": None, "Creator": None})


class Scores(NamedTuple):
    """Scores of one classifier: of its training rows when they were left out, and of other rows."""

    left_out: Floats
    y: Labels
    other: Floats
    y_other: Labels

    @property
    def table(self) -> ScoreTable:
        """What calibrators are fitted to."""
        return ScoreTable.from_arrays(self.left_out, self.y)

    @property
    def test(self) -> ScoreTable:
        """What they are judged by."""
        return ScoreTable.from_arrays(self.other, self.y_other)


Rows = tuple[Floats, Floats, Labels, Labels]


@cache
def digits() -> Rows:
    """Return training and test images of handwritten digits, and whether each is 5 or more."""
    X, digit = load_digits(return_X_y=True)
    return _halves(X, (digit >= 5).astype(int))


@cache
def noisy_rows() -> Rows:
    """Return training and test rows of which three in ten have a label drawn by lot."""
    return _halves(*make_classification(4000, 10, n_informative=5, flip_y=0.3, random_state=0))


def _halves(X: Floats, y: Labels) -> Rows:
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    return X_train, X_test, y_train, y_test


def scored(rows: Rows, model: Any, score: Callable[[Any, Floats], Floats]) -> Scores:
    """Return the scores that a classifier gives, by five folds and by all training rows."""
    X, X_other, y, y_other = rows
    left_out = np.empty(len(y))
    for rest, fold in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        left_out[fold] = score(model.fit(X[rest], y[rest]), X[fold])
    return Scores(left_out, y, score(model.fit(X, y), X_other), y_other)


@cache
def naive_bayes_scores() -> Scores:
    """Return log-odds of naive Bayes for the digits."""
    return scored(digits(), MultinomialNB(), lambda model, X: np.diff(model.predict_joint_log_proba(X))[:, 0])


@cache
def margins() -> Scores:
    """Return the outputs of a support vector machine for the digits."""
    return scored(digits(), LinearSVC(C=0.01, random_state=0), lambda model, X: model.decision_function(X))


@cache
def boosted_votes() -> Scores:
    """Return the votes of boosted trees for rows that can be told apart, but not easily."""
    rows = _halves(*make_classification(4000, 20, n_informative=8, class_sep=0.5, flip_y=0, random_state=0))
    trees = AdaBoostClassifier(DecisionTreeClassifier(max_depth=4), n_estimators=100, random_state=0)
    return scored(rows, trees, lambda model, X: classifier_scores(model, X, "votes").values[:, 1])


def bent_world(rng: np.random.Generator, n: int) -> tuple[Floats, Labels]:
    """Return scores and labels in the world of the page to play with: distortion 0.6, noise 0.5."""
    log_odds = rng.normal(-0.5, 1.8, n)
    bent = log_odds * (1 + 0.6 * np.where(log_odds > 0, 1.2, 0.3) * np.abs(log_odds))
    return bent + rng.normal(0, 0.5, n), (rng.random(n) < probability(log_odds)).astype(int)


def together(theme: Theme, *displays: Any, **options: Any) -> Figure:
    """Draw displays into one frame."""
    first = displays[0].plot(theme=theme, **options)
    for display in displays[1:]:
        display.plot(ax=first.ax_, theme=theme, **options)
    return first.figure_


def probability(log_odds: Floats) -> Floats:
    """Return the probabilities that log-odds stand for."""
    return 1 / (1 + np.exp(-np.clip(log_odds, -500, 500)))


# what calibration is


@figure
def naive_bayes(theme: Theme) -> Figure:
    """Naive Bayes before and after calibration."""
    scores = naive_bayes_scores()
    calibrated = AutoCalibrator().fit_table(scores.table).predict_proba(scores.other)[:, 1]
    forecasts = {"naive Bayes": probability(scores.other), "calibrated": calibrated}
    tables = {name: forecast_from_arrays(scores.y_other, p) for name, p in forecasts.items()}
    return together(theme, *(ReliabilityDisplay.from_table(table, name=name) for name, table in tables.items()))


@figure
def two_classes(theme: Theme) -> Figure:
    """Where the scores of the two classes lie."""
    return together(theme, DensityDisplay.from_table(naive_bayes_scores().table))


@figure
def score_space(theme: Theme) -> Figure:
    """What the data ask for, and what three methods say."""
    scores = naive_bayes_scores()
    methods = {"Platt": PlattCalibrator(), "isotonic": IsotonicCalibrator(bounded=True)}
    methods |= {"piecewise logistic": PiecewiseLogisticCalibrator(monotone=True)}
    maps = {name: method.fit_table(scores.table) for name, method in methods.items()}
    return together(theme, ScoreSpaceDisplay.from_table(scores.test, maps=maps, n_bins=15))


@figure
def own_rows(theme: Theme) -> Figure:
    """A calibrator that saw the training rows of its classifier, and one that saw others."""
    X, _, y, y_other = noisy_rows()
    model = RandomForestClassifier(50, random_state=0)
    scores = scored(noisy_rows(), model, lambda model, X: model.predict_proba(X)[:, 1])
    left_out, own = IsotonicCalibrator(bounded=True).fit(scores.left_out, y), IsotonicCalibrator(bounded=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparableWarning)  # that is what the picture shows
        own.fit(model.predict_proba(X)[:, 1], y)
    displays = [
        ReliabilityDisplay.from_table(forecast_from_arrays(y_other, fit.predict_proba(scores.other)[:, 1]), name=name)
        for name, fit in (("fitted to training rows", own), ("fitted to rows left out", left_out))
    ]
    return together(theme, *displays)


@figure
def parts_of_the_score(theme: Theme) -> Figure:
    """The two parts of the Brier score."""
    scores = naive_bayes_scores()
    raw = forecast_from_arrays(scores.y_other, probability(scores.other))
    return together(theme, CorpDisplay.from_table(raw, name="naive Bayes"))


@cache
def _losses() -> dict[str, tuple[list[int], list[list[float]]]]:
    """Return the log-loss on many new cases of fits to few, in the world of the page to play with."""
    rng = np.random.default_rng(0)
    methods = {"Platt": PlattCalibrator(), "isotonic": IsotonicCalibrator(bounded=True), "auto": AutoCalibrator()}
    sizes = [2**k for k in range(5, 14)]
    test = bent_world(rng, 50_000)
    found: dict[str, list[list[float]]] = {name: [] for name in ("uncalibrated", *methods)}
    for size in sizes:
        draws = [bent_world(rng, size) for _ in range(8)]
        for name, method in methods.items():
            fits = [method.fit(*draw).predict_proba(test[0])[:, 1] for draw in draws]
            found[name].append([log_loss(test[1], p) for p in fits])
        found["uncalibrated"].append([log_loss(test[1], probability(test[0]))] * 8)
    return {name: (sizes, values) for name, values in found.items()}


@figure
def number_of_cases(theme: Theme) -> Figure:
    """How many cases a calibrator needs."""
    return together(theme, LearningCurveDisplay.from_trials(_losses(), measure="log-loss"))


# the five documents


@figure
def sigmoid_over_margins(theme: Theme) -> Figure:
    """Platt: a sigmoid over the margins of a support vector machine."""
    scores = margins()
    maps = {"Platt": PlattCalibrator().fit_table(scores.table)}
    display = ScoreSpaceDisplay.from_table(scores.test, maps=maps, n_bins=15)
    return together(theme, display, scale="probability")


@figure
def asymmetric_densities(theme: Theme) -> Figure:
    """Bennett: a density for each class, steeper on one side."""
    table = naive_bayes_scores().table
    fits = {"asymmetric Laplace": AsymmetricLaplaceCalibrator(), "Gaussian": GaussianCalibrator()}
    fitted = {name: method.fit_table(table) for name, method in fits.items()}
    return together(theme, DensityDisplay.from_table(table, calibrators=fitted))


@figure
def asymmetric_log_odds(theme: Theme) -> Figure:
    """Bennett: what densities of two sides make of the log-odds."""
    scores = naive_bayes_scores()
    methods = {"asymmetric Laplace": AsymmetricLaplaceCalibrator(), "hybrid": HybridCalibrator()}
    maps = {name: method.fit_table(scores.table) for name, method in methods.items()}
    return together(theme, ScoreSpaceDisplay.from_table(scores.test, maps=maps, n_bins=15))


@figure
def bent_log_odds(theme: Theme) -> Figure:
    """Zhang and Yang: one line, and three that meet."""
    rng = np.random.default_rng(1)
    table, test = (ScoreTable.from_arrays(*bent_world(rng, 4000)) for _ in range(2))
    methods = {"one line": LogisticCalibrator(), "three pieces": PiecewiseLogisticCalibrator()}
    maps = {name: method.fit_table(table) for name, method in methods.items()}
    return together(theme, ScoreSpaceDisplay.from_table(test, maps=maps))


@figure
def boosting(theme: Theme) -> Figure:
    """Niculescu-Mizil and Caruana: boosted votes before and after Platt scaling."""
    scores = boosted_votes()
    platt = PlattCalibrator().fit_table(scores.table).predict_proba(scores.other)[:, 1]
    forecasts = {"boosted trees": scores.other, "after Platt": platt}
    tables = {name: forecast_from_arrays(scores.y_other, p) for name, p in forecasts.items()}
    return together(theme, *(ReliabilityDisplay.from_table(table, name=name) for name, table in tables.items()))


@figure
def three_maps(theme: Theme) -> Figure:
    """The course project: squashing, Platt scaling and isotonic regression."""
    scores = margins()
    methods = {"squashing": SquashCalibrator(), "Platt": PlattCalibrator(), "isotonic": IsotonicCalibrator()}
    maps = {name: method.fit_table(scores.table) for name, method in methods.items()}
    return together(theme, ScoreSpaceDisplay.from_table(scores.test, maps=maps, n_bins=15), scale="probability")
