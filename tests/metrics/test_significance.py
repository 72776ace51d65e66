"""Paired tests against vectors, SciPy and row versions."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from benchmarks.small_samples import DIFFERENCES as SKEWED
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from oddsmith import metrics as sig
from oddsmith.errors import InvalidInputError

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "vectors.json").read_text())["methods"]


@pytest.mark.parametrize("case", VECTORS["sign_test"], ids=lambda case: case["case"])
def test_sign_vectors(case):
    found = sig.micro_sign_test(case["a"], case["b"]) if "a" in case else sig.sign_test(case["wins"], case["losses"])
    assert (found.wins, found.losses, found.ties) == (case["wins"], case["losses"], case["ties"])
    assert (found.p_value, found.p_one_sided) == pytest.approx((case["p_two_sided"], case["p_one_sided"]), abs=1e-8)


def test_paired_t_vector():
    (case,) = VECTORS["paired_t_test"]
    gains = VECTORS["sign_test"][0]
    found = sig.paired_t_test(gains["a"], gains["b"])
    assert (found.mean_difference, found.t, found.df, found.p_value) == pytest.approx(
        (case["mean_difference"], case["t"], case["df"], case["p_two_sided"]), abs=1e-8
    )


@given(st.integers(0, 60), st.integers(0, 60))
def test_sign_test_agrees_with_scipy(wins, losses):
    found = sig.sign_test(wins, losses)
    if wins + losses:
        assert found.p_value == pytest.approx(stats.binomtest(wins, wins + losses).pvalue)
        assert found.p_one_sided == pytest.approx(stats.binomtest(wins, wins + losses, alternative="greater").pvalue)
    assert sig.sign_test(losses, wins).p_value == found.p_value


def sum_of_the_tail(k, n):
    """Return P(Bin(n, ½) ≤ k) term by term: the last one by Loader's expansion, the others by ratios of neighbors."""
    d = (n - 2 * k) / n
    deviance = n * (2 * d * np.arctanh(d) + np.log1p(-d * d)) / 2
    stirling = 1 / (12 * n) - 1 / (12 * k) - 1 / (12 * (n - k))
    last = np.exp(stirling - deviance) * np.sqrt(n / (2 * np.pi * k * (n - k)))
    below = np.arange(min(k, int(14 * np.sqrt(n))), dtype=np.float64)
    steps = np.log1p((2.0 * (k - below) - n - 1) / (n - k + 1 + below))
    return last * (1 + np.exp(np.cumsum(steps)).sum())


@pytest.mark.parametrize("n", [10**5, 10**8 - 1, 10**8 + 1, 2**31 - 9, 2**31, 2**31 + 11, 10**11])
@pytest.mark.parametrize("z", [0.3, 1.0, 2.5, 8.0, 30.0])
def test_sign_test_equals_the_sum_of_its_terms_at_any_number(n, z):
    k = n // 2 - int(z * np.sqrt(n) / 2)
    found, expected = sig.sign_test(n - k, k), sum_of_the_tail(k, n)
    assert found.p_value == pytest.approx(2 * expected, rel=1e-8, abs=0)
    assert found.p_one_sided == pytest.approx(expected, rel=1e-8, abs=0)
    assert sig.sign_test(k, n - k).p_one_sided == pytest.approx(1 - sum_of_the_tail(k - 1, n), rel=1e-8)


@pytest.mark.parametrize("n", [1, 2, 7, 40, 999])
def test_sign_test_equals_exact_sums(n):
    ways = [math.comb(n, k) for k in range(n + 1)]
    for losses in range(n + 1):
        found = sig.sign_test(n - losses, losses)
        tail = Fraction(sum(ways[: losses + 1]), 2**n)
        assert found.p_one_sided == pytest.approx(float(tail), rel=1e-12, abs=0)
        lower = Fraction(sum(ways[: min(losses, n - losses) + 1]), 2**n)
        assert found.p_value == pytest.approx(float(min(2 * lower, 1)), rel=1e-12, abs=0)


