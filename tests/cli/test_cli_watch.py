"""``oddsmith watch``: one line a batch, exit code 1 on alarm, and a state that goes on."""

import json

import numpy as np
from cli_files import csv_text, write_labeled


def watched(run, path, *options):
    return run("watch", "model.json", path, "--state", "watch.json", *options)


def test_a_calm_stream_is_one_line_and_code_0(run, model, tmp_path):
    for seed in range(3):
        found = watched(run, write_labeled(tmp_path / "new.jsonl", seed=seed), "-q")
        assert (found.code, found.err) == (0, "")
        assert found.out.startswith("No alarm: evidence")
        assert found.out.endswith(f"of 20, {300 * (seed + 1):,} rows.\n")


def test_a_loss_is_an_alarm_with_code_1_which_stays(run, model, tmp_path):
    calm = write_labeled(tmp_path / "calm.jsonl", 1000)
    assert watched(run, calm).code == 0
    lost = write_labeled(tmp_path / "lost.jsonl", 1500, 4, offset=-1.2)
    page = tmp_path / "watch.html"
    found = watched(run, lost, "--json", "--page", page)
    assert found.code == 1
    finding = found.json["findings"][0]
    assert finding["direction"] == "too high"
    assert finding["base_rate"] is True
    assert finding["since_row"] == 1001
    assert "Alarm: probabilities are too high." in page.read_text()
    again = watched(run, write_labeled(tmp_path / "more.jsonl", 200, 5))
    assert again.code == 1
    assert again.out.startswith("ALARM: probabilities are too high since row 1,001 (lost.jsonl ")


def test_a_job_that_runs_again_counts_a_batch_once(run, model, tmp_path):
    path = write_labeled(tmp_path / "new.jsonl")
    first, second = watched(run, path, "-q"), watched(run, path)
    assert first.out == second.out
    assert "was counted before" in second.err
    named = watched(run, path, "-q", "--batch", "monday")
    assert "600 rows" in named.out
    changed = write_labeled(tmp_path / "new.jsonl", seed=9)
    assert "a batch that was counted cannot change" in watched(run, changed, "--batch", "monday").error


