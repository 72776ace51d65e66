import numpy as np
import pytest
from scipy.stats import binom

from oddsmith import ScoreTable
from oddsmith.cutoffs import least_cost, sequential_limits, threshold
from oddsmith.decide import binary_costs
from oddsmith.errors import InvalidInputError, ReversedScoreWarning


def table_of(n, seed=0, slope=3.0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    return ScoreTable.from_arrays(scores, rng.random(n) < 1 / (1 + np.exp(-slope * scores - 1)))


def crossing_row_by_row(found, error):
    """Walk through every row, and look at the errors where the limits do."""
    limits = dict(zip(found.looks.tolist(), found.limits.tolist(), strict=True))
    law, crossed = np.ones(1), 0.0
    for n in range(1, max(limits) + 1):
        law = np.append(law, 0.0) * (1 - error) + np.append(0.0, law) * error
        allowed = limits.get(n, -1) + 1
        crossed += law[:allowed].sum()
        law[:allowed] = 0.0
    return crossed


@pytest.mark.parametrize("target", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("first", [0, 17])
def test_the_crossing_probability_is_exact_and_within_its_share(target, first):
    found = sequential_limits(target, 0.025, first, 160)
    assert found.looks[-1] > 300
    assert found.crossing == pytest.approx(crossing_row_by_row(found, 1 - target), abs=1e-9)
    assert 0.02 < found.crossing <= 0.025 + 1e-9


def test_fewer_looks_never_have_stricter_limits():
    whole = sequential_limits(0.9, 0.025, 0, 200)
    for first in (1, 20, 90, 199):
        assert np.all(sequential_limits(0.9, 0.025, first, 200).limits >= whole.limits[first:])


@pytest.mark.filterwarnings("ignore::oddsmith.errors.ReversedScoreWarning")  # some samples are, by chance
@pytest.mark.parametrize("ties", [0, 3, 40])
def test_flat_truths_at_the_target_are_seldom_selected(ties):
    rng, n, times = np.random.default_rng(ties), 2000, 400
    scores = np.arange(n) if ties == 0 else np.arange(n) // ties
    # At a flat truth just below the target every selection breaks it.
    wrong = sum(
        threshold(ScoreTable.from_arrays(scores, rng.random(n) < 0.9), precision=0.9).cut is not None
        for _ in range(times)
    )
    assert wrong <= times * 0.05 + 3 * np.sqrt(times * 0.05 * 0.95)


def test_a_precision_that_is_clear_is_found():
    table = table_of(20_000)
    found = threshold(table, precision=0.9)
    top = table.scores >= found.cut
    assert found.selected == table.total[top].sum()
    assert found.true_positives == table.pos[top].sum()
    assert found.precision == pytest.approx(table.pos[top].sum() / table.total[top].sum())
    assert 0.9 < found.precision < 0.92
    assert threshold(table, precision=0.9, level=0.5).selected > found.selected
    assert threshold(table, precision=0.95).selected < found.selected


@pytest.mark.parametrize(("target", "needed"), [(0.99, 368), (0.9, 36)])
def test_so_many_rows_without_error_are_needed(target, needed):
    one_less, enough = (
        threshold(ScoreTable.from_arrays(np.arange(n), np.ones(n, int)), precision=target) for n in (needed - 1, needed)
    )
    assert one_less.cut is None
    assert (one_less.selected, one_less.needed) == (0, needed)
    assert f"needs at least {needed} rows" in str(one_less)
    assert enough.selected == needed


def test_recall_and_false_positive_rate_are_the_exact_order_statistics():
    table = table_of(3000, seed=1)
    recall, fpr = threshold(table, recall=0.9), threshold(table, fpr=0.05)
    missed = int(table.pos[table.scores < recall.cut].sum())
    assert binom.cdf(missed, table.n_pos, 0.1) <= 0.05 < binom.cdf(missed + 1, table.n_pos, 0.1)
    alarms = int(table.neg[table.scores >= fpr.cut].sum())
    assert binom.cdf(alarms, table.n_neg, 0.05) <= 0.05 < binom.cdf(alarms + 1, table.n_neg, 0.05)
    assert table.neg[table.scores < fpr.cut][-1] == 1  # one score lower selects one alarm too many
    share = threshold(table, share=0.1)
    assert binom.cdf(share.selected, table.rows, 0.1) <= 0.05 < binom.cdf(share.selected + 1, table.rows, 0.1)


@pytest.mark.filterwarnings("ignore::oddsmith.errors.ReversedScoreWarning")  # some samples are, by chance
@pytest.mark.parametrize("goal", ["recall", "fpr", "share"])
def test_order_statistics_keep_their_confidence(goal):
    rng, n, times, target = np.random.default_rng(7), 300, 1000, 0.8 if goal == "recall" else 0.2
    broken = 0
    for _ in range(times):
        scores, labels = rng.random(n), rng.random(n) < 0.5
        cut = threshold(ScoreTable.from_arrays(scores, labels), **{goal: target}).cut
        broken += 1 - cut < target if goal == "recall" else 1 - cut > target
    assert abs(broken - 0.04 * times) < 0.01 * times + 3 * np.sqrt(times * 0.04)


@pytest.mark.parametrize("goal", ["precision", "recall", "fpr", "share"])
def test_too_few_rows_select_nothing_and_say_what_is_needed(goal):
    target = 0.99 if goal in ("precision", "recall") else 0.01
    found = threshold(ScoreTable.from_arrays([0.1, 0.9, 0.5], [0, 1, 1]), **{goal: target})
    assert found.cut is None
    assert found.to_dict()["cut"] is None
    assert found.needed == (368 if goal == "precision" else 299)
    assert f"{found.needed} " in str(found)


@pytest.mark.parametrize("log_odds", [False, True])
def test_cells_are_selected_whole(log_odds):
    exact = table_of(20_000)
    if log_odds:
        exact = exact.map(lambda scores: 1 / (1 + np.exp(-scores)))
    cells = exact.quantize(0.0625, log_odds)
    for goal, target in (("precision", 0.9), ("recall", 0.9), ("fpr", 0.05), ("share", 0.1)):
        found = threshold(cells, **{goal: target})
        assert exact.total[exact.scores >= found.cut].sum() == found.selected
        assert found.selected == pytest.approx(threshold(exact, **{goal: target}).selected, rel=0.1)


def test_counts_are_rows():
    table = table_of(2000)
    twice = ScoreTable.from_arrays(np.repeat(table.scores, 2), np.repeat(table.pos, 2))
    assert threshold(table.scale(2), precision=0.9).to_dict() == threshold(twice, precision=0.9).to_dict()


def test_what_cannot_be_guaranteed_is_refused():
    table = table_of(100)
    with pytest.raises(InvalidInputError, match="exactly one of precision, recall, fpr and share"):
        threshold(table)
    with pytest.raises(InvalidInputError, match="got precision and recall"):
        threshold(table, precision=0.9, recall=0.9)
    with pytest.raises(InvalidInputError, match="precision must be below 1"):
        threshold(table, precision=1)
    with pytest.raises(InvalidInputError, match="fpr must be finite and > 0"):
        threshold(table, fpr=0)
    with pytest.raises(InvalidInputError, match="level must be below 1"):
        threshold(table, recall=0.9, level=1)
    with pytest.raises(InvalidInputError, match="counts of rows"):
        threshold(table.scale(0.5), precision=0.9)


def test_least_cost_is_the_least_of_all_cut_offs():
    table = table_of(800, seed=3)
    costs = binary_costs(false_positive=1, false_negative=4, true_positive=0.3)
    found = least_cost(table, costs)

    def cost(cut):
        top = table.scores >= cut
        wrong = table.neg[top].sum() + 4 * table.pos[~top].sum()
        return (wrong + 0.3 * table.pos[top].sum()) / table.rows

    every = [cost(cut) for cut in [*table.scores.tolist(), np.inf]]
    assert found.mean_cost == pytest.approx(cost(found.cut))
    assert found.mean_cost == pytest.approx(min(every))
    assert found.low < found.cut < found.high
    assert found.selected == table.total[table.scores >= found.cut].sum()
    assert f"score >= {found.cut!r}, where P reaches 0.2128" in str(found)


def test_where_all_or_nothing_costs_least():
    table = ScoreTable.from_arrays(np.arange(200), np.arange(200) % 3 == 0)
    nothing = least_cost(table, binary_costs(false_positive=1000, false_negative=1))
    assert nothing.cut is None
    assert nothing.high == np.inf
    assert "selecting nothing" in str(nothing)
    everything = least_cost(table, binary_costs(false_positive=1, false_negative=100_000))
    assert (everything.low, everything.selected) == (-np.inf, 200)
    with pytest.raises(InvalidInputError, match=r"costs must have shape \(2, 2\)"):
        least_cost(table, binary_costs(false_positive=1, false_negative=np.ones(200)))


def test_the_interval_of_the_least_cost_contains_where_p_passes():
    truth = (np.log(0.2 / 0.8) - 1) / 3  # of table_of, where P is 0.2
    held = [
        found.low <= truth <= found.high
        for found in (
            least_cost(table_of(500, seed=i), binary_costs(false_positive=1, false_negative=4)) for i in range(100)
        )
    ]
    assert np.mean(held) >= 0.93 - 3 * np.sqrt(0.93 * 0.07 / 100)


def test_reversed_scores_are_warned_of():
    table = table_of(2000)
    backwards = table.map(np.negative)
    with pytest.warns(ReversedScoreWarning, match="cut-offs select the highest"):
        assert threshold(backwards, precision=0.9).cut is None
    with pytest.warns(ReversedScoreWarning):
        least_cost(backwards, binary_costs(false_positive=1, false_negative=4))
