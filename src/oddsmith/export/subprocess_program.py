"""The other side of a comparison: a process that knows nothing of this library.

It reads from standard input an export and the scores to try it on, and answers with the engine's full name and values.
"""

import base64
import json
import sys
from collections.abc import Callable
from typing import Any

#: A score, or of several classes a row of them; what is missing is None.
ScoreList = list[Any]
Answer = tuple[str, list[Any]]


def python(source: str, output: str, scores: ScoreList) -> Answer:
    """Run a Python function."""
    names: dict[str, Any] = {}
    exec(source, names)
    version = ".".join(str(part) for part in sys.version_info[:3])
    return f"Python {version}", [names[output](score) for score in scores]


def onnx(content: str, output: str, scores: ScoreList) -> Answer:
    """Run a graph in ONNX Runtime."""
    import numpy as np
    import onnxruntime

    session = onnxruntime.InferenceSession(base64.b64decode(content), providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    (values,) = session.run([output], {given.name: np.array(scores, dtype=np.float64)})
    return f"ONNX Runtime {onnxruntime.__version__}", values.tolist()


ENGINES: dict[str, Callable[[str, str, ScoreList], Answer]] = {
    "python": python,
    "onnx": onnx,
}

if __name__ == "__main__":
    asked = json.load(sys.stdin)
    sys.path[:] = asked["path"] or sys.path
    try:
        answer = ENGINES[asked["engine"]](asked["content"], asked["name"], asked["scores"])
    except ImportError as error:
        sys.stderr.write(str(error))
        sys.exit(3)  # something is lacking that any content would need
    json.dump(answer, sys.stdout)
