"""Hints work when they are followed literally: whatever one says is done, and then the command succeeds."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from cli_files import csv_text

N = 60


def rows():
    rng = np.random.default_rng(12)
    score = rng.normal(size=N).round(3)
    return score.tolist(), (rng.random(N) < 1 / (1 + np.exp(-score))).astype(int).tolist()


def write(name, score, label, separator=","):
    Path(name).write_text(csv_text({"score": score, "label": label}, separator))


def repaired(change):
    """Repair the file, as a hint says in words, and run the same command again."""

    def follow(arguments, hint):
        path = Path(arguments[1])
        path.write_text(change(path.read_text()))
        return arguments

    return follow


def with_options(arguments, hint):
    """Add the options that follow the word "pass"."""
    return [*arguments, *shlex.split(re.search(r"pass (--[^;]*?)(?: to | for |; |, or |$)", hint)[1])]


def with_last_options(arguments, hint):
    return [*arguments, *shlex.split(hint.rpartition("pass ")[2])]


def with_column(arguments, hint):
    """Replace the name of a column by the one that was meant."""
    return [re.search("did you mean '(.*)'", hint)[1] if word == "scroe" else word for word in arguments]


def with_each_name(arguments, hint):
    """Name a column as the hint says; the next error asks for the other."""
    return [*arguments, *shlex.split(hint.removeprefix("pass ")), {"--score": "a", "--label": "b"}[hint.split()[-1]]]


def without_option(arguments, hint):
    at = arguments.index({"--weight": "-w"}[re.search(r"leave (--\w+) out", hint)[1]])
    return arguments[:at] + arguments[at + 2 :]


def swapped(arguments, hint):
    return [*shlex.split(re.search("oddsmith (.*) …", hint)[1]), *arguments[3:]]


def forced(arguments, hint):
    return [*arguments, re.search("or (--force) to replace it", hint)[1]]


def single_quotes():
    score, label = rows()
    write("in.csv", [f"'{value}'" for value in score], label)


def several_columns():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(3), N)
    columns = {f"p_{name}": p[:, i].tolist() for i, name in enumerate(("cat", "dog", "cow"))}
    Path("in.csv").write_text(csv_text({**columns, "label": rng.choice(["cat", "dog", "cow"], N).tolist()}))


def after_lines(*lines):
    def make():
        write("in.csv", *rows(), separator=";")
        path = Path("in.csv")
        path.write_text("".join(f"{line}\n" for line in lines) + path.read_text())

    return make


def plain():
    write("in.csv", *rows())


def decimal_commas():
    score, label = rows()
    write("in.csv", [str(value).replace(".", ",") for value in score], label, ";")


def cut_json():
    score, label = rows()
    text = "".join(f'{{"score": {s}, "label": {y}}}\n' for s, y in zip(score, label, strict=True))
    Path("in.jsonl").write_text(text[:-8])


def all_bad():
    score, label = rows()
    Path("in.csv").write_text(csv_text({"score": [f"s{s}" for s in score], "logit2": score, "label": label}))


def arrays():
    score, label = rows()
    np.savez("in.npz", a=np.array(score), b=np.array(label))


def mixed_labels():
    score, label = rows()
    write("in.csv", score, [("no", "yes")[y] if i % 2 else y for i, y in enumerate(label)])


def spelled_labels():
    score, label = rows()
    write("in.csv", score, ["nein" if not y else "ja" if i % 3 else "JA " for i, y in enumerate(label)])


def other_column(arguments, hint):
    assert hint.startswith("choose other columns")
    return [*arguments, "--score", "logit2"]


FIT = ["fit", "in.csv", "-o", "m.json"]
CASES = {
    "quoted values": (single_quotes, FIT, repaired(lambda text: text.replace("'", ""))),
    "quoted otherwise": (single_quotes, FIT, repaired(lambda text: text.replace("'", '"'))),
    "several columns": (several_columns, FIT, with_last_options),
    "separator line": (after_lines("sep=;"), FIT, with_options),
    "comment": (after_lines("# made by hand"), FIT, with_options),
    "comments with separators": (after_lines("# a; b; c", " # d"), FIT, with_options),
    "score as weight": (plain, [*FIT, "-w", "score"], without_option),
    "score as score and weight": (plain, [*FIT, "-s", "score", "-w", "score"], without_option),
    "swapped arguments": (plain, ["apply", "in.csv", "model.json", "-o", "applied.csv"], swapped),
    "cut JSON line": (cut_json, ["fit", "in.jsonl", "-o", "m.json"], with_options),
    "cut JSON line applied": (cut_json, ["apply", "model.json", "in.jsonl", "-o", "applied.jsonl"], with_options),
    "all rows bad": (all_bad, FIT, other_column),
    "decimal commas": (decimal_commas, FIT, repaired(lambda text: text.replace(",", "."))),
    "wrong column": (plain, [*FIT, "-s", "scroe"], with_column),
    "existing output": (plain, ["fit", "in.csv", "-o", "model.json"], forced),
    "arrays": (arrays, ["fit", "in.npz", "-o", "m.json"], with_each_name),
    "mixed labels": (mixed_labels, FIT, with_options),
    "labels that differ by case": (spelled_labels, [*FIT, "--positive", "ja"], with_options),
    "unit scores": (plain, [*FIT, "--scores-are", "probability"], with_options),
}


@pytest.mark.parametrize("case", CASES)
def test_hints_work_when_followed(run, scores, model, case):
    make, arguments, follow = CASES[case]
    make()
    for _ in range(3):  # a hint may lead to the next one, and no farther
        told = run(*arguments)
        if told.code == 0:
            break
        hint = told.error.partition(" Hint: ")[2].removesuffix(".")
        arguments = follow(list(arguments), hint)
    assert told.code == 0, told.err


@pytest.mark.parametrize("case", CASES)
def test_each_case_begins_with_an_error(run, scores, model, case):
    make, arguments, _ = CASES[case]
    make()
    assert " Hint: " in run(*arguments).error


def test_the_hint_does_not_lead_to_a_file_without_rows(run):
    all_bad()
    error = run(*FIT).error
    assert "60 of 60 rows cannot be used" in error
    assert "--bad-rows skip" not in error


def test_a_header_may_begin_with_a_number_sign(run):
    score, label = rows()
    Path("in.csv").write_text(csv_text({"#id": range(N), "score": score, "label": label}))
    assert run(*FIT).code == 0


def test_likely_columns_are_listed_first(run):
    score, label = rows()
    many = {f"feature{i}": score for i in range(30)}
    Path("in.csv").write_text(csv_text({**many, "churn_label_2024": label, "raw score of model": score}))
    error = run(*FIT).error
    assert "got columns 'raw score of model', 'feature0'" in error
    error = run(*FIT, "-s", "raw score of model").error
    assert "no label column recognized; got columns 'churn_label_2024', 'feature0'" in error
    assert "choose one of 'raw score of model', 'feature0'" in run(*FIT, "-s", "zzz").error
