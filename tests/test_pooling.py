"""Pooled maps: standard deviations and modes, unseen values, files, engines and SQL."""

import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

import oddsmith
from oddsmith import ScoreTable
from oddsmith.errors import InvalidInputError, ModelFileError
from oddsmith.export import export
from oddsmith.fitting import LabeledOdds, fit_groups
from oddsmith.fitting.random_effects import _modes
from oddsmith.maps import Effects, Term, line_map
from oddsmith.model import Model
from oddsmith.pooling import PooledCalibrator
from samples import ours_allowed


def shops(n=4000, sd=1.0, slope_sd=0.0, seed=0, values=(12, 6)):
    rng = np.random.default_rng(seed)
    shop, day = (rng.integers(0, k, n) for k in values)
    of_shop, of_day, sloped = (np.random.default_rng(99).normal(size=(3, k)) for k in (values[0], values[1], values[0]))
    shift = of_shop[0][shop] * sd + of_day[1][day] * sd / 2
    slope = 1 + slope_sd * sloped[2][shop]
    score = rng.normal(-1, 2, n)
    label = (rng.random(n) < expit(slope * score + shift)).astype(int)
    return pd.DataFrame({"shop": shop, "day": "day " + pd.Series(day).astype(str), "score": score, "label": label})


def log_loss(log_odds, label):
    return np.logaddexp(0, np.where(label == 1, -log_odds, log_odds)).mean()


@pytest.fixture(scope="module")
def rows():
    return shops()


@pytest.fixture(scope="module")
def pooled(rows):
    return PooledCalibrator(["shop", "day"], "platt").fit(rows)


def test_modes_and_evidence_of_one_group():
    rng = np.random.default_rng(1)
    odds = rng.normal(-1, 2, 300)
    pos = (rng.random(300) < expit(odds + 0.7)).astype(float)
    cells = LabeledOdds(odds, odds - odds.mean(), pos, 1 - pos)
    group = np.zeros(300, dtype=np.intp)

    def joint(u, v, tau, omega):
        eta = odds + u + v * cells.x
        likelihood = (pos * eta - np.logaddexp(0, eta)).sum()
        return likelihood + norm.logpdf(u, 0, tau) + (norm.logpdf(v, 0, omega) if omega else 0.0)

    modes, evidence = _modes(cells, group, np.array([0.5, 0.0]), np.zeros((2, 1)))
    best = joint(modes[0, 0], 0, 0.5, 0)
    exact = best + np.log(quad(lambda u: np.exp(joint(u, 0, 0.5, 0) - best), -3, 3)[0])
    assert evidence == pytest.approx(exact, abs=0.005)
    modes, _ = _modes(cells, group, np.array([0.5, 0.2]), np.zeros((2, 1)))
    found = minimize(lambda b: -joint(*b, 0.5, 0.2), np.zeros(2), tol=1e-10)
    np.testing.assert_allclose(modes[:, 0], found.x, atol=1e-3)
    modes, evidence = _modes(cells, group, np.zeros(2), np.ones((2, 1)))
    assert not modes.any()
    assert evidence == pytest.approx(cells.log_likelihood().sum())


@pytest.mark.parametrize("sd", [0.0, 0.8])
def test_standard_deviations_are_found(sd):
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(60), 200)
    odds = rng.normal(-1, 1.5, len(group))
    pos = (rng.random(len(group)) < expit(odds + sd * rng.normal(size=60)[group])).astype(float)
    fit = fit_groups(LabeledOdds(odds, odds + 1, pos, 1 - pos), group, 60, slopes=False)
    assert fit.offset_sd == pytest.approx(sd, abs=0.2 if sd else 0.08)


def test_equal_segments_mostly_keep_the_map_of_all_rows():
    none = 0
    for seed in range(3, 9):
        frame = shops(sd=0.0, seed=seed)
        model = PooledCalibrator(["shop", "day"], "platt").fit(frame).model_
        moved = model.log_odds(frame["score"], frame[["shop", "day"]].to_numpy(dtype=object))
        moved -= model.map.log_odds(frame["score"])
        none += not model.effects.terms
        assert np.abs(moved).mean() < 0.15
    assert none >= 3


