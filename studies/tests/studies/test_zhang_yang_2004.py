"""What the study of piecewise logistic regression rests on; both papers on texts share it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import ttest_rel
from sklearn.metrics import mutual_info_score

from oddsmith import AsymmetricLaplaceCalibrator, ScoreTable
from oddsmith.metrics import compare
from oddsmith_studies.data import WordCounts
from oddsmith_studies.studies import Part, Setting, load
from oddsmith_studies.studies._intervals import over_draws
from oddsmith_studies.studies._running import compute
from oddsmith_studies.studies._text_draws import _at_data, by_document, draw_name, gain, inputs_over, mean_total
from oddsmith_studies.studies._text_features import (
    RECIPES,
    REUTERS,
    categories_of,
    choose_by_all_categories,
    choose_for_all,
    choose_words,
    weigh,
)
from oddsmith_studies.studies._text_methods import (
    A_LAPLACE,
    A_LAPLACE_DOUBLE,
    LR,
    PLR,
    RAW,
    calibrate_corpus,
    chosen_penalty,
)
from oddsmith_studies.studies._text_results import (
    among,
    beats,
    comparison,
    paired_difference,
    published_name,
    totals,
)
from oddsmith_studies.studies._text_scores import BAYES, LOGISTIC, SVM, score_categories
from oddsmith_studies.studies.zhang_yang_2004.parts import VARIANTS, classifiers_of, judged_parts

QUICK = Setting(quick=True)


@pytest.fixture(scope="module")
def logistic_part(needs_data):
    needs_data(("reuters21578",))
    arguments = {"corpus": REUTERS, "recipe": "Zhang & Yang", "classifier": LOGISTIC, "shown": "earn"}
    return compute(Part("logistic", calibrate_corpus, arguments), QUICK).result


@pytest.fixture(autouse=True)
def _data(needs_data):
    needs_data(("reuters21578",))


def test_published_table_is_complete_and_starred_rows_exist():
    published = load("zhang-yang-2004").published
    for table in published.tables.values():
        assert len(table.rows) == 12
    assert published.tables["reuters"].rows["linear SVM", RAW]["log-loss"] is None
    assert published.tables["reuters"].rows["logistic regression", A_LAPLACE]["log-loss"] == -math.inf
    for corpus in ("reuters", "trec_ap"):
        for classifier, method, measure in published.figures["stars"][corpus]:
            assert published.tables[corpus].rows[classifier, method][measure] is not None


def test_training_scores_come_from_classifiers_that_did_not_see_the_row():
    (_, scored), *_ = score_categories(QUICK, REUTERS, "Zhang & Yang", BAYES, categories_of(QUICK, REUTERS)[:1])
    assert len(scored.train) == len(scored.y_train) == 1500
    # The labels that a score is compared with are in its own order: a mix-up would leave no discrimination.
    positive, negative = scored.train[scored.y_train], scored.train[~scored.y_train]
    assert np.mean(positive[:, None] > negative[None]) > 0.95


def test_weights_of_words():
    counts = csr_array(np.array([[2.0, 0, 1], [0, 0, 3], [0, 0, 0], [1, 1, 1]]))
    binary, _ = weigh(counts, counts, "binary")
    assert binary.toarray().tolist() == [[1, 0, 1], [0, 0, 1], [0, 0, 0], [1, 1, 1]]
    unit, score = weigh(counts, counts[[0]], "tf-idf")
    lengths = np.sqrt(unit.power(2).sum(axis=1))
    assert lengths == pytest.approx([1, 1, 0, 1])
    rarity = np.log(4 / np.array([2, 1, 3]))
    expected = np.array([2, 0, 1]) * rarity
    assert score.toarray()[0] == pytest.approx(expected / np.linalg.norm(expected))


def test_one_list_of_words_serves_all_categories():
    X = csr_array(np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]]))
    first, second = np.array([True, True, False, False]), np.array([True, False, True, False])
    assert set(choose_for_all(X, [first, first, second], 2).tolist()) == {0, 1}


def test_probabilities_of_a_classifier_reach_minus_infinity_only_in_doubles(logistic_part):
    sums = totals(logistic_part)
    assert sums[A_LAPLACE_DOUBLE]["log-loss"] == -math.inf
    assert math.isfinite(sums[A_LAPLACE]["log-loss"])
    assert sums[A_LAPLACE_DOUBLE]["errors"] <= sums[A_LAPLACE]["errors"] + 5
    assert published_name(logistic_part, A_LAPLACE) == A_LAPLACE_DOUBLE
    assert published_name(logistic_part, A_LAPLACE, "log-odds") == A_LAPLACE
    # Raw is the same classifier whichever input the calibrators get.
    other = totals(logistic_part, given="log-odds")
    assert other[RAW]["log-loss"] == pytest.approx(sums[RAW]["log-loss"], rel=1e-6)


def test_totals_are_sums_of_categories(logistic_part):
    found = logistic_part["inputs"]["log-odds"]
    sums = totals(logistic_part, given="log-odds")
    by_category = [each["losses"][PLR] for each in found["categories"].values()]
    assert np.sum(by_category, axis=0) == pytest.approx(
        [sums[PLR][name] for name in ("log-loss", "squared error", "errors")]
    )


def test_a_comparison_survives_being_kept(logistic_part):
    found = comparison(logistic_part, "log-loss", given="log-odds")
    some = among(found, (PLR, RAW))
    assert some.names == (PLR, RAW)
    assert some.p_values[0, 1] == found.p_values[found.names.index(PLR), found.names.index(RAW)]
    assert some.holm[0, 1] == some.p_values[0, 1]
    assert not (beats(some, PLR, RAW) and beats(some, RAW, PLR))
    assert beats(some, PLR, RAW) == beats(found, PLR, RAW)


def test_the_interval_of_totals_agrees_with_the_t_test():
    rng = np.random.default_rng(0)
    y, a = rng.random(400) < 0.4, rng.normal(size=400)
    b = a + rng.normal(scale=0.3, size=400)
    odds = {"a": a * 2 * (y - 0.5), "b": b * 2 * (y - 0.5)}
    p = compare(y, odds)["log_loss"].p_values[0, 1]
    found = paired_difference(-np.logaddexp(0, -a), -np.logaddexp(0, -b))
    assert (found.low <= 0 <= found.high) == (p > 0.05)


def test_raw_margins_have_no_probability():
    arguments = {"corpus": REUTERS, "recipe": "Zhang & Yang", "classifier": SVM}
    part = compute(Part("svm", calibrate_corpus, arguments), QUICK).result
    assert RAW not in comparison(part, "log-loss").names
    assert totals(part)[RAW]["log-loss"] is None
    assert totals(part)[RAW]["errors"] > 0


def test_every_reading_is_shown_whatever_its_totals():
    study = load("zhang-yang-2004")
    asked = {part.arguments.get("recipe") for part in study.parts(Setting())}
    assert {name for name in RECIPES if name.startswith("Zhang")} <= asked


def test_gain_about_all_categories_at_once_is_mutual_information():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 600)
    member = np.column_stack([kind == 0, kind == 1])
    # The second word tells the classes apart, the third one of them, the first nothing.
    X = csr_array(np.column_stack([rng.random(600) < 0.5, kind == 0, rng.random(600) < 0.2 + 0.3 * (kind == 1)]) * 1.0)
    dense = X.toarray().astype(int)
    expected = [mutual_info_score(kind, dense[:, word]) for word in range(3)]
    assert (
        choose_by_all_categories(X, member, replace(RECIPES["Zhang & Yang"], words=3)).tolist()
        == np.argsort(expected)[::-1].tolist()
    )
    assert choose_by_all_categories(X, member, replace(RECIPES["Zhang & Yang"], words=1)).tolist() == [1]


def test_gain_over_occurrences_takes_each_occurrence_of_a_word_for_a_case():
    rng = np.random.default_rng(0)
    y, X = rng.random(80) < 0.4, rng.poisson(1.0, (80, 5))
    occurrences = [(word, y[text]) for text in range(80) for word in range(5) for _ in range(X[text, word])]
    words, classes = map(np.array, zip(*occurrences, strict=True))
    expected = [mutual_info_score(words == word, classes) for word in range(5)]
    counts = WordCounts(csr_array(X), np.array(list("abcde")))
    how = replace(RECIPES["Zhang & Yang"], words=5, gain="occurrences")
    assert choose_words(counts, np.arange(80), y, how).tolist() == np.argsort(expected)[::-1].tolist()
    assert choose_by_all_categories(csr_array(X), y[:, None], how).tolist() == np.argsort(expected)[::-1].tolist()


def test_unit_rows_are_binary_rows_of_length_one():
    counts = csr_array(np.array([[2.0, 0, 1], [0, 0, 3]]))
    unit, _ = weigh(counts, counts, "unit")
    assert unit.toarray() == pytest.approx(np.array([[0.5**0.5, 0, 0.5**0.5], [0, 0, 1]]))


def test_every_reading_is_a_recipe_and_concerns_its_classifiers():
    for variant, recipe in VARIANTS.items():
        assert recipe in RECIPES
        changed = replace(RECIPES[recipe], events="multinomial", smoothing=RECIPES["Zhang & Yang"].smoothing)
        if classifiers_of(variant) == (BAYES,):
            # What only naive Bayes is run with differs in what only naive Bayes sees, but for the words.
            assert replace(changed, selection="category") == RECIPES["Zhang & Yang"]


@pytest.mark.filterwarnings("ignore::oddsmith.errors.OddsmithWarning")
def test_the_penalty_of_logistic_regression_is_chosen_on_held_out_scores():
    rng = np.random.default_rng(0)
    y = rng.random(60) < 0.5
    noise = rng.normal(size=60)
    assert chosen_penalty(noise, y) >= 10
    assert chosen_penalty(5 * (2.0 * y - 1) + noise, y) < 10


@pytest.fixture(scope="module")
def draw(needs_data):
    needs_data(("reuters21578",))
    (part,) = [each for each in judged_parts(QUICK) if each.name == draw_name(REUTERS, LOGISTIC, 1)]
    return compute(part, QUICK).result


def test_gains_are_differences_of_totals(draw):
    for measure, sign in (("log-loss", 1), ("squared error", -1), ("errors", -1)):
        found = gain([draw], measure, PLR, LR)
        apart = mean_total([draw], measure, PLR) - mean_total([draw], measure, LR)
        assert found.value == pytest.approx(sign * apart, abs=1e-6)
        assert gain([draw], measure, LR, PLR).value == -found.value
        assert found.low <= found.value <= found.high


def test_what_is_kept_of_a_draw_adds_up_to_its_totals(draw):
    assert np.sum(inputs_over([draw])[0]["kept"][PLR]) == pytest.approx(mean_total([draw], "log-loss", PLR), abs=0.01)


def test_each_draw_has_other_folds_and_the_same_classifier(needs_data):
    categories = ("earn",)
    first, second, tables = (
        dict(score_categories(QUICK, REUTERS, "Zhang & Yang", BAYES, categories, draw=draw))["earn"]
        for draw in (1, 2, 0)
    )
    assert np.array_equal(first.test, second.test)
    assert not np.array_equal(first.train, second.train)
    assert not np.array_equal(first.train, tables.train)


def test_decisions_about_one_document_are_taken_together():
    rng = np.random.default_rng(0)
    once = rng.normal(size=(1, 500))
    alone, copied = by_document(once), by_document(np.repeat(once, 4, axis=0))
    assert copied == pytest.approx([4 * end for end in alone])
    apart = ttest_rel(once[0], np.zeros(500)).confidence_interval(0.95)
    assert alone == pytest.approx([once.sum(), 500 * apart.low, 500 * apart.high])


def test_intervals_over_draws_cover_what_they_should():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        documents = rng.normal(size=200)  # shared by all draws
        draws = [
            by_document((documents + rng.normal(scale=0.1) + rng.normal(scale=0.5, size=200))[None]) for _ in "12345"
        ]
        found = over_draws(draws)
        covered += found.low <= 0 <= found.high
    assert 0.93 <= covered / 400 <= 1


@pytest.mark.filterwarnings("ignore::oddsmith.errors.NegativeSlopeWarning")
def test_a_mode_between_two_scores_that_tie_by_rounding_is_not_likelier():
    rng = np.random.default_rng(1)
    negative, positive = rng.laplace(size=300), rng.normal(3, 1, 50)

    def table_of(negative):
        y = np.r_[np.zeros(len(negative)), np.ones(50)].astype(int)
        return ScoreTable.from_arrays(np.r_[negative, positive], y)

    mode = AsymmetricLaplaceCalibrator().fit_table(table_of(negative)).negative_.parameters["theta"]
    between = []
    for gap in 10.0 ** np.arange(-11, -7, 0.2):
        twins = np.r_[negative, mode - gap]
        divided = AsymmetricLaplaceCalibrator(subdivisions=10).fit_table(table_of(twins))
        between.append(divided.negative_.parameters["theta"] not in twins)
        assert _at_data(table_of(twins), AsymmetricLaplaceCalibrator().fit_table(table_of(twins))) == [True, True]
    assert any(between)
