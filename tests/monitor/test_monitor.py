"""The monitor: what it counts, what it refuses, and what its state survives."""

import hashlib
import json
import subprocess
import sys
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import expit, logit, logsumexp

from oddsmith import CenteredIsotonicCalibrator, HistogramCalibrator, IsotonicCalibrator, PlattCalibrator, ScoreTable
from oddsmith.errors import InvalidInputError, StepMapWarning
from oddsmith.model import Model
from oddsmith.monitor import Monitor, recalibrate
from oddsmith.monitor.evidence import ALTERNATIVES, PRIOR, Evidence, MapError, log_average, start_prior


def rows(n, seed=0, offset=0.0, slope=1.0):
    rng = np.random.default_rng(seed)
    p = rng.beta(1.33, 1.75, n)
    return p, (rng.random(n) < expit(offset + slope * logit(p))).astype(int)


@pytest.fixture
def model():
    s = np.random.default_rng(5).normal(size=800)
    y = (np.random.default_rng(6).random(800) < expit(s)).astype(int)
    table = ScoreTable.from_arrays(s, y)
    return Model.from_fitted(PlattCalibrator().fit_table(table), table=table)


def scored(n, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    s = rng.normal(size=n)
    return s, (rng.random(n) < expit(s + offset)).astype(int)


def test_evidence_is_the_likelihood_ratio_of_the_mixture_row_by_row():
    """Sum over all times and lines, written out."""
    p, y = rows(60)
    z, evidence = logit(p), Evidence(0.3)
    starts = np.arange(0, 60, 10)
    for at in starts:
        evidence.add(ScoreTable.from_arrays(z[at : at + 10], y[at : at + 10]))

    def likelihood(log_odds):
        return np.where(y == 1, -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds))

    null, terms = likelihood(z), [np.log(start_prior(60))]
    for at in starts:
        prior = start_prior(at) - start_prior(at + 10) + (0.3 if at == 0 else 0)
        for (offset, slope), share in zip(ALTERNATIVES, PRIOR, strict=True):
            gain = likelihood(0.3 + offset + slope * (z - 0.3)) - null
            if share:
                terms.append(np.log(prior * share) + gain[at:].sum())
    assert evidence.log_evidence == pytest.approx(logsumexp(terms), abs=1e-9)


def test_the_prior_of_starts_sums_to_one():
    assert 0.3 + start_prior(0) == pytest.approx(1)
    assert start_prior(10**300) < 0.002
    assert PRIOR.sum() == pytest.approx(1)


@pytest.mark.parametrize("n", [10, 1_000, 100_000])
def test_the_average_over_errors_of_the_map_is_the_integral(n):
    p, y = rows(n, offset=0.1)
    table = ScoreTable.from_arrays(np.round(logit(p), 2), y)
    fitted = logit(rows(500, 1)[0])
    error = MapError.of(fitted, np.ones(500), 0.2)
    evidence = Evidence(0.2, error)
    evidence.add(table)

    def gains(errors):
        lines = np.array([0.0, 1.0]) + errors @ error.root.T
        moved = 0.2 + lines[:, :1] + lines[:, 1:] * (table.scores - 0.2)
        loss = np.logaddexp(0, moved) - np.logaddexp(0, table.scores)
        return (moved - table.scores) @ table.pos - loss @ table.total - (errors**2).sum(axis=1) / 2

    best = optimize.minimize(lambda one: -gains(one[None])[0], np.zeros(2), method="Nelder-Mead").x
    reach = min(4.0, 200 / np.sqrt(n))
    axes = [np.linspace(max(b - reach, -4), min(b + reach, 4), 201) for b in best]
    values = gains(np.array(list(product(*axes)))).reshape(201, 201)
    area = integrate.trapezoid(integrate.trapezoid(np.exp(values - values.max()), x=axes[1]), x=axes[0])
    expected = values.max() + np.log(area / (2 * np.pi))
    assert log_average(evidence.surface) == pytest.approx(expected, abs=5e-4)


