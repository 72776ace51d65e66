"""The model file: the same bytes for the same data, everything that is fitted comes back bit for bit."""

import hashlib
import json
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given

import oddsmith
from catalogue import name, variants
from oddsmith import PlattCalibrator, ScoreTable
from oddsmith.errors import InvalidInputError, ModelFileError
from oddsmith.maps import CalibrationMap
from oddsmith.model import DataSummary, Model, table_hash
from oddsmith.model._model import read_content
from oddsmith.model._shapes import CHECKERS
from samples import grid, ours_allowed, samples

SCORES = np.array([-1.5, -0.2, 0.3, 1.7, 0.1, 0.1, 2.5, -0.7])
Y = np.array([0, 1, 0, 1, 0, 1, 1, 0])


def model_of(calibrator, scores=SCORES, y=Y, **options):
    table = ScoreTable.from_arrays(scores, y)
    with ours_allowed():
        return Model.from_fitted(calibrator.fit_table(table), table=table, **options)


def segmented():
    parts = {key: model_of(oddsmith.PlattCalibrator(), SCORES * factor) for key, factor in {"b": 2, "a": 3}.items()}
    return model_of(oddsmith.PlattCalibrator()).with_segments("region", parts)


def test_every_shape_has_a_checker():
    assert set(CHECKERS) == set(CalibrationMap._shapes)


@pytest.mark.parametrize("calibrator", variants(), ids=name)
def test_models_come_back_bit_for_bit(calibrator):
    rng = np.random.default_rng(3)
    scores = rng.normal(size=60)
    model = model_of(calibrator, scores, (rng.random(60) < 1 / (1 + np.exp(-scores))).astype(int))
    again = Model.from_json(model.to_json())
    assert again == model
    np.testing.assert_array_equal(again.probability(grid(scores)), model.map.probability(grid(scores)))
    assert again.to_json() == model.to_json()


@given(samples())
def test_row_order_does_not_change_the_bytes(sample):
    scores, y = sample
    order = np.random.default_rng(0).permutation(len(y))
    calibrator = oddsmith.IsotonicCalibrator()
    assert model_of(calibrator, scores, y).to_json() == model_of(calibrator, scores[order], y[order]).to_json()


def test_the_hash_tells_tables_apart():
    table = ScoreTable.from_arrays(SCORES, Y)
    others = [
        table.scale(2),
        table.scale(1.0),
        table.quantize(0.25),
        ScoreTable.from_arrays(SCORES, 1 - Y),
        ScoreTable.from_arrays(SCORES + 1e-15, Y),
    ]
    assert len({table_hash(one) for one in [table, *others]}) == 6


def test_the_hash_is_of_plain_bytes():
    table = ScoreTable.from_arrays([2.0, 1.0, 1.0], [1, 0, 1])
    written = b"score table 1 rows=3 resolution=None\nscores <f8 2\n" + struct.pack("<2d", 1, 2)
    written += b"\npos <i8 2\n" + struct.pack("<2q", 1, 1) + b"\nneg <i8 2\n" + struct.pack("<2q", 1, 0)
    assert table_hash(table) == hashlib.sha256(written).hexdigest()


def test_what_the_data_were():
    table = ScoreTable.from_arrays(SCORES, Y, np.full(8, 0.5)).quantize(0.5)
    data = DataSummary.of(table)
    assert (data.rows, data.kind, data.weight, data.prevalence, data.resolution) == (8, "weight", 4.0, 0.5, 0.5)
    assert (data.low, data.high, data.distinct) == (*table.span(), len(table))
    assert DataSummary.from_dict(data.to_dict()) == data


