"""The course project: squashing, Platt scaling and isotonic regression of a support vector machine's margins.

Its six questions are answered with intervals from 100 random splits of the 3,000 sentences.
"""

from oddsmith_studies.studies._study import Study
from oddsmith_studies.studies.course_project.evidence import all_evidence
from oddsmith_studies.studies.course_project.facts import all_remarks
from oddsmith_studies.studies.course_project.figures import all_figures
from oddsmith_studies.studies.course_project.parts import all_parts
from oddsmith_studies.studies.course_project.tables import all_tables

STUDY = Study(
    name="course-project",
    title="Course project: calibrated probability estimation",
    data=("sentiment",),
    parts=all_parts,
    tables=all_tables,
    figures=all_figures,
    evidence=all_evidence,
    remarks=all_remarks,
)
