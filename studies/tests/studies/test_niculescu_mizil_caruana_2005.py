"""What the study of boosting rests on."""

import numpy as np
import pytest

from oddsmith_studies.learners import BoostedClassifier
from oddsmith_studies.studies import Part, Results, Setting, load
from oddsmith_studies.studies._running import compute
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.calibration_sizes import SIZES, learning_curves
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import (
    STUMPS,
    TREES,
    Style,
    last_round,
    make_boosted,
    rounds,
    styles,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.measured import extreme_counts, learning_curve
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.methods import (
    COLUMNS,
    CROSS_ENTROPY,
    SQUARED_ERROR,
    WIDE,
    losses,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.parts import boosting_part, part_name
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.readings import all_readings, every_part, own_by_draw
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.reliability import _slope
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.scores import Scores, Stage, _staged, boost
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tables import MEAN_OF_OWN, with_mean_of_own
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tasks import (
    OWN_PROBLEMS,
    PROBLEMS,
    SECOND_CLASS,
    STAND_INS,
    WITH_COPIES,
    copies,
    sample,
    sample_again,
)

QUICK = Setting(quick=True)


def test_published_means_are_the_means_of_their_columns():
    printed = load("niculescu-mizil-caruana-2005").published.tables["cross_entropy"]
    for base in (STUMPS, TREES):
        for name in printed.measures:
            column = [row[name] for (problem, of), row in printed.rows.items() if of == base and problem != "mean"]
            assert len(column) == 8
            assert np.mean(column) == pytest.approx(printed.rows["mean", base][name], abs=1e-4)
    own = with_mean_of_own(printed).rows[MEAN_OF_OWN, TREES]["PLATT"]
    assert own == pytest.approx(np.mean([printed.rows[problem, TREES]["PLATT"] for problem in OWN_PROBLEMS]))
    assert set(OWN_PROBLEMS) | set(STAND_INS) == set(PROBLEMS)
    assert not set(STAND_INS) & {problem for problem, _ in printed.rows}


def test_grids():
    default, paper = Setting(), Setting(grid="paper")
    assert [str(style) for style in styles(default, STUMPS)] == ["gini", "entropy"]
    assert len(styles(default, TREES)) == 4
    assert len(styles(paper, TREES)) == 24
    assert [style.criterion for style in styles(paper, STUMPS)] == ["gini", "entropy", "error"]
    assert rounds(last_round(default, TREES, "ADULT")) == [2**power for power in range(1, 11)]
    assert last_round(default, TREES, "HS") == 256
    assert last_round(default, STUMPS, "HS") == 2048
    assert rounds(last_round(paper, STUMPS, "HS"))[-1] == 8192
    assert rounds(last_round(paper, TREES, "HS"))[-1] == 2048
    names = [part.name for part in load("niculescu-mizil-caruana-2005").parts(paper)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "style",
    [Style(STUMPS, "gini"), Style(STUMPS, "error"), Style(TREES, "entropy", "five per leaf", "bayesian")],
    ids=str,
)
def test_scores_are_those_of_the_classifier(style, needs_data):
    needs_data(("letter",))
    drawn = sample(QUICK, "LETTER.P2")
    found = boost(drawn, style, "exponential", [1, 2, 4], seed=3, fold_seed=None)
    model = make_boosted(style, "exponential", 4, 3).fit(drawn.X_train, drawn.y_train)
    for number in (1, 2, 4):
        stage = found["discrete"][number].test
        earlier = model.at_round(number)
        assert stage.total == pytest.approx(earlier.decision_function(drawn.X_test))
        assert stage.share == pytest.approx(earlier.vote_fraction(drawn.X_test))
        if "real" in found:
            earlier.votes = "real"
            assert found["real"][number].test.total == pytest.approx(earlier.decision_function(drawn.X_test))


def test_held_out_scores_come_from_models_that_did_not_see_the_row(needs_data):
    needs_data(("letter",))
    drawn = sample(QUICK, "LETTER.P2")
    scores = boost(drawn, Style(TREES, "gini", leaves="laplace"), "exponential", [8], seed=0, fold_seed=1)["discrete"][
        8
    ]
    wrong = {name: np.mean((votes > 0.5) != drawn.y_train) for name, votes in _shares(scores).items()}
    assert wrong["train"] < 0.05 < wrong["held"] < 0.4


def _shares(scores):
    return {"train": scores.train.share, "held": scores.held}


def test_boosting_that_stopped_early_stays_as_it_ended():
    X, y = np.arange(8, dtype=np.float32)[:, None], np.arange(8) > 3
    model = BoostedClassifier(None, 16).fit(X, y)
    assert len(model.estimators_) == 1
    stages = _staged(model, X, [1, 4, 16], ["discrete"])["discrete"]
    assert stages[16].total == pytest.approx(model.decision_function(X))


def test_losses_are_bounded_bits():
    y = np.array([True, True, False])
    found = losses(np.array([0.0, -np.inf, -np.inf]), y, cases=50)
    assert found[CROSS_ENTROPY] == pytest.approx([1, np.log2(100), -np.log2(0.99)])
    assert found[WIDE][1] == pytest.approx(np.log2(1e6))
    assert found[SQUARED_ERROR] == pytest.approx([0.25, 1, 0])


def test_sizes_that_leave_too_few_cases_are_dropped():
    rng = np.random.default_rng(0)
    share = rng.random(1100)
    stage = Stage(2 * share - 1, 1.0)
    curves = learning_curves(QUICK, "toy", rng.random(1100) < share, {2: Scores(stage, stage, stage, share)})
    assert list(curves) == ["32"]
    assert {name: np.shape(values) for name, values in curves["32"].items()} == dict.fromkeys(
        ("RAW", "PLATT", "ISO"), (1, 2)
    )


def test_extreme_predictions_are_counted():
    counts = np.zeros(40, int)
    counts[[0, 1, 2, 38, 39]] = 1, 1, 6, 1, 1
    assert extreme_counts(counts) == (4, 10)


def test_one_forecast_for_all_has_no_slope():
    y = np.arange(100) % 4 == 0
    assert _slope(np.full(100, 0.25), y, 100) is None
    place = np.arange(104) % 8
    slope, error = _slope(np.where(place < 4, 0.4, 0.6), (place > 2) & (place < 7), 104)
    assert slope == pytest.approx(np.log(3) / np.log(1.5))
    assert 0 < error < slope


def test_a_part_keeps_the_rounds_that_are_best_on_validation_rows(needs_data):
    needs_data(("letter",))
    style = ["stumps", "error", "unpruned", "none"]
    arguments = {"problem": "LETTER.P2", "style": style, "loss": "exponential", "last": 8}
    setting = Setting(quick=True, grid="paper")
    assert part_name("LETTER.P2", *style, "exponential") in {
        part.name for part in load("niculescu-mizil-caruana-2005").parts(setting)
    }
    part = compute(Part("part", boosting_part, arguments), setting).result
    y = sample(setting, "LETTER.P2").y_test
    for method, kept in part["kept"].items():
        judged = part["methods"]["discrete"][method]
        best = int(np.argmin([each[SQUARED_ERROR][0] for each in judged["validation"]]))
        mine = np.mean((np.array(kept[SQUARED_ERROR]) - y) ** 2)
        assert mine == pytest.approx(judged["test"][best][SQUARED_ERROR][0], abs=1e-5)


def test_readings_change_rows_and_leaves_alone(needs_data):
    needs_data(("covtype", "web"))
    first, second = (sample_again(QUICK, "COV_TYPE", SECOND_CLASS, draw) for draw in (0, 1))
    main = sample(QUICK, "COV_TYPE")
    assert np.array_equal(first.X_train, main.X_train)
    assert not (first.y_train & main.y_train).any()
    assert not np.array_equal(second.X_train, main.X_train)


def test_no_test_row_of_a_stand_in_has_been_seen_in_training(needs_data):
    needs_data(("phishing",))
    once = sample(QUICK, "PHISHING")
    rows = np.vstack([once.X_train, once.X_validation, once.X_test])
    assert len(np.unique(rows, axis=0)) == len(rows)
    assert copies(once) == 0 < copies(sample_again(QUICK, "PHISHING", WITH_COPIES, 0))


def test_every_reading_has_parts_of_its_own_but_the_draw_of_table_2():
    parts = every_part(Setting())
    assert len({part.name for part in parts}) == len(parts)
    readings = all_readings(Setting())
    plain = [reading for reading in readings if reading.plain]
    assert len(plain) == 2 * len(OWN_PROBLEMS)
    assert sum(part.name.startswith("reading-") for part in parts) == sum(each.draws for each in readings) - len(plain)


def test_draws_of_the_own_five_begin_with_that_of_table_2():
    setting = Setting()

    def judged(value):
        return {half: [{CROSS_ENTROPY: [value, 0.1]}] for half in ("validation", "test")}

    parts = {}
    for place, problem in enumerate(OWN_PROBLEMS):
        for style, loss in (("gini, bayesian", 0.5), ("entropy, bayesian", 0.1)):
            methods = {"discrete": {name: judged(loss + place) for name in COLUMNS}}
            about = {"problem": problem, "base": TREES, "style": style, "rounds": [2], "methods": methods}
            parts[f"{problem}-{style}"] = about
        reading = next(each for each in all_readings(setting) if each.plain and each[:2] == (problem, TREES))
        for draw in range(1, reading.draws):
            losses_of = {name: {CROSS_ENTROPY: [draw + place, 0.1]} for name in COLUMNS}
            parts[reading.part(draw)] = {"problem": f"{problem}, reading", "losses": losses_of}
    published = load("niculescu-mizil-caruana-2005").published
    found = own_by_draw(Results(setting, parts, published), TREES)
    assert found["RAW"] == pytest.approx([2.5, 3, 4, 5, 6])


def test_a_learning_curve_is_of_the_same_problems_but_at_its_end():
    setting = Setting()
    fits = {"ADULT": 1024, "HS": 4096}
    parts = {}
    for problem in PROBLEMS:
        sizes = [size for size in SIZES if size <= fits.get(problem, SIZES[-1])]
        curves = {str(size): {name: [[0.1, 0.2]] for name in ("RAW", "PLATT", "ISO")} for size in sizes}
        judged = {half: [{SQUARED_ERROR: [0.1, 0.01]}] for half in ("validation", "test")}
        methods = {"discrete": dict.fromkeys(COLUMNS, judged)}
        about = {"problem": problem, "base": TREES, "style": "gini, bayesian", "rounds": [2], "methods": methods}
        parts[part_name(problem, TREES, "gini", "unpruned", "bayesian", "exponential")] = about | {"curves": curves}
    points = learning_curve(Results(setting, parts, load("niculescu-mizil-caruana-2005").published))
    kept = [problem for problem in OWN_PROBLEMS if problem != "ADULT"]
    assert [point.size for point in points] == list(SIZES)
    assert all(point.problems == kept for point in points[:-1])
    assert points[-1].problems == [problem for problem in kept if problem != "HS"]
