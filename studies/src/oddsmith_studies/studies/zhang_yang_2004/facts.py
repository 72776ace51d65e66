"""Sentences and numbers of the page."""

from oddsmith_studies.studies._record import Record
from oddsmith_studies.studies._tables import Table
from oddsmith_studies.studies._text_features import NEWSGROUPS, RARE, RECIPES
from oddsmith_studies.studies._text_methods import A_LAPLACE, LR, PLR, RAW
from oddsmith_studies.studies._text_scores import BAYES, COSTS, FOLDS, LOGISTIC, SVM
from oddsmith_studies.studies.zhang_yang_2004.parts import RECIPE, SHOWN
from oddsmith_studies.studies.zhang_yang_2004.rivals import THREE

_RAW_ERRORS, _PLR_ERRORS = f"errors, {RAW}", f"errors, {PLR}"
#: Readings of naive Bayes by what they change.
_NUMBERS_OF_WORDS = ("2000 words", "all words")
_OTHERS = (
    "digits count as letters",
    "stop words kept",
    "Bayesian smoothing",
    "a word once per document",
    "Bernoulli words",
)
_OCCURRENCES = "gain over occurrences"
#: Leads this close, as a share, are the same.
_SAME = 0.05


def all_facts(record: Record) -> dict[str, str]:
    """Return what was found, from the tables of a run."""
    table = record.tables["reuters"]
    return {
        "plr_is_best": record.verdicts_of("9.1.1a"),
        "plr_totals": ", ".join(
            f"{name} {table.cell('log-loss', name, PLR):.0f} ({table.cell('log-loss, published', name, PLR):.0f})"
            for name in (BAYES, SVM, LOGISTIC)
        ),
        "rare": f"{RARE}",
        "words": f"{RECIPES[RECIPE].words:,}",
        "costs": ", ".join(f"{cost:g}" for cost in COSTS),
        "folds": f"{FOLDS}",
        "lead": _lead(record.tables["penalties"]),
        "fixed_penalties": _fixed_penalties(record),
        "svm_errors": _svm_errors(record.tables["variants"]),
        "bayes_errors": _bayes_errors(record.tables["variants"]),
        "losing": _losing(record.tables["categories"]) + _nearest(record),
        "swept": _swept(record.tables["sweep"]),
        "beyond_three": _beyond_three(record.tables["rivals"]),
        "readings": _readings(record.tables["variants"]),
    }


def _lead(penalties: Table) -> str:
    """Answer how much of PLR's lead over LR is the penalty of LR."""
    leads = {name: _leads(penalties, name) for name in (BAYES, SVM, LOGISTIC)}
    alike = all(abs(held / free - 1) < _SAME for free, held, _ in leads.values())
    shown = "; ".join(
        f"{name} {free:+.0f} with λ = 0, {held:+.0f} with λ chosen (published {theirs:+.0f})"
        for name, (free, held, theirs) in leads.items()
    )
    return (
        f"A penalty of LR chosen on held-out scores explains {'next to none' if alike else 'a part'} of PLR's lead in "
        f"log-loss: {shown}."
    )


def _leads(penalties: Table, classifier: str) -> tuple[float, float, float]:
    """Return PLR's lead over LR with λ = 0, with the chosen one, and as published."""
    chosen = next(row[1] for row in penalties.rows if row[0] == classifier and str(row[1]).startswith("chosen"))
    free, held, theirs = (
        float(penalties.cell("lead of PLR in log-loss", classifier, each)) for each in ("0", chosen, "published")
    )
    return free, held, theirs


def _fixed_penalties(record: Record) -> str:
    """Say what fixed penalties would explain."""
    table, reuters = record.tables["penalties"], record.tables["reuters"]
    low, high, theirs = (table.cell("log-loss", LOGISTIC, each) for each in ("10", "20", "published"))
    line = {measure: table.cell(measure, SVM, "20") for measure in ("log-loss", "squared error", "errors")}
    laplace = {measure: reuters.cell(measure, SVM, A_LAPLACE) for measure in line}
    pattern = all(line[measure] > laplace[measure] for measure in line)
    return (
        "A fixed λ would explain more. On the probabilities of the logistic-regression classifier, LR has a log-loss "
        f"of {low:.0f} with λ = 10 and {high:.0f} with λ = 20 (published {theirs:.0f}). With λ = 20 and the support "
        "vector machine, the pattern of claim 9.1.11 (LR better than A. Laplace in log-loss, worse in squared error "
        f"and errors) {'appears' if pattern else 'does not appear'}: {_triple(line)} against {_triple(laplace)}."
    )


def _triple(values: dict[str, float]) -> str:
    return f"{values['log-loss']:.0f}, {values['squared error']:.1f} and {values['errors']:.0f}"


def _by_reading(variants: Table, classifier: str, column: str) -> dict[str, float]:
    """Return the values of a column by reading, the main one under its own name, and as published."""
    place = variants.header.index(column)
    return {
        str(row[1]).removeprefix(f"{RECIPE}, "): float(row[place])  # type: ignore[arg-type]
        for row in variants.rows
        if row[0] == classifier
    }


def _svm_errors(variants: Table) -> str:
    """Say how far words and lengths explain the errors of the raw support vector machine."""
    found = _by_reading(variants, SVM, _RAW_ERRORS)
    if "m-ary gain, unit length" not in found:
        return ""
    values = [value for reading, value in found.items() if reading != "published"]
    return (
        f"The raw support vector machine makes {found[RECIPE]:.0f} errors, {found['m-ary gain']:.0f} with words chosen "
        f"by their gain about all categories at once (m-ary), {found['unit length']:.0f} with documents of unit length "
        f"and {found['m-ary gain, unit length']:.0f} with both; over all readings {min(values):.0f} to "
        f"{max(values):.0f}, and {found['published']:.0f} are published."
    )


