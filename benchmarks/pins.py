"""Pins of results: show whether a refactoring changed any of them.

``python -m benchmarks.pins write FOLDER`` records what the library on the path computes, prints and writes, one case
per file; ``python -m benchmarks.pins compare OLD NEW`` lists the cases that differ, and ends with 1 if there are any.
The same copy of this module records both trees: it calls the command line and public names only, and looks up those
that may be renamed (`OPTIONS`, `NAMES`).

Arrays are compared by their bits. Times, the temporary folder, the version, and the checksum of a model file, which
depends on the version, are replaced by words.
"""

import argparse
import contextlib
import dataclasses
import functools
import gzip
import hashlib
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import oddsmith
from benchmarks.__main__ import ONE_THREAD

#: The spellings of an option, the one that is written in this module first; a command gets the first that it has.
OPTIONS = {"--score": ("--score", "--scores"), "--probability": ("--probability", "--probabilities", "--scores")}

#: Where public names are found; the first that exists is used.
NAMES = {
    "evaluate": ("metrics.summary", "metrics.evaluate"),
    "evaluate_classes": ("metrics.evaluate_classes", "metrics.evaluate"),
    "verdict": ("metrics.verdict_of", "metrics.verdict"),
    "verdict_of_classes": ("metrics.verdict_of_classes", "metrics.verdict"),
    "compare_rows": ("metrics.compare_rows", "metrics.compare"),
    "compare_methods": ("report.compare_methods",),
    "apply": ("frames.apply",),
    "apply_joint": ("frames.apply_joint", "frames.apply"),
}

#: What every run has in common.
ENVIRONMENT = {
    **ONE_THREAD,
    "COLUMNS": "120",
    "MPLBACKEND": "Agg",
    "NO_COLOR": "1",
    "POLARS_MAX_THREADS": "1",  # sums of several threads differ in their last bits from run to run
    "PYTHONIOENCODING": "utf-8",
    "TERM": "dumb",
}

#: Model files of earlier versions.
EARLIER = Path(__file__).parents[1] / "tests" / "golden" / "models"

#: Arrays up to this size are written as text.
SHORT = 12

Arrays = tuple[np.ndarray, ...]


def named(name: str) -> Any:
    """Return a public object by the name that this module knows it by."""
    for path in NAMES.get(name, (name,)):
        room, _, attribute = path.rpartition(".")
        home = importlib.import_module(f"oddsmith.{room}") if room else oddsmith
        with contextlib.suppress(AttributeError, ImportError):  # a former name may say what to use
            return getattr(home, attribute)
    raise LookupError(name)


def verdict_of_scores(table: oddsmith.ScoreTable) -> Any:
    """Return the verdict on scores of which nothing is known."""
    with contextlib.suppress(LookupError):
        return named("metrics.verdict_of_scores")(table)
    return named("verdict")(table, input="score")


def classes_named(ending: str) -> dict[str, type]:
    """Return the public classes whose names end so, by the names of their methods."""
    names = [name for name in oddsmith.__all__ if name.endswith(ending) and name != ending]
    return {re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.removesuffix(ending)).lower(): named(name) for name in names}


@functools.cache
def options_of(command: str) -> frozenset[str]:
    """Return the options that a command has, according to its help."""
    return frozenset(re.findall(r"--[a-z][a-z-]*", run([command, "--help"])[1]))


def spelled(words: list[str]) -> list[str]:
    """Return a command with its options as the command spells them."""
    known = options_of(words[0]) if OPTIONS.keys() & set(words) else frozenset()
    return [next((name for name in OPTIONS.get(word, ()) if name in known), word) for word in words]


def run(words: list[str]) -> tuple[Any, str, str]:
    """Run a command in this process; return its exit code, standard output and standard error."""
    from oddsmith.cli import main

    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    code: Any = 0
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            main(words)
        except SystemExit as left:
            code = left.code
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    return code, out, err


# Recording


class Pins:
    """A folder of records, one file or a few arrays per case."""

    def __init__(self, folder: Path, *, quick: bool) -> None:
        self.folder = folder
        self.quick = quick

    def keep(self, case: str, content: Any) -> None:
        """Record the content of a case: text, or values whose long arrays go to files of their own."""
        path = self.folder / case
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, np.ndarray] = {}
        text = content if isinstance(content, str) else "\n".join(lines_of(content, "", arrays)) + "\n"
        if path.with_name(f"{path.name}.txt").exists():
            msg = f"two cases are called {case}"
            raise ValueError(msg)
        path.with_name(f"{path.name}.txt").write_text(normalized(text), encoding="utf-8")
        for name, array in arrays.items():
            np.save(path.with_name(f"{path.name}@{slug(name)}.npy"), array)

    def call(self, case: str, make: Callable[[], Any]) -> Any:
        """Record what a function returns or raises, and what it warns of; return what it returned."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = make()
                content = {"result": found}
            except Exception as error:
                found, content = None, {"raised": f"{type(error).__name__}: {error}"}
        told = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
        self.keep(case, {**content, "warnings": told})
        return found


def normalized(text: str) -> str:
    """Return text without what differs from run to run or from version to version."""
    text = text.replace(str(Path.cwd()), "FOLDER")
    text = re.sub(rf"(?<![\d.]){re.escape(oddsmith.__version__)}(?![\d.])", "VERSION", text)
    text = re.sub(r'"checksum": ?"[0-9a-f]{64}"', '"checksum": "CHECKSUM"', text)
    text = re.sub(r'"seconds": ?[\d.e-]+', '"seconds": TIME', text)
    return re.sub(r" +[\d.]+ ms\b", " TIME ms", text)


def slug(text: str) -> str:
    """Return text as part of a file's name."""
    return re.sub(r"[^\w.,=+-]+", "_", text).strip("_")[:120]


