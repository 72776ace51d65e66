"""One calibrator, one measure and one export language from outside the package; CONTRIBUTING.md shows these lines."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from oddsmith import checks
from oddsmith.calibrators import Calibrator, Fitted
from oddsmith.calibrators.registry import register_calibrator
from oddsmith.data import ScoreTable
from oddsmith.export import CodeLanguage, register_language
from oddsmith.maps import StepMap
from oddsmith.metrics import measure, register_measure


# calibrator
@register_calibrator
@dataclass(eq=False, repr=False)
class HalvesCalibrator(Calibrator):
    """Predict the share of positives below and above the middle of the scores."""

    added: float = 1.0  # parameters are fields; the constructor only stores

    def _check_parameters(self) -> None:
        checks.number(self.added, "added", low=0, strict=True)

    def _fit(self, data: ScoreTable) -> Fitted:  # both classes and two distinct scores are certain here
        low, high = data.span()
        middle = low / 2 + high / 2
        above = data.scores > middle
        pos, neg = (np.array([side[~above].sum(), side[above].sum()]) for side in (data.pos, data.neg))
        share = (pos + self.added) / (pos + neg + 2 * self.added)
        return Fitted(StepMap(np.array([middle]), share[:1], share), {"middle_": middle})


# measure
@register_measure
@measure("mean of |P − ½|")
def mean_certainty(forecast: ScoreTable) -> float:
    """Return how far forecasts are from ½ on average."""
    certainty = np.abs(np.tanh(forecast.scores / 2)) / 2  # scores of a forecast are log-odds
    return float(forecast.total @ certainty / forecast.total.sum())


# language
class Lua(CodeLanguage):
    """A function in Lua."""

    name = "lua"
    engine = "Lua"
    suffix = ".lua"
    comment = "--"
    functions: ClassVar = {name: f"math.{name}({{}})" for name in ("abs", "cos", "exp", "log")}
    clip = "math.min(math.max({}, {}), {})"
    where = "(({left} <= {right}) and {then} or {otherwise})"
    missing = "(0/0)"
    local = "local {name} = {value}"
    array = "local {name} = {{\n{values},\n}}"
    search = "local {place} = 0\nwhile {place} < #{knots} and {knots}[{place} + 1] < score do {place} = {place} + 1 end"
    frame = """\
{header}
function {output}(score)
    if score ~= score then return score end
{arrays}{body}
    return {value}
end
"""


register_language(Lua())