@pytest.mark.parametrize("digits", [9, 10, 12, 15, 18, 19, 30, 100])
def test_sign_test_at_numbers_beyond_any_machine_word_is_the_normal_law(digits):
    n = 10**digits
    half, standard_error = n // 2, math.isqrt(n) // 2
    for z in (1, 2, 5):
        found = sig.sign_test(half + z * standard_error, half - z * standard_error)
        # Half a decision of continuity is all that remains.
        assert found.p_value == pytest.approx(2 * stats.norm.sf((2 * z * standard_error - 1) / math.sqrt(n)), rel=1e-7)
        assert 0 < found.p_one_sided < 0.5
    even = sig.sign_test(half, half)
    assert (even.p_value, even.p_one_sided) == (1.0, pytest.approx(0.5, abs=1e-4))
    assert sig.sign_test(n, 0).p_value == 0.0
    assert sig.sign_test(0, n).p_one_sided == 1.0


@given(st.integers(0, 10**40), st.integers(0, 10**40))
def test_sign_test_is_a_probability_and_falls_with_wins(wins, losses):
    found, more = sig.sign_test(wins, losses), sig.sign_test(wins + 1 + wins // 3, losses)
    for result in (found, more):
        assert 0 <= result.p_value <= 1
        assert 0 <= result.p_one_sided <= 1
    assert more.p_one_sided <= found.p_one_sided
    assert sig.sign_test(losses, wins).p_value == found.p_value


def test_counts_above_two_to_the_31_are_tested_and_do_not_wrap():
    found = sig.mcnemar_test([1, 0, 1], [0, 1, 1], [2**31 + 10**6, 2**31, 5])
    assert (found.wins, found.losses, found.ties) == (2**31 + 10**6, 2**31, 5)
    assert found.p_value == pytest.approx(2 * stats.norm.sf((10**6 - 1) / np.sqrt(2**32 + 10**6)), rel=1e-3)
    huge = sig.micro_sign_test([1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [2**61, 2**61, 2**61])
    assert (huge.wins, huge.losses) == (2**62, 2**61)
    assert huge.p_value == 0.0
    halves = np.array([2**60] * 4)
    t = sig.paired_t_test([1.0, 2.0, 4.0, 0.0], [0.0, 1.0, 1.0, 3.0], halves)
    assert (t.mean_difference, t.p_value) == (0.5, 0.0)


def test_ties_and_infinities():
    inf = np.inf
    found = sig.micro_sign_test([-inf, -inf, 1.0, 1e15, 0.0, inf], [-inf, 0.0, 1 + 1e-13, 1e15 + 1, 1e-9, 3.0])
    assert (found.wins, found.losses, found.ties) == (1, 2, 3)


@given(st.integers(0, 10_000))
def test_t_test_agrees_with_scipy_and_weights_are_repetitions(seed):
    rng = np.random.default_rng(seed)
    a, b, weight = rng.normal(size=12), rng.normal(size=12), rng.integers(1, 4, 12)
    found = sig.paired_t_test(a, b)
    expected = stats.ttest_rel(a, b)
    assert (found.t, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    counted, repeated = sig.paired_t_test(a, b, weight), sig.paired_t_test(np.repeat(a, weight), np.repeat(b, weight))
    assert (counted.t, counted.df) == pytest.approx((repeated.t, repeated.df))
    assert sig.micro_sign_test(a, b, weight) == sig.micro_sign_test(np.repeat(a, weight), np.repeat(b, weight))


def test_t_test_on_the_edge():
    assert sig.paired_t_test([-np.inf, 0.0], [-1.0, 0.0]).p_value == 0
    assert sig.paired_t_test([-np.inf, 0.0], [-1.0, 0.0]).t == -np.inf
    assert sig.paired_t_test([-np.inf, 0.0], [0.0, -np.inf]).p_value == 1
    assert sig.paired_t_test([1.0, 1.0], [1.0, 1.0]).p_value == 1
    assert sig.paired_t_test([2.0, 2.0], [1.0, 1.0]).p_value == 0
    assert sig.paired_t_test([2.0], [1.0]).p_value == 1


def test_mcnemar_is_the_sign_test_on_errors():
    a, b = [1, 1, 0, 1, 0, 1], [1, 0, 0, 0, 0, 0]
    assert sig.mcnemar_test(a, b) == sig.sign_test(3, 0, 3)


def test_bootstrap_agrees_with_the_t_test():
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.12, 1, 400), rng.normal(0, 0.1, 400)
    boot = sig.paired_bootstrap(a, b, n_resamples=4000, random_state=1)
    t = sig.paired_t_test(a, b)
    assert boot.mean_difference == pytest.approx(t.mean_difference)
    assert boot.p_value == pytest.approx(t.p_value, abs=0.02)
    assert boot.low < t.mean_difference < boot.high
    assert boot == sig.paired_bootstrap(a, b, n_resamples=4000, random_state=1)


def clustered(seed, shift=0.0):
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(40), 10)
    return rng.normal(size=40)[clusters] + 0.3 * rng.normal(size=400) + shift, np.zeros(400), clusters


def test_clusters_keep_the_level_where_independence_fails():
    naive, flipped, boot = [], [], []
    for seed in range(200):
        a, b, clusters = clustered(seed)
        naive.append(sig.micro_sign_test(a, b).p_value)
        flipped.append(sig.cluster_sign_flip_test(a, b, clusters, n_resamples=199, random_state=seed).p_value)
        boot.append(sig.paired_bootstrap(a, b, groups=clusters, n_resamples=199, random_state=seed).p_value)
    assert np.mean(np.array(naive) <= 0.05) > 0.3
    assert np.mean(np.array(flipped) <= 0.05) < 0.1
    assert np.mean(np.array(boot) <= 0.05) < 0.12


def test_sign_flips_of_clusters_agree_with_all_flips():
    rng = np.random.default_rng(4)
    clusters = rng.integers(0, 9, 60)
    a, b = rng.normal(0.4, 1, 60), rng.normal(size=60)
    excess = np.array([np.sign(a - b)[clusters == c].sum() for c in range(9)])
    flips = np.array(np.meshgrid(*[[-1, 1]] * 9)).reshape(9, -1)
    sums = excess @ flips
    found = sig.cluster_sign_flip_test(a, b, clusters, n_resamples=20_000, random_state=0)
    assert found.p_value == pytest.approx(np.mean(np.abs(sums) >= abs(excess.sum())), abs=0.015)
    assert found.p_one_sided == pytest.approx(np.mean(sums >= excess.sum()), abs=0.015)
    assert (found.wins, found.losses) == (int((a > b).sum()), int((a < b).sum()))


def test_bootstrap_interval_agrees_with_scipy():
    rng = np.random.default_rng(5)
    difference = rng.exponential(size=150) - 0.9
    found = sig.paired_bootstrap(difference, np.zeros(150), n_resamples=9000, random_state=0)
    expected = stats.bootstrap(
        (difference,), np.mean, n_resamples=9000, method="percentile", random_state=np.random.default_rng(0)
    ).confidence_interval
    # Wider than the percentiles by the law of t, and shifted to the long tail.
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.03)
    # Clusters of equal rows are a bootstrap of their means.
    clusters = np.repeat(np.arange(30), 5)
    grouped = sig.paired_bootstrap(difference, np.zeros(150), groups=clusters, n_resamples=9000, random_state=0)
    means = difference.reshape(30, 5).mean(axis=1)
    expected = stats.bootstrap(
        (means,), np.mean, n_resamples=9000, method="percentile", random_state=np.random.default_rng(0)
    ).confidence_interval
    assert (grouped.low, grouped.high) == pytest.approx((expected.low, expected.high), abs=0.04)


