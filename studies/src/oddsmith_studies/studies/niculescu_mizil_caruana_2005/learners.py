"""The other eight learners: what is tried, and how each is judged before and after calibration."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from oddsmith.checks import Floats
from oddsmith.maps.base import logit
from oddsmith_studies.learners import SmoothedTreeClassifier
from oddsmith_studies.studies._study import Json, Setting
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.methods import (
    ISO_1K,
    PLATT_1K,
    RAW,
    isotonic,
    losses,
    platt,
    summary,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tasks import Sample, sample

Models = dict[str, Any]


class Learner(NamedTuple):
    """A learner of the document's Figure 6.

    ``models(features)`` returns what is tried, by name; ``cost`` is the time of all of it, in seconds.
    """

    models: Callable[[int], Models]
    cost: float


def _svm(features: int) -> Models:
    found: Models = {f"linear, C={c:g}": _scaled(LinearSVC(C=c, max_iter=20_000)) for c in (0.001, 0.01, 0.1, 1)}
    for width in (0.25, 1, 4, 16):
        for c in (1, 10, 100):
            found[f"radial, γ={width:g}/d, C={c:g}"] = _scaled(SVC(C=c, gamma=width / features, cache_size=500))
    return found


def _forest(_features: int) -> Models:
    return {f"{share} features": RandomForestClassifier(512, max_features=share) for share in ("sqrt", "log2", 0.2)}


def _bagging(_features: int) -> Models:
    return {
        f"gini, {leaves}": BaggingClassifier(SmoothedTreeClassifier(DecisionTreeClassifier(), leaves), 100)
        for leaves in ("none", "laplace", "bayesian")
    }


def _network(_features: int) -> Models:
    return {
        f"{units} units, decay {decay:g}": _scaled(MLPClassifier((units,), alpha=decay, max_iter=100))
        for units in (8, 32, 128)
        for decay in (0.001, 0.1, 1, 10)
    }


def _neighbors(_features: int) -> Models:
    return {
        f"{k} neighbors, {weights}": _scaled(KNeighborsClassifier(k, weights=weights))
        for k in (5, 15, 50, 150)
        for weights in ("uniform", "distance")
    }


def _tree(_features: int) -> Models:
    return {
        f"{criterion}, {fewest} a leaf, {leaves}": SmoothedTreeClassifier(
            DecisionTreeClassifier(criterion=criterion, min_samples_leaf=fewest), leaves
        )
        for criterion in ("gini", "entropy")
        for fewest in (1, 5, 20, 80)
        for leaves in ("none", "laplace", "bayesian")
    }


def _logistic(_features: int) -> Models:
    return {f"C={c:g}": _scaled(LogisticRegression(C=c, max_iter=5000)) for c in 10.0 ** np.arange(-4, 3)}


def _bayes(_features: int) -> Models:
    found: Models = {f"normal, ν={share:g}": _scaled(GaussianNB(var_smoothing=share)) for share in (1e-9, 1e-3, 1e-1)}
    # After scaling 0 is the mean: a feature is above it or not.
    return found | {f"Bernoulli, α={alpha:g}": _scaled(BernoulliNB(alpha=alpha)) for alpha in (0.1, 1, 10)}


def _scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


#: In the document's order, without the two that are boosted.
LEARNERS: Mapping[str, Learner] = {
    "SVM": Learner(_svm, 80),
    "RF": Learner(_forest, 40),
    "BAG-DT": Learner(_bagging, 20),
    "ANN": Learner(_network, 40),
    "KNN": Learner(_neighbors, 40),
    "DT": Learner(_tree, 5),
    "LOGREG": Learner(_logistic, 5),
    "NB": Learner(_bayes, 2),
}
_QUICK_MODELS = 2


def learner_part(setting: Setting, problem: str, learner: str) -> Json:
    """Train what is tried of one learner, calibrate each on the validation rows, and judge all on test rows."""
    drawn = sample(setting, problem)
    fitted = fitted_models(setting, problem, learner, drawn)
    models = {name: _judge(model, drawn) for name, model in fitted.items()}
    return {"problem": problem, "learner": learner, "models": models}


def fitted_models(setting: Setting, problem: str, learner: str, drawn: Sample) -> Models:
    """Return what is tried of a learner, fitted to the training rows, by name."""
    models = LEARNERS[learner].models(drawn.X_train.shape[1])
    if setting.quick:
        models = dict(list(models.items())[:_QUICK_MODELS])
    return {name: _fitted(setting, problem, learner, name, model, drawn) for name, model in models.items()}


def _fitted(setting: Setting, problem: str, learner: str, name: str, model: Any, drawn: Sample) -> Any:
    seed = setting.seed_of("learner", problem, learner, name)
    if setting.quick:
        model.set_params(**{key: 10 for key in model.get_params() if key == "n_estimators"})
    model.set_params(**{key: seed for key in model.get_params() if key.split("__")[-1] == "random_state"})
    with warnings.catch_warnings():
        # Networks are trained for a fixed number of passes, which is meant; a linear machine that is cut short may be
        # passed over when the best is selected.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(drawn.X_train, drawn.y_train)


def _judge(model: Any, drawn: Sample) -> Json:
    """Return losses on validation and test rows by method."""
    validation, test = _output(model, drawn.X_validation), _output(model, drawn.X_test)
    odds = {RAW: [logit(np.clip(each, 0, 1)) for each in scores_of(model, drawn.X_validation, drawn.X_test)]}
    for name, fit in ((PLATT_1K, platt), (ISO_1K, isotonic)):
        calibrator = fit(validation, drawn.y_validation)
        odds[name] = [calibrator.log_odds(validation), calibrator.log_odds(test)]
    # Nothing was fitted for raw outputs: the bound on P is that of the rows that were trained on.
    cases = {name: len(drawn.y_train if name == RAW else drawn.y_validation) for name in odds}
    return {
        name: {
            half: summary(losses(each, y, cases[name]))
            for half, each, y in zip(("validation", "test"), found, (drawn.y_validation, drawn.y_test), strict=True)
        }
        for name, found in odds.items()
    }


def scores_of(model: Any, X_validation: Floats, X_test: Floats) -> tuple[Floats, Floats]:
    """Return the scores of validation and test rows, margins scaled to [0, 1] by their ends as in the document.

    The ends come from the validation rows: scores of test rows may lie beyond.
    """
    validation, test = _output(model, X_validation), _output(model, X_test)
    low, high = (validation.min(), validation.max()) if not hasattr(model, "predict_proba") else (0.0, 1.0)
    return (validation - low) / (high - low), (test - low) / (high - low)


def _output(model: Any, X: Floats) -> Floats:
    """Return the score that is calibrated: a probability where the learner has one, else its margin."""
    result: Floats = model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.decision_function(X)
    return np.asarray(result, dtype=np.float64)
