"""What was measured for the answers to be expected: the hand-out asks and claims nothing."""

from oddsmith.metrics import Interval
from oddsmith_studies.studies._claims import Case
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies.course_project.measured import by_size, difference, mean, mean_of, score_kinds
from oddsmith_studies.studies.course_project.parts import SIZES

_LIMIT = 2000


def all_evidence(results: Results) -> dict[str, list[Case]]:
    """Return the cases of each answer."""
    change = difference(results, "split-", "Platt", "Platt, b = 0", "log_loss")
    gain = -difference(results, "split-", "Platt, b = 0", "squashing", "log_loss").value
    share = Interval(change.value / gain, change.low / gain, change.high / gain, change.level, change.method)
    found = {
        "9.5.1": [Case("slope", mean_of(results, "split-", "squashing", "slope"))],
        "9.5.2": [Case("learned b less b = 0", share)],
        "9.5.3a": [Case("isotonic less Platt", difference(results, "split-", "isotonic", "Platt", "log_loss"))],
        "9.5.3b": [Case("isotonic less Platt", difference(results, "split-", "isotonic", "Platt", "squared_error"))],
        "9.5.4a": [],
        "9.5.4b": [],
    }
    for kind in score_kinds(results):
        raw, platt, isotonic = (by_size(results, kind, name) for name in ("uncalibrated", "Platt", "isotonic"))
        for place, size in enumerate(SIZES):
            if size < _LIMIT:
                found["9.5.4a"].append(Case(f"{kind}, {size} cases", mean(isotonic[place] - platt[place])))
            found["9.5.4b"].append(Case(f"{kind}, {size} cases", mean(raw[place] - platt[place])))
    return found
