"""Platt 1999: probabilities of support vector machines, and of a kernel machine trained for them."""

from oddsmith.studies._claims import Claim
from oddsmith.studies._figures import StudyFigure
from oddsmith.studies._study import Part, Results, Setting, Study
from oddsmith.studies._tables import Table
from oddsmith.studies.platt_1999.claims import all_claims
from oddsmith.studies.platt_1999.figures import all_figures
from oddsmith.studies.platt_1999.parts import all_parts
from oddsmith.studies.platt_1999.story import tell
from oddsmith.studies.platt_1999.tables import all_tables


class Platt(Study):
    """A sigmoid over the margin, against a machine that maximises the likelihood itself."""

    name = "platt-1999"
    title = "Platt 1999: probabilistic outputs for support vector machines"
    data = ("reuters21578", "a9a", "web")

    def parts(self, setting: Setting) -> list[Part]:
        """Return a part for each source, kernel, machine and cost."""
        return all_parts(setting)

    def tables(self, results: Results) -> list[Table]:
        """Return the printed table beside ours, differences, sparsity, crossings, other maps, and every cost."""
        return all_tables(results, self.published)

    def figures(self, results: Results) -> list[StudyFigure]:
        """Return outputs by class, posteriors with their fits, and losses by cost."""
        return all_figures(results, self.published)

    def claims(self, results: Results) -> list[Claim]:
        """Return a verdict on each claim."""
        return all_claims(results, self.published)

    def story(self, results: Results) -> str:
        """Tell what was done and what came out."""
        return tell(results, self.published)


STUDY = Platt()
