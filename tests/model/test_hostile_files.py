"""Files that are damaged, edited or made to do harm give one kind of error, and never a wrong map."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_model import model_of, segmented

import oddsmith
from oddsmith.errors import ModelFileError
from oddsmith.model import Model
from oddsmith.model._shapes import CHECKERS
from oddsmith.model.strict_json import MAX_BYTES, MAX_ITEMS, checksum

MODELS = [
    model_of(oddsmith.PlattCalibrator()),
    model_of(oddsmith.VennAbersCalibrator()),
    model_of(oddsmith.BetaCalibrator()),
    segmented(),
]
WITHIN_UNIT = np.array([0.1, 0.4, 0.8])


def refused(text, match="must|reads schemas"):
    with pytest.raises(ModelFileError, match=match) as caught:
        Model.from_json(text)
    assert len(str(caught.value)) < 1000
    return str(caught.value)


def loads_the_same_or_not_at_all(text, model):
    try:
        found = Model.from_json(text)
    except ModelFileError:
        return
    assert found == model


def sealed(content):
    """Return text whose checksum is right: what somebody would write who knows how."""
    rest = {key: value for key, value in content.items() if key != "checksum"}
    return json.dumps({**rest, "checksum": checksum(rest)})


def paths(value, here=()):
    """Walk over every place in parsed JSON."""
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*here, key))


def changed(content, path, change):
    content = json.loads(json.dumps(content))
    holder = content
    for key in path[:-1]:
        holder = holder[key]
    change(holder, path[-1])
    return content


@given(st.sampled_from(MODELS), st.data())
def test_cut_files(model, data):
    text = model.to_json()
    loads_the_same_or_not_at_all(text[: data.draw(st.integers(0, len(text) - 3))], model)
    refused(text[: data.draw(st.integers(0, len(text) - 3))])


@given(st.sampled_from(MODELS), st.data())
def test_flipped_bytes(model, data):
    raw = bytearray(model.to_json().encode())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    loads_the_same_or_not_at_all(bytes(raw), model)


@given(st.sampled_from(MODELS), st.data())
def test_deleted_keys_and_items(model, data):
    content = json.loads(model.to_json())
    path = data.draw(st.sampled_from([path for path in paths(content) if path]))
    less = changed(content, path, lambda holder, key: holder.pop(key))
    refused(json.dumps(less))


VALUES = st.sampled_from(
    [None, True, -1, 0, 2, 0.5, 1e308, 10**400, "", "x", "\ud800", [], {}, [[]], [1], [0.5, 0.2], ["a"], {"a": 1}]
)


@given(st.sampled_from(MODELS), VALUES, st.data())
def test_swapped_values(model, value, data):
    content = json.loads(model.to_json())
    path = data.draw(st.sampled_from([path for path in paths(content) if path]))
    other = changed(content, path, lambda holder, key: holder.__setitem__(key, value))
    loads_the_same_or_not_at_all(json.dumps(other), model)


@given(st.sampled_from(MODELS), VALUES, st.data())
def test_swapped_values_with_the_right_checksum(model, value, data):
    """Somebody who makes the checksum agree gets an error or a map that is a map."""
    content = json.loads(model.to_json())
    path = data.draw(st.sampled_from([path for path in paths(content) if path]))
    try:
        text = sealed(changed(content, path, lambda holder, key: holder.__setitem__(key, value)))
    except ValueError:
        return
    try:
        found = Model.from_json(text)
    except ModelFileError:
        return
    p = found.map.probability(WITHIN_UNIT)
    assert p.shape == (3,)
    assert np.all((p >= 0) & (p <= 1))


@given(st.text() | st.binary() | st.recursive(st.none() | st.floats() | st.text(), st.lists).map(json.dumps))
def test_anything_else(text):
    refused(text)


PIECES = {"knots": [0.0], "origins": [0.0, 1.0], "coefficients": [[0.0, 1.0], [1.0, 2.0]], "scale": 1.0}
MAPS = {
    "polynomial": {"shape": "polynomial", **PIECES},
    "linear": {"shape": "linear", "knots": [0.0, 1.0], "values": [0.0, 1.0]},
    "step": {"shape": "step", "knots": [0.0, 1.0], "at": [0.1, 0.2], "between": [0.0, 0.1, 1.0]},
    "cosine": {"shape": "cosine", "low": 0.0, "high": 1.0, "coefficients": [0.5, 0.1]},
    "log_basis": {"shape": "log_basis", "slopes": [1.0, 2.0], "intercept": 0.0, "centre": 0.0, "scale": 1.0},
}
MAPS["logit_input"] = {"shape": "logit_input", "inner": MAPS["step"], "clip": None}
HELD = {"low": -37.0, "high": 37.0, "center": 0.5, "scale": 2.0}
MAPS["held_input"] = {"shape": "held_input", "inner": MAPS["log_basis"], **HELD}
MAPS["soft_log_odds"] = {"shape": "soft_log_odds", "inner": MAPS["polynomial"], "softness": 1e-9}
MAPS["soft_logit"] = {"shape": "soft_logit", "inner": MAPS["polynomial"], "softness": 1e-9}
MAPS["shifted"] = {"shape": "shifted", "inner": MAPS["step"], "shift": -0.5}
MAPS["adjusted"] = {"shape": "adjusted", "inner": MAPS["step"], "slope": 0.8, "shift": -0.5}
MAPS["blend"] = {"shape": "blend", "parts": [MAPS["step"], MAPS["cosine"]], "weights": [0.25, 0.75]}
MAPS["unit_input"] = {"shape": "unit_input", "inner": MAPS["linear"], "clip": 1e-9}


def with_map(content):
    return sealed({**json.loads(MODELS[0].to_json()), "map": content})


def test_every_shape_is_tried():
    assert set(MAPS) == set(CHECKERS)


@pytest.mark.parametrize("shape", MAPS)
def test_good_maps_load(shape):
    assert Model.from_json(with_map(MAPS[shape])).map.to_dict() == MAPS[shape]


@pytest.mark.parametrize(
    ("shape", "change"),
    [
        ("polynomial", {"knots": []}),
        ("polynomial", {"knots": [0.0, 1.0]}),
        ("polynomial", {"origins": [0.0]}),
        ("polynomial", {"coefficients": [[0.0, 1.0], [1.0]]}),
        ("polynomial", {"coefficients": [[0.0] * 5, [1.0] * 5]}),
        ("polynomial", {"coefficients": [[], []]}),
        ("polynomial", {"coefficients": []}),
        ("polynomial", {"knots": [], "origins": [0.0], "coefficients": [[0.5]]}),
        ("polynomial", {"scale": 0.0}),
        ("polynomial", {"scale": -1.0}),
        ("linear", {"knots": [1.0, 0.0]}),
        ("linear", {"knots": [1.0, 1.0]}),
        ("linear", {"knots": [], "values": []}),
        ("linear", {"values": [0.0, 1.1]}),
        ("linear", {"values": [-0.1, 1.0]}),
        ("linear", {"values": [0.0, 0.5, 1.0]}),
        ("linear", {"values": [0.0, True]}),
        ("linear", {"values": [0.0, "1"]}),
        ("linear", {"values": [0.0, None]}),
        ("linear", {"extra": 1}),
        ("step", {"between": [0.0, 1.0]}),
        ("step", {"at": [0.0, 2.0]}),
        ("cosine", {"low": 1.0}),
        ("cosine", {"coefficients": []}),
        ("log_basis", {"slopes": [1.0]}),
        ("log_basis", {"intercept": None}),
        ("logit_input", {"clip": 0.5}),
        ("logit_input", {"clip": 0}),
        ("logit_input", {"inner": MAPS["step"] | {"at": [0.0]}}),
        ("soft_logit", {"softness": 0.0}),
        ("soft_logit", {"inner": None}),
        ("shifted", {"shift": 601.0}),
        ("shifted", {"shift": None}),
        ("shifted", {"inner": MAPS["step"] | {"at": [0.0]}}),
        ("adjusted", {"slope": 0.0}),
        ("adjusted", {"slope": None}),
        ("adjusted", {"shift": 601.0}),
        ("blend", {"weights": [0.5, 0.6]}),
        ("blend", {"weights": [-0.5, 1.5]}),
        ("blend", {"weights": [1.0]}),
        ("blend", {"parts": [], "weights": []}),
        ("blend", {"parts": {"0": MAPS["step"], "1": MAPS["step"]}}),
        ("blend", {"parts": [MAPS["step"], "step"]}),
        ("unit_input", {"clip": None}),
        ("unit_input", {"shape": "__class__"}),
        ("unit_input", {"shape": ["step"]}),
    ],
)
def test_bad_maps_are_refused(shape, change):
    assert "map" in refused(with_map(MAPS[shape] | change))


def test_maps_within_maps_have_an_end():
    deep = MAPS["step"]
    for _ in range(20):
        deep = {"shape": "logit_input", "inner": deep, "clip": None}
    refused(with_map(deep), "nested")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 99, "version": "9.0"}, "schema 99, written by version '9.0'.*upgrade"),
        ({"schema": 2}, "must contain exactly"),
        ({"schema": 0}, "schema must be an integer"),
        ({"schema": "1"}, "schema must be an integer"),
        ({"format": "recipe"}, 'must contain "format"'),
        ({"labels": [0]}, "labels"),
        ({"labels": [[0], [1]]}, "labels"),
        ({"warnings": "none"}, "warnings"),
        ({"parameters": []}, "parameters"),
        ({"by": "x"}, "segments"),
        ({"by": "x", "segments": []}, "segments"),
        ({"by": "x", "segments": {"a": {"by": "x"}}}, "segment 'a'"),
        ({"more": 1}, "unknown"),
    ],
)
def test_wrong_content_is_named(change, message):
    refused(sealed({**json.loads(MODELS[0].to_json()), **change}), message)


DATA = json.loads(MODELS[0].to_json())["data"]


@pytest.mark.parametrize(
    "change",
    [
        *[{"rows": 0}, {"rows": 1.5}, {"rows": 2**80}, {"distinct": True}, {"kind": "x"}, {"sha256": "ab"}],
        *[{"low": 9.0}, {"prevalence": 2}, {"weight": 0}, {"resolution": -1.0}],
    ],
)
def test_wrong_summaries_are_refused(change):
    assert "data" in refused(sealed({**json.loads(MODELS[0].to_json()), "data": {**DATA, **change}}))


def test_edits_are_noticed():
    text = MODELS[0].to_json()
    assert "checksum" in refused(text.replace('"rows": 8', '"rows": 9'), "damaged or edited")
    # Layout is not content.
    assert Model.from_json(json.dumps(json.loads(text), indent=4)) == MODELS[0]
    assert Model.from_json(text.replace("\n", "\r\n")) == MODELS[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "well-formed"),
        ("[" * 1_000_000, "nesting"),
        ('{"a":' * 1_000_000, "nesting"),
        ('{"format": "oddsmith calibration model", "schema": 1, "a": 1e999}', "finite"),
        ('{"a": NaN}', "finite"),
        ('{"a": -Infinity}', "finite"),
        ('{"a": 1, "a": 1}', "one key twice"),
        ('{"a": ' + "9" * 10_000 + "}", "well-formed"),
        (b"\xff\xfe{\x00}\x00", "UTF-8"),
        ("[1, 2]", "one JSON object"),
        ("{} {}", "well-formed"),
        ("\ufeff{}", "well-formed"),
    ],
)
def test_hostile_text(text, message):
    refused(text, message)


def test_too_many_numbers_are_refused_before_they_are_read():
    refused('{"a": [' + "0," * (MAX_ITEMS + 1) + "0]}", "at most")


def test_gigabytes_of_zeros_are_not_read(tmp_path):
    path = tmp_path / "zeros.json"
    with open(path, "wb") as file:
        file.truncate(2**36)  # far more than could be read
    with pytest.raises(ModelFileError, match=f"zeros.json.*at most {MAX_BYTES} bytes"):
        Model.load(path)
    with pytest.raises(ModelFileError, match="at most"):
        Model.load("/dev/zero")


def test_files_that_are_not_there(tmp_path):
    for path in (tmp_path / "none.json", tmp_path, "a\0b"):
        with pytest.raises(ModelFileError, match="must be readable"):
            Model.load(path)


def test_the_error_names_the_file(tmp_path):
    (tmp_path / "half.json").write_text(MODELS[0].to_json()[:100])
    with pytest.raises(ModelFileError, match=r"half\.json: a model file must be whole"):
        Model.load(tmp_path / "half.json")
