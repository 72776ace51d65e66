"""CalibratedClassifier as an estimator: scikit-learn's checks, parameters, containers, weights, bad input."""

import inspect
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import (
    check_classifiers_one_label_sample_weights,
    check_sample_weight_equivalence_on_dense_data,
    parametrize_with_checks,
)

import oddsmith
from oddsmith import AutoScaling, IsotonicCalibrator, PlattCalibrator
from oddsmith.calibrators.registry import METHODS, SCALINGS
from oddsmith.classify import CalibratedClassifier
from oddsmith.errors import InvalidInputError, OddsmithError, UnusedWeightWarning
from samples import TwoClassLearner, ours_allowed

X, Y = make_classification(150, 5, n_informative=4, n_redundant=0, flip_y=0.1, random_state=1)
WORDS = np.where(Y == 1, "spam", "ham")
THREE = np.where(np.arange(150) % 3 == 0, 2, Y)


NO_WEIGHTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "nearest neighbors take no weights; only the calibrator does"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [
        CalibratedClassifier(LogisticRegression(C=1), "platt", cv=3),
        CalibratedClassifier(LogisticRegression(C=1), "platt", cv=3, ensemble=True),
        CalibratedClassifier(LogisticRegression(C=1), "temperature", cv=3),
        CalibratedClassifier(LogisticRegression(C=1), "isotonic", cv=3, multiclass="pairwise"),
        CalibratedClassifier(TwoClassLearner(), cv=3),
        CalibratedClassifier(KNeighborsClassifier(), cv=3),
    ],
    expected_failed_checks=lambda model: NO_WEIGHTS if isinstance(model.estimator, KNeighborsClassifier) else {},
)
def test_scikit_learns_checks(estimator, check):
    with ours_allowed():
        check(estimator)


@pytest.mark.parametrize("calibrator", ["auto", "venn_abers", "isotonic", "bbq", "enir", "platt"])
@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), RidgeClassifier(), GaussianNB(), MultinomialNB()], ids=lambda each: str(each)
)
@pytest.mark.parametrize(
    "check", [check_sample_weight_equivalence_on_dense_data, check_classifiers_one_label_sample_weights]
)
def test_weights_mean_what_they_mean_to_the_classifier(check, estimator, calibrator):
    """Equal rows, scored by two folds, differ in their last bits; a class may have no weight at all."""
    with ours_allowed():
        with np.errstate(divide="ignore"):  # naive Bayes itself takes the logarithm of a prior of 0
            check(type(estimator).__name__, estimator)
        check("CalibratedClassifier", CalibratedClassifier(estimator, calibrator, multiclass="one_vs_rest"))


@pytest.mark.parametrize("estimator", [LogisticRegression(), RidgeClassifier(), GaussianNB(), MultinomialNB()], ids=str)
@pytest.mark.parametrize(
    "check", [check_sample_weight_equivalence_on_dense_data, check_classifiers_one_label_sample_weights]
)
def test_weights_mean_the_same_to_a_joint_scaling(check, estimator):
    with ours_allowed():
        check("CalibratedClassifier", CalibratedClassifier(estimator))


def test_the_error_names_the_only_class_that_has_weight():
    with ours_allowed(), pytest.raises(InvalidInputError, match=r"two classes to train on; .* other than 'spam'"):
        CalibratedClassifier(GaussianNB()).fit(X, WORDS, sample_weight=(WORDS == "spam").astype(int))


def test_a_class_without_weight_is_absent():
    weight = (THREE != 2).astype(int)
    with ours_allowed():
        model = CalibratedClassifier(GaussianNB(), "platt", cv=StratifiedKFold(3)).fit(X, THREE, sample_weight=weight)
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.isfinite(model.predict_proba(X)).all()
    assert not np.any(model.predict(X) == 2)


