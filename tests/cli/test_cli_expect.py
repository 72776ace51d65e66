"""``oddsmith expect``: what is promised without labels, and exit code 1 where labels break a promise."""

import numpy as np
from cli_files import csv_text, sample, write_labeled


def test_measures_with_intervals_and_what_they_cannot_see(run, model, tmp_path):
    score, _, region = sample(500, 5)
    (tmp_path / "new.csv").write_text(csv_text({"score": score.tolist(), "region": region.tolist()}))
    found = run("expect", "model.json", "new.csv", "--json", "-t", "0.3", "-t", "0.5")
    assert found.code == 0
    assert set(found.json["measures"]) >= {"auc", "log_loss", "brier", "accuracy@0.3", "f1@0.5"}
    assert found.json["has_map_error"] is True
    shown = run("expect", "model.json", "new.csv", "-q")
    assert "500 rows" in shown.out
    assert "rows without labels cannot show" in " ".join(shown.out.split())
    by = run("expect", "model.json", "new.csv", "--by", "region", "--json")
    assert set(by.json["chunks"]) == {"north", "south"}
    assert by.json["rows"] == 500


def test_labels_say_whether_promises_were_kept(run, model, scores, tmp_path):
    kept = write_labeled(tmp_path / "kept.jsonl", 1500)
    found = run("expect", "model.json", kept, "--labels", "--json", "--calibration", scores)
    assert found.code == 0
    assert found.json["kept"] is True
    broken = write_labeled(tmp_path / "broken.jsonl", 1500, offset=-1.5)
    found = run("expect", "model.json", broken, "--labels", "-q")
    assert found.code == 1
    assert "BROKEN" in found.out


def test_costs_add_the_expected_cost(run, model, tmp_path):
    (tmp_path / "costs.csv").write_text("0,1\n0,4\n1,0\n")
    found = run("expect", "model.json", write_labeled(tmp_path / "new.jsonl"), "--costs", "costs.csv", "--json")
    assert 0 < found.json["measures"]["cost@0.5"]["value"] < 1


def test_several_classes(run, tmp_path):
    def write(name, seed, turn=0):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(900, 3)).round(4)
        y = (z + rng.gumbel(size=z.shape)).argmax(axis=1)
        columns = {f"z_{each}": z[:, place].tolist() for place, each in enumerate("abc")}
        (tmp_path / name).write_text(csv_text({**columns, "label": ["abc"[(each + turn) % 3] for each in y]}))
        return name

    assert run("fit", write("fit.csv", 1), "--scores", "z_*", "-m", "vector", "-o", "km.json").code == 0
    found = run("expect", "km.json", write("new.csv", 2), "--json", "--calibration", "fit.csv")
    assert set(found.json["prevalence"]) == set("abc")
    assert found.json["has_map_error"] is True
    (tmp_path / "costs.csv").write_text("b,a,c\n0,4,1\n1,0,1\n1,4,0\n")
    kept = run("expect", "km.json", "new.csv", "--labels", "--json", "--costs", "costs.csv")
    assert (kept.code, kept.json["kept"]) == (0, True)
    assert kept.json["promises"]["accuracy"]["expected"] == found.json["measures"]["accuracy"]["value"]
    assert run("expect", "km.json", write("turned.csv", 3, 1), "--labels", "-q").code == 1
    assert "one chunk" in run("expect", "km.json", "new.csv", "--by", "label").error
    assert "thresholds are for two classes" in run("expect", "km.json", "new.csv", "-t", "0.2").error


def test_bad_usage_is_one_line(run, model, tmp_path):
    path = write_labeled(tmp_path / "new.jsonl")
    assert "thresholds must be probabilities" in run("expect", "model.json", path, "-t", "2").error
    assert "--labels compares all rows at once" in run("expect", "model.json", path, "--labels", "--by", "label").error
    assert "did you mean" in run("expect", "model.json", "new.json").error
