"""Studies: the documents' experiments on the real data, one command each.

``list()`` names them, ``run(name)`` runs one: its tables beside the published ones, its pictures, a verdict on each
claim, and a page that tells the story. A study is one file here with a `Study`; its published figures lie in
``expected``.
"""

from oddsmith.studies._claims import Claim, judge_all, judge_ordering
from oddsmith.studies._figures import Drawing, Panels, StudyFigure
from oddsmith.studies._published import Published, PublishedTable
from oddsmith.studies._result import StudyResult
from oddsmith.studies._run import list_studies as list
from oddsmith.studies._run import load, names, run
from oddsmith.studies._running import Progress
from oddsmith.studies._splits import interval_over_splits
from oddsmith.studies._study import Part, Results, Setting, Study
from oddsmith.studies._tables import Column, Table, beside, written

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