def test_p_values_hold_their_level_under_the_null():
    rng = np.random.default_rng(8)
    a = rng.normal(size=(500, 60))
    for test in (sig.micro_sign_test, sig.paired_t_test):
        p = np.array([test(row, np.zeros(60)).p_value for row in a])
        assert np.mean(p < 0.05) < 0.085
    boot = [sig.paired_bootstrap(row, np.zeros(60), n_resamples=199, random_state=1).p_value for row in a[:200]]
    assert np.mean(np.array(boot) <= 0.05) < 0.11


@pytest.mark.parametrize("scale", [1e-3, 1.0, 40.0])
def test_float_weights_of_one_size_change_nothing(scale):
    rng = np.random.default_rng(9)
    a, b = rng.normal(size=50), rng.normal(size=50)
    plain, weighted = sig.paired_t_test(a, b), sig.paired_t_test(a, b, np.full(50, scale))
    assert (weighted.mean_difference, weighted.t, weighted.df, weighted.p_value) == pytest.approx(
        (plain.mean_difference, plain.t, plain.df, plain.p_value)
    )
    boot, again = (sig.paired_bootstrap(a, b, w, n_resamples=300, random_state=1) for w in (None, np.full(50, scale)))
    assert (again.low, again.high, again.p_value) == pytest.approx((boot.low, boot.high, boot.p_value))


