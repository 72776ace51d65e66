import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from oddsmith.errors import InvalidInputError, NonConvergenceWarning
from oddsmith_studies.learners import KernelLogisticRegression, kernel_logistic
from oddsmith_studies.learners.feature_maps import DenseQuadratic, SparseQuadratic, quadratic_entries


@pytest.fixture
def noisy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)) * (rng.random((80, 4)) < 0.6)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=80) > 0).astype(int)
    return X, y


def quadratic(X, Z):
    return polynomial_kernel(X, Z, degree=2, gamma=1, coef0=1)


@pytest.mark.parametrize(("place", "kernel"), [(0, "linear"), (1, "quadratic"), (2, "rbf")])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_vectors(vectors, place, kernel, form):
    case = vectors("kernel_logistic")[place]
    assert case["case"].startswith(kernel)
    X, lam = form(case["X"]), case["options"]["lambda"]
    model = KernelLogisticRegression(kernel, lam, gamma=0.5).fit(X, case["labels"])
    np.testing.assert_allclose(model.dual_coef_, case["parameters"]["c"], atol=1e-9)
    assert model.intercept_ == pytest.approx(case["parameters"]["b"], abs=1e-9)
    np.testing.assert_allclose(model.decision_function(X), case["f"], atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], case["probabilities"], atol=1e-9)
    likelihood = -np.logaddexp(0, -np.array(case["labels"]) * model.log_odds(X)).sum()
    assert likelihood == pytest.approx(case["log_likelihood"], abs=1e-9)
    penalty = lam * model.dual_coef_ @ (model.decision_function(X) - model.intercept_)
    assert -likelihood / len(case["labels"]) + penalty == pytest.approx(case["objective"], abs=1e-9)
    assert model.dual_coef_.sum() == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("lam", [1.0, 1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("direct", [True, False])
def test_features_rows_and_expansion_agree(noisy, lam, form, direct, monkeypatch):
    if not direct:
        monkeypatch.setattr("oddsmith_studies.learners._newton._MOST_DIRECT", 0)
    X, y = noisy
    weight = np.random.default_rng(1).random(80)
    primal = KernelLogisticRegression("quadratic", lam).fit(form(X), y, sample_weight=weight)
    dual = KernelLogisticRegression(quadratic, lam).fit(X, y, sample_weight=weight)
    query = np.random.default_rng(2).normal(size=(50, 4))
    f = primal.decision_function(form(query))
    scale = 1 + np.abs(f).max()
    np.testing.assert_allclose(dual.decision_function(query), f, atol=1e-7 * scale)
    expansion = quadratic(query, X) @ primal.dual_coef_ + primal.intercept_
    np.testing.assert_allclose(expansion, f, atol=1e-7 * scale)
    assert abs(primal.dual_coef_.sum()) < 1e-7 * np.abs(primal.dual_coef_).sum()
    assert (primal.dual_coef_ != 0).all()


def test_linear_kernel_equals_ridge_logistic_regression(noisy):
    X, y = noisy
    ours = KernelLogisticRegression(penalty=0.01).fit(X, y)
    theirs = LogisticRegression(C=1 / (2 * 0.01 * len(y)), tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


def test_feature_maps_reproduce_the_kernel(noisy):
    X, _ = noisy
    explicit = SparseQuadratic(sparse.csr_array(X))
    # The constant feature, 1 in every entry of the kernel, is the intercept's.
    np.testing.assert_allclose((explicit.matrix @ explicit.matrix.T).toarray() + 1, quadratic(X, X), atol=1e-10)
    assert explicit.matrix.nnz == quadratic_entries(sparse.csr_array(X))
    implicit = DenseQuadratic(X)
    assert explicit.size == implicit.size
    rng = np.random.default_rng(0)
    coef, by_row = rng.normal(size=implicit.size), rng.normal(size=len(X))
    assert implicit.forward(coef) @ by_row == pytest.approx(coef @ implicit.adjoint(by_row))
    np.testing.assert_allclose(implicit.forward(implicit.adjoint(by_row)), (quadratic(X, X) - 1) @ by_row)
    assert implicit.squares(by_row).sum() == pytest.approx((np.diag(quadratic(X, X)) - 1) @ by_row)
    for features in (explicit, implicit):
        gram = features.gram(by_row**2)
        np.testing.assert_allclose(np.diag(gram), features.squares(by_row**2))
        np.testing.assert_allclose(gram @ coef, features.adjoint(by_row**2 * features.forward(coef)), atol=1e-9)


def test_all_rows_as_landmarks_are_exact(noisy):
    X, y = noisy
    exact = KernelLogisticRegression("rbf", 0.01).fit(X, y)
    landmarks = KernelLogisticRegression("rbf", 0.01, exact_rows=10, n_landmarks=80, random_state=0).fit(X, y)
    assert landmarks.approximate_
    assert not exact.approximate_
    np.testing.assert_allclose(landmarks.decision_function(X), exact.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(landmarks.dual_coef_, exact.dual_coef_, atol=1e-4)


def test_few_landmarks_approximate_and_repeat(noisy):
    X, y = noisy
    exact = KernelLogisticRegression("rbf", 0.05, gamma=0.05).fit(X, y)
    fits = [
        KernelLogisticRegression("rbf", 0.05, gamma=0.05, exact_rows=0, n_landmarks=25, random_state=0).fit(X, y)
        for _ in "ab"
    ]
    np.testing.assert_array_equal(fits[0].decision_function(X), fits[1].decision_function(X))
    assert np.abs(fits[0].predict_proba(X) - exact.predict_proba(X)).max() < 0.02


def test_a_quadratic_map_that_is_too_large_falls_back(noisy, monkeypatch):
    X, y = noisy
    explicit = KernelLogisticRegression("quadratic").fit(X, y)
    monkeypatch.setattr(kernel_logistic, "_MOST_ENTRIES", 10)
    for form in (np.array, sparse.csr_array):
        by_rows = KernelLogisticRegression("quadratic").fit(form(X), y)
        assert isinstance(by_rows.form_, kernel_logistic.Centers)
        np.testing.assert_allclose(by_rows.dual_coef_, explicit.dual_coef_, atol=1e-7)
        np.testing.assert_allclose(by_rows.decision_function(form(X)), explicit.decision_function(X), atol=1e-7)


def test_fitted_on_one_form_of_rows_and_asked_for_the_other(noisy):
    X, y = noisy
    for kernel in ("linear", "quadratic", "rbf"):
        of_dense = KernelLogisticRegression(kernel).fit(X, y)
        of_sparse = KernelLogisticRegression(kernel).fit(sparse.csr_matrix(X), y)
        for rows in (X, sparse.csr_matrix(X), sparse.csr_array(X)):
            expected = of_dense.decision_function(rows)
            np.testing.assert_allclose(of_sparse.decision_function(rows), expected, atol=1e-7)


def test_wide_dense_rows_use_the_kernel_matrix():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 30)), np.arange(20) % 2
    model = KernelLogisticRegression("quadratic").fit(X, y)
    assert isinstance(model.form_, kernel_logistic.Centers)
    explicit = KernelLogisticRegression("quadratic").fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(model.decision_function(X), explicit.decision_function(X), atol=1e-7)


def test_scores_do_not_depend_on_blocks(noisy, monkeypatch):
    X, y = noisy
    model = KernelLogisticRegression("rbf").fit(X, y)
    whole = model.decision_function(X)
    monkeypatch.setattr(kernel_logistic, "_BLOCK", 200)
    np.testing.assert_allclose(model.decision_function(X), whole, atol=1e-12)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_gamma_scale_is_inverse_variance(noisy, form):
    X, y = noisy
    model = KernelLogisticRegression("rbf").fit(form(X), y)
    assert model.gamma_ == pytest.approx(1 / (X.shape[1] * X.var()))
    expansion = rbf_kernel(X, X, gamma=model.gamma_) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(form(X)), expansion, atol=1e-8)
    assert KernelLogisticRegression("rbf").fit(form(np.ones((4, 2))), [0, 1, 0, 1]).gamma_ == 1


@pytest.mark.parametrize("lam", [1e-3, 1e-12])
def test_repeated_columns_share_their_coefficient(noisy, lam):
    X, y = noisy
    y = np.where(np.arange(80) % 7 == 0, 1 - y, y)
    once = KernelLogisticRegression("linear", lam / 2).fit(X, y)
    twice = KernelLogisticRegression("linear", lam).fit(np.hstack([X, X]), y)
    np.testing.assert_allclose(twice.decision_function(np.hstack([X, X])), once.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(twice.form_.linear[:4], twice.form_.linear[4:], atol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7, 3e7, 1e8, 1e12])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("landmarks", [False, True])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array, sparse.csr_matrix])
