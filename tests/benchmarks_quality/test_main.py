import json

from benchmarks.quality import __main__ as quality

from optional import needs


def test_it_runs_on_sets_that_come_with_scikit_learn(cache, monkeypatch, capsys):
    for package in ("betacal", "duckdb", "probcal", "splinecalib", "venn_abers"):
        needs(package)
    monkeypatch.delenv("ODDSMITH_DATA", raising=False)
    written = cache / "found.json"
    wanted = ["PlattCalibrator", "IsotonicCalibrator"]
    assert quality.main(["two", "--only", *wanted, "--sizes", "100", "--json", str(written)]) == 0
    said = capsys.readouterr().out
    assert "ODDSMITH_DATA is not set: data without files take part (breast_cancer, digits)" in said
    assert "18 tasks from 2 sources of data, 3 competitors" in said
    assert "(" not in said.partition("| PlattCalibrator ")[2].partition("\n")[0], "no interval from two sources"
    losses = {
        name: [one["log_loss"] for one in found] for name, found in json.loads(written.read_text())["outcomes"].items()
    }
    assert sum(losses["PlattCalibrator"]) < sum(losses["nothing"])


def test_without_the_extra_there_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(quality, "find_spec", lambda name: None if name == "betacal" else object())
    assert quality.main(["two"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "The benchmark needs the extras bench and cli; got an installation without betacal. "
        "Hint: pip install '.[bench,cli]'.\n"
    )
