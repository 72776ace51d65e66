"""Commands on the scores of several classes."""

import json
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
from cli_files import csv_text

import oddsmith
from oddsmith import combine
from oddsmith.calibrators.registry import fit_method
from oddsmith.data.score_rows import ScoreRows
from oddsmith.decide import decide, expected_cost
from oddsmith.files import rows as row_reading
from oddsmith.metrics import evaluate, evaluation

LABELS = ("ant", "bee", "cat")
N = 300


def data(n=N, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return np.round(rng.normal(size=(n, 3)) * 3 + 4 * np.eye(3)[y], 4), y


def softmax(z):
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(evaluation, "_LABEL_SAMPLES", 20)


@pytest.fixture
def logits(tmp_path):
    z, y = data()
    columns = {f"z_{label}": z[:, k].tolist() for k, label in enumerate(LABELS)}
    (tmp_path / "logits.csv").write_text(csv_text({**columns, "label": np.array(LABELS)[y].tolist()}))
    return Path("logits.csv")


@pytest.fixture
def arrays(tmp_path):
    z, y = data()
    np.savez(tmp_path / "outputs.npz", logits=z, labels=y)
    return Path("outputs.npz")


@pytest.fixture
def probabilities(tmp_path):
    z, y = data()
    p = softmax(z / 2)
    columns = {f"p_{label}": p[:, k].tolist() for k, label in enumerate(LABELS)}
    (tmp_path / "p.csv").write_text(csv_text({**columns, "label": np.array(LABELS)[y].tolist()}))
    return Path("p.csv")


@pytest.fixture
def model(run, logits):
    assert run("fit", logits, "-o", "model.json", "--scores", "z_*", "-m", "vector", "-q").code == 0
    return Path("model.json")


def rows(input_="logits"):
    z, y = data()
    values, meaning = (z, "log_odds") if input_ == "logits" else (softmax(z / 2), "probability")
    return ScoreRows(values, y, LABELS, None, LABELS, meaning)


class TestFit:
    @pytest.mark.parametrize("method", ["auto", "temperature", "vector", "matrix", "dirichlet"])
    def test_a_scaling_is_the_librarys(self, run, logits, method):
        told = run("fit", logits, "-o", "m.json", "--scores", "z_*", "-m", method, "--json")
        assert told.code == 0, told.err
        z, y = data()
        made = {"auto": oddsmith.AutoScaling}.get(method) or getattr(oddsmith, f"{method.capitalize()}Scaling")
        fitted = made(input="logits").fit(z, np.array(LABELS)[y])
        loaded = oddsmith.load("m.json")
        np.testing.assert_array_equal(loaded.predict_proba(z), fitted.predict_proba(z))
        assert loaded.labels == LABELS
        assert loaded.column_names == ("z_ant", "z_bee", "z_cat")
        assert told.json["classes"] == dict(zip(LABELS, np.bincount(y).tolist(), strict=True))
        assert told.json["verdict"].startswith(
            "Before calibration: Miscalibrated (mean confidence 0.855, accuracy 0.700, p <"
        )
        assert "Read as logits" in told.err

    def test_each_class_against_the_rest(self, run, logits, probabilities):
        for path, pattern, input_ in ((logits, "z_*", "logits"), (probabilities, "p_*", "probabilities")):
            told = run("fit", path, "-o", "m.json", "--scores", pattern, "-m", "one-vs-rest:platt", "-f")
            assert "PlattCalibrator fitted to each class against the rest to 300 rows of 3 classes" in told.out
            expected = fit_method(rows(input_), oddsmith.PlattCalibrator())
            assert oddsmith.load("m.json").map == expected.map

    def test_arrays_need_no_columns(self, run, arrays):
        told = run("fit", arrays, "-o", "m.json", "-m", "temperature")
        assert "Using columns 'logits_0' to 'logits_2' as the scores and column 'labels' as the label" in told.err
        assert oddsmith.load("m.json").labels == (0, 1, 2)
        z, y = data()
        np.save("z.npy", z)
        np.save("y.npy", y)
        assert run("fit", "z.npy", "--labels", "y.npy", "-o", "n.json", "-m", "temperature").code == 0
        assert oddsmith.load("n.json").map == oddsmith.load("m.json").map

    def test_two_classes_as_two_columns(self, run, tmp_path):
        z, y = data()
        keep = y < 2
        np.savez(tmp_path / "two.npz", logits=z[keep][:, :2], labels=y[keep])
        assert run("fit", "two.npz", "-o", "m.json").code == 0
        assert len(oddsmith.load("m.json").labels) == 2

    def test_warnings_are_told_and_kept(self, run):
        Path("a.csv").write_text("p_a,p_b,p_c,label\n" + "5,1,0,a\n1,5,0,b\n" * 20)
        told = run("fit", "a.csv", "-o", "m.json", "--scores", "p_*", "-m", "temperature")
        assert "Warning: no row has the label c." in told.err
        assert "The true class has the largest logit in every row" in told.err
        assert any("largest logit in every row" in text for text in oddsmith.load("m.json").warnings)

    def test_a_sample_is_announced(self, run, logits, monkeypatch):
        monkeypatch.setattr(row_reading, "MOST_VALUES", 300)
        args = ("fit", logits, "--scores", "z_*", "-m", "temperature")
        told = run(*args, "-o", "a.json")
        assert "Using a random sample of 100 of 300 rows (--seed 0)" in told.err
        assert "fitted to 100 rows (a sample of 300)" in told.out
        run(*args, "-o", "b.json", "--seed", 0)
        run(*args, "-o", "c.json", "--seed", 1)
        run(*args, "-o", "d.json", "--sample", 300)
        maps = [oddsmith.load(f"{name}.json").map for name in "abcd"]
        assert maps[0] == maps[1] != maps[2]
        assert oddsmith.load("d.json").data.rows == 300

    @pytest.mark.parametrize("weighted", [False, True])
    def test_each_class_against_the_rest_uses_all_rows(self, run, logits, probabilities, monkeypatch, weighted):
        weights = np.arange(N) % 3
        for path in (logits, probabilities):
            lines = path.read_text().splitlines()
            path.write_text("\n".join(f"{a},{b}" for a, b in zip(lines, ["w", *weights.tolist()], strict=True)) + "\n")
        monkeypatch.setattr(row_reading, "MOST_VALUES", 300)
        for path, pattern, input_ in ((logits, "z_*", "logits"), (probabilities, "p_*", "probabilities")):
            given = ("fit", path, "-o", "m.json", "--scores", pattern, "-m", "platt", "-f")
            told = run(*given, *(["--weight", "w"] if weighted else []))
            assert "Using all 300 rows, by one table per class." in told.err
            expected = fit_method(
                replace(rows(input_), weight=weights if weighted else None), oddsmith.PlattCalibrator()
            )
            found = oddsmith.load("m.json")
            values = rows(input_).values
            np.testing.assert_allclose(found.predict_proba(values), expected.predict_proba(values), atol=1e-9)
            assert found.data == expected.data

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--scores", "q_*"], "scores must match columns of logits.csv"),
            (["--scores", "z_*", "--positive", "ant"], "--positive is for the scores of two classes"),
            (["--scores", "z_*", "--by", "label"], "'label' is taken by --by"),
            (["--scores", "z_*", "--classes", "a,b"], "classes must be one per score column; got 2 for 3 columns"),
            (["--scores", "z_*", "--classes", "0,1,2"], "name the classes in the order of the columns with --classes"),
            (["--scores", "z_*", "-m", "plat"], "did you mean 'platt'"),
            (["--scores", "z_*", "-m", "one-vs-rest"], "write --method one-vs-rest:platt"),
            (["--scores", "z_*", "-m", "one-vs-rest:plat"], "did you mean 'platt'"),
            (["--scores", "z_*", "-m", "one-vs-rest:METHOD"], "--method must be one of"),
            (["--scores", "z_*", "--scores-are", "probabilities"], "all rows of logits.csv must be usable"),
            (["--score", "z_ant", "--classes", "a,b"], "classes must be for several columns of scores"),
            (["--score", "z_ant", "--sample", "5"], "--sample is for several classes"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, run, logits, options, words):
        assert words in run("fit", logits, "-o", "m.json", *options).error
        assert not Path("m.json").exists()

    def test_nothing_is_overwritten_without_force(self, run, logits, model):
        before = model.read_bytes()
        assert "must not exist yet" in run("fit", logits, "-o", model, "--scores", "z_*").error
        assert "must not be the input" in run("fit", logits, "-o", logits, "--scores", "z_*", "--force").error
        assert model.read_bytes() == before

    def test_two_columns_of_one_name_are_refused(self, run):
        Path("twice.csv").write_text("p_a,p_b,p_a,label\n1,2,3,a\n3,2,1,b\n")
        assert "got 'p_a', 2 times in twice.csv" in run("fit", "twice.csv", "-o", "m.json", "--scores", "p_*").error


class TestApply:
    @pytest.mark.parametrize("kind", ["logits", "probabilities"])
    def test_a_thousand_classes(self, run, tmp_path, kind):
        rng = np.random.default_rng(0)
        z, y = rng.normal(size=(30, 1000)), rng.integers(1000, size=30)
        values = z if kind == "logits" else softmax(z)
        np.savez(tmp_path / "many.npz", **{kind: values, "labels": y})
        assert run("fit", "many.npz", "-o", "many.json", "-m", "temperature", "-q").code == 0
        assert run("apply", "many.json", "many.npz", "-o", "many.parquet", "-q").code == 0
        found = duckdb.sql("FROM 'many.parquet'").fetchnumpy()
        p = np.column_stack([found[f"probability_{k}"] for k in range(1000)])
        np.testing.assert_allclose(p, oddsmith.load("many.json").predict_proba(values), rtol=0, atol=1e-12)

    def test_one_probability_per_class_and_the_decision(self, run, logits, model):
        told = run("apply", model, logits, "-o", "out.parquet", "--json")
        assert told.json == {"output": "out.parquet", "rows": N, "classes": list(LABELS)}
        found = duckdb.sql("FROM 'out.parquet'").fetchnumpy()
        assert list(found)[4:] == ["probability_ant", "probability_bee", "probability_cat", "decision"]
        z, _ = data()
        loaded = oddsmith.load(model)
        p = np.column_stack([found[f"probability_{label}"] for label in LABELS])
        np.testing.assert_allclose(p, loaded.predict_proba(z), rtol=0, atol=1e-12)
        assert found["decision"].tolist() == loaded.predict(z).tolist()

    def test_names_standard_output_and_bad_rows(self, run, model):
        Path("new.csv").write_text("z_cat,z_bee,z_ant\n1,2,3\n1,,3\n0,0,1\n")
        assert "score is missing in 'z_bee'" in run("apply", model, "new.csv", "-o", "-").error
        told = run("apply", model, "new.csv", "-o", "out.csv", "--name", "p", "--bad-rows", "skip")
        assert "Left out: 1 of 3 rows" in told.err
        lines = Path("out.csv").read_text().splitlines()
        assert lines[0] == "z_cat,z_bee,z_ant,p_ant,p_bee,p_cat,decision"
        assert [line.split(",")[-1] for line in lines[1:]] == ["ant", "ant"]

    def test_options_of_the_other_kind_are_refused(self, run, model, logits):
        assert "the model reads 3 columns; got 1" in run("apply", model, logits, "-o", "o.csv", "-s", "z_ant").error
        run("fit", logits, "-o", "two.json", "-s", "z_ant", "-m", "platt", "--positive", "ant")
        assert (
            "the model reads 1 column; got 3"
            in run("apply", "two.json", logits, "-o", "o.csv", "--scores", "z_*").error
        )

    def test_probabilities_for_a_model_of_logits_are_noticed(self, run, model, logits, probabilities):
        told = run("apply", model, probabilities, "-o", "o.csv", "--scores", "p_*")
        assert "Warning: rows sum to 1, as probabilities do, but the model was fitted to logits." in told.err
        assert told.code == 0
        assert "Warning" not in run("apply", model, logits, "-o", "fine.csv").err

    def test_logits_for_a_model_of_probabilities_are_refused(self, run, logits, probabilities):
        run("fit", probabilities, "-o", "p.json", "--scores", "p_*", "-m", "temperature", "-q")
        told = run("apply", "p.json", logits, "-o", "o.csv", "--scores", "z_*")
        assert "the model was fitted to probabilities, which are ≥ 0 and sum to 1 in every row" in told.error
        assert run("apply", "p.json", probabilities, "-o", "o.csv").code == 0


class TestShowAndExport:
    def test_show(self, run, model, logits):
        told = run("show", model)
        for words in ("VectorScaling", "vector (a slope per class)", "3 columns of logits", "ant", "z_bee", "31.67%"):
            assert words in told.out, words
        content = run("show", model, "--json").json
        assert content["labels"] == list(LABELS)
        assert sum(content["data"]["weights"]) == N
        run("fit", logits, "-o", "rest.json", "--scores", "z_*", "-m", "one-vs-rest:isotonic")
        assert "one map per class, of log-odds against the rest" in run("show", "rest.json").out
        run("fit", logits, "-o", "auto.json", "--scores", "z_*")
        assert "verdict  A blend of" in run("show", "auto.json").out

    def test_show_names_many_classes(self, run, tmp_path):
        rng = np.random.default_rng(0)
        np.savez(tmp_path / "many.npz", logits=rng.normal(size=(400, 80)), labels=np.arange(400) % 80)
        run("fit", "many.npz", "-o", "m.json", "-m", "temperature")
        assert "and 30 more classes" in run("show", "m.json").out

    def test_export_to_sql(self, run, model, logits):
        told = run("export", model, "--to", "sql", "--table", "logits")
        assert told.code == 0
        duckdb.sql(f"CREATE OR REPLACE TABLE logits AS FROM '{logits}'")
        found = duckdb.sql(told.out).fetchnumpy()
        z, _ = data()
        expected = oddsmith.load(model).predict_proba(z)
        for k, label in enumerate(LABELS):
            np.testing.assert_allclose(found[f"probability_{label}"], expected[:, k], rtol=0, atol=1e-12)
        duckdb.sql("DROP TABLE logits")
        assert '"b"' in run("export", model, "--to", "sql", "--table", "t", "--column", "a,b,c").out
        assert "columns must be 3 names" in run("export", model, "--to", "sql", "--column", "a").error
        for option in ("--column", "--table"):
            told = run("export", model, "--to", "c", option, "a").error
            assert f"{option} is for SQL; got {option} with --to c" in told
        assert "the model must have segments" in run("export", model, "--to", "sql", "--segment", "a").error


class TestEvaluateAndCheck:
    def test_evaluate_is_the_librarys(self, run, probabilities):
        told = run("evaluate", probabilities, "--scores", "p_*", "--json")
        expected = evaluate(rows("probabilities"), n_resamples=20)
        assert told.json["measures"] == json.loads(json.dumps(expected["measures"]))
        assert {"log_loss", "squared_error", "top_label_calibration_error", "classwise_calibration_error"} <= set(
            told.json["measures"]
        )
        assert {"canonical_calibration_error", "calibration_in_the_large"} <= set(told.json["measures"])
        assert all("p_holm" in one for one in told.json["classes"])
        assert "verdict" in told.json

    def test_evaluate_in_a_terminal(self, run, logits):
        told = run("evaluate", logits, "--scores", "z_*")
        for words in ("300 rows of 3 classes, the softmax of logits", "top-label calibration error", "p (Holm)", "bee"):
            assert words in told.out, words
        assert "apply it to these: oddsmith fit other_rows.csv -o model.json --scores 'z_*'" in told.out

    def test_gates(self, run, probabilities):
        given = ("check", probabilities, "--scores", "p_*")
        wide = ("--max-top-label-ece", 1, "--max-classwise-ece", 1, "--max-log-loss", 9, "--max", "zero_one_error=1")
        assert run(*given, *wide, "--max-brier", 2, "--min", "accuracy=0", "--min-p", 0).code == 0
        measures = run("evaluate", probabilities, "--scores", "p_*", "--json").json["measures"]
        for option, name in (
            ("--max-top-label-ece", "top_label_calibration_error"),
            ("--max-classwise-ece", "classwise_calibration_error"),
            ("--max-log-loss", "log_loss"),
            ("--max-brier", "squared_error"),
        ):
            value = measures[name]["value"]
            assert run(*given, option, value * 1.001).code == 0
            assert run(*given, option, value * 0.999).code == 1
        told = run(*given, "--max", "classwise_calibration_error=0", "--junit", "check.xml", "--json")
        assert told.code == 1
        assert told.json["bounds"][0]["holds"] is False
        assert "<failure" in Path("check.xml").read_text()

    def test_what_had_no_probability_breaks_a_gate_and_refutes_calibration(self, run):
        given = "".join("1,0,0,ant\n0.5,0.5,0,bee\n" for _ in range(40))
        Path("zero.csv").write_text(f"p_ant,p_bee,p_cat,label\n{given}0,1,0,ant\n")
        told = run("check", "zero.csv", "--scores", "p_*", "--min-p", 0.01, "--json")
        assert told.code == 1
        assert told.json["bounds"][0]["value"] == 0
        judged = run("evaluate", "zero.csv", "--scores", "p_*", "--json").json["verdict"]
        assert judged.startswith("Miscalibrated: 1 of 81 cases had an outcome whose probability was exactly 0")

    def test_scores_without_labels(self, run, tmp_path):
        np.save(tmp_path / "p.npy", softmax(data()[0]))
        assert "p.npy must come with labels; got scores alone. Hint: pass --labels" in run("evaluate", "p.npy").error

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--max-ece", "0.1"], "choose among log_loss"),
            (["--max", "lift=1"], "choose among log_loss"),
            (["--max", "log_loss"], "--max must be a measure and its limit"),
            (["--min-p", "0.1", "--test", "cox"], "choose among log_loss"),
            (["--max-log-loss", "1", "--positive", "ant"], "--positive is for the scores of two classes"),
        ],
    )
    def test_gates_that_there_are_not(self, run, probabilities, options, words):
        assert words in run("check", probabilities, "--scores", "p_*", *options).error

    def test_gates_of_several_classes_are_refused_for_two(self, run, predictions):
        assert "choose among" in run("check", predictions, "--max-top-label-ece", "0.1").error


