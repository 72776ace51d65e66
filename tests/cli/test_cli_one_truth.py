"""Of one file all commands give the same verdict, and none sends users in a circle."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from cli_files import csv_text
from scipy.special import expit, logit

COMMANDS = {
    "evaluate": ("evaluate", "p.csv", "--json"),
    "compare": ("compare", "p.csv", "-m", "auto", "-m", "platt", "--json"),
    "report": ("report", "p.csv", "-o", "out.json", "-f", "-m", "auto", "-m", "platt", "--json"),
    "fit": ("fit", "p.csv", "-o", "model.json", "-f", "-m", "platt", "--json"),
    "check": ("check", "p.csv", "--max-brier", "1", "--json"),
}


def write(p, y, **more):
    Path("p.csv").write_text(csv_text({"p": p, "label": y, **more}))


def verdicts(run):
    return {name: run(*words).json["verdict"] for name, words in COMMANDS.items()}


def drawn(n, slope, seed):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 2, n)
    return expit(slope * logit(p)), (rng.random(n) < p).astype(int)


@pytest.mark.parametrize(
    ("n", "slope", "start", "may_fit"),
    [
        (300, 0.5, "Miscalibrated (slope ", True),
        (3000, 0.85, "Slightly miscalibrated (slope ", False),
        (3000, 1.0, "No sign of miscalibration (slope ", False),
        (200, 1.0, "No test rejects calibration (slope ", None),
        (40, 0.5, "Cannot tell: 40 cases", None),
    ],
)
def test_all_commands_quote_one_verdict(run, n, slope, start, may_fit):
    write(*drawn(n, slope, 1))
    found = verdicts(run)
    sentence = found["check"]
    assert sentence.startswith(start)
    for name, words in found.items():
        assert sentence.replace("probability", "score") in words.replace("probability", "score"), name
    steps = [
        re.sub(".*Next: ", "", found[name]) for name in ("evaluate", "compare", "report") if "Next: " in found[name]
    ]
    if may_fit is not None:
        assert all(("oddsmith fit" in step) == may_fit for step in steps)
    if may_fit:
        assert len(steps) == 3


def test_forty_cases_are_not_refuted_and_undecided_at_once(run):
    write(np.linspace(0.9, 0.99, 40), np.arange(40) % 2)
    for words in verdicts(run).values():
        assert "Cannot tell" in words
        assert "iscalibrated" not in words


@pytest.mark.parametrize("kind", ["no signal", "reversed", "one class"])
@pytest.mark.parametrize("method", ["auto", "platt"])
def test_fit_never_praises_a_useless_score(run, kind, method):
    rng = np.random.default_rng(2)
    s = rng.normal(size=600)
    y = {
        "no signal": rng.integers(0, 2, 600),
        "reversed": (rng.random(600) < expit(-2 * s)).astype(int),
        "one class": np.ones(600, int),
    }[kind]
    Path("s.csv").write_text(csv_text({"score": s, "label": y}))
    told = run("fit", "s.csv", "-o", "m.json", "-m", method)
    assert told.code == 0, told.err
    assert "worth it" not in told.out
    expected = {"no signal": "has no signal", "reversed": "is reversed", "one class": "Cannot tell"}[kind]
    assert expected in " ".join(told.out.split())
    if kind == "reversed":
        assert "Next: negate the score" in " ".join(told.out.split())


@pytest.mark.parametrize("scores", ["deciles", "uint64", "log-odds"])
def test_scores_that_are_not_probabilities_have_no_log_loss_before(run, scores):
    rng = np.random.default_rng(3)
    z = rng.normal(size=500)
    y = (rng.random(500) < expit(z)).astype(int)
    ranks = np.argsort(np.argsort(z))
    values = {"deciles": ranks // 50 + 1, "uint64": ranks.astype(np.uint64) * 10**15, "log-odds": z}[scores]
    Path("s.csv").write_text(csv_text({"score": values, "label": y}))
    told = run("fit", "s.csv", "-o", "m.json", "--json")
    assert told.code == 0, told.err
    assert told.json["verdict"].startswith("Before calibration: The scores are not probabilities (values from")
    assert not re.search(r"log-loss (went|falls|rises) from", told.json["verdict"])


def test_quiet_keeps_warnings(run):
    Path("s.csv").write_text(csv_text({"score": np.arange(60.0), "label": (np.arange(60) >= 30).astype(int)}))
    told = run("fit", "s.csv", "-o", "m.json", "-m", "logistic", "-q")
    assert told.code == 0
    assert told.err.startswith("Warning: ")
    assert "Using column" not in told.err


def clustered(seed, n_groups=60, size=20):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), size)
    p = rng.beta(1, 2, len(group))
    u = np.where(rng.random(len(group)) < 0.8, rng.random(n_groups)[group], rng.random(len(group)))
    return p, (u < p).astype(int), [f"patient {i}" for i in group]


def test_groups_count_once_in_every_command(run):
    p, y, group = clustered(4)
    write(p, y, patient=group)
    for name in ("evaluate", "compare", "report"):
        rows, groups = (run(*COMMANDS[name], *more) for more in ((), ("--groups", "patient")))
        assert rows.code == groups.code == 0, groups.err
        assert groups.json["verdict"] != rows.json["verdict"]
    rows, groups = (
        run("fit", "p.csv", "-o", "m.json", "-f", "--json", *more) for more in ((), ("--groups", "patient"))
    )
    assert groups.code == 0, groups.err
    assert groups.json["verdict"] != rows.json["verdict"]
    judged = run(*COMMANDS["evaluate"], "--groups", "patient").json["judged"]["words"]
    assert judged.replace("probability", "score").split(";")[0] in groups.json["verdict"]
    both = run("fit", "p.csv", "-o", "m.json", "-f", "--groups", "patient", "--by", "patient")
    assert both.code != 0
    assert "--groups must not be combined with --by; got --groups patient --by patient" in both.error
    found = run(*COMMANDS["compare"], "--groups", "patient").json
    assert found["comparison"]["measures"]["log_loss"]["test"] == "t-test over groups"
    page = run("report", "p.csv", "-o", "out.md", "-m", "platt", "--groups", "patient")
    assert page.code == 0
    assert "groups 'patient'" in Path("out.md").read_text()
    assert "groups must name a column of p.csv" in run(*COMMANDS["compare"], "--groups", "patent").err


def test_groups_of_several_classes(run):
    rng = np.random.default_rng(5)
    z = np.repeat(1.5 * rng.normal(size=(60, 3)), 8, axis=0)
    z += 0.01 * rng.normal(size=z.shape)
    y = np.repeat(np.argmax(z[::8] + rng.gumbel(size=(60, 3)), axis=1), 8)
    columns = {f"z_{k}": z[:, k] for k in range(3)}
    Path("c.csv").write_text(csv_text({**columns, "label": y, "doc": np.repeat(np.arange(60), 8)}))
    options = ("c.csv", "--scores", "z_*", "--json")
    rows = run("evaluate", *options).json["judged"]
    groups = run("evaluate", *options, "--groups", "doc").json["judged"]
    assert groups["p_value"] > rows["p_value"]
    fitted = run("fit", *options, "-o", "m.json", "--groups", "doc")
    assert fitted.code == 0, fitted.err
    assert json.loads(Path("m.json").read_text())["verdict"].startswith("In 5 folds of whole groups the log-loss went")
    assert groups["words"] in fitted.json["verdict"]
    found = run("compare", *options, "--groups", "doc", "-m", "temperature")
    assert found.code == 0, found.err
    assert found.json["comparison"]["measures"]["log_loss"]["test"] == "t-test over groups"
    page = run("report", "c.csv", "--scores", "z_*", "-o", "c.md", "-m", "temperature", "--groups", "doc")
    assert page.code == 0, page.err
    assert "column 'doc'" in Path("c.md").read_text()


def test_copies_are_mentioned_and_count_once(run):
    p, y = drawn(300, 1.0, 6)
    write(np.tile(p, 10), np.tile(y, 10))
    found = verdicts(run)
    for words in found.values():
        assert "Warning: 90.0% of the rows are copies of another row" in words
    assert "Calibrate with" not in found["compare"]


def test_scores_of_training_rows_raise_suspicion(run):
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 400)
    write(np.where(y == 1, rng.uniform(0.75, 1, 400), rng.uniform(0, 0.25, 400)), y)
    for words in verdicts(run).values():
        assert "Make sure that these rows were not used to train the classifier" in words