def test_an_offset_changes_nothing_where_the_kernel_does_not_depend_on_it(noisy, offset, kernel, landmarks, form):
    X, y = noisy
    far = X + offset * np.array([1.0, -1.0, 0.5, 1.0])
    near = far - offset * np.array([1.0, -1.0, 0.5, 1.0])  # what the offset left of the digits
    options = {"exact_rows": 10, "n_landmarks": 50, "random_state": 0} if landmarks else {}
    gamma = 0.3 if kernel == "rbf" else "scale"
    moved = KernelLogisticRegression(kernel, 0.01, gamma=gamma, **options).fit(form(far), y)
    plain = KernelLogisticRegression(kernel, 0.01, gamma=gamma, **options).fit(near, y)
    np.testing.assert_allclose(moved.predict_proba(form(far)), plain.predict_proba(near), atol=1e-9)
    np.testing.assert_allclose(moved.dual_coef_, plain.dual_coef_, atol=1e-8)
    for rows in (far, sparse.csr_array(far)):
        np.testing.assert_allclose(moved.decision_function(rows), moved.decision_function(form(far)), atol=1e-9)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_gamma_scale_keeps_its_digits_at_an_offset(noisy, form):
    X, y = noisy
    for offset in (0.0, 1e7, 1e8):
        far = X + offset
        model = KernelLogisticRegression("rbf").fit(form(far), y)
        assert model.gamma_ == pytest.approx(1 / (4 * (far - offset).var()), rel=1e-9)