def lines_of(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Iterator[str]:
    """Write a value as lines ``name = value``; long arrays are put aside."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub" and value.size > SHORT:
        arrays[name] = value
        yield f"{name} = {value.dtype} array {value.shape}"
        return
    inner = parts_of(value)
    if inner is None:
        shown = value if isinstance(value, str) else repr(value)
        yield f"{name} = {re.sub(r' at 0x[0-9a-f]+', '', shown)}"
        return
    yield f"{name}: {type(value).__name__}"
    for key, item in inner.items():
        yield from lines_of(item, f"{name}.{key}" if name else str(key), arrays)


def parts_of(value: Any) -> Mapping[Any, Any] | None:
    """Return what a value consists of, or None for a plain one."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, np.generic):
        return None
    if isinstance(value, np.ndarray):
        return dict(enumerate(value.tolist())) if value.ndim else None
    if isinstance(value, oddsmith.ScoreTable):
        return {name: getattr(value, name) for name in ("scores", "pos", "neg", "kind", "rows", "resolution")}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        public = [field.name for field in dataclasses.fields(value) if field.name[0] != "_"]
        return {name: getattr(value, name) for name in public}
    if isinstance(value, float) and type(value) is not float:
        return {"value": float(value), **{key: item for key, item in vars(value).items() if key[0] != "_"}}
    return None


# Data


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def drawn(kind: str, n: int = 500) -> Arrays:
    """Return scores and labels of two classes, of one kind; the same at every call."""
    rng = np.random.default_rng([*kind.encode()])
    signal = rng.normal(size=n)
    match kind:
        case "skewed":
            score = rng.exponential(size=n) ** 2
            log_odds = 2 * np.log1p(score) - 1.5
        case "rare":
            score, log_odds = signal, 1.2 * signal - 4.5
        case "unit":
            score, log_odds = sigmoid(2 * signal + 0.5), signal
        case "log-odds":
            score, log_odds = 3 * signal, 1.5 * signal - 0.5
        case _:
            score, log_odds = signal, 1.5 * signal - 0.3
    return score, (rng.random(n) < sigmoid(log_odds)).astype(int)


def drawn_classes(kind: str, n: int = 400, k: int = 3) -> Arrays:
    """Return logits and labels 0 … k − 1 of several classes; the same at every call."""
    rng = np.random.default_rng([*kind.encode(), k])
    logits = rng.normal(size=(n, k)) * 2
    truth = 0.6 * logits + np.linspace(0.4, -0.4, k)
    y = (np.cumsum(softmax(truth), axis=1) > rng.random((n, 1))).argmax(axis=1)
    return logits, y


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def hostile() -> dict[str, Arrays]:
    """Return scores, labels and perhaps weights that fits have to survive."""
    rng = np.random.default_rng(20)
    normal, y = drawn("hostile", 300)
    few, y_few = drawn("few", 10)
    ranks, y_ranks = drawn("ranks", 300)
    cauchy = rng.standard_cauchy(300)
    low = sigmoid(rng.normal(-15, 6, 400))
    exact = np.round(sigmoid(4 * normal), 1)
    return {
        "log-normal": (np.exp(3 * normal), y),
        "cauchy": (cauchy, (rng.random(300) < sigmoid(cauchy.clip(-3, 3))).astype(int)),
        "tiny-probabilities": (low, (rng.random(400) < np.sqrt(low)).astype(int)),
        "integer-ranks": (ranks.argsort().argsort().astype(float), y_ranks),
        "exact-0-and-1": (exact, y),
        "exact-0-and-1-contradicted": (np.where(normal > 0, 1.0, 0.0), y),
        "huge-counts": (normal, y, rng.integers(1, 10**12, 300)),
        "separable": (normal, (normal > 0.2).astype(int)),
        "reversed": (-normal, y),
        "constant": (np.full(300, 0.25), y),
        "two-scores": (np.where(normal > 0, 2.0, -1.0), y),
        "float-weights": (normal, y, rng.exponential(size=300)),
        "ten-rows": (few, y_few),
        "single-class": (normal, np.ones(300, int)),
        "far-score": (np.append(normal[:-1], 1e9), y),
        "tiny-scale": (normal * 1e-200, y),
        "huge-scale": (normal * 1e200, y),
        "near-ties": (np.round(normal, 1) + rng.integers(-2, 3, 300) * 2.0**-50, y),
    }


def hostile_classes() -> dict[str, Arrays]:
    """Return matrices, labels and perhaps weights that joint scalings have to survive."""
    rng = np.random.default_rng(21)
    logits, y = drawn_classes("hostile", 300)
    masked = np.where((rng.random((300, 3)) < 0.2) & (np.arange(3) != y[:, None]), -np.inf, logits)
    few, y_few = drawn_classes("few", 10)
    perfect = 10.0 * np.eye(3)[y]
    return {
        "masked-logits": (masked, y),
        "perfect-logits": (perfect, y),
        "nearly-perfect-logits": (np.where(np.arange(300)[:, None] == 7, -perfect, perfect), y),
        "reversed-logits": (-logits, y),
        "exact-probabilities": (np.eye(3)[np.where(rng.random(300) < 0.3, 0, y)], y),
        "cauchy-logits": (logits + rng.standard_cauchy((300, 3)), y),
        "huge-counts": (logits, y, rng.integers(1, 10**12, 300)),
        "float-weights": (logits, y, rng.exponential(size=300)),
        "constant": (np.zeros((300, 3)), y),
        "ten-rows": (few, y_few),
        "rare-class": (logits, np.where((y == 2) & (np.arange(300) > 20), 0, y)),
        "huge-logits": (logits * 1e150, y),
        "tiny-probabilities": (softmax(60 * logits), y),
    }


def probes(scores: np.ndarray) -> np.ndarray:
    """Return scores to compare maps at: all along the data, beyond them, and at the extremes of doubles."""
    if scores.min() >= 0 and scores.max() <= 1:
        ends = np.array([5e-324, 1e-300, 1e-15, 1e-8, 1e-4])
        return np.concatenate([ends, np.linspace(0.001, 0.999, 99), 1 - ends[2:], scores[:20]])
    low, high = scores.min(), scores.max()
    span = high - low if high > low else 1.0
    far = [-1e300, -1e6, -1e3, 1e3, 1e6, 1e300]
    return np.concatenate([np.linspace(low - span / 4, high + span / 4, 121), far, scores[:20], [0.0, -0.0]])


def table_columns() -> dict[str, dict[str, Any]]:
    """Return the columns of the files that commands read, by the names of the files."""
    found: dict[str, dict[str, Any]] = {}
    for kind, n in {"normal": 500, "skewed": 500, "rare": 1500, "unit": 500, "log-odds": 500}.items():
        rng = np.random.default_rng([7, *kind.encode()])
        score, label = drawn(kind, n)
        found[kind] = {
            "id": np.arange(n),
            "score": score,
            "label": label,
            "weight": rng.integers(1, 5, n),
            "importance": rng.exponential(size=n),
            "segment": np.array(["north", "south", "west"])[rng.integers(3, size=n)],
            "patient": rng.integers(n // 8, size=n),
            "forest": sigmoid(score.clip(-4, 4)),
            "net": sigmoid(0.5 * score.clip(-4, 4) + rng.normal(size=n) / 2),
        }
    found["words"] = {
        "margin": found["normal"]["score"],
        "outcome": np.where(found["normal"]["label"] == 1, "yes", "no"),
    }
    logits, y = drawn_classes("commands")
    rng = np.random.default_rng(8)
    matrices = {"z": logits, "p": softmax(logits), "q": softmax(0.7 * logits + rng.normal(size=logits.shape) / 3)}
    columns = {f"{name}_{label}": matrix[:, i] for name, matrix in matrices.items() for i, label in enumerate("abc")}
    found["classes"] = {
        **columns,
        "label": np.array(list("abc"))[y],
        "weight": rng.integers(1, 5, len(y)),
        "patient": rng.integers(50, size=len(y)),
    }
    return found


def make_files() -> None:
    """Write the files that commands read into the working folder."""
    import pandas as pd

    tables = table_columns()
    for name, columns in tables.items():
        pd.DataFrame(columns).to_csv(f"{name}.csv", index=False)
    normal, classes = pd.DataFrame(tables["normal"]), pd.DataFrame(tables["classes"])
    for name, frame in {"normal": normal, "classes": classes}.items():
        frame.to_parquet(f"{name}.parquet", index=False)
        frame.to_json(f"{name}.jsonl", orient="records", lines=True, double_precision=15)
    pd.DataFrame(tables["words"]).to_csv("words.tsv", sep="\t", index=False)
    with gzip.open("normal.csv.gz", "wb") as file:
        file.write(Path("normal.csv").read_bytes())
    np.savez("unit.npz", score=tables["unit"]["score"], label=tables["unit"]["label"])
    logits, y = drawn_classes("commands")
    np.savez("classes.npz", logits=logits, label=y)
    np.save("logits.npy", logits)
    np.save("labels.npy", y)
    many, y_many = drawn("many", 60_000)
    pd.DataFrame({"score": many, "label": y_many}).to_parquet("many.parquet", index=False)
    bad = normal.astype({"score": object, "label": object})
    bad.loc[3, "score"], bad.loc[5, "label"], bad.loc[9, "score"] = None, None, "inf"
    bad.to_csv("bad.csv", index=False)
    bad_classes = classes.copy()
    bad_classes.loc[2, "z_b"] = bad_classes.loc[2, "p_b"] = np.nan
    bad_classes.to_csv("bad-classes.csv", index=False)
    normal.assign(score=1.0).to_csv("constant.csv", index=False)
    normal.assign(label=1).to_csv("single.csv", index=False)
    Path("empty.csv").write_text("score,label\n")
    Path("ragged.csv").write_text("score,label\n1,0\n2,1,3\n")
    Path("costs.csv").write_text("decision,0,1\nwait,0,10\ntreat,2,1\n")
    Path("class-costs.csv").write_text("decision,a,b,c\na,0,2,3\nb,1,0,4\nc,5,1,0\nask,1,1,1\n")
    Path("decision-costs.csv").write_text("a,b,c\n0,2,3\n1,0,4\n5,1,0\n")
    Path("broken.json").write_text('{"format": "oddsmith calibration model", "schema": 1')


# What commands print and write. A command that begins with "+" is left out of a quick run.

COMMANDS = """
fit normal.csv -o auto.json
fit normal.csv -o platt.json -m platt --score score --label label
fit skewed.csv -o isotonic.json -m isotonic --weight weight
fit unit.csv -o beta.json -m beta --score score --scores-are probability
fit log-odds.csv -o temperature.json -m temperature --score score --scores-are log-odds
fit rare.csv -o spline.json -m spline --score score --json
fit normal.csv -o by.json -m platt --score score --by segment
fit normal.parquet -o parquet.json -m venn-abers --score score --weight importance
fit normal.jsonl -o jsonl.json -m piecewise-logistic --score score --label label
fit unit.npz -o npz.json -m histogram
fit words.tsv -o words.json -m density --score margin --label outcome --positive yes
fit bad.csv -o bad.json -m logistic --score score --bad-rows skip
fit normal.csv.gz -o - -m squash --score score --resolution 0.0625
fit constant.csv -o constant.json -m gaussian --score score
fit single.csv -o single.json -m monotone-logistic --score score
fit many.parquet -o many.json -m asymmetric-laplace --json
+fit many.parquet -o many-auto.json
fit many.parquet -o many-exact.json -m isotonic --resolution exact --json
apply platt.json normal.csv -o applied.csv --score score
apply by.json normal.parquet -o applied.parquet --score score
apply isotonic.json normal.jsonl -o applied.jsonl --score score --name calibrated
apply beta.json unit.npz -o applied.npz --score score --json
apply bad.json bad.csv -o applied-bad.csv --score score --bad-rows skip
apply auto.json normal.csv -o - --quiet
evaluate normal.csv --probability forest --label label
evaluate normal.csv --probability net --label label --weight weight --json
evaluate unit.csv --probability score --label label --groups patient --json
evaluate rare.csv --probability forest --label label --json --weight importance
check normal.csv --probability forest --label label --max-ece 0.2 --min-p 0.001
check normal.csv --probability net --label label --max-log-loss 0.1 --min-auc 0.9 --json
check normal.csv --probability net --label label --max-ece 0.05 --of upper --test cox --min-p 0.5 --junit check.xml
check normal.csv --probability net --label label --max squared_error=0.3 --min lift=1.5 --groups patient
compare normal.csv --score score -m platt -m isotonic -m beta
compare unit.csv --score score --scores-are probability -m spline -m auto --pairs --json
compare skewed.csv --score score --weight weight -m platt -m density --json
compare normal.csv --score score --groups patient -m platt -m histogram --n-folds 3
+compare normal.csv --score score --json
report normal.csv -o report.json --score score -m platt -m isotonic -m auto
report unit.csv -o report.md --score score --scores-are probability -m beta -m venn-abers --json
+report log-odds.csv -o report.html --score score --scores-are log-odds -m platt --groups patient
export platt.json --to sql
export isotonic.json --to sql --dialect postgres --column margin --table schema.scores
export beta.json --to sql --dialect sqlite
export spline.json --to sql --dialect spark
+export words.json --to sql --dialect bigquery
export by.json --to sql --segment north
export auto.json --to python
+export auto.json --to javascript
+export auto.json --to c
export auto.json --to onnx -o auto.onnx
export jsonl.json --to python --json
export npz.json --to onnx --json
decide normal.csv --probability forest --costs costs.csv -o decided.csv
decide normal.csv --probability net --costs costs.csv --abstain-cost 0.5 -o decided.jsonl --json
combine normal.csv --probability forest --probability net -o combined.csv
combine normal.csv --probability forest --probability net --rule independent-evidence --prior 0.4 -o evidence.csv
combine normal.csv --probability forest --probability net --rule mean-probability -o mean.csv --json
show platt.json
show auto.json --json
show by.json
show jsonl.json
fit classes.csv -o joint.json --scores z_* --label label
fit classes.csv -o joint-temperature.json --scores z_* --label label -m temperature --weight weight
fit classes.csv -o joint-vector.json --scores p_* --label label -m vector --json
fit classes.parquet -o joint-matrix.json --scores z_* --label label -m matrix --scores-are logits
fit classes.jsonl -o joint-dirichlet.json --scores p_* --label label -m dirichlet
fit classes.npz -o joint-npz.json -m temperature
fit logits.npy -o joint-npy.json --labels labels.npy -m vector
fit classes.csv -o rest.json --scores z_* --label label -m one-vs-rest:isotonic
fit bad-classes.csv -o joint-bad.json --scores z_* --label label -m temperature --bad-rows skip
fit classes.csv -o joint-sample.json --scores z_* --label label -m temperature --sample 200 --seed 3
apply joint.json classes.csv -o joint-applied.csv --scores z_*
apply joint-vector.json classes.parquet -o joint-applied.parquet --scores p_* --name chance
apply joint-npy.json logits.npy -o joint-applied.npz --json
apply rest.json bad-classes.csv -o rest-applied.csv --bad-rows skip
evaluate classes.csv --scores p_* --label label
evaluate classes.csv --scores z_* --label label --json --seed 2
evaluate classes.csv --scores q_* --label label --weight weight --groups patient --json
check classes.csv --scores p_* --label label --max-top-label-ece 0.05 --max-classwise-ece 0.5 --json
check classes.csv --scores q_* --label label --min-p 0.01 --test classwise
compare classes.csv --scores z_* --label label -m temperature -m vector
+compare classes.csv --scores p_* --label label --json
report classes.csv -o class-report.json --scores z_* --label label -m temperature --costs decision-costs.csv
+report classes.csv -o class-report.md --scores p_* --label label --groups patient
+report classes.csv -o class-report.html --scores p_* --label label -m temperature -m vector
export joint.json --to sql
export joint-vector.json --to sql --dialect postgres --table scores
export joint-matrix.json --to sql --dialect spark
export joint-dirichlet.json --to sql --dialect sqlite
export joint.json --to python
+export joint.json --to javascript
+export joint.json --to c
export joint-dirichlet.json --to onnx -o joint.onnx
decide classes.csv --scores p_* --costs class-costs.csv -o class-decided.csv
decide classes.csv --scores q_* --costs class-costs.csv --abstain-cost 0.3 -o class-abstain.csv --json
combine classes.csv --scores p_* --scores q_* -o class-combined.csv
combine classes.csv --scores p_* --scores q_* --rule independent-evidence --prior 0.5,0.3,0.2 -o class-evidence.csv
show joint.json
show joint-vector.json --json
show rest.json
+demo -o demo.html
+demo -o demo.html --json
fit nowhere.csv -o x.json
fit normal.csv -o platt.json -m platt --score score
fit normal.csv -o x.json -m plat --score score
fit normal.csv -o x.json --score nothing
fit bad.csv -o x.json --score score
fit empty.csv -o x.json --json
fit ragged.csv -o x.json
fit words.csv -o x.json --score margin --label outcome
fit normal.csv -o x.json --score score --weight segment
fit classes.csv -o x.json --scores z_* --label patient
fit classes.csv -o x.json --scores y_* --label label --json
fit classes.csv -o x.json --scores z_a,z_b,z_c --classes a,b --label label
fit normal.csv -o x.json --score score --resolution 0.3
apply broken.json normal.csv -o x.csv
apply platt.json classes.csv -o x.csv
apply joint.json normal.csv -o x.csv --json
evaluate normal.csv --probability score --label label
check normal.csv --probability forest --label label
check normal.csv --probability forest --label label --max nothing=1
compare normal.csv --score score --n-folds 1
report normal.csv -o report.pdf --score score
export platt.json --to cobol
export platt.json --to c --dialect duckdb
export by.json --to sql --segment east
decide normal.csv --probability forest --costs class-costs.csv -o x.csv
combine normal.csv --probability forest -o x.csv
show broken.json --json
show normal.csv
frobnicate
"""


def commands(pins: Pins) -> None:
    """Pin what commands print, and the files that they write."""
    make_files()
    for line in COMMANDS.strip().splitlines():
        command = line.removeprefix("+")
        if pins.quick and command != line:
            continue
        before = stamps()
        code, out, err = run(spelled(shlex.split(command)))
        case = f"commands/{slug(command)}"
        pins.keep(
            case, f"$ oddsmith {command}\nexit code {code}\n--- standard output\n{out}\n--- standard error\n{err}"
        )
        for name in sorted(name for name, stamp in stamps().items() if before.get(name) != stamp):
            pins.keep(f"{case}/{name}", content_of(Path(name)))


def stamps() -> dict[str, tuple[int, int]]:
    """Return when the files of the working folder were changed."""
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in Path().iterdir()}


def content_of(path: Path) -> Any:
    """Return the content of a file in a form in which it can be compared."""
    if path.suffix in (".npz", ".npy"):
        found = np.load(path)
        return dict(found) if path.suffix == ".npz" else {"array": found}
    if path.suffix == ".parquet":
        import pandas as pd

        return pd.read_parquet(path).to_csv(index=False)
    if path.suffix == ".onnx":
        import onnx

        model = onnx.load(path)
        return f"sha256 {hashlib.sha256(normalized(str(model)).encode()).hexdigest()}\n{onnx.printer.to_text(model)}\n"
    return path.read_text(encoding="utf-8")


# Fits


def fitted(pins: Pins, case: str, made: Callable[[], Any], data: Arrays, at: np.ndarray, *, save: bool = False) -> None:
    """Pin a fit: its warnings, probabilities and log-odds, and the model file if that is wanted."""
    file = Path("fitted.json")
    file.unlink(missing_ok=True)

    def fit() -> dict[str, Any]:
        X, y, weight = (*data, None)[:3]
        model = made().fit(X, y) if weight is None else made().fit(X, y, sample_weight=weight)
        found = {"verdict": getattr(model, "verdict_", None), "p": model.predict_proba(at)}
        found["log"] = model.log_odds(at) if isinstance(model, oddsmith.Calibrator) else model.predict_log_proba(at)
        if save:
            model.save(file)
            found["loaded"] = oddsmith.load(file).predict_proba(at)
        return found

    pins.call(case, fit)
    if file.exists():
        pins.keep(f"{case}.json", file.read_text(encoding="utf-8"))


#: Variants of calibrators, by the name of the method.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "logistic": [{"penalty": 0.1}, {"fit_intercept": False}],
    "gaussian": [{"tied": True}, {"tied": True, "bias": "zero"}, {"prior": "frequency"}],
    "density": [
        {"positive": "exponential", "negative": "gaussian"},
        {"positive": "laplace", "negative": "hybrid", "subdivisions": 3},
    ],
    "asymmetric-laplace": [{"subdivisions": 10}, {"min_side": 2}],
    "asymmetric-gaussian": [{"subdivisions": 1}, {"epsilon": 1e-6, "inf": 1e6}],
    "hybrid": [{"hold": True}],
    "piecewise-logistic": [
        {"n_pieces": "grow"},
        {"n_pieces": "grow", "selection": "bic", "penalty": 0.1},
        {"penalty": 0.1, "outside": "clip"},
        {"penalty": 0.5, "outside": "literal"},
        {"monotone": True},
        {"knots": [-0.5, 0.5], "penalty": 1.0},
    ],
    "isotonic": [{"between": "step"}, {"bounded": True}],
    "cosine": [{"n_terms": 5, "penalty": 0.0}],
    "beta": [{"parameters": 2}, {"input": "log_odds"}],
    "centered-isotonic": [{"bounded": True}],
    "histogram": [{"bins": "width"}, {"smoothing": None, "n_bins": 5}],
    "spline": [{"penalty": 1.0}, {"input": "log_odds"}],
    "temperature": [{"input": "log_odds"}],
    "auto": [{"guard": True}, {"random_state": 5}],
}


