"""Maps as source code: a function of one score in Python, JavaScript or C, which needs nothing but itself."""

import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from oddsmith._types import Floats
from oddsmith.export._model import Model, Output, formula_of, header
from oddsmith.formula import (
    Arithmetic,
    Clip,
    Column,
    Formula,
    Function,
    Number,
    Pieces,
    Reader,
    Score,
    Where,
    parts,
    walk,
)

__all__ = ["LANGUAGES", "to_c", "to_javascript", "to_python", "write_code"]

_MAX = repr(float(np.finfo(np.float64).max))


@dataclass(frozen=True)
class Language:
    """How one language writes a formula; ``{}`` stands for parts."""

    comment: str
    functions: Mapping[str, str]
    clip: str
    where: str
    missing: str
    local: str
    array: str
    search: str
    frame: str


_INDENT = "    "
_NEGATIVE = {"negative": "-{}"}
_CHOICE = "({left} <= {right} ? {then} : {otherwise})"

LANGUAGES = {
    "python": Language(
        comment="#",
        functions={**_NEGATIVE, "abs": "abs({})", **{name: f"math.{name}({{}})" for name in ("cos", "exp", "log")}},
        clip="min(max({}, {}), {})",
        where="({then} if {left} <= {right} else {otherwise})",
        missing="math.nan",
        local="{name} = {value}",
        array="{name} = (\n{values},\n)",
        search="{place} = bisect.bisect_left({knots}, score)",
        frame="""\
{header}

import bisect
import math


def {output}(score):
    if score is None or score != score:
        return score
    score = min(max(float(score), -{max}), {max})
{arrays}{body}
    return {value}
""",
    ),
    "javascript": Language(
        comment="//",
        functions={**_NEGATIVE, **{name: f"Math.{name}({{}})" for name in ("abs", "cos", "exp", "log")}},
        clip="Math.min(Math.max({}, {}), {})",
        where=_CHOICE,
        missing="NaN",
        local="const {name} = {value};",
        array="const {name} = [\n{values}\n];",
        search="""\
let {place} = 0;
for (let high = {size}; {place} < high;) {{
  const middle = ({place} + high) >> 1;
  if ({knots}[middle] < score) {place} = middle + 1;
  else high = middle;
}}""",
        frame="""\
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
""",
    ),
    "c": Language(
        comment="//",
        functions={**_NEGATIVE, "abs": "fabs({})", "cos": "cos({})", "exp": "exp({})", "log": "log({})"},
        clip="fmin(fmax({}, {}), {})",
        where=_CHOICE,
        missing="NAN",
        local="const double {name} = {value};",
        array="static const double {name}[] = {{\n{values}\n}};",
        search="""\
size_t {place} = 0;
for (size_t high = {size}; {place} < high;) {{
    const size_t middle = ({place} + high) / 2;
    if ({knots}[middle] < score) {place} = middle + 1;
    else high = middle;
}}""",
        frame="""\
{header}

#include <math.h>
#include <stddef.h>

double {output}(double score) {{
    if (score != score) return score;
    score = fmin(fmax(score, -{max}), {max});
{arrays}{body}
    return {value};
}}
""",
    ),
}


def to_python(model: Model, *, output: Output = "probability") -> str:
    """Write a map as a Python function of one score, with nothing to import but the standard library.

    None and NaN give themselves, ±∞ the limits, and a score that the model refuses gives NaN.

    Parameters
    ----------
    model : CalibrationMap or Calibrator
        A fitted calibrator or its map.
    output : {"probability", "log_odds"}, default "probability"
        What the function returns, and its name. Log-odds are held within ±700.

    Examples
    --------
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.export import to_python
    >>> names = {}
    >>> exec(to_python(SquashCalibrator().fit([-1.0, 1.0], [0, 1])), names)
    >>> names["probability"](0.0)
    0.5
    """
    return write_code("python", model, output)


