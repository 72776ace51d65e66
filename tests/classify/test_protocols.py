"""Protocols: scores of rows that did not train, each row with its own weight, and the guard against in-sample ones."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    train_test_split,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from oddsmith import IsotonicCalibrator, PlattCalibrator
from oddsmith.classify import CalibratedClassifier, in_sample, score_tables
from oddsmith.classify.in_sample import row_hashes
from oddsmith.errors import (
    InSampleWarning,
    InvalidInputError,
    SeparableWarning,
    SkippedFoldWarning,
    UnusedWeightWarning,
)
from samples import ours_allowed

X, Y = make_classification(150, 5, n_informative=4, n_redundant=0, flip_y=0.1, random_state=1)
GROUPS = np.arange(150) // 6
WEIGHT = np.random.default_rng(0).integers(1, 4, 150)


class RecordingPlatt(PlattCalibrator):
    """Remembers what it was fitted on."""

    def fit_table(self, table):
        self.seen_ = table.scores, table.positive.astype(int), table.weight
        return super().fit_table(table)


def out_of_fold(splits, estimator=None, weight=None):
    """Score every fold by a classifier fitted on its rest: the five-line version."""
    rows, scores = [], []
    for train, test in splits:
        given = {} if weight is None else {"sample_weight": weight[train]}
        fitted = clone(estimator or LinearSVC()).fit(X[train], Y[train], **given)
        rows.append(test)
        scores.append(fitted.decision_function(X[test]))
    return np.concatenate(rows), np.concatenate(scores)


class TestPooledFolds:
    def test_one_calibrator_on_all_folds_and_a_refit_are_what_a_loop_gives(self):
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        rows, scores = out_of_fold(folds.split(X, Y))
        platt = PlattCalibrator().fit(scores, Y[rows])
        final = LinearSVC().fit(X, Y).decision_function(X)
        model = CalibratedClassifier(LinearSVC(), "platt").fit(X, Y)
        np.testing.assert_allclose(model.predict_proba(X), platt.predict_proba(final), rtol=1e-12)
        np.testing.assert_array_equal(model.estimator_.decision_function(X), final)
        assert len(model.calibrators_) == len(model.calibrated_classifiers_) == 1

    def test_weights_reach_classifier_and_calibrator(self):
        folds = list(StratifiedKFold(3).split(X, Y))
        rows, scores = out_of_fold(folds, weight=WEIGHT)
        platt = PlattCalibrator().fit(scores, Y[rows], WEIGHT[rows])
        final = LinearSVC().fit(X, Y, WEIGHT).decision_function(X)
        model = CalibratedClassifier(LinearSVC(), "platt", cv=folds).fit(X, Y, sample_weight=WEIGHT)
        np.testing.assert_allclose(model.predict_proba(X), platt.predict_proba(final), rtol=1e-12)

    def test_the_order_of_folds_and_of_rows_within_them_changes_nothing(self):
        folds = list(StratifiedKFold(4).split(X, Y))
        rng = np.random.default_rng(3)
        mixed = [(train, rng.permutation(test)) for train, test in reversed(folds)]
        expected, got = (CalibratedClassifier(LinearSVC(), cv=cv).fit(X, Y).predict_proba(X) for cv in (folds, mixed))
        np.testing.assert_allclose(got, expected, rtol=1e-9)

    def test_numbers_of_folds_are_shuffled_and_repeatable(self):
        def prob(**options):
            return CalibratedClassifier(LinearSVC(), **options).fit(X, Y).predict_proba(X)

        np.testing.assert_array_equal(prob(), prob(cv=StratifiedKFold(5, shuffle=True, random_state=0)))
        np.testing.assert_array_equal(prob(cv=None), prob(cv=np.int64(5)))
        assert not np.array_equal(prob(), prob(random_state=1))

    def test_masks_are_splits_too(self):
        first = np.arange(150) < 75
        masks = CalibratedClassifier(LinearSVC(), cv=[(first, ~first), (~first, first)]).fit(X, Y)
        numbers = [np.flatnonzero(part) for part in (first, ~first)]
        rows = CalibratedClassifier(LinearSVC(), cv=[(numbers[0], numbers[1]), (numbers[1], numbers[0])]).fit(X, Y)
        np.testing.assert_array_equal(masks.predict_proba(X), rows.predict_proba(X))

    def test_jobs_change_nothing_and_progress_counts_fits(self):
        seen = []
        model = CalibratedClassifier(LinearSVC(), cv=3, progress=lambda *step: seen.append(step)).fit(X, Y)
        assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
        twice = CalibratedClassifier(LinearSVC(), cv=3, n_jobs=2).fit(X, Y)
        np.testing.assert_array_equal(model.predict_proba(X), twice.predict_proba(X))

    def test_a_precomputed_kernel_is_cut_on_both_sides(self):
        kernel = X @ X.T
        model = CalibratedClassifier(SVC(kernel="precomputed"), cv=3).fit(kernel, Y)
        linear = CalibratedClassifier(SVC(kernel="linear"), cv=3).fit(X, Y)
        np.testing.assert_allclose(model.predict_proba(kernel), linear.predict_proba(X), rtol=1e-6)


class TestHoldOut:
    def test_a_fraction_calibrates_and_all_rows_train(self):
        model = CalibratedClassifier(LinearSVC(), RecordingPlatt(), cv=0.3).fit(X, Y)
        scores, labels, _ = model.calibrators_[0].seen_
        assert len(scores) == 45
        assert abs(labels.mean() - Y.mean()) < 0.02
        np.testing.assert_allclose(model.estimator_.coef_, LinearSVC().fit(X, Y).coef_)
        assert "45 rows from 1 folds, classifier fitted on all 150 rows" in model.protocol_

    def test_with_ensemble_the_classifier_stays_as_it_was_scored(self):
        model = CalibratedClassifier(LinearSVC(), RecordingPlatt(), cv=0.3, ensemble=True, progress=print).fit(X, Y)
        scores = model.calibrators_[0].seen_[0]
        assert np.isin(scores, model.estimator_.decision_function(X)).all()

    def test_groups_stay_together_and_a_single_row_of_a_class_is_no_obstacle(self):
        model = CalibratedClassifier(LinearSVC(), RecordingPlatt(), cv=0.2).fit(X, Y, groups=GROUPS)
        assert len(model.calibrators_[0].seen_[0]) == 5 * 6
        lonely = Y.copy()
        lonely[7] = 2
        for state in range(5):
            with ours_allowed():
                model = CalibratedClassifier(LinearSVC(), cv=0.3, random_state=state).fit(X, lonely)
            assert np.isfinite(model.predict_proba(X)).all()


class TestLeaveOneOut:
    def test_every_row_is_scored_by_all_others(self):
        model = CalibratedClassifier(LogisticRegression(), RecordingPlatt(), cv=LeaveOneOut()).fit(X[:60], Y[:60])
        fitted = LogisticRegression().fit(np.delete(X[:60], 5, axis=0), np.delete(Y[:60], 5))
        np.testing.assert_allclose(model.calibrators_[0].seen_[0][5], fitted.decision_function(X[5:6])[0])

    def test_an_ensemble_of_single_rows_is_refused(self):
        with pytest.raises(InvalidInputError, match=r"calibrate on two rows; got 1 row\. Hint: use ensemble=False"):
            CalibratedClassifier(LogisticRegression(), cv=LeaveOneOut(), ensemble=True).fit(X, Y)


class TestRepeatedFolds:
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)

    def test_each_of_r_scores_of_a_row_weighs_one_rth(self):
        model = CalibratedClassifier(LinearSVC(), RecordingPlatt(), cv=self.folds).fit(X, Y)
        scores, _, weight = model.calibrators_[0].seen_
        assert len(scores) == 4 * 150
        np.testing.assert_allclose(weight, 0.25)
        np.testing.assert_allclose(weight.sum(), 150)
        # Platt's targets therefore rest on the rows, not on the scores.
        assert model.calibrators_[0].targets_ == pytest.approx(((Y.sum() + 1) / (Y.sum() + 2), 1 / (152 - Y.sum())))

    def test_rows_keep_their_own_weight(self):
        model = CalibratedClassifier(LinearSVC(), RecordingPlatt(), cv=self.folds).fit(X, Y, sample_weight=WEIGHT)
        np.testing.assert_allclose(model.calibrators_[0].seen_[2].sum(), WEIGHT.sum())

    def test_repeating_the_same_folds_changes_nothing(self):
        once = list(StratifiedKFold(3).split(X, Y))
        expected, got = (CalibratedClassifier(LinearSVC(), cv=cv).fit(X, Y).predict_proba(X) for cv in (once, once * 5))
        np.testing.assert_allclose(got, expected, rtol=1e-9)

    def test_rows_scored_unequally_often(self):
        first, second = list(StratifiedKFold(2).split(X, Y))
        model = CalibratedClassifier(LinearSVC(), RecordingPlatt(), cv=[first, first, second]).fit(X, Y)
        np.testing.assert_allclose(model.calibrators_[0].seen_[2].sum(), 150)


class TestTimeSeries:
    def test_rows_never_scored_train_but_do_not_calibrate(self):
        folds = TimeSeriesSplit(4)
        model = CalibratedClassifier(LinearSVC(), RecordingPlatt(), cv=folds).fit(X, Y)
        rows, scores = out_of_fold(folds.split(X))
        np.testing.assert_allclose(model.calibrators_[0].seen_[0], scores)
        np.testing.assert_array_equal(model.calibrators_[0].seen_[1], Y[rows])
        assert rows.min() == 30
        np.testing.assert_allclose(model.estimator_.coef_, LinearSVC().fit(X, Y).coef_)
        assert "out-of-sample scores of 120 rows" in model.describe()

    def test_a_first_stretch_of_one_class_is_skipped_with_a_warning(self):
        late = np.concatenate([np.zeros(40, dtype=int), Y[40:]])
        with pytest.warns(SkippedFoldWarning, match="Fold 0 is skipped: all its training rows are of class"):
            model = CalibratedClassifier(LinearSVC(), RecordingPlatt(), cv=TimeSeriesSplit(4)).fit(X, late)
        assert len(model.calibrators_[0].seen_[0]) == 90

    def test_nothing_left_to_train_on_is_refused(self):
        with ours_allowed(), pytest.raises(InvalidInputError, match="some fold must have two classes to train on"):
            CalibratedClassifier(LinearSVC(), cv=[(np.flatnonzero(Y == 0), np.flatnonzero(Y == 1))]).fit(X, Y)


class TestGroups:
    def expected(self):
        rows, scores = out_of_fold(GroupKFold(5).split(X, Y, GROUPS))
        platt = PlattCalibrator().fit(scores, Y[rows])
        return platt.predict_proba(LinearSVC().fit(X, Y).decision_function(X))

    def test_without_routing(self):
        model = CalibratedClassifier(LinearSVC(), "platt", cv=GroupKFold(5)).fit(X, Y, groups=GROUPS)
        np.testing.assert_allclose(model.predict_proba(X), self.expected(), rtol=1e-12)

    def test_with_routing(self):
        with sklearn.config_context(enable_metadata_routing=True):
            model = CalibratedClassifier(LinearSVC(), "platt", cv=GroupKFold(5)).fit(X, Y, groups=GROUPS)
        np.testing.assert_allclose(model.predict_proba(X), self.expected(), rtol=1e-12)

    @pytest.mark.parametrize("routing", [True, False])
    def test_a_number_of_folds_keeps_groups_together(self, routing):
        seen = []

        def note(estimator, rows):
            seen.append((np.isin(X, estimator.rows_).all(axis=1), np.isin(X, rows).all(axis=1)))
            return estimator.decision_function(rows)

        class Noting(LinearSVC):
            def fit(self, rows, y):
                self.rows_ = rows
                return super().fit(rows, y)

        with sklearn.config_context(enable_metadata_routing=routing):
            CalibratedClassifier(Noting(), cv=3, response_method=note).fit(X, Y, groups=GROUPS)
        for train, test in seen:
            assert not set(GROUPS[train]) & set(GROUPS[test])

    def test_weights_and_groups_pass_through_a_search_and_a_pipeline(self):
        with sklearn.config_context(enable_metadata_routing=True):
            svm = LinearSVC().set_fit_request(sample_weight=True)
            inner = CalibratedClassifier(Pipeline([("scale", StandardScaler()), ("svm", svm)]), cv=GroupKFold(3))
            inner.estimator.named_steps["scale"].set_fit_request(sample_weight=False)
            inner.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
            search = GridSearchCV(inner, {"method": ["platt", "isotonic"]}, cv=GroupKFold(2))
            with ours_allowed():
                search.fit(X, Y, sample_weight=WEIGHT, groups=GROUPS)
        assert search.best_estimator_.predict_proba(X).shape == (150, 2)

    @pytest.mark.parametrize(("request_", "used"), [(None, True), (True, True), (False, False)])
    def test_a_calibrator_may_decline_the_weights(self, request_, used):
        with sklearn.config_context(enable_metadata_routing=True):
            calibrator = RecordingPlatt().set_fit_request(sample_weight=request_)
            svm = LinearSVC().set_fit_request(sample_weight=True)
            model = CalibratedClassifier(svm, calibrator, cv=3).fit(X, Y, sample_weight=WEIGHT)
        assert (model.calibrators_[0].seen_[2] is not None) is used
        assert not np.allclose(model.estimator_.coef_, LinearSVC().fit(X, Y).coef_)

    def test_the_calibrator_may_have_weights_of_its_own(self):
        with sklearn.config_context(enable_metadata_routing=True):
            calibrator = RecordingPlatt().set_fit_request(sample_weight="trust")
            model = CalibratedClassifier(LinearSVC(), calibrator, cv=3).fit(X, Y, trust=WEIGHT)
        assert model.calibrators_[0].seen_[2].sum() == WEIGHT.sum()
        np.testing.assert_allclose(model.estimator_.coef_, LinearSVC().fit(X, Y).coef_)

    def test_a_fitted_classifier_is_asked_for_nothing(self):
        fitted = LinearSVC().fit(X[:70], Y[:70])
        with sklearn.config_context(enable_metadata_routing=True):
            model = CalibratedClassifier(fitted, RecordingPlatt(), prefit=True)
            model.fit(X[70:], Y[70:], sample_weight=WEIGHT[70:])
        assert model.calibrators_[0].seen_[2].sum() == WEIGHT[70:].sum()

    def test_splits_that_can_be_read_once_are_not_used_up_by_routing(self):
        with sklearn.config_context(enable_metadata_routing=True):
            splits = StratifiedKFold(3).split(X, Y)
            svm = LinearSVC().set_fit_request(sample_weight=True)
            model = CalibratedClassifier(svm, cv=splits).fit(X, Y, sample_weight=WEIGHT)
        assert "from 3 folds" in model.protocol_

    def test_a_request_that_nobody_made_is_an_error(self):
        with sklearn.config_context(enable_metadata_routing=True), pytest.raises(ValueError, match="sample_weight"):
            CalibratedClassifier(LinearSVC()).fit(X, Y, sample_weight=WEIGHT)


class TestEnsemble:
    def test_it_is_the_mean_of_pairs(self):
        folds = list(StratifiedKFold(3).split(X, Y))
        model = CalibratedClassifier(LinearSVC(), "isotonic", cv=folds, ensemble=True).fit(X, Y)
        by_hand = 0.0
        for train, test in folds:
            svm = LinearSVC().fit(X[train], Y[train])
            isotonic = IsotonicCalibrator().fit(svm.decision_function(X[test]), Y[test])
            by_hand = by_hand + isotonic.predict_proba(svm.decision_function(X)) / 3
        np.testing.assert_allclose(model.predict_proba(X), by_hand, rtol=1e-12)
        assert not hasattr(model, "estimator_")
        assert len(model.calibrated_classifiers_) == len(model.calibrators_) == 3

    def test_its_log_odds_are_those_of_the_mean_probability(self):
        model = CalibratedClassifier(LinearSVC(), "platt", cv=3, ensemble=True).fit(X, Y)
        prob = model.predict_proba(X)
        np.testing.assert_allclose(model.log_odds(X), np.log(prob[:, 1] / prob[:, 0]), rtol=1e-9, atol=1e-9)
        far = X * 1e4
        assert np.isfinite(model.log_odds(far)).all()
        assert (model.predict_proba(far) == 1).any()

    def test_a_fold_without_weight_is_refused(self):
        folds = list(StratifiedKFold(3).split(X, Y))
        weight = np.ones(150)
        weight[folds[0][1]] = 0
        with pytest.raises(InvalidInputError, match="some rows must be left to calibrate; got weight 0"):
            CalibratedClassifier(LinearSVC(), cv=folds, ensemble=True).fit(X, Y, sample_weight=weight)

    def test_refitting_without_ensemble_forgets_it(self):
        model = CalibratedClassifier(LinearSVC(), ensemble=True).fit(X, Y)
        model.set_params(ensemble=False).fit(X, Y)
        assert hasattr(model, "estimator_")
        model.set_params(ensemble=True).fit(X, Y)
        assert not hasattr(model, "estimator_")
        model.set_params(ensemble="auto").fit(X, Y)
        assert hasattr(model, "estimator_")


class TestForests:
    """Of forests, the classifiers of all folds are averaged by default, after one calibrator."""

    @pytest.mark.parametrize("method", ["platt", "isotonic"])
    def test_one_calibrator_and_the_mean_of_all_folds(self, method):
        forest, folds = RandomForestClassifier(5, random_state=0), list(StratifiedKFold(3).split(X, Y))
        model = CalibratedClassifier(forest, method, cv=folds).fit(X, Y)
        members, scores = [clone(forest).fit(X[train], Y[train]) for train, _ in folds], np.empty(150)
        for member, (_, test) in zip(members, folds, strict=True):
            scores[test] = member.predict_proba(X[test])[:, 1]
        calibrator = clone(model.calibrators_[0]).fit(scores, Y)
        expected = np.mean([calibrator.predict_proba(each.predict_proba(X)[:, 1]) for each in members], axis=0)
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), expected, rtol=1e-12)
        assert (len(model.calibrators_), len(model.calibrated_classifiers_)) == (1, 3)
        assert "150 rows from 3 folds, mean of their classifiers" in model.describe()
        if method == "platt":
            np.testing.assert_allclose(model.log_odds(X), np.log(expected[:, 1] / expected[:, 0]), rtol=1e-9)
        with pytest.raises(InvalidInputError, match=r"raw_scores must have one classifier.* got the mean of 3"):
            model.raw_scores(X)

    @pytest.mark.parametrize(
        ("estimator", "cv", "averaged"),
        [
            (RandomForestClassifier(3), 3, True),
            (ExtraTreesClassifier(3), 5, True),
            (make_pipeline(StandardScaler(), BaggingClassifier(n_estimators=3)), 10, True),
            (GridSearchCV(RandomForestClassifier(3), {"max_depth": [2]}, cv=2), 3, True),
            (RandomForestClassifier(3), 2, False),
            (RandomForestClassifier(3), 11, False),
            (RandomForestClassifier(3), 0.3, False),
            (RandomForestClassifier(3), TimeSeriesSplit(4), False),
            (LogisticRegression(), 5, False),
            (DecisionTreeClassifier(), 5, False),
        ],
        ids=str,
    )
    def test_when_classifiers_are_averaged(self, estimator, cv, averaged):
        with ours_allowed():
            model = CalibratedClassifier(estimator, "platt", cv=cv).fit(X, Y)
            single = CalibratedClassifier(estimator, "platt", cv=cv, ensemble=False).fit(X, Y)
        assert (len(model.calibrated_classifiers_) > 1) is averaged
        assert hasattr(single, "estimator_")

    def test_a_class_that_a_fold_lacks_forbids_it(self):
        lonely = Y.copy()
        lonely[7] = 2
        with ours_allowed():
            model = CalibratedClassifier(RandomForestClassifier(3, random_state=0), "platt").fit(X, lonely)
        assert len(model.calibrated_classifiers_) == 1

    def test_several_classes_labels_and_jobs(self):
        three = np.where(np.arange(150) % 3 == 0, 2, Y)
        labels = np.column_stack([Y, three == 2]).astype(int)
        forest = RandomForestClassifier(3, random_state=0)
        for y in (three, labels):
            with ours_allowed():
                model = CalibratedClassifier(forest, cv=3, progress=print).fit(X, y)
                twice = CalibratedClassifier(forest, cv=3, n_jobs=2).fit(X, y)
            assert len(model.calibrated_classifiers_) == 3
            np.testing.assert_array_equal(model.predict_proba(X), twice.predict_proba(X))


class TestCopies:
    """Rows that another fold has too are scored by a classifier that was trained on them."""

    def setup_method(self):
        rng = np.random.default_rng(11)
        self.X = rng.normal(size=(200, 3))
        self.y = (self.X[:, 0] + rng.normal(size=200) > 0).astype(int)

    def test_oversampled_rows_are_told_with_their_share(self):
        X, y = np.repeat(self.X, 3, axis=0), np.repeat(self.y, 3)
        message = r"9\d% of the rows have an equal row, with the same label, in another fold.*pass groups="
        for ensemble in (False, True):
            with pytest.warns(InSampleWarning, match=message):
                CalibratedClassifier(GaussianNB(), "platt", ensemble=ensemble).fit(X, y)
        CalibratedClassifier(GaussianNB(), "platt").fit(X, y, groups=np.repeat(np.arange(200), 3))

    def test_only_one_class_may_be_oversampled(self):
        rows = np.repeat(np.arange(200), np.where(self.y == 1, 2, 1))
        with pytest.warns(InSampleWarning, match=r"5\d% of the rows have an equal row"):
            CalibratedClassifier(GaussianNB(), "platt").fit(self.X[rows], self.y[rows])

    def test_a_few_equal_rows_are_no_matter(self):
        rows = np.append(np.arange(200), np.arange(8))
        CalibratedClassifier(GaussianNB(), "platt").fit(self.X[rows], self.y[rows])

    def test_features_of_few_values_are_no_copies(self):
        rng = np.random.default_rng(12)
        X = rng.integers(0, 2, (300, 3))
        y = (rng.random(300) < 0.3 + 0.4 * X[:, 0]).astype(int)
        CalibratedClassifier(GaussianNB(), "platt").fit(X, y)
        labels = np.column_stack([y, X[:, 1]])
        CalibratedClassifier(MultiOutputClassifier(GaussianNB()), "isotonic").fit(X[:, [0, 2]], labels)

    def test_labels_are_compared_too(self):
        X, labels = np.repeat(self.X, 2, axis=0), np.repeat(np.column_stack([self.y, 1 - self.y]), 2, axis=0)
        with pytest.warns(InSampleWarning, match="have an equal row"):
            CalibratedClassifier(MultiOutputClassifier(GaussianNB()), "platt").fit(X, labels)

    def test_repeated_folds_do_not_make_copies(self):
        folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
        CalibratedClassifier(GaussianNB(), "platt", cv=folds).fit(self.X, self.y)


class TestClassMissingFromAFold:
    def test_two_classes(self):
        rare = np.zeros(150, dtype=int)
        rare[:3] = 1
        for ensemble in (False, True):
            with ours_allowed():
                model = CalibratedClassifier(LogisticRegression(), cv=5, ensemble=ensemble).fit(X, rare)
            assert np.isfinite(model.predict_proba(X)).all()

    def test_a_class_with_one_row_cannot_calibrate(self):
        lonely = np.zeros(150, dtype=int)
        lonely[7] = 1
        message = r"every class must have rows that calibrate; got none of class 1 \(1 rows in all\)"
        with pytest.warns(SkippedFoldWarning), pytest.raises(InvalidInputError, match=message):
            CalibratedClassifier(LogisticRegression(), RecordingPlatt()).fit(X, lonely)

    def test_more_folds_than_rows_of_any_class_are_refused(self):
        with pytest.raises(InvalidInputError, match="cv must not exceed the rows of the largest class; got cv=90 for"):
            CalibratedClassifier(LogisticRegression(), cv=90).fit(X, Y)


class OneNaN(ClassifierMixin, BaseEstimator):
    """A classifier whose margin is NaN in a single row of the data."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, rows):
        return np.where(np.all(rows == X[83], axis=1), np.nan, rows[:, 0])