def models(pins: Pins) -> None:
    """Pin model files and probabilities of every calibrator and scaling."""
    weights = np.random.default_rng(9).integers(1, 6, 500)
    sets = {
        "normal": ({}, drawn("normal")),
        "normal-counts": ({}, (*drawn("normal"), weights)),
        "log-odds": ({"input": "log_odds"}, drawn("log-odds")),
        "unit": ({"input": "probability"}, drawn("unit")),
        "skewed-importance": ({}, (*drawn("skewed"), weights / 3)),
        "rare": ({}, drawn("rare", 1500)),
    }
    if pins.quick:
        sets = {name: sets[name] for name in ("normal-counts", "unit")}
    for kind, (options, data) in sets.items():
        for method, cls in classes_named("Calibrator").items():
            made = functools.partial(cls, **options)
            fitted(pins, f"models/{kind}/{method}", made, data, probes(data[0]), save=True)
    for method, variants in VARIANTS.items():
        for options in variants:
            made = functools.partial(classes_named("Calibrator")[method], **options)
            data = drawn("log-odds" if "input" in options else "unit" if method == "beta" else "normal")
            name = slug(",".join(f"{key}={value}" for key, value in options.items()))
            fitted(pins, f"models/variants/{method}-{name}", made, data, probes(data[0]), save=True)
    logits, y = drawn_classes("models")
    many, y_many = drawn_classes("models", 600, 7)
    names = np.array(["cat", "dog", "emu"])
    class_sets = {
        "logits": (logits, y),
        "probabilities": (softmax(logits), names[y]),
        "counts": (logits, y, weights[:400]),
        "importance": (softmax(logits), y, weights[:400] / 3),
        "seven-classes": (many, y_many),
    }
    if pins.quick:
        class_sets = {name: class_sets[name] for name in ("logits", "importance")}
    for kind, data in class_sets.items():
        for method, cls in classes_named("Scaling").items():
            fitted(pins, f"models/{kind}/scaling-{method}", cls, data, data[0][:60], save=True)