def test_rows_without_a_value_that_all_training_rows_have(noisy):
    X, y = noisy
    X = X + 5.0
    query = X.copy()
    query[::2, 1] = 0.0
    for kernel in ("linear", "quadratic", "rbf"):
        dense, rows = KernelLogisticRegression(kernel).fit(X, y), sparse.csr_array(query)
        of_sparse = KernelLogisticRegression(kernel).fit(sparse.csr_array(X), y)
        assert rows.nnz < query.size
        np.testing.assert_allclose(of_sparse.decision_function(rows), dense.decision_function(query), atol=1e-7)


def test_sparse_features_stay_sparse():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(np.where(rng.random((300, 2000)) < 0.01, rng.random((300, 2000)), 0.0))
    y = np.arange(300) % 2
    model = KernelLogisticRegression("rbf").fit(X, y)
    assert not model.origin_.any()
    assert model.form_.rows.nnz == X.nnz
    wide = sparse.csr_array(sparse.hstack([X, np.full((300, 1), 1e8)]))
    model = KernelLogisticRegression("rbf", gamma=1.0).fit(wide, y)
    assert np.flatnonzero(model.origin_).tolist() == [2000]
    expected = KernelLogisticRegression("rbf", gamma=1.0).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(wide), expected, atol=1e-10)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("offset", [0.0, 1.0, 30.0, 1000.0])
