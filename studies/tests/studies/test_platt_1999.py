"""What the study of probabilistic support vector machines rests on."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import SVC

from oddsmith import CalibratedClassifier, GaussianCalibrator, PlattCalibrator
from oddsmith.metrics.proper import decision_log_prob
from oddsmith_studies.data import load_web
from oddsmith_studies.data.reuters import TEN_CATEGORIES
from oddsmith_studies.data.text_choices import mean_norm_cost
from oddsmith_studies.learners import KernelLogisticRegression
from oddsmith_studies.studies import Part, Results, Setting, load
from oddsmith_studies.studies._running import compute
from oddsmith_studies.studies.platt_1999 import densities, machines, measured, parts, sizes, tasks
from oddsmith_studies.studies.platt_1999.machines import LIKELIHOOD, SVM

QUICK = Setting(quick=True)


def problem(n=300, seed=0, words=None, name="toy"):
    """Return rows of binary features with a curved class."""
    rng = np.random.default_rng(seed)
    X = csr_array((rng.random((2 * n, 9)) < 0.4).astype(np.float64))
    odds = 3 * X[:, [0]].toarray()[:, 0] * X[:, [1]].toarray()[:, 0] + 1.5 * X[:, [2]].toarray()[:, 0] - 1.5
    y = rng.random(2 * n) < 1 / (1 + np.exp(-odds))
    return tasks.Problem(name, X[:n], y[:n], X[n:], y[n:], words)


def test_the_printed_table_is_complete():
    printed = load("platt-1999").published.tables["results"].rows
    assert {name for name, _ in printed} == {task.published for task in tasks.TASKS}
    assert len(printed) == 15
    for (_, method), values in printed.items():
        assert (values["−Σ log P"] is None) == (method == parts.RAW)


def test_explicit_features_are_the_quadratic_support_vector_machine():
    toy = problem()
    both = tasks.quadratic_features(csr_array(np.vstack([toy.X_train.toarray(), toy.X_test.toarray()])))
    explicit = toy._replace(X_train=both[:300], X_test=both[300:])
    found = machines.score_problem(QUICK, explicit, "quadratic", SVM, 1.0)
    cost = mean_norm_cost(explicit.X_train)
    kernel = SVC(C=cost, kernel="poly", degree=2, gamma=1, coef0=1, tol=1e-6).fit(toy.X_train.toarray(), toy.y_train)
    exact = kernel.decision_function(toy.X_test.toarray())
    assert machines.converged(found.machine)
    assert np.abs(found.test - exact).max() < 0.05 * exact.std()
    # Support vectors lie inside or on the margin.
    counted = parts._support(found.train, toy.y_train)
    assert counted["inside"] <= kernel.n_support_.sum() + 3
    assert kernel.n_support_.sum() <= counted["inside"] + counted["on"] + 3


def test_explicit_features_are_the_quadratic_likelihood_machine():
    toy = problem()
    both = tasks.quadratic_features(csr_array(np.vstack([toy.X_train.toarray(), toy.X_test.toarray()])))
    explicit = toy._replace(X_train=both[:300], X_test=both[300:])
    found = machines.score_problem(QUICK, explicit, "quadratic", LIKELIHOOD, 10.0)
    lam = 1 / (2 * 300 * 10 * mean_norm_cost(explicit.X_train))
    exact = KernelLogisticRegression("quadratic", lam).fit(toy.X_train, toy.y_train)
    assert found.test == pytest.approx(exact.decision_function(toy.X_test), abs=1e-4)
    assert parts._expansion(found.machine.dual_coef_)["nonzero"] == 300


@pytest.mark.filterwarnings("ignore::oddsmith.errors.InSampleWarning")  # rows of few words have copies
@pytest.mark.parametrize("words", [None, 4])
def test_the_sigmoid_is_that_of_a_calibrated_classifier_with_three_folds(words):
    toy = problem(words=words)
    found = machines.score_problem(QUICK, toy, "linear", SVM, 1.0)
    estimator = machines.make_machine(QUICK, toy, "linear", SVM, 1.0)
    seed = QUICK.seed_of("folds", toy.name)
    whole = CalibratedClassifier(
        estimator, PlattCalibrator(), cv=3, response_method="decision_function", random_state=seed
    )
    whole.fit(toy.X_train, toy.y_train)
    sigmoid = PlattCalibrator().fit(found.held, found.y_held)
    assert sigmoid.log_odds(found.test) == pytest.approx(whole.log_odds(toy.X_test))


def test_two_gaussians_are_a_parabola_of_log_odds():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.3
    scores = rng.normal(np.where(y, 1.0, -1.0), np.where(y, 1.5, 0.6))
    fit = GaussianCalibrator(prior="frequency").fit(scores, y)
    curve = densities.coefficients(fit)
    assert np.polyval(curve, scores) == pytest.approx(fit.log_odds(scores))
    # The wider class wins at both ends.
    assert densities.falls_at(curve, np.array([-9.0, 9.0])).tolist() == [True, False]


@pytest.mark.filterwarnings("ignore::oddsmith.errors.OddsmithWarning")
def test_exponential_scores_are_told_from_gaussian_ones():
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 2 == 0
    for draw, exponential in ((rng.laplace, True), (rng.normal, False)):
        held, test = (draw(np.where(y, 1.0, -1.0), 0.7) for _ in range(2))
        table = densities.ScoreTable.from_arrays(held, y)
        for found in densities.describe_classes(table, test, y).values():
            for pair in (densities.WHOLE, densities.INNER):
                mean, error = found[pair]
                assert (mean > 2 * error) == exponential
                assert (mean < -2 * error) != exponential


@pytest.mark.filterwarnings("ignore::oddsmith.errors.OddsmithWarning")
@pytest.mark.parametrize("machine", [SVM, LIKELIHOOD])
def test_a_topic_with_hardly_any_story_is_judged(machine):
    toy = problem()
    for stories in (0, 1, 2):
        rare = toy._replace(y_train=np.arange(300) < stories)
        found = parts.judge_problem(QUICK, rare, "linear", machine, 1.0)
        own = parts.SIGMOID if machine == SVM else parts.REGULARIZED
        assert np.isfinite(found["log_loss"][own]).all()
        assert found["looks"]["positive"] == stories
        if stories == 0:
            prior = np.log(1 / 301)
            for values in found["log_loss"].values():
                assert values == pytest.approx(-decision_log_prob(np.where(toy.y_test, prior, -prior)))


def test_held_out_rows_choose_the_cost_and_the_smaller_of_equals():
    task = next(task for task in tasks.TASKS if task.source == "adult")
    first, second = parts.costs(QUICK)

    def part(errors, log_loss):
        return {"groups": {"all": {"held": {"errors": errors, "log_loss": log_loss}}}}

    held = {first: part(5, 9.0), second: part(5, 8.0)}
    named = {parts.part_name("adult", task.kernel, SVM, cost): each for cost, each in held.items()}
    results = Results(QUICK, named, load("platt-1999").published)
    assert measured.chosen_cost(results, task, SVM) == first
    assert measured.chosen_cost(results, task, SVM, "log_loss") == second


def test_rows_that_come_again_are_taken_out_of_web(needs_data):
    needs_data(("web",))
    found = load_web()
    again = tasks.again(found.X, found.y == 1, found.train)
    # The finding itself: the whole test file stands in the training file.
    assert again.sum() == (~found.train).sum()
    (web,) = tasks.load_problems(QUICK, "web", "linear")
    (files,) = tasks.load_problems(QUICK, "web-files", "linear")
    assert web.X_train.shape == files.X_train.shape == (2000, 300)


def test_sums_over_stories_are_sums_over_decisions(needs_data):
    needs_data(("reuters21578",))
    arguments = {"source": "reuters-300", "kernel": "linear", "machine": SVM, "cost": 1.0}
    found = compute(Part("reuters", parts.machine_part, arguments), QUICK).result
    ten, topics = (found["groups"][name] for name in ("ten", "all"))
    assert ten["problems"] == 10 < topics["problems"]
    for group in (ten, topics):
        for measure in ("errors", "log_loss"):
            rows = group["paired"][measure][parts.SIGMOID]
            assert len(rows) == found["rows"][1]
            assert sum(rows) == pytest.approx(group["test"][measure][parts.SIGMOID], abs=0.01)
    assert ten["test"]["errors"][parts.RAW] <= topics["test"]["errors"][parts.RAW]
    # Words help: fewer errors than the share of positives alone.
    assert topics["test"]["errors"][parts.RAW] < 0.5 * topics["test"]["errors"][parts.CONSTANT]
    assert parts.RAW not in topics["test"]["log_loss"]


def test_a_row_weighs_as_much_in_a_fold_as_among_all_rows():
    toy = problem()
    half = slice(0, 150)
    few = machines.LikelihoodMachine(2.0).fit(toy.X_train[half], toy.y_train[half])
    assert few.penalty == 1 / (2 * 150 * 2.0)
    # Every row twice at half the cost is the same problem.
    twice = csr_array(np.vstack([toy.X_train[half].toarray()] * 2))
    both = machines.LikelihoodMachine(1.0).fit(twice, np.tile(toy.y_train[half], 2))
    assert both.decision_function(toy.X_test) == pytest.approx(few.decision_function(toy.X_test), abs=1e-5)


def test_topics_come_by_size_and_the_first_ten_are_the_usual_ones(needs_data):
    needs_data(("reuters21578",))
    problems = tasks.load_problems(Setting(quick=True), "reuters", "linear")
    ten = {each.name for place, each in enumerate(problems) if tasks.in_group(place, "ten")}
    assert ten == set(TEN_CATEGORIES) < {each.name for each in problems}
    assert all(tasks.in_group(place, "all") for place in range(200))
    assert set(tasks.CATEGORIES) < set(tasks.groups_of("reuters"))
    assert {task.group for task in tasks.TOPICS} < set(tasks.CATEGORIES)


def test_training_sizes_are_readings_with_several_draws(needs_data):
    needs_data(("a9a",))
    named = {part.name: part for part in sizes.every_part(QUICK)}
    (size,) = [each for each in sizes.all_sizes(QUICK) if (each.source, each.kernel) == ("adult", "linear")]
    found = {size.part(draw): compute(named[size.part(draw)], QUICK).result for draw in range(sizes.draws(QUICK))}
    results = Results(QUICK, found, load("platt-1999").published)
    spread = sizes.spread(results, size, parts.SIGMOID, "errors")
    assert spread.low < spread.value < spread.high
    assert sizes.spread(results, size, parts.SIGMOID, "errors", 2.0).value == 2 * spread.value
    assert all(each["rows"][0] == size.rows for each in found.values())