def hostile_fits(pins: Pins) -> None:
    """Pin fits to data that are hard to fit, and what they warn of."""
    step = 3 if pins.quick else 1
    for kind, data in list(hostile().items())[::step]:
        for method, cls in classes_named("Calibrator").items():
            fitted(pins, f"hostile/{kind}/{method}", cls, data, probes(data[0]))
    for kind, data in list(hostile_classes().items())[::step]:
        for method, cls in classes_named("Scaling").items():
            fitted(pins, f"hostile-classes/{kind}/{method}", cls, data, data[0][:60])


def tables(pins: Pins) -> None:
    """Pin score tables in several forms, fits to them, fits in chunks, and fits to many rows."""
    score, y = drawn("normal", 600)
    prob, y_prob = drawn("unit", 600)
    whole = oddsmith.ScoreTable.from_arrays(score, y)
    weighted = oddsmith.ScoreTable.from_arrays(score, y, np.random.default_rng(13).exponential(size=600))
    forms = {
        "cells": lambda: whole.quantize(0.25),
        "cells-of-weights": lambda: weighted.quantize(0.25),
        "cells-of-log-odds": lambda: oddsmith.ScoreTable.from_arrays(prob, y_prob).quantize(0.125, log_odds=True),
        "coarse": lambda: whole.coarsen(40),
        "merged": lambda: oddsmith.ScoreTable.from_arrays(score[:99], y[:99]).merge(
            oddsmith.ScoreTable.from_arrays(score[99:], y[99:])
        ),
        "mapped": lambda: whole.map(np.tanh),
        "scaled": lambda: whole.scale(3.0),
    }
    for form, make in forms.items():
        table = pins.call(f"tables/{form}", make)

        def stored(table: Any = table) -> Any:
            table.save("table.parquet", force=True)
            return oddsmith.ScoreTable.load("table.parquet")

        pins.call(f"tables/{form}-stored", stored)
        at = probes(prob if form == "cells-of-log-odds" else score)
        for method, cls in classes_named("Calibrator").items():
            options = {"input": "probability"} if form == "cells-of-log-odds" else {}

            def fit(cls: Any = cls, table: Any = table, at: Any = at, options: Any = options) -> Any:
                model = cls(**options).fit_table(table)
                return {"p": model.predict_proba(at), "log": model.log_odds(at)}

            if form.startswith("cells") or not pins.quick:
                pins.call(f"tables/{form}/{method}", fit)
    for method, cls in classes_named("Calibrator").items():

        def chunks(cls: Any = cls) -> Any:
            first = cls().partial_fit(score[:99], y[:99], classes=[0, 1]).partial_fit(score[99:300], y[99:300])
            return first.merge(cls().partial_fit(score[300:], y[300:], classes=[0, 1])).predict_proba(probes(score))

        pins.call(f"tables/chunks/{method}", chunks)
    if not pins.quick:
        for kind in ("normal", "unit"):
            many = drawn(kind, 40_000)
            for method, cls in classes_named("Calibrator").items():
                fitted(pins, f"many-rows/{kind}/{method}", cls, many, probes(many[0]))