class TestCalibratorByName:
    @pytest.mark.parametrize("name", METHODS)
    def test_every_calibrator_has_a_name(self, name):
        with ours_allowed():
            by_name = CalibratedClassifier(LinearSVC(), name).fit(X, Y)
            by_hand = CalibratedClassifier(LinearSVC(), METHODS[name]()).fit(X, Y)
        assert type(by_name.calibrators_[0]) is METHODS[name]
        np.testing.assert_array_equal(by_name.predict_proba(X), by_hand.predict_proba(X))

    @pytest.mark.parametrize(
        ("name", "cls"),
        [
            ("auto", "AutoCalibrator"),
            ("sigmoid", "PlattCalibrator"),
            ("isotonic", "IsotonicCalibrator"),
            ("temperature", "TemperatureCalibrator"),
            ("Asymmetric_Laplace", "AsymmetricLaplaceCalibrator"),
            ("vector", "VectorScaling"),
            ("matrix", "MatrixScaling"),
            ("dirichlet", "DirichletScaling"),
        ],
    )
    def test_scikit_learns_names_and_those_of_scalings(self, name, cls):
        with ours_allowed():
            model = CalibratedClassifier(LinearSVC(), method=name).fit(X, Y)
        assert type(model.calibrators_[0]).__name__ == cls

    @pytest.mark.parametrize("name", ["auto", "temperature"])
    def test_a_name_that_two_classes_and_more_share_goes_by_their_number(self, name):
        calibrator, scaling = METHODS[name], SCALINGS[name]
        found = {
            cls: CalibratedClassifier(LinearSVC(), name, multiclass=multiclass).fit(X, y).calibrators_
            for cls, y, multiclass in ((scaling, THREE, "auto"), (calibrator, Y, "auto"))
        }
        assert all(type(fitted) is cls for cls, (fitted,) in found.items())
        apart = CalibratedClassifier(LinearSVC(), name, multiclass="one_vs_rest").fit(X, THREE)
        assert [type(fitted) for fitted in apart.calibrators_] == 3 * [calibrator]
        labels = np.column_stack([Y, THREE == 2])
        apart = CalibratedClassifier(OneVsRestClassifier(LinearSVC()), name).fit(X, labels)
        assert [type(fitted) for fitted in apart.calibrators_] == 2 * [calibrator]

    def test_what_is_no_calibrator_is_refused(self):
        message = r"method must be one of .*auto, .*, vector, .*; got method='plat'. Hint: did you mean 'platt'"
        with pytest.raises(InvalidInputError, match=message):
            CalibratedClassifier(LinearSVC(), "plat").fit(X, Y)
        with pytest.raises(InvalidInputError, match="method must be a name, a Calibrator or a joint scaling; got"):
            CalibratedClassifier(LinearSVC(), LogisticRegression()).fit(X, Y)
        with pytest.raises(InvalidInputError, match="second of the sorted classes is positive; got pos_label='ham'"):
            CalibratedClassifier(LinearSVC(), PlattCalibrator(pos_label="ham")).fit(X, WORDS)


