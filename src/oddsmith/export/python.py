"""Maps as Python functions."""

from typing import Any, ClassVar

from oddsmith._types import Floats
from oddsmith.export import subprocess_runner
from oddsmith.export.code import CodeLanguage
from oddsmith.export.language import Model, Output


class Python(CodeLanguage):
    """A function which needs only the standard library."""

    name = "python"
    engine = "Python"
    suffix = ".py"
    comment = "#"
    functions: ClassVar[dict[str, str]] = {
        "abs": "abs({})",
        **{name: f"math.{name}({{}})" for name in ("cos", "exp", "log")},
    }
    clip = "min(max({}, {}), {})"
    where = "({then} if {left} <= {right} else {otherwise})"
    missing = "math.nan"
    local = "{name} = {value}"
    array = "{name} = (\n{values},\n)"
    search = "{place} = bisect.bisect_left({knots}, score)"
    frame = """\
{header}

import bisect
import math


def {output}(score):
    if score is None or score != score:
        return score
    score = min(max(float(score), -{max}), {max})
{arrays}{body}
    return {value}
"""
    vector = "{name} = [0.0] * {size}"
    assign = "{name} = {value}"
    loop = "for {index} in range({size}):\n{indented}"
    block = "{body}"
    joint_frame = """\
{header}

import bisect
import math


def probabilities(row):
    row = [math.nan if value is None else float(value) for value in row]
    if len(row) != {columns}:
        raise ValueError("row must have {columns} values")
    if any(value != value for value in row):
        return [math.nan] * {classes}
{arrays}{body}
    return {value}
"""

    def run(self, content: str, output: Output, scores: Floats) -> tuple[str, Any]:
        """Run the function in an interpreter without other packages."""
        return subprocess_runner.run_in_python("python", content, output, scores)


def to_python(model: Model, *, output: Output = "probability") -> str:
    """Write a map as a Python function of one score, which needs only the standard library.

    None and NaN give themselves, ±∞ the limits, and a score that the model refuses gives NaN.

    With several classes it is ``probabilities(row)``, from a list with one value per column to a list with one per
    class; where a value is None or NaN, all of them are NaN.

    Parameters
    ----------
    model : Model, fitted calibrator or scaling, CalibrationMap or JointMap
        A fitted calibrator or its map; for several classes a model, its map or a fitted scaling.
    output : {"probability", "log_odds"}, default "probability"
        What the function returns, and its name. Log-odds are clipped to ±700.

    Returns
    -------
    str

    See Also
    --------
    export : Any language, with a check of the result.

    Examples
    --------
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.export import to_python
    >>> names = {}
    >>> exec(to_python(SquashCalibrator().fit([-1.0, 1.0], [0, 1])), names)
    >>> names["probability"](0.0)
    0.5
    """
    return Python().write(model, output)
