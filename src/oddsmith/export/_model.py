"""What can be exported, and what every export says of itself."""

from typing import Literal

from oddsmith import _check
from oddsmith._version import __version__
from oddsmith.calibrators import Calibrator
from oddsmith.export._escaping import in_comment
from oddsmith.formula import LIMIT, Formula, clip
from oddsmith.maps import CalibrationMap
from oddsmith.modelfile import CalibrationModel, map_of

Model = CalibrationMap | Calibrator | CalibrationModel
Output = Literal["probability", "log_odds"]


def formula_of(model: Model, output: Output) -> Formula:
    """Return the formula of what is to be exported; log-odds are held within ±700."""
    _check.one_of(output, "output", ("probability", "log_odds"))
    fitted = map_of(model)
    return fitted.probability_formula() if output == "probability" else clip(fitted.log_odds_formula(), -LIMIT, LIMIT)


def header(model: Model, output: Output, note: str) -> list[str]:
    """Return the lines that stand above every export: what it is, who wrote it, how well it agrees (a `Parity`)."""
    method = model.method if isinstance(model, CalibrationModel) else type(model).__name__
    what = "The probability" if output == "probability" else "The log-odds"
    lines = [f"{what} of the positive class by score: {in_comment(method)}.", f"Written by Oddsmith {__version__}."]
    return [*lines, note] if note else lines