def test_labels_that_changed_since_are_refused(run, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text(csv_text({"score": np.arange(60) / 9, "label": np.arange(60) % 2}))
    assert watched(run, path).out
    path.write_text(csv_text({"score": np.arange(60) / 9, "label": np.arange(60) // 30}))
    assert "a batch that was counted cannot change" in watched(run, path).error


def test_states_of_others_and_other_levels_are_refused(run, model, scores, tmp_path):
    path = write_labeled(tmp_path / "new.jsonl")
    assert watched(run, path).code == 0
    assert "--alpha must be that of the state" in watched(run, path, "--alpha", "0.01").error
    assert run("fit", scores, "-o", "model.json", "-m", "beta", "--force").code == 0
    assert "the state must be of the same model" in watched(run, path).error
    (tmp_path / "watch.json").write_text("{}")
    assert "whole file that a monitor wrote" in watched(run, path).error


def test_rows_of_the_fit_and_float_weights_are_refused(run, model, scores, tmp_path):
    assert "rows that the fit did not see" in watched(run, scores).error
    weighted = csv_text({"score": [0.1, 0.2], "label": [0, 1], "w": [0.5, 1.5]})
    (tmp_path / "weighted.csv").write_text(weighted)
    assert "labels must be counted" in watched(run, tmp_path / "weighted.csv", "--weight", "w").error


def test_the_rows_of_the_fit_say_how_exact_the_model_is(run, model, scores, tmp_path):
    rows = write_labeled(tmp_path / "few.jsonl", 10)
    assert "error of the map needs 20 rows" in watched(run, rows).error
    assert watched(run, rows, "--calibration", scores).code == 0
    assert json.loads((tmp_path / "watch.json").read_text())["state"]["tracks"][0]["error"]


def test_segments_have_lines_of_their_own(run, scores, tmp_path):
    assert run("fit", scores, "-o", "model.json", "-m", "platt", "--by", "region").code == 0
    rng = np.random.default_rng(8)
    region = np.repeat(["north", "south"], 1000)
    score = rng.normal(size=2000) * 2
    p = 1 / (1 + np.exp(-0.8 * score + 0.3 - 1.5 * (region == "south")))
    label = (rng.random(2000) < p).astype(int)
    columns = {"score": score.tolist(), "label": label.tolist(), "region": region.tolist()}
    (tmp_path / "new.csv").write_text(csv_text(columns))
    found = watched(run, "new.csv", "--json")
    assert found.code == 1
    alarms = {each["segment"]: each["alarm"] for each in found.json["findings"]}
    assert alarms["south"]
    assert not alarms["north"]


def test_labels_may_be_words(run, tmp_path):
    rng = np.random.default_rng(2)
    score = rng.normal(size=600)
    words = np.where(rng.random(600) < 1 / (1 + np.exp(-score)), "default", "paid")
    for name, part in (("fit.csv", slice(0, 400)), ("new.csv", slice(400, 600))):
        (tmp_path / name).write_text(csv_text({"score": score[part].tolist(), "label": words[part].tolist()}))
    assert run("fit", "fit.csv", "-o", "model.json", "--positive", "default", "-m", "platt").code == 0
    found = watched(run, "new.csv", "--json")
    assert found.code == 0
    assert found.json["findings"][0]["positives"] == int((words[400:] == "default").sum())


def test_several_classes_are_watched_against_the_rest(run, tmp_path):
    def write(name, seed, slope=1.0):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(900, 3)).round(4)
        y = (slope * z + rng.gumbel(size=z.shape)).argmax(axis=1)
        columns = {f"z_{each}": z[:, place].tolist() for place, each in enumerate("abc")}
        (tmp_path / name).write_text(csv_text({**columns, "label": ["abc"[each] for each in y]}))
        return name

    assert run("fit", write("fit.csv", 1), "--scores", "z_*", "-m", "vector", "-o", "model.json").code == 0
    calm = watched(run, write("calm.csv", 2), "--calibration", "fit.csv", "--json")
    assert (calm.code, [each["target"] for each in calm.json["findings"]]) == (
        0,
        ["decided class", "class a", "class b", "class c"],
    )
    assert "was counted before" in watched(run, "calm.csv").err
    lost = watched(run, write("lost.csv", 3, 0.0))
    assert lost.code == 1
    assert lost.out.startswith("decided class: ALARM: probabilities are too ")
    assert "have no segments" in watched(run, "calm.csv", "--by", "label").error


def test_pooled_segments_by_two_columns_are_watched(run, tmp_path):
    def write(name, seed, offset=0.0):
        rng = np.random.default_rng(seed)
        region, device, s = rng.choice(["n", "s"], 2000), rng.choice(["p", "t"], 2000), rng.normal(size=2000).round(4)
        z = s + np.where(region == "n", 0.7, -0.7) + offset * (device == "t")
        y = (rng.random(2000) < 1 / (1 + np.exp(-z))).astype(int)
        columns = {"region": region.tolist(), "device": device.tolist(), "score": s.tolist(), "label": y.tolist()}
        (tmp_path / name).write_text(csv_text(columns))
        return name

    fitted = run("fit", write("fit.csv", 1), "--by", "region,device", "--pool", "-m", "platt", "-o", "model.json")
    assert fitted.code == 0
    calm = watched(run, write("calm.csv", 2), "--json")
    assert calm.code == 0
    assert [each["segment"] for each in calm.json["findings"]] == [
        None,
        *(list(each) for each in ("np", "nt", "sp", "st")),
    ]
    lost = watched(run, write("lost.csv", 3, 1.5))
    assert lost.code == 1
    assert "segment n, t: ALARM: probabilities are too low" in lost.out
    assert "the fit did not see" in watched(run, "fit.csv").error
    expected = run("expect", "model.json", "calm.csv", "--json")
    assert list(expected.json["chunks"]) == ["n, p", "n, t", "s, p", "s, t"]
    assert run("expect", "model.json", "calm.csv", "-q").code == 0