def test_float_weights_keep_the_level():
    rng = np.random.default_rng(10)
    t, boot = [], []
    for seed in range(300):
        a, weight = rng.normal(size=80), rng.exponential(size=80)
        t.append(sig.paired_t_test(a, np.zeros(80), weight).p_value)
        boot.append(sig.paired_bootstrap(a, np.zeros(80), weight, n_resamples=199, random_state=seed).p_value)
    assert np.mean(np.array(t) < 0.05) < 0.09
    assert np.mean(np.array(boot) <= 0.05) < 0.1


def test_weight_zero_is_absent():
    a, b, weight = np.array([1.0, 3.0, 2.0]), np.array([0.5, 9.0, 2.5]), np.array([2, 0, 1])
    kept = weight > 0
    for counts in (weight, weight.astype(float)):
        assert sig.paired_t_test(a, b, counts) == sig.paired_t_test(a[kept], b[kept], counts[kept])
        whole = sig.paired_bootstrap(a, b, counts, n_resamples=50, random_state=0)
        assert whole == sig.paired_bootstrap(a[kept], b[kept], counts[kept], n_resamples=50, random_state=0)


def test_clusters_and_infinite_gains_of_weight_zero_are_absent():
    a, b, weight, clusters = [-np.inf, 0.2, 0.3, 0.9], [0.1, 0.5, 0.1, 0.4], [0, 1, 1, 2], [0, 1, 2, 2]
    assert sig.paired_t_test(a, b, weight) == sig.paired_t_test(a[1:], b[1:], weight[1:])
    a[0] = 0.0
    whole = sig.paired_bootstrap(a, b, weight, groups=clusters, random_state=0)
    assert whole == sig.paired_bootstrap(a[1:], b[1:], weight[1:], groups=clusters[1:], random_state=0)


@pytest.mark.parametrize("n", [5, 3000])
def test_huge_gains_are_tested_like_small_ones(n):
    a, b = np.random.default_rng(0).normal([[0.1], [0.0]], 1, (2, n))
    scale = 2.0**900
    for test in (sig.paired_t_test, lambda a, b: sig.paired_bootstrap(a, b, random_state=0)):
        small, large = test(a, b), test(a * scale, b * scale)
        assert large.p_value == small.p_value
        assert large.mean_difference == small.mean_difference * scale


def test_many_decisions_are_resampled_in_groups_without_loss_of_spread():
    rng = np.random.default_rng(12)
    difference = rng.standard_t(3, 6000) + 0.03
    boot = sig.paired_bootstrap(difference, np.zeros(6000), n_resamples=3000, random_state=0)
    spread = difference.std() / np.sqrt(6000)
    assert boot.mean_difference == pytest.approx(difference.mean())
    assert (boot.high - boot.low) / (2 * 1.96 * spread) == pytest.approx(1, abs=0.05)


def rows_bootstrap(difference, n_resamples, seed):
    """Return means of resampled decisions, each drawn by itself."""
    times = np.random.default_rng(seed).multinomial(
        len(difference), np.full(len(difference), 1 / len(difference)), n_resamples
    )
    return times @ difference / len(difference)


