"""Maps as ONNX graphs in float64."""

import base64
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats
from oddsmith._version import __version__
from oddsmith.export import _apart
from oddsmith.export.language import Language, Model, Output, formula_of, header
from oddsmith.formula import Arithmetic, Clip, Column, Function, Number, Pieces, Reader, Where, steps_past

if TYPE_CHECKING:
    import onnx

__all__ = ["Onnx", "to_onnx"]

#: The oldest that has all operations in float64; every runtime since 2022 reads them.
_OPSET, _IR = 17, 8

_MAX = float(np.finfo(np.float64).max)
_OPERATORS = {"-": "Sub", "*": "Mul", "/": "Div"}
_FUNCTIONS = {"abs": "Abs", "cos": "Cos", "exp": "Exp", "log": "Log", "negative": "Neg"}


def to_onnx(model: Model, *, output: Output = "probability") -> bytes:
    """Write a map as an ONNX model: input "score", float64 of shape (N,); output of the same kind, named as asked for.

    Intervals are found by a binary search of ⌈log₂(knots + 1)⌉ steps and interpolated within. NaN gives NaN, ±∞ the
    limits, and a score that the model refuses gives NaN. Needs opset 17.

    Parameters
    ----------
    model : CalibrationMap or Calibrator
        A fitted calibrator or its map.
    output : {"probability", "log_odds"}, default "probability"
        Log-odds are held within ±700.

    Examples
    --------
    >>> import onnxruntime
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.export import to_onnx
    >>> content = to_onnx(SquashCalibrator().fit([-1.0, 1.0], [0, 1]))
    >>> session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    >>> session.run(None, {"score": np.array([0.0])})
    [array([0.5])]
    """
    return Onnx().write(model, output)


class Onnx(Language):
    """ONNX graphs."""

    name = "onnx"
    engine = "ONNX Runtime"
    suffix = ".onnx"

    def write(self, model: Model, output: Output, note: str = "") -> bytes:
        """Return an ONNX model, with the header as its description."""
        import onnx
        from onnx import helper

        graph = _Graph()
        value = graph.read(formula_of(model, output))
        # NaN goes through, and a constant map gets the shape of the scores.
        graph.add("Where", graph.add("IsNaN", "score"), "score", value, result=output)
        # A number that was read may have been written in another way: the runtime warns of what no node uses.
        used = {name for node in graph.nodes for name in node.input}
        constants = [constant for constant in graph.constants if constant.name in used]
        column = [helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, ["N"]) for name in ("score", output)]
        whole = helper.make_model(
            helper.make_graph(graph.nodes, "calibration", column[:1], column[1:], constants),
            opset_imports=[helper.make_opsetid("", _OPSET)],
            ir_version=_IR,
            producer_name="oddsmith",
            producer_version=__version__,
            doc_string="\n".join(header(model, output, note)),
        )
        onnx.checker.check_model(whole)
        return bytes(whole.SerializeToString(deterministic=True))

    def run(self, content: bytes, output: Output, scores: Floats) -> tuple[str, Any]:
        """Run the graph in ONNX Runtime."""
        if find_spec("onnxruntime") is None:
            raise _apart.DidNotRunError
        return _apart.run_in_python("onnx", base64.b64encode(content).decode("ascii"), output, scores)


class _Graph(Reader[str]):
    """Reads a formula as nodes of a graph; what is read is the name of a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._held = self.add("Clip", "score", self.constant(-_MAX), self.constant(_MAX))
        self._place = ""

    def add(self, operation: str, *inputs: str, result: str = "") -> str:
        """Append a node and return the name of its result."""
        from onnx import helper

        name = result or f"value_{len(self.nodes) + 1}"
        self.nodes.append(helper.make_node(operation, list(inputs), [name]))
        return name

    def constant(self, values: float | NDArray[Any]) -> str:
        """Append a constant and return its name."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants) + 1}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def _score(self) -> str:
        return self._held

    def _number(self, value: float) -> str:
        return self.constant(value)

    def _column(self, node: Column) -> str:
        return self.add("Gather", self.constant(node.values), self._place)

    def _arithmetic(self, node: Arithmetic, left: str, right: str) -> str:
        # ONNX Runtime leaves out + 0, − 0, × 1 and / 1, and compares float64 with 0 and 1 in float32.
        if node.operator in "+-" and isinstance(node.right, Number):
            return self.add("Sum", left, self.constant(node.right.value if node.operator == "+" else -node.right.value))
        if node.operator == "+":
            return self.add("Sum", left, right)
        for constant, other in ((node.right, left), (node.left, right))[: 2 if node.operator == "*" else 1]:
            if isinstance(constant, Number) and abs(constant.value - 1.0) < 1e-6:
                by_half = self.add(_OPERATORS[node.operator], other, self.constant(constant.value / 2))
                return self.add(_OPERATORS[node.operator], by_half, self.constant(2.0))
        return self.add(_OPERATORS[node.operator], left, right)

    def _function(self, node: Function, of: str) -> str:
        return self.add(_FUNCTIONS[node.name], of)

    def _clip(self, node: Clip, of: str) -> str:
        return self.add("Clip", of, self.constant(node.low), self.constant(node.high))

    def _where(self, _node: Where, left: str, right: str, then: str, otherwise: str) -> str:
        return self.add("Where", self.add("LessOrEqual", left, right), then, otherwise)

    def _pieces(self, node: Pieces) -> str:
        around, self._place = self._place, self._search(node)
        value = self.read(node.body)
        self._place = around
        return value

    def _search(self, node: Pieces) -> str:
        """Return how many knots lie below each score: one comparison per binary digit, the highest first."""
        steps = steps_past(len(node.knots))
        knots = self.constant(np.append(node.knots, np.full(sum(steps) - len(node.knots), np.inf)))
        place = self.constant(np.array(0, np.int64))
        for step in steps:
            last = self.add("Add", place, self.constant(np.array(step - 1, np.int64)))
            above = self.add("Greater", self._held, self.add("Gather", knots, last))
            passed = self.add("Add", place, self.constant(np.array(step, np.int64)))
            place = self.add("Where", above, passed, place)
        return place
