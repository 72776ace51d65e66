"""The two machines, and their scores: of training rows in three folds, and of all rows after training on all."""

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from oddsmith.checks import Bools, Floats
from oddsmith.classify.protocols import Training, fit_folds, fit_rows, make_splitter, pool
from oddsmith.classify.target import read_target
from oddsmith_studies.data.text_choices import information_gain, mean_norm_cost
from oddsmith_studies.learners import KernelLogisticRegression
from oddsmith_studies.studies._study import Setting
from oddsmith_studies.studies.platt_1999.tasks import Problem

SVM, LIKELIHOOD = "svm", "likelihood"
FOLDS = 3
#: Value of the support vector machine's constant feature, in mean lengths of rows: its bias is hardly penalized.
BIAS = 2.0
#: Sweeps over all rows that a support vector machine is given; a sweep over quadratic features takes far longer.
SWEEPS = {"linear": 200_000, "quadratic": 20_000}
#: A Newton decrement, in nats per row, at which the likelihood machine is done.
_DONE = 1e-5


class LikelihoodMachine(KernelLogisticRegression):
    """The regularized-likelihood machine with a cost per row, as a support vector machine has.

    λ = 1/(2nC) for n rows: in folds, which have fewer rows, a row weighs as much against ‖w‖² as among all of them.
    """

    def __init__(self, cost: float = 1.0, tol: float = 1e-7) -> None:
        super().__init__("linear", tol=tol)
        self.cost = cost

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit with the penalty that the number of rows asks for."""
        self.penalty = 1 / (2 * len(y) * self.cost)
        return super().fit(X, y, sample_weight)


class Scores(NamedTuple):
    """What a trained machine says.

    Attributes
    ----------
    held, y_held : ndarray
        Scores of training rows by machines that did not see them, and their labels.
    train, test : ndarray
        Scores of all rows by the machine that was trained on all training rows.
    machine : fitted machine
    """

    held: Floats
    y_held: Bools
    train: Floats
    test: Floats
    machine: Any


def score_problem(setting: Setting, problem: Problem, kernel: str, machine: str, cost: float) -> Scores:
    """Train a machine on a problem in three folds and on all its training rows; words are chosen inside each fold.

    Parameters
    ----------
    setting : Setting
    problem : Problem
        Its features are those of the kernel already.
    kernel : {"linear", "quadratic"}
    machine : {"svm", "likelihood"}
    cost : float
        C in units of (mean length of a row)⁻², of either machine; see `LikelihoodMachine`.
    """
    estimator = make_machine(setting, problem, kernel, machine, cost)
    target = read_target(problem.y_train, len(problem.y_train))
    splitter = make_splitter(FOLDS, target, False, setting.seed_of("folds", problem.name))
    training = Training(estimator, {}, "decision_function" if machine == SVM else "log_odds", "classes")
    with warnings.catch_warnings():
        # A topic of one story is judged too, by sigmoids fitted to the other class alone.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        folds = [(rows, others) for rows, others in splitter.split(problem.X_train, target.y)]
    splits = [(rows, others) for rows, others in folds if len(np.unique(target.y[rows])) == 2]
    with warnings.catch_warnings():
        # Whether the machine in use has converged is told by `converged`.
        warnings.simplefilter("ignore", ConvergenceWarning)
        pooled = pool(fit_folds(training, problem.X_train, target.y, splits), target)
        fitted = fit_rows(training, problem.X_train, target.y, np.arange(len(target.y)))
    train, test = (fitted.decision_function(rows) for rows in (problem.X_train, problem.X_test))
    return Scores(pooled.values[:, 0], target.y[pooled.rows], train, test, _last(fitted))


def converged(machine: Any) -> bool:
    """Return whether training ended before the sweeps did."""
    return bool(machine.n_iter_ < machine.max_iter)


def make_machine(setting: Setting, problem: Problem, kernel: str, machine: str, cost: float) -> Any:
    """Return a machine that has not been trained; what is chosen of a problem's words is chosen when it is."""
    words = None if problem.words is None else SelectKBest(information_gain, k=problem.words)
    chosen = problem.X_train if words is None else words.fit_transform(problem.X_train, problem.y_train)
    unit = mean_norm_cost(chosen)
    found: Any
    if machine == SVM:
        found = LinearSVC(
            C=cost * unit,
            loss="hinge",
            dual=True,
            intercept_scaling=BIAS / np.sqrt(unit),
            max_iter=SWEEPS[kernel],
            random_state=setting.seed_of("sweeps", problem.name),
        )
    else:
        found = LikelihoodMachine(cost * unit, tol=_DONE)
    return found if words is None else make_pipeline(words, found)


def _last(fitted: Any) -> Any:
    return fitted[-1] if isinstance(fitted, Pipeline) else fitted