def exports(pins: Pins) -> None:
    """Pin every method in every language, and models of earlier versions."""
    logits, y = drawn_classes("models")
    with warnings.catch_warnings(action="ignore"):  # what these fits warn of is pinned among the models
        made = {
            method: cls().fit(*drawn("unit" if method == "beta" else "normal"))
            for method, cls in classes_named("Calibrator").items()
        }
    made |= {f"scaling-{method}": cls().fit(logits, y) for method, cls in classes_named("Scaling").items()}
    for name, model in made.items():
        file = Path(f"{name}.json")
        model.save(file)
        for to in ("sql", "python") if pins.quick else ("sql", "python", "javascript", "c"):
            code, out, err = run(["export", file.name, "--to", to])
            pins.keep(f"exports/{name}-{to}", f"exit code {code}\n{out}\n{err}")
        if not pins.quick:
            code, out, err = run(["export", file.name, "--to", "onnx", "-o", "model.onnx", "--force"])
            pins.keep(f"exports/{name}-onnx", f"exit code {code}\n{content_of(Path('model.onnx'))}\n{err}")
    for path in (path for path in sorted(EARLIER.rglob("*.json")) if '"format"' in path.read_text()):

        def loaded(path: Path = path) -> Any:
            found = {"shown": run(["show", str(path), "--json"])[1].replace(str(EARLIER), "EARLIER")}
            model = oddsmith.load(path)
            with contextlib.suppress(ValueError):
                found["p"] = model.predict_proba(np.linspace(0.01, 0.99, 50))
            with contextlib.suppress(ValueError):
                found["p-of-rows"] = model.predict_proba(softmax(logits[:30]))
            return found

        pins.call(f"earlier/{slug(str(path.relative_to(EARLIER)))}", loaded)