def test_the_quadratic_kernel_is_kept_at_an_offset(noisy, form, direct, offset, monkeypatch):
    if not direct:
        monkeypatch.setattr("oddsmith_studies.learners._newton._MOST_DIRECT", 0)
    X, y = noisy
    X = X + offset * np.array([1.0, 0.0, -0.3, 0.0])
    features = KernelLogisticRegression("quadratic", 0.1).fit(form(X), y)
    monkeypatch.setattr(kernel_logistic, "_MOST_ENTRIES", 1)
    rows = KernelLogisticRegression("quadratic", 0.1).fit(form(X), y)
    assert isinstance(rows.form_, kernel_logistic.Centers)
    np.testing.assert_allclose(features.predict_proba(form(X)), rows.predict_proba(form(X)), atol=1e-7)
    if offset <= 30:
        # As it stands in the documentation.
        expansion = quadratic(X, X) @ features.dual_coef_ + features.intercept_
        np.testing.assert_allclose(features.decision_function(form(X)), expansion, atol=1e-6)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_the_quadratic_kernel_far_from_zero_is_its_limit(noisy, form):
    # Far along the first axis, a line costs nothing, nor gains the square a thing that holds the first feature.
    X, y = noisy
    limit = np.hstack(
        [1e5 * X, *(X[:, [j]] * X[:, [k]] * (np.sqrt(2) if j < k else 1) for j in (1, 2, 3) for k in range(j, 4))]
    )
    expected = KernelLogisticRegression("linear", 0.01, tol=1e-9).fit(limit, y).predict_proba(limit)
    for offset in (1e6, 1e8):
        far = X + offset * np.array([1.0, 0.0, 0.0, 0.0])
        model = KernelLogisticRegression("quadratic", 0.01, tol=1e-9).fit(form(far), y)
        np.testing.assert_allclose(model.predict_proba(form(far)), expected, atol=1e-4)


def test_kernels_that_keep_no_digits_or_are_none_are_refused(noisy, monkeypatch):
    X, y = noisy
    monkeypatch.setattr(kernel_logistic, "_MOST_ENTRIES", 1)
    for options in ({}, {"exact_rows": 10}):
        with pytest.raises(
            InvalidInputError, match=r"must keep digits next to penalty; got values up to .* Hint: center"
        ):
            KernelLogisticRegression("quadratic", **options).fit(X + 1e8, y)
    with pytest.raises(InvalidInputError, match=r"positive semi-definite; got .* Hint: .* raise penalty"):
        KernelLogisticRegression(lambda a, b: -(a @ b.T)).fit(X, y)
    with pytest.raises(InvalidInputError, match="kernel values must be finite"):
        KernelLogisticRegression(lambda a, b: np.full((len(a), len(b)), np.nan)).fit(X, y)


def test_constant_rows_give_the_base_rate():
    for kernel in ("linear", "quadratic", "rbf"):
        model = KernelLogisticRegression(kernel).fit(np.zeros((4, 2)), [0, 0, 0, 1])
        np.testing.assert_allclose(model.predict_proba(np.zeros((1, 2))), [[0.75, 0.25]], atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "quadratic", "rbf"])
def test_separable_data_with_a_tiny_penalty_converge(kernel):
    X, y = np.linspace(-2, 2, 40)[:, None], np.repeat([0, 1], 20)
    model = KernelLogisticRegression(kernel, 1e-9).fit(X, y)
    assert model.score(X, y) == 1
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_too_few_steps_are_reported(noisy, kernel):
    with pytest.warns(NonConvergenceWarning, match=r"stopped after max_iter=1 steps .* or penalty if"):
        KernelLogisticRegression(kernel, 1e-4, max_iter=1).fit(*noisy)


def test_rows_of_weight_zero_have_no_coefficient(noisy):
    X, y = noisy
    weight = np.ones(80)
    weight[::3] = 0
    model = KernelLogisticRegression("rbf").fit(X, y, sample_weight=weight)
    assert ((model.dual_coef_ == 0) == (weight == 0)).all()


@pytest.mark.parametrize("kernel", ["linear", "quadratic", "rbf"])
def test_a_class_of_hardly_any_weight_keeps_its_odds(kernel):
    light = KernelLogisticRegression(kernel).fit([[0.0], [1.0]], [0, 1], [1e-20, 1.0])
    assert light.log_odds([[0.0]]) == pytest.approx(20 * np.log(10), rel=1e-6)
    other = KernelLogisticRegression(kernel).fit([[0.0], [1.0]], [1, 0], [1e-20, 1.0])
    assert other.log_odds([[0.0]]) == pytest.approx(-20 * np.log(10), rel=1e-6)