class TestPrefit:
    fitted = LogisticRegression().fit(X[:70], WORDS[:70])

    @pytest.mark.parametrize("wrap", [lambda e: (e, {"prefit": True}), lambda e: (FrozenEstimator(e), {})])
    def test_all_rows_calibrate_and_nothing_is_refitted(self, wrap):
        estimator, options = wrap(self.fitted)
        model = CalibratedClassifier(estimator, "platt", **options).fit(X[70:], WORDS[70:])
        platt = PlattCalibrator(pos_label="spam").fit(self.fitted.decision_function(X[70:]), WORDS[70:])
        expected = platt.predict_proba(self.fitted.decision_function(X))
        np.testing.assert_array_equal(model.predict_proba(X), expected)
        np.testing.assert_array_equal(model.log_odds(X), platt.log_odds(self.fitted.decision_function(X)))
        assert "fitted before, calibrated on 80 rows" in model.describe()

    def test_whole_weights_are_repetitions(self):
        weight = np.random.default_rng(0).integers(0, 4, 80)
        model = CalibratedClassifier(self.fitted, prefit=True)
        weighted = model.fit(X[70:], WORDS[70:], sample_weight=weight).predict_proba(X)
        repeated = model.fit(np.repeat(X[70:], weight, axis=0), np.repeat(WORDS[70:], weight)).predict_proba(X)
        np.testing.assert_allclose(weighted, repeated, rtol=1e-9)

    def test_a_clone_stays_fitted(self):
        model = CalibratedClassifier(self.fitted, prefit=True)
        assert clone(model).estimator is self.fitted
        search = GridSearchCV(model, {"method": ["platt", "isotonic"]}, cv=2, scoring="neg_log_loss")
        with ours_allowed():
            search.fit(X[70:], WORDS[70:])
        assert search.best_estimator_.estimator_ is self.fitted
        assert clone(CalibratedClassifier(self.fitted)).estimator is not self.fitted

    def test_a_classifier_that_was_not_fitted_says_so(self):
        with pytest.raises(NotFittedError):
            CalibratedClassifier(LogisticRegression(), prefit=True).fit(X, Y)
        with pytest.raises(InvalidInputError, match="a fitted classifier takes no parameters; got epochs"):
            CalibratedClassifier(self.fitted, prefit=True).fit(X, WORDS, epochs=3)


class TestLabels:
    @pytest.mark.parametrize(
        "coding", [(0, 1), (-1, 1), (False, True), ("ham", "spam"), (3.0, 7.0)], ids=lambda coding: str(coding)
    )
    def test_sorted_order_the_second_is_positive(self, coding):
        labels = np.array(coding)[Y]
        model = CalibratedClassifier(LinearSVC()).fit(X, labels)
        assert model.classes_.tolist() == list(coding)
        base = CalibratedClassifier(LinearSVC()).fit(X, Y)
        np.testing.assert_allclose(model.predict_proba(X), base.predict_proba(X))
        np.testing.assert_array_equal(model.predict(X), np.array(coding)[base.predict(X)])

    def test_objects_and_lists_are_labels_too(self):
        expected = CalibratedClassifier(LinearSVC()).fit(X, WORDS).predict_proba(X)
        for labels in (WORDS.astype(object), WORDS.tolist()):
            np.testing.assert_array_equal(CalibratedClassifier(LinearSVC()).fit(X, labels).predict_proba(X), expected)
        whole = CalibratedClassifier(LinearSVC()).fit(X, Y.astype(object))
        assert whole.classes_.tolist() == [0, 1]

    def test_a_tie_is_negative(self):
        model = CalibratedClassifier(
            LogisticRegression(), "squash", response_method=lambda *_: np.zeros(len(_[1]))
        ).fit(X, Y)
        np.testing.assert_array_equal(model.predict_proba(X), np.full((150, 2), 0.5))
        np.testing.assert_array_equal(model.predict(X), 0)
        np.testing.assert_array_equal(model.log_odds(X), 0)