# Frames


def engines(columns: dict[str, Any]) -> dict[str, Any]:
    """Return the same rows in several engines."""
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    pandas = pd.DataFrame(columns)
    arrow = pa.Table.from_pandas(pandas)
    return {
        "pandas": pandas,
        "polars": pl.from_arrow(arrow),
        "polars-lazy": pl.from_arrow(arrow).lazy(),
        "pyarrow": arrow,
        "duckdb": duckdb.connect(config={"threads": 1}).from_arrow(arrow),
    }


def columns_of(frame: Any) -> dict[str, np.ndarray]:
    """Return the columns of a frame of any engine, rows in the order of their column "id"."""
    import pyarrow as pa

    if hasattr(frame, "collect"):
        frame = frame.collect()
    if hasattr(frame, "to_arrow_table"):  # of DuckDB
        frame = frame.to_arrow_table()
    table = frame if isinstance(frame, pa.Table) else None
    if table is None:
        table = frame.to_arrow() if hasattr(frame, "to_arrow") else pa.Table.from_pandas(frame, preserve_index=False)
    return {name: np.asarray(table.sort_by("id")[name].to_pandas()) for name in table.column_names}


def frames(pins: Pins) -> None:
    """Pin score tables from frames, and models applied to frames."""
    rows = table_columns()
    columns, classes = rows["normal"], {**rows["classes"], "id": np.arange(400)}
    platt = named("PlattCalibrator")().fit(columns["score"], columns["label"])
    beta = named("BetaCalibrator")().fit(columns["forest"], columns["label"])
    isotonic = named("IsotonicCalibrator")().fit(columns["score"], columns["label"])
    by = {"north": platt, "south": isotonic}
    logits = np.column_stack([classes[f"z_{label}"] for label in "abc"])
    scaling = named("VectorScaling")().fit(logits, classes["label"])
    known = list(columns)
    for engine, frame in engines(columns).items():

        def tables(frame: Any = frame, **options: Any) -> Any:
            found = oddsmith.ScoreTable.from_frame(frame, "score", "label", **options)
            return found if isinstance(found, oddsmith.ScoreTable) else dict(sorted(found.items(), key=str))

        def applied(*given: Any, frame: Any = frame, **options: Any) -> Any:
            found = columns_of(named("apply")(frame, *given, **options))
            return {name: column for name, column in found.items() if name not in known}

        case = f"frames/{engine}"
        pins.call(f"{case}/table", tables)
        pins.call(f"{case}/table-weight", lambda: tables(weight="importance"))
        pins.call(f"{case}/table-by", lambda: tables(by="segment", weight="weight"))
        pins.call(f"{case}/table-by-two", lambda: tables(by=["segment", "weight"]))
        pins.call(f"{case}/table-resolution", lambda: tables(resolution=0.25))
        pins.call(f"{case}/table-no-column", lambda: tables(weight="nothing"))
        for name, model, score in (("platt", platt, "score"), ("beta", beta, "forest"), ("step", isotonic, "score")):
            pins.call(f"{case}/apply-{name}", lambda model=model, score=score: applied(model, score, name="new"))
        pins.call(f"{case}/apply-by", lambda: applied(by, "score", name="new", by="segment"))
    for engine, frame in engines(classes).items():

        def joint(frame: Any = frame) -> Any:
            found = columns_of(named("apply_joint")(frame, scaling, ["z_a", "z_b", "z_c"]))
            return {name: column for name, column in found.items() if name not in classes}

        pins.call(f"frames/{engine}/apply-classes", joint)


# Measures

#: An interval that takes a minute.
_SLOW = ("three-counts", "canonical_calibration_error")


def forecasts() -> dict[str, tuple[Any, ...]]:
    """Return labels, probabilities and perhaps weights to measure."""
    rng = np.random.default_rng(10)
    score, y = drawn("measured", 300)
    logits, classes = drawn_classes("measured", 250)
    return {
        "calibrated": (y, sigmoid(1.5 * score - 0.3)),
        "overconfident": (y, sigmoid(4 * score)),
        "counts": (y, np.round(sigmoid(score), 2), rng.integers(1, 9, 300)),
        "importance": (y, sigmoid(score), rng.exponential(size=300)),
        "with-0-and-1": (y, np.round(sigmoid(3 * score), 1)),
        "few": (y[:12], sigmoid(score)[:12]),
        "three": (classes, softmax(logits)),
        "three-better": (np.array(list("abc"))[classes], softmax(0.6 * logits)),
        "three-counts": (classes, softmax(logits), rng.integers(1, 9, 250)),
    }


def measures(pins: Pins) -> None:
    """Pin every public measure, test and interval, and comparisons of methods."""
    metrics = importlib.import_module("oddsmith.metrics")
    functions = {name: getattr(metrics, name) for name in metrics.__all__}
    ours = {name: value for name, value in functions.items() if hasattr(value, "of") and not isinstance(value, type)}
    for kind, data in forecasts().items():
        for name, function in ours.items():
            pins.call(f"measures/{kind}/{name}", lambda function=function, data=data: function(*data))
    intervals = ["calibrated", "three"] if pins.quick else list(forecasts())
    n_resamples = 100 if pins.quick else 200
    for kind in intervals:
        y, p, weight = (*forecasts()[kind], None)[:3]
        for name, function in ours.items():
            if type(function) is type(metrics.log_loss) and (kind, name) != _SLOW:
                options = {"sample_weight": weight, "n_resamples": n_resamples, "random_state": 0}
                make = functools.partial(metrics.interval, function, y, p, **options)
                pins.call(f"intervals/{kind}/{name}", make)
    _other_measures(pins, metrics)