@pytest.mark.heavy
@pytest.mark.parametrize("outliers", [[-60.0], [60.0], [-40.0, 25.0], [-30.0] * 3])
@pytest.mark.parametrize("counted", [False, True])
def test_single_outliers_among_many_decisions_keep_their_weight(outliers, counted):
    # A log-loss of 60 nats on one of 5,000 decisions: a sample has it never, once, twice, and so its mean jumps.
    rng = np.random.default_rng(13)
    difference = np.concatenate([rng.normal(0.01, 0.05, 5000 - len(outliers)), outliers])
    weight = np.ones(5000, int)
    exact = rows_bootstrap(difference, 2000, 0)
    if counted:
        difference, weight = difference[1000:].copy(), np.concatenate([np.full(1000, 2), np.ones(3000, int)])
        exact = rows_bootstrap(np.repeat(difference, weight), 2000, 0)
    found = sig.paired_bootstrap(difference, np.zeros(len(difference)), weight, n_resamples=4000, random_state=1)
    low, high = np.quantile(exact, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-3)
    mean = found.mean_difference
    assert found.p_value == pytest.approx(np.mean(np.abs(exact - mean) >= abs(mean)), abs=0.04)


def test_weight_zero_is_absent_among_many_decisions():
    rng = np.random.default_rng(14)
    difference, weight = rng.normal(size=3000), np.tile([0, 1, 2], 1000)
    held = weight > 0
    found = [
        sig.paired_bootstrap(d, np.zeros(len(d)), w, n_resamples=200, random_state=0)
        for d, w in ((difference, weight), (difference[held], weight[held]))
    ]
    assert found[0] == found[1]


def test_holm():
    p = [0.001, 0.2, 0.013, 0.04]
    assert sig.holm(p) == pytest.approx([0.004, 0.2, 0.039, 0.08])


