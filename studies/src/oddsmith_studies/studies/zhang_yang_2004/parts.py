"""What is computed: a corpus with a classifier a part, and Reuters again with other readings of the text."""

from oddsmith_studies.studies._study import Part, Setting
from oddsmith_studies.studies._text_features import NEWSGROUPS, OHSUMED, REUTERS
from oddsmith_studies.studies._text_parts import text_part
from oddsmith_studies.studies._text_scores import BAYES, LOGISTIC, SVM

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
        text_part("main", corpus, RECIPE, classifier, {"shown": SHOWN.get(corpus), "keep": classifier != BAYES})
        for corpus in CORPORA
        for classifier in CLASSIFIERS
    ]
    for name, recipe in VARIANTS.items():
        if setting.quick and name != "once":
            continue
        # Naive Bayes has no bias to penalise.
        some = CLASSIFIERS[1:] if name == "penalised-bias" else CLASSIFIERS
        parts += [text_part(f"variant-{name}", REUTERS, recipe, classifier, {}) for classifier in some]
    return parts