def test_a_table_and_its_rows_in_any_order_are_the_same():
    p, y = np.round(rows(500)[0], 2), rows(500)[1]
    turned = np.random.default_rng(1).permutation(500)
    one, other, counted = Monitor(), Monitor(), Monitor()
    one.update(p, y, batch="a")
    other.update(p[turned], y[turned], batch="a")
    scores, labels, weight = ScoreTable.from_arrays(p, y).to_arrays()
    counted.update(scores, labels, weight, batch="a")
    values = [each.result().findings[0].evidence for each in (one, other, counted)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    assert values[0] == pytest.approx(values[2], rel=1e-12)


@pytest.mark.parametrize(
    ("offset", "slope", "direction", "base_rate"),
    [
        (0.6, 1, "too low", True),
        (-0.6, 1, "too high", True),
        (0, 0.6, "too extreme", False),
        (0, 1.6, "too timid", False),
    ],
)
def test_a_loss_is_found_dated_and_named(offset, slope, direction, base_rate):
    monitor = Monitor()
    for seed in range(20):
        assert not monitor.update(*rows(200, seed)).alarm
    for seed in range(20, 32):
        found = monitor.update(*rows(200, seed, offset, slope), batch=f"day {seed}")
    (finding,) = found.findings
    assert found.alarm
    assert finding.direction == direction
    assert finding.base_rate == base_rate
    assert abs(finding.since_row - 4001) <= 400
    assert str(found).startswith(f"ALARM: probabilities are {direction} since row")
    assert finding.p_value <= 0.05


def test_lines_turn_where_the_first_batch_is_expected():
    """Of rare positives a slope would else look like an offset."""
    rng = np.random.default_rng(4)
    z = rng.normal(-4, 1.3, 40_000)
    truth = -3.3 + 0.6 * (z + 3.3)
    monitor = Monitor()
    for at in range(0, 40_000, 2000):
        part = slice(at, at + 2000)
        found = monitor.update(expit(z[part]), (rng.random(2000) < expit(truth[part])).astype(int))
    assert found.findings[0].direction == "too extreme"


def test_an_alarm_stays():
    monitor = Monitor()
    monitor.update(*rows(2000, 1, offset=1.0))
    for seed in range(2, 40):
        found = monitor.update(*rows(2000, seed))
    assert found.alarm
    assert found.findings[0].alarm_row == 2000


def test_a_batch_counts_once_and_cannot_change():
    monitor = Monitor()
    p, y = rows(100)
    first = monitor.update(p, y, batch="monday", positions={"topic:0": 100})
    assert monitor.update(p, y, batch="monday").to_dict() == first.to_dict()
    assert monitor.update(p, y).findings[0].rows == 200
    with pytest.raises(InvalidInputError, match="a batch that was counted cannot change"):
        monitor.update(p, 1 - y, batch="monday")
    assert monitor.positions == {"topic:0": 100}


def test_equal_rows_without_a_name_count_each_time():
    """A stream of single rows has many that are equal."""
    monitor = Monitor()
    for _ in range(30):
        found = monitor.update([0.1], [1])
    assert found.findings[0].rows == found.batches == 30
    assert found.alarm


def test_all_batches_are_counted_where_old_names_are_forgotten(tmp_path):
    monitor = Monitor()
    for number in range(2005):
        found = monitor.update([0.1, 0.5], [0, 1], batch=f"hour {number}")
    assert found.batches == 2005
    monitor.save(tmp_path / "watch.json")
    assert Monitor.load(tmp_path / "watch.json").result().batches == 2005


def test_segments_of_a_batch_may_come_in_any_order():
    tables = {name: ScoreTable.from_arrays(*rows(80, seed)) for seed, name in enumerate("abc")}
    turned = dict(reversed(tables.items()))
    one, other = Monitor(by_segment=True), Monitor(by_segment=True)
    first = one.update_table(tables, batch="monday")
    assert other.update_table(turned, batch="monday").to_dict() == first.to_dict()
    assert one.update_table(turned, batch="monday").to_dict() == first.to_dict()


def test_float_weights_and_rows_of_the_fit_are_refused(model):
    p, y = rows(100)
    with pytest.raises(InvalidInputError, match="labels must be counted"):
        Monitor().update(p, y, np.full(100, 0.5))
    s, labels = scored(800, 5)
    s = np.random.default_rng(5).normal(size=800)
    labels = (np.random.default_rng(6).random(800) < expit(s)).astype(int)
    with pytest.raises(InvalidInputError, match="rows that the fit did not see"):
        Monitor(model).update(s, labels)


def test_bad_input_is_refused_and_changes_nothing(model):
    monitor = Monitor(model)
    monitor.update(*scored(50))
    before = monitor.result().to_dict()
    for scores, labels, words in (
        ([0.1, np.nan], [0, 1], "NaN"),
        ([0.1, 0.2], [0, 2], "labels must be those of the model; got 2"),
        ([0.1, 0.2], [None, 1], "labels must be those of the model; got None"),
        ([0.1], [0, 1], "as long as"),
        ([], [], "at least one value"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            monitor.update(scores, labels)
    with pytest.raises(InvalidInputError, match=r"probabilities in \[0, 1\]"):
        Monitor().update([2.0], [1])
    with pytest.raises(InvalidInputError, match="every row must have a segment; got 1 of 2"):
        Monitor(by_segment=True).update([0.1, 0.2], [0, 1], segments=["a", None])
    with pytest.raises(InvalidInputError, match="name must have 100 characters at most"):
        monitor.update(*scored(5), batch="x" * 101)
    with pytest.raises(InvalidInputError, match="states do not merge"):
        monitor.merge(Monitor(model))
    with pytest.raises(InvalidInputError, match="error of the map needs 20 rows"):
        Monitor(model).update(*scored(5))
    assert monitor.result().to_dict() == before


def test_certain_probabilities_that_fail_are_an_alarm_and_no_warning():
    monitor = Monitor()
    assert not monitor.update([0.0, 1.0] * 20, [0, 1] * 20).alarm
    assert monitor.update([0.0, 1.0], [1, 0]).alarm


def test_labels_may_be_text():
    s, y = scored(400)
    words = np.where(y == 1, "yes", "no")
    table = ScoreTable.from_arrays(s, words, pos_label="yes")
    model = Model.from_fitted(PlattCalibrator().fit_table(table), table=table, labels=("no", "yes"))
    monitor = Monitor(model)
    s, y = scored(300, 9)
    monitor.update(s, np.where(y == 1, "yes", "no"))
    monitor.update(s[:30], ["no"] * 30)
    assert monitor.result().findings[0].positives == y.sum()
    with pytest.raises(InvalidInputError, match=r"label"):
        monitor.update(s, np.where(y == 1, "yes", "perhaps"))


@pytest.mark.parametrize("labels", [(1, 2), (0, 1), (-1, 1), ("no", "yes"), ("0", "1"), (10, 20), (False, True)])
def test_a_batch_of_one_class_counts_by_the_labels_of_the_model(labels):
    """A batch of ones is negative where the model's labels are 1 and 2."""
    s, y = scored(400)
    table = ScoreTable.from_arrays(s, np.array(labels)[y], pos_label=labels[1])
    model = Model.from_fitted(PlattCalibrator().fit_table(table), table=table)
    assert model.labels == labels
    s, y = scored(300, 9)
    for chosen in (y >= 0, y == 0, y == 1):
        seen = Monitor(model, calibration=table).update(s[chosen], np.array(labels)[y[chosen]])
        assert seen.findings[0].positives == y[chosen].sum()
    turned = ScoreTable.from_arrays(s, np.array(labels)[y], pos_label=labels[0])
    for refusing in (Monitor(model).update_table, lambda rows: recalibrate(model, rows)):
        with pytest.raises(InvalidInputError, match="labels must be those of the model"):
            refusing(turned)


def test_rows_of_the_fit_count_for_a_map_that_does_not_know_them(model):
    """A map alone is taken as exact only where no rows of its fit are passed."""
    s = np.random.default_rng(5).normal(size=800)
    table = ScoreTable.from_arrays(s, (np.random.default_rng(6).random(800) < expit(s)).astype(int))
    found = [
        Monitor(*each, calibration=table).update(*scored(400, 1, offset=0.5)).findings[0].evidence
        for each in ((model,), (model.map,))
    ]
    assert found[1] == pytest.approx(found[0], rel=1e-12)
    assert Monitor(model.map).update(*scored(400, 1, offset=0.5)).findings[0].evidence > 1.3 * found[0]


def test_a_constant_map_is_watched():
    """One bin: only its level has an error."""
    table = ScoreTable.from_arrays(*scored(500, 77))
    model = Model.from_fitted(HistogramCalibrator(1).fit_table(table), table=table)
    monitor = Monitor(model, calibration=table)
    for seed in range(5):
        assert not monitor.update(*scored(500, seed)).alarm
    for seed in range(5):
        found = monitor.update(*scored(500, seed, offset=1.0))
    assert found.findings[0].direction == "too low"


def test_several_streams_are_counted_as_one():
    """With a leading axis, the evidence of each stream is that of its own."""
    error = MapError.of(logit(rows(300)[0]), np.ones(300), 0.0)
    alone = [Evidence(0.2, error), Evidence(0.2, error)]
    both = Evidence(0.2, error)
    p = np.arange(1, 20) / 20
    for seed in range(4):
        rng = np.random.default_rng(seed)
        pos = rng.binomial(20, p, (2, 19))
        both.count(both.ratios(logit(p), pos, np.full((2, 19), 20)), 380)
        for one, own in zip(alone, pos, strict=True):
            one.count(one.ratios(logit(p), own, np.full(19, 20)), 380)
    assert both.log_evidence == pytest.approx([one.log_evidence for one in alone], abs=1e-9)


def test_the_state_is_one_file_that_goes_on(tmp_path, model):
    path = tmp_path / "watch.json"
    one, other = Monitor(model), Monitor(model)
    for seed in range(6):
        one.update(*scored(100, seed), positions={"p": seed})
        other.update(*scored(100, seed), positions={"p": seed})
        other.save(path)
        other = Monitor.load(path, model)
    assert other.result().to_dict() == one.result().to_dict()
    assert other.positions == {"p": 5}
    assert json.loads(path.read_text())["format"] == "oddsmith monitor"


def test_states_of_others_are_refused(tmp_path, model):
    path = tmp_path / "watch.json"
    monitor = Monitor(model)
    monitor.update(*scored(100))
    monitor.save(path)
    with pytest.raises(InvalidInputError, match="the state must be of the same model"):
        Monitor.load(path)
    second = Monitor.load(path, model)
    second.update(*scored(100, 1))
    second.save(path)
    monitor.update(*scored(100, 2))
    with pytest.raises(InvalidInputError, match="the one that this monitor read or wrote last"):
        monitor.save(path)
    text = path.read_text()
    for damaged in (text[:-40], text.replace('"rows": 200', '"rows": 201'), "[]", "{}", "null"):
        path.write_text(damaged)
        with pytest.raises(InvalidInputError, match="whole file that a monitor wrote"):
            Monitor.load(path, model)
    with pytest.raises(InvalidInputError, match="readable file"):
        Monitor.load(tmp_path / "none.json", model)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state["tracks"][0]["grown"].pop(),
        lambda state: state["tracks"][0].update(null=float("nan")),
        lambda state: state["tracks"][0].pop("surface"),
        lambda state: state.update(tracks="x"),
        lambda state: state.update(batches=[1]),
    ],
)
def test_forged_states_are_refused(change, tmp_path):
    """Also where the checksum is that of the content."""
    path, monitor = tmp_path / "watch.json", Monitor()
    monitor.update(*rows(50))
    monitor.save(path)
    state = json.loads(path.read_text())["state"]
    change(state)
    text = json.dumps(state)
    digest = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(f'{{"format": "oddsmith monitor", "checksum": "{digest}", "state": {text}}}')
    with pytest.raises(InvalidInputError, match="whole file that a monitor wrote"):
        Monitor.load(path)


def test_a_kill_leaves_a_whole_state(tmp_path):
    """Killed while it saves again and again, a monitor goes on from its last whole state."""
    path = tmp_path / "watch.json"
    code = f"""
import itertools, numpy as np
from oddsmith.monitor import Monitor, recalibrate
monitor = Monitor()
for i in itertools.count():
    rng = np.random.default_rng(i)
    p = rng.random(50)
    monitor.update(p, (rng.random(50) < p).astype(int), positions={{"p": i}})
    monitor.save({str(path)!r})
    print(i, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        for _ in range(10):
            process.stdout.readline()
        process.kill()
    monitor = Monitor.load(path)
    assert monitor.result().findings[0].rows == 50 * (monitor.positions["p"] + 1) >= 500


def test_the_state_stays_small(tmp_path):
    monitor = Monitor()
    for seed in range(4500):
        rng = np.random.default_rng(seed)
        p = rng.random(2)
        monitor.update(p, (rng.random(2) < p).astype(int), batch=f"a name of usual length {seed}")
    monitor.save(tmp_path / "watch.json")
    assert (tmp_path / "watch.json").stat().st_size <= 10**6
    log = monitor.log()
    assert (log[0].first, log[-1].last) == (1, 9000)
    assert all(a.last + 1 == b.first for a, b in pairwise(log))


def test_segments_share_the_error_probability():
    monitor = Monitor(by_segment=True)
    for seed in range(12):
        p, y = rows(900, seed)
        lost = rows(300, 100 + seed, offset=1.0 if seed > 5 else 0.0)
        segments = np.repeat(["a", "b", "c"], 300)
        found = monitor.update(np.r_[p[:600], lost[0]], np.r_[y[:600], lost[1]], segments=segments)
    by = {each.segment: each for each in found.findings}
    assert [each.segment for each in found.findings] == [None, "a", "b", "c"]
    assert sum(1 / each.threshold for each in found.findings) < 0.05
    assert by["c"].alarm
    assert not by["a"].alarm
    assert not by["b"].alarm
    assert "segment c: ALARM" in str(found)
    with pytest.raises(InvalidInputError, match="if and only if the monitor is by segment"):
        monitor.update(p, y)


@pytest.mark.parametrize("fitted", [None, 500])
def test_false_alarms_are_rare(fitted):
    """A few of the runs of ``python -m benchmarks.monitor``: 5 % of 40 runs is 2."""
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng([7, seed])
        z = logit(rng.beta(1.33, 1.75, 10_000))
        root = np.zeros((2, 2)) if fitted is None else MapError.of(z, np.ones(len(z)), 0.0, fitted).root
        offset, slope = np.array([0.0, 1.0]) + root @ rng.normal(size=2)
        y = (rng.random(len(z)) < expit(offset + slope * z)).astype(int)
        evidence = Evidence(0.0, None if fitted is None else MapError(root))
        for at in range(0, len(z), 500):
            evidence.add(ScoreTable.from_arrays(z[at : at + 500], y[at : at + 500]))
            if evidence.log_evidence >= np.log(20):
                alarms += 1
                break
    assert alarms <= 5


def test_a_map_of_few_rows_cannot_be_certain():
    """Steps of 0 and 1 from 100 rows are no claim of 37 log-odds."""
    s, y = scored(100, 11)
    table = ScoreTable.from_arrays(s, y)
    monitor = Monitor(IsotonicCalibrator().fit_table(table), calibration=table)
    assert np.isinf(IsotonicCalibrator().fit_table(table).log_odds([-9.0]))[0]
    assert not monitor.update([-9.0, 9.0], [1, 0]).alarm


def test_steps_have_errors_of_their_own():
    """The null is half the average over beta-distributed steps, half that over lines, written out."""
    table = ScoreTable.from_arrays(*scored(300, 3))
    fitted = HistogramCalibrator(5).fit_table(table)
    monitor = Monitor(fitted, calibration=table)
    s, y = scored(400, 4)
    monitor.update(s, y)
    z, evidence = fitted.log_odds(s), monitor._tracks[None, ""].evidence
    terms = []
    for step in np.unique(z):
        on, of_fit = z == step, fitted.log_odds(table.scores) == step
        pos, neg = expit(step) * table.total[of_fit].sum() + 0.5, expit(-step) * table.total[of_fit].sum() + 0.5
        prior, after = stats.beta(pos, neg), (y[on].sum(), (1 - y[on]).sum())
        grid = np.linspace(*prior.ppf([1e-12, 1 - 1e-12]), 4001)
        log_likelihood = after[0] * np.log(grid) + after[1] * np.log1p(-grid)
        peak = log_likelihood.max()
        averaged = peak + np.log(integrate.trapezoid(prior.pdf(grid) * np.exp(log_likelihood - peak), grid))
        terms.append(averaged - after[0] * np.log(expit(step)) - after[1] * np.log(expit(-step)))
    expected = np.logaddexp(log_average(evidence.surface), sum(terms)) - np.log(2)
    assert evidence.null == pytest.approx(expected, abs=1e-3)


def test_steps_are_counted_alike_in_batches_and_after_a_state(tmp_path):
    table = ScoreTable.from_arrays(*scored(300, 3))
    fitted = IsotonicCalibrator().fit_table(table)
    one, other = (Monitor(fitted, calibration=table) for _ in range(2))
    for seed in range(3):
        one.update(*scored(100, seed))
        other.update(*scored(100, seed))
        other.save(tmp_path / "watch.json")
        other = Monitor.load(tmp_path / "watch.json", fitted, calibration=table)
    assert other.result().to_dict() == one.result().to_dict()
    evidence = one._tracks[None, ""].evidence
    assert 200 < evidence.steps.seen.sum() <= 300


def test_steps_that_cannot_be_told_apart_are_warned_of():
    table = ScoreTable.from_arrays(*scored(300, 3))
    with pytest.warns(StepMapWarning, match="false alarms exceed alpha"):
        Monitor(CenteredIsotonicCalibrator().fit_table(table), calibration=table)
