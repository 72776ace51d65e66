"""Maps as ONNX graphs in float64."""

import base64
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oddsmith import _extras
from oddsmith._types import Floats
from oddsmith._version import __version__
from oddsmith.export import subprocess_runner
from oddsmith.export.language import Language, Model, Output, formula_of, header, joint_to_write
from oddsmith.formula import (
    Affine,
    Arithmetic,
    Clip,
    Column,
    Each,
    Formula,
    Function,
    Inputs,
    Largest,
    Number,
    Pieces,
    Reader,
    Total,
    Where,
    parts_of,
    steps_past,
    walk_vectors,
)
from oddsmith.maps import MAX, JointMap
from oddsmith.model import joint_map_of

if TYPE_CHECKING:
    import onnx

__all__ = ["Onnx", "to_onnx"]

#: The oldest that has all operations in float64; every runtime since 2022 reads them.
_OPSET, _IR = 17, 8

#: ONNX's number of the type float64.
_DOUBLE = 11

_OPERATORS = {"-": "Sub", "*": "Mul", "/": "Div"}
_FUNCTIONS = {"abs": "Abs", "cos": "Cos", "exp": "Exp", "log": "Log", "negative": "Neg"}


def to_onnx(model: Model, *, output: Output = "probability") -> bytes:
    """Write a map as an ONNX model: input "score", float64 of shape (N,); output of the same kind, with the name given.

    With several classes the input is "logits" or "uncalibrated_probabilities", of shape (N, columns), and the output
    "probabilities", of shape (N, classes), in the order of the labels; where a value of a row is NaN, all of its
    probabilities are.

    Intervals are found by a binary search of ⌈log₂(knots + 1)⌉ steps and interpolated within. NaN gives NaN, ±∞ the
    limits, and a score that the model refuses gives NaN. Needs opset 17.

    Parameters
    ----------
    model : Model, fitted calibrator or scaling, CalibrationMap or JointMap
        A fitted calibrator or its map; for several classes a model, its map or a fitted scaling.
    output : {"probability", "log_odds"}, default "probability"
        Log-odds are clipped to ±700.

    Returns
    -------
    bytes

    See Also
    --------
    export : Any language, with a check of the result.

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
        joint = joint_to_write(model, output)
        _extras.require("onnx")
        import onnx
        from onnx import helper

        graph = _Nodes()
        if joint is None:
            held = graph.add("Clip", "score", graph.constant(-MAX), graph.constant(MAX))
            value = _Graph(graph, held).read(formula_of(model, output))
            # NaN goes through, and a constant map gets the shape of the scores.
            graph.add("Where", graph.add("IsNaN", "score"), "score", value, result=output)
            shapes: dict[str, list[str | int]] = {"score": ["N"], output: ["N"]}
        else:
            name = _add_probabilities(graph, joint_map_of(joint))
            shapes = {name: ["N", joint.map.columns], "probabilities": ["N", joint.map.n_classes]}
        # ONNX Runtime warns of constants that no node uses.
        used = {name for node in graph.nodes for name in node.input}
        constants = [constant for constant in graph.constants if constant.name in used]
        given, result = (
            helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, shape) for name, shape in shapes.items()
        )
        whole = helper.make_model(
            helper.make_graph(graph.nodes, "calibration", [given], [result], constants),
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
            raise subprocess_runner.DidNotRunError
        return subprocess_runner.run_in_python("onnx", base64.b64encode(content).decode("ascii"), output, scores)


class _Nodes:
    """Nodes and constants of a graph."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, operation: str, *inputs: str, result: str = "", **options: Any) -> str:
        """Append a node and return the name of its result."""
        from onnx import helper

        name = result or f"value_{len(self.nodes) + 1}"
        self.nodes.append(helper.make_node(operation, list(inputs), [name], **options))
        return name

    def constant(self, values: float | NDArray[Any]) -> str:
        """Append a constant and return its name."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants) + 1}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name


class _Graph(Reader[str]):
    """Reads a formula as nodes of a graph; what is read is the name of a tensor, and what is given holds no NaN."""

    def __init__(self, graph: _Nodes, *given: str) -> None:
        super().__init__(*given)
        self.add, self.constant = graph.add, graph.constant
        self._place = ""

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
        self._place = self._search(node)
        return self.read(node.body)

    def _search(self, node: Pieces) -> str:
        """Return how many knots lie below each score: one comparison per binary digit, the highest first."""
        steps = steps_past(len(node.knots))
        knots = self.constant(np.append(node.knots, np.full(sum(steps) - len(node.knots), np.inf)))
        place = self.constant(np.array(0, np.int64))
        for step in steps:
            last = self.add("Add", place, self.constant(np.array(step - 1, np.int64)))
            above = self.add("Greater", self._score(), self.add("Gather", knots, last))
            passed = self.add("Add", place, self.constant(np.array(step, np.int64)))
            place = self.add("Where", above, passed, place)
        return place


def _add_probabilities(graph: _Nodes, fitted: JointMap) -> str:
    """Add the nodes of a joint map, and return the name of its input."""
    given = "logits" if fitted.input == "logits" else "uncalibrated_probabilities"
    along = graph.constant(np.array([1], np.int64))
    absent = graph.add("Cast", graph.add("IsNaN", given), to=_DOUBLE)
    missing = graph.add("Greater", graph.add("ReduceSum", absent, along), graph.constant(0.5))
    rows = graph.add("Where", missing, graph.constant(0.0), given)
    names: dict[int, str] = {}
    formula = fitted.probability_formula()
    for node in walk_vectors(formula):
        if isinstance(node, Inputs):
            names[id(node)] = rows
            continue
        x, *beside = (names[id(part)] for part in parts_of(node))
        match node:
            case Each(formulas=[one]):
                value = _reshape(graph, _Graph(graph, x, *beside).read(one), x)
            case Each(formulas=several):
                value = _concatenate(graph, several, [x, *beside], [part.width for part in parts_of(node)])
            case Affine(rows=coef, intercept=intercept):
                product = graph.add("MatMul" if coef.ndim == 2 else "Mul", x, graph.constant(coef.T))
                value = graph.add("Sum", product, graph.constant(intercept))
            case Largest():
                value = graph.add("ReduceMax", x, axes=[1])
            case Total(formula=one):
                value = graph.add("ReduceSum", _reshape(graph, _Graph(graph, x).read(one), x), along)
        names[id(node)] = value
    graph.add("Where", missing, graph.constant(float("nan")), names[id(formula)], result="probabilities")
    return given


def _reshape(graph: _Nodes, value: str, like: str) -> str:
    """Return a tensor in the shape of another; nothing in that one is missing."""
    return graph.add("Where", graph.add("IsNaN", like), like, value) if value.startswith("constant") else value


def _concatenate(graph: _Nodes, formulas: Sequence[Formula], given: list[str], widths: list[int]) -> str:
    """Return one column per formula, side by side."""
    columns = []
    for place, one in enumerate(formulas):
        at = [
            name if width == 1 else graph.add("Gather", name, graph.constant(np.array([place], np.int64)), axis=1)
            for name, width in zip(given, widths, strict=True)
        ]
        columns.append(_reshape(graph, _Graph(graph, *at).read(one), at[0]))
    return graph.add("Concat", *columns, axis=1)
