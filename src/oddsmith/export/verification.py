"""Compare an export with its map, at scores, or rows of them, where the two could differ."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from oddsmith._types import Bools, Floats
from oddsmith.export.escaping import in_comment
from oddsmith.export.language import Language, Model, Output, joint_model_of, segment_columns, some_segments
from oddsmith.export.subprocess_runner import DidNotRunError, RejectedError
from oddsmith.formula import MAX, Pieces, walk
from oddsmith.maps import CalibrationMap, JointMap, OneVsRestMap, Segment, halfway
from oddsmith.model import Model as FittedModel
from oddsmith.model import joint_map_of, map_of

__all__ = ["LARGEST_DIFFERENCE", "Parity", "compare"]

#: What differs by more in probability is not the map.
LARGEST_DIFFERENCE = 1e-9

#: Between neighboring probes the probability changes by no more than this, unless no double lies between them.
_STEP = 0.01
_MOST_KNOTS = 2_000
_MOST_PROBES = 20_000

#: Rows of each kind for several classes, and probes per class where classes have maps of their own.
_ROWS = 40
_PER_CLASS = 200

#: Probes for each of the segments on which an export is run.
_PER_SEGMENT = 400

#: Sizes of logits: from nearly equal ones to those of which one decides.
_SIZES = (1e-3, 0.1, 1.0, 10.0, 1e3, 1e5)
_EXTREMES = np.array([-1e300, -1e4, 0.0, 1.0, 1e4, 1e300])

#: What is no probability.
_REFUSED = np.array([-np.inf, -3.0, -1e-5, 1 + 1e-5, 2.0, np.inf])


@dataclass(frozen=True)
class Parity:
    """The largest difference between an export and its map.

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

    See Also
    --------
    Export : Contains it.
    """

    engine: str
    largest: float | None
    n_scores: int
    unit: str = "scores"
    rejected: bool = False

    def __str__(self) -> str:
        if self.largest is None:
            return f"Not verified: {self.engine}."
        compared = f"{self.n_scores} {self.unit} on {self.engine}"
        return f"Largest difference {self.largest:.1e} in probability over {compared}."


def compare(language: Language, model: Model, output: Output, content: str | bytes) -> Parity:
    """Compare what a language makes of its own text with the map."""
    joint = joint_model_of(model)
    unit = "scores" if joint is None else "rows"
    if isinstance(model, FittedModel) and model.by is not None:
        scores, names, expected = probes_by_segment(some_segments(model))
        more: tuple[Any, ...] = (names,)
        unit += f" of {len({*names})} segments"
    elif joint is None:
        scores, expected = probes(map_of(model))
        more = ()
    else:
        scores = probe_rows(joint_map_of(joint))
        expected, more = joint.map.class_probability(scores), ()
    asked: Output = output if joint is None else "probabilities"
    try:
        name, values = language.run(content, asked, scores, *more)
    except DidNotRunError as why:
        engine = in_comment(f"{language.engine} {why if why.args else 'is not available'}")
        return Parity(engine, None, 0, unit, isinstance(why, RejectedError))
    got = np.asarray(values, dtype=np.float64)
    if asked == "log_odds":
        got = expit(got)
    # A value that is missing where there is one, or the other way, differs by as much as anything can.
    differences = np.where(np.isnan(got) & np.isnan(expected), 0.0, np.abs(got - expected))
    return Parity(in_comment(name), float(np.nan_to_num(differences, nan=np.inf).max()), len(scores), unit)


def probe_scores(fitted: CalibrationMap) -> Floats:
    """Return the scores, ascending; only scores that the map takes.

    ±∞, zero, the smallest and the largest doubles and every power of ten between, both ways; every knot (of very many,
    a selection) and its neighbors; and as many scores between as it takes to follow the probability in small steps.
    """
    formula = fitted.probability_formula()
    sizes = np.concatenate([[5e-324], 10.0 ** np.arange(-323, 309), [MAX, np.inf]])
    knots = np.concatenate([np.empty(0), *(node.knots for node in walk(formula) if isinstance(node, Pieces))])
    if len(knots) > _MOST_KNOTS:
        knots = knots[np.linspace(0, len(knots) - 1, _MOST_KNOTS).astype(np.intp)]
    near = [knots, np.nextafter(knots, -MAX), np.nextafter(knots, MAX)]
    scores = np.unique(np.concatenate([-sizes, [0.0], sizes, *near]) + 0.0)
    scores = scores[_in_domain(fitted, scores)]
    while len(scores) < _MOST_PROBES:
        steps = np.abs(np.diff(fitted.probability(scores)))
        wide = np.flatnonzero(steps > _STEP)
        between = np.setdiff1d(halfway(scores[wide], scores[wide + 1]), scores)
        if len(between) == 0:
            break
        scores = np.union1d(scores, between)
    return scores


def probes(fitted: CalibrationMap, *more: float) -> tuple[Floats, Floats]:
    """Return scores and the probability of each, NaN where it is missing: of NaN, and of scores that the map refuses.

    They are those of `probe_scores`, NaN twice, some that maps of probabilities refuse, and ``more``.
    """
    others = np.array([np.nan, np.nan, -np.inf, -1.0, -1e-5, 1 + 1e-5, 2.0, np.inf, *more])
    scores = np.concatenate([probe_scores(fitted), others])
    taken = _in_domain(fitted, scores)
    expected = np.full(len(scores), np.nan)
    expected[taken] = fitted.probability(scores[taken])
    return scores, expected


def _in_domain(fitted: CalibrationMap, scores: Floats) -> Bools:
    """Return which scores a map takes."""
    low, high = fitted.domain
    return np.asarray((low <= scores) & (scores <= high))


def probes_by_segment(model: Model) -> tuple[Floats, list[tuple[str | None, ...]], Floats]:
    """Return scores or rows, their segments and probabilities: of all segments, an unknown one and a missing one."""
    assert isinstance(model, FittedModel)
    unknown = "unknown"
    while any(unknown in name for name in model.segments):
        unknown += "_"
    width = len(segment_columns(model))
    named: list[tuple[Segment | None, tuple[str | None, ...]]]
    named = [(name, (name,) if isinstance(name, str) else name) for name in model.segments]
    # Of a model with effects None is any other value, known to no segment, or a missing one.
    named += [(name, tuple(key or unknown for key in keys)) for name, keys in named if None in keys]
    found: list[tuple[Floats, list[tuple[str | None, ...]], Floats]] = []
    for name, keys in [*named, (None, (unknown,) * width), (None, (None,) * width)]:
        fitted = model.of_segment(name).map
        if isinstance(fitted, CalibrationMap):
            scores, expected = probes(fitted)
        else:
            scores = probe_rows(fitted)
            expected = fitted.class_probability(scores)
        some = np.unique(np.linspace(0, len(scores) - 1, _PER_SEGMENT).astype(np.intp))
        found.append((scores[some], [keys] * len(some), expected[some]))
    every, names, expected_of_all = zip(*found, strict=True)
    return np.concatenate(every), [name for each in names for name in each], np.concatenate(expected_of_all)


def probe_rows(fitted: JointMap) -> Floats:
    """Return rows of logits or probabilities, shape (n, columns), the same for the same map.

    Random ones of every size; extremes, many of them equal; rows in which all columns are equal; where classes have
    maps of their own, scores at their knots; rows in which a probability is none, and rows with a missing value.
    """
    rng = np.random.default_rng(0)
    k = fitted.columns
    if fitted.input == "logits":
        kinds = [size * rng.normal(size=(_ROWS, k)) for size in _SIZES]
        kinds += [rng.choice(_EXTREMES, (_ROWS, k)), rng.choice([0.0, 1e4], (_ROWS, k))]
        kinds += [np.repeat(_EXTREMES[:, None], k, axis=1)]
        # Masked classes: some of a row, all but one, all; and one that is certain.
        shown = np.where(rng.random((_ROWS, k)) < 0.5, -np.inf, rng.normal(size=(_ROWS, k)))
        kinds += [shown, np.where(np.eye(k) > 0, 0.5, -np.inf), np.full((1, k), -np.inf), np.eye(1, k) * MAX]
    elif k == 1:
        kinds = [rng.random((_ROWS, 1)), np.array([[0.0], [1e-300], [1e-17], [0.5], [1.0 - 2.0**-53], [1.0]])]
    else:
        kinds = [rng.dirichlet(np.full(k, size), _ROWS) for size in (0.01, 0.3, 1.0, 30.0)]
        kinds += [np.full((1, k), 1 / k), np.eye(k)[rng.integers(k, size=_ROWS)]]
    rows = np.concatenate(kinds)
    if isinstance(fitted, OneVsRestMap) and not fitted.against_rest:
        rows = np.concatenate([rows, *(_at_knots(fitted, place, rows) for place in range(k))])
    if fitted.input == "probabilities":
        refused = np.full((len(_REFUSED), k), 1 / k)
        refused[np.arange(len(refused)), rng.integers(k, size=len(refused))] = _REFUSED
        rows = np.concatenate([rows, refused])
    missing = rows[: len(rows) // 4].copy()
    missing[np.arange(len(missing)), rng.integers(k, size=len(missing))] = np.nan
    return np.concatenate([rows, missing])


def _at_knots(fitted: OneVsRestMap, place: int, rows: Floats) -> Floats:
    """Return rows in which one column holds scores where the map of its class could differ."""
    scores = probe_scores(fitted.maps[place])
    scores = scores[np.isfinite(scores)]
    scores = scores[np.linspace(0, len(scores) - 1, min(_PER_CLASS, len(scores))).astype(np.intp)]
    # Where columns are probabilities, others are what is left.
    held = np.clip(scores, 0.0, 1.0) if fitted.input == "probabilities" else scores
    others = np.resize(rows, (len(held), fitted.columns))
    result: Floats = others * (1 - held[:, None]) if fitted.input == "probabilities" else others
    result[:, place] = held
    return result