class TestContainers:
    def test_sparse_is_dense(self):
        dense = CalibratedClassifier(LinearSVC()).fit(X, Y)
        thin = CalibratedClassifier(LinearSVC()).fit(sparse.csr_matrix(X), Y)
        np.testing.assert_allclose(thin.predict_proba(sparse.csr_matrix(X)), dense.predict_proba(X), rtol=1e-6)

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_frames_keep_their_names(self, library):
        frames = pytest.importorskip(library)
        frame = frames.DataFrame({name: X[:, i] for i, name in enumerate("abcde")})
        model = CalibratedClassifier(make_pipeline(StandardScaler(), LinearSVC())).fit(frame, frames.Series(WORDS))
        assert model.feature_names_in_.tolist() == list("abcde")
        assert model.n_features_in_ == 5
        plain = CalibratedClassifier(make_pipeline(StandardScaler(), LinearSVC())).fit(X, WORDS)
        np.testing.assert_allclose(model.predict_proba(frame), plain.predict_proba(X))

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    @pytest.mark.parametrize("y", [Y, THREE])
    @pytest.mark.filterwarnings("error:X has feature names")
    def test_frames_for_pairs_of_classes(self, library, y):
        frame = pytest.importorskip(library).DataFrame({name: X[:, i] for i, name in enumerate("abcde")})
        model = CalibratedClassifier(OneVsOneClassifier(LinearSVC()), "platt", multiclass="pairwise", cv=2)
        np.testing.assert_allclose(model.fit(frame, y).predict_proba(frame), model.fit(X, y).predict_proba(X))

    def test_text_goes_through_a_pipeline(self):
        texts = ["good film", "bad film", "good plot", "bad plot", "very good", "very bad"] * 5
        labels = [1, 0, 1, 0, 1, 0] * 5
        with ours_allowed():
            model = CalibratedClassifier(make_pipeline(CountVectorizer(), MultinomialNB()), cv=3).fit(texts, labels)
        assert model.response_method_ == "log_odds"
        assert model.predict(["good good", "bad"]).tolist() == [1, 0]
        assert not hasattr(model, "n_features_in_")

    def test_it_stands_inside_pipelines_and_searches(self):
        model = make_pipeline(StandardScaler(), CalibratedClassifier(SVC(), cv=3))
        grid = {
            "calibratedclassifier__estimator__C": [0.1, 1.0],
            "calibratedclassifier__method": ["platt", IsotonicCalibrator()],
        }
        with ours_allowed():
            search = GridSearchCV(model, grid, cv=2, scoring="neg_log_loss").fit(X, WORDS)
        assert search.score(X, WORDS) > -0.6
        prob = cross_val_predict(model, X, WORDS, method="predict_proba", cv=2)
        np.testing.assert_allclose(prob.sum(axis=1), 1)

    def test_pickles_are_the_same_model(self):
        for options in ({}, {"ensemble": True}, {"method": "temperature"}, {"response_method": "predict_proba"}):
            model = CalibratedClassifier(LogisticRegression(), **options).fit(X, WORDS)
            again = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        three = CalibratedClassifier(LinearSVC(), multiclass="pairwise").fit(X, THREE)
        again = pickle.loads(pickle.dumps(three))
        np.testing.assert_array_equal(again.predict_proba(X), three.predict_proba(X))


class TestWeights:
    weight = np.random.default_rng(0).integers(1, 4, 150)

    def test_a_pipelines_last_step_takes_them(self):
        pipe = make_pipeline(StandardScaler(), LinearSVC())
        model = CalibratedClassifier(pipe).fit(X, Y, sample_weight=self.weight)
        alone = make_pipeline(StandardScaler(), LinearSVC()).fit(X, Y, linearsvc__sample_weight=self.weight)
        np.testing.assert_allclose(model.estimator_.decision_function(X), alone.decision_function(X))

    def test_a_classifier_without_weights_is_told_and_the_calibrator_uses_them(self):
        for estimator in (KNeighborsClassifier(), make_pipeline(StandardScaler(), KNeighborsClassifier())):
            with pytest.warns(UnusedWeightWarning, match="takes no sample_weight: only the calibrator uses it"):
                model = CalibratedClassifier(estimator).fit(X, Y, sample_weight=1 + 9 * Y)
            plain = CalibratedClassifier(estimator).fit(X, Y)
            assert model.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.1

    def test_other_parameters_reach_the_classifier_cut_to_its_rows(self):
        seen = []

        class Noting(LinearSVC):
            def fit(self, X, y, sample_weight=None, cost=None, name=None):
                seen.append((len(X), None if cost is None else len(cost), name))
                return super().fit(X, y, sample_weight)

        CalibratedClassifier(Noting(), cv=3).fit(X, Y, cost=np.ones(150), name="n")
        assert seen == [(100, 100, "n")] * 3 + [(150, 150, "n")]

    def test_a_row_of_weight_0_does_not_calibrate(self):
        folds = list(StratifiedKFold(3).split(X, Y))
        weight = np.ones(150)
        weight[:10] = 0
        model = CalibratedClassifier(LogisticRegression(), cv=folds).fit(X, Y, sample_weight=weight)
        fewer = [(train[train >= 10] - 10, test[test >= 10] - 10) for train, test in folds]
        without = CalibratedClassifier(LogisticRegression(), cv=fewer).fit(X[10:], Y[10:])
        np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), rtol=1e-4)

    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            (np.ones(3), r"sample_weight must have shape \(n,\)"),
            (-np.ones(150), "sample_weight must be ≥ 0"),
            (np.full(150, np.nan), "sample_weight must be finite"),
            (np.zeros(150), "sample_weight must be positive somewhere"),
        ],
    )
    def test_bad_weights_are_refused(self, weight, message):
        with pytest.raises(InvalidInputError, match=message):
            CalibratedClassifier(LinearSVC()).fit(X, Y, sample_weight=weight)