def _other_measures(pins: Pins, metrics: Any) -> None:
    y, p = forecasts()["overconfident"]
    other = forecasts()["calibrated"][1]
    classes, prob = forecasts()["three"]
    groups = np.arange(300) // 6
    loss, other_loss = -np.log(np.where(y == 1, p, 1 - p)), -np.log(np.where(y == 1, other, 1 - other))
    log_odds = np.log(p / (1 - p))
    forecast = oddsmith.ScoreTable.from_arrays(log_odds, y)
    several = metrics.class_forecast(classes, prob)
    pair = {"raw": p, "other": other}
    table = oddsmith.ScoreTable.from_arrays(*drawn("compared"))
    compare_methods = named("compare_methods")
    methods = {name: classes_named("Calibrator")[name]() for name in ("platt", "isotonic", "beta", "spline")}
    calls = {
        "summary": lambda: named("evaluate")(forecast, n_resamples=100, random_state=0),
        "summary-without-intervals": lambda: named("evaluate")(forecast, intervals=False),
        "verdict": lambda: named("verdict")(forecast),
        "verdict-of-scores": lambda: verdict_of_scores(table),
        "verdict-of-classes": lambda: named("verdict_of_classes")(several),
        "evaluate-classes": lambda: named("evaluate_classes")(several, n_resamples=100),
        "empirical-log-odds": lambda: metrics.empirical_log_odds(table),
        "sign-test": lambda: metrics.sign_test(30, 18, 4),
        "holm": lambda: metrics.holm([0.01, 0.04, 0.03, 0.5]),
        "mcnemar-test": lambda: metrics.mcnemar_test((p > 0.5) == y, (other > 0.6) == y),
        "micro-sign-test": lambda: metrics.micro_sign_test(loss, other_loss),
        "paired-t-test": lambda: metrics.paired_t_test(loss, other_loss),
        "paired-bootstrap": lambda: metrics.paired_bootstrap(loss, other_loss, random_state=0),
        "cluster-sign-flips": lambda: metrics.cluster_sign_flip_test(loss, other_loss, groups, random_state=0),
        "interval-groups": lambda: metrics.interval(
            metrics.calibration_error, y, p, groups=groups, n_resamples=200, random_state=0
        ),
        **{
            f"compare-rows-{protocol}": lambda protocol=protocol: named("compare_rows")(
                y, pair, protocol=protocol, input="probability", random_state=0
            )
            for protocol in ("B03", "ZY04", "t", "bootstrap")
        },
        **{
            f"calibration-error-{definition}": lambda definition=definition: metrics.calibration_error(
                y, p, definition=definition
            )
            for definition in ("quantile_bins", "width", "nothing")
        },
        "compare-methods": lambda: compare_methods(table, methods),
        "compare-methods-probability": lambda: compare_methods(
            oddsmith.ScoreTable.from_arrays(*drawn("unit")), methods, input="probability", random_state=4
        ),
    }
    for name, make in calls.items():
        pins.call(f"measures/other/{name}", make)


# Classifiers


