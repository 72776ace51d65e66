"""The score of any classifier: which one is taken, that it is not rounded, and which row is bad."""

import importlib
import inspect
import os

import numpy as np
import pytest
from scipy.special import logit, softmax
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators, get_tags

from oddsmith.classify import CalibratedClassifier, ClassifierScores, classifier_scores
from oddsmith.errors import InvalidInputError
from samples import ours_allowed

X, Y = make_classification(200, 6, n_informative=4, flip_y=0.1, random_state=0)
X3, Y3 = make_classification(240, 6, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.1, random_state=0)
NAMES3 = np.array(["ant", "bee", "cow"])[Y3]
TEXTS = ["good film", "bad film", "good good plot", "bad bad bad", "fine plot good", "awful bad plot"] * 5
OPINIONS = ["pos", "neg", "pos", "neg", "pos", "neg"] * 5


def library(name):
    """Import a test-only library; where tests run for everyone it must be there."""
    return importlib.import_module(name) if os.environ.get("CI") == "true" else pytest.importorskip(name)


@pytest.mark.parametrize(
    ("estimator", "kind", "source"),
    [
        (LinearSVC(), "decision_function", "decision_function"),
        (LogisticRegression(), "decision_function", "decision_function"),
        (GaussianNB(), "log_odds", "predict_joint_log_proba"),
        (BernoulliNB(), "log_odds", "predict_joint_log_proba"),
        (AdaBoostClassifier(n_estimators=5), "decision_function", "decision_function"),
        (CalibratedClassifier(LinearSVC()), "log_odds", "log_odds"),
        (RandomForestClassifier(5, random_state=0), "predict_proba", "predict_proba"),
        (KNeighborsClassifier(), "predict_proba", "predict_proba"),
        (make_pipeline(StandardScaler(), GaussianNB()), "log_odds", "predict_joint_log_proba"),
        (GridSearchCV(SVC(), {"C": [1, 2]}, cv=2), "decision_function", "decision_function"),
        (FrozenEstimator(GaussianNB().fit(X, Y)), "log_odds", "predict_joint_log_proba"),
        (OneVsRestClassifier(GaussianNB()), "log_odds", "predict_joint_log_proba of each member"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else str(value),
)
def test_auto_takes_the_rawest_score(estimator, kind, source):
    fitted = estimator.fit(X, Y)
    scores = classifier_scores(fitted, X)
    assert (scores.kind, scores.source) == (kind, source)
    column = scores.align(np.array([0, 1]))
    assert column.shape == (len(X), 1)
    assert column[Y == 1].mean() > column[Y == 0].mean()


def test_naive_bayes_log_odds_do_not_pass_through_a_rounded_probability():
    model = make_pipeline(CountVectorizer(), MultinomialNB()).fit(TEXTS, OPINIONS)
    sure = [("good " * times).strip() for times in (100, 200, 400)]
    assert np.all(model.predict_proba(sure)[:, 1] == 1.0)
    score = classifier_scores(model, sure).align(model.classes_)[:, 0]
    per_word = np.diff(model[-1].feature_log_prob_, axis=0)[0, model[0].vocabulary_["good"]]
    np.testing.assert_allclose(np.diff(score), per_word * np.array([100, 200]), rtol=1e-9)


def test_complement_naive_bayes_has_a_log_odds_too():
    counts = CountVectorizer().fit_transform(TEXTS)
    model = ComplementNB().fit(counts, OPINIONS)
    scores = classifier_scores(model, counts)
    np.testing.assert_array_equal(np.where(scores.align(model.classes_)[:, 0] > 0, "pos", "neg"), OPINIONS)


def test_log_odds_of_a_logistic_regression_are_its_margin():
    model = LogisticRegression().fit(X, Y)
    log_odds = classifier_scores(model, X, "log_odds").align(model.classes_)[:, 0]
    np.testing.assert_allclose(log_odds, model.decision_function(X), rtol=1e-6, atol=1e-9)


def test_probabilities_of_0_and_1_have_no_log_odds():
    tree = DecisionTreeClassifier().fit(X, Y)
    with pytest.raises(
        InvalidInputError,
        match=r"exactly 0 or 1 from DecisionTreeClassifier\. Hint: use response_method=.predict_proba",
    ):
        classifier_scores(tree, X, "log_odds")


def test_votes_of_a_forest_are_counted_by_hand():
    forest = RandomForestClassifier(7, max_depth=2, random_state=0).fit(X3, NAMES3)
    votes = np.stack([forest.classes_[tree.predict(X3).astype(int)] for tree in forest.estimators_])
    share = np.stack([(votes == name).mean(axis=0) for name in forest.classes_], axis=1)
    np.testing.assert_allclose(classifier_scores(forest, X3, "votes").values, share)
    assert not np.allclose(share, forest.predict_proba(X3))  # which averages leaves


def test_votes_of_a_bag_use_each_members_columns():
    bag = BaggingClassifier(LinearSVC(), 5, max_features=3, random_state=0).fit(X3, NAMES3)
    members = zip(bag.estimators_, bag.estimators_features_, strict=True)
    votes = np.stack([member.predict(X3[:, columns]) for member, columns in members])
    share = np.stack([(votes == code).mean(axis=0) for code in range(3)], axis=1)
    np.testing.assert_allclose(classifier_scores(bag, X3, "votes").values, share)


def test_votes_of_adaboost_are_weighted_and_decide_as_it_does():
    boost = AdaBoostClassifier(n_estimators=5, random_state=0).fit(X3, NAMES3)
    scores = classifier_scores(boost, X3, "votes")
    np.testing.assert_allclose(scores.values.sum(axis=1), 1)
    np.testing.assert_array_equal(boost.classes_[scores.values.argmax(axis=1)], boost.predict(X3))


@pytest.mark.parametrize("weights", [None, [1, 1, 2]])
def test_votes_of_a_hard_vote_decide_as_it_does(weights):
    members = [("svm", LinearSVC()), ("nb", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=0))]
    vote = VotingClassifier(members, weights=weights).fit(X3, NAMES3)
    with pytest.raises(InvalidInputError, match="must have predict_joint_log_proba or raw margin or decision_function"):
        classifier_scores(vote, X3)
    share = classifier_scores(vote, X3, "votes").values
    np.testing.assert_array_equal(vote.classes_[share.argmax(axis=1)], vote.predict(X3))


def test_votes_of_neighbors():
    near = KNeighborsClassifier().fit(X, Y)
    np.testing.assert_array_equal(classifier_scores(near, X, "votes").values, near.predict_proba(X))
    with pytest.raises(InvalidInputError, match="must have vote_fraction or votes; got GaussianNB"):
        classifier_scores(GaussianNB().fit(X, Y), X, "votes")


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
def test_support_vector_pairs_do_not_depend_on_how_the_classifier_was_set(shape):
    model = SVC(decision_function_shape=shape).fit(X3, Y3)
    pairs = classifier_scores(model, X3, layout="pairs")
    one = SVC(decision_function_shape="ovo").fit(X3, Y3)
    assert pairs.form == "pairs"
    np.testing.assert_array_equal(pairs.align(model.classes_), one.decision_function(X3))
    ovr = classifier_scores(model, X3)
    np.testing.assert_array_equal(ovr.values, SVC().fit(X3, Y3).decision_function(X3))
    assert model.decision_function_shape == shape
    # The first class of a pair is the positive one.
    in_pair = np.isin(Y3, [0, 2])
    assert pairs.values[in_pair & (Y3 == 0), 1].mean() > 0 > pairs.values[in_pair & (Y3 == 2), 1].mean()


def test_one_vs_one_members_answer_for_pairs():
    model = OneVsOneClassifier(LinearSVC()).fit(X3, NAMES3)
    pairs = classifier_scores(model, X3, layout="pairs").align(model.classes_)
    by_hand = -np.column_stack([member.decision_function(X3) for member in model.estimators_])
    np.testing.assert_array_equal(pairs, by_hand)
    assert classifier_scores(model, X3).values.shape == (len(X3), 3)


@pytest.mark.parametrize("layout", ["classes", "pairs"])
@pytest.mark.parametrize("member", [LinearSVC(), SVC(), GaussianNB(), LogisticRegression(), KNeighborsClassifier()])
def test_one_pair_is_scored_as_its_member_is(member, layout):
    names = np.where(Y == 1, "yes", "no")
    model = OneVsOneClassifier(member).fit(X, names)
    alone = classifier_scores(clone(member).fit(X, names), X)
    for wrapped in (model, make_pipeline(StandardScaler(with_mean=False, with_std=False), model).fit(X, names)):
        scores = classifier_scores(wrapped, X, layout=layout)
        assert (scores.kind, scores.source) == (alone.kind, alone.source)
        np.testing.assert_allclose(scores.align(model.classes_), alone.align(model.classes_), rtol=1e-12)
        # A fold may lack the other classes of a problem.
        more = np.array(["maybe", "no", "yes"])
        np.testing.assert_allclose(
            scores.align(more),
            classifier_scores(clone(member).fit(X, names), X, layout=layout).align(more),
            rtol=1e-12,
        )


def test_labels_of_lists_and_of_members_agree():
    labels = np.column_stack([Y3 == 0, Y3 != 1, X3[:, 0] > 0]).astype(int)
    many = MultiOutputClassifier(GaussianNB()).fit(X3, labels)
    scores = classifier_scores(many, X3, layout="labels")
    assert (scores.kind, scores.form, scores.values.shape) == ("log_odds", "problems", (len(X3), 3))
    near = KNeighborsClassifier().fit(X3, labels)
    prob = classifier_scores(near, X3, layout="labels").values
    np.testing.assert_array_equal(prob, np.column_stack([part[:, 1] for part in near.predict_proba(X3)]))
    tame = np.clip(many.predict_proba(X3), 1e-9, 1 - 1e-9)[:, :, 1].T
    usable = (tame > 1e-6) & (tame < 1 - 1e-6)
    np.testing.assert_allclose(scores.values[usable], logit(tame[usable]), rtol=1e-6, atol=1e-6)


def test_log_odds_of_labels_are_each_labels_own():
    labels = np.column_stack([Y3 == 0, X3[:, 0] > 0]).astype(int)
    model = OneVsRestClassifier(LogisticRegression()).fit(X3, labels)

    class Plain:
        predict_proba = staticmethod(model.predict_proba)

    log_odds = classifier_scores(Plain(), X3, "log_odds", layout="labels").values
    np.testing.assert_allclose(log_odds, logit(model.predict_proba(X3)), rtol=1e-9, atol=1e-12)


def distance(estimator, rows):
    return estimator.decision_function(rows) * 2


def test_a_function_is_a_score_and_is_named():
    model = LinearSVC().fit(X, Y)
    scores = classifier_scores(model, X, distance)
    assert scores.kind == "distance"
    np.testing.assert_array_equal(scores.values, 2 * model.decision_function(X))


def test_a_bad_score_is_reported_by_its_row():
    def broken(estimator, rows):
        return np.where(np.arange(len(rows)) == 2, np.nan, 0.0)

    model = LinearSVC().fit(X, Y)
    with pytest.raises(
        InvalidInputError, match=r"scores must be finite; got 1 NaN and 0 infinity values, first at row 2"
    ):
        classifier_scores(model, X, broken)
    with pytest.raises(InvalidInputError, match="first at row 17"):
        classifier_scores(model, X[:5], broken, rows=np.array([3, 4, 17, 18, 19]))
    with pytest.raises(InvalidInputError, match=r"the first scores\[17, 1\]=nan"):
        classifier_scores(
            model, X[:5], lambda *_: np.full((5, 3), 0.0) * [[0, np.nan, 0]], rows=np.array([17, 18, 19, 20, 21])
        )


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "logits",
            "response_method must be one of 'auto', 'decision_function', 'log_odds', 'predict_proba', 'votes'; got",
        ),
        (lambda *_: np.zeros(3), r"scores must be one per row of X; got shape \(3,\) for 200 rows"),
        (lambda *_: np.zeros((200, 1, 1)), "scores must be one per row of X; got shape"),
    ],
)
def test_bad_kinds_are_refused(kind, message):
    with pytest.raises(InvalidInputError, match=message):
        classifier_scores(LinearSVC().fit(X, Y), X, kind)


