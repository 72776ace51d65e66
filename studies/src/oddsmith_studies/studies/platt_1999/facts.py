"""Sentences and numbers of the page."""

from oddsmith.metrics import Interval
from oddsmith_studies.studies._record import Record
from oddsmith_studies.studies._tables import Table
from oddsmith_studies.studies.platt_1999.machines import BIAS, FOLDS
from oddsmith_studies.studies.platt_1999.parts import RAW, REGULARIZED, SIGMOID
from oddsmith_studies.studies.platt_1999.tasks import TASKS, TOPICS

_TEN, _ALL, _ADULT_LINEAR = (task.name for task in TASKS[:3])
_READING_OF_ONE = "both costs 1"
#: What is quoted of a task: a method, a measure, and its digits after the point.
_QUOTED = (
    (RAW, "errors", 0),
    (SIGMOID, "errors", 0),
    (SIGMOID, "−Σ log P", 1),
    (REGULARIZED, "errors", 0),
    (REGULARIZED, "−Σ log P", 1),
)
_SENTENCE = (
    "the raw machine makes {} errors, the sigmoid {} with −Σ log P = {}, "
    "and the likelihood machine {} with −Σ log P = {}"
)


def all_facts(record: Record) -> dict[str, str]:
    """Return what was found, from the tables and verdicts of a run."""
    table = record.tables["results"]
    return {
        "adult_linear": _SENTENCE.format(
            *(
                f"{table.cell(measure, _ADULT_LINEAR, method):.{digits}f} "
                f"({table.cell(f'{measure}, published', _ADULT_LINEAR, method):.0f})"
                for method, measure, digits in _QUOTED
            )
        ),
        "error_changes": _range(record, "9.3.1"),
        "error_verdict": record.verdicts_of("9.3.1"),
        "likelihood_changes": _range(record, "9.3.2a"),
        "likelihood_verdict": record.verdicts_of("9.3.2a"),
        "folds": f"{FOLDS}",
        "bias": f"{BIAS:g}",
        # A quick run has other sizes, costs and rows.
        "subsets": "" if record.quick else _subsets(record),
        "both_costs_1": "" if record.quick else _both_costs_1(record),
        "reuters": "" if record.quick else _reuters(record),
        "older_run": _older_run(record),
        "ways": _ways(record.tables["calibration-rows"]),
    }


def _ways(table: Table) -> str:
    """Return what other scores to fit the sigmoid to change, in words."""
    found: dict[str, list[Interval]] = {}
    for row in table.rows:
        if isinstance(change := row[-1], Interval):
            found.setdefault(str(row[2]), []).append(change)
    said = [
        f"{way} ({sum(each.low > 0 for each in changes)} of {len(changes)} tasks)" for way, changes in found.items()
    ]
    return f"Three folds are significantly better than {', '.join(said)}." if said else ""


def _range(record: Record, claim: str) -> str:
    values = [case.value.value for case in record.evidence[claim] if isinstance(case.value, Interval)]
    return f"{100 * min(values):+.1f} to {100 * max(values):+.1f} %"


def _subsets(record: Record) -> str:
    """Say what small training sets do to the errors of the quadratic machines."""
    sizes = record.published.figures["sizes"]
    said, nearer = [], True
    for task, few in (("Adult quadratic", sizes["adult"][0]), ("Web quadratic", sizes["web"][0])):
        rows = [row for row in record.tables["sizes"].rows if row[0] == task]
        small, whole = (row[2].value if isinstance(row[2], Interval) else float(row[2]) for row in (rows[0], rows[-1]))  # type: ignore[arg-type]
        theirs = record.tables["sizes"].cell(f"errors, {RAW}", f"{task}, published")
        nearer = nearer and abs(small - theirs) < abs(whole - theirs)
        said.append(f"{task} makes {small:.0f} raw errors with {few:,} rows and {whole:.0f} with all ({theirs:.0f})")
    return (
        f"Training on small random subsets {'brings' if nearer else 'does not bring'} the quadratic machines nearer to "
        f"the document: {'; '.join(said)} (counts of Web scaled to {sizes['web_test_rows']:,} test rows)."
    )