def settings(X: np.ndarray, y: np.ndarray, k: int) -> dict[str, tuple[Any, dict[str, Any], dict[str, Any]]]:
    """Return estimators, with the options of a calibrated classifier and further arguments of its fit."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(12)
    groups, weight = rng.integers(40, size=len(y)), rng.integers(1, 4, len(y))
    bayes, forest = GaussianNB(), RandomForestClassifier(20, max_depth=4, random_state=0)
    found = {
        "default": (bayes, {}, {}),
        "prefit": (GaussianNB().fit(X[150:], y[150:]), {"prefit": True}, {}),
        "prefit-in-sample": (RandomForestClassifier(20, random_state=0).fit(X, y), {"prefit": True}, {}),
        "platt-ensemble": (bayes, {"method": "platt", "ensemble": True, "cv": 3}, {}),
        "isotonic-no-ensemble": (forest, {"method": "isotonic", "ensemble": False}, {}),
        "groups": (bayes, {"method": "platt", "cv": 3}, {"groups": groups}),
        "weights": (bayes, {"method": "beta", "cv": 3}, {"sample_weight": weight}),
        "margin": (LinearSVC(random_state=0), {"method": "platt", "cv": 4}, {}),
        "temperature": (LogisticRegression(), {"method": "temperature", "cv": 3}, {}),
        "forest": (forest, {"cv": 3}, {}),
        "seed": (bayes, {"method": "spline", "cv": 3, "random_state": 7}, {}),
        "wrong-method": (bayes, {"method": "plat"}, {}),
        "too-few-folds": (bayes, {"cv": 1}, {}),
    }
    if k > 2:
        found |= {
            "dirichlet": (bayes, {"method": "dirichlet", "cv": 3}, {}),
            "one-vs-rest": (bayes, {"method": "isotonic", "multiclass": "one_vs_rest", "cv": 3}, {}),
            "pairwise": (bayes, {"method": "platt", "multiclass": "pairwise", "cv": 3}, {}),
        }
    return found


def classifiers(pins: Pins) -> None:
    """Pin calibrated classifiers."""
    rng = np.random.default_rng(11)
    for k in (2, 3):
        X = rng.normal(size=(300, 4))
        first = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=300) > 0.5
        y = np.array(list("abc"))[first.astype(int) + (k == 3) * (X[:, 2] > 0.6)]

        def fit(estimator: Any, options: Any, arguments: Any, X: np.ndarray = X, y: np.ndarray = y) -> Any:
            made = oddsmith.CalibratedClassifier(estimator, **options).fit(X, y, **arguments)
            return {
                "classes": made.classes_.tolist(),
                "p": made.predict_proba(X[:60]),
                "log": made.predict_log_proba(X[:60]),
                "described": made.describe(),
            }

        for name, setting in list(settings(X, y, k).items())[:: 2 if pins.quick else 1]:
            pins.call(f"classifiers/{k}/{name}", functools.partial(fit, *setting))


def learners(pins: Pins) -> None:
    """Pin the classifiers that come with the library, combinations and decisions."""
    from oddsmith import combine, decide

    rng = np.random.default_rng(14)
    X = rng.poisson(2, size=(200, 6)).astype(float)
    y = (X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(size=200) > 2).astype(int)
    names = ("BoostedClassifier", "KernelLogisticRegression", "MultinomialNaiveBayes", "SmoothedTreeClassifier")
    for name in (*names, "VotedPerceptron"):
        seeded = {"random_state": 0} if name != "MultinomialNaiveBayes" else {}

        def fit(name: str = name, seeded: Any = seeded) -> Any:
            made = named(name)(**seeded).fit(X, y)
            scores = [way for way in ("predict_proba", "decision_function", "predict") if hasattr(made, way)]
            return {way: getattr(made, way)(X[:50]) for way in scores}

        pins.call(f"learners/{name}", fit)
    prob = np.column_stack([table_columns()["normal"][name] for name in ("forest", "net")])
    log_odds = np.log(prob / (1 - prob))
    several = softmax(drawn_classes("decided")[0])
    class_costs = np.array([[0.0, 2.0, 3.0], [1.0, 0.0, 4.0], [5.0, 1.0, 0.0]])
    calls = {
        "mean-log-odds": lambda: combine.mean_log_odds(log_odds),
        "mean-probability": lambda: combine.mean_probability(log_odds),
        "independent-evidence": lambda: combine.independent_evidence(log_odds, 0.3),
        "threshold": lambda: decide.cost_threshold(decide.binary_costs(false_positive=1.0, false_negative=5.0)),
        "decide": lambda: decide.decide(several, class_costs),
        "abstain": lambda: decide.decide(several, class_costs, abstain=0.4),
        "expected-cost": lambda: decide.expected_cost(several, class_costs),
        "uncertainty-sampling": lambda: decide.uncertainty_sampling(several, 15),
    }
    for name, make in calls.items():
        pins.call(f"decisions/{name}", make)


SECTIONS = (commands, models, hostile_fits, tables, exports, frames, measures, classifiers, learners)


def write(folder: Path, *, quick: bool) -> int:
    """Record everything."""
    if folder.exists() and any(folder.iterdir()):
        print(f"{folder} is not empty", file=sys.stderr)
        return 2
    pins = Pins(folder.resolve(), quick=quick)
    print(f"pinning {Path(oddsmith.__file__).parent}")
    for section in SECTIONS:
        start = time.process_time()
        with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
            section(pins)
        print(f"{section.__name__:<16}{time.process_time() - start:7.1f} s", flush=True)
    print(f"{sum(1 for _ in pins.folder.rglob('*.txt'))} cases in {folder}")
    return 0


# Comparing


def compare(old: Path, new: Path, renamed: Mapping[str, str] | None = None) -> list[str]:
    """Return one paragraph per file that differs; ``renamed`` gives words of the old texts that are others now."""
    names = {path.relative_to(folder) for folder in (old, new) for path in folder.rglob("*") if path.is_file()}
    found = []
    for name in sorted(names):
        sides = old / name, new / name
        if not all(side.exists() for side in sides):
            found.append(f"{name}: only in {old if sides[0].exists() else new}")
        elif name.suffix == ".npy":
            found.extend(f"{name}: {line}" for line in compared_arrays(*(np.load(side) for side in sides)))
        else:
            a, b = (side.read_text(encoding="utf-8") for side in sides)
            found.extend(f"{name}: {line}" for line in compared_texts(with_new_words(a, renamed or {}), b))
    return found


def with_new_words(text: str, renamed: Mapping[str, str]) -> str:
    """Return a text with some words replaced by others."""
    for word, now in renamed.items():
        text = re.sub(rf"(?<![\w-]){re.escape(word)}(?![\w-])", now, text)
    return text


def compared_arrays(a: np.ndarray, b: np.ndarray) -> list[str]:
    """Return how two arrays differ, in one line, or nothing if they have the same bits."""
    if a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes():
        return []
    if a.shape != b.shape or a.dtype != b.dtype:
        return [f"{a.dtype} array {a.shape} became {b.dtype} array {b.shape}"]
    with np.errstate(all="ignore"):
        change = np.where(a == b, 0.0, np.abs(a.astype(float) - b.astype(float)))
        place = np.unravel_index(np.argmax(np.nan_to_num(change, nan=np.inf)), a.shape)
        at = ", ".join(str(i) for i in place)
        became = f"{a[place].item()!r} became {b[place].item()!r} at [{at}]"
        line = f"{np.sum(a != b)} of {a.size} differ, at most by {change[place]:.3g} ({became})"
        if a.dtype.kind == "f" and min(a.min(), b.min()) >= 0 and max(a.max(), b.max()) <= 1:
            odds = [np.log(side) - np.log1p(-side) for side in (a, b)]
            shift = np.where(odds[0] == odds[1], 0.0, np.abs(odds[0] - odds[1]))
            line += f"; max |Δ log-odds| {np.nanmax(shift):.3g}"
    return [line]


_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def compared_texts(a: str, b: str) -> list[str]:
    """Return how two texts differ: by how much where only numbers do, and the first lines that do."""
    if a == b:
        return []
    first, second = a.splitlines(), b.splitlines()
    place = next(
        (i for i, (x, y) in enumerate(zip(first, second, strict=False)) if x != y), min(len(first), len(second))
    )
    if _NUMBER.sub("#", a) == _NUMBER.sub("#", b):
        numbers = [[float(number) for number in _NUMBER.findall(text)] for text in (a, b)]
        changes = [abs(x - y) / max(abs(x), abs(y)) for x, y in zip(*numbers, strict=True) if x != y]
        line = f"{len(changes)} numbers differ, at most by {max(changes, default=0):.3g} of their size"
    else:
        differing = sum(x != y for x, y in zip(first, second, strict=False)) + abs(len(first) - len(second))
        line = f"{differing} of {max(len(first), len(second))} lines differ"
    shown = [(side[place : place + 1] or ["(end)"])[0] for side in (first, second)]
    same = next((i for i, (x, y) in enumerate(zip(*shown, strict=False)) if x != y), min(map(len, shown)))
    start = max(same - 60, 0)
    shown = [("…" if start else "") + line[start : start + 200] for line in shown]
    return [f"{line}; line {place + 1}\n    - {shown[0]}\n    + {shown[1]}"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pins", description=__doc__.splitlines()[0])
    actions = parser.add_subparsers(dest="action", required=True)
    writing = actions.add_parser("write", help="record what the library on the path does")
    writing.add_argument("folder", type=Path)
    writing.add_argument("--quick", action="store_true", help="a part of it, within a minute")
    comparing = actions.add_parser("compare", help="list what differs; ends with 1 if anything does")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument(
        "--renamed", nargs=2, action="append", default=[], metavar=("WORD", "NOW"), help="a word that is another now"
    )
    chosen = parser.parse_args()
    if chosen.action == "compare":
        found = compare(chosen.old, chosen.new, dict(chosen.renamed))
        print("\n".join([*found, f"{len(found)} files differ"]))
        return 1 if found else 0
    if any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):
        command = [sys.executable, "-m", "benchmarks.pins", *sys.argv[1:]]
        return subprocess.run(command, env={**os.environ, **ENVIRONMENT}, check=False).returncode
    return write(chosen.folder, quick=chosen.quick)


if __name__ == "__main__":
    sys.exit(main())
