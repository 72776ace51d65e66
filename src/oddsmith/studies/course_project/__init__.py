"""The course project: squashing, Platt scaling and isotonic regression of a support vector machine's margins.

Its six questions are answered with intervals from 100 random splits of the 3,000 sentences.
"""

from oddsmith.studies._claims import Claim
from oddsmith.studies._figures import StudyFigure
from oddsmith.studies._study import Part, Results, Setting, Study
from oddsmith.studies._tables import Table
from oddsmith.studies.course_project.claims import all_claims
from oddsmith.studies.course_project.figures import all_figures
from oddsmith.studies.course_project.parts import site_part, size_part, split_part
from oddsmith.studies.course_project.story import answers
from oddsmith.studies.course_project.tables import all_tables


class CourseProject(Study):
    """A hand-out with six questions and no published results."""

    name = "course-project"
    title = "Course project: calibrated probability estimation"
    data = ("sentiment",)

    def parts(self, setting: Setting) -> list[Part]:
        """Return a part for each random split: as the document says, by calibration size, and of three classes."""
        steps = (("split", split_part, 1.2), ("sizes", size_part, 1.5), ("sites", site_part, 2.0))
        return [
            Part(f"{name}-{number:03}", function, {"number": number}, cost)
            for name, function, cost in steps
            for number in range(4 if setting.quick else 100)
        ]

    def tables(self, results: Results) -> list[Table]:
        """Return the methods, their differences, calibration sizes, and three classes."""
        return all_tables(results)

    def figures(self, results: Results) -> list[StudyFigure]:
        """Return the plot of C, reliability diagrams, maps, losses, calibration sizes, and three classes."""
        return all_figures(results)

    def claims(self, results: Results) -> list[Claim]:
        """Return a verdict on each expected answer."""
        return all_claims(results, self.published)

    def story(self, results: Results) -> str:
        """Answer the six questions."""
        return answers(results)


STUDY = CourseProject()
