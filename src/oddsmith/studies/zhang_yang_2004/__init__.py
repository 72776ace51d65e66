"""Zhang and Yang 2004: piecewise logistic regression against the asymmetric Laplace and logistic regression."""

from oddsmith.studies._study import Part, Setting, Study
from oddsmith.studies.zhang_yang_2004.parts import all_parts


class ZhangYang(Study):
    """Probabilities of text classifiers by lines of log-odds that bend."""

    name = "zhang-yang-2004"
    title = "Zhang & Yang 2004: piecewise logistic regression"
    data = ("reuters21578", "20newsgroups", "ohsumed")

    def parts(self, setting: Setting) -> list[Part]:
        """Return a part for each corpus and classifier, and for each variant."""
        return all_parts(setting)


STUDY = ZhangYang()
