"""What can be exported, and what every export says of itself."""

from typing import Literal

from sklearn.utils.validation import check_is_fitted

from oddsmith import __version__, _check
from oddsmith.calibrators import Calibrator
from oddsmith.export._escaping import in_comment
from oddsmith.formula import LIMIT, Formula, clip
from oddsmith.maps import CalibrationMap
from oddsmith.modelfile import CalibrationModel

Model = CalibrationMap | Calibrator | CalibrationModel
Output = Literal["probability", "log_odds"]


def map_of(model: Model) -> CalibrationMap:
    """Return the map of a model or fitted calibrator, or the map itself."""
    if isinstance(model, CalibrationMap):
        return model
    if isinstance(model, CalibrationModel):
        if model.by is not None:
            _check.fail("one map is exported at a time", f"a model by {model.by}", "pass model.of_segment(name).map")
        return model.map
    if not isinstance(model, Calibrator):
        _check.fail("model must be a fitted calibrator or its map", type(model).__name__, "pass calibrator.map_")
    check_is_fitted(model, "map_")
    fitted: CalibrationMap = model.map_
    return fitted


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