def test_bad_input():
    for call, words in (
        (lambda: sig.sign_test(-1, 2), "wins"),
        (lambda: sig.micro_sign_test([1.0], [1.0, 2.0]), "one gain per decision"),
        (lambda: sig.micro_sign_test([np.nan], [1.0]), "NaN"),
        (lambda: sig.micro_sign_test([1.0], [1.0], [0.5]), "needs counts"),
        (lambda: sig.cluster_sign_flip_test([1.0], [1.0], [0], [0.5]), "needs counts"),
        (lambda: sig.paired_bootstrap([np.inf], [1.0]), "finite"),
        (lambda: sig.paired_bootstrap([1.0], [1.0], groups=[1, 2]), "one name per row"),
        (lambda: sig.paired_bootstrap([1.0], [1.0], level=1.0), "level must be below 1"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            call()


@pytest.mark.parametrize("k", [*range(200), 1_000, 12_345])
def test_one_win_more_than_losses_is_no_evidence_and_no_more_than_1(k):
    assert sig.sign_test(k + 1, k).p_value <= 1.0
    assert sig.sign_test(k + 1, k).p_value == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("clusters", [None, [7], [7, 7, 7]])
def test_one_unit_is_refused(clusters):
    n = 1 if clusters is None else len(clusters)
    with pytest.raises(InvalidInputError, match="two units or more"):
        sig.paired_bootstrap([0.3] * n, [0.1] * n, groups=clusters)


def test_equal_differences_are_not_certainty():
    p = [sig.paired_bootstrap([0.3] * n, [0.1] * n, random_state=0).p_value for n in (2, 5, 9, 10)]
    assert p == pytest.approx([0.75**2, 0.75**5, 0.75**9, 0.75**10])
    assert sig.paired_bootstrap([0.1] * 5, [0.1] * 5).p_value == 1


#: Differences of mean 0.
DIFFERENCES = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "skewed": lambda rng, shape: rng.exponential(size=shape) - 1,
}


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("kind", DIFFERENCES)
@pytest.mark.parametrize("n", [5, 10, 20])
def test_few_units_keep_the_level(n, kind, clustered):
    rng = np.random.default_rng([n, clustered, *kind.encode()])
    clusters = np.repeat(np.arange(n), 3) if clustered else None
    p = []
    for row in DIFFERENCES[kind](rng, (300, n)):
        gains = row[clusters] + 0.2 * rng.normal(size=3 * n) if clustered else row
        p.append(sig.paired_bootstrap(gains, np.zeros(len(gains)), groups=clusters, n_resamples=199, random_state=rng))
    rejected = sum(one.p_value <= 0.05 for one in p)
    assert stats.binom.sf(rejected - 1, 300, 0.065) > 0.005
    assert all(one.low <= one.mean_difference <= one.high for one in p)


@pytest.mark.parametrize("clustered", [False, True])
def test_ten_units_or_fewer_are_never_significant(clustered):
    gains = np.repeat(np.linspace(1.0, 1.1, 12), 2)
    for n in range(2, 13):
        clusters = np.repeat(np.arange(n), 2) if clustered else None
        rows = gains[: 2 * n] if clustered else gains[: 2 * n : 2]
        p = sig.paired_bootstrap(rows, np.zeros(len(rows)), groups=clusters, random_state=0).p_value
        assert p == pytest.approx(max(0.75**n, p), rel=1e-12)
        assert (p > 0.05) == (n <= 10), n


def test_clusters_of_unequal_weight_count_as_fewer_units():
    """Sizes 10 and 1 in turn: 12 clusters are as good as (66)²/606 = 7.2 of one size."""
    sizes = np.tile([10, 1], 6)
    clusters = np.repeat(np.arange(12), sizes)
    gains = np.linspace(1.0, 1.1, 12)[clusters]
    found = sig.paired_bootstrap(gains, np.zeros(66), groups=clusters, random_state=0)
    assert found.p_value == pytest.approx(0.75 ** (66**2 / 606))
    once = sig.paired_bootstrap(np.linspace(1.0, 1.1, 12), np.zeros(12), random_state=0)
    assert once.p_value < 0.05 < found.p_value


@pytest.mark.parametrize("n", [5, 8, 10, 12])
def test_losses_decided_by_rare_pairs_keep_the_level(n):
    """Nearly all differences are small and of one sign: 17 % of samples of ten pairs were significant."""
    draw, rng = SKEWED["log-loss, too sure against too timid"], np.random.default_rng(n)
    p = [
        sig.paired_bootstrap(draw(rng, (n,)), np.zeros(n), n_resamples=199, random_state=rng).p_value
        for _ in range(400)
    ]
    assert stats.binom.sf(sum(one <= 0.05 for one in p) - 1, 400, 0.065) > 0.005


def test_skewness_against_the_mean_makes_a_difference_less_significant():
    rng = np.random.default_rng(8)
    tail = rng.exponential(size=20)
    centered = (tail - tail.mean()) / tail.std(ddof=1) * math.sqrt(20)
    right, left = (
        sig.paired_bootstrap(side * centered + 2.5, np.zeros(20), n_resamples=2999, random_state=0) for side in (1, -1)
    )
    student = 2 * stats.t.sf(2.5, 19)
    assert student - 1e-12 <= right.p_value < left.p_value
    assert left.low < right.low
    # By hand: T = √n (u + gu²/3 + g²u³/27 + g/(6n)).
    u, g = 2.5 / math.sqrt(20), -stats.skew(tail, bias=False)
    transformed = math.sqrt(20) * (u + g * u**2 / 3 + g**2 * u**3 / 27 + g / 120)
    assert left.p_value >= 2 * stats.t.sf(transformed, 19) - 1e-12


def test_a_p_value_and_its_interval_agree():
    rng = np.random.default_rng(21)
    for shift in np.linspace(0, 1.5, 40):
        found = sig.paired_bootstrap(rng.normal(shift, 1, 12), np.zeros(12), n_resamples=999, random_state=rng)
        if abs(found.p_value - 0.05) > 0.01:
            assert (found.low <= 0 <= found.high) == (found.p_value > 0.05)
