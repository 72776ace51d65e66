"""The page of the study."""

from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._text_features import RARE, RECIPES, REUTERS
from oddsmith_studies.studies._text_methods import A_GAUSS, A_LAPLACE, GUARDED, LR, PLR
from oddsmith_studies.studies._text_parts import part_name
from oddsmith_studies.studies._text_results import total, totals
from oddsmith_studies.studies._text_scores import BAYES, FOLDS, PERCEPTRON, SVM
from oddsmith_studies.studies.bennett_2003.parts import CLASSIFIERS, CORPORA, VARIANTS
from oddsmith_studies.studies.bennett_2003.parts import RECIPES as CHOSEN
from oddsmith_studies.studies.bennett_2003.tables import seven


def tell(results: Results) -> str:
    """Tell what was done and what came out."""
    how = RECIPES[CHOSEN[REUTERS]]
    reuters = results[part_name("main", REUTERS, BAYES)]
    train, test = reuters["rows"]
    return f"""\
A text classifier's scores are spread differently on the two sides of a class's mode: towards the other class lie the
hard documents, away from it the easy ones. Bennett fits distributions with a scale of their own on each side, inverts
them by Bayes' rule, and compares with symmetric distributions and with logistic regression, on MSN Web, Reuters-21578
and TREC-AP.

## What was done

Reuters has {train:,} training and {test:,} test documents and its {len(reuters["categories"])} largest categories, one
two-class problem each. Words in fewer than {RARE} training documents are dropped; the {how.words} words with the
largest mutual information with the category are kept on Reuters, 1,000 on the other corpora, chosen anew in each fold.
Naive Bayes smooths words by a Bayesian estimate with the overall word prior, and classes by a Laplace estimate. The
support vector machine sees continuous values: frequencies times inverse document frequency, scaled to length 1, with a
cost of 1. Scores of {FOLDS} folds calibrate the classifier that is trained on all training documents.

The copy of the document has lost its numbers: how many words, the level of the tests, every figure of its table. Nor
does it tell the weights of words or the cost of its support vector machine. All of these were fixed before any total
of a full run was looked at; [other readings](#other-readings) are all shown. Its claims, in words, can be checked.

MSN Web was never public, and TREC-AP is licensed and not at hand: 20 Newsgroups and OHSUMED stand in.

## The table

{{{{ table totals-reuters-21578 }}}}

{{{{ table totals-20 }}}}

{{{{ table totals-ohsumed }}}}

{_spikes(results)}

## What the scores look like

{{{{ figure densities }}}}

{{{{ figure gaussians }}}}

{{{{ figure log-odds }}}}

## Decision by decision

{{{{ table wins }}}}

{{{{ table outliers }}}}

## Future work, done

The hybrid and the three lines fitted directly are rows of the tables of all methods below. The voted perceptron is a
classifier of its own:

{{{{ table perceptron }}}}

## Other readings

{_readings(results)}

{{{{ table variants }}}}

## Every method of both papers

{{{{ table methods-reuters-21578 }}}}

{{{{ table methods-20 }}}}

{{{{ table methods-ohsumed }}}}"""


def _readings(results: Results) -> str:
    names = [recipe for name, recipe in VARIANTS.items() if part_name(f"variant-{name}", REUTERS, SVM) in results]
    counts = []
    for classifier in CLASSIFIERS:
        found = [
            seven(results[part], "errors")
            for group in ("main", *(f"variant-{name}" for name in VARIANTS))
            if (part := part_name(group, REUTERS, classifier)) in results
        ]
        fewest = sum(total(view, A_LAPLACE) == view.totals.min() for view in found)
        counts.append(f"in {fewest} of {len(found)} readings with {classifier}")
    return (
        f"Beside the one above: {'; '.join(names)}. A. Laplace has the fewest errors of the document's methods "
        f"{' and '.join(counts)}."
    )


def _spikes(results: Results) -> str:
    spikes, shown = 0, []
    for corpus in CORPORA:
        for classifier in (*CLASSIFIERS, PERCEPTRON):
            part = results[part_name("main", corpus, classifier)]
            found = sum(fit["spikes"] for fit in part["inputs"]["score"]["categories"].values())
            spikes += found
            if found:
                sums = totals(part)
                values = ", ".join(
                    f"{name} {sums[name]['log-loss']:.4g}" for name in (A_LAPLACE, GUARDED, A_GAUSS, LR, PLR)
                )
                shown.append(f"{corpus}, {classifier} ({found} modes): {values}")
    if not spikes:
        return "No mode of A. Laplace lies at the edge of its class."
    return (
        "Where few documents make a class, or many share its outermost score, the likeliest mode of an asymmetric "
        "distribution can lie at its edge: a spike, beyond which a document can cost more than all others. The copy of "
        "the document has lost the constants that keep such fits finite; with ours, a millionth and a million relative "
        f"to the range of scores, the log-loss is, by case: {'; '.join(shown)}. *Guarded* keeps 5 % of the class on "
        "each side of the mode, as far as equal scores let it."
    )
