"""Studies: the documents' experiments on the real data, one command each.

``list()`` names them, ``run(name)`` runs one: its tables beside the published ones, its pictures, a verdict on each
claim, and a page that tells the story. A study is one file here with a `Study`; its published figures lie in
``expected``.
"""

from oddsmith_studies.studies._claims import Claim, judge_all, judge_ordering
from oddsmith_studies.studies._figures import Drawing, Panels, StudyFigure
from oddsmith_studies.studies._published import Published, PublishedTable
from oddsmith_studies.studies._result import StudyResult
from oddsmith_studies.studies._run import list_studies as list
from oddsmith_studies.studies._run import load, names, run
from oddsmith_studies.studies._running import Progress
from oddsmith_studies.studies._splits import interval_over_splits
from oddsmith_studies.studies._study import Part, Results, Setting, Study
from oddsmith_studies.studies._tables import Column, Table, beside, written

__all__ = [
    "Claim",
    "Column",
    "Drawing",
    "Panels",
    "Part",
    "Progress",
    "Published",
    "PublishedTable",
    "Results",
    "Setting",
    "Study",
    "StudyFigure",
    "StudyResult",
    "Table",
    "beside",
    "interval_over_splits",
    "judge_all",
    "judge_ordering",
    "list",
    "load",
    "names",
    "run",
    "written",
]
