"""What was measured for each claim of the document."""

from oddsmith.metrics import Interval
from oddsmith_studies.studies._claims import Case, Rule, Verdict, combine
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies.platt_1999.densities import INNER, WHOLE, falls_at, gain_interval
from oddsmith_studies.studies.platt_1999.figures import shown_table
from oddsmith_studies.studies.platt_1999.machines import LIKELIHOOD, SVM
from oddsmith_studies.studies.platt_1999.measured import chosen_part, difference, looks, shares, total_of
from oddsmith_studies.studies.platt_1999.parts import GAUSSIANS, IN_SAMPLE, RAW, REGULARIZED, SIGMOID
from oddsmith_studies.studies.platt_1999.tasks import DRAWN, TASKS


def all_evidence(results: Results) -> dict[str, list[Case]]:
    """Return the cases of each claim: a task each, and where single outputs count, a task and a class."""
    found: dict[str, list[Case]] = {}

    def add(claim: str, name: str, value: float | Interval | Verdict) -> None:
        found.setdefault(claim, []).append(Case(name, value))

    apart_by_task: list[Interval] = []
    for task in TASKS:
        errors = difference(results, task, SIGMOID, RAW, "errors")
        for claim in ("9.3.1", "9.3.1b"):
            add(claim, task.name, relative(errors, total_of(results, task, RAW, "errors")))
        apart = difference(results, task, SIGMOID, REGULARIZED, "log_loss")
        add("9.3.2a", task.name, relative(apart, total_of(results, task, REGULARIZED)))
        apart_by_task.append(apart)
        add("9.3.3a", task.name, shares(results, task, SVM, "inside", "on"))
        rows = chosen_part(results, task, LIKELIHOOD)["rows"][0]
        add("9.3.3b", task.name, sum(each["nonzero"] < rows for each in looks(results, task, LIKELIHOOD).values()))
        add("9.3.6", task.name, difference(results, task, IN_SAMPLE, SIGMOID, "log_loss"))
    add("9.3.2b", "six tasks", neither_is_less(apart_by_task))
    for task in DRAWN:
        shown = looks(results, task, SVM)[task.shown]
        for label, described in shown["classes"].items():
            add("9.3.4a", f"{task.name}, {label}", described["from_gaussian"])
            add("9.3.4c", f"{task.name}, {label}", gain_interval(described, WHOLE))
            add("9.3.4b", f"{task.name}, {label}", gain_interval(described, INNER))
        parabola, table = shown["maps"][GAUSSIANS], shown_table(results, task)
        add("9.3.5a", task.name, bool(parabola[0] != 0))
        falls = falls_at(parabola, table.scores)
        add("9.3.5b", task.name, float(table.total[falls].sum() / table.total.sum()))
    return found


def neither_is_less(differences: list[Interval]) -> Verdict:
    """Say whether some differences are surely below 0 and some surely above it.

    It fails if all are surely on one side.

    Examples
    --------
    >>> neither_is_less([Interval(-2, -3, -1, 0.95, ""), Interval(2, 1, 3, 0.95, "")])
    'holds'
    """
    sides = [Rule("", "", "", "", "", expect) for expect in ("below", "above")]
    found = [[side.p_values(each) for each in differences] for side in sides]
    if any(combine(each, "every") == "holds" for each in found):
        return "fails"
    return "holds" if all(combine(each, "some") == "holds" for each in found) else "undecided"


def relative(difference: Interval, base: float) -> Interval:
    """Return a difference of totals as a share of one of them."""
    ends = (difference.value / base, difference.low / base, difference.high / base)
    return Interval(*ends, difference.level, difference.method)