class TestCompareAndReport:
    def test_compare(self, run, logits):
        methods = ("-m", "temperature", "-m", "vector", "-m", "one-vs-rest:platt")
        told = run("compare", logits, "--scores", "z_*", *methods, "--n-folds", 2)
        for name in ("temperature", "vector", "one-vs-rest:platt", "uncalibrated"):
            assert name in told.out
        content = run("compare", logits, "--scores", "z_*", *methods, "--n-folds", 2, "--json").json
        assert set(content["ranking"]) == {"temperature", "vector", "one-vs-rest:platt", "uncalibrated"}
        assert content["comparison"]["measures"]

    def test_report(self, run, logits):
        Path("costs.csv").write_text("cat,bee,ant\n0,1,1\n1,0,1\n9,1,0\n")
        for name in ("a.html", "a.md", "a.json"):
            told = run("report", logits, "--scores", "z_*", "-m", "temperature", "-o", name, "--costs", "costs.csv")
            assert told.code == 0, told.err
            assert Path(name).stat().st_size > 1000
        assert (
            "for each decision; got 300 lines of 4" in run("report", logits, "--scores", "z_*", "--costs", logits).error
        )
        assert "--costs is for several classes" in run("report", logits, "-s", "z_ant", "--costs", "costs.csv").error


