"""Niculescu-Mizil & Caruana 2005: calibrated probabilities from boosting."""

from oddsmith.studies._claims import Claim
from oddsmith.studies._figures import StudyFigure
from oddsmith.studies._study import Part, Results, Setting, Study
from oddsmith.studies._tables import Table
from oddsmith.studies.niculescu_mizil_caruana_2005.claims import all_claims
from oddsmith.studies.niculescu_mizil_caruana_2005.figures import all_figures
from oddsmith.studies.niculescu_mizil_caruana_2005.grids import GRIDS
from oddsmith.studies.niculescu_mizil_caruana_2005.parts import all_parts
from oddsmith.studies.niculescu_mizil_caruana_2005.story import tell
from oddsmith.studies.niculescu_mizil_caruana_2005.tables import all_tables


class NiculescuMizilCaruana2005(Study):
    """Boosting pushes predictions away from 0 and 1; calibration brings them back."""

    name = "niculescu-mizil-caruana-2005"
    title = "Niculescu-Mizil & Caruana 2005: calibrated probabilities from boosting"
    data = ("covtype", "adult", "letter", "indian_pines", "phishing", "web", "imdb")
    grids = GRIDS

    def parts(self, setting: Setting) -> list[Part]:
        """Return a part for each problem, each style and loss on it, and each other learner on it."""
        return all_parts(setting)

    def tables(self, results: Results) -> list[Table]:
        """Return Table 2 in both measures, learning curves, learners, and everything that was tried."""
        return all_tables(results, self.published)

    def figures(self, results: Results) -> list[StudyFigure]:
        """Return the document's six figures."""
        return all_figures(results)

    def claims(self, results: Results) -> list[Claim]:
        """Return a verdict on each claim."""
        return all_claims(results, self.published)

    def story(self, results: Results) -> str:
        """Tell what boosting does to probabilities, and what brings them back."""
        return tell(results, self.published)


STUDY = NiculescuMizilCaruana2005()
