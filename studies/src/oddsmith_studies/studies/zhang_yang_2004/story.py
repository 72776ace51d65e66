"""The page of the study."""

from oddsmith_studies.studies._page import Story
from oddsmith_studies.studies._record import Record
from oddsmith_studies.studies._tables import Table
from oddsmith_studies.studies._text_features import RARE, RECIPES
from oddsmith_studies.studies._text_methods import A_LAPLACE, PLR, RAW
from oddsmith_studies.studies._text_scores import BAYES, COSTS, FOLDS, LOGISTIC, SVM
from oddsmith_studies.studies.zhang_yang_2004.parts import RECIPE

#: Readings of naive Bayes that leave the words alone, or change what a word is.
_NOT_WORDS = (
    "digits count as letters",
    "stop words kept",
    "Bayesian smoothing",
    "a word once per document",
    "Bernoulli words",
)
#: Leads this close, as a share, are the same.
_SAME = 0.05


def tell(record: Record) -> Story:
    """Tell what was found, from the tables of a run."""
    return Story(
        claims="Log-odds of text classifiers' scores bend: easy negatives, a hard middle, easy positives. Three lines "
        "that meet (PLR) fit them better than one line (LR) and better than two asymmetric Laplace distributions "
        "(A. Laplace), significantly in log-loss for every classifier and corpus.",
        found=_found(record),
        table="reuters",
        shows="totals of each classifier and method on Reuters, ours beside the published ones.",
        figure="log-odds",
        draws="empirical log-odds and the three fits (the document's Figure 2).",
        unchecked="TREC-AP is licensed and not available here: 20 Newsgroups and OHSUMED stand in, so that only orders "
        "of methods can be compared. The document states neither λ nor the cost of its logistic-regression classifier.",
        body=_body(record),
    )


def _found(record: Record) -> str:
    table = record.tables["reuters"]
    losses = ", ".join(
        f"{name} {table.cell('log-loss', name, PLR):.0f} ({table.cell('log-loss, published', name, PLR):.0f})"
        for name in (BAYES, SVM, LOGISTIC)
    )
    return (
        f"PLR has the best log-loss ({record.verdicts_of('9.1.1a')}); its totals on Reuters are {losses}, published in "
        f"brackets. {_lead(record)}"
    )


def _lead(record: Record) -> str:
    """Answer how much of PLR's lead over LR is the penalty of LR."""
    table = record.tables["penalties"]
    leads = {name: _leads(table, name) for name in (BAYES, SVM, LOGISTIC)}
    alike = all(abs(held / free - 1) < _SAME for free, held, _ in leads.values())
    shown = "; ".join(
        f"{name} {free:+.0f} with λ = 0, {held:+.0f} with λ chosen (published {theirs:+.0f})"
        for name, (free, held, theirs) in leads.items()
    )
    return (
        f"A penalty of LR that held-out scores choose explains {'nothing' if alike else 'a part'} of PLR's lead in "
        f"log-loss: {shown}."
    )


def _leads(table: Table, classifier: str) -> tuple[float, float, float]:
    """Return PLR's lead over LR with λ = 0, with the chosen one, and as published."""
    chosen = next(row[1] for row in table.rows if row[0] == classifier and str(row[1]).startswith("chosen"))
    free, held, theirs = (
        float(table.cell("lead of PLR in log-loss", classifier, each)) for each in ("0", chosen, "published")
    )
    return free, held, theirs


def _fixed(record: Record) -> str:
    """Say what fixed penalties would explain."""
    table, reuters = record.tables["penalties"], record.tables["reuters"]
    low, high, theirs = (table.cell("log-loss", LOGISTIC, each) for each in ("10", "20", "published"))
    line = {measure: table.cell(measure, SVM, "20") for measure in ("log-loss", "squared error", "errors")}
    laplace = {measure: reuters.cell(measure, SVM, A_LAPLACE) for measure in line}
    pattern = (
        line["log-loss"] > laplace["log-loss"]
        and line["squared error"] > laplace["squared error"]
        and line["errors"] > laplace["errors"]
    )
    return (
        "A fixed λ would explain more: on the probabilities of the logistic-regression classifier LR has a log-loss "
        f"of {low:.0f} with λ = 10 and {high:.0f} with λ = 20 (published {theirs:.0f}). With λ = 20 and the support "
        f"vector machine the pattern of claim 9.1.11, LR better than A. Laplace in log-loss and worse in squared error "
        f"and errors, {'appears' if pattern else 'does not appear'}: {_triple(line)} against {_triple(laplace)}."
    )


