"""``oddsmith expect``: what is promised without labels, and exit code 1 where labels break a promise."""

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
    assert "no row without a label shows it" in " ".join(shown.out.split())
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


def test_bad_usage_is_one_line(run, model, tmp_path):
    path = write_labeled(tmp_path / "new.jsonl")
    assert "thresholds must be probabilities" in run("expect", "model.json", path, "-t", "2").error
    assert "--labels compares all rows at once" in run("expect", "model.json", path, "--labels", "--by", "label").error
    assert "did you mean" in run("expect", "model.json", "new.json").error
