"""``--by`` in evaluate, check, compare and report: a result per segment, the worst first, none for few rows."""

from pathlib import Path

import numpy as np
import pytest
from cli_files import csv_text

from oddsmith import load
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


def test_what_is_refused(run, file):
    path, *_ = file
    told = run("evaluate", path, "--probability", "p", "--by", "place", "--groups", "kind")
    assert (told.code, "--groups must not be combined with --by" in told.error) == (2, True)
    assert run("evaluate", path, "--probability", "p", "--by", "nothing").code == 2


@pytest.fixture
def classes(tmp_path):
    """Write probabilities of three classes, too sure in one segment."""
    rng = np.random.default_rng(0)
    true, k = rng.dirichlet([1, 1, 1], 900), np.arange(900) % 3
    sure = np.where((k == 2)[:, None], true**4, true)
    p = sure / sure.sum(axis=1, keepdims=True)
    y = (true.cumsum(axis=1) < rng.random((900, 1))).sum(axis=1)
    columns = {f"p_{name}": p[:, i] for i, name in enumerate("abc")}
    region, kind = np.array(["north", "south", "west"])[k], np.array(["x", "y"])[np.arange(900) // 450]
    path = tmp_path / "classes.csv"
    names = np.array(list("abc"))[y].tolist()
    path.write_text(csv_text(columns | {"label": names, "region": region.tolist(), "kind": kind.tolist()}))
    return path, p, y, region


def test_several_classes_have_segments_too(run, classes):
    path, p, y, region = classes
    options = (path, "--scores", "p_*", "--by", "region")
    segments = run("evaluate", *options, "--json").json["segments"]
    assert segments[0]["segment"] == "west"
    for one in segments:
        here = region == one["segment"]
        assert one["share"] == pytest.approx((p[here].argmax(axis=1) == y[here]).mean())
        assert one["mean_probability"] == pytest.approx(p[here].max(axis=1).mean())
        assert one["measures"]["log_loss"]["value"] == pytest.approx(log_loss(y[here], p[here]))
    assert "confidence" in run("evaluate", *options).out
    bounds = run("check", *options, "--max", "calibration_in_the_large=0.2", "--max-log-loss", 1, "--json").json[
        "bounds"
    ]
    assert {one["segment"] for one in bounds} == {None, "north", "south", "west"}
    told = run("compare", *options, "-m", "temperature", "--n-folds", 3, "--json").json["segments"]
    assert next(iter(told)) == "west"


def test_several_classes_are_fitted_by_segment(run, classes, tmp_path):
    path, p, _, region = classes
    told = run("fit", path, "-o", tmp_path / "m.json", "--scores", "p_*", "--by", "region,kind", "-m", "temperature")
    assert "6 segments" in told.out
    assert run("apply", tmp_path / "m.json", path, "-o", tmp_path / "out.csv").code == 0
    written = np.genfromtxt(tmp_path / "out.csv", delimiter=",", names=True, usecols=range(6, 9))
    model = load(tmp_path / "m.json")
    kind = np.array(["x", "y"])[np.arange(900) // 450]
    expected = model.predict_proba(p, np.stack([region, kind], axis=1))
    assert np.array_equal(np.array(written.tolist()), expected)
    assert len({part.map.parts[0].coef.tolist() for part in model.segments.values()}) == 6
    assert (
        "--pool is for the scores of two classes"
        in run("fit", path, "-o", tmp_path / "n.json", "--scores", "p_*", "--by", "region", "--pool").error
    )


@pytest.mark.parametrize(("given", "method"), [("p_a", "platt"), ("p_*", "temperature")])
def test_a_report_shows_segments(run, classes, tmp_path, given, method):
    path, *_ = classes
    labels = ["--positive", "a"] if given == "p_a" else []
    for suffix in ("md", "html", "json"):
        page = tmp_path / f"report.{suffix}"
        assert run("report", path, "-o", page, "--scores", given, *labels, "--by", "region", "-m", method).code == 0
        text = page.read_text()
        assert all(name in text for name in ("north", "south", "west"))
        assert ("Segments" if suffix != "json" else '"segments"') in text


def test_a_segment_of_scores_within_0_and_1_is_not_read_as_probabilities(run):
    """Where those of all rows are not: new rows of the segment beyond [0, 1] used to be refused."""
    rng = np.random.default_rng(0)
    score = rng.normal(0, 2, 1500)
    shop = np.where((score > 0) & (score < 1) & (rng.random(1500) < 0.5), "small", "large")
    label = (rng.random(1500) < 1 / (1 + np.exp(-score))).astype(int)
    Path("scores.csv").write_text(csv_text({"score": score, "shop": shop, "label": label}))
    Path("new.csv").write_text("score,shop\n0.5,small\n2.0,small\n-1.0,small\n")
    assert run("fit", "scores.csv", "-o", "model.json", "--by", "shop").code == 0
    told = run("apply", "model.json", "new.csv", "-o", "-")
    assert told.code == 0
    p = [float(line.split(",")[-1]) for line in told.out.splitlines()[1:4]]
    assert p[2] < p[0] < p[1]


def test_rows_without_a_key_are_a_segment_of_results_but_not_of_models(run, tmp_path):
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(int)
    place = ["", "north", None, "south"] * 100
    (tmp_path / "keys.csv").write_text(csv_text({"p": p, "label": y, "place": [each or "" for each in place]}))
    found = run("evaluate", "keys.csv", "--by", "place", "-p", "p", "--json").json["segments"]
    assert {one["segment"] for one in found} == {"missing", "north", "south"}
    rows = {name: np.array([(each or "missing") == name for each in place]) for name in ("missing", "north")}
    for one in found[:2]:
        here = rows.get(one["segment"])
        if here is not None:
            assert one["measures"]["log_loss"]["value"] == pytest.approx(log_loss(y[here], p[here]))
    compared = run("compare", "keys.csv", "--by", "place", "-s", "p", "--method", "platt", "--json").json["segments"]
    assert set(compared) == {"missing", "north", "south"}
    assert run("check", "keys.csv", "--by", "place", "-p", "p", "--max", "log_loss=1").code == 0
    run("report", "keys.csv", "--by", "place", "-s", "p", "--method", "platt", "-o", "page.json")
    page = (tmp_path / "page.json").read_text()
    assert '"segment": "missing"' in page
    assert '"place": null' in page  # the audit of the same page
    assert "segment is missing: 200" in run("fit", "keys.csv", "--by", "place", "-s", "p", "-o", "m.json").error
    assert "segment is missing: 200" in run("evaluate", "keys.csv", "--groups", "place", "-p", "p").error


def test_rows_of_several_classes_without_a_key_are_a_segment(run, tmp_path):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 300)
    y = [("a", "b", "c")[np.searchsorted(np.cumsum(row), u)] for row, u in zip(p, rng.random(300), strict=True)]
    columns = {f"p_{name}": p[:, k] for k, name in enumerate("abc")}
    (tmp_path / "rows.csv").write_text(csv_text({**columns, "label": y, "place": ["north", "", "x"] * 100}))
    found = run("evaluate", "rows.csv", "--by", "place", "-p", "p_*", "--json").json["segments"]
    assert {one["segment"] for one in found} == {"missing", "north", "x"}


def test_segments_that_are_named_alike_stay_apart(run, tmp_path):
    p = np.tile([0.2, 0.7, 0.4, 0.9], 60)
    y = (np.random.default_rng(0).random(240) < p).astype(int)
    (tmp_path / "alike.csv").write_text(
        "p,label,u,v\n"
        + "".join(
            f'{a},{b},"{u}","{v}"\n' for a, b, (u, v) in zip(p, y, [("a, b", "c"), ("a", "b, c")] * 120, strict=True)
        )
    )
    found = run("evaluate", "alike.csv", "--by", "u,v", "-p", "p", "--json").json["segments"]
    assert len(found) == 2
    assert len({one["segment"] for one in found}) == 2
