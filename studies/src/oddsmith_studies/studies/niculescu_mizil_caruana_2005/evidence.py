"""What was measured for each claim of the document."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from oddsmith.metrics import Interval
from oddsmith_studies.studies._claims import EVERYTHING, OWN, STAND_IN, Case, Measured
from oddsmith_studies.studies._intervals import share_interval
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import Table
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import EXPONENTIAL, STUMPS, TREES, TWO_LEVELS
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.measured import (
    best,
    boosting_parts,
    difference,
    extreme_counts,
    last_picture,
    learning_curve,
    with_error,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.methods import (
    COLUMNS,
    CROSS_ENTROPY,
    ISO,
    ISO_TRAIN,
    LOGIST,
    LOGLOSS,
    MEASURES,
    PLATT,
    PLATT_TRAIN,
    RAW,
    SQUARED_ERROR,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tables import (
    MEAN_OF_OWN,
    cross_entropy_table,
    learners_table,
    squared_error_table,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tasks import OWN_PROBLEMS, PROBLEMS, STAND_INS

Found = dict[str, list[Case]]

#: Calibration cases below which Platt scaling is said to be better.
LIMIT = 2000
_KINDS = {OWN: OWN_PROBLEMS, STAND_IN: tuple(STAND_INS)}


def kind_of(problem: str) -> str:
    """Return whose data a problem is."""
    return STAND_IN if problem in STAND_INS else OWN


def all_evidence(results: Results) -> Found:
    """Return the cases of each claim."""
    found: Found = {"9.4.5a": [], "9.4.5c": []}

    def add(claim: str, name: str, value: Measured, data: str) -> None:
        found.setdefault(claim, []).append(Case(name, value, data))

    for problem in PROBLEMS:
        for claim, name, value in _of_problem(results, problem):
            add(claim, name, value, kind_of(problem))
    for data, problems in _KINDS.items():
        for measure in MEASURES:
            for deep, shallow in ((TWO_LEVELS, STUMPS), (TREES, TWO_LEVELS)):
                gap = difference(results, (deep, PLATT), (shallow, PLATT), measure, problems)
                add("9.4.9", f"{measure}, {deep} less {shallow}", gap, data)
    for point in learning_curve(results):
        if point.size < LIMIT:
            add("9.4.5a", f"{point.size} cases", point.platt_less_isotonic, OWN)
        else:
            add("9.4.5c", f"{point.size} cases", point.platt_less_isotonic, OWN)
        add("9.4.5b", f"{point.size} cases", point.platt_less_raw, OWN)
    tables = (cross_entropy_table(results), squared_error_table(results), learners_table(results))
    return found | from_tables(*tables, results.published.figures)


def _of_problem(results: Results, problem: str) -> list[tuple[str, str, Measured]]:
    found: list[tuple[str, str, Measured]] = []
    picture = last_picture(results, problem)
    shares = {name: extreme_counts(each["histogram"]) for name, each in picture["methods"].items()}
    exception = problem == results.published.figures["shown"]["exception"]
    found.append(("9.4.1b" if exception else "9.4.1a", problem, share_interval(*shares[RAW])))
    if exception:
        counts = np.array(picture["methods"][RAW]["histogram"])
        edge = len(counts) // 20
        found.append(("9.4.1c", problem, float(counts[:edge].sum() / max(counts[edge : 2 * edge].sum(), 1))))
    slopes = {name: with_error(*slope) for name, slope in picture["slopes"].items() if slope is not None}
    if RAW in slopes:
        found.append(("9.4.1d", problem, slopes[RAW]))
    for name in (PLATT, ISO):
        gained = shares[name][0] / shares[name][1] - shares[RAW][0] / shares[RAW][1]
        found.append(("9.4.7a", f"{problem}, {name}", gained))
        if name in slopes:
            slope = slopes[name]
            found.append(("9.4.7c", f"{problem}, {name}", nearer_to_one(slope, slopes[RAW])))
        for measure in MEASURES:
            gap = difference(results, (TREES, name), (TREES, RAW), measure, [problem])
            found.append(("9.4.2c", f"{problem}, {name}, {measure}", gap))
    distinct = {name: picture["methods"][name]["distinct"] for name in (PLATT, ISO)}
    found.append(("9.4.7b", problem, distinct[ISO] / distinct[PLATT]))
    gap = difference(results, (TREES, PLATT), (STUMPS, PLATT), CROSS_ENTROPY, [problem])
    found.append(("9.4.4a", problem, gap))
    parts = [part for part in boosting_parts(results, problem, TREES) if part["loss"] == EXPONENTIAL]
    found.append(("9.4.8a", problem, all(part["step_on_training_rows"] for part in parts)))
    for name, other in ((PLATT_TRAIN, PLATT), (ISO_TRAIN, ISO)):
        (mine, error), (theirs, other_error) = (
            best(results, problem, TREES, each, CROSS_ENTROPY).test[CROSS_ENTROPY] for each in (name, other)
        )
        gap = with_error(mine - theirs, float(np.hypot(error, other_error)))
        found.append(("9.4.8b", f"{problem}, {other}", gap))
    return found


def from_tables(cross_entropy: Table, squared_error: Table, learners: Table, said: Mapping[str, Any]) -> Found:
    """Return what is measured by totals that stand in tables: cuts, orders of columns, and learners."""
    found: Found = {}

    def add(claim: str, name: str, value: Measured, data: str = OWN) -> None:
        found.setdefault(claim, []).append(Case(name, value, data))

    def loss(base: str, name: str, problem: str = MEAN_OF_OWN) -> float:
        return float(cross_entropy.cell(name, problem, base))

    def printed(base: str, name: str) -> float:
        return float(cross_entropy.cell(f"{name}, published", MEAN_OF_OWN, base))

    def square(base: str, name: str, problems: Sequence[str] = PROBLEMS, *, root: bool = False) -> float:
        each = [float(squared_error.cell(name, problem, base)) for problem in problems]
        return float(np.mean(np.sqrt(each) if root else each))

    for base in (STUMPS, TREES):
        for name in (PLATT, ISO):
            ours, theirs = (1 - of(base, name) / of(base, RAW) for of in (loss, printed))
            add("9.4.2a", f"{base}, {name}", ours - theirs)
            for claim, root in (("9.4.2b", True), ("9.4.2d", False)):
                cut = 1 - square(base, name, root=root) / square(base, RAW, root=root)
                add(claim, f"{base}, {name}", cut - said["reductions"]["squared_error"][base], EVERYTHING)
    below, published_below = (of(TREES, PLATT) / of(STUMPS, PLATT) - 1 for of in (loss, printed))
    add("9.4.4b", "own five", below - published_below)
    for claim, root in (("9.4.4c", True), ("9.4.4d", False)):
        lower = square(TREES, PLATT, root=root) / square(STUMPS, PLATT, root=root) - 1
        published_lower = said["reductions"]["squared_error"]["trees below stumps"]
        add(claim, "eight problems", lower + published_lower, EVERYTHING)
    for data, problems in _KINDS.items():

        def mean(base: str, name: str, problems: Sequence[str] = problems) -> float:
            return float(np.mean([loss(base, name, problem) for problem in problems]))

        add("9.4.3a", "LOGIST", mean(STUMPS, LOGIST) / mean(STUMPS, PLATT) - 1, data)
        add("9.4.3b", "LOGLOSS", mean(STUMPS, LOGLOSS) / mean(STUMPS, PLATT) - 1, data)
        add("9.4.3d", "LOGIST", mean(TWO_LEVELS, LOGIST) / mean(TWO_LEVELS, PLATT) - 1, data)
        for name in (LOGIST, LOGLOSS):
            add("9.4.3c", name, mean(TREES, name) / mean(TREES, RAW) - 1, data)
            add("9.4.10a", name, mean(STUMPS, name) / mean(STUMPS, RAW) - 1, data)
            add("9.4.10b", name, mean(TREES, name) / mean(TREES, PLATT) - 1, data)
        pairs = [
            (
                loss(base, LOGIST, problem) / loss(base, PLATT, problem),
                loss(base, LOGLOSS, problem) / loss(base, PLATT, problem),
            )
            for base in (STUMPS, TREES)
            for problem in problems
        ]
        add("9.4.10c", f"{len(pairs)} pairs", _correlation(*zip(*pairs, strict=True)), data)
        for base in (STUMPS, TREES):
            for name in COLUMNS:
                if name != RAW:
                    better = (
                        mean(base, name) < mean(base, RAW),
                        square(base, name, problems) < square(base, RAW, problems),
                    )
                    add("9.4.12a", f"{base}, {name}", better[0] == better[1], data)
    return found | _of_learners(learners, said)


def _of_learners(table: Table, said: Mapping[str, Any]) -> Found:
    names = said["learners"]
    ten = [str(row[1]) for row in table.rows if row[0] == SQUARED_ERROR]

    def by_learner(measure: str, column: str) -> dict[str, Interval]:
        return {learner: table.cell(column, measure, learner) for learner in ten}

    def least(measure: str) -> dict[str, Interval]:
        platt, isotonic = by_learner(measure, "Platt"), by_learner(measure, "isotonic")
        return {each: min(platt[each], isotonic[each], key=lambda found: found.value) for each in ten}

    before, platt, isotonic = (by_learner(SQUARED_ERROR, column) for column in ("uncalibrated", "Platt", "isotonic"))
    after = least(SQUARED_ERROR)
    change = {each: after[each].value / before[each].value - 1 for each in ten}
    top = str(names["best"])
    found: Found = {claim: [] for claim in ("9.4.6a", "9.4.6b", "9.4.6c", "9.4.6d", "9.4.6e", "9.4.11", "9.4.12b")}
    for measure in MEASURES:
        calibrated = least(measure)
        for other in ten:
            if other != top:
                gap = _apart(calibrated[top], calibrated[other])
                found["9.4.6a"].append(Case(f"less {other}, {measure}", gap))
    found["9.4.6f"] = [Case("RF", change["RF"])]
    # Of a mean over problems, so that the root is nearly that of the mean.
    root = 1 - float(np.sqrt(1 + change["RF"]))
    found["9.4.6g"] = [Case("RF, root", root), Case("RF, literally", -change["RF"])]
    rest = [each for each in ten if each != top and each not in names["next"]]
    strongest = min(rest, key=lambda each: after[each].value)
    for each in names["next"]:
        gap = _apart(after[each], after[strongest])
        found["9.4.6b"].append(Case(f"{each} less {strongest}", gap))
    others = min(change[each] for each in ten if each not in names["largest_gains"])
    found["9.4.6c"] = [Case(each, change[each] - others) for each in names["largest_gains"]]
    found["9.4.6d"] = [Case(each, change[each]) for each in names["need_none"]]
    for each in names["isotonic_not_worse"]:
        found["9.4.6e"].append(Case(each, _apart(isotonic[each], platt[each])))
    next_best = min((each for each in ten if each not in names["best_before"]), key=lambda each: before[each].value)
    for each in names["best_before"]:
        found["9.4.11"].append(Case(f"{each} less {next_best}", _apart(before[each], before[next_best])))
    squares, bits = (np.array([least(measure)[each].value for each in ten]) for measure in MEASURES)
    likeness = float(spearmanr(squares, bits).statistic)
    found["9.4.12b"] = [Case("ten learners", _fisher(likeness, len(ten)))]
    return found


def nearer_to_one(calibrated: Interval, raw: Interval) -> Interval:
    """Return how much farther from 1 one slope is than another; the interval takes them for independent.

    Examples
    --------
    >>> round(nearer_to_one(Interval(0.9, 0.8, 1.0, 0.95, ""), Interval(2.0, 1.9, 2.1, 0.95, "")).value, 3)
    -0.9
    """
    middle = abs(calibrated.value - 1) - abs(raw.value - 1)
    reach = float(np.hypot(calibrated.high - calibrated.value, raw.high - raw.value))
    return Interval(middle, middle - reach, middle + reach, 0.95, "independent slopes")


def _apart(first: Interval, second: Interval) -> Interval:
    """Return the difference of two means; the interval does not know of pairs, and is the longer for it."""
    reach = float(np.hypot(first.high - first.value, second.high - second.value))
    middle = first.value - second.value
    return Interval(middle, middle - reach, middle + reach, 0.95, "unpaired")


def _correlation(first: Sequence[float], second: Sequence[float]) -> Interval:
    return _fisher(float(np.corrcoef(first, second)[0, 1]), len(first))


def _fisher(correlation: float, pairs: int) -> Interval:
    """Return a correlation with its 95 % interval by Fisher's transform."""
    middle, reach = np.arctanh(min(correlation, 1 - 1e-9)), 1.959964 / np.sqrt(pairs - 3)
    return Interval(correlation, float(np.tanh(middle - reach)), float(np.tanh(middle + reach)), 0.95, "Fisher")
