import numpy as np
import pytest
from benchmarks.quality.summary import Field, against_nothing, against_reference, standings
from benchmarks.quality.tables import markdown, nothing_table, reference_table, standings_table
from benchmarks.quality.tasks import NOTHING, Outcome, make_tasks

SETS = ("a", "b.1", "b.2", "c", "d", "e", "f")


@pytest.fixture
def field(make_scores):
    """Return five competitors on seven sets of six sources: good, its twin, doing nothing, bad, and one that fails."""
    sets = [make_scores(name, learner) for name in SETS for learner in ("logistic", "tree")]
    tasks = make_tasks(sets, ["100", "full"], 0)
    level = np.random.default_rng(0).uniform(0.2, 0.4, len(tasks))
    found = {
        "good": [Outcome(x, x / 3, 0, 0) for x in level],
        "twin": [Outcome(x + 1e-13, x / 3, 0, 0) for x in level],
        NOTHING: [Outcome(x + 0.01, x / 3, 0, 0) for x in level],
        "bad": [Outcome(x + 0.02, x / 3, 0, 1) for x in level],
        "fails": [Outcome(x + (0.5 if i == 0 else 0), x / 3, int(i == 0), 0) for i, x in enumerate(level)],
    }
    return Field.of(tasks, found)


def test_standings_are_sorted_and_twins_share_their_rank(field):
    rows = {row["competitor"]: row for row in standings(field, 0)}
    assert list(rows) == ["good", "twin", NOTHING, "fails", "bad"]
    assert rows["good"]["rank"] == rows["twin"]["rank"]
    assert sum(row["rank"] for row in rows.values()) == pytest.approx(15)
    assert rows["bad"]["log_loss"] - rows["good"]["log_loss"] == pytest.approx(20)
    assert rows["good"]["log_loss@100"] == pytest.approx(1e3 * field.losses("good")[field.of_size("100")].mean())
    assert (rows["fails"]["failures"], rows["bad"]["infinite"], rows["good"]["infinite"]) == (1, len(field.tasks), 0)


def test_win_rates_are_shares_of_the_others_with_ties_as_halves(field):
    rows = {row["competitor"]: row for row in standings(field, 0)}
    lost = 1 / len(field.tasks)  # "fails" ties with the two best but on one task, where all beat it
    assert rows["bad"]["wins_log_loss"][0] == pytest.approx(0.25 * lost)
    assert rows[NOTHING]["wins_log_loss"][0] == pytest.approx(0.25 + 0.25 * lost)
    assert rows["good"]["wins_log_loss"][0] == rows["twin"]["wins_log_loss"][0] > 0.75
    assert all(row["wins_brier"] == (0.5, 0.5, 0.5) for row in rows.values())
    value, low, high = rows["fails"]["wins_log_loss"]
    assert low < value < high


def test_the_reference_is_tested_over_sources(field):
    rows = {row["competitor"]: row for row in against_reference(field, "good", 0)}
    assert set(rows) == {"twin", NOTHING, "bad", "fails"}
    assert rows["bad"]["difference"] == pytest.approx(-20)
    assert rows["bad"]["low"] == pytest.approx(-20)
    assert (rows["bad"]["wins"], rows["bad"]["sources"]) == (6, 6)
    assert rows["bad"]["wilcoxon"] == pytest.approx(2 / 2**6)  # six signs alike
    assert rows["bad"]["holm"] > rows["bad"]["wilcoxon"]
    assert rows["fails"]["difference"] == pytest.approx(-500 / len(field.tasks))
    assert rows["fails"]["difference_where_it_ran"] == 0


def test_the_tests_are_the_same_again(field):
    assert against_reference(field, "bad", 3) == against_reference(field, "bad", 3)


@pytest.mark.parametrize("sources", ["ab", "abcdef"])
def test_sets_of_one_source_are_drawn_together(make_scores, sources):
    """Opposite sources of many tasks are few units, and fewer than six have no interval."""
    tasks = make_tasks([make_scores(f"{source}.{i}", "tree") for source in sources for i in range(20)], ["full"], 0)
    steps = [0.1 if task.scores.source in "ace" else -0.1 for task in tasks]
    found = {"one": [Outcome(0.5 + step, 0.1, 0, 0) for step in steps], NOTHING: [Outcome(0.5, 0.1, 0, 0)] * len(tasks)}
    (row,) = against_reference(Field.of(tasks, found), "one", 0)
    if len(sources) < 6:
        assert np.isnan([row["low"], row["high"]]).all()
    else:
        assert row["low"] < -50 < 50 < row["high"]


def test_nobody_is_better_than_nothing_by_being_it(field):
    rows = {row["competitor"]: row for row in against_nothing(field, 0)}
    assert NOTHING not in rows
    assert rows["good"]["all limit"] == pytest.approx(-10)
    assert rows["bad"]["logistic@100 limit"] == pytest.approx(10)
    assert rows["bad"]["inner"] == pytest.approx(10)


def test_tables_show_every_competitor(field):
    shown = standings_table(standings(field, 0), field.sizes)
    assert shown.index("| good") < shown.index("| nothing") < shown.index("| bad")
    assert "*" not in reference_table(against_reference(field, "good", 0), "good")  # six sources cannot show it
    assert "| bad " in nothing_table(against_nothing(field, 0))


def test_markdown_lines_are_equally_long():
    lines = markdown(["name", "n"], [["a", "1"], ["longer", "22"]]).splitlines()
    assert lines == ["| name   |  n |", "|--------|---:|", "| a      |  1 |", "| longer | 22 |"]
