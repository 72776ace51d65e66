"""``--by`` in evaluate, check and compare: a result per segment, the worst first, none for few rows."""

import numpy as np
import pytest
from cli_files import csv_text

from oddsmith.metrics import calibration_error, log_loss


@pytest.fixture
def file(tmp_path):
    """Write calibrated probabilities, but in one segment; one has hardly any rows."""
    rng = np.random.default_rng(0)
    p = rng.beta(2, 3, 900)
    place, kind = np.array(["north", "south", "west"])[np.arange(900) % 3], np.array(["a", "b"])[np.arange(900) // 450]
    place[:20] = "few"
    shifted = np.where(place == "west", p / (p + 4 * (1 - p)), p)
    y = (rng.random(900) < shifted).astype(int)
    path = tmp_path / "places.csv"
    path.write_text(csv_text({"p": p, "label": y, "place": place.tolist(), "kind": kind.tolist()}))
    return path, p, y, place, kind


def test_evaluate_shows_the_worst_segment_first(run, file):
    path, p, y, place, _ = file
    told = run("evaluate", path, "--probability", "p", "--by", "place", "--json")
    segments = told.json["segments"]
    assert segments[0]["segment"] == "west"
    assert sorted(one["segment"] for one in segments) == ["north", "south", "west"]
    for one in segments:
        here = place == one["segment"]
        assert one["data"]["rows"] == here.sum()
        assert one["measures"]["log_loss"]["value"] == pytest.approx(log_loss(y[here], p[here]))
        assert one["calibration_error"]["value"] == pytest.approx(calibration_error(y[here], p[here]))
        assert one["p_holm"] >= one["p_value"]
    assert segments[0]["p_holm"] < 0.01 < segments[-1]["p_holm"]
    assert "1 segment has fewer than 50 rows" in told.err
    whole = run("evaluate", path, "--probability", "p", "--json").json
    assert {name: part for name, part in told.json.items() if name != "segments"} == whole
    shown = run("evaluate", path, "--probability", "p", "--by", "place").out
    assert shown.index("west") < shown.index("north")
    assert "segments of at least 50 rows, the worst first" in " ".join(shown.split())


def test_several_columns_are_combined(run, file):
    path, *_, place, kind = file
    told = run("evaluate", path, "--probability", "p", "--by", "place,kind", "--json")
    names = {f"{a}, {b}" for a, b in zip(place, kind, strict=True)} - {"few, a"}
    assert {one["segment"] for one in told.json["segments"]} == names


def test_check_holds_segments_to_the_bounds(run, file):
    path, *_ = file
    options = ("check", path, "--probability", "p", "--max", "smooth_calibration_error=0.12")
    assert run(*options).code == 0
    told = run(*options, "--by", "place", "--json")
    assert told.code == 1
    first, *rest = told.json["bounds"]
    assert (first["segment"], first["holds"]) == (None, True)
    assert (rest[0]["segment"], rest[0]["holds"]) == ("west", False)
    assert all(one["holds"] for one in rest[1:])
    assert "west: smooth calibration error" in run(*options, "--by", "place").out


def test_compare_shows_where_calibration_gains(run, file):
    path, *_ = file
    options = ("compare", path, "--score", "p", "--by", "place", "-m", "platt", "--n-folds", "3")
    told = run(*options, "--json").json["segments"]
    assert next(iter(told)) == "west"
    assert set(told) == {"north", "south", "west"}
    assert told["west"]["advice"]["gain"]["low"] > 0
    assert "the largest gain first" in run(*options).out


def test_what_is_refused(run, file, tmp_path):
    path, *_ = file
    told = run("evaluate", path, "--probability", "p", "--by", "place", "--groups", "kind")
    assert (told.code, "--groups must not be combined with --by" in told.error) == (2, True)
    assert run("evaluate", path, "--probability", "p", "--by", "nothing").code == 2
    classes = tmp_path / "classes.csv"
    classes.write_text(
        csv_text({"p_a": [0.5] * 60, "p_b": [0.3] * 60, "p_c": [0.2] * 60, "label": list("abc") * 20, "k": ["x"] * 60})
    )
    told = run("check", classes, "--scores", "p_*", "--by", "k", "--max-brier", 2)
    assert "--by is for the scores of two classes" in told.error