class TestEstimator:
    def test_the_constructor_only_stores(self):
        model = CalibratedClassifier(3, 4, cv=5, ensemble=6, prefit=7, response_method=8, multiclass=9)
        assert model.get_params(deep=False) == {
            "estimator": 3,
            "method": 4,
            "cv": 5,
            "ensemble": 6,
            "prefit": 7,
            "response_method": 8,
            "multiclass": 9,
            "n_jobs": None,
            "progress": None,
            "random_state": 0,
        }

    @pytest.mark.parametrize(("old", "new"), [("calibrator", "method"), ("score", "response_method")])
    def test_old_names_of_parameters_tell_the_new_ones(self, old, new):
        with pytest.raises(
            InvalidInputError, match=f"^{old} is called {new}; got {old}='auto'. Hint: pass it as {new}"
        ):
            CalibratedClassifier(LinearSVC(), **{old: "auto"})
        with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
            CalibratedClassifier(LinearSVC(), other="auto")
        assert old not in inspect.signature(CalibratedClassifier).parameters

    def test_the_first_of_two_old_names_is_told(self):
        with pytest.raises(InvalidInputError, match=r"^calibrator is called method"):
            CalibratedClassifier(score="auto", calibrator="platt")

    def test_a_subclass_may_have_a_parameter_of_an_old_name(self):
        class Judged(CalibratedClassifier):
            def __init__(self, estimator=None, score="brier"):
                super().__init__(estimator)
                self.score = score

        assert Judged(score="log").score == "log"
        with pytest.raises(InvalidInputError, match=r"^calibrator is called method"):
            Judged(calibrator="platt")

    def test_it_does_not_touch_what_it_was_given(self):
        estimator, calibrator = LinearSVC(), PlattCalibrator()
        CalibratedClassifier(estimator, calibrator).fit(X, Y)
        assert not hasattr(estimator, "coef_")
        assert not hasattr(calibrator, "map_")

    def test_a_default_is_a_linear_support_vector_machine(self):
        model = CalibratedClassifier().fit(X, Y)
        assert model.describe().splitlines()[:4] == [
            "classifier: LinearSVC, 2 classes",
            "score: decision_function, from decision_function",
            "calibrators: 1 × AutoCalibrator",
            "protocol: one calibrator on out-of-sample scores of 150 rows from 5 folds, "
            "classifier fitted on all 150 rows",
        ]

    def test_log_odds_are_exact_where_probabilities_round(self):
        model = CalibratedClassifier(GaussianNB(), "platt").fit(X, Y)
        far = X[:4] * 1e3
        prob = model.predict_proba(far)
        assert ((prob == 0) | (prob == 1)).all()
        assert len(set(model.log_odds(far))) == 4
        assert np.isfinite(model.log_odds(far)).all()

    def test_before_the_fit_it_says_so(self):
        for method in ("predict", "predict_proba", "predict_log_proba", "log_odds", "raw_scores", "save"):
            with pytest.raises(NotFittedError):
                getattr(CalibratedClassifier(LinearSVC()), method)(X)
        with pytest.raises(NotFittedError):
            CalibratedClassifier(LinearSVC()).describe()

    def test_a_second_fit_forgets_the_first(self):
        frame = pytest.importorskip("pandas").DataFrame(X, columns=list("abcde"))
        model = CalibratedClassifier(LinearSVC()).fit(frame, Y)
        assert not hasattr(model.fit(X, Y), "feature_names_in_")

    def test_bad_parameters_are_refused(self):
        with pytest.raises(InvalidInputError, match="estimator must be an unfitted classifier; got estimator='svm'"):
            CalibratedClassifier("svm").fit(X, Y)
        with pytest.raises(InvalidInputError, match="ensemble must be one of True, False, 'auto'; got ensemble='yes'"):
            CalibratedClassifier(LinearSVC(), ensemble="yes").fit(X, Y)
        with pytest.raises(InvalidInputError, match="response_method must be one of"):
            CalibratedClassifier(LinearSVC(), response_method="logit").fit(X, Y)
        with pytest.raises(InvalidInputError, match="log_odds needs two classes; got 3"):
            CalibratedClassifier(LinearSVC()).fit(X, THREE).log_odds(X)