def test_pooling_beats_one_map_and_separate_maps(rows):
    new = shops(20_000, seed=1)
    few = rows[:700]
    found = PooledCalibrator(["shop", "day"], "platt").fit(few)
    keys, score, label = new[["shop", "day"]].to_numpy(dtype=object), new["score"].to_numpy(), new["label"].to_numpy()
    tables = ScoreTable.from_frame(few, "score", "label", by=["shop", "day"])
    with ours_allowed():
        parts = {
            tuple(map(str, key)): Model.from_fitted(oddsmith.PlattCalibrator().fit_table(table), table=table)
            for key, table in tables.items()
        }
    separate = found.model_.of_segment(None)
    separate = Model("x", {}, separate.map, separate.labels, None).with_segments(("shop", "day"), parts)
    ours = log_loss(found.model_.log_odds(score, keys), label)
    assert ours < log_loss(found.model_.map.log_odds(score), label) - 0.01
    assert ours < log_loss(separate.log_odds(score, keys), label) - 0.01


def test_slopes_are_found_where_there_are_some():
    found = PooledCalibrator("shop", "platt").fit(shops(12_000, sd=0.3, slope_sd=0.5, seed=5))
    assert found.terms_[0].slope_sd > 0.15
    assert found.terms_[0].slope_gain > found.terms_[0].slope_error
    found = PooledCalibrator("shop", "platt").fit(shops(6000, sd=0.3, seed=5))
    assert found.terms_[0].slope_sd < 0.08


def test_unseen_values_get_the_effects_of_their_parents(pooled):
    model, score = pooled.model_, [0.3]
    effects = model.effects

    def odds(*keys):
        return model.log_odds(score, np.array([keys], dtype=object))[0]

    assert {term.columns for term in effects.terms} >= {(0,), (1,)}
    base = model.map.log_odds(score)[0]

    def expected(*keys):
        found = [
            (term.slopes[term.keys.index(key)], term.shifts[term.keys.index(key)])
            for term in effects.terms
            if (key := tuple(keys[column] for column in term.columns)) in term.keys
        ]
        return base + sum(slope * base + shift for slope, shift in found)

    assert odds("unseen", "unseen") == odds(None, None) == pytest.approx(base)
    assert odds("3", "unseen") == odds("3", None) == odds(3, None) == pytest.approx(expected("3", None))
    assert odds(None, "day 1") == pytest.approx(expected(None, "day 1"))
    assert odds(3, "day 1") == pytest.approx(expected("3", "day 1"))


def test_a_file_keeps_the_model(pooled, tmp_path):
    pooled.save(tmp_path / "model.json")
    model = oddsmith.load(tmp_path / "model.json")
    assert model == pooled.model_
    assert model.schema == 6
    assert model.shifted(0.4).log_odds([1.0], [["1", "day 2"]]) == pytest.approx(
        model.log_odds([1.0], [["1", "day 2"]]) + 0.4
    )
    assert model.shifted(0.4).shifted(-0.4) == model
    assert Model.from_json(model.shifted(0.4).to_json()) == model.shifted(0.4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e.update(terms=3), "must be a list"),
        (lambda e: e["terms"].append(e["terms"][0]), "different columns"),
        (lambda e: e["terms"][0].update(columns=[2]), "ascending numbers"),
        (lambda e: e["terms"][0].update(columns=[True]), "whole numbers"),
        (lambda e: e["terms"][0]["keys"].append(["x"]), "numbers"),
        (lambda e: e["terms"][0]["keys"].__setitem__(1, e["terms"][0]["keys"][0]), "differ"),
        (lambda e: e["terms"][0]["shifts"].__setitem__(0, 1e9), "in \\[-600"),
        (lambda e: e["terms"][0]["slopes"].__setitem__(0, "x"), "list of numbers"),
        (lambda e: e["terms"][0]["keys"].__setitem__(0, ["a", "b"]), "one key per column"),
    ],
)
def test_hostile_files(pooled, change, message):
    from oddsmith.model.strict_json import render

    content = json.loads(pooled.model_.to_json())
    change(content["effects"])
    content.pop("checksum")
    with pytest.raises(ModelFileError, match=message):
        Model.from_json(render(content))


