"""Whether an export says the same as its map: run where its engine is at hand, in a process apart."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from oddsmith.export._escaping import in_comment
from oddsmith.export._probes import probe_rows, probes
from oddsmith.export._subprocess_runner import DidNotRunError, RejectedError
from oddsmith.export.joint import joint_model_of
from oddsmith.export.language import Language, Model, Output, two_class_map

__all__ = ["Parity", "compare"]


@dataclass(frozen=True)
class Parity:
    """How far an export is from its map.

    Attributes
    ----------
    engine : str
        With its version, where there is one.
    largest : float or None
        Largest difference in probability; None where it was not checked.
    n_scores : int
        Number of scores compared; of several classes, of rows.
    unit : {"scores", "rows"}
        What was compared.
    rejected : bool
        Whether the engine ran and refused the text.
    """

    engine: str
    largest: float | None
    n_scores: int
    unit: str = "scores"
    rejected: bool = False

    def __str__(self) -> str:
        if self.largest is None:
            return f"Not checked here: {self.engine}."
        compared = f"{self.n_scores} {self.unit} on {self.engine}"
        return f"Largest difference {self.largest:.1e} in probability over {compared}."


def compare(language: Language, model: Model, output: Output, content: str | bytes) -> Parity:
    """Compare what a language makes of its own text with the map."""
    joint = joint_model_of(model)
    if joint is None:
        unit = "scores"
        scores, expected = probes(two_class_map(model))
    else:
        scores, unit, output = probe_rows(joint.map), "rows", "probabilities"
        expected = joint.map.probability(scores)
    try:
        name, values = language.run(content, output, scores)
    except DidNotRunError as why:
        engine = in_comment(f"{language.engine} {why if why.args else 'is not at hand'}")
        return Parity(engine, None, 0, unit, isinstance(why, RejectedError))
    got = np.asarray(values, dtype=np.float64)
    if output == "log_odds":
        got = expit(got)
    # A value that is missing where there is one, or the other way, differs by as much as anything can.
    differences = np.where(np.isnan(got) & np.isnan(expected), 0.0, np.abs(got - expected))
    return Parity(in_comment(name), float(np.nan_to_num(differences, nan=np.inf).max()), len(scores), unit)