class TestDecide:
    def test_several_classes(self, run, probabilities):
        Path("costs.csv").write_text("cat,bee,ant\n0,1,1\n1,0,1\n9,1,0\n")
        p, matrix = softmax(data()[0] / 2), np.array([[0, 1, 9], [1, 0, 1], [1, 1, 0]])
        told = run("decide", probabilities, "--scores", "p_*", "--costs", "costs.csv", "-o", "out.parquet", "--json")
        found = duckdb.sql("FROM 'out.parquet'").fetchnumpy()
        chosen = decide(p, matrix)
        assert found["least_cost_decision"].tolist() == np.array(LABELS)[chosen].tolist()
        expected = expected_cost(p, matrix).min(axis=1)
        np.testing.assert_allclose(found["expected_cost"], expected, atol=1e-12)
        assert told.json["decisions"] == dict(zip(LABELS, np.bincount(chosen, minlength=3).tolist(), strict=True))
        assert told.json["mean_expected_cost"] == pytest.approx(expected.mean())

    def test_abstention(self, run, probabilities):
        Path("costs.csv").write_text("decision,ant,bee,cat\nspray,0,1,5\nwait,3,0,0\n")
        told = run(
            "decide", probabilities, "--scores", "p_*", "--costs", "costs.csv", "--abstain-cost", 0.1, "-o", "out.csv"
        )
        assert told.code == 0, told.err
        p = softmax(data()[0] / 2)
        chosen = decide(p, [[0, 1, 5], [3, 0, 0]], abstain=0.1)
        names = np.array(["spray", "wait", "abstain"])[chosen]
        found = duckdb.sql("SELECT least_cost_decision AS d FROM 'out.csv'").fetchnumpy()["d"]
        assert found.tolist() == names.tolist()
        assert (names == "abstain").any()

    def test_two_classes(self, run, predictions):
        Path("costs.csv").write_text("good,bad\n0,4\n1,0\n")
        told = run("decide", predictions, "-p", "p", "--costs", "costs.csv", "-o", "out.csv", "--positive", "bad")
        assert told.code == 0, told.err
        found = duckdb.sql("SELECT p, least_cost_decision AS d FROM 'out.csv'").fetchnumpy()
        assert (found["d"] == "bad").tolist() == (found["p"] > 0.2).tolist()

    @pytest.mark.parametrize(
        ("costs", "words"),
        [
            ("ant,bee\n0,1\n1,0\n", "must have the columns 'ant', 'bee', 'cat'"),
            ("decision,ant,bee,cat\nabstain,1,2,3\nb,1,2,3\n", "no decision may be called abstain"),
        ],
    )
    def test_costs_that_do_not_fit(self, run, probabilities, costs, words):
        Path("costs.csv").write_text(costs)
        given = ("decide", probabilities, "--scores", "p_*", "--costs", "costs.csv", "--abstain-cost", 1)
        assert words in run(*given, "-o", "out.csv").error
        assert (
            "No such file" in run("decide", probabilities, "--scores", "p_*", "--costs", "no.csv", "-o", "o.csv").error
        )

    def test_new_columns_have_different_names(self, run, probabilities):
        Path("costs.csv").write_text("ant,bee,cat\n0,1,1\n1,0,1\n1,1,0\n")
        given = ("decide", probabilities, "--scores", "p_*", "--costs", "costs.csv", "-o", "out.csv")
        told = run(*given, "--name", "Expected_cost").error
        assert "new columns must have different names; got 'expected_cost'" in told


