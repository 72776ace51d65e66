"""What is computed: a corpus with a classifier a part, and Reuters again with other readings of the text."""

from oddsmith.studies._study import Part, Setting
from oddsmith.studies._text_features import NEWSGROUPS, OHSUMED, REUTERS
from oddsmith.studies._text_methods import calibrate_corpus
from oddsmith.studies._text_scores import BAYES, LOGISTIC, SVM

RECIPE = "Zhang & Yang"
CORPORA = (REUTERS, NEWSGROUPS, OHSUMED)
CLASSIFIERS = (BAYES, SVM, LOGISTIC)

#: The category that is drawn; that of 20 Newsgroups is in the place of the document's *yugoslavia*.
SHOWN = {REUTERS: "earn", NEWSGROUPS: "talk.politics.mideast"}

#: Other readings of the document, all of them shown.
VARIANTS = {
    "once": "Zhang & Yang, words chosen once",
    "one-list": "Zhang & Yang, one list of words for all",
    "penalised-bias": "Zhang & Yang, penalised bias",
    "300-words": "Zhang & Yang, 300 words",
    "bennett": "Bennett",
}


def all_parts(setting: Setting) -> list[Part]:
    """Return a part for each corpus and classifier, then for each variant."""
    parts = [
        _part("main", corpus, RECIPE, classifier, {"shown": SHOWN.get(corpus), "keep": classifier != BAYES})
        for corpus in CORPORA
        for classifier in CLASSIFIERS
    ]
    for name, recipe in VARIANTS.items():
        if setting.quick and name != "once":
            continue
        # Naive Bayes has no bias to penalise.
        some = CLASSIFIERS[1:] if name == "penalised-bias" else CLASSIFIERS
        parts += [_part(f"variant-{name}", REUTERS, recipe, classifier, {}) for classifier in some]
    return parts


def part_name(group: str, corpus: str, classifier: str) -> str:
    """Return the name of a part."""
    return f"{group}-{corpus}-{classifier}".lower().replace(" ", "-")


def _part(group: str, corpus: str, recipe: str, classifier: str, more: dict[str, object]) -> Part:
    cost = {BAYES: 1.0, SVM: 2.0, LOGISTIC: 6.0}[classifier] * {REUTERS: 1.0, NEWSGROUPS: 4.0, OHSUMED: 0.5}[corpus]
    arguments = {"corpus": corpus, "recipe": recipe, "classifier": classifier, **more}
    return Part(part_name(group, corpus, classifier), calibrate_corpus, arguments, cost=cost)
