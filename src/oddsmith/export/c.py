"""Maps as C functions."""

from typing import Any, ClassVar

import numpy as np

from oddsmith._types import Floats
from oddsmith.export import _apart
from oddsmith.export.code import CodeLanguage
from oddsmith.export.language import Model, Output

_MAIN = """
#include <stdio.h>
double {output}(double score);
int main(void) {{
    for (double value; fread(&value, sizeof value, 1, stdin) == 1;) {{
        value = {output}(value);
        fwrite(&value, sizeof value, 1, stdout);
    }}
    return 0;
}}
"""


class C(CodeLanguage):
    """A C99 function from double to double."""

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

    def run(self, content: str, output: Output, scores: Floats) -> tuple[str, Any]:
        """Compile the function, and run it."""
        compiler = _apart.program("cc")
        build = [compiler, "-std=c99", "-O2", "map.c", "main.c", "-o", "check", "-lm"]
        files = {"map.c": content, "main.c": _MAIN.format(output=output)}
        _, values, version = _apart.run_files(
            files, build, ["./check"], [compiler, "--version"], given=scores.tobytes()
        )
        return version.decode("utf-8", "replace").partition("\n")[0], np.frombuffer(values, np.float64)


def to_c(model: Model, *, output: Output = "probability") -> str:
    """Write a map as a C99 function from double to double.

    Parameters
    ----------
    model, output
        As for `to_python`.

    Examples
    --------
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.export import to_c
    >>> print(to_c(SquashCalibrator().fit([-1.0, 1.0], [0, 1])).splitlines()[-2])
        return 1.0 / (1.0 + exp(-fmin(fmax(score, -700.0), 700.0)));
    """
    return C().write(model, output)