class TestCombine:
    @pytest.fixture
    def two(self, tmp_path):
        z, _ = data(40)
        first, second = softmax(z), softmax(z / 3)
        columns = {f"a_{label}": first[:, k].tolist() for k, label in enumerate(LABELS)}
        columns |= {f"b_{label}": second[:, k].tolist() for k, label in reversed(list(enumerate(LABELS)))}
        (tmp_path / "two.csv").write_text(csv_text(columns))
        return first, second

    @pytest.mark.parametrize("rule", ["mean-probability", "mean-log-odds", "independent-evidence"])
    def test_several_classes(self, run, two, rule):
        prior = ["--prior", "0.5,0.3,0.2"] if rule == "independent-evidence" else []
        given = ("combine", "two.csv", "--scores", "a_*", "--scores", "b_*", "--rule", rule, *prior)
        told = run(*given, "-o", "o.parquet")
        assert told.code == 0, told.err
        found = duckdb.sql("FROM 'o.parquet'").fetchnumpy()
        p = np.column_stack([found[f"combined_{label}"] for label in LABELS])
        rule_of = getattr(combine, rule.replace("-", "_"))
        shares = [0.5, 0.3, 0.2] if prior else None
        expected = combine.combine_class_probabilities(np.stack(two, axis=1), rule_of, shares)
        np.testing.assert_allclose(p, expected, atol=1e-12)

    def test_two_classes(self, run, two):
        told = run("combine", "two.csv", "-p", "a_ant", "-p", "b_ant", "-o", "o.csv", "--name", "p")
        assert "40 rows written to o.csv: 2 classifiers, mean-log-odds" in told.out
        found = duckdb.sql("SELECT p FROM 'o.csv'").fetchnumpy()["p"]
        columns = np.column_stack([part[:, 0] for part in two])
        np.testing.assert_allclose(found, combine.combine_probabilities(columns, combine.mean_log_odds), atol=1e-12)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--scores", "a_*"], "two classifiers or more must be combined"),
            (["-p", "a_ant", "-p", "b_ant", "--scores", "a_*"], "of the same kind"),
            (["-p", "a_ant", "-p", "a_ant"], "columns must differ"),
            (["--scores", "a_*", "--scores", "b_ant,b_bee"], "all classifiers must have the same classes"),
            (["-p", "a_ant", "-p", "b_ant", "--prior", "0.5"], "takes no --prior"),
            (["-p", "a_ant", "-p", "b_ant", "--rule", "independent-evidence"], "needs --prior"),
            (["-p", "a_ant", "-p", "b_ant", "--rule", "independent-evidence", "--prior", "x"], "must be numbers"),
            (["-p", "a_ant", "-p", "b_ant", "--rule", "independent-evidence", "--prior", "2"], "between 0 and 1"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, run, two, options, words):
        assert words in run("combine", "two.csv", *options, "-o", "o.csv").error
        assert not Path("o.csv").exists()


def test_what_is_checked_is_never_replaced(run, tmp_path):
    z, y = data()
    np.save(tmp_path / "p.npy", softmax(z))
    np.save(tmp_path / "y.npy", y)
    arguments = ("check", "p.npy", "--labels", "y.npy", "--max-log-loss", 9, "--force", "--junit")
    for name in ("p.npy", "y.npy"):
        assert f"the output must not be the input; got {tmp_path / name}." in run(*arguments, name).error