@pytest.mark.parametrize("options", [{}, {"ensemble": True}, {"cv": LeaveOneOut()}])
def test_one_bad_margin_is_one_error_that_names_the_row(options):
    with pytest.raises(
        InvalidInputError, match=r"scores must be finite; got 1 NaN and 0 infinity values, first at row 83"
    ):
        CalibratedClassifier(OneNaN(), **options).fit(X, Y)


def test_a_bad_margin_is_named_before_and_after_the_fit():
    with pytest.raises(InvalidInputError, match="first at row 83"):
        CalibratedClassifier(OneNaN().fit(X, Y), prefit=True).fit(X, Y)
    model = CalibratedClassifier(OneNaN().fit(X, Y), prefit=True).fit(X[:80], Y[:80])
    with pytest.raises(InvalidInputError, match="first at row 3"):
        model.predict_proba(X[80:])


def test_folds_must_agree_on_the_kind_of_score():
    class Fickle(LinearSVC):
        @property
        def predict_joint_log_proba(self):
            if len(self.coef_) and self.intercept_[0] > np.median(INTERCEPTS):
                raise AttributeError
            return lambda rows: np.column_stack([np.zeros(len(rows)), self.decision_function(rows)])

    folds = list(StratifiedKFold(5).split(X, Y))
    INTERCEPTS = [LinearSVC().fit(X[train], Y[train]).intercept_[0] for train, _ in folds]
    with pytest.raises(
        InvalidInputError, match="all folds must have one kind of score; got decision_function and log_odds"
    ):
        CalibratedClassifier(Fickle(), cv=folds).fit(X, Y)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "cv must be an integer ≥ 2"),
        (True, "cv must be an integer ≥ 2"),
        (1.5, "cv must be a fraction between 0 and 1"),
        ("prefit", "cv must be folds, a fraction, a splitter or splits; got cv='prefit'"),
        (object(), "cv must be folds, a fraction, a splitter or splits"),
        ([(np.arange(150), np.array([], dtype=int))], "every fold must train and score rows"),
    ],
)
def test_bad_folds_are_refused(cv, message):
    with pytest.raises(InvalidInputError, match=message):
        CalibratedClassifier(LinearSVC(), cv=cv).fit(X, Y)