@pytest.mark.parametrize("method", ["platt", "isotonic", "auto"])
def test_engines_and_sql_compute_the_same(rows, method):
    found = PooledCalibrator(["shop", "day"], method).fit(rows[:1500])
    model = found.model_
    frame = pd.DataFrame(
        {
            "score": np.linspace(-6, 5, 60),
            "shop": pd.array([0, 1, 2, 77, None, 3] * 10, dtype="Int64"),
            "day": ["day 1", "day 2", "never", None, "it's"] * 12,
        }
    )
    keys = [[None if one is pd.NA else one for one in row] for row in frame[["shop", "day"]].to_numpy(dtype=object)]
    expected = model.probability(frame["score"], np.array(keys, dtype=object))
    asked = {
        "pandas": model.apply(frame)["probability"],
        "polars": model.apply(pl.from_pandas(frame).lazy()).collect()["probability"],
        "duckdb": model.apply(duckdb.from_df(frame)).df()["probability"],
    }
    for name, prob in asked.items():
        np.testing.assert_allclose(np.asarray(prob, dtype=float), expected, rtol=0, atol=1e-12, err_msg=name)
    for dialect in ("duckdb", "sqlite"):
        done = export(model, "sql", dialect=dialect)
        assert done.parity.largest < 1e-12
        assert done.content.count("LEFT JOIN") == 1
    seed = export(model, "dbt").content["seeds/calibration_parameters.csv"]
    assert len(seed.splitlines()) <= 1 + model.effects.n_crossings


def test_one_column(rows):
    model = PooledCalibrator("shop", "platt").fit(rows).model_
    assert Model.from_json(model.to_json()) == model
    frame = rows[["score", "shop"]].head(50)
    np.testing.assert_allclose(
        model.apply(frame)["probability"], model.probability(frame["score"], frame["shop"]), rtol=0, atol=1e-14
    )
    assert export(model, "sql").parity.largest < 1e-12


def test_counts_are_rows_repeated(rows):
    few = rows[:1500]
    often = few.loc[few.index.repeat(3)]
    once = PooledCalibrator("shop", "platt").fit(few.assign(times=3), weight="times")
    np.testing.assert_allclose(
        once.model_.effects.terms[0].shifts,
        PooledCalibrator("shop", "platt").fit(often).model_.effects.terms[0].shifts,
        atol=1e-9,
    )
    # Importance weights have no scale.
    light, heavy = (PooledCalibrator("shop", "logistic").fit(few.assign(w=w), weight="w") for w in (0.5, 40.0))
    np.testing.assert_allclose(light.model_.effects.terms[0].shifts, heavy.model_.effects.terms[0].shifts, atol=1e-6)


def test_small_certain_and_many_segments():
    frame = shops(1500, seed=8)
    frame.loc[:2, "shop"] = 99  # three rows
    frame.loc[frame["shop"] == 4, "label"] = 1
    frame["id"] = np.arange(len(frame)) // 2
    model = PooledCalibrator(["shop", "id"], "platt").fit(frame).model_
    odds = model.log_odds(np.zeros(2), np.array([["99", "1"], ["4", "3"]], dtype=object))
    assert np.all(np.isfinite(odds))
    assert np.all(np.abs(odds) < 8)


def test_too_many_crossings_for_an_engine():
    keys = tuple((str(i),) for i in range(400))
    terms = tuple(Term((place,), keys, np.zeros(400), np.zeros(400)) for place in range(2))
    model = Model("x", {}, line_map(1.0), (0, 1), None).with_effects(("a", "b"), Effects(2, terms))
    assert model.probability([0.0], [["1", "2"]])[0] == 0.5
    with pytest.raises(InvalidInputError, match="at most 50,000 crossings"):
        export(model, "sql")


