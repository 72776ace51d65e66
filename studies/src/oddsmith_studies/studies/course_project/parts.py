"""What is computed: one random split of the sentences a part."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import LinearSVC

from oddsmith import (
    CalibratedClassifier,
    Calibrator,
    IsotonicCalibrator,
    LogisticCalibrator,
    PlattCalibrator,
    ScoreTable,
    SquashCalibrator,
)
from oddsmith.checks import Bools, Floats
from oddsmith.classify import classifier_scores
from oddsmith.maps.base import logit
from oddsmith.metrics import (
    ErrorDefinition,
    calibration_error,
    calibration_intercept,
    calibration_slope,
    classwise_calibration_error,
    cox_test,
    forecast_from_arrays,
    log_loss,
    squared_error,
    top_label_calibration_error,
    zero_one_error,
)
from oddsmith_studies.data import COURSE_STOP_WORDS, count_words, load_sentences
from oddsmith_studies.learners import MultinomialNaiveBayes
from oddsmith_studies.studies._study import Json, Part, Setting

Rows = NDArray[np.intp]

WORDS = 5000
TRAIN, CALIBRATION, TEST = 2200, 400, 400

#: For the question of the calibration set's size: fewer sentences to train on leave more to calibrate with.
SMALL_TRAIN = 1000
SIZES = (25, 50, 100, 200, 400, 800, 1600)

#: The document's ten intervals; squared, so that the mean over splits is free of the bias that few cases bring.
GAPS = ErrorDefinition(10, "width", norm="squared", debias="total")

#: The document calls maximum likelihood "Platt scaling"; Platt's own targets are run as well.
METHODS: dict[str, Calibrator] = {
    "squashing": SquashCalibrator(),
    "Platt, b = 0": LogisticCalibrator(fit_intercept=False),
    "Platt": LogisticCalibrator(),
    "Platt, softened targets": PlattCalibrator(),
    "isotonic": IsotonicCalibrator(),
    "isotonic, bounded": IsotonicCalibrator(bounded=True),
}
SIZE_METHODS = ("Platt", "Platt, softened targets", "isotonic", "isotonic, bounded")


class Sentences(NamedTuple):
    """Counts of words, whether a sentence is positive, and the site it stood on."""

    X: Any
    positive: Bools
    site: NDArray[Any]


@cache
def sentences(folder: str | None) -> Sentences:
    """Return the sentences as the document wants them: its stop words dropped, the 5,000 most frequent words kept."""
    corpus = load_sentences(folder)
    # Punctuation is removed, not replaced: "don't" stays one word.
    counts = count_words((text.replace("'", "") for text in corpus.texts), COURSE_STOP_WORDS)
    frequent = np.argsort(-counts.occurrences(), kind="stable")[:WORDS]
    site = np.array([name.partition("/")[0] for name in corpus.ids])
    return Sentences(counts.keep(np.sort(frequent)).X.astype(np.float64), corpus.positive("positive"), site)


def costs(quick: bool) -> list[float]:
    """Return the values of C that are tried."""
    return [2.0**power for power in range(-8, 4, 3 if quick else 1)]


def split_part(setting: Setting, number: int) -> Json:
    """Train, calibrate and judge on one random split, as the document says."""
    data, seed = sentences(setting.data), setting.seed_of("split", number)
    train, calibration, test = draw(data.positive, TRAIN, CALIBRATION, seed)
    svm, errors = train_svm(data.X[train], data.positive[train], costs(setting.quick), seed)
    held = ScoreTable.from_arrays(svm.decision_function(data.X[calibration]), data.positive[calibration])
    new = ScoreTable.from_arrays(svm.decision_function(data.X[test]), data.positive[test])
    fitted = fit_methods(held)
    # The hand-out's two lines of scikit-learn penalize the slope unless told not to.
    rows = as_rows(held)
    penalized = LogisticRegression().fit(rows["scores"][:, None], rows["labels"])
    return {
        "cv_error": errors,
        "cost": svm.C,
        "error": zero_one_error.of(new),
        "slope": fitted["Platt"].a_,
        "intercept": fitted["Platt"].b_,
        "penalized_slope": float(penalized.coef_[0, 0]),
        "measures": {name: _judge(new.map(method.log_odds), len(calibration)) for name, method in fitted.items()},
        "calibration": rows,
        "test": as_rows(new),
    }


def size_part(setting: Setting, number: int) -> Json:
    """Judge Platt and isotonic on calibration sets of several sizes, for several kinds of score."""
    data, seed = sentences(setting.data), setting.seed_of("sizes", number)
    train, pool, test = draw(data.positive, SMALL_TRAIN, SIZES[-1], seed)
    y = data.positive
    kinds = _scores_of_kinds(data, train, np.concatenate([pool, test]), seed, setting.quick)
    found: dict[str, Any] = {}
    for kind, (scores, raw) in kinds.items():
        held, new = scores[: len(pool)], scores[len(pool) :]
        trials: dict[str, list[float]] = {name: [] for name in SIZE_METHODS}
        for size in SIZES:
            # Pairs of a positive and a negative, so that smaller sets are balanced and lie within larger ones.
            rows = _alternating(y[pool])[:size]
            for name in SIZE_METHODS:
                fitted = clone(METHODS[name]).fit(held[rows], y[pool][rows])
                trials[name].append(squared_error.of(ScoreTable.from_arrays(new, y[test]).map(fitted.log_odds)))
        uncalibrated = squared_error.of(forecast_from_arrays(y[test], raw[len(pool) :]))
        found[kind] = {"uncalibrated": [uncalibrated] * len(SIZES), **trials}
    return found


def site_part(setting: Setting, number: int) -> Json:
    """Tell the three sites apart, and calibrate the three margins in several ways."""
    data, seed = sentences(setting.data), setting.seed_of("sites", number)
    classes, y = np.unique(data.site, return_inverse=True)
    train, calibration, test = draw(y, TRAIN, CALIBRATION, seed)
    svm, _ = train_svm(data.X[train], y[train], costs(setting.quick), seed)

    def calibrated(method: Any, **options: Any) -> Floats:
        model = CalibratedClassifier(svm, method, prefit=True, **options)
        return model.fit(data.X[calibration], y[calibration]).predict_proba(data.X[test])

    found = {
        "softmax of the margins": np.asarray(softmax(svm.decision_function(data.X[test]), axis=1)),
        "squashing, normalized": calibrated("squash"),
        "Platt, normalized": calibrated("logistic"),
        "isotonic, normalized": calibrated("isotonic"),
        "Platt of pairs, coupled": calibrated("logistic", multiclass="pairwise"),
        "temperature": calibrated("temperature"),
    }
    judged = {name: _judge_classes(y[test], prob, len(calibration)) for name, prob in found.items()}
    return {"sites": classes, "cost": svm.C, "measures": judged}


def draw(y: NDArray[Any], n_train: int, n_calibration: int, seed: int) -> tuple[Rows, Rows, Rows]:
    """Return rows to train, to calibrate and to test, each with the shares of the classes that all rows have."""
    rest, test = train_test_split(np.arange(len(y)), test_size=TEST, stratify=y, random_state=seed)
    train, calibration = train_test_split(
        rest, train_size=n_train, test_size=n_calibration, stratify=y[rest], random_state=seed
    )
    return train, calibration, test


def train_svm(X: Any, y: NDArray[Any], tried: list[float], seed: int) -> tuple[LinearSVC, list[float]]:
    """Choose C by five folds, the smallest of equals; return the machine trained on all rows, and the errors by C."""
    folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))
    wrong = np.zeros((len(tried), len(folds)))
    for i, cost in enumerate(tried):
        for j, (rest, fold) in enumerate(folds):
            machine = LinearSVC(C=cost, dual=False).fit(X[rest], y[rest])
            wrong[i, j] = np.sum(machine.predict(X[fold]) != y[fold])
    errors = wrong.sum(axis=1) / len(y)
    return LinearSVC(C=tried[int(np.argmin(errors))], dual=False).fit(X, y), errors.tolist()


def fit_methods(held: ScoreTable) -> dict[str, Calibrator]:
    """Fit every method to the calibration set."""
    return {name: clone(method).fit_table(held) for name, method in METHODS.items()}


def as_rows(table: ScoreTable) -> dict[str, Any]:
    """Return a table of counts as scores and labels; `from_rows` undoes it."""
    scores, labels, counts = table.to_arrays()
    times = counts.astype(np.int64)
    return {"scores": np.repeat(scores, times), "labels": np.repeat(labels, times)}


def from_rows(rows: Json) -> ScoreTable:
    """Return the table of rows that a part kept."""
    return ScoreTable.from_arrays(rows["scores"], rows["labels"])


def _judge(forecast: ScoreTable, n_calibration: int) -> dict[str, float]:
    """Measure a forecast; where log-odds must be finite, P is clipped 1/(2n) from 0 and 1, n calibration cases."""
    clip = 1 / (2 * n_calibration)
    bound = -float(logit(np.array(clip)))
    finite = forecast.map(lambda scores: np.clip(scores, -bound, bound))
    return {
        "log_loss": log_loss.of(finite),
        "log_loss_at_1e-6": log_loss.of(forecast, clip=1e-6),
        "log_loss_unclipped": log_loss.of(forecast),
        "squared_error": squared_error.of(forecast),
        "error": zero_one_error.of(forecast),
        "gap": float(calibration_error.of(forecast, definition=GAPS)),
        "slope": calibration_slope.of(finite),
        "intercept": calibration_intercept.of(finite),
        "p_value": cox_test.of(finite).p_value,
    }


def _judge_classes(truth: NDArray[Any], prob: Floats, n_calibration: int) -> dict[str, float]:
    clipped = np.clip(prob[np.arange(len(truth)), truth], 1 / (2 * n_calibration), 1)
    labels = np.arange(prob.shape[1])
    hit = labels == truth[:, None]
    return {
        "log_loss": float(-np.log(clipped).mean()),
        "squared_error": float(((prob - hit) ** 2).sum(axis=1).mean()),
        "error": float(np.mean(prob.argmax(axis=1) != truth)),
        "class_gap": classwise_calibration_error(truth, prob, labels=labels, definition=GAPS),
        "top_gap": top_label_calibration_error(truth, prob, labels=labels, definition=GAPS),
    }


def _scores_of_kinds(
    data: Sentences, train: Rows, rows: Rows, seed: int, quick: bool
) -> dict[str, tuple[Floats, Floats]]:
    """Return scores of each kind for rows, and the probabilities that they are without calibration."""
    X, y, new = data.X[train], data.positive[train], data.X[rows]
    margin = train_svm(X, y, costs(quick), seed)[0].decision_function(new)
    odds = MultinomialNaiveBayes().fit(X, y).log_odds(new)
    forest = RandomForestClassifier(100, random_state=seed).fit(X, y)
    votes = classifier_scores(forest, new, "votes").align(forest.classes_)[:, 0]
    squash = SquashCalibrator().fit([-1.0, 1.0], [0, 1])
    squashed, probability = (squash.predict_proba(each)[:, 1] for each in (margin, odds))
    return {
        "SVM, margin": (margin, squashed),
        "naive Bayes, log-odds": (odds, probability),
        "naive Bayes, probability": (probability, probability),
        "random forest, votes": (votes, votes),
    }


def _alternating(y: Bools) -> Rows:
    """Return row numbers, a positive and a negative in turn."""
    return np.column_stack([np.flatnonzero(y), np.flatnonzero(~y)]).ravel()


def all_parts(setting: Setting) -> list[Part]:
    """Return a part for each random split: as the document says, by calibration size, and of three classes."""
    steps = (("split", split_part, 1.2), ("sizes", size_part, 1.5), ("sites", site_part, 2.0))
    return [
        Part(f"{name}-{number:03}", function, {"number": number}, cost)
        for name, function, cost in steps
        for number in range(4 if setting.quick else 100)
    ]
