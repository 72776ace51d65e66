"""Several classes and labels: reductions by hand, joint scalings, classes that a fold never saw."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.datasets import load_digits, make_classification, make_multilabel_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from oddsmith import AutoCalibrator, PlattCalibrator
from oddsmith.calibrators import AutoScaling, DirichletScaling, MatrixScaling, TemperatureScaling, VectorScaling
from oddsmith.classify import CalibratedClassifier, couple_code_matrix, couple_pairwise, normalize_one_vs_rest
from oddsmith.errors import InvalidInputError, LostAccuracyWarning, UnseenClassWarning
from samples import TwoClassLearner, ours_allowed

X, Y = make_classification(240, 6, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.1, random_state=0)
NAMES = np.array(["ant", "bee", "cow"])[Y]
FOLDS = list(StratifiedKFold(3).split(X, Y))
PAIRS = list(combinations(range(3), 2))
CODE = [[1, -1, -1], [1, 1, -1], [-1, 1, 0]]
REDUCTIONS = ["one_vs_rest", "pairwise", CODE]


def out_of_fold(read, labels=Y):
    """Return the scores that ``read(train)(rows)`` gives for the rows of each fold, in the order of the data."""
    columns = [read(train)(X[test]) for train, test in FOLDS]
    order = np.argsort(np.concatenate([test for _, test in FOLDS]))
    return np.concatenate(columns)[order]


def platt(scores, positive, take=slice(None)):
    return PlattCalibrator().fit(scores[take], positive[take].astype(int))


class TestByHand:
    def svm(self, train):
        return LinearSVC().fit(X[train], Y[train]).decision_function

    def test_one_vs_rest_uses_each_classes_own_margin(self):
        scores, final = out_of_fold(self.svm), self.svm(slice(None))(X)
        answers = [platt(scores[:, c], Y == c).predict_proba(final[:, c])[:, 1] for c in range(3)]
        model = CalibratedClassifier(LinearSVC(), "platt", cv=FOLDS).fit(X, NAMES)
        expected = normalize_one_vs_rest(np.column_stack(answers))
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)
        np.testing.assert_array_equal(model.predict(X), np.array(["ant", "bee", "cow"])[expected.argmax(axis=1)])
        assert model.classes_.tolist() == ["ant", "bee", "cow"]
        assert len(model.calibrators_) == 3

    def test_pairs_use_differences_of_margins_and_the_rows_of_their_classes(self):
        scores, final = out_of_fold(self.svm), self.svm(slice(None))(X)
        r, cases = np.full((len(X), 3, 3), 0.5), np.zeros((3, 3))
        for i, j in PAIRS:
            rows = np.isin(Y, [i, j])
            calibrator = platt(scores[:, i] - scores[:, j], Y == i, rows)
            r[:, i, j] = calibrator.predict_proba(final[:, i] - final[:, j])[:, 1]
            r[:, j, i], cases[i, j], cases[j, i] = 1 - r[:, i, j], rows.sum(), rows.sum()
        model = CalibratedClassifier(LinearSVC(), "platt", cv=FOLDS, multiclass="pairwise").fit(X, Y)
        np.testing.assert_allclose(model.predict_proba(X), couple_pairwise(r, cases), rtol=1e-9)

    def test_a_code_uses_the_best_margin_of_each_side(self):
        scores, final = out_of_fold(self.svm), self.svm(slice(None))(X)
        answers = []
        for row in np.array(CODE):
            if (row == 1).sum() == 1 and (row == -1).sum() == 2:
                old, new = scores[:, row == 1][:, 0], final[:, row == 1][:, 0]
            else:
                old, new = (s[:, row == 1].max(axis=1) - s[:, row == -1].max(axis=1) for s in (scores, final))
            calibrator = platt(old, row[Y] == 1, row[Y] != 0)
            answers.append(calibrator.predict_proba(new)[:, 1])
        model = CalibratedClassifier(LinearSVC(), "platt", cv=FOLDS, multiclass=CODE).fit(X, Y)
        np.testing.assert_allclose(
            model.predict_proba(X), couple_code_matrix(np.column_stack(answers), CODE), rtol=1e-9
        )

    def test_naive_bayes_is_scored_by_log_odds_of_each_class_against_the_rest(self):
        def joint(train):
            return GaussianNB().fit(X[train], Y[train]).predict_joint_log_proba

        def log_odds(z, c):
            return z[:, c] - logsumexp(np.delete(z, c, axis=1), axis=1)

        scores, final = out_of_fold(joint), joint(slice(None))(X)
        answers = [platt(log_odds(scores, c), Y == c).predict_proba(log_odds(final, c))[:, 1] for c in range(3)]
        model = CalibratedClassifier(GaussianNB(), "platt", cv=FOLDS).fit(X, Y)
        np.testing.assert_allclose(model.predict_proba(X), normalize_one_vs_rest(np.column_stack(answers)), rtol=1e-9)

    def test_pairs_of_probabilities_are_conditional_ones(self):
        def prob(train):
            return KNeighborsClassifier(3).fit(X[train], Y[train]).predict_proba

        def given(p, i, j):
            return np.array([row[i] / (row[i] + row[j]) if row[i] + row[j] else 0.5 for row in p])

        scores, final = out_of_fold(prob), prob(slice(None))(X)
        r, cases = np.full((len(X), 3, 3), 0.5), np.zeros((3, 3))
        for i, j in PAIRS:
            rows = np.isin(Y, [i, j])
            calibrator = platt(given(scores, i, j), Y == i, rows)
            r[:, i, j] = calibrator.predict_proba(given(final, i, j))[:, 1]
            r[:, j, i], cases[i, j], cases[j, i] = 1 - r[:, i, j], rows.sum(), rows.sum()
        model = CalibratedClassifier(KNeighborsClassifier(3), "platt", cv=FOLDS, multiclass="pairwise").fit(X, Y)
        np.testing.assert_allclose(model.predict_proba(X), couple_pairwise(r, cases), rtol=1e-9)

    @pytest.mark.parametrize("estimator", [SVC(gamma=0.2), OneVsOneClassifier(SVC(gamma=0.2))], ids=["svc", "members"])
    def test_classifiers_trained_on_pairs_answer_for_pairs(self, estimator):
        def pairs(train):
            rows = [np.flatnonzero(np.isin(Y[train], pair)) for pair in PAIRS]
            members = [SVC(gamma=0.2).fit(X[train][held], Y[train][held]) for held in rows]
            return lambda new: -np.column_stack([member.decision_function(new) for member in members])

        scores, final = out_of_fold(pairs), pairs(slice(None))(X)
        r, cases = np.full((len(X), 3, 3), 0.5), np.zeros((3, 3))
        for b, (i, j) in enumerate(PAIRS):
            rows = np.isin(Y, [i, j])
            r[:, i, j] = platt(scores[:, b], Y == i, rows).predict_proba(final[:, b])[:, 1]
            r[:, j, i], cases[i, j], cases[j, i] = 1 - r[:, i, j], rows.sum(), rows.sum()
        model = CalibratedClassifier(estimator, "platt", cv=FOLDS, multiclass="pairwise").fit(X, Y)
        np.testing.assert_allclose(model.predict_proba(X), couple_pairwise(r, cases), atol=1e-6)


DIGITS = load_digits(return_X_y=True)
DIGIT_CLASSIFIERS = [
    make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    LinearDiscriminantAnalysis(),
    make_pipeline(StandardScaler(), MLPClassifier((32,), max_iter=60, random_state=0)),
    HistGradientBoostingClassifier(max_iter=10),
    GaussianNB(var_smoothing=1e-3),
    RandomForestClassifier(50, random_state=0),
    KNeighborsClassifier(),
    OneVsRestClassifier(make_pipeline(StandardScaler(), LogisticRegression())),
]


def last_step(estimator):
    return type(getattr(estimator, "steps", [("", estimator)])[-1][1]).__name__


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", DIGIT_CLASSIFIERS, ids=last_step)
def test_the_default_does_not_lose_to_doing_nothing(estimator):
    """One raw logit of a softmax says little of its class: 0.25 where logistic regression itself has 0.12."""
    train, test, truth, held = train_test_split(*DIGITS, test_size=0.5, random_state=0, stratify=DIGITS[1])
    with ours_allowed():
        calibrated = CalibratedClassifier(estimator).fit(train, truth)
    nothing, ours = (log_loss(held, model.predict_proba(test)) for model in (estimator.fit(train, truth), calibrated))
    assert ours <= nothing + 0.003


@pytest.mark.parametrize("multiclass", REDUCTIONS, ids=["one_vs_rest", "pairwise", "code"])
class TestReductions:
    @pytest.mark.parametrize(
        "estimator",
        [LinearSVC(), GaussianNB(), RandomForestClassifier(10, random_state=0), TwoClassLearner()],
        ids=lambda estimator: type(estimator).__name__,
    )
    @pytest.mark.parametrize("ensemble", [False, True])
    def test_any_classifier_gets_distributions_that_beat_guessing(self, estimator, multiclass, ensemble):
        model = CalibratedClassifier(estimator, cv=FOLDS, multiclass=multiclass, ensemble=ensemble)
        prob = model.fit(X, Y).predict_proba(X)
        np.testing.assert_allclose(prob.sum(axis=1), 1)
        assert prob.min() >= 0
        assert -np.log(prob[np.arange(len(X)), Y]).mean() < np.log(3)

    def test_a_two_class_learner_is_trained_on_each_problem_with_its_weights(self, multiclass):
        weight = np.random.default_rng(0).integers(1, 4, len(X))
        model = CalibratedClassifier(TwoClassLearner(), cv=FOLDS, multiclass=multiclass)
        model.fit(X, Y, sample_weight=weight)
        members = model.estimator_.problem_estimators_
        sign = np.array([[1, -1, 0]] if multiclass == "pairwise" else [[1, -1, -1]])[0][Y]
        alone = TwoClassLearner().fit(X[sign != 0], sign[sign != 0] > 0, weight[sign != 0])
        np.testing.assert_allclose(members[0].decision_function(X), alone.decision_function(X))
        assert model.n_features_in_ == 6
        assert model.response_method_ == "decision_function"

    @pytest.mark.parametrize("ensemble", [False, True])
    @pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB(), TwoClassLearner(), SVC()], ids=str)
    def test_a_class_missing_from_a_fold_gives_no_nan(self, multiclass, estimator, ensemble):
        without = [(train[Y[train] != fold], test) for fold, (train, test) in enumerate(FOLDS)]
        with ours_allowed():
            model = CalibratedClassifier(estimator, cv=without, multiclass=multiclass, ensemble=ensemble)
            prob = model.fit(X, Y).predict_proba(X)
        assert np.isfinite(prob).all()
        np.testing.assert_allclose(prob.sum(axis=1), 1)

    def test_a_class_with_a_single_row(self, multiclass):
        lonely = np.where(Y == 2, 1, Y)
        lonely[11] = 2
        with ours_allowed():
            prob = CalibratedClassifier(LogisticRegression(), multiclass=multiclass).fit(X, lonely).predict_proba(X)
        assert np.isfinite(prob).all()
        assert prob[:, 2].mean() < 0.1

    def test_a_fitted_classifier_may_know_classes_that_are_not_there(self, multiclass):
        fitted = LogisticRegression().fit(X[:120], NAMES[:120])
        rest = np.flatnonzero(NAMES[120:] != "cow") + 120
        with ours_allowed():
            model = CalibratedClassifier(fitted, prefit=True, multiclass=multiclass).fit(X[rest], NAMES[rest])
        assert model.classes_.tolist() == ["ant", "bee", "cow"]
        assert np.isfinite(model.predict_proba(X)).all()
        assert model.predict_proba(X)[:, 2].max() < 0.5

    def test_two_classes_need_none_of_it(self, multiclass):
        two = Y < 2
        model = CalibratedClassifier(LinearSVC(), multiclass=multiclass).fit(X[two], Y[two])
        plain = CalibratedClassifier(LinearSVC()).fit(X[two], Y[two])
        np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


class RecordingPlatt(PlattCalibrator):
    """Remembers the scores that it was fitted on."""

    def fit_table(self, table):
        self.scores_ = table.scores
        return super().fit_table(table)


class TestMissingRows:
    train, test = FOLDS[0]
    without = ((train[Y[train] != 1], test), *FOLDS[1:])

    def test_rows_without_a_score_do_not_calibrate_that_problem(self):
        with pytest.warns(UnseenClassWarning):
            model = CalibratedClassifier(LinearSVC(), RecordingPlatt(), cv=self.without).fit(X, Y)
        known = 240 - np.sum(Y[self.test] == 1)
        assert [len(each.scores_) for each in model.calibrators_] == [known, 240 - len(self.test), known]

    @pytest.mark.parametrize("estimator", [SVC(gamma=0.2), OneVsOneClassifier(SVC(gamma=0.2))], ids=["svc", "members"])
    def test_pairs_of_two_classes_stand_among_all_pairs(self, estimator):
        model = CalibratedClassifier(estimator, RecordingPlatt(), cv=self.without, multiclass="pairwise")
        with pytest.warns(UnseenClassWarning):
            model.fit(X, Y)
        held = [np.isin(Y[self.test], pair) for pair in PAIRS]
        assert [len(each.scores_) for each in model.calibrators_] == [
            np.isin(Y, pair).sum() - (rows.sum() if 1 in pair else 0) for pair, rows in zip(PAIRS, held, strict=True)
        ]
        rows = self.without[0][0]
        alone = SVC(gamma=0.2).fit(X[rows], Y[rows]).decision_function(X[self.test][held[1]])
        np.testing.assert_allclose(model.calibrators_[1].scores_[: len(alone)], -alone, rtol=1e-6, atol=1e-9)

    def test_a_pair_without_any_row_is_left_out(self):
        fitted = LogisticRegression().fit(X, Y)
        with ours_allowed():
            model = CalibratedClassifier(fitted, prefit=True, multiclass="pairwise").fit(X[Y == 0], Y[Y == 0])
        assert model.calibrators_[2] is None
        prob = model.predict_proba(X)
        assert np.isfinite(prob).all()
        assert (prob.argmax(axis=1) == 0).all()


class TestDefault:
    """More than two classes get one joint scaling, unless somebody takes them apart."""

    @pytest.mark.parametrize(
        "estimator", [LinearSVC(), SVC(), GaussianNB(), RandomForestClassifier(10, random_state=0)]
    )
    def test_several_classes_are_scaled_together(self, estimator):
        model = CalibratedClassifier(estimator, cv=FOLDS).fit(X, NAMES)
        (scaling,) = model.calibrators_
        assert isinstance(scaling, AutoScaling)
        assert "AutoScaling" in model.describe()
        named = CalibratedClassifier(estimator, AutoScaling(), cv=FOLDS).fit(X, NAMES)
        np.testing.assert_array_equal(model.predict_proba(X), named.predict_proba(X))

    @pytest.mark.parametrize("multiclass", REDUCTIONS, ids=["one_vs_rest", "pairwise", "code"])
    def test_who_takes_them_apart_gets_two_class_calibrators(self, multiclass):
        model = CalibratedClassifier(LinearSVC(), cv=FOLDS, multiclass=multiclass).fit(X, Y)
        assert {type(each) for each in model.calibrators_} == {AutoCalibrator}
        assert len(model.calibrators_) == 3

    def test_two_classes_and_labels_get_two_class_calibrators(self):
        two = Y < 2
        assert isinstance(CalibratedClassifier(LinearSVC()).fit(X[two], Y[two]).calibrators_[0], AutoCalibrator)
        labels = np.column_stack([Y == 0, Y > 0, X[:, 0] > 0]).astype(int)
        with ours_allowed():
            model = CalibratedClassifier(OneVsRestClassifier(LinearSVC())).fit(X, labels)
        assert {type(each) for each in model.calibrators_} == {AutoCalibrator}


class TestJointScaling:
    @pytest.mark.parametrize("scaling", [TemperatureScaling(), VectorScaling(), MatrixScaling(), DirichletScaling()])
    @pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB(), KNeighborsClassifier()])
    def test_any_score_becomes_logits(self, scaling, estimator):
        model = CalibratedClassifier(estimator, scaling, cv=FOLDS).fit(X, NAMES)
        prob = model.predict_proba(X)
        np.testing.assert_allclose(prob.sum(axis=1), 1)
        assert model.score(X, NAMES) > 0.6
        assert len(model.calibrators_) == 1

    def test_temperature_by_hand(self):
        logits = out_of_fold(lambda train: LogisticRegression().fit(X[train], Y[train]).decision_function)
        scaling = TemperatureScaling().fit(logits, Y)
        expected = scaling.predict_proba(LogisticRegression().fit(X, Y).decision_function(X))
        model = CalibratedClassifier(LogisticRegression(), "temperature", cv=FOLDS).fit(X, Y)
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-6)

    def test_two_classes_have_log_odds(self):
        two = Y < 2
        for estimator in (LogisticRegression(), KNeighborsClassifier()):
            model = CalibratedClassifier(estimator, "temperature").fit(X[two], Y[two])
            prob = model.predict_proba(X[two])
            np.testing.assert_allclose(model.log_odds(X[two]), np.log(prob[:, 1] / prob[:, 0]), rtol=1e-6, atol=1e-9)

    def test_a_class_missing_from_a_fold(self):
        without = [(train[Y[train] != fold], test) for fold, (train, test) in enumerate(FOLDS)]
        for ensemble in (False, True):
            model = CalibratedClassifier(LogisticRegression(), "temperature", cv=without, ensemble=ensemble)
            with (
                ours_allowed(),
                pytest.warns(UnseenClassWarning, match="1 of 3 folds was trained without class 2: its"),
            ):
                model.fit(X, Y)
            np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)

    def test_a_two_class_learner_has_logits_too(self):
        model = CalibratedClassifier(TwoClassLearner(), "vector", cv=FOLDS).fit(X, Y)
        assert model.score(X, Y) > 0.6


class TestLabels:
    X, Y = make_multilabel_classification(200, 8, n_classes=4, random_state=0)

    @pytest.mark.parametrize(
        "estimator",
        [
            OneVsRestClassifier(LinearSVC()),
            OneVsRestClassifier(GaussianNB()),
            MultiOutputClassifier(LogisticRegression()),
            KNeighborsClassifier(),
            RandomForestClassifier(10, random_state=0),
            MLPClassifier((4,), max_iter=20, random_state=0),
        ],
        ids=str,
    )
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_each_label_has_its_own_calibrator_and_nothing_is_normalized(self, estimator):
        with ours_allowed():
            model = CalibratedClassifier(estimator, cv=3).fit(self.X, self.Y)
        prob = model.predict_proba(self.X)
        assert prob.shape == (200, 4)
        assert prob.sum(axis=1).std() > 0.1
        np.testing.assert_array_equal(model.predict(self.X), (prob > 0.5).astype(int))
        assert len(model.calibrators_) == 4
        assert model.classes_.tolist() == [0, 1, 2, 3]

    def test_a_label_is_a_two_class_problem(self):
        folds = list(StratifiedKFold(3).split(self.X, self.Y[:, 0]))
        model = CalibratedClassifier(OneVsRestClassifier(LinearSVC()), cv=folds).fit(self.X, self.Y)
        for label in range(4):
            alone = CalibratedClassifier(LinearSVC(), cv=folds).fit(self.X, self.Y[:, label])
            np.testing.assert_allclose(
                model.predict_proba(self.X)[:, label], alone.predict_proba(self.X)[:, 1], rtol=1e-6
            )

    def test_groups_fractions_and_fitted_classifiers(self):
        estimator = OneVsRestClassifier(GaussianNB())
        CalibratedClassifier(estimator, cv=0.3).fit(self.X, self.Y)
        CalibratedClassifier(estimator, cv=3, ensemble=True).fit(self.X, self.Y, groups=np.arange(200) // 5)
        fitted = estimator.fit(self.X[:100], self.Y[:100])
        model = CalibratedClassifier(fitted, prefit=True).fit(self.X[100:], self.Y[100:])
        assert model.predict_proba(self.X).shape == (200, 4)

    @pytest.mark.filterwarnings("ignore:Label not 2 is present in all training examples")
    def test_a_label_that_a_fold_lacks(self):
        rare = self.Y.copy()
        rare[:, 2] = 0
        rare[:3, 2] = 1
        folds = [(np.arange(3, 200), np.arange(3)), (np.arange(100), np.arange(100, 200))]
        for estimator in (OneVsRestClassifier(GaussianNB()), KNeighborsClassifier()):
            with ours_allowed():
                model = CalibratedClassifier(estimator, cv=folds).fit(self.X, rare)
            assert np.isfinite(model.predict_proba(self.X)).all()

    @pytest.mark.filterwarnings("ignore:Label .*is present in all training examples")
    def test_labels_that_are_all_constant_have_no_score(self):
        constant = np.tile([1, 0], (200, 1))
        with pytest.raises(InvalidInputError, match="some two-class problem must have both classes"):
            CalibratedClassifier(OneVsRestClassifier(LinearSVC()), cv=3).fit(self.X, constant)

    def test_what_needs_exclusive_classes_is_refused(self):
        model = CalibratedClassifier(OneVsRestClassifier(LinearSVC()), cv=3)
        with pytest.raises(InvalidInputError, match="a joint scaling needs classes that exclude each other; got Temp"):
            CalibratedClassifier(OneVsRestClassifier(LinearSVC()), TemperatureScaling()).fit(self.X, self.Y)
        with pytest.raises(InvalidInputError, match="log_odds needs two classes; got 4"):
            model.fit(self.X, self.Y).log_odds(self.X)


@pytest.mark.parametrize(
    ("multiclass", "message"),
    [
        ("one_vs_one", "multiclass must be one of 'auto', 'one_vs_rest', 'pairwise'; got multiclass='one_vs_one'"),
        ([[1, -1]], r"multiclass must have one column per class; got shape \(1, 2\) for 3 classes"),
        ([[1, 0, 0]], "code must contain"),
        ([[2, -1, 0]], "code must contain"),
    ],
)
def test_bad_reductions_are_refused(multiclass, message):
    with pytest.raises(InvalidInputError, match=message):
        CalibratedClassifier(LinearSVC(), multiclass=multiclass).fit(X, Y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(240), "y must contain at least two classes; got 1 class"),
        (np.linspace(0, 1, 240), "Unknown label type: continuous"),
        (np.full((240, 2), 2), "y must be one label per row, or a matrix of 0 and 1"),
        (np.zeros((10, 2)), "y must be one label per row, or a matrix of 0 and 1"),
        (Y[:-1], "y must be as long as the scores; got 239 labels for 240"),
        (np.where(Y == 0, np.nan, 1.0), "y must not contain NaN"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_labels_are_refused(y, message):
    with pytest.raises(InvalidInputError, match=message):
        CalibratedClassifier(LinearSVC()).fit(X, y)


def test_labels_that_the_fitted_classifier_does_not_know_are_refused():
    fitted = LogisticRegression().fit(X, NAMES)
    with pytest.raises(InvalidInputError, match="classifier and y must have the same classes; got"):
        CalibratedClassifier(fitted, prefit=True).fit(X, np.where(NAMES == "cow", "dog", NAMES))


class RowUnits(LogisticRegression):
    """Logits of each row in a unit of its own, as far as naive Bayes exaggerates it."""

    def decision_function(self, X):
        return X


def in_row_units(rng, n, exaggeration):
    """Return labels and logits of five classes, of which a few rows are exaggerated by any factor up to this."""
    logits = rng.normal(size=(n, 5))
    y = np.argmax(2 * logits + rng.gumbel(size=(n, 5)), axis=1)
    return logits * 10 ** rng.uniform(0, np.log10(exaggeration), (n, 1)), y


@pytest.mark.parametrize("method", ["sigmoid", "beta"])
def test_decisions_that_get_worse_are_named(method):
    scores, y = in_row_units(np.random.default_rng(0), 1000, 1e7)
    with ours_allowed(), pytest.warns(LostAccuracyWarning, match=r"instead of .* Hint: use a method that scales all"):
        CalibratedClassifier(RowUnits().fit(scores, y), method, prefit=True).fit(scores, y)


@pytest.mark.parametrize("method", ["sigmoid", "auto", "temperature"])
def test_decisions_that_stay_as_good_are_not(method):
    """Warnings are errors; a joint scaling reads each row in its own unit."""
    scores, y = in_row_units(np.random.default_rng(0), 1000, 1.0 if method == "sigmoid" else 1e7)
    CalibratedClassifier(RowUnits().fit(scores, y), method, prefit=True).fit(scores, y)
