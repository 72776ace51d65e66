"""Held-out log-loss of partially pooled maps on Adult, Covertype and Letter by two columns of each.

``python -m benchmarks.pooling`` trains a classifier with and without the columns of segments, calibrates it on 2,000,
5,000 and all remaining rows, and prints how much less log-loss (10⁻³ nats) pooled maps have on test rows than the map
of all rows, maps of each segment alone and the scores themselves, with paired standard errors. The last
columns are the significant ones of all audited segments of the test rows, for the scores, one map and pooled maps.
``--classifier logistic`` trains logistic regression instead of boosted trees. With ``--mcgrad PYTHON``, MCGrad gets the
same rows and columns in the environment of that interpreter.
"""

import argparse
import gzip
import os
import subprocess
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from oddsmith import ScoreTable
from oddsmith.audit import audit
from oddsmith.calibrators import fit_method
from oddsmith.errors import OddsmithWarning
from oddsmith.pooling import PooledCalibrator

DATA = Path(os.environ.get("ODDSMITH_DATA", "data"))
ADULT = "age,workclass,fnlwgt,education,education_num,marital,occupation,relationship,race,sex,gain,loss,hours,country"
SIZES = (2_000, 5_000, None)

#: What the other interpreter runs: it is fitted to one file, and prints the log-odds of the rows of another.
_MCGRAD = """
import sys, warnings, logging, pandas as pd, numpy as np
warnings.simplefilter("ignore"); logging.disable()
from mcgrad.methods import MCGrad
fit, new = (pd.read_csv(f"{sys.argv[1]}/{name}.csv", dtype=dict.fromkeys(sys.argv[2:], str)) for name in ("fit", "new"))
made = MCGrad().fit(fit, "p", "label", categorical_feature_column_names=sys.argv[2:])
np.savetxt(f"{sys.argv[1]}/found.csv", made.predict(new, "p", categorical_feature_column_names=sys.argv[2:]))
"""


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


def letter():
    """Return the same of letters, A to M against the rest, by two of the measurements, which are numbers to 15."""
    with gzip.open(DATA / "letter" / "letter-recognition.data.gz", "rt") as file:
        rows = pd.read_csv(file, header=None)
    label = (rows.pop(0) <= "M").to_numpy().astype(int)
    rows.columns = [f"f{column}" for column in rows.columns]
    return rows, label, ["f9", "f12"], ["f9", "f12"], 5_000, 5_000


SETS = {"adult": adult, "covertype": covertype, "letter": letter}


def scored(rows, label, left_out, train, test, seed, classifier):
    """Return the log-odds of a classifier on the rows that it was not trained on."""
    features = rows.drop(columns=left_out)
    texts = [name for name in features.columns if str(features[name].dtype) in ("object", "str", "string")]
    order = np.random.default_rng(seed).permutation(len(rows))
    train_rows, test_rows, rest = order[:train], order[train : train + test], order[train + test :]
    if classifier == "boosted":
        features[texts] = features[texts].astype("category")
        made = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=seed)
    else:
        by_kind = [("texts", OneHotEncoder(handle_unknown="ignore"), texts)]
        made = make_pipeline(
            ColumnTransformer(by_kind, remainder=StandardScaler()), LogisticRegression(C=1.0, max_iter=2000)
        )
    made.fit(features.iloc[train_rows], label[train_rows])
    return made.decision_function(features), test_rows, rest


def losses(log_odds, label):
    return np.logaddexp(0, np.where(label == 1, -log_odds, log_odds))


def mcgrad(python, by, fit, new):
    """Return the log-odds of MCGrad for new rows."""
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in (("fit", fit), ("new", new)):
            rows.assign(p=expit(rows["score"])).to_csv(f"{folder}/{name}.csv", index=False)
        subprocess.run([python, "-c", _MCGRAD, folder, *by], check=True)
        found = np.loadtxt(f"{folder}/found.csv")
    return logit(np.clip(found, 1e-15, 1 - 1e-15))


def compared(rows, label, by, score, test, rest, method, python):
    """Return the losses of each way on the test rows, and the fitted pool."""
    frame = rows[by].assign(score=score, label=label)
    fit, new = frame.iloc[rest], frame.iloc[test]
    keys, y = new[by].to_numpy(dtype=object), label[test]
    began = time.perf_counter()
    pooled = PooledCalibrator(by, method).fit(fit)
    took = time.perf_counter() - began
    # Scores of a small segment may all lie in [0, 1]; they are log-odds nevertheless.
    whole = fit_method(replace(ScoreTable.from_frame(fit, "score", "label"), meaning="log_odds"), method)
    tables = {
        name: replace(table, meaning="log_odds")
        for name, table in ScoreTable.from_frame(fit, "score", "label", by=by).items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        separate = whole.with_segments(by, {name: fit_method(table, method) for name, table in tables.items()})
    scores = new["score"].to_numpy()
    odds = {
        "pooled": pooled.model_.log_odds(scores, keys),
        "global": whole.log_odds(scores),
        "separate": separate.log_odds(scores, keys),
        "scores": scores,
    }
    found = {way: losses(each, y) for way, each in odds.items()}
    audits = [audit(new.assign(probability=expit(odds[way])), by) for way in ("scores", "global", "pooled")]
    if python is not None:
        found["mcgrad"] = losses(mcgrad(python, by, fit, new), y)
    return found, pooled, took, [f"{len(each.significant)}/{len(each.segments)}" for each in audits]


def difference(first, second):
    gap = second - first
    return 1000 * gap.mean(), 1000 * gap.std(ddof=1) / np.sqrt(len(gap))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--method", default="platt")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--classifier", choices=("boosted", "logistic"), default="boosted")
    parser.add_argument("--mcgrad", metavar="PYTHON")
    chosen = parser.parse_args()
    print(
        "set        columns  rows   log-loss  gain over global   over separate     over the scores    (over MCGrad)  "
        " sd of effects"
    )
    for name in chosen.sets.split(","):
        rows, label, by, left_out, train, test_size = SETS[name]()
        for without in (True, False):
            for seed in range(chosen.seeds):
                given = left_out if without else []
                score, test, rest = scored(rows, label, given, train, test_size, seed, chosen.classifier)
                for size in SIZES:
                    used = rest[:size]
                    found, pooled, took, audits = compared(
                        rows, label, by, score, test, used, chosen.method, chosen.mcgrad
                    )
                    others = [other for other in ("global", "separate", "scores", "mcgrad") if other in found]
                    cells = [difference(found["pooled"], found[other]) for other in others]
                    gains = "  ".join(f"{gain:6.2f} ± {error:5.2f}  " for gain, error in cells)
                    sds = " ".join(f"{one.offset_sd:.2f}/{one.slope_sd:.2f}" for one in pooled.terms_)
                    what = "without" if without else "with"
                    start = f"{name:10} {what:8} {len(used):6} {found['pooled'].mean():.4f}"
                    print(f"{start}    {gains} {sds} {' '.join(audits)} ({took:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
