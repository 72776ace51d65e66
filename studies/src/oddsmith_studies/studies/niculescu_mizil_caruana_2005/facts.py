"""Sentences and numbers of the page."""

from collections.abc import Mapping

from oddsmith_studies.studies._claims import EVERYTHING
from oddsmith_studies.studies._record import Record
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import Cell, Table, written
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import ABSENT, STUMPS, TREES
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.methods import ISO, PLATT
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.parts import part_name
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.readings import DRAWS
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.scores import FOLDS
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tables import OURS_DRAWN
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tasks import OWN_PROBLEMS, PROBLEMS, STAND_INS

#: Measured once, on one core.
_PAPER_TIME = (
    "one of its 619 parts, a style of full trees on LETTER.P1, took 13 s of processor time, by which a draw takes "
    "about six hours."
)

_READINGS = """\
## Readings

COV_TYPE is run with the document's largest class as positive; with the second largest, as a companion study is
remembered to have done, it is a reading. Leaves of 5, 10, 25 and 50 rows are readings of full trees, whose LOGIST and
LOGLOSS depend on how certain a leaf is. PHISHING and WEB are also run with all their rows, of which many test rows are
copies of training rows. Stumps that choose the split with the least weighted error, and more training rows for
LETTER.P2, are readings of stumps. All readings were fixed before their totals were looked at, but after the differences
from the published table were known.

{{ fold Reading × published × ours }}

{{ table readings }}

{{ end }}
"""


def all_facts(record: Record) -> dict[str, str]:
    """Return what was found, from the tables and verdicts of a run."""
    cuts = _cuts(record.tables["own-five"])
    drawn = (STUMPS, OURS_DRAWN) in cuts
    ours = OURS_DRAWN if drawn else "ours"
    return {
        "stump_cuts": cuts[STUMPS, ours],
        "published_stump_cuts": cuts[STUMPS, "published"],
        "tree_cuts": cuts[TREES, ours],
        "published_tree_cuts": cuts[TREES, "published"],
        "over_draws": f", means over {DRAWS} draws of the rows with 95 % intervals" if drawn else "",
        "corrections_fail": record.verdicts_of("9.4.10b"),
        "trees_are_best": record.verdicts_of("9.4.6a"),
        "standing_in": "; ".join(f"{public} stands in for {private}" for public, private in STAND_INS.items()),
        "copies": record.remarks["copies"],
        "squared_readings": _squared(record.tables["squared-readings"]),
        "absent": ", ".join(ABSENT),
        "paper_time": _PAPER_TIME,
        "nearest_to_slac": _nearest_to_slac(record.tables["cross-entropy"]),
        "folds": f"{FOLDS}",
        "readings": _READINGS if "readings" in record.tables else "",
        "of_eight": _of_eight(record),
    }


def _of_eight(record: Record) -> str:
    """Return what of an earlier run is still about eight problems, in words."""
    if all(case.data != EVERYTHING for case in record.evidence["9.4.6a"]):
        return ""
    return (
        " Figures 5 and 6, the tables of means and claims 9.4.5, 9.4.6, 9.4.11 and 9.4.12b are of an earlier run and "
        "still have the former."
    )


def _squared(table: Table) -> str:
    """Say which reading of "squared error" cuts how much."""
    said = []
    for base in (STUMPS, TREES):
        cuts = [
            f"{written(table.cell(f'{name} cuts, %', base, reading), '.1f')}"
            for reading in ("root of the mean", "mean")
            for name in (PLATT, ISO)
        ]
        printed = written(table.cell(f"{PLATT} cuts, %", base, "published, eight problems"), ".0f")
        said.append(
            f"of {base} by {cuts[0]} / {cuts[1]} % as the root of the mean and by {cuts[2]} / {cuts[3]} % literally "
            f"(published {printed} %)"
        )
    return (
        f"Platt scaling / isotonic regression cut the squared error {' and '.join(said)}. The document does not say "
        "which it means, nor prints a table."
    )


def _cuts(own_five: Table) -> dict[tuple[Cell, Cell], str]:
    """Return by how much Platt scaling and isotonic regression cut, by base and whose figures they are."""
    return {
        (base, whose): " / ".join(
            written(own_five.cell(f"{name} cuts, %", base, whose), ".1f") for name in (PLATT, ISO)
        )
        for base, whose in (row[:2] for row in own_five.rows)
    }


def _nearest_to_slac(cross_entropy: Table) -> str:
    imdb, web = (cross_entropy.cell("RAW", problem, STUMPS) for problem in ("IMDB", "WEB"))
    slac = cross_entropy.cell("RAW, published", "SLAC", STUMPS)
    near, far = ("IMDB", "WEB") if abs(imdb - slac) < abs(web - slac) else ("WEB", "IMDB")
    return (
        f"{near} is nearer to SLAC than {far} is: the cross-entropy of raw stumps is {imdb:.3f} on IMDB, {web:.3f} on "
        f"WEB and {slac:.3f}, published, on SLAC."
    )


def all_remarks(results: Results) -> dict[str, str]:
    """Return how many rows are copies."""
    about = {name: results[part_name("problem", name)] for name in PROBLEMS}
    own = {name: about[name]["copies"] for name in OWN_PROBLEMS}
    return {"copies": say_copies({name: about[name]["left_out"] for name in STAND_INS}, own)}


def say_copies(left_out: Mapping[str, float], shares: Mapping[str, float]) -> str:
    """Say how many rows are copies of others, and what was done about them."""
    return (
        f"Rows of stand-ins with equal features are kept once: {_percentages(left_out)} of all rows are left out. In "
        "the document's problems, drawn as they come, some test rows have the features of a training row: "
        f"{_percentages(shares)}."
    )


def _percentages(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{100 * share:.0f} % ({problem})" for problem, share in shares.items())
