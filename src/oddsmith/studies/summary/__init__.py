"""Summary: every calibrator over the score sets of all the documents, and the map of which one wins where."""

from oddsmith.studies._claims import Claim
from oddsmith.studies._figures import StudyFigure
from oddsmith.studies._study import Part, Results, Setting, Study
from oddsmith.studies._tables import Table
from oddsmith.studies.summary.claims import all_claims
from oddsmith.studies.summary.classifiers import CLASSIFIERS
from oddsmith.studies.summary.figures import all_figures
from oddsmith.studies.summary.measured import collect
from oddsmith.studies.summary.parts import problem_part
from oddsmith.studies.summary.story import tell
from oddsmith.studies.summary.tables import all_tables
from oddsmith.studies.summary.tasks import PROBLEMS, Problem

_QUICK_PROBLEMS = ("Reuters earn", "OHSUMED C04", "Sentences", "ADULT", "LETTER.P2")
_QUICK_CLASSIFIERS = ("naive Bayes", "linear SVM", "boosted stumps", "boosted trees", "neural network")


class Summary(Study):
    """Which calibrator to take."""

    name = "summary"
    title = "Which calibrator should I take? A map over classifiers, calibration sizes and shares of positives"
    data = (
        "reuters21578",
        "20newsgroups",
        "ohsumed",
        "sentiment",
        "covtype",
        "adult",
        "letter",
        "indian_pines",
        "phishing",
        "web",
        "imdb",
    )

    def parts(self, setting: Setting) -> list[Part]:
        """Return a part for each problem and classifier."""
        problems = [each for each in PROBLEMS if not setting.quick or each.name in _QUICK_PROBLEMS]
        classifiers = [name for name in CLASSIFIERS if not setting.quick or name in _QUICK_CLASSIFIERS]
        return [
            Part(
                f"{problem.name}-{classifier}".lower().replace(" ", "-").replace("_", "-"),
                problem_part,
                {"problem": problem.name, "classifier": classifier},
                cost=_cost(problem, classifier),
            )
            for problem in problems
            for classifier in classifiers
        ]

    def tables(self, results: Results) -> list[Table]:
        """Return the problems, the standings, and where the default is beaten."""
        return all_tables(results, collect(results))

    def figures(self, results: Results) -> list[StudyFigure]:
        """Return the maps of winners, and the regrets of every calibrator."""
        return all_figures(collect(results))

    def claims(self, results: Results) -> list[Claim]:
        """Return a verdict on what the documents say of all classifiers, and on the default."""
        return all_claims(collect(results), self.published)

    def story(self, results: Results) -> str:
        """Tell which calibrator to take."""
        return tell(results, collect(results))


def _cost(problem: Problem, classifier: str) -> float:
    """Return about how many seconds a part takes: drawings, and training where that is slow."""
    training = {"boosted small trees": 5.0, "boosted trees": 8.0, "kernel logistic": 5.0, "quadratic SVM": 3.0}
    return (16.0 if problem.balanced else 4.0) + training.get(classifier, 1.0)


STUDY = Summary()