def _bayes_errors(variants: Table) -> str:
    """Say what other readings change in the errors of naive Bayes."""
    raw, line = (_by_reading(variants, BAYES, column) for column in (_RAW_ERRORS, _PLR_ERRORS))
    if not {_OCCURRENCES, *_NUMBERS_OF_WORDS, *_OTHERS} <= set(raw):
        return ""
    theirs = raw["published"]
    words = [raw[reading] for reading in (RECIPE, *_NUMBERS_OF_WORDS)]
    others = [raw[reading] for reading in _OTHERS]
    after = [value for reading, value in line.items() if reading != "published"]
    occurrences = {
        measure: _by_reading(variants, BAYES, f"{measure}, {RAW}") for measure in ("errors", "squared error")
    }
    return (
        f"With the gain taken over occurrences of words instead of presence in a document, raw naive Bayes makes "
        f"{occurrences['errors'][_OCCURRENCES]:.0f} errors with a squared error of "
        f"{occurrences['squared error'][_OCCURRENCES]:.0f} (published {theirs:.0f} and "
        f"{occurrences['squared error']['published']:.0f}), against {raw[RECIPE]:.0f} and "
        f"{occurrences['squared error'][RECIPE]:.0f} in the main reading. By presence, it makes {words[0]:.0f} errors "
        f"with 1,000 words, {words[1]:.0f} with 2,000 and {words[2]:.0f} with all; tokens, stop words, smoothing and "
        f"event model change them to {min(others):.0f} to {max(others):.0f}. After PLR, readings make "
        f"{min(after):.0f} to {max(after):.0f} errors (published {line['published']:.0f})."
    )


def _losing(categories: Table) -> str:
    """Say in how many categories PLR is not the best of three, and where it loses most."""
    said = []
    for classifier in (BAYES, SVM, LOGISTIC):
        columns = [categories.header.index(f"{classifier}, {name}") for name in (PLR, LR, A_LAPLACE)]
        apart = [(max(float(row[i]) for i in columns[1:]) - float(row[columns[0]]), row) for row in categories.rows]  # type: ignore[arg-type]
        worst, row = max(apart, key=lambda pair: pair[0])
        count = sum(loss > 0 for loss, _ in apart)
        where = (
            f", by most in {row[1]} of {row[0]} ({float(row[columns[0]]):.0f} against "  # type: ignore[arg-type]
            f"{float(row[columns[0]]) + worst:.0f})"  # type: ignore[arg-type]
            if count
            else ""
        )
        said.append(f"in {count} of {len(apart)} with {classifier}{where}")
    shown = SHOWN[NEWSGROUPS]
    three = ", ".join(
        f"{categories.cell(f'{SVM}, {name}', NEWSGROUPS, shown):.0f} ({name})" for name in (PLR, LR, A_LAPLACE)
    )
    return (
        f"In single categories PLR need not be the best of the three in log-loss: it is not {'; '.join(said)}. The "
        f"stand-in that is drawn, {shown}, was chosen by its topic; with the support vector machine its log-losses are "
        f"{three}."
    )


def _nearest(record: Record) -> str:
    """Return in how many categories PLR is nearest to the empirical log-odds, in words."""
    away = [float(case.value) for case in record.evidence.get("9.1.12", ()) if isinstance(case.value, int | float)]
    if not away:
        return ""
    return (
        f" By the mean distance from empirical log-odds (claim 9.1.12) PLR is the nearest of the three for "
        f"{sum(each < 0 for each in away)} of {len(away)} pairs of a category and a classifier only: bins in "
        "the tails, where a few documents decide the empirical log-odds, have the weight of all their documents."
    )


def _swept(sweep: Table) -> str:
    """Say where the raw classifier's totals lie over costs and words, and the published ones."""
    cells = [row for row in sweep.rows if row[0] != "published"]
    if not cells:
        return ""
    losses, errors = ([float(row[place]) for row in cells] for place in (3, 5))  # type: ignore[arg-type]
    theirs = [float(sweep.cell(name, "published")) for name in ("log-loss", "errors")]
    nearest = min(cells, key=lambda row: abs(float(row[3]) - theirs[0]))  # type: ignore[arg-type]
    return (
        f"Over costs and numbers of words, and both gains, the raw logistic-regression classifier has a log-loss of "
        f"{min(losses):.0f} to {max(losses):.0f} and {min(errors):.0f} to {max(errors):.0f} errors (published "
        f"{theirs[0]:.0f} and {theirs[1]:.0f}). The log-loss nearest to the published one, {nearest[3]:.0f}, comes "
        f"with {nearest[5]:.0f} errors."
    )


def _beyond_three(rivals: Table) -> str:
    """Say what other rules and curves change in log-loss, relative to three pieces."""
    if not rivals.rows:
        return ""
    said = []
    for name in dict.fromkeys(str(row[1]) for row in rivals.rows if row[1] != THREE):
        gains = [
            float(rivals.cell("log-loss", classifier, name)) / float(rivals.cell("log-loss", classifier, THREE)) - 1
            for classifier in (BAYES, SVM, LOGISTIC)
        ]
        said.append(f"{name} {' / '.join(f'{100 * gain:+.1f}' for gain in gains)} %")
    return (
        "Relative to three pieces, the log-loss of naive Bayes / linear SVM / logistic regression grows by: "
        f"{'; '.join(said)}."
    )


def _readings(variants: Table) -> str:
    names = dict.fromkeys(str(row[1]) for row in variants.rows if row[1] not in (RECIPE, "published"))
    return "; ".join(name.removeprefix(f"{RECIPE}, ") for name in names)
