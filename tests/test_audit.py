"""Segments are found whatever the engine, differences are judged exactly, and chance raises no alarm."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import betaincinv
from scipy.stats import binom

from oddsmith.audit import audit
from oddsmith.errors import InvalidInputError


def rows_of(n=3000, seed=7):
    """Return rows with one group whose probabilities are too low."""
    rng = np.random.default_rng(seed)
    a, b = rng.choice(list("xyz"), n, p=[0.5, 0.3, 0.2]), rng.choice(list("uv"), n)
    p = rng.beta(0.6, 4, n)
    truth = np.where(a == "x", np.minimum(1, 1.3 * p), p)
    label = (rng.random(n) < truth).astype(int)
    return pd.DataFrame({"a": a, "b": b, "p": p, "label": label, "w": rng.lognormal(size=n)})


#: What mcgrad 0.1.5 gives for these rows: MulticalibrationError(rows, "label", "p", weight_column=…,
#: categorical_segment_columns=["a", "b"], max_depth=2, max_values_per_segment_feature=10, min_samples_per_segment=50,
#: precision_dtype="float64"): mce, mce_sigma, mce_pvalue, global_ecce, global_ecce_sigma.
MCGRAD = {
    None: (0.02419250013453206, 4.330174911705559, 5.959637990649025e-05, 0.010498954397065661, 1.879190190203706),
    "w": (0.027228303700732696, 3.0318750917624464, 0.009721579438590533, 0.021291143643793982, 2.37077156176344),
}


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_multicalibration_error_is_mcgrads(weight):
    found = audit(rows_of(), ["a", "b"], probability="p", weight=weight, resolution=None)
    ours = (
        found.multicalibration_error,
        found.multicalibration_sigma,
        found.multicalibration_p_value,
        found.overall.ecce,
        found.overall.ecce_sigma,
    )
    assert ours == pytest.approx(MCGRAD[weight], rel=1e-9)
    assert len(found.segments) == 3 + 2 + 6


def test_sums_do_not_depend_on_cells():
    exact, cells = (audit(rows_of(), ["a", "b"], probability="p", resolution=each) for each in (None, 0.25))
    by_name = {segment.name: segment for segment in cells.segments}
    for segment in exact.segments:
        other = by_name[segment.name]
        assert (other.observed, other.rows) == (segment.observed, segment.rows)
        assert other.expected == pytest.approx(segment.expected, rel=1e-12)
        assert other.p_value == pytest.approx(segment.p_value, rel=0.02)


@pytest.mark.parametrize(("n", "p"), [(50, 0.02), (200, 0.5), (1000, 0.001), (60, 0.9)])
def test_p_values_are_those_of_the_binomial_law(n, p):
    for positives in range(0, n + 1, max(1, n // 20)):
        label = (np.arange(n) < positives).astype(int)
        frame = pd.DataFrame({"g": "only", "probability": p, "label": label})
        (segment,) = audit(frame, "g").segments
        exact = min(1.0, 2 * min(binom.cdf(positives, n, p), binom.sf(positives - 1, n, p)))
        assert segment.p_value == pytest.approx(exact, rel=0.08, abs=1e-300)


def test_p_values_of_different_probabilities_are_those_of_their_sum():
    rng = np.random.default_rng(1)
    p = rng.beta(0.3, 6, 80)
    law = np.ones(1)
    for each in p:
        law = np.convolve(law, [1 - each, each])
    for positives in range(12):
        label = (np.arange(80) < positives).astype(int)
        frame = pd.DataFrame({"g": 1, "probability": p, "label": label})
        (segment,) = audit(frame, "g", resolution=None).segments
        exact = min(1.0, 2 * min(law[: positives + 1].sum(), law[positives:].sum()))
        assert segment.p_value == pytest.approx(exact, rel=0.05)


def test_the_offset_makes_observed_and_expected_equal():
    found = audit(rows_of(), "a", probability="p", resolution=None)
    frame = rows_of()
    for segment in found.segments:
        part = frame[frame.a == segment.where["a"]]
        odds = np.log(part.p / (1 - part.p)) + segment.offset
        moved = 1 / (1 + np.exp(-odds))
        assert moved.sum() == pytest.approx(segment.observed, rel=1e-9)
        before, after = (-np.where(part.label == 1, np.log(each), np.log1p(-each)).sum() for each in (part.p, moved))
        assert segment.gain == pytest.approx(before - after, rel=1e-6, abs=1e-9)


def test_missing_values_and_texts_that_look_like_them_are_different_segments():
    values = [None, "", "None", "NULL", "=", "missing", "nan"]
    frame = pd.DataFrame({"g": values * 60, "probability": 0.5, "label": [0, 1] * 210})
    found = audit(frame, "g")
    assert {segment.where["g"] for segment in found.segments} == set(values)
    assert all(segment.rows == 60 for segment in found.segments)


def test_numbers_are_cut_and_nan_is_missing():
    x = np.r_[np.full(100, np.nan), np.random.default_rng(0).lognormal(0, 3, 900)]
    frame = pd.DataFrame({"x": x, "probability": 0.5, "label": np.arange(1000) % 2})
    sizes = {segment.where["x"]: segment.rows for segment in audit(frame, "x", bins=3).segments}
    assert sizes.pop(None) == 100
    assert len(sizes) == 3
    assert all(abs(size - 300) <= 2 for size in sizes.values())


def test_few_distinct_numbers_are_values():
    frame = pd.DataFrame({"x": [1, 2, 3] * 60, "probability": 0.5, "label": [0, 1] * 90})
    assert {segment.where["x"] for segment in audit(frame, "x").segments} == {"1", "2", "3"}


def test_many_values_are_skipped_and_small_segments_counted():
    n = 1500
    label = np.arange(n) % 2
    frame = pd.DataFrame({"id": np.arange(n).astype(str), "g": ["a"] * (n - 3) + ["b"] * 3, "probability": 0.5})
    found = audit(frame.assign(label=label), ["id", "g"])
    assert found.skipped == {"id": "more than 1,000 values"}
    assert (len(found.segments), found.small) == (1, 1)
    with pytest.raises(InvalidInputError, match="some column must define segments; got id: more than 1,000 values"):
        audit(frame.assign(label=label), "id")


def test_certain_and_wrong_probabilities():
    frame = pd.DataFrame({"g": ["a"] * 60 + ["b"] * 60, "probability": [0.0] * 60 + [1.0] * 60, "label": [1, 0] * 60})
    for segment in audit(frame, "g").segments:
        assert segment.p_value == 0
        assert segment.gain == np.inf
        assert not np.isnan([segment.z, segment.offset, segment.ecce]).any()
    right = frame.assign(label=frame.probability.astype(int))
    assert all((one.p_value, one.gain, one.offset) == (1, 0, 0) for one in audit(right, "g").segments)


def test_one_class_alone():
    frame = pd.DataFrame({"g": ["a"] * 80, "probability": np.linspace(0.01, 0.2, 80), "label": 0})
    (segment,) = audit(frame, "g", resolution=None).segments
    assert segment.offset == -np.inf
    assert segment.gain == pytest.approx(-np.log1p(-frame.probability).sum(), rel=1e-9)


def test_chance_raises_no_alarm():
    """50 samples of 200 equal segments; benchmarks.audit has 3,000."""
    rng = np.random.default_rng(3)
    alarms = 0
    group = np.repeat(np.arange(200).astype(str), 60)
    for _ in range(50):
        p = rng.beta(0.5, 6, len(group))
        frame = pd.DataFrame({"g": group, "probability": p, "label": (rng.random(len(p)) < p).astype(int)})
        alarms += bool(audit(frame, "g").significant)
    assert alarms <= 7  # 5 % of 50 and three standard errors


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"by": []}, "by must name different columns"),
        ({}, {"by": ["a", "a"]}, "by must name different columns"),
        ({}, {"by": "nothing"}, "frame must have the columns that are named"),
        ({}, {"by": "a", "depth": 3}, "depth must be"),
        ({}, {"by": "a", "level": 1.0}, "level must be below 1"),
        ({}, {"by": "a", "min_rows": 0}, "min_rows must be"),
        ({"p": 2.0}, {"by": "a"}, "must have probabilities"),
        ({"p": np.nan}, {"by": "a"}, "all rows of the frame must be usable"),
    ],
)
def test_bad_input(change, options, message):
    frame = rows_of(200).assign(**change)
    by = options.pop("by")
    with pytest.raises(InvalidInputError, match=message):
        audit(frame, by, probability="p", **options)


def test_results_are_plain():
    found = audit(rows_of(), ["a", "b"], probability="p")
    content = found.to_dict()
    assert {"a": "x"} in [segment["where"] for segment in content["segments"]]
    assert "off in" in found.verdict
    assert len(repr(found)) < 100
    assert all(len(repr(segment)) < 150 for segment in itertools.islice(found.segments, 3))


@pytest.mark.parametrize(("n", "p", "positives"), [(200, 0.1, 9), (60, 0.5, 41), (1000, 0.003, 0), (50, 0.9, 50)])
def test_ratio_intervals_are_clopper_pearsons_where_probabilities_are_equal(n, p, positives):
    frame = pd.DataFrame({"g": "only", "probability": p, "label": (np.arange(n) < positives).astype(int)})
    (segment,) = audit(frame, "g").segments
    low = betaincinv(positives, n - positives + 1, 0.025) if positives else 0.0
    high = betaincinv(positives + 1, n - positives, 0.975) if positives < n else 1.0
    assert segment.ratio_low * p == pytest.approx(low, rel=0.01)
    assert segment.ratio_high * p == pytest.approx(high, rel=0.02)


@pytest.mark.parametrize("weight", [None, "w"])
def test_ratio_intervals_exclude_1_where_the_test_rejects(weight):
    """Limits of the share of positives, as if all probabilities were equal, used to include it."""
    rng = np.random.default_rng(8)
    n = 20_000
    p = rng.beta(0.15, 0.25, n)
    group = rng.integers(0, 150, n)
    odds = np.log(p / (1 - p)) + rng.normal(0, 0.5, 150)[group]
    label = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    frame = pd.DataFrame({"g": group.astype(str), "probability": p, "label": label, "w": rng.lognormal(0, 0.3, n)})
    segments = audit(frame, "g", weight=weight, min_rows=20).segments
    rejected = np.array([one.p_value <= 0.05 for one in segments])
    excluded = np.array([not one.ratio_low <= 1 <= one.ratio_high for one in segments])
    assert 30 < rejected.sum() < 140
    assert (rejected != excluded).mean() <= (0 if weight is None else 0.05)


def test_a_missing_value_and_the_text_missing_have_names_of_their_own():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    rows = {"probability": p, "label": (rng.random(200) < p).astype(int), "seg": [None, "missing"] * 100}
    found = audit(pd.DataFrame(rows), "seg")
    assert {segment.name for segment in found.segments} == {"seg missing", "seg 'missing'"}
    one = audit(pd.DataFrame(rows | {"seg": ["a"] * 197 + ["b"] * 3}), "seg")
    assert "in 1 segment (Holm" in one.verdict
    assert one.verdict.endswith(" 1 segment has fewer than 50 rows and is left out.")
