"""Held-out log-loss of partially pooled maps on Adult by occupation and education, and on Covertype by area and soil.

``python -m benchmarks.pooling`` trains a classifier with and without the columns of segments, calibrates it on 2,000,
5,000 and all remaining rows, and prints how much less log-loss (10⁻³ nats) pooled maps have on test rows than the map
of all rows, maps of each segment alone and the scores themselves, with paired standard errors. ``--out FOLDER``
writes the scored rows, for other libraries to be compared on.
"""

import argparse
import gzip
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from oddsmith import ScoreTable
from oddsmith.calibrators import fit_method
from oddsmith.errors import OddsmithWarning
from oddsmith.pooling import PooledCalibrator

DATA = Path(os.environ.get("ODDSMITH_DATA", "data"))
ADULT = "age,workclass,fnlwgt,education,education_num,marital,occupation,relationship,race,sex,gain,loss,hours,country"
SIZES = (2_000, 5_000, None)


def adult():
    """Return rows, their labels, the columns of segments, those to leave out, and how many rows are for training."""
    parts = []
    for name, skipped in (("adult.data.gz", 0), ("adult.test.gz", 1)):
        with gzip.open(DATA / "adult" / name, "rt") as file:
            parts.append(pd.read_csv(file, names=[*ADULT.split(","), "label"], skipinitialspace=True, skiprows=skipped))
    rows = pd.concat(parts, ignore_index=True).dropna()
    label = rows.pop("label").str.startswith(">50K").to_numpy().astype(int)
    return rows, label, ["occupation", "education"], ["occupation", "education", "education_num"], 16_280, 16_281


def covertype():
    """Return the same of Covertype, class 2 against the rest, by wilderness area and soil type; 60,000 rows."""
    with gzip.open(DATA / "covtype" / "covtype.data.gz", "rt") as file:
        rows = pd.read_csv(file, header=None)
    rows = rows.sample(60_000, random_state=0)
    columns = [str(column) for column in rows.columns]
    rows.columns = columns
    label = (rows.pop("54") == 2).to_numpy().astype(int)
    area, soil = columns[10:14], columns[14:54]
    rows["area"] = "area " + pd.Series(rows[area].to_numpy().argmax(axis=1), index=rows.index).astype(str)
    rows["soil"] = "soil " + pd.Series(rows[soil].to_numpy().argmax(axis=1), index=rows.index).astype(str)
    return rows.drop(columns=area + soil), label, ["area", "soil"], ["area", "soil"], 10_000, 20_000


SETS = {"adult": adult, "covertype": covertype}


def scored(rows, label, left_out, train, test, seed):
    """Return the log-odds of a boosted classifier on the rows that it was not trained on."""
    features = rows.drop(columns=left_out)
    for name in features.columns:
        if features[name].dtype == object or str(features[name].dtype) in ("str", "string"):
            features[name] = features[name].astype("category")
    order = np.random.default_rng(seed).permutation(len(rows))
    train_rows, test_rows, rest = order[:train], order[train : train + test], order[train + test :]
    booster = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=seed)
    booster.fit(features.iloc[train_rows], label[train_rows])
    return booster.decision_function(features), test_rows, rest


def losses(log_odds, label):
    return np.logaddexp(0, np.where(label == 1, -log_odds, log_odds))


def compared(rows, label, by, score, test, rest, method):
    """Return the losses of each way on the test rows, and the fitted pool."""
    frame = rows[by].assign(score=score, label=label)
    fit, new = frame.iloc[rest], frame.iloc[test]
    keys, y = new[by].to_numpy(dtype=object), label[test]
    began = time.perf_counter()
    pooled = PooledCalibrator(by, method).fit(fit)
    took = time.perf_counter() - began
    whole = fit_method(ScoreTable.from_frame(fit, "score", "label"), method)
    tables = ScoreTable.from_frame(fit, "score", "label", by=by)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        separate = whole.with_segments(by, {name: fit_method(table, method) for name, table in tables.items()})
    scores = new["score"].to_numpy()
    found = {
        "pooled": losses(pooled.model_.log_odds(scores, keys), y),
        "global": losses(whole.log_odds(scores), y),
        "separate": losses(separate.log_odds(scores, keys), y),
        "scores": losses(scores, y),
    }
    return found, pooled, took


def difference(first, second):
    gap = second - first
    return 1000 * gap.mean(), 1000 * gap.std(ddof=1) / np.sqrt(len(gap))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--method", default="platt")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    print("set        columns  rows   log-loss  gain over global   over separate     over the scores   sd of effects")
    for name in chosen.sets.split(","):
        rows, label, by, left_out, train, test_size = SETS[name]()
        for without in (True, False):
            for seed in range(chosen.seeds):
                given = left_out if without else []
                score, test, rest = scored(rows, label, given, train, test_size, seed)
                for size in SIZES:
                    used = rest[:size]
                    found, pooled, took = compared(rows, label, by, score, test, used, chosen.method)
                    cells = [difference(found["pooled"], found[other]) for other in ("global", "separate", "scores")]
                    gains = "  ".join(f"{gain:6.2f} ± {error:5.2f}  " for gain, error in cells)
                    sds = " ".join(f"{one.offset_sd:.2f}/{one.slope_sd:.2f}" for one in pooled.terms_)
                    what = "without" if without else "with"
                    loss = found["pooled"].mean()
                    print(f"{name:10} {what:8} {len(used):6} {loss:.4f}    {gains} {sds} ({took:.1f} s)", flush=True)
                if chosen.out is not None:
                    part = np.full(len(rows), "none", dtype=object)
                    part[rest], part[test] = "fit", "test"
                    place = np.zeros(len(rows), dtype=int)
                    place[rest] = np.arange(len(rest))
                    out = rows[by].assign(score=score, label=label, part=part, place=place)
                    file = f"{name}-{what}-{seed}.csv"
                    out[out.part != "none"].to_csv(chosen.out / file, index=False)


if __name__ == "__main__":
    main()
