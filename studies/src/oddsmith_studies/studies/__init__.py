"""Studies: the documents' experiments on the real data, one command each.

``list()`` names them, ``run(name)`` runs one: its tables next to the published ones, its pictures, a verdict on each
claim, and a page that tells the story; ``rewrite(name, folder)`` judges and tells an earlier run again. A study is one
module here with a `Study`; its published figures, and the rules of all verdicts, lie in ``expected``, and what its page
says in ``pages``.
"""

from oddsmith_studies.studies._claims import EVERYTHING, OWN, STAND_IN, Case, Claim, Rule, judge
from oddsmith_studies.studies._figures import Drawing, Panels, StudyFigure
from oddsmith_studies.studies._index import write_index
from oddsmith_studies.studies._published import Published, PublishedTable
from oddsmith_studies.studies._record import Record
from oddsmith_studies.studies._result import StudyResult
from oddsmith_studies.studies._run import judge_again, load, names, rewrite, run
from oddsmith_studies.studies._run import list_studies as list
from oddsmith_studies.studies._running import Progress
from oddsmith_studies.studies._splits import interval_over_splits
from oddsmith_studies.studies._study import Part, Results, Setting, Study
from oddsmith_studies.studies._tables import Column, Table, with_published, written

__all__ = [
    "EVERYTHING",
    "OWN",
    "STAND_IN",
    "Case",
    "Claim",
    "Column",
    "Drawing",
    "Panels",
    "Part",
    "Progress",
    "Published",
    "PublishedTable",
    "Record",
    "Results",
    "Rule",
    "Setting",
    "Study",
    "StudyFigure",
    "StudyResult",
    "Table",
    "interval_over_splits",
    "judge",
    "judge_again",
    "list",
    "load",
    "names",
    "rewrite",
    "run",
    "with_published",
    "write_index",
    "written",
]
