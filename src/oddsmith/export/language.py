"""The base of export languages: each writes a formula below a header, and runs what it wrote where it can."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith._version import __version__
from oddsmith.calibrators import Calibrator
from oddsmith.export.escaping import in_comment
from oddsmith.export.subprocess_runner import DidNotRunError
from oddsmith.formula import LIMIT, Formula, clip
from oddsmith.maps import CalibrationMap, JointMap
from oddsmith.model import Model as FittedModel
from oddsmith.model import map_of, model_of

if TYPE_CHECKING:
    from oddsmith.calibrators import JointScaling

__all__ = [
    "Language",
    "Model",
    "Output",
    "formula_of",
    "header",
    "joint_model_of",
    "joint_to_write",
    "segment_columns",
    "some_segments",
]

#: Segments that exports are verified on.
MOST_SEGMENTS = 12

#: What can be exported.
Model: TypeAlias = "CalibrationMap | JointMap | FittedModel | Calibrator | JointScaling"

#: What an export computes: of several classes, always probabilities.
Output = Literal["probability", "log_odds", "probabilities"]


class Language(ABC):
    """A language to which maps are exported; `oddsmith.export.LANGUAGES` lists them.

    Attributes
    ----------
    name : str
        What `export` and the command line call it.
    engine : str
        What runs it, by its common name.
    suffix : str
        The end of the names of its files; empty where it writes a folder.
    takes_segments : bool
        Whether it writes models by segment. ``run`` then gets the segment of each score, too.

    See Also
    --------
    CodeLanguage : One that is written from formulas.
    """

    name: ClassVar[str]
    engine: str
    suffix: ClassVar[str]
    takes_segments: ClassVar[bool] = False

    @property
    def runs_in_process(self) -> bool:
        """Whether what runs it is a library here: then each export is verified, else only on request."""
        return False

    @abstractmethod
    def write(self, model: Model, output: Output, note: str = "") -> str | bytes | dict[str, str]:
        """Return what to put in a file, or in files by their paths: the formula, below a ``header`` with a note.

        Parameters
        ----------
        model : map
            What is exported.
        output : str
            The name of the function.
        note : str
            A comment above the code.

        Returns
        -------
        str or bytes or dict[str, str]
        """

    def run(self, content: Any, output: Output, scores: Floats) -> tuple[str, Any]:
        """Return the full name of what runs here, and its values; by default nothing does.

        Scores are one per value, or of several classes rows of shape (n, columns). NaN is a missing value, which gives
        NaN or None; of ±∞ a map has its values at the largest doubles.

        Parameters
        ----------
        content : str
            The code.
        output : str
            The name of the function.
        scores : array of shape (n,)
            What to compute.

        Returns
        -------
        tuple[str, Any]
        """
        del content, output, scores
        raise DidNotRunError

    def to_run(self, model: Model, output: Output) -> str | bytes:
        """Return what `run` takes.

        Parameters
        ----------
        model : map
            What is exported.
        output : str
            The name of the function.

        Returns
        -------
        str or bytes
        """
        written = self.write(model, output)
        assert not isinstance(written, dict)
        return written

    def with_options(self, **options: Any) -> Self:
        """Return the language with options of `export` that are meant for it; by default none is.

        Parameters
        ----------
        **options
            Options of the language.

        Returns
        -------
        self
        """
        del options
        return self


def formula_of(model: Model, output: Output) -> Formula:
    """Return the formula of what is to be exported; log-odds are held within ±700."""
    _check.one_of(output, "output", ("probability", "log_odds"))
    if joint_model_of(model) is not None:
        must = "model must have two classes for this language"
        _check.fail(must, "a model of several classes", "export it to sql, onnx, python, javascript or c")
    fitted = map_of(model)
    return fitted.probability_formula() if output == "probability" else clip(fitted.log_odds_formula(), -LIMIT, LIMIT)


def joint_model_of(model: Any) -> FittedModel | None:
    """Return the joint model of a model, fitted scaling or joint map, None of anything else.

    The classes of a bare map are 0, 1, 2, …
    """
    if isinstance(model, str):
        return None
    if isinstance(model, FittedModel) and model.by is not None:
        return None if model.has_one_score else model
    found = model_of(model)
    return None if found.has_one_score else found


def expand_effects(model: Model) -> Model:
    """Return a model with effects as one with a map for each crossing of values; anything else as it is."""
    return model.expand_effects() if isinstance(model, FittedModel) else model


def segment_columns(model: Model) -> list[str]:
    """Return the columns of segments of a model; none of one without segments."""
    by = model.by if isinstance(model, FittedModel) else None
    return [by] if isinstance(by, str) else list(by or ())


def some_segments(model: Model) -> Model:
    """Return a model by segment with at most so many segments as exports are verified on; any other as it is."""
    if not isinstance(model, FittedModel) or len(model.segments) <= MOST_SEGMENTS:
        return model
    names = list(model.segments)
    chosen = np.unique(np.linspace(0, len(names) - 1, MOST_SEGMENTS).astype(np.intp)).tolist()
    fitted: FittedModel = model
    return replace(fitted, segments={names[i]: model.segments[names[i]] for i in chosen})


def joint_to_write(model: Model, output: Output) -> FittedModel | None:
    """Return the model of several classes that is to be exported, None of two classes."""
    joint = joint_model_of(model)
    if joint is not None and output != "probability":
        must = "output must be 'probability' for a model of several classes"
        _check.fail(must, f"output={output!r}", "leave output out")
    return joint


def header(model: Model, output: Output, note: str) -> list[str]:
    """Return the lines that stand above every export: what it is, who wrote it, how well it agrees (a `Parity`)."""
    method = model.method if isinstance(model, FittedModel) else type(model).__name__
    what = "The probability" if output == "probability" else "The log-odds"
    of_what = "of the positive class by score" if joint_model_of(model) is None else "of each class"
    lines = [f"{what} {of_what}: {in_comment(method)}.", f"Written by Oddsmith {__version__}."]
    return [*lines, note] if note else lines
