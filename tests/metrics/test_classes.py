"""Measures of several classes against row versions, scikit-learn, and the two-class tables they are made of."""

import numpy as np
import pytest
from scipy import special, stats
from sklearn import metrics as oracle
from sklearn.datasets import load_iris
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

from oddsmith import metrics
from oddsmith.errors import InvalidInputError


def data(seed=0, n=300, k=4, power=1.0):
    """Return labels drawn from probabilities, and those probabilities made too sure by a power."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(k), n)
    y = np.array([rng.choice(k, p=row) for row in truth])
    prob = truth**power
    return y, prob / prob.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weights", [None, "counts", "floats"])
def test_proper_scores_equal_scikit_learn(weights):
    y, p = data()
    rng = np.random.default_rng(1)
    weight = {None: None, "counts": rng.integers(1, 4, len(y)), "floats": rng.uniform(0.2, 2, len(y))}[weights]
    assert metrics.log_loss(y, p, weight) == pytest.approx(oracle.log_loss(y, p, sample_weight=weight))
    hot = np.eye(4)[y]
    brier = np.average(np.sum((p - hot) ** 2, axis=1), weights=weight)
    assert metrics.squared_error(y, p, weight) == pytest.approx(brier)
    assert metrics.root_mean_squared_error(y, p, weight) == pytest.approx(np.sqrt(brier))
    right = oracle.accuracy_score(y, p.argmax(axis=1), sample_weight=weight)
    assert metrics.accuracy(y, p, weight) == pytest.approx(right)
    assert metrics.zero_one_error(y, p, weight) == pytest.approx(1 - right)
    assert metrics.class_forecast(y, p, weight).of_top_label().prevalence == pytest.approx(right)


def test_options_of_the_log_loss():
    y, p = data()
    total = -np.log(p[np.arange(len(y)), y]).sum()
    assert metrics.log_loss(y, p, total=True) == pytest.approx(total)
    assert metrics.log_loss(y, p, base=2) == pytest.approx(total / len(y) / np.log(2))
    sure = [[1.0, 0.0, 0.0]]
    assert metrics.log_loss([2], sure, labels=[0, 1, 2]) == np.inf
    assert metrics.log_loss([2], sure, labels=[0, 1, 2], clip=1e-3) == pytest.approx(-np.log(1e-3))


@pytest.mark.parametrize("measure", [metrics.log_loss, metrics.squared_error, metrics.classwise_calibration_error])
def test_labels_order_of_rows_and_of_classes_and_weights(measure):
    y, p = data(2)
    found = measure(y, p)
    words = np.array(["d", "a", "c", "b"])[y]
    assert measure(words, p, labels=["d", "a", "c", "b"]) == found
    assert measure(words, p[:, [1, 3, 2, 0]]) == pytest.approx(found)
    order = np.random.default_rng(0).permutation(len(y))
    assert measure(y[order], p[order]) == pytest.approx(found)
    count = np.random.default_rng(1).integers(0, 3, len(y))
    repeated = measure(np.repeat(y, count), np.repeat(p, count, axis=0))
    assert measure(y, p, count) == pytest.approx(repeated)


def test_two_columns_are_the_table_of_the_second():
    y, p = data(3, k=2)
    for measure in (metrics.squared_error, metrics.roc_auc, metrics.calibration_error, metrics.decompose):
        assert measure(y, p) == measure(y, p[:, 1])
    both = metrics.classwise_calibration_error(y, p, definition="ece")
    one = [metrics.calibration_error(y == k, p[:, k], definition="ece") for k in (0, 1)]
    assert both == pytest.approx(np.mean(one))


@pytest.mark.parametrize("power", [1.0, 2.5])
def test_decompositions_add_up_and_are_never_negative(power):
    y, p = data(4, power=power)
    for score, mean in (("log", metrics.log_loss(y, p)), ("squared", metrics.squared_error(y, p))):
        parts = metrics.decompose(y, p, score=score)
        assert parts.score == pytest.approx(mean)
        assert mean == pytest.approx(parts.miscalibration - parts.discrimination + parts.uncertainty)
        assert min(parts.miscalibration, parts.discrimination) >= 0
    binary = [metrics.decompose(y == k, p[:, k], score="squared") for k in range(4)]
    assert metrics.brier_miscalibration(y, p) == pytest.approx(sum(part.miscalibration for part in binary))
    rates = np.bincount(y) / len(y)
    assert metrics.log_loss_uncertainty(y, p) == pytest.approx(stats.entropy(rates))
    # A power of probabilities is undone by the slope of the line; intercepts save little more.
    saved = metrics.log_loss(y, p) - metrics.log_loss(*data(4))
    assert saved <= metrics.log_loss_miscalibration(y, p) <= saved + 0.02


def rows_canonical(y, p, h, reference):
    """Return gaps, and what chance is expected to give of their size and of their square."""
    gaps, sizes, squares = [], [], []
    for i, row in enumerate(p):
        kernel = np.array([stats.dirichlet.pdf(row, other / h + 1) for other in p])
        kernel[i] = 0
        kernel /= kernel.sum()
        shares, mean = (kernel @ values for values in (np.eye(p.shape[1])[y], p))
        gaps.append(np.abs(shares - (row if reference == "row" else mean)))
        squares.append(kernel**2 @ (p * (1 - p)))
        sizes.append(np.minimum(np.sqrt(2 / np.pi * squares[-1]), 2 * kernel @ (p * (1 - p))))
    return [np.sum(values, axis=1).mean() for values in (gaps, np.square(gaps), sizes, squares)]


@pytest.mark.parametrize("reference", ["smoothed", "row"])
def test_canonical_error_equals_the_row_version(reference):
    y, p = data(5, n=60, k=3)
    size, square, chance_of_size, chance_of_square = rows_canonical(y, p, 0.05, reference)
    if reference == "smoothed":
        size, square = np.sqrt(size**2 - chance_of_size**2), square - chance_of_square
    for norm, expected in (("l1", size), ("squared", square), ("l2", np.sqrt(square))):
        found = metrics.canonical_calibration_error(y, p, bandwidth=0.05, norm=norm, reference=reference)
        assert found == pytest.approx(expected, rel=1e-9)
    figure = metrics.canonical_calibration_error.of(metrics.class_forecast(y, p))
    assert "Dirichlet kernel, bandwidth" in str(figure)
    assert "by chance" in str(figure)
    count = np.arange(60) % 3 + 1
    repeated = metrics.canonical_calibration_error(np.repeat(y, count), np.repeat(p, count, axis=0), bandwidth=0.05)
    assert metrics.canonical_calibration_error(y, p, count, bandwidth=0.05) == pytest.approx(repeated)


def test_canonical_error_of_calibrated_rows_is_not_what_chance_gives():
    """Four classes, 500 rows: the mean gap of a calibrated forecast is 0.3, whatever the classes."""
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        p = special.softmax(1.5 * rng.normal(size=(500, 4)), axis=1)
        y = (rng.random((500, 1)) > np.cumsum(p, axis=1)).sum(axis=1)
        found.append(metrics.canonical_calibration_error(y, p, bandwidth=2.0**-6))
    assert np.mean(found) < 0.06
    assert max(found) < 0.15


def test_canonical_error_of_a_calibrated_population_is_zero():
    prob = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    rows, truth = np.repeat(prob, 3, axis=0), np.tile(np.arange(3), 40)
    weight = np.rint(1e6 * prob.ravel()).astype(int)
    assert metrics.canonical_calibration_error(truth, rows, weight, bandwidth=0.1) < 1e-4
    assert metrics.canonical_calibration_error(truth, rows, weight, bandwidth=0.1, reference="row") > 0.02


def test_canonical_error_tells_calibrated_from_sure():
    calibrated, sure = (
        metrics.canonical_calibration_error(*data(6, n=1500, k=3, power=power), bandwidth=0.02) for power in (1, 3)
    )
    assert sure > calibrated + 0.1


def test_tests_of_every_class_are_corrected():
    y, p = data(7, power=1.7)
    for test in (metrics.calibration_in_the_large_test, metrics.spiegelhalter_test, metrics.cox_test):
        found = metrics.classwise_test(y, p, test=test)
        alone = [test(y == k, p[:, k]).p_value for k in range(4)]
        assert found.p_values == pytest.approx(alone)
        assert found.p_holm == pytest.approx(metrics.holm(alone))
    assert found.mean_predicted == pytest.approx(p.mean(axis=0))
    assert found.prevalence == pytest.approx(np.bincount(y) / len(y))
    absent = metrics.classwise_test(y, np.column_stack([p, np.zeros(300)]), labels=range(5), test=metrics.cox_test)
    assert isinstance(absent.tests[4], str)
    assert np.isnan(absent.p_holm[4])
    assert absent.p_holm[:4] == pytest.approx(found.p_holm)


def test_calibration_in_the_large_holds_its_level():
    p = [metrics.classwise_test(*data(seed, n=200)).p_holm.min() for seed in range(200)]
    assert np.mean(np.array(p) < 0.05) < 0.09


@pytest.mark.heavy
@pytest.mark.parametrize("weights", ["counts", "floats"])
def test_intervals_cover(weights):
    covered = {"log_loss": [], "squared_error": []}
    truth = {"log_loss": metrics.log_loss(*data(99, n=60_000, power=1.5))}
    truth["squared_error"] = metrics.squared_error(*data(99, n=60_000, power=1.5))
    for seed in range(30):
        y, p = data(seed, n=200, power=1.5)
        weight = None if weights == "counts" else np.random.default_rng(seed).uniform(0.5, 2, 200)
        forecast = metrics.class_forecast(y, p, weight)
        for name in truth:
            found = metrics.interval(getattr(metrics, name), forecast, n_resamples=100, random_state=seed)
            covered[name].append(found.low <= truth[name] <= found.high)
    assert all(np.mean(covered[name]) >= 0.83 for name in truth)


def test_intervals_of_errors_know_perfect_calibration():
    kinds = []
    for seed in range(12):
        perfect, sure = (
            metrics.interval(
                metrics.classwise_calibration_error,
                metrics.class_forecast(*data(seed, n=250, power=power)),
                options={"definition": "ece"},
                n_resamples=100,
                random_state=seed,
            )
            for power in (1.0, 3.0)
        )
        assert perfect.corrected < perfect.value
        kinds.append((perfect.low == 0, sure.low > 0 and sure.value > sure.consistency[1]))
    assert np.mean(kinds, axis=0) == pytest.approx([1, 1], abs=0.17)


def test_paired_comparison():
    y, p = data(8)
    sure = data(8, power=3)[1]
    found = metrics.compare(y, {"fair": p, "sure": sure}, raw="sure")
    losses = {name: np.log(q[np.arange(len(y)), y]) for name, q in (("fair", p), ("sure", sure))}
    part = found["log_loss"]
    assert part.means == pytest.approx([-loss.mean() for loss in losses.values()])
    assert part.p_values[0, 1] == pytest.approx(stats.ttest_rel(losses["fair"], losses["sure"]).pvalue)
    assert part.mark("fair") == "*"
    squared = [metrics.squared_error(y, q) for q in (p, sure)]
    assert found["squared_error"].means == pytest.approx(squared)
    assert found["zero_one_error"].ties[0, 1] == len(y)
    two = {name: values[:, :2] / values[:, :2].sum(axis=1, keepdims=True) for name, values in (("a", p), ("b", sure))}
    held = y < 2
    rows = {name: values[held] for name, values in two.items()}
    odds = {name: np.log(values[:, 1] / values[:, 0]) for name, values in rows.items()}
    classes, binary = (metrics.compare(y[held], methods) for methods in (rows, odds))
    assert classes["log_loss"].p_values == pytest.approx(binary["log_loss"].p_values)
    assert classes["squared_error"].means == pytest.approx(2 * binary["squared_error"].means)


def test_scorers_take_rows():
    x, y = load_iris(return_X_y=True)
    words = np.array(["one", "two", "three"])[y]
    for target in (y, words):
        scorer = make_scorer(metrics.log_loss, response_method="predict_proba", greater_is_better=False)
        ours = cross_val_score(GaussianNB(), x, target, scoring=scorer)
        assert ours == pytest.approx(cross_val_score(GaussianNB(), x, target, scoring="neg_log_loss"))


def test_what_is_refused():
    y, p = data()
    with pytest.raises(InvalidInputError, match=r"lift needs a forecast of two classes.*one class against the rest"):
        metrics.lift(y, p)
    with pytest.raises(InvalidInputError, match=r"forecast of several classes.*rows of class probabilities"):
        metrics.classwise_calibration_error(y == 1, p[:, 1])
    with pytest.raises(InvalidInputError, match="4 columns of prob; got 3 labels"):
        metrics.log_loss(np.minimum(y, 2), p)
    with pytest.raises(InvalidInputError, match="labels= only"):
        metrics.log_loss(y + 1, p, labels=range(4))
    with pytest.raises(InvalidInputError, match="sum to 1"):
        metrics.log_loss(y, 0.5 * p)
    with pytest.raises(InvalidInputError, match="ClassForecast"):
        metrics.canonical_calibration_error.of(metrics.forecast_from_arrays(y == 1, p[:, 1]))


def test_a_positive_label_is_refused_where_every_class_counts():
    y, p = data()
    for measure in (metrics.log_loss, metrics.classwise_calibration_error, metrics.canonical_calibration_error):
        with pytest.raises(InvalidInputError, match="pos_label must be left out"):
            measure(y, p, pos_label=1)
