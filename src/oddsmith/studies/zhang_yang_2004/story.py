"""The page of the study."""

from oddsmith.studies._published import Published
from oddsmith.studies._study import Results
from oddsmith.studies._text_features import NEWSGROUPS, RARE, RECIPES, REUTERS
from oddsmith.studies._text_methods import A_LAPLACE, GUARDED, LR, PLR, RAW
from oddsmith.studies._text_results import totals
from oddsmith.studies._text_scores import BAYES, COSTS, FOLDS, LOGISTIC, SVM
from oddsmith.studies.zhang_yang_2004.parts import RECIPE, SHOWN, VARIANTS, part_name


def tell(results: Results, published: Published) -> str:
    """Tell what was done, what came out, and why it differs."""
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
for each category or for all, the strength of logistic regression, λ, the folds. All that was fixed before any total was
looked at; [other readings](#other-readings) are all shown.

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
    lines = []
    for classifier in (BAYES, SVM, LOGISTIC):
        sums = totals(results[part_name("main", REUTERS, classifier)])
        printed = published.tables["reuters"].rows[classifier, PLR]
        mine, theirs = sums[PLR]["log-loss"], printed["log-loss"]
        assert mine is not None
        assert theirs is not None
        lines.append(f"{100 * (mine / theirs - 1):+.0f} % ({classifier})")
    raw = {name: totals(results[part_name("main", REUTERS, name)])[RAW]["errors"] for name in (BAYES, SVM, LOGISTIC)}
    printed = published.tables["reuters"].rows
    errors = ", ".join(f"{raw[name]:.0f} against {printed[name, RAW]['errors']:.0f} ({name})" for name in raw)
    return (
        f"The log-loss of PLR is farther from 0 than the published one by {', '.join(lines)}; a minus means nearer. The "
        f"classifiers themselves differ before anything is calibrated: raw errors are {errors}. So most of the distance "
        "in the totals comes with the scores, from words and classifiers, and not from the calibrators, which see the "
        "same scores in every row."
    )


def _spikes(results: Results) -> str:
    shown = []
    for classifier in (BAYES, SVM):
        sums = totals(results[part_name("main", NEWSGROUPS, classifier)])
        shown.append(
            f"{sums[A_LAPLACE]['log-loss']:.0f} and guarded {sums[GUARDED]['log-loss']:.0f}, with LR at "
            f"{sums[LR]['log-loss']:.0f} ({classifier})"
        )
    return (
        "With few documents in a category the likeliest mode of an asymmetric Laplace distribution can lie at the edge of "
        "a class; beyond it P is 0 or 1 but for a millionth, and a single document there costs more than all others. "
        f"*Guarded* keeps 5 % of the class on each side of the mode. On {NEWSGROUPS} the log-loss of A. Laplace is "
        f"{'; '.join(shown)}. {SHOWN[NEWSGROUPS]} is the category that is drawn."
    )


def _readings(results: Results) -> str:
    names = [recipe for name, recipe in VARIANTS.items() if part_name(f"variant-{name}", REUTERS, SVM) in results]
    spread = []
    for classifier in (BAYES, SVM, LOGISTIC):
        found = [results[part_name("main", REUTERS, classifier)]] + [
            results[part] for name in VARIANTS if (part := part_name(f"variant-{name}", REUTERS, classifier)) in results
        ]
        values = sorted(float(totals(part)[PLR]["log-loss"] or 0) for part in found)
        spread.append(f"{values[0]:.0f} to {values[-1]:.0f} ({classifier})")
    return (
        f"Beside the one above: {'; '.join(names)}. Over all of them the log-loss of PLR goes from {', '.join(spread)}: "
        "this is what the choice of words and weights is worth."
    )
