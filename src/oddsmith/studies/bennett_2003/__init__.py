"""Bennett 2003: asymmetric distributions of the scores of text classifiers."""

from oddsmith.studies._study import Part, Setting, Study
from oddsmith.studies.bennett_2003.parts import all_parts


class Bennett(Study):
    """Probabilities of text classifiers by densities of their scores."""

    name = "bennett-2003"
    title = "Bennett 2003: asymmetric distributions of scores"
    data = ("reuters21578", "20newsgroups", "ohsumed")

    def parts(self, setting: Setting) -> list[Part]:
        """Return a part for each corpus and classifier, for each variant, and the times."""
        return all_parts(setting)


STUDY = Bennett()
