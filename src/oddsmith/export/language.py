"""What an export language is: it writes a formula, says so in a comment, and where it can runs what it wrote."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, Self

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith._version import __version__
from oddsmith.calibrators import Calibrator
from oddsmith.export._apart import DidNotRunError
from oddsmith.export._escaping import in_comment
from oddsmith.formula import LIMIT, Formula, clip
from oddsmith.maps import CalibrationMap
from oddsmith.modelfile import CalibrationModel, map_of

__all__ = ["Language", "Model", "Output", "formula_of", "header"]

Model = CalibrationMap | Calibrator | CalibrationModel
Output = Literal["probability", "log_odds"]


class Language(ABC):
    """A language that maps are written in: one file, and one line in `oddsmith.export.LANGUAGES`.

    Attributes
    ----------
    name : str
        What `export` and the command line call it.
    engine : str
        What runs it, by the name that people know.
    suffix : str
        The end of the names of its files.
    """

    name: ClassVar[str]
    engine: str
    suffix: ClassVar[str]

    @abstractmethod
    def write(self, model: Model, output: Output, note: str = "") -> str | bytes:
        """Return what to put in a file: the formula, below a ``header`` with a note."""

    def run(self, content: Any, output: Output, scores: Floats) -> tuple[str, Any]:
        """Return the full name of what runs here, and its values; by default nothing does."""
        del content, output, scores
        raise DidNotRunError

    def to_run(self, model: Model, output: Output) -> str | bytes:
        """Return what `run` takes."""
        return self.write(model, output)

    def with_options(self, **options: Any) -> Self:
        """Return the language with options of `export` that are meant for it; by default none is."""
        del options
        return self


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
