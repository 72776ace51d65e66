"""What is computed: one motive on one problem a part; of active learning one repeat."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from oddsmith import Calibrator, PlattCalibrator
from oddsmith.checks import Bools, Floats
from oddsmith.maps.base import logit
from oddsmith.metrics.proper import decision_log_prob
from oddsmith_studies.data import STOP_WORDS, count_words, load_a9a, load_imdb
from oddsmith_studies.data.text_choices import mean_norm_cost
from oddsmith_studies.learners import MultinomialNaiveBayes
from oddsmith_studies.studies._study import Json, Part, Setting
from oddsmith_studies.studies._text_draws import by_document
from oddsmith_studies.studies._text_features import REUTERS, count_corpus, load_texts

ADULT, IMDB = "Adult", "IMDB"
#: Problems of each motive; those of Reuters are topics.
COSTED = (ADULT, IMDB, "earn", "acq", "crude", "corn")
COMBINED = (ADULT, IMDB, "earn", "acq", "crude", "corn")
SAMPLED = (IMDB, "acq", "crude")

#: What a missed positive costs, relative to a false alarm.
COSTS = tuple(2.0**power for power in range(-4, 5))
CALIBRATED, SQUASHED, RETRAINED, IGNORED = "calibrated P", "squashed score", "retrained per cost", "costs ignored"
DECIDING = (CALIBRATED, SQUASHED, RETRAINED, IGNORED)

BAYES, SVM, FOREST = "naive Bayes", "linear SVM", "random forest"
KINDS = (BAYES, SVM, FOREST)
CALIBRATED_MEAN, RAW_SUM, RAW_SUM_CALIBRATED = (
    "mean of calibrated log-odds",
    "sum of raw scores",
    "sum of raw scores, calibrated",
)
COMBINING = (*KINDS, CALIBRATED_MEAN, RAW_SUM, RAW_SUM_CALIBRATED)

RANDOM, BY_RAW, BY_CALIBRATED = "random", "raw P nearest ½", "calibrated P nearest ½"
SAMPLING = (RANDOM, BY_RAW, BY_CALIBRATED)
REPEATS, FIRST, STEP, LAST = 10, 20, 20, 500
_QUICK_REPEATS, _QUICK_LAST = 2, 80

FOLDS, SAMPLING_FOLDS = 5, 3
_ROWS, _QUICK_ROWS = (6000, 6000), (600, 600)
#: Trees of a forest, and the least share of votes that its log-odds are taken of.
_TREES, _CLIP = 100, 0.005


class Problem(NamedTuple):
    """Rows to train and to test on."""

    X_train: Any
    y_train: Bools
    X_test: Any
    y_test: Bools


def all_parts(setting: Setting) -> list[Part]:
    """Return a part for each motive and problem, and of active learning for each repeat."""
    return [
        *(Part(f"costs-{name.lower()}", costs_part, {"problem": name}) for name in COSTED),
        *(Part(f"combining-{name.lower()}", combining_part, {"problem": name}, 2.0) for name in COMBINED),
        *(
            Part(sampling_name(name, repeat), sampling_part, {"problem": name, "repeat": repeat})
            for name in SAMPLED
            for repeat in range(repeats(setting))
        ),
    ]


def repeats(setting: Setting) -> int:
    """Return how often active learning is repeated."""
    return _QUICK_REPEATS if setting.quick else REPEATS


def sampling_name(problem: str, repeat: int) -> str:
    """Return the name of a part."""
    return f"sampling-{problem.lower()}-{repeat}"


@cache
def load_problem(setting: Setting, name: str) -> Problem:
    """Return rows of a problem: up to 6,000 to train and 6,000 to test, drawn once, from the halves as published."""
    if name == ADULT:
        table = load_a9a(setting.data)
        X, y, train = table.X.astype(np.float64), table.y == 1, table.train
    elif name == IMDB:
        corpus = load_imdb(setting.data)
        kept = np.concatenate(_draw(setting, name, corpus.train))
        counts = count_words((corpus.texts[i] for i in kept), STOP_WORDS)
        X, y, train = counts.X.astype(np.float64), corpus.positive("positive")[kept], corpus.train[kept]
    else:
        texts = load_texts(REUTERS, setting)
        X = count_corpus(REUTERS, setting, True, "corpus").X.astype(np.float64)
        y, train = texts.positive(name), texts.train
    rows, others = _draw(setting, name, train)
    if name != ADULT:
        # Words of three training texts at least.
        X = X[:, np.bincount(X[rows].indices, minlength=X.shape[1]) >= 3]
    return Problem(X[rows], y[rows], X[others], y[others])


def _draw(setting: Setting, name: str, train: Bools) -> tuple[Any, Any]:
    rng = np.random.default_rng(setting.seed_of("rows", name))
    sizes = _QUICK_ROWS if setting.quick else _ROWS
    halves = (np.flatnonzero(train), np.flatnonzero(~train))
    return tuple(np.sort(rng.permutation(half)[:size]) for half, size in zip(halves, sizes, strict=True))  # type: ignore[return-value]


def costs_part(setting: Setting, problem: str) -> Json:
    """Decide at costs that are known only at prediction time; return the mean cost by way to decide and by cost.

    With a missed positive c times as costly as a false alarm, the two cost 2c/(1 + c) and 2/(1 + c).
    """
    rows, seed = load_problem(setting, problem), setting.seed_of("machine", problem)
    binary = rows._replace(X_train=_present(rows.X_train), X_test=_present(rows.X_test))
    held, test = _scores(binary, lambda: _svm(binary.X_train, seed), "decision_function", FOLDS, seed)
    odds = PlattCalibrator().fit(held, rows.y_train).log_odds(test)
    paid: dict[str, list[Floats]] = {name: [] for name in DECIDING}
    for cost in COSTS:
        weights = {True: 2 * cost / (1 + cost), False: 2 / (1 + cost)}
        machine = _svm(binary.X_train, seed).set_params(class_weight=weights).fit(binary.X_train, rows.y_train)
        decided = {
            CALIBRATED: odds > -np.log(cost),
            SQUASHED: test > -np.log(cost),
            RETRAINED: machine.decision_function(binary.X_test) > 0,
            IGNORED: test > 0,
        }
        for name, positive in decided.items():
            wrong = positive != rows.y_test
            paid[name].append(np.where(wrong, np.where(rows.y_test, weights[True], weights[False]), 0.0))
    means = {name: [float(each.mean()) for each in every] for name, every in paid.items()}
    rows_paid = {name: np.mean(every, axis=0) for name, every in paid.items()}
    return {
        "costs": means,
        "mean": {name: float(each.mean()) for name, each in rows_paid.items()},
        "less": {name: _paired(rows_paid[CALIBRATED] - rows_paid[name]) for name in DECIDING[1:]},
    }


def combining_part(setting: Setting, problem: str) -> Json:
    """Combine classifiers of three kinds; return log-loss and share of errors by way to combine."""
    rows, seed = load_problem(setting, problem), setting.seed_of("kinds", problem)
    binary = rows._replace(X_train=_present(rows.X_train), X_test=_present(rows.X_test))
    makers: dict[str, tuple[Callable[[], Any], str]] = {
        BAYES: (MultinomialNaiveBayes, "decision_function"),
        SVM: (lambda: _svm(binary.X_train, seed), "decision_function"),
        FOREST: (lambda: RandomForestClassifier(_TREES, random_state=seed), "predict_proba"),
    }
    raw = {name: _scores(binary, make, how, FOLDS, seed) for name, (make, how) in makers.items()}
    calibrated = {name: _platt(held, test, rows.y_train) for name, (held, test) in raw.items()}
    held_sum, test_sum = (np.sum([raw[name][half] for name in KINDS], axis=0) for half in range(2))
    odds = calibrated | {
        CALIBRATED_MEAN: np.mean([calibrated[name] for name in KINDS], axis=0),
        RAW_SUM: test_sum,
        RAW_SUM_CALIBRATED: _platt(held_sum, test_sum, rows.y_train),
    }
    losses = {name: -decision_log_prob(np.where(rows.y_test, each, -each)) for name, each in odds.items()}
    errors = {name: ((each > 0) != rows.y_test).astype(float) for name, each in odds.items()}
    others = [name for name in COMBINING if name != CALIBRATED_MEAN]
    return {
        "log_loss": {name: float(each.mean()) for name, each in losses.items()},
        "errors": {name: float(each.mean()) for name, each in errors.items()},
        "less": {name: _paired(losses[CALIBRATED_MEAN] - losses[name]) for name in others},
        "errors_less": {name: _paired(errors[CALIBRATED_MEAN] - errors[name]) for name in others},
    }


def sampling_part(setting: Setting, problem: str, repeat: int) -> Json:
    """Label rows by each rule, twenty at a time; return the test errors of naive Bayes after each batch.

    Whatever the rule, decisions are those of naive Bayes calibrated on three folds of the labelled rows.
    """
    rows = load_problem(setting, problem)
    last = _QUICK_LAST if setting.quick else LAST
    rng = np.random.default_rng(setting.seed_of("first", problem, repeat))
    first = np.concatenate(
        [rng.permutation(np.flatnonzero(rows.y_train == side))[: FIRST // 2] for side in (True, False)]
    )
    return {rule: _curve(rows, rule, first, last, setting.seed_of("order", problem, repeat)) for rule in SAMPLING}


def _curve(rows: Problem, rule: str, first: Any, last: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    labelled, found = first, []
    while True:
        some = Problem(rows.X_train[labelled], rows.y_train[labelled], rows.X_train, rows.y_train)
        held, pool = _scores(some, MultinomialNaiveBayes, "decision_function", SAMPLING_FOLDS, seed)
        fit = PlattCalibrator().fit(held, some.y_train)
        model = MultinomialNaiveBayes().fit(some.X_train, some.y_train)
        found.append(float(np.mean((fit.log_odds(model.decision_function(rows.X_test)) > 0) != rows.y_test)))
        if len(labelled) >= last:
            return found
        left = np.setdiff1d(np.arange(len(rows.y_train)), labelled)
        doubt = {
            RANDOM: rng.permutation(len(left)).astype(float),
            BY_RAW: np.abs(pool[left]),
            BY_CALIBRATED: np.abs(fit.log_odds(pool[left])),
        }[rule]
        labelled = np.concatenate([labelled, left[np.argsort(doubt, kind="stable")[:STEP]]])


def _svm(X: Any, seed: int) -> LinearSVC:
    return LinearSVC(C=mean_norm_cost(X), dual=True, max_iter=20_000, random_state=seed)


def _present(X: Any) -> Any:
    return (X > 0).astype(np.float64)


def _scores(rows: Problem, make: Callable[[], Any], how: str, folds: int, seed: int) -> tuple[Floats, Floats]:
    """Return scores of training rows by machines that did not see them, and of test rows."""
    held = np.empty(len(rows.y_train))
    for rest, fold in StratifiedKFold(folds, shuffle=True, random_state=seed).split(held, rows.y_train):
        held[fold] = _score(make().fit(rows.X_train[rest], rows.y_train[rest]), rows.X_train[fold], how)
    return held, _score(make().fit(rows.X_train, rows.y_train), rows.X_test, how)


def _score(model: Any, X: Any, how: str) -> Floats:
    if how == "predict_proba":
        return np.asarray(logit(np.clip(model.predict_proba(X)[:, 1], _CLIP, 1 - _CLIP)))
    return np.asarray(model.decision_function(X), np.float64)


def _platt(held: Floats, test: Floats, y: Bools) -> Floats:
    fit: Calibrator = PlattCalibrator().fit(held, y)
    return np.asarray(fit.log_odds(test))


def _paired(differences: Floats) -> list[float]:
    """Return the mean difference over rows with its 95 % t interval."""
    return [end / len(differences) for end in by_document(differences[None])]
