"""Zhang and Yang 2004: piecewise logistic regression against the asymmetric Laplace and logistic regression."""

from oddsmith.studies._claims import Claim
from oddsmith.studies._figures import StudyFigure
from oddsmith.studies._study import Part, Results, Setting, Study
from oddsmith.studies._tables import Table
from oddsmith.studies.zhang_yang_2004.claims import all_claims
from oddsmith.studies.zhang_yang_2004.figures import all_figures
from oddsmith.studies.zhang_yang_2004.parts import all_parts
from oddsmith.studies.zhang_yang_2004.story import tell
from oddsmith.studies.zhang_yang_2004.tables import all_tables


class ZhangYang(Study):
    """Probabilities of text classifiers by lines of log-odds that bend."""

    name = "zhang-yang-2004"
    title = "Zhang & Yang 2004: piecewise logistic regression"
    data = ("reuters21578", "20newsgroups", "ohsumed")

    def parts(self, setting: Setting) -> list[Part]:
        """Return a part for each corpus and classifier, and for each variant."""
        return all_parts(setting)

    def tables(self, results: Results) -> list[Table]:
        """Return the printed tables beside ours, every method, and every reading."""
        return all_tables(results, self.published)

    def figures(self, results: Results) -> list[StudyFigure]:
        """Return the document's two figures."""
        return all_figures(results, self.published)

    def claims(self, results: Results) -> list[Claim]:
        """Return a verdict on each claim."""
        return all_claims(results, self.published)

    def story(self, results: Results) -> str:
        """Tell what was done and what came out."""
        return tell(results, self.published)


STUDY = ZhangYang()
