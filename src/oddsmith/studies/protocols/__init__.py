"""Protocols: which scores a calibrator may see, tried on the same tasks.

In-sample, 30 % held out, 2, 3, 5 and 10 folds, and leave-one-out for naive Bayes.
"""

from oddsmith.studies._claims import Claim
from oddsmith.studies._figures import StudyFigure
from oddsmith.studies._study import Part, Results, Setting, Study
from oddsmith.studies._tables import Table
from oddsmith.studies.protocols.claims import all_claims
from oddsmith.studies.protocols.figures import all_figures
from oddsmith.studies.protocols.parts import task_part
from oddsmith.studies.protocols.story import tell
from oddsmith.studies.protocols.tables import all_tables
from oddsmith.studies.protocols.tasks import BAYES, CATEGORIES, SVM, TREES


class Protocols(Study):
    """What all the documents warn of."""

    name = "protocols"
    title = "Protocols: the scores that a calibrator may see"
    data = ("reuters21578", "a9a", "adult", "letter")

    def parts(self, setting: Setting) -> list[Part]:
        """Return a part for each task."""
        categories = ("earn", "corn") if setting.quick else CATEGORIES
        tasks = [(source, classifier) for source in (*categories, "adult") for classifier in (BAYES, SVM)]
        tasks += [(source, TREES) for source in ("LETTER.P1", "LETTER.P2", "ADULT")]
        return [
            Part(
                f"{source}-{classifier}".lower().replace(" ", "-"),
                task_part,
                {"source": source, "classifier": classifier},
                cost=20.0 if classifier == TREES else 1.0,
            )
            for source, classifier in tasks
        ]

    def tables(self, results: Results) -> list[Table]:
        """Return what the documents do, the protocols over all tasks, and every task."""
        return all_tables(results, self.published)

    def figures(self, results: Results) -> list[StudyFigure]:
        """Return score histograms, changes in log-loss, and distances to test scores."""
        return all_figures(results)

    def claims(self, results: Results) -> list[Claim]:
        """Return a verdict on each remark."""
        return all_claims(results, self.published)

    def story(self, results: Results) -> str:
        """Tell what each protocol does."""
        return tell(results)


STUDY = Protocols()