class TestResponseMethod:
    def test_it_names_what_is_calibrated(self):
        model = CalibratedClassifier(GaussianNB(), response_method="predict_proba").fit(X, Y)
        assert (model.response_method_, model.source_) == ("predict_proba", "predict_proba")
        assert model.score(X, Y) == np.mean(model.predict(X) == Y)
        assert "response_method='predict_proba'" in repr(model)
        np.testing.assert_array_equal(model.raw_scores(X), model.estimator_.predict_proba(X)[:, 1])

    def test_it_is_searched(self):
        grid = {"response_method": ["log_odds", "predict_proba"]}
        search = GridSearchCV(CalibratedClassifier(GaussianNB()), grid, cv=2).fit(X, Y)
        assert search.best_params_["response_method"] in grid["response_method"]


class TestLogProbabilities:
    @pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
    @pytest.mark.parametrize("ensemble", [False, True])
    @pytest.mark.parametrize(
        ("method", "multiclass"),
        [("platt", "one_vs_rest"), ("platt", "pairwise"), (AutoScaling(), "auto"), ("temperature", "auto")],
    )
    def test_they_are_the_logarithms(self, y, ensemble, method, multiclass):
        with ours_allowed():
            model = CalibratedClassifier(GaussianNB(), method, multiclass=multiclass, ensemble=ensemble).fit(X, y)
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)), rtol=1e-7, atol=1e-12)
        far = model.predict_log_proba(1e3 * X)
        assert np.isfinite(far).all()
        if method in ("platt", "temperature") and multiclass != "pairwise":  # the others hold P away from 0
            assert far.min() < -1000
            assert model.predict_proba(1e3 * X).min() == 0

    def test_labels_have_their_own(self):
        labels = np.column_stack([Y, THREE == 2])
        model = CalibratedClassifier(OneVsRestClassifier(GaussianNB()), "platt").fit(X, labels)
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)), rtol=1e-9)
        assert np.isfinite(model.predict_log_proba(1e3 * X)).all()

    def test_where_all_classes_are_impossible_they_are_equal(self):
        always = CalibratedClassifier(GaussianNB(), "isotonic", multiclass="one_vs_rest").fit(X, THREE)
        log_prob, prob = always.predict_log_proba(X), always.predict_proba(X)
        np.testing.assert_allclose(np.exp(log_prob), prob, atol=1e-12)
        problems = always.calibrated_classifiers_[0].calibration.problems
        impossible = problems.join_log_odds(np.full((1, 3), -np.inf), None, np.ones(3, dtype=bool))
        np.testing.assert_allclose(impossible, np.log(1 / 3))


