"""Maps as JavaScript functions."""

import json
from typing import Any, ClassVar

from oddsmith._types import Floats
from oddsmith.export import subprocess_runner
from oddsmith.export.code import CodeLanguage
from oddsmith.export.language import Model, Output


class JavaScript(CodeLanguage):
    """A function for browsers and Node.js."""

    name = "javascript"
    engine = "Node.js"
    suffix = ".js"
    comment = "//"
    functions: ClassVar[dict[str, str]] = {name: f"Math.{name}({{}})" for name in ("abs", "cos", "exp", "log")}
    clip = "Math.min(Math.max({}, {}), {})"
    missing = "NaN"
    local = "const {name} = {value};"
    array = "const {name} = [\n{values}\n];"
    search = """\
let {place} = 0;
for (let high = {size}; {place} < high;) {{
  const middle = ({place} + high) >> 1;
  if ({knots}[middle] < score) {place} = middle + 1;
  else high = middle;
}}"""
    frame = """\
{header}

const {output} = (() => {{
{arrays}
  return (score) => {{
    if (score == null || score !== score) return score;
    score = Math.min(Math.max(score, -{max}), {max});
{body}
    return {value};
  }};
}})();

if (typeof module !== "undefined") module.exports = {{ {output} }};
"""
    vector = "const {name} = new Array({size});"
    assign = "{name} = {value};"
    loop = "for (let {index} = 0; {index} < {size}; ++{index}) {{\n{indented}\n}}"
    block = "{{\n{indented}\n}}"
    joint_frame = """\
{header}

const probabilities = (() => {{
{arrays}
  return (row) => {{
    if (row.length !== {columns}) throw new RangeError("row must have {columns} values");
    for (let i = 0; i < {columns}; ++i) {{
      if (row[i] == null || row[i] !== row[i]) return new Array({classes}).fill(NaN);
    }}
{body}
    return {value};
  }};
}})();

if (typeof module !== "undefined") module.exports = {{ probabilities }};
"""

    def run(self, content: str, output: Output, scores: Floats) -> tuple[str, Any]:
        """Run the function in Node.js."""
        script = (
            f"const {{ {output} }} = require('./map.cjs');"
            'const scores = JSON.parse(require("fs").readFileSync(0, "utf8"));'
            f"process.stdout.write(JSON.stringify([process.version, scores.map((score) => {output}(score))]));"
        )
        command = [subprocess_runner.program("node"), "ask.cjs"]
        files = {"map.cjs": content, "ask.cjs": script}
        # JSON has neither NaN nor infinity, but 1e999 is read as the latter.
        given = json.dumps(subprocess_runner.as_lists(scores)).replace("NaN", "null").replace("Infinity", "1e999")
        (answer,) = subprocess_runner.run_files(files, command, given=given.encode())
        version, values = json.loads(answer)
        return f"Node.js {version.removeprefix('v')}", values


def to_javascript(model: Model, *, output: Output = "probability") -> str:
    """Write a map as a JavaScript function of one score, for browsers and Node.js.

    With several classes it is ``probabilities(row)``, from an array with one value per column to one with one per
    class.

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
    >>> from oddsmith.export import to_javascript
    >>> print(to_javascript(SquashCalibrator().fit([-1.0, 1.0], [0, 1])).splitlines()[-5])
        return 1.0 / (1.0 + Math.exp(-Math.min(Math.max(score, -700.0), 700.0)));
    """
    return JavaScript().write(model, output)