class TestScoreTables:
    def test_they_are_what_a_loop_gives(self):
        folds = list(StratifiedKFold(4).split(X, Y))
        _, scores = out_of_fold(folds)
        tables = score_tables(LinearSVC(), X, Y, cv=folds)
        assert set(tables) == {"in_sample", "out_of_fold"}
        np.testing.assert_allclose(tables["out_of_fold"].scores, np.sort(scores))
        np.testing.assert_allclose(tables["in_sample"].scores, np.sort(LinearSVC().fit(X, Y).decision_function(X)))
        assert {table.rows for table in tables.values()} == {150}
        assert tables["out_of_fold"].n_pos == Y.sum()

    def test_calibrating_on_training_rows_is_biased(self):
        """Platt (1999): a sigmoid on training scores is too steep; isotonic regression becomes a step."""
        tables = score_tables(SVC(C=100.0), X, Y)
        with ours_allowed():
            slope = {name: PlattCalibrator().fit_table(table).a_ for name, table in tables.items()}
        assert slope["in_sample"] > 2 * slope["out_of_fold"]
        tables = score_tables(RandomForestClassifier(20, random_state=0), X, Y)
        with pytest.warns(SeparableWarning):
            step = IsotonicCalibrator().fit_table(tables["in_sample"])
        assert set(step.map_.probability(tables["in_sample"].scores)) == {0.0, 1.0}
        honest = IsotonicCalibrator().fit_table(tables["out_of_fold"])
        assert len(set(honest.map_.probability(tables["out_of_fold"].scores))) > 2

    def test_weights_groups_and_repeats(self):
        tables = score_tables(LinearSVC(), X, Y, cv=3, sample_weight=WEIGHT, groups=GROUPS)
        assert {table.n_pos + table.n_neg for table in tables.values()} == {WEIGHT.sum()}
        repeated = score_tables(LinearSVC(), X, Y, cv=TestRepeatedFolds.folds)["out_of_fold"]
        assert repeated.n_pos + repeated.n_neg == pytest.approx(150)

    def test_a_classifier_without_weights_is_told(self):
        with pytest.warns(UnusedWeightWarning, match="KNeighborsClassifier takes no sample_weight"):
            tables = score_tables(KNeighborsClassifier(), X, Y, sample_weight=WEIGHT)
        assert tables["in_sample"].n_pos == WEIGHT[Y == 1].sum()

    def test_two_classes_only(self):
        with pytest.raises(InvalidInputError, match="y must contain two classes; got 3"):
            score_tables(LinearSVC(), X, np.arange(150) % 3)


