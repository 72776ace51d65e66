"""ONNX graphs: float64 throughout, small, and safe from what the runtime simplifies."""

import math

import numpy as np
import pytest
from cases import EDGES

from oddsmith import AutoCalibrator, BetaCalibrator, CalibrationMap, IsotonicCalibrator, PlattCalibrator
from oddsmith.export import to_onnx
from oddsmith.formula import SCORE, Formula
from oddsmith.maps import LinearMap, PolynomialMap
from optional import needs

onnx = needs("onnx")
onnxruntime = needs("onnxruntime")


def run(fitted, scores, **options):
    session = onnxruntime.InferenceSession(to_onnx(fitted, **options), providers=["CPUExecutionProvider"])
    return session.run(None, {"score": np.asarray(scores, dtype=np.float64)})[0]


def test_scores_that_are_none():
    ramp = LinearMap(np.array([-1.0, 2.0]), np.array([0.25, 0.75]))
    np.testing.assert_array_equal(run(ramp, [np.nan, -np.inf, np.inf]), [np.nan, 0.25, 0.75])
    np.testing.assert_array_equal(run(EDGES["flat odds"], [-1.0, 0.0, 1.0, 2.0]), np.full(4, np.nan))
    np.testing.assert_array_equal(run(EDGES["constant"], [1.0, 2.0]), EDGES["constant"].probability([1.0, 2.0]))
    assert run(ramp, []).shape == (0,)


@pytest.mark.parametrize("slope", [1 + 1e-9, 1 - 2.0**-53, 1 + 2.0**-52, -1.0])
@pytest.mark.parametrize("level", [1e-50, -1e-300, 5e-324, 0.3])
def test_factors_near_one_and_terms_near_zero_stay(slope, level):
    """ONNX Runtime compares them with 1 and 0 in float32, and would leave them out."""
    line = PolynomialMap(np.empty(0), np.zeros(1), np.array([[level, slope]]), 1 + 1e-10)
    scores = np.array([-2.0, -1e-50, 0.0, 1e-300, 0.5, 300.0])
    np.testing.assert_allclose(run(line, scores, output="log_odds"), line.log_odds(scores), rtol=1e-15, atol=0)


def test_what_the_runtime_leaves_out_on_the_right_of_other_operators():
    class Odd(CalibrationMap):
        def log_odds(self, scores):
            return (1 + 1e-9) - np.asarray(scores) * (1e-300 - np.asarray(scores))

        def log_odds_formula(self) -> Formula:
            return (1 + 1e-9) - SCORE * (1e-300 - SCORE)

        is_monotone = False

    scores = np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(run(Odd(), scores, output="log_odds"), Odd().log_odds(scores), rtol=1e-15)


def test_the_graph_is_small():
    model = onnx.load_from_string(to_onnx(EDGES["many steps"]))
    knots = max(math.prod(tensor.dims) for tensor in model.graph.initializer)
    assert knots > 2000
    assert len(model.graph.node) < 5 * math.log2(knots) + 10


def test_everything_is_float64():
    model = onnx.load_from_string(to_onnx(EDGES["one-sided basis"], output="log_odds"))
    kinds = {tensor.data_type for tensor in model.graph.initializer}
    assert kinds == {onnx.TensorProto.DOUBLE}
    assert [value.type.tensor_type.elem_type for value in (*model.graph.input, *model.graph.output)] == [11, 11]
    assert [value.name for value in (*model.graph.input, *model.graph.output)] == ["score", "log_odds"]
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 17)]


def test_the_description_and_determinism():
    content = to_onnx(EDGES["jumps"])
    model = onnx.load_from_string(content)
    assert model.producer_name == "oddsmith"
    assert "LinearMap" in model.doc_string
    assert content == to_onnx(EDGES["jumps"])


@pytest.mark.parametrize("name", sorted(EDGES))
def test_every_constant_is_used(name):
    graph = onnx.load_from_string(to_onnx(EDGES[name])).graph
    assert {constant.name for constant in graph.initializer} <= {used for node in graph.node for used in node.input}


def test_the_runtime_does_not_warn(capfd):
    rng = np.random.default_rng(0)
    s = rng.normal(size=400)
    y = rng.random(400) < 1 / (1 + np.exp(-s))
    for calibrator in (AutoCalibrator(), BetaCalibrator(), PlattCalibrator(), IsotonicCalibrator()):
        run(calibrator.fit(s, y), s)
    assert capfd.readouterr().err == ""
