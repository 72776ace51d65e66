"""Sentences and numbers of the page."""

from oddsmith_studies.studies._record import Record
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
    }