def test_bad_input(rows):
    with pytest.raises(InvalidInputError, match="different columns"):
        PooledCalibrator(["shop", "shop"]).fit(rows)
    with pytest.raises(InvalidInputError, match="calibrator of two classes"):
        PooledCalibrator("shop", "vector").fit(rows)
    table = ScoreTable.from_arrays([0.0, 1.0], [0, 1])
    with pytest.raises(InvalidInputError, match="written as text"):
        PooledCalibrator("shop", "platt").fit_tables({1: table, "1": table})
    with pytest.raises(InvalidInputError, match="a table for each segment"):
        PooledCalibrator("shop").fit_tables({})


def test_segments_whose_scores_are_reversed_get_a_small_slope_about_their_own_scores():
    """A slope that was cut at the file's bound, about 0, used to be worse than no segments at all."""
    rng = np.random.default_rng(4)
    shop = rng.integers(0, 10, 8000)
    score = rng.normal(-3 + 0.5 * shop, 1.0)
    slope = np.where(shop % 3 == 0, -1.5, 1.2)
    label = (rng.random(8000) < expit(slope * (score + 3 - 0.5 * shop) - 1)).astype(int)
    frame = pd.DataFrame({"shop": shop, "day": rng.integers(0, 3, 8000), "score": score, "label": label})
    fit, new = frame[:4000], frame[4000:]
    found = PooledCalibrator(["shop", "day"], "platt").fit(fit)
    keys = new[["shop", "day"]].to_numpy(dtype=object)
    pooled, whole = found.model_.log_odds(new["score"], keys), found.model_.map.log_odds(new["score"])
    assert log_loss(pooled, new["label"]) < log_loss(whole, new["label"]) - 0.02
    slopes = [found.model_.effects.of((str(a), str(b)))[0] for a in range(10) for b in range(3)]
    assert min(slopes) >= 0.0099


def test_effects_of_crossings_are_found_where_most_values_have_one():
    """A value with one crossing explains it; only values with several show how much crossings differ."""
    rng = np.random.default_rng(5)
    area = rng.integers(0, 40, 30_000)
    kind = np.where(area < 8, rng.integers(0, 2, 30_000), area)  # most areas have a kind of their own
    effect = np.random.default_rng(6).normal(0, 1, (40, 2))
    shift = np.where(area < 8, effect[area, np.minimum(kind, 1)], effect[area, 0])
    score = rng.normal(-1, 1, 30_000)
    label = (rng.random(30_000) < expit(score + shift)).astype(int)
    frame = pd.DataFrame({"area": area, "kind": kind, "score": score, "label": label})
    crossing = PooledCalibrator(["area", "kind"], "platt").fit(frame).terms_[-1]
    assert crossing.offset_sd > 0.4


def test_segments_are_named_by_their_keys_whatever_their_type():
    frame = shops(3000)
    tables = ScoreTable.from_frame(frame, "score", "label", by="shop")
    model = Model.from_fitted(oddsmith.PlattCalibrator().fit(frame["score"], frame["label"]))
    parts = {key: Model.from_fitted(oddsmith.PlattCalibrator().fit_table(table)) for key, table in tables.items()}
    by_number = model.with_segments("shop", parts)
    assert by_number.log_odds([0.2], [3]) == by_number.log_odds([0.2], ["3"]) == parts[3].log_odds([0.2])
    with pytest.raises(InvalidInputError, match="different when their keys are written as text; got two that are 1"):
        model.with_segments("shop", {1: model, "1": model})
    with pytest.raises(InvalidInputError, match="must not be missing"):
        model.with_segments("shop", {None: model})


def test_keys_of_several_types_are_refused():
    frame = shops(60)
    frame["shop"] = np.array([1, "1"], dtype=object)[np.arange(60) % 2]
    with pytest.raises(InvalidInputError, match="column 'shop' of segments must have values of one type; got int and"):
        PooledCalibrator("shop", "platt").fit(frame)
