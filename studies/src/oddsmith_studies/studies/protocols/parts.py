"""What is computed: one task a part, its calibration scores by every protocol."""

from typing import Any

import numpy as np
from scipy.stats import ks_2samp
from sklearn.base import clone

from oddsmith import AsymmetricLaplaceCalibrator, Calibrator, IsotonicCalibrator, PlattCalibrator, ScoreTable
from oddsmith.checks import Bools, Floats
from oddsmith.classify.protocols import (
    RowNumbers,
    Training,
    fit_folds,
    fit_rows,
    make_splits,
    make_splitter,
    pool,
    score_all,
)
from oddsmith.classify.target import read_target
from oddsmith.maps.base import logit
from oddsmith.metrics.proper import decision_log_prob
from oddsmith.plots.trials import mean_of_trials
from oddsmith_studies.studies._study import Json, Part, Setting
from oddsmith_studies.studies.protocols.tasks import (
    BAYES,
    CATEGORIES,
    SVM,
    TREES,
    Task,
    leave_one_out_scores,
    load_task,
)

IN_SAMPLE, LEAVE_ONE_OUT = "in-sample", "leave-one-out"

#: Protocols by what `CalibratedClassifier` calls cv; two have no folds to draw.
FOLDS: dict[str, int | float] = {
    "30 % held out": 0.3,
    "2 folds": 2,
    "3 folds": 3,
    "5 folds": 5,
    "10 folds": 10,
}
REFERENCES = ("3 folds", "5 folds", "10 folds")

METHODS: dict[str, Calibrator] = {
    "Platt": PlattCalibrator(),
    "isotonic": IsotonicCalibrator(),
    "A. Laplace": AsymmetricLaplaceCalibrator(),
}
_BINS = 40


def task_part(setting: Setting, source: str, classifier: str) -> Json:
    """Calibrate one classifier by all protocols, and judge all on the same test rows.

    The classifier in use is always the one trained on all training rows, so that only the calibration scores differ.
    """
    task = load_task(setting, source, classifier)
    y, truth, middle = task.rows.y_train, task.rows.y_test, 0.5 if task.response_method == "votes" else 0.0
    final = _train(task)
    test = _score(task, final, task.rows.X_test, truth)
    everyone = np.arange(len(y))
    scored = {IN_SAMPLE: (everyone, _score(task, final, task.rows.X_train, y))}
    scored |= {name: _fold_scores(task, cv, setting.seed_of("folds", source)) for name, cv in FOLDS.items()}
    if classifier == BAYES:
        scored[LEAVE_ONE_OUT] = (everyone, leave_one_out_scores(task.rows.X_train, y))
    losses = {name: _test_losses(scores, y[rows], test, truth) for name, (rows, scores) in scored.items()}
    edges = _edges([test, *(scores for _, scores in scored.values())])
    return {
        "source": source,
        "classifier": classifier,
        "rows": {"train": len(y), "test": len(truth), "positive": int(y.sum())},
        "edges": edges,
        "test": {"error": float(np.mean((test > middle) != truth)), **_histograms(test, truth, edges)},
        "two_less_ten_folds": _paired(*(_by_row(scored[name], y, middle) for name in ("2 folds", "10 folds"))),
        "protocols": {
            name: {
                "error": float(np.mean((scores > middle) != y[rows])),
                "distance": _distance(scores, y[rows], test, truth),
                "log_loss": {method: float(loss.mean()) for method, loss in losses[name].items()},
                "against": {
                    other: {method: _paired(losses[name][method], losses[other][method]) for method in METHODS}
                    for other in REFERENCES
                },
                "slope": PlattCalibrator().fit(scores, y[rows]).a_,
                "isotonic_values": _isotonic_values(scores, y[rows]),
                **_histograms(scores, y[rows], edges),
            }
            for name, (rows, scores) in scored.items()
        },
    }