def _both_costs_1(record: Record) -> str:
    readings, results = record.tables["readings"], record.tables["results"]
    said = []
    for method, measure, digits in _QUOTED[:3]:
        ours = readings.cell(f"{measure}, {method}", _ADULT_LINEAR, _READING_OF_ONE)
        said.append(f"{ours:.{digits}f} ({results.cell(f'{measure}, published', _ADULT_LINEAR, method):.0f})")
    return (
        f"With both costs 1, one of the readings, Adult linear gives raw errors, sigmoid errors and −Σ log P of "
        f"{', '.join(said)}, with the published figures in brackets."
    )


def _reuters(record: Record) -> str:
    """Say what does not explain the document's Reuters row."""
    table = record.tables["readings"]
    place = table.header.index(f"errors, {RAW}")
    published = float(table.cell(f"errors, {RAW}", TASKS[0].published, "published"))
    ends = []
    for task in (_TEN, _ALL):
        values = [float(row[place]) for row in table.rows if str(row[0]).startswith(task)]  # type: ignore[arg-type]
        ends.append((min(values), max(values)))
    (few, many), (least, most) = ends
    return (
        f"The document has {published:.0f} raw errors on Reuters; there are {few:.0f} to {many:.0f} in the ten largest "
        f"categories and {least:.0f} to {most:.0f} in all topics, with 300 or 1,000 words and with costs chosen by any "
        f"of the rules. {_heavy(record)} {_by_topics(record)} How a story was split into words is not ruled out."
    )


def _by_topics(record: Record) -> str:
    """Say whether the number of topics that are counted would explain the document's Reuters row."""
    table, results = record.tables["readings"], record.tables["results"]
    if not any(row[0] == TOPICS[0].name for row in table.rows):
        return "The number of categories is not ruled out."
    names = (_TEN, *(task.name for task in TOPICS), _ALL)

    def errors(name: str) -> float:
        return float(table.cell(f"errors, {RAW}", name, _READING_OF_ONE))

    theirs = float(results.cell("errors, published", _TEN, RAW))
    nearest = min(names, key=lambda name: abs(errors(name) - theirs))
    counted = ", ".join(f"{errors(name):.0f} in {name.removeprefix('Reuters linear, ')}" for name in names)
    found = ", ".join(
        f"{table.cell(f'{measure}, {method}', nearest, _READING_OF_ONE):.{digits}f} "
        f"({results.cell(f'{measure}, published', _TEN, method):.0f})"
        for method, measure, digits in _QUOTED[:3]
    )
    return (
        f"By the number of topics that are counted, with a cost of 1, raw errors are {counted}. The nearest to the "
        f"document, {nearest.removeprefix('Reuters linear, ')}, has raw errors, sigmoid errors and −Σ log P of "
        f"{found}, with the published figures in brackets; this reading was added, and its numbers of topics fixed, "
        "when it was known that the totals in all topics exceed the published ones by a nearly constant ratio."
    )


def _heavy(record: Record) -> str:
    """Say what far heavier penalties than held-out rows choose would do in the ten categories."""
    table, theirs = record.tables["costs"], record.tables["results"].cell("errors, published", _TEN, SIGMOID)
    raw, sigmoid = (
        [table.cell(name, _TEN, cost) for cost in ("0.1", "0.01")] for name in ("raw errors", "sigmoid errors")
    )
    return (
        f"Far heavier penalties than held-out rows choose give {raw[0]:.0f} raw errors there with a cost of 0.1 and "
        f"{raw[1]:.0f} with 0.01, but then {sigmoid[0]:.0f} and {sigmoid[1]:.0f} with the sigmoid (published "
        f"{theirs:.0f})."
    )


def _older_run(record: Record) -> str:
    """Say where a kept run differs from the text."""
    if record.made["version"] > 1:
        return ""
    return (
        "In the run that is kept here, version 1, the likelihood machine kept λ in the folds, so that a row of a fold "
        "weighed 1.5 times as much as in the support vector machine; the subsets below were run later, with version 2."
    )
