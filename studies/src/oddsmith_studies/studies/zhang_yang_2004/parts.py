"""What is computed: one corpus with one classifier per part, and Reuters again with other readings of the text."""

from oddsmith_studies.studies._study import Part, Setting
from oddsmith_studies.studies._text_draws import draw_parts
from oddsmith_studies.studies._text_features import NEWSGROUPS, OHSUMED, REUTERS
from oddsmith_studies.studies._text_methods import A_LAPLACE, GROWN, LR, PLR
from oddsmith_studies.studies._text_parts import CLASSIFIER_COST, part_name, text_part
from oddsmith_studies.studies._text_scores import BAYES, LOGISTIC, SVM
from oddsmith_studies.studies.zhang_yang_2004.rivals import SWEPT_RECIPES, rivals_part, sweep_part

RECIPE = "Zhang & Yang"
CORPORA = (REUTERS, NEWSGROUPS, OHSUMED)
CLASSIFIERS = (BAYES, SVM, LOGISTIC)

#: The category that is drawn; that of 20 Newsgroups is in the place of the document's *yugoslavia*.
SHOWN = {REUTERS: "earn", NEWSGROUPS: "talk.politics.mideast"}

#: Other readings of the text, all of them shown; each fixed before its totals were looked at.
VARIANTS = {
    "once": "Zhang & Yang, words chosen once",
    "one-list": "Zhang & Yang, one list of words for all",
    "m-ary": "Zhang & Yang, m-ary gain",
    "unit": "Zhang & Yang, unit length",
    "m-ary-unit": "Zhang & Yang, m-ary gain, unit length",
    "penalized-bias": "Zhang & Yang, penalized bias",
    "300-words": "Zhang & Yang, 300 words",
    "2000-words": "Zhang & Yang, 2000 words",
    "all-words": "Zhang & Yang, all words",
    "digits": "Zhang & Yang, digits count as letters",
    "stop-words": "Zhang & Yang, stop words kept",
    "bayesian": "Zhang & Yang, Bayesian smoothing",
    "binary": "Zhang & Yang, a word once per document",
    "bernoulli": "Zhang & Yang, Bernoulli words",
    "m-ary-binary": "Zhang & Yang, m-ary gain, a word once per document",
    "occurrences": "Zhang & Yang, gain over occurrences",
    "occurrences-unit": "Zhang & Yang, gain over occurrences, unit length",
    "m-ary-occurrences": "Zhang & Yang, m-ary gain over occurrences",
    "m-ary-occurrences-unit": "Zhang & Yang, m-ary gain over occurrences, unit length",
    "bennett": "Bennett",
}
#: Readings that concern some classifiers only: naive Bayes has no bias and no weights, the others no events.
_LINEAR = ("penalized-bias", "unit", "m-ary-unit", "occurrences-unit", "m-ary-occurrences-unit")
_BAYES = ("bayesian", "binary", "bernoulli", "m-ary-binary")
#: Readings of which logistic regression, the slowest, is left out.
_NO_LOGISTIC = ("2000-words", "all-words", "digits", "stop-words")


def classifiers_of(variant: str) -> tuple[str, ...]:
    """Return the classifiers that a reading is tried with."""
    if variant in _BAYES:
        return (BAYES,)
    if variant in _NO_LOGISTIC:
        return (BAYES, SVM)
    return CLASSIFIERS[1:] if variant in _LINEAR else CLASSIFIERS


def all_parts(setting: Setting) -> list[Part]:
    """Return a part for each corpus and classifier, each variant, what the document only mentions, and each draw."""
    parts = [
        text_part("main", corpus, RECIPE, classifier, {"shown": SHOWN.get(corpus)})
        for corpus in CORPORA
        for classifier in CLASSIFIERS
    ]
    for name, recipe in VARIANTS.items():
        if setting.quick and name not in ("once", "m-ary", "binary"):
            continue
        parts += [text_part(f"variant-{name}", REUTERS, recipe, classifier, {}) for classifier in classifiers_of(name)]
    parts += [
        Part(part_name("rivals", REUTERS, name), rivals_part, {"classifier": name}, CLASSIFIER_COST[name])
        for name in CLASSIFIERS
    ]
    parts += [Part(sweep_name(recipe), sweep_part, {"recipe": recipe}, 5.0) for recipe in SWEPT_RECIPES]
    return [*parts, *judged_parts(setting)]


def sweep_name(recipe: str) -> str:
    """Return the name of a part."""
    return f"sweep-{SWEPT_RECIPES.index(recipe)}"


def judged_parts(setting: Setting) -> list[Part]:
    """Return the parts that verdicts rest on: every corpus and classifier on several draws of folds."""
    return draw_parts(setting, dict.fromkeys(CORPORA, RECIPE), CLASSIFIERS, (LR, A_LAPLACE, PLR, GROWN))