class TestInSampleGuard:
    def check(self, estimator, rows, labels, **options):
        """Say whether calibrating a fitted classifier on these rows draws the warning."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            CalibratedClassifier(estimator, prefit=True).fit(rows, labels, **options)
        return [str(each.message) for each in caught if issubclass(each.category, InSampleWarning)]

    def setup_method(self):
        X_all, y_all = make_classification(600, 5, n_informative=4, n_redundant=0, flip_y=0.3, random_state=5)
        parts = train_test_split(X_all, y_all, test_size=0.5, random_state=0)
        self.X_train, self.X_new, self.y_train, self.y_new = parts

    def test_a_classifier_fitted_here_knows_its_rows(self):
        fitted = CalibratedClassifier(LogisticRegression()).fit(self.X_train, self.y_train).estimator_
        assert "About 100% of these rows" in self.check(fitted, self.X_train, self.y_train)[0]
        assert "About 100% of these rows" in self.check(fitted, self.X_train[::7], self.y_train[::7])[0]
        mixed = np.concatenate([self.X_train, self.X_new]), np.concatenate([self.y_train, self.y_new])
        assert "About 50% of these rows" in self.check(fitted, *mixed)[0]
        assert not self.check(fitted, self.X_new, self.y_new)
        assert self.check(pickle.loads(pickle.dumps(fitted)), self.X_train, self.y_train)
        assert self.check(FrozenEstimator(fitted), self.X_train, self.y_train)

    def test_each_member_of_an_ensemble_knows_its_own(self):
        folds = list(StratifiedKFold(2).split(self.X_train, self.y_train))
        model = CalibratedClassifier(LogisticRegression(), cv=folds, ensemble=True).fit(self.X_train, self.y_train)
        first = model.calibrated_classifiers_[0].estimator
        train, test = folds[0]
        assert self.check(first, self.X_train[train], self.y_train[train])
        assert not self.check(first, self.X_train[test], self.y_train[test])

    def test_training_rows_may_be_named(self):
        fitted = LogisticRegression().fit(self.X_train, self.y_train)
        assert self.check(fitted, self.X_train, self.y_train, X_train=self.X_train)
        assert self.check(fitted, self.X_train, self.y_train, X_train=sparse.csr_matrix(self.X_train))
        assert not self.check(fitted, self.X_new, self.y_new, X_train=self.X_train)
        with pytest.raises(InvalidInputError, match="X_train must come with prefit=True"):
            CalibratedClassifier(LogisticRegression()).fit(self.X_new, self.y_new, X_train=self.X_train)

    @pytest.mark.parametrize(
        "estimator",
        [
            SVC(),
            KNeighborsClassifier(),
            make_pipeline(StandardScaler(), SVC()),
            GaussianProcessClassifier(optimizer=None),
            OneVsRestClassifier(KNeighborsClassifier()),
            BaggingClassifier(KNeighborsClassifier(), 2, random_state=0),
        ],
        ids=str,
    )
    def test_classifiers_that_store_rows_betray_themselves(self, estimator):
        fitted = estimator.fit(self.X_train, self.y_train)
        assert self.check(fitted, self.X_train, self.y_train)
        assert not self.check(fitted, self.X_new, self.y_new)

    @pytest.mark.parametrize(
        ("estimator", "classes"), [(DecisionTreeClassifier(), 2), (RandomForestClassifier(30, random_state=0), 3)]
    )
    def test_perfect_scores_are_suspicious(self, estimator, classes):
        train, new = (np.where(np.arange(300) % 3 == 0, classes - 1, y) for y in (self.y_train, self.y_new))
        fitted = estimator.fit(self.X_train, train)
        assert "separate all classes perfectly" in self.check(fitted, self.X_train[:200], train[:200])[0]
        assert not self.check(fitted, self.X_train[:40], train[:40])
        assert not self.check(fitted, self.X_new, new)

    @pytest.mark.parametrize(
        "estimator",
        [
            DecisionTreeClassifier(max_depth=4),
            RandomForestClassifier(3, max_depth=4, random_state=0),
            RandomForestClassifier(3, max_depth=4, max_samples=0.5, random_state=0),
            ExtraTreesClassifier(3, max_depth=5, random_state=0),
            BaggingClassifier(DecisionTreeClassifier(max_depth=4), 3, random_state=0),
            GradientBoostingClassifier(n_estimators=3),
        ],
        ids=str,
    )
    def test_trees_recognize_the_rows_that_they_were_grown_with(self, estimator):
        fitted = estimator.fit(self.X_train, self.y_train)
        (message,) = self.check(fitted, self.X_train, self.y_train)
        assert "in exactly the numbers that trained it" in message
        assert self.check(FrozenEstimator(fitted), self.X_train, self.y_train)
        assert not self.check(fitted, self.X_new, self.y_new)
        assert not self.check(fitted, self.X_new[:100], self.y_new[:100])
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(self.X_train, columns=list("abcde"))
        assert self.check(clone(estimator).fit(frame, self.y_train), frame, self.y_train)

    def test_rows_are_hashed_only_where_something_is_compared(self, monkeypatch):
        fitted = LogisticRegression().fit(self.X_train, self.y_train)
        neighbors = KNeighborsClassifier().fit(self.X_train, self.y_train)
        calls = []
        monkeypatch.setattr(in_sample, "row_hashes", lambda rows: calls.append(len(rows)) or row_hashes(rows))
        self.check(fitted, self.X_new, self.y_new)
        self.check(FrozenEstimator(fitted), self.X_new, self.y_new)
        assert not calls
        self.check(neighbors, self.X_new, self.y_new)
        assert calls

    def test_a_fold_that_scores_its_own_rows_is_told(self):
        with pytest.warns(InSampleWarning, match="Fold 0 scores 150 rows that it was trained on"):
            CalibratedClassifier(LinearSVC(), cv=[(np.arange(150), np.arange(150))]).fit(X, Y)

    def test_long_data_are_compared_by_a_sketch(self):
        rng = np.random.default_rng(0)
        rows, labels = rng.normal(size=(20_000, 3)), rng.integers(0, 2, 20_000)
        fitted = CalibratedClassifier(GaussianNB(), cv=2).fit(rows, labels).estimator_
        assert len(fitted._training_rows) == 1024
        message = self.check(fitted, np.concatenate([rows, rng.normal(size=(60_000, 3))]), np.resize(labels, 80_000))[0]
        assert 20 <= int(message.split("%")[0].split()[-1]) <= 30
        assert not self.check(fitted, rng.normal(size=(20_000, 3)), labels)

    def test_hashes_see_values_not_containers(self):
        pandas = pytest.importorskip("pandas")
        rows = np.random.default_rng(0).integers(0, 3, (50, 4)).astype(float)
        dense = row_hashes(rows)
        for same in (
            sparse.csr_matrix(rows),
            sparse.csc_array(rows),
            pandas.DataFrame(rows),
            rows.tolist(),
            -(0.0 - rows),
        ):
            np.testing.assert_array_equal(row_hashes(same), dense)
        assert len(set(dense.tolist())) == len(np.unique(rows, axis=0))
        assert len(set(row_hashes(["a", "b", "a"]).tolist())) == 2
        mixed = pandas.DataFrame({"name": ["u", "v", "u"], "value": [1, 2, 1]})
        assert len(set(row_hashes(mixed).tolist())) == 2
        assert len(set(row_hashes([{"a": 1}, {"a": 1}, {"a": 2}]).tolist())) == 2
        assert len(set(row_hashes([[1, 2], [1], [1, 2]]).tolist())) == 2
