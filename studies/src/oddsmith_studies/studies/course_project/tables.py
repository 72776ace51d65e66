"""Tables of the course project."""

from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import Cell, Column, Table
from oddsmith_studies.studies.course_project.measured import (
    by_size,
    difference,
    infinite,
    mean,
    mean_of,
    rejected,
    score_kinds,
    site_methods,
    values,
)
from oddsmith_studies.studies.course_project.parts import CALIBRATION, METHODS, SIZE_METHODS, SIZES, SMALL_TRAIN, TEST

_PAIRS = (
    ("Platt, b = 0", "squashing"),
    ("Platt", "squashing"),
    ("Platt", "Platt, b = 0"),
    ("Platt, softened targets", "Platt"),
    ("isotonic", "squashing"),
    ("isotonic", "Platt"),
    ("isotonic, bounded", "Platt"),
)
_LOSSES = (Column("log-loss", ".3f"), Column("squared error", ".3f"), Column("0/1 error", ".3f"))


def all_tables(results: Results) -> list[Table]:
    """Return the methods, their differences, calibration sizes, and three classes."""
    return [_methods(results), _differences(results), _sizes(results), _sites(results)]


def _methods(results: Results) -> Table:
    measures = ("log_loss", "squared_error", "error", "gap", "slope")
    rows: list[list[Cell]] = [
        [
            name,
            *(mean_of(results, "split-", name, measure) for measure in measures),
            100 * rejected(results, name),
            infinite(results, name),
        ]
        for name in METHODS
    ]
    return Table(
        "methods",
        f"Methods on {TEST} test sentences, means of {len(results.starting('split-'))} random splits",
        (
            "method",
            *_LOSSES,
            Column("calibration error²", ".4f"),
            Column("slope", ".2f"),
            Column("splits rejected, %", ".0f"),
            Column("splits with infinite log-loss", "d"),
        ),
        rows,
        f"Brackets: 95 % intervals, corrected for the overlap of the splits. Log-loss in nats, P clipped "
        f"1/{2 * CALIBRATION} from 0 and 1; the last column counts splits where it would be infinite otherwise. "
        f"Calibration error² is the mean squared gap in the ten intervals, debiased: 0 is perfect, and an estimate may "
        f"fall below. Slope: of the logistic regression on the log-odds; 1 is ideal, above 1 the forecast is "
        f"underconfident. Rejected: by the test of slope 1 and intercept 0 at 5 %.",
    )


def _differences(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for first, second in _PAIRS:
        won = values(results, "split-", first, "log_loss") < values(results, "split-", second, "log_loss")
        log, squared = (difference(results, "split-", first, second, each) for each in ("log_loss", "squared_error"))
        rows.append([f"{first} less {second}", log, squared, 100 * float(won.mean())])
    return Table(
        "differences",
        "Paired differences on the same test sentences; below 0 the first is better",
        (
            "difference",
            Column("log-loss", "+.4f"),
            Column("squared error", "+.4f"),
            Column("splits won in log-loss, %", ".0f"),
        ),
        rows,
    )


def _sizes(results: Results) -> Table:
    rows: list[list[Cell]] = []
    names = ("uncalibrated", *SIZE_METHODS)
    for kind in score_kinds(results):
        errors = {name: by_size(results, kind, name) for name in names}
        for i, size in enumerate(SIZES):
            means = [float(errors[name][i].mean()) for name in names]
            rows.append([kind, size, *means, mean(errors["isotonic"][i] - errors["Platt"][i])])
    return Table(
        "sizes",
        f"Squared error by calibration size: {SMALL_TRAIN:,} sentences train, {TEST} test",
        (
            "score",
            Column("calibration sentences", "d"),
            *(Column(name, ".4f") for name in names),
            Column("isotonic less Platt", "+.4f"),
        ),
        rows,
    )


def _sites(results: Results) -> Table:
    measures = ("log_loss", "squared_error", "error", "class_gap", "top_gap")
    rows: list[list[Cell]] = [
        [name, *(mean_of(results, "sites-", name, measure) for measure in measures)] for name in site_methods(results)
    ]
    return Table(
        "sites",
        f"Three classes, {', '.join(results['sites-000']['sites'])}: means of {len(results.starting('sites-'))} splits",
        ("method", *_LOSSES, Column("class-wise error²", ".4f"), Column("top-label error²", ".4f")),
        rows,
        "Squared error is summed over classes. Calibration errors as above: of each class against the rest, averaged; "
        "and of the claim that the most probable class is the right one.",
    )
