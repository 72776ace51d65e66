import csv
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from benchmarks import calarena
from scipy.special import expit, softmax
from sklearn.metrics import accuracy_score

from optional import needs

#: What probmetrics, in the version that is named there, computes of the forecasts of `sure_of_itself`.
PROBMETRICS = Path(__file__).with_name("probmetrics.json")

# As in the results that CalArena publishes.
_FIRST, _LAST = "dataset,model,cal_size,test_size", "{0}_ece-15,{0}_accuracy,{0}_time"
COLUMNS = {
    "toy-binary": f"{_FIRST},{{0}}_brier,{{0}}_logloss,{{0}}_kuiper,{_LAST}",
    "toy-multiclass": f"{_FIRST},n_classes,{{0}}_brier,{{0}}_logloss,{_LAST}",
}


def sure_of_itself(k, n, seed):
    """Return float32 probabilities twice as sure as they should be, with int32 labels."""
    rng = np.random.default_rng(seed)
    if k == 2:
        logits = rng.normal(size=n)
        return expit(2 * logits).astype(np.float32), (rng.random(n) < expit(logits)).astype(np.int32)
    logits = 2 * rng.normal(size=(n, k))
    y = np.argmax(logits + rng.gumbel(size=(n, k)), axis=1)
    return softmax(2 * logits, axis=1).astype(np.float32), y.astype(np.int32)


@pytest.fixture
def folder(tmp_path):
    """Return a folder in CalArena's layout."""
    h5py = needs("h5py")
    for benchmark, k in (("toy-binary", 2), ("toy-multiclass", 4)):
        with h5py.File(tmp_path / f"{benchmark}.h5", "w") as h5:
            for seed, model in enumerate(("forest", "network")):
                group = h5.create_group(f"toy/{model}")
                for part, n in (("cal", 400), ("test", 600)):
                    p, y = sure_of_itself(k, n, seed + n)
                    group.create_dataset(f"probas_{part}", data=p, compression="gzip")
                    group.create_dataset(f"labels_{part}", data=y, compression="gzip")
        sizes = "400,600" if k == 2 else f"400,600,{k}"
        head = "dataset,model,cal_size,test_size" + ("" if k == 2 else ",n_classes")
        lines = [head, *(f"toy,{model},{sizes}" for model in ("forest", "network"))]
        (tmp_path / f"{benchmark}-experiments.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_the_command_writes_results_as_calarena_does(folder, capsys):
    wishes = ["--data", str(folder), "--results", str(folder / "results")]
    assert calarena.main([*COLUMNS, *wishes]) == 0
    for benchmark, columns in COLUMNS.items():
        for name in calarena.CUSTOM_CALIBRATORS:
            text = (folder / "results" / benchmark / f"{name}.csv").read_text()
            assert text.splitlines()[0] == columns.format(name)
            found = list(csv.DictReader(text.splitlines()))
            assert [(row["dataset"], row["model"]) for row in found] == [("toy", "forest"), ("toy", "network")]
            assert all((row["cal_size"], row["test_size"]) == ("400", "600") for row in found)
            k = 2 if benchmark == "toy-binary" else 4
            for seed, row in enumerate(found):
                p, y = sure_of_itself(k, 600, seed + 600)
                raw = calarena.measures(np.column_stack([1 - p, p]) if k == 2 else p, y)
                assert float(row[f"{name}_logloss"]) < raw["logloss"] - 0.02, "calibrating must have helped"
    assert capsys.readouterr().out.count("2 experiments") == 2 * len(calarena.CUSTOM_CALIBRATORS)


def test_missing_data_are_named(tmp_path, capsys):
    assert calarena.main(["cv-binary", "--data", str(tmp_path)]) == 2
    assert "must contain cv-binary.h5 and cv-binary-experiments.csv" in capsys.readouterr().err


@pytest.mark.parametrize("name", calarena.CUSTOM_CALIBRATORS)
@pytest.mark.parametrize("k", [2, 3])
def test_calibrators_answer_as_calarena_asks(name, k):
    p, y = sure_of_itself(k, 300, 0)
    calibrator = calarena.CUSTOM_CALIBRATORS[name]()
    assert calibrator.fit(p, y) is None
    prob = calibrator.predict_proba(p)
    assert prob.shape == (300, k)
    np.testing.assert_allclose(prob.sum(axis=1), 1)
    if k == 2:  # two columns are as good as one
        again = calarena.CUSTOM_CALIBRATORS[name]()
        again.fit(np.column_stack([1 - p, p]), y)
        np.testing.assert_array_equal(again.predict_proba(p), prob)


def test_measures_follow_their_definitions():
    p, y = sure_of_itself(3, 500, 1)
    prob = p.astype(float)
    found = calarena.measures(prob, y)
    assert found["logloss"] == pytest.approx(-np.log(prob[np.arange(500), y]).mean())
    assert found["brier"] == pytest.approx(((prob - np.eye(3)[y]) ** 2).sum(axis=1).mean())
    assert found["accuracy"] == accuracy_score(y, prob.argmax(axis=1))
    top, right = prob.max(axis=1), prob.argmax(axis=1) == y
    edges = np.linspace(0, 1, 16)
    cells = [(top > low) & (top <= high) for low, high in pairwise(edges)]
    assert found["ece-15"] == pytest.approx(sum(abs((right - top)[cell].sum()) for cell in cells) / 500)


def test_kuiper_is_the_largest_excess_between_two_scores():
    prob = np.array([0.2, 0.4, 0.6, 0.8])
    y = np.array([1, 0, 0, 1])
    found = calarena.measures(np.column_stack([1 - prob, prob]), y)
    # Sums of y − p, over 4: 0.2, 0.1, −0.05, 0.
    assert found["kuiper"] == pytest.approx(0.25)
    assert found["brier"] == pytest.approx(2 * np.mean((y - prob) ** 2))


@pytest.mark.parametrize("k", [2, 4])
def test_measures_are_those_of_probmetrics(k):
    p, y = sure_of_itself(k, 700, 2)
    prob = np.column_stack([1 - p, p]) if k == 2 else p
    found = calarena.measures(prob.astype(float), y)
    theirs = json.loads(PROBMETRICS.read_text())["values"][str(k)]
    assert found == pytest.approx(theirs, rel=1e-4, abs=1e-6)
