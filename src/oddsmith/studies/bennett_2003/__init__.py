"""Bennett 2003: asymmetric distributions of the scores of text classifiers."""

from oddsmith.studies._claims import Claim
from oddsmith.studies._figures import StudyFigure
from oddsmith.studies._study import Part, Results, Setting, Study
from oddsmith.studies._tables import Table
from oddsmith.studies.bennett_2003.claims import all_claims
from oddsmith.studies.bennett_2003.figures import all_figures
from oddsmith.studies.bennett_2003.parts import all_parts
from oddsmith.studies.bennett_2003.story import tell
from oddsmith.studies.bennett_2003.tables import all_tables


class Bennett(Study):
    """Probabilities of text classifiers by densities of their scores."""

    name = "bennett-2003"
    title = "Bennett 2003: asymmetric distributions of scores"
    data = ("reuters21578", "20newsgroups", "ohsumed")

    def parts(self, setting: Setting) -> list[Part]:
        """Return a part for each corpus and classifier, for each variant, and the times."""
        return all_parts(setting)

    def tables(self, results: Results) -> list[Table]:
        """Return the document's table with our figures, pairwise wins, every method, and every reading."""
        return all_tables(results, self.published)

    def figures(self, results: Results) -> list[StudyFigure]:
        """Return densities, modes and log-odds of *earn*."""
        return all_figures(results)

    def claims(self, results: Results) -> list[Claim]:
        """Return a verdict on each claim."""
        return all_claims(results)

    def story(self, results: Results) -> str:
        """Tell what was done and what came out."""
        return tell(results)


STUDY = Bennett()
