"""Maps as C functions."""

from typing import Any, ClassVar

import numpy as np

from oddsmith._types import Floats
from oddsmith.export import subprocess_runner
from oddsmith.export.code import CodeLanguage
from oddsmith.export.language import Model, Output, joint_to_write

_MAIN = """
#include <stdio.h>
int main(void) {{
    static double row[{columns}], result[{classes}];
    while (fread(row, sizeof row, 1, stdin) == 1) {{
        {call};
        fwrite(result, sizeof result, 1, stdout);
    }}
    return 0;
}}
"""


class C(CodeLanguage):
    """A C99 function from double to double, or from a row to probabilities."""

    name = "c"
    engine = "a C compiler"
    suffix = ".c"
    comment = "//"
    functions: ClassVar[dict[str, str]] = {"abs": "fabs({})", "cos": "cos({})", "exp": "exp({})", "log": "log({})"}
    clip = "fmin(fmax({}, {}), {})"
    missing = "NAN"
    local = "const double {name} = {value};"
    array = "static const double {name}[] = {{\n{values}\n}};"
    search = """\
size_t {place} = 0;
for (size_t high = {size}; {place} < high;) {{
    const size_t middle = ({place} + high) / 2;
    if ({knots}[middle] < score) {place} = middle + 1;
    else high = middle;
}}"""
    frame = """\
{header}

#include <math.h>
#include <stddef.h>

double {output}(double score) {{
    if (score != score) return score;
    score = fmin(fmax(score, -{max}), {max});
{arrays}{body}
    return {value};
}}
"""
    vector = "double {name}[{size}];"
    assign = "{name} = {value};"
    loop = "for (size_t {index} = 0; {index} < {size}; ++{index}) {{\n{indented}\n}}"
    block = "{{\n{indented}\n}}"
    joint_frame = """\
{header}

#include <math.h>
#include <stddef.h>

void probabilities(const double *row, double *result) {{
    for (size_t i = 0; i < {columns}; ++i) {{
        if (row[i] == row[i]) continue;
        for (size_t j = 0; j < {classes}; ++j) result[j] = NAN;
        return;
    }}
{arrays}{body}
    for (size_t i = 0; i < {classes}; ++i) result[i] = {value}[i];
}}
"""

    def to_run(self, model: Model, output: Output) -> str:
        """Return the function with a program that calls it."""
        joint = joint_to_write(model, output)
        columns, classes = (1, 1) if joint is None else (joint.map.columns, joint.map.n_classes)
        call = f"result[0] = {output}(row[0])" if joint is None else "probabilities(row, result)"
        return self.write(model, output) + _MAIN.format(columns=columns, classes=classes, call=call)

    def run(self, content: str, output: Output, scores: Floats) -> tuple[str, Any]:
        """Compile the function, and run it."""
        compiler = subprocess_runner.program("cc")
        build = [compiler, "-std=c99", "-O2", "map.c", "-o", "check", "-lm"]
        commands = build, ["./check"], [compiler, "--version"]
        _, values, version = subprocess_runner.run_files({"map.c": content}, *commands, given=scores.tobytes())
        found = np.frombuffer(values, np.float64)
        shaped = found.reshape(len(scores), -1) if output == "probabilities" else found
        return version.decode("utf-8", "replace").partition("\n")[0], shaped


def to_c(model: Model, *, output: Output = "probability") -> str:
    """Write a map as a C99 function from double to double.

    With several classes it is ``void probabilities(const double *row, double *result)``, which reads one value per
    column and writes one per class; where a value is NaN, all of them are.

    Parameters
    ----------
    model : Model, fitted calibrator or scaling, CalibrationMap or JointMap
        A fitted calibrator or its map; for several classes a model, its map or a fitted scaling.
    output : {"probability", "log_odds"}, default "probability"

    Returns
    -------
    str

    See Also
    --------
    export : Any language, with a check of the result.

    Examples
    --------
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.export import to_c
    >>> print(to_c(SquashCalibrator().fit([-1.0, 1.0], [0, 1])).splitlines()[-2])
        return 1.0 / (1.0 + exp(-fmin(fmax(score, -700.0), 700.0)));
    """
    return C().write(model, output)