class TestSaved:
    @pytest.mark.parametrize("names", [(0, 1), ("ham", "spam"), (False, True), (0, 1, 2), ("a", "b", "c")], ids=str)
    @pytest.mark.parametrize("method", ["auto", "temperature", "vector"])
    @pytest.mark.parametrize("estimator", [GaussianNB(), KNeighborsClassifier()], ids=str)
    def test_a_loaded_calibration_predicts_the_same_from_scores(self, tmp_path, names, method, estimator):
        y = np.array(names)[Y if len(names) == 2 else THREE]
        with ours_allowed():
            model = CalibratedClassifier(estimator, method).fit(X, y)
        model.save(tmp_path / "model.json")
        loaded = oddsmith.load(tmp_path / "model.json")
        scores = model.raw_scores(X)
        np.testing.assert_array_equal(loaded.predict_proba(scores), model.predict_proba(X))
        np.testing.assert_array_equal(loaded.predict_log_proba(scores), model.predict_log_proba(X))
        np.testing.assert_array_equal(loaded.predict(scores), model.predict(X))
        assert loaded.predict(scores).dtype.kind == y.dtype.kind

    def test_an_existing_file_is_kept_unless_forced(self, tmp_path):
        model = CalibratedClassifier(LinearSVC()).fit(X, Y)
        model.save(tmp_path / "model.json")
        with pytest.raises(OddsmithError):
            model.save(tmp_path / "model.json")
        model.save(tmp_path / "model.json", force=True)

    @pytest.mark.parametrize("method", ["platt", "isotonic", "auto"])
    @pytest.mark.parametrize("estimator", [LinearSVC(), GaussianNB(), KNeighborsClassifier()], ids=str)
    def test_one_vs_rest_is_saved_as_a_joint_model(self, tmp_path, method, estimator):
        y = np.array(["a", "b", "c"])[THREE]
        with ours_allowed():
            model = CalibratedClassifier(estimator, method, multiclass="one_vs_rest").fit(X, y)
        model.save(tmp_path / "model.json")
        loaded = oddsmith.load(tmp_path / "model.json")
        np.testing.assert_allclose(loaded.predict_proba(model.raw_scores(X)), model.predict_proba(X), atol=1e-14)
        assert loaded.data.weights == tuple(np.bincount(THREE))

    def test_several_calibrators_are_refused_with_a_way_out(self, tmp_path):
        several = CalibratedClassifier(LinearSVC(), ensemble=True).fit(X, Y)
        pairs = CalibratedClassifier(LinearSVC(), "platt", multiclass="pairwise").fit(X, THREE)
        coded = CalibratedClassifier(LinearSVC(), "platt", multiclass=[[1, -1, -1]]).fit(X, THREE)
        for model, got, hint in (
            (several, "the mean of 5 classifiers", "ensemble=False"),
            (pairs, "one of kind pairwise", "a joint scaling"),
            (coded, "one of kind code", "a joint scaling"),
        ):
            with pytest.raises(
                InvalidInputError, match=f"save must have one classifier with one cali.*; got {got}. Hint: use {hint}"
            ):
                model.save(tmp_path / "model.json")
        assert not list(tmp_path.iterdir())
        held_out = CalibratedClassifier(LinearSVC(), cv=0.3, ensemble=True).fit(X, Y)
        held_out.save(tmp_path / "model.json")


def test_what_a_single_calibrator_says_of_its_fit_is_in_the_description():
    X, y = make_classification(400, flip_y=0.2, random_state=0)
    single = CalibratedClassifier(LogisticRegression()).fit(X, y)
    assert single.describe().endswith(f"\nverdict: {single.calibrators_[0].verdict_}")
    assert "verdict" not in CalibratedClassifier(LogisticRegression(), ensemble=True).fit(X, y).describe()