def _train(task: Task) -> Any:
    """Return the classifier trained on all training rows."""
    rows = task.rows
    return fit_rows(_training(task), rows.X_train, rows.y_train, np.arange(len(rows.y_train)))


def _score(task: Task, fitted: Any, X: Any, y: Bools) -> Floats:
    training = _training(task)._replace(estimator=fitted)
    return score_all(training, X, read_target(y, len(y), np.array([False, True]))).values[:, 0]


def _fold_scores(task: Task, cv: int | float, seed: int) -> tuple[RowNumbers, Floats]:
    """Return training rows with their scores by classifiers that were trained on others."""
    X, target = task.rows.X_train, read_target(task.rows.y_train, len(task.rows.y_train))
    splits = make_splits(make_splitter(cv, target, False, seed), X, target, {})
    pooled = pool(fit_folds(_training(task), X, target.y, splits), target)
    return pooled.rows, pooled.values[:, 0]


def _training(task: Task) -> Training:
    return Training(task.estimator, {}, task.response_method, "classes")


def _by_row(scored: tuple[RowNumbers, Floats], y: Bools, middle: float) -> Floats:
    """Return whether each training row was decided wrongly, in the order of rows."""
    wrong = np.empty(len(y))
    rows, scores = scored
    wrong[rows] = (scores > middle) != y[rows]
    return wrong


def _paired(first: Floats, second: Floats) -> list[float]:
    """Return the mean paired difference and the ends of its 95 % interval."""
    found = mean_of_trials(first - second, 0.95)
    return [found.value, found.low, found.high]


def _test_losses(scores: Floats, y: Bools, test: Floats, truth: Bools) -> dict[str, Floats]:
    """Return the log-loss of each test row by method, P clipped 1/(2n) from 0 and 1, n calibration rows."""
    table = ScoreTable.from_arrays(scores, y)
    bound = -float(logit(np.array(1 / (2 * len(y)))))
    found = {}
    for name, method in METHODS.items():
        odds = np.clip(clone(method).fit_table(table).log_odds(test), -bound, bound)
        found[name] = -decision_log_prob(np.where(truth, odds, -odds))
    return found


def _distance(scores: Floats, y: Bools, test: Floats, truth: Bools) -> dict[str, float]:
    """Return the largest gap between the distributions of calibration and of test scores, class by class."""
    return {
        name: float(ks_2samp(scores[y == label], test[truth == label]).statistic)
        for name, label in (("positive", True), ("negative", False))
    }


def _isotonic_values(scores: Floats, y: Bools) -> list[float]:
    """Return the distinct probabilities of an isotonic fit to its own scores: 0 and 1 alone are a step."""
    fitted = IsotonicCalibrator().fit(scores, y)
    return [float(value) for value in np.unique(fitted.predict_proba(scores)[:, 1])]


def _edges(scores: list[Floats]) -> Floats:
    """Return edges of bins that show all but the outermost scores of every protocol."""
    ends = np.array([np.quantile(each, (0.005, 0.995)) for each in scores])
    return np.linspace(ends[:, 0].min(), ends[:, 1].max(), _BINS + 1)


def _histograms(scores: Floats, y: Bools, edges: Floats) -> dict[str, Any]:
    inside = np.clip(scores, edges[0], edges[-1])
    return {
        name: np.histogram(inside[y == label], edges)[0] for name, label in (("positive", True), ("negative", False))
    }


def all_parts(setting: Setting) -> list[Part]:
    """Return a part for each task."""
    categories = ("earn", "corn") if setting.quick else CATEGORIES
    tasks = [(source, classifier) for source in (*categories, "adult") for classifier in (BAYES, SVM)]
    tasks += [(source, TREES) for source in ("LETTER.P1", "LETTER.P2", "ADULT")]
    return [
        Part(
            f"{source}-{classifier}".lower().replace(" ", "-"),
            task_part,
            {"source": source, "classifier": classifier},
            cost=20.0 if classifier == TREES else 1.0,
        )
        for source, classifier in tasks
    ]