def _triple(values: dict[str, float]) -> str:
    return f"{values['log-loss']:.0f}, {values['squared error']:.1f} and {values['errors']:.0f}"


def _errors(record: Record) -> str:
    if record.quick:
        return ""
    table = record.tables["variants"]
    found = {}
    for name in (BAYES, SVM):
        rows = [row for row in table.rows if row[0] == name and row[1] != "published"]
        place = table.header.index(f"errors, {RAW}")
        values = [float(row[place]) for row in rows]  # type: ignore[arg-type]
        least = min(rows, key=lambda row: float(row[place]))  # type: ignore[arg-type]
        found[name] = (min(values), max(values), least[1], table.cell(f"errors, {RAW}", name, "published"))
    parts = [
        f"{name} makes {low:.0f} to {high:.0f} raw errors over all readings, fewest with *{reading}* "
        f"(published {theirs:.0f})"
        for name, (low, high, reading, theirs) in found.items()
    ]
    return f"Readings change the classifiers before anything is calibrated: {'; '.join(parts)}."


def _bayes(record: Record) -> str:
    """Say what explains the errors of raw naive Bayes, and what does not."""
    table = record.tables["variants"]
    found = {str(row[1]).removeprefix(f"{RECIPE}, "): row for row in table.rows if row[0] == BAYES}
    if not {"2000 words", "all words", *_NOT_WORDS} <= set(found):
        return ""
    raw, line = (table.header.index(f"errors, {method}") for method in (RAW, PLR))
    by_words = [float(found[name][raw]) for name in (RECIPE, "2000 words", "all words")]  # type: ignore[arg-type]
    others = [float(found[name][raw]) for name in _NOT_WORDS]  # type: ignore[arg-type]
    least = min(float(row[line]) for name, row in found.items() if name != "published")  # type: ignore[arg-type]
    return (
        f"The number of words alone would explain the raw errors of naive Bayes: {by_words[0]:.0f} with 1,000 words, "
        f"{by_words[1]:.0f} with 2,000 and {by_words[2]:.0f} with all (published {found['published'][raw]:.0f}). "
        f"Tokens, stop words, smoothing and event model do not: {min(others):.0f} to {max(others):.0f}. Nothing "
        f"explains the errors after PLR, at least {least:.0f} (published {found['published'][line]:.0f})."
    )


def _readings(record: Record) -> str:
    table = record.tables["variants"]
    names = dict.fromkeys(str(row[1]) for row in table.rows if row[1] not in (RECIPE, "published"))
    return "; ".join(name.removeprefix(f"{RECIPE}, ") for name in names)


def _body(record: Record) -> str:
    how = RECIPES[RECIPE]
    costs = ", ".join(f"{cost:g}" for cost in COSTS)
    return f"""\
## What was done

Each of the ten largest categories of Reuters is a two-class problem. Stop words and words that occur fewer than
{RARE} times are dropped, nothing is stemmed; the {how.words:,} words with the largest information gain about the
category are kept, chosen anew in each fold. Naive Bayes counts words, with Laplace smoothing; the support vector
machine and logistic regression see binary words. The cost of the former is (mean length of a document)⁻²; that of the
latter is the best of {costs} by held-out log-loss. Scores of {FOLDS} folds calibrate the classifier that is trained
on all training documents. All that was fixed before any total of a full run was looked at.

{{{{ table stars }}}}

## How much of PLR's lead is LR's penalty?

The document penalizes LR by λ(a² + b²) and does not state λ. With λ = 0, as in the main table, LR is the plain maximum
likelihood line. {_fixed(record)}

{{{{ table penalties }}}}

## Readings

{_errors(record)} {_bayes(record)} Beside the main reading these were tried: {_readings(record)}.

{{{{ fold Reading × published × ours, on Reuters }}}}

{{{{ table variants }}}}

{{{{ end }}}}

## The second corpus

{{{{ fold The second corpus, per thousand decisions }}}}

{{{{ table second-corpus }}}}

{{{{ end }}}}

## What the distributions can look like

{{{{ figure family }}}}

The likeliest mode of an asymmetric Laplace distribution can lie at the edge of a class; beyond it P is 0 or 1 for all
practical purposes. This happens to probabilities, which pile up at 0 and 1, and explains its −inf there.

{{{{ fold What the fits look like }}}}

{{{{ table pieces }}}}

{{{{ end }}}}
"""
