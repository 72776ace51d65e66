"""Sentences and numbers of the page."""

from oddsmith_studies.studies._record import Record
from oddsmith_studies.studies._tables import Table
from oddsmith_studies.studies._text_features import RARE, RECIPES, REUTERS
from oddsmith_studies.studies._text_scores import FOLDS
from oddsmith_studies.studies.bennett_2003.parts import RECIPES as CHOSEN

#: What the page opens with: claims in short, by number.
_OPENING = {
    "9.2.1a": "A. Laplace, LR+noise and LR beat the three other distributions in log-loss",
    "9.2.1b": "and in squared error",
    "9.2.2a": "LR and LR+noise are alike in totals",
    "9.2.3": "A. Laplace makes the fewest errors everywhere",
    "9.2.6b": "A. Gauss is ruined by its tails",
    "9.2.11b": "three lines fitted directly, which the document proposes, beat A. Laplace",
}


def all_facts(record: Record) -> dict[str, str]:
    """Return what was found, from the tables and verdicts of a run."""
    main = CHOSEN[REUTERS]
    readings = dict.fromkeys(str(row[1]) for row in record.tables["variants"].rows if row[1] != main)
    return {
        "found": "; ".join(f"{claim}: {record.verdicts_of(number)}" for number, claim in _OPENING.items()) + ".",
        "rare": f"{RARE}",
        "words": f"{RECIPES[main].words}",
        "folds": f"{FOLDS}",
        "readings": "; ".join(readings),
        "stable": _stable(record.tables["stability"]),
        "joint": _joint(record.tables["joint"]),
    }


def _stable(stability: Table) -> str:
    """Say how many verdicts are the same by all readings, and which are not."""
    if not stability.rows:
        return ""
    other = [str(row[0]) for row in stability.rows if len(set(row[2:])) > 1]
    count, readings = len(stability.rows), len(stability.columns) - 2
    return (
        f"Of {count} verdicts on Reuters, {count - len(other)} are the same by all {readings} readings; the others are "
        f"those on {', '.join(other) or 'none'}."
    )


def _joint(joint: Table) -> str:
    """Say whether a search in all three parameters finds what the closed form finds."""
    fits, reached = (
        sum(int(joint.cell(name, row[0])) for row in joint.rows) for name in ("fits", "likelihood reached")
    )
    return (
        f"A simplex search in all three parameters reaches the likelihood of the closed form in {reached} of {fits} "
        "fits."
    )