def test_files_are_written_and_read(tmp_path):
    model = model_of(oddsmith.PlattCalibrator(), labels=("nö", "yes"))
    model.save(tmp_path / "model.json")
    assert Model.load(tmp_path / "model.json") == model
    with pytest.raises(InvalidInputError, match="must not exist yet"):
        model.save(tmp_path / "model.json")
    model.save(tmp_path / "model.json", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_labels_and_warnings_are_kept():
    with ours_allowed():
        calibrator = oddsmith.PlattCalibrator(pos_label="yes").fit(SCORES, np.where(SCORES > 0, "yes", "no"))
    model = Model.from_fitted(calibrator, table=ScoreTable.from_arrays(SCORES, SCORES > 0))
    again = Model.from_json(model.to_json())
    assert again.labels == ("no", "yes")
    assert again.parameters["pos_label"] == "yes"
    assert "separates the classes perfectly" in again.warnings[0]
    assert again.version == oddsmith.__version__
    assert pickle.loads(pickle.dumps(model)) == model


def test_parameters_are_plain():
    calibrator = oddsmith.PiecewiseLogisticCalibrator(knots=np.array([0.0]), penalty=np.float64(0.5))
    assert model_of(calibrator).parameters["knots"] == [0.0]
    calibrator = oddsmith.PlattCalibrator()
    calibrator.get_params = lambda deep: {"one": oddsmith.BetaCalibrator(), "rng": object(), "far": np.inf}
    parameters = model_of(calibrator).parameters
    assert parameters["one"]["method"] == "BetaCalibrator"
    assert (parameters["rng"], parameters["far"]) == ("<object>", "inf")
    Model.from_json(model_of(calibrator).to_json())


def test_an_unfitted_calibrator_has_no_model():
    with pytest.raises(ValueError, match="not fitted"):
        Model.from_fitted(oddsmith.PlattCalibrator(), table=ScoreTable.from_arrays(SCORES, Y))


def test_segments_have_their_own_maps():
    model = Model.from_json(segmented().to_json())
    assert model == segmented()
    assert (model.by, list(model.segments)) == ("region", ["a", "b"])
    found = model.probability([0.5, 0.5, 0.5, 0.5], ["a", "b", "new", None])
    expected = [part.map.probability(0.5) for part in (model.segments["a"], model.segments["b"], model, model)]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(model.log_odds([0.5], ["a"]), np.log(found[:1] / (1 - found[:1])))
    assert len({*found}) == 3


def test_segments_of_several_columns(tmp_path):
    part, own = model_of(oddsmith.PlattCalibrator(), SCORES * 2), model_of(oddsmith.PlattCalibrator())
    model = own.with_segments(["country", "device"], {("DE", 'a"b'): part, ("é", "3"): part})
    text = model.to_json()
    assert (model.schema, own.schema) == (4, 1)
    assert Model.from_json(text) == model
    found = model.probability([0.5, 0.5, 0.5], [("DE", 'a"b'), ("é", 3), ("DE", "3")])
    expected = [each.map.probability(0.5) for each in (part, part, own)]
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match=r"as long as the scores; got shape \(1,\)"):
        model.probability([0.5], ["DE"])


@pytest.mark.parametrize(
    ("columns", "names", "words"),
    [
        (["a"], [("x",)], "by must name one column, or several different ones"),
        (["a", "a"], [("x", "y")], "by must name one column, or several different ones"),
        (["a", "b"], ["x"], "segments must be named by tuples of 2 keys; got 'x'"),
        (["a", "b"], [("x", "y", "z")], "segments must be named by tuples of 2 keys"),
    ],
)
def test_segments_that_do_not_fit_their_columns(columns, names, words):
    part = model_of(oddsmith.PlattCalibrator())
    with pytest.raises(ValueError, match=words):
        part.with_segments(columns, dict.fromkeys(names, part))


@pytest.mark.parametrize(
    ("by", "name", "words"),
    [
        (["a", "a"], '["x", "y"]', "by must be a list of different names"),
        (["a"], '["x"]', "by must be a list of different names"),
        (["a", 1], '["x", "y"]', "by"),
        ("a", '["x", "y"]', "by must be a list of different names"),
        (["a", "b"], '["x"]', "segments must be named by lists of 2 keys"),
        (["a", "b"], "x", "segments must be named by lists of 2 keys"),
        (["a", "b"], '["x", 1]', "segments"),
        (["a", "b"], "[" * 5000, "segments"),
    ],
)
def test_files_with_odd_segments_are_refused(by, name, words):
    part = model_of(oddsmith.PlattCalibrator())
    content = json.loads(part.with_segments(["a", "b"], {("x", "y"): part}).to_json())
    inner = {key: content[key] for key in content if key not in ("format", "schema", "checksum")}
    ((_, segment),) = content["segments"].items()
    with pytest.raises(ModelFileError, match=words):
        read_content(4, inner | {"by": by, "segments": {name: segment}})


def test_segments_may_be_numbers_or_truth():
    part = model_of(oddsmith.PlattCalibrator(), SCORES * 2)
    model = model_of(oddsmith.PlattCalibrator()).with_segments("shop", {"3": part, "true": part})
    for segments in ([3, 4], [True, False]):
        np.testing.assert_array_equal(
            model.probability([0.5, 0.5], segments), [part.map.probability(0.5), model.map.probability(0.5)]
        )


@pytest.mark.parametrize(
    ("model", "segments", "message"),
    [
        (segmented(), None, "by region"),
        (segmented(), ["a"], "as long as the scores"),
        (model_of(oddsmith.PlattCalibrator()), ["a", "b"], "leave segments out"),
    ],
)
def test_segments_must_fit_the_model(model, segments, message):
    with pytest.raises(InvalidInputError, match=message):
        model.probability([0.1, 0.2], segments)


def test_what_could_not_be_loaded_is_not_written():
    for labels in (("\ud800", "b"), (float("nan"), 1), (object(), 1), ("x" * 20_000, "b"), (2**70, 1)):
        with pytest.raises((InvalidInputError, ModelFileError), match="must"):
            model_of(oddsmith.PlattCalibrator(), labels=labels).to_json()


@pytest.mark.parametrize(
    "labels",
    [
        np.array([b"no", b"yes"]),
        np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"),
    ],
)
def test_labels_that_json_has_not_are_refused_and_nothing_is_written(labels, tmp_path):
    calibrator = PlattCalibrator(pos_label=labels[1]).fit([-1.5, -0.2, 0.3, 1.7, 0.1], labels[[0, 1, 0, 1, 0]])
    with pytest.raises(InvalidInputError, match="labels must be text, finite numbers or truth values"):
        calibrator.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())
