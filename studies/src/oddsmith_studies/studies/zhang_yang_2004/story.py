"""The page of the study."""

from oddsmith_studies.studies._published import Published
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._text_features import RARE, RECIPES, REUTERS
from oddsmith_studies.studies._text_methods import A_LAPLACE, GUARDED, LR, PLR, RAW
from oddsmith_studies.studies._text_parts import part_name
from oddsmith_studies.studies._text_results import known, totals
from oddsmith_studies.studies._text_scores import BAYES, COSTS, FOLDS, LOGISTIC, SVM
from oddsmith_studies.studies.zhang_yang_2004.parts import CORPORA, RECIPE, VARIANTS


def tell(results: Results) -> str:
    """Tell what was done, what came out, and why it differs."""
    published = results.published
    how = RECIPES[RECIPE]
    reuters = results[part_name("main", REUTERS, BAYES)]
    train, test = reuters["rows"]
    costs = ", ".join(f"{cost:g}" for cost in COSTS)
    return f"""\
Log-odds of text classifiers' scores bend: easy negatives, a hard middle, easy positives. Zhang and Yang fit them with
three lines that meet (PLR), and compare that with one line (LR) and with the three lines that two asymmetric Laplace
distributions imply (A. Laplace), on Reuters-21578 and TREC-AP.

## What was done

Reuters has {train:,} training and {test:,} test documents and its {len(reuters["categories"])} largest categories, one
two-class problem each. Common words and words that occur fewer than {RARE} times are dropped, nothing is stemmed; the
{how.words:,} words with the largest information gain about the category are kept, chosen anew in each fold. Naive Bayes
counts words, with Laplace smoothing; the support vector machine and logistic regression see words as present or absent.
The cost of the former is (mean length of a document)⁻²; that of the latter, which the document does not tell, is the
best of {costs} by held-out log-loss. Scores of {FOLDS} folds calibrate the classifier that is trained on all training
documents. The document leaves open: the list of common words, whether words were chosen once or in each fold and
for each category or for all, the strength of logistic regression, λ, the folds. All that was fixed before any total
of a full run was looked at; [other readings](#other-readings) are all shown.

TREC-AP is licensed and not at hand. 20 Newsgroups and OHSUMED stand in for it; their totals cannot be near the
published ones, only the order of methods can be compared.

## Reuters

{{{{ table reuters }}}}

{_differences(results, published)}

{{{{ table stars }}}}

{{{{ figure log-odds }}}}

## The second corpus

{{{{ table second-corpus }}}}

{_spikes(results)}

## What the distributions can look like

{{{{ figure family }}}}

{{{{ table pieces }}}}

## Other readings

{_readings(results)}

{{{{ table variants }}}}

## Every method of both papers

{{{{ table methods-reuters-21578 }}}}

{{{{ table methods-20 }}}}

{{{{ table methods-ohsumed }}}}"""


def _differences(results: Results, published: Published) -> str:
    classifiers = (BAYES, SVM, LOGISTIC)
    rows = published.tables["reuters"].rows
    sums = {name: totals(results[part_name("main", REUTERS, name)]) for name in classifiers}
    farther = ", ".join(
        f"{100 * (known(sums[name][PLR]['log-loss']) / known(rows[name, PLR]['log-loss']) - 1):+.0f} % ({name})"
        for name in classifiers
    )
    errors = ", ".join(
        f"{sums[name][RAW]['errors']:.0f} against {rows[name, RAW]['errors']:.0f} ({name})" for name in classifiers
    )
    return (
        f"The log-loss of PLR differs from the published one by {farther}; a plus means farther from 0. The "
        f"classifiers themselves differ before anything is calibrated: raw errors are {errors}."
        f"{_one_list(results)} The cost of the logistic-regression classifier is chosen here for its log-loss; which "
        "one the document used is not known, and the others that were tried have a worse log-loss on held-out folds. "
        "What splits a text into words, and which words are common, is not known either."
    )


def _one_list(results: Results) -> str:
    """Tell what one list of words for all categories does, where it was run."""
    parts = {name: part_name("variant-one-list", REUTERS, name) for name in (BAYES, SVM)}
    if not all(part in results for part in parts.values()):
        return ""
    errors = " and ".join(f"{totals(results[part])[RAW]['errors']:.0f} ({name})" for name, part in parts.items())
    return f" With one list of words for all categories, another reading of the text, they are {errors}."


def _spikes(results: Results) -> str:
    edge = {True: [0, 0], False: [0, 0]}
    for corpus in CORPORA:
        for classifier in (BAYES, SVM, LOGISTIC):
            for given, found in results[part_name("main", corpus, classifier)]["inputs"].items():
                fits = found["categories"].values()
                edge[given == "probability"][0] += sum(fit["spikes"] for fit in fits)
                edge[given == "probability"][1] += 2 * len(fits)
    sums = totals(results[part_name("main", REUTERS, LOGISTIC)])
    exact, guarded = (known(sums[name]["log-loss"]) for name in (A_LAPLACE, GUARDED))
    return (
        "Why −inf? The likeliest mode of an asymmetric Laplace distribution can lie at the edge of a class; beyond it "
        f"P is 0 or 1 for all practical purposes. This is so for {edge[True][0]} of {edge[True][1]} modes fitted "
        f"to probabilities, which pile up at 0 and 1, but for {edge[False][0]} of {edge[False][1]} that are fitted to "
        "margins and log-odds. Evaluated by log-odds, with the rates of spikes held at a million over the range of "
        f"scores, the log-loss on Reuters is {exact:.0f} instead of −inf; *guarded*, which keeps 5 % of a class on "
        f"each side of its mode, it is {guarded:.0f}."
    )


def _readings(results: Results) -> str:
    names = [recipe for name, recipe in VARIANTS.items() if part_name(f"variant-{name}", REUTERS, SVM) in results]
    found = {
        classifier: [
            totals(results[part])
            for group in ("main", *(f"variant-{name}" for name in VARIANTS))
            if (part := part_name(group, REUTERS, classifier)) in results
        ]
        for classifier in (BAYES, SVM, LOGISTIC)
    }
    spread = []
    for classifier, readings in found.items():
        values = sorted(known(sums[PLR]["log-loss"]) for sums in readings)
        spread.append(f"{values[0]:.0f} to {values[-1]:.0f} ({classifier})")
    fewer = sum(known(sums[A_LAPLACE]["errors"]) < known(sums[LR]["errors"]) for sums in found[SVM])
    return (
        f"Beside the one above: {'; '.join(names)}. Over all of them the log-loss of PLR goes from "
        f"{', '.join(spread)}. With the support vector machine A. Laplace has fewer errors than LR in {fewer} of "
        f"{len(found[SVM])} readings; in the document it has."
    )
