"""A class that a fold was not trained on: its rows there are not evidence, and no member favors it."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import oddsmith
from oddsmith.calibrators import TemperatureScaling
from oddsmith.classify import CalibratedClassifier, score_tables
from oddsmith.errors import InvalidInputError, SkippedFoldWarning, UnseenClassWarning
from oddsmith.metrics import log_loss
from samples import ours_allowed

BLOBS = np.array([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5]])


FIVE = StratifiedKFold(5)


def three_blobs(n, rng):
    y = rng.integers(0, 3, n)
    return BLOBS[y] + rng.normal(size=(n, 2)), y


def one_group_of_class_two(rng, n=300):
    """Class 2 is in one group; the others are spread over twenty."""
    X, y = three_blobs(n, rng)
    return X, y, np.where(y == 2, 99, rng.integers(0, 20, n))


class TestAClassInOneGroup:
    @pytest.mark.parametrize("method", ["auto", "temperature", "vector", "dirichlet", "platt", "isotonic", "beta"])
    @pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB()], ids=str)
    def test_missing_evidence_is_not_evidence_of_absence(self, method, estimator):
        rng = np.random.default_rng(0)
        X, y, groups = one_group_of_class_two(rng)
        X_new, y_new = three_blobs(2000, rng)
        with ours_allowed(), pytest.warns(UnseenClassWarning, match=r"1 of 5 folds was trained without class 2.*"):
            model = CalibratedClassifier(estimator, method).fit(X, y, groups=groups)
        plain = log_loss(y_new, estimator.fit(X, y).predict_proba(X_new))
        prob = np.clip(model.predict_proba(X_new), 1e-3, None)
        assert log_loss(y_new, prob / prob.sum(axis=1, keepdims=True)) < plain + 0.05

    def test_the_warning_gives_numbers_and_consequences(self):
        X, y, groups = one_group_of_class_two(np.random.default_rng(0))
        message = (
            rf"1 of 5 folds was trained without class 2: its {np.sum(y == 2)} rows there are left out of the "
            r"calibration\. No row of class 2 calibrates: the map of the other classes is used for it\."
        )
        with pytest.warns(UnseenClassWarning, match=message):
            CalibratedClassifier(GaussianNB(), "platt").fit(X, y, groups=groups)

    def test_a_joint_scaling_falls_back_to_one_temperature(self):
        X, y, groups = one_group_of_class_two(np.random.default_rng(0))
        with pytest.warns(UnseenClassWarning):
            model = CalibratedClassifier(LogisticRegression()).fit(X, y, groups=groups)
        assert isinstance(model.calibrators_[0], TemperatureScaling)

    @pytest.mark.parametrize("multiclass", ["pairwise", [[1, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 0]]])
    def test_pairs_and_codes_borrow_too(self, multiclass):
        rng = np.random.default_rng(0)
        X, y, groups = one_group_of_class_two(rng)
        X_new, y_new = three_blobs(2000, rng)
        with pytest.warns(UnseenClassWarning):
            model = CalibratedClassifier(GaussianNB(), "platt", multiclass=multiclass).fit(X, y, groups=groups)
        prob = np.clip(model.predict_proba(X_new), 1e-3, None)  # least squares on the simplex give zeros
        assert log_loss(y_new, prob / prob.sum(axis=1, keepdims=True)) < 0.6

    @pytest.mark.parametrize("multiclass", ["one_vs_rest", "pairwise", [[1, -1, 0], [1, 0, -1], [0, 1, -1]]])
    def test_a_fold_without_a_class_is_no_sign_of_worse_decisions(self, multiclass, recwarn):
        """A pair of which one class had no score was read as certain against the other one."""
        X, y = three_blobs(300, np.random.default_rng(0))
        folds = [(train[y[train] != 1] if i < 2 else train, test) for i, (train, test) in enumerate(FIVE.split(X, y))]
        CalibratedClassifier(
            GaussianNB(), "platt", cv=folds, multiclass=multiclass, response_method="predict_proba"
        ).fit(X, y)
        assert {warning.category for warning in recwarn} == {UnseenClassWarning}

    @pytest.mark.parametrize("ensemble", [False, True])
    def test_two_classes_are_refused(self, ensemble):
        rng = np.random.default_rng(1)
        y = (np.arange(300) % 3 == 0).astype(int)
        X = rng.normal(size=(300, 2)) + y[:, None]
        groups = np.where(y == 1, 99, rng.integers(0, 20, 300))
        message = r"every class must have rows that calibrate; got none of class 1 \(100 rows in all\)\. Hint: "
        with ours_allowed(), pytest.raises(InvalidInputError, match=message):
            CalibratedClassifier(LogisticRegression(), ensemble=ensemble).fit(X, y, groups=groups)
        with ours_allowed(), pytest.raises(InvalidInputError, match=message):
            score_tables(LogisticRegression(), X, y, groups=groups)

    def test_a_class_in_two_groups_is_seen_by_every_fold(self):
        rng = np.random.default_rng(2)
        X, y = three_blobs(300, rng)
        groups = np.where(y == 2, 50 + np.arange(300) % 2, rng.integers(0, 20, 300))
        CalibratedClassifier(GaussianNB(), "platt").fit(X, y, groups=groups)


class TestMembers:
    @pytest.mark.parametrize("method", ["platt", "isotonic", "auto", "temperature", "vector"])
    @pytest.mark.parametrize("multiclass", ["auto", "pairwise", [[1, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, 1, -1]]])
    def test_a_class_that_a_member_never_saw_gets_0(self, method, multiclass):
        X, y = three_blobs(150, np.random.default_rng(3))
        labels = np.array(["ant", "bee", "cow"])[y]
        folds = list(StratifiedKFold(3).split(X, y))
        train, test = folds[0]
        folds[0] = train[y[train] != 2], test
        model = CalibratedClassifier(GaussianNB(), method, cv=folds, ensemble=True, multiclass=multiclass)
        with ours_allowed(), pytest.warns(UnseenClassWarning, match="1 of 3 folds was trained without class 'cow'"):
            model.fit(X, labels)
        first, *others = (pair.predict_proba(X) for pair in model.calibrated_classifiers_)
        np.testing.assert_array_equal(first[:, 2], 0)
        np.testing.assert_allclose(first.sum(axis=1), 1)
        assert min(each[:, 2].max() for each in others) > 0.5
        with np.errstate(divide="ignore"):
            expected = np.log(model.predict_proba(X))
        np.testing.assert_allclose(model.predict_log_proba(X), expected, atol=1e-9)

    def test_where_all_maps_are_0_the_classes_that_were_seen_share(self):
        X, y = three_blobs(150, np.random.default_rng(3))
        folds = [(np.flatnonzero(y != 2), np.arange(150))]
        with ours_allowed():
            model = CalibratedClassifier(GaussianNB(), "platt", cv=folds, ensemble=True, multiclass="one_vs_rest")
            calibration = model.fit(X, y).calibrated_classifiers_[0].calibration
        impossible = np.full((1, 3), -np.inf)
        prob = np.exp(calibration.problems.join_log_odds(impossible, calibration.counts, calibration.seen))
        np.testing.assert_allclose(prob, [[0.5, 0.5, 0]])
        prob = calibration.problems.join(np.zeros((1, 3)), calibration.counts, calibration.seen)
        np.testing.assert_allclose(prob, [[0.5, 0.5, 0]])

    def test_scikit_learns_own_example(self):
        """Of its test_calibration_less_classes: folds 0 and 2 lack the classes 0 and 3."""
        X = np.random.default_rng(4).normal(size=(12, 5))
        y = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
        for ensemble in (True, False):
            tree = DecisionTreeClassifier(random_state=7)
            model = CalibratedClassifier(tree, "sigmoid", cv=KFold(3), ensemble=ensemble)
            with ours_allowed(), pytest.warns(UnseenClassWarning):
                model.fit(X, y)
            np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
            for member, unseen in ((0, 0), (2, 3)) if ensemble else ():
                prob = model.calibrated_classifiers_[member].predict_proba(X)
                np.testing.assert_array_equal(prob == 0, np.tile(np.arange(4) == unseen, (12, 1)))

    @pytest.mark.parametrize("method", ["vector", "platt"])
    def test_a_single_member_is_saved_with_its_mask(self, method, tmp_path):
        X, y = three_blobs(150, np.random.default_rng(3))
        folds = [(np.flatnonzero(y[:100] != 2), np.arange(100, 150))]
        with ours_allowed():
            model = CalibratedClassifier(GaussianNB(), method, cv=folds, ensemble=True).fit(X, y)
        model.save(tmp_path / "model.json")
        prob = oddsmith.load(tmp_path / "model.json").predict_proba(model.raw_scores(X))
        np.testing.assert_allclose(prob, model.predict_proba(X), atol=1e-14)
        np.testing.assert_array_equal(prob[:, 2], 0)


class TestFolds:
    def test_a_new_class_in_a_time_series_is_left_out_until_it_is_known(self):
        rng = np.random.default_rng(5)
        X, y = three_blobs(300, rng)
        y[(y == 2) & (np.arange(300) < 120)] = 0
        with ours_allowed(), pytest.warns(UnseenClassWarning, match="2 of 4 folds were trained without class 2"):
            model = CalibratedClassifier(GaussianNB(), "platt", cv=TimeSeriesSplit(4)).fit(X, y)
        scored = np.arange(60, 300)
        left_out = np.sum(y[120:180] == 2)
        assert model.calibrators_[0].fingerprint_.rows == len(scored) - left_out
        # Of class 2 the first 120 scored rows have no score either.
        assert model.calibrators_[2].fingerprint_.rows == 120

    def test_a_fold_that_scores_only_strange_classes_is_skipped(self):
        X, y = three_blobs(150, np.random.default_rng(6))
        folds = [*StratifiedKFold(2).split(X, y), (np.flatnonzero(y != 2), np.flatnonzero(y == 2))]
        with pytest.warns(SkippedFoldWarning, match="Fold 2 is skipped: it is trained on none of the classes"):
            model = CalibratedClassifier(GaussianNB(), "platt", cv=folds).fit(X, y)
        assert "from 2 folds" in model.protocol_

    def test_nothing_to_calibrate_on_is_refused(self):
        X, y = three_blobs(150, np.random.default_rng(6))
        with ours_allowed(), pytest.raises(InvalidInputError, match="some fold must"):
            CalibratedClassifier(GaussianNB(), cv=3).fit(X, y, groups=y)

    def test_fewer_groups_than_folds_are_refused(self):
        X, y = three_blobs(150, np.random.default_rng(6))
        for target in (y, np.eye(3, dtype=int)[y]):
            with pytest.raises(InvalidInputError, match="cv must not exceed the number of groups; got 5 folds of 3"):
                CalibratedClassifier(GaussianNB()).fit(X, target, groups=y)

    def test_folds_that_lack_different_classes_calibrate_together(self):
        X, y = three_blobs(300, np.random.default_rng(7))
        half = np.arange(300) < 150
        first, second = (np.flatnonzero(part) for part in (half, ~half))
        folds = [(first[y[first] != 2], second), (second[y[second] != 1], first)]
        for method in ("auto", "temperature", "vector", "dirichlet", "platt"):
            with ours_allowed(), pytest.warns(UnseenClassWarning):
                model = CalibratedClassifier(GaussianNB(), method, cv=folds).fit(X, y)
            assert model.score(X, y) > 0.75

    def test_a_label_that_a_fold_never_saw(self):
        rng = np.random.default_rng(8)
        X = rng.normal(size=(120, 3))
        labels = np.column_stack([X[:, 0] > 0, (X[:, 1] > 0) & (np.arange(120) < 40)]).astype(int)
        estimators = MultiOutputClassifier(GaussianNB()), DecisionTreeClassifier(max_depth=3, random_state=0)
        for estimator in estimators:
            with ours_allowed(), pytest.warns(UnseenClassWarning, match="1 of 3 folds was trained without label 1"):
                model = CalibratedClassifier(estimator, "platt", cv=KFold(3)).fit(X, labels)
            assert [each.fingerprint_.rows for each in model.calibrators_] == [120, 80]
