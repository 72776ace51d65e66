"""Texts to scores: the documents' classifiers, in five folds of the training rows and on the test rows."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB
from sklearn.svm import LinearSVC

from oddsmith.checks import Bools, Floats
from oddsmith.metrics.proper import decision_log_prob
from oddsmith_studies.data.text_choices import mean_norm_cost
from oddsmith_studies.learners import MultinomialNaiveBayes, VotedPerceptron
from oddsmith_studies.studies._study import Setting
from oddsmith_studies.studies._text_features import (
    RECIPES,
    Recipe,
    Rows,
    choose_by_all_categories,
    choose_for_all,
    choose_words,
    count_corpus,
    load_texts,
    weigh,
)

BAYES, SVM, LOGISTIC, PERCEPTRON = "naive Bayes", "linear SVM", "logistic regression", "voted perceptron"

FOLDS = 5
#: Costs among which cross-validated log-loss chooses that of the logistic-regression classifier.
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)


class BernoulliOdds(BernoulliNB):  # type: ignore[misc]
    """Naive Bayes of words that are present or absent, with Laplace smoothing; its score is the log-odds."""

    def decision_function(self, X: Any) -> Floats:
        """Return the log-odds of the second class."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(joint[:, 1] - joint[:, 0], np.float64)


class Scored(NamedTuple):
    """Scores of one category: of training rows by classifiers that did not see them, and of test rows."""

    train: Floats
    y_train: Bools
    test: Floats
    y_test: Bools


class Task(NamedTuple):
    """Features to fit on and to score; ``y`` belongs to the former."""

    fit: Any
    y: Bools
    score: Any


def score_categories(
    setting: Setting, corpus: str, recipe: str, classifier: str, categories: tuple[str, ...], *, draw: int = 0
) -> Iterator[tuple[str, Scored]]:
    """Score one category after another: five folds of the training rows, and all of them for the test rows.

    Each ``draw`` deals other folds.
    """
    texts, how = load_texts(corpus, setting), RECIPES[recipe]
    train, test = np.flatnonzero(texts.train), np.flatnonzero(~texts.train)
    counts = count_corpus(corpus, setting, how.stop_words, how.rare, how.tokens)
    for_all = how.selection in ("global", "m-ary")
    if for_all:
        every = texts.only(categories).member[train]
        if how.selection == "m-ary":
            chosen = choose_by_all_categories(counts.X[train], every, how)
        else:
            chosen = choose_for_all(counts.X[train], list(every.T), how.words)
    for category in categories:
        y = texts.positive(category)

        def choose(rows: Rows, y: Bools = y) -> Rows:
            if for_all:
                return chosen
            return choose_words(counts, train if how.selection == "once" else rows, y, how)

        seed = setting.seed_of("folds", corpus, category, *([draw] if draw else []))
        splits = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(train, y[train])
        folds = [(train[rest], train[fold]) for rest, fold in splits]
        tasks = [
            _task(counts.X, y, choose(rows), rows, scored, how, classifier) for rows, scored in (*folds, (train, test))
        ]
        scorer = _scorer(classifier, how, setting.seed_of("classifier", corpus, category))
        held_out = np.concatenate([rows for _, rows in folds])
        scores = scorer(tasks, y[held_out])
        place = np.empty(len(texts.train), np.intp)
        place[train] = np.arange(len(train))
        pooled = np.empty(len(train))
        pooled[place[held_out]] = np.concatenate(scores[:-1])
        yield category, Scored(pooled, y[train], scores[-1], y[test])


def _task(X: Any, y: Bools, words: Rows, rows: Rows, scored: Rows, how: Recipe, classifier: str) -> Task:
    fit, score = (X[part][:, words].astype(np.float64) for part in (rows, scored))
    if classifier != BAYES:
        fit, score = weigh(fit, score, how.weights)
    elif how.events != "multinomial":
        fit, score = ((each > 0).astype(np.float64) for each in (fit, score))
    return Task(fit, y[rows], score)


def _scorer(classifier: str, how: Recipe, seed: int) -> Callable[[list[Task], Bools], list[Floats]]:
    """Return what scores all folds and, last, the test rows."""
    if classifier == LOGISTIC:
        return partial(_logistic_scores, intercept=how.intercept)

    def model(task: Task, first: Task) -> Any:
        if classifier == BAYES:
            return BernoulliOdds() if how.events == "bernoulli" else MultinomialNaiveBayes(how.smoothing)
        if classifier == PERCEPTRON:
            total = len(first.y) if how.votes == "shares" else None
            return VotedPerceptron(total=total, shuffle=True, random_state=seed)
        cost = mean_norm_cost(task.fit)
        return LinearSVC(
            C=cost,
            loss="hinge",
            dual=True,
            intercept_scaling=how.intercept / np.sqrt(cost),
            max_iter=200_000,
            random_state=seed,
        )

    def scores(tasks: list[Task], _: Bools) -> list[Floats]:
        return [model(task, tasks[0]).fit(task.fit, task.y).decision_function(task.score) for task in tasks]

    return scores


def _logistic_scores(tasks: list[Task], truth: Bools, intercept: float) -> list[Floats]:
    """Score by logistic regression with the cost that has the best log-loss on held-out folds."""
    *folds, last = tasks
    tried = {cost: [_log_odds(task, cost, intercept) for task in folds] for cost in COSTS}

    def gain(cost: float) -> float:
        odds = np.concatenate(tried[cost])
        return float(decision_log_prob(np.where(truth, odds, -odds)).sum())

    best = max(COSTS, key=gain)
    return [*tried[best], _log_odds(last, best, intercept)]


def _log_odds(task: Task, cost: float, intercept: float) -> Floats:
    constant = intercept / np.sqrt(mean_norm_cost(task.fit))
    model = LogisticRegression(C=cost, solver="liblinear", intercept_scaling=constant).fit(task.fit, task.y)
    return np.asarray(model.decision_function(task.score), np.float64)