def to_javascript(model: Model, *, output: Output = "probability") -> str:
    """Write a map as a JavaScript function of one score, for browsers and Node.js.

    Parameters
    ----------
    model, output
        As for `to_python`, with null for None.

    Examples
    --------
    >>> from oddsmith import SquashCalibrator
    >>> from oddsmith.export import to_javascript
    >>> print(to_javascript(SquashCalibrator().fit([-1.0, 1.0], [0, 1])).splitlines()[-5])
        return 1.0 / (1.0 + Math.exp(-Math.min(Math.max(score, -700.0), 700.0)));
    """
    return write_code("javascript", model, output)


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
    return write_code("c", model, output)


def write_code(language: str, model: Model, output: Output, note: str = "") -> str:
    """Write a map in one of the languages, with a note in its header."""
    how = LANGUAGES[language]
    formula = formula_of(model, output)
    code = _Code(how, formula)
    value = code.read(formula)
    return how.frame.format(
        header="\n".join(f"{how.comment} {line}" for line in header(model, output, note)),
        output=output,
        max=_MAX,
        arrays=textwrap.indent("".join(f"{line}\n" for line in code.arrays), _INDENT),
        body=textwrap.indent("\n".join(code.lines), _INDENT),
        value=value,
    )


class _Code(Reader[str]):
    """Writes a formula as an expression, with parts that occur more than once in local variables."""

    def __init__(self, language: Language, formula: Formula) -> None:
        super().__init__()
        self.language = language
        self.arrays: list[str] = []
        self.lines: list[str] = []
        self._uses = Counter(id(part) for node in walk(formula) for part in parts(node))
        self._place = ""

    def read(self, formula: Formula) -> str:
        """Return the text of a formula, or the variable that holds it."""
        known = id(formula) in self._known
        text = super().read(formula)
        if known or self._uses[id(formula)] < 2 or isinstance(formula, (Score, Number, Column)):
            return text
        name = f"part_{len(self.lines) + 1}"
        self.lines.append(self.language.local.format(name=name, value=text))
        self._known[id(formula)] = formula, name
        return name

    def _score(self) -> str:
        return "score"

    def _number(self, value: float) -> str:
        return self.language.missing if np.isnan(value) else repr(value)

    def _column(self, node: Column) -> str:
        return f"{self._array('values', node.values)}[{self._place}]"

    def _arithmetic(self, node: Arithmetic, left: str, right: str) -> str:
        if node.operator in "*/":
            left = _bracketed(left, node.left, "+-")
        right = _bracketed(right, node.right, "+-" if node.operator == "+" else "+-*/")
        return f"{left} {node.operator} {right}"

    def _function(self, node: Function, of: str) -> str:
        return self.language.functions[node.name].format(
            _bracketed(of, node.of, "+-*/") if node.name == "negative" else of
        )

    def _clip(self, node: Clip, of: str) -> str:
        return self.language.clip.format(of, repr(node.low), repr(node.high))

    def _where(self, _node: Where, left: str, right: str, then: str, otherwise: str) -> str:
        return self.language.where.format(left=left, right=right, then=then, otherwise=otherwise)

    def _pieces(self, node: Pieces) -> str:
        knots = self._array("knots", node.knots)
        around, self._place = self._place, knots.replace("knots", "place")
        search = self.language.search.format(place=self._place, knots=knots, size=len(node.knots))
        self.lines.append(search)
        text = self.read(node.body)
        self._place = around
        return text

    def _array(self, kind: str, values: Floats) -> str:
        name = f"{kind}_{len(self.arrays) + 1}"
        text = textwrap.fill(", ".join(repr(float(value)) for value in values), 100, break_on_hyphens=False)
        self.arrays.append(self.language.array.format(name=name, values=textwrap.indent(text, "    ")))
        return name


def _bracketed(text: str, node: Formula, operators: str) -> str:
    """Put brackets around arithmetic by some operators, unless a variable holds it."""
    return (
        f"({text})" if isinstance(node, Arithmetic) and node.operator in operators and not text.isidentifier() else text
    )