SOFTMAX = [
    LogisticRegression(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    GradientBoostingClassifier(n_estimators=3),
    HistGradientBoostingClassifier(max_iter=3),
    NearestCentroid(),
]
MARGINS = [
    LinearSVC(),
    RidgeClassifier(),
    SGDClassifier(loss="log_loss", random_state=0),
    OneVsRestClassifier(LogisticRegression()),
    AdaBoostClassifier(n_estimators=5, random_state=0),
    SVC(),
]


def class_name(estimator):
    return type(estimator).__name__


def _required(cls):
    parameters = list(inspect.signature(cls).parameters.values())
    return [each.name for each in parameters if each.default is each.empty]


class TestSoftmax:
    """Models of several classes at once are scored by the log-odds of their probabilities, others by margins."""

    @pytest.mark.parametrize("estimator", SOFTMAX, ids=class_name)
    def test_a_class_has_the_log_odds_of_its_probability(self, estimator):
        model = clone(estimator).fit(X3, NAMES3)
        scores = classifier_scores(model, X3)
        assert (scores.kind, scores.source) == ("log_odds", "softmax of decision_function")
        calibrated = CalibratedClassifier(model, "platt", prefit=True)
        with ours_allowed():
            calibrated.fit(X3, NAMES3)
        problems = calibrated.calibrated_classifiers_[0].calibration.problems
        columns = problems.scores(scores.values, scores.form)
        prob = model.predict_proba(X3)
        small = prob < 0.9
        np.testing.assert_allclose(columns[small], logit(prob[small]), rtol=1e-6, atol=1e-9)
        assert np.isfinite(columns).all()

    @pytest.mark.parametrize("estimator", MARGINS, ids=class_name)
    def test_one_class_against_the_rest_keeps_its_margin(self, estimator):
        scores = classifier_scores(clone(estimator).fit(X3, NAMES3), X3)
        assert (scores.kind, scores.form) == ("decision_function", "own")

    @pytest.mark.filterwarnings("ignore:Class .* is deprecated:FutureWarning")
    def test_every_softmax_of_scikit_learn_is_found(self):
        """Whatever has both methods is one or is none, and the reading agrees with the definition."""
        found = set()
        for name, cls in all_estimators("classifier"):
            wraps = "estimator" in inspect.signature(cls).parameters and name != "AdaBoostClassifier"
            if wraps or _required(cls) or name.endswith("CV") or not hasattr(cls, "decision_function"):
                continue
            model = cls()
            if not get_tags(model).classifier_tags.multi_class:
                continue
            model.fit(X3, Y3)
            if not hasattr(model, "decision_function") or not hasattr(model, "predict_proba"):
                continue
            if np.allclose(softmax(model.decision_function(X3), axis=1), model.predict_proba(X3)):
                found.add(name)
                assert classifier_scores(model, X3).kind == "log_odds", name
            else:
                assert classifier_scores(model, X3).kind == "decision_function", name
        assert found == {class_name(estimator) for estimator in SOFTMAX}

    def test_log_odds_stay_apart_where_probabilities_are_0(self):
        model = LogisticRegression(C=1e4, max_iter=2000).fit(X3, Y3)
        far = 1e4 * X3[:20]
        assert np.any(model.predict_proba(far) == 0)
        scores = classifier_scores(model, far)
        assert scores.kind == "log_odds"
        np.testing.assert_array_equal(scores.values, model.decision_function(far))

    def test_a_row_is_scored_alone_as_among_others(self):
        calibrated = CalibratedClassifier(LogisticRegression(), cv=2).fit(X3, NAMES3)
        alone = np.vstack([calibrated.predict_proba(row[None]) for row in X3[:20]])
        np.testing.assert_allclose(alone, calibrated.predict_proba(X3[:20]), atol=1e-9)

    @pytest.mark.parametrize("ensemble", [False, True])
    @pytest.mark.parametrize("first", [False, True])
    def test_a_fold_that_saw_two_classes_has_their_log_odds(self, ensemble, first):
        folds = [(np.arange(120), np.arange(120, 240)), (np.arange(120, 240)[Y3[120:] != 1], np.arange(120))]
        with ours_allowed():
            model = CalibratedClassifier(LogisticRegression(), cv=folds[::-1] if first else folds, ensemble=ensemble)
            model.fit(X3, NAMES3)
        assert model.response_method_ == "log_odds"
        assert np.isfinite(model.predict_proba(X3)).all()
        assert model.score(X3, NAMES3) > 0.6

    def test_a_margin_on_request(self):
        model = LogisticRegression().fit(X3, Y3)
        assert (
            classifier_scores(model, X3, "decision_function").kind,
            classifier_scores(model, X3, "decision_function").form,
        ) == (
            "decision_function",
            "own",
        )
        by_request = classifier_scores(model, X3, "log_odds")
        np.testing.assert_array_equal(by_request.values, classifier_scores(model, X3).values)


class TestAlignment:
    def make(self, values, form, classes):
        return ClassifierScores(np.asarray(values, dtype=float), "decision_function", "test", form, np.asarray(classes))

    def test_reversed_classes_turn_the_score_round(self):
        classes = np.array(["a", "b"])
        assert self.make([2.0], "own", ["b", "a"]).align(classes) == [[-2.0]]
        assert self.make([0.3], "probability", ["b", "a"]).align(classes) == [[0.7]]
        assert self.make([[0.3, 0.7]], "probability", ["a", "b"]).align(classes) == [[0.7]]
        assert self.make([[1.0, 3.0]], "log_probability", ["a", "b"]).align(classes) == [[2.0]]

    def test_a_class_that_was_not_seen_is_missing(self):
        classes = np.array([0, 1, 2])
        expected = {"own": [-2, np.nan, 2], "log_probability": [0, np.nan, 2], "probability": [-1, np.nan, 2]}
        for form, row in expected.items():
            np.testing.assert_array_equal(self.make([2.0], form, [0, 2]).align(classes)[0], row)

    def test_pairs_of_the_classes_that_were_seen(self):
        classes = np.array([0, 1, 2, 3])
        three = self.make([[1.0, 2.0, 3.0]], "pairs", [0, 2, 3]).align(classes)
        np.testing.assert_array_equal(three[0], [np.nan, 1, 2, np.nan, np.nan, 3])
        two = self.make([5.0], "pairs", [1, 3]).align(classes)
        np.testing.assert_array_equal(two[0], [np.nan, np.nan, np.nan, np.nan, -5, np.nan])

    def test_unknown_classes_and_wrong_widths_are_refused(self):
        with pytest.raises(InvalidInputError, match="classifier and y must have the same classes"):
            self.make([1.0], "own", [0, 7]).align(np.array([0, 1]))
        with pytest.raises(InvalidInputError, match=r"one column per class; got shape \(1, 2\) for 3 classes"):
            self.make([[1.0, 2.0]], "own", [0, 1, 2]).align(np.array([0, 1, 2]))


class TestBoosters:
    """XGBoost and LightGBM by their raw margins."""

    def xgboost(self, **options):
        return library("xgboost").XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1, **options)

    def lightgbm(self, **options):
        return library("lightgbm").LGBMClassifier(n_estimators=5, num_leaves=4, n_jobs=1, verbose=-1, **options)

    @pytest.mark.parametrize("make", ["xgboost", "lightgbm"])
    def test_the_margin_is_the_log_odds_of_the_probability(self, make):
        model = make_pipeline(StandardScaler(), getattr(self, make)()).fit(X, Y)
        scores = classifier_scores(model, X)
        assert (scores.kind, scores.source) == ("decision_function", "raw margin")
        np.testing.assert_allclose(scores.values, logit(model.predict_proba(X)[:, 1]), atol=1e-5)

    @pytest.mark.parametrize("make", ["xgboost", "lightgbm"])
    def test_several_classes_are_a_softmax_of_their_margins(self, make):
        model = CalibratedClassifier(getattr(self, make)(), cv=2).fit(X3, Y3)
        assert (model.response_method_, model.source_) == ("log_odds", "softmax of raw margin")
        assert model.score(X3, Y3) > 0.7
        np.testing.assert_allclose(model.predict_proba(X3).sum(axis=1), 1)
        log_odds = classifier_scores(model.estimator_, X3, "log_odds")
        assert log_odds.form == "log_probability"

    def test_one_class_against_the_rest_keeps_its_margin(self):
        model = self.lightgbm(objective="multiclassova").fit(X3, Y3)
        assert (classifier_scores(model, X3).kind, classifier_scores(model, X3).form) == ("decision_function", "own")
        log_odds = classifier_scores(model, X3, "log_odds")
        assert log_odds.source == "log of predict_proba"
        np.testing.assert_allclose(np.exp(log_odds.values), model.predict_proba(X3), rtol=1e-12)

    @pytest.mark.parametrize("make", ["xgboost", "lightgbm"])
    def test_a_fitted_booster_of_several_classes(self, make):
        model = getattr(self, make)().fit(X3[:120], Y3[:120])
        booster = model.get_booster() if make == "xgboost" else model.booster_
        native, wrapped = (classifier_scores(each, X3) for each in (booster, model))
        assert native.source == wrapped.source == "softmax of raw margin"
        np.testing.assert_allclose(native.values, wrapped.values, rtol=1e-6)

    @pytest.mark.parametrize("make", ["xgboost", "lightgbm"])
    @pytest.mark.parametrize("ensemble", [False, True])
    def test_names_of_classes_and_a_class_missing_from_a_fold(self, make, ensemble):
        booster = make_pipeline(StandardScaler(), getattr(self, make)())
        folds = [(np.arange(120), np.arange(120, 240)), (np.arange(120, 240)[Y3[120:] != 1], np.arange(120))]
        with ours_allowed():
            model = CalibratedClassifier(booster, cv=folds, ensemble=ensemble).fit(X3, NAMES3)
        assert model.classes_.tolist() == ["ant", "bee", "cow"]
        assert np.isfinite(model.predict_proba(X3)).all()
        assert model.score(X3, NAMES3) > 0.5
        two = CalibratedClassifier(booster, cv=2, ensemble=ensemble).fit(X, np.where(Y == 1, 1, -1))
        numbers = CalibratedClassifier(booster, cv=2, ensemble=ensemble).fit(X, Y)
        np.testing.assert_array_equal(two.predict_proba(X), numbers.predict_proba(X))

    def test_a_fitted_booster_of_xgboost(self):
        xgb = library("xgboost")
        booster = xgb.train({"objective": "binary:logistic", "nthread": 1}, xgb.DMatrix(X[:100], label=Y[:100]), 5)
        model = CalibratedClassifier(booster, prefit=True).fit(X[100:], Y[100:])
        np.testing.assert_allclose(
            classifier_scores(booster, X).values, booster.predict(xgb.DMatrix(X), output_margin=True), rtol=1e-6
        )
        assert model.score(X[100:], Y[100:]) > 0.6
        assert model.classes_.tolist() == [0, 1]

    def test_a_fitted_booster_of_lightgbm(self):
        lgb = library("lightgbm")
        data = lgb.Dataset(X[:100], label=Y[:100])
        booster = lgb.train({"objective": "binary", "num_threads": 1, "verbose": -1}, data, 5)
        model = CalibratedClassifier(booster, prefit=True).fit(X[100:], Y[100:])
        np.testing.assert_array_equal(classifier_scores(booster, X).values, booster.predict(X, raw_score=True))
        assert model.score(X[100:], Y[100:]) > 0.6
